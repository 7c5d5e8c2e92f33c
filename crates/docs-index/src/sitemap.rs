//! `sitemap.xml`: the addresses of a site, or of further site maps.

use std::collections::HashMap;

use super::marks::value;
use super::url;

const MAX_ADDRESSES: usize = 20_000;
/// Each page may name all its translations.
const MAX_LANGUAGES: usize = 400_000;
const MAX_MAPS: usize = 10;

/// The content of a site map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Map {
    Pages(Vec<String>),
    /// Further site maps to read.
    Maps(Vec<String>),
}

/// Reads a site map. Returns `None` if the text is not one.
#[must_use]
pub fn read(text: &str) -> Option<Map> {
    let index = text.contains("<sitemapindex");
    if !index && !text.contains("<urlset") {
        return None;
    }
    let addresses = text.split("<loc>").skip(1).filter_map(|tail| {
        let address = tail.split("</loc>").next()?.trim();
        let address = address.trim_start_matches("<![CDATA[").trim_end_matches("]]>").replace("&amp;", "&");
        url::parts(&address).is_some().then_some(address)
    });
    Some(if index {
        Map::Maps(addresses.take(MAX_MAPS).collect())
    } else {
        Map::Pages(addresses.take(MAX_ADDRESSES).collect())
    })
}

/// The languages that a site map declares for its pages (`<xhtml:link rel="alternate" hreflang="fr" href="…">`), by address.
#[must_use]
pub fn languages(text: &str) -> HashMap<String, String> {
    let links = text.split("<xhtml:link").skip(1).filter_map(|tail| {
        let tag = tail.split('>').next()?;
        let language = value(tag, "hreflang").filter(|language| !language.eq_ignore_ascii_case("x-default"))?;
        Some((value(tag, "href")?.trim().replace("&amp;", "&"), language.to_owned()))
    });
    links.take(MAX_LANGUAGES).collect()
}

//! `sitemap.xml`: the addresses of a site, or of further site maps.

use super::url;

const MAX_ADDRESSES: usize = 20_000;
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

/// Converts an address of a site map to the same page of this copy of the site: site maps use the public address, even
/// in a copy elsewhere. The common end of `canonical` (the public address of the page `here`) and `here` is the path
/// within the site, the rest is the site's location.
#[must_use]
pub fn moved(address: &str, here: &str, canonical: Option<&str>) -> Option<String> {
    if url::same_origin(address, here) {
        return Some(url::page(address));
    }
    let address = url::page(address);
    if let Some(canonical) = canonical.map(url::page).filter(|canonical| url::same_origin(canonical, &address)) {
        let here = url::page(here);
        let alike = canonical.bytes().rev().zip(here.bytes().rev()).take_while(|(a, b)| a == b).count();
        let (from, to) = (canonical.len() - alike, here.len() - alike);
        let (from, to) = (canonical.get(..from)?, here.get(..to)?);
        if let Some(rest) = address.strip_prefix(from) {
            return url::join(here_origin(&here)?, &format!("{to}{rest}"));
        }
    }
    let path = url::parts(&address)?.path.to_owned();
    url::join(here, &path)
}

fn here_origin(here: &str) -> Option<&str> {
    url::parts(here).map(|parts| parts.origin)
}

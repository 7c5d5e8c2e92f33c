//! What a page declares about itself: the base of its links, its language and version, the same page elsewhere, and whether it
//! is hidden from searches.

use dom_query::{Document, NodeRef};

use super::url;

/// Maximum number of links to the same page in other languages.
const MAX_ALTERNATES: usize = 200;

/// The declarations of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The address that its links are relative to: its own, unless it has `<base href>`.
    pub base: String,
    /// As a tag in small letters (`pt-br`); empty if it declares none.
    pub language: String,
    /// As DocSearch and Docusaurus declare it; empty if it declares none.
    pub version: String,
    /// The public address of the page.
    pub canonical: Option<String>,
    /// Languages, with the address of the page in each (`hreflang`).
    pub alternates: Vec<(String, String)>,
    /// Whether it is not to be found by searches (`noindex`).
    pub hidden: bool,
}

impl Head {
    /// Reads the declarations of the page at `address`.
    #[must_use]
    pub fn read(document: &Document, address: &str) -> Self {
        let metas = document.select("meta[name]");
        let named = |name: &str| {
            let mut all = metas.nodes().iter().filter(|meta| is(meta, "name", name));
            all.find_map(|meta| meta.attr("content")).map(|content| content.trim().to_owned()).filter(|c| !c.is_empty())
        };
        let base = base(document, address);
        let language =
            document.select("html").nodes().first().and_then(|html| html.attr("lang").or(html.attr("xml:lang")));
        let language = language.map(|lang| lang.to_string()).filter(|lang| !lang.trim().is_empty());
        let language = language.or_else(|| named("docsearch:language")).or_else(|| named("docusaurus_locale"));
        // Pages of Docusaurus that belong to no version have this tag.
        let tag = named("docsearch:docusaurus_tag").or_else(|| named("docusaurus_tag"));
        let version = named("docsearch:version").or_else(|| named("docusaurus_version"));
        let canonical =
            document.select("link[rel][href]").nodes().iter().copied().find(|link| is(link, "rel", "canonical"));
        let hidden =
            ["robots", "searchOption", "st:robots"].iter().any(|name| named(name).is_some_and(|said| hides(&said)));
        Head {
            language: language.map(|lang| tag_of(&lang)).unwrap_or_default(),
            version: version.filter(|_| tag.as_deref() != Some("default")).unwrap_or_default(),
            canonical: canonical.and_then(|link| url::join(&base, &link.attr("href")?)),
            alternates: alternates(document, &base),
            hidden,
            base,
        }
    }
}

/// A language tag as all are written here.
#[must_use]
pub fn tag_of(language: &str) -> String {
    language.trim().to_ascii_lowercase().replace('_', "-")
}

/// Whether a value of `X-Robots-Tag` hides a page from all searches. A part may be for one robot only (`googlebot: noindex`).
#[must_use]
pub fn header_hides(header: &str) -> bool {
    let mut for_one = false;
    header.split(',').any(|part| {
        let robot = part.split_once(':').map(|(name, rest)| (name.trim().to_ascii_lowercase(), rest));
        let rule = match &robot {
            // A rule with a value, not the name of a robot.
            Some((name, _)) if name.starts_with("max-") || name == "unavailable_after" => return false,
            Some((name, rest)) => {
                for_one = name != "*";
                *rest
            }
            None => part,
        };
        !for_one && hides(rule)
    })
}

fn hides(rules: &str) -> bool {
    rules
        .split(|c: char| c == ',' || c.is_whitespace())
        .any(|rule| rule.eq_ignore_ascii_case("noindex") || rule.eq_ignore_ascii_case("none"))
}

/// Whether an attribute has this value among its words, in letters of any case.
fn is(node: &NodeRef<'_>, attribute: &str, value: &str) -> bool {
    node.attr(attribute)
        .is_some_and(|words| words.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(value)))
}

/// The first `<base href>` decides. On a copy of a site it can name the public host; the links of a copy lead to the copy.
fn base(document: &Document, address: &str) -> String {
    let named = document.select("base[href]").nodes().first().and_then(|base| base.attr("href"));
    let base = named.and_then(|href| url::join(address, &href)).map(|base| url::page(&base));
    let here = url::parts(address).map(|here| here.origin).unwrap_or_default();
    let moved = base.and_then(|base| Some(format!("{here}{}", url::parts(&base)?.path)));
    moved.unwrap_or_else(|| url::page(address))
}

/// Links in the head, and those of a list of languages.
fn alternates(document: &Document, base: &str) -> Vec<(String, String)> {
    let links = document.select("link[rel~=alternate][hreflang][href], a[hreflang][href], a[lang][href]");
    let pairs = links.nodes().iter().filter_map(|link| {
        let language = link.attr("hreflang").or_else(|| link.attr("lang"))?;
        let language = tag_of(&language);
        let address = url::page(&url::join(base, &link.attr("href")?)?);
        (!language.is_empty() && language != "x-default").then_some((language, address))
    });
    pairs.take(MAX_ALTERNATES).collect()
}

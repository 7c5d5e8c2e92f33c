//! mdBook's search index: the addresses of all sections, and an elasticlunr index that keeps their texts.
//!
//! `JSON.parse('…')` inside a script (0.4.41 and later, the file's name has a hash), `Object.assign(window.search, {…})`
//! (0.4), or plain JSON (`searchindex.json`). Only addresses and stored documents are read, not the index itself.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::index::{PageText, SectionText};
use super::marks::{squeeze, unescape};
use super::url;

#[derive(Deserialize)]
struct Book {
    doc_urls: Vec<String>,
    index: Inner,
}

#[derive(Deserialize)]
struct Inner {
    #[serde(rename = "documentStore")]
    store: Store,
    #[serde(rename = "index", default)]
    _index: IgnoredAny,
}

#[derive(Deserialize)]
struct Store {
    docs: BTreeMap<String, Doc>,
}

#[derive(Deserialize)]
struct Doc {
    #[serde(default)]
    title: String,
    #[serde(default)]
    body: String,
    #[serde(default)]
    breadcrumbs: String,
}

/// The book's pages; `root` is what its addresses start from.
///
/// # Errors
/// What the text is not.
pub fn read(root: &str, text: &str) -> Result<Vec<PageText>, String> {
    let json = json(text).ok_or("it is no search index of mdBook")?;
    let book: Book =
        serde_json::from_str(&json).map_err(|error| format!("it is no search index of mdBook: {error}"))?;
    let mut docs: Vec<(usize, Doc)> =
        book.index.store.docs.into_iter().filter_map(|(id, doc)| Some((id.parse().ok()?, doc))).collect();
    docs.sort_by_key(|(id, _)| *id);
    let mut pages: Vec<PageText> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (id, doc) in docs {
        let Some(address) = book.doc_urls.get(id).and_then(|link| url::join(root, link)) else { continue };
        if !url::below(root, &address) {
            continue;
        }
        let page = url::page(&address);
        let at = *known.entry(page.clone()).or_insert_with(|| {
            pages.push(PageText { url: page, ..PageText::default() });
            pages.len() - 1
        });
        if let Some(page) = pages.get_mut(at) {
            take(page, &address, &doc);
        }
    }
    if pages.is_empty() { Err("the search index has no pages".to_owned()) } else { Ok(pages) }
}

fn take(page: &mut PageText, address: &str, doc: &Doc) {
    let anchor = url::parts(address).map(|parts| parts.fragment.to_owned()).unwrap_or_default();
    let heading = squeeze(&doc.title);
    let first = page.sections.is_empty();
    if first {
        page.title.clone_from(&heading);
    }
    // Chapter » … » page » heading » … » this heading.
    let crumbs: Vec<String> = doc.breadcrumbs.split('»').map(squeeze).filter(|crumb| !crumb.is_empty()).collect();
    let above = crumbs.get(..crumbs.len().saturating_sub(1)).unwrap_or_default();
    let trail: Vec<&str> = above.iter().map(String::as_str).filter(|c| *c != page.title && *c != heading).collect();
    page.sections.push(SectionText {
        anchor,
        trail: if first { String::new() } else { trail.join(" › ") },
        heading: if first { String::new() } else { heading },
        text: squeeze(&doc.body),
    });
}

/// The JSON inside the script.
fn json(text: &str) -> Option<String> {
    let text = text.trim();
    if text.starts_with('{') {
        return Some(text.to_owned());
    }
    if let Some(at) = text.find("JSON.parse('") {
        let literal = text.get(at + 12..)?;
        return Some(unescape(literal.get(..literal.rfind("')")?)?));
    }
    let (from, to) = (text.find('{')?, text.rfind('}')?);
    text.get(from..=to).map(str::to_owned)
}

//! Reads mdBook's search index: the addresses of all sections, and an elasticlunr index that stores their texts.
//!
//! The index is `JSON.parse('…')` inside a script (0.4.41 and later; the file name contains a hash),
//! `Object.assign(window.search, {…})` (0.4), or plain JSON (`searchindex.json`). Only addresses and stored documents
//! are read, not the index itself.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::index::{PageText, SectionText};
use super::marks::{squeeze, unescape};
use super::url;

#[derive(Deserialize)]
struct SearchFile {
    doc_urls: Vec<String>,
    index: SearchIndex,
}

#[derive(Deserialize)]
struct SearchIndex {
    #[serde(rename = "documentStore")]
    store: DocumentStore,
    #[serde(rename = "index", default)]
    _index: IgnoredAny,
}

#[derive(Deserialize)]
struct DocumentStore {
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

/// Returns the book's pages; its addresses are relative to `root`.
///
/// # Errors
/// Why the text could not be read.
pub fn read(root: &str, text: &str) -> Result<Vec<PageText>, String> {
    let json = json(text).ok_or("it is not an mdBook search index")?;
    let book: SearchFile =
        serde_json::from_str(&json).map_err(|error| format!("it is not an mdBook search index: {error}"))?;
    let mut docs: Vec<(usize, Doc)> =
        book.index.store.docs.into_iter().filter_map(|(id, doc)| Some((id.parse().ok()?, doc))).collect();
    docs.sort_by_key(|(id, _)| *id);
    let mut pages: Vec<PageText> = Vec::new();
    let mut chapters: Vec<Vec<String>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (id, doc) in docs {
        let Some(address) = book.doc_urls.get(id).and_then(|link| url::join(root, link)) else { continue };
        if !url::below(root, &address) {
            continue;
        }
        let page = url::page(&address);
        let at = *known.entry(page.clone()).or_insert_with(|| {
            pages.push(PageText { url: page, ..PageText::default() });
            chapters.push(Vec::new());
            pages.len() - 1
        });
        if let (Some(page), Some(above)) = (pages.get_mut(at), chapters.get_mut(at)) {
            take(page, above, &address, &doc);
        }
    }
    if pages.is_empty() { Err("the search index has no pages".to_owned()) } else { Ok(pages) }
}

/// Adds a section to its page. `above` holds the chapters above the page, as named by its first section.
fn take(page: &mut PageText, above: &mut Vec<String>, address: &str, doc: &Doc) {
    let anchor = url::parts(address).map(|parts| parts.fragment.to_owned()).unwrap_or_default();
    let heading = squeeze(&doc.title);
    let first = page.sections.is_empty();
    if first {
        page.title.clone_from(&heading);
    }
    // Chapter » … » page » heading » … » this heading.
    let mut crumbs: Vec<String> = doc.breadcrumbs.split('»').map(squeeze).filter(|crumb| !crumb.is_empty()).collect();
    crumbs.pop();
    if first {
        above.clone_from(&crumbs);
    }
    let alike = crumbs.iter().zip(above.iter()).take_while(|(a, b)| a == b).count();
    let trail: Vec<&str> = crumbs.iter().skip(alike).map(String::as_str).filter(|c| *c != page.title).collect();
    page.sections.push(SectionText {
        anchor,
        trail: if first { String::new() } else { trail.join(" › ") },
        heading: if first { String::new() } else { heading },
        text: squeeze(&doc.body),
    });
}

/// Extracts the JSON from the script.
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

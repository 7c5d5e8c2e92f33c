//! Reads MkDocs' `search/search_index.json`, with and without the Material theme: one entry per page, then one per
//! section, whose texts are HTML or plain.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::html::plain;
use super::index::{PageText, SectionText};
use super::url;

#[derive(Deserialize)]
struct MkDocsSite {
    docs: Vec<Value>,
}

/// Returns the site's pages; its addresses are relative to `root`.
///
/// # Errors
/// Why the text could not be read.
pub fn read(root: &str, text: &str) -> Result<Vec<PageText>, String> {
    let site: MkDocsSite =
        serde_json::from_str(text).map_err(|error| format!("it is not an MkDocs search index: {error}"))?;
    let mut pages: Vec<PageText> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for doc in &site.docs {
        let field = |name: &str| doc.get(name).and_then(Value::as_str);
        // In languages without spaces, Material marks word boundaries with this character.
        let text_of = |name: &str| plain(&field(name).unwrap_or_default().replace('\u{200b}', ""));
        let Some(address) = field("location").and_then(|location| join(root, location)) else { continue };
        if !url::below(root, &address) {
            continue;
        }
        let (page, title) = (url::page(&address), text_of("title"));
        let anchor = url::parts(&address).map(|parts| parts.fragment.to_owned()).unwrap_or_default();
        let at = *known.entry(page.clone()).or_insert_with(|| {
            pages.push(PageText { url: page, title: title.clone(), sections: Vec::new() });
            pages.len() - 1
        });
        let Some(page) = pages.get_mut(at) else { continue };
        let heading = if title == page.title { String::new() } else { title };
        let text = text_of("text");
        // Without Material, the first entry repeats the whole page; its sections are more precise.
        if anchor.is_empty() && page.sections.is_empty() || !anchor.is_empty() {
            page.sections.push(SectionText { anchor, trail: String::new(), heading, text });
        }
    }
    pages.iter_mut().for_each(drop_repeated);
    if pages.is_empty() { Err("the search index has no pages".to_owned()) } else { Ok(pages) }
}

/// Resolves a location; `.` is the root.
fn join(root: &str, location: &str) -> Option<String> {
    if location.is_empty() || location == "." { Some(root.to_owned()) } else { url::join(root, location) }
}

/// Shortens the first text: plain MkDocs puts the text of the whole page before its sections.
fn drop_repeated(page: &mut PageText) {
    let sections: usize = page.sections.iter().skip(1).map(|section| section.text.len()).sum();
    let Some(first) = page.sections.first_mut() else { return };
    let all = first.text.len();
    if sections > 200 && all > sections {
        let lead = super::marks::cut(&first.text, all.saturating_sub(sections).clamp(200, 2_000)).to_owned();
        first.text = lead;
    }
}

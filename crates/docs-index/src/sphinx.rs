//! Reads Sphinx' `searchindex.js`: names and titles of all pages, the addresses of headings and of documented API
//! objects, and the stems of each page's words. It can be searched at once; the texts then come from the pages
//! themselves, not from `_sources`: only the pages have the output of `autodoc` and the addresses of all headings.

use serde_json::Value;

use super::html::plain;
use super::index::{PageText, SectionText};
use super::url;

/// Maximum number of stems kept per page.
const MAX_STEMS: usize = 4_000;

/// Returns the site's pages, with titles and stems only; `folders`: pages are folders (`dirhtml`), not `.html` files.
///
/// # Errors
/// Why the text could not be read.
pub fn read(root: &str, text: &str, folders: bool) -> Result<Vec<PageText>, String> {
    let wrong = || "it is not a Sphinx search index".to_owned();
    let (from, to) = (text.find('{').ok_or_else(wrong)?, text.rfind('}').ok_or_else(wrong)?);
    let inner = text.get(from..=to).ok_or_else(wrong)?;
    let index: Value = serde_json::from_str(inner)
        .or_else(|_| serde_json::from_str(&quoted(inner)))
        .map_err(|error| format!("{}: {error}", wrong()))?;
    let list = |name: &str| index.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let (names, titles) = (list("docnames"), list("titles"));
    let mut pages = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let name = name.as_str().unwrap_or_default();
        let title = plain(titles.get(at).and_then(Value::as_str).unwrap_or_default());
        let address = url::join(root, &address(name, folders)).filter(|address| url::below(root, address));
        pages.push(PageText { url: address.unwrap_or_default(), title, sections: vec![SectionText::default()] });
    }
    headings(&index, &mut pages);
    objects(&index, &mut pages);
    stems(&index, &mut pages);
    // A page that its author excluded from the search (`:nosearch:`) has neither title nor words in it.
    let words =
        |page: &PageText| page.sections.iter().any(|section| !section.heading.is_empty() || !section.text.is_empty());
    let has_words = pages.iter().any(words);
    pages.retain(|page| !page.url.is_empty() && (!has_words || !page.title.is_empty() || words(page)));
    if pages.is_empty() { Err("the search index has no pages".to_owned()) } else { Ok(pages) }
}

fn address(name: &str, folders: bool) -> String {
    let name = name.trim_start_matches('/');
    if !folders {
        return format!("./{name}.html");
    }
    match name.strip_suffix("index").filter(|folder| folder.is_empty() || folder.ends_with('/')) {
        Some(folder) => format!("./{folder}"),
        None => format!("./{name}/"),
    }
}

/// Adds the headings of `alltitles`, which maps a heading to its pages and addresses.
fn headings(index: &Value, pages: &mut [PageText]) {
    for (heading, places) in index.get("alltitles").and_then(Value::as_object).into_iter().flatten() {
        for place in places.as_array().into_iter().flatten() {
            let Some(page) = page_at(place.get(0), pages) else { continue };
            let heading = plain(heading);
            let anchor = place.get(1).and_then(Value::as_str).unwrap_or_default().to_owned();
            if heading != page.title && !anchor.is_empty() {
                page.sections.push(SectionText { anchor, heading, ..SectionText::default() });
            }
        }
    }
}

/// Adds the API objects of `objects`, by prefix: `{name: […]}` in old indexes, `[[…, name]]` in newer ones.
fn objects(index: &Value, pages: &mut [PageText]) {
    for (prefix, members) in index.get("objects").and_then(Value::as_object).into_iter().flatten() {
        let members: Vec<(String, &Value)> = match members {
            Value::Object(members) => members.iter().map(|(name, member)| (name.clone(), member)).collect(),
            Value::Array(members) => {
                let named = |member: &Value| member.get(4).and_then(Value::as_str).map(str::to_owned);
                members.iter().filter_map(|member| Some((named(member)?, member))).collect()
            }
            _ => Vec::new(),
        };
        for (name, member) in members {
            let name = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            let anchor = match member.get(3).and_then(Value::as_str) {
                Some("") | None => name.clone(),
                Some("-") => continue, // derived from the name of a type, which old indexes omit
                Some(anchor) => anchor.to_owned(),
            };
            if let Some(page) = page_at(member.get(0), pages) {
                page.sections.push(SectionText { anchor, heading: name, ..SectionText::default() });
            }
        }
    }
}

/// Adds the stems of `terms`, which maps a stem to the pages that contain it.
fn stems(index: &Value, pages: &mut [PageText]) {
    let mut left = vec![MAX_STEMS; pages.len()];
    for (stem, places) in index.get("terms").and_then(Value::as_object).into_iter().flatten() {
        let one = std::slice::from_ref(places);
        for place in places.as_array().map_or(one, Vec::as_slice) {
            let at = place.as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
            let (Some(page), Some(left)) = (pages.get_mut(at), left.get_mut(at)) else { continue };
            if let Some(first) = page.sections.first_mut().filter(|_| *left > 0) {
                first.text.push_str(stem);
                first.text.push(' ');
                *left -= 1;
            }
        }
    }
}

fn page_at<'a>(at: Option<&Value>, pages: &'a mut [PageText]) -> Option<&'a mut PageText> {
    pages.get_mut(usize::try_from(at?.as_u64()?).ok()?)
}

/// Quotes the keys of old indexes, which are JavaScript with bare keys.
fn quoted(script: &str) -> String {
    let mut out = String::with_capacity(script.len() + script.len() / 4);
    let mut word = String::new();
    let (mut inside, mut escaped) = (false, false);
    for c in script.chars() {
        if inside {
            inside = escaped || c != '"';
            escaped = !escaped && c == '\\';
            out.push(c);
        } else if c.is_alphanumeric() || c == '_' || c == '$' {
            word.push(c);
        } else {
            let key = c == ':' && !word.is_empty();
            let word = std::mem::take(&mut word);
            out.push_str(&if key { format!("\"{word}\"") } else { word });
            inside = c == '"';
            out.push(c);
        }
    }
    out + &word
}

/// Whether a text is a Sphinx search index.
#[must_use]
pub fn is_index(text: &str) -> bool {
    text.trim_start().starts_with("Search.setIndex(")
}

//! Reads pdoc's `search.js`: a script with all documented items, as HTML, inside a stored elasticlunr index, or as a list.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::html;
use super::index::{PageText, SectionText};
use super::marks::squeeze;
use super::url;

/// Returns the pages of the modules.
///
/// # Errors
/// Why the text could not be read.
pub fn read(root: &str, text: &str) -> Result<Vec<PageText>, String> {
    let wrong = || "it is not a search index of pdoc".to_owned();
    let start = text.split_once("docs =").map(|(_, rest)| rest).ok_or_else(wrong)?;
    // The script goes on behind the value.
    let value = Value::deserialize(&mut serde_json::Deserializer::from_str(start)).map_err(|_| wrong())?;
    let items: Vec<Value> = match value {
        Value::Array(list) => list,
        mut index => match index.pointer_mut("/documentStore/docs").map(Value::take) {
            Some(Value::Object(docs)) => docs.into_iter().map(|(_, item)| item).collect(),
            _ => return Err(wrong()),
        },
    };
    let mut pages: BTreeMap<String, PageText> = BTreeMap::new();
    for item in &items {
        let field = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
        let (module, name) = (field("modulename"), field("qualname"));
        let address = url::join(root, &format!("{}.html", module.replace('.', "/")));
        let Some(address) = address.filter(|address| !module.is_empty() && url::below(root, address)) else { continue };
        let page = pages.entry(address.clone()).or_default();
        let text = format!("<main>{} <p>{}</main>", field("signature"), field("doc"));
        let read = html::page(&address, &text).text.sections;
        if name.is_empty() {
            // A module's text can have headings.
            (page.url, page.title) = (address, module.to_owned());
            page.sections.splice(0..0, read);
            continue;
        }
        let parts = read.iter().flat_map(|part| [part.heading.as_str(), part.text.as_str()]);
        let text = squeeze(&parts.collect::<Vec<_>>().join(" "));
        page.sections.push(SectionText { anchor: name.into(), heading: name.into(), text, ..SectionText::default() });
        if page.url.is_empty() {
            (page.url, page.title) = (address, module.to_owned());
        }
    }
    if pages.is_empty() { Err(wrong()) } else { Ok(pages.into_values().collect()) }
}

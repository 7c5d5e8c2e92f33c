//! Reads pdoc's `search.js`: a script with all documented items, as HTML, inside a stored elasticlunr index, or as a list.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::html;
use super::index::{PageText, SectionText};
use super::marks::squeeze;
use super::url;

#[derive(Deserialize)]
struct Item {
    modulename: String,
    #[serde(default)]
    qualname: String,
    #[serde(default)]
    signature: String,
    #[serde(default)]
    doc: String,
}

/// Returns the pages of the modules.
///
/// # Errors
/// Why the text could not be read.
pub fn read(root: &str, text: &str) -> Result<Vec<PageText>, String> {
    let wrong = || "it is not a search index of pdoc".to_owned();
    let start = text.split_once("docs =").map(|(_, rest)| rest).ok_or_else(wrong)?;
    // The script goes on behind the value.
    let value = serde_json::Deserializer::from_str(start).into_iter::<Value>().next().and_then(Result::ok);
    let items: Vec<Value> = match value.ok_or_else(wrong)? {
        Value::Array(list) => list,
        mut index => match index.pointer_mut("/documentStore/docs").map(Value::take) {
            Some(Value::Object(docs)) => docs.into_iter().map(|(_, item)| item).collect(),
            _ => return Err(wrong()),
        },
    };
    let mut pages: BTreeMap<String, PageText> = BTreeMap::new();
    for item in items.into_iter().filter_map(|item| serde_json::from_value::<Item>(item).ok()) {
        let Some(address) = url::join(root, &format!("{}.html", item.modulename.replace('.', "/"))) else { continue };
        if !url::below(root, &address) {
            continue;
        }
        let title = item.modulename.clone();
        let page = pages.entry(address.clone()).or_insert_with(|| PageText {
            url: address.clone(),
            title,
            ..PageText::default()
        });
        if item.qualname.is_empty() {
            // A module's text can have headings.
            let own = html::page(&address, &format!("<main>{}</main>", item.doc)).text.sections;
            page.sections.splice(0..0, own);
            continue;
        }
        let read = html::page(&address, &format!("<main>{} <p>{}</main>", item.signature, item.doc));
        let parts = read.text.sections.iter().flat_map(|part| [part.heading.as_str(), part.text.as_str()]);
        let text = squeeze(&parts.collect::<Vec<_>>().join(" "));
        let (anchor, heading) = (item.qualname.clone(), item.qualname);
        page.sections.push(SectionText { anchor, heading, text, ..SectionText::default() });
    }
    if pages.is_empty() { Err(wrong()) } else { Ok(pages.into_values().collect()) }
}

//! Reads rustdoc's lists: the crates of a folder (`crates.js`), and all items of a crate (`all.html`). rustdoc's own
//! search index consists of many small binary files; the lists name every page, and the pages have the texts.

use super::index::{PageText, SectionText};
use super::{marks, url};

/// Maximum number of crates of a site.
const MAX_CRATES: usize = 40;
const MAX_ITEMS: usize = 20_000;

/// The names in `window.ALL_CRATES = ["…"]`.
#[must_use]
pub fn crates(text: &str) -> Vec<String> {
    let list = marks::between(text, "[", "]").unwrap_or_default();
    let names = list.split(',').map(|name| name.trim().trim_matches('"').to_owned());
    names
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
        .take(MAX_CRATES)
        .collect()
}

/// The pages of a crate from its list of items at `address`: the crate, its modules and its items,
/// with titles only.
#[must_use]
pub fn items(address: &str, html: &str) -> Vec<PageText> {
    let folder = url::folder(address);
    let name = folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let mut modules = vec![stub(format!("{folder}index.html"), &format!("Crate {name}"))];
    let mut items = Vec::new();
    for list in html.split("<ul class=\"all-items\">").skip(1) {
        let list = list.split("</ul>").next().unwrap_or_default();
        for item in list.split("<a href=\"").skip(1).take(MAX_ITEMS) {
            let Some((link, rest)) = item.split_once('"') else { continue };
            let path = marks::between(rest, ">", "<").unwrap_or_default();
            let Some(address) = url::join(address, link).filter(|at| url::below(&folder, at)) else { continue };
            let file = link.rsplit('/').next().unwrap_or_default();
            let kind = file.split('.').next().unwrap_or_default();
            if let Some((module, _)) = link.rsplit_once('/') {
                let title = format!("Module {name}::{}", module.replace('/', "::"));
                let module = stub(format!("{folder}{module}/index.html"), &title);
                if !modules.iter().any(|known| known.url == module.url) {
                    modules.push(module);
                }
            }
            items.push(stub(address, &format!("{} {name}::{path}", kind_name(kind))));
        }
    }
    modules.extend(items);
    modules.truncate(MAX_ITEMS);
    modules
}

fn stub(url: String, title: &str) -> PageText {
    PageText { url, title: title.to_owned(), sections: vec![SectionText::default()] }
}

fn kind_name(kind: &str) -> &str {
    match kind {
        "struct" => "Struct",
        "enum" => "Enum",
        "trait" => "Trait",
        "fn" => "Function",
        "macro" => "Macro",
        "type" => "Type Alias",
        "constant" => "Constant",
        "static" => "Static",
        "union" => "Union",
        "primitive" => "Primitive Type",
        "keyword" => "Keyword",
        "attr" => "Attribute Macro",
        "derive" => "Derive Macro",
        other => other,
    }
}

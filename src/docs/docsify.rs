//! docsify: a page of scripts that shows Markdown files. A file `docs/hooks.md` is shown at `#/docs/hooks`, and its heading
//! "The hooks" at `#/docs/hooks?id=the-hooks`. Inside the index, a page has its file's address.

use std::collections::HashMap;

use super::url;

const MAX_LINKS: usize = 2_000;

/// The address at which a section of a file is shown; `anchor` may be empty.
#[must_use]
pub fn address(root: &str, file: &str, anchor: &str) -> String {
    let path = file.strip_prefix(root).unwrap_or(file);
    let route = path.strip_suffix("README.md").or_else(|| path.strip_suffix(".md")).unwrap_or(path);
    let id = if anchor.is_empty() { String::new() } else { format!("?id={anchor}") };
    format!("{root}#/{route}{id}")
}

/// The file that is shown at an address, with the anchor as its fragment; `None`: the address is no route.
#[must_use]
pub fn file(root: &str, address: &str) -> Option<String> {
    let route = address.strip_prefix(root)?.trim_start_matches("index.html").strip_prefix("#/")?;
    let (path, query) = route.split_once('?').unwrap_or((route, ""));
    let anchor = query.split('&').find_map(|pair| pair.strip_prefix("id=")).unwrap_or_default();
    let mark = if anchor.is_empty() { "" } else { "#" };
    Some(format!("{}{mark}{anchor}", file_of(root, path)?))
}

/// The files that a text of Markdown links to with their names, in order: a sidebar, or a page.
#[must_use]
pub fn links(root: &str, text: &str) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("](").filter(|_| out.len() < MAX_LINKS) {
        let (before, tail) = rest.split_at(at);
        let name = before.rsplit('[').next().unwrap_or_default().trim_matches('*').to_owned();
        rest = tail.get(2..).unwrap_or_default();
        let link = rest.split([')', ' ']).next().unwrap_or_default();
        let link = link.trim_start_matches("#/").trim_start_matches('/');
        let path = link.split(['?', '#']).next().unwrap_or_default();
        let file =
            file_of(root, path).filter(|_| !link.contains("://") && !link.starts_with('#') && !link.contains(':'));
        if let Some(file) = file.filter(|file| out.iter().all(|(known, _)| known != file)) {
            out.push((file, name));
        }
    }
    out
}

/// `docs/hooks` is `docs/hooks.md`, a folder its `README.md`; `None`: it is no Markdown.
fn file_of(root: &str, path: &str) -> Option<String> {
    let named = path.rsplit('/').next().unwrap_or_default();
    let end = match named {
        "" => "README.md",
        name if name.ends_with(".md") => "",
        name if url::is_page(name) && !name.ends_with(".html") => ".md",
        _ => return None,
    };
    url::join(root, &format!("{path}{end}")).filter(|file| url::below(root, file))
}

/// The anchors of a page's headings as docsify makes them, in order; `custom` ones are written as `:id=name`.
#[derive(Debug, Default)]
pub struct Slugs {
    seen: HashMap<String, usize>,
}

impl Slugs {
    /// The next heading's anchor.
    pub fn next(&mut self, heading: &str) -> String {
        if let Some((_, custom)) = heading.split_once(":id=") {
            return custom.split(char::is_whitespace).next().unwrap_or_default().to_owned();
        }
        // docsify sees the heading as HTML, and drops the punctuation of entities too: `What's` is `what39s`.
        let html = heading.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let html = html.replace('"', "&quot;").replace('\'', "&#39;");
        let mut slug = String::new();
        for c in html.trim().chars() {
            match c {
                c if c.is_whitespace() || c == '-' => {
                    if !slug.ends_with('-') {
                        slug.push('-');
                    }
                }
                '\u{2000}'..='\u{206f}' | '\u{2e00}'..='\u{2e7f}' => {}
                c if c.is_ascii_punctuation() && c != '_' => {}
                c => slug.push(c.to_ascii_lowercase()),
            }
        }
        if slug.starts_with(|c: char| c.is_ascii_digit()) {
            slug.insert(0, '_');
        }
        let times = self.seen.entry(slug.clone()).and_modify(|times| *times += 1).or_insert(0);
        if *times > 0 { format!("{slug}-{times}") } else { slug }
    }
}

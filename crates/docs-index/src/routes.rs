//! Addresses of pages that a browser makes of Markdown files (docsify, Docute).
//!
//! Such a site has one HTML page, which contains no text; the text of its page `#/guide/run` or `/guide/run` is in
//! `guide/run.md`. Inside the index a page has the address of its file, because that is what can be fetched. Users and
//! models see the address of the page: addresses are converted here, where they leave or enter the module.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::marks::value;
use super::url;

/// How pages are addressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Way {
    /// Pages are files: nothing is converted.
    #[default]
    Files,
    /// `#/page?id=section` (docsify).
    Hash,
    /// `/page#section`.
    Path,
}

/// How a heading's address is derived from its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Slugs {
    /// In a way that is not known: sections have the address of their page.
    #[default]
    Unknown,
    Docsify,
    Docute,
}

/// The addresses of a site's pages and files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routes {
    way: Way,
    slugs: Slugs,
    /// Where the pages are, and where the files are; both end with `/`.
    root: String,
    files: String,
    /// The file of the first page.
    home: String,
    /// Links are relative to their file, not to `files`.
    relative: bool,
}

const README: &str = "README.md";

impl Routes {
    /// The routes of a docsify site, from the page that starts it.
    #[must_use]
    pub fn docsify(page: &str, html: &str) -> Option<Self> {
        if !has_script(html, "docsify") || !html.contains("$docsify") {
            return None;
        }
        let root = url::folder(page);
        let base = value(html, "basePath").filter(|base| !base.is_empty());
        let mut files = base.and_then(|base| url::join(page, base)).filter(|files| url::same_origin(page, files));
        if let Some(files) = files.as_mut().filter(|files| !files.ends_with('/')) {
            files.push('/');
        }
        let way = if value(html, "routerMode") == Some("history") { Way::Path } else { Way::Hash };
        let home = value(html, "homepage").filter(|home| home.ends_with(".md")).unwrap_or(README).to_owned();
        let relative = html.contains("relativePath: true") || html.contains("relativePath:!0");
        Some(Routes { way, slugs: Slugs::Docsify, files: files.unwrap_or_else(|| root.clone()), root, home, relative })
    }

    /// The routes of a site whose HTML contains no text, as far as its Markdown files have its pages' names.
    #[must_use]
    pub fn shell(root: &str, html: &str) -> Self {
        let slugs = if has_script(html, "docute") { Slugs::Docute } else { Slugs::Unknown };
        Routes {
            way: Way::Path,
            slugs,
            root: root.to_owned(),
            files: root.to_owned(),
            home: README.to_owned(),
            relative: true,
        }
    }

    /// The name of the file that lists a docsify site's pages.
    #[must_use]
    pub fn sidebar(html: &str) -> &str {
        value(html, "loadSidebar").filter(|name| name.ends_with(".md")).unwrap_or("_sidebar.md")
    }

    /// Whether addresses are converted at all.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.way != Way::Files
    }

    /// Whether the generator is known; otherwise the addresses are a guess.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.slugs != Slugs::Unknown
    }

    #[must_use]
    pub fn slugs(&self) -> Slugs {
        self.slugs
    }

    #[must_use]
    pub fn files(&self) -> &str {
        &self.files
    }

    /// The file of the first page.
    #[must_use]
    pub fn home(&self) -> String {
        format!("{}{}", self.files, self.home)
    }

    /// The address under which users find a file, or a section of it.
    #[must_use]
    pub fn shown(&self, address: &str) -> String {
        let (file, anchor) = address.split_once('#').unwrap_or((address, ""));
        let Some(name) = file.strip_prefix(&self.files).filter(|name| self.is_used() && name.ends_with(".md")) else {
            return address.to_owned();
        };
        let route = if name == self.home { "" } else { name.strip_suffix(".md").unwrap_or(name) };
        let route = match route.strip_suffix("README") {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => folder,
            _ => route,
        };
        let mark = match (anchor.is_empty(), self.way) {
            (true, _) => "",
            (_, Way::Hash) => "?id=",
            _ => "#",
        };
        let hash = if self.way == Way::Hash { "#/" } else { "" };
        format!("{}{hash}{route}{mark}{anchor}", self.root)
    }

    /// The file, with the section's anchor, that a page's address stands for. Any other address is returned as it is.
    #[must_use]
    pub fn file(&self, address: &str) -> String {
        let (page, fragment) = address.split_once('#').unwrap_or((address, ""));
        let (route, anchor) = match (self.way, fragment.strip_prefix('/')) {
            (Way::Hash, Some(route)) => {
                let (route, query) = route.split_once('?').unwrap_or((route, ""));
                (route, query.split('&').find_map(|part| part.strip_prefix("id=")).unwrap_or_default())
            }
            (Way::Hash, None) if url::key(page) == url::key(&self.root) => ("", fragment),
            (Way::Path, _) if url::below(&self.root, page) => {
                (page.strip_prefix(&self.root).unwrap_or_default(), fragment)
            }
            _ => return address.to_owned(),
        };
        let file = self.of_route(route);
        if anchor.is_empty() { file } else { format!("{file}#{anchor}") }
    }

    /// The file of a route. A route may already have the name of a file.
    fn of_route(&self, route: &str) -> String {
        let route = route.trim_start_matches('/');
        let route = route.strip_suffix(".html").unwrap_or(route);
        match route {
            "" => self.home(),
            _ if route.ends_with('/') => format!("{}{route}{README}", self.files),
            _ if route.ends_with(".md") => format!("{}{route}", self.files),
            _ => format!("{}{route}.md", self.files),
        }
    }

    /// The file, with anchor, that a link in a Markdown file leads to. `None`: it leads out of the site, or to no page.
    #[must_use]
    pub fn linked(&self, file: &str, link: &str) -> Option<String> {
        if let Some(anchor) = link.strip_prefix('#').filter(|anchor| !anchor.starts_with('/')) {
            return Some(format!("{file}#{anchor}"));
        }
        let (path, anchor) = match link.split_once('#') {
            Some(("", route)) => route.split_once("?id=").unwrap_or((route, "")),
            Some((path, anchor)) => (path, anchor),
            None => link.split_once("?id=").unwrap_or((link, "")),
        };
        let path = path.split('?').next().unwrap_or_default();
        // docsify's absolute links begin at the site's root; others at the host's.
        let hashed =
            link.starts_with('#') || self.slugs == Slugs::Docsify && path.starts_with('/') && !path.starts_with("//");
        let to = if hashed {
            url::join(&self.files, path.trim_start_matches('/'))?
        } else {
            url::join(if self.relative { file } else { &self.files }, path)?
        };
        let rest = to.strip_prefix(&self.files).filter(|_| url::below(&self.files, &to))?;
        let name = rest.rsplit('/').next().unwrap_or_default();
        let is_page = name.ends_with(".md") || url::is_page(&to);
        let to = self.of_route(rest);
        is_page.then(|| if anchor.is_empty() { to } else { format!("{to}#{anchor}") })
    }

    /// The links of a Markdown file to other files of the site, each with its text.
    #[must_use]
    pub fn links(&self, file: &str, markdown: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut rest = markdown;
        while let Some((before, tail)) = rest.split_once("](") {
            let name = before.rsplit('[').next().unwrap_or_default().replace(['*', '`'], "");
            let link = tail.split([')', ' ', '\n']).next().unwrap_or_default();
            found.extend(self.linked(file, link).map(|to| (to, name)));
            rest = tail;
        }
        found
    }

    /// A Markdown file's text with links to pages instead of files.
    #[must_use]
    pub fn with_links(&self, file: &str, markdown: &str) -> String {
        let mut out = String::with_capacity(markdown.len());
        let mut rest = markdown;
        while let Some((before, tail)) = rest.split_once("](") {
            let link = tail.split([')', ' ', '\n']).next().unwrap_or_default();
            out.push_str(before);
            out.push_str("](");
            out.push_str(&self.linked(file, link).map_or_else(|| link.to_owned(), |to| self.shown(&to)));
            rest = tail.get(link.len()..).unwrap_or_default();
        }
        out.push_str(rest);
        out
    }

    /// The files of the routes that a rendered page links to.
    #[must_use]
    pub fn rendered(&self, html: &str) -> Vec<String> {
        let hrefs = html.split("href=\"#/").skip(1).filter_map(|tail| tail.split(['"', '?']).next());
        hrefs.map(|route| self.of_route(route)).filter(|file| url::below(&self.files, file)).collect()
    }
}

/// Whether a page loads a script of this name.
fn has_script(html: &str, name: &str) -> bool {
    html.split("<script").skip(1).any(|tail| {
        tail.split('>')
            .next()
            .and_then(|tag| value(tag, "src"))
            .is_some_and(|src| src.to_ascii_lowercase().contains(name))
    })
}

/// Derives the headings' addresses of one page, in their order.
#[derive(Debug, Default)]
pub struct Slugger {
    slugs: Slugs,
    seen: HashMap<String, usize>,
}

impl Slugger {
    #[must_use]
    pub fn new(slugs: Slugs) -> Self {
        Slugger { slugs, seen: HashMap::new() }
    }

    /// The anchor of a heading, given its Markdown; empty if it cannot be known.
    pub fn anchor(&mut self, markdown: &str) -> String {
        if self.slugs == Slugs::Unknown {
            return String::new();
        }
        let docsify = self.slugs == Slugs::Docsify;
        let (text, given) = if docsify { named(markdown) } else { (markdown, None) };
        let text = given.map_or_else(|| shown_text(text, docsify), str::to_owned);
        let bare = text.trim().chars().filter(|c| !is_dropped(*c));
        let mut slug = String::new();
        for c in bare {
            let c = if c.is_whitespace() { '-' } else { c };
            // docsify lower-cases only these letters.
            let c = if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c };
            if !(docsify && c == '-' && slug.ends_with('-')) {
                slug.push(c);
            }
        }
        if !docsify {
            slug = slug.to_lowercase();
        } else if slug.starts_with(|c: char| c.is_ascii_digit()) {
            slug.insert(0, '_');
        }
        let before = self.seen.entry(slug.clone()).or_default();
        *before += 1;
        match (*before, docsify) {
            (1, _) => slug,
            (count, true) => format!("{slug}-{}", count - 1),
            (count, false) => format!("{slug}-{count}"),
        }
    }
}

/// The heading without docsify's settings, and the id that they may give: `## Title :id=name`.
fn named(markdown: &str) -> (&str, Option<&str>) {
    match markdown.split_once(" :id=") {
        Some((text, id)) => (text, id.split_whitespace().next()),
        None => (markdown, None),
    }
}

/// A heading's Markdown as the text of its HTML. docsify leaves out tags and comments, and writes signs as HTML's entities,
/// whose letters become part of the address.
fn shown_text(markdown: &str, docsify: bool) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    // `[text](link)` and `![text](link)`.
    while let Some((before, tail)) = rest.split_once("](") {
        text.push_str(before);
        rest = tail.split_once(')').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    if !docsify {
        return text;
    }
    let (mut out, mut before, mut in_code) = (String::new(), ' ', false);
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        let next = rest.chars().next().unwrap_or(' ');
        match c {
            '`' => in_code = !in_code,
            '<' if !in_code && (next.is_ascii_alphabetic() || matches!(next, '/' | '!')) && rest.contains('>') => {
                rest = rest.split_once('>').map_or("", |(_, rest)| rest);
            }
            // Emphasis; within a word it is part of the word.
            '_' if !in_code && (!before.is_alphanumeric() || !next.is_alphanumeric()) => {}
            '<' => out.push_str("lt"),
            '>' => out.push_str("gt"),
            '&' => out.push_str("amp"),
            '"' => out.push_str("quot"),
            '\'' => out.push_str("39"),
            _ => out.push(c),
        }
        before = c;
    }
    out
}

/// The signs that both generators leave out.
fn is_dropped(c: char) -> bool {
    matches!(c, '\u{2000}'..='\u{206F}' | '\u{2E00}'..='\u{2E7F}') || "\\'!\"#$%&()*+,./:;<=>?@[]^`{|}~".contains(c)
}

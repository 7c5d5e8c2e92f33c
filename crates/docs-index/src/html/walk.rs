//! Converts elements to Markdown and plain text, section by section.

use dom_query::NodeRef;

use super::chosen::is_skipped;
use super::{OpenSection, with_trails};
use crate::index::SectionText;
use crate::marks::{cut, squeeze};
use crate::url;

/// Content nested more deeply is left out: no page written for readers nests this deep.
const MAX_DEPTH: usize = 150;
/// Maximum number of sections of a page.
const MAX_SECTIONS: usize = 3_000;
/// Longer headings are truncated.
const MAX_HEADING_CHARS: usize = 300;

pub(super) struct Walker<'a> {
    /// What links are relative to.
    base: &'a str,
    sections: Vec<OpenSection>,
    open: OpenSection,
    /// The current paragraph, as Markdown and as plain text.
    run: (String, String),
    /// Depth of lists, quotes and cells: inside them, headings open no sections.
    nested: usize,
    /// The source file of the page's first item (JSDoc).
    file: Option<String>,
    /// How the address of a link is resolved.
    join: fn(&str, &str) -> Option<String>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(base: &'a str, join: fn(&str, &str) -> Option<String>) -> Self {
        Walker {
            base,
            sections: Vec::new(),
            open: OpenSection::default(),
            run: Default::default(),
            nested: 0,
            file: None,
            join,
        }
    }

    pub(super) fn walk(&mut self, main: NodeRef<'_>) {
        self.blocks(main, 0);
        self.flush();
        let last = std::mem::take(&mut self.open);
        self.sections.push(last);
        // What a class has from another one is on that one's page.
        self.sections.retain(|section| !(section.replaces && section.elsewhere));
    }

    pub(super) fn sections(self, title: &str) -> (Vec<SectionText>, Vec<String>) {
        with_trails(self.sections, title)
    }

    fn blocks(&mut self, node: NodeRef<'_>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for child in node.children_it(false) {
            if child.is_text() {
                push_text(&mut self.run, &child.text());
                continue;
            }
            let Some(name) = child.node_name().filter(|_| child.is_element()) else { continue };
            if name.as_ref() == "dd" {
                self.note_origin(child);
            }
            if is_skipped(child, &name) {
                continue;
            }
            match name.as_ref() {
                "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(child, &name),
                "p" | "figcaption" => {
                    self.flush();
                    self.inline(child, depth + 1);
                    self.flush();
                }
                "pre" => self.code(child),
                // Lines of code in elements of their own (Doxygen).
                "div" if child.has_class("fragment") => self.code(child),
                "ul" | "ol" if self.nested > 0 || !has_sections(child) => self.list(child, &name, depth),
                "blockquote" => {
                    self.flush();
                    let (markdown, plain) = self.apart(child, depth);
                    self.block(&prefixed(&markdown, "> ", "> "), &plain);
                }
                "table" => self.table(child, depth),
                "hr" => self.flush(),
                "dt" | "section" | "div" if self.opens_item(child, &name) => {
                    if name.as_ref() != "dt" {
                        self.blocks(child, depth + 1);
                        self.flush();
                    }
                }
                _ if is_block(&name) || matches!(name.as_ref(), "ul" | "ol") => {
                    self.flush();
                    self.blocks(child, depth + 1);
                    self.flush();
                }
                _ => self.inline_element(child, &name, depth + 1),
            }
        }
    }

    /// Opens a section if a signature or an API item begins here, and returns whether it did.
    fn opens_item(&mut self, node: NodeRef<'_>, name: &str) -> bool {
        if self.nested > 0 {
            return false;
        }
        if let Some(id) = term_id(node, name) {
            self.flush();
            self.begin(&id, 6, cut(&heading_text(node), MAX_HEADING_CHARS).to_owned());
            return true;
        }
        let Some(id) = node.id_attr().filter(|id| !id.is_empty()) else { return false };
        if has_permalink(node, name) {
            self.flush();
            // A signature right below its own heading (TypeDoc) belongs to that heading.
            if name == "div" && self.open.plain.is_empty() && !self.open.heading.is_empty() {
                return false;
            }
            self.begin(&id, if name == "div" { 6 } else { 5 }, name_of(node, &id));
            return true;
        }
        let classes = node.class().unwrap_or_default();
        let is_item = match name {
            "dt" => classes.split_whitespace().any(|class| class == "sig"),
            "div" => false,
            _ => {
                let kinds = ["method", "associatedconstant", "associatedtype", "variant", "structfield", "fn"];
                classes.split_whitespace().any(|class| kinds.contains(&class))
            }
        };
        if !is_item {
            return false;
        }
        self.flush();
        if name == "dt" {
            let signature = squeeze(&node.text());
            let signature = signature.trim_end_matches(['¶', '#', '\u{f0c1}']).trim();
            self.begin(&id, 5, id.to_string());
            self.block(&format!("`{signature}`"), signature);
        } else {
            // Above the headings of its text (rustdoc).
            self.begin(&id, 4, id.rsplit('.').next().unwrap_or_default().to_owned());
        }
        true
    }

    /// Notes where JSDoc says that an item comes from: most classes repeat the members of those that they extend.
    fn note_origin(&mut self, node: NodeRef<'_>) {
        if node.has_class("inherited-from") {
            (self.open.replaces, self.open.elsewhere) = (true, true);
        } else if node.has_class("tag-overrides") {
            self.open.replaces = true;
        } else if node.has_class("tag-source") {
            let file = node.descendants_it().find(|n| n.has_name("a")).map(|link| link.text().to_string());
            self.open.elsewhere |= self.file.is_some() && self.file != file;
            self.file = self.file.take().or(file);
        }
    }

    fn heading(&mut self, node: NodeRef<'_>, name: &str) {
        self.flush();
        let text = cut(&heading_text(node), MAX_HEADING_CHARS).to_owned();
        if text.is_empty() {
            return;
        }
        let id = id_of(node);
        // The heading of a rustdoc item is its signature.
        if self.nested > 0 || node.has_class("code-header") || (id.is_none() && name != "h1") {
            let bold = if node.has_class("code-header") { format!("`{text}`") } else { format!("**{text}**") };
            return self.block(&bold, &text);
        }
        let level = name.get(1..).and_then(|digit| digit.parse().ok()).unwrap_or(2);
        self.begin(&id.unwrap_or_default(), level, text.clone());
        // A heading that is a signature (JSDoc) is shortened to the name.
        let whole = squeeze(&node.text());
        if node.descendants_it().any(is_signature) && whole != text {
            self.block(&format!("`{whole}`"), &whole);
        }
    }

    fn begin(&mut self, anchor: &str, level: u8, heading: String) {
        if self.sections.len() >= MAX_SECTIONS {
            return self.block(&format!("**{heading}**"), &heading);
        }
        let next = OpenSection { anchor: anchor.to_owned(), level, heading, ..OpenSection::default() };
        self.sections.push(std::mem::replace(&mut self.open, next));
    }

    fn list(&mut self, node: NodeRef<'_>, name: &str, depth: usize) {
        self.flush();
        let (mut markdown, mut plain) = (String::new(), String::new());
        let items = node.children_it(false).filter(|child| child.has_name("li"));
        for (number, item) in (1..).zip(items) {
            let (text, words) = self.apart(item, depth);
            let mark = if name == "ol" { format!("{number}. ") } else { "- ".to_owned() };
            markdown.push_str(&prefixed(&text, &mark, &" ".repeat(mark.len())));
            markdown.push('\n');
            plain.push_str(&words);
            plain.push_str(" \n");
        }
        self.block(&markdown, &plain);
    }

    fn table(&mut self, node: NodeRef<'_>, depth: usize) {
        self.flush();
        let (mut markdown, mut plain) = (String::new(), String::new());
        let rows: Vec<NodeRef<'_>> = node.descendants_it().filter(|n| n.has_name("tr")).collect();
        for (number, row) in rows.into_iter().enumerate() {
            let mut cells = 0;
            let mut code = None;
            markdown.push('|');
            for cell in row.children_it(false).filter(|cell| cell.has_name("td") || cell.has_name("th")) {
                if is_skipped(cell, "td") {
                    continue;
                }
                // Some highlighters write code with line numbers as a table.
                code = code.or_else(|| cell.descendants_it().find(|n| n.has_name("pre")));
                let (text, words) = self.apart(cell, depth);
                markdown.push_str(&format!(" {} |", squeeze(&text).replace('|', "\\|")));
                plain.push_str(&words);
                plain.push_str(" \n");
                cells += 1;
            }
            if let Some(code) = code.filter(|_| cells <= 1) {
                return self.code(code);
            }
            markdown.push('\n');
            if number == 0 {
                markdown.push_str(&format!("|{}\n", " --- |".repeat(cells)));
            }
        }
        self.block(&markdown, &plain);
    }

    fn code(&mut self, node: NodeRef<'_>) {
        self.flush();
        let mut text = String::new();
        raw_text(node, &mut text, 0);
        let text = text.trim_matches('\n');
        let longest = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
        let fence = if longest > 0 { "~~~~" } else { "```" };
        self.block(&format!("{fence}{}\n{text}\n{fence}", language(node)), text);
    }

    /// Renders the blocks of a node separately, for a list, a quote or a cell.
    fn apart(&mut self, node: NodeRef<'_>, depth: usize) -> (String, String) {
        let outer = (std::mem::take(&mut self.open.markdown), std::mem::take(&mut self.open.plain));
        let run = std::mem::take(&mut self.run);
        self.nested += 1;
        self.blocks(node, depth + 1);
        self.flush();
        self.nested -= 1;
        self.run = run;
        let markdown = std::mem::replace(&mut self.open.markdown, outer.0);
        let plain = std::mem::replace(&mut self.open.plain, outer.1);
        (markdown.trim_matches('\n').to_owned(), plain)
    }

    fn inline(&mut self, node: NodeRef<'_>, depth: usize) {
        for child in node.children_it(false) {
            if child.is_text() {
                push_text(&mut self.run, &child.text());
            } else if let Some(name) = child.node_name().filter(|_| child.is_element()) {
                self.inline_element(child, &name, depth);
            }
        }
    }

    fn inline_element(&mut self, node: NodeRef<'_>, name: &str, depth: usize) {
        if depth > MAX_DEPTH || is_skipped(node, name) {
            return;
        }
        match name {
            "br" => push_text(&mut self.run, " \n"),
            "code" | "kbd" | "samp" | "tt" => {
                let text = squeeze(&node.text());
                if !text.is_empty() {
                    self.run.0.push_str(&format!("`{text}`"));
                    self.run.1.push_str(&text);
                }
            }
            "strong" | "b" => self.wrapped(node, depth, "**"),
            "em" | "i" => self.wrapped(node, depth, "*"),
            "img" => push_text(&mut self.run, &node.attr("alt").unwrap_or_default()),
            "a" => self.link(node, depth),
            _ if is_block(name) || matches!(name, "p" | "ul" | "ol" | "pre" | "table" | "blockquote") => {
                // Invalid HTML, but its content counts.
                self.blocks(node, depth + 1);
            }
            _ => self.inline(node, depth + 1),
        }
    }

    fn wrapped(&mut self, node: NodeRef<'_>, depth: usize, mark: &str) {
        let start = self.run.0.len();
        self.inline(node, depth + 1);
        // A block inside may have ended the paragraph.
        let inner = self.run.0.get(start..).unwrap_or_default().trim().to_owned();
        if !inner.is_empty() {
            self.run.0.truncate(start);
            self.run.0.push_str(&format!("{mark}{inner}{mark}"));
        }
    }

    fn link(&mut self, node: NodeRef<'_>, depth: usize) {
        let start = self.run.0.len();
        self.inline(node, depth + 1);
        let inner = self.run.0.get(start..).unwrap_or_default().trim().to_owned();
        let href = node.attr("href").and_then(|href| (self.join)(self.base, &href));
        if let Some(href) = href.filter(|_| !inner.is_empty()) {
            self.run.0.truncate(start);
            self.run.0.push_str(&format!("[{inner}]({})", href.replace([' ', ')'], "%20")));
        }
    }

    /// Ends the current paragraph.
    fn flush(&mut self) {
        let (markdown, plain) = std::mem::take(&mut self.run);
        if !markdown.trim().is_empty() {
            self.block(markdown.trim(), plain.trim());
        }
    }

    fn block(&mut self, markdown: &str, plain: &str) {
        if !self.open.markdown.is_empty() {
            self.open.markdown.push_str("\n\n");
        }
        self.open.markdown.push_str(markdown.trim_end_matches('\n'));
        self.open.plain.push_str(plain);
        self.open.plain.push('\n');
    }
}

/// The text of a heading, without permalink signs. An anchor that contains the only text is the heading itself.
pub(super) fn heading_text(node: NodeRef<'_>) -> String {
    let read = |anchors: bool| {
        let mut text = String::new();
        heading_parts(node, anchors, &mut text, 0);
        squeeze(&text.replace(['\u{200b}', '¶', '\u{f0c1}', '§'], ""))
    };
    let text = read(false);
    if text.is_empty() {
        Some(read(true)).filter(|text| text.contains(char::is_alphanumeric)).unwrap_or_default()
    } else {
        text
    }
}

fn heading_parts(node: NodeRef<'_>, anchors: bool, text: &mut String, depth: usize) {
    for child in node.children_it(false).take_while(|_| depth < MAX_DEPTH) {
        if child.is_text() {
            text.push_str(&child.text());
        } else if let Some(name) = child.node_name().filter(|_| child.is_element()) {
            let is_kept = !is_skipped(child, &name) || anchors && name.as_ref() == "a";
            if is_kept && !is_signature(child) {
                heading_parts(child, anchors, text, depth + 1);
            }
        }
    }
}

/// The parameters and types beside a name in a heading (JSDoc).
fn is_signature(node: NodeRef<'_>) -> bool {
    node.has_class("signature") || node.has_class("type-signature")
}

/// The id of the block around a single term, as authors give it to a question (Asciidoctor). Terms with ids of their own
/// are not sections: glossaries would be found in place of the pages about a matter.
fn term_id(node: NodeRef<'_>, name: &str) -> Option<String> {
    if name != "dt" || node.id_attr().is_some() || node.prev_element_sibling().is_some() {
        return None;
    }
    let list = node.parent()?;
    let block = list.parent().filter(|block| block.has_name("div") && list.prev_element_sibling().is_none())?;
    let is_one = list.children_it(false).filter(|part| part.has_name("dd")).count() == 1;
    let id = block.id_attr().filter(|id| !id.is_empty() && is_one && list.next_element_sibling().is_none())?;
    Some(id.to_string())
}

/// Whether a section or a block without a heading has a permalink to itself (pdoc, TypeDoc).
fn has_permalink(node: NodeRef<'_>, name: &str) -> bool {
    let Some(id) = node.id_attr().filter(|id| !id.is_empty() && matches!(name, "section" | "div")) else {
        return false;
    };
    let leads_here = |link: NodeRef<'_>| {
        let href = link.attr("href").unwrap_or_default();
        href.strip_prefix('#').is_some_and(|to| to == id.as_ref() || url::decoded(to) == id.as_ref())
    };
    node.children_it(false).any(|child| child.has_name("a") && leads_here(child))
        && !node.children_it(false).any(|child| is_heading(&child))
}

fn is_heading(node: &NodeRef<'_>) -> bool {
    node.node_name().is_some_and(|name| matches!(name.as_ref(), "h1" | "h2" | "h3" | "h4" | "h5" | "h6"))
}

/// The name of an item: its id, in the case in which its signature writes it.
fn name_of(node: NodeRef<'_>, id: &str) -> String {
    let mut texts = node.descendants_it().filter(|part| part.is_text()).take(40).map(|part| part.text());
    texts.find(|text| text.eq_ignore_ascii_case(id)).map_or_else(|| id.to_owned(), |text| text.to_string())
}

/// Whether a list contains sections with addresses (Javadoc, TypeDoc): then it is no list for readers.
fn has_sections(list: NodeRef<'_>) -> bool {
    list.descendants_it().filter(|node| node.is_element()).any(|node| {
        let name = node.node_name().unwrap_or_default();
        is_heading(&node) && id_of(node).is_some() || has_permalink(node, &name)
    })
}

pub(super) fn id_of(node: NodeRef<'_>) -> Option<String> {
    let own = |node: NodeRef<'_>| node.id_attr().filter(|id| !id.is_empty()).map(|id| id.to_string());
    let inside = || {
        let mut anchors = node.descendants_it().filter(|n| n.has_name("a"));
        anchors.find_map(|a| own(a).or_else(|| a.attr("name").filter(|n| !n.is_empty()).map(|n| n.to_string())))
    };
    let opened = || {
        let parent = node.parent().filter(|parent| parent.has_name("section") || parent.has_class("section"))?;
        let before = node.prev_sibling().is_none_or(|s| !s.is_element());
        // Sphinx puts targets between the section and its heading.
        let first = before || node.prev_element_sibling().is_some_and(|s| s.has_name("span"));
        first.then(|| own(parent)).flatten()
    };
    let before = || {
        let anchor = node.prev_element_sibling().filter(|s| s.has_name("a") && s.text().trim().is_empty())?;
        own(anchor).or_else(|| anchor.attr("name").filter(|name| !name.is_empty()).map(|name| name.to_string()))
    };
    own(node).or_else(inside).or_else(opened).or_else(before)
}

fn is_block(name: &str) -> bool {
    let names = [
        "div", "section", "article", "main", "aside", "header", "details", "figure", "dl", "dt", "dd", "center", "li",
        "summary", "tbody", "thead", "tr", "td", "th", "body", "html", "fieldset", "address", "hgroup", "p",
    ];
    // Custom elements of generators (`<starlight-tabs>`) contain blocks.
    names.contains(&name) || name.contains('-')
}

fn push_text(run: &mut (String, String), text: &str) {
    for out in [&mut run.0, &mut run.1] {
        let mut blank = out.is_empty() || out.ends_with([' ', '\n']);
        for c in text.chars() {
            if c.is_whitespace() {
                if !blank {
                    out.push(' ');
                }
                blank = true;
            } else {
                out.push(c);
                blank = false;
            }
        }
    }
}

/// Appends the text with its line breaks.
fn raw_text(node: NodeRef<'_>, out: &mut String, depth: usize) {
    for child in node.children_it(false).take_while(|_| depth < MAX_DEPTH) {
        if child.is_text() {
            out.push_str(&child.text());
        } else if let Some(name) = child.node_name().filter(|name| child.is_element() && !is_skipped(child, name)) {
            let from = out.len();
            raw_text(child, out, depth + 1);
            // A line in an element of its own (Expressive Code); an empty one already contains its line break.
            let line = name.as_ref() == "div" && !out.get(from..).is_some_and(|line| line.ends_with('\n'));
            if line || name.as_ref() == "br" {
                out.push('\n');
            }
        }
    }
}

/// The language of a code block, from a class (`language-rust`, `highlight-python`) or an attribute: on the block,
/// inside it, or around it.
fn language(node: NodeRef<'_>) -> String {
    let around = node.ancestors_it(Some(3));
    let mut places = std::iter::once(node).chain(node.children_it(false)).chain(around);
    let named = places.find_map(|node| {
        let classes = node.class().unwrap_or_default();
        let mut names = classes
            .split_whitespace()
            .filter_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("highlight-")));
        names.next().map(str::to_owned).or_else(|| node.attr("data-language").map(|name| name.to_string()))
    });
    let none = ["default", "none", "plaintext"];
    named.filter(|name| !none.contains(&name.as_str()) && name.len() < 30).unwrap_or_default()
}

fn prefixed(text: &str, first: &str, later: &str) -> String {
    let mut lines = text.lines();
    let mut out = format!("{first}{}", lines.next().unwrap_or_default());
    for line in lines {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(later);
        }
        out.push_str(line);
    }
    out
}

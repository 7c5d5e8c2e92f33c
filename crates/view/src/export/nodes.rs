//! Writes Markdown nodes as escaped HTML, which never makes a browser load anything.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::call::fenced;
use crate::markup::Html;
use turnwise_content::markdown::{
    Align, CodeSpan, ListItem, MarkdownTable, Node, TaskMark, parse_highlighted, plain_text, target, web_href,
};

/// Writes a model's text. `level` is the level of the heading above it; its own headings are nested below that.
pub fn markdown(html: &mut Html, text: &str, level: u8) {
    html.raw("<div class=\"prose\">");
    let marked = RefCell::default();
    nodes(html, &parse_highlighted(text), Under { level, text: html.length(), marked: &marked });
    html.raw("</div>");
}

/// Writes a program in JavaScript.
pub fn javascript(html: &mut Html, code: &str) {
    html.raw("<div class=\"prose\">");
    nodes(
        html,
        &parse_highlighted(&fenced(code)),
        Under { level: 1, text: html.length(), marked: &RefCell::default() },
    );
    html.raw("</div>");
}

/// Where nodes are written.
#[derive(Clone, Copy)]
struct Under<'a> {
    /// The level of the heading above them.
    level: u8,
    /// Tells the text from the others of the page, in the names of its footnotes.
    text: usize,
    /// The footnotes whose mark was written: the way back leads to the first one.
    marked: &'a RefCell<BTreeSet<u32>>,
}

fn nodes(html: &mut Html, list: &[Node], under: Under<'_>) {
    list.iter().for_each(|list| node(html, list, under));
}

fn node(html: &mut Html, of: &Node, under: Under<'_>) {
    let mut around = |name: &str, children: &[Node]| {
        html.open(name, "");
        nodes(html, children, under);
        html.close(name);
    };
    match of {
        Node::Paragraph(children) => around("p", children),
        Node::Quote(children) => around("blockquote", children),
        Node::Strong(children) => around("strong", children),
        Node::Emphasis(children) => around("em", children),
        Node::Strike(children) => around("s", children),
        Node::Heading { level, children } => {
            let level = level.saturating_add(under.level).min(6);
            around(["h1", "h2", "h3", "h4", "h5", "h6"].get(usize::from(level) - 1).unwrap_or(&"h6"), children);
        }
        Node::List { start, items } => list(html, *start, items, under),
        Node::CodeBlock { spans, .. } => code(html, spans),
        Node::Table(of) => table(html, of, under),
        Node::Rule => _ = html.raw("<hr>"),
        Node::Break => _ = html.raw("<br>"),
        Node::FootnoteMark(number) => {
            let (text, first) = (under.text, under.marked.borrow_mut().insert(*number));
            html.raw("<a").attribute("href", &format!("#note-{text}-{number}"));
            if first {
                html.attribute("id", &format!("mark-{text}-{number}"));
            }
            html.raw(">").text(&format!("[{number}]")).close("a");
        }
        Node::Text(text) => _ = html.text(text),
        Node::Code(text) | Node::Formula { tex: text, .. } => _ = html.element("code", "", text),
        // From a file on disk, other URLs lead nowhere or to a file server.
        Node::Link { href, children } => match web_href(href) {
            Some(href) => {
                let text = plain_text(children);
                html.raw("<a rel=\"noreferrer\"").attribute("href", &href).raw(">");
                if target::reorders(&text) {
                    html.open("bdi", "");
                    nodes(html, children, under);
                    html.close("bdi");
                } else {
                    nodes(html, children, under);
                }
                html.close("a");
                beside(html, &text, &href);
            }
            None => nodes(html, children, under),
        },
        Node::Image { alt, href } => {
            let label = format!("Picture: {}", if alt.is_empty() { "without a description" } else { alt });
            match href.as_deref().and_then(web_href) {
                Some(href) => {
                    html.raw("<a rel=\"noreferrer\"").attribute("href", &href).raw(">").text(&label).close("a");
                    beside(html, &label, &href);
                }
                None => _ = html.element("span", "picture", &label),
            }
        }
    }
}

/// Shows where a link leads, unless its text is just that.
fn beside(html: &mut Html, text: &str, href: &str) {
    if let Some(target) = target::beside(text, href) {
        html.raw(" <span class=\"target\" dir=\"ltr\">").text(&format!("({target})")).close("span");
    }
}

fn list(html: &mut Html, start: Option<u64>, items: &[ListItem], under: Under<'_>) {
    let name = if start.is_some() { "ol" } else { "ul" };
    match start {
        Some(start) if start != 1 => _ = html.raw("<ol").attribute("start", &start.to_string()).raw(">"),
        _ => _ = html.open(name, ""),
    }
    for item in items {
        match item.footnote {
            Some(number) => _ = html.raw("<li").attribute("id", &format!("note-{}-{number}", under.text)).raw(">"),
            None => _ = html.open("li", if item.task.is_some() { "task-item" } else { "" }),
        }
        match item.task {
            Some(TaskMark::Done) => _ = html.raw("<span class=\"box\">☑</span> "),
            Some(TaskMark::Open) => _ = html.raw("<span class=\"box\">☐</span> "),
            None => {}
        }
        nodes(html, &item.children, under);
        if let Some(number) = item.footnote.filter(|number| under.marked.borrow().contains(number)) {
            let (to, label) = (format!("#mark-{}-{number}", under.text), format!("Back to mark {number}"));
            html.raw(" <a").attribute("href", &to).attribute("aria-label", &label).raw(">↩").close("a");
        }
        html.close("li");
    }
    html.close(name);
}

fn code(html: &mut Html, spans: &[CodeSpan]) {
    html.raw("<pre><code>");
    for span in spans {
        match span.class.css() {
            "" => _ = html.text(&span.text),
            class => _ = html.element("span", class, &span.text),
        }
    }
    html.raw("</code></pre>");
}

fn table(html: &mut Html, data: &MarkdownTable, under: Under<'_>) {
    let align = |place: usize| match data.align.get(place) {
        Some(Align::Center) => "center",
        Some(Align::Right) => "right",
        Some(Align::Left | Align::None) | None => "",
    };
    html.raw("<div class=\"wide\"><table><thead><tr>");
    for (place, cell) in data.head.iter().enumerate() {
        html.raw("<th scope=\"col\"");
        if !align(place).is_empty() {
            html.attribute("class", align(place));
        }
        html.raw(">");
        nodes(html, cell, under);
        html.close("th");
    }
    html.raw("</tr></thead><tbody>");
    for row in &data.rows {
        html.raw("<tr>");
        for place in 0..data.head.len().max(row.len()) {
            html.open("td", align(place));
            nodes(html, row.get(place).map(Vec::as_slice).unwrap_or_default(), under);
            html.close("td");
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
}

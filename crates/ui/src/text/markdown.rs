//! Builds DOM from Markdown nodes: a closed set of nodes in, a closed set of elements out.
//!
//! Invariants: text only ever becomes text nodes; no element that loads or runs anything is created here (no `script`,
//! `img`, `iframe`, `style`); the only attributes with a model's text are `href` (http, https, mailto), `data-file`,
//! `data-lang` and `title`. Each block has the direction of its own text; code is always left to right. External links
//! open in a new tab, send no referrer, and show their host unless their text is just that.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, Node as DomNode};

use turnwise_content::markdown::{
    Align, CodeSpan, ListItem, MarkdownTable, Node, TableCell, TaskMark, is_rtl, parts, plain_text, target, web_href,
};

use crate::browser::dom;

/// The mark of a footnote, the way back to it, and the note, each with its number.
const MARK: &str = "data-note-mark";
const BACK: &str = "data-note-back";
const NOTE: &str = "data-note";
/// The class of a piece of a long block, and of a paragraph of such pieces.
const CUT: &str = "cut";
const CUTS: &str = "cuts";
/// Marks the button that copies a block of code.
const COPY: &str = "data-copy-code";

/// Builds one block as one element.
pub fn block(node: &Node) -> Element {
    match node {
        Node::Paragraph(children) if parts::is_divided(node) => {
            let paragraph = directed(dom::element("p"));
            paragraph.set_class_name(CUTS);
            parts::pieces(children).for_each(|piece| append(&paragraph, &cut(piece)));
            paragraph
        }
        Node::Paragraph(children) => directed(with("p", children)),
        Node::Heading { level, children } => {
            // Below the task, which is the page's first heading: no level is ever skipped, whatever a model writes.
            let heading = directed(with("h2", children));
            if *level > 2 {
                heading.set_class_name("minor");
            }
            heading
        }
        Node::List { start, items } => list(*start, items),
        Node::CodeBlock { lang, spans } => {
            let code = dom::element("code");
            match parts::is_divided(node) {
                true => parts::code_pieces(spans).for_each(|piece| append(&code, &code_cut(piece))),
                false => runs(&code, spans),
            }
            let pre = dom::element("pre");
            set(&pre, "tabindex", "0");
            set(&pre, "dir", "ltr");
            append(&pre, &code);
            code_box(lang, &pre)
        }
        Node::Quote(children) => {
            let quote = directed(dom::element("blockquote"));
            children.iter().for_each(|child| within(&quote, child));
            quote
        }
        Node::Table(table_node) => table(table_node),
        Node::Rule => dom::element("hr"),
        // An inline in place of a block: it becomes a paragraph of its own.
        inline => directed(with("p", std::slice::from_ref(inline))),
    }
}

/// Adds parts to a block after its first ones, in place of its others.
pub fn extend(block: &Element, keep: usize, more: &Node) {
    let inside = |name| block.query_selector(name).ok().flatten();
    let (place, parts): (_, Vec<Element>) = match more {
        Node::Paragraph(children) => (Some(block.clone()), parts::pieces(children).map(cut).collect()),
        Node::CodeBlock { spans, .. } => (inside("pre > code"), parts::code_pieces(spans).map(code_cut).collect()),
        Node::List { items, .. } => (Some(block.clone()), items.iter().map(item).collect()),
        Node::Table(table) => (inside("tbody"), table.rows.iter().map(|cells| row(table, cells, "td")).collect()),
        _ => return,
    };
    let Some(place) = place else { return };
    while place.child_element_count() as usize > keep {
        place.last_element_child().iter().for_each(Element::remove);
    }
    parts.iter().for_each(|part| append(&place, part));
}

/// A piece of a long paragraph.
fn cut(piece: &[Node]) -> Element {
    let cut = with("span", piece);
    cut.set_class_name(CUT);
    cut
}

/// A piece of long code.
fn code_cut(piece: &[CodeSpan]) -> Element {
    let cut = dom::element("span");
    cut.set_class_name(CUT);
    runs(&cut, piece);
    cut
}

fn runs(code: &Element, spans: &[CodeSpan]) {
    for span in spans {
        if span.class.is_plain() {
            text(code, &span.text);
        } else {
            let run = dom::element("span");
            run.set_class_name(span.class.css());
            text(&run, &span.text);
            append(code, &run);
        }
    }
}

/// A block of code under a line with its language and a button that copies it (transcript/mod.rs).
fn code_box(lang: &str, pre: &Element) -> Element {
    let (whole, head, name, copy) =
        (dom::element("div"), dom::element("div"), dom::element("span"), dom::element("button"));
    whole.set_class_name("code");
    set(&whole, "data-lang", lang);
    head.set_class_name("code-head");
    text(&name, if lang.is_empty() { "text" } else { lang });
    set(&copy, "type", "button");
    set(&copy, COPY, "");
    text(&copy, "Copy");
    append(&head, &name);
    append(&head, &copy);
    append(&whole, &head);
    append(&whole, pre);
    whole
}

/// Returns the code that a click on its Copy button asks for.
pub fn copied_code(target: &Element) -> Option<String> {
    let button = target.closest(&format!("[{COPY}]")).ok().flatten()?;
    let whole = button.closest(".code").ok().flatten()?;
    whole.query_selector("pre").ok().flatten()?.text_content()
}

/// Makes an element take its direction from its text.
fn directed(element: Element) -> Element {
    set(&element, "dir", "auto");
    element
}

/// Appends a part of a directed block. Its paragraphs get no `dir` of their own: a browser skips children that have one
/// when it determines the block's direction.
fn within(parent: &Element, node: &Node) {
    match node {
        Node::Paragraph(children) => append(parent, &with("p", children)),
        other => inline(parent, other),
    }
}

fn inline(parent: &Element, node: &Node) {
    match node {
        Node::Text(label) => text(parent, label),
        Node::Code(label) => {
            let code = dom::element("code");
            set(&code, "dir", "ltr");
            text(&code, label);
            append(parent, &code);
        }
        // Its source, until it is drawn (www/app/formula.js).
        Node::Formula { tex, display } => {
            let code = dom::element("code");
            code.set_class_name(if *display { "tex display" } else { "tex" });
            set(&code, "dir", "ltr");
            text(&code, tex);
            append(parent, &code);
        }
        Node::Strong(children) => append(parent, &with("strong", children)),
        Node::Emphasis(children) => append(parent, &with("em", children)),
        Node::Strike(children) => append(parent, &with("s", children)),
        Node::FootnoteMark(number) => append(parent, &jump(*number, false)),
        Node::Break => append(parent, &dom::element("br")),
        Node::Link { href, children } => link(parent, href, children),
        Node::Image { alt, href } => image(parent, alt, href.as_deref()),
        blocks => append(parent, &block(blocks)),
    }
}

fn with(name: &'static str, children: &[Node]) -> Element {
    let element = dom::element(name);
    children.iter().for_each(|child| inline(&element, child));
    element
}

fn list(start: Option<u64>, items: &[ListItem]) -> Element {
    let list = dom::element(if start.is_some() { "ol" } else { "ul" });
    if let Some(first) = start.filter(|first| *first != 1) {
        set(&list, "start", &first.to_string());
    }
    items.iter().for_each(|one| append(&list, &item(one)));
    list
}

fn item(item: &ListItem) -> Element {
    let element = directed(dom::element("li"));
    if let Some(task) = item.task {
        element.set_class_name("todo");
        text(&element, if task == TaskMark::Done { "☑ " } else { "☐ " });
    }
    item.children.iter().for_each(|child| within(&element, child));
    if let Some(number) = item.footnote {
        set(&element, NOTE, &number.to_string());
        set(&element, "tabindex", "-1");
        // In the line of its last paragraph.
        let last = element.last_element_child().filter(|last| last.tag_name() == "P");
        let place = last.as_ref().unwrap_or(&element);
        text(place, " ");
        append(place, &jump(number, true));
    }
    element
}

/// A button that leads from the mark of a footnote to its note, or back.
fn jump(number: u32, back: bool) -> Element {
    let button = dom::element("button");
    set(&button, "type", "button");
    button.set_class_name("link");
    set(&button, if back { BACK } else { MARK }, &number.to_string());
    set(&button, "aria-label", &if back { format!("Back to mark {number}") } else { format!("Note {number}") });
    text(&button, &if back { "↩".to_owned() } else { format!("[{number}]") });
    button
}

/// Moves the focus, and the view, to where the mark of a footnote or the way back leads. Returns whether that was clicked.
pub fn follow_note(target: &Element) -> bool {
    let of = |name: &str| target.closest(&format!("[{name}]")).ok().flatten().and_then(|from| from.get_attribute(name));
    let to = match (of(MARK), of(BACK)) {
        (Some(number), _) => format!("[{NOTE}=\"{number}\"]"),
        (_, Some(number)) => format!("[{MARK}=\"{number}\"]"),
        _ => return false,
    };
    let text = target.closest(".prose").ok().flatten();
    let found = text.and_then(|text| text.query_selector(&to).ok().flatten());
    if let Some(found) = found.and_then(|found| found.dyn_into::<HtmlElement>().ok()) {
        let _ = found.focus();
    }
    true
}

fn row(data: &MarkdownTable, cells: &[TableCell], name: &'static str) -> Element {
    let row = dom::element("tr");
    for (place, cell) in cells.iter().enumerate() {
        let element = directed(with(name, cell));
        match data.align.get(place) {
            Some(Align::Right) => element.set_class_name("right"),
            Some(Align::Center) => element.set_class_name("center"),
            Some(Align::Left | Align::None) | None => {}
        }
        append(&row, &element);
    }
    row
}

fn table(data: &MarkdownTable) -> Element {
    let (table, head, body) = (dom::element("table"), dom::element("thead"), dom::element("tbody"));
    append(&head, &row(data, &data.head, "th"));
    data.rows.iter().for_each(|cells| append(&body, &row(data, cells, "td")));
    append(&table, &head);
    append(&table, &body);
    // A wide table scrolls in this element, also by keyboard, and stays a table.
    let scroller = dom::element("div");
    scroller.set_class_name("table");
    set(&scroller, "tabindex", "0");
    // The column order follows the language of the head.
    if data.head.iter().any(|cell| is_rtl(cell)) {
        set(&scroller, "dir", "rtl");
    }
    append(&scroller, &table);
    scroller
}

fn link(parent: &Element, href: &str, children: &[Node]) {
    if !leaves(href) {
        // A link within the page or the workspace: never an address to navigate to.
        let file = dom::element("button");
        set(&file, "type", "button");
        file.set_class_name("link");
        set(&file, "data-file", href);
        set(&file, "title", href);
        let text = words(&file, children);
        append(parent, &file);
        if text != href {
            note(parent, href);
        }
        return;
    }
    let link = dom::element("a");
    set(&link, "href", href);
    set(&link, "title", href);
    set(&link, "target", "_blank");
    set(&link, "rel", "noopener noreferrer nofollow");
    let text = words(&link, children);
    append(parent, &link);
    if let Some(target) = target::beside(&text, href) {
        note(parent, &target);
    }
}

/// Draws the text of a link, and returns it.
fn words(link: &Element, children: &[Node]) -> String {
    let text = plain_text(children);
    if target::reorders(&text) {
        append(link, &with("bdi", children));
    } else {
        children.iter().for_each(|child| inline(link, child));
    }
    text
}

/// Shows where a link leads, next to text that does not say it.
fn note(parent: &Element, target: &str) {
    let note = dom::element("span");
    note.set_class_name("target");
    set(&note, "dir", "ltr");
    text(&note, &format!(" ({target})"));
    append(parent, &note);
}

/// Whether an address leads to the web or a mailbox.
fn leaves(href: &str) -> bool {
    web_href(href).is_some()
}

fn image(parent: &Element, alt: &str, href: Option<&str>) {
    let image = dom::element("span");
    image.set_class_name("image");
    text(&image, if alt.is_empty() { "image, not loaded" } else { "image, not loaded: " });
    text(&image, alt);
    append(parent, &image);
    if let Some(href) = href.filter(|href| leaves(href)) {
        text(parent, " ");
        link(parent, href, &[Node::Text("open".to_owned())]);
    }
}

fn text(parent: &Element, label: &str) {
    append(parent, &dom::document().create_text_node(label));
}

fn append(parent: &Element, child: &DomNode) {
    // Elements that were just created accept children.
    let _ = parent.append_child(child);
}

fn set(element: &Element, name: &'static str, value: &str) {
    // Attribute names are fixed and valid.
    let _ = element.set_attribute(name, value);
}

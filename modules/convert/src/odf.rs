//! A copy of an OpenDocument text or presentation in which comments, headers, form controls, embedded tables and every shape's text are
//! where `anydoc` reads text, and in which every slide begins with a mark.

use std::collections::HashMap;

use anydoc::Format;

use super::lost::Lost;
use super::parts::Package;
use super::symbols::{is_symbol_font, superscript, symbols};
use super::text::MARK;
use super::word::comment_text;
use super::xml::{Element, Node, elements};

/// The changed copy, and what is not in it. `None` if the package cannot be read or written: the original is read then.
#[must_use]
pub fn prepared(bytes: &[u8], format: Format) -> Option<(Vec<u8>, Lost)> {
    let mut package = Package::open(bytes)?;
    let mut content = package.part("content.xml")?;
    let common = package.part("styles.xml").map(|part| part.root);
    let mut styles = Styles::default();
    if let Some(common) = &common {
        styles.read(common);
    }
    // Automatic styles of the two parts may have the same names.
    let of_headers = styles.clone();
    styles.read(&content.root);
    let mut odf = Odf { styles, package, controls: Vec::new(), said: Vec::new(), lost: Lost::default() };
    odf.read_controls(&content.root);
    let body = below(
        &mut content.root,
        &["office:body", if format == Format::Odp { "office:presentation" } else { "office:text" }],
    )?;
    let nodes = std::mem::take(&mut body.children);
    body.children = if format == Format::Odp {
        odf.pages(nodes, common.as_ref())
    } else {
        let used = odf.used_masters(&nodes, common.as_ref());
        let blocks = odf.content(nodes, Place::Blocks, &Letters::default());
        let own = std::mem::replace(&mut odf.styles, of_headers);
        let (mut before, after) = odf.headers(common.as_ref(), &used);
        odf.styles = own;
        before.extend(blocks);
        before.extend(after);
        before
    };
    let Odf { mut package, lost, .. } = odf;
    package.change("content.xml", content);
    Some((package.copy()?, lost))
}

/// What a style says, and the style on which it is based.
#[derive(Clone, Debug, Default)]
struct Style {
    parent: Option<String>,
    hidden: Option<bool>,
    raised: Option<bool>,
    font: Option<String>,
    master: Option<String>,
}

/// By family and name: `text/T1`.
#[derive(Clone, Debug, Default)]
struct Styles {
    styles: HashMap<String, Style>,
    /// The names of fonts by the names that styles use.
    fonts: Vec<(String, String)>,
}

impl Styles {
    fn read(&mut self, root: &Element) {
        for font in root.all("style:font-face") {
            if let (Some(name), Some(family)) = (font.attr("style:name"), font.attr("svg:font-family")) {
                self.fonts.push((name.to_owned(), family.trim_matches(['\'', '"']).to_owned()));
            }
        }
        for style in root.all("style:style") {
            let (Some(family), Some(name)) = (style.attr("style:family"), style.attr("style:name")) else { continue };
            let mut read = Style {
                parent: style.attr("style:parent-style-name").map(str::to_owned),
                master: style.attr("style:master-page-name").filter(|name| !name.is_empty()).map(str::to_owned),
                ..Style::default()
            };
            if let Some(text) = style.child("style:text-properties") {
                read.hidden = text.attr("text:display").map(|value| value == "none");
                read.raised = text.attr("style:text-position").map(|value| {
                    value.starts_with("super") || value.starts_with(|one: char| ('1'..='9').contains(&one))
                });
                let named = text
                    .attr("style:font-name")
                    .map(|name| self.fonts.iter().find(|(known, _)| known == name).map_or(name, |(_, family)| family));
                read.font =
                    named.or_else(|| text.attr("fo:font-family")).map(|font| font.trim_matches(['\'', '"']).to_owned());
            }
            if let Some(page) = style.child("style:drawing-page-properties") {
                read.hidden = page.attr("presentation:visibility").map(|value| value == "hidden");
            }
            self.styles.insert(format!("{family}/{name}"), read);
        }
    }

    /// What the style, or the nearest one on which it is based, says.
    fn of<T>(&self, family: &str, name: Option<&str>, of: impl Fn(&Style) -> Option<T>) -> Option<T> {
        let mut name = name?.to_owned();
        // Styles of a damaged file may be based on each other.
        for _ in 0..20 {
            let style = self.styles.get(&format!("{family}/{name}"))?;
            if let Some(found) = of(style) {
                return Some(found);
            }
            name = style.parent.clone()?;
        }
        None
    }
}

/// How letters are shown.
#[derive(Clone, Debug, Default)]
struct Letters {
    symbols: Option<String>,
    raised: bool,
}

/// Where content stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Blocks,
    Line,
    /// On a slide, where only frames are read.
    Page,
}

struct Odf<'a> {
    styles: Styles,
    package: Package<'a>,
    /// The texts of form controls by their ids.
    controls: Vec<(String, String)>,
    /// Footers and texts of masters that were said before.
    said: Vec<String>,
    lost: Lost,
}

fn node(name: &str, attrs: &[(&str, &str)], children: Vec<Node>) -> Node {
    Node::Element(Element::new(name, attrs, children))
}

fn paragraph(text: &str) -> Node {
    node("text:p", &[], vec![Node::Text(text.to_owned())])
}

fn boxed(blocks: Vec<Node>) -> Node {
    node("draw:frame", &[], vec![node("draw:text-box", &[], blocks)])
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of paragraphs on one line. White space in the elements between them is none.
fn said(of: &Element) -> String {
    fn walk(of: &Element, out: &mut String) {
        for child in of.elements() {
            if child.is("text:p") || child.is("text:h") {
                out.push_str(&child.text());
                out.push(' ');
            } else {
                walk(child, out);
            }
        }
    }
    let mut out = String::new();
    walk(of, &mut out);
    one_line(&out)
}

fn below<'a>(of: &'a mut Element, path: &[&str]) -> Option<&'a mut Element> {
    let Some((first, rest)) = path.split_first() else { return Some(of) };
    let child = of.children.iter_mut().find_map(|node| match node {
        Node::Element(child) if child.is(first) => Some(child),
        _ => None,
    });
    below(child?, rest)
}

/// Its title, or else its description.
fn described(of: &Element) -> Option<String> {
    ["svg:title", "svg:desc"]
        .iter()
        .filter_map(|name| of.child(name))
        .map(|one| one_line(&one.text()))
        .find(|text| !text.is_empty())
}

impl Odf<'_> {
    /// What a form control shows, and whether it is checked.
    fn read_controls(&mut self, root: &Element) {
        for form in root.all("office:forms") {
            let mut controls = Vec::new();
            descend(form, &mut controls);
            for one in controls {
                let Some(id) = one.attr("xml:id").or_else(|| one.attr("form:id")) else { continue };
                let value = one.attr("form:current-value").or_else(|| one.attr("form:value")).unwrap_or_default();
                let label = one.attr("form:label").unwrap_or_default();
                let text = match &*one.name {
                    "form:checkbox" | "form:radio" => {
                        let state = one.attr("form:current-state").or_else(|| one.attr("form:state"));
                        let on = state == Some("checked")
                            || one.attr("form:current-selected").or_else(|| one.attr("form:selected")) == Some("true");
                        format!("{} {label}", if on { "☒" } else { "☐" })
                    }
                    "form:listbox" | "form:combobox" => {
                        let chosen = |one: &&&Element| {
                            one.attr("form:current-selected").or_else(|| one.attr("form:selected")) == Some("true")
                        };
                        let entries = [one.all("form:option"), one.all("form:item")].concat();
                        let name = |one: &&Element| one.attr("form:label").unwrap_or_default().to_owned();
                        let selected: Vec<String> = entries.iter().filter(chosen).map(name).collect();
                        let all: Vec<String> = entries.iter().take(30).map(name).collect();
                        let shown = if value.is_empty() { selected.join(", ") } else { value.to_owned() };
                        format!(
                            "{} [choices: {}]",
                            if shown.is_empty() { "[empty field]" } else { &shown },
                            all.join(", ")
                        )
                    }
                    "form:button" | "form:image" => format!("[button: {label}]"),
                    "form:fixed-text" | "form:frame" => label.to_owned(),
                    "form:hidden" => continue,
                    "form:password" => "[field of a password]".to_owned(),
                    _ if value.is_empty() => match one.first("text:p") {
                        Some(_) => said(one),
                        None => "[empty field]".to_owned(),
                    },
                    _ => value.to_owned(),
                };
                self.controls.push((id.to_owned(), one_line(&text)));
            }
        }
    }

    fn letters(&self, family: &str, name: Option<&str>, outer: &Letters) -> Letters {
        Letters {
            symbols: match self.styles.of(family, name, |style| style.font.clone()) {
                Some(font) => Some(font).filter(|font| is_symbol_font(font)),
                None => outer.symbols.clone(),
            },
            raised: self.styles.of(family, name, |style| style.raised).unwrap_or(outer.raised),
        }
    }

    fn content(&mut self, nodes: Vec<Node>, place: Place, letters: &Letters) -> Vec<Node> {
        let mut out = Vec::new();
        for node in nodes {
            match node {
                Node::Element(element) => self.element(element, place, letters, &mut out),
                Node::Text(text) if place == Place::Line => out.push(Node::Text(match &letters.symbols {
                    Some(font) => symbols(font, &text),
                    None if letters.raised => superscript(&text).unwrap_or(text),
                    None => text,
                })),
                Node::Text(_) => {}
            }
        }
        out
    }

    /// Appends a text where the place has texts.
    fn say(place: Place, text: String, out: &mut Vec<Node>) {
        out.push(match place {
            Place::Line => Node::Text(text),
            Place::Blocks => paragraph(&text),
            Place::Page => boxed(vec![paragraph(&text)]),
        });
    }

    fn element(&mut self, mut element: Element, place: Place, letters: &Letters, out: &mut Vec<Node>) {
        let children = std::mem::take(&mut element.children);
        let name = element.name.clone();
        match &*name {
            "office:annotation" => {
                element.children = children;
                let of = |name: &str| element.child(name).map(|one| one_line(&one.text())).unwrap_or_default();
                let date = of("dc:date").get(..10).unwrap_or_default().to_owned();
                let done = element.attr("loext:resolved") == Some("true");
                let comment = comment_text("comment", &of("dc:creator"), &date, done, &said(&element));
                Self::say(place, if place == Place::Line { format!(" {comment} ") } else { comment }, out);
            }
            "text:tracked-changes" => {
                element.children = children;
                self.lost.some("deletion(s) of tracked changes", element.all("text:deletion").len());
            }
            "text:p" | "text:h" => {
                let style = element.attr("text:style-name").map(str::to_owned);
                let own = self.letters("paragraph", style.as_deref(), letters);
                let hidden = self.styles.of("paragraph", style.as_deref(), |style| style.hidden) == Some(true);
                element.children = marked(self.content(children, Place::Line, &own), hidden);
                out.push(Node::Element(element));
            }
            "text:span" => {
                let style = element.attr("text:style-name").map(str::to_owned);
                let own = self.letters("text", style.as_deref(), letters);
                let hidden = self.styles.of("text", style.as_deref(), |style| style.hidden) == Some(true);
                element.children = marked(self.content(children, Place::Line, &own), hidden);
                out.push(Node::Element(element));
            }
            "text:hidden-text" => {
                let value = element.attr("text:string-value").unwrap_or_default();
                out.push(Node::Text(format!("[hidden: {value}]")));
            }
            "text:script" => self.lost.one("script(s)"),
            "text:ruby" => {
                element.children = children;
                let of = |name: &str| element.child(name).map(|one| one.text()).unwrap_or_default();
                let (base, reading) = (of("text:ruby-base"), of("text:ruby-text"));
                out.push(Node::Text(if reading.trim().is_empty() { base } else { format!("{base}({reading})") }));
            }
            "text:note" => {
                for child in children {
                    let Node::Element(mut body) = child else { continue };
                    if body.is("text:note-body") {
                        body.children = self.content(body.children, Place::Blocks, &Letters::default());
                        element.children.push(Node::Element(body));
                    }
                }
                out.push(Node::Element(element));
            }
            "text:section" => {
                let hidden =
                    element.attr("text:display") == Some("none") || element.attr("text:is-hidden") == Some("true");
                let name = element.attr("text:name").map(one_line).unwrap_or_default();
                if hidden {
                    out.push(paragraph(&format!("[hidden section {name}:]")));
                }
                out.extend(self.content(children, Place::Blocks, letters));
                if hidden {
                    out.push(paragraph("[end of the hidden section]"));
                }
            }
            "draw:frame" => {
                element.children = children;
                self.frame(element, place, letters, out);
            }
            "draw:g" | "draw:a" => {
                element.children = children;
                if let Some(about) = described(&element) {
                    Self::say(place, format!("[picture: {about}]"), out);
                }
                out.extend(self.content(element.children, place, letters));
            }
            "draw:control" => {
                let text =
                    element.attr("draw:control").and_then(|id| self.controls.iter().find(|(known, _)| known == id));
                let text = text.map(|(_, text)| text.clone());
                Self::say(place, text.unwrap_or_else(|| "[form control]".to_owned()), out);
            }
            "svg:title"
            | "svg:desc"
            | "office:forms"
            | "office:annotation-end"
            | "text:soft-page-break"
            | "draw:page-thumbnail"
            | "draw:glue-point"
            | "office:event-listeners" => {}
            // A list of what is in the document: its text was stored.
            name if name.starts_with("text:") && (name.ends_with("-source") || name.ends_with("-decls")) => {}
            name if name.starts_with("text:")
                && (name.ends_with("-index") || name == "text:index-body" || name == "text:numbered-paragraph") =>
            {
                out.extend(self.content(children, Place::Blocks, letters));
            }
            name if name.starts_with("draw:") || name.starts_with("dr3d:") => {
                element.children = children;
                let about = described(&element);
                let text = self.content(element.children, Place::Blocks, letters);
                if elements(&text).any(|one| !one.text().trim().is_empty()) {
                    out.push(if place == Place::Blocks { node("text:p", &[], vec![boxed(text)]) } else { boxed(text) });
                } else if let Some(about) = about {
                    Self::say(place, format!("[picture: {about}]"), out);
                }
            }
            "presentation:notes" => {
                element.children = self.content(children, Place::Page, letters);
                out.push(Node::Element(element));
            }
            _ => {
                let inner =
                    if name.starts_with("table:") || name.starts_with("text:list") { Place::Blocks } else { place };
                element.children = self.content(children, inner, letters);
                out.push(Node::Element(element));
            }
        }
    }

    /// A frame has a text, a picture, or an embedded object with a picture of it.
    fn frame(&mut self, mut element: Element, place: Place, letters: &Letters, out: &mut Vec<Node>) {
        let about = described(&element);
        let framed = |blocks: Vec<Node>| {
            if place == Place::Blocks { node("text:p", &[], vec![boxed(blocks)]) } else { boxed(blocks) }
        };
        if let Some(text) = below(&mut element, &["draw:text-box"]) {
            let children = std::mem::take(&mut text.children);
            text.children = self.content(children, Place::Blocks, letters);
            out.push(if place == Place::Blocks {
                node("text:p", &[], vec![Node::Element(element)])
            } else {
                Node::Element(element)
            });
            return;
        }
        if let Some(table) = element.child("table:table") {
            let table = self.content(vec![Node::Element(table.clone())], Place::Blocks, letters);
            element.children = table;
            out.push(if place == Place::Page { Node::Element(element) } else { framed(element.children) });
            return;
        }
        if let Some(object) = element.child("draw:object") {
            let href = object.attr("xlink:href").unwrap_or_default().trim_start_matches("./").trim_end_matches('/');
            let part = self.package.part(&format!("{href}/content.xml")).map(|part| part.root);
            let root = part.as_ref().unwrap_or(object);
            if root.is("math:math") || root.first("math:math").is_some() {
                out.push(if place == Place::Blocks {
                    node("text:p", &[], vec![Node::Element(element)])
                } else {
                    Node::Element(element)
                });
                return;
            }
            let chart = root.first("chart:chart").is_some();
            let mut blocks = vec![paragraph(if chart { "[chart:]" } else { "[embedded object:]" })];
            blocks.extend(about.iter().map(|about| paragraph(about)));
            blocks.extend(root.first("chart:title").map(|title| paragraph(&said(title))));
            let tables: Vec<Node> =
                root.all("table:table").into_iter().map(|table| Node::Element(table.clone())).collect();
            if tables.is_empty() {
                blocks.extend(root.all("text:p").iter().map(|one| paragraph(&one.text())));
            }
            blocks.extend(tables);
            if blocks.len() == 1 {
                self.lost.one("embedded object(s)");
            }
            out.push(framed(blocks));
            return;
        }
        let named = |what: &str| {
            Some(format!("[{what}{}]", about.as_ref().map(|about| format!(": {about}")).unwrap_or_default()))
        };
        let text = if element.child("draw:object-ole").is_some() {
            self.lost.one("embedded object(s)");
            named("embedded object")
        } else if let Some(media) = element.child("draw:plugin").or_else(|| element.child("draw:floating-frame")) {
            let of = media.attr("xlink:href").unwrap_or_default().rsplit('/').next().unwrap_or_default();
            Some(format!("[film or sound: {}]", about.clone().unwrap_or_else(|| one_line(of))))
        } else if about.is_some() {
            named("picture")
        } else {
            if element.child("draw:image").is_some() {
                self.lost.one("picture(s) without a description");
            }
            None
        };
        if let Some(text) = text {
            Self::say(place, text, out);
        }
    }

    fn pages(&mut self, nodes: Vec<Node>, common: Option<&Element>) -> Vec<Node> {
        let declared: Vec<(String, String)> = elements(&nodes)
            .filter(|one| one.is("presentation:footer-decl"))
            .filter_map(|one| Some((one.attr("presentation:name")?.to_owned(), one_line(&one.text()))))
            .collect();
        let mut out = Vec::new();
        for node in nodes {
            let Node::Element(mut page) = node else { continue };
            if !page.is("draw:page") {
                continue;
            }
            let mut shapes = vec![boxed(vec![paragraph(MARK)])];
            let mut once = Vec::new();
            if self.styles.of("drawing-page", page.attr("draw:style-name"), |style| style.hidden) == Some(true) {
                Self::say(Place::Page, "[this slide is hidden]".to_owned(), &mut shapes);
            }
            let master = page.attr("draw:master-page-name");
            let master = common
                .into_iter()
                .flat_map(|common| common.all("style:master-page"))
                .find(|one| one.attr("style:name") == master);
            for one in master.iter().flat_map(|master| master.elements()) {
                let placeholder =
                    one.attr("presentation:class").is_some() || one.attr("presentation:placeholder") == Some("true");
                if !placeholder && one.name.starts_with("draw:") {
                    once.push(format!("[on the master of the slides: {}]", said(one)));
                }
            }
            let footer = page
                .attr("presentation:use-footer-name")
                .and_then(|name| declared.iter().find(|(known, _)| known == name));
            once.extend(footer.map(|(_, footer)| format!("[footer: {footer}]")));
            let nodes = std::mem::take(&mut page.children);
            // The title comes first, as `anydoc` has it.
            shapes.extend(self.content(nodes, Place::Page, &Letters::default()));
            for text in once {
                if !text.ends_with(": ]") && self.is_new(&text) {
                    Self::say(Place::Page, text, &mut shapes);
                }
            }
            page.children = shapes;
            out.push(Node::Element(page));
        }
        out
    }

    /// Whether the text was not said before.
    fn is_new(&mut self, text: &str) -> bool {
        let new = !self.said.iter().any(|said| said == text);
        if new {
            self.said.push(text.to_owned());
        }
        new
    }

    /// The names of the page styles that the text uses.
    fn used_masters(&self, nodes: &[Node], common: Option<&Element>) -> Vec<String> {
        let master = |element: &Element| {
            let family = if element.is("table:table") { "table" } else { "paragraph" };
            let name = element.attr("text:style-name").or_else(|| element.attr("table:style-name"));
            self.styles.of(family, name, |style| style.master.clone())
        };
        let mut used = Vec::new();
        let mut add = |name: String| {
            if !used.contains(&name) {
                used.push(name);
            }
        };
        let blocks: Vec<&Element> = elements(nodes)
            .flat_map(|one| {
                let inner = [one.all("text:p"), one.all("text:h")].concat();
                std::iter::once(one).chain(inner)
            })
            .filter(|one| one.is("text:p") || one.is("text:h") || one.is("table:table"))
            .collect();
        add(blocks.first().and_then(|one| master(one)).unwrap_or_else(|| "Standard".to_owned()));
        blocks.iter().filter_map(|one| master(one)).for_each(&mut add);
        // The page after the first one may have another style.
        let masters = common.map(|common| common.all("style:master-page")).unwrap_or_default();
        for at in 0..masters.len() {
            let Some(name) = used.get(at) else { break };
            let next = masters
                .iter()
                .find(|one| one.attr("style:name") == Some(name))
                .and_then(|one| one.attr("style:next-style-name"));
            if let Some(next) = next.filter(|next| !used.iter().any(|one| one == next)) {
                used.push(next.to_owned());
            }
        }
        used
    }

    /// The headers, for before the text, and the footers, for after it; each text once.
    fn headers(&mut self, common: Option<&Element>, used: &[String]) -> (Vec<Node>, Vec<Node>) {
        let mut around = (Vec::new(), Vec::new());
        let masters = common.map(|common| common.all("style:master-page")).unwrap_or_default();
        for master in masters
            .into_iter()
            .filter(|one| one.attr("style:name").is_some_and(|name| used.iter().any(|used| used == name)))
        {
            for one in master.elements().filter(|one| one.attr("style:display") != Some("false")) {
                let (label, side) = match &*one.name {
                    "style:header" => ("header", &mut around.0),
                    "style:header-left" => ("header of left pages", &mut around.0),
                    "style:header-first" => ("header of the first page", &mut around.0),
                    "style:footer" => ("footer", &mut around.1),
                    "style:footer-left" => ("footer of left pages", &mut around.1),
                    "style:footer-first" => ("footer of the first page", &mut around.1),
                    _ => continue,
                };
                let mut content = Element::new(
                    "office:text",
                    &[],
                    self.content(one.children.clone(), Place::Blocks, &Letters::default()),
                );
                let text = said(&content);
                let number = !text.chars().any(char::is_alphabetic) && content.first("text:page-number").is_some();
                if text.is_empty() || number || !self.is_new(&text) {
                    continue;
                }
                if content.elements().count() == 1 && content.first("table:table").is_none() {
                    side.push(paragraph(&format!("[{label}: {text}]")));
                } else {
                    // The styles of headers are not those of the text.
                    without_styles(&mut content);
                    side.push(paragraph(&format!("[{label}:]")));
                    side.extend(content.children);
                    side.push(paragraph(&format!("[end of the {label}]")));
                }
            }
        }
        around
    }
}

/// All elements below.
pub fn descend<'a>(of: &'a Element, found: &mut Vec<&'a Element>) {
    for child in of.elements() {
        found.push(child);
        descend(child, found);
    }
}

fn without_styles(element: &mut Element) {
    element.attrs.retain(|(name, _)| !name.ends_with(":style-name"));
    for node in &mut element.children {
        if let Node::Element(child) = node {
            without_styles(child);
        }
    }
}

/// Hidden content in brackets.
fn marked(mut nodes: Vec<Node>, hidden: bool) -> Vec<Node> {
    let says = |node: &Node| match node {
        Node::Text(text) => !text.trim().is_empty(),
        Node::Element(element) => !element.text().trim().is_empty(),
    };
    if hidden && nodes.iter().any(says) {
        nodes.insert(0, Node::Text("[hidden: ".to_owned()));
        nodes.push(Node::Text("]".to_owned()));
    }
    nodes
}

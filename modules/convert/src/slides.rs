//! A copy of a presentation in which every slide begins with a mark, and in which comments, footers, films and embedded files are texts.

use super::charts;
use super::lost::Lost;
use super::parts::{Package, Relation};
use super::symbols::{is_box, is_private, is_symbol_font, superscript, symbol, symbols};
use super::text::MARK;
use super::word::{alternative, comment_text, described, unknown_element};
use super::xml::{Element, Node};

/// Namespaces that `anydoc` and this file read in a slide.
const READ: [&str; 8] = ["p", "a", "r", "mc", "a14", "p14", "c", "dgm"];

/// The changed copy, and what is not in it. `None` if the package cannot be read or written: the original is read then.
#[must_use]
pub fn prepared(bytes: &[u8]) -> Option<(Vec<u8>, Lost)> {
    let mut package = Package::open(bytes)?;
    let (main, relations) = package.main("ppt/presentation.xml");
    let presentation = package.part(&main)?;
    let of = |id: &str| relations.iter().find(|one| one.id == id).map(|one| one.target.clone());
    let order: Vec<String> =
        presentation.root.all("p:sldId").iter().filter_map(|one| one.attr("r:id")).filter_map(of).collect();
    let mut slides = Slides { authors: authors(&mut package, &relations), ..Slides::default() };
    for name in order {
        let Some(mut part) = package.part(&name) else {
            slides.lost.one("damaged or missing slide(s)");
            continue;
        };
        let related = package.relations(&name);
        slides.slide(&mut part.root, &related, &mut package);
        package.change(&name, part);
        for notes in related.iter().filter(|one| one.kind == "notesSlide") {
            if let Some(mut part) = package.part(&notes.target) {
                texts(&mut part.root);
                package.change(&notes.target, part);
            }
        }
    }
    charts::change(&mut package, &mut slides.lost);
    Some((package.copy()?, slides.lost))
}

#[derive(Default)]
struct Slides {
    /// The names of people by their numbers.
    authors: Vec<(String, String)>,
    /// The texts of masters and layouts, by layout.
    masters: Vec<(String, Vec<String>)>,
    /// Footers and texts of masters that were said on a slide before.
    said: Vec<String>,
    lost: Lost,
}

fn authors(package: &mut Package<'_>, relations: &[Relation]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for one in relations.iter().filter(|one| matches!(one.kind.as_str(), "commentAuthors" | "authors")) {
        let Some(part) = package.part(&one.target) else { continue };
        for author in part.root.elements() {
            if let (Some(id), Some(name)) = (author.attr("id"), author.attr("name")) {
                found.push((id.to_owned(), one_line(name)));
            }
        }
    }
    found
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn node(name: &str, children: Vec<Node>) -> Node {
    Node::Element(Element::new(name, &[], children))
}

fn run(text: &str) -> Node {
    node("a:r", vec![node("a:t", vec![Node::Text(text.to_owned())])])
}

/// A shape with a text.
fn shape(text: &str) -> Node {
    let names = vec![
        Node::Element(Element::new("p:cNvPr", &[("id", "9999"), ("name", "")], Vec::new())),
        node("p:cNvSpPr", Vec::new()),
        node("p:nvPr", Vec::new()),
    ];
    let body = vec![node("a:bodyPr", Vec::new()), node("a:p", vec![run(text)])];
    node("p:sp", vec![node("p:nvSpPr", names), node("p:spPr", Vec::new()), node("p:txBody", body)])
}

/// The text of the paragraphs of a shape.
fn said(of: &Element) -> String {
    one_line(&of.all("a:p").iter().map(|one| one.text()).collect::<Vec<_>>().join(" "))
}

impl Slides {
    fn slide(&mut self, root: &mut Element, related: &[Relation], package: &mut Package<'_>) {
        let hidden = matches!(root.attr("show"), Some("0" | "false"));
        let masters = if root.attr("showMasterSp") == Some("0") { Vec::new() } else { self.masters(related, package) };
        let comments: Vec<String> = related
            .iter()
            .filter(|one| one.kind == "comments")
            .filter_map(|one| package.part(&one.target))
            .flat_map(|part| self.comments(&part.root))
            .collect();
        let Some(tree) = tree(root) else { return };
        let mut shapes = vec![shape(MARK)];
        if hidden {
            shapes.push(shape("[this slide is hidden]"));
        }
        self.shapes(std::mem::take(&mut tree.children), &mut shapes);
        for text in masters {
            if self.is_new(&text) {
                shapes.push(shape(&format!("[on the master of the slides: {text}]")));
            }
        }
        shapes.extend(comments.iter().map(|comment| shape(comment)));
        tree.children = shapes;
    }

    fn shapes(&mut self, nodes: Vec<Node>, out: &mut Vec<Node>) {
        for one in nodes {
            let Node::Element(mut element) = one else { continue };
            let properties = element.elements().find_map(|one| one.child("p:cNvPr"));
            let about = properties.and_then(described);
            // Programs keep data of their own in hidden shapes; a person may have hidden a text.
            if properties.is_some_and(|one| matches!(one.attr("hidden"), Some("1" | "true"))) {
                let text = said(&element);
                if !text.is_empty() {
                    out.push(shape(&format!("[hidden: {text}]")));
                }
                continue;
            }
            match &*element.name {
                "mc:AlternateContent" if element.first("cx:chart").is_some() => {
                    self.lost.one("chart(s) of a kind that is not read");
                }
                "mc:AlternateContent" => self.shapes(alternative(element, &READ), out),
                "p:grpSp" => {
                    out.extend(about.map(|about| shape(&format!("[picture: {about}]"))));
                    let mut children = Vec::new();
                    self.shapes(std::mem::take(&mut element.children), &mut children);
                    element.children = children;
                    out.push(Node::Element(element));
                }
                "p:pic" => {
                    let media = ["a:videoFile", "a:audioFile", "a:quickTimeFile", "a:wavAudioFile", "p14:media"];
                    if media.iter().any(|one| element.first(one).is_some()) {
                        let name = about.or_else(|| properties.and_then(|one| one.attr("name")).map(one_line));
                        let kind = if element.first("a:videoFile").is_some() { "film" } else { "sound or film" };
                        out.push(shape(&format!("[{kind}: {}]", name.unwrap_or_default())));
                    } else if let Some(about) = about {
                        out.push(shape(&format!("[picture: {about}]")));
                    } else {
                        self.lost.one("picture(s) without a description");
                    }
                }
                "p:graphicFrame" => {
                    let object = element.first("p:oleObj").map(|object| {
                        let kind = object.attr("progId").unwrap_or("of an unknown kind").to_owned();
                        let name =
                            about.clone().or_else(|| object.attr("name").map(one_line)).filter(|name| !name.is_empty());
                        (kind, name)
                    });
                    if let Some((kind, name)) = object {
                        let name = name.map(|name| format!(": {name}")).unwrap_or_default();
                        out.push(shape(&format!("[embedded object {kind}{name}]")));
                        self.lost.one("embedded object(s)");
                        continue;
                    }
                    out.extend(about.map(|about| shape(&format!("[description: {about}]"))));
                    texts(&mut element);
                    out.push(Node::Element(element));
                }
                "p:sp" | "p:cxnSp" => {
                    let place = element.first("p:ph").and_then(|one| one.attr("type")).unwrap_or_default().to_owned();
                    texts(&mut element);
                    let text = said(&element);
                    match place.as_str() {
                        "sldNum" => continue,
                        "ftr" | "dt" => {
                            // A field is the date of the day on which the file is opened.
                            let literal = element.first("a:fld").is_none() && !text.is_empty();
                            if literal && self.is_new(&text) {
                                let label = if place == "dt" { "date" } else { "footer" };
                                out.push(shape(&format!("[{label}: {text}]")));
                            }
                            continue;
                        }
                        _ => {}
                    }
                    if text.is_empty() {
                        out.extend(about.map(|about| shape(&format!("[picture: {about}]"))));
                    }
                    out.push(Node::Element(element));
                }
                "p:contentPart" => self.lost.one("drawing(s) by hand"),
                "p:nvGrpSpPr" | "p:grpSpPr" | "p:extLst" => {}
                name => self.lost.one(&unknown_element(name)),
            }
        }
    }

    /// The texts of a slide's layout and master that are not placeholders: they are shown on every slide.
    fn masters(&mut self, related: &[Relation], package: &mut Package<'_>) -> Vec<String> {
        let of = |related: &[Relation], kind: &str| {
            related.iter().find(|one| one.kind == kind).map(|one| one.target.clone())
        };
        let Some(layout) = of(related, "slideLayout") else { return Vec::new() };
        if let Some((_, known)) = self.masters.iter().find(|(name, _)| *name == layout) {
            return known.clone();
        }
        let mut texts = Vec::new();
        let mut next = Some(layout.clone());
        while let Some(name) = next.take() {
            let Some(mut part) = package.part(&name) else { break };
            let shown = part.root.attr("showMasterSp") != Some("0");
            if part.root.is("p:sldLayout") && shown {
                next = of(&package.relations(&name), "slideMaster");
            }
            let Some(tree) = tree(&mut part.root) else { break };
            let shapes = tree.all("p:sp");
            texts.extend(
                shapes
                    .iter()
                    .filter(|one| one.first("p:ph").is_none())
                    .map(|one| said(one))
                    .filter(|text| !text.is_empty()),
            );
        }
        self.masters.push((layout, texts.clone()));
        texts
    }

    /// Whether the text was not said before.
    fn is_new(&mut self, text: &str) -> bool {
        let new = !self.said.iter().any(|said| said == text);
        if new {
            self.said.push(text.to_owned());
        }
        new
    }

    fn comments(&self, root: &Element) -> Vec<String> {
        let mut out = Vec::new();
        for one in root.elements().filter(|one| one.name.ends_with(":cm")) {
            out.push(self.comment("comment", one));
            out.extend(one.all("p188:reply").iter().map(|reply| self.comment("reply", reply)));
        }
        out
    }

    fn comment(&self, kind: &str, one: &Element) -> String {
        let author = one.attr("authorId").and_then(|id| self.authors.iter().find(|(known, _)| known == id));
        let author = author.map(|(_, name)| name.as_str()).unwrap_or_default();
        let date = one.attr("dt").or_else(|| one.attr("created")).and_then(|date| date.get(..10)).unwrap_or_default();
        let body = match (one.child("p:text"), one.child("p188:txBody")) {
            (Some(text), _) => one_line(&text.text()),
            (None, Some(body)) => said(body),
            (None, None) => String::new(),
        };
        comment_text(kind, author, date, one.attr("status") == Some("resolved"), &body)
    }
}

fn tree(root: &mut Element) -> Option<&mut Element> {
    let child = |of: &mut Element, name: &str| {
        of.children.iter().position(|node| matches!(node, Node::Element(one) if one.is(name)))
    };
    let at = child(root, "p:cSld")?;
    let Some(Node::Element(slide)) = root.children.get_mut(at) else { return None };
    let at = child(slide, "p:spTree")?;
    match slide.children.get_mut(at) {
        Some(Node::Element(tree)) => Some(tree),
        _ => None,
    }
}

/// Letters of symbol fonts, raised digits, and boxes that are signs of a list.
fn texts(element: &mut Element) {
    if element.is("a:p") {
        let properties = element.child("a:pPr");
        let font =
            properties.and_then(|one| one.child("a:buFont")).and_then(|one| one.attr("typeface")).unwrap_or_default();
        let sign = properties.and_then(|one| one.child("a:buChar")).and_then(|one| one.attr("char")?.chars().next());
        let sign = sign.and_then(|sign| symbol(font, sign.into())).filter(|one| is_box(*one));
        if let Some(sign) = sign
            && !element.text().trim().is_empty()
        {
            let at = usize::from(element.elements().next().is_some_and(|first| first.is("a:pPr")));
            element.children.insert(at, run(&format!("{sign} ")));
        }
    }
    if element.is("a:r") || element.is("a:fld") {
        let properties = element.child("a:rPr");
        let font = |name: &str| {
            let font = properties.and_then(|one| one.child(name)).and_then(|one| one.attr("typeface"));
            font.filter(|font| is_symbol_font(font)).map(str::to_owned)
        };
        // The font for symbols holds for letters that have a code of it, the other one for all.
        let (latin, sym) = (font("a:latin"), font("a:sym"));
        let raised = properties
            .and_then(|one| one.attr("baseline"))
            .is_some_and(|value| value.parse().is_ok_and(|value: i32| value > 0));
        for node in &mut element.children {
            let Node::Element(text) = node else { continue };
            if !text.is("a:t") {
                continue;
            }
            let mut shown = text.text().replace("_x000B_", " ").replace("_x000D_", " ");
            let font = latin.as_ref().or_else(|| sym.as_ref().filter(|_| shown.chars().any(is_private)));
            if let Some(font) = font {
                shown = symbols(font, &shown);
            } else if raised && let Some(up) = superscript(&shown) {
                shown = up;
            }
            text.children = vec![Node::Text(shown)];
        }
        return;
    }
    for node in &mut element.children {
        if let Node::Element(child) = node {
            texts(child);
        }
    }
}

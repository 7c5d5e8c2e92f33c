//! A part of a package as a tree that can be changed and written again, before `anydoc` parses it. Names have the prefixes that their
//! namespaces usually have, whatever a file calls them, so that a rule names an element once: `w:sym`.

use std::collections::HashMap;
use std::rc::Rc;

use quick_xml::events::Event;
use quick_xml::name::{QName, ResolveResult};
use quick_xml::reader::NsReader;

use super::references::character;

/// Maximum nesting and number of nodes of a tree, as of `anydoc`, which then says so.
const MAX_DEPTH: usize = 256;
const MAX_NODES: usize = 2_000_000;

/// Namespaces and their prefixes here.
const SPACES: &[(&str, &str)] = &[
    ("w", "http://schemas.openxmlformats.org/wordprocessingml/2006/main"),
    ("r", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"),
    ("a", "http://schemas.openxmlformats.org/drawingml/2006/main"),
    ("p", "http://schemas.openxmlformats.org/presentationml/2006/main"),
    ("c", "http://schemas.openxmlformats.org/drawingml/2006/chart"),
    ("dgm", "http://schemas.openxmlformats.org/drawingml/2006/diagram"),
    ("pic", "http://schemas.openxmlformats.org/drawingml/2006/picture"),
    ("wp", "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"),
    ("m", "http://schemas.openxmlformats.org/officeDocument/2006/math"),
    ("mc", "http://schemas.openxmlformats.org/markup-compatibility/2006"),
    ("v", "urn:schemas-microsoft-com:vml"),
    ("o", "urn:schemas-microsoft-com:office:office"),
    ("wps", "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"),
    ("wpg", "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup"),
    ("w14", "http://schemas.microsoft.com/office/word/2010/wordml"),
    ("w15", "http://schemas.microsoft.com/office/word/2012/wordml"),
    ("a14", "http://schemas.microsoft.com/office/drawing/2010/main"),
    ("p14", "http://schemas.microsoft.com/office/powerpoint/2010/main"),
    ("p188", "http://schemas.microsoft.com/office/powerpoint/2018/8/main"),
    ("cx", "http://schemas.microsoft.com/office/drawing/2014/chartex"),
    ("office", "urn:oasis:names:tc:opendocument:xmlns:office:1.0"),
    ("text", "urn:oasis:names:tc:opendocument:xmlns:text:1.0"),
    ("draw", "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"),
    ("table", "urn:oasis:names:tc:opendocument:xmlns:table:1.0"),
    ("style", "urn:oasis:names:tc:opendocument:xmlns:style:1.0"),
    ("form", "urn:oasis:names:tc:opendocument:xmlns:form:1.0"),
    ("presentation", "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"),
    ("chart", "urn:oasis:names:tc:opendocument:xmlns:chart:1.0"),
    ("svg", "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"),
    ("fo", "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("math", "http://www.w3.org/1998/Math/MathML"),
    ("loext", "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"),
    ("dr3d", "urn:oasis:names:tc:opendocument:xmlns:dr3d:1.0"),
    ("xlink", "http://www.w3.org/1999/xlink"),
    ("xml", "http://www.w3.org/XML/1998/namespace"),
];

#[derive(Clone, Debug)]
pub enum Node {
    Element(Element),
    Text(String),
}

#[derive(Clone, Debug)]
pub struct Element {
    /// Such as `w:p`.
    pub name: Rc<str>,
    pub attrs: Vec<(Rc<str>, String)>,
    pub children: Vec<Node>,
}

impl Element {
    #[must_use]
    pub fn new(name: &str, attrs: &[(&str, &str)], children: Vec<Node>) -> Element {
        let attrs = attrs.iter().map(|(name, value)| (Rc::from(*name), (*value).to_owned())).collect();
        Element { name: Rc::from(name), attrs, children }
    }

    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        &*self.name == name
    }

    /// The value of an attribute. One without a prefix counts too: writers differ.
    #[must_use]
    pub fn attr(&self, name: &str) -> Option<&str> {
        let of = |name: &str| self.attrs.iter().find(|(own, _)| &**own == name).map(|(_, value)| value.as_str());
        of(name).or_else(|| of(name.split_once(':')?.1))
    }

    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        elements(&self.children)
    }

    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.elements().find(|child| child.is(name))
    }

    /// The attribute `w:val` of a child, for Word's properties.
    #[must_use]
    pub fn val(&self, child: &str) -> Option<&str> {
        self.child(child)?.attr("w:val")
    }

    /// All elements below, in the order of the document.
    #[must_use]
    pub fn all(&self, name: &str) -> Vec<&Element> {
        fn walk<'a>(of: &'a Element, name: &str, found: &mut Vec<&'a Element>) {
            for child in of.elements() {
                if child.is(name) {
                    found.push(child);
                }
                walk(child, name, found);
            }
        }
        let mut found = Vec::new();
        walk(self, name, &mut found);
        found
    }

    #[must_use]
    pub fn first(&self, name: &str) -> Option<&Element> {
        self.elements().find_map(|child| if child.is(name) { Some(child) } else { child.first(name) })
    }

    /// All text below.
    #[must_use]
    pub fn text(&self) -> String {
        fn walk(nodes: &[Node], out: &mut String) {
            for node in nodes {
                match node {
                    Node::Text(text) => out.push_str(text),
                    Node::Element(child) => walk(&child.children, out),
                }
            }
        }
        let mut out = String::new();
        walk(&self.children, &mut out);
        out
    }
}

pub fn elements(nodes: &[Node]) -> impl Iterator<Item = &Element> {
    nodes.iter().filter_map(|node| match node {
        Node::Element(element) => Some(element),
        Node::Text(_) => None,
    })
}

/// A part of a package.
#[derive(Debug)]
pub struct Part {
    pub root: Element,
    /// Prefixes of other namespaces, as they are written again.
    others: Vec<(Rc<str>, String)>,
}

struct Names {
    known: HashMap<String, Rc<str>>,
    others: Vec<(Rc<str>, String)>,
}

impl Names {
    /// The prefix for a namespace. Those of ISO's strict documents are the usual ones without a year and with another root.
    fn prefix(&mut self, uri: &[u8]) -> Rc<str> {
        let uri = String::from_utf8_lossy(uri);
        let usual = uri.strip_prefix("http://purl.oclc.org/ooxml/").and_then(|rest| rest.split_once('/'));
        let uri = match usual {
            Some((family, rest)) => format!("http://schemas.openxmlformats.org/{family}/2006/{rest}"),
            None => uri.into_owned(),
        };
        if let Some((prefix, _)) = SPACES.iter().find(|(_, known)| *known == uri) {
            return self.name(prefix);
        }
        if let Some((prefix, _)) = self.others.iter().find(|(_, known)| *known == uri) {
            return prefix.clone();
        }
        let prefix: Rc<str> = Rc::from(format!("x{}", self.others.len()));
        self.others.push((prefix.clone(), uri));
        prefix
    }

    fn name(&mut self, name: &str) -> Rc<str> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let shared: Rc<str> = Rc::from(name);
        self.known.insert(name.to_owned(), shared.clone());
        shared
    }

    fn resolved(&mut self, space: &ResolveResult<'_>, local: &[u8]) -> Rc<str> {
        let local = String::from_utf8_lossy(local);
        match space {
            ResolveResult::Bound(uri) => {
                let prefix = self.prefix(uri.as_ref());
                self.name(&format!("{prefix}:{local}"))
            }
            _ => self.name(&local),
        }
    }
}

impl Part {
    /// `None` for XML that cannot be read, or that is too large: the original part is read then, and fails with a reason.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Part> {
        let decoded = decoded(bytes);
        let mut reader = NsReader::from_reader(decoded.as_bytes());
        reader.config_mut().check_end_names = false;
        let mut names = Names { known: HashMap::new(), others: Vec::new() };
        let mut stack: Vec<Element> = Vec::new();
        let mut root = None;
        let mut nodes = 0;
        loop {
            let closed = match reader.read_event().ok()? {
                event @ (Event::Start(_) | Event::Empty(_)) => {
                    nodes += 1;
                    if stack.len() >= MAX_DEPTH || nodes > MAX_NODES {
                        return None;
                    }
                    let empty = matches!(event, Event::Empty(_));
                    let (Event::Start(tag) | Event::Empty(tag)) = event else { return None };
                    let (space, local) = reader.resolver().resolve_element(tag.name());
                    let name = names.resolved(&space, local.as_ref());
                    let mut attrs = Vec::new();
                    for attr in tag.attributes().flatten() {
                        if attr.key.as_ref() == b"xmlns" || attr.key.as_ref().starts_with(b"xmlns:") {
                            continue;
                        }
                        let (space, local) = reader.resolver().resolve_attribute(attr.key);
                        let attr_name = names.resolved(&space, local.as_ref());
                        let mut value = attr
                            .decoded_and_normalized_value(quick_xml::XmlVersion::Implicit1_0, reader.decoder())
                            .map_or_else(
                                |_| String::from_utf8_lossy(&attr.value).into_owned(),
                                |value| value.into_owned(),
                            );
                        // These are prefixes of the file.
                        if &*name == "mc:Choice" && &*attr_name == "Requires" {
                            let prefix = |one: &str| {
                                let probe = format!("{one}:x");
                                match reader.resolver().resolve_element(QName(probe.as_bytes())).0 {
                                    ResolveResult::Bound(uri) => names.prefix(uri.as_ref()).to_string(),
                                    _ => one.to_owned(),
                                }
                            };
                            value = value.split_whitespace().map(prefix).collect::<Vec<_>>().join(" ");
                        }
                        attrs.push((attr_name, value));
                    }
                    let element = Element { name, attrs, children: Vec::new() };
                    if empty {
                        Some(element)
                    } else {
                        stack.push(element);
                        None
                    }
                }
                Event::End(_) => stack.pop(),
                Event::Text(text) => {
                    nodes += push(&mut stack, &text.decode().ok()?);
                    None
                }
                Event::CData(text) => {
                    nodes += push(&mut stack, &String::from_utf8_lossy(text.as_ref()));
                    None
                }
                Event::GeneralRef(name) => {
                    let name = String::from_utf8_lossy(name.as_ref()).into_owned();
                    nodes += push(&mut stack, &character(&name).map_or_else(|| format!("&{name};"), String::from));
                    None
                }
                Event::Eof => break,
                _ => None,
            };
            if let Some(element) = closed {
                match stack.last_mut() {
                    Some(parent) => parent.children.push(Node::Element(element)),
                    None => root = root.or(Some(element)),
                }
            }
        }
        // What a file that was cut off has left open ends here.
        while let Some(element) = stack.pop() {
            match stack.last_mut() {
                Some(parent) => parent.children.push(Node::Element(element)),
                None => root = root.or(Some(element)),
            }
        }
        Some(Part { root: root?, others: names.others })
    }

    /// The part as XML in UTF-8.
    #[must_use]
    pub fn write(mut self) -> Vec<u8> {
        let spaces = SPACES.iter().filter(|(prefix, _)| *prefix != "xml").map(|(prefix, uri)| (*prefix, *uri));
        let others = self.others.iter().map(|(prefix, uri)| (&**prefix, uri.as_str()));
        for (prefix, uri) in spaces.chain(others) {
            self.root.attrs.push((Rc::from(format!("xmlns:{prefix}")), uri.to_owned()));
        }
        let mut out = String::new();
        write(&self.root, &mut out);
        out.into_bytes()
    }
}

/// Appends text to the open element. How many nodes that adds.
fn push(stack: &mut [Element], text: &str) -> usize {
    let Some(parent) = stack.last_mut() else { return 0 };
    if let Some(Node::Text(last)) = parent.children.last_mut() {
        last.push_str(text);
        return 0;
    }
    parent.children.push(Node::Text(text.to_owned()));
    1
}

fn write(element: &Element, out: &mut String) {
    out.push('<');
    out.push_str(&element.name);
    for (name, value) in &element.attrs {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(value, out);
        out.push('"');
    }
    if element.children.is_empty() {
        out.push_str("/>");
        return;
    }
    out.push('>');
    for child in &element.children {
        match child {
            Node::Element(child) => write(child, out),
            Node::Text(text) => escape(text, out),
        }
    }
    out.push_str("</");
    out.push_str(&element.name);
    out.push('>');
}

fn escape(text: &str, out: &mut String) {
    for one in text.chars() {
        match one {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            one => out.push(one),
        }
    }
}

/// The text of a part, in the encoding that its first bytes declare.
fn decoded(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    let head = String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes)).into_owned();
    let declared = head
        .split_once("?>")
        .and_then(|(declaration, _)| declaration.split_once("encoding"))
        .and_then(|(_, rest)| rest.split(['"', '\'']).nth(1))
        .and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()))
        // A declaration that can be read is not in UTF-16, whatever it says.
        .filter(|encoding| encoding.is_ascii_compatible());
    declared.unwrap_or(encoding_rs::UTF_8).decode(bytes).0
}

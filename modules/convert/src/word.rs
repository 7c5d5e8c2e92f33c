//! A copy of a Word document in which everything that says something is a text that `anydoc` reads: symbols, form fields, comments,
//! headers, ruby, embedded files. What cannot become text is counted.

use std::collections::HashMap;

use super::charts;
use super::inserted;
use super::lost::Lost;
use super::parts::{Package, Relation};
use super::symbols::{is_box, is_symbol_font, superscript, symbol, symbols, unknown};
use super::xml::{Element, Node, elements};

/// Namespaces that `anydoc` and this file read. Another alternative is left for the one that the file offers instead.
const READ: [&str; 13] = ["w", "a", "pic", "wp", "mc", "c", "dgm", "v", "o", "wps", "wpg", "w14", "w15"];
/// Elements that show nothing, and whose names do not end like those of marks and properties.
const SILENT: [&str; 13] = [
    "w:proofErr",
    "w:tblGrid",
    "w:lastRenderedPageBreak",
    "w:annotationRef",
    "w:footnoteRef",
    "w:endnoteRef",
    "w:separator",
    "w:continuationSeparator",
    "w:softHyphen",
    "w:delInstrText",
    "w:footnotePr",
    "w:background",
    "w:moveFrom",
];
/// Fields that show nothing by themselves.
const UNSEEN: [&str; 14] = [
    "XE",
    "TC",
    "TA",
    "RD",
    "SET",
    "ASK",
    "PRIVATE",
    "ADDIN",
    "BIBLIOGRAPHY",
    "COMMENTS",
    "NEXT",
    "NEXTIF",
    "SKIPIF",
    "ADVANCE",
];
/// Maximum number of choices of a form field that are shown.
const MAX_CHOICES: usize = 30;

/// The changed copy, and what is not in it. `None` if the package cannot be read or written: the original is read then.
#[must_use]
pub fn prepared(bytes: &[u8]) -> Option<(Vec<u8>, Lost)> {
    let mut package = Package::open(bytes)?;
    let (main, relations) = package.main("word/document.xml");
    let mut part = package.part(&main)?;
    let related = |kind: &str| relations.iter().find(|one| one.kind == kind).map(|one| one.target.clone());
    let mut word = Word::default();
    if let Some(styles) = related("styles").and_then(|name| package.part(&name)) {
        word.read_styles(&styles.root);
    }
    if let Some(numbering) = related("numbering").and_then(|name| package.part(&name)) {
        word.read_boxes(&numbering.root);
    }
    let even = related("settings")
        .and_then(|name| package.part(&name))
        .is_some_and(|settings| on(&settings.root, "w:evenAndOddHeaders") == Some(true));
    if let Some(comments) = related("comments").and_then(|name| package.part(&name)) {
        let threads = related("commentsExtended").and_then(|name| package.part(&name));
        word.read_comments(comments.root, threads.as_ref().map(|threads| &threads.root));
    }
    for kind in ["footnotes", "endnotes"] {
        let Some(name) = related(kind) else { continue };
        let Some(mut notes) = package.part(&name) else { continue };
        for note in &mut notes.root.children {
            if let Node::Element(note) = note {
                note.children = word.content(std::mem::take(&mut note.children), &Paragraph::default());
            }
        }
        package.change(&name, notes);
    }
    word.read_inserted(&mut package, &relations);
    let body = part.root.children.iter_mut().find_map(|node| match node {
        Node::Element(element) if element.is("w:body") => Some(element),
        _ => None,
    })?;
    let blocks = word.content(std::mem::take(&mut body.children), &Paragraph::default());
    // What wrapped a run may have been taken away, and `anydoc` reads paragraphs here.
    let in_paragraph = |node| match node {
        Node::Element(one) if one.is("w:r") => Node::Element(Element::new("w:p", &[], vec![Node::Element(one)])),
        node => node,
    };
    let blocks = blocks.into_iter().map(in_paragraph).collect();
    body.children = word.with_headers(blocks, &mut package, &relations, even);
    let loose: Vec<String> = word.loose_comments();
    body.children.extend(loose.into_iter().map(|comment| paragraph(&comment)));
    package.change(&main, part);
    charts::change(&mut package, &mut word.lost);
    Some((package.copy()?, word.lost))
}

/// What a style says, and the style on which it is based.
#[derive(Debug, Default)]
struct Style {
    based: Option<String>,
    hidden: Option<bool>,
    raised: Option<bool>,
    font: Option<String>,
    /// The list of its paragraphs, and the level in it.
    list: Option<(String, usize)>,
}

/// What holds for the runs of a paragraph.
#[derive(Debug, Default)]
struct Paragraph {
    hidden: bool,
    font: Option<String>,
}

/// What holds for the text of a run.
struct TextRun {
    font: Option<String>,
    raised: bool,
}

#[derive(Debug, Default)]
struct Field {
    instruction: String,
    /// Whether what follows is its result.
    result: bool,
    /// Whether the result shows something.
    filled: bool,
    form: Option<Element>,
}

#[derive(Debug)]
struct Comment {
    id: String,
    text: String,
    placed: bool,
}

#[derive(Default)]
struct Word {
    styles: HashMap<String, Style>,
    /// The sign of a list's level, if it is a box or a check mark.
    boxes: Vec<((String, usize), Option<char>)>,
    comments: Vec<Comment>,
    /// The text of parts of other formats that are inserted as a whole, by relation.
    inserted: Vec<(String, String)>,
    fields: Vec<Field>,
    lost: Lost,
}

fn text(text: &str) -> Node {
    Node::Element(Element::new("w:t", &[("xml:space", "preserve")], vec![Node::Text(text.to_owned())]))
}

fn run(one: &str) -> Node {
    Node::Element(Element::new("w:r", &[], vec![text(one)]))
}

/// A paragraph of a text, with a line break for each of its own.
fn paragraph(lines: &str) -> Node {
    let mut runs = Vec::new();
    for (at, line) in lines.lines().enumerate() {
        if at > 0 {
            runs.push(Node::Element(Element::new(
                "w:r",
                &[],
                vec![Node::Element(Element::new("w:br", &[], Vec::new()))],
            )));
        }
        runs.push(run(line));
    }
    Node::Element(Element::new("w:p", &[], runs))
}

/// A property that is on or off. `None` if it is not given.
fn on(of: &Element, name: &str) -> Option<bool> {
    let value = of.child(name)?.attr("w:val").unwrap_or("1");
    Some(!matches!(value, "0" | "false" | "off"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn symbol_font(properties: &Element) -> Option<String> {
    let fonts = properties.child("w:rFonts")?;
    ["w:ascii", "w:hAnsi", "w:cs"]
        .iter()
        .find_map(|of| fonts.attr(of))
        .filter(|font| is_symbol_font(font))
        .map(str::to_owned)
}

/// The text of changed paragraphs on one line.
fn flat(nodes: &[Node]) -> String {
    fn walk(nodes: &[Node], out: &mut String) {
        for element in elements(nodes) {
            match &*element.name {
                "w:t" | "m:t" => out.push_str(&element.text()),
                "w:br" | "w:cr" => out.push(' '),
                _ => walk(&element.children, out),
            }
            if element.is("w:p") {
                out.push(' ');
            }
        }
    }
    let mut out = String::new();
    walk(nodes, &mut out);
    one_line(&out)
}

impl Word {
    fn read_styles(&mut self, root: &Element) {
        for style in root.elements().filter(|one| one.is("w:style")) {
            let Some(id) = style.attr("w:styleId") else { continue };
            let mut read = Style { based: style.val("w:basedOn").map(str::to_owned), ..Style::default() };
            if let Some(properties) = style.child("w:rPr") {
                read.hidden = on(properties, "w:vanish");
                read.raised = properties.val("w:vertAlign").map(|value| value == "superscript");
                read.font = symbol_font(properties);
            }
            read.list = style.child("w:pPr").and_then(|one| one.child("w:numPr")).and_then(list_level);
            self.styles.insert(id.to_owned(), read);
        }
    }

    /// What the style, or the nearest one on which it is based, says.
    fn style<T>(&self, id: Option<&str>, of: impl Fn(&Style) -> Option<T>) -> Option<T> {
        let mut id = id?;
        // Styles of a damaged file may be based on each other.
        for _ in 0..20 {
            let style = self.styles.get(id)?;
            if let Some(found) = of(style) {
                return Some(found);
            }
            id = style.based.as_deref()?;
        }
        None
    }

    fn read_boxes(&mut self, root: &Element) {
        let sign = |level: &Element| {
            let sign = level.val("w:lvlText").filter(|_| level.val("w:numFmt") == Some("bullet"))?.chars().next()?;
            let font = level.child("w:rPr").and_then(symbol_font).unwrap_or_default();
            symbol(&font, sign.into()).filter(|one| is_box(*one))
        };
        let levels = |of: &Element| -> Vec<(usize, Option<char>)> {
            let level = |one: &Element| Some((one.attr("w:ilvl")?.parse().ok()?, sign(one)));
            of.elements().filter(|one| one.is("w:lvl")).filter_map(level).collect()
        };
        let abstracts: Vec<_> = root
            .elements()
            .filter(|one| one.is("w:abstractNum"))
            .filter_map(|one| Some((one.attr("w:abstractNumId")?, levels(one))))
            .collect();
        for number in root.elements().filter(|one| one.is("w:num")) {
            let Some(id) = number.attr("w:numId") else { continue };
            let mut of = number
                .val("w:abstractNumId")
                .and_then(|id| abstracts.iter().find(|(known, _)| *known == id))
                .map(|(_, levels)| levels.clone())
                .unwrap_or_default();
            number.elements().filter(|one| one.is("w:lvlOverride")).for_each(|one| of.extend(levels(one)));
            // What overrides a level comes after it.
            self.boxes.extend(of.into_iter().rev().map(|(level, sign)| ((id.to_owned(), level), sign)));
        }
    }

    fn read_comments(&mut self, root: Element, threads: Option<&Element>) {
        let thread = |id: &str| threads?.elements().find(|one| one.attr("w15:paraId") == Some(id));
        for node in root.children {
            let Node::Element(comment) = node else { continue };
            let Some(id) = comment.attr("w:id").map(str::to_owned) else { continue };
            let author = one_line(comment.attr("w:author").unwrap_or_default());
            let date = comment.attr("w:date").and_then(|date| date.get(..10)).unwrap_or_default().to_owned();
            let last = comment.elements().filter(|one| one.is("w:p")).last();
            let thread = last.and_then(|one| one.attr("w14:paraId")).and_then(thread);
            let reply = thread.is_some_and(|one| one.attr("w15:paraIdParent").is_some());
            let done = thread.is_some_and(|one| one.attr("w15:done") == Some("1"));
            let body = flat(&self.content(comment.children, &Paragraph::default()));
            let text = comment_text(if reply { "reply" } else { "comment" }, &author, &date, done, &body);
            self.comments.push(Comment { id, text, placed: false });
        }
    }

    fn comment(&mut self, id: &str) -> Option<String> {
        let comment = self.comments.iter_mut().find(|one| one.id == id)?;
        comment.placed = true;
        Some(comment.text.clone())
    }

    /// The comments that no place refers to.
    fn loose_comments(&self) -> Vec<String> {
        self.comments.iter().filter(|one| !one.placed).map(|one| one.text.clone()).collect()
    }

    fn read_inserted(&mut self, package: &mut Package<'_>, relations: &[Relation]) {
        for one in relations.iter().filter(|one| one.kind == "aFChunk" && !one.external) {
            let Some(bytes) = package.bytes(&one.target) else { continue };
            let text = inserted::text(&bytes).unwrap_or_else(|why| {
                let name = one.target.rsplit('/').next().unwrap_or_default();
                format!("[inserted file {name} is not read: {why}]")
            });
            self.inserted.push((one.id.clone(), text));
        }
    }

    /// The content of the body, a table, a cell or a paragraph. What only wraps content is taken away, wherever it is.
    fn content(&mut self, nodes: Vec<Node>, of: &Paragraph) -> Vec<Node> {
        let mut out = Vec::new();
        self.collect(nodes, of, &mut out);
        out
    }

    fn collect(&mut self, nodes: Vec<Node>, of: &Paragraph, out: &mut Vec<Node>) {
        for node in nodes {
            let Node::Element(mut element) = node else { continue };
            match &*element.name {
                "mc:AlternateContent" => self.collect(alternative(element, &READ), of, out),
                "w:p" => out.push(Node::Element(self.paragraph(element))),
                "w:r" => self.run(element, of, out),
                "w:tr" if element.child("w:trPr").is_some_and(|row| row.child("w:del").is_some()) => {
                    self.lost.one("row(s) deleted by tracked changes");
                }
                "w:tbl" | "w:tr" | "w:tc" => {
                    element.children = self.content(element.children, of);
                    out.push(Node::Element(element));
                }
                "w:hyperlink" => {
                    element.children = marked_hidden(self.content(element.children, of));
                    out.push(Node::Element(element));
                }
                "w:fldSimple" => {
                    let field = Field {
                        instruction: element.attr("w:instr").unwrap_or_default().to_owned(),
                        ..Field::default()
                    };
                    element.children = marked_hidden(self.content(element.children, of));
                    if flat(&element.children).is_empty()
                        && let Some(shown) = field.without_result()
                    {
                        element.children.push(run(&shown));
                    }
                    out.push(Node::Element(element));
                }
                "w:sdt" => self.control(element, of, out),
                "w:del" => {
                    if element.first("w:delText").or_else(|| element.first("w:t")).is_some() {
                        self.lost.one("deletion(s) of tracked changes");
                    }
                }
                "w:altChunk" => {
                    let inserted =
                        element.attr("r:id").and_then(|id| self.inserted.iter().find(|(known, _)| known == id));
                    out.push(paragraph(inserted.map_or("[an inserted file that is missing]", |(_, text)| text)));
                }
                "w:subDoc" => out.push(run("[a part of the document that is in another file]")),
                "w:sectPr" | "w:pPr" | "w:bookmarkStart" => out.push(Node::Element(element)),
                name if name.starts_with("m:") || name.ends_with("Pr") || name.ends_with("PrEx") => {
                    out.push(Node::Element(element));
                }
                name if SILENT.contains(&name) || name.ends_with("Start") || name.ends_with("End") => {}
                name => {
                    let said = ["w:r", "w:p", "w:t"].iter().any(|one| element.first(one).is_some());
                    if !said && !matches!(name, "w:ins" | "w:moveTo" | "w:smartTag" | "w:customXml" | "w:dir" | "w:bdo")
                    {
                        self.lost.one(&unknown_element(name));
                    }
                    self.collect(element.children, of, out);
                }
            }
        }
    }

    fn paragraph(&mut self, mut element: Element) -> Element {
        let properties = element.child("w:pPr");
        let style = properties.and_then(|one| one.val("w:pStyle"));
        let of = Paragraph {
            hidden: self.style(style, |style| style.hidden).unwrap_or_default(),
            font: self.style(style, |style| style.font.clone()),
        };
        let list = properties.and_then(|one| one.child("w:numPr")).and_then(list_level);
        let list = list.or_else(|| self.style(style, |style| style.list.clone()));
        let sign =
            list.and_then(|list| self.boxes.iter().find(|(level, _)| *level == list)).and_then(|(_, sign)| *sign);
        let mut content = marked_hidden(self.content(std::mem::take(&mut element.children), &of));
        if let Some(sign) = sign
            && !flat(&content).is_empty()
        {
            let at = usize::from(elements(&content).next().is_some_and(|first| first.is("w:pPr")));
            content.insert(at, run(&format!("{sign} ")));
        }
        // A file that is inserted in a paragraph is part of it.
        element.children = content
            .into_iter()
            .flat_map(|node| match node {
                Node::Element(inner) if inner.is("w:p") => inner.children,
                node => vec![node],
            })
            .collect();
        element
    }

    /// A content control: its content, and whether it is one that nobody has filled in.
    fn control(&mut self, element: Element, of: &Paragraph, out: &mut Vec<Node>) {
        let checked = element.child("w:sdtPr").and_then(|one| one.child("w14:checkbox")).map(|one| {
            one.child("w14:checked")
                .and_then(|one| one.attr("w14:val"))
                .is_some_and(|value| matches!(value, "1" | "true" | "on"))
        });
        let empty = element.child("w:sdtPr").is_some_and(|one| on(one, "w:showingPlcHdr") == Some(true));
        let content = element.children.into_iter().find_map(|node| match node {
            Node::Element(content) if content.is("w:sdtContent") => Some(content.children),
            _ => None,
        });
        let mut content = self.content(content.unwrap_or_default(), of);
        let shown = match checked {
            // Its two signs may be any characters of any font.
            Some(checked) if matches!(flat(&content).as_str(), sign if sign.chars().count() <= 1 || sign.starts_with("[symbol ")) => {
                Some(if checked { "☒" } else { "☐" }.to_owned())
            }
            None if empty => Some(match flat(&content).trim() {
                "" => "[empty field]".to_owned(),
                placeholder => format!("[empty field: {placeholder}]"),
            }),
            _ => None,
        };
        if let Some(shown) = shown {
            if elements(&content).any(|one| one.is("w:p")) {
                content = vec![paragraph(&shown)];
            } else if !elements(&content).any(|one| one.is("w:tc") || one.is("w:tr") || one.is("w:tbl")) {
                content = vec![run(&shown)];
            }
        }
        out.extend(content);
    }

    fn run(&mut self, element: Element, of: &Paragraph, out: &mut Vec<Node>) {
        let properties = element.child("w:rPr");
        let style = properties.and_then(|one| one.val("w:rStyle"));
        let direct = properties.and_then(|one| on(one, "w:vanish"));
        let hidden = direct.or_else(|| self.style(style, |style| style.hidden)).unwrap_or(of.hidden);
        let raised = properties.and_then(|one| one.val("w:vertAlign")).map(|value| value == "superscript");
        let named = properties.and_then(|one| one.child("w:rFonts")).is_some();
        let font = properties.and_then(symbol_font);
        let run = TextRun {
            font: if named { font } else { self.style(style, |style| style.font.clone()).or_else(|| of.font.clone()) },
            raised: raised.or_else(|| self.style(style, |style| style.raised)).unwrap_or_default(),
        };
        let mut children = Vec::new();
        self.run_content(element.children, &run, &mut children);
        let mut changed = Element { name: element.name, attrs: Vec::new(), children };
        if hidden && elements(&changed.children).any(|one| one.is("w:t")) {
            changed.attrs.push(("hidden".into(), String::new()));
        }
        out.push(Node::Element(changed));
    }

    fn run_content(&mut self, nodes: Vec<Node>, run: &TextRun, out: &mut Vec<Node>) {
        for node in nodes {
            let Node::Element(element) = node else { continue };
            match &*element.name {
                "mc:AlternateContent" => self.run_content(alternative(element, &READ), run, out),
                "w:t" => self.text(element, run, out),
                "w:sym" => {
                    let font = element.attr("w:font").unwrap_or_default();
                    let code =
                        element.attr("w:char").and_then(|code| u32::from_str_radix(code, 16).ok()).unwrap_or_default();
                    self.filled();
                    out.push(text(&symbol(font, code).map_or_else(|| unknown(code, font), String::from)));
                }
                "w:noBreakHyphen" => out.push(text("-")),
                // Columns that are set with tabs stay apart.
                "w:tab" | "w:ptab" => out.push(text("\t")),
                "w:dayShort" | "w:dayLong" | "w:monthShort" | "w:monthLong" | "w:yearShort" | "w:yearLong" => {
                    out.push(text("[date]"));
                }
                "w:pgNum" => out.push(text("[page number]")),
                "w:commentReference" => {
                    if let Some(comment) = element.attr("w:id").map(str::to_owned).and_then(|id| self.comment(&id)) {
                        out.push(text(&format!(" {comment}")));
                    }
                }
                "w:fldChar" => self.field(element, out),
                "w:instrText" => {
                    if let Some(field) = self.fields.last_mut() {
                        field.instruction.push_str(&element.text());
                    }
                    out.push(Node::Element(element));
                }
                "w:drawing" | "w:pict" | "w:object" => self.drawing(element, out),
                "w:ruby" => {
                    let mut said = |of: &str| {
                        let content = element.child(of).map(|one| one.children.clone()).unwrap_or_default();
                        flat(&self.content(content, &Paragraph::default()))
                    };
                    let (base, reading) = (said("w:rubyBase"), said("w:rt"));
                    self.filled();
                    out.push(text(&if reading.is_empty() { base } else { format!("{base}({reading})") }));
                }
                "w:rPr" | "w:br" | "w:cr" | "w:footnoteReference" | "w:endnoteReference" => {
                    out.push(Node::Element(element));
                }
                "w:delText" => self.lost.one("deletion(s) of tracked changes"),
                name if SILENT.contains(&name) || name.ends_with("Start") || name.ends_with("End") => {}
                "w:contentPart" => self.lost.one("drawing(s) by hand"),
                name => {
                    let said = one_line(&element.text());
                    if said.is_empty() {
                        self.lost.one(&unknown_element(name));
                    } else {
                        out.push(text(&said));
                    }
                }
            }
        }
    }

    fn text(&mut self, mut element: Element, run: &TextRun, out: &mut Vec<Node>) {
        let plain = element.text();
        let shown = match &run.font {
            Some(font) => Some(symbols(font, &plain)),
            None if run.raised => superscript(&plain),
            None => None,
        };
        if !plain.trim().is_empty() {
            self.filled();
        }
        if let Some(shown) = shown {
            element = Element::new("w:t", &[("xml:space", "preserve")], vec![Node::Text(shown)]);
        }
        out.push(Node::Element(element));
    }

    /// Something is shown in the results of the open fields.
    fn filled(&mut self) {
        for field in self.fields.iter_mut().filter(|field| field.result) {
            field.filled = true;
        }
    }

    fn field(&mut self, element: Element, out: &mut Vec<Node>) {
        let shown = match element.attr("w:fldCharType") {
            Some("begin") => {
                self.fields.push(Field { form: element.child("w:ffData").cloned(), ..Field::default() });
                None
            }
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.result = true;
                }
                None
            }
            _ => self.fields.pop().and_then(|field| field.shown()),
        };
        out.push(Node::Element(element));
        if let Some(shown) = shown {
            self.filled();
            out.push(text(&shown));
        }
    }

    /// Text boxes, charts and diagrams are left to `anydoc`. The rest of a drawing becomes its name.
    fn drawing(&mut self, mut element: Element, out: &mut Vec<Node>) {
        element.children = std::mem::take(&mut element.children).into_iter().flat_map(chosen).collect();
        for one in element.all("v:textpath") {
            out.extend(one.attr("string").map(text));
        }
        for one in element.all("a:t") {
            out.push(text(&one.text()));
        }
        for one in element.all("w:control") {
            out.push(text(&format!("[form control {}]", one.attr("w:name").unwrap_or_default())));
        }
        let mut objects = element.all("o:OLEObject");
        objects.extend(element.all("w:objectEmbed"));
        objects.extend(element.all("w:objectLink"));
        let about = element.first("wp:docPr").and_then(described);
        for one in &objects {
            let kind = one.attr("ProgID").or_else(|| one.attr("w:progId")).unwrap_or("of an unknown kind");
            let about = about.as_ref().map(|about| format!(": {about}")).unwrap_or_default();
            out.push(text(&format!("[embedded object {kind}{about}]")));
            self.lost.one("embedded object(s)");
        }
        if element.first("cx:chart").is_some() {
            self.lost.one("chart(s) of a kind that is not read");
        }
        let kept = ["w:txbxContent", "c:chart", "dgm:relIds"].iter().any(|one| element.first(one).is_some());
        if objects.is_empty() && element.first("w:control").is_none() {
            let (drawn, vml) = (element.all("pic:pic"), element.all("v:imagedata"));
            let own = |one: &&Element| one.first("pic:cNvPr").and_then(described);
            let said: Vec<String> = match (drawn.as_slice(), &about) {
                ([_], Some(about)) | ([], Some(about)) => vec![about.clone()],
                _ => drawn.iter().filter_map(own).collect(),
            };
            let shapes = element.all("v:shape");
            let vml_said = shapes.iter().filter_map(|one| one.attr("alt")).filter(|alt| !alt.trim().is_empty());
            let said: Vec<String> = said.into_iter().chain(vml_said.map(one_line)).collect();
            self.lost.some("picture(s) without a description", (drawn.len() + vml.len()).saturating_sub(said.len()));
            for one in said {
                out.push(text(&format!("[picture: {one}]")));
            }
        }
        if kept {
            self.text_boxes(&mut element);
            out.push(Node::Element(element));
        }
    }

    fn text_boxes(&mut self, element: &mut Element) {
        for node in &mut element.children {
            let Node::Element(child) = node else { continue };
            if child.is("w:txbxContent") {
                let open = std::mem::take(&mut self.fields);
                child.children = self.content(std::mem::take(&mut child.children), &Paragraph::default());
                self.fields = open;
            } else if child.is("wp:docPr") {
                // It is said already.
                child.attrs.retain(|(name, _)| &**name != "descr");
            } else {
                self.text_boxes(child);
            }
        }
    }

    /// The headers of each section before it and its footers after it, each text once.
    fn with_headers(
        &mut self,
        blocks: Vec<Node>,
        package: &mut Package<'_>,
        relations: &[Relation],
        even: bool,
    ) -> Vec<Node> {
        let mut out = Vec::new();
        let mut section = Vec::new();
        let mut said: Vec<String> = Vec::new();
        let count = blocks.len();
        for (at, block) in blocks.into_iter().enumerate() {
            let Node::Element(element) = &block else { continue };
            let own = if element.is("w:sectPr") {
                Some(element)
            } else {
                element.child("w:pPr").and_then(|one| one.child("w:sectPr"))
            };
            let own = own.cloned();
            section.push(block);
            if own.is_none() && at + 1 < count {
                continue;
            }
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for one in own.iter().flat_map(Element::elements) {
                let (side, name) = match &*one.name {
                    "w:headerReference" => (&mut before, "header"),
                    "w:footerReference" => (&mut after, "footer"),
                    _ => continue,
                };
                let first = own.as_ref().is_some_and(|one| on(one, "w:titlePg") == Some(true));
                let label = match one.attr("w:type") {
                    Some("first") if first => format!("{name} of the first page"),
                    Some("even") if even => format!("{name} of even pages"),
                    Some("first" | "even") => continue,
                    _ => name.to_owned(),
                };
                let Some(target) = one.attr("r:id").and_then(|id| relations.iter().find(|one| one.id == id)) else {
                    continue;
                };
                let Some(part) = package.part(&target.target) else { continue };
                let own = package.relations(&target.target);
                let content = self.content(part.root.children, &Paragraph::default());
                let content = without_relations(content, &own);
                let line = flat(&content);
                if !is_page_number(&line, &content) && !said.contains(&line) {
                    said.push(line);
                    side.extend(framed(&label, content));
                }
            }
            out.extend(before);
            out.append(&mut section);
            out.extend(after);
        }
        out
    }
}

impl Field {
    fn keyword(&self) -> String {
        self.instruction.split_whitespace().next().unwrap_or_default().to_ascii_uppercase()
    }

    /// What the field shows besides its result.
    fn shown(&self) -> Option<String> {
        let form = self.form.as_ref();
        match self.keyword().as_str() {
            "FORMCHECKBOX" => {
                let form = form.and_then(|form| form.child("w:checkBox"));
                let checked = form.and_then(|form| on(form, "w:checked").or_else(|| on(form, "w:default")));
                Some(if checked == Some(true) { "☒" } else { "☐" }.to_owned())
            }
            "FORMTEXT" if !self.filled => Some("[empty field]".to_owned()),
            "FORMDROPDOWN" if !self.filled => {
                let form = form.and_then(|form| form.child("w:ddList"))?;
                let choices: Vec<&str> =
                    form.elements().filter(|one| one.is("w:listEntry")).filter_map(|one| one.attr("w:val")).collect();
                let chosen =
                    form.val("w:result").or_else(|| form.val("w:default")).and_then(|at| at.parse::<usize>().ok());
                let chosen = choices.get(chosen.unwrap_or_default()).copied().unwrap_or("[empty field]");
                let more = if choices.len() > MAX_CHOICES { ", …" } else { "" };
                let all = choices.get(..MAX_CHOICES).unwrap_or(&choices).join(", ");
                Some(format!("{chosen} [choices: {all}{more}]"))
            }
            _ if self.result => None,
            _ => self.without_result(),
        }
    }

    /// What stands for a field of which the file has no result.
    fn without_result(&self) -> Option<String> {
        let keyword = self.keyword();
        let words: Vec<&str> = self.instruction.split_whitespace().collect();
        match keyword.as_str() {
            "" => None,
            unseen if UNSEEN.contains(&unseen) => None,
            "SYMBOL" => {
                let code = words.get(1)?;
                let hex = code.strip_prefix("0x").or_else(|| code.strip_prefix("0X"));
                let code = hex.map_or_else(|| code.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok())?;
                let font = self.instruction.split_once("\\f").map(|(_, rest)| rest.trim()).unwrap_or_default();
                let font = font.strip_prefix('"').map_or_else(
                    || font.split_whitespace().next().unwrap_or_default(),
                    |quoted| quoted.split('"').next().unwrap_or_default(),
                );
                Some(symbol(font, code).map_or_else(|| unknown(code, font), String::from))
            }
            // The text of a button is the end of its instruction.
            "MACROBUTTON" | "GOTOBUTTON" => Some(words.get(2..)?.join(" ")),
            _ => Some(format!("[field {}]", one_line(&self.instruction).chars().take(80).collect::<String>())),
        }
    }
}

/// What counts an element that is not known. A prefix that nobody chose says nothing.
#[must_use]
pub fn unknown_element(name: &str) -> String {
    format!("element(s) {}", name.rsplit(':').next().unwrap_or(name))
}

/// A comment as it stands in the text.
#[must_use]
pub fn comment_text(kind: &str, author: &str, date: &str, done: bool, body: &str) -> String {
    let mut out = format!("[{kind}");
    if !author.is_empty() {
        out.push_str(&format!(" by {author}"));
    }
    if !date.is_empty() {
        out.push_str(&format!(", {date}"));
    }
    if done {
        out.push_str(", resolved");
    }
    format!("{out}: {body}]")
}

fn list_level(properties: &Element) -> Option<(String, usize)> {
    let level = properties.val("w:ilvl").and_then(|level| level.parse().ok()).unwrap_or_default();
    Some((properties.val("w:numId")?.to_owned(), level))
}

/// The description of a picture or a shape.
#[must_use]
pub fn described(properties: &Element) -> Option<String> {
    ["descr", "title"].iter().find_map(|name| properties.attr(name)).map(one_line).filter(|text| !text.is_empty())
}

/// The alternative whose namespaces are read, or else the first one.
pub fn alternative(element: Element, read: &[&str]) -> Vec<Node> {
    let mut branches: Vec<Element> = element
        .children
        .into_iter()
        .filter_map(|node| match node {
            Node::Element(branch) => Some(branch),
            Node::Text(_) => None,
        })
        .collect();
    let readable = |one: &Element| {
        one.is("mc:Fallback")
            || one.attr("Requires").unwrap_or_default().split_whitespace().all(|space| read.contains(&space))
    };
    let at = branches.iter().position(readable).unwrap_or_default();
    if at < branches.len() { branches.swap_remove(at).children } else { Vec::new() }
}

/// A tree with one alternative of each choice in it.
fn chosen(node: Node) -> Vec<Node> {
    match node {
        Node::Element(element) if element.is("mc:AlternateContent") => {
            alternative(element, &READ).into_iter().flat_map(chosen).collect()
        }
        // The content of a text box is read like that of the body.
        Node::Element(element) if element.is("w:txbxContent") => vec![Node::Element(element)],
        Node::Element(mut element) => {
            element.children = element.children.into_iter().flat_map(chosen).collect();
            vec![Node::Element(element)]
        }
        text @ Node::Text(_) => vec![text],
    }
}

/// Hidden runs in brackets.
fn marked_hidden(nodes: Vec<Node>) -> Vec<Node> {
    let mut out = Vec::with_capacity(nodes.len());
    let mut open = false;
    for node in nodes {
        if let Node::Element(element) = &node {
            let hidden = element.attr("hidden").is_some();
            let shows = hidden || element.is("w:hyperlink") || elements(&element.children).any(|one| one.is("w:t"));
            if shows && hidden != open {
                out.push(run(if hidden { "[hidden: " } else { "]" }));
                open = hidden;
            }
        }
        out.push(node);
    }
    if open {
        out.push(run("]"));
    }
    out
}

/// Whether a header or a footer only holds the number of the page.
fn is_page_number(line: &str, content: &[Node]) -> bool {
    let fields = || elements(content).flat_map(|one| [one.all("w:instrText"), one.all("w:fldSimple")].concat());
    line.is_empty()
        || !line.chars().any(char::is_alphabetic)
            && fields()
                .any(|field| format!("{} {}", field.attr("w:instr").unwrap_or_default(), field.text()).contains("PAGE"))
}

/// The content of a header for the body: relations of the header are none of the document.
fn without_relations(nodes: Vec<Node>, relations: &[Relation]) -> Vec<Node> {
    let change = |node| {
        let Node::Element(mut element) = node else { return None };
        element.children = without_relations_all(element.children, relations);
        Some(Node::Element(element))
    };
    nodes
        .into_iter()
        .filter(|node| !matches!(node, Node::Element(one) if one.is("w:sectPr")))
        .filter_map(change)
        .collect()
}

fn without_relations_all(nodes: Vec<Node>, relations: &[Relation]) -> Vec<Node> {
    let change = |node| match node {
        Node::Element(mut element) => {
            element.children = without_relations_all(element.children, relations);
            let address = element.attr("r:id").and_then(|id| relations.iter().find(|one| one.id == id && one.external));
            if element.is("w:hyperlink")
                && let Some(address) = address
            {
                element = Element::new(
                    "w:fldSimple",
                    &[("w:instr", &format!("HYPERLINK \"{}\"", address.target))],
                    element.children,
                );
            }
            element.attrs.retain(|(name, _)| !name.starts_with("r:"));
            Node::Element(element)
        }
        text @ Node::Text(_) => text,
    };
    nodes.into_iter().map(change).collect()
}

/// Content with a label: in one line if it is one paragraph.
fn framed(label: &str, content: Vec<Node>) -> Vec<Node> {
    let filled: Vec<Node> = content.into_iter().filter(|node| !flat(std::slice::from_ref(node)).is_empty()).collect();
    if let [Node::Element(one)] = filled.as_slice()
        && one.is("w:p")
        && one.first("w:txbxContent").is_none()
    {
        return vec![paragraph(&format!("[{label}: {}]", flat(&filled)))];
    }
    let mut out = vec![paragraph(&format!("[{label}:]"))];
    out.extend(filled);
    out.push(paragraph(&format!("[end of the {label}]")));
    out
}

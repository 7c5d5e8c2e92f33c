//! The extras of XLSX and XLSM, and those parts of XLSB that are XML too.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::{Extras, SheetExtras, area, chart, header_text, list_text, position, range, xlsb};
use crate::limits::{MAX_EXTRAS, MAX_UNPACKED};
use crate::markup::{Tag, Token, tokens};
use crate::parts::resolved;
use crate::references::unescaped;

/// The parts of a package.
pub struct Parts<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// How many bytes may still be unpacked.
    left: u64,
}

impl Parts<'_> {
    pub fn new(bytes: &[u8]) -> Option<Parts<'_>> {
        Some(Parts { archive: ZipArchive::new(Cursor::new(bytes)).ok()?, left: MAX_UNPACKED })
    }

    pub fn bytes(&mut self, path: &str) -> Option<Vec<u8>> {
        let index = self.archive.index_for_name(path).or_else(|| {
            // Some programs write another case, or backslashes.
            let wanted = |name: &str| name.replace('\\', "/").trim_start_matches('/').eq_ignore_ascii_case(path);
            (0..self.archive.len()).find(|index| self.archive.name_for_index(*index).is_some_and(wanted))
        })?;
        let mut bytes = Vec::new();
        let file = self.archive.by_index(index).ok().filter(|file| file.size() <= MAX_EXTRAS)?;
        file.take(self.left.min(MAX_EXTRAS)).read_to_end(&mut bytes).ok()?;
        self.left = self.left.saturating_sub(bytes.len() as u64);
        Some(bytes)
    }

    pub fn text(&mut self, path: &str) -> Option<String> {
        Some(crate::markup::decoded_whole(self.bytes(path)?))
    }

    pub fn names(&self) -> Vec<String> {
        self.archive.file_names().map(str::to_owned).collect()
    }

    /// What a part refers to.
    fn relations(&mut self, path: &str) -> Relations {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let Some(xml) = self.text(&format!("{folder}_rels/{file}.rels")) else { return Relations::default() };
        let mut relations = Relations::default();
        for token in tokens(&xml) {
            let Token::Open(tag) = token else { continue };
            let (Some(id), Some(target)) = (tag.get("Id"), tag.get("Target")) else { continue };
            let kind = tag.get("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let outside = tag.get("TargetMode").is_some_and(|mode| mode == "External");
            relations.0.insert(id, (kind, if outside { target } else { resolved(&folder, &target) }));
        }
        relations
    }
}

/// Kinds and targets, by their ids.
#[derive(Default)]
struct Relations(BTreeMap<String, (String, String)>);

impl Relations {
    fn target(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(|(_, target)| target.as_str())
    }

    fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.values().filter(move |(own, _)| own == kind).map(|(_, target)| target.as_str())
    }
}

pub fn extras(bytes: &[u8]) -> Option<Extras> {
    let mut parts = Parts::new(bytes)?;
    let mut extras = Extras::default();
    let workbook = parts.relations("").of_kind("officeDocument").next().map(str::to_owned);
    let workbook = workbook.unwrap_or_else(|| "xl/workbook.xml".to_owned());
    let relations = parts.relations(&workbook);
    let binary = workbook.ends_with(".bin");
    let sheets: Vec<(String, String)> = if binary {
        xlsb::sheets(&parts.bytes(&workbook)?)
    } else {
        let xml = parts.text(&workbook)?;
        extras.notes.extend(names(&xml));
        extras.calculated_on_load = tokens(&xml)
            .any(|token| matches!(token, Token::Open(tag) if tag.name == "calcPr" && tag.is("fullCalcOnLoad")));
        let sheets = tokens(&xml).filter_map(|token| match token {
            Token::Open(tag) if tag.name == "sheet" => Some((tag.get("name")?, relation(&tag)?)),
            _ => None,
        });
        sheets.collect()
    };
    for (name, id) in sheets {
        let Some(path) = relations.target(&id).map(str::to_owned) else { continue };
        let mut sheet = SheetExtras::default();
        let own = parts.relations(&path);
        let read = if binary {
            for comments in own.of_kind("comments") {
                if let Some(bytes) = parts.bytes(comments) {
                    xlsb::comments(&bytes, &mut sheet);
                }
            }
            parts.bytes(&path).map(|bytes| xlsb::sheet(&bytes, &mut sheet))
        } else {
            let xml = parts.text(&path);
            let read = xml.map(|xml| worksheet(&xml, &own, &mut sheet));
            comments(&mut parts, &own, &mut sheet);
            read
        };
        if read.is_none() {
            extras.notes.push(format!("sheet {name} is too large to tell what it has besides values"));
        }
        for drawing in own.of_kind("drawing") {
            drawn(&mut parts, drawing, &mut sheet);
        }
        for pivot in own.of_kind("pivotTable") {
            let xml = parts.text(pivot).unwrap_or_default();
            sheet.line("pivot table", &pivot_table(&xml));
        }
        extras.sheets.insert(name, sheet);
    }
    let files = parts.names();
    let count =
        |folder: &str| files.iter().filter(|name| name.starts_with(folder) && !name.contains("/_rels/")).count();
    for (folder, what) in [
        ("xl/embeddings/", "embedded files, which are not read"),
        ("xl/ctrlProps/", "form controls, whose states are not read"),
        ("xl/externalLinks/", "other workbooks that it refers to"),
        ("xl/slicers/", "slicers, which are not read"),
    ] {
        match count(folder) {
            0 => {}
            n => extras.notes.push(format!("{what}: {n}")),
        }
    }
    if files.iter().any(|name| name.ends_with("vbaProject.bin")) {
        extras.notes.push("it has macros, which are not read".to_owned());
    }
    Some(extras)
}

/// The id of the relation of a tag: `r:id`.
fn relation(tag: &Tag<'_>) -> Option<String> {
    tag.get("id")
}

/// The names that are defined for cells and values.
fn names(workbook: &str) -> Option<String> {
    const MOST: usize = 40;
    let mut found = Vec::new();
    let mut name = None;
    for token in tokens(workbook) {
        match token {
            Token::Open(tag) if tag.name == "definedName" && !tag.is("hidden") => {
                name = tag.get("name").filter(|name| !name.starts_with("_xlnm"));
            }
            Token::Text(text) => {
                if let Some(name) = name.take() {
                    found.push(format!("{name} = {}", unescaped(text)));
                }
            }
            Token::Close("definedName") => name = None,
            _ => {}
        }
    }
    let more = if found.len() > MOST { format!(" and {} more", found.len() - MOST) } else { String::new() };
    found.truncate(MOST);
    (!found.is_empty()).then(|| format!("names: {}{more}", found.join(", ")))
}

fn worksheet(xml: &str, relations: &Relations, sheet: &mut SheetExtras) {
    let begin = xml.find("sheetData").unwrap_or(xml.len());
    let (head, rest) = xml.split_at(begin);
    for token in tokens(head) {
        if let Token::Open(tag) = token
            && tag.name == "col"
            && tag.is("hidden")
            && let (Some(first), Some(last)) = (tag.number("min"), tag.number("max"))
        {
            sheet.hidden_columns.add(first.saturating_sub(1), last.saturating_sub(1));
        }
    }
    let end = rest.rfind("sheetData>").unwrap_or_default();
    let (rows, tail) = rest.split_at(end);
    for (at, _) in rows.match_indices("hidden=") {
        let start = rows.get(..at).and_then(|before| before.rfind('<')).unwrap_or(at);
        if let Some(Token::Open(tag)) = rows.get(start..).and_then(|row| tokens(row).next())
            && tag.name == "row"
            && tag.is("hidden")
            && let Some(row) = tag.number("r").and_then(|row| row.checked_sub(1))
        {
            sheet.hidden_rows.add(row, row);
        }
    }
    let mut text = String::new();
    let mut validation: Option<Validation> = None;
    for token in tokens(tail) {
        match token {
            Token::Open(tag) => {
                text.clear();
                match tag.name {
                    "mergeCell" => sheet.merged.extend(tag.get("ref").as_deref().and_then(area)),
                    "hyperlink" => {
                        let cell = tag.get("ref").unwrap_or_default();
                        let target = relation(&tag).and_then(|id| relations.target(&id).map(str::to_owned));
                        let place = tag.get("location").map(|place| format!("#{place}")).unwrap_or_default();
                        sheet.line("link", &format!("{cell}: {}{place}", target.unwrap_or_default()));
                    }
                    "dataValidation" => {
                        let prompt = [tag.get("promptTitle"), tag.get("prompt")];
                        validation = Some(Validation {
                            cells: tag.get("sqref").unwrap_or_default(),
                            list: tag.get("type").is_some_and(|kind| kind == "list"),
                            prompt: prompt.into_iter().flatten().collect::<Vec<_>>().join(": "),
                            formula: String::new(),
                        });
                        if tag.empty {
                            validation.take().into_iter().for_each(|one| one.told(sheet));
                        }
                    }
                    _ => {}
                }
            }
            Token::Text(part) => text.push_str(&unescaped(part)),
            Token::Raw(part) => text.push_str(part),
            Token::Close(name) => match name {
                "oddHeader" | "evenHeader" | "firstHeader" => sheet.line("header", &header_text(&text)),
                "oddFooter" | "evenFooter" | "firstFooter" => sheet.line("footer", &header_text(&text)),
                // In the extension of newer files the cells are an element, and the formula is within another.
                "formula1" | "f" | "sqref" => {
                    if let Some(one) = &mut validation {
                        let part = if name == "sqref" { &mut one.cells } else { &mut one.formula };
                        if part.is_empty() && !text.trim().is_empty() {
                            part.clone_from(&text);
                        }
                        text.clear();
                    }
                }
                "formula2" => text.clear(),
                "dataValidation" => validation.take().into_iter().for_each(|one| one.told(sheet)),
                _ => {}
            },
        }
    }
}

/// What may be entered into cells.
struct Validation {
    cells: String,
    list: bool,
    prompt: String,
    formula: String,
}

impl Validation {
    /// A list to choose from, and what a cell says when it is selected.
    fn told(self, sheet: &mut SheetExtras) {
        let cells = if self.cells.is_empty() { String::new() } else { format!("{}: ", self.cells) };
        if self.list && !self.formula.is_empty() {
            sheet.line("list", &format!("{cells}{}", list_text(&self.formula, ',')));
        }
        if !self.prompt.is_empty() {
            sheet.line("hint", &format!("{cells}{}", self.prompt));
        }
    }
}

fn comments(parts: &mut Parts<'_>, relations: &Relations, sheet: &mut SheetExtras) {
    let threads: Vec<String> = relations.of_kind("threadedComment").map(str::to_owned).collect();
    if !threads.is_empty() {
        let persons: Vec<String> = parts.names().into_iter().filter(|name| name.starts_with("xl/persons/")).collect();
        let mut authors = BTreeMap::new();
        for path in persons {
            let xml = parts.text(&path).unwrap_or_default();
            for token in tokens(&xml) {
                if let Token::Open(tag) = token
                    && let (Some(id), Some(name)) = (tag.get("id"), tag.get("displayName"))
                {
                    authors.insert(id, name);
                }
            }
        }
        for path in threads {
            let xml = parts.text(&path).unwrap_or_default();
            texts(&xml, "threadedComment", |tag| authors.get(&tag.get("personId")?).cloned(), sheet);
        }
        return;
    }
    for path in relations.of_kind("comments") {
        let xml = parts.text(path).unwrap_or_default();
        let mut authors = Vec::new();
        let mut open = false;
        for token in tokens(&xml) {
            match token {
                Token::Open(tag) if tag.name == "author" => {
                    open = !tag.empty;
                    authors.push(String::new());
                }
                Token::Text(text) if open => {
                    if let Some(author) = authors.last_mut() {
                        author.push_str(&unescaped(text));
                    }
                }
                Token::Close("author") => open = false,
                _ => {}
            }
        }
        texts(&xml, "comment", |tag| authors.get(tag.number("authorId")? as usize).cloned(), sheet);
    }
}

/// The comments of a part.
fn texts(xml: &str, element: &str, author: impl Fn(&Tag<'_>) -> Option<String>, sheet: &mut SheetExtras) {
    let mut current: Option<(String, String)> = None;
    let (mut text, mut inside, mut phonetic) = (String::new(), false, false);
    for token in tokens(xml) {
        match token {
            Token::Open(tag) if tag.name == element => {
                current = Some((tag.get("ref").unwrap_or_default(), author(&tag).unwrap_or_default()));
                text.clear();
            }
            Token::Open(tag) if tag.name == "rPh" => phonetic = !tag.empty,
            Token::Close("rPh") => phonetic = false,
            Token::Open(tag) if matches!(tag.name, "t" | "text") => inside = !tag.empty,
            Token::Text(part) if inside && !phonetic => text.push_str(&unescaped(part)),
            Token::Close("t" | "text") => inside = false,
            Token::Close(name) if name == element => {
                if let Some((cell, author)) = current.take()
                    && let Some((row, column)) = position(&cell)
                {
                    sheet.comment([row, column], &author, &text);
                }
            }
            _ => {}
        }
    }
}

fn pivot_table(xml: &str) -> String {
    let (mut name, mut place) = (String::new(), String::new());
    for token in tokens(xml) {
        let Token::Open(tag) = token else { continue };
        match tag.name {
            "pivotTableDefinition" => name = tag.get("name").unwrap_or_default(),
            "location" => place = tag.get("ref").unwrap_or_default(),
            _ => {}
        }
    }
    format!("{name}, {place}").trim_matches([',', ' ']).to_owned()
}

/// What is drawn on a sheet: charts, pictures, texts.
fn drawn(parts: &mut Parts<'_>, path: &str, sheet: &mut SheetExtras) {
    let Some(xml) = parts.text(path) else { return };
    let relations = parts.relations(path);
    let (mut column, mut row, mut from) = (0_u32, 0_u32, false);
    let (mut name, mut about, mut text) = (String::new(), String::new(), String::new());
    let mut chart_id = None;
    let (mut last, mut fallback) = ("", false);
    for token in tokens(&xml) {
        match token {
            // What older programs show in place of a newer drawing.
            Token::Open(tag) if tag.name == "Fallback" => fallback = !tag.empty,
            Token::Close("Fallback") => fallback = false,
            _ if fallback => {}
            Token::Open(tag) => {
                last = if tag.empty { "" } else { tag.name };
                match tag.name {
                    "from" => from = true,
                    "cNvPr" => {
                        name = tag.get("name").unwrap_or_default();
                        about = tag.get("descr").or_else(|| tag.get("title")).unwrap_or_default();
                    }
                    "chart" => chart_id = relation(&tag),
                    "sp" | "pic" | "graphicFrame" => text.clear(),
                    "br" => text.push(' '),
                    _ => {}
                }
            }
            Token::Text(part) => match last {
                "col" if from => column = part.trim().parse().unwrap_or(column),
                "row" if from => row = part.trim().parse().unwrap_or(row),
                "t" => text.push_str(&unescaped(part)),
                _ => {}
            },
            Token::Raw(_) => {}
            Token::Close(closed) => {
                let at = range([row, column, row, column]);
                match closed {
                    "from" => from = false,
                    "p" => text.push(' '),
                    "pic" => sheet.line(
                        "picture",
                        format!("at {at}: {}", if about.is_empty() { &name } else { &about })
                            .trim_end_matches([':', ' ']),
                    ),
                    "sp" if !text.trim().is_empty() => sheet.line("text box", &format!("at {at}: {}", text.trim())),
                    "graphicFrame" => {
                        let chart = chart_id.take().and_then(|id| parts.text(relations.target(&id)?));
                        match chart {
                            Some(xml) => sheet.line("chart", &format!("at {at}: {}", chart::described(&xml))),
                            None => sheet.line("drawing", &format!("at {at}: {name}")),
                        }
                    }
                    _ => {}
                }
                last = "";
            }
        }
    }
}

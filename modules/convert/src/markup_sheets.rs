//! Workbooks that are markup: XML of Excel 2002 and 2003, and pages whose tables programs name `.xls`.

use calamine::{CellErrorType, Data};

use super::cells::{Read, SheetCell};
use super::extras::{Extras, SheetExtras};
use super::limits::MAX_CELLS;
use super::markup::{Tag, Token, decoded, tokens};
use crate::references::unescaped;

/// Which markup a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    /// SpreadsheetML of Excel 2002 and 2003.
    Excel2003,
    /// OpenDocument in one file.
    FlatOds,
    Page,
}

/// Which markup the bytes are, by their start.
#[must_use]
pub fn markup(bytes: &[u8]) -> Option<Markup> {
    let head = decoded(bytes.get(..bytes.len().min(4_096)).unwrap_or_default());
    let start = head.trim_start();
    if !start.starts_with('<') {
        return None;
    }
    if start.contains("urn:schemas-microsoft-com:office:spreadsheet") && !start.to_ascii_lowercase().contains("<html") {
        return Some(Markup::Excel2003);
    }
    if start.contains("<office:document") && start.contains("opendocument.spreadsheet") {
        return Some(Markup::FlatOds);
    }
    Some(Markup::Page)
}

/// The sheets of XML of Excel 2003.
pub fn excel_2003(text: &str) -> (Read, Extras) {
    let mut read = Read::default();
    let mut extras = Extras::default();
    let mut sheet: Option<(String, Vec<SheetCell>, SheetExtras)> = None;
    let (mut row, mut column, mut hidden_sheet) = (0_u32, 0_u32, false);
    let mut declared = 0_u32;
    let mut cell: Option<Cell> = None;
    let mut open = Vec::new();
    let mut total = 0_usize;
    for token in tokens(text) {
        match token {
            Token::Open(tag) => {
                if let (Some((_, _, extra)), true) = (&mut sheet, cell.is_none()) {
                    match tag.name {
                        "Column" => {
                            let first = tag.number("Index").map_or(declared, |index| index.saturating_sub(1));
                            let last = first.saturating_add(tag.number("Span").unwrap_or_default());
                            if tag.is("Hidden") {
                                extra.hidden_columns.add(first, last);
                            }
                            declared = last.saturating_add(1);
                        }
                        "Row" => {
                            row = tag.number("Index").map_or(row, |index| index.saturating_sub(1));
                            column = 0;
                            if tag.is("Hidden") {
                                extra.hidden_rows.add(row, row.saturating_add(tag.number("Span").unwrap_or_default()));
                            }
                        }
                        _ => {}
                    }
                }
                match tag.name {
                    "Worksheet" => {
                        let name = tag.get("Name").unwrap_or_else(|| format!("Sheet{}", read.sheets.len() + 1));
                        sheet = Some((name, Vec::new(), SheetExtras::default()));
                        (row, column, declared, hidden_sheet) = (0, 0, 0, false);
                    }
                    "Cell" => {
                        column = tag.number("Index").map_or(column, |index| index.saturating_sub(1));
                        cell = Some(Cell::new(&tag));
                    }
                    // A comment has an element of that name, too.
                    "Data" if !open.contains(&"Comment") => {
                        if let Some(cell) = &mut cell {
                            cell.kind = tag.get("Type").unwrap_or_default();
                            cell.has_value = true;
                        }
                    }
                    "Comment" => {
                        if let Some(cell) = &mut cell {
                            cell.author = tag.get("Author").unwrap_or_default();
                        }
                    }
                    "Br" | "br" => {
                        if let Some(cell) = &mut cell {
                            cell.text.push(' ');
                        }
                    }
                    _ => {}
                }
                if !tag.empty {
                    open.push(tag.name);
                    continue;
                }
                closed(tag.name, &mut row, &mut column, &mut cell, &mut sheet, &mut total, &mut read);
            }
            Token::Text(text) => {
                let text = unescaped(text);
                if let Some(cell) = &mut cell {
                    if open.contains(&"Comment") {
                        cell.comment.push_str(&text);
                    } else if open.contains(&"Data") {
                        cell.text.push_str(&text);
                    }
                } else if open.last() == Some(&"Visible") && text.trim() != "SheetVisible" {
                    hidden_sheet = true;
                }
            }
            Token::Raw(text) => {
                if let (Some(cell), true) = (&mut cell, open.contains(&"Data")) {
                    cell.text.push_str(text);
                }
            }
            Token::Close(name) => {
                if let Some(at) = open.iter().rposition(|one| *one == name) {
                    open.truncate(at);
                }
                closed(name, &mut row, &mut column, &mut cell, &mut sheet, &mut total, &mut read);
                if name == "Worksheet"
                    && let Some((name, mut cells, extra)) = sheet.take()
                {
                    cells.sort_by_key(|cell| (cell.row, cell.column));
                    cells.dedup_by_key(|cell| (cell.row, cell.column));
                    if hidden_sheet {
                        read.hidden.push(name.clone());
                    }
                    extras.sheets.insert(name.clone(), extra);
                    read.sheets.push((name, cells));
                }
            }
        }
    }
    (read, extras)
}

#[derive(Default)]
struct Cell {
    kind: String,
    text: String,
    has_value: bool,
    formula: Option<String>,
    link: Option<String>,
    author: String,
    comment: String,
    right: u32,
    down: u32,
}

impl Cell {
    fn new(tag: &Tag<'_>) -> Self {
        Cell {
            formula: tag.get("Formula").map(|formula| formula.trim_start_matches('=').to_owned()),
            link: tag.get("HRef"),
            right: tag.number("MergeAcross").unwrap_or_default(),
            down: tag.number("MergeDown").unwrap_or_default(),
            ..Cell::default()
        }
    }

    fn value(&self) -> Data {
        let text = self.text.trim();
        match self.kind.as_str() {
            "Number" => text.parse().map_or_else(|_| Data::String(self.text.clone()), Data::Float),
            "Boolean" => Data::Bool(text == "1" || text.eq_ignore_ascii_case("true")),
            "DateTime" => {
                let text = text.trim_end_matches(".000").trim_end_matches("T00:00:00");
                // A time of day has the day on which the counting begins.
                let text =
                    text.strip_prefix("1899-12-31T").or_else(|| text.strip_prefix("1904-01-01T")).unwrap_or(text);
                Data::DateTimeIso(text.to_owned())
            }
            "Error" => match text {
                "#DIV/0!" => Data::Error(CellErrorType::Div0),
                "#N/A" => Data::Error(CellErrorType::NA),
                "#NAME?" => Data::Error(CellErrorType::Name),
                "#NULL!" => Data::Error(CellErrorType::Null),
                "#NUM!" => Data::Error(CellErrorType::Num),
                "#REF!" => Data::Error(CellErrorType::Ref),
                _ => Data::Error(CellErrorType::Value),
            },
            _ if self.text.is_empty() => Data::Empty,
            _ => Data::String(self.text.clone()),
        }
    }
}

/// What the end of an element of XML of Excel 2003 does.
fn closed(
    name: &str,
    row: &mut u32,
    column: &mut u32,
    cell: &mut Option<Cell>,
    sheet: &mut Option<(String, Vec<SheetCell>, SheetExtras)>,
    total: &mut usize,
    read: &mut Read,
) {
    match name {
        "Row" => *row = row.saturating_add(1),
        "Cell" => {
            let Some((cell, (_, cells, extra))) = cell.take().zip(sheet.as_mut()) else { return };
            let at = [*row, *column];
            let value = cell.value();
            if !cell.comment.trim().is_empty() {
                extra.comment(at, &cell.author, &cell.comment);
            }
            if let Some(link) = &cell.link {
                extra.line("link", &format!("{}: {link}", super::extras::range([at[0], at[1], at[0], at[1]])));
            }
            if cell.right > 0 || cell.down > 0 {
                extra.merged.push([at[0], at[1], at[0].saturating_add(cell.down), at[1].saturating_add(cell.right)]);
            }
            let formula = cell.formula.filter(|_| !cell.has_value || value == Data::Empty);
            if value != Data::Empty || formula.is_some() {
                *total += 1;
                if *total > MAX_CELLS {
                    read.cut = true;
                } else {
                    cells.push(SheetCell { row: at[0], column: at[1], value, formula });
                }
            }
            *column = column.saturating_add(cell.right).saturating_add(1);
        }
        _ => {}
    }
}

/// A table of a page while it is read.
#[derive(Default)]
struct PageTable {
    caption: String,
    cells: Vec<SheetCell>,
    row: u32,
    column: u32,
    /// Columns that cells of earlier rows reach into, with the number of rows.
    down: Vec<u32>,
    in_row: bool,
    cell: Option<(String, u32, u32)>,
    in_caption: bool,
    extra: SheetExtras,
}

impl PageTable {
    fn begin_row(&mut self) {
        self.end_row();
        self.in_row = true;
    }

    fn begin_cell(&mut self, tag: &Tag<'_>) {
        self.end_cell();
        self.in_row = true;
        while self.down.get(self.column as usize).is_some_and(|rows| *rows > 0) {
            self.column += 1;
        }
        let span = |name| tag.number(name).unwrap_or(1).clamp(1, 1_000);
        self.cell = Some((String::new(), span("colspan"), span("rowspan")));
    }

    fn end_cell(&mut self) {
        let Some((text, right, down)) = self.cell.take() else { return };
        let text = text
            .split('\n')
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
            .join("\n");
        let text = text.trim().to_owned();
        if right > 1 || down > 1 {
            self.extra.merged.push([self.row, self.column, self.row + down - 1, self.column + right - 1]);
        }
        if !text.is_empty() {
            self.cells.push(SheetCell { row: self.row, column: self.column, value: Data::String(text), formula: None });
        }
        for column in self.column..self.column + right {
            let column = column as usize;
            if self.down.len() <= column {
                self.down.resize(column + 1, 0);
            }
            if let Some(rows) = self.down.get_mut(column) {
                *rows = (*rows).max(down);
            }
        }
        self.column += right;
    }

    fn end_row(&mut self) {
        if !std::mem::take(&mut self.in_row) {
            return;
        }
        self.end_cell();
        self.row += 1;
        self.column = 0;
        self.down.iter_mut().for_each(|rows| *rows = rows.saturating_sub(1));
    }
}

/// The tables of a page, each as a sheet of texts. A table within another is a table of its own.
pub fn page(text: &str) -> (Read, Extras) {
    let mut read = Read { texts: true, ..Read::default() };
    let mut extras = Extras::default();
    let mut tables: Vec<PageTable> = Vec::new();
    let mut names = Vec::new();
    let mut name = None;
    let mut total = 0_usize;
    let mut done: Vec<PageTable> = Vec::new();
    for token in tokens(text) {
        match token {
            Token::Open(tag) => {
                let lower = tag.name.to_ascii_lowercase();
                match (lower.as_str(), tables.last_mut()) {
                    ("table", _) => tables.push(PageTable::default()),
                    ("tr", Some(table)) => table.begin_row(),
                    ("td" | "th", Some(table)) => table.begin_cell(&tag),
                    ("caption", Some(table)) => table.in_caption = true,
                    ("br" | "p" | "div" | "li", Some(table)) => {
                        if let Some((text, ..)) = &mut table.cell {
                            text.push('\n');
                        }
                    }
                    // Excel names the sheets of a page in its head.
                    ("name", None) => name = Some(String::new()),
                    _ => {}
                }
            }
            Token::Text(text) | Token::Raw(text) => {
                let text = unescaped(text);
                match tables.last_mut() {
                    Some(table) if table.in_caption => table.caption.push_str(&text),
                    // Line breaks of the source are blanks.
                    Some(PageTable { cell: Some((out, ..)), .. }) => out.push_str(&text.replace(['\n', '\r'], " ")),
                    None => {
                        if let Some(name) = &mut name {
                            name.push_str(text.trim());
                        }
                    }
                    _ => {}
                }
            }
            Token::Close(closed) => match closed.to_ascii_lowercase().as_str() {
                "table" => {
                    if let Some(mut table) = tables.pop() {
                        table.end_row();
                        total += table.cells.len();
                        read.cut |= total > MAX_CELLS;
                        done.push(table);
                    }
                }
                "tr" => tables.last_mut().into_iter().for_each(PageTable::end_row),
                "td" | "th" => tables.last_mut().into_iter().for_each(PageTable::end_cell),
                "caption" => tables.last_mut().into_iter().for_each(|table| table.in_caption = false),
                "name" => names.extend(name.take()),
                _ => {}
            },
        }
        if read.cut {
            break;
        }
    }
    // A table that is not closed ends with the text.
    for mut table in tables.into_iter().rev() {
        table.end_row();
        done.push(table);
    }
    let done: Vec<PageTable> = done.into_iter().filter(|table| !table.cells.is_empty()).collect();
    let named = names.len() == done.len();
    for (number, table) in done.into_iter().enumerate() {
        let caption = table.caption.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = names.get(number).filter(|name| named && !name.is_empty()).cloned();
        let name = name.unwrap_or_else(|| if caption.is_empty() { format!("table {}", number + 1) } else { caption });
        extras.sheets.insert(name.clone(), table.extra);
        read.sheets.push((name, table.cells));
    }
    (read, extras)
}

//! A table that can be sorted: columns with their names, cells as text, and the numbers of columns that hold numbers.

use serde::Serialize;

use super::json::Json;
use super::number;

/// The most rows and columns that are kept; `total` says how many rows there were.
pub const MAX_ROWS: usize = 10_000;
pub const MAX_COLUMNS: usize = 60;

/// A table. Each row has a cell for each column.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FigureTable {
    pub columns: Vec<TableColumn>,
    pub rows: Vec<Vec<String>>,
    /// The number of rows of the source.
    pub total: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableColumn {
    pub name: String,
    /// The number in each row, to sort by, if every cell of the column that is not empty is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Vec<Option<f64>>>,
}

impl FigureTable {
    /// Makes a table of names and rows; short rows get empty cells.
    #[must_use]
    pub fn new(names: Vec<String>, mut rows: Vec<Vec<String>>) -> Self {
        let total = rows.len();
        rows.truncate(MAX_ROWS);
        let width = names.len().min(MAX_COLUMNS);
        rows.iter_mut().for_each(|row| row.resize(width, String::new()));
        let columns = names.into_iter().take(width).enumerate();
        let columns = columns.map(|(place, name)| TableColumn { name, numbers: numbers(&rows, place) }).collect();
        FigureTable { columns, rows, total }
    }

    /// Reads an array of flat objects, or `{columns, rows}`, whose rows are arrays or objects.
    pub(super) fn from_json(value: &Json) -> Option<Self> {
        match value {
            Json::List(items) => FigureTable::of_objects(items),
            Json::Object(_) => {
                let (Json::List(columns), Json::List(items)) = (value.field("columns")?, value.field("rows")?) else {
                    return None;
                };
                let name = |column: &Json| match column {
                    Json::Object(_) => column.field("name").and_then(Json::cell),
                    column => column.cell(),
                };
                let names: Vec<String> = columns.iter().map(name).collect::<Option<_>>()?;
                let row = |item: &Json| match item {
                    Json::List(cells) if cells.len() <= names.len() => cells.iter().map(Json::cell).collect(),
                    Json::Object(_) => names
                        .iter()
                        .take(MAX_COLUMNS)
                        .map(|name| item.field(name).map_or(Some(String::new()), Json::cell))
                        .collect(),
                    _ => None,
                };
                let rows = items.iter().map(row).collect::<Option<Vec<Vec<String>>>>()?;
                (!names.is_empty()).then(|| FigureTable::new(names, rows))
            }
            _ => None,
        }
    }

    fn of_objects(items: &[Json]) -> Option<Self> {
        let mut names: Vec<String> = Vec::new();
        for item in items {
            let Json::Object(fields) = item else { return None };
            for (name, value) in fields {
                value.cell()?;
                if !names.contains(name) {
                    if names.len() == MAX_COLUMNS {
                        return None;
                    }
                    names.push(name.clone());
                }
            }
        }
        let row = |item: &Json| {
            let cell = |name: &String| item.field(name).and_then(Json::cell).unwrap_or_default();
            names.iter().map(cell).collect()
        };
        let rows = items.iter().map(row).collect();
        (!names.is_empty()).then(|| FigureTable::new(names, rows))
    }

    /// Reads a Markdown text that is one table and at most four other lines.
    pub(super) fn from_markdown(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let is_rule = |line: &str| {
            line.starts_with('|') && line.contains("--") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
        };
        let rule = lines.iter().position(|line| is_rule(line))?;
        let head = lines.get(rule.checked_sub(1)?).filter(|line| line.starts_with('|'))?;
        let rows: Vec<_> = lines.iter().skip(rule + 1).take_while(|line| line.starts_with('|')).collect();
        let others = lines.iter().filter(|line| !line.is_empty() && !line.starts_with('|')).count();
        (others <= 4 && lines.iter().filter(|line| is_rule(line)).count() == 1).then(|| {
            FigureTable::new(markdown_cells(head), rows.into_iter().map(|line| markdown_cells(line)).collect())
        })
    }

    /// Reads separated values; the separator is the one that occurs most in the first line.
    pub(super) fn from_separated(text: &str, separators: &[char]) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}');
        let first = text.lines().next()?;
        let separator = *separators.iter().max_by_key(|separator| first.matches(**separator).count())?;
        let mut rows = separated(text, separator).into_iter();
        let names = rows.next()?;
        Some(FigureTable::new(names, rows.collect()))
    }
}

fn numbers(rows: &[Vec<String>], place: usize) -> Option<Vec<Option<f64>>> {
    let mut some = false;
    let mut numbers = Vec::with_capacity(rows.len());
    for row in rows {
        let cell = row.get(place).map_or("", |cell| cell.trim());
        if matches!(cell, "" | "-" | "–" | "—" | "null" | "NULL") {
            numbers.push(None);
        } else {
            numbers.push(Some(number::read(cell)?));
            some = true;
        }
    }
    some.then_some(numbers)
}

fn markdown_cells(line: &str) -> Vec<String> {
    let inside = line.strip_prefix('|').unwrap_or(line);
    let inside = inside.strip_suffix('|').filter(|inside| !inside.ends_with('\\')).unwrap_or(inside);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in inside.chars() {
        match c {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            '|' if !escaped => cells.push(String::new()),
            c => {
                if let Some(cell) = cells.last_mut() {
                    if escaped && c != '|' && c != '\\' {
                        cell.push('\\');
                    }
                    cell.push(c);
                }
            }
        }
        escaped = false;
    }
    cells.into_iter().map(|cell| cell.trim().replace("<br>", "\n")).collect()
}

/// Reads records as in RFC 4180: a cell in quotes may hold separators, line breaks and doubled quotes.
fn separated(text: &str, separator: char) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' if quoted || cell.is_empty() => quoted = !quoted,
            '\r' if !quoted && letters.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c if c == separator && !quoted => row.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell);
        rows.push(row);
    }
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    rows
}

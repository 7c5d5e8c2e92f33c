//! Workbooks, read by `calamine`: as Markdown with the row numbers and column letters that name the cells, and as rows for queries.

use std::io::Cursor;

use anydoc::Format;
use calamine::{Data, DataRef, DataType, Ods, Reader, SheetType, Xls, XlsOptions, Xlsb, Xlsx};
use serde::Serialize;
use serde_json::Value;

use super::limits::{MAX_CELL_CHARS, MAX_CELL_TEXT, MAX_CELLS, MAX_COLUMNS, MAX_TABLE_VALUES};
use super::package::{ContainerKind, kind, with_plain_numbers};
use super::text::TextBuilder;
use turnwise_files::document::{Document, Rows};
use turnwise_files::size_text;

/// A sheet as a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sheet {
    pub name: String,
    /// The rows with values, with cells from the first column with a value to the last: texts, numbers, booleans, dates as ISO 8601
    /// texts, and `null`. All rows have the same length.
    pub rows: Vec<Vec<Value>>,
    /// What was not read of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why it is no table; then it has no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// The size of a sheet, in the format: `A1:XFD1048576`. Addresses beyond it are wrong, and numbers in them overflow.
const SHEET_ROWS: u32 = 1 << 20;
const SHEET_COLUMNS: u32 = 1 << 14;

/// A cell with a value: its row and column, counted from 0.
struct SheetCell {
    row: u32,
    column: u32,
    value: Data,
}

/// The sheets of a workbook, as rows.
///
/// # Errors
/// A sentence that says why they cannot be read.
pub fn sheets(bytes: &[u8], name: &str) -> Result<Vec<Sheet>, String> {
    super::limits::check_size(bytes)?;
    let ContainerKind::Workbook(format) = kind(bytes)? else { return Err(format!("{name} is not a workbook")) };
    let read = read(bytes, format)?;
    if read.cut {
        let (cells, text) = (MAX_CELLS, size_text(MAX_CELL_TEXT as u64));
        return Err(format!("the workbook has more than {cells} cells or {text} of text, too much for tables"));
    }
    let mut left = MAX_TABLE_VALUES;
    let sheets = read.sheets.into_iter().map(|(name, cells)| {
        let broken = read.broken.iter().find(|(broken, _)| *broken == name);
        let note = broken.map(|(_, error)| format!("sheet {name} is damaged and was not read to its end ({error})"));
        let (rows, fault) = match rows(&cells, &mut left) {
            Ok(rows) => (rows, None),
            Err(fault) => (Vec::new(), Some(format!("sheet {name} {fault}"))),
        };
        Sheet { name, rows, note, fault }
    });
    Ok(sheets.collect())
}

/// The rows of a sheet. `left`: how many values they may have.
fn rows(cells: &[SheetCell], left: &mut usize) -> Result<Vec<Vec<Value>>, String> {
    let Some((_, first, _, last)) = bounds(cells) else { return Ok(Vec::new()) };
    let width = (last - first + 1) as usize;
    let count = cells.chunk_by(|one, other| one.row == other.row).count();
    *left = left.checked_sub(width.saturating_mul(count)).ok_or_else(|| {
        format!("has values in {count} rows and up to {width} columns apart, which is too much for a table")
    })?;
    let rows = cells.chunk_by(|one, other| one.row == other.row).map(|cells| {
        let mut row = vec![Value::Null; width];
        for cell in cells {
            if let Some(place) = row.get_mut((cell.column - first) as usize) {
                *place = value(&cell.value);
            }
        }
        row
    });
    Ok(rows.collect())
}

/// The text of a workbook.
///
/// # Errors
/// A sentence that says why it cannot be read.
pub fn convert(bytes: &[u8], format: Format) -> Result<Document, String> {
    let read = read(bytes, format)?;
    let mut text = TextBuilder::default();
    let mut notes = Vec::new();
    let count = read.sheets.len() + read.unread;
    let mut empty = Vec::new();
    for (name, cells) in &read.sheets {
        if cells.is_empty() {
            empty.push(name.as_str());
        } else {
            sheet(name, cells, &mut text, &mut notes);
        }
    }
    if text.is_blank() {
        return Err(match read.broken.first() {
            Some((name, error)) => format!("it is damaged: its sheet {name} could not be read ({error})"),
            None => "it is a workbook without a value in any cell".to_owned(),
        });
    }
    if !empty.is_empty() {
        notes.push(format!("sheets without a value: {}", empty.join(", ")));
    }
    if read.cut {
        let text = size_text(MAX_CELL_TEXT as u64);
        let unread = match read.unread {
            0 => String::new(),
            n => format!("; {n} of its sheets were not read"),
        };
        notes.push(format!(
            "only its first cells were read: it has more than {MAX_CELLS}, or more than {text} of text{unread}"
        ));
    }
    if !read.broken.is_empty() {
        let broken: Vec<String> = read.broken.iter().map(|(name, error)| format!("{name} ({error})")).collect();
        notes.push(format!("sheets that are damaged and were not read to their end: {}", broken.join(", ")));
    }
    let plural = if count == 1 { "sheet" } else { "sheets" };
    Ok(text.finish(format!("workbook, {count} {plural}"), notes))
}

fn sheet(name: &str, cells: &[SheetCell], text: &mut TextBuilder, notes: &mut Vec<String>) {
    let Some((top, left, bottom, right)) = bounds(cells) else { return };
    let shown = right.min(left + MAX_COLUMNS - 1);
    if shown < right {
        notes.push(format!("sheet {name}: columns after {} are not shown", letters(shown)));
    }
    let (from, to) = (letters(left), letters(shown));
    let place = format!("sheet {name}");
    text.gap();
    text.place(&place, None);
    text.line(&format!("[{place}, {from}{}:{}{}]", top + 1, letters(right), bottom + 1));
    let columns: Vec<String> = (left..=shown).map(letters).collect();
    text.line(&format!("| row | {} |", columns.join(" | ")));
    text.line(&format!("|{}", " --- |".repeat(columns.len() + 1)));
    let mut next = None;
    for row in cells.chunk_by(|one, other| one.row == other.row) {
        if text.is_full() {
            return;
        }
        let Some(number) = row.first().map(|cell| cell.row) else { continue };
        // Rows without a value are left out.
        if next != Some(number) {
            text.place(&place, Some(Rows { first: number as usize + 1, from: from.clone(), to: to.clone() }));
        }
        next = Some(number + 1);
        let mut line = format!("| {} |", number + 1);
        let mut at = left;
        for cell in row.iter().filter(|cell| cell.column <= shown) {
            while at < cell.column {
                line.push_str(" |");
                at += 1;
            }
            line.push(' ');
            line.push_str(&shown_value(&cell.value));
            line.push_str(" |");
            at = cell.column + 1;
        }
        text.line(&line);
    }
}

/// What may still be read. A text that is stored once may be in every cell.
struct ReadBudget {
    cells: usize,
    text: usize,
}

impl ReadBudget {
    /// Whether the cell may be read, too.
    fn take(&mut self, value: &Data) -> bool {
        let text = match value {
            Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.len(),
            _ => 0,
        };
        match (self.cells.checked_sub(1), self.text.checked_sub(text)) {
            (Some(cells), Some(text)) => {
                (self.cells, self.text) = (cells, text);
                true
            }
            _ => false,
        }
    }
}

/// What was read of a workbook.
#[derive(Default)]
struct Read {
    sheets: Vec<(String, Vec<SheetCell>)>,
    /// The sheets that are damaged, and their errors.
    broken: Vec<(String, String)>,
    /// Whether cells were left out.
    cut: bool,
    /// Sheets that were not opened because of that: each costs time, and many may be the same part of the package.
    unread: usize,
}

fn read(bytes: &[u8], format: Format) -> Result<Read, String> {
    let cursor = Cursor::new(bytes);
    if format == Format::Ods {
        let mut book = Ods::new(cursor).map_err(|error| sentence(&error))?;
        return Ok(dense(&mut book));
    }
    if !bytes.starts_with(b"PK") {
        let mut book = Xls::new_with_options(cursor, XlsOptions::default()).map_err(|error| sentence(&error))?;
        return Ok(dense(&mut book));
    }
    let binary = zip::ZipArchive::new(Cursor::new(bytes))
        .is_ok_and(|archive| archive.index_for_name("xl/workbook.bin").is_some());
    if binary {
        let mut book = Xlsb::new(cursor).map_err(|error| sentence(&error))?;
        return Ok(dense(&mut book));
    }
    let mut book = Xlsx::new(cursor).map_err(|error| sentence(&error))?;
    let read = sparse(&mut book);
    if read.broken.is_empty() {
        return Ok(read);
    }
    let Some(plain) = with_plain_numbers(bytes) else { return Ok(read) };
    let again = Xlsx::new(Cursor::new(plain.as_slice())).map(|mut book| sparse(&mut book));
    Ok(again.ok().filter(|again| again.broken.len() < read.broken.len()).unwrap_or(read))
}

/// Reads cell by cell, so that two cells in opposite corners of a sheet do not become the whole sheet.
fn sparse(book: &mut Xlsx<Cursor<&[u8]>>) -> Read {
    let mut read = Read::default();
    let mut left = ReadBudget { cells: MAX_CELLS, text: MAX_CELL_TEXT };
    for name in worksheets(book) {
        if read.cut {
            read.unread += 1;
            continue;
        }
        let mut cells = Vec::new();
        match book.worksheet_cells_reader(&name) {
            Ok(mut reader) => loop {
                match reader.next_cell() {
                    Ok(Some(cell)) => {
                        let (row, column) = cell.get_position();
                        if row >= SHEET_ROWS || column >= SHEET_COLUMNS {
                            read.broken.push((name.clone(), "a cell is outside of the sheet".to_owned()));
                            break;
                        }
                        let value = owned(cell.get_value());
                        if value.is_empty() {
                            continue;
                        }
                        if !left.take(&value) {
                            read.cut = true;
                            break;
                        }
                        cells.push(SheetCell { row, column, value });
                    }
                    Ok(None) => break,
                    Err(error) => {
                        read.broken.push((name.clone(), error.to_string()));
                        break;
                    }
                }
            },
            Err(error) => read.broken.push((name.clone(), error.to_string())),
        }
        cells.sort_by_key(|cell| (cell.row, cell.column));
        cells.dedup_by_key(|cell| (cell.row, cell.column));
        read.sheets.push((name, cells));
    }
    read
}

fn dense<'a, R>(book: &mut R) -> Read
where
    R: Reader<Cursor<&'a [u8]>>,
    R::Error: std::fmt::Display,
{
    let mut read = Read::default();
    let mut left = ReadBudget { cells: MAX_CELLS, text: MAX_CELL_TEXT };
    for name in worksheets(book) {
        if read.cut {
            read.unread += 1;
            continue;
        }
        let mut cells = Vec::new();
        match book.worksheet_range(&name) {
            Ok(range) => {
                let (top, first) = range.start().unwrap_or_default();
                for (row, column, value) in range.used_cells() {
                    if !left.take(value) {
                        read.cut = true;
                        break;
                    }
                    let (Ok(row), Ok(column)) = (u32::try_from(row), u32::try_from(column)) else { continue };
                    cells.push(SheetCell { row: top + row, column: first + column, value: value.clone() });
                }
            }
            Err(error) => read.broken.push((name.clone(), error.to_string())),
        }
        read.sheets.push((name, cells));
    }
    read
}

/// The names of the sheets with cells, and not of charts.
fn worksheets<RS: std::io::Read + std::io::Seek, R: Reader<RS>>(book: &R) -> Vec<String> {
    let sheets = book.sheets_metadata().iter();
    sheets.filter(|sheet| sheet.typ == SheetType::WorkSheet).map(|sheet| sheet.name.clone()).collect()
}

fn owned(value: &DataRef<'_>) -> Data {
    match value {
        DataRef::Int(number) => Data::Int(*number),
        DataRef::Float(number) => Data::Float(*number),
        DataRef::String(text) => Data::String(text.clone()),
        DataRef::SharedString(text) => Data::String((*text).to_owned()),
        DataRef::Bool(value) => Data::Bool(*value),
        DataRef::DateTime(time) => Data::DateTime(*time),
        DataRef::DateTimeIso(text) => Data::DateTimeIso(text.clone()),
        DataRef::DurationIso(text) => Data::DurationIso(text.clone()),
        DataRef::Error(error) => Data::Error(error.clone()),
        DataRef::Empty => Data::Empty,
    }
}

/// The rows and columns with values: top, left, bottom, right.
fn bounds(cells: &[SheetCell]) -> Option<(u32, u32, u32, u32)> {
    let top = cells.first()?.row;
    let bottom = cells.last()?.row;
    let left = cells.iter().map(|cell| cell.column).min()?;
    let right = cells.iter().map(|cell| cell.column).max()?;
    Some((top, left, bottom, right))
}

/// The letters of a column, counted from 0: `A`, `Z`, `AA`.
fn letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = u64::from(column) + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or_default()));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

fn value(data: &Data) -> Value {
    match data {
        Data::Int(number) => Value::from(*number),
        Data::Float(number) => whole(*number).map_or_else(|| Value::from(*number), Value::from),
        Data::Bool(value) => Value::from(*value),
        Data::Empty | Data::Error(_) => Value::Null,
        _ => Value::from(plain(data)),
    }
}

fn whole(number: f64) -> Option<i64> {
    #[allow(clippy::cast_possible_truncation)] // within 2^53
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

fn shown_value(data: &Data) -> String {
    let text = plain(data);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    match text.char_indices().nth(MAX_CELL_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn plain(data: &Data) -> String {
    match data {
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Float(number) => whole(*number).map_or_else(|| rounded(*number), |whole| whole.to_string()),
        Data::Int(number) => number.to_string(),
        Data::Bool(value) => value.to_string(),
        Data::Error(error) => error.to_string(),
        Data::DateTime(time) => moment(time),
        Data::Empty => String::new(),
    }
}

/// Fifteen significant digits, as spreadsheets show: `0.1 + 0.2` is 0.3.
fn rounded(number: f64) -> String {
    format!("{number:.14e}").parse::<f64>().map_or_else(|_| number.to_string(), |rounded| rounded.to_string())
}

/// ISO 8601: a date, a time, or both; a duration as hours, minutes and seconds.
fn moment(time: &calamine::ExcelDateTime) -> String {
    let serial = time.as_f64();
    if time.is_duration() {
        #[allow(clippy::cast_possible_truncation)] // far below 2^63
        let seconds = (serial * 86_400.0).round() as i64;
        return format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    // A time of less than a day has no date.
    let clock = if milli > 0 {
        format!("{hour:02}:{minute:02}:{second:02}.{milli:03}")
    } else {
        format!("{hour:02}:{minute:02}:{second:02}")
    };
    match (serial < 1.0, serial.fract() == 0.0) {
        (true, _) => clock,
        (false, true) => format!("{year:04}-{month:02}-{day:02}"),
        (false, false) => format!("{year:04}-{month:02}-{day:02}T{clock}"),
    }
}

fn sentence(error: &(impl std::fmt::Display + std::fmt::Debug)) -> String {
    let text = error.to_string();
    if text.to_lowercase().contains("password") {
        return "it is protected by a password; save a copy without one and add that".to_owned();
    }
    format!("it is damaged and could not be read as a workbook: {text}")
}

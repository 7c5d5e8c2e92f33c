//! Workbooks, read by `calamine`: as Markdown with the row numbers and column letters that name the cells, and as rows for queries.

use std::collections::BTreeMap;
use std::io::Cursor;

use anydoc::Format;
use calamine::{
    Data, DataRef, DataType, Ods, Range, Reader, SheetType, SheetVisible, Xls, XlsOptions, Xlsb, Xlsx,
    XlsxFormulaMetadata, expand_shared_formula,
};
use serde::Serialize;
use serde_json::Value;

use super::cells::{Read, SheetCell, letters, one_line};
use super::extras::{self, Extras, SheetExtras};
use super::limits::{MAX_CELL_CHARS, MAX_CELL_TEXT, MAX_CELLS, MAX_COLUMNS, MAX_TABLE_VALUES};
use super::markup;
use super::markup_sheets::{self, Markup};
use super::package::{ContainerKind, kind, with_plain_numbers, with_slashes};
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
    /// What was not read of it, and what it has besides values, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether all values are texts as they are shown, such as `1.234,50`: those of a page.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub texts: bool,
    /// Why it is no table; then it has no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// The size of a sheet, in the format: `A1:XFD1048576`. Addresses beyond it are wrong, and numbers in them overflow.
const SHEET_ROWS: u32 = 1 << 20;
const SHEET_COLUMNS: u32 = 1 << 14;

/// The sheets of a workbook, as rows.
///
/// # Errors
/// A sentence that says why they cannot be read.
pub fn sheets(bytes: &[u8], name: &str) -> Result<Vec<Sheet>, String> {
    super::limits::check_size(bytes)?;
    let slashed = with_slashes(bytes);
    let bytes = slashed.as_deref().unwrap_or(bytes);
    let (read, extras) = match markup_sheets::markup(bytes) {
        Some(markup) => read_markup(bytes, markup)?,
        None => {
            let ContainerKind::Workbook(format) = kind(bytes)? else { return Err(format!("{name} is not a workbook")) };
            read_package(bytes, format)?
        }
    };
    if read.cut {
        let (cells, text) = (MAX_CELLS, size_text(MAX_CELL_TEXT as u64));
        return Err(format!("the workbook has more than {cells} cells or {text} of text, too much for tables"));
    }
    let mut left = MAX_TABLE_VALUES;
    let mut sheets = Vec::new();
    for (name, cells) in &read.sheets {
        let mut notes = Vec::new();
        if let Some((_, error)) = read.broken.iter().find(|(broken, _)| broken == name) {
            notes.push(format!("sheet {name} is damaged and was not read to its end ({error})"));
        }
        if read.hidden.contains(name) {
            notes.push(format!("sheet {name} is hidden"));
        }
        if let Some(extra) = extras.sheets.get(name) {
            notes.extend(extra.hidden().map(|hidden| format!("{hidden}, and in the table")));
            notes.extend(
                extra
                    .merged()
                    .map(|merged| format!("cells are merged ({merged}), and their value is in the first of them only")),
            );
            notes.extend(extra.counted().map(|counted| format!("it has {counted}: read_file shows them")));
        }
        notes.extend(without_value(cells));
        let (rows, fault) = match rows(cells, &mut left) {
            Ok(rows) => (rows, None),
            Err(fault) => (Vec::new(), Some(format!("sheet {name} {fault}"))),
        };
        sheets.push(Sheet { name: name.clone(), rows, notes, texts: read.texts, fault });
    }
    if let Some(first) = sheets.first_mut() {
        first.notes.extend(zeros(&read, &extras));
    }
    Ok(sheets)
}

/// The cells of a workbook that is markup.
fn read_markup(bytes: &[u8], markup: Markup) -> Result<(Read, Extras), String> {
    let text = markup::decoded(bytes);
    match markup {
        Markup::Excel2003 => Ok(markup_sheets::excel_2003(&text)),
        Markup::FlatOds => {
            let package = extras::package_of(&text).ok_or("it is damaged")?;
            read_package(&package, Format::Ods)
        }
        Markup::Page => {
            let (read, extras) = markup_sheets::page(&text);
            if read.sheets.is_empty() {
                return Err("it is a page or XML without a table; read_file shows its text".to_owned());
            }
            Ok((read, extras))
        }
    }
}

/// What is said of cells that have no value in a table: errors, and formulas that were never calculated.
fn without_value(cells: &[SheetCell]) -> Vec<String> {
    let mut notes = Vec::new();
    let formulas: Vec<&SheetCell> = cells.iter().filter(|cell| cell.formula.is_some()).collect();
    if let Some(first) = formulas.first() {
        notes.push(format!(
            "{} without a calculated value {} null, such as {}{} ={}",
            counted(formulas.len(), "formula"),
            if formulas.len() == 1 { "is" } else { "are" },
            letters(first.column),
            first.row + 1,
            one_line(first.formula.as_deref().unwrap_or_default(), 200)
        ));
    }
    let errors: Vec<&SheetCell> = cells.iter().filter(|cell| matches!(cell.value, Data::Error(_))).collect();
    if let Some(first) = errors.first() {
        notes.push(format!(
            "{} with an error {} null, such as {}{} {}",
            counted(errors.len(), "cell"),
            if errors.len() == 1 { "is" } else { "are" },
            letters(first.column),
            first.row + 1,
            plain(&first.value)
        ));
    }
    notes
}

/// What is said of zeros that a program wrote in place of results.
fn zeros(read: &Read, extras: &Extras) -> Option<String> {
    (extras.calculated_on_load && read.zeros > 0).then(|| {
        format!(
            "{} the value 0 and the workbook asks to be calculated when it is opened: these values may be wrong",
            if read.zeros == 1 { "a formula has".to_owned() } else { format!("{} formulas have", read.zeros) }
        )
    })
}

/// `1 formula`, `3 formulas`.
fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
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
    let (read, extras) = read_package(bytes, format)?;
    written(&read, &extras, "workbook")
}

/// The text of a workbook that is markup.
///
/// # Errors
/// A sentence that says why it cannot be read.
pub fn convert_markup(bytes: &[u8], markup: Markup) -> Result<Document, String> {
    let (read, extras) = read_markup(bytes, markup)?;
    let kind = match markup {
        Markup::Excel2003 => "workbook of Excel 2003 in XML",
        Markup::FlatOds => "OpenDocument workbook in one file",
        Markup::Page => "page with tables",
    };
    written(&read, &extras, kind)
}

fn written(read: &Read, extras: &Extras, kind: &str) -> Result<Document, String> {
    let mut text = TextBuilder::default();
    let mut notes = Vec::new();
    let count = read.sheets.len() + read.unread;
    let mut empty = Vec::new();
    let (nothing, mut formulas) = (SheetExtras::default(), 0);
    for (name, cells) in &read.sheets {
        let extra = extras.sheets.get(name).unwrap_or(&nothing);
        formulas += cells.iter().filter(|cell| cell.formula.is_some()).count();
        if cells.is_empty() && extra.lines.is_empty() {
            empty.push(name.as_str());
        } else {
            sheet(name, cells, extra, read.hidden.contains(name), &mut text, &mut notes);
        }
    }
    // Sheets without cells, such as that of a chart.
    for (name, extra) in extras.sheets.iter().filter(|(name, _)| read.sheets.iter().all(|(own, _)| own != *name)) {
        if !extra.lines.is_empty() {
            sheet(name, &[], extra, read.hidden.contains(name), &mut text, &mut notes);
        }
    }
    if text.is_blank() {
        return Err(match read.broken.first() {
            Some((name, error)) => format!("it is damaged: its sheet {name} could not be read ({error})"),
            None => {
                let besides: String = extras.notes.iter().map(|note| format!("; {note}")).collect();
                format!("it is a workbook without a value in any cell{besides}")
            }
        });
    }
    if formulas > 0 {
        notes.push(format!(
            "{} no calculated value, and the formula is shown: open the workbook in a spreadsheet program and save it to get values",
            if formulas == 1 { "a formula has".to_owned() } else { format!("{formulas} formulas have") }
        ));
    }
    notes.extend(zeros(read, extras));
    if !read.hidden.is_empty() {
        notes.push(format!("hidden sheets: {}", read.hidden.join(", ")));
    }
    if !read.others.is_empty() {
        notes.push(format!("sheets without cells: {}", read.others.join(", ")));
    }
    notes.extend(extras.notes.iter().cloned());
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
    Ok(text.finish(format!("{kind}, {count} {plural}"), notes))
}

fn sheet(
    name: &str,
    cells: &[SheetCell],
    extra: &SheetExtras,
    hidden: bool,
    text: &mut TextBuilder,
    notes: &mut Vec<String>,
) {
    let place = format!("sheet {name}");
    let mut about = if hidden { "; the sheet is hidden".to_owned() } else { String::new() };
    about.extend(extra.hidden().map(|hidden| format!("; {hidden}")));
    about.extend(extra.merged().map(|merged| format!("; merged: {merged}")));
    text.gap();
    text.place(&place, None);
    if let Some(bounds) = bounds(cells) {
        rows_of(name, cells, bounds, &about, text, notes);
    } else {
        text.line(&format!("[{place}, no values{about}]"));
    }
    let below = extra.below();
    if !below.is_empty() {
        // These lines are no rows.
        text.place(&place, None);
        below.iter().for_each(|line| text.line(line));
    }
}

fn rows_of(
    name: &str,
    cells: &[SheetCell],
    (top, left, bottom, right): (u32, u32, u32, u32),
    about: &str,
    text: &mut TextBuilder,
    notes: &mut Vec<String>,
) {
    let shown = right.min(left + MAX_COLUMNS - 1);
    if shown < right {
        notes.push(format!("sheet {name}: columns after {} are not shown", letters(shown)));
    }
    let (from, to) = (letters(left), letters(shown));
    let place = format!("sheet {name}");
    text.line(&format!("[{place}, {from}{}:{}{}{about}]", top + 1, letters(right), bottom + 1));
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
            match &cell.formula {
                Some(formula) => line.push_str(&format!("={}", one_line(formula, MAX_CELL_CHARS).replace('|', "\\|"))),
                None => line.push_str(&shown_value(&cell.value)),
            }
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

fn read_package(bytes: &[u8], format: Format) -> Result<(Read, Extras), String> {
    let extras = extras::of(bytes, format == Format::Ods);
    Ok((read(bytes, format, &extras)?, extras))
}

fn read(bytes: &[u8], format: Format, extras: &Extras) -> Result<Read, String> {
    let cursor = Cursor::new(bytes);
    if format == Format::Ods {
        let refused = match Ods::new(cursor) {
            Ok(mut book) => return Ok(dense(&mut book, extras, formulas)),
            Err(error) => sentence(&error),
        };
        let repaired = extras::repaired(bytes).ok_or_else(|| refused.clone())?;
        let mut book = Ods::new(Cursor::new(repaired.as_slice())).map_err(|_| refused)?;
        return Ok(dense(&mut book, extras, formulas));
    }
    if !bytes.starts_with(b"PK") {
        let mut book = Xls::new_with_options(cursor, XlsOptions::default()).map_err(|error| sentence(&error))?;
        return Ok(dense(&mut book, extras, formulas));
    }
    let binary = zip::ZipArchive::new(Cursor::new(bytes))
        .is_ok_and(|archive| archive.index_for_name("xl/workbook.bin").is_some());
    if binary {
        let mut book = Xlsb::new(cursor).map_err(|error| sentence(&error))?;
        // Only Excel writes this format, and with values.
        return Ok(dense(&mut book, extras, |_, _| Range::empty()));
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
    let mut left = ReadBudget { cells: MAX_CELLS, text: MAX_CELL_TEXT };
    let (names, mut read) = worksheets(book);
    for name in names {
        if read.cut {
            read.unread += 1;
            continue;
        }
        let mut cells = Vec::new();
        match book.worksheet_cells_reader(&name) {
            Ok(mut reader) => {
                // Cells may share a formula, which only the first of them has.
                let mut shared = BTreeMap::new();
                loop {
                    let cell = match reader.next_cell_with_formula_metadata() {
                        Ok(Some(cell)) => cell,
                        Ok(None) => break,
                        Err(error) => {
                            read.broken.push((name.clone(), error.to_string()));
                            break;
                        }
                    };
                    let (row, column) = cell.pos;
                    if row >= SHEET_ROWS || column >= SHEET_COLUMNS {
                        read.broken.push((name.clone(), "a cell is outside of the sheet".to_owned()));
                        break;
                    }
                    let value = owned(&cell.value);
                    if let Some(XlsxFormulaMetadata::Shared { shared_index, formula, .. }) = &cell.formula {
                        shared.insert(*shared_index, (cell.pos, formula.clone()));
                    }
                    if cell.formula.is_some() && matches!(value, Data::Float(0.0) | Data::Int(0)) {
                        read.zeros += 1;
                    }
                    let formula = cell.formula.filter(|_| value.is_empty()).and_then(|formula| match formula {
                        XlsxFormulaMetadata::Normal { formula } | XlsxFormulaMetadata::Shared { formula, .. } => {
                            Some(formula)
                        }
                        XlsxFormulaMetadata::SharedDerived { shared_index } => {
                            let (at, formula) = shared.get(&shared_index)?;
                            expand_shared_formula(formula, *at, (row, column)).ok()
                        }
                        _ => None,
                    });
                    if value.is_empty() && formula.is_none() {
                        continue;
                    }
                    if !left.take(&value) {
                        read.cut = true;
                        break;
                    }
                    cells.push(SheetCell { row, column, value, formula });
                }
            }
            Err(error) => read.broken.push((name.clone(), error.to_string())),
        }
        cells.sort_by_key(|cell| (cell.row, cell.column));
        cells.dedup_by_key(|cell| (cell.row, cell.column));
        read.sheets.push((name, cells));
    }
    read
}

/// The formulas of a sheet.
fn formulas<'a, R: Reader<Cursor<&'a [u8]>>>(book: &mut R, name: &str) -> Range<String> {
    book.worksheet_formula(name).unwrap_or_default()
}

/// `formulas`: those of a sheet, which cells without a value may have.
fn dense<'a, R>(book: &mut R, extras: &Extras, formulas: impl Fn(&mut R, &str) -> Range<String>) -> Read
where
    R: Reader<Cursor<&'a [u8]>>,
    R::Error: std::fmt::Display,
{
    let mut left = ReadBudget { cells: MAX_CELLS, text: MAX_CELL_TEXT };
    let (names, mut read) = worksheets(book);
    for name in names {
        if read.cut {
            read.unread += 1;
            continue;
        }
        let mut cells = Vec::new();
        match book.worksheet_range(&name) {
            Ok(range) => {
                let (top, first) = range.start().unwrap_or_default();
                let open = |at| extras.sheets.get(&name).is_some_and(|extra| extra.uncalculated.contains(&at));
                for (row, column, value) in range.used_cells() {
                    if !left.take(value) {
                        read.cut = true;
                        break;
                    }
                    let (Ok(row), Ok(column)) = (u32::try_from(row), u32::try_from(column)) else { continue };
                    if open((top + row, first + column)) {
                        continue;
                    }
                    cells.push(SheetCell {
                        row: top + row,
                        column: first + column,
                        value: value.clone(),
                        formula: None,
                    });
                }
                let formulas = formulas(book, &name);
                let (top, first) = formulas.start().unwrap_or_default();
                for (row, column, formula) in formulas.used_cells() {
                    let (Ok(row), Ok(column)) = (u32::try_from(row), u32::try_from(column)) else { continue };
                    let (row, column) = (top + row, first + column);
                    let has_value = range.get_value((row, column)).is_some_and(|value| !value.is_empty());
                    if formula.is_empty() || has_value && !open((row, column)) {
                        continue;
                    }
                    let formula = formula.trim_start_matches("of:").trim_start_matches("oooc:").trim_start_matches('=');
                    if !left.take(&Data::Empty) {
                        read.cut = true;
                        break;
                    }
                    cells.push(SheetCell { row, column, value: Data::Empty, formula: Some(formula.to_owned()) });
                }
                cells.sort_by_key(|cell| (cell.row, cell.column));
            }
            Err(error) => read.broken.push((name.clone(), error.to_string())),
        }
        read.sheets.push((name, cells));
    }
    read
}

/// The names of the sheets with cells, and what is known of the others.
fn worksheets<RS: std::io::Read + std::io::Seek, R: Reader<RS>>(book: &R) -> (Vec<String>, Read) {
    let mut read = Read::default();
    let mut names = Vec::new();
    for sheet in book.sheets_metadata() {
        if sheet.visible != SheetVisible::Visible {
            read.hidden.push(sheet.name.clone());
        }
        match sheet.typ {
            SheetType::WorkSheet => names.push(sheet.name.clone()),
            SheetType::ChartSheet => read.others.push(format!("{} (a chart)", sheet.name)),
            _ => read.others.push(format!("{} (macros or a dialog, not read)", sheet.name)),
        }
    }
    (names, read)
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
    one_line(&plain(data).replace('|', "\\|"), MAX_CELL_CHARS)
}

fn plain(data: &Data) -> String {
    match data {
        Data::String(text) | Data::DateTimeIso(text) => text.clone(),
        Data::DurationIso(text) => duration(text).unwrap_or_else(|| text.clone()),
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

/// Hours, minutes and seconds of a duration in ISO 8601: `13:45:00` of `PT13H45M00S`.
fn duration(text: &str) -> Option<String> {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (days, time) = text.strip_prefix('P')?.split_once('T').unwrap_or((text.get(1..)?, ""));
    let mut seconds = match days {
        "" => 0.0,
        days => days.strip_suffix('D')?.parse::<f64>().ok()? * 86_400.0,
    };
    let mut digits = String::new();
    for c in time.chars() {
        let factor = match c {
            'H' => 3_600.0,
            'M' => 60.0,
            'S' => 1.0,
            c => {
                digits.push(if c == ',' { '.' } else { c });
                continue;
            }
        };
        seconds += std::mem::take(&mut digits).parse::<f64>().ok()? * factor;
    }
    if !digits.is_empty() || !(0.0..9e12).contains(&seconds) {
        return None;
    }
    #[allow(clippy::cast_possible_truncation)] // below 2^53
    let milli = (seconds * 1_000.0).round() as i64;
    let (whole, milli) = (milli / 1_000, milli % 1_000);
    let fraction = if milli == 0 { String::new() } else { format!(".{milli:03}") };
    Some(format!("{sign}{:02}:{:02}:{:02}{fraction}", whole / 3_600, whole / 60 % 60, whole % 60))
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

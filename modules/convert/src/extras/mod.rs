//! What a workbook has besides the values of its cells: what is hidden, comments, links, lists to choose from, charts, pictures, pivot
//! tables, headers. `calamine` does not read it. Each becomes a line below its sheet, or a note.

mod chart;
mod ods;
mod ooxml;
mod xls;
mod xlsb;

use std::collections::{BTreeMap, BTreeSet};

use super::cells::{letters, one_line};
pub use ods::{package_of, repaired};

/// Lines of one kind below a sheet; more are counted.
const MAX_LINES: usize = 300;
/// Characters of a line.
const MAX_LINE: usize = 2_000;
/// Ranges that are named in a heading.
const MAX_RANGES: usize = 12;

/// The extras of a workbook.
#[derive(Debug, Default)]
pub struct Extras {
    pub sheets: BTreeMap<String, SheetExtras>,
    /// What is not read, one sentence each.
    pub notes: Vec<String>,
    /// Whether the program that wrote it left the results of its formulas to the next one.
    pub calculated_on_load: bool,
}

/// The extras of a sheet. Rows and columns are counted from 0, and ranges include their last.
#[derive(Debug, Default)]
pub struct SheetExtras {
    pub hidden_rows: Ranges,
    pub hidden_columns: Ranges,
    /// First row, first column, last row, last column.
    pub merged: Vec<[u32; 4]>,
    /// Rows and columns of formulas that the program that wrote them left without a value.
    pub uncalculated: BTreeSet<(u32, u32)>,
    /// Kinds and texts, such as `comment` and `B2, Ada: why?`.
    pub lines: Vec<(&'static str, String)>,
}

/// Ranges of numbers, in order.
#[derive(Debug, Default)]
pub struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    pub fn add(&mut self, first: u32, last: u32) {
        match self.0.last_mut() {
            Some((_, end)) if *end + 1 >= first => *end = last.max(*end),
            _ => self.0.push((first, last)),
        }
    }

    fn shown(&self, write: impl Fn(u32) -> String) -> String {
        let mut shown: Vec<String> = self
            .0
            .iter()
            .take(MAX_RANGES)
            .map(
                |(first, last)| {
                    if first == last { write(*first) } else { format!("{}-{}", write(*first), write(*last)) }
                },
            )
            .collect();
        if self.0.len() > MAX_RANGES {
            shown.push(format!("{} more ranges", self.0.len() - MAX_RANGES));
        }
        shown.join(", ")
    }
}

impl SheetExtras {
    pub fn line(&mut self, kind: &'static str, text: &str) {
        let text = one_line(text, MAX_LINE);
        if !text.is_empty() {
            self.lines.push((kind, text));
        }
    }

    /// A comment on the cell in a row and a column. Excel begins the text with the author's name.
    pub fn comment(&mut self, [row, column]: [u32; 2], author: &str, text: &str) {
        let (author, text) = (author.trim(), text.trim());
        let text = text
            .strip_prefix(author)
            .and_then(|text| text.strip_prefix(':'))
            .filter(|_| !author.is_empty())
            .unwrap_or(text);
        let by = if author.is_empty() { String::new() } else { format!(", {author}") };
        self.line("comment", &format!("{}{by}: {}", range([row, column, row, column]), text.trim()));
    }

    /// What is hidden, as a part of a sentence: `rows 3-5 and columns C are hidden`.
    #[must_use]
    pub fn hidden(&self) -> Option<String> {
        let rows = (!self.hidden_rows.0.is_empty())
            .then(|| format!("rows {}", self.hidden_rows.shown(|row| (row + 1).to_string())));
        let columns =
            (!self.hidden_columns.0.is_empty()).then(|| format!("columns {}", self.hidden_columns.shown(letters)));
        let parts: Vec<String> = [rows, columns].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{} are hidden", parts.join(" and ")))
    }

    /// Merged cells: `A1:C1, A2:A9`.
    #[must_use]
    pub fn merged(&self) -> Option<String> {
        let mut shown: Vec<String> = self.merged.iter().take(MAX_RANGES).map(|area| range(*area)).collect();
        if self.merged.len() > MAX_RANGES {
            shown.push(format!("{} more", self.merged.len() - MAX_RANGES));
        }
        (!shown.is_empty()).then(|| shown.join(", "))
    }

    /// The lines below the sheet.
    #[must_use]
    pub fn below(&self) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut out = Vec::new();
        for (kind, text) in &self.lines {
            let count = counts.entry(kind).or_default();
            *count += 1;
            if *count <= MAX_LINES {
                out.push(format!("[{kind} {text}]"));
            }
        }
        for (kind, count) in counts.iter().filter(|(_, count)| **count > MAX_LINES) {
            out.push(format!("[and {} more of kind {kind}]", count - MAX_LINES));
        }
        out
    }

    /// How many of each kind there are: `2 comments, 1 chart`.
    #[must_use]
    pub fn counted(&self) -> Option<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (kind, _) in &self.lines {
            *counts.entry(kind).or_default() += 1;
        }
        let parts: Vec<String> = counts
            .iter()
            .map(|(kind, count)| format!("{count} {kind}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The extras of a workbook. If they cannot be read, a note says so: the cells matter more.
#[must_use]
pub fn of(bytes: &[u8], open_document: bool) -> Extras {
    let found = match (open_document, bytes.starts_with(b"PK")) {
        (true, _) => ods::extras(bytes),
        (false, true) => ooxml::extras(bytes),
        (false, false) => xls::extras(bytes),
    };
    found.unwrap_or_else(|| Extras {
        notes: vec!["what it has besides values could not be read".to_owned()],
        ..Extras::default()
    })
}

/// `A1`, or `A1:C3`.
#[must_use]
pub fn range([top, left, bottom, right]: [u32; 4]) -> String {
    let first = format!("{}{}", letters(left), top + 1);
    if (top, left) == (bottom, right) { first } else { format!("{first}:{}{}", letters(right), bottom + 1) }
}

/// Row and column of `B2` or `$B$2`.
fn position(cell: &str) -> Option<(u32, u32)> {
    let cell = cell.replace('$', "");
    let split = cell.find(|c: char| c.is_ascii_digit())?;
    let (letters, number) = cell.split_at(split);
    let mut column = 0_u32;
    for letter in letters.bytes() {
        let digit = letter.to_ascii_uppercase().checked_sub(b'A').filter(|digit| *digit < 26)?;
        column = column.checked_mul(26)?.checked_add(u32::from(digit) + 1)?;
    }
    Some((number.parse::<u32>().ok()?.checked_sub(1)?, column.checked_sub(1)?))
}

/// The area of `A1:C3`.
fn area(range: &str) -> Option<[u32; 4]> {
    let (first, last) = range.split_once(':').unwrap_or((range, range));
    let ((top, left), (bottom, right)) = (position(first)?, position(last)?);
    Some([top, left, bottom, right])
}

/// The text of a header or footer without its codes, such as `&L&"Arial,Bold"Page &P`.
fn header_text(code: &str) -> String {
    let mut out = String::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '&' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('&') => out.push('&'),
            Some('L' | 'C' | 'R') => out.push(' '),
            Some('P') => out.push_str("(page)"),
            Some('N') => out.push_str("(pages)"),
            Some('D') => out.push_str("(date)"),
            Some('T') => out.push_str("(time)"),
            Some('F') => out.push_str("(file)"),
            Some('A') => out.push_str("(sheet)"),
            Some('G') => out.push_str("(picture)"),
            Some('"') => while chars.next().is_some_and(|c| c != '"') {},
            Some('K') => {
                for _ in 0..6 {
                    chars.next();
                }
            }
            Some(digit) if digit.is_ascii_digit() => while chars.next_if(char::is_ascii_digit).is_some() {},
            _ => {}
        }
    }
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    // Only what a program writes by itself, such as the number of the page.
    let own = ["(page)", "(pages)", "(date)", "(time)", "(file)", "(sheet)"];
    let rest = own.iter().fold(text.clone(), |rest, code| rest.replace(code, ""));
    if rest.chars().any(char::is_alphanumeric) { text } else { String::new() }
}

/// A list to choose from: `"a,b"` or a range.
fn list_text(formula: &str, separator: char) -> String {
    match formula.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(items) => items.split(separator).map(str::trim).collect::<Vec<_>>().join(", "),
        None => format!("the cells {}", formula.trim()),
    }
}

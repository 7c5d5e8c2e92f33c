//! What is read of a workbook: its sheets and their cells.

use calamine::Data;

/// A cell with a value, or with a formula without one: its row and column, counted from 0.
pub struct SheetCell {
    pub row: u32,
    pub column: u32,
    pub value: Data,
    /// The formula of a cell without a value, such as `SUM(A1:A3)`.
    pub formula: Option<String>,
}

/// What was read of a workbook.
#[derive(Default)]
pub struct Read {
    pub sheets: Vec<(String, Vec<SheetCell>)>,
    /// The sheets that are damaged, and their errors.
    pub broken: Vec<(String, String)>,
    /// Sheets that are hidden.
    pub hidden: Vec<String>,
    /// Sheets of charts, dialogs and macros.
    pub others: Vec<String>,
    /// Whether cells were left out.
    pub cut: bool,
    /// Sheets that were not opened because of that: each costs time, and many may be the same part of the package.
    pub unread: usize,
    /// Formulas whose stored value is 0.
    pub zeros: usize,
    /// Whether all values are texts as they are shown.
    pub texts: bool,
}

/// The letters of a column, counted from 0: `A`, `Z`, `AA`.
pub fn letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = u64::from(column) + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or_default()));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

/// A text on one line, with at most so many characters.
pub fn one_line(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

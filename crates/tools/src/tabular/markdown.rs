//! A table as Markdown.

use serde_json::Value;

/// Maximum number of characters that are shown of one cell.
const MAX_CELL: usize = 300;

/// The header and the rule below it.
pub(super) fn header(columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().map(|name| cell(&Value::String(name.clone()))).collect();
    format!("| {} |\n|{}", names.join(" | "), " --- |".repeat(columns.len()))
}

pub(super) fn row(cells: &[Value]) -> String {
    let cells: Vec<String> = cells.iter().map(cell).collect();
    format!("| {} |", cells.join(" | "))
}

/// A cell on one line: null is written as `null`, numbers as they are.
fn cell(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut line = String::with_capacity(text.len());
    for (at, c) in text.chars().enumerate() {
        if at == MAX_CELL {
            line.push('…');
            break;
        }
        match c {
            '|' => line.push_str("\\|"),
            '\n' => line.push('⏎'),
            c if c.is_control() => line.push(' '),
            c => line.push(c),
        }
    }
    line
}

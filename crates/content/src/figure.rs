//! Tables and charts in the results of tools: what a text contains, checked and laid out, as data to draw. PURE.
//!
//! A result holds a figure if it is a JSON array of flat objects, `{columns, rows}`, an object with `chart`, or one
//! Markdown table; what a program returned is the JSON after its last line that starts with `=> `. The page and the HTML
//! report draw the same data. Runs in a worker only. Deliberately absent: elements and colours (`www/app/figure.js`, CSS).

pub mod chart;
mod dates;
pub mod draw;
mod json;
mod number;
mod scale;
pub mod table;

use serde::Serialize;

pub use chart::Chart;
pub use table::FigureTable;

use json::Json;

/// Marks the line on which the value of a program begins.
const VALUE: &str = "=> ";

/// What is drawn of a text: its table or its chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Figure {
    Table(FigureTable),
    Chart(draw::ChartView),
    /// It is meant as a chart, but cannot be drawn; `why` says what to change.
    Refused {
        why: String,
    },
}

/// Returns the figure that a tool's result holds, if any. The lines that the engine appends may follow it.
#[must_use]
pub fn read(text: &str) -> Option<Figure> {
    let (value, is_program) = match program_value(text) {
        Some(value) => (value, true),
        None => (text, false),
    };
    let value = unfenced(value.trim_start());
    if value.starts_with(['[', '{']) {
        return of_json(value, is_program);
    }
    FigureTable::from_markdown(value).map(Figure::Table)
}

/// Returns the table in a file of separated values; the separator is found in its first line.
#[must_use]
pub fn of_separated(text: &str) -> Option<Figure> {
    FigureTable::from_separated(text, &[',', ';', '\t']).map(Figure::Table)
}

/// Returns the text of the value that a program returned.
fn program_value(text: &str) -> Option<&str> {
    let inside =
        text.rfind("\n=> ").and_then(|at| text.get(at + 1..)).or_else(|| text.starts_with(VALUE).then_some(text));
    inside?.strip_prefix(VALUE)
}

fn unfenced(text: &str) -> &str {
    match text.strip_prefix("```") {
        Some(rest) => rest.split_once('\n').map_or("", |(_, inside)| inside).trim_start(),
        None => text,
    }
}

fn of_json(text: &str, is_program: bool) -> Option<Figure> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Json>();
    let value = values.next()?.ok()?;
    let rest = text.get(values.byte_offset()..).unwrap_or_default().trim_start();
    // A text that only begins like JSON is not a value.
    if !is_program && !rest.is_empty() && !rest.starts_with('[') {
        return None;
    }
    // The data of other tools may have a key of this name, too.
    if value.field("chart").is_some() && (is_program || value.field("x").is_some() || value.field("series").is_some()) {
        let own = text.get(..values.byte_offset()).unwrap_or_default();
        let chart = serde_json::from_str::<Chart>(own).map_err(|error| {
            let error = error.to_string();
            error.split(" at line ").next().unwrap_or_default().to_owned()
        });
        return Some(match chart.and_then(|chart| chart.check().map(|()| chart)) {
            Ok(chart) => Figure::Chart(draw::ChartView::from(&chart)),
            Err(why) => Figure::Refused { why: format!("This chart is not drawn: {why}.") },
        });
    }
    FigureTable::from_json(&value).map(Figure::Table)
}

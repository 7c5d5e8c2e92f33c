//! `query_table`: SQL over the tables of the workspace. The engine loads the tables that the query names; here is what it
//! is asked, and how its answer is shown.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ask::{ask, count, grouped, save, saved_as};
use super::names::{TableFile, TableFormat, tables};
use turnwise_files::saved::{MAX_QUERIED, MAX_ROWS, MAX_ROWS_SHOWN, MAX_SAVED, MAX_SHOWN};

use super::markdown;
use turnwise_files::{Engine, Files, size_text};

/// Maximum number of tables that are listed with their columns.
const MAX_LISTED: usize = 40;

/// What the engine answers. A fault is a message for the model; `tables` are those that the message lists.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct SqlAnswer {
    fault: Option<String>,
    tables: Option<Vec<ListedTable>>,
    columns: Vec<String>,
    /// The first rows.
    rows: Vec<Vec<Value>>,
    /// The number of all rows.
    total: usize,
    /// Whether the query was ended after [`MAX_ROWS`] rows.
    cut: bool,
    /// What had to be assumed about files, one sentence each.
    notes: Vec<String>,
    /// The whole result as a file.
    saved: Option<String>,
}

/// A table as it is listed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ListedTable {
    name: String,
    path: String,
    /// Names and types.
    columns: Vec<(String, String)>,
    /// The number of columns that are not listed.
    more: usize,
    /// `None`: not known without reading the whole file.
    rows: Option<usize>,
    /// Why it is not described.
    note: Option<String>,
    /// What had to be assumed, one sentence each.
    notes: Vec<String>,
}

/// Runs one SQL query.
///
/// # Errors
/// No tables, a query that does not run (with the tables there are), or a path that cannot be written.
pub async fn query_table<F: Files>(files: &mut F, sql: &str, save_as: &str) -> Result<String, String> {
    let save_to = saved_as(files, save_as)?;
    let (large, known): (Vec<TableFile>, Vec<TableFile>) =
        tables(files.list().keys()).into_iter().partition(|file| size(files, &file.path) > MAX_QUERIED);
    const NONE: &str = "the workspace has no tables: a table is a CSV, TSV, JSON or JSON-lines file or a workbook";
    if known.is_empty() && large.is_empty() {
        return Err(NONE.to_owned());
    }
    let large: Vec<TableFile> = large.into_iter().filter(|file| file.format != TableFormat::Text).collect();
    let paths: Vec<&str> = known.iter().map(|file| file.path.as_str()).collect();
    let request = json!({
        "sql": sql,
        "files": known,
        "listed": MAX_LISTED,
        "rows": MAX_ROWS_SHOWN,
        "chars": MAX_SHOWN,
        "max_rows": MAX_ROWS,
        "max_saved": MAX_SAVED,
        "save": save_to.as_ref().map(|(_, format)| *format),
    });
    let answer: SqlAnswer = ask(files, Engine::Sql, &request, &paths).await?;
    let too_large = large.iter().map(|file| {
        let limit = size_text(MAX_QUERIED);
        format!("{} ({}) is too large to query; the limit is {limit}", file.path, size_text(size(files, &file.path)))
    });
    match (answer.fault, answer.tables) {
        (Some(fault), tables) => {
            let listed = tables.map(|tables| match listing(&tables, &known).as_str() {
                "" => format!("; {NONE}"),
                listed => format!(". The tables are:\n{listed}"),
            });
            let large: Vec<String> = too_large.collect();
            let large = if large.is_empty() { String::new() } else { format!("\n{}", large.join("\n")) };
            return Err(format!("{fault}{}{large}", listed.unwrap_or_default()));
        }
        (None, Some(tables)) => {
            let listed = listing(&tables, &known);
            let lines: Vec<String> = (!listed.is_empty()).then_some(listed).into_iter().chain(too_large).collect();
            return if lines.is_empty() { Err(NONE.to_owned()) } else { Ok(lines.join("\n")) };
        }
        (None, None) => {}
    }
    let mut lines = Vec::new();
    let mut chars = 0;
    let mut shown = 0;
    if answer.columns.is_empty() {
        lines.push("The query has no columns.".to_owned());
    } else {
        lines.push(markdown::header(&answer.columns));
    }
    for cells in &answer.rows {
        let line = markdown::row(cells);
        chars += line.len();
        if chars > MAX_SHOWN && shown > 0 {
            break;
        }
        lines.push(line);
        shown += 1;
    }
    lines.push(footer(shown, answer.total, answer.cut, save_to.is_some()));
    lines.extend(answer.notes.iter().map(|note| format!("[note: {note}]")));
    if let Some((path, _)) = save_to {
        if answer.cut {
            return Err(format!(
                "the result has more than {} rows, so it was not saved; narrow the query",
                grouped(MAX_ROWS)
            ));
        }
        let content = answer.saved.ok_or("the result was not saved: the engine returned no file")?;
        lines.push(save(files, path, content, &count(answer.total, "row")));
    }
    Ok(lines.join("\n"))
}

fn size<F: Files>(files: &F, path: &str) -> u64 {
    files.list().get(path).map_or(0, |info| info.size)
}

fn footer(shown: usize, total: usize, cut: bool, saved: bool) -> String {
    let more = if cut { "more than " } else { "" };
    if shown == total {
        return format!("[{}]", count(total, "row"));
    }
    let advice = if saved { "" } else { "; narrow the query, or use save_as to write all of them into a file" };
    format!("[rows 1-{shown} of {more}{}{advice}]", grouped(total))
}

/// One line per table: its name, file, number of rows and columns with types.
fn listing(tables: &[ListedTable], known: &[TableFile]) -> String {
    let mut lines: Vec<String> = tables.iter().map(line).collect();
    // The engine lists a workbook by its sheets.
    let listed = |file: &&TableFile| tables.iter().any(|table| table.path == file.path);
    let missing: Vec<&TableFile> =
        known.iter().filter(|file| file.format != TableFormat::Text && !listed(file)).collect();
    if tables.is_empty() || tables.len() >= MAX_LISTED {
        lines.extend(missing.iter().take(200).map(|file| match file.format {
            TableFormat::Workbook => format!("- sheets of {}: \"{}_…\"", file.path, file.name),
            _ => format!("- {} ({})", name(&file.name), file.path),
        }));
    }
    lines.join("\n")
}

fn line(table: &ListedTable) -> String {
    let rows = table.rows.map(|rows| format!(", {}", count(rows, "row"))).unwrap_or_default();
    let mut columns: Vec<String> =
        table.columns.iter().map(|(column, kind)| format!("{} {kind}", name(column)).trim_end().to_owned()).collect();
    if table.more > 0 {
        columns.push(format!("and {} more", table.more));
    }
    let columns = match (&table.note, columns.is_empty()) {
        (Some(note), _) => note.clone(),
        (None, true) => "no columns".to_owned(),
        (None, false) => columns.join(", "),
    };
    let notes: String = table.notes.iter().map(|note| format!("; note: {note}")).collect();
    format!("- {} ({}{rows}): {columns}{notes}", name(&table.name), table.path)
}

/// A name as it has to be written in a query.
fn name(text: &str) -> String {
    const WORDS: &str = " all and as by case check column create default delete desc distinct drop else end exists from group \
        having in index insert into is join like limit not null on or order primary select set table then to union unique \
        update using values when where with ";
    let plain = text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_numeric())
        && !text.is_empty()
        && !WORDS.contains(&format!(" {} ", text.to_lowercase()));
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

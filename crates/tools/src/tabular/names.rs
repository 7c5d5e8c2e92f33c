//! Which files are tables, and under which names.
//!
//! The name of a table is the name of its file without folder and extension, in which each run of characters other than
//! letters, digits and `_` becomes one `_`; a name that starts with a digit gets a `t` in front. If two files would have the
//! same name, each of them gets the names of its folders in front, and if that is not enough, its extension at the end; what
//! still has the name of another is numbered. A sheet has the name of its workbook, `_` and its own name; the engine numbers
//! those that would have the name of another table. Names ignore case.
//!
//! The extension only tells which files may be tables: the engine reads them as what their first bytes are. Other texts and pages
//! may hold a table too; they are not listed, have their path as name, and are read if a query names them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::path::RESULTS;

/// The format of a file with tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableFormat {
    Csv,
    Tsv,
    Json,
    Jsonl,
    /// Each of its sheets is a table.
    Workbook,
    /// A text or a page that may hold a table.
    Text,
}

/// A file with tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    pub path: String,
    /// The name of the table; of a workbook, the start of the names of its sheets.
    pub name: String,
    pub format: TableFormat,
}

/// The files with tables among the paths of a workspace, in order; behind them those that are not listed.
#[must_use]
pub fn tables<'a>(paths: impl Iterator<Item = &'a String>) -> Vec<TableFile> {
    let (texts, mut files): (Vec<TableFile>, Vec<TableFile>) = paths
        .filter(|path| !path.starts_with(RESULTS))
        .filter_map(|path| Some(TableFile { path: path.clone(), name: by_file(path), format: format(path)? }))
        .partition(|file| file.format == TableFormat::Text);
    separate(&mut files, by_path);
    separate(&mut files, by_path_and_extension);
    number(&mut files);
    files.extend(texts.into_iter().map(|file| TableFile { name: file.path.clone(), ..file }));
    files
}

/// Gives files that share a name another one.
fn separate(files: &mut [TableFile], rename: fn(&str) -> String) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files.iter() {
        *counts.entry(file.name.to_lowercase()).or_default() += 1;
    }
    for file in files.iter_mut().filter(|file| counts.get(&file.name.to_lowercase()).is_some_and(|count| *count > 1)) {
        file.name = rename(&file.path);
    }
}

/// Numbers the names that are still shared: `q_1_csv`, `q_1_csv_2`.
fn number(files: &mut [TableFile]) {
    let mut taken: BTreeSet<String> = files.iter().map(|file| file.name.to_lowercase()).collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let count = seen.entry(file.name.to_lowercase()).or_default();
        *count += 1;
        if *count == 1 {
            continue;
        }
        let mut name = format!("{}_{count}", file.name);
        while !taken.insert(name.to_lowercase()) {
            *count += 1;
            name = format!("{}_{count}", file.name);
        }
        file.name = name;
    }
}

fn format(path: &str) -> Option<TableFormat> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "csv" | "psv" => TableFormat::Csv,
        "tsv" | "tab" => TableFormat::Tsv,
        "json" | "geojson" => TableFormat::Json,
        "jsonl" | "ndjson" => TableFormat::Jsonl,
        "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" | "xltx" | "xltm" | "xlt" | "ots" | "fods" => TableFormat::Workbook,
        "txt" | "text" | "dat" | "data" | "asc" | "prn" | "log" | "out" | "htm" | "html" | "xhtml" | "xml" => {
            TableFormat::Text
        }
        _ => return None,
    })
}

fn by_file(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    normal(file.rsplit_once('.').map_or(file, |(stem, _)| stem))
}

fn by_path(path: &str) -> String {
    normal(path.rsplit_once('.').map_or(path, |(stem, _)| stem))
}

fn by_path_and_extension(path: &str) -> String {
    normal(path)
}

/// A name that SQL takes without quotes, unless it is a word of SQL.
#[must_use]
pub fn normal(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            name.push(c);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_matches('_');
    match name.chars().next() {
        None => "table".to_owned(),
        Some(first) if first.is_numeric() => format!("t{name}"),
        Some(_) => name.to_owned(),
    }
}

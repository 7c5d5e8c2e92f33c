//! The jq language by jaq. It has neither a clock nor an environment nor other files: the same filter and input always give
//! the same result.

use std::fmt::Write as _;

use jaq_core::data::JustLut;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars};
use jaq_json::{Num, Val, read};

use turnwise_files::saved::{MAX_ROWS, MAX_ROWS_SHOWN, MAX_SAVED, MAX_SHOWN, QueryResult, SavedFormat};

/// Maximum nesting of the input: jaq reads it recursively.
const MAX_DEPTH: usize = 256;
/// Maximum nesting of brackets in a filter.
const MAX_FILTER_DEPTH: usize = 64;
/// Filters of jq that would depend on something besides the input.
const ABSENT: [&str; 2] = ["now", "env"];

/// Filters of jq that jaq's libraries lack.
const OURS: &str = r#"
def @csv: [.[] | if type == "string" then "\"" + gsub("\""; "\"\"") + "\"" elif . == null then "" else tostring end] | join(",");
def @tsv: [.[] | if . == null then "" else tostring | split("\\") | join("\\\\") | split("\t") | join("\\t") | split("\n") | join("\\n") | split("\r") | join("\\r") end] | join("\t");
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def INDEX(stream; f): reduce stream as $row ({}; . + {($row | f | tostring): $row});
def INDEX(f): INDEX(.[]; f);
def toarray: if type == "array" then . else [.] end;
def trimstr($s): ltrimstr($s) | rtrimstr($s);
def ascii: [.] | implode;
def date: todate;
def dateadd(unit; n): . + n;
def datesub(unit; n): . - n;
"#;

/// Runs a filter on each JSON value of a text. A file has one value, or one on each line.
///
/// # Errors
/// Where the filter or the input is malformed. An error of the filter while it runs is in [`QueryResult::error`].
pub fn run(filter: &str, input: &str, save: Option<SavedFormat>) -> Result<QueryResult, String> {
    if depth(filter.as_bytes()) > MAX_FILTER_DEPTH {
        return Err(format!("the filter is nested deeper than {MAX_FILTER_DEPTH} brackets"));
    }
    let input = input.strip_prefix('\u{feff}').unwrap_or(input);
    if depth(input.as_bytes()) > MAX_DEPTH {
        return Err(format!("the JSON is nested deeper than {MAX_DEPTH} levels"));
    }
    let filter = compile(filter)?;
    let mut values = Vec::new();
    for value in read::parse_many(input.as_bytes()) {
        values.push(value.map_err(|error| not_json(input, &error.to_string()))?);
    }
    if values.is_empty() {
        return Err("not JSON: it has no value".to_owned());
    }
    let mut results = Results::new(save);
    let (inputs, mut found) = (values.len(), QueryResult::default());
    'inputs: for (number, value) in values.into_iter().enumerate() {
        let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new([]));
        for result in filter.id.run((context, value)) {
            match result {
                Ok(value) => results.take(value)?,
                Err(exception) => {
                    // `halt` ends the filter without an error.
                    if let Ok(error) = exception.get_err() {
                        let place =
                            if inputs > 1 { format!(" at value {} of the file", number + 1) } else { String::new() };
                        found.error = Some(format!("{}{place}", shortened(&error.to_string())));
                    }
                    break 'inputs;
                }
            }
            if results.total == MAX_ROWS {
                found.cut = true;
                break 'inputs;
            }
        }
    }
    found.total = results.total;
    found.saved = if found.error.is_none() && save.is_some() { Some(results.file()?) } else { None };
    found.shown = results.shown;
    Ok(found)
}

/// The deepest nesting of brackets outside of strings.
fn depth(text: &[u8]) -> usize {
    let (mut open, mut most, mut inside, mut escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'[' | b'{' | b'(' if !inside => {
                open += 1;
                most = most.max(open);
            }
            b']' | b'}' | b')' if !inside => open = open.saturating_sub(1),
            _ => {}
        }
    }
    most
}

fn compile(code: &str) -> Result<Filter<JustLut<Val>>, String> {
    let ours = load::parse(OURS, |parser| parser.defs()).unwrap_or_default();
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(ours);
    let funs = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let funs = funs.filter(|(name, ..)| !ABSENT.contains(name));
    let arena = Arena::default();
    let modules = Loader::new(defs).load(&arena, File { code, path: () }).map_err(|errors| {
        let error = errors.into_iter().map(|(_, error)| error).next();
        match error {
            Some(load::Error::Lex(errors)) => {
                at_first(code, errors.iter().map(|(expected, at)| (expected.as_str(), *at)))
            }
            Some(load::Error::Parse(errors)) => {
                at_first(code, errors.iter().map(|(expected, at)| (expected.as_str(), *at)))
            }
            Some(load::Error::Io(_)) => "the filter imports a module; there are none here".to_owned(),
            None => "the filter cannot be read".to_owned(),
        }
    })?;
    Compiler::default().with_funs(funs).compile(modules).map_err(|errors| {
        let error = errors.into_iter().flat_map(|(_, errors)| errors).next();
        error.map_or_else(
            || "the filter cannot be read".to_owned(),
            |(name, what)| {
                let hint = if ABSENT.contains(&name) || matches!(name, "input" | "inputs") {
                    ", which is not available here"
                } else {
                    ""
                };
                let arguments = match what {
                    jaq_core::compile::Undefined::Filter(count) if count > 0 => format!(" with {count} arguments"),
                    _ => String::new(),
                };
                format!(
                    "the filter is wrong at {}: there is no {} `{name}`{arguments}{hint}",
                    place(code, name),
                    what.as_str()
                )
            },
        )
    })
}

fn at_first<'a>(code: &str, errors: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    match errors.into_iter().next() {
        Some((expected, "")) => format!("the filter is wrong at its end: expected {expected}"),
        Some((expected, at)) => {
            format!("the filter is wrong at {}, before `{}`: expected {expected}", place(code, at), shortened(at))
        }
        None => "the filter cannot be read".to_owned(),
    }
}

/// `line 1, column 5`, of a part of the code.
fn place(code: &str, part: &str) -> String {
    let offset = (part.as_ptr() as usize).saturating_sub(code.as_ptr() as usize);
    position(code, offset)
}

fn position(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}")
}

/// jaq says `byte offset 12: what is wrong`.
fn not_json(input: &str, error: &str) -> String {
    let parts = error.strip_prefix("byte offset ").and_then(|rest| rest.split_once(": "));
    match parts.and_then(|(offset, what)| Some((offset.parse::<usize>().ok()?, what))) {
        Some((offset, what)) => format!("not JSON: {what} at {}", position(input, offset)),
        None => format!("not JSON: {error}"),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The values so far: the first ones as text, all of them if they are to be saved.
struct Results {
    save: Option<SavedFormat>,
    shown: Vec<String>,
    chars: usize,
    total: usize,
    kept: Vec<Val>,
    /// JSON of all values, one on each line.
    lines: String,
}

impl Results {
    fn new(save: Option<SavedFormat>) -> Self {
        Results { save, shown: Vec::new(), chars: 0, total: 0, kept: Vec::new(), lines: String::new() }
    }

    fn take(&mut self, value: Val) -> Result<(), String> {
        self.total += 1;
        let show = self.shown.len() < MAX_ROWS_SHOWN && self.chars < MAX_SHOWN;
        let lines = matches!(self.save, Some(SavedFormat::Json | SavedFormat::Jsonl));
        if show || lines {
            let start = self.lines.len();
            write_json(&mut self.lines, &value);
            if self.lines.len() > MAX_SAVED {
                return Err(too_large());
            }
            let text = self.lines.get(start..).unwrap_or_default();
            if show {
                // One character more than fits, so that it is known to be cut.
                self.shown.push(text.chars().take(MAX_SHOWN + 1).collect());
                self.chars += text.len();
            }
            if lines { self.lines.push('\n') } else { self.lines.truncate(start) }
        }
        if matches!(self.save, Some(SavedFormat::Csv | SavedFormat::Tsv)) {
            self.kept.push(value);
        }
        Ok(())
    }

    fn file(&mut self) -> Result<String, String> {
        Ok(match self.save {
            Some(SavedFormat::Json) if self.total == 1 => std::mem::take(&mut self.lines),
            Some(SavedFormat::Json) => format!("[\n{}\n]\n", self.lines.trim_end().replace('\n', ",\n")),
            Some(SavedFormat::Csv) => return table(&std::mem::take(&mut self.kept), ','),
            Some(SavedFormat::Tsv) => return table(&std::mem::take(&mut self.kept), '\t'),
            Some(SavedFormat::Jsonl) | None => std::mem::take(&mut self.lines),
        })
    }
}

fn too_large() -> String {
    format!("the result is larger than {} MB, so it was not saved; narrow the query", MAX_SAVED >> 20)
}

/// A table with a row for each value; a single array has a row for each of its items. The columns are the keys of objects,
/// in the order in which they occur, or `column_1`, … of arrays, or `value`.
fn table(values: &[Val], separator: char) -> Result<String, String> {
    let rows: &[Val] = match values {
        [Val::Arr(items)] => items,
        values => values,
    };
    let mut columns: Vec<String> = Vec::new();
    let mut known = std::collections::HashMap::new();
    let mut cells: Vec<Vec<(usize, String)>> = Vec::with_capacity(rows.len());
    let mut size = 0;
    for row in rows {
        let mut of_row = Vec::new();
        let mut put = |name: String, value: &Val| {
            let at = *known.entry(name).or_insert_with_key(|name| {
                columns.push(name.clone());
                columns.len() - 1
            });
            let cell = cell(value);
            size += cell.len() + 1;
            of_row.push((at, cell));
        };
        match row {
            Val::Obj(object) => object.iter().for_each(|(key, value)| put(cell(key), value)),
            Val::Arr(items) => items.iter().zip(1..).for_each(|(value, at)| put(format!("column_{at}"), value)),
            value => put("value".to_owned(), value),
        }
        if size > MAX_SAVED {
            return Err(too_large());
        }
        cells.push(of_row);
    }
    let mut text = String::with_capacity(size);
    write_row(&mut text, separator, columns.iter().map(String::as_str));
    for row in cells {
        let mut of_row: Vec<&str> = vec![""; columns.len()];
        for (at, cell) in &row {
            if let Some(place) = of_row.get_mut(*at) {
                *place = cell;
            }
        }
        write_row(&mut text, separator, of_row.into_iter());
        if text.len() > MAX_SAVED {
            return Err(too_large());
        }
    }
    Ok(text)
}

fn write_row<'a>(out: &mut String, separator: char, cells: impl Iterator<Item = &'a str>) {
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            out.push(separator);
        }
        if cell.contains([separator, '"', '\n', '\r']) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(cell);
        }
    }
    out.push('\n');
}

/// A value as a cell: strings as they are, null as nothing, everything else as JSON.
fn cell(value: &Val) -> String {
    match value {
        Val::Null => String::new(),
        Val::TStr(bytes) | Val::BStr(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        value => {
            let mut text = String::new();
            write_json(&mut text, value);
            text
        }
    }
}

/// A value as JSON. jaq's own form is a superset of JSON: it has NaN, byte strings and keys that are not strings.
fn write_json(out: &mut String, value: &Val) {
    match value {
        Val::Null => out.push_str("null"),
        Val::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Val::Num(Num::Float(number)) if number.is_nan() => out.push_str("null"),
        Val::Num(Num::Float(number)) if number.is_infinite() => {
            out.push_str(if *number > 0.0 { "1.7976931348623157e308" } else { "-1.7976931348623157e308" });
        }
        Val::Num(Num::Float(number)) if number.fract() == 0.0 && number.abs() < 1e15 => {
            let _ = write!(out, "{number:.0}");
        }
        Val::Num(number) => {
            let _ = write!(out, "{number}");
        }
        Val::TStr(bytes) | Val::BStr(bytes) => write_text(out, &String::from_utf8_lossy(bytes)),
        Val::Arr(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(out, item);
            }
            out.push(']');
        }
        Val::Obj(object) => {
            out.push('{');
            for (at, (key, value)) in object.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(out, &cell(key));
                out.push(':');
                write_json(out, value);
            }
            out.push('}');
        }
    }
}

fn write_text(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

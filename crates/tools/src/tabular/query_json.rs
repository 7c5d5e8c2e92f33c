//! `query_json`: a filter of the jq language over a JSON file.

use serde::Deserialize;
use serde_json::json;

use super::ask::{ask, count, grouped, save, saved_as};
use crate::path::normalize;
use crate::read::missing;
use turnwise_files::saved::{MAX_QUERIED, MAX_ROWS, MAX_SHOWN, QueryResult};
use turnwise_files::{Engine, Files, size_text};

#[derive(Deserialize)]
struct JqAnswer {
    /// The filter or the file is malformed.
    #[serde(default)]
    fault: Option<String>,
    #[serde(flatten, default)]
    found: Option<QueryResult>,
}

/// Runs a filter on each JSON value of a file.
///
/// # Errors
/// An invalid path, no such file (with near matches), a file that is not JSON, a filter that is wrong or fails, or a path
/// that cannot be written.
pub async fn query_json<F: Files>(files: &mut F, path: &str, filter: &str, save_as: &str) -> Result<String, String> {
    let path = normalize(path).map_err(|error| error.to_string())?;
    let save_to = saved_as(files, save_as)?;
    let Some(info) = files.list().get(&path).copied() else { return Err(missing(files, &path)) };
    if info.size > MAX_QUERIED {
        let (size, limit) = (size_text(info.size), size_text(MAX_QUERIED));
        return Err(format!("{path} ({size}) is too large to query; the limit is {limit}"));
    }
    let request = json!({ "filter": filter, "save": save_to.as_ref().map(|(_, format)| *format) });
    let answer: JqAnswer = ask(files, Engine::Jq, &request, &[&path]).await?;
    if let Some(fault) = answer.fault {
        let about_file = fault.starts_with("not JSON") || fault.starts_with("the JSON ");
        let hint = if about_file { hint(&path) } else { "" };
        return Err(if about_file { format!("{path}: {fault}{hint}") } else { fault });
    }
    let found = answer.found.ok_or("the engine returned nothing")?;
    let (mut text, mut shown) = (String::new(), 0);
    for line in &found.shown {
        let cut = text.len() + line.len() > MAX_SHOWN;
        if cut && shown > 0 {
            break;
        }
        if cut {
            text.push_str(&line.chars().take(MAX_SHOWN).collect::<String>());
            text.push_str("… [the value is longer; narrow the filter]");
        } else {
            text.push_str(line);
        }
        text.push('\n');
        shown += 1;
    }
    if let Some(error) = found.error {
        let before =
            if shown == 0 { String::new() } else { format!(" after {}:\n{text}", count(found.total, "result")) };
        return Err(format!("the filter failed: {error}{before}").trim_end().to_owned());
    }
    let more = if found.cut { "more than " } else { "" };
    text.push_str(&if shown == found.total {
        format!("[{}]", count(found.total, "result"))
    } else {
        let advice =
            if save_to.is_some() { "" } else { "; narrow the filter, or use save_as to write all of them into a file" };
        format!("[results 1-{shown} of {more}{}{advice}]", grouped(found.total))
    });
    if let Some((to, _)) = save_to {
        if found.cut {
            return Err(format!(
                "there are more than {} results, so they were not saved; narrow the filter",
                grouped(MAX_ROWS)
            ));
        }
        let content = found.saved.ok_or("the result was not saved: the engine returned no file")?;
        text.push('\n');
        text.push_str(&save(files, to, content, &count(found.total, "result")));
    }
    Ok(text)
}

/// What to use instead.
fn hint(path: &str) -> &'static str {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "csv" | "tsv" | "tab" | "xlsx" | "xlsm" | "xlsb" | "xls" | "ods" => "; query_table reads such files",
        "json" | "jsonl" | "ndjson" => "",
        _ => "; read_file shows its text",
    }
}

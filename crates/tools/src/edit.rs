//! `edit_file`: replaces one passage of a text file. It is exact: no character of the file, of the old passage or of the new
//! one is normalized, so a passage that differs in white space or line ends is not found, and the answer says why.

use super::encoded::replaced;
use super::path::{RESULTS, normalize_new};
use super::read::{found, refuse};
use turnwise_files::{Files, FoundFile, MAX_TEXT_BYTES, NoText, decode, size_text};

/// Maximum number of places that are counted; more are reported as "more than".
const MAX_PLACES: usize = 1_000;
/// Maximum number of line numbers that are named.
const MAX_NAMED: usize = 10;

/// Replaces `old` by `new` if `old` occurs exactly once.
///
/// # Errors
/// An invalid path, no such file (with near matches), no text, an empty `old`, or another number of places than one.
pub async fn edit_file<F: Files>(files: &mut F, path: &str, old: &str, new: &str) -> Result<String, String> {
    let path = normalize_new(path).map_err(|error| error.to_string())?;
    if path.starts_with(RESULTS) {
        return Err(format!("`{RESULTS}` is reserved for tool results, which do not change"));
    }
    let FoundFile { info, packed } = found(files, &path).await?;
    if let Some(packed) = packed {
        return Err(format!(
            "{path} is {packed}, so it can be read, but not changed; write_file makes a copy of its text"
        ));
    }
    if info.size > MAX_TEXT_BYTES {
        return Err(refuse(&path, info, &NoText::TooLarge));
    }
    let bytes = files.read(&path).await?;
    let decoded = decode(files, &path, bytes.clone()).await.map_err(|reason| refuse(&path, info, &reason))?;
    let text = &decoded.text;
    // As read_file shows them.
    let nul = |passage: &str| {
        if text.contains('\0') && !text.contains('␀') { passage.replace('␀', "\0") } else { passage.to_owned() }
    };
    let (old, new) = (&*nul(old), &*nul(new));
    if old.is_empty() {
        return Err(
            "`old` is empty: give the exact passage to replace, or use write_file for the whole file".to_owned()
        );
    }
    if old == new {
        return Err("`old` and `new` are equal: nothing to change".to_owned());
    }
    let places = places(text, old);
    match places.as_slice() {
        [at] => {
            let (before, rest) = text.split_at_checked(*at).unwrap_or((text, ""));
            let after = rest.get(old.len()..).unwrap_or_default();
            let edited = [before, new, after].concat();
            let content = replaced(files, &bytes, &decoded, *at..at + old.len(), new).await;
            let content = content.map_err(|error| format!("{path}: nothing was changed: {error}"))?;
            let mut answer = said(&path, before, old, new, &edited, content.len());
            if !decoded.encoding.is_utf8() {
                answer.push_str(&format!(", in {} as before", decoded.encoding.shown()));
            }
            files.write(path, content);
            Ok(answer)
        }
        [] => Err(format!("0 places of {path} match `old`; nothing was changed. {}", advice(text, old))),
        places => Err(several(&path, text, places)),
    }
}

/// The byte offsets at which `old` begins, including places that overlap: those are ambiguous as well.
fn places(text: &str, old: &str) -> Vec<usize> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(old)) {
        places.push(from + found);
        if places.len() > MAX_PLACES {
            break;
        }
        from += found + step;
    }
    places
}

/// The line, counted from 1, that begins at or contains the end of `before`.
fn line_after(before: &str) -> usize {
    before.matches('\n').count() + 1
}

/// The number of lines that a passage is on; one that ends with a line break does not reach the next line.
fn lines_of(passage: &str) -> usize {
    passage.lines().count().max(1)
}

/// `line 3` or `lines 3-5`.
fn span(first: usize, count: usize) -> String {
    if count <= 1 { format!("line {first}") } else { format!("lines {first}-{}", first + count - 1) }
}

fn said(path: &str, before: &str, old: &str, new: &str, edited: &str, size: usize) -> String {
    let first = line_after(before);
    let changed = span(first, lines_of(old));
    let now = if new.is_empty() {
        format!("the passage at {changed} was deleted")
    } else {
        format!("{changed} changed, now {}", span(first, lines_of(new)))
    };
    let total = edited.lines().count();
    let mixed = if has_crlf(before, old) && has_lone_lf(new) {
        ". The lines of this file end in CRLF, but lines of `new` end in LF, so the line ends are mixed now: use \\r\\n in \
         `new` to avoid that"
    } else {
        ""
    };
    format!("Edited {path}: 1 place matched, {now} of {total} lines, {}{mixed}", size_text(size as u64))
}

fn has_crlf(before: &str, old: &str) -> bool {
    before.contains("\r\n") || old.contains("\r\n")
}

fn has_lone_lf(text: &str) -> bool {
    text.replace("\r\n", "").contains('\n')
}

fn several(path: &str, text: &str, places: &[usize]) -> String {
    let mut numbers: Vec<usize> =
        places.iter().take(MAX_NAMED).filter_map(|at| text.get(..*at)).map(line_after).collect();
    numbers.dedup();
    let named: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let more = if places.len() > MAX_NAMED { ", …" } else { "" };
    let count = match places.len() {
        n if n > MAX_PLACES => format!("more than {MAX_PLACES}"),
        n => n.to_string(),
    };
    format!(
        "{count} places of {path} match `old` ({} {}{more}); nothing was changed. Add neighbouring lines to `old` until it \
         matches one place only",
        if numbers.len() == 1 { "line" } else { "lines" },
        named.join(", ")
    )
}

/// Why nothing matched, as far as it can be told.
fn advice(text: &str, old: &str) -> String {
    let with_crlf = old.replace("\r\n", "\n").replace('\n', "\r\n");
    if with_crlf != old && text.contains(&with_crlf) {
        return "The lines of this file end in CRLF: write \\r\\n instead of \\n in `old` and in `new`".to_owned();
    }
    let with_lf = old.replace("\r\n", "\n");
    if with_lf != old && text.contains(&with_lf) {
        return "The lines of this file end in LF: write \\n instead of \\r\\n in `old` and in `new`".to_owned();
    }
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = old.lines().map(squeezed).filter(|line| !line.is_empty()).collect();
    let Some(first) = wanted.first() else {
        return "`old` has only white space, and the file has no such run of it".to_owned();
    };
    let lines =
        || text.lines().zip(1..).map(|(line, number)| (squeezed(line), number)).filter(|(line, _)| !line.is_empty());
    let at = |from: usize| {
        lines()
            .filter(|(_, number)| *number >= from)
            .map(|(line, _)| line)
            .take(wanted.len())
            .eq(wanted.iter().cloned())
    };
    let candidates: Vec<usize> =
        lines().filter(|(line, _)| line == first).map(|(_, number)| number).take(MAX_NAMED).collect();
    if let Some(number) = candidates.iter().copied().find(|number| at(*number)) {
        return format!(
            "The passage at line {number} differs from `old` in white space only: copy it exactly from read_file"
        );
    }
    match candidates.first() {
        Some(number) => format!(
            "The first line of `old` is line {number} of the file, but the lines after it differ: read them again"
        ),
        None if text.to_lowercase().contains(&old.to_lowercase()) => {
            "It occurs with other capital letters: copy it exactly from read_file".to_owned()
        }
        None => "Read the file again and copy the passage exactly, without line numbers".to_owned(),
    }
}

//! The tools that list, read and write files of the workspace, and read the complete text of truncated results.

use super::encoded::encoded;
use super::large::{self, LargeText};
use super::path::{RESULTS, normalize, normalize_new, result_path};
use turnwise_files::document::Document;
use turnwise_files::encoding::{self, TextEncoding};
use turnwise_files::{
    FileContent, FileInfo, Files, FoundFile, MAX_TEXT_BYTES, NoText, decode, read_content, read_text, size_text,
};

/// Number of lines of a file shown at once, unless the model asks for another number.
const DEFAULT_LINES: usize = 400;
/// Maximum number of characters of a file shown at once: below the engine's limit, so that this tool says how to continue.
const MAX_CHARS: usize = 18_000;
/// Maximum number of bytes of a file's text that a person is shown.
const MAX_SHOWN: usize = 1_000_000;
/// Maximum number of files listed at once.
const MAX_LISTED: usize = 500;
/// Of a file that is replaced, so many bytes tell its encoding.
const MAX_SAMPLE: u64 = 1 << 20;
/// Number of characters of a result shown at once, unless the model asks for another number.
const DEFAULT_PART: usize = 8_000;
/// Maximum number of near matches named if a path does not exist.
const MAX_NEAR: usize = 5;

/// Lists files, one per line: path and size.
pub fn list_files<F: Files>(files: &F, prefix: &str) -> String {
    let prefix = prefix.trim().trim_start_matches("./").trim_start_matches('/');
    let shown = |path: &str| path.starts_with(prefix) && (!path.starts_with(RESULTS) || prefix.starts_with(RESULTS));
    let matching: Vec<_> = files.list().iter().filter(|(path, _)| shown(path)).collect();
    if matching.is_empty() {
        return if prefix.is_empty() {
            "The workspace has no files.".to_owned()
        } else {
            format!("No file starts with `{prefix}`; the workspace has {} files.", count(files))
        };
    }
    let line = |(path, info): &(&String, &FileInfo)| format!("{path}  {}", size_text(info.size));
    let mut lines: Vec<String> = matching.iter().take(MAX_LISTED).map(line).collect();
    if matching.len() > MAX_LISTED {
        lines.push(format!("[{} more files; give a prefix to see them]", matching.len() - MAX_LISTED));
    }
    lines.join("\n")
}

/// Lines `offset..offset + limit` of a text file or a document, `offset` counted from 1, or from the end if it is negative; says how
/// to continue if more lines follow. `place`, such as `page 7`, stands for the offset of its first line.
///
/// # Errors
/// An invalid path, no such file (with near matches), no text, no such place, or an offset beyond the end.
pub async fn read_file<F: Files>(
    files: &F,
    path: &str,
    place: Option<&str>,
    offset: Option<i64>,
    limit: Option<usize>,
) -> Result<String, String> {
    let path = normalize(path).map_err(|error| error.to_string())?;
    let found = found(files, &path).await?;
    let limit = limit.unwrap_or(DEFAULT_LINES).max(1);
    let content = read_content(files, &path, found.info, MAX_TEXT_BYTES).await?;
    if content == FileContent::None(NoText::TooLarge) && place.is_none() {
        let text = LargeText::open(files, &path, found.info).await?.map_err(|why| refuse(&path, found.info, &why))?;
        return large_part(files, &path, &found, &text, offset, limit).await;
    }
    let (text, document) = text_in(&content, &path, found.info)?;
    if text.is_empty() {
        return Ok("[the file is empty]".to_owned());
    }
    let total = text.lines().count();
    let first = match place {
        Some(place) => first_line(&path, document, place)?,
        None => from_offset(offset, total),
    };
    if first > total {
        return Err(format!("{path} has {total} lines; offset {first} is behind its end"));
    }
    let mut part = head(&path, &content, found.packed.as_deref(), first, total);
    let begin = part.len();
    let mut next = first;
    for line in text.lines().skip(first - 1).take(limit) {
        if next > first && part.len() - begin + line.len() > MAX_CHARS {
            break;
        }
        part.push_str(line);
        part.push('\n');
        next += 1;
    }
    part.push_str(&foot(first, next, total));
    Ok(part)
}

/// A part of a file that is not held in memory.
async fn large_part<F: Files>(
    files: &F,
    path: &str,
    found: &FoundFile,
    text: &LargeText,
    offset: Option<i64>,
    limit: usize,
) -> Result<String, String> {
    let index = large::LineIndex::of(files, path, found.info, text).await?;
    let total = index.total();
    let first = from_offset(offset, total);
    if first > total {
        return Err(format!("{path} has {total} lines; offset {first} is behind its end"));
    }
    let mut notes: Vec<String> = found.packed.iter().cloned().chain(text.note()).collect();
    if let Some(read) = index.cut() {
        notes.push(format!("only the first {} of {} are read", size_text(read), size_text(found.info.size)));
    }
    let notes: String = notes.iter().map(|note| format!("; {note}")).collect();
    let mut part = format!("[{path}: text, {}; {total} lines of text{notes}]\n", size_text(found.info.size));
    let lines = index.lines(files, path, text, first, limit, MAX_CHARS).await?;
    for line in &lines {
        part.push_str(line);
        part.push('\n');
    }
    part.push_str(&foot(first, first + lines.len(), total));
    Ok(part)
}

/// The first line of a part; a negative offset counts from the end.
fn from_offset(offset: Option<i64>, total: usize) -> usize {
    match offset {
        Some(back) if back < 0 => {
            (total + 1).saturating_sub(usize::try_from(back.unsigned_abs()).unwrap_or(usize::MAX)).max(1)
        }
        offset => usize::try_from(offset.unwrap_or(1)).unwrap_or(1).max(1),
    }
}

/// The line below a part that is not the whole text.
fn foot(first: usize, next: usize, total: usize) -> String {
    if first == 1 && next > total {
        return String::new();
    }
    let more = if next <= total { format!("; continue with offset {next}") } else { String::new() };
    format!("[lines {first}-{} of {total}{more}]", next - 1)
}

/// The text of a file for a person: that of a document, or of a text that is not plain UTF-8, begins with the line that says what it is.
///
/// # Errors
/// The reason why the file has no text.
pub async fn shown_text<F: Files>(files: &F, path: &str) -> Result<String, String> {
    let found = found(files, path).await?;
    let mut content = read_content(files, path, found.info, MAX_TEXT_BYTES).await?;
    let beginning = content == FileContent::None(NoText::TooLarge);
    if beginning {
        let bytes = files.read_part(path, 0, MAX_SHOWN as u64).await?;
        content = decode(files, path, bytes).await.map_or_else(FileContent::None, FileContent::of_text);
    }
    let (text, _) = text_in(&content, path, found.info)?;
    let mut shown = match beginning {
        true => String::new(),
        false => head(path, &content, found.packed.as_deref(), 1, text.lines().count()),
    };
    let fits = text.floor_char_boundary(MAX_SHOWN);
    // The last line is not cut.
    let end = if fits < text.len() { text.get(..fits).and_then(|part| part.rfind('\n')).unwrap_or(fits) } else { fits };
    shown.push_str(text.get(..end).unwrap_or_default());
    if beginning || end < text.len() {
        shown.push_str("\n… (only the beginning is shown; download the file to see all of it)");
    }
    Ok(shown)
}

/// The text in the content of a file, and the document that it is the text of.
fn text_in<'a>(
    content: &'a FileContent,
    path: &str,
    info: FileInfo,
) -> Result<(&'a str, Option<&'a Document>), String> {
    match content {
        FileContent::Text { text, .. } => Ok((text, None)),
        FileContent::Document(document) => Ok((&document.text, Some(document))),
        FileContent::Silent(reason) => Err(format!("{path} has no text that can be read: {reason}")),
        FileContent::None(reason) => Err(refuse(path, info, reason)),
    }
}

/// The line above a text: what it is and what was not read or was guessed of it, or the place of a document in which the lines begin.
fn head(path: &str, content: &FileContent, packed: Option<&str>, first: usize, total: usize) -> String {
    let note = |note: &str| format!("; {note}");
    let packed = packed.map(note).unwrap_or_default();
    match content {
        FileContent::Document(document) if first == 1 => {
            let notes: String = document.notes.iter().map(|one| note(one)).collect();
            format!("[{path}: {}; {total} lines of text{packed}{notes}]\n", document.kind)
        }
        FileContent::Document(document) => match document.place(first) {
            Some(place) if !document.begins(first) => format!("[{place}, continued]\n"),
            _ => String::new(),
        },
        FileContent::Text { note: None, .. } if packed.is_empty() => String::new(),
        FileContent::Text { note: said, .. } => {
            let said = said.as_deref().map(|said| format!(" {said}")).unwrap_or_default();
            format!("[{path}: text{said}; {total} lines of text{packed}]\n")
        }
        FileContent::Silent(_) | FileContent::None(_) => String::new(),
    }
}

fn first_line(path: &str, document: Option<&Document>, place: &str) -> Result<usize, String> {
    let Some(document) = document else {
        return Err(format!("{path} is a text file, which has lines only: give offset instead of place"));
    };
    document.line_of(place).ok_or_else(|| {
        let mut names: Vec<&str> = document.places.iter().map(|place| place.name.as_str()).collect();
        names.dedup();
        match names.as_slice() {
            [] => format!("{path} has no places, only lines: give offset instead of place"),
            [first] => format!("{path} has no place `{place}`; its only one is {first}"),
            [first, .., last] => {
                format!("{path} has no place `{place}`; it has {} places, from {first} to {last}", names.len())
            }
        }
    })
}

/// Replaces or creates a file. A file that was text in another encoding than UTF-8 keeps it, if it has all characters.
///
/// # Errors
/// An invalid or reserved path, or the path of a folder.
pub async fn write_file<F: Files>(files: &mut F, path: &str, content: &str) -> Result<String, String> {
    let path = writable(files, path)?;
    let before = files.list().get(&path).copied();
    let verb = if before.is_some() { "Replaced" } else { "Wrote" };
    let lines = content.lines().count();
    let (mut bytes, mut said) = (content.as_bytes().to_vec(), String::new());
    if let Some(info) = before
        && let Some(encoding) = encoding_of(files, &path, info).await
        && !encoding::declares_utf8(content)
    {
        match encoded(files, content, &encoding).await {
            Ok(kept) => {
                bytes = kept;
                if !encoding.is_utf8() {
                    said = format!(", in {} as before", encoding.shown());
                }
            }
            Err(_) => said = format!("; it was in {} and is in UTF-8 now", encoding.shown()),
        }
    }
    let size = size_text(bytes.len() as u64);
    files.write(path.clone(), bytes);
    Ok(format!("{verb} {path}: {lines} lines, {size}{said}"))
}

/// The encoding of a text file, by its beginning; `None` of plain UTF-8 and of what is no text.
async fn encoding_of<F: Files>(files: &F, path: &str, info: FileInfo) -> Option<TextEncoding> {
    let bytes = files.read_part(path, 0, info.size.min(MAX_SAMPLE)).await.ok()?;
    let encoding = decode(files, path, bytes).await.ok()?.encoding;
    (encoding.bom || !encoding.is_utf8()).then_some(encoding)
}

/// The normalized path of a file that a tool may write.
///
/// # Errors
/// An invalid or reserved path, or the path of a folder.
pub(super) fn writable<F: Files>(files: &F, path: &str) -> Result<String, String> {
    let path = normalize_new(path).map_err(|error| error.to_string())?;
    if path.starts_with(RESULTS) {
        return Err(format!("`{RESULTS}` is reserved for tool results; choose another path"));
    }
    let folder = format!("{path}/");
    if files.list().keys().any(|other| other.starts_with(&folder)) {
        return Err(format!("`{path}` is a folder; choose another path"));
    }
    Ok(path)
}

/// A part of a stored result, by characters.
///
/// # Errors
/// An unknown handle (with the known ones), or an offset beyond the end.
pub async fn read_result<F: Files>(
    files: &F,
    handle: &str,
    offset: Option<usize>,
    length: Option<usize>,
) -> Result<String, String> {
    let path = normalize(&result_path(handle)).map_err(|error| error.to_string())?;
    let Some(info) = files.list().get(&path).copied() else {
        let known: Vec<&str> =
            files.list().keys().filter_map(|p| p.strip_prefix(RESULTS)?.strip_suffix(".txt")).take(20).collect();
        let known = if known.is_empty() { "no result was cut so far".to_owned() } else { known.join(", ") };
        return Err(format!("there is no kept result `{handle}`; known handles: {known}"));
    };
    let text = read_text(files, &path, info).await?.map_err(|reason| refuse(&path, info, &reason))?.text;
    let total = text.chars().count();
    let first = offset.unwrap_or(0);
    if first >= total && total > 0 {
        return Err(format!("the result has {total} characters; offset {first} is behind its end"));
    }
    let mut part: String = text.chars().skip(first).take(length.unwrap_or(DEFAULT_PART)).collect();
    let next = first + part.chars().count();
    part.push_str(&format!("\n[characters {first}-{next} of {total}"));
    part.push_str(&if next < total { format!("; continue with offset {next}]") } else { "]".to_owned() });
    Ok(part)
}

pub(super) fn refuse(path: &str, info: FileInfo, reason: &NoText) -> String {
    let size = size_text(info.size);
    match reason {
        NoText::Binary("Binary file") => format!("{path} is a binary file ({size}); only text can be read"),
        NoText::Binary(kind) => format!("{path} is a binary file ({kind}, {size}); only text can be read"),
        NoText::TooLarge => format!("{path} is too large to read as text ({size})"),
        NoText::Encoding(why) => format!("{path} ({size}) cannot be read: {why}"),
    }
}

/// The file at a normalized path.
///
/// # Errors
/// There is none, with suggestions.
pub(super) async fn found<F: Files>(files: &F, path: &str) -> Result<FoundFile, String> {
    files.find(path).await?.ok_or_else(|| missing(files, path))
}

/// The message for a missing file, with suggestions: a folder's files, the same name elsewhere, or similar paths.
pub(super) fn missing<F: Files>(files: &F, path: &str) -> String {
    let folder = format!("{path}/");
    if files.list().keys().any(|other| other.starts_with(&folder)) {
        return format!("{path} is a folder; list_files with prefix `{folder}` shows its files");
    }
    let wanted = path.to_lowercase();
    let wanted_name = name(&wanted);
    let score = |other: &str| {
        let other = other.to_lowercase();
        let by_name = strsim::jaro_winkler(wanted_name, name(&other));
        by_name + 0.2 * strsim::normalized_levenshtein(&wanted, &other)
    };
    let mut near: Vec<(f64, &String)> = files
        .list()
        .keys()
        .filter(|other| !other.starts_with(RESULTS))
        .map(|other| (score(other), other))
        .filter(|(score, _)| *score > 0.8)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let near: Vec<&str> = near.iter().take(MAX_NEAR).map(|(_, path)| path.as_str()).collect();
    match near.as_slice() {
        [] => format!("there is no file {path}; list_files shows all {}", count(files)),
        near => format!("there is no file {path}; did you mean {}?", near.join(", ")),
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn count<F: Files>(files: &F) -> usize {
    files.list().keys().filter(|path| !path.starts_with(RESULTS)).count()
}

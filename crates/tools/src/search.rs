//! `search_files`: ranked full-text search over the workspace.
//!
//! Files are split into passages at headings and blank lines. They are ranked as the sections of a documentation site are:
//! by their heading, by the path and title of their file, and by their text. The index stores no text: it tracks file
//! versions, so a search reads only the files that changed since the last one, and the few files from which it shows snippets.

mod passages;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::html;
use super::path::RESULTS;
use super::rank::Ranks;
use super::terms::{names, terms};
use super::words::split_words;
use passages::{Passage, passages};
use turnwise_files::document::LATER;
use turnwise_files::{FileContent, Files, read_content, size_text};

/// Number of hits shown, unless the model asks for another number.
const DEFAULT_HITS: usize = 8;
/// Maximum number of hits of one file among them.
const MAX_HITS_PER_FILE: usize = 2;
/// Larger files are not searched.
const MAX_INDEXED_BYTES: u64 = 4 << 20;
/// Of a longer document, only the beginning is searched.
const MAX_INDEXED_TEXT: usize = 12 << 20;
const MAX_SNIPPET_CHARS: usize = 200;
/// Maximum number of documents that an answer names because they have no text, or more than is searched.
const MAX_SILENT: usize = 5;

/// The index of one worker.
#[derive(Default)]
pub struct FileIndex {
    ranks: Ranks,
    files: BTreeMap<String, Indexed>,
    /// Each passage, and the path of its file.
    passages: HashMap<u32, (String, Passage)>,
    next: u32,
}

struct Indexed {
    version: u64,
    /// Its passages; `None` if the file is not text, or too large.
    passages: Option<Vec<u32>>,
    /// The reason why a document has no text.
    silent: Option<String>,
    /// Whether only the beginning of a document is searched.
    cut: bool,
}

struct LineHit<'a> {
    path: &'a str,
    passage: Passage,
    score: f32,
}

impl std::fmt::Debug for FileIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

/// Returns one line per hit: `path:line  score  "snippet"`, in a document `path:line, page 7  score  "snippet"`.
///
/// # Errors
/// A query without words, or the error of reading a file.
pub async fn search_files<F: Files>(
    files: &F,
    index: &mut FileIndex,
    query: &str,
    limit: Option<usize>,
) -> Result<String, String> {
    let mut words = split_words(query);
    words.sort();
    words.dedup();
    if words.is_empty() {
        return Err("the query has no words".to_owned());
    }
    let later = index.follow(files).await?;
    let mut lines = Vec::new();
    let mut open: Option<(String, FileContent)> = None;
    for hit in index.best(query, limit.unwrap_or(DEFAULT_HITS)) {
        if open.as_ref().is_none_or(|(path, _)| path != hit.path) {
            open = Some((hit.path.to_owned(), searchable(files, hit.path).await?));
        }
        let Some((_, content)) = &open else { continue };
        let text = content.text().unwrap_or_default();
        let (line, snippet) = passages::best_line(text, hit.passage, &words, MAX_SNIPPET_CHARS);
        let place = content.place(line).map(|place| format!(", {place}")).unwrap_or_default();
        lines.push(format!("{}:{line}{place}  {:.2}  \"{snippet}\"", hit.path, hit.score));
    }
    let searched = index.files.values().filter(|file| file.passages.is_some()).count();
    let silent: Vec<_> = index.files.iter().filter_map(|(path, file)| Some((path, file.silent.as_ref()?))).collect();
    let skipped = index.files.len() - searched - silent.len();
    if lines.is_empty() {
        lines.push(format!("No match for \"{query}\" in {searched} files. Try other or fewer words."));
    }
    if skipped > 0 {
        lines.push(format!("[{skipped} files are not text or too large and were not searched]"));
    }
    for (path, reason) in silent.iter().take(MAX_SILENT) {
        lines.push(format!("[{path} was not searched: {reason}]"));
    }
    if silent.len() > MAX_SILENT {
        lines.push(format!("[{} more documents have no text that can be read]", silent.len() - MAX_SILENT));
    }
    for (path, _) in index.files.iter().filter(|(_, file)| file.cut).take(MAX_SILENT) {
        lines.push(format!("[of {path}, only the first {} of text were searched]", size_text(MAX_INDEXED_TEXT as u64)));
    }
    if later > 0 {
        lines.push(format!("[{later} documents are not read yet, for lack of time: search again to include them]"));
    }
    Ok(lines.join("\n"))
}

impl FileIndex {
    /// Updates the index with the files that changed since the last search. Returns the number of documents that are left for the
    /// next one.
    async fn follow<F: Files>(&mut self, files: &F) -> Result<usize, String> {
        let mut later = 0;
        let gone: Vec<String> = self.files.keys().filter(|path| !files.list().contains_key(*path)).cloned().collect();
        for path in gone {
            self.remove(&path);
        }
        for (path, info) in files.list() {
            let known = self.files.get(path).is_some_and(|file| file.version == info.version);
            if known || path.starts_with(RESULTS) {
                continue;
            }
            let content = read_content(files, path, *info, MAX_INDEXED_BYTES).await?;
            self.remove(path);
            if matches!(&content, FileContent::Silent(reason) if reason == LATER) {
                later += 1;
            } else {
                self.add(path, info.version, &content);
            }
        }
        Ok(later)
    }

    fn add(&mut self, path: &str, version: u64, content: &FileContent) {
        let silent = if let FileContent::Silent(reason) = content { Some(reason.clone()) } else { None };
        let cut = content.text().is_some_and(|text| text.len() > MAX_INDEXED_TEXT);
        let passages = content.text().map(|source| {
            let html = is_html(path) && matches!(content, FileContent::Text(_));
            let text = if html { Cow::Owned(html::to_text(source)) } else { Cow::Borrowed(beginning(source)) };
            let title = if html { html::title(source) } else { passages::title(&text) };
            let file = terms(&format!("{path} {}", title.unwrap_or_default()));
            let first = self.next;
            for (passage, heading, text) in passages(&text) {
                // The file's own name counts as the heading of its first passage.
                let (heading, above) =
                    if self.next == first { (file.clone(), &[][..]) } else { (terms(&heading), &*file) };
                self.ranks.add(self.next, [&heading, above, &terms(&text)]);
                self.passages.insert(self.next, (path.to_owned(), passage));
                self.next += 1;
            }
            (first..self.next).collect()
        });
        self.files.insert(path.to_owned(), Indexed { version, passages, silent, cut });
    }

    fn remove(&mut self, path: &str) {
        for passage in self.files.remove(path).and_then(|file| file.passages).into_iter().flatten() {
            self.ranks.remove(passage);
            self.passages.remove(&passage);
        }
    }

    /// The best passages, best first, with few of one file.
    fn best(&self, query: &str, limit: usize) -> Vec<LineHit<'_>> {
        let ranked = self.ranks.rank(&terms(query), &names(query)).sections;
        let hit =
            |(id, score)| self.passages.get(&id).map(|(path, passage)| LineHit { path, passage: *passage, score });
        let mut hits: Vec<LineHit<'_>> = ranked.into_iter().filter_map(hit).collect();
        hits.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| (a.path, a.passage.line).cmp(&(b.path, b.passage.line)))
        });
        let mut shown: HashMap<&str, usize> = HashMap::new();
        hits.retain(|hit| {
            let count = shown.entry(hit.path).or_default();
            *count += 1;
            *count <= MAX_HITS_PER_FILE
        });
        hits.truncate(limit);
        hits
    }
}

async fn searchable<F: Files>(files: &F, path: &str) -> Result<FileContent, String> {
    let Some(info) = files.list().get(path).copied() else { return Ok(FileContent::Text(String::new())) };
    Ok(match read_content(files, path, info, MAX_INDEXED_BYTES).await? {
        FileContent::Text(text) if is_html(path) => FileContent::Text(html::to_text(&text)),
        content => content,
    })
}

/// The part of a document's text that is searched: whole lines.
fn beginning(text: &str) -> &str {
    if text.len() <= MAX_INDEXED_TEXT {
        return text;
    }
    let end = text.floor_char_boundary(MAX_INDEXED_TEXT);
    let whole = text.get(..end).unwrap_or_default();
    whole.rsplit_once('\n').map_or(whole, |(lines, _)| lines)
}

fn is_html(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".html", ".htm", ".xhtml"].iter().any(|end| path.ends_with(end))
}

//! `search_files`: ranked full-text search over the workspace.
//!
//! Files are split into passages at headings and blank lines. They are ranked as the sections of a documentation site are:
//! by their heading, by the path and title of their file, and by their text. The index stores no text: it tracks file
//! versions, so a search reads only the files that changed since the last one, and the few files from which it shows snippets.
//! The lines of large text files are searched anew each time, piece by piece.

mod passages;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::html;
use super::large::{self, LargeText};
use super::path::RESULTS;
use super::rank::Ranks;
use super::terms::{names, terms};
use super::words::split_words;
use passages::{Passage, passages};
use turnwise_files::document::{LATER, PackedFile};
use turnwise_files::{FileContent, FileInfo, Files, NoText, read_content, size_text};

/// Number of hits shown, unless the model asks for another number.
const DEFAULT_HITS: usize = 8;
/// Maximum number of hits of one file among them.
const MAX_HITS_PER_FILE: usize = 2;
/// Larger text files are not ranked by passages: each search goes through their lines.
const MAX_INDEXED_BYTES: u64 = 4 << 20;
/// The bytes of such files that one search goes through.
const MAX_SCANNED: u64 = 1 << 30;
/// Files inside archives that are searched, and their bytes.
const MAX_PACKED_FILES: usize = 2_000;
const MAX_PACKED_BYTES: u64 = 32 << 20;
/// Of a longer document, only the beginning is searched.
const MAX_INDEXED_TEXT: usize = 12 << 20;
const MAX_SNIPPET_CHARS: usize = 200;
/// Maximum number of files that an answer names because they have no text, or more than is searched.
const MAX_SILENT: usize = 5;

/// The index of one worker.
#[derive(Default)]
pub struct FileIndex {
    ranks: Ranks,
    files: BTreeMap<String, Indexed>,
    /// Each passage, and the path of its file.
    passages: HashMap<u32, (String, Passage)>,
    next: u32,
    /// The number of files inside archives that are too many or too large.
    unsearched: usize,
}

struct Indexed {
    version: u64,
    /// Its passages; `None` if the file is not text, or large.
    passages: Option<Vec<u32>>,
    /// A large text.
    large: Option<(FileInfo, LargeText)>,
    /// The files inside, if it is an archive.
    inside: Vec<PackedFile>,
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
    let limit = limit.unwrap_or(DEFAULT_HITS);
    let mut lines = Vec::new();
    let mut open: Option<(String, FileContent)> = None;
    for hit in index.best(query, limit) {
        if open.as_ref().is_none_or(|(path, _)| path != hit.path) {
            open = Some((hit.path.to_owned(), searchable(files, hit.path).await?));
        }
        let Some((_, content)) = &open else { continue };
        let text = content.text().unwrap_or_default();
        let (line, snippet) = passages::best_line(text, hit.passage, &words, MAX_SNIPPET_CHARS);
        let place = content.place(line).map(|place| format!(", {place}")).unwrap_or_default();
        lines.push(format!("{}:{line}{place}  {:.2}  \"{snippet}\"", hit.path, hit.score));
    }
    let mut notes = Vec::new();
    index.scan(files, &words, limit, &mut lines, &mut notes).await?;
    let searched = index.files.values().filter(|file| file.passages.is_some() || file.large.is_some()).count();
    let silent: Vec<_> = index.files.iter().filter_map(|(path, file)| Some((path, file.silent.as_ref()?))).collect();
    let skipped: Vec<&String> = index
        .files
        .iter()
        .filter(|(_, file)| file.passages.is_none() && file.large.is_none() && file.silent.is_none())
        .map(|(path, _)| path)
        .collect();
    if lines.is_empty() {
        lines.push(format!("No match for \"{query}\" in {searched} files. Try other or fewer words."));
    }
    lines.append(&mut notes);
    if !skipped.is_empty() {
        let named: Vec<&str> = skipped.iter().take(MAX_SILENT).map(|path| path.as_str()).collect();
        let more = if skipped.len() > MAX_SILENT { ", …" } else { "" };
        let (are, were) = if skipped.len() == 1 { ("file is", "was") } else { ("files are", "were") };
        lines.push(format!("[{} {are} not text and {were} not searched: {}{more}]", skipped.len(), named.join(", ")));
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
    if index.unsearched > 0 {
        lines.push(format!(
            "[{} files inside archives were not searched: at most {MAX_PACKED_FILES} and {} are]",
            index.unsearched,
            size_text(MAX_PACKED_BYTES)
        ));
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
        let root = |path: &str| {
            let mut ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
            ends.find_map(|end| files.list().get(path.get(..end)?).map(|info| info.version))
        };
        let gone: Vec<String> = self
            .files
            .iter()
            .filter(|(path, file)| root(path) != Some(file.version))
            .map(|(path, _)| path.clone())
            .collect();
        for path in gone {
            self.remove(&path);
        }
        let (mut packed, mut packed_bytes) = (0, 0);
        self.unsearched = 0;
        for path in files.list().keys().filter(|path| !path.starts_with(RESULTS)) {
            later += usize::from(!self.take(files, path).await?);
            let inside = self.files.get(path).map(|file| file.inside.clone()).unwrap_or_default();
            for PackedFile { path, size } in inside {
                if packed >= MAX_PACKED_FILES || packed_bytes + size > MAX_PACKED_BYTES {
                    self.unsearched += 1;
                    continue;
                }
                (packed, packed_bytes) = (packed + 1, packed_bytes + size);
                later += usize::from(!self.take(files, &path).await?);
            }
        }
        Ok(later)
    }

    /// Adds a file, if it is not known. Returns whether there was time for it.
    async fn take<F: Files>(&mut self, files: &F, path: &str) -> Result<bool, String> {
        if self.files.contains_key(path) {
            return Ok(true);
        }
        let found = match files.find(path).await {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(true),
            // One file of an archive that is damaged does not end the search.
            Err(reason) => {
                let version = files.list().get(path).map_or(0, |info| info.version);
                self.add(path, version, &FileContent::Silent(reason));
                return Ok(true);
            }
        };
        let content = read_content(files, path, found.info, MAX_INDEXED_BYTES).await?;
        if matches!(&content, FileContent::Silent(reason) if reason == LATER) {
            return Ok(false);
        }
        self.add(path, found.info.version, &content);
        if content == FileContent::None(NoText::TooLarge)
            && let Ok(text) = LargeText::open(files, path, found.info).await?
            && let Some(file) = self.files.get_mut(path)
        {
            file.large = Some((found.info, text));
        }
        Ok(true)
    }

    /// Searches the lines of large texts. Those that have all words come before the passages.
    async fn scan<F: Files>(
        &self,
        files: &F,
        words: &[String],
        limit: usize,
        lines: &mut Vec<String>,
        notes: &mut Vec<String>,
    ) -> Result<(), String> {
        let mut left = MAX_SCANNED;
        let mut first = 0;
        for (path, (info, text)) in self.files.iter().filter_map(|(path, file)| Some((path, file.large.as_ref()?))) {
            if left == 0 {
                notes.push(format!("[{path} ({}) was not searched: too much for one search]", size_text(info.size)));
                continue;
            }
            let found = large::scan(files, path, *info, text, words, left).await?;
            left -= info.size.min(left);
            let all = found.words == words.len();
            let share = found.words as f64 / words.len() as f64;
            let hits: Vec<String> = found
                .lines
                .iter()
                .map(|(line, text)| {
                    format!("{path}:{line}  {share:.2}  \"{}\"", passages::snippet(text, words, MAX_SNIPPET_CHARS))
                })
                .collect();
            let at = if all { first } else { lines.len() };
            first += if all { hits.len() } else { 0 };
            lines.splice(at..at, hits);
            let size = size_text(info.size);
            let has = match (found.count, found.words) {
                (0, _) => "no line has any of the words".to_owned(),
                (1, has) => format!("1 line has {has} of {} words", words.len()),
                (count, has) => format!("{count} lines have {has} of {} words", words.len()),
            };
            let cut = found.cut.map(|read| format!("; only its first {} were searched", size_text(read)));
            notes.push(format!("[{path} ({size}) was searched line by line: {has}{}]", cut.unwrap_or_default()));
        }
        lines.truncate(limit.max(first));
        Ok(())
    }

    fn add(&mut self, path: &str, version: u64, content: &FileContent) {
        let silent = if let FileContent::Silent(reason) = content { Some(reason.clone()) } else { None };
        let cut = content.text().is_some_and(|text| text.len() > MAX_INDEXED_TEXT);
        let passages = content.text().map(|source| {
            let html = is_html(path) && matches!(content, FileContent::Text { .. });
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
        let inside = match content {
            FileContent::Document(document) => {
                let full = |file: &PackedFile| PackedFile { path: format!("{path}/{}", file.path), size: file.size };
                document.files.iter().map(full).collect()
            }
            _ => Vec::new(),
        };
        self.files.insert(path.to_owned(), Indexed { version, passages, large: None, inside, silent, cut });
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
    let Some(found) = files.find(path).await? else { return Ok(FileContent::None(NoText::TooLarge)) };
    Ok(match read_content(files, path, found.info, MAX_INDEXED_BYTES).await? {
        FileContent::Text { text, note } if is_html(path) => FileContent::Text { text: html::to_text(&text), note },
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

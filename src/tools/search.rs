//! `search_files`: ranked full-text search over the workspace.
//!
//! Files are split into passages at headings and blank lines. They are ranked as the sections of a documentation site are:
//! by their heading, by the path and title of their file, and by their text. The index stores no text: it tracks file
//! versions, so a search reads only the files that changed since the last one, and the few files from which it shows snippets.

mod passages;

use std::collections::{BTreeMap, HashMap};

use super::files::{FileInfo, Files, read_text};
use super::html;
use super::path::RESULTS;
use super::rank::Ranks;
use super::terms::{names, terms};
use super::words::split_words;
use passages::{Passage, passages};

/// Number of hits shown, unless the model asks for another number.
const DEFAULT_HITS: usize = 8;
/// Maximum number of hits of one file among them.
const MAX_HITS_PER_FILE: usize = 2;
/// Larger files are not searched.
const MAX_INDEXED_BYTES: u64 = 4 << 20;
const MAX_SNIPPET_CHARS: usize = 200;

/// The index of one worker.
#[derive(Default)]
pub struct Index {
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
}

struct Hit<'a> {
    path: &'a str,
    passage: Passage,
    score: f32,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

/// Returns one line per hit: `path:line  score  "snippet"`.
///
/// # Errors
/// A query without words, or the error of reading a file.
pub async fn search_files<F: Files>(
    files: &F,
    index: &mut Index,
    query: &str,
    limit: Option<usize>,
) -> Result<String, String> {
    let mut words = split_words(query);
    words.sort();
    words.dedup();
    if words.is_empty() {
        return Err("the query has no words".to_owned());
    }
    index.follow(files).await?;
    let mut lines = Vec::new();
    let mut open: Option<(String, String)> = None;
    for hit in index.best(query, limit.unwrap_or(DEFAULT_HITS)) {
        if open.as_ref().is_none_or(|(path, _)| path != hit.path) {
            let text = searchable_text(files, hit.path).await?.unwrap_or_default();
            open = Some((hit.path.to_owned(), text));
        }
        let text = open.as_ref().map(|(_, text)| text.as_str()).unwrap_or_default();
        let (line, snippet) = passages::best_line(text, hit.passage, &words, MAX_SNIPPET_CHARS);
        lines.push(format!("{}:{line}  {:.2}  \"{snippet}\"", hit.path, hit.score));
    }
    let searched = index.files.values().filter(|file| file.passages.is_some()).count();
    let skipped = index.files.len() - searched;
    if lines.is_empty() {
        lines.push(format!("No match for \"{query}\" in {searched} files. Try other or fewer words."));
    }
    if skipped > 0 {
        lines.push(format!("[{skipped} files are not text or too large and were not searched]"));
    }
    Ok(lines.join("\n"))
}

impl Index {
    /// Updates the index with the files that changed since the last search.
    async fn follow<F: Files>(&mut self, files: &F) -> Result<(), String> {
        let gone: Vec<String> = self.files.keys().filter(|path| !files.list().contains_key(*path)).cloned().collect();
        for path in gone {
            self.remove(&path);
        }
        for (path, info) in files.list() {
            let known = self.files.get(path).is_some_and(|file| file.version == info.version);
            if known || path.starts_with(RESULTS) {
                continue;
            }
            let text = indexable(files, path, *info).await?;
            self.remove(path);
            self.add(path, info.version, text.as_deref());
        }
        Ok(())
    }

    fn add(&mut self, path: &str, version: u64, text: Option<&str>) {
        let passages = text.map(|source| {
            let text = if is_html(path) { html::to_text(source) } else { source.to_owned() };
            let title = if is_html(path) { html::title(source) } else { passages::title(&text) };
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
        self.files.insert(path.to_owned(), Indexed { version, passages });
    }

    fn remove(&mut self, path: &str) {
        for passage in self.files.remove(path).and_then(|file| file.passages).into_iter().flatten() {
            self.ranks.remove(passage);
            self.passages.remove(&passage);
        }
    }

    /// The best passages, best first, with few of one file.
    fn best(&self, query: &str, limit: usize) -> Vec<Hit<'_>> {
        let ranked = self.ranks.rank(&terms(query), &names(query)).sections;
        let hit = |(id, score)| self.passages.get(&id).map(|(path, passage)| Hit { path, passage: *passage, score });
        let mut hits: Vec<Hit<'_>> = ranked.into_iter().filter_map(hit).collect();
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

async fn indexable<F: Files>(files: &F, path: &str, info: FileInfo) -> Result<Option<String>, String> {
    if info.size > MAX_INDEXED_BYTES {
        return Ok(None);
    }
    Ok(read_text(files, path, info).await?.ok())
}

async fn searchable_text<F: Files>(files: &F, path: &str) -> Result<Option<String>, String> {
    let Some(info) = files.list().get(path).copied() else { return Ok(None) };
    let text = indexable(files, path, info).await?;
    Ok(text.map(|text| if is_html(path) { html::to_text(&text) } else { text }))
}

fn is_html(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    [".html", ".htm", ".xhtml"].iter().any(|end| path.ends_with(end))
}

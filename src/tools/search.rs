//! `search_files`: ranked full-text search (BM25) over the workspace.
//!
//! Files are split into passages at headings and blank lines; a passage's score is its own plus the score of its file's
//! path and title, which has more weight. The index stores no text: it tracks file versions, so a search reads only the
//! files that changed since the last one, and the few files from which it shows snippets.

mod passages;

use std::collections::{BTreeMap, HashMap};

use bm25::{Embedder, EmbedderBuilder, Scorer, Tokenizer};

use super::files::{FileInfo, Files, read_text};
use super::html;
use super::path::RESULTS;
use super::words::split_words;
use passages::{Passage, passages};

/// Number of hits shown, unless the model asks for another number.
const DEFAULT_HITS: usize = 8;
/// Maximum number of hits of one file among them.
const MAX_HITS_PER_FILE: usize = 2;
/// Larger files are not searched.
const MAX_INDEXED_BYTES: u64 = 4 << 20;
/// The weight of a match in the path or title relative to one in the text.
const TITLE_WEIGHT: f32 = 2.0;
/// Average number of words of a passage and of a title, by which BM25 normalizes lengths.
const PASSAGE_WORDS: f32 = 60.0;
const TITLE_WORDS: f32 = 6.0;
const MAX_SNIPPET_CHARS: usize = 200;

/// The tokenizer of the index.
#[derive(Debug, Default)]
pub struct Words;

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        split_words(text)
    }
}

/// The index of one worker.
pub struct Index {
    passage_embedder: Embedder<u32, Words>,
    title_embedder: Embedder<u32, Words>,
    passages: Scorer<PassageId>,
    titles: Scorer<u32>,
    files: BTreeMap<String, Indexed>,
    paths: HashMap<u32, String>,
    next_file: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PassageId {
    file: u32,
    number: u32,
}

struct Indexed {
    id: u32,
    version: u64,
    /// Lines of each passage; `None` if the file is not text, or too large.
    passages: Option<Vec<Passage>>,
}

struct Hit {
    path: String,
    passage: Passage,
    score: f32,
}

impl Default for Index {
    fn default() -> Self {
        Index {
            passage_embedder: EmbedderBuilder::with_avgdl(PASSAGE_WORDS).build(),
            title_embedder: EmbedderBuilder::with_avgdl(TITLE_WORDS).build(),
            passages: Scorer::new(),
            titles: Scorer::new(),
            files: BTreeMap::new(),
            paths: HashMap::new(),
            next_file: 0,
        }
    }
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
    let mut terms = split_words(query);
    terms.sort();
    terms.dedup();
    if terms.is_empty() {
        return Err("the query has no words".to_owned());
    }
    index.follow(files).await?;
    let mut lines = Vec::new();
    let mut open: Option<(String, String)> = None;
    for hit in index.best(&terms, limit.unwrap_or(DEFAULT_HITS)) {
        if open.as_ref().is_none_or(|(path, _)| *path != hit.path) {
            let text = searchable_text(files, &hit.path).await?.unwrap_or_default();
            open = Some((hit.path.clone(), text));
        }
        let text = open.as_ref().map(|(_, text)| text.as_str()).unwrap_or_default();
        let (line, snippet) = passages::best_line(text, hit.passage, &terms, MAX_SNIPPET_CHARS);
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
        let id = self.next_file;
        self.next_file += 1;
        let passages = text.map(|source| {
            let text = if is_html(path) { html::to_text(source) } else { source.to_owned() };
            let title = if is_html(path) { html::title(source) } else { passages::title(&text) };
            let heading = format!("{path} {}", title.unwrap_or_default());
            self.titles.upsert(&id, self.title_embedder.embed(&heading));
            let passages = passages(&text);
            for (number, (_, words)) in (0_u32..).zip(&passages) {
                self.passages.upsert(&PassageId { file: id, number }, self.passage_embedder.embed(words));
            }
            passages.into_iter().map(|(passage, _)| passage).collect()
        });
        self.paths.insert(id, path.to_owned());
        self.files.insert(path.to_owned(), Indexed { id, version, passages });
    }

    fn remove(&mut self, path: &str) {
        let Some(file) = self.files.remove(path) else { return };
        for number in (0_u32..).take(file.passages.map_or(0, |p| p.len())) {
            self.passages.remove(&PassageId { file: file.id, number });
        }
        self.titles.remove(&file.id);
        self.paths.remove(&file.id);
    }

    /// The best passages, best first, with few of one file.
    fn best(&self, terms: &[String], limit: usize) -> Vec<Hit> {
        let query = terms.join(" ");
        let titles: HashMap<u32, f32> =
            self.titles.matches(&self.title_embedder.embed(&query)).into_iter().map(|d| (d.id, d.score)).collect();
        let mut scores: HashMap<PassageId, f32> =
            self.passages.matches(&self.passage_embedder.embed(&query)).into_iter().map(|d| (d.id, d.score)).collect();
        for (file, score) in titles {
            // A file that matches only by its title shows its first passage.
            let mut in_text = scores.iter_mut().filter(|(id, _)| id.file == file).peekable();
            if in_text.peek().is_some() {
                in_text.for_each(|(_, sum)| *sum += TITLE_WEIGHT * score);
            } else {
                scores.insert(PassageId { file, number: 0 }, TITLE_WEIGHT * score);
            }
        }
        let mut hits: Vec<Hit> = scores.into_iter().filter_map(|(id, score)| self.hit(id, score)).collect();
        hits.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| (&a.path, a.passage.line).cmp(&(&b.path, b.passage.line)))
        });
        let mut shown: HashMap<String, usize> = HashMap::new();
        hits.retain(|hit| {
            let count = shown.entry(hit.path.clone()).or_default();
            *count += 1;
            *count <= MAX_HITS_PER_FILE
        });
        hits.truncate(limit);
        hits
    }

    fn hit(&self, id: PassageId, score: f32) -> Option<Hit> {
        let path = self.paths.get(&id.file)?;
        let passages = self.files.get(path)?.passages.as_ref()?;
        let passage = passages.get(id.number as usize).copied().unwrap_or_default();
        Some(Hit { path: path.clone(), passage, score })
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

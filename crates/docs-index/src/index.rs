//! The index: finds sections of pages by their headings and their text.
//!
//! Uses BM25 over three fields at once (BM25F): a section's own heading, the headings above it with its page's title,
//! and its text. `tools/terms` defines what a term is, `tools/rank` how it is weighted.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::head::Head;
use super::marks::cut;
use super::nearness::Nearness;
use super::{Match, SearchResult, SectionHit, url};
use turnwise_tools::rank;
use turnwise_tools::terms::{names, terms};
use turnwise_tools::words::split_words;

/// A page as read from one of the formats.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageText {
    /// Without a fragment.
    pub url: String,
    pub title: String,
    pub sections: Vec<SectionText>,
}

/// A section of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SectionText {
    /// Its fragment, without `#`; empty for the page itself.
    pub anchor: String,
    /// The headings above it and below the page's title, joined by ` › `.
    pub trail: String,
    /// Empty for the text under the page's title.
    pub heading: String,
    /// Its text without markup.
    pub text: String,
}

impl SectionText {
    /// Its headings from the page's title down, joined by ` › `.
    pub fn headings(&self) -> String {
        let between = if self.trail.is_empty() || self.heading.is_empty() { "" } else { " › " };
        format!("{}{between}{}", self.trail, self.heading)
    }
}

/// Maximum length of a page's title: every hit repeats it.
const MAX_TITLE_CHARS: usize = 200;
/// Maximum number of sections; characters of one section; bytes of all sections.
const MAX_SECTIONS: usize = 60_000;
const MAX_SECTION_CHARS: usize = 60_000;
const MAX_BYTES: usize = 80 << 20;
/// The weight of a hit whose language or version differs from the current page's, and of a list of changes unless the query
/// asks for changes.
const ELSEWHERE: f32 = 0.5;
const CHANGES: f32 = 0.6;
/// The weight of a hit on the current page, and in its folder.
const OPEN_PAGE: f32 = 1.1;
const NEIGHBOUR: f32 = 1.03;
/// Maximum number of hits of one page among the first results.
const MAX_HITS_PER_PAGE: usize = 2;
const MAX_SNIPPET_CHARS: usize = 240;
/// A match is weak below this fit; each missing word lowers the fit by one. Measured on questions that sites do and do not
/// answer: widget-search.md#how-well-it-finds.
const STRONG: f32 = 0.24;
/// Terms of a query that asks for changes.
const CHANGE_WORDS: &[&str] =
    &["changelog", "change", "changed", "release", "released", "version", "new", "news", "history", "since", "migrate"];
/// From this number of words on, a query is a sentence, most of whose words are the visitor's own: a match is weak if more
/// than this share of them is missing.
const SENTENCE: usize = 8;
const MANY_MISSING: f32 = 0.3;

/// The sections of a site.
#[derive(Debug, Default)]
pub struct SiteIndex {
    /// The current page, and which pages are near to it.
    home: String,
    near: Nearness,
    pages: Vec<IndexedPage>,
    by_key: HashMap<String, usize>,
    sections: Vec<Section>,
    ranks: rank::Ranks,
    bytes: usize,
    live: usize,
}

#[derive(Debug)]
struct IndexedPage {
    url: String,
    title: String,
    sections: Vec<u32>,
    /// Whether its full text is known, not only its titles.
    whole: bool,
    /// What its hits' scores are multiplied with.
    weight: f32,
    /// A list of changes: a changelog, release notes.
    changes: bool,
    /// The page does not exist.
    gone: bool,
}

#[derive(Debug)]
struct Section {
    page: usize,
    text: SectionText,
    /// Replaced by a later reading of its page.
    gone: bool,
}

impl SiteIndex {
    /// An index of the site below `root`, queried from the page `home`.
    #[must_use]
    pub fn new(root: &str, home: &str) -> Self {
        SiteIndex::seen_from(home, Nearness::new(root, home))
    }

    /// The same, with what is known of the site's languages and versions.
    #[must_use]
    pub fn seen_from(home: &str, near: Nearness) -> Self {
        SiteIndex { home: home.to_owned(), near, ..SiteIndex::default() }
    }

    #[must_use]
    pub fn nearness(&self) -> &Nearness {
        &self.near
    }

    /// Notes what a page declares, and says whether other pages are nearer or farther now.
    pub fn learn(&mut self, address: &str, head: &Head) -> bool {
        let changed = self.near.learn(address, head);
        if changed {
            let weights: Vec<f32> = self.pages.iter().map(|page| self.weight(&page.url)).collect();
            self.pages.iter_mut().zip(weights).for_each(|(page, weight)| page.weight = weight);
        }
        changed
    }

    /// Adds a page, or replaces a partly known page by its full text.
    pub fn add(&mut self, page: PageText, whole: bool) {
        let key = url::key(&page.url);
        let at = match self.by_key.get(&key) {
            Some(at) if self.pages.get(*at).is_some_and(|known| known.whole) => return,
            Some(at) => *at,
            None => {
                let (url, title) = (page.url.clone(), String::new());
                let (weight, changes) = (self.weight(&url), is_changes(&url));
                self.pages.push(IndexedPage { url, title, sections: Vec::new(), whole, weight, changes, gone: false });
                self.by_key.insert(key, self.pages.len() - 1);
                self.pages.len() - 1
            }
        };
        let Some(known) = self.pages.get_mut(at) else { return };
        let before = std::mem::take(&mut known.sections);
        known.whole = whole;
        if !page.title.is_empty() {
            known.title = cut(&page.title, MAX_TITLE_CHARS).to_owned();
        }
        known.url = page.url;
        let title = known.title.clone();
        self.forget(before);
        for mut text in page.sections {
            if self.live >= MAX_SECTIONS || self.bytes >= MAX_BYTES {
                break;
            }
            text.text = cut(&text.text, MAX_SECTION_CHARS).to_owned();
            let id = u32::try_from(self.sections.len()).unwrap_or(u32::MAX);
            let heading = if text.heading.is_empty() { &title } else { &text.heading };
            let above = if text.heading.is_empty() { String::new() } else { format!("{title} {}", text.trail) };
            self.ranks.add(id, [&terms(heading), &terms(&above), &terms(&text.text)]);
            self.bytes += text.text.len();
            self.live += 1;
            if let Some(page) = self.pages.get_mut(at) {
                page.sections.push(id);
            }
            self.sections.push(Section { page: at, text, gone: false });
        }
    }

    /// Removes a page that does not exist, if no more than its titles are known.
    pub fn remove(&mut self, address: &str) {
        let key = url::key(address);
        let Some(page) = self.by_key.get(&key).and_then(|at| self.pages.get_mut(*at)).filter(|page| !page.whole) else {
            return;
        };
        page.gone = true;
        let before = std::mem::take(&mut page.sections);
        self.by_key.remove(&key);
        self.forget(before);
    }

    fn weight(&self, page: &str) -> f32 {
        match () {
            () if self.near.is_elsewhere(page) => ELSEWHERE,
            () if url::key(page) == url::key(&self.home) => OPEN_PAGE,
            () if url::folder(page) == url::folder(&self.home) => NEIGHBOUR,
            () => 1.0,
        }
    }

    fn forget(&mut self, sections: Vec<u32>) {
        for id in sections {
            if let Some(section) = self.sections.get_mut(id as usize) {
                self.bytes = self.bytes.saturating_sub(section.text.text.len());
                section.text = SectionText::default();
                section.gone = true;
                self.ranks.remove(id);
                self.live -= 1;
            }
        }
    }

    fn there(&self) -> impl Iterator<Item = &IndexedPage> {
        self.pages.iter().filter(|page| !page.gone)
    }

    #[must_use]
    pub fn pages(&self) -> usize {
        self.there().count()
    }

    /// Pages whose text is known.
    #[must_use]
    pub fn whole_pages(&self) -> usize {
        self.pages.iter().filter(|page| page.whole).count()
    }

    #[must_use]
    pub fn sections(&self) -> usize {
        self.live
    }

    /// Whether the text of a page is known.
    #[must_use]
    pub fn is_whole(&self, address: &str) -> bool {
        self.by_key.get(&url::key(address)).and_then(|at| self.pages.get(*at)).is_some_and(|page| page.whole)
    }

    /// The pages of which only the title is known, and no word of the text.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        let has_text = |id: &u32| self.sections.get(*id as usize).is_some_and(|section| !section.text.text.is_empty());
        self.there()
            .filter(move |page| !page.whole && !page.sections.iter().any(has_text))
            .map(|page| page.url.as_str())
    }

    /// Address and title of the page at `address`, in any spelling of the address.
    #[must_use]
    pub fn page(&self, address: &str) -> Option<(&str, &str)> {
        let page = self.pages.get(*self.by_key.get(&url::key(address))?)?;
        Some((&page.url, &page.title))
    }

    /// Address, title and number of sections of every page, in the site's order.
    pub fn list(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.there().map(|page| (page.url.as_str(), page.title.as_str(), page.sections.len()))
    }

    /// All known pages, in the form that `add` takes.
    pub fn texts(&self) -> impl Iterator<Item = (PageText, bool)> {
        self.there().map(|page| {
            let sections = page.sections.iter().filter_map(|id| self.sections.get(*id as usize));
            let sections = sections.map(|section| section.text.clone()).collect();
            (PageText { url: page.url.clone(), title: page.title.clone(), sections }, page.whole)
        })
    }

    /// Returns the best sections, best first, with few of one page as long as there are others. Of sections with the
    /// same text (copies in other versions, languages without a translation), it returns the one nearest to the current
    /// page. Returns nothing for a query without words.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> SearchResult {
        let asked = terms(query);
        let ranking = self.ranks.rank(&asked, &names(query));
        let missing = self.missing(query);
        let asks_for_changes = asked.iter().any(|term| CHANGE_WORDS.contains(&term.as_str()));
        let page_of = |id: u32| {
            let section = self.sections.get(id as usize).filter(|section| !section.gone)?;
            Some((self.pages.get(section.page)?, &section.text))
        };
        let mut found = ranking.sections;
        for (id, score) in &mut found {
            let Some((page, _)) = page_of(*id) else { continue };
            let changes = if page.changes && !asks_for_changes { CHANGES } else { 1.0 };
            *score *= page.weight * changes;
        }
        rank::sort_best_first(&mut found);
        let mut shown: HashMap<&str, usize> = HashMap::new();
        let mut seen: HashSet<(&str, &SectionText)> = HashSet::new();
        let (mut hits, mut more) = (Vec::new(), Vec::new());
        for (id, score) in found {
            if hits.len() >= limit {
                break;
            }
            let Some((page, section)) = page_of(id) else { continue };
            if !section.text.is_empty() && !seen.insert((page.title.as_str(), section)) {
                continue;
            }
            let count = shown.entry(page.url.as_str()).or_default();
            *count += 1;
            let list = if *count > MAX_HITS_PER_PAGE { &mut more } else { &mut hits };
            if list.len() < limit {
                list.push((page, section, score));
            }
        }
        let hits = hits.into_iter().chain(more).take(limit);
        let hits: Vec<SectionHit> = hits.map(|(page, section, score)| self.hit(page, section, &asked, score)).collect();
        let fit = match hits.is_empty() {
            true => Match::None,
            false if is_weak(ranking.fit, query, missing.len()) => Match::Weak,
            false => Match::Strong,
        };
        SearchResult { hits, missing, fit }
    }

    /// The words of a query that occur nowhere. A name of several words (`maxTurns`) is missing if one of them is.
    fn missing(&self, query: &str) -> Vec<String> {
        let mut missing: Vec<String> = Vec::new();
        for word in query.split(|c: char| !c.is_alphanumeric() && !"-_.:'".contains(c)) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            let terms = terms(word);
            let known = terms.is_empty() || terms.last().is_some_and(|whole| self.ranks.knows(whole));
            if !known && !terms.iter().all(|term| self.ranks.knows(term)) && !missing.iter().any(|m| m == word) {
                missing.push(word.to_owned());
            }
        }
        missing
    }

    fn hit(&self, page: &IndexedPage, section: &SectionText, asked: &[String], score: f32) -> SectionHit {
        let mark = if section.anchor.is_empty() { "" } else { "#" };
        SectionHit {
            url: format!("{}{mark}{}", page.url, section.anchor),
            page: page.title.clone(),
            section: section.headings(),
            snippet: snippet(&section.text, asked),
            score: (score * 100.0).round() / 100.0,
        }
    }

    /// Words of the site that are similar to those of a query that found nothing.
    #[must_use]
    pub fn near(&self, query: &str) -> Vec<String> {
        self.ranks.near(&split_words(query))
    }
}

/// By its address: `changelog.html`, `release-notes/v2/`.
fn is_changes(page: &str) -> bool {
    let names = ["changelog", "changes", "release-notes", "releases", "whats-new", "history", "news"];
    let path = url::parts(page).map(|parts| parts.path.to_lowercase().replace('_', "-")).unwrap_or_default();
    path.split('/').any(|part| names.contains(&part.split('.').next().unwrap_or_default()))
}

fn is_weak(fit: f32, query: &str, missing: usize) -> bool {
    let words = query.split_whitespace().count();
    if words >= SENTENCE { missing as f32 > words as f32 * MANY_MISSING } else { fit - (missing as f32) < STRONG }
}

/// The part of a text that contains most of the terms.
fn snippet(text: &str, terms: &[String]) -> String {
    let total = text.chars().count();
    if total <= MAX_SNIPPET_CHARS {
        return text.to_owned();
    }
    // Matching words with their start position, in characters.
    let mut places: Vec<(usize, String)> = Vec::new();
    let mut at = 0;
    for word in text.split(' ').take(20_000) {
        places.extend(split_words(word).into_iter().filter(|word| terms.contains(word)).map(|word| (at, word)));
        at += word.chars().count() + 1;
    }
    let window = MAX_SNIPPET_CHARS * 3 / 4;
    let kinds = |from: usize| {
        let mut seen: Vec<&str> = Vec::new();
        for (at, word) in places.iter().skip_while(|(at, _)| *at < from).take_while(|(at, _)| *at < from + window) {
            if !seen.contains(&word.as_str()) && *at >= from {
                seen.push(word);
            }
        }
        seen.len()
    };
    let mut best = (0, 0);
    for (from, _) in places.iter().take(2_000) {
        let found = kinds(*from);
        if found > best.1 {
            best = (*from, found);
        }
    }
    let from = best.0.saturating_sub(MAX_SNIPPET_CHARS / 6).min(total - MAX_SNIPPET_CHARS);
    // Start at the beginning of a word.
    let skip =
        if from == 0 { 0 } else { text.chars().skip(from).position(|c| c == ' ').map_or(from, |p| from + p + 1) };
    let part: String = text.chars().skip(skip).take(MAX_SNIPPET_CHARS).collect();
    let (before, after) = (if skip > 0 { "…" } else { "" }, if skip + MAX_SNIPPET_CHARS < total { "…" } else { "" });
    format!("{before}{}{after}", part.trim())
}

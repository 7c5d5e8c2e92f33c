//! One site, from its first page to search results: the finder runs, then the remaining pages are read into the index.
//!
//! A site can be searched as soon as its titles are sufficient or its first pages were read; the rest is read while queries are
//! answered. Pages are read in the order of their nearness to the page at hand, up to a limit; of the others, a search requests
//! those whose titles or words it finds, and more of them if it finds nothing that fits. A few addresses are given out at a time,
//! because what the pages declare changes which are near.

use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::copies::{self, Copies};
use super::find::{SourceFinder, TextSource};
use super::html::{self, HtmlPage};
use super::index::{PageText, SiteIndex};
use super::nearness::Distance;
use super::routes::Routes;
use super::{
    FetchedPage, Info, Match, SearchResult, SiteKind, SiteStage, SiteStep, head, listings, llms, marks, refresh, url,
};

/// Maximum number of pages that are read before they are asked for.
pub const MAX_PAGES: usize = 400;
/// Maximum number of further pages that searches request.
pub const MAX_SOUGHT: usize = 400;
/// Number of pages that one search requests: of those that it finds by their titles, and in all, if nothing fits well.
const MAX_FOUND: usize = 8;
const MAX_MORE: usize = 40;
/// Number of addresses given out at a time: more than are fetched at once, so that the fetcher never waits.
const WINDOW: usize = 32;
/// Number of pages after which the site can be searched.
const ENOUGH: usize = 16;
/// Maximum number of pages kept as Markdown for `read_page`.
const MAX_KEPT: usize = 12;

/// A site, partly or completely read.
#[derive(Debug)]
pub struct Site {
    finder: Option<SourceFinder>,
    index: SiteIndex,
    /// The current page.
    home: String,
    info: Info,
    from: String,
    /// Pages requested and not yet answered, by key.
    open: HashSet<String>,
    seen: HashSet<String>,
    todo: Todo,
    /// Pages to be read before all others: those that failed for the moment, and files in place of pages.
    first: VecDeque<String>,
    asked: usize,
    /// Pages that searches requested, and the last query with the number of pages left to request for it.
    sought: HashSet<String>,
    query: (String, usize),
    hides: bool,
    has_body: bool,
    /// Pages that are hidden from searches.
    hidden: Vec<PageText>,
    read: usize,
    crawl: bool,
    telling: bool,
    error: Option<String>,
    last_failure: Option<String>,
    /// Pages requested a second time because of a temporary server error.
    again: HashSet<String>,
    /// Whether a page is missing that may be available next time.
    lacking: bool,
    /// Hashes of the pages' HTML.
    texts: HashSet<String>,
    copies: Copies,
    routes: Routes,
    /// How pages without text may be addressed, and the keys of the files that would confirm it.
    guess: Routes,
    beside: HashSet<String>,
    /// The HTML of the current page, as its browser shows it.
    shown: Option<String>,
    /// Whether that page is part of what was read.
    live: bool,
    /// Whether pages without text were read, or the same page under several addresses.
    hollow: bool,
    /// The file of the first page, if that page was a shell and no other has been one so far.
    waiting: Option<String>,
    /// Pages as Markdown, and the keys of the pages requested in this form.
    kept: VecDeque<(String, HtmlPage)>,
    wanted: HashSet<String>,
}

/// How much of a site was read, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub pages: usize,
    pub read: usize,
    /// Pages of which only the title is known, and no word of the text.
    pub titles: usize,
    /// Pages in the language and version of the page at hand, and those of them that were read.
    pub near_pages: usize,
    pub near_read: usize,
}

/// Pages to be read, the nearest first; of equally near ones, the first that was added.
#[derive(Debug, Default)]
struct Todo {
    pages: Vec<(Distance, String)>,
    /// Number of pages at the front that are in order.
    sorted: usize,
}

impl Todo {
    fn push(&mut self, index: &SiteIndex, page: String) {
        self.pages.push((index.nearness().distance(&page), page));
    }

    /// The nearness of pages has changed.
    fn measure(&mut self, index: &SiteIndex) {
        self.pages.iter_mut().for_each(|(distance, page)| *distance = index.nearness().distance(page));
        self.sorted = 0;
    }

    /// Takes the nearest pages.
    fn take(&mut self, count: usize) -> Vec<String> {
        if self.sorted < self.pages.len() {
            self.pages.sort_by_key(|(distance, _)| *distance);
        }
        let taken: Vec<String> = self.pages.drain(..count.min(self.pages.len())).map(|(_, page)| page).collect();
        self.sorted = self.pages.len();
        taken
    }

    fn remove(&mut self, key: &str) {
        let before = self.pages.len();
        self.pages.retain(|(_, page)| url::key(page) != key);
        self.sorted -= (before - self.pages.len()).min(self.sorted);
    }
}

/// The part of a site that is stored between visits.
#[derive(Serialize, Deserialize)]
struct Saved {
    format: u32,
    info: Info,
    from: String,
    routes: Routes,
    hides: bool,
    has_body: bool,
    pages: Vec<(PageText, bool)>,
}

/// Format of [`Saved`]; other formats are not read.
const FORMAT: u32 = 3;

impl Site {
    /// See [`super::SiteQuery::Open`].
    #[must_use]
    pub fn open(page: &str, html: Option<&str>, source: Option<&str>) -> (Self, SiteStep) {
        let mut site = Site {
            finder: Some(SourceFinder::new(page, html, source)),
            index: SiteIndex::default(),
            home: url::page(page),
            info: Info::default(),
            from: url::page(page),
            open: HashSet::new(),
            seen: HashSet::new(),
            todo: Todo::default(),
            first: VecDeque::new(),
            asked: 0,
            sought: HashSet::new(),
            query: Default::default(),
            hides: false,
            has_body: false,
            hidden: Vec::new(),
            read: 0,
            crawl: false,
            telling: false,
            error: None,
            last_failure: None,
            again: HashSet::new(),
            lacking: false,
            texts: HashSet::new(),
            copies: Copies::default(),
            routes: Routes::default(),
            guess: Routes::default(),
            beside: HashSet::new(),
            shown: html.map(str::to_owned),
            live: false,
            hollow: false,
            waiting: None,
            kept: VecDeque::new(),
            wanted: HashSet::new(),
        };
        let step = site.step();
        (site, step)
    }

    /// Takes a response, with its text if it has one.
    pub fn take(&mut self, got: &FetchedPage, text: Option<&str>) -> SiteStep {
        if self.wanted.remove(&url::key(&got.url)) {
            self.keep(got, text);
        }
        if let Some(finder) = &mut self.finder {
            if let Some(first) = text.filter(|_| finder.site().is_none()) {
                // The first response is the current page.
                self.from = first.lines().next().map(|_| got.url.clone()).unwrap_or_default();
            }
            finder.reply(got, text);
        } else if self.open.remove(&url::key(&got.url)) {
            self.take_page(got, text);
        }
        self.step()
    }

    fn take_page(&mut self, got: &FetchedPage, text: Option<&str>) {
        let stays = got.at.is_empty() || url::below(&self.info.root, &got.at);
        let Some(text) = text.filter(|_| (200..300).contains(&got.status) && stays) else {
            let passing = got.status == 429 || got.status >= 500;
            if passing && self.again.insert(url::key(&got.url)) {
                self.asked = self.asked.saturating_sub(1);
                return self.first.push_back(got.url.clone());
            }
            match got.status {
                404 | 410 => self.index.remove(&got.url),
                status => self.lacking |= passing || status == 0,
            }
            let why = match got.status {
                0 => "no answer".to_owned(),
                300..400 if !got.at.is_empty() => format!("it leads to {}, which is another site", got.at),
                _ if !stays => format!("it leads to {}, which is not part of the site", got.at),
                status => format!("status {status}"),
            };
            self.last_failure = Some(format!("{} ({why})", got.url));
            self.read += 1;
            return;
        };
        self.read += 1;
        if is_markdown(got, text) {
            return self.take_file(got, text);
        }
        let at = if got.at.is_empty() { &got.url } else { &got.at };
        if let Some(target) = refresh::target(at, text) {
            self.index.remove(&got.url);
            return self.follow(vec![target]);
        }
        let page = html::page(at, text);
        if copies::is_shell(&page, text) {
            return self.take_shell(&got.url, text);
        }
        // Servers of single-page applications answer any address with the same page; following its links would never end.
        let other = url::key(&got.url) != url::key(&self.home);
        if !self.texts.insert(marks::hash(text)) || other && self.copies.has(&page.text) {
            self.hollow = true;
            return self.index.remove(&got.url);
        }
        if self.index.learn(&got.url, &page.head) {
            self.todo.measure(&self.index);
        }
        if self.crawl {
            self.follow(page.links);
        }
        let hidden = page.head.hidden || head::header_hides(&got.robots) || self.has_body && !page.has_body;
        if hidden && self.hides {
            self.index.remove(&got.url);
            self.hidden.push(page.text);
        } else {
            self.index.add(page.text, true);
        }
    }

    fn take_file(&mut self, got: &FetchedPage, text: &str) {
        if self.beside.contains(&url::key(&got.url)) && !self.routes.is_used() {
            self.routes = self.guess.clone();
        }
        let mut page = llms::read_page(&got.url, text, self.routes.slugs()).text;
        if self.routes.is_used() {
            let links = self.routes.links(&got.url, text).into_iter().map(|(link, _)| url::page(&link));
            self.follow(links.collect());
        }
        // All files of a docsify site can have the same title.
        let listed = self.index.page(&got.url).map(|(_, title)| title.to_owned()).filter(|title| !title.is_empty());
        if let Some(title) = listed.filter(|_| self.info.kind == SiteKind::Docsify) {
            page.title = title;
        }
        self.index.add(page, true);
    }

    /// A page without text: its text may be in a file beside it.
    fn take_shell(&mut self, address: &str, text: &str) {
        self.hollow = true;
        self.index.remove(address);
        if !self.guess.is_used() && self.index.whole_pages() == 0 {
            self.guess = Routes::shell(&self.info.root, text);
        }
        let routes = if self.routes.is_used() { &self.routes } else { &self.guess };
        let file = url::page(&routes.file(address));
        // Many sites have little text on their first page only. Unless the generator is known, its file is requested when
        // another page turns out to be a shell too.
        let is_first = url::key(address) == url::key(&self.info.root);
        if is_first && self.beside.is_empty() && !routes.is_known() {
            self.waiting = Some(file);
            return;
        }
        for file in [Some(file), self.waiting.take()].into_iter().flatten().filter(|file| file != address) {
            if self.seen.insert(url::key(&file)) {
                self.beside.insert(url::key(&file));
                // It takes the place of the page.
                self.asked = self.asked.saturating_sub(1);
                self.read = self.read.saturating_sub(1);
                self.first.push_front(file);
            }
        }
    }

    /// Reads linked pages too, if they have texts of the site.
    fn follow(&mut self, links: Vec<String>) {
        let Info { kind, root, .. } = &self.info;
        for link in links.into_iter().filter(|link| url::below(root, link) && listings::is_text(*kind, link)) {
            if self.seen.insert(url::key(&link)) {
                self.todo.push(&self.index, link);
            }
        }
    }

    /// Proceeds as far as possible without another response.
    fn step(&mut self) -> SiteStep {
        let mut fetch = Vec::new();
        if let Some(finder) = &mut self.finder {
            fetch = finder.asks();
            match if fetch.is_empty() { finder.source() } else { None } {
                Some(Ok(source)) => {
                    self.finder = None;
                    self.adopt(source);
                }
                Some(Err(why)) => {
                    self.finder = None;
                    self.error = Some(format!("The documentation could not be read: {why}."));
                }
                None => {}
            }
        }
        if self.finder.is_none() && self.error.is_none() {
            let free = WINDOW.saturating_sub(self.open.len()).min(self.limit().saturating_sub(self.asked));
            let first = free.min(self.first.len());
            let mut pages: Vec<String> = self.first.drain(..first).collect();
            pages.extend(self.todo.take(free - first));
            self.asked += pages.len();
            self.open.extend(pages.iter().map(|page| url::key(page)));
            fetch.extend(pages);
        }
        self.next_step(fetch)
    }

    fn adopt(&mut self, source: TextSource) {
        let TextSource { kind, title, root, home, from, pages, todo, near, crawl, telling, version, routes, .. } =
            source;
        let TextSource { fallbacks, hides, has_body, .. } = source;
        fallbacks.iter().for_each(|(address, text)| self.copies.note(address, text));
        self.routes = routes;
        self.home = home;
        self.index = SiteIndex::seen_from(&self.routes.file(&self.home), near);
        (self.hides, self.has_body) = (hides, has_body);
        for (page, whole) in pages.into_iter().filter(|(page, _)| !url::ends_session(&page.url)) {
            self.index.add(page, whole);
        }
        self.info = Info { kind, title, root, version, ..Info::default() };
        (self.from, self.crawl, self.telling) = (from, crawl, telling);
        for page in todo.into_iter().filter(|page| !url::ends_session(page)) {
            if self.seen.insert(url::key(&page)) {
                self.todo.push(&self.index, page);
            }
        }
    }

    fn next_step(&mut self, fetch: Vec<String>) -> SiteStep {
        let finding = self.finder.is_some();
        let complete = !finding && self.open.is_empty() && self.todo_is_done();
        if complete && self.error.is_none() {
            self.use_shown();
            self.use_hidden();
            self.name_rest();
        }
        if complete && self.index.whole_pages() == 0 && self.error.is_none() {
            let failed = if self.hollow {
                "its pages have no text until a browser runs their scripts"
            } else {
                "every page failed"
            };
            let why = self.last_failure.clone().map_or_else(String::new, |why| format!(" The last failure was {why}."));
            self.error = Some(format!("The documentation could not be read: {failed}.{why}"));
        }
        let enough = self.read >= self.asked.min(ENOUGH) && self.index.whole_pages() > 0 || self.telling;
        let (done, total) =
            if self.asked == 0 { (self.index.whole_pages(), self.index.pages()) } else { self.progress() };
        let stage = match (finding, enough || complete) {
            (true, _) => SiteStage::Finding,
            (false, true) if self.error.is_none() => SiteStage::Ready,
            (false, _) => SiteStage::Loading,
        };
        self.info.complete = complete;
        self.info.pages = self.index.pages();
        self.info.read = self.index.whole_pages();
        self.info.sections = self.index.sections();
        let info = (stage == SiteStage::Ready).then(|| self.info.clone());
        let version = self.version();
        SiteStep { fetch, stage, source: self.from.clone(), done, total, info, version, error: self.error.clone() }
    }

    /// Uses the current page as its browser shows it, if it was given and fetched pages had no text.
    fn use_shown(&mut self) {
        let shown = self.shown.take();
        if !self.hollow {
            return;
        }
        if let Some(text) = shown {
            let file = url::page(&self.routes.file(&self.home));
            let is_read = self.index.page(&self.home).or_else(|| self.index.page(&file)).is_some();
            let page = html::page(&self.home, &text);
            if !is_read && !copies::is_shell(&page, &text) {
                self.live = true;
                self.index.add(page.text.clone(), true);
                self.kept.push_back((url::key(&self.home), page));
            }
        }
        self.info.shell = self.index.whole_pages() == 1;
        self.lacking |= self.info.shell;
    }

    /// Uses the hidden pages after all if there are more of them than others: then the site is hidden as a whole, from the world
    /// and not from its own readers.
    fn use_hidden(&mut self) {
        if self.hidden.len() > self.index.whole_pages() {
            self.hides = false;
            std::mem::take(&mut self.hidden).into_iter().for_each(|page| self.index.add(page, true));
        }
    }

    /// Pages beyond the limit can be found by the words of their addresses.
    fn name_rest(&mut self) {
        for (_, page) in &self.todo.pages {
            if self.index.page(page).is_none() {
                let title = url::title_from_path(&self.info.root, page);
                self.index.add(PageText { url: page.clone(), title, sections: vec![Default::default()] }, false);
            }
        }
    }

    fn todo_is_done(&self) -> bool {
        self.todo.pages.is_empty() && self.first.is_empty() || self.asked >= self.limit()
    }

    /// Pages that a search requested do not count against the limit.
    fn limit(&self) -> usize {
        MAX_PAGES + self.sought.len()
    }

    /// The information known about the site so far.
    #[must_use]
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The number of pages read, and of pages that will be read without being asked for.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        (self.read, (self.asked + self.first.len() + self.todo.pages.len()).min(self.limit()).max(self.asked))
    }

    /// How much of the site was read.
    #[must_use]
    pub fn extent(&self) -> Extent {
        let mut extent = Extent { titles: self.index.titles().count(), ..Extent::default() };
        for (page, ..) in self.index.list() {
            let read = usize::from(self.index.is_whole(page));
            let near = usize::from(!self.index.nearness().is_elsewhere(page));
            extent.pages += 1;
            extent.read += read;
            extent.near_pages += near;
            extent.near_read += near * read;
        }
        extent
    }

    #[must_use]
    pub fn index(&self) -> &SiteIndex {
        &self.index
    }

    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> SearchResult {
        let mut found = self.index.search(query, limit);
        found.hits.iter_mut().for_each(|hit| hit.url = self.routes.shown(&hit.url));
        found
    }

    /// The pages to fetch before a query is answered: those that it finds without knowing their text, and if nothing fits well,
    /// the next ones beyond the limit. Empty once it has them, or if there are none.
    pub(super) fn seek(&mut self, query: &str, limit: usize) -> Vec<String> {
        if self.query.0 != query {
            self.query = (query.to_owned(), MAX_MORE);
        }
        let found = self.index.search(query, limit.max(MAX_FOUND));
        let is_new = |site: &Self, page: &String| {
            let key = url::key(page);
            !site.index.is_whole(page) && !site.sought.contains(&key) && !site.open.contains(&key)
        };
        let hits = found.hits.iter().map(|hit| url::page(&hit.url));
        let mut pages: Vec<String> = Vec::new();
        for page in hits.filter(|page| is_new(self, page)).take(MAX_FOUND) {
            if !pages.contains(&page) {
                pages.push(page);
            }
        }
        // While the site is read, the next pages come anyway.
        if pages.is_empty() && self.info.complete && found.fit != Match::Strong {
            let mut rest: Vec<(Distance, String)> =
                self.index.titles().map(|page| (self.index.nearness().distance(page), page.to_owned())).collect();
            rest.retain(|(_, page)| is_new(self, page));
            rest.sort_by_key(|(distance, _)| *distance);
            pages.extend(rest.into_iter().map(|(_, page)| page).take(MAX_MORE));
        }
        pages.truncate(self.query.1.min(MAX_SOUGHT.saturating_sub(self.sought.len())));
        self.query.1 -= pages.len();
        if pages.is_empty() {
            // The query is answered; the next time, more is read for it.
            self.query = Default::default();
        }
        for page in &pages {
            let key = url::key(page);
            self.todo.remove(&key);
            self.open.insert(key.clone());
            self.sought.insert(key);
        }
        self.asked += pages.len();
        pages
    }

    /// How users address the pages.
    #[must_use]
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Returns the page at `address` as Markdown if it was fetched; otherwise its address, to be fetched first.
    pub(super) fn markdown(&mut self, address: &str) -> Result<&HtmlPage, String> {
        let key = url::key(address);
        match self.kept.iter().position(|(kept, _)| *kept == key) {
            Some(at) => self.kept.get(at).map(|(_, page)| page).ok_or_else(|| address.to_owned()),
            None => {
                self.wanted.insert(key);
                Err(address.to_owned())
            }
        }
    }

    fn keep(&mut self, got: &FetchedPage, text: Option<&str>) {
        let stays = got.at.is_empty() || url::below(&self.info.root, &got.at);
        let mut page = match text.filter(|_| (200..300).contains(&got.status) && stays) {
            // Unreadable pages are remembered, so that they are not requested again and again.
            None => HtmlPage::default(),
            Some(text) if is_markdown(got, text) => {
                let text = if self.routes.is_used() { self.routes.with_links(&got.url, text) } else { text.to_owned() };
                llms::read_page(&got.url, &text, self.routes.slugs())
            }
            Some(text) => html::page(&got.url, text),
        };
        page.guessed.clone_from(&got.guessed);
        self.kept.push_back((url::key(&got.url), page));
        if self.kept.len() > MAX_KEPT {
            self.kept.pop_front();
        }
    }

    /// Serializes everything that was read; the text is empty if a page is missing that may be available next time, or if the
    /// page that the browser shows is part of it: that is for the visitor who sees it, now.
    #[must_use]
    pub fn save(&self) -> String {
        if self.lacking || self.live {
            return String::new();
        }
        let pages = self.index.texts().collect();
        let (info, from, routes) = (self.info.clone(), self.from.clone(), self.routes.clone());
        let (hides, has_body) = (self.hides, self.has_body);
        let saved = Saved { format: FORMAT, info, from, routes, hides, has_body, pages };
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// Restores a saved site in place of everything still to be read. If it has more pages than were read, those near to the page at
    /// hand are read then: the visitor before may have begun elsewhere. Returns `None` if it has another version.
    pub fn load(&mut self, version: &str, text: &str) -> Option<SiteStep> {
        let saved: Saved = serde_json::from_str(text).ok()?;
        if saved.format != FORMAT || saved.info.version != version || !saved.info.complete {
            return None;
        }
        let near = match &mut self.finder {
            Some(finder) => finder.near(),
            None => self.index.nearness().clone(),
        };
        self.index = SiteIndex::seen_from(&saved.routes.file(&self.home), near);
        for (page, whole) in saved.pages {
            self.index.add(page, whole);
        }
        self.info = Info { cached: true, ..saved.info };
        (self.from, self.routes) = (saved.from, saved.routes);
        (self.hides, self.has_body) = (saved.hides, saved.has_body);
        self.finder = None;
        self.error = None;
        self.open.clear();
        self.first.clear();
        (self.asked, self.read, self.telling) = (0, 0, true);
        let mut all: Vec<(Distance, String)> =
            self.index.list().map(|(page, ..)| (self.index.nearness().distance(page), page.to_owned())).collect();
        all.sort_by_key(|(distance, _)| *distance);
        all.truncate(MAX_PAGES);
        all.retain(|(_, page)| !self.index.is_whole(page));
        self.seen.extend(all.iter().map(|(_, page)| url::key(page)));
        self.todo = Todo { sorted: all.len(), pages: all };
        Some(self.step())
    }

    /// Root and version of the site, as soon as they are known.
    #[must_use]
    pub fn version(&self) -> Option<(String, String)> {
        match &self.finder {
            Some(finder) => {
                let (root, stamp) = finder.site()?;
                Some((root.to_owned(), stamp?.to_owned()))
            }
            None => Some((self.info.root.clone(), self.info.version.clone())),
        }
    }
}

fn is_markdown(got: &FetchedPage, text: &str) -> bool {
    let named = url::page(&got.url).ends_with(".md") || got.content_type.contains("markdown");
    let start = text.trim_start().get(..9).unwrap_or_default().to_ascii_lowercase();
    named && !start.starts_with("<!doctype") && !start.starts_with("<html")
}

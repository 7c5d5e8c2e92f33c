//! The finder decides which addresses to fetch until it knows where a site's texts are. It fetches nothing itself.
//!
//! The best source has full texts and real addresses of sections, and takes the fewest requests:
//! 1. the source named by the page that embeds the widget, and nothing else;
//! 2. a generator's index with texts (mdBook, MkDocs): one request returns everything;
//! 3. an index without texts (Sphinx; rustdoc's lists of items): titles are searchable at once, the pages are read
//!    later;
//! 4. for all other sites, the lists that exist, requested together: `llms.txt`, `sitemap.xml`; the pages they name,
//!    and those that the current page links to, are read as HTML. If there is an `llms.txt` and there are many pages,
//!    `llms-full.txt` is requested too: its texts are searched until the pages have been read.
//! 5. If an index is missing, step 4 is used instead; if lists are missing, links are followed.
//!
//! Pages are preferred to `.md` files and `_sources`: only pages have the addresses of their headings. A `.md` file is
//! read if there is no corresponding page.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::detect::{Detected, detect};
use super::index::{PageText, SectionText};
use super::nearness::Nearness;
use super::routes::Routes;
use super::{
    FetchedPage, SiteKind, head, html, listings, llms, marks, mdbook, mkdocs, moved, pdoc, refresh, rustdoc, sitemap,
    sphinx, url,
};

/// Maximum number of requests before the source must be known.
const MAX_ASKED: usize = 60;

/// Maximum number of pages that only lead to another one, before the first page.
const MAX_HOPS: usize = 4;

/// Maximum number of pages sent in place of other files that are looked at.
const MAX_FALLBACKS: usize = 3;

/// Maximum number of folders whose lists are requested for a site of an unknown kind.
const MAX_FOLDERS: usize = 4;

/// With more pages than this, one large file is worth the request.
const MANY_PAGES: usize = 30;

/// Pagefind's search index contains a hash of all texts. The texts themselves are in compressed files, one a page: reading
/// them saves no requests, and pages have the addresses of all headings.
const PAGEFIND: &str = "pagefind/pagefind-entry.json";

/// The source of a site's texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSource {
    pub kind: SiteKind,
    pub title: String,
    pub root: String,
    /// The page it began with: another one if that only led to it.
    pub home: String,
    /// The source that was read: a URL, or its kind.
    pub from: String,
    /// The known pages, each with whether its full text is known.
    pub pages: Vec<(PageText, bool)>,
    /// Pages still to be read, most useful first.
    pub todo: Vec<String>,
    /// What is known of the site's languages and versions.
    pub near: Nearness,
    /// Whether pages that are hidden from searches are left out: not if the generator's index says what is searched, and not if
    /// the page at hand is hidden itself, as those of old versions are.
    pub hides: bool,
    /// Whether the page at hand says which of its parts are for the site's own search: pages that do not are hidden.
    pub has_body: bool,
    /// Whether to follow the links of pages.
    pub crawl: bool,
    pub routes: Routes,
    /// Addresses of files that are not HTML, with the HTML that was sent in their place.
    pub fallbacks: Vec<(String, String)>,
    /// Whether the site can be searched before any page of `todo` was read.
    pub telling: bool,
    pub version: String,
}

/// What the lists of a site said so far.
#[derive(Debug, Default)]
struct Lists {
    llms: Option<(String, llms::Llms)>,
    /// An address of the site's public copy, if `llms.txt` names that one.
    public: Option<String>,
    mapped: Vec<String>,
    /// Languages of pages, as site maps declare them.
    languages: HashMap<String, String>,
    /// Pages that listings of the generator link to.
    linked: Vec<String>,
    full: Vec<PageText>,
    /// By address, because responses arrive in any order.
    stamps: BTreeMap<String, String>,
}

impl Lists {
    /// The version of everything that was read.
    fn version(&self, more: &[String]) -> String {
        let mut parts: Vec<&str> = more.iter().map(String::as_str).collect();
        parts.sort_unstable();
        parts.extend(self.stamps.values().map(String::as_str));
        marks::hash(&parts.join(" "))
    }
}

/// Finds the source of a site's texts; see the top of this file.
#[derive(Debug)]
pub struct SourceFinder {
    page: String,
    html: String,
    /// Whether the response's header hides the page from searches.
    hidden: bool,
    at: Option<Detected>,
    named: Option<String>,
    asked: Vec<String>,
    /// Number of requests without a response so far.
    open: usize,
    lists: Lists,
    crates: Vec<PageText>,
    routes: Routes,
    fallbacks: Vec<(String, String)>,
    listing: bool,
    ended: Option<Result<TextSource, String>>,
    next: Vec<String>,
}

impl SourceFinder {
    /// Starts from a page, and its HTML if available.
    #[must_use]
    pub fn new(page: &str, html: Option<&str>, source: Option<&str>) -> Self {
        let mut finder = SourceFinder {
            page: url::page(page),
            html: String::new(),
            hidden: false,
            at: None,
            named: source.map(str::to_owned),
            asked: Vec::new(),
            open: 0,
            lists: Lists::default(),
            crates: Vec::new(),
            routes: Routes::default(),
            fallbacks: Vec::new(),
            listing: false,
            ended: None,
            next: Vec::new(),
        };
        if url::parts(page).is_none() {
            finder.ended = Some(Err(format!("{page} is not the address of a web page")));
        } else if let Some(html) = html {
            finder.begin(html);
        } else {
            finder.ask(&url::page(page));
        }
        finder
    }

    /// Takes the addresses to fetch now; each is returned once.
    pub fn asks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.next)
    }

    /// The site's root and version stamp, once the page was seen.
    #[must_use]
    pub fn site(&self) -> Option<(&str, Option<&str>)> {
        self.at.as_ref().map(|at| (at.root.as_str(), at.stamp.as_deref()))
    }

    /// Takes the result: the source, or why there is none. Returned once.
    pub fn source(&mut self) -> Option<Result<TextSource, String>> {
        if self.ended.is_none() && self.open == 0 && self.next.is_empty() {
            self.ended = Some(Err("no more requests can be made".to_owned()));
        }
        self.ended.take()
    }

    /// Takes the response for one of the addresses, with its text if it has one. Ignores unknown addresses.
    pub fn reply(&mut self, got: &FetchedPage, text: Option<&str>) {
        if !self.asked.contains(&got.url) || self.ended.is_some() {
            return;
        }
        self.open = self.open.saturating_sub(1);
        // A generator's own page for missing ones, which has that status, is a page of its site.
        let missing = text.filter(|text| got.status == 404 && self.at.is_none() && is_known(&got.url, text));
        if let Some(missing) = missing {
            return self.begin(missing);
        }
        // If a server sends a page in place of a missing file, the readers reject it.
        let text = text.filter(|_| (200..300).contains(&got.status));
        // HTML in place of another file: what this server sends for any address.
        let html = text.filter(|text| text.trim_start().starts_with('<') && text.contains("<body"));
        if let Some(html) = html.filter(|_| self.at.is_some() && !got.url.ends_with(".html"))
            && self.fallbacks.len() < MAX_FALLBACKS
        {
            self.fallbacks.push((got.url.clone(), html.to_owned()));
        }
        if self.at.is_none() {
            match text {
                Some(text) => {
                    if url::same_origin(&self.page, &got.at) {
                        self.page = url::page(&got.at);
                    }
                    self.hidden = head::header_hides(&got.robots);
                    self.begin(text);
                }
                None => match above(&self.page).filter(|_| got.status == 404 && self.asked.len() < MAX_HOPS) {
                    // The site's own page for missing ones, which has that status: the pages above it are of the same site.
                    Some(above) => {
                        self.page.clone_from(&above);
                        self.ask(&above);
                    }
                    None => self.end(Err(format!("the page could not be read ({})", said(got)))),
                },
            }
        } else if self.named.as_deref() == Some(&got.url) {
            let read = text.ok_or_else(|| format!("{} could not be read ({})", got.url, said(got)));
            if let Err(why) = read.and_then(|text| self.read_named(got, text)) {
                self.end(Err(why));
            }
        } else if self.listing {
            self.take_list(got, text);
        } else {
            self.take_index(got, text);
        }
    }

    fn ask(&mut self, address: &str) {
        let known = self.asked.iter().any(|asked| asked == address);
        if !known && self.asked.len() < MAX_ASKED && url::same_origin(&self.page, address) {
            self.asked.push(address.to_owned());
            self.next.push(address.to_owned());
            self.open += 1;
        }
    }

    fn end(&mut self, ended: Result<TextSource, String>) {
        self.next.clear();
        self.open = 0;
        self.ended = Some(ended);
    }

    fn begin(&mut self, html: &str) {
        let target = refresh::target(&self.page, html).filter(|_| self.named.is_none() && self.asked.len() < MAX_HOPS);
        if let Some(target) = target.filter(|target| !self.asked.contains(target)) {
            self.page.clone_from(&target);
            return self.ask(&target);
        }
        let at = detect(&self.page, html);
        self.html = html.to_owned();
        let indexes = at.indexes.clone();
        let kind = at.kind;
        if kind == SiteKind::Docsify {
            self.routes = Routes::docsify(&self.page, html).unwrap_or_default();
        }
        self.at = Some(at);
        if let Some(named) = self.named.clone() {
            match url::join(&self.page, &named).filter(|named| url::same_origin(&self.page, named)) {
                Some(named) => {
                    self.named = Some(named.clone());
                    self.ask(&named);
                }
                None => self.end(Err(format!("the source {named} is not on the page's own site"))),
            }
            return;
        }
        // Candidates are requested one by one until one exists; rustdoc's indexes are all needed.
        let at_once = if kind == SiteKind::Rustdoc { indexes.len() } else { 1 };
        indexes.iter().take(at_once).for_each(|index| self.ask(index));
        if indexes.is_empty() {
            self.list();
        }
    }

    fn take_index(&mut self, got: &FetchedPage, text: Option<&str>) {
        let Some(at) = self.at.clone() else { return };
        match at.kind {
            SiteKind::Rustdoc => return self.take_crate(&at, got, text),
            SiteKind::Docsify => return self.take_sidebar(got, text),
            _ => {}
        }
        let read = text.map(|text| match at.kind {
            SiteKind::MdBook => mdbook::read(&at.root, text).map(|pages| (pages, true)),
            SiteKind::Pdoc => pdoc::read(&at.root, text).map(|pages| (pages, true)),
            SiteKind::MkDocs => mkdocs::read(&at.root, text).map(|pages| {
                // MkDocs can be configured to index titles only.
                let whole = pages.iter().flat_map(|page| &page.sections).any(|section| !section.text.is_empty());
                (pages, whole)
            }),
            _ => sphinx::read(&at.root, text, self.folders()).map(|pages| (pages, false)),
        });
        match read {
            Some(Ok((pages, whole))) => {
                let version = at.stamp.clone().unwrap_or_else(|| version(got, text.unwrap_or_default()));
                self.found(at.kind, &got.url, pages, whole, version);
            }
            _ => {
                let next = at.indexes.iter().position(|index| *index == got.url).and_then(|i| at.indexes.get(i + 1));
                match next.cloned() {
                    Some(next) => self.ask(&next),
                    None => self.list(),
                }
            }
        }
    }

    /// Reads docsify's sidebar. Without it, links of the rendered page and of the files are followed.
    fn take_sidebar(&mut self, got: &FetchedPage, text: Option<&str>) {
        let text = text.filter(|text| !text.trim_start().starts_with('<')).unwrap_or_default();
        let stub = |(file, title): (String, String)| PageText {
            url: url::page(&file),
            title,
            sections: vec![SectionText::default()],
        };
        let linked = self.routes.links(&got.url, text).into_iter().filter(|(file, _)| !file.contains('#')).map(stub);
        let rendered = self.routes.rendered(&self.html).into_iter().map(|file| stub((file, String::new())));
        let home = stub((self.routes.home(), String::new()));
        let mut seen = HashSet::new();
        let pages = linked.chain(std::iter::once(home)).chain(rendered);
        let pages: Vec<PageText> = pages.filter(|page| seen.insert(page.url.clone())).collect();
        let version = version(got, text);
        self.found(SiteKind::Docsify, &got.url, pages, false, version);
    }

    fn take_crate(&mut self, at: &Detected, got: &FetchedPage, text: Option<&str>) {
        let text = text.unwrap_or_default();
        if got.url.ends_with("/all.html") {
            self.lists.stamps.insert(got.url.clone(), version(got, text));
            self.crates.extend(rustdoc::items(&got.url, text).into_iter().filter(|_| !text.is_empty()));
        } else {
            for name in rustdoc::crates(text) {
                self.ask(&format!("{}{name}/all.html", at.root));
            }
        }
        if self.open > 0 {
            return;
        }
        let mut pages = std::mem::take(&mut self.crates);
        if pages.is_empty() {
            return self.list();
        }
        // The current crate comes first; the order of the others does not depend on the network.
        let own = at.indexes.get(1).map(|all| url::folder(all)).unwrap_or_default();
        pages.sort_by_cached_key(|page| (!page.url.starts_with(&own), page.url.clone()));
        let version = self.lists.version(&[]);
        self.found(SiteKind::Rustdoc, &at.root.clone(), pages, false, version);
    }

    fn found(&mut self, kind: SiteKind, from: &str, pages: Vec<PageText>, whole: bool, version: String) {
        let root = self.at.as_ref().map(|at| at.root.clone()).unwrap_or_default();
        let todo = if whole { Vec::new() } else { pages.iter().map(|page| page.url.clone()).collect() };
        let (routes, fallbacks) = (std::mem::take(&mut self.routes), std::mem::take(&mut self.fallbacks));
        let near = self.near();
        self.end(Ok(TextSource {
            kind,
            title: self.title(kind),
            root,
            home: self.page.clone(),
            from: from.to_owned(),
            pages: pages.into_iter().map(|page| (page, whole)).collect(),
            todo,
            near,
            hides: false,
            has_body: false,
            // Files of a docsify site can be missing in its sidebar.
            crawl: kind == SiteKind::Docsify,
            telling: kind != SiteKind::Docsify,
            version,
            routes,
            fallbacks,
        }));
    }

    /// What is known of the site's languages and versions.
    pub fn near(&mut self) -> Nearness {
        let Some(at) = &self.at else { return Nearness::default() };
        let mut near = Nearness::of(&at.root, &self.page, &at.head);
        let (addresses, languages): (Vec<String>, Vec<String>) =
            std::mem::take(&mut self.lists.languages).into_iter().unzip();
        let moved = moved::list(&addresses, &self.page, &at.root, at.head.canonical.as_deref(), true);
        moved.iter().zip(&languages).for_each(|(address, language)| near.name(address, language));
        near
    }

    /// The site's title. rustdoc's pages only say `Rust`, so there it is the name of the current crate.
    fn title(&self, kind: SiteKind) -> String {
        let own = self.at.as_ref().and_then(|at| at.indexes.get(1)).filter(|_| kind == SiteKind::Rustdoc);
        let own = own.and_then(|all| all.trim_end_matches("/all.html").rsplit('/').next());
        own.map_or_else(|| html::site_title(&self.html), str::to_owned)
    }

    /// Reads the source named by the embedding page; its text decides the format.
    fn read_named(&mut self, got: &FetchedPage, text: &str) -> Result<(), String> {
        let folder = url::folder(&got.url);
        let root = folder.strip_suffix("search/").unwrap_or(&folder).to_owned();
        if let Some(at) = &mut self.at {
            at.root = root.clone();
            at.stamp = None;
        }
        let version = version(got, text);
        if let Ok(pages) = mdbook::read(&root, text) {
            self.found(SiteKind::MdBook, &got.url, pages, true, version);
        } else if let Ok(pages) = mkdocs::read(&root, text) {
            self.found(SiteKind::MkDocs, &got.url, pages, true, version);
        } else if sphinx::is_index(text) {
            let pages = sphinx::read(&root, text, self.folders())?;
            self.found(SiteKind::Sphinx, &got.url, pages, false, version);
        } else if sitemap::read(text).is_some() {
            self.named = None;
            self.listing = true;
            self.html.clear();
            self.take_list(got, Some(text));
        } else if let Some(llms) = llms::read(&got.url, text) {
            self.html.clear();
            let public = self.take_llms(&got.url, llms);
            self.lists.full = llms::full(&got.url, text, public.as_deref());
            self.lists.stamps.insert(got.url.clone(), version);
            self.close_lists();
        } else {
            return Err(format!("{} is not a known llms.txt, search index or site map", got.url));
        }
        Ok(())
    }

    /// Whether Sphinx wrote its pages as folders: then few links of the page end in `.html`.
    fn folders(&self) -> bool {
        let links = self.html.split("href=\"").skip(1).filter_map(|tail| tail.split(['"', '#']).next());
        let links: Vec<&str> = links.filter(|link| !link.contains("://")).collect();
        let count = |end: &str| links.iter().filter(|link| link.ends_with(end)).count();
        let file = self.page.ends_with(".html") && !self.page.ends_with("/index.html");
        !file && count(".html") <= count("/")
    }
}

/// Reads sites without an index of their own, from `llms.txt`, `sitemap.xml`, and the links of the current page.
impl SourceFinder {
    /// Requests the lists that any site may have.
    fn list(&mut self) {
        self.listing = true;
        let Some(at) = self.at.clone() else { return };
        let mut roots = vec![at.root.clone()];
        if at.kind == SiteKind::Unknown {
            // The folders above may list the pages of this one.
            let above = std::iter::successors(Some(at.root.clone()), |root| {
                Some(url::folder(root.trim_end_matches('/'))).filter(|above| above.len() < root.len())
            });
            roots.extend(above.skip(1).take(MAX_FOLDERS - 2));
            roots.extend(url::join(&self.page, "/"));
        }
        roots.dedup();
        for root in roots {
            self.ask(&format!("{root}llms.txt"));
            self.ask(&format!("{root}sitemap.xml"));
            if at.kind == SiteKind::Starlight {
                self.ask(&format!("{root}sitemap-index.xml"));
            }
            listings::with_links(at.kind).iter().for_each(|name| self.ask(&format!("{root}{name}")));
            if at.kind == SiteKind::Starlight || self.html.contains("pagefind/") {
                // Changes if any page changes.
                self.ask(&format!("{root}{PAGEFIND}"));
            }
        }
        if self.open == 0 {
            self.close_lists();
        }
    }

    fn take_list(&mut self, got: &FetchedPage, text: Option<&str>) {
        if let Some(text) = text {
            if got.url.ends_with(PAGEFIND) {
                // Only its version matters.
            } else if got.url.ends_with("/llms.txt") {
                // The list nearest to the page counts, in whichever order they arrive.
                let nearer = self.lists.llms.as_ref().is_none_or(|(known, _)| known.len() < got.url.len());
                if let Some(llms) = llms::read(&got.url, text).filter(|_| nearer) {
                    self.lists.public = self.take_llms(&got.url, llms);
                }
            } else if got.url.ends_with("/llms-full.txt") {
                self.lists.full = llms::full(&got.url, text, self.lists.public.as_deref());
            } else if got.url.ends_with(".html") {
                self.lists.linked.extend(html::page(&got.url, text).links);
            } else {
                self.take_map(got, text);
            }
            self.lists.stamps.insert(got.url.clone(), version(got, text));
        }
        if self.open > 0 {
            return;
        }
        let full = self.lists.llms.as_ref().map(|(at, _)| at.replace("/llms.txt", "/llms-full.txt"));
        let full = full.filter(|full| !self.asked.contains(full) && self.pages().len() > MANY_PAGES);
        match full {
            Some(full) => self.ask(&full),
            None => self.close_lists(),
        }
    }

    /// Takes the pages of an `llms.txt`. Returns an address of the site's public copy, if the list names that one.
    fn take_llms(&mut self, address: &str, mut llms: llms::Llms) -> Option<String> {
        let links: Vec<String> = llms.links.iter().map(|(link, ..)| link.clone()).collect();
        let moved = self.moved(&links, false);
        let mut public = None;
        for ((link, ..), moved) in llms.links.iter_mut().zip(moved) {
            if !url::same_origin(link, &moved) {
                public = Some(link.clone());
            }
            *link = moved;
        }
        self.lists.llms = Some((address.to_owned(), llms));
        public
    }

    /// The addresses of a list as addresses of this copy of the site.
    fn moved(&self, addresses: &[String], any_host: bool) -> Vec<String> {
        let Some(at) = &self.at else { return addresses.to_vec() };
        moved::list(addresses, &self.page, &at.root, at.head.canonical.as_deref(), any_host)
    }

    fn take_map(&mut self, got: &FetchedPage, text: &str) {
        match sitemap::read(text) {
            Some(sitemap::Map::Pages(pages)) => {
                let pages = self.moved(&pages, true);
                self.lists.mapped.extend(pages);
                self.lists.languages.extend(sitemap::languages(text));
            }
            Some(sitemap::Map::Maps(maps)) => {
                let maps = self.moved(&maps, true);
                maps.iter().filter(|map| **map != got.url).for_each(|map| self.ask(map));
            }
            None => {}
        }
    }

    /// The current page and the pages it links to, then the pages of the lists, without duplicates.
    fn pages(&self) -> Vec<String> {
        let (kind, root) = self.at.as_ref().map(|at| (at.kind, at.root.as_str())).unwrap_or_default();
        let linked = html::page(&self.page, &self.html).links;
        let links = self.lists.llms.iter().flat_map(|(_, llms)| llms.links.iter().map(|(link, _, _)| url::page(link)));
        let all = std::iter::once(self.page.clone())
            .chain(linked)
            .chain(self.lists.linked.iter().cloned())
            .chain(self.lists.mapped.iter().cloned())
            .chain(links);
        let mut seen = HashSet::new();
        let all: Vec<String> = all.filter(|page| url::below(root, page) && listings::is_text(kind, page)).collect();
        let pages = all.iter().filter(|page| !page.ends_with(".md"));
        let mut out: Vec<String> = pages.filter(|page| seen.insert(url::key(page))).cloned().collect();
        // Markdown files without a corresponding page.
        let files = all.iter().filter(|page| page.ends_with(".md"));
        out.extend(files.filter(|file| seen.insert(url::key_beside(file))).cloned());
        out
    }

    fn close_lists(&mut self) {
        let Some(at) = self.at.clone() else { return };
        let todo = self.pages();
        let lists = std::mem::take(&mut self.lists);
        let version = at.stamp.clone().unwrap_or_else(|| lists.version(&todo));
        let named =
            |page: &String| {
                lists.llms.iter().flat_map(|(_, l)| &l.links).find(|(link, _, _)| {
                    url::key(link.trim_end_matches(".md")) == url::key(page.trim_end_matches(".md"))
                })
            };
        let stub = |page: &String| {
            let title = named(page)
                .map_or_else(|| url::title_from_path(&at.root, page), |(_, name, note)| format!("{name} {note}"));
            PageText { url: page.clone(), title, sections: vec![Default::default()] }
        };
        let by_key: HashMap<String, &String> = todo.iter().map(|page| (url::key(page), page)).collect();
        let addresses: Vec<String> = lists.full.iter().map(|page| page.url.clone()).collect();
        let moved = lists.full.into_iter().zip(self.moved(&addresses, false));
        let full = moved.map(|(page, url)| PageText { url, ..page });
        let full = full.filter(|page| url::below(&at.root, &page.url)).map(|mut page| {
            if let Some(beside) = by_key.get(&url::key_beside(&page.url)).filter(|_| page.url.ends_with(".md")) {
                page.url = (*beside).clone();
            }
            page
        });
        let mut pages: Vec<(PageText, bool)> = full.map(|page| (page, false)).collect();
        let telling = pages.len() * 2 > todo.len();
        let had: HashSet<String> = pages.iter().map(|(page, _)| url::key(&page.url)).collect();
        pages.extend(todo.iter().filter(|page| !had.contains(&url::key(page))).map(|page| (stub(page), false)));
        let from = match (&lists.llms, lists.mapped.is_empty()) {
            (Some((at, _)), _) => at.clone(),
            (None, false) => format!("{}sitemap.xml", at.root),
            (None, true) => self.page.clone(),
        };
        let own = lists.llms.filter(|(list, _)| list.starts_with(&at.root));
        let title = own.map(|(_, llms)| llms.title).filter(|title| !title.is_empty());
        let fallbacks = std::mem::take(&mut self.fallbacks);
        self.lists.languages = lists.languages;
        let near = self.near();
        self.end(Ok(TextSource {
            near,
            hides: !at.head.hidden && !self.hidden,
            has_body: html::page(&self.page, &self.html).has_body,
            kind: at.kind,
            title: title.unwrap_or_else(|| html::site_title(&self.html)),
            from,
            pages,
            // A site map of other parts of the host says nothing about this site.
            crawl: lists.mapped.iter().filter(|page| url::below(&at.root, page)).count() < 2,
            telling,
            version,
            routes: Routes::default(),
            fallbacks,
            home: self.page.clone(),
            root: at.root,
            todo,
        }));
    }
}

/// The folder of a page, or the one above a folder.
fn above(page: &str) -> Option<String> {
    Some(url::folder(page.trim_end_matches('/')))
        .filter(|above| above.len() < page.len() && url::parts(above).is_some())
}

/// Whether a page says what generated it.
fn is_known(address: &str, text: &str) -> bool {
    text.contains('<') && detect(address, text).kind != SiteKind::Unknown
}

fn said(got: &FetchedPage) -> String {
    match got.status {
        0 => "no answer".to_owned(),
        300..400 if !got.at.is_empty() => format!("it leads to {}, which is another site", got.at),
        status => format!("status {status}"),
    }
}

fn version(got: &FetchedPage, text: &str) -> String {
    if got.stamp.is_empty() { marks::hash(text) } else { marks::hash(&got.stamp) }
}

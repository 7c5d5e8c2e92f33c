//! Reads sites without an index of their own, from `llms.txt`, `sitemap.xml`, and the links of the current page.

use std::collections::{BTreeMap, HashMap};

use super::{Finder, Source, is_text, version};
use crate::docs::Kind;
use crate::docs::index::PageText;
use crate::docs::{Got, html, llms, marks, sitemap, url};

/// With more pages than this, one large file is worth the request.
const MANY_PAGES: usize = 30;

/// Starlight's search index contains a hash of all texts.
const PAGEFIND: &str = "pagefind/pagefind-entry.json";

#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) llms: Option<(String, llms::Llms)>,
    pub(super) mapped: Vec<String>,
    pub(super) full: Vec<PageText>,
    /// By address, because responses arrive in any order.
    pub(super) stamps: BTreeMap<String, String>,
}

impl Lists {
    /// The version of everything that was read.
    pub(super) fn version(&self, more: &[String]) -> String {
        let mut parts: Vec<&str> = more.iter().map(String::as_str).collect();
        parts.sort_unstable();
        parts.extend(self.stamps.values().map(String::as_str));
        marks::hash(&parts.join(" "))
    }
}

impl Finder {
    /// Requests the lists that any site may have.
    pub(super) fn list(&mut self) {
        self.listing = true;
        let Some(at) = self.at.clone() else { return };
        let mut roots = vec![at.root.clone()];
        if at.kind == Kind::Unknown {
            roots.extend(url::join(&self.page, "/"));
        }
        roots.dedup();
        for root in roots {
            self.ask(&format!("{root}llms.txt"));
            self.ask(&format!("{root}sitemap.xml"));
            if at.kind == Kind::Starlight {
                self.ask(&format!("{root}sitemap-index.xml"));
                // Changes if any page changes.
                self.ask(&format!("{root}{PAGEFIND}"));
            }
        }
        if self.open == 0 {
            self.close_lists();
        }
    }

    pub(super) fn take_list(&mut self, got: &Got, text: Option<&str>) {
        if let Some(text) = text {
            if got.url.ends_with(PAGEFIND) {
                // Only its version matters.
            } else if got.url.ends_with("/llms.txt") {
                if self.lists.llms.is_none() {
                    self.lists.llms = llms::read(&got.url, text).map(|llms| (got.url.clone(), llms));
                }
            } else if got.url.ends_with("/llms-full.txt") {
                self.lists.full = llms::full(&got.url, text);
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

    fn take_map(&mut self, got: &Got, text: &str) {
        let canonical = self.at.as_ref().and_then(|at| at.canonical.clone());
        let moved = |address: &String| sitemap::moved(address, &self.page, canonical.as_deref());
        match sitemap::read(text) {
            Some(sitemap::Map::Pages(pages)) => {
                let pages: Vec<String> = pages.iter().filter_map(moved).collect();
                self.lists.mapped.extend(pages);
            }
            Some(sitemap::Map::Maps(maps)) => {
                let maps: Vec<String> = maps.iter().filter_map(moved).filter(|map| *map != got.url).collect();
                maps.iter().for_each(|map| self.ask(map));
            }
            None => {}
        }
    }

    /// The current page and the pages it links to, then the pages of the lists, without duplicates.
    fn pages(&self) -> Vec<String> {
        let root = self.at.as_ref().map(|at| at.root.as_str()).unwrap_or_default();
        let linked = html::page(&self.page, &self.html).links;
        let links = self.lists.llms.iter().flat_map(|(_, llms)| llms.links.iter().map(|(link, _, _)| url::page(link)));
        let all =
            std::iter::once(self.page.clone()).chain(linked).chain(self.lists.mapped.iter().cloned()).chain(links);
        let mut seen = std::collections::HashSet::new();
        let all: Vec<String> = all.filter(|page| url::below(root, page) && is_text(page)).collect();
        let pages = all.iter().filter(|page| !page.ends_with(".md"));
        let mut out: Vec<String> = pages.filter(|page| seen.insert(url::key(page))).cloned().collect();
        // Markdown files without a corresponding page.
        let files = all.iter().filter(|page| page.ends_with(".md"));
        out.extend(files.filter(|file| seen.insert(url::key_beside(file))).cloned());
        out
    }

    pub(super) fn close_lists(&mut self) {
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
            let title =
                named(page).map_or_else(|| url::words(&at.root, page), |(_, name, note)| format!("{name} {note}"));
            PageText { url: page.clone(), title, sections: vec![Default::default()] }
        };
        let by_key: HashMap<String, &String> = todo.iter().map(|page| (url::key(page), page)).collect();
        let full = lists.full.into_iter().filter(|page| url::below(&at.root, &page.url)).map(|mut page| {
            if let Some(beside) = by_key.get(&url::key_beside(&page.url)).filter(|_| page.url.ends_with(".md")) {
                page.url = (*beside).clone();
            }
            page
        });
        let mut pages: Vec<(PageText, bool)> = full.map(|page| (page, false)).collect();
        let telling = pages.len() * 2 > todo.len();
        let had: std::collections::HashSet<String> = pages.iter().map(|(page, _)| url::key(&page.url)).collect();
        pages.extend(todo.iter().filter(|page| !had.contains(&url::key(page))).map(|page| (stub(page), false)));
        let from = match (&lists.llms, lists.mapped.is_empty()) {
            (Some((at, _)), _) => at.clone(),
            (None, false) => format!("{}sitemap.xml", at.root),
            (None, true) => self.page.clone(),
        };
        let title = lists.llms.map(|(_, llms)| llms.title).filter(|title| !title.is_empty());
        self.end(Ok(Source {
            kind: at.kind,
            title: title.unwrap_or_else(|| html::site_title(&self.html)),
            from,
            pages,
            // A site map of other parts of the host says nothing about this site.
            crawl: lists.mapped.iter().filter(|page| url::below(&at.root, page)).count() < 2,
            telling,
            version,
            root: at.root,
            todo,
        }));
    }
}

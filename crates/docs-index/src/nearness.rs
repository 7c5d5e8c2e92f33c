//! How near a page is to the page at hand: first its language, then its version, then the folders that both share.
//!
//! Languages are those that the site declares, in this order: of the page itself (a site map with `xhtml:link`, `hreflang`
//! links), of its folder (the `hreflang` links of the page at hand), and of the pages of its folder that were read
//! (`html lang`). Versions are those that pages of a folder declare (`docsearch:version`, or a canonical address in another
//! folder), and folders named like versions. There is no list of languages: two letters may be a language or a topic.

use std::collections::HashMap;

use super::head::{Head, tag_of};
use super::url;

/// Names of folders that are versions, besides numbers.
const VERSIONS: &[&str] = &["latest", "stable", "next", "current", "main", "master", "dev", "nightly", "beta"];

/// Maximum number of folders whose languages are known from links.
const MAX_FOLDERS: usize = 100;
/// Maximum number of times that what pages declare changes what is near: all addresses are measured again then.
const MAX_CHANGES: usize = 50;

/// How near a page is; the smallest is the nearest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Distance {
    /// 0: the language at hand, 1: related or not known, 2: another one.
    language: u8,
    /// 0: the version at hand, 1: another one.
    version: u8,
    /// Folders that it does not share, of those of the page at hand.
    apart: usize,
}

/// What pages of a folder declared: as the page at hand does, or something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Declared {
    language: (usize, usize),
    version: (usize, usize),
}

impl Declared {
    fn other_language(&self) -> bool {
        self.language.1 > self.language.0
    }

    fn other_version(&self) -> bool {
        self.version.1 > self.version.0
    }
}

/// Knows the page at hand, and what the site declared so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearness {
    root: String,
    home: String,
    language: String,
    version: String,
    /// Whether the page at hand names a page in another folder as its canonical one, as those of old versions do.
    copy: bool,
    /// Languages of single pages, by key.
    named: HashMap<String, String>,
    /// Languages of folders, as addresses that end with `/`.
    folders: Vec<(String, String)>,
    /// By the folder in which the pages part from the page at hand.
    declared: HashMap<String, Declared>,
    changes: usize,
}

impl Nearness {
    /// Pages below `root`, seen from the page `home`, of which nothing else is known.
    #[must_use]
    pub fn new(root: &str, home: &str) -> Self {
        Nearness { root: url::page(root), home: url::page(home), ..Nearness::default() }
    }

    /// The same, with what the page at hand declares.
    #[must_use]
    pub fn of(root: &str, home: &str, head: &Head) -> Self {
        let mut near = Nearness::new(root, home);
        near.language.clone_from(&head.language);
        near.version.clone_from(&head.version);
        near.copy = near.is_copy(&near.home, head);
        let origins: Vec<&str> = head.alternates.iter().filter_map(|(_, at)| Some(url::parts(at)?.origin)).collect();
        let public = head.canonical.as_deref().or(head.alternates.first().map(|(_, at)| at.as_str()));
        let alone = head.canonical.is_some() || origins.windows(2).all(|two| two.first() == two.last());
        let known =
            |at: &String| url::same_origin(&near.home, at) || alone && public.is_some_and(|p| url::same_origin(p, at));
        let here: Vec<(String, String)> = head
            .alternates
            .iter()
            .filter(|(_, at)| known(at))
            .filter_map(|(lang, at)| {
                Some((lang.clone(), super::moved::moved(at, &near.home, head.canonical.as_deref())?))
            })
            .filter(|(_, at)| url::key(at) != url::key(&near.home))
            .collect();
        for (language, at) in here {
            let (own, other) = apart(&near.home, &at);
            if let Some(other) = other {
                near.folders.push((other, language.clone()));
            }
            if let Some(own) = own.filter(|_| !near.language.is_empty()) {
                near.folders.push((own, near.language.clone()));
            }
            near.named.insert(url::key(&at), language);
        }
        near.folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
        near.folders.dedup();
        near.folders.truncate(MAX_FOLDERS);
        near
    }

    /// Notes the language of a page, as a site map declares it.
    pub fn name(&mut self, address: &str, language: &str) {
        self.named.insert(url::key(address), tag_of(language));
    }

    /// Notes what a page declares, and says whether this changes how near the pages of its folder are.
    pub fn learn(&mut self, address: &str, head: &Head) -> bool {
        let Some(folder) = self.parting(address).filter(|_| self.changes < MAX_CHANGES) else { return false };
        let copy = self.is_copy(address, head) && !self.copy;
        let (language, version) = (self.language.clone(), self.version.clone());
        let declared = self.declared.entry(folder).or_default();
        let before = (declared.other_language(), declared.other_version());
        let count = |counts: &mut (usize, usize), other: bool| if other { counts.1 += 1 } else { counts.0 += 1 };
        if !head.language.is_empty() && !language.is_empty() {
            count(&mut declared.language, related(&head.language, &language) == 2);
        }
        if !head.version.is_empty() && !version.is_empty() || head.canonical.is_some() {
            let other = !head.version.is_empty() && !version.is_empty() && head.version != version;
            count(&mut declared.version, other || copy);
        }
        let changed = before != (declared.other_language(), declared.other_version());
        self.changes += usize::from(changed);
        changed
    }

    #[must_use]
    pub fn distance(&self, address: &str) -> Distance {
        let shared = folders(&self.home).zip(folders(address)).take_while(|(a, b)| a == b).count();
        let apart = folders(&self.home).count().saturating_sub(shared);
        Distance { language: self.language_of(address), version: u8::from(self.is_other_version(address)), apart }
    }

    /// Whether a page is in another language or version than the page at hand.
    #[must_use]
    pub fn is_elsewhere(&self, address: &str) -> bool {
        self.language_of(address) == 2 || self.is_other_version(address)
    }

    fn language_of(&self, address: &str) -> u8 {
        if let Some(named) = self.named.get(&url::key(address)).filter(|_| !self.language.is_empty()) {
            return related(named, &self.language);
        }
        let folder = self.folders.iter().find(|(folder, _)| address.starts_with(folder.as_str()));
        if let Some((_, named)) = folder.filter(|_| !self.language.is_empty()) {
            return related(named, &self.language);
        }
        let parting = self.parting(address);
        if parting.as_ref().and_then(|folder| self.declared.get(folder)).is_some_and(Declared::other_language) {
            return 2;
        }
        match self.own_folder() {
            Some(own) if address.starts_with(&own) => 0,
            // Folders beside it that look like languages too.
            Some(own)
                if parting.is_some_and(|folder| {
                    folders(&folder).count() == folders(&own).count() && is_tag(name(&folder))
                }) =>
            {
                2
            }
            _ => 1,
        }
    }

    /// The folder of the page at hand that is named after its language.
    fn own_folder(&self) -> Option<String> {
        let mut path = self.root.clone();
        folders(self.home.strip_prefix(&self.root)?).find_map(|folder| {
            path.push_str(folder);
            path.push('/');
            let tag = tag_of(folder);
            let own = if self.language.is_empty() { is_tag(&tag) } else { related(&tag, &self.language) < 2 };
            own.then(|| path.clone())
        })
    }

    fn is_other_version(&self, address: &str) -> bool {
        let declared = self.parting(address).and_then(|folder| self.declared.get(&folder));
        declared.is_some_and(Declared::other_version)
            || versions(&self.root, address) != versions(&self.root, &self.home)
    }

    /// Whether a page names the page of the same name in another folder as the canonical one.
    fn is_copy(&self, address: &str, head: &Head) -> bool {
        let canonical = head.canonical.as_ref().filter(|canonical| url::same_origin(canonical, address));
        canonical.is_some_and(|canonical| {
            url::below(&self.root, canonical)
                && url::folder(canonical) != url::folder(address)
                && url::key(canonical) != url::key(address)
                && name(&url::key(canonical)) == name(&url::key(address))
        })
    }

    /// The first folder of a page that is not one of the page at hand.
    fn parting(&self, address: &str) -> Option<String> {
        let mut path = address.get(..url::parts(address)?.origin.len())?.to_owned();
        path.push('/');
        let mut own = folders(&self.home);
        for folder in folders(address) {
            path.push_str(folder);
            path.push('/');
            if own.next() != Some(folder) {
                return Some(path);
            }
        }
        None
    }
}

/// The names of the folders in an address.
fn folders(address: &str) -> impl Iterator<Item = &str> {
    let path = address.split_once("://").map_or(address, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    path.rsplit_once('/').map_or("", |(folders, _)| folders).split('/').filter(|folder| !folder.is_empty())
}

/// The last name in an address.
fn name(address: &str) -> &str {
    address.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// The folders in which two addresses of one page part: `/fr/` and `/` for `/fr/guide/a` and `/guide/a`. An address that does
/// not end like the page (`/fr/`) gives its own folder only.
fn apart(here: &str, there: &str) -> (Option<String>, Option<String>) {
    let ends = |at: &str| at.split('/').skip(3).map(str::to_owned).collect::<Vec<_>>();
    let (own, other) = (ends(here), ends(there));
    let alike = own.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let origin = here.split('/').take(3).collect::<Vec<_>>().join("/");
    let prefix = |parts: &[String]| {
        let parts = parts.get(..parts.len() - alike).unwrap_or_default();
        std::iter::once(origin.as_str())
            .chain(parts.iter().map(String::as_str))
            .chain([""])
            .collect::<Vec<_>>()
            .join("/")
    };
    if alike > 0 {
        return (Some(prefix(&own)), Some(prefix(&other)));
    }
    // A page of the same folder (`a.html`, `a.fr.html`) says nothing about its folder.
    (None, Some(url::folder(there)).filter(|folder| !here.starts_with(folder.as_str())))
}

/// 0: the same language, 1: one is the other's country or script, 2: another one.
fn related(a: &str, b: &str) -> u8 {
    let wider = |a: &str, b: &str| b.strip_prefix(a).is_some_and(|rest| rest.starts_with('-'));
    match () {
        () if a == b => 0,
        () if wider(a, b) || wider(b, a) => 1,
        () => 2,
    }
}

/// Whether a folder's name can be a language: two letters, or more with a country or script.
fn is_tag(name: &str) -> bool {
    let name = tag_of(name);
    let (language, rest) = name.split_once('-').unwrap_or((&name, ""));
    let letters = |part: &str| part.chars().all(|c| c.is_ascii_alphabetic());
    let plain = language.len() == 2 && rest.is_empty();
    letters(language) && letters(rest) && (plain || (2..=3).contains(&language.len()) && matches!(rest.len(), 2 | 4))
}

/// The versions that an address begins with below `root`: `v2.1/`, `docs/next/`, `fr/4.x/`.
fn versions<'a>(root: &str, address: &'a str) -> Vec<&'a str> {
    let is_version = |part: &str| {
        let number = part.strip_prefix('v').unwrap_or(part).trim_end_matches(".x");
        let numbered = number.starts_with(|c: char| c.is_ascii_digit());
        VERSIONS.contains(&part) || numbered && number.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let path = address.strip_prefix(root).unwrap_or_default();
    let start = folders(path).take_while(|part| *part == "docs" || is_version(part) || is_tag(part));
    start.filter(|part| is_version(part)).collect()
}

//! Recognizes the page that a server sends for addresses that do not exist: single-page applications answer every address
//! with their front page, other servers with a page that says so, with the status of success.

use std::collections::HashSet;

use super::html;
use super::index::PageText;
use super::marks::hash;
use super::url;

/// Maximum number of such pages of a site.
const MAX_KNOWN: usize = 3;
/// Pages that share at least this part of their words are copies.
const ALIKE: f32 = 0.9;
/// A page with less text than this, and with scripts, is made by a browser.
const MIN_TEXT: usize = 80;

/// Pages that were sent in place of missing files.
#[derive(Debug, Default)]
pub struct Copies {
    known: Vec<HashSet<String>>,
}

impl Copies {
    /// Notes the HTML that was sent for a file that is not HTML.
    pub fn note(&mut self, address: &str, text: &str) {
        if self.known.len() < MAX_KNOWN {
            let words = words(&html::page(address, text).text, address);
            if !words.is_empty() && !self.known.contains(&words) {
                self.known.push(words);
            }
        }
    }

    /// Whether a page is the same as one of those, or nearly.
    #[must_use]
    pub fn has(&self, page: &PageText) -> bool {
        if self.known.is_empty() {
            return false;
        }
        let words = words(page, &page.url);
        self.known.iter().any(|known| {
            let both = words.iter().filter(|word| known.contains(*word)).count();
            let all = known.len() + words.len() - both;
            #[allow(clippy::cast_precision_loss)]
            let share = both as f32 / all.max(1) as f32;
            share >= ALIKE
        })
    }
}

/// The words of a page; those of its address are left out, because such pages often repeat it.
fn words(page: &PageText, address: &str) -> HashSet<String> {
    let path = url::parts(address).map(|parts| parts.path.to_owned()).unwrap_or_default();
    let parts = page.sections.iter().flat_map(|section| [section.heading.as_str(), section.text.as_str()]);
    let words = parts.chain([page.title.as_str()]).flat_map(str::split_whitespace);
    words.filter(|word| !word.contains(&path) && !path.contains(word.trim_matches('/'))).map(hash).collect()
}

/// Whether a page has almost no text, because a browser would make it with the page's scripts. A heading is text that somebody
/// wrote, also the page's title above some text: the page may just be short.
#[must_use]
pub fn is_shell(page: &html::HtmlPage, text: &str) -> bool {
    let sections = &page.text.sections;
    let length: usize = sections.iter().map(|section| section.heading.len() + section.text.len()).sum();
    let has_title = length > 0 && page.markdown.iter().any(|part| part.starts_with("# "));
    let has_heading = has_title || sections.iter().any(|section| !section.heading.is_empty());
    length < MIN_TEXT && !has_heading && page.links.len() <= 2 && text.contains("<script")
}

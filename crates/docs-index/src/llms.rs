//! Reads `llms.txt`, a list of a site's pages for models (a title, a summary, lists of `- [name](address): note`), and
//! Markdown: single pages, and `llms-full.txt`, which contains all pages one after the other.

use super::html::HtmlPage;
use super::index::{PageText, SectionText};
use super::marks::{cut, squeeze};
use super::routes::{Slugger, Slugs};
use super::url;

const MAX_LINKS: usize = 5_000;
const MAX_PAGES: usize = 5_000;
/// Maximum length of the excerpt that introduces a page without an introduction of its own.
const MAX_LEAD_CHARS: usize = 300;

/// The content of an `llms.txt`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Llms {
    pub title: String,
    /// Address, name, note.
    pub links: Vec<(String, String, String)>,
}

/// Reads a list. Returns `None` if the text is not a list, for example because the site answers every request with a page.
#[must_use]
pub fn read(address: &str, text: &str) -> Option<Llms> {
    if text.trim_start().starts_with('<') {
        return None;
    }
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).map(squeeze).unwrap_or_default();
    let mut links = Vec::new();
    for line in text.lines() {
        let Some(item) = line.trim_start().strip_prefix("- ").or_else(|| line.trim_start().strip_prefix("* ")) else {
            continue;
        };
        let Some((name, rest)) = item.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("](")) else {
            continue;
        };
        let Some((link, note)) = rest.split_once(')') else { continue };
        if let Some(link) = url::join(address, link).filter(|_| links.len() < MAX_LINKS) {
            links.push((link, squeeze(name), squeeze(note.trim_start_matches([':', ' ', '-']))));
        }
    }
    (!links.is_empty() || !title.is_empty()).then_some(Llms { title, links })
}

/// Splits a Markdown page into sections. They have no addresses of their own: every site derives anchors in its own way.
#[must_use]
pub fn page(address: &str, text: &str) -> PageText {
    read_page(address, text, Slugs::Unknown).text
}

/// Splits a Markdown page into sections, with the addresses that its site derives from headings.
#[must_use]
pub fn read_page(address: &str, text: &str, slugs: Slugs) -> HtmlPage {
    let (mut title, mut sections) = (String::new(), Vec::new());
    let mut open = (SectionText::default(), String::new());
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut slugger = Slugger::new(slugs);
    for line in body(text).lines() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        let heading = heading(line).filter(|_| fence.is_none() && mark.is_none());
        let Some((level, heading)) = heading else {
            open.0.text.push_str(&unlinked(line));
            open.0.text.push(' ');
            open.1.push_str(line);
            open.1.push('\n');
            continue;
        };
        let anchor = slugger.anchor(line.trim_matches('#'));
        if title.is_empty() && level == 1 {
            title = heading;
            open.1.push_str(line);
            open.1.push('\n');
            continue;
        }
        above.retain(|(l, _)| *l < level);
        let trail: Vec<&str> = above.iter().map(|(_, h)| h.as_str()).collect();
        let trail = trail.join(" › ");
        let next = SectionText { anchor, trail, heading: heading.clone(), ..SectionText::default() };
        sections.push(std::mem::replace(&mut open, (next, format!("{line}\n"))));
        above.push((level, heading));
    }
    sections.push(open);
    sections.iter_mut().for_each(|(section, _)| section.text = squeeze(&section.text));
    sections.retain(|(section, _)| !section.text.is_empty() || !section.heading.is_empty());
    if let Some((first, _)) = sections.first().filter(|(first, _)| !first.heading.is_empty() && !title.is_empty()) {
        // This section makes the page itself findable.
        let text = cut(&first.text, MAX_LEAD_CHARS).to_owned();
        sections.insert(0, (SectionText { text, ..SectionText::default() }, format!("# {title}\n")));
    }
    let (sections, markdown) = sections.into_iter().unzip();
    let text = PageText { url: url::page(address), title: cut(&title, 200).to_owned(), sections };
    HtmlPage { text, markdown, ..HtmlPage::default() }
}

/// Splits `llms-full.txt` into pages if it contains their addresses (`url:`, `Source:`); otherwise returns nothing. `public`: an
/// address of the site's public copy, if this is another one, whose pages are given with these addresses.
#[must_use]
pub fn full(address: &str, text: &str, public: Option<&str>) -> Vec<PageText> {
    let mut pages: Vec<PageText> = Vec::new();
    let mut part = String::new();
    let mut here: Option<String> = None;
    let mut title = String::new();
    let mut fenced = false;
    let mut close = |here: &Option<String>, title: &str, part: &mut String| {
        let text = std::mem::take(part);
        if let Some(at) = here.as_ref().filter(|_| pages.len() < MAX_PAGES) {
            let mut page = page(at, &text);
            if page.title.is_empty() {
                page.title = title.to_owned();
            }
            pages.push(page);
        }
    };
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let said = ["url:", "Source:", "URL:", "source:"].iter().find_map(|mark| line.strip_prefix(mark));
        let there = said.and_then(|link| url::join(address, link.trim().trim_matches(['\'', '"', '<', '>'])));
        let is_page =
            |at: &String| url::same_origin(address, at) || public.is_some_and(|own| url::same_origin(own, at));
        if let Some(there) = there.filter(|there| !fenced && is_page(there)) {
            // The lines right above belong to the page that begins: its title, or the start of its front matter.
            let last = part.trim_end().rsplit('\n').next().unwrap_or_default().to_owned();
            let next = heading(&last).filter(|(level, _)| *level == 1).map(|(_, heading)| heading);
            let opens = last == "---";
            if next.is_some() || opens {
                part.truncate(part.trim_end().len() - last.len());
            }
            close(&here, &title, &mut part);
            here = Some(there);
            title = next.unwrap_or_default();
            part = if opens { "---\n\n".to_owned() } else { format!("# {title}\n") };
            continue;
        }
        part.push_str(line);
        part.push('\n');
    }
    close(&here, &title, &mut part);
    pages
}

/// The text without its front matter.
fn body(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    let inner = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    inner.map_or(text, |(_, rest)| rest)
}

fn heading(line: &str) -> Option<(usize, String)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let text = unlinked(text.trim_end_matches('#'));
    // `## Title {#id}`, and docsify's `## Title :id=name`.
    let text = text.split(" {#").next().and_then(|text| text.split(" :id=").next()).unwrap_or_default();
    ((1..=6).contains(&level) && line.get(level..level + 1) == Some(" ")).then(|| (level, squeeze(text)))
}

/// Replaces `[text](address)` by its text.
fn unlinked(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        rest = tail.find(')').and_then(|end| tail.get(end + 1..)).unwrap_or_default();
        out.push(' ');
    }
    out.push_str(rest);
    out.replace(['[', '*', '`'], "")
}

//! Converts an HTML page to sections of Markdown: its main content, split at headings that have an address.
//!
//! The parts that generators wrap around the text (navigation, headers, footers, copy buttons, line numbers) are left
//! out; links become absolute. A heading's address is its own `id`, the `id` of an anchor inside it, or the `id` of the
//! section it opens. What a page excludes from the searches of its own site is left out too. Sphinx signatures (`dt id`) and rustdoc items (`section id`) open sections too, since users ask
//! about them.

use dom_query::{Document, NodeRef};

use super::head::Head;
use super::index::{PageText, SectionText};
use super::marks::{cut, squeeze};
use super::url;

mod chosen;
mod excluded;
mod walk;

/// Maximum number of links collected from a page.
const MAX_LINKS: usize = 2_000;
/// Larger pages are truncated before they are parsed.
pub const MAX_PAGE_BYTES: usize = 3 << 20;
/// Pages with deeper nesting are read as plain text.
const MAX_NESTING: usize = 1_000;
/// Maximum length of the excerpt that introduces a page without an introduction of its own.
const MAX_LEAD_CHARS: usize = 300;
const MAX_TITLE_CHARS: usize = 200;

/// The attribute of elements that are never read.
const PRIVATE: &str = "data-turnwise-private";

/// A parsed page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HtmlPage {
    pub text: PageText,
    /// The same sections as Markdown, in the same order, headings included.
    pub markdown: Vec<String>,
    /// The pages of the same origin that it links to, in order, without duplicates or fragments.
    pub links: Vec<String>,
    pub head: Head,
    /// Whether it says which of its parts are for the site's own search (`data-pagefind-body`).
    pub has_body: bool,
    /// The encoding in which it was read although it declares none.
    pub guessed: String,
}

/// Reads the page of a site at `address`. Its links have no queries: pages of documentation are the same with any.
#[must_use]
pub fn page(address: &str, html: &str) -> HtmlPage {
    read(address, html, url::join)
}

/// Reads a page of the web.
#[must_use]
pub fn web_page(address: &str, html: &str) -> HtmlPage {
    read(address, html, url::join_whole)
}

fn read(address: &str, html: &str, join: fn(&str, &str) -> Option<String>) -> HtmlPage {
    let html = head_of(html, MAX_PAGE_BYTES);
    if is_too_deep(html) {
        // It is not parsed, so what is private in it cannot be told from the rest.
        let html = if html.contains(PRIVATE) { "" } else { html };
        let sections = vec![SectionText { text: plain(html), ..SectionText::default() }];
        let markdown = sections.iter().map(|section| section.text.clone()).collect();
        let title = turnwise_tools::html::title(html).unwrap_or_default();
        let head = Head { base: url::page(address), ..Head::default() };
        let text = PageText { url: url::page(address), title, sections };
        return HtmlPage { text, markdown, head, ..HtmlPage::default() };
    }
    let document = Document::from(excluded::without_blocks(html).as_ref());
    document.select(&format!("[{PRIVATE}]")).remove();
    let address = url::page(address);
    let mut head = Head::read(&document, &address);
    let links = links(&document, &head.base, &address);
    head.hidden |= excluded::remove(&document);
    let root = document.root();
    let mut mains = excluded::bodies(&document);
    let has_body = !mains.is_empty();
    let main = chosen::main(&document).unwrap_or(root);
    if mains.is_empty() || mains.iter().any(|body| chosen::is_inside(main, *body)) {
        mains = vec![main];
    }
    let mut walker = walk::Walker::new(&head.base, join);
    mains.iter().for_each(|main| walker.walk(*main));
    let title = title(&document, main);
    let (mut sections, mut markdown) = walker.sections(&title);
    if sections.first().is_none_or(|first| !first.heading.is_empty()) && !title.is_empty() {
        // The title is outside the text (Starlight), and the text begins with a heading: this section makes the page
        // itself findable.
        let anchor = first_heading(root).and_then(walk::id_of).unwrap_or_default();
        let text = sections.first().map(|first| cut(&first.text, MAX_LEAD_CHARS).to_owned()).unwrap_or_default();
        sections.insert(0, SectionText { anchor, text, ..SectionText::default() });
        markdown.insert(0, format!("# {title}"));
    }
    HtmlPage {
        text: PageText { url: address, title, sections },
        markdown,
        links,
        head,
        has_body,
        guessed: String::new(),
    }
}

/// What the page at `address` declares about itself.
#[must_use]
pub fn head(address: &str, html: &str) -> Head {
    // All that is read is in front of the text, but for links to other languages.
    let html = head_of(html, MAX_PAGE_BYTES);
    if is_too_deep(html) {
        return Head { base: url::page(address), ..Head::default() };
    }
    Head::read(&Document::from(html), &url::page(address))
}

/// Returns the text of an HTML fragment, without markup, on one line.
#[must_use]
pub fn plain(html: &str) -> String {
    if html.contains(['<', '&']) { squeeze(&turnwise_tools::html::to_text(html)) } else { squeeze(html) }
}

/// The name of the site, which pages append to their own name in `<title>`.
#[must_use]
pub fn site_title(html: &str) -> String {
    let title = turnwise_tools::html::title(head_of(html, 64 << 10)).unwrap_or_default();
    let name = [" - ", " | ", " — ", " – ", " · "].iter().filter_map(|mark| title.rsplit_once(mark)).next();
    name.map_or(title.clone(), |(_, site)| site.trim().to_owned())
}

fn title(document: &Document, main: NodeRef<'_>) -> String {
    // Doxygen's title is not a heading, and its sections are `h1`.
    let named = document.try_select(".headertitle .title").and_then(|found| found.nodes().first().copied());
    let first = named.or_else(|| first_heading(main)).or_else(|| first_heading(document.root()));
    let text = first.map(walk::heading_text).filter(|text| !text.is_empty()).unwrap_or_else(|| {
        let title = document.select_single("title").text().to_string();
        let own = [" - ", " | ", " — ", " – ", " · "].iter().filter_map(|mark| title.split_once(mark)).next();
        squeeze(own.map_or(title.as_str(), |(own, _)| own))
    });
    cut(&text, MAX_TITLE_CHARS).to_owned()
}

/// Whether a page is nested too deeply: the parser's time grows with the square of the depth. Elements with an optional
/// end tag are not counted.
fn is_too_deep(html: &str) -> bool {
    let mut depth = 0_usize;
    for tail in html.split('<').skip(1) {
        let (closes, name) = tail.strip_prefix('/').map_or((false, tail), |name| (true, name));
        let counts =
            ["div", "span", "ul", "ol", "section", "table", "b", "i", "em", "a", "font", "details", "blockquote", "dl"];
        let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if counts.iter().any(|counted| counted.eq_ignore_ascii_case(name)) {
            depth = if closes { depth.saturating_sub(1) } else { depth + 1 };
        }
        if depth > MAX_NESTING {
            return true;
        }
    }
    false
}

fn first_heading(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    node.descendants_it().find(|node| node.has_name("h1"))
}

fn links(document: &Document, base: &str, address: &str) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let root = document.root();
    let anchors = root.descendants_it().filter(|node| node.has_name("a"));
    // Links marked as not to be followed, and links that may end a session, are skipped.
    let followed = |node: &NodeRef<'_>| {
        let rel = node.attr("rel").unwrap_or_default();
        !rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("nofollow"))
    };
    let hrefs = anchors.filter(followed).filter_map(|node| node.attr("href")).filter(|href| !url::ends_session(href));
    let links = hrefs.filter_map(|href| url::join(base, &href)).map(|link| url::page(&link));
    links
        .filter(|link| url::same_origin(address, link) && url::is_page(link) && seen.insert(link.clone()))
        .take(MAX_LINKS)
        .collect()
}

fn head_of(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// A section under construction.
#[derive(Debug, Default)]
struct OpenSection {
    anchor: String,
    level: u8,
    heading: String,
    markdown: String,
    plain: String,
    /// It replaces a member of another class; its text is in another file than the page's.
    replaces: bool,
    elsewhere: bool,
}

/// Sections in order, each with the headings above it.
fn with_trails(open: Vec<OpenSection>, title: &str) -> (Vec<SectionText>, Vec<String>) {
    let mut above: Vec<(u8, String)> = Vec::new();
    let (mut sections, mut markdown) = (Vec::new(), Vec::new());
    for part in open {
        let empty = part.heading.is_empty() && part.plain.trim().is_empty();
        if empty {
            continue;
        }
        // The text before the title belongs to the text below it: both have the page's own address.
        let lead = sections.len() == 1 && part.anchor.is_empty();
        if let (true, Some(SectionText { anchor, heading, text, .. }), Some(above)) =
            (lead, sections.last_mut(), markdown.last_mut())
            && anchor.is_empty()
            && heading.is_empty()
        {
            *text = squeeze(&format!("{text} {}", part.plain));
            *above = format!("# {}\n\n{above}\n\n{}", part.heading, part.markdown.trim_matches('\n'));
            continue;
        }
        above.retain(|(level, _)| *level < part.level);
        // The page's own title is not repeated below it.
        let trail: Vec<&str> = above.iter().map(|(_, heading)| heading.as_str()).filter(|h| *h != title).collect();
        let is_title = part.heading == title || part.heading.is_empty();
        sections.push(SectionText {
            anchor: part.anchor,
            trail: trail.join(" › "),
            heading: if is_title { String::new() } else { part.heading.clone() },
            text: squeeze(&part.plain),
        });
        let marks = "#".repeat(usize::from(part.level.clamp(1, 6)));
        let heading = if part.heading.is_empty() { String::new() } else { format!("{marks} {}\n\n", part.heading) };
        markdown.push(format!("{heading}{}", part.markdown.trim_matches('\n')));
        if !part.heading.is_empty() {
            above.push((part.level, part.heading));
        }
    }
    (sections, markdown)
}

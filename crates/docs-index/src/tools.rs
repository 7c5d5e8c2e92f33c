//! The three tools for a site, and their texts: `search_docs`, `read_page`, `list_pages`.
//!
//! Every result has absolute addresses, of the section itself if possible, so that an answer can link to it.

use serde::Serialize;
use serde_json::{Value, json};

use super::html::HtmlPage;
use super::index::SectionText;
use super::routes::Routes;
use super::site::{Extent, Site};
use super::{Match, PageContent, SearchContent, SearchResult, SectionAddress, SectionHit, ToolReply, ToolText, url};
use turnwise_engine::digest::sha256_hex;
use turnwise_engine::{SideEffect, ToolSpec};

const DEFAULT_HITS: usize = 6;
const MAX_HITS: usize = 20;
/// Maximum length of one `read_page` result.
const MAX_PAGE_CHARS: usize = 14_000;
const MAX_LISTED: usize = 200;

/// The tools as described to a model.
#[must_use]
pub fn specs() -> Vec<ToolSpec> {
    let tool = |name: &str, description: &str, parameters: Value| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        may_finish: false,
        side_effect: SideEffect::None,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    };
    vec![
        tool(
            "search_docs",
            "Search this site's documentation. Gives the best matching sections, best first: the address of the exact \
             section to link to, its page and heading, and a snippet. Use the words the documentation would use.",
            json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "minLength": 1, "description": "Keywords or a question." },
                    "limit": { "type": "integer", "minimum": 1, "maximum": MAX_HITS, "description": "Sections at most; default 6." },
                },
                "required": ["query"],
                "additionalProperties": false,
            }),
        ),
        tool(
            "read_page",
            "Read a page of this site's documentation as Markdown. An address with #section, as search_docs gives it, \
             begins with that section. A heading is followed by its section's anchor in braces, to link to.",
            json!({
                "type": "object",
                "properties": {
                    "url": { "type": "string", "minLength": 1, "description": "Address of the page, with or without #section." },
                    "section": { "type": "string", "description": "Begin with this section: its #anchor or its heading." },
                },
                "required": ["url"],
                "additionalProperties": false,
            }),
        ),
        tool(
            "list_pages",
            "List the pages of this site's documentation with their titles.",
            json!({
                "type": "object",
                "properties": {
                    "filter": { "type": "string", "description": "Only pages whose title or address has all of these words." },
                },
                "additionalProperties": false,
            }),
        ),
    ]
}

/// Runs a tool. Invalid arguments are answered with a message for the model.
#[must_use]
pub fn call(site: &mut Site, name: &str, arguments: &Value) -> ToolReply {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    match name {
        "search_docs" => match text("query") {
            Some(query) => {
                let limit =
                    arguments.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
                let limit = limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
                match site.seek(query, limit) {
                    pages if pages.is_empty() => search(site, query, limit),
                    pages => ToolReply::Fetch(pages),
                }
            }
            None => ToolReply::Wrong("query: missing; it takes keywords or a question".to_owned()),
        },
        "read_page" => match text("url") {
            Some(address) => read(site, address, text("section")),
            None => ToolReply::Wrong("url: missing; it takes the address of a page".to_owned()),
        },
        "list_pages" => ToolReply::Result(ToolText { text: list(site, text("filter")), structured_content: None }),
        other => ToolReply::Wrong(format!("there is no tool {other}")),
    }
}

/// A result with the same as data. Plain data with string keys: serializing cannot fail.
fn with_data(text: String, data: &impl Serialize) -> ToolReply {
    ToolReply::Result(ToolText { text, structured_content: serde_json::to_value(data).ok() })
}

fn search(site: &Site, query: &str, limit: usize) -> ToolReply {
    let SearchResult { hits, missing, fit } = site.search(query, limit);
    // What is absent from the pages that were read may be on one that was not.
    let partial = site.index().titles().next().is_some();
    let mut lines: Vec<String> = hits.iter().enumerate().map(|(at, hit)| line(at + 1, hit)).collect();
    if fit == Match::None {
        let of = if partial { "pages read so far" } else { "documentation" };
        lines.push(format!("No section of the {of} matches \"{query}\"."));
        let near = site.index().near(query);
        lines.push(match near.is_empty() {
            true => "Try other words, or list_pages for what there is.".to_owned(),
            false => format!("Words it does have: {}.", near.join(", ")),
        });
    }
    if fit == Match::Weak {
        let then = match partial {
            true => "look through the titles of list_pages for a page that was not read",
            false => "the documentation probably does not say",
        };
        lines.push(format!(
            "[Weak match: no section is about all of this. Search in other words; if that is weak too, {then}.]"
        ));
    }
    if !missing.is_empty() {
        let of = if partial { "the pages read so far" } else { "this documentation" };
        lines.push(format!("[Words that occur nowhere in {of}: {}]", missing.join(", ")));
    }
    lines.extend(unfinished(site));
    lines.extend(extent(site));
    let address = |SectionHit { url, page, section, .. }: SectionHit| SectionAddress { url, page, section };
    let hits = hits.into_iter().map(address).collect();
    with_data(lines.join("\n"), &SearchContent { hits, missing, fit })
}

/// How much of a site with more pages than are read was read; the same is said of search and list.
fn extent(site: &Site) -> Option<String> {
    if !site.info().complete || site.info().read == site.info().pages {
        return None;
    }
    let Extent { pages, read, titles, near_pages, near_read } = site.extent();
    let near = match near_pages {
        _ if near_pages == pages => String::new(),
        _ if near_pages == near_read => format!(", among them all {near_pages} in the visitor's language and version"),
        _ => format!(", among them {near_read} of the {near_pages} in the visitor's language and version"),
    };
    let rest = match titles {
        0 => "The others are found by the words in the site's own index.",
        _ => "The others are found by their titles and addresses only; read_page reads any of them.",
    };
    Some(format!(
        "[{read} of {pages} pages of this site were read, the nearest to the visitor's page first{near}. {rest}]"
    ))
}

fn line(number: usize, hit: &SectionHit) -> String {
    let section = if hit.section.is_empty() { String::new() } else { format!(" › {}", hit.section) };
    format!("{number}. {}\n   {}{section}\n   {}", hit.url, hit.page, hit.snippet)
}

fn unfinished(site: &Site) -> Option<String> {
    let (read, asked) = site.progress();
    (!site.info().complete)
        .then(|| format!("[Still reading the site: {read} of {asked} pages. More may be found later.]"))
}

fn read(site: &mut Site, address: &str, section: Option<&str>) -> ToolReply {
    let root = site.info().root.clone();
    let Some(asked) = url::join(&root, address) else {
        return ToolReply::Wrong(format!(
            "url: {address} is no address of a page; it takes one as search_docs gives it"
        ));
    };
    let given = asked;
    let asked = if site.index().page(&given).is_some() { given.clone() } else { site.routes().file(&given) };
    let Some((page, title)) = site.index().page(&asked).map(|(page, title)| (page.to_owned(), title.to_owned())) else {
        return ToolReply::Wrong(unknown(site, &given));
    };
    let anchor = url::parts(&asked).map(|parts| parts.fragment.to_owned()).unwrap_or_default();
    let wanted = section.map_or_else(|| url::decoded(&anchor), |section| section.trim_start_matches('#').to_owned());
    let routes = site.routes().clone();
    let read = match site.markdown(&page) {
        Ok(read) => read,
        Err(fetch) => return ToolReply::Fetch(vec![fetch]),
    };
    if read.markdown.is_empty() {
        let page = routes.shown(&page);
        return ToolReply::Wrong(format!("{page} could not be read. Search again, or read another page."));
    }
    let parts: Vec<&[u8]> = read.markdown.iter().map(String::as_bytes).collect();
    let sha256 = sha256_hex(&parts);
    let mut content = PageContent { url: routes.shown(&page), page: title, sections: Vec::new(), sha256 };
    let text = markdown(&page, &routes, read, &wanted, &mut content);
    with_data(text, &content)
}

/// The page's Markdown from the section on, truncated; `content` receives the sections in it.
fn markdown(page: &str, routes: &Routes, read: &HtmlPage, wanted: &str, content: &mut PageContent) -> String {
    let sections = &read.text.sections;
    let like = wanted.to_lowercase();
    let at = sections.iter().position(|section| !wanted.is_empty() && section.anchor == wanted);
    let at = at.or_else(|| sections.iter().position(|s| !like.is_empty() && s.heading.to_lowercase() == like));
    let at = at.or_else(|| sections.iter().position(|s| !like.is_empty() && s.heading.to_lowercase().contains(&like)));
    let mut out = format!("{}\n", content.url);
    if !wanted.is_empty() && at.is_none() {
        out.push_str(&format!("[There is no section \"{wanted}\"; this is the page from its beginning.]\n"));
    }
    if !read.guessed.is_empty() {
        out.push_str(&format!("[The page does not declare its encoding; it was read as {}.]\n", read.guessed));
    }
    let from = at.unwrap_or(0);
    if from > 0 {
        out.push_str(&format!("[Page \"{}\", from section \"{wanted}\" on.]\n", read.text.title));
    }
    let mut left = MAX_PAGE_CHARS;
    for (number, part) in read.markdown.iter().enumerate().skip(from) {
        let length = part.chars().count();
        if length > left && number > from {
            let next = sections.get(number).filter(|next| !next.anchor.is_empty());
            out.push_str(&match next {
                Some(next) => format!(
                    "\n[The page goes on. Read on with read_page url: {}]",
                    routes.shown(&format!("{page}#{}", next.anchor))
                ),
                None => "\n[The page goes on. Search for what is still missing.]".to_owned(),
            });
            return out;
        }
        out.push('\n');
        let section = sections.get(number);
        let anchor = section.map(|section| section.anchor.as_str()).unwrap_or_default();
        let url = if anchor.is_empty() { content.url.clone() } else { routes.shown(&format!("{page}#{anchor}")) };
        let section = section.map(SectionText::headings).unwrap_or_default();
        content.sections.push(SectionAddress { url, page: content.page.clone(), section });
        out.push_str(&with_address(super::marks::cut(part, left.max(2_000)), page, routes, anchor));
        if length > left.max(2_000) {
            out.push_str("\n[This section is cut.]");
        }
        out.push('\n');
        left = left.saturating_sub(length);
    }
    out
}

/// A section with its address behind its heading, so that an answer can link to it: `## Policy {#policy}`. Where the address is
/// not the page's with an anchor, it is written in full.
fn with_address(part: &str, page: &str, routes: &Routes, anchor: &str) -> String {
    let (heading, rest) = part.split_once('\n').unwrap_or((part, ""));
    if anchor.is_empty() || !heading.starts_with('#') {
        return part.to_owned();
    }
    let here = format!("#{anchor}");
    let address = routes.shown(&format!("{page}{here}"));
    let address = if address.ends_with(&here) { here } else { address };
    format!("{heading} {{{address}}}\n{rest}")
}

fn unknown(site: &Site, asked: &str) -> String {
    let words = url::title_from_path(&site.info().root, asked);
    let near: Vec<String> = site.search(&words, 3).hits.into_iter().map(|hit| hit.url).collect();
    let near = if near.is_empty() { String::new() } else { format!(" Near to it: {}.", near.join(", ")) };
    format!("{asked} is no page of this site's documentation.{near}")
}

fn list(site: &Site, filter: Option<&str>) -> String {
    let words: Vec<String> = filter.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
    let fits = |address: &str, title: &str| {
        let all = format!("{address} {title}").to_lowercase();
        words.iter().all(|word| all.contains(word))
    };
    let pages: Vec<String> = site
        .index()
        .list()
        .map(|(address, title, sections)| (site.routes().shown(address), title, sections))
        .filter(|(address, title, _)| fits(address, title))
        .map(|(address, title, sections)| format!("{address}  {title} ({sections} sections)"))
        .collect();
    let total = pages.len();
    let mut lines: Vec<String> = pages.into_iter().take(MAX_LISTED).collect();
    if total == 0 {
        lines.push(format!("No page has \"{}\" in its title or address. Try fewer words.", filter.unwrap_or_default()));
    } else if total > MAX_LISTED {
        lines.push(format!("[{} more pages. Give filter to see fewer.]", total - MAX_LISTED));
    }
    lines.extend(unfinished(site));
    lines.extend(extent(site));
    lines.join("\n")
}

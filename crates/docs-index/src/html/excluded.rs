//! What a page excludes from searches: parts of it, by the attributes and comments that search tools agree on with authors.

use std::borrow::Cow;
use std::collections::HashMap;

use dom_query::{Document, NodeRef};

/// Elements that are not for searches: Pagefind, Material for MkDocs and Zensical, Swiftype, Elastic's crawler.
const EXCLUDED: &str =
    "[data-pagefind-ignore], [data-search-exclude], [data-swiftype-index=false], [data-elastic-exclude]";

/// The parts that are for searches, if there are any: nothing else is then (Pagefind).
const BODY: &str = "[data-pagefind-body]";

const MAX_BODIES: usize = 50;

/// Comments around parts that are not for searches.
const BLOCKS: &[(&str, &str)] = &[
    ("noindex", "/noindex"),
    ("nosearch", "/nosearch"),
    ("googleoff: index", "googleon: index"),
    ("googleoff: all", "googleon: all"),
];

/// The HTML without the parts between such comments. A comment without its counterpart excludes nothing.
pub(super) fn without_blocks(html: &str) -> Cow<'_, str> {
    if !["noindex", "nosearch", "googleoff"].iter().any(|name| html.contains(name)) {
        return Cow::Borrowed(html);
    }
    let said = |comment: &str| comment.trim().to_ascii_lowercase();
    let mut comments: Vec<(usize, usize, String)> = Vec::new();
    let mut at = 0;
    while let Some(from) = html.get(at..).and_then(|rest| rest.find("<!--")).map(|from| at + from)
        && let Some(length) = html.get(from..).and_then(|rest| rest.find("-->"))
    {
        at = from + length + 3;
        comments.push((from, at, said(html.get(from + 4..from + length).unwrap_or_default())));
    }
    // Where no counterpart follows, none is searched for.
    let last: HashMap<&str, usize> = comments.iter().enumerate().map(|(at, (.., said))| (said.as_str(), at)).collect();
    let (mut out, mut kept) = (String::with_capacity(html.len()), 0);
    for (number, (from, _, said)) in comments.iter().enumerate() {
        // Comments inside what was left out already are passed over.
        let block = BLOCKS.iter().find(|(open, _)| open == said).filter(|_| *from >= kept);
        let Some((_, close)) = block.filter(|(_, close)| last.get(close).is_some_and(|last| *last > number)) else {
            continue;
        };
        if let Some((_, end, _)) = comments.iter().skip(number + 1).find(|(.., said)| said == close) {
            out.push_str(html.get(kept..*from).unwrap_or_default());
            kept = *end;
        }
    }
    out.push_str(html.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// Removes the elements, and says whether they had all of the page's text.
pub(super) fn remove(document: &Document) -> bool {
    let excluded = document.select(EXCLUDED);
    if excluded.is_empty() {
        return false;
    }
    // `data-pagefind-ignore=""` on a body: the page is not for searches.
    let whole = excluded.nodes().iter().any(|node| node.has_name("body") || node.has_name("html"));
    let had = has_text(document);
    excluded.remove();
    whole || had && !has_text(document)
}

fn has_text(document: &Document) -> bool {
    super::chosen::main(document).is_some_and(|main| !main.has_name("body"))
}

pub(super) fn bodies(document: &Document) -> Vec<NodeRef<'_>> {
    let bodies: Vec<NodeRef<'_>> = document.select(BODY).nodes().iter().take(MAX_BODIES).copied().collect();
    // One inside another is part of it.
    bodies.iter().filter(|body| !bodies.iter().any(|other| super::chosen::is_within(**body, *other))).copied().collect()
}

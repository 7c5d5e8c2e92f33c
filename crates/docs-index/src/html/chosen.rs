//! Selects the part of a page that is its text, and what to skip inside it.

use dom_query::{Document, NodeRef};

/// Selectors for the text in the generators' pages, most specific first; the first that matches an element with text is used.
const MAIN: &[&str] = &[
    "section#main-content",   // rustdoc
    ".theme-doc-markdown",    // Docusaurus
    ".vp-doc",                // VitePress
    ".md-content article",    // Material for MkDocs
    "#furo-main-content",     // Sphinx, theme furo
    "article.bd-article",     // Sphinx, theme pydata
    "[itemprop=articleBody]", // Sphinx, theme Read the Docs
    ".sl-markdown-content",   // Starlight
    "div.body[role=main]",    // Sphinx, basic themes
    ".col-content",           // TypeDoc
    "div.header + .contents", // Doxygen
    "main article",
    "main",                           // mdBook, Javadoc, pdoc, VuePress
    "[role=main]",                    // plain MkDocs
    "#main > section:has(> article)", // JSDoc
    "article",
    "#content",
    ".content",
    "body",
];

/// Elements that are never part of the text.
const SKIPPED: &[&str] = &[
    "script",
    "style",
    "nav",
    "footer",
    "button",
    "svg",
    "noscript",
    "template",
    "form",
    "iframe",
    "input",
    "select",
    "textarea",
    "object",
    "video",
    "audio",
    "canvas",
    "rustdoc-toolbar",
    "starlight-toc",
    "dialog",
    "head",
    "title",
];

/// Classes of elements that generators add to the text.
const SKIPPED_CLASSES: &[&str] = &[
    "headerlink",
    "header-anchor",
    "hash-link",
    "sl-anchor-link",
    "doc-anchor",
    "anchorjs-link",
    "anchor-link",
    "md-source-file",
    "md-feedback",
    "md-tags",
    "breadcrumbs",
    "theme-doc-breadcrumbs",
    "theme-doc-toc-mobile",
    "theme-doc-footer",
    "pagination-nav",
    "prev-next",
    "prev-next-footer",
    "nav-wrapper",
    "rst-footer-buttons",
    "wy-breadcrumbs",
    "sphinxsidebar",
    "related",
    "sr-only",
    "visually-hidden",
    "line-numbers-wrapper",
    "linenos",
    "lineno",
    "linenodiv",
    "out-of-band",
    "src",
    "since",
    "sub-heading",
    "hideme",
    "notable-traits",
    "vp-adornment",
    "edit-link",
    "last-updated",
    "toc",
    "table-of-contents",
    "on-this-page",
    "sidebar",
    "pagination-links",
    "buttons",
    "clipboard-copy",
    "rustdoc-breadcrumbs",
    "stab",
    "copybtn",
    "viewcode-link",
    "scrape-help",
    "copy",
    "lang",
    "permalink",          // Doxygen
    "ttc",                // Doxygen
    "view-source-button", // pdoc
    "tag-source",         // JSDoc
    "inherited-list",     // Javadoc
    "tsd-sources",
    "tsd-breadcrumb",
];

/// rustdoc lists that repeat other pages: the items that every type gets from traits.
const SKIPPED_IDS: &[&str] = &[
    "trait-implementations-list",
    "synthetic-implementations-list",
    "blanket-implementations-list",
    "implementors-list",
    "synthetic-implementors-list",
    "foreign-impls",
    "rustdoc-toc",
    "copy-path",
];

pub(super) fn main(document: &Document) -> Option<NodeRef<'_>> {
    MAIN.iter().find_map(|selector| {
        let found = document.try_select(selector)?;
        found.nodes().iter().find(|node| !node.text().trim().is_empty()).copied()
    })
}

/// Whether a node is another one, or within it.
pub(super) fn is_inside(node: NodeRef<'_>, outer: NodeRef<'_>) -> bool {
    node.id == outer.id || is_within(node, outer)
}

/// Whether a node is within another one.
pub(super) fn is_within(node: NodeRef<'_>, outer: NodeRef<'_>) -> bool {
    node.ancestors_it(None).any(|above| above.id == outer.id)
}

pub(super) fn is_skipped(node: NodeRef<'_>, name: &str) -> bool {
    if SKIPPED.contains(&name) {
        return true;
    }
    if node.attr("role").is_some_and(|role| matches!(role.as_ref(), "navigation" | "search"))
        || node.attr("aria-hidden").is_some_and(|hidden| hidden.as_ref() == "true") && name != "span"
    {
        return true;
    }
    if node.id_attr().is_some_and(|id| SKIPPED_IDS.contains(&id.as_ref())) {
        return true;
    }
    if is_source(node, name) {
        return true;
    }
    let Some(classes) = node.class() else { return false };
    // Members that a class has from another one are repeated on its page (TypeDoc).
    if name == "section" && classes.split_whitespace().any(|class| class == "tsd-is-inherited") {
        return true;
    }
    // An aside written by the author, not added by the theme (Sphinx).
    if name == "aside" && node.children_it(false).any(|child| child.has_class("sidebar-title")) {
        return false;
    }
    // Some of these class names mean content if they mark a block (`div.highlight.copy`, a heading's own `anchor`).
    let small =
        !matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" | "code" | "main" | "article" | "section");
    small
        && classes
            .split_whitespace()
            .any(|class| SKIPPED_CLASSES.contains(&class) || (name == "a" && class == "anchor"))
}

/// Whether an element contains the source code of an API item, to be shown on demand: what it says about the item is
/// in the text as well.
fn is_source(node: NodeRef<'_>, name: &str) -> bool {
    match name {
        "details" => node.children_it(false).find(|child| child.has_name("summary")).is_some_and(|summary| {
            let text = summary.text().trim().to_ascii_lowercase();
            ["view source", "expand source code", "source code in"].iter().any(|label| text.starts_with(label))
        }),
        // pdoc: a check box before it decides whether it is visible.
        "div" if node.has_class("pdoc-code") => node
            .parent()
            .is_some_and(|parent| parent.children_it(false).any(|child| child.has_class("view-source-toggle-state"))),
        _ => false,
    }
}

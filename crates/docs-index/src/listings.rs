//! Pages that only list other pages or show source code: generators write many of them, and they would use up the limit.

use super::{SiteKind, url};

/// Folders of such pages, whatever the generator.
const FOLDERS: &[&str] = &[
    "/tags/",
    "/search/",
    "/_sources/",
    "/_modules/",
    "/genindex/",
    "/py-modindex/",
    "/404/",
    "/src-html/",
    "/class-use/",
];

/// File names of such pages, whatever the generator.
const FILES: &[&str] = &[
    "genindex.html",
    "py-modindex.html",
    "search.html",
    "404.html",
    "search",
    "404",
    "index-all.html",
    "package-tree.html",
    "package-use.html",
    "overview-tree.html",
];

/// Javadoc's. Names that end in `-` also begin longer ones.
const JAVADOC: &[&str] = &[
    "allclasses",
    "allclasses-",
    "allpackages-",
    "constant-values",
    "deprecated-list",
    "help-doc",
    "new-list",
    "overview-frame",
    "package-frame",
    "preview-list",
    "restricted-list",
    "serialized-form",
    "system-properties",
];

/// Doxygen's. Names that end in `_` also begin longer ones.
const DOXYGEN: &[&str] = &[
    "annotated",
    "bug",
    "classes",
    "concepts",
    "deprecated",
    "dir_",
    "examples",
    "files",
    "functions",
    "functions_",
    "globals",
    "globals_",
    "graph_legend",
    "hierarchy",
    "inherits",
    "modules",
    "namespacemembers",
    "namespacemembers_",
    "namespaces",
    "pages",
    "test",
    "todo",
    "topics",
];

const TYPEDOC: &[&str] = &["hierarchy", "modules"];

/// Listings that are read for their links: menus of these generators are made by scripts, and the first page may link to
/// few others.
#[must_use]
pub fn with_links(kind: SiteKind) -> &'static [&'static str] {
    match kind {
        SiteKind::Doxygen => &["pages.html", "topics.html", "modules.html", "annotated.html", "namespaces.html"],
        SiteKind::Javadoc => &["overview-summary.html", "allclasses-index.html", "allclasses-noframe.html"],
        SiteKind::TypeDoc => &["modules.html", "hierarchy.html"],
        _ => &[],
    }
}

/// Whether a page of a site of this kind has texts of its own.
#[must_use]
pub fn is_text(kind: SiteKind, page: &str) -> bool {
    let path = url::parts(page).map(|parts| parts.path).unwrap_or_default();
    let file = page.rsplit('/').next().unwrap_or_default();
    !FOLDERS.iter().any(|folder| format!("{path}/").contains(folder))
        && !FILES.contains(&file)
        && !is_listing(kind, file)
        && (url::is_page(page) || page.ends_with(".md"))
}

fn is_listing(kind: SiteKind, file: &str) -> bool {
    let Some(name) = file.strip_suffix(".html").filter(|name| !name.is_empty()) else { return false };
    let within = |names: &[&str], joint: char| {
        names.iter().any(|listed| name == *listed || listed.ends_with(joint) && name.starts_with(listed))
    };
    match kind {
        // The whole book on one page, and its table of contents.
        SiteKind::MdBook | SiteKind::Unknown => matches!(name, "print" | "toc"),
        SiteKind::Javadoc => within(JAVADOC, '-'),
        // `x_8md.html` describes the file that a page was written in.
        SiteKind::Doxygen => {
            let ends = ["_source", "-members", "_8dox", "_8md", "_8markdown", "_8txt"];
            within(DOXYGEN, '_') || ends.iter().any(|end| name.ends_with(end))
        }
        SiteKind::JsDoc => [".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".vue"].iter().any(|end| name.ends_with(end)),
        SiteKind::TypeDoc => within(TYPEDOC, '/'),
        _ => false,
    }
}

//! Detects the generator of a page and the root of its site, from what each generator writes into every page.

use super::head::Head;
use super::marks::{between, meta, tag, value};
use super::routes::Routes;
use super::{SiteKind, html as pages, root, url};

/// The facts that a page gives about its site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    pub kind: SiteKind,
    /// Ends with `/`.
    pub root: String,
    /// Candidate addresses of the generator's index: the first that exists is used; for rustdoc, all are.
    pub indexes: Vec<String>,
    /// What the page declares about itself.
    pub head: Head,
    /// A value that changes whenever the site is built with other texts, if the page has one.
    pub stamp: Option<String>,
}

/// Detects the generator of the page at `page`.
#[must_use]
pub fn detect(page: &str, html: &str) -> Detected {
    let head = pages::head(page, html);
    let base = head.base.as_str();
    let known = rustdoc(base, html)
        .or_else(|| mdbook(base, html))
        .or_else(|| mkdocs(base, html))
        .or_else(|| sphinx(base, html))
        .or_else(|| vitepress(base, html))
        .or_else(|| by_assets(base, html))
        .or_else(|| by_generator(base, html))
        .or_else(|| docsify(page, html))
        .filter(|known| url::same_origin(page, &known.root));
    let mut detected = known.unwrap_or_else(|| Detected {
        kind: SiteKind::Unknown,
        root: root::root(page, base, html),
        indexes: Vec::new(),
        head: Head::default(),
        stamp: None,
    });
    detected.head = head;
    detected
}

fn found(kind: SiteKind, root: Option<String>, page: &str, indexes: &[&str]) -> Detected {
    let root = root.unwrap_or_else(|| url::folder(page));
    let root = if root.ends_with('/') { root } else { url::folder(&root) };
    let indexes = indexes.iter().filter_map(|name| url::join(&root, name)).collect();
    Detected { kind, root, indexes, head: Head::default(), stamp: None }
}

/// Resolves a relative path to the root: `../` or empty, with or without the trailing `/`.
fn up(page: &str, way: &str) -> Option<String> {
    if way.is_empty() || way == "." {
        return Some(url::folder(page));
    }
    url::join(page, &format!("{}/", way.trim_end_matches('/')))
}

fn rustdoc(page: &str, html: &str) -> Option<Detected> {
    let vars = tag(html, "<meta name=\"rustdoc-vars\"")?;
    let root = up(page, value(vars, "data-root-path")?);
    let suffix = value(vars, "data-resource-suffix").unwrap_or_default();
    let own = value(vars, "data-current-crate").filter(|name| !name.is_empty());
    let list = format!("crates{suffix}.js");
    let all = own.map(|name| format!("{name}/all.html"));
    let indexes: Vec<&str> = std::iter::once(list.as_str()).chain(all.as_deref()).collect();
    Some(found(SiteKind::Rustdoc, root, page, &indexes))
}

fn mdbook(page: &str, html: &str) -> Option<Detected> {
    let way = value(html, "path_to_root")?;
    let named = value(html, "path_to_searchindex_js");
    if named.is_none() && !html.contains("mdBook") && !html.contains("mdbook") {
        return None;
    }
    let mut detected = found(SiteKind::MdBook, up(page, way), page, &["searchindex.js", "searchindex.json"]);
    if let Some(index) = named.and_then(|name| url::join(page, name)) {
        // The file name contains a hash of the text.
        detected.stamp = index.rsplit_once("searchindex-").map(|(_, hash)| hash.trim_end_matches(".js").to_owned());
        detected.indexes.insert(0, index);
    }
    Some(detected)
}

fn mkdocs(page: &str, html: &str) -> Option<Detected> {
    let config = between(html, "id=\"__config\"", "</script>");
    let way = match config {
        Some(config) => between(config, "\"base\":", ",").map(|base| base.trim().trim_matches(['"', '}']))?,
        None => {
            let plain = html.contains("mkdocs") || html.contains("MkDocs");
            value(html, "var base_url").filter(|_| plain)?
        }
    };
    Some(found(SiteKind::MkDocs, up(page, way), page, &["search/search_index.json"]))
}

fn sphinx(page: &str, html: &str) -> Option<Detected> {
    let way = value(html, "data-content_root").or_else(|| value(html, "data-url_root"));
    let way = way.or_else(|| value(between(html, "DOCUMENTATION_OPTIONS", "</script>")?, "URL_ROOT"))?;
    // Pages at the root have `#`, `./` or an empty value.
    let way = if way.starts_with('#') { "" } else { way };
    Some(found(SiteKind::Sphinx, up(page, way), page, &["searchindex.js"]))
}

fn vitepress(page: &str, html: &str) -> Option<Detected> {
    let generated = meta(html, "generator").is_some_and(|by| by.starts_with("VitePress"));
    if !generated && !html.contains("__VP_SITE_DATA__") && !html.contains("__VP_HASH_MAP__") {
        return None;
    }
    let data = between(html, "__VP_SITE_DATA__", "</script>").unwrap_or_default();
    let base = between(data, "\\\"base\\\":\\\"", "\\\"").or_else(|| value(data, "base"));
    let root = base.and_then(|base| url::join(page, base)).or_else(|| before(page, html, "assets/"));
    let mut detected = found(SiteKind::VitePress, root.or_else(|| url::join(page, "/")), page, &[]);
    // The map has a hash for every page.
    detected.stamp = between(html, "__VP_HASH_MAP__", "</script>")
        .map(|map| super::marks::hash(map.split(';').next().unwrap_or(map)));
    Some(detected)
}

fn by_assets(page: &str, html: &str) -> Option<Detected> {
    let generator = meta(html, "generator").unwrap_or_default();
    let starlight = html.contains("<starlight-") || html.contains("sl-markdown-content");
    let (kind, assets) = if generator.starts_with("Docusaurus") || html.contains("__docusaurus") {
        (SiteKind::Docusaurus, "assets/js/")
    } else if generator.starts_with("Starlight") || starlight {
        (SiteKind::Starlight, "_astro/")
    } else {
        return None;
    };
    let root = before(page, html, assets).or_else(|| url::join(page, "/"));
    let mut detected = found(kind, root, page, &[]);
    if kind == SiteKind::Docusaurus {
        // Script names contain hashes, and the main script contains the names of the pages' scripts.
        let scripts: Vec<&str> = html.split("src=\"").skip(1).filter_map(|tail| tail.split('"').next()).collect();
        let scripts: Vec<&str> =
            scripts.into_iter().filter(|name| name.contains("~main.") || name.contains("/main.")).collect();
        detected.stamp = (!scripts.is_empty()).then(|| super::marks::hash(&scripts.join(" ")));
    }
    Some(detected)
}

/// The texts of a docsify site are Markdown files, most of them listed in a file for the sidebar.
fn docsify(page: &str, html: &str) -> Option<Detected> {
    let routes = Routes::docsify(page, html)?;
    let mut detected = found(SiteKind::Docsify, Some(routes.files().to_owned()), page, &[Routes::sidebar(html)]);
    detected.root = url::folder(page);
    if !url::below(&detected.root, routes.files()) {
        routes.files().clone_into(&mut detected.root);
    }
    Some(detected)
}

/// Generators whose pages are read as HTML, and whose files show the root.
fn by_generator(page: &str, html: &str) -> Option<Detected> {
    let generator = meta(html, "generator").unwrap_or_default().to_ascii_lowercase();
    let by = |name: &str| generator.starts_with(name);
    let (kind, file) = if by("doxygen") || html.contains("<!-- Generated by Doxygen") {
        (SiteKind::Doxygen, "doxygen.css")
    } else if by("javadoc") || html.contains("<!-- Generated by javadoc") {
        (SiteKind::Javadoc, "stylesheet.css")
    } else if by("vuepress") {
        (SiteKind::VuePress, "assets/")
    } else if by("antora") {
        (SiteKind::Antora, "_/")
    } else if by("pdoc") {
        (SiteKind::Pdoc, "search.js")
    } else if html.contains("class=\"tsd-page-toolbar") {
        (SiteKind::TypeDoc, "assets/")
    } else if html.contains("/jsdoc\">JSDoc") || html.contains("/jsdoc3\">JSDoc") {
        (SiteKind::JsDoc, "styles/")
    } else {
        return None;
    };
    let way = value(html, "pathtoroot").filter(|_| kind == SiteKind::Javadoc);
    let root = way.map_or_else(|| before(page, html, file), |way| up(page, way));
    let indexes: &[&str] = if kind == SiteKind::Pdoc { &["search.js"] } else { &[] };
    Some(found(kind, root, page, indexes))
}

/// The URL before the assets folder in the first link to an asset.
fn before(page: &str, html: &str, assets: &str) -> Option<String> {
    ["=\"", "='", "= \""].iter().find_map(|open| {
        html.split(open).skip(1).find_map(|tail| {
            let link = tail.split(['"', '\'', '>']).next()?;
            let (root, _) = link.split_once(assets)?;
            let root = if root.is_empty() { Some(url::folder(page)) } else { url::join(page, root) }?;
            url::same_origin(page, &root).then_some(root)
        })
    })
}

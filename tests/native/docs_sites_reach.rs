//! Which pages of a site are read, and in which order: languages, versions, the limit, pages that are hidden from the site's
//! own search, bases of links, and lists that name another copy of the site. Each case names the report it comes from.

use serde_json::json;
use turnwise_docs_index::site::Site;
use turnwise_docs_index::{FetchedPage, SiteStep, ToolReply, ToolText, charset, tools};

const HOST: &str = "https://docs.test";

/// A file of a host: path, status, header `X-Robots-Tag`, text.
type File = (String, u16, &'static str, String);

/// A host, and what was requested from it.
#[derive(Default)]
struct Host {
    files: Vec<File>,
    asked: Vec<String>,
}

impl Host {
    fn page(&mut self, path: &str, head: &str, body: &str) -> &mut Self {
        let lang = if head.contains("<html") { "" } else { "<html lang=\"en\">" };
        let fill = format!(
            "<p>This is text of {path}, long enough to be read as a page of its own, with nothing else in it.</p>"
        );
        // At the end of the element with the text.
        let end = body.rfind("</").unwrap_or(body.len());
        let (text, rest) = body.split_at(end);
        let text = format!(
            "<!doctype html>{lang}<head><title>{path}</title>{head}</head><body>{text}{fill}{rest}</body></html>"
        );
        self.file(path, 200, &text)
    }

    fn file(&mut self, path: &str, status: u16, text: &str) -> &mut Self {
        self.files.push((path.to_owned(), status, "", text.to_owned()));
        self
    }

    fn map(&mut self, host: &str, paths: impl Iterator<Item = String>) -> &mut Self {
        let urls: String = paths.map(|path| format!("<url><loc>{host}{path}</loc></url>")).collect();
        self.file("/sitemap.xml", 200, &format!("<urlset>{urls}</urlset>"))
    }

    /// Answers an address as a web server would: with the file of this path, escapes in either case.
    fn get(&mut self, url: &str) -> (FetchedPage, Option<String>) {
        let path = url.strip_prefix(HOST).expect("same origin").to_owned();
        let plain = turnwise_docs_index::url::decoded(&path);
        let found = self.files.iter().find(|(at, ..)| *at == path || turnwise_docs_index::url::decoded(at) == plain);
        self.asked.push(path);
        let (status, robots, text) = found.map_or((404, "", None), |(_, s, r, t)| (*s, *r, Some(t.clone())));
        let got = FetchedPage {
            url: url.into(),
            status,
            body: text.is_some(),
            robots: robots.into(),
            ..FetchedPage::default()
        };
        (got, text)
    }

    /// Reads the site, as a visitor of the page at `path`.
    fn read(&mut self, path: &str) -> Site {
        let (mut site, step) = Site::open(&format!("{HOST}{path}"), None, None);
        self.follow(&mut site, step);
        site
    }

    fn follow(&mut self, site: &mut Site, mut step: SiteStep) {
        while !step.fetch.is_empty() {
            let mut more = Vec::new();
            for url in step.fetch {
                let (got, text) = self.get(&url);
                more.extend(site.take(&got, text.as_deref()).fetch);
            }
            step = SiteStep { fetch: more, ..SiteStep::default() };
        }
    }

    /// Calls a tool, and fetches what it needs.
    fn call(&mut self, site: &mut Site, name: &str, arguments: serde_json::Value) -> String {
        for _ in 0..8 {
            match tools::call(site, name, &arguments) {
                ToolReply::Result(ToolText { text, .. }) | ToolReply::Wrong(text) => return text,
                ToolReply::Fetch(urls) => {
                    for url in urls {
                        let (got, text) = self.get(&url);
                        let step = site.take(&got, text.as_deref());
                        self.follow(site, step);
                    }
                }
            }
        }
        panic!("{name} never ends");
    }

    fn search(&mut self, site: &mut Site, query: &str) -> String {
        self.call(site, "search_docs", json!({ "query": query }))
    }
}

/// A site whose pages are `count` topics in each of the folders, sorted by address, and a secret word on topic 55 of each.
/// `head` gives the head of the page `n` in a folder.
fn folders(folders: &[&str], count: usize, head: impl Fn(&str, usize) -> String) -> Host {
    let mut host = Host::default();
    let mut paths = Vec::new();
    for folder in folders {
        for n in 0..count {
            let path = format!("/{folder}p{n}/");
            let word = if n == 55 {
                format!("The lever word{} turns.", folder.replace(['/', '-', '.'], ""))
            } else {
                String::new()
            };
            host.page(
                &path,
                &head(folder, n),
                &format!("<main><h1>Topic {n}</h1><p>Text {n} of {folder}. {word}</p></main>"),
            );
            paths.push(path);
        }
    }
    paths.sort();
    host.map(HOST, paths.into_iter());
    host
}

/// The first address that a search gives, without the host.
fn first(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("1. ").trim_start_matches(HOST).to_owned()
}

type Case<'a> = (&'a str, Box<dyn FnOnce() -> Result<(), String>>);

/// Runs all cases and says which do not hold.
fn hold(cases: Vec<Case<'_>>) {
    let mut wrong = Vec::new();
    for (name, case) in cases {
        match case() {
            Ok(()) => eprintln!("held: {name}"),
            Err(why) => wrong.push(format!("{name}: {}", why.chars().take(400).collect::<String>())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn finds(mut host: Host, start: &str, query: &str, wanted: &str) -> Result<(), String> {
    let mut site = host.read(start);
    let found = host.search(&mut site, query);
    if first(&found).starts_with(wanted) { Ok(()) } else { Err(found) }
}

fn lacks(mut host: Host, start: &str, query: &str, secret: &str, wanted: &str) -> Result<(), String> {
    let mut site = host.read(start);
    let found = host.search(&mut site, query);
    let listed = host.call(&mut site, "list_pages", json!({}));
    // What repeats the query says nothing.
    let found: String =
        found.lines().filter(|line| !line.starts_with("No section") && !line.starts_with('[')).collect();
    match () {
        () if found.contains(secret) || listed.contains(secret) => Err(format!("{found}\n{listed}")),
        () if !listed.contains(wanted) => Err(format!("lost: {listed}")),
        () => Ok(()),
    }
}

const STARLIGHT: &str =
    "<meta name=\"generator\" content=\"Starlight v0.36\"><link href=\"/_astro/a.css\" rel=\"stylesheet\">";
const DOCUSAURUS: &str =
    "<meta name=\"generator\" content=\"Docusaurus v3.9.2\"><script src=\"/assets/js/main.1.js\"></script>";
const VITEPRESS: &str =
    "<meta name=\"generator\" content=\"VitePress v1.6.4\"><link rel=\"stylesheet\" href=\"/assets/style.1.css\">";

fn alternates(folders: &[(&str, &str)], n: usize) -> String {
    let link = |(folder, lang): &(&str, &str)| {
        format!("<link rel=\"alternate\" hreflang=\"{lang}\" href=\"https://public.test/{folder}p{n}/\">")
    };
    folders.iter().map(link).collect()
}

#[test]
fn pages_in_the_visitors_language_are_read_first() {
    const TEN: &[&str] = &["ar/", "de/", "es/", "fr/", "it/", "ja/", "ko/", "pt-br/", "ru/", "zh-cn/"];
    // Languages in a list of codes, and not.
    const NORTH: &[(&str, &str)] = &[
        ("", "en"),
        ("da/", "da"),
        ("el/", "el"),
        ("fi/", "fi"),
        ("hu/", "hu"),
        ("id/", "id"),
        ("no/", "nb"),
        ("ro/", "ro"),
    ];
    let names = |list: &[(&'static str, &str)]| list.iter().map(|(folder, _)| *folder).collect::<Vec<_>>();
    hold(vec![
        (
            "use-ink/ink-docs#184: folders, html lang",
            Box::new(|| {
                let lang = |folder: &str| format!("<html lang=\"{}\">{VITEPRESS}", folder.trim_end_matches('/'));
                finds(folders(TEN, 60, |folder, _| lang(folder)), "/zh-cn/p1/", "wordzhcn lever", "/zh-cn/p55/")
            }),
        ),
        (
            "withastro/docs#12238: hreflang links, English at the root",
            Box::new(move || {
                let host = folders(&names(NORTH), 60, |_, n| format!("{STARLIGHT}{}", alternates(NORTH, n)));
                finds(host, "/p1/", "word lever", "/p55/")
            }),
        ),
        (
            "the same, a Finnish visitor",
            Box::new(move || {
                let host = folders(&names(NORTH), 60, |folder, n| {
                    format!(
                        "<html lang=\"{}\">{STARLIGHT}{}",
                        if folder.is_empty() { "en" } else { folder.trim_end_matches('/') },
                        alternates(NORTH, n)
                    )
                });
                finds(host, "/fi/p1/", "wordfi lever", "/fi/p55/")
            }),
        ),
        (
            "newrelic/docs-website#1195: folders named after countries, declared by the site map",
            Box::new(|| {
                let all = ["br/", "cn/", "jp/", "kr/", "vn/", "se/", "dk/", ""];
                let langs = ["pt-BR", "zh-CN", "ja", "ko", "vi", "sv", "da", "en"];
                let mut host = folders(&all, 60, |_, _| VITEPRESS.to_owned());
                host.files.retain(|(path, ..)| path != "/sitemap.xml");
                let links = |n: usize| {
                    all.iter().zip(langs).map(|(folder, lang)| format!("<xhtml:link rel=\"alternate\" hreflang=\"{lang}\" href=\"https://public.test/{folder}p{n}/\"/>")).collect::<String>()
                };
                let urls = all
                    .iter()
                    .flat_map(|folder| (0..60).map(move |n| (folder, n)))
                    .map(|(folder, n)| format!("<url><loc>https://public.test/{folder}p{n}/</loc>{}</url>", links(n)));
                let map = format!("<urlset>{}</urlset>", urls.collect::<String>());
                host.file("/sitemap.xml", 200, &map);
                finds(host, "/p1/", "word lever", "/p55/")
            }),
        ),
        (
            "python/cpython#75765: nothing declared but html lang, English at the root",
            Box::new(|| {
                let all = ["cs/", "da/", "el/", "fi/", "hu/", "id/", "nb/", "ro/", "uk/", ""];
                let host = folders(&all, 60, |folder, _| {
                    format!(
                        "<html lang={}>{VITEPRESS}",
                        if folder.is_empty() { "en" } else { folder.trim_end_matches('/') }
                    )
                });
                finds(host, "/p1/", "word lever", "/p55/")
            }),
        ),
        (
            "mdn/kuma#5268: pt and pt-BR, en-US before the folder docs",
            Box::new(|| {
                let all = [
                    "de/docs/",
                    "en-US/docs/",
                    "es/docs/",
                    "fr/docs/",
                    "ja/docs/",
                    "ko/docs/",
                    "pt-BR/docs/",
                    "ru/docs/",
                ];
                let list: Vec<(&str, &str)> = all.iter().map(|f| (*f, f.split('/').next().unwrap())).collect();
                let host = folders(&all, 60, |folder, n| {
                    format!("<html lang=\"{}\">{VITEPRESS}{}", folder.split('/').next().unwrap(), alternates(&list, n))
                });
                finds(host, "/pt-BR/docs/p1/", "wordptBRdocs lever", "/pt-BR/docs/p55/")
            }),
        ),
    ]);
}

#[test]
fn pages_of_the_visitors_version_are_read_first() {
    hold(vec![
        (
            "drivendataorg/cloudpathlib#397: old versions lead to the current one by their canonical",
            Box::new(|| {
                let all = ["aurora/", "breeze/", "cirrus/", "dew/", "eddy/", "fog/", "guide/"];
                let host = folders(&all, 70, |folder, n| {
                    if folder == "guide/" {
                        VITEPRESS.to_owned()
                    } else {
                        format!("{VITEPRESS}<link rel=\"canonical\" href=\"{HOST}/guide/p{n}/\">")
                    }
                });
                let mut start = host;
                start.page("/", VITEPRESS, "<main><h1>Start</h1><p>Welcome to it.</p></main>");
                finds(start, "/", "wordguide lever", "/guide/p55/")
            }),
        ),
        (
            "Docusaurus: versions without numbers, declared by docsearch:version",
            Box::new(|| {
                let all = [
                    "docs/2023-lts/",
                    "docs/classic/",
                    "docs/canary/",
                    "docs/eap/",
                    "docs/fall/",
                    "docs/old/",
                    "docs/",
                ];
                let version = |folder: &str| match folder {
                    "docs/" => "3.0".to_owned(),
                    _ => folder.trim_start_matches("docs/").trim_end_matches('/').to_owned(),
                };
                let host = folders(&all, 70, |folder, _| {
                    format!(
                        "{DOCUSAURUS}<meta data-rh=\"true\" name=\"docsearch:version\" content=\"{}\">",
                        version(folder)
                    )
                });
                finds(host, "/docs/p1/", "worddocs lever", "/docs/p55/")
            }),
        ),
        (
            "canonical/lxd#11221: numbered folders, the visitor in an old one",
            Box::new(|| {
                let all = ["0.8/", "0.9/", "1.0/", "2.0/", "3.0/", "3.1/", "4.0/", "latest/", "next/", "v5/"];
                finds(folders(&all, 70, |_, _| VITEPRESS.to_owned()), "/4.0/p1/", "word40 lever", "/4.0/p55/")
            }),
        ),
        (
            "tabulator-tables/tabulator#3473: the version is below the language",
            Box::new(|| {
                let all =
                    ["en/4.8/", "en/4.9/", "en/5.0/", "en/5.1/", "fr/4.8/", "fr/4.9/", "fr/5.0/", "fr/5.1/", "en/"];
                let host = folders(&all, 70, |folder, _| format!("<html lang=\"{}\">{VITEPRESS}", &folder[..2]));
                finds(host, "/fr/4.9/p1/", "wordfr49 lever", "/fr/4.9/p55/")
            }),
        ),
    ]);
}

#[test]
fn what_a_site_hides_from_its_own_search_is_no_source() {
    const SECRET: &str = "quagga";
    let site = |head: &'static str, start: &'static str, hidden_head: &'static str, hidden: &'static str| {
        let mut host = Host::default();
        host.page("/", &format!("{head}{start}"), "<main data-x><h1>Home</h1><p>Welcome to the home of it. <a href=\"/guide/\">Guide</a> <a href=\"/draft/\">Draft</a></p></main>");
        host.page(
            "/guide/",
            &format!("{head}{start}"),
            "<main data-x><h1>Guide</h1><p>The fee is 100 euros.</p></main>",
        );
        host.page("/draft/", &format!("{head}{hidden_head}"), hidden);
        host
    };
    let draft = "<main><h1>Draft</h1><p>The fee will be a quagga.</p></main>";
    hold(vec![
        (
            "easyops-cn/docusaurus-search-local#371: unlisted",
            Box::new(move || {
                lacks(
                    site(
                        DOCUSAURUS,
                        "",
                        "<meta data-rh=\"true\" name=\"robots\" content=\"noindex, nofollow\">",
                        draft,
                    ),
                    "/",
                    "fee quagga",
                    SECRET,
                    "/guide/",
                )
            }),
        ),
        (
            "cmfcmf/docusaurus-search-local#172, in other letters",
            Box::new(move || {
                lacks(
                    site(VITEPRESS, "", "<META CONTENT='NOINDEX' NAME=robots>", draft),
                    "/",
                    "fee quagga",
                    SECRET,
                    "/guide/",
                )
            }),
        ),
        (
            "MicrosoftDocs: searchOption of docfx",
            Box::new(move || {
                lacks(
                    site(
                        "<meta name=\"generator\" content=\"docfx 2.75\">",
                        "",
                        "<meta name=\"searchOption\" content=\"noindex\">",
                        draft,
                    ),
                    "/",
                    "fee quagga",
                    SECRET,
                    "/guide/",
                )
            }),
        ),
        (
            "a header X-Robots-Tag",
            Box::new(move || {
                let mut host = site(VITEPRESS, "", "", draft);
                host.files
                    .iter_mut()
                    .filter(|file| file.0 == "/draft/")
                    .for_each(|file| file.2 = "noarchive, unavailable_after: 25 Jun 2030 15:00:00 PST, noindex");
                lacks(host, "/", "fee quagga", SECRET, "/guide/")
            }),
        ),
        (
            "a header for another robot hides nothing",
            Box::new(move || {
                let mut host = site(VITEPRESS, "", "", draft);
                host.files
                    .iter_mut()
                    .filter(|file| file.0 == "/draft/")
                    .for_each(|file| file.2 = "googlebot-news: noindex");
                finds(host, "/", "fee quagga", "/draft/")
            }),
        ),
        (
            "Pagefind/pagefind#340: pages without data-pagefind-body",
            Box::new(move || {
                let mut host = site("<script src=\"/pagefind/pagefind-ui.js\" defer></script>", "", "", draft);
                host.files.iter_mut().for_each(|file| file.3 = file.3.replace("data-x", "data-pagefind-body"));
                lacks(host, "/", "fee quagga", SECRET, "/guide/")
            }),
        ),
        (
            "withastro/starlight: pagefind: false on the page that is read last",
            Box::new(move || {
                let mut host = site(STARLIGHT, "", "", draft);
                host.files
                    .iter_mut()
                    .filter(|file| file.0 == "/guide/")
                    .for_each(|file| file.3 = file.3.replace("data-x", "data-pagefind-body"));
                host.map(HOST, ["/draft/", "/", "/guide/"].into_iter().map(str::to_owned));
                let mut read = host.read("/draft/");
                let found = host.search(&mut read, "fee quagga");
                // The visitor's own page has no body either: then nothing is hidden.
                if found.contains(SECRET) { Ok(()) } else { Err(found) }
            }),
        ),
        (
            "data-pagefind-ignore, also on the whole body (shuding/nextra searchable: false)",
            Box::new(move || {
                lacks(
                    site(
                        VITEPRESS,
                        "",
                        "",
                        "<div data-pagefind-ignore=\"all\"><main><h1>Draft</h1><p>A quagga.</p></main></div>",
                    ),
                    "/",
                    "fee quagga",
                    SECRET,
                    "/guide/",
                )
            }),
        ),
        (
            "squidfunk/mkdocs-material: data-search-exclude",
            Box::new(move || {
                lacks(
                    site(VITEPRESS, "", "", "<main><h1>Draft</h1><p data-search-exclude>A quagga.</p></main>"),
                    "/",
                    "quagga",
                    SECRET,
                    "/guide/",
                )
            }),
        ),
        (
            "swiftype: data-swiftype-index=false and googleoff",
            Box::new(move || {
                lacks(
                    site(
                        VITEPRESS,
                        "",
                        "",
                        "<main><h1>Draft</h1><p data-swiftype-index=\"false\">A quagga.</p><!--googleoff: index--><p>A quagga.</p><!--googleon: index--><!-- noindex --><p>quagga</p><!-- /noindex --></main>",
                    ),
                    "/",
                    "quagga",
                    SECRET,
                    "/guide/",
                )
            }),
        ),
        (
            "old versions: all pages are noindex, also the visitor's",
            Box::new(move || {
                finds(
                    site(
                        VITEPRESS,
                        "<meta name=\"robots\" content=\"noindex\">",
                        "<meta name=\"robots\" content=\"noindex\">",
                        draft,
                    ),
                    "/",
                    "fee quagga",
                    "/draft/",
                )
            }),
        ),
        (
            "canonical/lxd#11898: nosearch of Sphinx",
            Box::new(move || {
                let mut host = Host::default();
                host.page(
                    "/index.html",
                    "<html lang=\"en\" data-content_root=\"./\">",
                    "<div class=body role=main><h1>Home</h1><a href=\"guide.html\">g</a> <a href=\"cheat.html\">c</a></div>",
                );
                host.page(
                    "/guide.html",
                    "",
                    "<div class=body role=main><h1>Guide</h1><p>The fee is 100 euros.</p></div>",
                );
                host.page(
                    "/cheat.html",
                    "",
                    "<div class=body role=main><h1>Cheat</h1><p>The fee is a quagga.</p></div>",
                );
                host.file("/searchindex.js", 200, "Search.setIndex({\"alltitles\":{\"Home\":[[2,null]],\"Guide\":[[1,null]]},\"docnames\":[\"cheat\",\"guide\",\"index\"],\"titles\":[\"\",\"Guide\",\"Home\"],\"terms\":{\"fee\":1,\"home\":2},\"titleterms\":{\"guid\":1,\"home\":2},\"objects\":{}})");
                lacks(host, "/index.html", "fee quagga", SECRET, "/guide.html")
            }),
        ),
    ]);
}

#[test]
fn links_are_relative_to_the_base_that_a_page_declares() {
    const BOOK: &str = r#"{"doc_urls":["guide.html#guide","guide.html#start"],"index":{"documentStore":{"docs":{"0":{"title":"Guide","body":"All."},"1":{"title":"Start","body":"Pull the quagga."}}}}}"#;
    hold(vec![
        (
            "rust-lang/mdBook#1391: the page for missing ones",
            Box::new(|| {
                let mut host = Host::default();
                host.file("/book/old/deep/gone.html", 404, "<!-- Book generated using mdBook --><html><head><title>Page not found - B</title><base href=\"/book/\"><script>var path_to_root = \"\"; window.path_to_searchindex_js = \"searchindex-1.js\";</script></head><body><main><h1>Document not found (404)</h1></main></body></html>");
                host.file("/book/searchindex-1.js", 200, &format!("window.search = JSON.parse('{BOOK}')"));
                finds(host, "/book/old/deep/gone.html", "quagga", "/book/guide.html#start")
            }),
        ),
        (
            "angular/material#11634, ng-doc#34: base and relative links",
            Box::new(|| {
                let mut host = Host::default();
                let head = "<base href=\"/shapes/\"><link rel=stylesheet href=\"styles.css\">";
                let menu = "<nav><a href=\"guide/start\">Start</a> <a href=\"guide/more\">More</a> <a href=\"./\">Home</a></nav>";
                host.page("/shapes/guide/start", head, &format!("{menu}<main><h1>Start</h1><p>Start here.</p></main>"));
                host.page(
                    "/shapes/guide/more",
                    head,
                    &format!("{menu}<main><h1>More</h1><p>A quagga. <a href=\"guide/start\">Back</a></p></main>"),
                );
                host.page("/shapes/", head, &format!("{menu}<main><h1>Home</h1><p>Home of it.</p></main>"));
                let mut site = host.read("/shapes/guide/start");
                let found = host.search(&mut site, "quagga");
                let page = host.call(&mut site, "read_page", json!({"url": "/shapes/guide/more"}));
                if first(&found) == "/shapes/guide/more" && page.contains("(https://docs.test/shapes/guide/start)") {
                    Ok(())
                } else {
                    Err(format!("{found}\n{page}\n{:?}", host.asked))
                }
            }),
        ),
        (
            "ipfs-inactive/website#55: base above the page",
            Box::new(|| {
                let mut host = Host::default();
                let head = "<base href=\"../../\"><link rel=stylesheet href=\"css/a.css\">";
                host.page("/docs/commands/", head, "<main><h1>Commands</h1><p>All. <a href=\"docs/install/\">Install</a> <a href=\"docs/api/\">API</a></p></main>");
                host.page("/docs/install/", head, "<main><h1>Install</h1><p>A quagga.</p></main>");
                host.page("/docs/api/", head, "<main><h1>API</h1><p>Calls.</p></main>");
                finds(host, "/docs/commands/", "quagga", "/docs/install/")
            }),
        ),
        (
            "a base with the public host, on a copy",
            Box::new(|| {
                let mut host = Host::default();
                let head = "<base href=\"https://public.test/docs/\">";
                host.page(
                    "/docs/deep/a.html",
                    head,
                    "<main><h1>A</h1><p>All. <a href=\"deep/b.html\">B</a> <a href=\"c.html\">C</a></p></main>",
                );
                host.page("/docs/deep/b.html", head, "<main><h1>B</h1><p>A quagga.</p></main>");
                host.page("/docs/c.html", head, "<main><h1>C</h1><p>Else.</p></main>");
                finds(host, "/docs/deep/a.html", "quagga", "/docs/deep/b.html")
            }),
        ),
    ]);
}

#[test]
fn lists_that_name_another_copy_of_the_site_are_moved() {
    let pages = |host: &mut Host, root: &str, canonical: &str| {
        let generator = format!(
            "<meta name=\"generator\" content=\"VitePress v1.6.4\"><link rel=\"stylesheet\" href=\"{root}assets/s.css\">"
        );
        let head = |path: &str| match canonical {
            "" => generator.clone(),
            _ => format!("{generator}<link rel=\"canonical\" href=\"{canonical}{path}\">"),
        };
        host.page(&format!("{root}a/"), &head("a/"), "<main><h1>A</h1><p>Welcome to it.</p></main>");
        host.page(
            &format!("{root}guide/start"),
            &head("guide/start"),
            "<main><h1>Start</h1><p>Pull the quagga.</p></main>",
        );
        host.page(&format!("{root}guide/stop"), &head("guide/stop"), "<main><h1>Stop</h1><p>Push.</p></main>");
    };
    let llms = |at: &str| {
        format!(
            "# Halden\n\n- [Start]({at}guide/start): how\n- [Stop]({at}guide/stop.md): how\n- [A]({at}a/)\n- [Code](https://github.com/x/y): code\n"
        )
    };
    hold(vec![
        (
            "thefrontside/effection#1241: llms.txt of production on a preview",
            Box::new(move || {
                let mut host = Host::default();
                pages(&mut host, "/", "https://docs.example.org/");
                host.file("/llms.txt", 200, &llms("https://docs.example.org/"));
                finds(host, "/a/", "quagga", "/guide/start")
            }),
        ),
        (
            "the-guild-org/website#2005: no canonical",
            Box::new(move || {
                let mut host = Host::default();
                pages(&mut host, "/", "");
                host.file("/llms.txt", 200, &llms("https://www.docs.test/"));
                let mut site = host.read("/a/");
                let found = host.search(&mut site, "quagga");
                let strange = host.asked.iter().any(|path| path == "/x/y");
                if first(&found) == "/guide/start" && !strange {
                    Ok(())
                } else {
                    Err(format!("{found}{:?}", host.asked))
                }
            }),
        ),
        (
            "rossjrw/pr-preview-action: a preview below the site, on the same host",
            Box::new(move || {
                let mut host = Host::default();
                pages(&mut host, "/pr/7/", "https://docs.test/");
                host.file("/pr/7/sitemap.xml", 200, "<urlset><url><loc>https://docs.test/a/</loc></url><url><loc>https://docs.test/guide/start</loc></url><url><loc>https://docs.test/guide/stop</loc></url></urlset>");
                finds(host, "/pr/7/a/", "quagga", "/pr/7/guide/start")
            }),
        ),
        (
            "lumeland/lume#763: localhost in the site map, published in a folder",
            Box::new(move || {
                let mut host = Host::default();
                pages(&mut host, "/project/", "");
                host.file("/project/sitemap.xml", 200, "<urlset><url><loc>http://localhost:3000/a/</loc></url><url><loc>http://localhost:3000/guide/start</loc></url><url><loc>http://localhost:3000/guide/stop</loc></url></urlset>");
                finds(host, "/project/a/", "quagga", "/project/guide/start")
            }),
        ),
        (
            "cloudquery/cloudquery#8848: llms-full.txt with the other host",
            Box::new(move || {
                let mut host = Host::default();
                host.page(
                    "/a/",
                    &format!("{VITEPRESS}<link rel=\"canonical\" href=\"https://docs.example.org/a/\">"),
                    "<main><h1>A</h1></main>",
                );
                let many = (0..40).map(|n| format!("- [P{n}](https://docs.example.org/p{n})\n")).collect::<String>();
                host.file("/llms.txt", 200, &format!("# T\n{many}"));
                let full = (0..40)
                    .map(|n| {
                        format!(
                            "# P{n}\nSource: https://docs.example.org/p{n}\n\nText {n} {}.\n\n",
                            if n == 33 { "quagga" } else { "" }
                        )
                    })
                    .collect::<String>();
                host.file("/llms-full.txt", 200, &full);
                (0..40).for_each(|n| {
                    host.page(
                        &format!("/p{n}"),
                        "",
                        &format!("<main><h1>P{n}</h1><p>Text {n} {}</p></main>", if n == 33 { "quagga" } else { "" }),
                    );
                });
                finds(host, "/a/", "quagga", "/p33")
            }),
        ),
        (
            "llms.txt that is about other sites moves nothing",
            Box::new(move || {
                let mut host = Host::default();
                pages(&mut host, "/", "");
                host.files.retain(|(path, ..)| path == "/a/");
                host.file("/llms.txt", 200, "# Halden\n- [Code](https://github.com/x/y)\n- [Talk](https://talk.example.org/z)\n- [Pkg](https://npmjs.example.com/p)\n");
                let _ = host.read("/a/");
                if host.asked.iter().any(|path| ["/x/y", "/z", "/p"].contains(&path.as_str())) {
                    Err(format!("{:?}", host.asked))
                } else {
                    Ok(())
                }
            }),
        ),
    ]);
}

#[test]
fn an_address_is_one_page_in_every_spelling() {
    let page = |host: &mut Host, path: &str, body: &str| {
        host.page(path, VITEPRESS, &format!("<main><h1>P</h1>{body}</main>"));
    };
    hold(vec![
        (
            "apache/stormcrawler#1448: %e6 and %E6",
            Box::new(move || {
                let mut host = Host::default();
                page(
                    &mut host,
                    "/%e6%96%87/a.html",
                    "<p>Start. <a href=\"/%E6%96%87/b.html\">B</a> <a href=\"/文/c.html\">C</a></p>",
                );
                page(&mut host, "/%E6%96%87/b.html", "<p>A quagga. <a href=\"/%e6%96%87/b.html\">B</a></p>");
                page(&mut host, "/%E6%96%87/c.html", "<p>A zebra.</p>");
                host.files.iter_mut().for_each(|file| {
                    file.3 = file.3.replace(VITEPRESS, "<link rel=stylesheet href=\"/%E6%96%87/s.css\">");
                });
                let mut site = host.read("/%e6%96%87/a.html");
                let (b, c) = (host.search(&mut site, "quagga"), host.search(&mut site, "zebra"));
                let pages = site.info().pages;
                if first(&b) == "/%E6%96%87/b.html" && first(&c) == "/%E6%96%87/c.html" && pages == 3 {
                    Ok(())
                } else {
                    Err(format!("{pages} {b} {c} {:?}", host.asked))
                }
            }),
        ),
        (
            "curl/curl#17685: escaped letters and marks",
            Box::new(move || {
                let mut host = Host::default();
                page(
                    &mut host,
                    "/a",
                    "<p>Start. <a href=\"/b%2dc%7E/x\">B</a> <a href=\"/b-c~/x/\">B</a> <a href=\"/b-c~/x.html\">B</a> <a href=\"/b-c~/x/index.html\">B</a></p>",
                );
                page(&mut host, "/b-c~/x", "<p>A quagga.</p>");
                let mut site = host.read("/a");
                let found = host.search(&mut site, "quagga");
                if first(&found) == "/b-c~/x" && site.info().pages == 2 {
                    Ok(())
                } else {
                    Err(format!("{found}{:?}", host.asked))
                }
            }),
        ),
        (
            "a host in capitals, a port that is the scheme's own",
            Box::new(move || {
                let mut host = Host::default();
                page(&mut host, "/a", "<p>Start. <a href=\"HTTPS://Docs.Test:443/b\">B</a></p>");
                page(&mut host, "/b", "<p>A quagga.</p>");
                finds(host, "/a", "quagga", "/b")
            }),
        ),
    ]);
}

#[test]
fn the_limit_is_known_and_pages_beyond_it_are_fetched_when_they_are_asked_for() {
    fn topic(n: usize) -> &'static str {
        match n {
            555 => "The zirconium lever starts it.",
            570 => "The osmium lever stops it.",
            _ => "",
        }
    }
    let big = |names: fn(usize) -> String, head: &str| {
        let mut host = Host::default();
        for n in 0..600 {
            host.page(
                &names(n),
                head,
                &format!("<main><h1>Topic {n}</h1><p>Text about subject{n}. {}</p></main>", topic(n)),
            );
        }
        host.map(HOST, (0..600).map(names));
        host
    };
    hold(vec![
        (
            "GOVTNZ/cwac#299: a word that is only on a page beyond the limit is not called missing",
            Box::new(move || {
                let mut host = big(|n| format!("/t{n}"), VITEPRESS);
                let mut site = host.read("/t0");
                let said = host.search(&mut site, "tungsten lever");
                let honest = said.contains("of 600 pages")
                    && !said.contains("occur nowhere in this documentation")
                    && !said.contains("No section of the documentation");
                if honest { Ok(()) } else { Err(said) }
            }),
        ),
        (
            "its title says what it is about: it is fetched when it is searched",
            Box::new(move || {
                let mut host =
                    big(|n| if n == 555 { "/zirconium-lever".to_owned() } else { format!("/t{n}") }, VITEPRESS);
                let mut site = host.read("/t0");
                let before = host.asked.iter().any(|path| path == "/zirconium-lever");
                let said = host.search(&mut site, "zirconium lever");
                if !before && said.contains("starts it") { Ok(()) } else { Err(said) }
            }),
        ),
        (
            "search finds nothing: more pages are read",
            Box::new(move || {
                let mut host = big(|n| format!("/t{n}"), VITEPRESS);
                let mut site = host.read("/t0");
                let said =
                    (0..12).map(|_| host.search(&mut site, "osmium lever")).find(|said| said.contains("stops it"));
                if said.is_some() { Ok(()) } else { Err(host.search(&mut site, "osmium lever")) }
            }),
        ),
        (
            "read_page reads it, list_pages lists it",
            Box::new(move || {
                let mut host = big(|n| format!("/t{n}"), VITEPRESS);
                let mut site = host.read("/t0");
                let page = host.call(&mut site, "read_page", json!({"url": "/t599"}));
                let list = host.call(&mut site, "list_pages", json!({"filter": "t598"}));
                if page.contains("subject599") && list.contains("/t598") {
                    Ok(())
                } else {
                    Err(format!("{page}{list}"))
                }
            }),
        ),
        (
            "links only, without a list",
            Box::new(move || {
                let mut host = Host::default();
                let links = |n: usize| {
                    (0..15)
                        .filter(|i| n * 15 + i < 600)
                        .map(|i| format!("<a href=\"t{}.html\">n</a>", n * 15 + i))
                        .collect::<String>()
                };
                for n in 0..600 {
                    host.page(
                        &format!("/t{n}.html"),
                        "",
                        &format!(
                            "<main><h1>Topic {n}</h1><p>Text about subject{n}. {} {}</p></main>",
                            topic(n),
                            links(n)
                        ),
                    );
                }
                let mut site = host.read("/t0.html");
                let said = host.search(&mut site, "tungsten lever");
                let page = host.call(&mut site, "read_page", json!({"url": "/t599.html"}));
                if said.contains("of 600 pages") && page.contains("subject599") {
                    Ok(())
                } else {
                    Err(format!("{said}{page}"))
                }
            }),
        ),
        (
            "sphinx: the words of pages beyond the limit are known, and fetched when found",
            Box::new(move || {
                let mut host = Host::default();
                for n in 0..600 {
                    host.page(
                        &format!("/t{n}.html"),
                        "<html lang=\"en\" data-content_root=\"./\">",
                        &format!(
                            "<div class=body role=main><h1>Topic {n}</h1><p>Text about subject{n}. {}</p></div>",
                            topic(n)
                        ),
                    );
                }
                let names: Vec<String> = (0..600).map(|n| format!("\"t{n}\"")).collect();
                let titles: Vec<String> = (0..600).map(|n| format!("\"Topic {n}\"")).collect();
                host.file("/searchindex.js", 200, &format!("Search.setIndex({{\"docnames\":[{}],\"titles\":[{}],\"terms\":{{\"zirconium\":555,\"lever\":[555,570]}},\"alltitles\":{{}},\"objects\":{{}}}})", names.join(","), titles.join(",")));
                let mut site = host.read("/t0.html");
                let said = host.search(&mut site, "zirconium lever");
                if said.contains("starts it") { Ok(()) } else { Err(said) }
            }),
        ),
    ]);
}

#[test]
fn a_short_page_with_a_title_is_not_a_shell() {
    // Of the case of windows-1251: decoded, its pages have less than 80 bytes of text.
    let mut host = Host::default();
    let page = |title: &str, text: &str| {
        format!(
            "<html><head><title>{title}</title></head><body><main><h1>{title}</h1><p>{text}</p><a href=\"/a.html\">1</a></main><script src=x.js></script></body></html>"
        )
    };
    host.file("/", 200, &page("Home", "Welcome.")).file("/a.html", 200, &page("Start", "Pull the quagga."));
    host.file(
        "/b.html",
        200,
        "<html><head><title>App</title></head><body><div id=app></div><script src=x.js></script></body></html>",
    );
    let mut site = host.read("/");
    assert_eq!(first(&host.search(&mut site, "quagga")), "/a.html");
    assert_eq!(host.call(&mut site, "list_pages", json!({})).matches("sections)").count(), 2);
}

#[test]
fn an_encoding_is_decided_as_browsers_do() {
    let declared = |header: &str, text: &[u8]| charset::declared(header, text).unwrap_or_default();
    let cases: &[(&str, &[u8], &str)] = &[
        ("text/html; charset=windows-1251", b"<meta charset=utf-8>", "windows-1251"),
        ("text/html; charset=\"Shift_JIS\"; x=1", b"", "shift_jis"),
        ("text/html", b"<html><META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=EUC-KR'>", "euc-kr"),
        ("text/html", b"<head><meta name=a content=b><meta charset = \"GBK\" />", "gbk"),
        ("text/html", b"<!-- <meta charset=big5> --><meta charset=koi8-r>", "koi8-r"),
        ("text/html", b"<meta charset=utf-16>", "utf-8"),
        ("application/xml", b"<?xml version=\"1.0\" encoding='ISO-8859-2'?>", "iso-8859-2"),
        ("text/html; charset=koi8-r", b"\xEF\xBB\xBF<html>", "utf-8"),
        ("text/plain", b"\xFF\xFEa\0", "utf-16le"),
        ("text/html", b"<p>charset=koi8-r</p>", ""),
        ("text/html; charset=", b"", ""),
    ];
    for (header, text, wanted) in cases {
        assert_eq!(declared(header, text), *wanted, "{header} {}", String::from_utf8_lossy(text));
    }
    assert_eq!(
        declared("text/html", format!("{}<meta charset=koi8-r>", " ".repeat(1100)).as_bytes()),
        "",
        "too far back"
    );
    for (lang, wanted) in [
        ("ru", "windows-1251"),
        ("zh-TW", "Big5"),
        ("zh-CN", "gb18030"),
        ("rue", "windows-1252"),
        ("en", "windows-1252"),
    ] {
        assert_eq!(charset::usual(format!("<html class=a lang=\"{lang}\">").as_bytes()), wanted, "{lang}");
    }
    assert_eq!(charset::usual(b"\xE9\xE9"), "windows-1252");
}

#[test]
fn a_kept_site_is_read_on_where_the_next_visitor_begins() {
    let english_and_finnish = || {
        let list = [("en/", "en"), ("fi/", "fi")];
        folders(&["en/", "fi/"], 420, |folder, n| {
            format!("<html lang=\"{}\">{VITEPRESS}{}", &folder[..2], alternates(&list, n))
        })
    };
    let mut host = english_and_finnish();
    let site = host.read("/en/p1/");
    let (stored, version) = (site.save(), site.info().version.clone());
    assert!(site.info().complete && !stored.is_empty());
    let mut host = english_and_finnish();
    let (mut site, step) = Site::open(&format!("{HOST}/fi/p1/"), None, None);
    let mut queue = step.fetch;
    let mut loaded = None;
    // As the reader does: as soon as the version is known, what is kept takes the place of reading.
    while let Some(url) = queue.pop() {
        let (got, text) = host.get(&url);
        let step = site.take(&got, text.as_deref());
        if step.version.as_ref().is_some_and(|(_, known)| *known == version) {
            loaded = site.load(&version, &stored);
            break;
        }
        queue.extend(step.fetch);
    }
    let step = loaded.expect("the same version");
    assert!(!step.info.as_ref().unwrap().complete);
    host.follow(&mut site, step);
    let found = host.search(&mut site, "wordfi lever");
    assert!(first(&found).starts_with("/fi/p55/") && found.contains("wordfi turns"), "{found}");
}

//! The finder as data: a page, the requests that follow, their responses, and the result. Also hostile sites.

use turnwise_docs_index::SiteKind;
use turnwise_docs_index::detect::detect;
use turnwise_docs_index::find::{SourceFinder, TextSource};
use turnwise_docs_index::routes::{Routes, Slugs};
use turnwise_docs_index::site::{MAX_PAGES, Site};
use turnwise_docs_index::{FetchedPage, html, llms, mdbook, mkdocs, pdoc, refresh, root, sphinx, url};

const PAGE: &str = "https://docs.test/book/guide/a.html";

/// Runs the finder; addresses are answered by their path, and all others are missing. Returns the requested paths, in
/// order, and the result.
fn find(
    page: &str,
    html: &str,
    source: Option<&str>,
    files: &[(&str, &str)],
) -> (Vec<String>, Result<TextSource, String>) {
    let mut finder = SourceFinder::new(page, Some(html), source);
    let mut asked = Vec::new();
    loop {
        let asks = finder.asks();
        if asks.is_empty() {
            return (asked, finder.source().expect("an end"));
        }
        for ask in asks {
            let path = ask.strip_prefix("https://docs.test").expect("same origin").to_owned();
            let file = files.iter().find(|(name, _)| *name == path).map(|(_, text)| *text);
            let status = if file.is_some() { 200 } else { 404 };
            finder.reply(&FetchedPage { url: ask, status, ..FetchedPage::default() }, file);
            asked.push(path);
        }
    }
}

#[test]
fn pages_say_who_made_them_and_where_the_site_begins() {
    let cases = [
        (
            SiteKind::MdBook,
            "/book/",
            "<script>var path_to_root = \"../\"; window.path_to_searchindex_js = \"../searchindex-1.js\";",
        ),
        (
            SiteKind::MdBook,
            "/book/",
            "<!-- Book generated using mdBook --><script>var path_to_root = \"../\";</script>",
        ),
        (
            SiteKind::MkDocs,
            "/book/",
            "<script id=\"__config\" type=\"application/json\">{\"base\": \"..\", \"features\": []}</script>",
        ),
        (SiteKind::MkDocs, "/book/", "<script>var base_url = \"..\";</script><!-- MkDocs version : 1.6 -->"),
        (SiteKind::Sphinx, "/book/", "<html lang=\"en\" data-content_root=\"../\">"),
        (SiteKind::Sphinx, "/book/", "<script id=\"documentation_options\" data-url_root=\"../\" src=\"x\">"),
        (SiteKind::Sphinx, "/book/", "<script>var DOCUMENTATION_OPTIONS = { URL_ROOT: '../', VERSION: '1' };</script>"),
        (
            SiteKind::Rustdoc,
            "/book/",
            "<meta name=\"rustdoc-vars\" data-root-path=\"../\" data-current-crate=\"guide\" data-resource-suffix=\"1.95.0\" >",
        ),
        (
            SiteKind::VitePress,
            "/base/",
            "<script>window.__VP_SITE_DATA__=JSON.parse(\"{\\\"lang\\\":\\\"en\\\",\\\"base\\\":\\\"/base/\\\"}\");</script>",
        ),
        (
            SiteKind::Docusaurus,
            "/d/",
            "<meta name=\"generator\" content=\"Docusaurus v3.9.2\"><script src=\"/d/assets/js/main.1.js\">",
        ),
        (
            SiteKind::Starlight,
            "/s/",
            "<meta name=\"generator\" content=\"Starlight v0.36\"><link href=\"/s/_astro/a.css\">",
        ),
        (SiteKind::Unknown, "/book/guide/", "<p>Hello"),
    ];
    for (kind, root, html) in cases {
        let detected = detect(PAGE, html);
        assert_eq!(
            (detected.kind, detected.root.as_str()),
            (kind, format!("https://docs.test{root}").as_str()),
            "{html}"
        );
    }
}

#[test]
fn an_index_with_texts_is_all_that_is_asked_for() {
    let book = r#"{"doc_urls":["guide/a.html#a"],"index":{"documentStore":{"docs":{"0":{"title":"A","body":"b"}}}}}"#;
    let html = "<title>A - The Book</title><script>var path_to_root = \"../\"; window.path_to_searchindex_js = \"../searchindex-9f.js\";";
    let (asked, found) = find(PAGE, html, None, &[("/book/searchindex-9f.js", book)]);
    assert_eq!(asked, ["/book/searchindex-9f.js"]);
    let source = found.unwrap();
    assert_eq!((source.kind, source.title.as_str(), source.version.as_str()), (SiteKind::MdBook, "The Book", "9f"));
    assert!(source.todo.is_empty() && source.pages[0].1);
}

#[test]
fn where_the_index_is_missing_the_lists_stand_in() {
    let html = "<html data-content_root=\"../\"><a href=\"b.html\">b</a><a href=\"https://x.test/c.html\">c</a><a href=\"../../d.html\">d</a>";
    let (asked, found) = find(PAGE, html, None, &[]);
    assert_eq!(asked, ["/book/searchindex.js", "/book/llms.txt", "/book/sitemap.xml"]);
    let source = found.unwrap();
    assert_eq!(source.todo, [PAGE, "https://docs.test/book/guide/b.html"]);
    assert!(source.crawl);
    // A site that answers every request with a page.
    let (_, found) = find(
        PAGE,
        html,
        None,
        &[("/book/searchindex.js", html), ("/book/llms.txt", html), ("/book/sitemap.xml", html)],
    );
    assert_eq!(found.unwrap().todo, source.todo);
}

#[test]
fn lists_are_joined_and_markdown_stands_back_behind_pages() {
    let map = "<urlset><loc>https://public.test/book/b.html</loc><loc>https://public.test/other/</loc><loc>https://public.test/book/tags/x/</loc></urlset>";
    let list = "# Tool\n- [B](https://docs.test/book/b.md)\n- [C](c.md)\n- [Far](https://x.test/a.md)";
    let html = "<meta name=\"generator\" content=\"VitePress v1.6\"><script>__VP_SITE_DATA__=JSON.parse(\"{\\\"base\\\":\\\"/book/\\\"}\")</script>";
    let (asked, found) = find(PAGE, html, None, &[("/book/llms.txt", list), ("/book/sitemap.xml", map)]);
    assert_eq!(asked, ["/book/llms.txt", "/book/sitemap.xml"]);
    let source = found.unwrap();
    assert_eq!(source.todo, [PAGE, "https://docs.test/book/b.html", "https://docs.test/book/c.md"]);
    assert_eq!((source.title.as_str(), source.kind), ("Tool", SiteKind::VitePress));
}

#[test]
fn maps_of_maps_are_followed_and_crates_are_read_together() {
    let html = "<meta name=\"generator\" content=\"Starlight v1\"><link href=\"/book/_astro/a.css\">";
    let files = [
        ("/book/sitemap-index.xml", "<sitemapindex><loc>https://docs.test/book/sitemap-0.xml</loc></sitemapindex>"),
        (
            "/book/sitemap-0.xml",
            "<urlset><loc>https://docs.test/book/x/</loc><loc>https://docs.test/book/y/</loc></urlset>",
        ),
    ];
    let (asked, found) = find(PAGE, html, None, &files);
    assert_eq!(
        asked,
        [
            "/book/llms.txt",
            "/book/sitemap.xml",
            "/book/sitemap-index.xml",
            "/book/pagefind/pagefind-entry.json",
            "/book/sitemap-0.xml"
        ]
    );
    let found = found.unwrap();
    assert_eq!(found.todo.len(), 3);
    // The same pages, one of them changed.
    let entry = |hash| [files[0], files[1], ("/book/pagefind/pagefind-entry.json", hash)];
    let versions =
        ["{\"en\":\"1\"}", "{\"en\":\"2\"}"].map(|hash| find(PAGE, html, None, &entry(hash)).1.unwrap().version);
    assert!(versions[0] != versions[1] && versions[0] != found.version);
    let html =
        "<meta name=\"rustdoc-vars\" data-root-path=\"../\" data-current-crate=\"guide\" data-resource-suffix=\"-1\" >";
    let all = "<ul class=\"all-items\"><li><a href=\"struct.S.html\">S</a></li></ul>";
    let files = [
        ("/book/crates-1.js", "window.ALL_CRATES = [\"aaa\",\"guide\"];"),
        ("/book/guide/all.html", all),
        ("/book/aaa/all.html", all),
    ];
    let (asked, found) = find(PAGE, html, None, &files);
    assert_eq!(asked, ["/book/crates-1.js", "/book/guide/all.html", "/book/aaa/all.html"]);
    let source = found.unwrap();
    assert_eq!(source.todo[0], "https://docs.test/book/guide/index.html");
    assert_eq!((source.pages.len(), source.title.as_str()), (4, "guide"));
}

#[test]
fn a_version_does_not_depend_on_which_answer_came_first() {
    let html =
        "<meta name=\"rustdoc-vars\" data-root-path=\"../\" data-current-crate=\"guide\" data-resource-suffix=\"-1\" >";
    let found = |turned: bool, text: &str| {
        let mut finder = SourceFinder::new(PAGE, Some(html), None);
        loop {
            let mut asks = finder.asks();
            if asks.is_empty() {
                let source = finder.source().unwrap().unwrap();
                return (source.version, source.todo);
            }
            if turned {
                asks.reverse();
            }
            for ask in asks {
                let list = ask.ends_with("/crates-1.js");
                let name = ask.trim_end_matches("/all.html").rsplit('/').next().unwrap().to_owned();
                let items = format!("<ul class=\"all-items\"><li><a href=\"struct.S.html\">{name}{text}</a></li></ul>");
                let text = if list { "window.ALL_CRATES = [\"guide\",\"bbb\",\"aaa\"];" } else { items.as_str() };
                finder.reply(&FetchedPage { url: ask, status: 200, ..FetchedPage::default() }, Some(text));
            }
        }
    };
    let (version, todo) = found(false, "");
    assert_eq!((version.clone(), todo), found(true, ""));
    assert_ne!(version, found(false, "!").0);
}

#[test]
fn a_named_source_is_read_and_nothing_else() {
    let index = r#"{"docs":[{"location":"a/","title":"A","text":"b"}]}"#;
    let (asked, found) = find(PAGE, "", Some("/m/search/search_index.json"), &[("/m/search/search_index.json", index)]);
    assert_eq!(asked, ["/m/search/search_index.json"]);
    assert_eq!(found.unwrap().pages[0].0.url, "https://docs.test/m/a/");
    let (asked, found) = find(PAGE, "", Some("https://evil.test/llms.txt"), &[]);
    assert!(asked.is_empty() && found.unwrap_err().contains("own site"));
    let (_, found) = find(PAGE, "", Some("/x.json"), &[("/x.json", "<html>")]);
    assert!(found.unwrap_err().contains("/x.json"));
    assert!(SourceFinder::new("about:blank", None, None).source().unwrap().is_err());
}

#[test]
fn pages_are_bounded_and_failures_have_words() {
    let links: String = (0..3_000).map(|n| format!("<a href=\"p{n}.html\">x</a>")).collect();
    let (mut site, mut step) = Site::open(PAGE, Some(&links), None);
    let mut asked = 0;
    while !step.fetch.is_empty() {
        asked += step.fetch.len();
        for ask in std::mem::take(&mut step.fetch) {
            let next = site.take(&FetchedPage { url: ask, status: 500, ..FetchedPage::default() }, None);
            step.fetch.extend(next.fetch);
            step.error = next.error;
        }
    }
    assert_eq!(asked, 2 * MAX_PAGES + 6, "each page twice, two lists in each of three folders");
    assert!(step.error.unwrap().contains("status 500"));
}

#[test]
fn hostile_texts_are_refused_or_cut_and_never_panic() {
    let texts = [
        "",
        "{",
        "{}",
        "[]",
        "null",
        "Search.setIndex(",
        "Search.setIndex({})",
        "JSON.parse('",
        "JSON.parse('\\u12",
        "{\"docs\":7}",
        "{\"doc_urls\":[],\"index\":{\"documentStore\":{\"docs\":{\"9\":{}}}}}",
        "{\"docs\":[{\"location\":\"../../../x\",\"text\":null}]}",
        "Search.setIndex({docnames:[1,null,\"../..\"],titles:{},terms:{a:[99999999999,-1,\"x\"]},objects:{a:{b:[]}},alltitles:{x:[[[]]]}})",
        "\u{feff}---\n",
        "# \n](",
        "<a href=",
        "<loc>",
        "é](é",
        "é](#/é?id=é",
        "# <é `<_é_> :id=",
        "<meta http-equiv=refresh content=\"0; url=é\">",
        "<a href=\"../é\"><a href=\"/é/é\"><link href=\"é.css\">",
        "<ul><li><h2><a id=\"é\"></a></h2><div id=\"é\"><a href=\"#é\">",
        "docs = {\"documentStore\":{\"docs\":{\"a\":{\"modulename\":\"../é\",\"qualname\":7}}}}",
        "docs = [{\"modulename\":\"é.é\",\"doc\":\"<h1\"}]",
        "~~~\n```",
    ];
    let root = "https://docs.test/";
    for text in texts {
        for end in 0..=text.len() {
            let Some(part) = text.get(..end) else { continue };
            let _ = (mdbook::read(root, part), mkdocs::read(root, part), sphinx::read(root, part, true));
            let _ =
                (llms::read(root, part), llms::full(root, part, None), llms::page(root, part), html::page(root, part));
            let _ = (pdoc::read(root, part), refresh::target(root, part), root::root(root, root, part));
            for slugs in [Slugs::Docsify, Slugs::Docute] {
                let _ = llms::read_page(root, part, slugs);
            }
            let docsify =
                format!("<script src=docsify></script><script src=\"docsify.js\">$docsify = {{ basePath: '{part}'");
            for routes in [Routes::docsify(root, &docsify).unwrap_or_default(), Routes::shell(root, part)] {
                let _ =
                    (routes.shown(part), routes.file(part), routes.linked(part, part), routes.with_links(root, part));
                let _ = (routes.rendered(part), routes.links(root, part));
            }
            let _ = (detect(root, part), url::join(root, part), url::join(part, root), url::key(part));
            let _ = find("https://docs.test/", part, None, &[("/searchindex.js", part), ("/sitemap.xml", part)]);
        }
    }
    let deep = "<div><ul><li>".repeat(20_000);
    let page = html::page(root, &format!("<main><h1>T</h1>{deep}x"));
    assert_eq!((page.text.title.as_str(), page.text.sections.len()), ("T", 1));
    assert!(sphinx::read(root, SPHINX_OUT, false).unwrap().iter().all(|page| page.url.starts_with(root)));
}

const SPHINX_OUT: &str =
    r#"Search.setIndex({"docnames":["https://evil.test/a","//evil.test/b","ok"],"titles":["a","b","c"]})"#;

const ROOT: &str = "https://docs.test/book/";

/// Links are resolved as the URL standard does, or rejected.
#[test]
fn no_spelling_of_a_link_leads_out_of_the_site() {
    let joined = |link: &str| url::join("https://docs.test/book/guide/a.html", link).unwrap_or_default();
    for (link, address) in [
        ("%2e%2e/b.html", "https://docs.test/book/b.html"),
        (".%2E/%2e%2E/b.html", "https://docs.test/b.html"),
        ("%2e/b.html", "https://docs.test/book/guide/b.html"),
        ("..\\b.html", "https://docs.test/book/b.html"),
        ("\\b.html", "https://docs.test/b.html"),
        ("\\\\evil.test/b", "https://evil.test/b"),
        ("/\t/evil.test/b", "https://evil.test/b"),
        ("../%2e%2E", "https://docs.test/"),
        ("a?b=..\\c", "https://docs.test/book/guide/a"),
        ("https://docs.test\\@evil.test/", "https://docs.test/@evil.test/"),
        ("https://a@evil.test/", ""),
        ("https://docs.test%2eevil.test/", ""),
    ] {
        assert_eq!(joined(link), address, "{link}");
    }
    for inside in [
        "https://docs.test/book/",
        "https://docs.test/book",
        "https://docs.test/book/a%20b",
        "https://docs.test/book/v1..2/",
    ] {
        assert!(url::below(ROOT, inside), "{inside}");
    }
    for outside in [
        "https://docs.test/book/../secret",
        "https://docs.test/book/%2e%2e/secret",
        "https://docs.test/book/%2E./secret",
        "https://docs.test/book/.%2e/secret",
        "https://docs.test/book/..\\secret",
        "https://docs.test/book/..%2fsecret",
        "https://docs.test/book/..%5Csecret",
        "https://docs.test/book/.\t./secret",
        "https://docs.test/bookish",
        "https://evil.test/book/",
    ] {
        assert!(!url::below(ROOT, outside), "{outside}");
    }
}

#[test]
fn what_may_end_a_session_is_left_alone() {
    for ends in [
        "/logout",
        "https://docs.test/book/log-out",
        "https://docs.test/book/Sign_Out/",
        "/account/signout.php?next=/",
        "/session/end",
        "/sessions?do=logoff",
        "/?action=log%2Dout",
        "sign%6Fut",
        "/end-session",
    ] {
        assert!(url::ends_session(ends), "{ends}");
    }
    for page in [
        "/logout.html",
        "/guide/sign-out.md",
        "/logouts",
        "/blog/out",
        "/session/endless",
        "/login",
        "/a#logout",
        "https://logout.test/",
    ] {
        assert!(!url::ends_session(page), "{page}");
    }
    let page = html::page(
        PAGE,
        "<main><h1>A</h1><p>Text.</p><a href=\"/logout\">out</a><a href=\"b.html\" rel=\"noopener NoFollow\">b</a>\
         <a href=\"c.html\" rel=\"next\">c</a><a href=\"/?a=sign-out\">out</a></main>",
    );
    assert_eq!(page.links, ["https://docs.test/book/guide/c.html"]);
    let map =
        "<urlset><url><loc>https://docs.test/logout</loc></url><url><loc>https://docs.test/a</loc></url></urlset>";
    let (mut site, mut step) = Site::open("https://docs.test/", Some("<title>T</title><p>Welcome."), None);
    let mut asked = Vec::new();
    while let Some(address) = step.fetch.pop() {
        let path = address.strip_prefix("https://docs.test").unwrap().to_owned();
        let text = match path.as_str() {
            "/sitemap.xml" => Some(map),
            "/a" | "/" => Some("<main><h1>A</h1><p>Text.</p><a href=\"/signout\">out</a></main>"),
            _ => None,
        };
        asked.push(path);
        let status = if text.is_some() { 200 } else { 404 };
        let more = site.take(&FetchedPage { url: address, status, ..FetchedPage::default() }, text);
        step.fetch.extend(more.fetch);
    }
    assert!(asked.contains(&"/a".to_owned()), "{asked:?}");
    assert!(!asked.iter().any(|path| path.contains("out")), "{asked:?}");
}

/// A page that redirects elsewhere does not belong to the site, no matter who follows the redirect.
#[test]
fn a_redirect_out_of_the_site_is_a_page_that_cannot_be_read() {
    let map =
        "<urlset><url><loc>https://docs.test/book/a</loc></url><url><loc>https://docs.test/book/b</loc></url></urlset>";
    let (mut site, mut step) =
        Site::open("https://docs.test/book/", Some("<title>T</title><p>Welcome."), Some("sitemap.xml"));
    while let Some(address) = step.fetch.pop() {
        let (at, text) = match address.strip_prefix("https://docs.test/book/").unwrap_or_default() {
            "sitemap.xml" => ("", map),
            "a" => ("http://127.0.0.1:9/admin", "<main><h1>Private</h1><p>secretive</p></main>"),
            "b" => ("https://docs.test/book/b/", "<main><h1>B</h1><p>public</p></main>"),
            _ => ("https://docs.test/login", "<main><h1>Login</h1><p>secretive</p></main>"),
        };
        let got = FetchedPage { url: address, at: at.into(), status: 200, ..FetchedPage::default() };
        let more = site.take(&got, Some(text));
        step.fetch.extend(more.fetch);
    }
    assert!(!site.search("public", 5).hits.is_empty());
    assert!(site.search("secretive", 5).hits.is_empty());
}

//! Documentation site formats, parsed into sections, and searches in them. Fixtures are excerpts of real generator output.

use serde_json::json;
use turnwise_docs_index::index::{PageText, SectionText, SiteIndex};
use turnwise_docs_index::site::Site;
use turnwise_docs_index::{
    FetchedPage, Match, SearchResult, SiteStage, ToolReply, ToolText, html, llms, mdbook, mkdocs, moved, rustdoc,
    sitemap, sphinx, tools,
};

const ROOT: &str = "https://docs.test/book/";

/// `page | anchor | trail | heading | text` of every section.
fn shown(pages: &[PageText]) -> Vec<String> {
    let line = |page: &PageText, s: &SectionText| {
        let page = page.url.strip_prefix(ROOT).unwrap_or(&page.url).to_owned();
        format!("{page} | {} | {} | {} | {}", s.anchor, s.trail, s.heading, s.text)
    };
    pages.iter().flat_map(|page| page.sections.iter().map(move |section| line(page, section))).collect()
}

const MDBOOK: &str = r#"{"doc_urls":["intro.html#introduction","guide/run.html#running-it","guide/run.html#in-a-loop"],
 "index":{"documentStore":{"docInfo":{},"docs":{
  "0":{"id":"0","title":"Introduction","breadcrumbs":"Introduction","body":"It's a \"book\"."},
  "1":{"id":"1","title":"Running it","breadcrumbs":"Guide » Running it","body":"Type go."},
  "2":{"id":"2","title":"In a loop","breadcrumbs":"Guide » Running it » In a loop","body":"Type go\nagain."}}},
  "fields":["title"],"index":{"body":{"root":{"a":{"df":1}}}}},"search_options":{}}"#;

#[test]
fn mdbook_is_read_in_all_its_wrappings() {
    let wanted = vec![
        "intro.html | introduction |  |  | It's a \"book\".",
        "guide/run.html | running-it |  |  | Type go.",
        "guide/run.html | in-a-loop |  | In a loop | Type go again.",
    ];
    let escaped = MDBOOK.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', " ");
    for text in [
        MDBOOK.to_owned(),
        format!("Object.assign(window.search, {MDBOOK});"),
        format!("window.search = Object.assign(window.search, JSON.parse('{escaped}'));"),
    ] {
        let pages = mdbook::read(ROOT, &text).unwrap();
        assert_eq!(shown(&pages), wanted, "{text}");
        assert_eq!(pages[1].title, "Running it");
    }
}

#[test]
fn mkdocs_is_read_with_and_without_html() {
    let text = json!({"config": {"lang": ["en"]}, "docs": [
        {"location": "", "title": "Home", "text": "<p>Welcome &amp; <code>go</code></p>"},
        {"location": "setup/", "title": "Set-up", "text": ""},
        {"location": "setup/#windows", "title": "On Windows", "text": "Use <em>it</em>."},
        {"location": "https://evil.test/x", "title": "x", "text": "x"},
        7,
    ]});
    let pages = mkdocs::read(ROOT, &text.to_string()).unwrap();
    assert_eq!(
        shown(&pages),
        [" |  |  |  | Welcome & go", "setup/ |  |  |  | ", "setup/ | windows |  | On Windows | Use it ."]
    );
}

const SPHINX: &str = r#"Search.setIndex({"alltitles":{"Quick start":[[1,null]],"Running":[[1,"running"]]},
 "docnames":["index","guide/quick"],"titles":["Home","Quick start"],"terms":{"server":1,"debug":[0,1]},
 "objects":{"app":[[1,0,1,"","run"]]},"objnames":{"0":["py","function","Python function"]}})"#;

#[test]
fn sphinx_gives_titles_stems_and_what_its_api_has() {
    let wanted = [
        "index.html |  |  |  | debug",
        "guide/quick.html |  |  |  | debug server",
        "guide/quick.html | running |  | Running | ",
        "guide/quick.html | app.run |  | app.run | ",
    ];
    assert_eq!(shown(&sphinx::read(ROOT, SPHINX, false).unwrap()).map_trim(), wanted.map(str::trim));
    let old = SPHINX.replace("\"docnames\"", "docnames").replace("\"titles\"", "titles").replace("\"terms\"", "terms");
    assert_eq!(shown(&sphinx::read(ROOT, &old, false).unwrap()).map_trim(), wanted.map(str::trim));
    let folders = sphinx::read(ROOT, SPHINX, true).unwrap();
    assert_eq!(
        folders.iter().map(|page| page.url.as_str()).collect::<Vec<_>>(),
        [ROOT, "https://docs.test/book/guide/quick/"]
    );
}

trait Trimmed {
    fn map_trim(self) -> Vec<String>;
}

impl Trimmed for Vec<String> {
    fn map_trim(self) -> Vec<String> {
        self.into_iter().map(|line| line.trim().to_owned()).collect()
    }
}

#[test]
fn rustdoc_lists_crates_and_items() {
    assert_eq!(rustdoc::crates("window.ALL_CRATES = [\"a_b\",\"c\"];\n//{}"), ["a_b", "c"]);
    let all = "<h3>Structs</h3><ul class=\"all-items\"><li><a href=\"net/struct.Peer.html\">net::Peer</a></li></ul>";
    let pages = rustdoc::items("https://docs.test/book/a_b/all.html", all);
    let titles: Vec<&str> = pages.iter().map(|page| page.title.as_str()).collect();
    assert_eq!(titles, ["Crate a_b", "Module a_b::net", "Struct a_b::net::Peer"]);
    assert_eq!(pages[2].url, "https://docs.test/book/a_b/net/struct.Peer.html");
}

#[test]
fn lists_for_models_and_for_crawlers() {
    let list = llms::read(
        &format!("{ROOT}llms.txt"),
        "# Tool\n> About\n## Docs\n- [Run](run.md): how to\n* [Far](https://x.test/a)",
    )
    .unwrap();
    assert_eq!(list.title, "Tool");
    assert_eq!(list.links[0], ("https://docs.test/book/run.md".into(), "Run".into(), "how to".into()));
    assert_eq!(list.links[1].0, "https://x.test/a");
    assert_eq!(llms::read(ROOT, "<!doctype html><h1>Not found</h1>"), None);
    let full =
        llms::full(&format!("{ROOT}llms-full.txt"), "---\nurl: /book/run.md\n---\n# Run\nText\n## Fast\nMore\n", None);
    assert_eq!(shown(&full), ["run.md |  |  |  | Text", "run.md |  |  | Fast | More"]);
    let map = "<urlset><url><loc>https://a.test/x/?a=1&amp;b</loc></url><url><loc>nonsense</loc></url></urlset>";
    assert_eq!(sitemap::read(map), Some(sitemap::Map::Pages(vec!["https://a.test/x/?a=1&b".into()])));
    assert_eq!(sitemap::read("<html>"), None);
}

#[test]
fn a_copy_of_a_site_keeps_its_own_addresses() {
    let here = "http://127.0.0.1:8000/docs/guide/";
    let moved = |address| moved::moved(address, here, Some("https://me.test/project/docs/guide/")).unwrap();
    assert_eq!(moved("https://me.test/project/docs/a/"), "http://127.0.0.1:8000/docs/a/");
    assert_eq!(moved::moved("https://me.test/docs/a/", here, None).unwrap(), "http://127.0.0.1:8000/docs/a/");
}

const PAGE: &str = r##"<!doctype html><title>Peers - Tool</title><nav><a href="/book/other/">Other</a></nav>
<main><h1 id="peers">Peers<a class="headerlink" href="#peers">¶</a></h1><p>A <strong>peer</strong> is <a href="far.html#x">far</a>.</p>
<section id="find-one"><h2>Find one</h2><ul><li>Look<ul><li>twice</li></ul></li><li><code>go</code></li></ul>
<div class="language-rust"><button>Copy</button><pre><code>fn a() {<br>}</code></pre></div></section>
<h3 id="quick" class="anchor">Quickly<a class="hash-link" href="#quick">#</a></h3><table><tr><th>a</th><th>b|c</th></tr><tr><td>1</td></tr></table>
<dl><dt class="sig" id="app.run">app.run(port)</dt><dd><p>Runs.</p></dd></dl><script>evil()</script></main><footer>x</footer>"##;

#[test]
fn a_page_becomes_sections_of_markdown() {
    let page = html::page("https://docs.test/book/peers.html", PAGE);
    let wanted = [
        "peers.html | peers |  |  | A peer is far.",
        "peers.html | find-one |  | Find one | Look twice go fn a() { }",
        "peers.html | quick | Find one | Quickly | a b|c 1",
        "peers.html | app.run | Find one › Quickly | app.run | app.run(port) Runs.",
    ];
    assert_eq!(shown(std::slice::from_ref(&page.text)), wanted);
    assert_eq!(page.text.title, "Peers");
    assert_eq!(page.markdown[0], "# Peers\n\nA **peer** is [far](https://docs.test/book/far.html#x).");
    assert_eq!(page.markdown[1], "## Find one\n\n- Look\n\n  - twice\n- `go`\n\n```rust\nfn a() {\n}\n```");
    assert_eq!(page.markdown[2], "### Quickly\n\n| a | b\\|c |\n| --- | --- |\n| 1 |");
    assert_eq!(
        page.links,
        ["https://docs.test/book/other/", "https://docs.test/book/peers.html", "https://docs.test/book/far.html"]
    );
}

#[test]
fn a_page_whose_title_stands_outside_of_its_text_is_found_by_it() {
    let html = "<h1 id=\"_top\">npm-pack</h1><div class=\"sl-markdown-content\"><h3 id=\"synopsis\">Synopsis</h3><p>npm pack</p></div>";
    let page = html::page("https://docs.test/book/pack/", html);
    assert_eq!(shown(&[page.text]), ["pack/ | _top |  |  | npm pack", "pack/ | synopsis |  | Synopsis | npm pack"]);
    assert_eq!(page.markdown, ["# npm-pack", "### Synopsis\n\nnpm pack"]);
}

fn section(anchor: &str, heading: &str, text: &str) -> SectionText {
    SectionText { anchor: anchor.into(), heading: heading.into(), text: text.into(), ..SectionText::default() }
}

fn index() -> SiteIndex {
    let mut index = SiteIndex::default();
    let filler = |n: usize| section(&format!("s{n}"), &format!("Part {n}"), "The server listens and the client asks.");
    index.add(
        PageText { url: format!("{ROOT}a.html"), title: "Server".into(), sections: (0..9).map(filler).collect() },
        true,
    );
    let sections = vec![
        section("", "", "All about time."),
        section("timeouts", "Configuring timeouts", "Set a limit."),
        section("retry", "Retries", "A timeout of the server can be configured to be tried again."),
    ];
    index.add(PageText { url: format!("{ROOT}b.html"), title: "Time".into(), sections }, true);
    index
}

#[test]
fn the_heading_that_is_asked_for_comes_first() {
    let index = index();
    for query in ["configuring timeouts", "How do I configure a timeout?", "timeout configuration", "timeuts"] {
        assert_eq!(index.search(query, 3).hits[0].url, format!("{ROOT}b.html#timeouts"), "{query}");
    }
    let places: Vec<bool> = index.search("server", 9).hits.iter().map(|hit| hit.url.contains("a.html")).collect();
    assert_eq!(places[..3].iter().filter(|first| **first).count(), 2, "few of one page, while there are others");
    assert_eq!(places.len(), 9, "then more of it");
    assert!(index.search("?!", 3).hits.is_empty() && index.search("zebra", 3).hits.is_empty());
    assert_eq!(index.near("serverr"), ["server"]);
}

/// Like npm's documentation: a command's page starts with nothing but its name, and the name's words occur everywhere.
#[test]
fn a_name_made_of_several_words_is_found_however_it_is_written() {
    let mut index = SiteIndex::default();
    for name in ["npm-ci", "npm-dedupe", "npm-install", "npm-get", "npm-audit"] {
        let option =
            "When true submit audit reports alongside the current npm command. The audit is what npm audit does.";
        let sections = match name {
            "npm-audit" | "npm-get" => {
                vec![section("", "", ""), section("synopsis", "Synopsis", &name.replace('-', " "))]
            }
            _ => vec![
                section("", "", "An npm command. It can get this and audit that."),
                section("audit", "audit", option),
            ],
        };
        index.add(PageText { url: format!("{ROOT}{name}.html"), title: name.into(), sections }, true);
    }
    let first =
        |query: &str| index.search(query, 3).hits.first().map(|hit| hit.url.replace(ROOT, "")).unwrap_or_default();
    for query in ["npm-audit", "npm audit", "npm_audit", "What is npm-audit?", "Where do the docs explain npm-audit?"] {
        assert_eq!(first(query), "npm-audit.html", "{query}");
    }
    assert_eq!(first("How do I use npm-get?"), "npm-get.html");
    assert_eq!(first("the option audit"), "npm-ci.html#audit");
}

#[test]
fn a_page_that_arrives_takes_the_place_of_its_titles() {
    let mut index = index();
    let page =
        |text: &str| PageText { url: format!("{ROOT}c"), title: "C".into(), sections: vec![section("", "", text)] };
    index.add(page("stem zebra"), false);
    assert_eq!((index.pages(), index.whole_pages()), (3, 2));
    index.add(PageText { url: format!("{ROOT}c.html"), ..page("whole quagga") }, true);
    assert_eq!((index.pages(), index.whole_pages(), index.sections()), (3, 3, 13));
    assert!(index.search("zebra", 3).hits.is_empty());
    assert_eq!(index.search("quagga", 3).hits[0].url, format!("{ROOT}c.html"));
    index.add(page("late stub"), false);
    assert_eq!(index.search("quagga", 3).hits.len(), 1, "a whole page is not replaced");
}

#[test]
fn the_tools_say_where_and_what() {
    let html = "<script>const path_to_root = \"\"; window.path_to_searchindex_js = \"searchindex-abc.js\";</script>";
    let (mut site, step) = Site::open(&format!("{ROOT}intro.html"), Some(html), None);
    assert_eq!(step.fetch, [format!("{ROOT}searchindex-abc.js")]);
    let got = |url: &str| FetchedPage { url: url.into(), status: 200, body: true, ..FetchedPage::default() };
    let step = site.take(&got(&step.fetch[0]), Some(MDBOOK));
    assert_eq!((step.stage, step.version), (SiteStage::Ready, Some((ROOT.into(), "abc".into()))));
    assert!(step.info.unwrap().complete);
    let ToolReply::Result(ToolText { text, structured_content }) =
        tools::call(&mut site, "search_docs", &json!({"query": "loop"}))
    else {
        panic!()
    };
    assert_eq!(text, format!("1. {ROOT}guide/run.html#in-a-loop\n   Running it › In a loop\n   Type go again."));
    let section = |anchor: &str, heading: &str| json!({ "url": format!("{ROOT}guide/run.html{anchor}"), "page": "Running it", "section": heading });
    let hit = section("#in-a-loop", "In a loop");
    assert_eq!(structured_content, Some(json!({ "hits": [hit], "missing": [], "match": "strong" })));
    let ToolReply::Result(ToolText { text, .. }) =
        tools::call(&mut site, "search_docs", &json!({"query": "introductoin"}))
    else {
        panic!()
    };
    assert!(text.contains("intro.html"), "a near word stands for the one that was meant: {text}");
    let ToolReply::Result(ToolText { text, structured_content }) =
        tools::call(&mut site, "search_docs", &json!({"query": "zebra"}))
    else {
        panic!()
    };
    assert!(text.starts_with("No section of the documentation matches"), "{text}");
    assert_eq!(structured_content, Some(json!({ "hits": [], "missing": ["zebra"], "match": "none" })));
    let read = json!({"url": "guide/run.html#in-a-loop"});
    let ToolReply::Fetch(url) = tools::call(&mut site, "read_page", &read) else { panic!() };
    let [url] = url.try_into().unwrap();
    site.take(
        &got(&url),
        Some("<main><h1 id=a>Running it</h1><p>Go.</p><h2 id=in-a-loop>In a loop</h2><p>Again.</p></main>"),
    );
    let ToolReply::Result(ToolText { text, structured_content }) = tools::call(&mut site, "read_page", &read) else {
        panic!()
    };
    // Of the whole page, whatever part of it the result has.
    let sha256 = structured_content.as_ref().map(|data| data["sha256"].clone()).unwrap_or_default();
    assert!(sha256.as_str().is_some_and(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())));
    let page = |sections: Vec<serde_json::Value>| {
        Some(
            json!({ "url": format!("{ROOT}guide/run.html"), "page": "Running it", "sections": sections, "sha256": sha256 }),
        )
    };
    assert_eq!(structured_content, page(vec![hit.clone()]), "only what is in the text");
    let whole = json!({"url": "guide/run.html"});
    let ToolReply::Result(ToolText { structured_content: all, .. }) = tools::call(&mut site, "read_page", &whole)
    else {
        panic!()
    };
    assert_eq!(all, page(vec![section("#a", ""), hit]));
    assert!(text.ends_with("## In a loop {#in-a-loop}\n\nAgain.\n") && !text.contains("Go."), "{text}");
    assert!(
        matches!(tools::call(&mut site, "read_page", &json!({"url": "nowhere.html"})), ToolReply::Wrong(why) if why.contains("no page"))
    );
    assert!(matches!(tools::call(&mut site, "search_docs", &json!({"query": 3})), ToolReply::Wrong(_)));
    let ToolReply::Result(ToolText { text, .. }) = tools::call(&mut site, "list_pages", &json!({"filter": "run"}))
    else {
        panic!()
    };
    assert_eq!(text, format!("{ROOT}guide/run.html  Running it (2 sections)"));
    // The saved site restores to the same site.
    let (mut again, _) = Site::open(&format!("{ROOT}intro.html"), Some(html), None);
    let saved = site.save();
    assert!(again.load("other", &saved).is_none());
    assert!(again.load("abc", &saved).unwrap().info.unwrap().cached);
    assert_eq!(again.search("loop", 3), site.search("loop", 3));
}

fn weather() -> SiteIndex {
    let mut index = SiteIndex::new(ROOT, ROOT);
    let section = |anchor: &str, heading: &str, text: &str| SectionText {
        anchor: anchor.into(),
        heading: heading.into(),
        text: text.into(),
        ..SectionText::default()
    };
    let page = |name: &str, title: &str, sections: Vec<SectionText>| PageText {
        url: format!("{ROOT}{name}"),
        title: title.into(),
        sections,
    };
    let fillers = (0..20)
        .map(|n| section(&format!("f{n}"), &format!("Filler {n}"), "Other text of the site, about something else."));
    index.add(page("filler.html", "Fillers", fillers.collect()), true);
    let retries = [
        section("max", "The retry limit", "Set `maxRetries` to the number of attempts. Each waits longer."),
        section("proxy", "Behind a proxy", "The address of the proxy is read from the environment."),
    ];
    index.add(page("retries.html", "Retries", retries.to_vec()), true);
    index.add(
        page("changelog.html", "Changelog", vec![section("v2", "2.0", "The retry limit: the retry limit is new.")]),
        true,
    );
    index
}

#[test]
fn a_search_says_how_well_it_fits_and_what_occurs_nowhere() {
    let index = weather();
    let found = |query: &str| {
        let SearchResult { hits, missing, fit } = index.search(query, 3);
        (hits.first().map(|hit| hit.url.replace(ROOT, "")).unwrap_or_default(), missing.join(" "), fit)
    };
    let limit = "retries.html#max".to_owned();
    assert_eq!(found("retry limit"), (limit, String::new(), Match::Strong));
    let (_, missing, fit) = found("OAuth login limit");
    assert_eq!((missing.as_str(), fit), ("OAuth login", Match::Weak));
    assert_eq!(found("kubernetes ingress"), (String::new(), "kubernetes ingress".to_owned(), Match::None));
    // Another form of a word is no missing word, and fillers never are.
    assert_eq!(found("how do I limit the retrying").1, "");
    // A sentence has words of its own.
    let (first, missing, fit) = found("my client keeps retrying for ages, where is the limit of that set?");
    assert_eq!((first.as_str(), fit), ("retries.html#max", Match::Strong), "{missing}");
}

#[test]
fn a_name_is_found_however_its_words_are_joined() {
    let index = weather();
    for query in ["maxRetries", "max_retries", "--max-retries", "max retries", "MAX_RETRIES", "config.maxRetries"] {
        let found = index.search(query, 3);
        assert_eq!(found.hits[0].url, format!("{ROOT}retries.html#max"), "{query}");
        assert!(found.missing.iter().all(|word| word == "config.maxRetries"), "{query}: {:?}", found.missing);
    }
}

#[test]
fn a_list_of_changes_comes_later_unless_changes_are_asked_for() {
    let index = weather();
    assert_eq!(index.search("retry limit", 3).hits[0].url, format!("{ROOT}retries.html#max"));
    assert_eq!(index.search("retry limit 2.0 changelog", 3).hits[0].url, format!("{ROOT}changelog.html#v2"));
}

#[test]
fn the_model_is_told_of_a_weak_match_and_of_missing_words() {
    let page = "<html><head><title>Retries</title></head><body><main><h1>Retries</h1><p>Set the retry limit.</p></main></body></html>";
    let (mut site, step) = Site::open(ROOT, Some(page), None);
    for url in step.fetch {
        let _ = site.take(&FetchedPage { url, status: 404, ..FetchedPage::default() }, None);
    }
    let _ = site.take(&FetchedPage { url: ROOT.into(), status: 200, body: true, ..FetchedPage::default() }, Some(page));
    let mut search = |query: &str| match tools::call(&mut site, "search_docs", &json!({ "query": query })) {
        ToolReply::Result(ToolText { text, .. }) => text,
        other => panic!("{other:?}"),
    };
    assert!(!search("retry limit").contains('['), "{}", search("retry limit"));
    let weak = search("OAuth login limit");
    assert!(
        weak.contains("[Weak match: ")
            && weak.ends_with("[Words that occur nowhere in this documentation: OAuth, login]"),
        "{weak}"
    );
    let none = search("kubernetes");
    assert!(
        none.starts_with("No section of the documentation matches") && none.contains("[Words that occur nowhere"),
        "{none}"
    );
}

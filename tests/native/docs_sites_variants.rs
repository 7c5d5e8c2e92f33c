//! Sites as found in practice: other themes, builders and plugins of the generators, several versions and languages,
//! and servers that answer oddly.

use serde_json::json;
use turnwise_docs_index::SiteKind;
use turnwise_docs_index::detect::detect;
use turnwise_docs_index::index::{PageText, SectionText, SiteIndex};
use turnwise_docs_index::nearness::Nearness;
use turnwise_docs_index::site::Site;
use turnwise_docs_index::{FetchedPage, SiteStep, ToolReply, ToolText, html, llms, mkdocs, tools, url};

const ROOT: &str = "https://docs.test/book/";

/// Answers a site's requests, by their path below the root, until it makes no more. Returns the requested paths in
/// order, the site and its last step.
fn read(page: &str, html: &str, answer: impl Fn(&str) -> (u16, String)) -> (Vec<String>, Site, SiteStep) {
    let (mut site, mut step) = Site::open(page, Some(html), None);
    let mut asked = Vec::new();
    while !step.fetch.is_empty() && asked.len() < 2_000 {
        let mut more = Vec::new();
        for ask in std::mem::take(&mut step.fetch) {
            let path = ask.strip_prefix(ROOT).unwrap_or(&ask).to_owned();
            let (status, text) = answer(&path);
            let got = FetchedPage { url: ask, status, body: status == 200, ..FetchedPage::default() };
            step = site.take(&got, (status == 200).then_some(text.as_str()));
            more.extend(std::mem::take(&mut step.fetch));
            asked.push(path);
        }
        step.fetch = more;
    }
    (asked, site, step)
}

fn page(path: &str, title: &str, text: &str) -> PageText {
    let section =
        SectionText { anchor: "run".into(), heading: "Running it".into(), text: text.into(), ..SectionText::default() };
    PageText { url: format!("{ROOT}{path}"), title: title.into(), sections: vec![section] }
}

fn hits(site: &SiteIndex, query: &str, limit: usize) -> Vec<String> {
    site.search(query, limit).hits.iter().map(|hit| hit.url.strip_prefix(ROOT).unwrap_or(&hit.url).to_owned()).collect()
}

#[test]
fn lines_that_are_elements_stay_lines() {
    let html = "<main><h1>A</h1><figure><pre data-language=\"js\"><code><div class=\"ec-line\"><div class=\"code\">a = 1;</div></div>\
                <div class=\"ec-line\"><div class=\"code\">\n</div></div><div class=\"ec-line\"><div class=\"code\">b = 2;</div></div></code></pre></figure></main>";
    assert_eq!(html::page(ROOT, html).markdown, ["# A\n\n```js\na = 1;\n\nb = 2;\n```"]);
}

#[test]
fn what_an_author_put_aside_is_text_and_what_a_theme_did_is_not() {
    let html = "<main id=\"main-content\" class=\"bd-main\"><div class=\"bd-toc\">On this page</div><article class=\"bd-article\"><h1>A</h1>\
                <aside class=\"sidebar\"><p class=\"sidebar-title\">Note</p><p>Zebra.</p></aside><div class=\"sidebar\">Theme</div></article></main>";
    let read = html::page(ROOT, html);
    assert_eq!(read.text.sections.len(), 1);
    assert!(read.markdown[0].contains("Zebra."), "{:?}", read.markdown);
    assert!(!read.markdown[0].contains("Theme") && !read.markdown[0].contains("On this page"), "{:?}", read.markdown);
}

#[test]
fn all_pages_in_one_file_are_told_apart() {
    let shown = |text: &str| -> Vec<String> {
        let pages = llms::full(&format!("{ROOT}llms-full.txt"), text, None);
        pages
            .iter()
            .map(|page| format!("{} {} {}", &page.url[ROOT.len()..], page.title, page.sections[0].text))
            .collect()
    };
    let front = "---\nurl: /book/a.md\ndescription: of a\n---\n\n# First\n\nOne.\n```yaml\n# no title\nurl: /book/none.md\n```\n\n---\n\n---\nurl: /book/b.md\n---\n\n# Second\n\nTwo.\n";
    assert_eq!(shown(front), ["a.md First One. yaml # no title url: /book/none.md ---", "b.md Second Two."]);
    let headed =
        "# First\nSource: https://docs.test/book/a\n\nOne.\n\n# Second\nSource: https://docs.test/book/b\n\nTwo.\n";
    assert_eq!(shown(headed), ["a First One.", "b Second Two."]);
}

#[test]
fn files_for_models_give_way_to_the_pages_beside_them() {
    let html = "<meta name=\"generator\" content=\"VitePress v1.6\"><script>__VP_SITE_DATA__=JSON.parse(\"{\\\"base\\\":\\\"/book/\\\"}\")</script><main><h1>Start</h1></main>";
    let list = format!("# Tool\n{}", (0..40).map(|n| format!("- [P{n}](/book/p{n}.md)\n")).collect::<String>());
    let full = (0..40).map(|n| format!("---\nurl: /book/p{n}.md\n---\n# P{n}\nZebra {n}.\n\n")).collect::<String>();
    let map: String = (0..40).map(|n| format!("<url><loc>https://docs.test/book/p{n}</loc></url>")).collect();
    let (_, site, step) = read(&format!("{ROOT}p0"), html, |path| match path {
        "llms.txt" => (200, list.clone()),
        "llms-full.txt" => (200, full.clone()),
        "sitemap.xml" => (200, format!("<urlset>{map}</urlset>")),
        page => (200, format!("<main><h1>{page}</h1><h2 id=z>Zebra</h2><p>Of {page}.</p></main>")),
    });
    assert_eq!((step.error, site.index().pages(), site.index().whole_pages()), (None, 40, 40));
    assert!(site.search("zebra", 9).hits.iter().all(|hit| hit.url.ends_with("#z")), "{:?}", site.search("zebra", 9));
}

#[test]
fn of_copies_the_one_near_to_the_page_at_hand_is_found() {
    let mut index = SiteIndex::new(ROOT, &format!("{ROOT}fr/start.html"));
    for at in ["next/run", "1.0/run", "run", "fr/run", "de/run"] {
        index.add(page(at, "Run", "The server runs."), true);
    }
    index.add(page("fr/zebra", "Zebra", "The server runs too."), true);
    index.add(page("v2.x/only", "Only", "The server runs a quagga."), true);
    assert_eq!(hits(&index, "server runs", 3), ["fr/run#run", "fr/zebra#run", "v2.x/only#run"]);
    assert_eq!(hits(&index, "quagga", 3)[0], "v2.x/only#run", "what is only there is found");
    let near = Nearness::new(ROOT, &format!("{ROOT}guide/a.html"));
    for content in ["guide/it-works/v8-engine/page.html", "about/releases/8.0/", "en", "item/1/", "js/a.html", "dev"] {
        assert!(!near.is_elsewhere(&format!("{ROOT}{content}")), "{content}");
    }
    let near = Nearness::new(ROOT, &format!("{ROOT}docs/zh-cn/v1.2/a.html"));
    for other in ["docs/zh-cn/v1.3/a.html", "docs/da/v1.2/a.html", "docs/pt-BR/v1.2/b.html"] {
        assert!(near.is_elsewhere(&format!("{ROOT}{other}")), "{other}");
    }
    assert!(!near.is_elsewhere(&format!("{ROOT}docs/zh-cn/v1.2/b.html")));
}

#[test]
fn one_page_may_be_the_whole_site() {
    let section =
        |n: usize| SectionText { anchor: format!("s{n}"), text: format!("Zebra {n}."), ..SectionText::default() };
    let mut index = SiteIndex::new(ROOT, ROOT);
    index.add(PageText { url: ROOT.into(), title: "All".into(), sections: (0..20).map(section).collect() }, true);
    assert_eq!(hits(&index, "zebra", 8).len(), 8);
}

#[test]
fn a_map_of_another_part_of_the_host_does_not_end_the_reading() {
    let html = "<link rel=\"stylesheet\" href=\"/a.css\"><main><h1>A</h1><a href=\"b.html\">b</a></main>";
    let (asked, site, _) = read(&format!("{ROOT}a.html"), html, |path| match path {
        "https://docs.test/sitemap.xml" => {
            let map: String = (0..5).map(|n| format!("<url><loc>https://docs.test/shop/{n}</loc></url>")).collect();
            (200, format!("<urlset>{map}</urlset>"))
        }
        "a.html" => (200, html.to_owned()),
        "b.html" => (200, "<main><h1>B</h1><a href=\"c.html\">c</a></main>".to_owned()),
        "c.html" => (200, "<main><h1>C</h1><p>Zebra</p></main>".to_owned()),
        _ => (404, String::new()),
    });
    assert!(asked.contains(&"c.html".to_owned()), "{asked:?}");
    assert_eq!(site.search("zebra", 3).hits.len(), 1);
}

#[test]
fn pages_that_are_not_there_are_not_found_and_what_fails_for_now_is_not_kept() {
    let links =
        "<main><h1>A</h1><a href=\"removed.html\">x</a><a href=\"b.html\">b</a><a href=\"busy.html\">y</a></main>";
    let answer = |busy: u16| {
        move |path: &str| match path {
            "a.html" => (200, links.to_owned()),
            "b.html" => (200, "<main><h1>B</h1><p>Removed for now.</p></main>".to_owned()),
            "busy.html" => (busy, "<main><h1>Busy</h1></main>".to_owned()),
            _ => (404, String::new()),
        }
    };
    let (asked, site, step) = read(&format!("{ROOT}a.html"), links, answer(503));
    assert!(step.info.unwrap().complete);
    assert_eq!(asked.iter().filter(|path| *path == "busy.html").count(), 2, "asked again once");
    assert_eq!(
        site.search("removed", 3).hits.iter().map(|hit| hit.url.as_str()).collect::<Vec<_>>(),
        [format!("{ROOT}b.html")]
    );
    assert!(site.save().is_empty(), "next time the page may be there");
    let (_, site, _) = read(&format!("{ROOT}a.html"), links, answer(200));
    assert_eq!(site.index().pages(), 3);
    assert!(!site.save().is_empty());
}

#[test]
fn a_server_that_answers_everything_with_a_page_leads_nowhere() {
    let shell = "<main><h1>App</h1><a href=\"more/page.html\">more</a></main>";
    let (asked, site, _) = read(&format!("{ROOT}a.html"), shell, |path| match path {
        path if path.ends_with(".txt") || path.ends_with(".xml") => (404, String::new()),
        _ => (200, shell.to_owned()),
    });
    assert!(asked.len() < 20, "{asked:?}");
    assert_eq!(site.index().pages(), 1);
}

#[test]
fn what_a_page_only_speaks_of_does_not_say_where_its_site_is() {
    let code = "<code>Client(base_url=\"https://api.example.com/v1\")</code><script>var base_url = \"..\";</script><!-- MkDocs version : 1.6 -->";
    let at = detect(&format!("{ROOT}client/"), code);
    assert_eq!((at.kind, at.root.as_str()), (SiteKind::MkDocs, ROOT));
    let far = "<html data-content_root=\"https://elsewhere.example/\">";
    assert_eq!(detect(&format!("{ROOT}a.html"), far).kind, SiteKind::Unknown);
}

#[test]
fn an_index_of_titles_only_is_no_text() {
    let index = json!({"docs": [{"location": "", "title": "Home", "text": ""}, {"location": "run/", "title": "Run", "text": ""}]});
    let html = "<script id=\"__config\" type=\"application/json\">{\"base\": \".\", \"features\": []}</script>";
    let (asked, site, _) = read(ROOT, html, |path| match path {
        "search/search_index.json" => (200, index.to_string()),
        page => (200, format!("<article><h1>P{page}</h1><h2 id=z>Zebra</h2><p>Of {page}</p></article>")),
    });
    assert_eq!(asked, ["search/search_index.json", "", "run/"]);
    assert_eq!(site.search("zebra", 3).hits.len(), 2);
    let marked = r#"{"docs":[{"location":"","title":"温度\u200bの\u200b設定","text":"温度\u200bの値"}]}"#;
    let pages = mkdocs::read(ROOT, marked).unwrap();
    assert_eq!((pages[0].title.as_str(), pages[0].sections[0].text.as_str()), ("温度の設定", "温度の値"));
}

#[test]
fn pages_as_folders_are_known_from_the_front_page_s_file_too() {
    let html = "<html data-content_root=\"./\"><a href=\"run/\">r</a><a href=\"api/\">a</a><a href=\"_static/report.html\">x</a>";
    let index = r#"Search.setIndex({"docnames":["index","run"],"filenames":["index.rst","run.rst"],"titles":["Home","Run"],"terms":{},"titleterms":{}})"#;
    for front in ["", "index.html"] {
        let (asked, _, _) = read(&format!("{ROOT}{front}"), html, |path| match path {
            "searchindex.js" => (200, index.to_owned()),
            page => (200, format!("<main><h1>{page}</h1></main>")),
        });
        assert!(asked.contains(&"run/".to_owned()), "{front}: {asked:?}");
    }
}

#[test]
fn an_address_is_the_same_encoded_or_not() {
    let mut site =
        read(&format!("{ROOT}配置.html"), "<main><h1>配置</h1></main>", |path| match url::decoded(path).as_str() {
            "配置.html" => (200, "<main><h1>配置</h1><h2 id=\"路径\">路径</h2><p>A</p></main>".to_owned()),
            _ => (404, String::new()),
        })
        .1;
    let asked = json!({"url": format!("{ROOT}%E9%85%8D%E7%BD%AE.html#%E8%B7%AF%E5%BE%84")});
    let ToolReply::Fetch(url) = tools::call(&mut site, "read_page", &asked) else { panic!() };
    let [url] = url.try_into().unwrap();
    site.take(
        &FetchedPage { url, status: 200, body: true, ..FetchedPage::default() },
        Some("<main><h1>配置</h1><h2 id=\"路径\">路径</h2><p>A</p></main>"),
    );
    let ToolReply::Result(ToolText { text, .. }) = tools::call(&mut site, "read_page", &asked) else { panic!() };
    assert!(text.ends_with("## 路径 {#路径}\n\nA\n"), "{text}");
    assert_eq!(url::decoded("100%zz%E9"), "100%zz%E9");
}

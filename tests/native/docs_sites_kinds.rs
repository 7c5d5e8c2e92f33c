//! What each generator writes that others do not: headings, items, listings, roots, and pages that a browser makes.
//! The fixtures are excerpts of real output.

use turnwise_docs_index::detect::detect;
use turnwise_docs_index::index::{PageText, SectionText};
use turnwise_docs_index::listings::is_text;
use turnwise_docs_index::root::root;
use turnwise_docs_index::routes::{Routes, Slugger, Slugs};
use turnwise_docs_index::site::Site;
use turnwise_docs_index::{
    FetchedPage, SiteKind, SiteStage, SiteStep, ToolReply, ToolText, html, llms, pdoc, refresh, tools,
};

const ROOT: &str = "https://docs.test/book/";

/// `anchor | trail | heading | text` of every section.
fn shown(page: &PageText) -> Vec<String> {
    let line = |s: &SectionText| format!("{} | {} | {} | {}", s.anchor, s.trail, s.heading, s.text);
    page.sections.iter().map(line).collect()
}

fn sections(html: &str) -> Vec<String> {
    shown(&html::page(ROOT, html).text)
}

/// Answers a site's requests, by their path on the host, until it makes no more.
fn read(page: &str, html: Option<&str>, answer: impl Fn(&str) -> Option<String>) -> (Vec<String>, Site, SiteStep) {
    let (mut site, mut step) = Site::open(page, html, None);
    let (mut asked, mut queue) = (Vec::new(), step.fetch.clone());
    while !queue.is_empty() && asked.len() < 2_000 {
        let url = queue.remove(0);
        let path = url.strip_prefix("https://docs.test").expect("same origin").to_owned();
        let text = answer(&path);
        let status = if text.is_some() { 200 } else { 404 };
        step = site.take(&FetchedPage { url, status, body: text.is_some(), ..FetchedPage::default() }, text.as_deref());
        queue.append(&mut step.fetch);
        asked.push(path);
    }
    (asked, site, step)
}

#[test]
fn an_anchor_with_the_only_text_of_a_heading_is_the_heading() {
    // VuePress, docsify.
    let html = "<main><h1 id=\"set-up\" tabindex=\"-1\"><a class=\"header-anchor\" href=\"#set-up\"><span>Set up</span></a></h1><p>A.</p>\
                <h2 id=\"more\"><a href=\"#/?id=more\" data-id=\"more\" class=\"anchor\"><span>More</span></a></h2><p>B.</p>\
                <h2 id=\"last\">Last <a class=\"header-anchor\" href=\"#last\">#</a></h2><p>C.</p>\
                <h2 id=\"none\"><a class=\"header-anchor\" href=\"#none\">#</a></h2></main>";
    assert_eq!(sections(html), ["set-up |  |  | A.", "more |  | More | B.", "last |  | Last | C."]);
}

#[test]
fn doxygen_puts_the_id_on_an_anchor_before_the_heading() {
    let html = "<div class=\"header\"><div class=\"headertitle\"><div class=\"title\">Input reference</div></div></div>\
        <div class=\"contents\"><p>Input.</p><h1><a class=\"anchor\" id=\"events\"></a>\nEvents</h1><p>All.</p>\
        <a id=\"gae4\" name=\"gae4\"></a>\n<h2 class=\"memtitle\"><span class=\"permalink\"><a href=\"#gae4\">&#9670;&nbsp;</a></span>glfwRaw()</h2>\n\
        <div class=\"memitem\"><div class=\"memdoc\"><p>Raw motion.</p><div class=\"fragment\"><div class=\"line\"><span>if</span> (a)</div>\
        <div class=\"line\">  b();</div><div class=\"ttc\">#define</div></div></div></div></div>";
    let read = html::page(ROOT, html);
    assert_eq!(read.text.title, "Input reference");
    assert_eq!(
        shown(&read.text),
        [" |  |  | Input.", "events |  | Events | All.", "gae4 | Events | glfwRaw() | Raw motion. if (a) b();"]
    );
    assert!(read.markdown[2].contains("```\nif (a)\n  b();\n```"), "{:?}", read.markdown);
}

#[test]
fn pdocs_items_have_a_permalink_and_no_heading() {
    let html = "<main class=\"pdoc\"><section class=\"module-info\"><h1 class=\"modulename\">files</h1><div class=\"docstring\"><p>Files.</p></div></section>\
        <section id=\"Saver\"><input id=\"Saver-view-source\" class=\"view-source-toggle-state\" type=\"checkbox\">\
        <div class=\"attr class\"><span class=\"def\">class</span> <span class=\"name\">Saver</span>: <label class=\"view-source-button\" for=\"x\"><span>View Source</span></label></div>\
        <a class=\"headerlink\" href=\"#Saver\"></a><div class=\"pdoc-code codehilite\"><pre>class Saver: secret</pre></div>\
        <div class=\"docstring\"><p>It saves.</p><div class=\"pdoc-code codehilite\"><pre>&gt;&gt;&gt; example</pre></div></div>\
        <div id=\"Saver.setup\" class=\"classattr\"><div class=\"attr function\"><span class=\"def\">def</span> <span class=\"name\">setup</span>(self)</div>\
        <a class=\"headerlink\" href=\"#Saver.setup\"></a><div class=\"docstring\"><p>It begins.</p></div></div></section></main>";
    assert_eq!(
        sections(html),
        [
            " |  |  | Files.",
            "Saver |  | Saver | class Saver: It saves. >>> example",
            "Saver.setup | Saver | Saver.setup | def setup(self) It begins.",
        ]
    );
    let older = "<main><h1>a</h1><details><summary>View Source</summary><pre>secret</pre></details><details><summary>Answer</summary><p>b</p></details></main>";
    assert_eq!(sections(older), [" |  |  | Answer b"]);
}

#[test]
fn pdocs_search_index_has_all_items() {
    let item = r#"{"fullname": "a.b.Saver.setup", "modulename": "a.b", "qualname": "Saver.setup", "kind": "function", "signature": "<span>(<span>self</span>)</span>", "doc": "<p>It <em>begins</em>.</p>\n"}"#;
    let module =
        r##"{"modulename": "a.b", "kind": "module", "doc": "<p>Files.</p>\n\n<h2 id=\"use\">Use</h2>\n\n<p>So.</p>"}"##;
    let wanted = [" |  |  | Files.", "use |  | Use | So.", "Saver.setup |  | Saver.setup | (self) It begins."];
    for index in [
        format!(
            "window.pdocSearch = (function(){{ const docs = [{module}, {item}];\n// mirrored in build-search-index.js\n}})();"
        ),
        format!(
            "const docs = {{\"version\": \"0.9.5\", \"documentStore\": {{\"docs\": {{\"a.b\": {module}, \"a.b.Saver.setup\": {item}}}}}}};\nlet x;"
        ),
    ] {
        let pages = pdoc::read(ROOT, &index).unwrap();
        assert_eq!((pages[0].url.as_str(), pages[0].title.as_str()), ("https://docs.test/book/a/b.html", "a.b"));
        assert_eq!(shown(&pages[0]), wanted);
    }
    assert!(pdoc::read(ROOT, "<!doctype html>").is_err());
}

#[test]
fn sections_inside_lists_are_sections() {
    // Javadoc.
    let html = "<main><h1 class=\"title\">Class Bean</h1><section class=\"class-description\" id=\"class-description\"><div class=\"block\">Beans.</div></section>\
        <section class=\"details\"><ul class=\"details-list\"><li><section class=\"method-details\" id=\"method-detail\"><h2>Method Details</h2><ul class=\"member-list\"><li>\
        <section class=\"detail\" id=\"fill(java.lang.Object)\"><h3>fill</h3><div class=\"block\">Fills.</div><dl class=\"notes\"><dd><ul class=\"see-list\"><li>This</li></ul></dd></dl></section>\
        </li></ul></section></li></ul></section></main>";
    assert_eq!(
        sections(html),
        [
            " |  |  | Beans.",
            "method-detail |  | Method Details | ",
            "fill(java.lang.Object) | Method Details | fill | Fills. This",
        ]
    );
    let plain = "<main><h1>A</h1><ul><li>one <h3>two</h3></li></ul></main>";
    assert_eq!(html::page(ROOT, plain).markdown, ["# A\n\n- one\n\n  **two**"]);
}

#[test]
fn rustdocs_methods_are_sections_inside_summaries() {
    let html = "<section id=\"main-content\" class=\"content\"><div class=\"main-heading\"><h1>Struct Runtime</h1></div><h2 id=\"implementations\" class=\"section-header\">Implementations</h2>\
        <details class=\"toggle implementors-toggle\" open><summary><section id=\"impl-Runtime\" class=\"impl\"><h3 class=\"code-header\">impl Runtime</h3></section></summary>\
        <div class=\"impl-items\"><details class=\"toggle method-toggle\" open><summary><section id=\"method.block_on\" class=\"method\"><a class=\"src rightside\" href=\"x\">Source</a>\
        <h4 class=\"code-header\">pub fn <a href=\"#method.block_on\" class=\"fn\">block_on</a>()</h4></section></summary><div class=\"docblock\"><p>Runs it.</p><h5 id=\"panics\">Panics</h5><p>Never.</p></div></details></div></details></section>";
    assert_eq!(
        sections(html),
        [
            " |  |  | ",
            "implementations |  | Implementations | impl Runtime",
            "method.block_on | Implementations | block_on | pub fn block_on() Runs it.",
            "panics | Implementations › block_on | Panics | Never.",
        ]
    );
}

#[test]
fn a_question_with_an_id_around_it_is_a_section() {
    // Asciidoctor.
    let html = "<main><article class=\"doc\"><h1 class=\"page\">FAQ</h1><div id=\"undo\" class=\"dlist\"><dl><dt class=\"hdlist1\">How do I undo it?</dt><dd><p>So.</p></dd></dl></div>\
        <div class=\"dlist\"><dl><dt><a id=\"def_a\"></a>a</dt><dd>One.</dd><dt>b</dt><dd>Two.</dd></dl></div></article></main>";
    assert_eq!(sections(html), [" |  |  | ", "undo |  | How do I undo it? | So. a One. b Two."]);
}

#[test]
fn typedoc_signatures_belong_to_their_heading() {
    let signature = |id: &str, name: &str| {
        format!(
            "<li><div class=\"tsd-signature tsd-anchor-link\" id=\"{id}\"><span>{name}</span>()<a href=\"#{id}\" class=\"tsd-anchor-icon\"></a></div><div>Text of {id}.</div></li>"
        )
    };
    let html = format!(
        "<div class=\"col-content\"><h1>Function debounceTime</h1><section class=\"tsd-panel\"><ul class=\"tsd-signatures\">{}{}</ul></section>\
         <section class=\"tsd-panel tsd-member\"><h3 id=\"next\"><span>next</span></h3><ul>{}</ul></section>\
         <section class=\"tsd-panel tsd-member tsd-is-inherited\"><h3 id=\"pipe\">pipe</h3></section></div>",
        signature("debouncetime", "debounceTime"),
        signature("debouncetime-1", "debounceTime"),
        signature("next-1", "next"),
    );
    assert_eq!(
        sections(&html),
        [
            " |  |  | debounceTime() Text of debouncetime.",
            "debouncetime-1 |  | debouncetime-1 | debounceTime() Text of debouncetime-1.",
            "next |  | next | next() Text of next-1.",
        ]
    );
}

#[test]
fn jsdoc_headings_are_names_and_what_a_class_has_from_another_is_left_out() {
    let member = |id: &str, more: &str, file: &str| {
        format!(
            "<h4 class=\"name\" id=\"{id}\"><span class=\"type-signature\"></span>{id}<span class=\"signature\">(clip)</span></h4><div class=\"description\">Text.</div>\
             <dl class=\"details\">{more}<dt class=\"tag-source\">Source:</dt><dd class=\"tag-source\"><a href=\"x.js.html\">{file}</a>, <a>line 3</a></dd></dl>"
        )
    };
    let overrides = "<dt class=\"tag-overrides\">Overrides:</dt><dd class=\"tag-overrides\">Light#copy</dd>";
    let html = format!(
        "<div id=\"main\"><h1 class=\"page-title\">Class: Lamp</h1><section><header><div class=\"class-description\">Lamps.</div></header><article>{}{}{}</article></section></div>",
        member("Lamp", "", "Lamp.js"),
        member("copy", overrides, "Lamp.js"),
        member("add", overrides, "Object3D.js"),
    );
    let read = html::page(ROOT, &html);
    assert_eq!(read.text.title, "Class: Lamp");
    let lines = shown(&read.text);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[..2], [" |  |  | Lamps.", "Lamp |  | Lamp | Lamp(clip) Text."]);
    assert!(lines[2].starts_with("copy |  | copy | copy(clip) Text."), "{lines:?}");
}

#[test]
fn listings_are_not_read() {
    let skipped = [
        (
            SiteKind::Javadoc,
            "src-html/a/B.html class-use/B.html a/package-tree.html index-all.html allclasses-index.html help-doc.html",
        ),
        (
            SiteKind::Doxygen,
            "a_8h_source.html dir_1f.html globals_func.html files.html a-members.html guide_8dox.html search/all_0.html",
        ),
        (SiteKind::JsDoc, "core_Scene.js.html"),
        (SiteKind::TypeDoc, "hierarchy.html modules.html"),
    ];
    let read = [
        (SiteKind::Javadoc, "a/package-summary.html a/B.html index.html"),
        (SiteKind::Doxygen, "group__input.html glfw3_8h.html structA.html intro_guide.html"),
        (SiteKind::JsDoc, "Scene.html global.html"),
        (SiteKind::TypeDoc, "modules/index.html classes/A.html"),
        (SiteKind::Unknown, "files.html functions.html modules.html deprecated-list.html"),
    ];
    let of = |kind: SiteKind, names: &'static str| names.split(' ').map(move |name| (kind, format!("{ROOT}{name}")));
    for (kind, page) in skipped.into_iter().flat_map(|(kind, names)| of(kind, names)) {
        assert!(!is_text(kind, &page), "{page}");
    }
    for (kind, page) in read.into_iter().flat_map(|(kind, names)| of(kind, names)) {
        assert!(is_text(kind, &page), "{page}");
    }
}

#[test]
fn listings_are_read_for_their_links() {
    let front = "<meta name=\"generator\" content=\"Doxygen 1.9.4\"/><link href=\"doxygen.css\"/><div class=\"header\"></div><div class=\"contents\"><p>Hello.</p></div>";
    let (_, site, step) = read(ROOT, Some(front), |path| match path {
        "/book/" => Some(front.to_owned()),
        "/book/annotated.html" => Some("<a href=\"structA.html\">A</a><a href=\"files.html\">Files</a>".to_owned()),
        "/book/structA.html" => Some("<div class=\"contents\"><p>A.</p></div>".to_owned()),
        _ => None,
    });
    assert!(step.error.is_none());
    let pages: Vec<&str> = site.index().list().map(|(page, _, _)| page).collect();
    assert_eq!(pages, [ROOT, "https://docs.test/book/structA.html"]);
}

#[test]
fn generators_say_their_names_and_their_files_say_the_root() {
    let page = "https://docs.test/book/guide/a.html";
    let cases = [
        (
            SiteKind::VuePress,
            ROOT,
            "<meta name=\"generator\" content=\"VuePress 2.0.0-rc.26\" /><link href=\"/book/assets/style.css\">",
        ),
        (
            SiteKind::Antora,
            ROOT,
            "<meta name=\"generator\" content=\"Antora 3.1.15\"><link rel=\"stylesheet\" href=\"../_/css/site.css\">",
        ),
        (
            SiteKind::Doxygen,
            "https://docs.test/book/guide/",
            "<meta name=\"generator\" content=\"Doxygen 1.9.4\"/><link href=\"doxygen.css\"/>",
        ),
        (
            SiteKind::Javadoc,
            ROOT,
            "<meta name=\"generator\" content=\"javadoc/ClassWriterImpl\"><script>var pathtoroot = \"../\";</script>",
        ),
        (
            SiteKind::Pdoc,
            ROOT,
            "<meta name=\"generator\" content=\"pdoc 16.0.0\"/><script>script.src = \"../search.js\";</script>",
        ),
        (
            SiteKind::TypeDoc,
            ROOT,
            "<link rel=\"stylesheet\" href=\"../assets/style.css\"/><header class=\"tsd-page-toolbar\">",
        ),
        (
            SiteKind::JsDoc,
            "https://docs.test/book/guide/",
            "<link href=\"styles/jsdoc-default.css\"><a href=\"https://github.com/jsdoc/jsdoc\">JSDoc 4.0.5</a>",
        ),
        (
            SiteKind::Docsify,
            "https://docs.test/book/guide/",
            "<script>window.$docsify = { loadSidebar: true }</script><script src=\"//cdn.test/docsify@4\"></script>",
        ),
        (SiteKind::Unknown, "https://docs.test/book/guide/", "<p>window.$docsify &lt;script src=\"docsify\"></p>"),
    ];
    for (kind, root, html) in cases {
        let detected = detect(page, html);
        assert_eq!((detected.kind, detected.root.as_str()), (kind, root), "{html}");
    }
}

#[test]
fn an_unknown_site_is_its_folder_and_neighbours_are_none_of_it() {
    let links =
        |paths: &str| paths.split_whitespace().map(|path| format!("<a href=\"{path}\">x</a>")).collect::<String>();
    let cases = [
        // Two projects beside each other, and what links the one to the other.
        ("/a/index.html", "b.html guide/c.html /b/ /", "/a/"),
        ("/docs/a/", "x.html y.html /docs/b/ /docs/c/ /docs/", "/docs/a/"),
        (
            "/docs/a/guide/x.html",
            "y.html z.html ../index.html ../api/p.html ../api/q.html ../../b/index.html",
            "/docs/a/",
        ),
        ("/docs/a/guide/x.html", "/docs/a/guide/y.html /docs/a/install.html /docs/a/use.html /docs/b/", "/docs/a/"),
        // Pages that are folders.
        ("/docs/faq/", "/docs/ /docs/install/ /docs/use/", "/docs/"),
        (
            "/docs/class/call/",
            "/docs/class/ /docs/class/get/ /docs/faq/ /docs/a/ /docs/b/ /docs/c/ /docs/d/ /docs/e/ /docs/f/ /docs/g/",
            "/docs/",
        ),
        // Nothing is known.
        ("/docs/a/x.html", "", "/docs/a/"),
        ("/x.html", "y.html", "/"),
    ];
    for (page, paths, wanted) in cases {
        let page = format!("https://docs.test{page}");
        let found = root(&page, &page, &links(paths));
        assert_eq!(found, format!("https://docs.test{wanted}"), "{page}: {paths}");
    }
    // A folder with styles of its own is a project, however many projects it links to.
    let html = format!(
        "<link rel=\"stylesheet\" href=\"style.css\">{}",
        links("../b/x.html ../b/y.html ../c/x.html ../c/y.html")
    );
    assert_eq!(root("https://docs.test/a/index.html", "https://docs.test/a/index.html", &html), "https://docs.test/a/");
}

#[test]
fn neighbouring_projects_do_not_mix() {
    let text = "<p>Some words that are long enough to count as the text of a page, and a few more of them.</p>";
    let front = format!(
        "<main><h1>A</h1>{text}</main><a href=\"one.html\">1</a><a href=\"two.html\">2</a><a href=\"/docs/b/\">B</a>"
    );
    let map =
        "<urlset><loc>https://docs.test/docs/a/one.html</loc><loc>https://docs.test/docs/b/one.html</loc></urlset>";
    let (asked, site, step) = read("https://docs.test/docs/a/", Some(&front), |path| match path {
        "/docs/sitemap.xml" => Some(map.to_owned()),
        "/docs/llms.txt" => Some("# Everything\n- [B](/docs/b/)".to_owned()),
        _ if path.ends_with(".html") || path == "/docs/a/" => Some(format!("{front}{path}")),
        _ => None,
    });
    assert!(step.error.is_none() && asked.iter().all(|path| !path.starts_with("/docs/b")), "{asked:?}");
    assert_eq!(
        (site.info().root.as_str(), site.info().pages, site.info().title.as_str()),
        ("https://docs.test/docs/a/", 3, "A")
    );
}

#[test]
fn a_page_that_only_leads_elsewhere_is_followed() {
    let moved = |to: &str| format!("<head>\n<meta http-equiv=\"refresh\" content=\"0; url={to}\"/>\n</head>");
    let target = |html: &str| refresh::target(ROOT, html);
    assert_eq!(target(&moved("./boltons.html")).unwrap(), "https://docs.test/book/boltons.html");
    assert_eq!(target("<meta http-equiv=refresh content='1;URL=\"/x/\"'>").unwrap(), "https://docs.test/x/");
    let long = format!("{}<p>{}</p>", moved("a.html"), "words ".repeat(200));
    for html in
        [moved("https://other.test/"), moved("./"), moved("/logout"), long, moved("a.html").replace("0;", "60;")]
    {
        assert_eq!(target(&html), None, "{html}");
    }
    let (asked, site, step) = read(ROOT, None, |path| match path {
        "/book/" => Some(moved("one.html")),
        "/book/one.html" => Some("<main><h1>One</h1><p>First.</p><a href=\"old.html\">old</a></main>".to_owned()),
        "/book/old.html" => Some(moved("two.html")),
        "/book/two.html" => Some("<main><h1>Two</h1><p>Second.</p></main>".to_owned()),
        _ => None,
    });
    assert_eq!(asked[..2], ["/book/", "/book/one.html"]);
    assert!(step.error.is_none());
    let titles: Vec<&str> = site.index().list().map(|(_, title, _)| title).collect();
    assert_eq!(titles, ["One", "Two"]);
    // Two pages that lead to each other.
    let (_, _, step) = read(ROOT, None, |path| Some(moved(if path == "/book/" { "b.html" } else { "./" })));
    assert!(step.error.is_some());
}

const DOCSIFY: &str = "<div id=\"app\"></div><script>window.$docsify = { name: 'M', loadSidebar: true };</script><script src=\"docsify/docsify.min.js\"></script>";

#[test]
fn docsify_is_read_from_its_files_and_shown_by_its_routes() {
    let (asked, mut site, step) = read("https://docs.test/book/#/", Some(DOCSIFY), |path| {
        match path {
        "/book/_sidebar.md" => Some("- [**Home**](/)\n  - [Install](/#install)\n- [Hooks](/docs/hooks)\n- [All](/docs/all/)".to_owned()),
        "/book/README.md" => Some("# m\n\nSee [more](docs/more.md) and [out](https://x.test/y.md).\n\n## Install\nnpm i".to_owned()),
        "/book/docs/hooks.md" => Some("<!-- x -->\n# m\n\n## What's new\nZebra, see [there](#parse).\n\n## Parse\n[home](/) and [install](/?id=install) and [all](docs/all/)\n".to_owned()),
        "/book/docs/all/README.md" => Some("# All\n\nEvery thing.".to_owned()),
        "/book/docs/more.md" => Some("# More\n\nMore things.".to_owned()),
        _ => None,
    }
    });
    assert_eq!(
        asked,
        [
            "/book/_sidebar.md",
            "/book/README.md",
            "/book/docs/hooks.md",
            "/book/docs/all/README.md",
            "/book/docs/more.md"
        ]
    );
    assert_eq!((step.stage, site.info().kind, site.info().pages), (SiteStage::Ready, SiteKind::Docsify, 4));
    let hit = &site.search("zebra", 1).hits[0];
    assert_eq!((hit.url.as_str(), hit.page.as_str()), ("https://docs.test/book/#/docs/hooks?id=what39s-new", "Hooks"));
    let ToolReply::Result(ToolText { text: list, .. }) = tools::call(&mut site, "list_pages", &serde_json::json!({}))
    else {
        panic!("no list")
    };
    assert!(
        list.contains("https://docs.test/book/#/  Home") && list.contains("https://docs.test/book/#/docs/all/  All"),
        "{list}"
    );
    // The page is fetched again as Markdown, and its links lead to pages.
    let call = serde_json::json!({ "url": "https://docs.test/book/#/docs/hooks?id=parse" });
    let ToolReply::Fetch(file) = tools::call(&mut site, "read_page", &call) else { panic!("not fetched") };
    let [file] = file.try_into().unwrap();
    assert_eq!(file, "https://docs.test/book/docs/hooks.md");
    let text = "# m\n\n## What's new\n[there](#parse)\n\n## Parse\n[home](/) [install](/?id=install) [all](docs/all/) [x](https://x.test)\n";
    site.take(&FetchedPage { url: file, status: 200, body: true, ..FetchedPage::default() }, Some(text));
    let ToolReply::Result(ToolText { text: page, .. }) = tools::call(&mut site, "read_page", &call) else {
        panic!("not read")
    };
    let wanted = "https://docs.test/book/#/docs/hooks\n[Page \"m\", from section \"parse\" on.]\n\n## Parse {https://docs.test/book/#/docs/hooks?id=parse}\n[home](https://docs.test/book/#/) \
                  [install](https://docs.test/book/#/?id=install) [all](https://docs.test/book/#/docs/all/) [x](https://x.test)";
    assert_eq!(page.trim_end(), wanted);
}

#[test]
fn docsify_and_docute_derive_anchors_from_headings() {
    // What docsify 4.13 made of these headings in a browser.
    let docsify = [
        ("What's new", "what39s-new"),
        ("Q & A", "q-amp-a"),
        ("`<T>` type", "lttgt-type"),
        ("\"quoted\" text", "quotquotedquot-text"),
        ("Foo :id=bar", "bar"),
        ("1. First", "_1-first"),
        ("a -- b", "a-b"),
        ("x <b>y</b>", "x-y"),
        ("a < b > c", "a-lt-b-gt-c"),
        ("**Bold** and _em_ snake_case", "bold-and-em-snake_case"),
        ("[Link's](docs/x.md) here", "link39s-here"),
        ("Ünï Code ÄB", "Ünï-code-Äb"),
        ("Foo <!-- {docsify-ignore} -->", "foo"),
        ("What's new", "what39s-new-1"),
    ];
    let mut slugger = Slugger::new(Slugs::Docsify);
    docsify.iter().for_each(|(heading, anchor)| assert_eq!(slugger.anchor(heading), *anchor, "{heading}"));
    let docute = [("A -- b", "a----b"), ("List<Trailer> type", "listtrailer-type"), ("A -- b", "a----b-2")];
    let mut slugger = Slugger::new(Slugs::Docute);
    docute.iter().for_each(|(heading, anchor)| assert_eq!(slugger.anchor(heading), *anchor, "{heading}"));
    let sections = llms::read_page(ROOT, "# A\n\n```\n# no\n```\n## B\nb\n## B\n", Slugs::Docsify).text;
    assert_eq!(shown(&sections), [" |  |  | # no", "b |  | B | b", "b-1 |  | B | "]);
}

#[test]
fn routes_and_files_are_converted_both_ways() {
    let page = "https://docs.test/app/index.html";
    let html = "<script src=\"docsify.js\"></script><script>window.$docsify = { basePath: '/files', homepage: 'home.md', relativePath: true }</script>";
    let routes = Routes::docsify(page, html).unwrap();
    for (shown, file) in [
        ("https://docs.test/app/#/", "https://docs.test/files/home.md"),
        ("https://docs.test/app/#/a/b?id=c", "https://docs.test/files/a/b.md#c"),
        ("https://docs.test/app/#/a/", "https://docs.test/files/a/README.md"),
    ] {
        assert_eq!((routes.shown(file).as_str(), routes.file(shown).as_str()), (shown, file));
    }
    let linked = |link: &str| routes.linked("https://docs.test/files/a/b.md", link).unwrap_or_default();
    assert_eq!(linked("c.md#d"), "https://docs.test/files/a/c.md#d");
    assert_eq!(linked("/c?id=d"), "https://docs.test/files/c.md#d");
    assert_eq!(linked("#/c"), "https://docs.test/files/c.md");
    assert_eq!((linked("c.png"), linked("mailto:x@y.test"), linked("https://x.test/c.md")), Default::default());
    let none = Routes::default();
    assert_eq!(
        (none.shown("https://a.test/b.md"), none.file("https://a.test/b")),
        ("https://a.test/b.md".into(), "https://a.test/b".into())
    );
}

const SHELL: &str =
    "<!doctype html><title>App</title><div id=\"docute\"></div><script src=\"/docs/docute.js\"></script>";

/// What a browser shows.
fn rendered(links: &str) -> String {
    format!(
        "<!doctype html><title>App</title><body>{links}<main><h1>Open page</h1><p>The text that the browser shows here is long enough to be the text of a page for readers: zebra.</p></main><script src=\"/docs/docute.js\"></script>"
    )
}

#[test]
fn the_files_of_a_site_without_text_are_read() {
    let links = rendered("<a href=\"/docs/\">x</a><a href=\"/docs/config\">c</a><a href=\"/docs/guides/git\">g</a>");
    let (_, site, step) = read("https://docs.test/docs/config", Some(&links), |path| {
        Some(match path {
            "/docs/README.md" => "# Start\n\nHello there.".to_owned(),
            "/docs/config.md" => "# Config\n\nAll.\n\n## Pager\n\nLess is more.".to_owned(),
            "/docs/guides/git.md" => "# Git\n\nPush.".to_owned(),
            _ => SHELL.to_owned(),
        })
    });
    assert!(step.error.is_none() && !site.info().shell && site.info().complete, "{step:?}");
    assert_eq!(site.search("pager", 1).hits[0].url, "https://docs.test/docs/config#pager");
    let pages: Vec<String> = site.index().list().map(|(page, _, _)| site.routes().shown(page)).collect();
    assert_eq!(
        pages,
        ["https://docs.test/docs/config", "https://docs.test/docs/", "https://docs.test/docs/guides/git"]
    );
}

#[test]
fn a_site_without_text_is_an_error_or_the_page_that_is_open() {
    let shell = |_: &str| Some(SHELL.to_owned());
    let (_, site, step) = read("https://docs.test/docs/a", Some(SHELL), shell);
    assert_eq!(
        step.error.as_deref(),
        Some("The documentation could not be read: its pages have no text until a browser runs their scripts.")
    );
    assert!(step.info.is_none() && site.info().pages == 0);
    let (_, _, step) = read("https://docs.test/docs/a", None, shell);
    assert!(step.error.is_some() && step.stage != SiteStage::Ready);
    let (_, site, step) = read("https://docs.test/docs/a", Some(&rendered("<a href=\"/docs/b\">b</a>")), shell);
    let info = step.info.clone().unwrap_or_else(|| panic!("not ready: {step:?}"));
    assert!(step.error.is_none() && info.shell && info.complete && info.pages == 1, "{info:?}");
    assert_eq!(site.search("zebra", 3).hits[0].url, "https://docs.test/docs/a");
    assert_eq!(site.save(), "", "it is not kept");
}

#[test]
fn what_the_browser_shows_is_not_kept_beside_pages_that_have_text_either() {
    let text = "<main><h1>B</h1><p>Read without a browser, and long enough for a page of its own.</p></main>";
    let (_, site, step) =
        read("https://docs.test/docs/a", Some(&rendered("<a href=\"/docs/b\">b</a>")), |path| match path {
            "/docs/b" => Some(text.to_owned()),
            _ => Some(SHELL.to_owned()),
        });
    assert!(step.error.is_none() && site.info().pages == 2 && !site.info().shell, "{step:?}");
    assert_eq!(site.search("zebra", 3).hits[0].url, "https://docs.test/docs/a");
    assert_eq!(site.save(), "");
}

#[test]
fn private_elements_are_never_read() {
    let private = "<p data-turnwise-private>Signed in as anna. <a href=\"/docs/anna\">anna</a></p>";
    let body = rendered(&format!("<h2 data-turnwise-private=\"yes\">anna</h2>{private}"));
    let page = html::page("https://docs.test/docs/a", &body);
    assert!(format!("{page:?}").contains("zebra") && !format!("{page:?}").contains("anna"), "{page:?}");
    let deep = format!("{}zebra{private}", "<div>".repeat(1_100));
    assert!(!format!("{:?}", html::page("https://docs.test/docs/a", &deep)).contains("anna"));
}

#[test]
fn one_page_under_all_addresses_is_one_page() {
    let words = "Welcome to the tool. It does what it should, quickly and without questions, on every system there is.";
    let page = |path: &str| {
        format!(
            "<!doctype html><body><main><h1>Tool</h1><p>{words}</p><p>{path}</p></main><a href=\"/docs/b\">b</a><a href=\"/docs/c\">c</a><a href=\"/docs/d.html\">d</a>"
        )
    };
    let (_, site, step) = read("https://docs.test/docs/", Some(&page("/docs/")), |path| Some(page(path)));
    assert!(step.error.is_none());
    assert_eq!((site.info().pages, site.info().shell), (1, true));
    let (_, site, _) = read("https://docs.test/docs/", None, |path| Some(page(path)));
    assert_eq!((site.info().pages, site.info().shell), (1, true), "also without what the browser shows");
    let (_, site, _) = read("https://docs.test/docs/", Some(&page("/docs/")), |path| match path {
        "/docs/b" => Some("<main><h1>B</h1><p>Other words altogether.</p></main>".to_owned()),
        _ => Some(page(path)),
    });
    assert_eq!((site.info().pages, site.info().shell), (2, false));
}

#[test]
fn a_front_page_with_little_text_does_not_change_the_addresses_of_files() {
    let front =
        "<html><head><script type=module src=a.js></script></head><body><h1>Halden</h1><p>Short.</p></body></html>";
    let (asked, site, step) = read("https://docs.test/", Some(front), |path| {
        Some(match path {
            "/" => front.to_owned(),
            "/llms.txt" => {
                "# Halden\n\n- [Retries](/guide/retries.md): again\n- [Queues](/guide/queues.md): names\n".to_owned()
            }
            "/guide/retries.md" => "# Retries\n\n## Policy\n\nA zebra is tried three times.\n".to_owned(),
            "/guide/queues.md" => "# Queues\n\nA queue has a name.\n".to_owned(),
            _ => return None,
        })
    });
    assert_eq!(step.stage, SiteStage::Ready);
    assert_eq!(site.search("zebra", 1).hits[0].url, "https://docs.test/guide/retries.md");
    assert!(!asked.iter().any(|path| path == "/README.md"), "the other pages have their text: {asked:?}");
}

#[test]
fn the_first_pages_file_is_requested_once_another_page_has_no_text_either() {
    const APP: &str = "<!doctype html><title>App</title><div id=\"app\"></div><script src=\"/app.js\"></script>";
    let links =
        rendered("<a href=\"/docs/\">x</a><a href=\"/docs/config\">c</a>").replace("/docs/docute.js", "/app.js");
    // The first page is answered before the other one, or after it.
    for start in ["/docs/", "/docs/config"] {
        let (asked, site, step) = read(&format!("https://docs.test{start}"), Some(&links), |path| {
            Some(match path {
                "/docs/README.md" => "# Start\n\nHello there.".to_owned(),
                "/docs/config.md" => "# Config\n\nLess is more.".to_owned(),
                _ => APP.to_owned(),
            })
        });
        assert!(step.error.is_none() && !site.info().shell, "{start}: {step:?}");
        let files: Vec<&String> = asked.iter().filter(|path| path.ends_with(".md")).collect();
        assert_eq!(files.len(), 2, "{start}: {asked:?}");
        let first = &site.search("hello", 1).hits[0].url;
        assert_eq!(site.routes().shown(first), "https://docs.test/docs/", "{start}");
    }
}

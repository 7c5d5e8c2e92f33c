//! Markdown to nodes: the closed set of nodes, safe addresses, hostile input.

use std::time::Duration;

use crate::support::work::Work;
use proptest::prelude::*;
use turnwise_content::format::pieces;
use turnwise_content::markdown::{
    Align, Class, ListItem, MAX_DEPTH, Node, TaskMark, parse, parse_highlighted, plain_text, safe_href, target,
    web_href, weight,
};

fn text(text: &str) -> Node {
    Node::Text(text.into())
}

fn paragraph(children: Vec<Node>) -> Vec<Node> {
    vec![Node::Paragraph(children)]
}

/// The only node of a text.
fn only(markdown: &str) -> Node {
    let mut nodes = parse(markdown);
    assert_eq!(nodes.len(), 1, "{nodes:?}");
    nodes.remove(0)
}

fn link(href: &str, label: &str) -> Node {
    Node::Link { href: href.into(), children: vec![text(label)] }
}

#[test]
fn each_construct_becomes_its_node() {
    let cases: Vec<(&str, Vec<Node>)> = vec![
        ("", vec![]),
        ("plain", paragraph(vec![text("plain")])),
        ("soft\nbreak", paragraph(vec![text("soft\nbreak")])),
        ("hard  \nbreak", paragraph(vec![text("hard"), Node::Break, text("break")])),
        ("### Title", vec![Node::Heading { level: 3, children: vec![text("Title")] }]),
        ("**b**", paragraph(vec![Node::Strong(vec![text("b")])])),
        ("*e*", paragraph(vec![Node::Emphasis(vec![text("e")])])),
        ("~~s~~", paragraph(vec![Node::Strike(vec![text("s")])])),
        ("`c < d`", paragraph(vec![Node::Code("c < d".into())])),
        ("> q", vec![Node::Quote(paragraph(vec![text("q")]))]),
        ("---", vec![Node::Rule]),
        ("[l](https://a.b/c)", paragraph(vec![link("https://a.b/c", "l")])),
        ("<https://a.b>", paragraph(vec![link("https://a.b", "https://a.b")])),
        ("<me@a.b>", paragraph(vec![link("mailto:me@a.b", "me@a.b")])),
    ];
    for (markdown, expected) in cases {
        assert_eq!(parse(markdown), expected, "{markdown:?}");
    }
}

#[test]
fn bare_addresses_are_links_and_the_sentence_keeps_its_punctuation() {
    let at = |before: &str, href: &str, after: &str| {
        let mut nodes = vec![link(href, href)];
        if !before.is_empty() {
            nodes.insert(0, text(before));
        }
        if !after.is_empty() {
            nodes.push(text(after));
        }
        paragraph(nodes)
    };
    let cases = [
        ("See https://a.b/c_d?x=1.", at("See ", "https://a.b/c_d?x=1", ".")),
        ("(http://a.b/c)", at("(", "http://a.b/c", ")")),
        ("http://a.b/c_(d), then", at("", "http://a.b/c_(d)", ", then")),
        ("http://[::1]:80/ it is", at("", "http://[::1]:80/", " it is")),
        ("**https://a.b**", paragraph(vec![Node::Strong(vec![link("https://a.b", "https://a.b")])])),
    ];
    for (markdown, expected) in cases {
        assert_eq!(parse(markdown), expected, "{markdown:?}");
    }
    for plain in ["xhttps://a.b", "https:// a", "http, https", "https://", "https://."] {
        assert_eq!(parse(plain), paragraph(vec![text(plain)]), "{plain:?}");
    }
    for linked in ["[https://a.b](https://c.d)", "`https://a.b`", "```\nhttps://a.b\n```"] {
        let mut found = Vec::new();
        hrefs(&parse(linked), &mut found);
        assert!(!found.contains(&"https://a.b".to_owned()), "{linked}");
    }
}

#[test]
fn mail_addresses_are_links() {
    let mail = |address: &str| link(&format!("mailto:{address}"), address);
    let cases = [
        ("Ask a.b+c@example.org.", vec![text("Ask "), mail("a.b+c@example.org"), text(".")]),
        (
            "(x@y.example) or http://a.b/c",
            vec![text("("), mail("x@y.example"), text(") or "), link("http://a.b/c", "http://a.b/c")],
        ),
        ("a@b.org,c@d.org", vec![mail("a@b.org"), text(","), mail("c@d.org")]),
        ("Write to me@x.org: soon", vec![text("Write to "), mail("me@x.org"), text(": soon")]),
    ];
    for (markdown, expected) in cases {
        assert_eq!(parse(markdown), paragraph(expected), "{markdown:?}");
    }
    for plain in [
        "@a.org",
        "a@b",
        "a@.org",
        "pkg@1.2.3",
        "git@github.com:a/b.git",
        "ssh://git@host.org/a",
        "a@b@c.org",
        "a @b.org",
    ] {
        assert_eq!(parse(plain), paragraph(vec![text(plain)]), "{plain:?}");
    }
    for linked in ["[a@b.org](https://c.d)", "`a@b.org`", "http://a@b.org/c"] {
        let mut found = Vec::new();
        hrefs(&parse(linked), &mut found);
        assert!(found.iter().all(|href| !href.starts_with("mailto:")), "{linked}");
    }
}

#[test]
fn footnotes_are_a_list_at_the_end() {
    let nodes = parse("One[^b], two[^a], one again[^B], none[^c].\n\n[^a]: The *first*.\n[^b]: The second.\n");
    assert_eq!(
        nodes[0],
        Node::Paragraph(vec![
            text("One"),
            Node::FootnoteMark(1),
            text(", two"),
            Node::FootnoteMark(2),
            text(", one again"),
            Node::FootnoteMark(1),
            text(", none[^c]."),
        ])
    );
    assert_eq!(plain_text(&nodes[..1]), "One[1], two[2], one again[1], none[^c].");
    assert_eq!(nodes[1], Node::Rule);
    let Node::List { start: Some(1), items } = &nodes[2] else { panic!("{nodes:?}") };
    assert_eq!(items.iter().map(|item| item.footnote).collect::<Vec<_>>(), [Some(1), Some(2)]);
    assert_eq!(items[0].children, paragraph(vec![text("The second.")]));
    assert_eq!(items[1].children, paragraph(vec![text("The "), Node::Emphasis(vec![text("first")]), text(".")]));
}

#[test]
fn lists_keep_their_start_and_their_tasks() {
    let item = |task, label: &str| ListItem { task, footnote: None, children: vec![text(label)] };
    let ordered = Node::List { start: Some(3), items: vec![item(None, "a"), item(None, "b")] };
    assert_eq!(parse("3. a\n4. b"), [ordered]);
    let tasks =
        Node::List { start: None, items: vec![item(Some(TaskMark::Done), "d"), item(Some(TaskMark::Open), "o")] };
    assert_eq!(parse("- [x] d\n- [ ] o"), [tasks]);
}

#[test]
fn a_task_inside_a_nested_list_marks_its_own_item() {
    let Node::List { items, .. } = only("- outer\n  - [x] inner") else { panic!() };
    assert_eq!(items[0].task, None);
    let Node::List { items: inner, .. } = &items[0].children[1] else { panic!("{items:?}") };
    assert_eq!(inner[0].task, Some(TaskMark::Done));
}

#[test]
fn code_blocks_keep_language_and_text() {
    for (markdown, language) in [("```rust,ignore\nlet a = 1;\n```", "rust"), ("    let a = 1;", "")] {
        let Node::CodeBlock { lang, spans } = only(markdown) else { panic!("{markdown}") };
        assert_eq!(lang, language);
        assert_eq!(spans.iter().map(|s| s.text.as_str()).collect::<String>().trim_end(), "let a = 1;");
    }
}

#[test]
fn code_of_a_known_language_is_highlighted_in_classes() {
    let cases = [
        (
            "rust",
            "fn main() { let x = 42; } // done",
            vec![
                (Class::Keyword, "fn"),
                (Class::Function, "main"),
                (Class::Number, "42"),
                (Class::Comment, "// done\n"),
            ],
        ),
        ("ts", "const a = \"b\";", vec![(Class::Keyword, "const"), (Class::String, "\"b\"")]),
        (
            "python",
            "def f(x):\n    return None",
            vec![(Class::Function, "f"), (Class::Name, "x"), (Class::Constant, "None")],
        ),
        ("json", "{\"a\": [1, true]}", vec![(Class::Number, "1"), (Class::Constant, "true")]),
        ("diff", "+a\n-b", vec![(Class::Inserted, "+a\n"), (Class::Deleted, "-b\n")]),
    ];
    for (language, code, expected) in cases {
        let nodes = parse_highlighted(&format!("```{language}\n{code}\n```"));
        let [Node::CodeBlock { spans, .. }] = nodes.as_slice() else { panic!("{code}") };
        for (class, text) in expected {
            assert!(spans.iter().any(|span| span.class == class && span.text == text), "{text:?} in {spans:?}");
        }
        assert_eq!(spans.iter().map(|span| span.text.as_str()).collect::<String>(), format!("{code}\n"));
    }
    let nodes = parse_highlighted("```nolang\nfn main\n```");
    let [Node::CodeBlock { spans, .. }] = nodes.as_slice() else { panic!() };
    assert_eq!(spans.len(), 1);
}

#[test]
fn long_code_and_long_lines_stay_plain_and_whole() {
    let long_line = format!("let a = 1;\nlet b = \"{}\";\nlet c = 2;\n", "x".repeat(5_000));
    let long_code = "let a = 1;\n".repeat(10_000);
    for code in [long_line, long_code] {
        let Node::CodeBlock { spans, .. } = only(&format!("```rust\n{code}```")) else { panic!() };
        assert_eq!(spans.iter().map(|span| span.text.as_str()).collect::<String>(), code);
        assert!(spans.len() < 12);
    }
}

#[test]
fn tables_have_alignment_head_and_rows() {
    let Node::Table(table) = only("|a|b|c|\n|:-|:-:|-:|\n|1|2|3|\n|4|||") else { panic!() };
    assert_eq!(table.align, [Align::Left, Align::Center, Align::Right]);
    assert_eq!(table.head, [[text("a")], [text("b")], [text("c")]]);
    assert_eq!(
        table.rows,
        [vec![vec![text("1")], vec![text("2")], vec![text("3")]], vec![vec![text("4")], vec![], vec![]]]
    );
}

#[test]
fn raw_html_is_text() {
    for html in ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onclick=x>b</b>", "<!-- c -->"] {
        let nodes = parse(html);
        assert_eq!(plain_text(&nodes), html, "{nodes:?}");
        assert!(matches!(nodes.as_slice(), [Node::Paragraph(children)] if children.len() == 1), "{nodes:?}");
    }
}

#[test]
fn unsafe_addresses_leave_only_their_text() {
    for address in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#10;script:alert(1)",
        "&#1;javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://a/b",
        "javascript&colon;alert(1)",
    ] {
        let nodes = parse(&format!("[label](<{address}>)"));
        assert_eq!(nodes, paragraph(vec![text("label")]), "{address}");
    }
    assert_eq!(parse("<javascript:alert(1)>"), paragraph(vec![text("javascript:alert(1)")]));
}

#[test]
fn safe_addresses_stay() {
    let cases =
        ["https://a.b/?q=javascript:x", "HTTP://A.B", "mailto:a@b.c", "docs/a.md", "/a", "#part", "?q=a:b", "a/b:c"];
    for address in cases {
        assert_eq!(safe_href(address).as_deref(), Some(address));
    }
    assert_eq!(safe_href("  "), None);
    assert_eq!(safe_href("java\tscript:x"), None);
}

#[derive(serde::Deserialize)]
struct LinkCase {
    text: String,
    href: String,
    beside: Option<String>,
}

/// The panel of the docs agent is tested with the same cases (tests/e2e/page_scripts.test.mjs), which the browser's parser decides.
#[test]
fn a_link_shows_its_host_unless_its_whole_text_is_that_host_or_the_very_address() {
    let cases: Vec<LinkCase> = serde_json::from_str(include_str!("../fixtures/link_targets.json")).unwrap();
    assert!(cases.len() > 50);
    for LinkCase { text, href, beside } in cases {
        assert_eq!(target::beside(&text, &href), beside, "[{text}]({href})");
    }
    assert_eq!(target::beside("openai.com", "docs/a.md"), None, "relative");
}

#[test]
fn an_address_whose_host_only_a_browser_can_tell_is_no_link() {
    for address in [
        "https:evil.example",
        "https:/evil.example",
        "https:/\\evil.example",
        "https:///evil.example",
        "https:\\\\evil.example",
        "https://",
        "https://?q",
        "https://me@",
        "https://a b.example",
        "https://a%2fb.example",
        "https://%ff.example",
        "https://%6.example",
        "https://a<b.example",
        "http://0x7f.1",
        "http://2130706433",
        "http://127.1",
        "http://0177.0.0.1",
        "https://a.example:99999",
        "https://a.example:port",
        "https://[::1",
        "https://[evil.example]",
    ] {
        assert_eq!(safe_href(address), None, "{address}");
        assert_eq!(web_href(address), None, "{address}");
    }
}

#[test]
fn only_the_web_and_mailboxes_are_linked_from_a_file_on_disk() {
    for address in ["https://a.b/?q=javascript:x", "HTTP://A.B", "mailto:a@b.c"] {
        assert_eq!(web_href(address).as_deref(), Some(address));
    }
    assert_eq!(web_href("ht\ttps://a.b").as_deref(), Some("https://a.b"), "as a browser reads it");
    let elsewhere = [
        "//host/s/a:b",
        "//host:80/s",
        "///host/a:b",
        "\\\\host\\a:b",
        "/\\host/a:b",
        "\\/host/a:b",
        "docs/a:b",
        "#a:b",
        "?a:b",
        "file:///etc/passwd",
        "file://host/share",
        "javascript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,a",
        "https:",
        "https:/a",
        "https:\\\\host\\share",
        "https:////host/share",
        "mailto:",
        "",
    ];
    for address in elsewhere {
        assert_eq!(web_href(address), None, "{address}");
    }
}

#[test]
fn images_are_placeholders_that_load_nothing() {
    let image = |alt: &str, href: Option<&str>| Node::Image { alt: alt.into(), href: href.map(Into::into) };
    assert_eq!(parse("![a *b*](https://x/y.png)"), paragraph(vec![image("a b", Some("https://x/y.png"))]));
    assert_eq!(parse("![a](data:image/png;base64,AAAA)"), paragraph(vec![image("a", None)]));
}

fn depth(nodes: &[Node]) -> usize {
    let inner = |node: &Node| match node {
        Node::Paragraph(c) | Node::Quote(c) | Node::Strong(c) | Node::Emphasis(c) | Node::Strike(c) => 1 + depth(c),
        Node::Heading { children, .. } | Node::Link { children, .. } => 1 + depth(children),
        Node::List { items, .. } => 1 + items.iter().map(|item| depth(&item.children)).max().unwrap_or(0),
        Node::Table(t) => 1 + t.rows.iter().chain([&t.head]).flatten().map(|cell| depth(cell)).max().unwrap_or(0),
        _ => 0,
    };
    nodes.iter().map(inner).max().unwrap_or(0)
}

#[test]
fn nesting_is_bounded_and_the_text_survives() {
    let cases = [
        format!("{}deep text", ">".repeat(10_000)),
        format!("{}deep text", "- ".repeat(2_000)),
        format!("{}deep text{}", "**a ".repeat(3_000), "**".repeat(3_000)),
        format!("{}deep text{}", "[".repeat(10_000), "](https://a)".repeat(10_000)),
        format!("{}deep text{}", "*".repeat(20_000), "*".repeat(20_000)),
    ];
    for markdown in cases {
        let nodes = parse(&markdown);
        assert!(depth(&nodes) <= MAX_DEPTH, "{}", depth(&nodes));
        assert!(plain_text(&nodes).contains("deep text"), "{}", &markdown[..40]);
        let json = serde_json::to_string(&nodes).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Node>>(&json).unwrap(), nodes, "the page must be able to read it");
    }
}

#[test]
fn hostile_input_takes_no_time() {
    let columns = "|a".repeat(1_000);
    let cases = [
        format!("{columns}|\n{}|\n{}", "|-".repeat(1_000), "|\n".repeat(2_000)),
        "> ".repeat(50_000),
        "`".repeat(100_000),
        "a".repeat(1_000_000),
        "![".repeat(50_000),
        "<".repeat(100_000),
        "*_".repeat(50_000),
        "&#x41;".repeat(50_000),
        "[a]: b\n".repeat(20_000),
        (1..1_500).map(|n| format!("{} a\n", "`".repeat(n))).collect(),
        format!("http://a{}", ")".repeat(500_000)),
        "xhttp://a".repeat(50_000),
        "http://a-".repeat(50_000),
        "http://a\n*b* ".repeat(30_000),
        "a@".repeat(100_000),
        "a.b@c-d.".repeat(30_000),
        "[a](".repeat(150_000),
        "[".repeat(300_000),
        "*a **b ".repeat(100_000),
        "```js\nlet a = /(((((/; \"\n```\n".repeat(20_000),
        format!(
            "{}{}",
            (0..400).map(|n| format!("{}- a\n", " ".repeat(n))).collect::<String>(),
            "\n1. b".repeat(50_000)
        ),
        "<a b=\"".repeat(150_000),
        "<http://".repeat(120_000),
        format!("{}{}", "[a]: b\n".repeat(100_000), "[a]".repeat(100_000)),
        format!("http://a.{}", "x@y".repeat(100_000)),
        (0..10_000).map(|n| format!("[^{n}] ")).chain((0..10_000).map(|n| format!("\n\n[^{n}]: a"))).collect(),
    ];
    for markdown in cases {
        let started = Work::begin();
        let nodes = parse(&markdown);
        let took = started.done();
        assert!(took < Duration::from_secs(5), "{took:?} for {:?}", &markdown[..20]);
        assert!(serde_json::to_string(&nodes).unwrap().len() < 40 * markdown.len() + 100);
    }
}

#[test]
fn the_weight_of_nodes_is_about_the_number_of_their_elements() {
    assert_eq!(weight(&parse("a *b* `c`")), 6);
    assert_eq!(weight(&parse("- a\n- b")), 5, "a list, and each item with its text");
    let rows = 1_000;
    let table = parse(&format!("|a|b|\n|-|-|\n{}", "|c|d|\n".repeat(rows)));
    assert!((4 * rows..8 * rows).contains(&weight(&table)), "{}", weight(&table));
}

#[test]
fn a_long_text_is_split_into_pieces() {
    let split = |text: &str, most| pieces(text, most).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(split("", 4), [""; 0]);
    assert_eq!(split("abcd", 4), ["abcd"]);
    assert_eq!(split("abcde", 4), ["abcd", "e"]);
    assert_eq!(split("abc\nde", 5), ["abc\n", "de"], "after a line");
    assert_eq!(split("a\nbcdef", 5), ["a\nbcd", "ef"], "but not after a short one");
    assert_eq!(split("äöü", 3), ["ä", "ö", "ü"]);
    assert_eq!(split("äö", 1), ["äö"], "no letter is split");
    let text = "ä word and\n".repeat(10_000);
    assert!(pieces(&text, 1_000).all(|piece| (400..=1_000).contains(&piece.len())));
    assert_eq!(pieces(&text, 1_000).collect::<String>(), text);
}

#[test]
fn nodes_are_small_json() {
    let json = serde_json::to_value(parse("# A\n\n[b](c) **d**\n\n---")).unwrap();
    let expected = serde_json::json!([
        {"heading": {"level": 1, "children": [{"text": "A"}]}},
        {"paragraph": [{"link": {"href": "c", "children": [{"text": "b"}]}}, {"text": " "}, {"strong": [{"text": "d"}]}]},
        "rule",
    ]);
    assert_eq!(json, expected);
}

fn hrefs(nodes: &[Node], out: &mut Vec<String>) {
    for node in nodes {
        match node {
            Node::Link { href, children } => {
                out.push(href.clone());
                hrefs(children, out);
            }
            Node::Image { href, .. } => out.extend(href.clone()),
            Node::Paragraph(c) | Node::Quote(c) | Node::Strong(c) | Node::Emphasis(c) | Node::Strike(c) => {
                hrefs(c, out);
            }
            Node::Heading { children, .. } => hrefs(children, out),
            Node::List { items, .. } => items.iter().for_each(|item| hrefs(&item.children, out)),
            Node::Table(t) => t.rows.iter().chain([&t.head]).flatten().for_each(|cell| hrefs(cell, out)),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_parses_to_bounded_safe_nodes(markdown in "([ a-z0-9]|[\\[\\]()<>!`*_~#>|:\\-+.\\\\&;\"'\n\t]|javascript:|http://|data:|\\PC){0,80}") {
        let nodes = parse(&markdown);
        prop_assert!(depth(&nodes) <= MAX_DEPTH);
        let mut found = Vec::new();
        hrefs(&nodes, &mut found);
        for href in found {
            prop_assert_eq!(safe_href(&href), Some(href.clone()), "{}", href);
        }
        let json = serde_json::to_string(&nodes).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<Node>>(&json).unwrap(), nodes);
    }

}

proptest! {
    // Each case may compile a grammar's expressions, which is slow without optimisation.
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn highlighted_code_keeps_its_text(language in "rust|js|python|html|css|json|bash|c|java|md|yaml|sql", code in "([a-z]{1,4}|[{}()\\[\\]<>'\"/*#=;:,.\\-\\\\ ]|\n|[0-9]|\\PC){0,40}") {
        let code = code.replace("```", "");
        let markdown = format!("````{language}\n{code}\n````");
        if let [Node::CodeBlock { spans, .. }] = parse(&markdown).as_slice() {
            let text: String = spans.iter().map(|span| span.text.as_str()).collect();
            let code = code.replace('\0', "\u{fffd}");
            prop_assert_eq!(text.trim_end(), code.trim_end());
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn plain_paragraphs_keep_every_word(paragraphs in prop::collection::vec("[a-zA-Zäöü漢字][a-zA-Zäöü漢字0-9, ?%]{0,60}[a-z]", 0..8)) {
        let nodes = parse(&paragraphs.join("\n\n"));
        prop_assert_eq!(plain_text(&nodes), paragraphs.join("\n"));
        prop_assert_eq!(nodes.len(), paragraphs.len());
    }
}

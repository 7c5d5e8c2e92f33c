//! Reports as data to look at: collapsible JSON trees, Slack messages, their text markup.

use std::sync::Arc;

use serde_json::{Value, json};
use turnwise_content::json::{JsonKind, JsonNode, PORTION, more};
use turnwise_content::markdown::{Node, plain_text};
use turnwise_content::mrkdwn;
use turnwise_content::slack::{Control, SlackBlock, SlackMessage, messages};

fn place(value: Value) -> JsonNode {
    JsonNode::root(Arc::new(value))
}

fn text(words: &str) -> Node {
    Node::Text(words.into())
}

fn link(href: &str, words: &str) -> Node {
    Node::Link { href: href.into(), children: vec![text(words)] }
}

#[test]
fn each_value_says_its_type_in_its_line() {
    let root = place(json!({ "a": [1, 2, 3], "b": {}, "c": "x", "d": null, "e": true, "f": 1.5 }));
    let lines: Vec<String> =
        root.children(0, 9).iter().map(|child| format!("{} {}", child.key, child.place.line().text)).collect();
    assert_eq!(lines, ["a [ 3 items ]", "b { 0 fields }", "c \"x\"", "d null", "e true", "f 1.5"]);
    assert_eq!(root.line().kind, JsonKind::Object);
    let list = &root.children(0, 1)[0].place;
    assert_eq!(list.children(1, 9).iter().map(|child| child.key.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(place(json!("x")).children(0, 9), []);
}

#[test]
fn long_strings_are_folded_and_long_levels_come_in_portions() {
    let line = place(json!("word ".repeat(100))).line();
    assert!(line.text.ends_with("…\"") && line.text.len() < 200);
    assert_eq!(line.whole.expect("the whole").len(), 500);
    assert!(place(json!("a\nb")).line().whole.is_some(), "lines are kept in the whole");
    let many = place(json!((0..450).collect::<Vec<_>>()));
    assert_eq!(many.children(0, PORTION).len(), 200);
    assert_eq!(more(200, many.len()).as_deref(), Some("Show 200 more of 250"));
    assert_eq!(more(400, many.len()).as_deref(), Some("Show 50 more of 50"));
    assert_eq!(more(600, many.len()), None);
}

#[test]
fn a_deep_value_is_walked_only_where_it_is_opened() {
    let mut deep = json!("bottom");
    for _ in 0..500 {
        deep = Value::Array(vec![deep]);
    }
    let root = place(deep);
    let mut at = root;
    for depth in 0..40 {
        assert_eq!(at.starts_open(), depth < 3, "{depth}");
        at = at.children(0, 1)[0].place.clone();
    }
    assert_eq!(at.line().text, "[ 1 item ]");
}

#[test]
fn mrkdwn_becomes_nodes_and_nothing_else() {
    let paragraph = |nodes: Vec<Node>| vec![Node::Paragraph(nodes)];
    let rows = [
        ("plain & <b>", paragraph(vec![text("plain & "), text("<b>")])),
        (
            "*bold* _it_ ~no~ `a*b`",
            paragraph(vec![
                Node::Strong(vec![text("bold")]),
                text(" "),
                Node::Emphasis(vec![text("it")]),
                text(" "),
                Node::Strike(vec![text("no")]),
                text(" "),
                Node::Code("a*b".into()),
            ]),
        ),
        ("snake_case_name 2*3*4 * x *", paragraph(vec![text("snake_case_name 2*3*4 * x *")])),
        ("<https://a.example/x|the page>", paragraph(vec![link("https://a.example/x", "the page")])),
        ("<https://a.example>", paragraph(vec![link("https://a.example", "https://a.example")])),
        ("a\nb", paragraph(vec![text("a"), Node::Break, text("b")])),
        ("&gt; quoted", vec![Node::Quote(paragraph(vec![text("quoted")]))]),
        ("&lt;script&gt; &amp;lt;", paragraph(vec![text("<script> &lt;")])),
        (
            "<@U1> <#C1|news> <!here>",
            paragraph(vec![
                Node::Strong(vec![text("@U1")]),
                text(" "),
                Node::Strong(vec![text("#news")]),
                text(" "),
                Node::Strong(vec![text("@here")]),
            ]),
        ),
    ];
    for (given, expected) in rows {
        assert_eq!(mrkdwn::blocks(given), expected, "{given}");
    }
    let blocks = mrkdwn::blocks("before\n```\n*raw* <x>\n```\nafter");
    assert!(matches!(&blocks[1], Node::CodeBlock { spans, .. } if spans[0].text == "*raw* <x>"), "{blocks:?}");
    assert_eq!(blocks.len(), 3);
}

#[test]
fn unsafe_addresses_stay_words() {
    for address in
        ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:1"]
    {
        let nodes = mrkdwn::blocks(&format!("<{address}|click>"));
        assert_eq!(nodes, [Node::Paragraph(vec![text(&format!("click <{address}>"))])], "{address}");
    }
}

#[test]
fn hostile_and_endless_marks_end() {
    for text in ["*".repeat(20_000), "*a ".repeat(1_900), "<".repeat(5_900), "`".repeat(5_999), "_~*".repeat(1_900)] {
        assert!(!plain_text(&mrkdwn::blocks(&text)).is_empty() || text.starts_with('`'));
    }
}

fn blocks(blocks: &Value) -> Vec<SlackBlock> {
    messages(&json!([{ "blocks": blocks }])).expect("messages")[0].blocks.clone()
}

#[test]
fn the_blocks_that_are_known_are_read() {
    let read = blocks(&json!([
        { "type": "header", "text": { "type": "plain_text", "text": "Weekly" } },
        { "type": "section", "text": { "type": "mrkdwn", "text": "*Up*" }, "fields": [{ "type": "plain_text", "text": "*as is*" }],
          "accessory": { "type": "button", "text": { "type": "plain_text", "text": "Open" }, "url": "javascript:1" } },
        { "type": "divider" },
        { "type": "context", "elements": [{ "type": "image", "image_url": "https://a.example/i.png", "alt_text": "logo" }, { "type": "mrkdwn", "text": "by us" }] },
        { "type": "image", "image_url": "data:image/png,x", "alt_text": "a chart", "title": { "type": "plain_text", "text": "Chart" } },
        { "type": "actions", "elements": [{ "type": "static_select", "placeholder": { "type": "plain_text", "text": "Pick" } }] },
        { "type": "markdown", "text": "# Hi" },
    ]));
    let inert = |words: &str, what| Control::Inert { words: words.into(), what };
    let expected = [
        SlackBlock::Header("Weekly".into()),
        SlackBlock::Section {
            body: vec![Node::Paragraph(vec![Node::Strong(vec![text("Up")])])],
            fields: vec![vec![Node::Paragraph(vec![text("*as is*")])]],
            accessory: Some(inert("Open", "button")),
        },
        SlackBlock::Divider,
        SlackBlock::Context(vec![
            Node::Image { alt: "logo".into(), href: Some("https://a.example/i.png".into()) },
            Node::Paragraph(vec![text("by us")]),
        ]),
        SlackBlock::Image { title: Some("Chart".into()), image: Node::Image { alt: "a chart".into(), href: None } },
        SlackBlock::Actions(vec![inert("Pick", "menu")]),
        SlackBlock::Markdown("# Hi".into()),
    ];
    assert_eq!(read, expected);
}

#[test]
fn rich_text_is_read_with_its_styles() {
    let read = blocks(&json!([{ "type": "rich_text", "elements": [
        { "type": "rich_text_section", "elements": [
            { "type": "text", "text": "bold", "style": { "bold": true } },
            { "type": "link", "url": "javascript:1", "text": "click" },
            { "type": "emoji", "name": "tada" },
        ] },
        { "type": "rich_text_list", "style": "ordered", "elements": [{ "type": "rich_text_section", "elements": [{ "type": "text", "text": "one" }] }] },
        { "type": "rich_text_quote", "elements": [{ "type": "text", "text": "said" }] },
        { "type": "rich_text_preformatted", "elements": [{ "type": "text", "text": "<pre>" }] },
    ] }]));
    let SlackBlock::Rich(nodes) = &read[0] else { panic!("{read:?}") };
    assert_eq!(
        nodes[0],
        Node::Paragraph(vec![Node::Strong(vec![text("bold")]), text("click <javascript:1>"), text(":tada:")])
    );
    assert!(matches!(&nodes[1], Node::List { start: Some(1), items } if items.len() == 1));
    assert_eq!(nodes[2], Node::Quote(vec![Node::Paragraph(vec![text("said")])]));
    assert!(matches!(&nodes[3], Node::CodeBlock { spans, .. } if spans[0].text == "<pre>"));
}

#[test]
fn nothing_of_a_message_is_left_out() {
    let unknown = |block: &SlackBlock, expected: &str| {
        let SlackBlock::Unknown { words, .. } = block else { panic!("{block:?}") };
        assert_eq!(words, expected);
    };
    let read = blocks(&json!([{ "type": "video" }, "no block", { "type": "header" }]));
    unknown(&read[0], "block of type video");
    unknown(&read[1], "block without a type");
    unknown(&read[2], "block of type header");
    let many = blocks(&Value::Array(vec![json!({ "type": "divider" }); 130]));
    assert_eq!(many.len(), 101);
    unknown(&many[100], "30 blocks more");
    let SlackMessage { text: words, blocks } =
        messages(&json!([{ "text": "*hi*", "attachments": [1] }])).unwrap().remove(0);
    assert_eq!(plain_text(&words), "hi");
    unknown(&blocks[0], "other fields");
    unknown(&messages(&json!(["x"])).unwrap()[0].blocks[0], "not a message");
    assert_eq!(messages(&json!({ "blocks": [] })), None);
}

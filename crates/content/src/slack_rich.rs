//! Converts the `rich_text` block of Block Kit to Markdown nodes: sections, lists, quotes, preformatted text.

use serde_json::Value;

use super::markdown::{Class, CodeSpan, ListItem, Node};
use super::mrkdwn;

/// Converts the elements of a `rich_text` block.
pub(super) fn blocks(elements: &[Value]) -> Vec<Node> {
    elements.iter().map(block).collect()
}

fn block(value: &Value) -> Node {
    match kind(value) {
        "rich_text_quote" => Node::Quote(vec![Node::Paragraph(inlines(value))]),
        "rich_text_preformatted" => {
            let text = children(value).iter().filter_map(|element| text_of(element, "text")).collect::<String>();
            Node::CodeBlock { lang: String::new(), spans: vec![CodeSpan { class: Class::Plain, text }] }
        }
        "rich_text_list" => {
            let ordered = text_of(value, "style").as_deref() == Some("ordered");
            let item = |element: &Value| ListItem { task: None, footnote: None, children: inlines(element) };
            Node::List { start: ordered.then_some(1), items: children(value).iter().map(item).collect() }
        }
        _ => Node::Paragraph(inlines(value)),
    }
}

fn inlines(value: &Value) -> Vec<Node> {
    children(value).iter().map(inline).collect()
}

fn inline(value: &Value) -> Node {
    let label = |key: &str| text_of(value, key).unwrap_or_default();
    let node = match kind(value) {
        "link" => {
            let url = label("url");
            let text = text_of(value, "text").filter(|text| !text.is_empty()).unwrap_or_else(|| url.clone());
            mrkdwn::link(&url, &text)
        }
        "user" => Node::Strong(vec![Node::Text(format!("@{}", label("user_id")))]),
        "usergroup" => Node::Strong(vec![Node::Text(format!("@{}", label("usergroup_id")))]),
        "channel" => Node::Strong(vec![Node::Text(format!("#{}", label("channel_id")))]),
        "broadcast" => Node::Strong(vec![Node::Text(format!("@{}", label("range")))]),
        "emoji" => Node::Text(format!(":{}:", label("name"))),
        "color" => Node::Code(label("value")),
        "date" => Node::Text(label("fallback")),
        _ => Node::Text(label("text")),
    };
    styled(node, value.get("style"))
}

fn styled(node: Node, style: Option<&Value>) -> Node {
    let is = |key: &str| style.and_then(|style| style.get(key)).and_then(Value::as_bool).unwrap_or_default();
    let mut node = match node {
        Node::Text(text) if is("code") => Node::Code(text),
        other => other,
    };
    if is("strike") {
        node = Node::Strike(vec![node]);
    }
    if is("italic") {
        node = Node::Emphasis(vec![node]);
    }
    if is("bold") {
        node = Node::Strong(vec![node]);
    }
    node
}

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn children(value: &Value) -> &[Value] {
    value.get("elements").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

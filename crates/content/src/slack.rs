//! Slack Block Kit messages as data for display: a closed set of blocks; unknown blocks stay JSON.
//!
//! Nothing is interactive: buttons have a label but no target, images are descriptions, and only safe links are kept.

use std::sync::Arc;

use serde_json::Value;

use super::format::counted;
use super::markdown::{Node, safe_href};
use super::mrkdwn;
use super::slack_rich;

/// Slack accepts 50 blocks per message; blocks beyond this limit are shown as JSON.
const MOST: usize = 100;

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct SlackMessage {
    /// The text for notifications; the whole message if it has no blocks.
    pub text: Vec<Node>,
    pub blocks: Vec<SlackBlock>,
}

/// One block.
#[derive(Clone, Debug, PartialEq)]
pub enum SlackBlock {
    Header(String),
    Section {
        body: Vec<Node>,
        fields: Vec<Vec<Node>>,
        accessory: Option<Control>,
    },
    Divider,
    Context(Vec<Node>),
    /// Not loaded.
    Image {
        title: Option<String>,
        image: Node,
    },
    Actions(Vec<Control>),
    Rich(Vec<Node>),
    Markdown(String),
    /// A block that this preview does not know, unchanged.
    Unknown {
        words: String,
        data: Arc<Value>,
    },
}

/// A button or menu in Slack; here it does nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// Its label, and its kind: `button`, `menu`.
    Inert {
        words: String,
        what: &'static str,
    },
    Image(Node),
}

/// Returns the messages of a report; `None` if it is not a list.
#[must_use]
pub fn messages(data: &Value) -> Option<Vec<SlackMessage>> {
    Some(data.as_array()?.iter().map(message).collect())
}

fn message(value: &Value) -> SlackMessage {
    let blocks = value.get("blocks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut read: Vec<SlackBlock> = blocks.iter().take(MOST).map(block).collect();
    if let Some(rest) = blocks.get(MOST..).filter(|rest| !rest.is_empty()) {
        let label = format!("{} more", counted(rest.len() as u64, "block"));
        read.push(SlackBlock::Unknown { words: label, data: Arc::new(Value::Array(rest.to_vec())) });
    }
    // Fields without a view of their own are shown as JSON, so that no part of a report is left out.
    let left: serde_json::Map<String, Value> = match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, field)| match key.as_str() {
                "text" => !field.is_string(),
                "blocks" => !field.is_array(),
                _ => true,
            })
            .map(|(key, field)| (key.clone(), field.clone()))
            .collect(),
        _ => serde_json::Map::new(),
    };
    if !value.is_object() {
        read.push(SlackBlock::Unknown { words: "not a message".to_owned(), data: Arc::new(value.clone()) });
    } else if !left.is_empty() {
        read.push(SlackBlock::Unknown { words: "other fields".to_owned(), data: Arc::new(Value::Object(left)) });
    }
    let text = value.get("text").and_then(Value::as_str).map(mrkdwn::blocks).unwrap_or_default();
    SlackMessage { text, blocks: read }
}

fn block(value: &Value) -> SlackBlock {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    let known = match kind {
        "header" => value.get("text").and_then(plain).map(SlackBlock::Header),
        "section" => section(value),
        "divider" => Some(SlackBlock::Divider),
        "context" => {
            list(value, "elements").map(|elements| SlackBlock::Context(elements.iter().flat_map(small).collect()))
        }
        "image" => {
            let title = value.get("title").and_then(plain);
            Some(SlackBlock::Image { title, image: image(value) })
        }
        "actions" => {
            list(value, "elements").map(|elements| SlackBlock::Actions(elements.iter().map(control).collect()))
        }
        "rich_text" => list(value, "elements").map(|elements| SlackBlock::Rich(slack_rich::blocks(elements))),
        "markdown" => value.get("text").and_then(Value::as_str).map(|text| SlackBlock::Markdown(text.to_owned())),
        _ => None,
    };
    known.unwrap_or_else(|| SlackBlock::Unknown {
        words: if kind.is_empty() { "block without a type".to_owned() } else { format!("block of type {kind}") },
        data: Arc::new(value.clone()),
    })
}

fn section(value: &Value) -> Option<SlackBlock> {
    let body = value.get("text").map(text).unwrap_or_default();
    let fields: Vec<Vec<Node>> = list(value, "fields").unwrap_or_default().iter().map(text).collect();
    let accessory = value.get("accessory").map(control);
    let empty = body.is_empty() && fields.is_empty() && accessory.is_none();
    (!empty).then_some(SlackBlock::Section { body, fields, accessory })
}

/// Returns the nodes of a text object: mrkdwn, or plain.
fn text(value: &Value) -> Vec<Node> {
    match (value.get("type").and_then(Value::as_str), plain(value)) {
        (Some("mrkdwn"), Some(text)) => mrkdwn::blocks(&text),
        (_, Some(text)) => vec![Node::Paragraph(vec![Node::Text(text)])],
        _ => Vec::new(),
    }
}

/// Returns the text of a text object, or of a bare string.
fn plain(value: &Value) -> Option<String> {
    value.get("text").unwrap_or(value).as_str().map(str::to_owned)
}

/// Returns the nodes of one element of a context block.
fn small(value: &Value) -> Vec<Node> {
    match value.get("type").and_then(Value::as_str) {
        Some("image") => vec![image(value)],
        _ => text(value),
    }
}

fn image(value: &Value) -> Node {
    let alt = value.get("alt_text").and_then(Value::as_str).unwrap_or_default().to_owned();
    let href = value.get("image_url").and_then(Value::as_str).and_then(safe_href);
    Node::Image { alt, href }
}

fn control(value: &Value) -> Control {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "image" {
        return Control::Image(image(value));
    }
    let text = value.get("text").or_else(|| value.get("placeholder")).and_then(plain);
    let what = match kind {
        "button" | "workflow_button" => "button",
        "overflow" => "menu",
        _ if kind.ends_with("select") => "menu",
        "datepicker" | "timepicker" | "datetimepicker" => "date or time",
        "checkboxes" | "radio_buttons" => "choice",
        _ => "control",
    };
    Control::Inert { words: text.unwrap_or_else(|| kind.replace('_', " ")), what }
}

fn list<'a>(value: &'a Value, key: &str) -> Option<&'a [Value]> {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice)
}

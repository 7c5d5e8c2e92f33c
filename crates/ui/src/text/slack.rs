//! An approximate preview of Slack messages: nothing in them acts, loads anything or leads anywhere unsafe.

use leptos::html;
use leptos::prelude::*;

use turnwise_content::json::JsonNode;
use turnwise_content::markdown::Node;
use turnwise_content::slack::{Control, SlackBlock, SlackMessage};

use crate::text::json;
use crate::text::markdown;
use crate::text::prose::Prose;
use crate::text::render::Renderer;

/// Draws the preview of messages. Markdown blocks are rendered if there is a renderer.
pub fn messages(messages: &[SlackMessage], renderer: Option<&Renderer>) -> impl IntoView + use<> {
    let each = messages.iter().map(|message| one(message, renderer)).collect::<Vec<_>>();
    html::div().class("slack").child(each)
}

fn one(message: &SlackMessage, renderer: Option<&Renderer>) -> impl IntoView + use<> {
    let blocks = message.blocks.iter().map(|item| block(item, renderer)).collect::<Vec<_>>();
    let text = (!message.text.is_empty()).then(|| {
        let caption = nodes("prose", message.text.clone());
        if blocks.is_empty() {
            caption.into_any()
        } else {
            let label = html::span().class("over").child("For notifications");
            html::div().class("notification").child((label, caption)).into_any()
        }
    });
    html::div().class("message").child((text, blocks))
}

fn block(block: &SlackBlock, renderer: Option<&Renderer>) -> AnyView {
    match block {
        SlackBlock::Header(label) => html::p().class("header").child(label.clone()).into_any(),
        SlackBlock::Section { body, fields, accessory } => html::div()
            .class("section")
            .child((
                html::div().class("words").child((
                    (!body.is_empty()).then(|| nodes("prose", body.clone())),
                    (!fields.is_empty()).then(|| {
                        let each = fields.iter().map(|field| nodes("prose", field.clone())).collect::<Vec<_>>();
                        html::div().class("fields").child(each)
                    }),
                )),
                accessory.as_ref().map(control),
            ))
            .into_any(),
        SlackBlock::Divider => html::hr().into_any(),
        SlackBlock::Context(label) => nodes("prose context", label.clone()).into_any(),
        SlackBlock::Image { title, image } => html::div()
            .class("picture")
            .child((
                title.clone().map(|title| html::p().class("over").child(title)),
                nodes("prose", vec![image.clone()]),
            ))
            .into_any(),
        SlackBlock::Actions(controls) => {
            html::div().class("actions").child(controls.iter().map(control).collect::<Vec<_>>()).into_any()
        }
        SlackBlock::Rich(label) => nodes("prose", label.clone()).into_any(),
        SlackBlock::Markdown(text) => {
            let prose = Prose::new("prose");
            prose.set(text);
            if let Some(renderer) = renderer {
                renderer.render(&prose);
            }
            prose.place().into_any()
        }
        SlackBlock::Unknown { words: label, data } => html::div()
            .class("unknown")
            .child((html::p().class("over").child(label.clone()), json::tree(JsonNode::root(data.clone()))))
            .into_any(),
    }
}

fn control(control: &Control) -> AnyView {
    match control {
        Control::Inert { words: text, what } => html::span()
            .class("control")
            .attr("title", format!("{what} (inactive in this preview)"))
            .child(text.clone())
            .into_any(),
        Control::Image(image) => nodes("prose", vec![image.clone()]).into_any(),
    }
}

/// Draws blocks and inlines in an element of this class.
fn nodes(class: &'static str, nodes: Vec<Node>) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    place.on_load(move |place| {
        for node in &nodes {
            let _ = place.append_child(&markdown::block(node));
        }
    });
    html::div().class(class).node_ref(place)
}

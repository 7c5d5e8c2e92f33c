//! A JSON value as a collapsible tree: closed levels are not built, and long ones come in portions.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_content::json::{JsonChild, JsonKind, JsonLine, JsonNode, PORTION, more};

use crate::components::icon;
use crate::components::reactive::reactive;

/// Draws the tree of a value.
pub fn tree(place: JsonNode) -> impl IntoView {
    html::div().class("json").child(node(None, place))
}

fn node(key: Option<String>, place: JsonNode) -> AnyView {
    let line = place.line();
    match line.kind {
        JsonKind::Object | JsonKind::Array if !place.is_empty() => level(key, &line, place).into_any(),
        _ => leaf(key, line).into_any(),
    }
}

fn leaf(key: Option<String>, line: JsonLine) -> impl IntoView {
    let said = (label(key), value(&line));
    match line.whole {
        None => html::div().class("leaf").child(said).into_any(),
        Some(whole) => html::details()
            .class("leaf long")
            .child((html::summary().child((icon::chevron(), said)), html::p().class("whole").child(whole)))
            .into_any(),
    }
}

fn level(key: Option<String>, line: &JsonLine, place: JsonNode) -> impl IntoView + use<> {
    let opens = place.starts_open();
    let opened = RwSignal::new(opens);
    let shown = RwSignal::new(PORTION);
    let all = place.len();
    let children = move || {
        let place = place.clone();
        opened.get().then(|| {
            html::div().class("level").child((
                For(ForProps::builder()
                    .each(move || place.children(0, shown.get()))
                    .key(|child| child.key.clone())
                    .children(|JsonChild { key, place }| node(Some(key), place))
                    .build()),
                reactive(move || {
                    more(shown.get(), all).map(|text| {
                        html::button()
                            .r#type("button")
                            .class("link")
                            .on(ev::click, move |_| shown.update(|shown| *shown += PORTION))
                            .child(text)
                    })
                }),
            ))
        })
    };
    html::details().attr("open", opens.then_some("")).child((
        // A level that was opened once stays built: closing only hides it.
        html::summary().on(ev::click, move |_| opened.set(true)).child((icon::chevron(), label(key), value(line))),
        reactive(children),
    ))
}

fn label(key: Option<String>) -> Option<impl IntoView> {
    key.map(|key| html::span().class("key").child(key))
}

fn value(line: &JsonLine) -> impl IntoView + use<> {
    let kind = line.kind.as_str();
    html::span().class("value").attr("data-kind", kind).attr("title", kind).child(line.text.clone())
}

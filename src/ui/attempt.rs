//! A failed attempt: its partial text, the calls it asked for, one line with its slugs, and what the model was told
//! about it.

use leptos::html;
use leptos::prelude::*;

use crate::view::attempt::Weight;
use crate::view::{FailedAttempt, PartialView};

use super::prose::Prose;
use super::state::App;
use super::{call, icon};

pub fn failed(app: App, attempt: &FailedAttempt) -> impl IntoView + use<> {
    let class = match attempt.weight {
        Weight::ByUser => "failed by-user",
        Weight::Passing => "failed",
        Weight::Last => "failed last",
    };
    let mut then = attempt.attempt.clone();
    if !attempt.then.is_empty() {
        then.push_str(", ");
        then.push_str(&attempt.then);
    }
    let message = Some(attempt.message.clone()).filter(|message| !message.is_empty());
    let what =
        html::span().class("what").child((call::slugs(&attempt.slugs), message.map(|text| html::span().child(text))));
    let then = html::span().class("then").child(then);
    let line = match attempt.notice.clone() {
        None => html::div().class(class).child(html::p().class("line").child((what, then))).into_any(),
        Some(notice) => {
            let cue = html::span().class("told").child((icon::chevron(), "Notice to the model"));
            let summary = html::summary().class("line").child((what, html::span().class("rest").child((then, cue))));
            html::details().class(class).child((summary, html::blockquote().child(notice))).into_any()
        }
    };
    (call::list(&attempt.calls), attempt.partial.as_ref().map(|view| partial(app, view)), line)
}

/// Draws text that was streamed until its request was aborted: it stays in its place, marked as incomplete.
fn partial(app: App, view: &PartialView) -> impl IntoView + use<> {
    let prose = Prose::new("prose");
    prose.set(&view.content);
    app.renderer.get_value().render(&prose);
    let reasoning = Some(view.reasoning.clone()).filter(|text| !text.is_empty()).map(|text| {
        html::details()
            .class("reasoning")
            .child((html::summary().child((icon::chevron(), "Reasoning")), html::div().class("text").child(text)))
    });
    html::div().class("partial").child((html::p().class("fact").child(view.remark), reasoning, prose.place()))
}

//! A failed attempt: its partial text, the calls it asked for, and one line that says why; how often it was tried exactly,
//! its codes and what the model was told about it are under Details.

use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::sentence_case;
use turnwise_content::markdown::{Node, bare, target};
use turnwise_view::attempt::Weight;
use turnwise_view::{FailedAttempt, PartialView, ReplyCut};

use crate::components::icon;
use crate::state::App;
use crate::text::pieces;
use crate::text::prose::Prose;
use crate::transcript::call;

pub fn failed(app: App, attempt: &FailedAttempt) -> impl IntoView + use<> {
    let class = match attempt.weight {
        Weight::ByUser => "failed by-user",
        Weight::Passing => "failed",
        Weight::Last => "failed last",
    };
    let exact = [attempt.attempt.as_str(), &attempt.then].into_iter().filter(|text| !text.is_empty());
    let exact = sentence_case(&exact.collect::<Vec<_>>().join(", "));
    // A sentence; the codes are under Details.
    let what = match attempt.message.is_empty() {
        false => attempt.message.clone(),
        true => attempt.slugs.first().map(|slug| slug.meaning.to_owned()).unwrap_or_default(),
    };
    let codes = attempt.slugs.iter().map(|slug| call::code_of(*slug));
    let told = attempt
        .notice
        .clone()
        .map(|notice| (html::p().class("over").child("Notice to the model"), html::blockquote().child(notice)));
    let details = html::details().child((
        html::summary().child((icon::chevron(), "Details")),
        html::div().class("codes").child(codes.collect_view()),
        (!exact.is_empty()).then(|| html::p().class("exact").child(exact)),
        told,
    ));
    let line = html::div().class(class).child((
        (!attempt.is_in_ending).then(|| html::span().class("what").child(linked(&what))),
        html::span().class("then").child(attempt.tried.clone()),
        details,
    ));
    let partial = attempt.partial.as_ref().map(|view| match view.cut {
        // The line below says so.
        ReplyCut::Stopped => arrived(app, view, "partial kept", false).into_any(),
        ReplyCut::Superseded | ReplyCut::Interrupted => arrived(app, view, "partial", true).into_any(),
    });
    (call::list(&attempt.calls), partial, line)
}

/// Draws what had arrived of a reply when the page was closed, until the run is resumed.
pub fn left(app: App, view: &PartialView) -> impl IntoView + use<> {
    let mark = html::div().class("failed by-user").child(html::span().class("what").child(view.remark));
    (arrived(app, view, "partial kept", false), mark)
}

/// Draws a message; the addresses in it are links.
pub fn linked(text: &str) -> impl IntoView + use<> {
    let part = |node: Node| match node {
        Node::Link { href, .. } => {
            let address = href.clone();
            let beside = target::beside(&address, &href);
            let beside =
                beside.map(|target| html::span().class("target").attr("dir", "ltr").child(format!(" ({target})")));
            Some((html::a().href(href).target("_blank").rel("noreferrer").child(address), beside).into_any())
        }
        Node::Text(text) => Some(text.into_any()),
        _ => None,
    };
    bare::split(text).into_iter().filter_map(part).collect::<Vec<AnyView>>()
}

/// Draws text that had been streamed when its request ended, in its place.
fn arrived(app: App, view: &PartialView, class: &'static str, remarks: bool) -> impl IntoView + use<> {
    let prose = Prose::new("prose");
    prose.set(&view.content);
    app.renderer.get_value().render(&prose);
    let reasoning = Some(view.reasoning.clone()).filter(|text| !text.is_empty()).map(|text| {
        html::details().class("reasoning").child((
            html::summary().child((icon::chevron(), "Reasoning")),
            html::div().class("text").child(pieces::text(&text)),
        ))
    });
    let remark = remarks.then(|| html::p().class("fact").child(view.remark));
    html::div().class(class).child((remark, reasoning, prose.place()))
}

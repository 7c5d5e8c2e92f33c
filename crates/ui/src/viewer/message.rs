//! One message as the model read it.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_content::format::{counted, thousands};
use turnwise_protocol::record::RecordQuery;
use turnwise_view::replay::{MessageMark, MessageView};

use crate::components::icon;
use crate::components::reactive::reactive;
use crate::run_facts::meter;
use crate::text::pieces;
use crate::viewer::state::StagedRun;

/// Draws a message of a request; `sign`: what happened to it, in a difference.
pub fn message(
    stage: &StagedRun,
    request: usize,
    view: &MessageView,
    sign: Option<&'static str>,
) -> impl IntoView + use<> {
    let whole = RwSignal::new(None::<Arc<MessageView>>);
    let mark = view.mark.map(|mark| html::span().class("mark").attr("data-level", level(mark)).child(mark.label()));
    let once = view.once.then(|| html::span().class("mark").child("this request only"));
    let failed = view.error.then(|| html::span().class("mark").attr("data-level", "urgent").child("failed"));
    let name = match view.role {
        turnwise_view::replay::MessageRole::Tool => Some(html::b().child(view.name.clone())),
        _ => None,
    };
    let signed = sign.map(|sign| html::span().class("sign").child(sign));
    html::li().class("message").attr("data-role", view.role.as_str()).attr("data-sign", sign).child((
        html::div().class("who").child((
            signed,
            html::span().class("role").child(view.role.as_str()),
            name,
            mark,
            once,
            failed,
        )),
        reasoning(view),
        text(stage, request, view, whole),
        calls(view),
        lines(view),
    ))
}

fn level(mark: MessageMark) -> &'static str {
    match mark {
        MessageMark::Notice | MessageMark::Cut => "moderate",
        MessageMark::SynthesisPrompt => "synthesis",
        MessageMark::Removed | MessageMark::LeftOut => "urgent",
    }
}

fn reasoning(view: &MessageView) -> impl IntoView + use<> {
    (!view.reasoning.is_empty()).then(|| {
        html::details().class("reasoning").child((
            html::summary().child((icon::chevron(), "Reasoning")),
            html::div().class("text").child(pieces::text(&view.reasoning)),
        ))
    })
}

fn text(
    stage: &StagedRun,
    request: usize,
    view: &MessageView,
    whole: RwSignal<Option<Arc<MessageView>>>,
) -> impl IntoView + use<> {
    let short = view.text.clone();
    let shown = {
        let short = short.clone();
        move || whole.with(|whole| pieces::text(whole.as_ref().map_or(short.as_str(), |whole| whole.text.as_str())))
    };
    let (more, at, stage) = (view.more, view.at, stage.clone());
    let button = move || {
        (more > 0 && whole.with(Option::is_none)).then(|| {
            let stage = stage.clone();
            let ask = move |_| {
                let stage = stage.clone();
                spawn_local(async move {
                    let asked = RecordQuery::Message { index: request, at };
                    if let Ok(view) = stage.host.ask::<MessageView>(asked).await {
                        whole.set(Some(Arc::new(view)));
                    }
                });
            };
            html::button()
                .r#type("button")
                .class("link more")
                .on(ev::click, ask)
                .child(format!("Show {} more characters", thousands(more as u64)))
        })
    };
    let attached = |count: usize, what| (count > 0).then(|| counted(count as u64, what));
    let facts: Vec<String> =
        [attached(view.images, "picture"), attached(view.pdfs, "PDF")].into_iter().flatten().collect();
    let images = (!facts.is_empty()).then(|| html::p().class("fact").child(facts.join(", ")));
    (images, (!short.is_empty()).then(|| html::p().class("text").child(reactive(shown))), reactive(button))
}

fn calls(view: &MessageView) -> impl IntoView + use<> {
    let each = view
        .calls
        .iter()
        .map(|(name, args)| html::li().child((html::b().child(name.clone()), html::code().child(args.clone()))));
    let calls = (!view.calls.is_empty()).then(|| html::ul().class("asks").child(each.collect_view()));
    let opaque = view
        .opaque
        .then(|| html::p().class("fact").child("Includes provider-specific parts, which are sent back unchanged."));
    (calls, opaque)
}

fn lines(view: &MessageView) -> impl IntoView + use<> {
    let context =
        view.context.clone().map(|line| html::span().class("counter").attr("data-level", "moderate").child(line));
    let counter = view.counter.clone().map(|(level, line)| {
        html::span()
            .class("counter")
            .attr("data-level", meter::level(level))
            .attr("title", "The turn counter")
            .child(line)
    });
    (context, counter)
}

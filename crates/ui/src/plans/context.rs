//! The context of a step: one card per result, and the same as the model read it.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::plan::{ArtifactView, ContextView, TraceView};

use crate::components::icon;
use crate::components::reactive::reactive;
use crate::state::App;
use crate::text::json;
use crate::text::prose::Prose;

pub fn context(app: App, view: &ContextView) -> impl IntoView + use<> {
    let cards = view.artifacts.iter().map(|artifact| card(app, artifact)).collect_view();
    let raw = view.json.clone().map(|place| {
        html::details().class("call as-read").child((
            html::summary()
                .child((icon::chevron(), html::span().class("line").child("As the model reads it, after the action"))),
            html::div().class("detail").child(json::tree(place)),
        ))
    });
    let line = |trace: &TraceView| html::li().child((html::code().child(trace.name.clone()), " ", trace.words.clone()));
    let traces = (!view.traces.is_empty()).then(|| {
        html::details().class("call traces").child((
            html::summary().child((icon::chevron(), html::span().class("line").child("How this context was built"))),
            html::ol().class("detail").child(view.traces.iter().map(line).collect_view()),
        ))
    });
    (
        html::p().class("fact").child(view.words.clone()),
        view.missing.clone().map(|text| html::p().class("missing").child(text)),
        html::div().class("calls").child((cards, raw, traces)),
    )
}

fn card(app: App, artifact: &ArtifactView) -> impl IntoView + use<> {
    let result = artifact.result.clone();
    // Closed cards are not rendered.
    let opened = RwSignal::new(false);
    let body = move || {
        opened.get().then(|| {
            let prose = Prose::new("prose");
            prose.set(&result);
            app.renderer.get_value().render(&prose);
            html::div().class("detail told").child(prose.place())
        })
    };
    html::details().class("call").attr("data-order", artifact.order.to_string()).child((
        html::summary().on(ev::click, move |_| opened.set(true)).child((
            icon::chevron(),
            html::span().class("line").child((
                html::span().class("name").child(artifact.title.clone()),
                html::span().class("arg").child(artifact.action.clone()),
                artifact.tools.clone().map(|tools| html::span().class("t").child(tools)),
                html::span().class("t").child(artifact.size.clone()),
            )),
        )),
        reactive(body),
    ))
}

//! Tool calls: a card each, one line closed; progress reports as a line; a batch with its calls below it.

use leptos::html;
use leptos::prelude::*;

use crate::view::call::{CallState, CallView, Note, Progress};

use super::{attempt, icon};

/// The calls of a turn or of an attempt, in order.
pub fn list(calls: &[CallView]) -> Option<impl IntoView + use<>> {
    let each = calls.iter().map(one).collect::<Vec<_>>();
    (!each.is_empty()).then(|| html::div().class("calls").child(each))
}

fn one(call: &CallView) -> AnyView {
    match &call.progress {
        Some(report) => progress(report).into_any(),
        None => card(call).into_any(),
    }
}

/// What the model says it is doing.
pub fn progress(report: &Progress) -> impl IntoView + use<> {
    html::p()
        .class("progress")
        .child((html::b().child(report.status.clone()), report.detail.clone().map(|detail| html::span().child(detail))))
}

fn card(call: &CallView) -> impl IntoView + use<> {
    let state = match call.state {
        CallState::Open => "open",
        CallState::Done => "done",
        CallState::Failed => "failed",
        CallState::Ended => "ended",
    };
    let why = call.error.clone().filter(|_| call.slug.is_some());
    let card = html::details().class("call").attr("data-state", state).child((
        html::summary().child((
            icon::chevron(),
            html::span().class("line").child((
                html::span().class("name").child(call.name.clone()),
                html::span().class("arg").child(call.summary.clone()),
                note(call),
                call.slug.map(attempt::slug),
                call.ended_run.map(|words| html::span().class("ended-run").child(words)),
                call.duration.clone().map(|duration| html::span().class("t").child(duration)),
                (call.state == CallState::Open).then(|| html::span().class("pulse").attr("title", "running")),
            )),
            why.map(|why| html::span().class("why").child(why)),
        )),
        html::div().class("detail").child((
            html::p().class("over").child("Arguments"),
            html::pre().class("args").attr("tabindex", "0").child(call.args.clone()),
            html::p().class("over").child("What the model read"),
            html::pre().attr("tabindex", "0").child(call.result.clone().unwrap_or_else(|| "no answer yet".to_owned())),
        )),
    ));
    let inner = list(&call.inner).map(|calls| html::div().class("inside").child(calls).into_any());
    (card, inner)
}

fn note(call: &CallView) -> Option<AnyView> {
    if call.ended_run.is_some() {
        return None;
    }
    match call.note.clone()? {
        Note::Value(value) => Some(html::span().class("value").child(value).into_any()),
        Note::Size(size) => Some(html::span().class("t").child(size).into_any()),
    }
}

//! Tool calls: one card each, collapsed to a line; progress reports as a line; a batch with its calls below it.

use leptos::html;
use leptos::prelude::*;

use crate::view::SlugView;
use crate::view::call::{CallState, CallView, Note, Progress};

use super::icon;
use super::slots::CallSlot;

/// Draws the calls of a turn or of an attempt, in order.
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

/// Draws what the model says it is doing.
pub fn progress(report: &Progress) -> impl IntoView + use<> {
    html::p()
        .class("progress")
        .child((html::b().child(report.status.clone()), report.detail.clone().map(|detail| html::span().child(detail))))
}

fn card(call: &CallView) -> impl IntoView + use<> {
    let card = html::details()
        .class("call")
        .attr("data-state", state(call))
        .child((html::summary().child(line(call)), detail(call.args.clone(), call.result.clone())));
    (card, inside(&call.inner))
}

/// Draws a call that may still change.
pub fn live(slot: &CallSlot) -> impl IntoView + use<> {
    let slot = slot.clone();
    let report = {
        let view = slot.view.clone();
        Memo::new(move |_| view.with(|view| view.progress.clone()))
    };
    move || match report.get() {
        Some(report) => progress(&report).into_any(),
        None => live_card(&slot).into_any(),
    }
}

/// Draws a card that stays open or closed while its call runs.
fn live_card(slot: &CallSlot) -> impl IntoView + use<> {
    let state = {
        let view = slot.view.clone();
        move || view.with(state)
    };
    let line = {
        let view = slot.view.clone();
        move || view.with(line)
    };
    let texts = {
        let view = slot.view.clone();
        Memo::new(move |_| view.with(|view| (view.args.clone(), view.result.clone())))
    };
    let inside = {
        let view = slot.view.clone();
        let inner = Memo::new(move |_| view.with(|view| view.inner.clone()));
        move || inner.with(|inner| inside(inner))
    };
    let card =
        html::details().class("call").attr("data-state", state).child((html::summary().child(line), move || {
            let (args, result) = texts.get();
            detail(args, result)
        }));
    (card, inside)
}

fn state(call: &CallView) -> &'static str {
    match call.state {
        CallState::Open => "open",
        CallState::Done => "done",
        CallState::Failed => "failed",
        CallState::Ended => "ended",
    }
}

fn line(call: &CallView) -> impl IntoView + use<> {
    let why = call.error.clone().filter(|_| call.slug.is_some());
    (
        icon::chevron(),
        html::span().class("line").child((
            html::span().class("name").child(call.name.clone()),
            html::span().class("arg").child(call.summary.clone()),
            note(call),
            call.slug.map(slug),
            call.ended_run.map(|text| html::span().class("ended-run").child(text)),
            call.duration.clone().map(|duration| html::span().class("t").child(duration)),
            (call.state == CallState::Open).then(|| html::span().class("pulse").attr("title", "running")),
        )),
        why.map(|why| html::span().class("why").child(why)),
    )
}

fn detail(args: String, result: Option<String>) -> impl IntoView {
    html::div().class("detail").child((
        html::p().class("over").child("Arguments"),
        html::pre().class("args").attr("tabindex", "0").child(args),
        html::p().class("over").child("What the model read"),
        html::pre().attr("tabindex", "0").child(result.unwrap_or_else(|| "no answer yet".to_owned())),
    ))
}

/// Draws the calls of a batch.
fn inside(inner: &[CallView]) -> Option<AnyView> {
    list(inner).map(|calls| html::div().class("inside").child(calls).into_any())
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

/// Draws slugs verbatim, each with its meaning.
pub fn slugs(slugs: &[SlugView]) -> impl IntoView + use<> {
    slugs.iter().map(|view| slug(*view)).collect_view()
}

pub fn slug(view: SlugView) -> impl IntoView {
    html::code().class("slug").attr("title", view.meaning).child(view.name)
}

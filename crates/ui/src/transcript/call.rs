//! Tool calls: one card each, collapsed to a line; progress reports as a line; a batch or a program with its calls below it, and
//! with the table or the chart that a result holds.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::{counted, one_line};
use turnwise_engine::own_tools;
use turnwise_protocol::DocumentTask;
use turnwise_view::SlugView;
use turnwise_view::action;
use turnwise_view::branch::FormPart;
use turnwise_view::call::{
    CHANGED, CallNote, CallState, CallView, FEW_CALLS, FigurePlace, GroupView, ProgressView, fenced,
};

use crate::branch;
use crate::client::slots::{CallSlot, RunPage};
use crate::components::icon;
use crate::components::reactive::{attribute, reactive};
use crate::state::App;
use crate::text::figure::figure;
use crate::text::pieces;
use crate::text::prose::Prose;
use crate::transcript::original::Original;

/// Draws the calls of a turn or of an attempt, in order.
pub fn list(calls: &[CallView]) -> Option<impl IntoView + use<>> {
    let each = calls.iter().map(one).collect::<Vec<_>>();
    (!each.is_empty()).then(|| html::div().class("calls").child(each))
}

/// Returns calls in the groups that they are drawn in.
pub fn groups(slots: &[CallSlot]) -> Vec<Vec<CallSlot>> {
    let names: Vec<String> = slots.iter().map(|slot| slot.view.with_untracked(|view| view.name.clone())).collect();
    let mut rest = slots.iter().cloned();
    let lengths = action::groups(names.iter().map(String::as_str));
    lengths.into_iter().map(|length| rest.by_ref().take(length).collect()).collect()
}

/// Draws like calls as one line, and each of them once it is opened.
pub fn group(slots: &[CallSlot], each: impl Fn(&CallSlot) -> AnyView + Send + 'static) -> AnyView {
    let (slots, shown) = (slots.to_vec(), slots.to_vec());
    let view = Memo::new(move |_| {
        let calls: Vec<CallView> = shown.iter().map(|slot| slot.view.get()).collect();
        GroupView::new(&calls)
    });
    let opened = RwSignal::new(false);
    let line = move || {
        let GroupView { words, objects, progress, failed } = view.get();
        let is_open = progress.is_some();
        (
            html::span().class("name said").child(words),
            html::span().class("arg").child(objects),
            progress.map(|text| html::span().class("t").child(text)),
            failed.map(|text| html::span().class("why-short").child(text)),
            is_open.then(|| html::span().class("pulse").attr("title", "running")),
        )
    };
    html::details()
        .class("call alike")
        .child((
            html::summary()
                .on(ev::click, move |_| opened.set(true))
                .child((icon::chevron(), html::span().class("line").child(reactive(line)))),
            html::div()
                .class("inside")
                .child(reactive(move || opened.get().then(|| slots.iter().map(&each).collect_view()))),
        ))
        .into_any()
}

fn one(call: &CallView) -> AnyView {
    match &call.progress {
        Some(report) => progress(report).into_any(),
        None => card(call).into_any(),
    }
}

/// Draws what the model says it is doing.
pub fn progress(report: &ProgressView) -> impl IntoView + use<> {
    html::p()
        .class("progress")
        .child((html::b().child(report.status.clone()), report.detail.clone().map(|detail| html::span().child(detail))))
}

fn card(call: &CallView) -> impl IntoView + use<> {
    let card = html::details()
        .class("call")
        .attr("data-state", state(call))
        .attr("data-tool", call.name.clone())
        .child((html::summary().child(line(call)), detail(call.into())));
    (card, inside(&call.inner))
}

/// Draws a call that may still change. `page`: the run that made it, and the index of its turn, unless a sub-agent made it.
pub fn live(app: App, slot: &CallSlot, page: Option<(&RunPage, usize)>) -> impl IntoView + use<> {
    let (slot, page) = (slot.clone(), page.map(|(page, turn)| (page.clone(), turn)));
    let report = {
        let view = slot.view.clone();
        Memo::new(move |_| view.with(|view| view.progress.clone()))
    };
    reactive(move || match report.get() {
        Some(report) => progress(&report).into_any(),
        None => live_card(app, &slot, page.clone()).into_any(),
    })
}

/// Draws a card that stays open or closed while its call runs.
fn live_card(app: App, slot: &CallSlot, page: Option<(RunPage, usize)>) -> impl IntoView + use<> {
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
        Memo::new(move |_| view.with(|view| CallTexts::from(view)))
    };
    let inside = {
        let view = slot.view.clone();
        let inner = Memo::new(move |_| view.with(|view| view.inner.clone()));
        // What was opened stays open while more calls come.
        let opened = RwSignal::new(false);
        move || {
            inner.with(
                |inner| if inner.len() > FEW_CALLS { many(inner, opened).into_any() } else { inside(inner).into_any() },
            )
        }
    };
    let (code, is_script) = slot.view.with_untracked(|view| (view.code.clone(), view.name != own_tools::PROGRAM));
    let opened = RwSignal::new(false);
    let shown = {
        let view = slot.view.clone();
        Memo::new(move |_| view.with(|view| view.figure.map(|place| (place, view.result.clone()))))
    };
    let figures = move |place: FigurePlace| {
        let some = Memo::new(move |_| shown.with(|shown| shown.as_ref().is_some_and(|(own, _)| *own == place)));
        let text = move || shown.get().and_then(|(_, result)| result);
        // What is inside a card is read when the card is opened.
        let wanted = move || some.get() && (place == FigurePlace::Below || opened.get());
        move || wanted().then(|| figure(app, DocumentTask::Figure, text))
    };
    let tool = slot.view.with_untracked(|view| view.name.clone());
    let card = html::details().class("call").attr("data-state", attribute(state)).attr("data-tool", tool).child((
        html::summary().on(ev::click, move |_| opened.set(true)).child(line),
        figures(FigurePlace::Inside),
        reactive(move || {
            let texts = texts.get();
            match &code {
                // Highlighted when it is seen.
                Some(code) if opened.get() => program(app, code, is_script, texts).into_any(),
                Some(_) => ().into_any(),
                None => detail(texts).into_any(),
            }
        }),
        page.map(|(page, turn)| acts(app, &page, turn, slot)),
    ));
    (card, inside, figures(FigurePlace::Below))
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
            html::span()
                .class(if call.verb == call.name { "name" } else { "name said" })
                .child(one_line(&call.verb, 200)),
            html::span().class("arg").child(call.summary.clone()),
            note(call),
            // If there is an error text, it is below the line; the code is in the details.
            call.slug.filter(|_| why.is_none()).map(|slug| html::span().class("why-short").child(slug.meaning)),
            call.ended_run.map(|text| html::span().class("ended-run").child(text)),
            call.changed_from.as_ref().map(|_| changed(CHANGED)),
            call.duration.clone().map(|duration| html::span().class("t").child(duration)),
            (call.state == CallState::Open).then(|| html::span().class("pulse").attr("title", "running")),
        )),
        why.map(|why| html::span().class("why").child(why)),
    )
}

/// Draws the mark of what a person changed, and says what it was.
fn changed(what: &'static str) -> impl IntoView {
    html::span().class("changed").attr("role", "img").attr("aria-label", what).attr("title", what).child("changed")
}

/// Draws what can be done with a result, below it.
fn acts(app: App, page: &RunPage, turn: usize, slot: &CallSlot) -> impl IntoView + use<> {
    let (view, of) = (slot.view.clone(), page.clone());
    let original = move || {
        let original = view.with(|view| view.changed_from.clone()).and_then(|run_id| Original::at(&of, run_id));
        original.map(|original| original.compare(app, "btn bare small", || "Compare with the original".into_any()))
    };
    html::div()
        .class("acts")
        .child((branch::change(app, page, turn, FormPart::Result(slot.id.clone())), reactive(original)))
}

/// The texts inside a card.
#[derive(Clone, PartialEq)]
struct CallTexts {
    tool: String,
    args: String,
    result: Option<String>,
    failure: Option<SlugView>,
    is_changed: bool,
}

impl From<&CallView> for CallTexts {
    fn from(view: &CallView) -> Self {
        let is_changed = view.changed_from.is_some();
        CallTexts {
            tool: view.name.clone(),
            args: view.args.clone(),
            result: view.result.clone(),
            failure: view.slug,
            is_changed,
        }
    }
}

/// Draws what the model read.
fn result(texts: CallTexts) -> impl IntoView {
    let CallTexts { result, failure, is_changed, .. } = texts;
    (
        html::p().class("over").child(("What the model read", is_changed.then_some(", changed by hand"))),
        html::pre().attr("tabindex", "0").child(pieces::text(result.as_deref().unwrap_or("no answer yet"))),
        failure.map(code_of),
    )
}

/// Draws a program, as code, and what it printed and returned. The script of a skill has arguments.
fn program(app: App, code: &str, is_script: bool, texts: CallTexts) -> impl IntoView + use<> {
    let prose = Prose::new("prose");
    prose.set(&fenced(code));
    app.renderer.get_value().render(&prose);
    let title = if is_script { "Script" } else { "Program" };
    let title = html::p().class("over").child((title, html::code().child(one_line(&texts.tool, 200))));
    let given = is_script.then(|| arguments(&texts));
    html::div().class("detail program").child((given, title, prose.place(), result(texts)))
}

fn detail(texts: CallTexts) -> impl IntoView {
    html::div().class("detail").child((arguments(&texts), result(texts)))
}

fn arguments(texts: &CallTexts) -> impl IntoView + use<> {
    (
        html::p().class("over").child(("Arguments", html::code().child(one_line(&texts.tool, 200)))),
        html::pre().class("args").attr("tabindex", "0").child(pieces::text(&texts.args)),
    )
}

/// Draws the calls of a batch or a program that has many, collapsed to a line.
fn many(inner: &[CallView], opened: RwSignal<bool>) -> impl IntoView + use<> {
    let inner = inner.to_vec();
    let failed = inner.iter().filter(|call| call.state == CallState::Failed).count() as u64;
    let failed = (failed > 0).then(|| html::span().class("slug").child(format!("{failed} failed")));
    html::details().class("inner-calls").prop("open", opened.get_untracked()).child((
        html::summary().on(ev::click, move |_| opened.update(|opened| *opened = !*opened)).child((
            icon::chevron(),
            counted(inner.len() as u64, "call"),
            failed,
        )),
        reactive(move || opened.get().then(|| inside(&inner))),
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
        CallNote::Value(value) => Some(html::span().class("value").child(value).into_any()),
        CallNote::Size(size) => Some(html::span().class("t").child(size).into_any()),
    }
}

/// Draws the code of a failure with its meaning, among details.
pub fn code_of(view: SlugView) -> impl IntoView {
    html::p().class("code-of").child((slug(view), html::span().child(view.meaning)))
}

/// Draws slugs verbatim, each with its meaning.
pub fn slugs(slugs: &[SlugView]) -> impl IntoView + use<> {
    slugs.iter().map(|view| slug(*view)).collect_view()
}

pub fn slug(view: SlugView) -> impl IntoView {
    html::code().class("slug").attr("title", view.meaning).child(view.name)
}

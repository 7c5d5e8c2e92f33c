//! The document: the runs of the open thread one below the other, followed to its end while it grows.

pub mod attempt;
pub mod call;
pub mod chunks;
pub mod follow;
pub mod lane;
pub mod notes;
pub mod original;
pub mod page;
pub mod store;
pub mod turn;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event};

use crate::components::reactive::reactive;
use crate::parts::{later, parts};
use crate::plans;
use crate::plans::state::PlanPage;
use crate::state::{App, Dialog, Thread};
use crate::text::markdown;
use crate::viewer::state::View;

pub fn transcript(app: App) -> impl IntoView {
    let current = Memo::new(move |_| app.current.get());
    let shown = Memo::new(move |_| app.view.get() == View::Transcript);
    reactive(move || {
        current.get()?;
        if !shown.get() {
            return None;
        }
        let thread = app.threads.with_untracked(|threads| {
            threads.iter().find(|thread| Some(thread.id) == current.get_untracked()).cloned()
        })?;
        Some(match thread.plan() {
            Some(plan) => later(plan_document(app, plan)),
            None => later(runs(app, thread)),
        })
    })
}

parts! {
    runs: runs(app: App, thread: Thread) => of_runs(app, &thread);
    plans: plan_document(app: App, plan: PlanPage) => of_plan(app, &plan);
}

/// Loads what draws runs, before there is one.
pub async fn prepare() {
    #[cfg(feature = "split")]
    let _ = __wasm_split_preload_runs().await; // if it did not arrive, the first run asks again
}

fn of_plan(app: App, plan: &PlanPage) -> impl IntoView + use<> {
    let column = html::div().class("col of-plan").child(plans::page(app, plan));
    html::div().class("scroll").attr("tabindex", "-1").on(ev::click, move |event| clicked(app, &event)).child(column)
}

fn of_runs(app: App, thread: &Thread) -> impl IntoView + use<> {
    let pages = thread.pages.clone();
    let (scroller_ref, column_ref) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    Effect::new(move || {
        if let (Some(scroller), Some(column)) = (scroller_ref.get(), column_ref.get()) {
            follow::watch(app, &scroller, &column);
        }
    });
    let column = html::div().class("col").node_ref(column_ref).child(For(ForProps::builder()
        .each(move || pages.get())
        .key(|page| page.place)
        .children(move |of| page::page(app, &of))
        .build()));
    html::div()
        .class("scroll")
        .id(follow::TRANSCRIPT)
        .attr("tabindex", "-1")
        .node_ref(scroller_ref)
        .on(ev::scroll, move |_| follow::scrolled(app))
        .on(ev::click, move |event| clicked(app, &event))
        .child(column)
}

/// Handles clicks: a model's link to a file of the workspace shows the file; a button of a code block copies its code;
/// opening a part of a turn stops following the end.
pub fn clicked(app: App, event: &Event) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    if target.as_ref().is_some_and(|target| target.closest("summary").ok().flatten().is_some()) {
        follow::set_at_end(app, false);
    }
    if let Some(code) = target.as_ref().and_then(markdown::copied_code) {
        return app.copy(&code);
    }
    if target.as_ref().is_some_and(markdown::follow_note) {
        return follow::set_at_end(app, false);
    }
    let link = target.and_then(|target| target.closest("[data-file]").ok().flatten());
    let place = link.as_ref().and_then(|link| link.get_attribute("data-place")).unwrap_or_default();
    if let Some(path) = link.and_then(|link| link.get_attribute("data-file")) {
        let path = path.split('#').next().unwrap_or_default().trim_start_matches("./").to_owned();
        app.drawer().place.set(place);
        app.drawer().file.set(Some(path));
        app.dialog.set(Some(Dialog::Files));
    }
}

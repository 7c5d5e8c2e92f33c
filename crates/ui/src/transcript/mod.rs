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
use crate::plans;
use crate::state::{App, Dialog};
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
        if let Some(plan) = thread.plan() {
            let column = html::div().class("col of-plan").child(plans::page(app, &plan));
            return Some(
                html::div()
                    .class("scroll")
                    .attr("tabindex", "-1")
                    .on(ev::click, move |event| clicked(app, &event))
                    .child(column)
                    .into_any(),
            );
        }
        let pages = thread.pages;
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
        Some(
            html::div()
                .class("scroll")
                .id(follow::TRANSCRIPT)
                .attr("tabindex", "-1")
                .node_ref(scroller_ref)
                .on(ev::scroll, move |_| follow::scrolled(app))
                .on(ev::click, move |event| clicked(app, &event))
                .child(column)
                .into_any(),
        )
    })
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

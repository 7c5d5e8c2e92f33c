//! The bar above the run: its view, and the run it is compared with.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::content::format::sentence_case;
use crate::view::Phase;

use super::super::focus;
use super::super::icon::{Icon, icon};
use super::super::state::{App, Thread};
use super::state::{Compared, View};

/// Draws the bar of an ended run; a run under way has none, because it is being watched.
pub fn bar(app: App) -> impl IntoView {
    let shown = Memo::new(move |_| app.thread().is_some_and(|thread| thread.can_be_viewed()));
    move || shown.get().then(|| switch(app))
}

impl Thread {
    /// Returns whether this is a run whose last page has ended.
    pub(super) fn can_be_viewed(&self) -> bool {
        let last = self.pages.with(|pages| pages.last().cloned());
        self.plan().is_none() && last.is_some_and(|page| page.panel.with(|panel| panel.phase == Phase::Ended))
    }
}

impl App {
    pub fn look(&self, view: View) {
        if view == View::Replay {
            self.set_stage();
        }
        self.view.set(view);
        focus::arrive();
    }
}

fn switch(app: App) -> impl IntoView {
    let tab = |text: &'static str, target: View| {
        html::button()
            .r#type("button")
            .class("tab")
            .attr("aria-pressed", move || if app.view.get() == target { "true" } else { "false" })
            .on(ev::click, move |_| app.look(target))
            .child(text)
    };
    let comparing = move || matches!(app.view.get(), View::Compare(_));
    html::div().class("view-bar").child((
        html::div()
            .class("tabs")
            .attr("role", "group")
            .attr("aria-label", "View")
            .child((tab("Transcript", View::Transcript), tab("Replay", View::Replay))),
        html::span().class("grow"),
        others(app),
        move || {
            comparing().then(|| {
                html::button()
                    .r#type("button")
                    .class("btn bare small")
                    .attr("aria-label", "End the comparison")
                    .on(ev::click, move |_| app.look(View::Transcript))
                    .child(icon(Icon::Close))
            })
        },
    ))
}

/// Draws the choice of another run to compare with.
fn others(app: App) -> impl IntoView {
    let others = Memo::new(move |_| {
        let current = app.current.get();
        app.threads.with(|threads| {
            let others = threads.iter().rev().filter(|thread| Some(thread.id) != current && thread.plan().is_none());
            others
                .map(|thread| {
                    (thread.id, thread.rail.with(|rail| format!("{}: {}", sentence_case(&rail.words), rail.title)))
                })
                .collect::<Vec<_>>()
        })
    });
    let chosen = move || match app.view.get() {
        View::Compare(Compared { other, .. }) => other.to_string(),
        View::Transcript | View::Replay => String::new(),
    };
    let changed = move |event: web_sys::Event| {
        let picked = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlSelectElement>().ok());
        match picked.and_then(|picked| picked.value().parse().ok()) {
            Some(other) => app.compare_last(other),
            None => app.look(View::Transcript),
        }
    };
    move || {
        let others = others.get();
        (!others.is_empty()).then(|| {
            let options = others.into_iter().map(|(id, text)| {
                let id = id.to_string();
                let selected = {
                    let id = id.clone();
                    move || chosen() == id
                };
                html::option().attr("value", id).prop("selected", selected).child(text)
            });
            html::select()
                .class("compare-with")
                .attr("aria-label", "Compare with another run")
                .on(ev::change, changed)
                .child((
                    html::option()
                        .attr("value", "")
                        .prop("selected", move || chosen().is_empty())
                        .child("Compare with…"),
                    options.collect_view(),
                ))
        })
    }
}

//! The bar above the run: its view, and the run it is compared with.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::browser::focus;
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::{attribute, reactive};
use crate::state::{App, Thread};
use crate::viewer::state::View;

/// Draws the bar of an ended run; a run under way has none, because it is being watched.
pub fn bar(app: App) -> impl IntoView {
    let shown = Memo::new(move |_| app.thread().is_some_and(|thread| thread.can_be_viewed()));
    reactive(move || shown.get().then(|| switch(app)))
}

impl Thread {
    /// Returns whether this is a run whose last page has ended.
    pub fn can_be_viewed(&self) -> bool {
        let last = self.pages.with(|pages| pages.last().cloned());
        self.plan().is_none() && last.is_some_and(|page| page.is_over())
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
            .attr("aria-pressed", attribute(move || if app.view.get() == target { "true" } else { "false" }))
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
        reactive(move || {
            comparing().then(|| {
                button(Look::BareSmall)
                    .attr("aria-label", "End the comparison")
                    .on(ev::click, move |_| app.look(View::Transcript))
                    .child(icon(Icon::Close))
            })
        }),
    ))
}

/// Draws the way to another run to compare with: the palette, in which all runs can be searched.
fn others(app: App) -> impl IntoView {
    let some = Memo::new(move |_| !app.choices().is_empty());
    reactive(move || {
        some.get().then(|| {
            html::button()
                .r#type("button")
                .class("btn quiet small compare-with")
                .attr("aria-haspopup", "dialog")
                .on(ev::click, move |_| app.find_to_compare())
                .child("Compare with\u{2026}")
        })
    })
}

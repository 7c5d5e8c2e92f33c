//! The bar above the run: its view, and the run it is compared with.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_view::version::VersionChoice;

use crate::browser::focus;
use crate::components::icon::{Icon, icon};
use crate::components::reactive::{attribute, flag, reactive};
use crate::state::{App, Thread};
use crate::viewer::state::{Compared, View};

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
                html::button()
                    .r#type("button")
                    .class("btn bare small")
                    .attr("aria-label", "End the comparison")
                    .on(ev::click, move |_| app.look(View::Transcript))
                    .child(icon(Icon::Close))
            })
        }),
    ))
}

/// Draws the choice of another run to compare with; one that is stored is opened when it is chosen.
fn others(app: App) -> impl IntoView {
    let choices = Memo::new(move |_| app.choices());
    let chosen = Memo::new(move |_| match app.view.get() {
        View::Compare(Compared { other, place, .. }) => {
            app.thread_with(other).and_then(|thread| thread.page_at(place)).and_then(|page| page.run_id())
        }
        View::Transcript | View::Replay => None,
    });
    let select: NodeRef<html::Select> = NodeRef::new();
    let changed = move |event: web_sys::Event| {
        let wanted = event_target_value(&event);
        let own = app.thread_now().and_then(|thread| thread.pages.with_untracked(Vec::len).checked_sub(1));
        let Some(own) = own.filter(|_| !wanted.is_empty()) else { return app.look(View::Transcript) };
        spawn_local(async move {
            if !app.compare_with(&wanted, own).await
                && let Some(select) = select.get_untracked()
            {
                select.set_value(&chosen.get_untracked().unwrap_or_default());
            }
        });
    };
    let option = move |(id, text): (String, String)| {
        let shown = id.clone();
        let selected = move || chosen.with(|chosen| chosen.as_ref() == Some(&shown));
        html::option().attr("value", id).prop("selected", selected).child(text)
    };
    reactive(move || {
        let choices = choices.get();
        let group = move |(name, runs): VersionChoice| {
            html::optgroup().attr("label", name).child(runs.into_iter().map(option).collect_view())
        };
        (!choices.is_empty()).then(|| {
            html::select()
                .node_ref(select)
                .class("compare-with")
                .attr("aria-label", "Compare with another run")
                .on(ev::change, changed)
                .child((
                    html::option()
                        .attr("value", "")
                        .prop("selected", flag(move || chosen.with(Option::is_none)))
                        .child("Compare with…"),
                    choices.into_iter().map(group).collect_view(),
                ))
        })
    })
}

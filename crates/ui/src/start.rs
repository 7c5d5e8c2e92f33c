//! The empty page: what the app is, and a few tasks and a plan that each show something different.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::tasks::EXAMPLES;

use crate::components::reactive::reactive;
use crate::list::stored_runs::StoredRow;
use crate::plans;
use crate::run_facts::meter;
use crate::state::{App, Dialog};

pub fn hello(app: App) -> impl IntoView {
    reactive(move || {
        app.current.get().is_none().then(|| {
            html::header().class("hello").child((
                html::h1().child("Give it a task, watch every turn"),
                html::p().child(
                    "The agent works in this browser tab, turn by turn, with tools over your files. When its turns run \
                     out it concludes from what it has gathered. Every run is a record you can download.",
                ),
            ))
        })
    })
}

/// Draws the way to a real model, for as long as the demo model is chosen.
pub fn connect(app: App) -> impl IntoView {
    let demo = Memo::new(move |_| {
        app.current.get().is_none() && app.settings.with(|settings| settings.provider_card().is_none())
    });
    reactive(move || {
        demo.get().then(|| {
            html::section().class("connect").attr("aria-label", "Model").child((
                html::p().child((
                    html::b().child("You are using the demo model. "),
                    "It plays scripted parts through the real tools and needs no key, but it is not an AI.",
                )),
                html::button()
                    .r#type("button")
                    .class("btn quiet")
                    .on(ev::click, move |_| app.dialog.set(Some(Dialog::Settings)))
                    .child("Connect a model"),
            ))
        })
    })
}

/// Draws the runs whose page was closed before they ended.
pub fn left_open(app: App) -> impl IntoView {
    let left = Memo::new(move |_| match app.current.get() {
        None => app.stored_lines().into_iter().filter(StoredRow::is_open).take(3).collect(),
        Some(_) => Vec::new(),
    });
    reactive(move || {
        let left = left.get();
        (!left.is_empty()).then(|| {
            let cards = left.into_iter().map(|stored| {
                let view = stored.rail_now();
                let button = html::button().r#type("button").class("example left").on(ev::click, move |_| {
                    app.open_stored(&stored);
                });
                html::li().class("wide").child(button.child((
                    html::span().child((meter::tiny(&view.ticks), html::b().child(view.title))),
                    html::span().class("shows").child(view.words),
                    html::span().class("text").child("Interrupted when its tab closed. Open it to continue."),
                )))
            });
            html::section()
                .class("examples")
                .attr("aria-label", "Interrupted runs")
                .child((html::h2().class("over").child("Continue"), html::ul().child(cards.collect_view())))
        })
    })
}

pub fn examples(app: App) -> impl IntoView {
    reactive(move || {
        app.current.get().is_none().then(|| {
            let cards = EXAMPLES.iter().map(|task| {
                html::li().child(
                    html::button()
                        .r#type("button")
                        .class("example")
                        .on(ev::click, move |_| app.run_example(task))
                        .child((
                            html::span().child((meter::tiny(&task.ticks()), html::b().child(task.title))),
                            html::span().class("shows").child(task.shows),
                            html::span().class("text").child(task.text),
                        )),
                )
            });
            html::section().class("examples").attr("aria-label", "Example tasks").child((
                html::h2().class("over").child("Or start with one of these"),
                html::ul().child((cards.collect_view(), html::li().class("wide").child(plans::example(app)))),
                html::p().class("more").child(
                    "Drop files or a whole folder anywhere on this page, or choose them under Files, and the agent works \
                     over them. A record of a run (.json, or a shared report) opens the run again.",
                ),
            ))
        })
    })
}

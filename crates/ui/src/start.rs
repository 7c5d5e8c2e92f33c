//! The start page. At first: what the app is, and a few tasks and a plan that each show something different. For someone who works
//! here: a greeting and the last runs.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::rail::{greeting, moment};
use turnwise_view::tasks::EXAMPLES;

use crate::answer::ending::dot;
use crate::browser::dom;
use crate::components::button::{Look, button};
use crate::components::icon;
use crate::components::list::{list, row};
use crate::components::reactive::reactive;
use crate::list::rows::RecentRun;
use crate::list::stored_runs::StoredRow;
use crate::plans;
use crate::run_facts::meter;
use crate::state::{App, Dialog};

/// Runs that the start page names.
const NAMED: usize = 6;

/// Whether the page belongs to someone who works here: a model is connected, or there are runs.
fn is_lived_in(app: App) -> bool {
    app.settings.with(|settings| settings.provider_card().is_some())
        || app.threads.with(|threads| !threads.is_empty())
        || app.list().stored.with(|stored| !stored.is_empty())
}

pub fn hello(app: App) -> impl IntoView {
    let lived_in = Memo::new(move |_| is_lived_in(app));
    reactive(move || {
        app.current.get().is_none().then(|| {
            let words = match lived_in.get() {
                true => html::h1().child(greeting(dom::now(), dom::clock_offset())).into_any(),
                false => (
                    html::h1().child("An agent for your files, in your browser"),
                    html::p().child(
                        "It works in this tab, turn by turn, with tools over your files. It always ends with an answer, even at \
                         its limit. Every run is a record you can download.",
                    ),
                )
                    .into_any(),
            };
            html::header().class("hello").child(words)
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
                    html::b().child("You are using the demo. "),
                    "It replays a script so you can try everything without a key.",
                )),
                button(Look::Quiet)
                    .on(ev::click, move |_| app.dialog.set(Some(Dialog::Connect)))
                    .child("Connect a model"),
            ))
        })
    })
}

/// Draws the last runs, newest first, one line each.
pub fn recent(app: App) -> impl IntoView {
    let lines = Memo::new(move |_| if app.current.get().is_none() { app.recent_runs(NAMED) } else { Vec::new() });
    reactive(move || {
        let lines = lines.get();
        (!lines.is_empty()).then(|| {
            let rows = lines.into_iter().map(|RecentRun { session_id, title, tone, began }| {
                let began = moment(began, dom::now(), dom::clock_offset());
                row(dot(tone, "dot"), title, began, move || _ = app.open_session(&session_id)).into_any()
            });
            html::section()
                .class("recent")
                .attr("aria-label", "Recent runs")
                .child((html::h2().class("over").child("Recent runs"), list(rows.collect(), "")))
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
    let lived_in = Memo::new(move |_| is_lived_in(app));
    reactive(move || {
        app.current.get().is_none().then(|| {
            let list = (
                html::ul()
                    .child((cards(app).collect_view(), html::li().class("wide").child(plans::example(app)))),
                html::p().class("more").child(
                    "Drop files or a whole folder anywhere on this page, or choose them with + at the task box, and the agent \
                     works over them. A record of a run (.json, or a shared report) opens the run again.",
                ),
            );
            let section = html::section().class("examples").attr("aria-label", "Example tasks");
            match lived_in.get() {
                true => section.child(html::details().child((
                    html::summary().child((icon::chevron(), html::h2().class("over").child("Examples"))),
                    list,
                )))
                .into_any(),
                false => section.child((html::h2().class("over").child("Or start with one of these"), list)).into_any(),
            }
        })
    })
}

fn cards(app: App) -> impl Iterator<Item = AnyView> {
    EXAMPLES.iter().map(move |task| {
        html::li()
            .child(
                html::button().r#type("button").class("example").on(ev::click, move |_| app.run_example(task)).child((
                    html::span().child((meter::tiny(&task.ticks()), html::b().child(task.title))),
                    html::span().class("shows").child(task.shows),
                    html::span().class("text").child(task.text),
                )),
            )
            .into_any()
    })
}

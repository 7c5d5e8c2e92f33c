//! The Test button: one tiny run of one turn and one attempt, over the very path that runs take, so that what fails here
//! is what would fail there, in the same words.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::engine::RunConfig;
use crate::shell::{Notice, Session};
use crate::view::probe::{Probe, facts, probe_config};
use crate::worker::Workspace;

use super::super::dom;
use super::super::state::App;

pub fn probe(app: App) -> impl IntoView {
    let state = RwSignal::new(Option::<Probe>::None);
    let running = RwSignal::new_local(Option::<Session>::None);
    // A result says nothing about other settings.
    Effect::new(move || {
        app.settings.track();
        app.keys.track();
        state.set(None);
    });
    on_cleanup(move || {
        if let Some(session) = running.try_get_untracked().flatten() {
            session.close();
        }
    });
    let test = move |_| {
        let built = app.settings.with_untracked(|settings| settings.build(Vec::new()));
        let config = match built {
            Ok(config) => probe_config(config),
            Err(errors) => {
                let message = errors.into_iter().next().map(|error| error.message).unwrap_or_default();
                return state.set(Some(Probe::failed(None, &message)));
            }
        };
        state.set(Some(Probe::Asking));
        if let Some(session) = ask(app, config, state) {
            running.set(Some(session));
        }
    };
    let asking = move || matches!(state.get(), Some(Probe::Asking));
    let result = move || match state.get() {
        None => ("", ().into_any()),
        Some(Probe::Asking) => ("asking", (html::span().class("pulse"), "Asking the model for one word.").into_any()),
        Some(Probe::Works { answer, ms }) => {
            let document = running.with_untracked(|session| session.as_ref().and_then(Session::document));
            let facts = document.map(|document| facts(&document, ms));
            (
                "ok",
                (html::strong().child(format!("It works: “{answer}”")), advice(&facts.unwrap_or_default())).into_any(),
            )
        }
        Some(Probe::Failed { slug, title, text }) => (
            "failed",
            (html::strong().child(title), slug.map(|slug| html::code().class("slug").child(slug)), advice(&text))
                .into_any(),
        ),
    };
    html::div().class("test").child((
        html::button().r#type("button").class("btn quiet").prop("disabled", asking).on(ev::click, test).child("Test"),
        move || {
            let (kind, content) = result();
            html::output().attr("data-state", kind).child(content)
        },
    ))
}

/// What stands between backticks is to be typed or copied.
fn advice(text: &str) -> impl IntoView + use<> {
    let parts: Vec<_> = text
        .split('`')
        .enumerate()
        .map(|(at, part)| {
            let part = part.to_owned();
            if at % 2 == 1 { html::code().child(part).into_any() } else { part.into_any() }
        })
        .collect();
    (!text.is_empty()).then(|| html::span().class("advice").child(parts))
}

fn ask(app: App, config: RunConfig, state: RwSignal<Option<Probe>>) -> Option<Session> {
    let session = app.session(config, Workspace::new());
    let began = dom::now();
    let observer = move |notice: Notice<'_>| {
        if let Notice::Record(record) = notice
            && let Some(found) = Probe::of(&record.what, dom::now().saturating_sub(began))
        {
            state.try_set(Some(found));
        }
    };
    match session.start(crate::view::probe::QUESTION.to_owned(), None, observer) {
        Ok(()) => Some(session),
        Err(error) => {
            state.set(Some(Probe::failed(None, &error.to_string())));
            None
        }
    }
}

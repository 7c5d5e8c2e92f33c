//! The Test button: a tiny run of one turn and one attempt, over the same path that runs take, so that what fails here
//! would fail there, with the same message.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_protocol::app::Order;
use turnwise_view::probe::{Probe, probe_config};

use crate::client::app_worker::RunClient;
use crate::components::reactive::{attribute, reactive};
use crate::state::App;

/// Returns the button, and the place of its result.
pub fn probe(app: App) -> (impl IntoView, impl IntoView) {
    let state = RwSignal::new(Option::<Probe>::None);
    let running = RwSignal::new_local(Option::<RunClient>::None);
    // A result does not apply to other settings.
    Effect::new(move || {
        app.settings.track();
        app.keys.track();
        state.set(None);
        running.set(None);
    });
    on_cleanup(move || {
        if let Some(handle) = running.try_get_untracked().flatten() {
            handle.close();
        }
    });
    let asking = move || matches!(state.get(), Some(Probe::Asking));
    let test = move |_| {
        if untrack(asking) {
            return;
        }
        let built = app.settings.with_untracked(|settings| settings.build(Vec::new()));
        let config = match built {
            Ok(config) => probe_config(config),
            Err(errors) => {
                let message = errors.into_iter().next().map(|error| error.message).unwrap_or_default();
                return state.set(Some(Probe::failed(None, &message)));
            }
        };
        let Some(line) = app.line.get_value() else { return };
        state.set(Some(Probe::Asking));
        let handle = line.handle();
        running.set(Some(handle.clone()));
        spawn_local(async move {
            let (with, config) = (line.with_no_files(), Box::new(config));
            let found = line.ask_for(|id| Order::Probe { id, handle: handle.id(), with, config }).await;
            // By now the settings may have changed, or a newer test may be running.
            let asked = running.try_with_untracked(|running| running.as_ref().map(RunClient::id)).flatten();
            if asked == Some(handle.id()) {
                state.try_set(Some(found.unwrap_or_else(|why| Probe::failed(None, &why))));
            }
            handle.close();
        });
    };
    let result = move || match state.get() {
        None => ("", ().into_any()),
        Some(Probe::Asking) => ("asking", (html::span().class("pulse"), "Sending a test request.").into_any()),
        Some(Probe::Works { answer, facts }) => {
            ("ok", (html::strong().child(format!("It works: “{answer}”")), advice(&facts)).into_any())
        }
        Some(Probe::Failed { slug, title, text }) => (
            "failed",
            (html::strong().child(title), slug.map(|slug| html::code().class("slug").child(slug)), advice(&text))
                .into_any(),
        ),
    };
    // Not `disabled`: the focus stays.
    let busy = move || asking().then_some("true");
    let button =
        html::button().r#type("button").class("btn quiet").attr("aria-disabled", attribute(busy)).on(ev::click, test);
    let output = html::div().class("test").child(reactive(move || {
        let (kind, content) = result();
        html::output().attr("data-state", kind).child(content)
    }));
    (html::div().child(button.child("Test")), output)
}

/// Draws a text; parts between backticks are to be typed or copied.
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

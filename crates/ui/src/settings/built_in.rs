//! Chrome's built-in model: whether it is available, and its download.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise::shell::prompt_api::{self, Availability};
use turnwise_view::built_in::BuiltIn;

use crate::components::reactive::{attribute, reactive};
use crate::state::App;

pub fn built_in(app: App) -> impl IntoView {
    let state = RwSignal::new(BuiltIn::Unknown);
    let wrong = RwSignal::new(Option::<String>::None);
    ask(state);
    let get = move |_| {
        state.set(BuiltIn::Downloading(Some(0)));
        wrong.set(None);
        spawn_local(async move {
            let done = prompt_api::download(move |share| {
                state.try_set(BuiltIn::Downloading(Some(percent(share))));
            });
            if let Err(why) = done.await {
                wrong.try_set(Some(format!("It was not downloaded. {why}")));
            }
            ask(state);
            // An earlier test's result no longer applies.
            app.settings.try_update(|_| ());
        });
    };
    let button = move || {
        (state.get() == BuiltIn::Downloadable)
            .then(|| html::button().r#type("button").class("btn primary").on(ev::click, get).child("Download"))
    };
    let bar = move || match state.get() {
        BuiltIn::Downloading(share) => Some(
            html::progress()
                .attr("max", "100")
                .attr("value", share.map(|share| share.to_string()))
                .attr("aria-label", "Download of the model"),
        ),
        _ => None,
    };
    let advice = move || {
        let lines = state.get().advice();
        let lines = lines.iter().map(|line| html::li().child(*line)).collect_view();
        (!state.get().advice().is_empty()).then(|| html::ul().class("advice").child(lines))
    };
    html::div().class("built-in").child((
        html::div().class("test").child((
            reactive(button),
            html::output()
                .attr("data-state", attribute(move || state.get().state()))
                .child(reactive(move || state.get().message())),
        )),
        reactive(bar),
        reactive(move || wrong.get().map(|why| html::p().class("wrong").attr("role", "alert").child(why))),
        reactive(advice),
    ))
}

fn ask(state: RwSignal<BuiltIn>) {
    spawn_local(async move {
        let found = match prompt_api::availability().await {
            Availability::Unsupported => BuiltIn::Unsupported,
            Availability::Unavailable => BuiltIn::Unavailable,
            Availability::Downloadable => BuiltIn::Downloadable,
            Availability::Downloading => BuiltIn::Downloading(None),
            Availability::Available => BuiltIn::Available,
        };
        state.try_set(found);
    });
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Clamped to 0..=100 first.
fn percent(share: f64) -> u8 {
    (share * 100.0).clamp(0.0, 100.0) as u8
}

//! Model servers on this computer, looked for once the user has chosen that way: nothing is asked before.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_content::format::counted;
use turnwise_llm::models::ModelInfo;
use turnwise_protocol::app::Order;
use turnwise_view::provider::{ProviderCard, provider_card};
use turnwise_view::settings::{ConfigField, UserSettings};

use crate::components::button::{Look, button};
use crate::components::reactive::reactive;
use crate::state::App;

/// The servers that are looked for, at their own loopback addresses.
const LOOKED_FOR: [&str; 2] = ["ollama", "lmstudio"];

#[derive(Clone, Debug, PartialEq)]
enum Found {
    Asking,
    Models(Vec<String>),
    Nothing,
}

/// Draws what was found, each with a button that takes it.
pub fn found(app: App, picked: RwSignal<bool>) -> impl IntoView {
    let rows = LOOKED_FOR.iter().filter_map(|id| provider_card(id)).map(|card| {
        let state = RwSignal::new(Found::Asking);
        look(app, card, state);
        let line = move || match state.get() {
            Found::Asking => (html::span().class("pulse"), format!("Looking for {}.", card.name)).into_any(),
            Found::Nothing => format!("{}: not found at {}.", card.name, card.base_url()).into_any(),
            Found::Models(models) => {
                let count = counted(models.len() as u64, "model");
                let take = move |_| {
                    picked.set(true);
                    app.settings.update(|settings| {
                        settings.set(ConfigField::Provider, card.id);
                        // The suggested model may not be installed.
                        let now = settings.value(ConfigField::Model);
                        if let Some(first) = models.first().filter(|_| !models.contains(&now)) {
                            settings.set(ConfigField::Model, first);
                        }
                    });
                };
                (
                    html::span().child(format!("{}: {count}.", card.name)),
                    button(Look::QuietSmall).on(ev::click, take).child(format!("Use {}", card.name)),
                )
                    .into_any()
            }
        };
        html::li().child(reactive(line))
    });
    html::ul().class("found").attr("aria-live", "polite").child(rows.collect_view())
}

fn look(app: App, card: ProviderCard, state: RwSignal<Found>) {
    let Some(line) = app.line.get_value() else { return state.set(Found::Nothing) };
    // Its own address, whatever is set.
    let mut settings = UserSettings::default();
    settings.set(ConfigField::Provider, card.id);
    let (provider, whose) = (settings.provider(), settings.whose());
    spawn_local(async move {
        let (with, provider) = (line.with_no_files(), Box::new(provider));
        let listed = line.ask_for::<Vec<ModelInfo>>(|id| Order::Models { id, with, provider }).await;
        let found = match listed {
            Ok(models) => {
                let names = models.iter().map(|model| model.id.clone()).collect();
                app.settings.update(|settings| settings.hear(whose, Arc::from(models)));
                Found::Models(names)
            }
            Err(_) => Found::Nothing,
        };
        state.try_set(found);
    });
}

//! The model of the next run, at the task box: the models used before, the demo, and the way to all others.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::provider::{DEMOS, address, key_needed, needs_key, provider_card};
use turnwise_view::settings::ConfigField;

use crate::components::icon::{Icon, icon};
use crate::components::reactive::{attribute, reactive};
use crate::composer::models_used::{self, UsedModel};
use crate::state::{App, Dialog};

/// The value of the entry that opens the settings.
const OTHER: &str = "other";

pub fn switcher(app: App) -> impl IntoView {
    let option =
        |value: String, name: String, chosen: bool| html::option().value(value).prop("selected", chosen).child(name);
    // Drawn anew with every change, so that the entry that opens the settings never stays chosen.
    let options = move || {
        let now = app.model_now();
        let used = app.composer().models_used.get();
        let current = (provider_card(&now.provider).is_some() && !used.contains(&now)).then(|| now.clone());
        let real =
            current.into_iter().chain(used).map(|used| option(id_of(&used), used.name(), used == now)).collect_view();
        let demos = DEMOS.iter().map(|(id, words)| option((*id).to_owned(), (*words).to_owned(), now.provider == *id));
        (real, demos.collect_view(), option(OTHER.to_owned(), "Another model\u{2026}".to_owned(), false))
    };
    let short = move || {
        let UsedModel { provider, model, .. } = app.model_now();
        match DEMOS.iter().find(|(id, _)| *id == provider) {
            Some((_, words)) => (*words).to_owned(),
            None if model.is_empty() => "Model".to_owned(),
            None => model,
        }
    };
    let changed = move |event: web_sys::Event| {
        let value = event_target_value(&event);
        if value == OTHER {
            app.settings.update(|_| ());
            return app.dialog.set(Some(Dialog::Connect));
        }
        // A model that was set up but has not run yet stays on the list, too.
        app.note_model();
        let used =
            app.composer().models_used.with_untracked(|used| used.iter().find(|used| id_of(used) == value).cloned());
        app.settings.update(|settings| match used {
            Some(used) => {
                settings.set(ConfigField::Provider, &used.provider);
                settings.set(ConfigField::BaseUrl, &used.base_url);
                settings.set(ConfigField::Model, &used.model);
            }
            None if DEMOS.iter().any(|(id, _)| *id == value) => settings.set(ConfigField::Provider, &value),
            None => {}
        });
    };
    (
        // On phones, the short name lies under the field: its own text would be too large there, and would be cut.
        html::label().class("btn bare switcher").attr("data-short", attribute(short)).child((
            html::span().class("word").child("Model of the next run"),
            icon(Icon::Down),
            html::select().attr("title", "Model of the next run").on(ev::change, changed).child(reactive(options)),
        )),
        html::button()
            .r#type("button")
            .class("btn bare model")
            .attr("title", "Model and settings")
            .attr("aria-label", "Model and settings")
            .on(ev::click, move |_| app.dialog.set(Some(Dialog::Settings)))
            .child(icon(Icon::Settings)),
    )
}

/// Says at the task box that the next run would be refused, because the key of its model is gone.
pub fn missing_key(app: App) -> impl IntoView {
    let missing = Memo::new(move |_| {
        let provider = app.settings.with(turnwise_view::settings::UserSettings::provider);
        let lacks = needs_key(&provider).is_some() && app.keys.with(|keys| keys.get(&address(&provider)).is_none());
        lacks.then(|| key_needed(&provider))
    });
    reactive(move || {
        missing.get().map(|text| {
            html::button()
                .r#type("button")
                .class("chip key-needed")
                .attr("title", "A key that is not remembered on this device is gone after a reload. Enter it again.")
                .on(ev::click, move |_| app.dialog.set(Some(Dialog::Connect)))
                .child(text)
        })
    })
}

fn id_of(used: &UsedModel) -> String {
    [used.provider.as_str(), &used.base_url, &used.model].join("\n")
}

impl App {
    fn model_now(&self) -> UsedModel {
        self.settings.with(|settings| UsedModel {
            provider: settings.value(ConfigField::Provider),
            base_url: settings.value(ConfigField::BaseUrl),
            model: settings.value(ConfigField::Model),
        })
    }

    /// Remembers the model of the settings, unless it is the demo.
    pub fn note_model(&self) {
        let now = untrack(|| self.model_now());
        if provider_card(&now.provider).is_none() {
            return;
        }
        self.composer().models_used.update(|used| {
            used.retain(|other| *other != now);
            used.insert(0, now);
            used.truncate(models_used::MOST);
        });
        self.composer().models_used.with_untracked(|used| models_used::save(used));
    }
}

//! The model: which one, where it answers, with which key, and whether it does.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::view::provider::{ENDPOINTS, Endpoint, KeyNeed, endpoint};
use crate::view::settings::{Field, Group, Input};

use super::super::state::App;
use super::{Errors, fields, probe};

pub fn model(app: App, errors: Errors) -> impl IntoView {
    let real = Memo::new(move |_| app.settings.with(|settings| settings.value(Field::Provider)) == "openai");
    html::fieldset().class("group").child((
        html::legend().child("Model"),
        providers(app),
        move || real.get().then(|| server(app, errors)),
        probe::probe(app),
    ))
}

fn providers(app: App) -> impl IntoView {
    let options = match Field::Provider.row().map(|row| row.input) {
        Some(Input::Choice(options)) => options,
        _ => &[],
    };
    let choices = options.iter().map(|(key, words)| {
        html::label().class("choice").child((
            html::input()
                .r#type("radio")
                .attr("name", "provider")
                .value(*key)
                .prop("checked", move || app.settings.with(|settings| settings.value(Field::Provider)) == *key)
                .on(ev::change, move |_| provide(app, key)),
            html::span().child(*words),
        ))
    });
    html::div().class("choices").attr("role", "radiogroup").attr("aria-label", "Provider").child(choices.collect_view())
}

fn server(app: App, errors: Errors) -> impl IntoView {
    let current = Memo::new(move |_| endpoint(&base_url(app)).map(|endpoint| endpoint.id));
    let chips = ENDPOINTS.iter().map(|endpoint| {
        html::button()
            .r#type("button")
            .class("chip")
            .attr("aria-pressed", move || if current.get() == Some(endpoint.id) { "true" } else { "false" })
            .on(ev::click, move |_| choose(app, endpoint))
            .child(endpoint.name)
    });
    let hint = move || endpoint(&base_url(app)).map_or("", |endpoint| endpoint.hint);
    (
        html::div().class("input").child((
            html::span().class("label").child("Server"),
            html::div().class("chips").child(chips.collect_view()),
            html::span().class("help").child(hint),
        )),
        html::div().class("grid").child((fields(app, Group::Model, errors), key(app))),
    )
}

/// A real model begins with the first preset's address.
fn provide(app: App, key: &str) {
    app.settings.update(|settings| settings.set(Field::Provider, key));
    let unset = app.settings.with_untracked(|settings| settings.value(Field::BaseUrl)).is_empty();
    if let ("openai", true, Some(first)) = (key, unset, ENDPOINTS.first()) {
        choose(app, first);
    }
}

/// The address of a preset, and its model where the present one belongs to another preset.
fn choose(app: App, endpoint: &'static Endpoint) {
    app.settings.update(|settings| {
        let model = settings.value(Field::Model);
        settings.set(Field::BaseUrl, endpoint.base_url);
        if model.is_empty() || ENDPOINTS.iter().any(|other| other.model == model) {
            settings.set(Field::Model, endpoint.model);
        }
    });
}

fn key(app: App) -> impl IntoView {
    let need = move || endpoint(&base_url(app)).map_or(KeyNeed::Optional, |endpoint| endpoint.key);
    let label = move || match need() {
        KeyNeed::Needed => "API key",
        KeyNeed::Optional => "API key, if the server wants one",
        KeyNeed::No => "API key (not needed)",
    };
    let remembered = move || app.keys.with(|keys| keys.is_remembered(&base_url(app)));
    html::div().class("input mono wide").child((
        html::label().r#for("setting-key").child(label),
        html::input()
            .r#type("password")
            .id("setting-key")
            .attr("autocomplete", "off")
            .attr("spellcheck", "false")
            .attr("aria-describedby", "setting-key-help")
            .prop("value", move || app.keys.with(|keys| keys.get(&base_url(app))).unwrap_or_default())
            .on(ev::input, move |event| {
                let base_url = base_url(app);
                app.keys.update(|keys| keys.set(&base_url, &event_target_value(&event)));
            }),
        html::span()
            .class("help")
            .id("setting-key-help")
            .child("Kept in this tab's memory, sent to this server only, in no record. Gone when the tab closes."),
        html::div().class("check").child((
            html::input().r#type("checkbox").id("setting-remember").prop("checked", remembered).on(
                ev::change,
                move |event| {
                    let base_url = base_url(app);
                    let remember = event_target_checked(&event);
                    app.keys.update(|keys| if remember { keys.remember(&base_url) } else { keys.forget(&base_url) });
                },
            ),
            html::label().r#for("setting-remember").child("Remember on this device"),
            html::span().class("help").child(
                "The risk: the key is then stored unencrypted in this browser. Whoever uses this browser profile, and \
                 any script served from this address, can read it.",
            ),
        )),
    ))
}

fn base_url(app: App) -> String {
    app.settings.with(|settings| settings.value(Field::BaseUrl))
}

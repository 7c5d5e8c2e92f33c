//! The model: the provider, its address, which of its models, with which key, and whether it works.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_engine::ProviderKind;
use turnwise_view::provider::{COMPATIBLE, DEMOS, ProviderCard, ProviderGroup, cards, provider_card, title};
use turnwise_view::settings::ConfigField;

use crate::browser::dom;
use crate::components::reactive::{flag, reactive};
use crate::settings::Errors;
use crate::settings::built_in;
use crate::settings::field;
use crate::settings::key;
use crate::settings::model_field;
use crate::settings::probe;
use crate::state::App;

pub fn model(app: App, errors: Errors) -> impl IntoView {
    let chosen = Memo::new(move |_| app.settings.with(|settings| settings.provider_card().map(|card| card.id)));
    html::fieldset().class("group").child((
        html::legend().child("Model"),
        providers(app),
        reactive(move || match chosen.get().and_then(provider_card) {
            Some(provider) => server(app, provider, errors).into_any(),
            None => probe::probe(app).into_any(),
        }),
    ))
}

/// Draws every provider as a card of one radio group, so that arrow keys move through all of them.
fn providers(app: App) -> impl IntoView {
    let demos = DEMOS.iter().map(|(id, words)| card(app, id, (*words).to_owned(), words).into_any());
    let real = ProviderGroup::ALL.iter().map(|place| {
        let cards = cards().filter(|provider| provider.place == *place);
        row(
            title(*place),
            cards.map(|provider| card(app, provider.id, provider.name.to_owned(), provider.name).into_any()).collect(),
        )
    });
    html::div()
        .class("providers")
        .attr("role", "radiogroup")
        .attr("aria-label", "Provider")
        .child((row("Demo", demos.collect()), real.collect_view()))
}

fn row(title: &'static str, cards: Vec<AnyView>) -> impl IntoView {
    html::div().class("place").attr("role", "group").attr("aria-label", title).child((
        html::span().class("label").attr("aria-hidden", "true").child(title),
        html::div().class("choices").child(cards),
    ))
}

fn card(app: App, id: &'static str, name: String, text: &'static str) -> impl IntoView {
    html::label().class("choice").attr("title", text).child((
        html::input()
            .r#type("radio")
            .attr("name", "provider")
            .attr("aria-label", text)
            .value(id)
            .prop("checked", flag(move || app.settings.with(|settings| settings.value(ConfigField::Provider)) == id))
            .on(ev::change, move |_| {
                app.settings.update(|settings| settings.set(ConfigField::Provider, id));
                // On a phone its fields are below what is seen.
                if dom::matches("(max-width: 720px)") {
                    dom::after_frame(|_| {
                        let fields = dom::document().query_selector(".server").ok().flatten();
                        fields.iter().for_each(dom::reveal);
                    });
                }
            }),
        html::b().child(name),
    ))
}

/// Draws the fields of the chosen provider.
fn server(app: App, provider: ProviderCard, errors: Errors) -> impl IntoView {
    let hint = html::p().class("advice").child(provider.hint);
    if provider.kind == ProviderKind::PromptApi {
        return html::div().class("server").child((hint, built_in::built_in(app), probe::probe(app))).into_any();
    }
    let row = |field| field_of(app, field, errors);
    // If there is no default address, it is asked for first.
    let (first, last) =
        if provider.id == COMPATIBLE { (row(ConfigField::BaseUrl), None) } else { (None, row(ConfigField::BaseUrl)) };
    html::div()
        .class("server")
        .child((
            hint,
            first,
            key::key(app, provider),
            model_field::model_field(app, provider, errors),
            html::div().class("grid").child((last, row(ConfigField::MaxOutputTokens))),
        ))
        .into_any()
}

fn field_of(app: App, name: ConfigField, errors: Errors) -> Option<AnyView> {
    name.row().map(|row| field::field(app, row, errors).into_any())
}

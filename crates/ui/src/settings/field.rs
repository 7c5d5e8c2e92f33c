//! One row of the settings table, drawn as the input its kind asks for, with its error next to it.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::settings::{ConfigField, FieldInput, SettingsRow};

use crate::components;
use crate::components::reactive::{attribute, flag, reactive};
use crate::settings::Errors;
use crate::settings::id_of;
use crate::state::App;

/// Draws the field, while it applies.
pub fn field(app: App, row: &'static SettingsRow, errors: Errors) -> impl IntoView {
    let applies = Memo::new(move |_| app.settings.with(|settings| settings.applies(row.field)));
    reactive(move || applies.get().then(|| draw(app, row, errors)))
}

fn draw(app: App, row: &'static SettingsRow, errors: Errors) -> AnyView {
    match row.input {
        FieldInput::Switch => switch(app, row).into_any(),
        FieldInput::Choice(options) => labelled(app, row, errors, choice(app, row, options).into_any()).into_any(),
        FieldInput::Lines => labelled(app, row, errors, lines(app, row, errors).into_any()).into_any(),
        _ => labelled(app, row, errors, line(app, row, errors).into_any()).into_any(),
    }
}

pub fn value(app: App, field: ConfigField) -> impl Fn() -> String + Send + Sync + Clone + 'static {
    move || app.settings.with(|settings| settings.value(field))
}

pub fn set(app: App, field: ConfigField, value: &str) {
    app.settings.update(|settings| settings.set(field, value));
}

pub fn wrong(errors: Errors, field: ConfigField) -> impl Fn() -> Option<String> + Send + Sync + Clone + 'static {
    move || errors.with(|errors| errors.iter().find(|error| error.field == field).map(|error| error.message.clone()))
}

fn labelled(_app: App, row: &'static SettingsRow, errors: Errors, input: AnyView) -> impl IntoView {
    let class = match (row.input, row.field) {
        (FieldInput::Lines, ConfigField::ReportSchema) => "input wide mono",
        (FieldInput::Lines, _) => "input wide",
        (_, ConfigField::TemplateNormal | ConfigField::TemplateModerate | ConfigField::TemplateUrgent) => {
            "input wide mono"
        }
        (_, ConfigField::BaseUrl | ConfigField::Model) => "input mono",
        _ => "input",
    };
    components::field::field(class, id_of(row.field), row.label, input, wrong(errors, row.field), row.help)
}

fn described(row: &'static SettingsRow) -> String {
    format!("{0}-wrong {0}-help", id_of(row.field))
}

fn line(app: App, row: &'static SettingsRow, errors: Errors) -> impl IntoView {
    let mode = match row.input {
        FieldInput::Whole { .. } | FieldInput::OptionalWhole { .. } => "numeric",
        FieldInput::OptionalDecimal { .. } | FieldInput::Seconds { .. } | FieldInput::OptionalSeconds { .. } => {
            "decimal"
        }
        _ if row.field == ConfigField::BaseUrl => "url",
        _ => "text",
    };
    let invalid = wrong(errors, row.field);
    html::input()
        .r#type("text")
        .id(id_of(row.field))
        .attr("inputmode", mode)
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("aria-describedby", described(row))
        .attr("aria-invalid", attribute(move || if invalid().is_some() { "true" } else { "false" }))
        .attr("placeholder", attribute(move || if row.field == ConfigField::BaseUrl { own_address(app) } else { "" }))
        .prop("value", value(app, row.field))
        .on(ev::input, move |event| set(app, row.field, &event_target_value(&event)))
}

/// Returns the address that requests go to while the field is empty.
fn own_address(app: App) -> &'static str {
    let own = app.settings.with(|settings| settings.provider_card().map(|card| card.base_url()));
    own.filter(|url| !url.is_empty()).unwrap_or("https://models.example.org/v1")
}

fn lines(app: App, row: &'static SettingsRow, errors: Errors) -> impl IntoView {
    let invalid = wrong(errors, row.field);
    html::textarea()
        .id(id_of(row.field))
        .attr("rows", "3")
        .attr("aria-describedby", described(row))
        .attr("aria-invalid", attribute(move || if invalid().is_some() { "true" } else { "false" }))
        .prop("value", value(app, row.field))
        .on(ev::input, move |event| set(app, row.field, &event_target_value(&event)))
}

fn choice(app: App, row: &'static SettingsRow, options: &'static [(&'static str, &'static str)]) -> impl IntoView {
    let current = value(app, row.field);
    let options = options.iter().map(|(key, text)| {
        let current = current.clone();
        html::option().value(*key).prop("selected", flag(move || current() == *key)).child(*text)
    });
    html::select()
        .id(id_of(row.field))
        .attr("aria-describedby", described(row))
        .on(ev::change, move |event| set(app, row.field, &event_target_value(&event)))
        .child(options.collect_view())
}

fn switch(app: App, row: &'static SettingsRow) -> impl IntoView {
    html::div().class("check wide").child((
        html::input()
            .r#type("checkbox")
            .id(id_of(row.field))
            .prop("checked", flag(move || app.settings.with(|settings| settings.is_on(row.field))))
            .on(ev::change, move |event| set(app, row.field, if event_target_checked(&event) { "on" } else { "off" })),
        html::label().r#for(id_of(row.field)).child(row.label),
        (!row.help.is_empty()).then(|| html::span().class("help").child(row.help)),
    ))
}

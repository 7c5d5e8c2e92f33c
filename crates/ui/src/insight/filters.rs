//! The filters: time range, model, preset, outcome, reason, and search text.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::insight::{Filter, InsightPage, Pick, Range};

use crate::browser::dom;
use crate::components::button::{Look, button, chip};
use crate::components::reactive::{attribute, reactive};
use crate::insight::Looking;

pub fn filters(looking: Looking) -> impl IntoView {
    let Looking { filter, range, page } = looking;
    let time = move |choice: Range| {
        let choose = move || {
            range.set(choice);
            filter.update(|filter| filter.from_ms = choice.from_ms(dom::now()));
        };
        chip(choice.label(), move || range.get() == choice, choose)
    };
    let text = move || filter.with(|filter| filter.text.clone().unwrap_or_default());
    let any = move || filter.with(|filter| !filter.is_empty());
    html::div().class("sift").attr("role", "group").attr("aria-label", "Filters").child((
        html::div().class("chips").attr("role", "group").attr("aria-label", "Time").child(Range::ALL.map(time)),
        select(
            page,
            "Model",
            "All models",
            |page| page.models.clone(),
            looking,
            |f| f.model.clone(),
            |f, value| f.model = value,
        ),
        select(
            page,
            "Preset",
            "All presets",
            |page| page.presets.clone(),
            looking,
            |f| word(&f.preset),
            |f, value| {
                f.preset = value.as_deref().and_then(parsed);
            },
        ),
        select(
            page,
            "Outcome",
            "All outcomes",
            |page| page.outcomes.clone(),
            looking,
            |f| word(&f.outcome),
            |f, value| {
                f.outcome = value.as_deref().and_then(parsed);
            },
        ),
        select(
            page,
            "Ended by",
            "All reasons",
            |page| page.reasons.clone(),
            looking,
            |f| word(&f.termination_reason),
            |f, value| {
                f.termination_reason = value.as_deref().and_then(parsed);
            },
        ),
        html::input()
            .r#type("search")
            .attr("placeholder", "Search")
            .attr("aria-label", "Search tasks and models")
            .prop("value", text)
            .on(ev::input, move |event| {
                let text = event_target_value(&event);
                filter.update(|filter| filter.text = Some(text).filter(|text| !text.trim().is_empty()));
            }),
        reactive(move || {
            any().then(|| {
                button(Look::BareSmall)
                    .on(ev::click, move |_| {
                        range.set(Range::All);
                        filter.set(Filter::default());
                    })
                    .child("Clear filters")
            })
        }),
    ))
}

/// Draws one field of the filter, with the values that occur.
fn select(
    page: Memo<InsightPage>,
    label: &'static str,
    all: &'static str,
    picks: fn(&InsightPage) -> Vec<Pick>,
    looking: Looking,
    get: fn(&Filter) -> Option<String>,
    put: fn(&mut Filter, Option<String>),
) -> impl IntoView {
    let picks = Memo::new(move |_| page.with(picks));
    let chosen = Memo::new(move |_| looking.filter.with(get));
    let options = move || {
        let option = |pick: Pick| {
            let selected = chosen.with_untracked(|chosen| chosen.as_ref() == Some(&pick.value));
            html::option().attr("value", format!("={}", pick.value)).prop("selected", selected).child(pick.words)
        };
        (html::option().attr("value", "").child(all), picks.get().into_iter().map(option).collect_view())
    };
    html::select()
        .attr("aria-label", label)
        .attr("data-set", attribute(move || if chosen.with(Option::is_some) { "true" } else { "false" }))
        .prop("value", move || chosen.get().map_or_else(String::new, |value| format!("={value}")))
        .on(ev::change, move |event| {
            // A model may have no name, so each value begins with `=`.
            let value = event_target_value(&event).strip_prefix('=').map(str::to_owned);
            looking.filter.update(|filter| put(filter, value));
        })
        .child(reactive(options))
}

/// Returns the wire value, as in the choices.
fn word(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn parsed<T: serde::de::DeserializeOwned>(value: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(value.to_owned())).ok()
}

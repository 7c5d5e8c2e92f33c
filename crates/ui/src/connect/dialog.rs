//! Connecting a model, in a dialog of its own: with a key, on this computer, or at another address; and whether it works.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_engine::ProviderKind;
use turnwise_view::provider::{COMPATIBLE, Need, ProviderCard, ProviderGroup, cards, needs_key, provider_card};
use turnwise_view::settings::{ConfigField, FieldError};

use crate::browser::dom;
use crate::components::button::{Look, button, chip};
use crate::components::dialog::dialog;
use crate::components::reactive::{flag, reactive};
use crate::connect::local;
use crate::settings::{built_in, field, id_of, key, model_field, probe};
use crate::state::{App, Dialog};

/// The ways to connect a model, in the order in which they are offered.
const WAYS: [(ProviderGroup, &str); 3] = [
    (ProviderGroup::Cloud, "With a key"),
    (ProviderGroup::Machine, "On this computer"),
    (ProviderGroup::Other, "Another address"),
];

pub fn connect(app: App) -> impl IntoView {
    dialog(app, Dialog::Connect, "connect-dialog", "Connect a model", move || content(app))
}

fn content(app: App) -> impl IntoView {
    let chosen = app.settings.with_untracked(|settings| settings.provider_card());
    // Something was chosen by a click, not only by opening a way.
    let picked = RwSignal::new(false);
    let before = app.settings.with_untracked(|settings| settings.value(ConfigField::Provider));
    on_cleanup(move || {
        app.connect().refused.set(false);
        if chosen.is_none() && !is_set_up(app, picked.get_untracked()) {
            app.settings.update(|settings| settings.set(ConfigField::Provider, &before));
        }
    });
    let way = RwSignal::new(chosen.map_or(ProviderGroup::Cloud, |card| card.place));
    // The first service of the way is shown. A demo comes back if nothing is entered.
    Effect::new(move |before: Option<ProviderGroup>| {
        let now = way.get();
        let card = app.settings.with_untracked(|settings| settings.provider_card());
        let first = cards().find(|card| card.place == now);
        if let Some(first) = first.filter(|_| before != Some(now) && card.is_none_or(|card| card.place != now)) {
            app.settings.update(|settings| settings.set(ConfigField::Provider, first.id));
        }
        focus_first(app, now);
        now
    });
    let ways = WAYS.map(|(group, name)| {
        html::label().class("choice").child((
            html::input()
                .r#type("radio")
                .attr("name", "way")
                .prop("checked", flag(move || way.get() == group))
                .on(ev::change, move |_| way.set(group)),
            html::b().child(name),
        ))
    });
    let chosen = Memo::new(move |_| app.settings.with(|settings| settings.provider_card().map(|card| card.id)));
    (
        html::div().class("dialog-body").child((
            html::div()
                .class("choices ways")
                .attr("role", "radiogroup")
                .attr("aria-label", "Way to a model")
                .child(ways.into_iter().collect_view()),
            reactive(move || match way.get() {
                ProviderGroup::Other => ().into_any(),
                ProviderGroup::Machine => (local::found(app, picked), services(app, way, picked)).into_any(),
                ProviderGroup::Cloud => services(app, way, picked).into_any(),
            }),
            reactive(move || chosen.get().and_then(provider_card).map(|card| fields(app, card))),
        )),
        html::div().class("dialog-foot").child((
            html::button()
                .r#type("button")
                .class("btn bare grow")
                .on(ev::click, move |_| app.dialog.set(Some(Dialog::Settings)))
                .child("All settings"),
            button(Look::Primary).on(ev::click, move |_| app.dialog.set(None)).child("Done"),
        )),
    )
}

impl App {
    /// Opens the dialog with the focus on a field, and its text selected: what is typed replaces it.
    pub fn open_connect_at(&self, field: &str) {
        self.connect().first.set_value(Some(field.to_owned()));
        self.dialog.set(Some(Dialog::Connect));
    }
}

/// Whether the chosen service can be asked: with its key, at the address that was entered, or because it was picked.
fn is_set_up(app: App, picked: bool) -> bool {
    let (provider, card, address) =
        app.settings.with_untracked(|settings| (settings.provider(), settings.provider_card(), settings.address()));
    match card {
        Some(card) if card.id == COMPATIBLE => address.is_some(),
        Some(_) if needs_key(&provider).is_some() => app.key_for(&provider).is_some(),
        _ => picked,
    }
}

/// Draws the services of this way.
fn services(app: App, way: RwSignal<ProviderGroup>, picked: RwSignal<bool>) -> impl IntoView {
    let place = way.get_untracked();
    let each = cards().filter(move |card| card.place == place).map(move |card| {
        let is_chosen = move || app.settings.with(|settings| settings.value(ConfigField::Provider)) == card.id;
        let choose = move || {
            picked.set(true);
            app.settings.update(|settings| settings.set(ConfigField::Provider, card.id));
            focus_first(app, place);
        };
        chip(card.name, is_chosen, choose)
    });
    html::div().class("services").attr("role", "group").attr("aria-label", "Service").child(each.collect_view())
}

/// Moves the focus to the field that the dialog was opened for, or to what is to be entered first, once it is drawn.
fn focus_first(app: App, way: ProviderGroup) {
    let asked = app.connect().first.try_update_value(Option::take).flatten();
    let first = match (asked, way) {
        (Some(asked), _) => asked,
        (None, ProviderGroup::Cloud) => key::KEY.to_owned(),
        (None, ProviderGroup::Other) => id_of(ConfigField::BaseUrl),
        (None, ProviderGroup::Machine) => return,
    };
    set_timeout(move || dom::select(&first), std::time::Duration::ZERO);
}

/// Draws the fields of the chosen service, and its test.
fn fields(app: App, card: ProviderCard) -> AnyView {
    let (test, result) = probe::probe(app);
    let test = html::div().class("big-test").child((test, result));
    if card.kind == ProviderKind::PromptApi {
        return html::div().class("server").child((built_in::built_in(app), test)).into_any();
    }
    // What is empty is no mistake before a run was refused for it: the test says what is missing.
    let errors: Memo<Vec<FieldError>> = Memo::new(move |_| {
        app.settings.with(|settings| {
            let mut errors = settings.build(Vec::new()).err().unwrap_or_default();
            let refused = app.connect().refused.get();
            errors.retain(|error| refused || !settings.value(error.field).trim().is_empty());
            errors
        })
    });
    let row = ConfigField::BaseUrl.row().filter(|_| card.id == COMPATIBLE);
    let complete = move |_| {
        let whole = app.settings.with_untracked(|settings| settings.whole_address());
        if let Some(whole) = whole {
            field::set(app, ConfigField::BaseUrl, &whole);
        }
    };
    html::div()
        .class("server")
        .child((
            html::p().class("advice").child(card.hint),
            row.map(|row| html::div().on(ev::focusout, complete).child(field::field(app, row, errors))),
            (card.key != Need::No).then(|| key::plain(app, card)),
            model_field::model_field(app, card, errors),
            test,
        ))
        .into_any()
}

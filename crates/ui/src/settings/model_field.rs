//! The model's name: typed freely, or picked from the provider's list. A combobox: typing filters, arrows move, Enter
//! selects, Escape closes.

use std::sync::Arc;

use js_sys::{Function, Reflect};
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::KeyboardEvent;

use turnwise_content::format::{counted, one_line};
use turnwise_engine::ProviderKind;
use turnwise_llm::models::ModelInfo;
use turnwise_protocol::app::Order;
use turnwise_view::models::{ModelOption, options};
use turnwise_view::provider::{Need, ProviderCard};
use turnwise_view::settings::ConfigField;

use crate::browser::dom;
use crate::components::icon::{Icon, icon};
use crate::components::reactive::{attribute, reactive};
use crate::settings::Errors;
use crate::settings::field;
use crate::settings::id_of;
use crate::state::App;

const LIST: &str = "model-options";

/// The combobox's signals; cheap to copy.
#[derive(Clone, Copy)]
struct Combo {
    app: App,
    provider: ProviderCard,
    open: RwSignal<bool>,
    /// The index of the option that Enter would select.
    active: RwSignal<Option<usize>>,
    /// Text typed since the list opened; earlier text does not filter.
    filter: RwSignal<String>,
    asking: RwSignal<bool>,
    wrong: RwSignal<Option<String>>,
    shown: Memo<(Vec<ModelOption>, usize)>,
}

pub fn model_field(app: App, provider: ProviderCard, errors: Errors) -> impl IntoView {
    let filter = RwSignal::new(String::new());
    let shown = Memo::new(move |_| {
        let models = app.settings.with(|settings| settings.models()).unwrap_or_default();
        filter.with(|typed| options(&models, typed))
    });
    let combo = Combo {
        app,
        provider,
        open: RwSignal::new(false),
        active: RwSignal::new(None),
        filter,
        asking: RwSignal::new(false),
        wrong: RwSignal::new(None),
        shown,
    };
    let id = id_of(ConfigField::Model);
    let invalid = field::wrong(errors, ConfigField::Model);
    let message = invalid.clone();
    let known =
        move || app.settings.with(|settings| settings.known()).map(|known| known.description()).unwrap_or_default();
    html::div().class("input mono wide").child((
        html::label().r#for(id.clone()).child("Model"),
        html::div().class("combo").child((
            html::input()
                .r#type("text")
                .id(id.clone())
                .attr("role", "combobox")
                .attr("autocomplete", "off")
                .attr("autocapitalize", "none")
                .attr("spellcheck", "false")
                .attr("aria-autocomplete", "list")
                .attr("aria-controls", LIST)
                .attr("aria-expanded", attribute(move || if combo.open.get() { "true" } else { "false" }))
                .attr("aria-activedescendant", attribute(move || combo.active.get().map(option_id)))
                .attr("aria-describedby", format!("{id}-wrong {id}-known {id}-state"))
                .attr("aria-invalid", attribute(move || if invalid().is_some() { "true" } else { "false" }))
                .prop("value", field::value(app, ConfigField::Model))
                .on(ev::input, move |event| combo.typed(&event_target_value(&event)))
                .on(ev::keydown, move |event| combo.key(&event))
                .on(ev::blur, move |_| combo.close()),
            button(combo),
            list(combo),
        )),
        reactive(move || message().map(|text| html::span().class("wrong").id(format!("{id}-wrong")).child(text))),
        html::span().class("known").id(format!("{}-known", id_of(ConfigField::Model))).child(known),
        html::output()
            .class("help")
            .id(format!("{}-state", id_of(ConfigField::Model)))
            .attr("data-state", attribute(move || if combo.wrong.with(Option::is_some) { "failed" } else { "" }))
            .child(reactive(move || combo.state())),
    ))
}

fn button(combo: Combo) -> impl IntoView {
    let text = move || {
        if combo.asking.get() {
            return "Asking".to_owned();
        }
        combo
            .app
            .settings
            .with(|settings| settings.models())
            .map_or("List models".to_owned(), |models| counted(models.len() as u64, "model"))
    };
    html::button()
        .r#type("button")
        .class("btn quiet")
        .attr("aria-disabled", attribute(move || combo.asking.get().then_some("true")))
        .attr("aria-controls", LIST)
        .attr("aria-expanded", attribute(move || if combo.open.get() { "true" } else { "false" }))
        // The field keeps the focus; otherwise its blur would close the list that is being opened.
        .on(ev::mousedown, |event| event.prevent_default())
        .on(ev::click, move |_| combo.toggle())
        .child((html::span().child(reactive(text)), icon(Icon::Down)))
}

fn list(combo: Combo) -> impl IntoView {
    let options = move || {
        let (shown, more) = combo.shown.get();
        let none = shown.is_empty().then(|| {
            html::li()
                .class("more")
                .attr("role", "presentation")
                .child("No model in the list matches. The name is used as typed.")
        });
        let rest = (more > 0).then(|| {
            html::li()
                .class("more")
                .attr("role", "presentation")
                .child(format!("{} more: type to find them.", counted(more as u64, "model")))
        });
        let rows = shown.into_iter().enumerate().map(|(place, option)| row(combo, place, option));
        (rows.collect_view(), none, rest)
    };
    html::ul()
        .class("options")
        .id(LIST)
        .attr("role", "listbox")
        .attr("aria-label", "Models")
        .attr("hidden", attribute(move || (!combo.open.get()).then_some("")))
        .on(ev::mousedown, |event| event.prevent_default())
        .child(reactive(move || combo.open.get().then(options)))
}

fn row(combo: Combo, place: usize, option: ModelOption) -> impl IntoView {
    let ModelOption { id, name, facts } = option;
    let taken = id.clone();
    html::li()
        .id(option_id(place))
        .attr("role", "option")
        .attr("aria-selected", attribute(move || if combo.active.get() == Some(place) { "true" } else { "false" }))
        .on(ev::click, move |_| combo.take(&taken))
        .child((
            html::span().class("id").child(id),
            html::span().class("facts").child(facts),
            name.map(|name| html::span().class("name").child(name)),
        ))
}

fn option_id(place: usize) -> String {
    format!("model-option-{place}")
}

impl Combo {
    fn typed(self, text: &str) {
        field::set(self.app, ConfigField::Model, text);
        self.filter.set(text.to_owned());
        self.active.set(None);
        if self.has_list() {
            self.open.set(true);
        }
    }

    fn key(self, event: &KeyboardEvent) {
        let open = self.open.get_untracked();
        match event.key().as_str() {
            "ArrowDown" | "ArrowUp" if !open => self.unfold(),
            "ArrowDown" => self.step(1),
            "ArrowUp" => self.step(-1),
            "Enter" if open => self.take_active(),
            // Only the list closes, not the dialog around it.
            "Escape" if open => self.close(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    }

    fn step(self, by: isize) {
        let count = self.shown.with_untracked(|(shown, _)| shown.len());
        let Some(last) = count.checked_sub(1) else { return };
        let next = match (self.active.get_untracked(), by) {
            (None, 1) => 0,
            (None, _) => last,
            (Some(place), 1) => {
                if place >= last {
                    0
                } else {
                    place + 1
                }
            }
            (Some(place), _) => place.checked_sub(1).unwrap_or(last),
        };
        self.active.set(Some(next));
        reveal(&option_id(next));
    }

    fn take_active(self) {
        let active = self.active.get_untracked();
        let id = self.shown.with_untracked(|(shown, _)| shown.get(active?).map(|option| option.id.clone()));
        match id {
            Some(id) => self.take(&id),
            None => self.close(),
        }
    }

    fn take(self, id: &str) {
        field::set(self.app, ConfigField::Model, id);
        self.close();
    }

    fn close(self) {
        self.open.set(false);
        self.active.set(None);
        self.filter.set(String::new());
    }

    fn toggle(self) {
        if self.open.get_untracked() {
            self.close();
        } else {
            self.unfold();
        }
        dom::focus(&id_of(ConfigField::Model));
    }

    fn has_list(self) -> bool {
        self.app.settings.with_untracked(|settings| settings.models().is_some())
    }

    /// Opens the list, after fetching it if necessary.
    fn unfold(self) {
        if self.has_list() {
            self.show();
        } else if !self.asking.get_untracked() {
            self.ask();
        }
    }

    fn show(self) {
        self.open.try_set(true);
        // After it is drawn.
        request_animation_frame(|| reveal(LIST));
    }

    fn ask(self) {
        let (provider, whose) = self.app.settings.with_untracked(|settings| (settings.provider(), settings.whose()));
        if self.app.settings.with_untracked(|settings| settings.address().is_none()) {
            return self.wrong.set(Some("Enter the base URL first: it is missing or wrong.".to_owned()));
        }
        // OpenRouter lists its models to anyone.
        let needs_key = self.provider.key == Need::Needed && self.provider.kind != ProviderKind::Openrouter;
        if needs_key && self.app.key_for(&provider).is_none() {
            return self
                .wrong
                .set(Some(format!("Enter a key first: {} needs one to list its models.", self.provider.name)));
        }
        let Some(line) = self.app.line.get_value() else { return };
        self.asking.set(true);
        self.wrong.set(None);
        spawn_local(async move {
            let (with, provider) = (line.with_no_files(), Box::new(provider));
            let listed = line.ask_for::<Vec<ModelInfo>>(|id| Order::Models { id, with, provider }).await;
            self.asking.try_set(false);
            match listed {
                Ok(models) if models.is_empty() => {
                    self.wrong.try_set(Some("The provider lists no models.".to_owned()));
                }
                Ok(models) => {
                    self.app.settings.update(|settings| settings.hear(whose, Arc::from(models)));
                    self.show();
                }
                Err(error) => {
                    self.wrong.try_set(Some(one_line(&error, 400)));
                }
            }
        });
    }

    fn state(self) -> String {
        match self.wrong.get() {
            Some(wrong) => wrong,
            None if self.asking.get() => "Loading the provider's list of models.".to_owned(),
            None if self.open.get() => {
                let (shown, more) = self.shown.get();
                format!("{} in the list.", counted((shown.len() + more) as u64, "model"))
            }
            None => String::new(),
        }
    }
}

/// Scrolls just far enough to show an element of the list.
fn reveal(id: &str) {
    let Some(element) = dom::document().get_element_by_id(id) else { return };
    let options = js_sys::Object::new();
    let _ = Reflect::set(&options, &"block".into(), &"nearest".into());
    let scroll = Reflect::get(&element, &"scrollIntoView".into()).ok();
    if let Some(scroll) = scroll.and_then(|scroll| scroll.dyn_into::<Function>().ok()) {
        let _ = scroll.call1(&element, &options);
    }
}

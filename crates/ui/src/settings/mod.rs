//! The settings dialog, in tabs: the model and its test, every field of a run's configuration, tools, appearance.

pub mod built_in;
pub mod field;
pub mod key;
pub mod model;
pub mod model_field;
pub mod probe;
pub mod services;
pub mod skills;
pub mod stored;
pub mod tabs;
pub mod web;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement};

use turnwise_view::settings::{ConfigField, FieldError, Group, ROWS, SettingsTab};

use crate::browser::dom;
use crate::browser::storage;
use crate::browser::theme::Theme;
use crate::components::dialog::dialog;
use crate::components::icon;
use crate::components::reactive::{attribute, flag, reactive};
use crate::parts::{later, parts};
use crate::state::{App, Dialog};

const STORED: &str = "turnwise.settings";
const THEME: &str = "turnwise.theme";

/// Restores what was set on an earlier visit, and saves changes from now on.
pub fn keep(app: App) {
    if let Some(text) = storage::load(STORED) {
        app.settings.set(turnwise_view::settings::UserSettings::from_json(&text));
    }
    if let Some(key) = storage::load(THEME) {
        app.theme.set(Theme::of_key(&key));
    }
    app.keys.set(crate::connect::keys::Keys::load());
    Effect::new(move || app.settings.with(|settings| storage::save(STORED, &settings.to_json())));
    Effect::new(move || storage::save(THEME, app.theme.get().key()));
}

pub fn settings(app: App) -> impl IntoView {
    dialog(app, Dialog::Settings, "settings", "Settings", move || later(settings_part(app)))
}

/// All errors in the settings, updated as the user types.
type Errors = Memo<Vec<FieldError>>;

parts! {
    settings: settings_part(app: App) => content(app);
}

fn content(app: App) -> impl IntoView {
    // An empty field is no mistake before the user has been there, or has tried to run with it, and no value is one while it is
    // being written.
    let left = RwSignal::new(Vec::<String>::new());
    let written = RwSignal::new(String::new());
    let errors: Errors = Memo::new(move |_| {
        app.settings.with(|settings| {
            let mut errors = settings.build(Vec::new()).err().unwrap_or_default();
            errors.retain(|error| {
                let (id, is_empty) = (id_of(error.field), settings.value(error.field).trim().is_empty());
                let is_due = !is_empty || app.connect().refused.get() || left.with(|left| left.contains(&id));
                is_due && written.with(|written| *written != id)
            });
            errors
        })
    });
    on_cleanup(move || app.connect().refused.set(false));
    let id = |event: &web_sys::FocusEvent| {
        let field = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        field.map(|field| field.id()).unwrap_or_default()
    };
    let enter = move |event: web_sys::FocusEvent| {
        let id = id(&event);
        // A value that was found wrong is judged while it is corrected.
        let is_wrong = errors.with_untracked(|errors| errors.iter().any(|error| id_of(error.field) == id));
        written.set(if is_wrong { String::new() } else { id });
    };
    let leave = move |event: web_sys::FocusEvent| {
        left.update(|left| left.push(id(&event)));
        written.set(String::new());
    };
    let target = |event: &web_sys::Event| event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
    let change = move |event: web_sys::Event| {
        if target(&event).is_some_and(|field| field.name() == "provider") {
            left.set(Vec::new());
        }
    };
    let open = RwSignal::new(SettingsTab::default());
    // Something that holds a skill was dropped.
    Effect::new(move || {
        if app.own_skills().page.asked.with(Option::is_some) {
            open.set(SettingsTab::Skills);
        }
    });
    Effect::new(move || {
        app.own_skills().page.open.set(open.get() == SettingsTab::Skills);
        app.services().open.set(open.get() == SettingsTab::Services);
    });
    on_cleanup(move || {
        app.services().open.set(false);
        app.own_skills().page.open.set(false);
        app.take_dropped(None);
    });
    let wrong = move || match errors.with(Vec::len) {
        0 if open.get() == SettingsTab::Appearance => "Saved.".to_owned(),
        0 if app.settings.with(|settings| settings.build(Vec::new()).is_err()) => "Not complete yet.".to_owned(),
        0 if app.settings.with(turnwise_view::settings::UserSettings::names_no_model) => {
            "Saved. No model is named: the server chooses one.".to_owned()
        }
        0 => "Saved. Applies to your next run.".to_owned(),
        1 => "One value is wrong.".to_owned(),
        more => format!("{more} values are wrong."),
    };
    let body = NodeRef::<html::Div>::new();
    // Each tab begins at its top.
    Effect::new(move || {
        open.track();
        if let Some(body) = body.get_untracked() {
            body.set_scroll_top(0);
        }
    });
    let first_wrong = move || {
        errors.with(|errors| errors.first().map(|error| (crate::settings::tabs::tab_of(error), id_of(error.field))))
    };
    if let Some((tab, _)) = untrack(first_wrong).filter(|_| app.connect().refused.get_untracked()) {
        open.set(tab);
    }
    let is_elsewhere = move || first_wrong().is_some_and(|(tab, _)| tab != open.get());
    let show = move |_| {
        if let Some((tab, id)) = untrack(first_wrong) {
            open.set(tab);
            // Once its panel is shown.
            set_timeout(move || dom::select(&id), std::time::Duration::ZERO);
        }
    };
    (
        crate::settings::tabs::list(open, errors),
        html::div()
            .class("dialog-body")
            .node_ref(body)
            .on(ev::focusin, enter)
            .on(ev::focusout, leave)
            .on(ev::change, change)
            .child((
                crate::settings::tabs::panel(SettingsTab::Model, open, crate::settings::model::model(app, errors)),
                crate::settings::tabs::panel(
                    SettingsTab::Run,
                    open,
                    (
                        group(app, Group::Run, errors),
                        folded(app, Group::Report, errors),
                        folded(app, Group::Counter, errors),
                        folded(app, Group::Synthesis, errors),
                    ),
                ),
                crate::settings::tabs::panel(SettingsTab::Tools, open, (group(app, Group::Tools, errors), tools(app))),
                crate::settings::tabs::panel(SettingsTab::Web, open, crate::settings::web::web(app, errors)),
                crate::settings::tabs::panel(SettingsTab::Services, open, crate::settings::services::services(app)),
                crate::settings::tabs::panel(SettingsTab::Skills, open, crate::settings::skills::skills(app)),
                crate::settings::tabs::panel(
                    SettingsTab::Limits,
                    open,
                    (
                        group(app, Group::Limits, errors),
                        folded(app, Group::Prices, errors),
                        folded(app, Group::Deadlines, errors),
                        folded(app, Group::Retries, errors),
                    ),
                ),
                crate::settings::tabs::panel(SettingsTab::Appearance, open, appearance(app)),
                crate::settings::tabs::panel(SettingsTab::Storage, open, crate::settings::stored::storage(app, open)),
            )),
        html::div().class("dialog-foot").child((
            html::span().class("grow").child((
                html::span().attr("role", "status").child(reactive(wrong)),
                reactive(move || {
                    is_elsewhere().then(|| {
                        html::button().r#type("button").class("btn bare small").on(ev::click, show).child("Show it")
                    })
                }),
            )),
            html::button()
                .r#type("button")
                .class("btn quiet")
                .attr("hidden", attribute(move || is_apart(open.get()).then_some("")))
                .attr("title", "Reset everything but the model to the values of the preset")
                .on(ev::click, move |_| app.settings.update(turnwise_view::settings::UserSettings::reset))
                .child("Reset to preset"),
            html::button()
                .r#type("button")
                .class("btn primary")
                .on(ev::click, move |_| app.dialog.set(None))
                .child("Done"),
        )),
    )
}

/// Whether a tab has nothing that a preset sets.
fn is_apart(tab: SettingsTab) -> bool {
    matches!(tab, SettingsTab::Appearance | SettingsTab::Skills | SettingsTab::Web | SettingsTab::Services)
}

/// Draws a group that is always open.
fn group(app: App, group: Group, errors: Errors) -> impl IntoView {
    html::fieldset()
        .class("group")
        .child((html::legend().child(group.title()), html::div().class("grid").child(fields(app, group, errors))))
}

pub fn fields(app: App, group: Group, errors: Errors) -> Vec<AnyView> {
    let rows = ROWS.iter().filter(|row| row.group == group);
    rows.map(|row| crate::settings::field::field(app, row, errors).into_any()).collect()
}

/// Draws a group that most people leave alone: collapsed, with a summary of its values next to its name.
fn folded(app: App, group: Group, errors: Errors) -> impl IntoView {
    let has_error = move || {
        errors.with(|errors| errors.iter().any(|error| error.field.row().is_some_and(|row| row.group == group)))
    };
    let summary = move || {
        if has_error() { "a value is wrong".to_owned() } else { app.settings.with(|settings| settings.summary(group)) }
    };
    let applies = move || app.settings.with(|settings| settings.group_applies(group));
    let shown = html::details().class("group").attr("open", attribute(move || has_error().then_some("")));
    shown.attr("hidden", attribute(move || (!applies()).then_some(""))).child((
        html::summary().child((icon::chevron(), group.title(), html::span().class("fact").child(summary))),
        html::div().class("grid").child(fields(app, group, errors)),
    ))
}

fn tools(app: App) -> impl IntoView {
    let all = turnwise_tools::all();
    let count = all.len();
    let names: Vec<String> = all.iter().map(|tool| tool.name.clone()).collect();
    let summary = move || {
        let offered = app.settings.with(|settings| names.iter().filter(|name| settings.tool_offered(name)).count());
        format!("{offered} of {count} offered")
    };
    let boxes = all.into_iter().map(|tool| {
        let id = format!("tool-{}", tool.name);
        let is_search = tool.name == turnwise_engine::own_tools::SEARCH_WEB;
        let (shown, toggled) = (tool.name.clone(), tool.name.clone());
        let lacks_service =
            Memo::new(move |_| is_search && app.settings.with(|settings| settings.search_address().is_none()));
        html::div().class("check").child((
            html::input()
                .r#type("checkbox")
                .id(id.clone())
                .prop("disabled", flag(move || lacks_service.get()))
                .prop("checked", flag(move || app.settings.with(|settings| settings.tool_offered(&shown))))
                .on(ev::change, move |_| app.settings.update(|settings| settings.toggle_tool(&toggled))),
            html::label().r#for(id).child(html::code().child(tool.name)),
            html::span().class("help").child((
                first_sentence(&tool.description),
                reactive(move || lacks_service.get().then_some(" Choose a search service under Web first.")),
            )),
        ))
    });
    html::fieldset().class("group").child((
        html::legend().child(("Tools ", html::span().class("fact").child(reactive(summary)))),
        html::div().class("grid").child(boxes.collect_view()),
    ))
}

/// The descriptions are for models.
fn first_sentence(text: &str) -> String {
    text.split_inclusive(". ").next().unwrap_or_default().trim().to_owned()
}

fn appearance(app: App) -> impl IntoView {
    let buttons = Theme::ALL.map(|theme| {
        html::button()
            .r#type("button")
            .attr("aria-pressed", attribute(move || if app.theme.get() == theme { "true" } else { "false" }))
            .on(ev::click, move |_| app.theme.set(theme))
            .child(theme.label())
    });
    html::fieldset().class("group").child((
        html::legend().child("Theme"),
        html::div().child(html::div().class("segmented").child(buttons.into_iter().collect_view())),
    ))
}

/// Returns the element id of a field.
pub fn id_of(field: ConfigField) -> String {
    format!("setting-{}", field.key())
}

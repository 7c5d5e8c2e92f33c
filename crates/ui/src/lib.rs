//! The app's page. WASM -> view, the app's worker, shell. One component per file.
//!
//! Components draw what `view` makes of the worker's reports, and send orders to the worker; they hold no rules. Elements
//! are created by leptos' builders and by `web_sys`, never from HTML text, so that nothing a model writes can become
//! markup. Deliberately absent: the run's rules (`engine`), its texts (`view`), its requests (`shell`).
#![cfg(target_arch = "wasm32")]

#[macro_use]
mod features;

mod actions;
mod answer;
mod branch;
mod browser;
mod client;
mod compare;
mod components;
mod composer;
mod connect;
mod files;
#[cfg(feature = "test-tools")]
mod gallery;
mod list;
mod log;
mod palette;
mod parts;
mod permissions;
mod plans;
mod route;
pub mod run_facts;
mod services;
mod settings;
mod skills;
mod start;
mod state;
mod store;
pub mod text;
mod transcript;
mod viewer;

features! { insight }

/// Pages that only their address leads to.
const HIDDEN: &[&features::Feature] = &[
    #[cfg(feature = "test-tools")]
    &gallery::FEATURE,
];

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::components::reactive::{attribute, reactive};
use crate::state::App;

/// Mounts the app in the document's body, in place of what was shown while it loaded.
pub fn mount() {
    // A panic is a bug in this app: report its location in the console, instead of a bare `unreachable`.
    std::panic::set_hook(Box::new(|info| web_sys::console::error_1(&info.to_string().into())));
    if let Some(boot) = crate::browser::dom::document().get_element_by_id("boot") {
        boot.remove();
    }
    // `www/app/boot.js` starts workers in the way that the page's policy asks for.
    let make = js_sys::Reflect::get(&js_sys::global(), &"turnwiseWorker".into()).ok();
    turnwise::worker::make_by(make.and_then(|make| make.dyn_into().ok()));
    leptos::mount::mount_to_body(app);
}

fn app() -> impl IntoView {
    let app = App::new();
    crate::settings::keep(app);
    crate::composer::drafts::keep(app);
    crate::connect::signin::come_back(app);
    crate::plans::editor::keep(app);
    crate::browser::theme::follow(app.theme);
    crate::palette::keyboard::listen(app);
    crate::browser::focus::listen();
    crate::files::samples::keep(app);
    crate::client::news::listen(app);
    crate::services::keep(app);
    crate::files::kept_files::load(app);
    crate::list::kept_records::keep(app);
    clock(app);
    title(app);
    mentions(app);
    app.search_answers(app.list().search, app.list().found);
    let rail_open = move || if app.rail_open.get() { "open" } else { "closed" };
    crate::viewer::listen(app);
    crate::route::listen(app);
    crate::transcript::store::listen(app);
    let view = move || if app.feature.with(Option::is_some) { "page" } else { app.view.get().name() };
    let state = move || match app.current.get() {
        Some(_) => "run",
        None if app.feature.with(Option::is_some) => "page",
        None => "start",
    };
    let dragged = RwSignal::new(false);
    let div = html::div().class("app").attr("data-rail", attribute(rail_open)).attr("data-view", attribute(view));
    div.attr("data-dragged", attribute(move || dragged.get().then_some(""))).child((
        crate::browser::focus::skip_link(app),
        crate::list::bar(app),
        crate::list::rail(app),
        html::button()
            .r#type("button")
            .class("scrim")
            .attr("aria-label", "Close the list of runs")
            .on(leptos::ev::click, move |_| app.rail_open.set(false)),
        html::main().class("main").attr("data-state", attribute(state)).child((
            crate::features::page(app),
            crate::start::hello(app),
            crate::viewer::bar(app),
            crate::transcript::transcript(app),
            crate::viewer::viewer(app),
            crate::composer::composer(app),
            crate::start::connect(app),
            crate::start::left_open(app),
            crate::start::recent(app),
            crate::start::examples(app),
        )),
        crate::run_facts::panel(app),
        crate::settings::settings(app),
        crate::connect::dialog::connect(app),
        crate::files::files(app),
        crate::log::log(app),
        crate::branch::branch(app),
        crate::palette::palette(app),
        crate::palette::keys(app),
        crate::plans::editor::editor(app),
        crate::composer::drop::zone(app, dragged),
        crate::browser::update::notice(),
        crate::viewer::handed(app),
        html::p().class("hidden").attr("role", "status").child(reactive(move || app.announcement())),
    ))
}

/// Updates countdowns and elapsed times while a run is open; a tab with an open run asks before it closes.
fn clock(app: App) {
    let open = Memo::new(move |_| app.threads.get().iter().any(|thread| thread.rail.with(|rail| rail.tone.is_none())));
    Effect::new(move |old: Option<Option<IntervalHandle>>| {
        if let Some(Some(old)) = old {
            old.clear();
        }
        let every = std::time::Duration::from_millis(200);
        open.get().then(|| set_interval_with_handle(move || app.tick(), every).ok()).flatten()
    });
    let _ = window_event_listener(leptos::ev::beforeunload, move |event| {
        if open.get_untracked() {
            event.prevent_default();
        }
    });
}

/// Keeps the list of the files that an answer can mention.
fn mentions(app: App) {
    let paths = Memo::new(move |_| app.files().into_iter().map(|row| row.path).collect::<Vec<_>>().join("\n"));
    Effect::new(move || paths.with(|paths| crate::browser::scripts::files(paths)));
}

/// Shows the state of the run in the document's title, for users who are in another tab.
fn title(app: App) {
    let title = Memo::new(move |_| match app.open_title() {
        Some(title) if !title.is_empty() => format!("{title} · Turnwise"),
        _ => "Turnwise".to_owned(),
    });
    Effect::new(move || crate::browser::dom::document().set_title(&title.get()));
}

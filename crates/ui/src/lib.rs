//! The app's page. WASM -> view, the app's worker, shell. One component per file.
//!
//! Components draw what `view` makes of the worker's reports, and send orders to the worker; they hold no rules. Elements
//! are created by leptos' builders and by `web_sys`, never from HTML text, so that nothing a model writes can become
//! markup. Deliberately absent: the run's rules (`engine`), its texts (`view`), its requests (`shell`).
#![cfg(target_arch = "wasm32")]

mod actions;
mod answer;
mod app_worker;
mod archive;
mod attempt;
mod branch;
mod call;
mod chunks;
mod clipboard;
mod composer;
mod dialog;
mod dom;
mod drafts;
mod drop;
mod ending;
mod export;
mod figure;
mod files;
mod focus;
mod folder;
mod follow;
mod gzip;
mod icon;
mod insight;
pub mod json;
mod kept_files;
mod kept_records;
mod keyboard;
mod keys;
mod lane;
mod library;
mod live;
mod log;
pub mod markdown;
mod menu;
pub mod meter;
mod models_used;
mod news;
mod notes;
mod notify;
mod original;
mod page;
mod palette;
mod panel;
mod permit;
mod pictures;
mod pieces;
mod plan;
mod prose;
mod queue;
mod quote;
mod rail;
mod reactive;
mod render;
mod report;
mod route;
mod samples;
mod scripts;
mod settings;
mod signin;
mod skill_page;
mod skills;
pub mod slack;
mod slots;
mod start;
mod state;
mod storage;
mod stored_runs;
mod switcher;
mod theme;
mod toast;
mod transcript;
mod turn;
mod update;
mod versions;
mod viewer;
mod written;

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use reactive::{attribute, reactive};
use state::App;

/// Mounts the app in the document's body, in place of what was shown while it loaded.
pub fn mount() {
    // A panic is a bug in this app: report its location in the console, instead of a bare `unreachable`.
    std::panic::set_hook(Box::new(|info| web_sys::console::error_1(&info.to_string().into())));
    if let Some(boot) = dom::document().get_element_by_id("boot") {
        boot.remove();
    }
    // `www/app/boot.js` starts workers in the way that the page's policy asks for.
    let make = js_sys::Reflect::get(&js_sys::global(), &"turnwiseWorker".into()).ok();
    turnwise::worker::make_by(make.and_then(|make| make.dyn_into().ok()));
    leptos::mount::mount_to_body(app);
}

fn app() -> impl IntoView {
    let app = App::new();
    settings::keep(app);
    drafts::keep(app);
    signin::come_back(app);
    plan::editor::keep(app);
    theme::follow(app.theme);
    keyboard::listen(app);
    focus::listen();
    samples::load(app);
    news::listen(app);
    kept_files::load(app);
    kept_records::keep(app);
    clock(app);
    title(app);
    mentions(app);
    app.search_answers(app.search, app.found);
    let rail_open = move || if app.rail_open.get() { "open" } else { "closed" };
    viewer::listen(app);
    route::listen(app);
    let view = move || app.view.get().name();
    let dragged = RwSignal::new(false);
    let div = html::div().class("app").attr("data-rail", attribute(rail_open)).attr("data-view", attribute(view));
    div.attr("data-dragged", attribute(move || dragged.get().then_some(""))).child((
        rail::bar(app),
        rail::rail(app),
        html::button()
            .r#type("button")
            .class("scrim")
            .attr("aria-label", "Close the list of runs")
            .on(leptos::ev::click, move |_| app.rail_open.set(false)),
        html::main()
            .class("main")
            .attr("data-state", attribute(move || if app.current.get().is_some() { "run" } else { "start" }))
            .child((
                start::hello(app),
                viewer::bar(app),
                transcript::transcript(app),
                viewer::viewer(app),
                composer::composer(app),
                start::connect(app),
                start::left_open(app),
                start::examples(app),
            )),
        panel::panel(app),
        settings::settings(app),
        files::files(app),
        log::log(app),
        branch::branch(app),
        insight::insight(app),
        palette::palette(app),
        palette::keys(app),
        plan::editor::editor(app),
        drop::zone(app, dragged),
        update::notice(),
        viewer::handed(app),
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
    Effect::new(move || paths.with(|paths| scripts::files(paths)));
}

/// Shows the state of the run in the document's title, for users who are in another tab.
fn title(app: App) {
    let title = Memo::new(move |_| match app.open_title() {
        Some(title) if !title.is_empty() => format!("{title} · Turnwise"),
        _ => "Turnwise".to_owned(),
    });
    Effect::new(move || dom::document().set_title(&title.get()));
}

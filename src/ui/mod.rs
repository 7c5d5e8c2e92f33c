//! The app's page. WASM -> view, shell. One component a file.
//!
//! Components draw what `view` says and send what the user wants; they hold no rules. Elements are made by leptos'
//! builders and by `web_sys`, never from HTML text, so that nothing a model writes can become markup. Deliberately
//! absent: the run's rules (`engine`), its words (`view`), its requests (`shell`).

mod actions;
mod call;
mod composer;
mod dom;
mod ending;
mod icon;
mod meter;
mod page;
mod panel;
mod prose;
mod rail;
mod start;
mod state;
mod theme;
mod transcript;
mod turn;

#[cfg(debug_assertions)]
mod fixture;

use leptos::html;
use leptos::prelude::*;

use state::App;

/// Mounts the app in the document's body, in place of what stood there while it loaded.
pub fn mount() {
    if let Some(boot) = dom::document().get_element_by_id("boot") {
        boot.remove();
    }
    leptos::mount::mount_to_body(app);
}

fn app() -> impl IntoView {
    let app = App::new();
    #[cfg(debug_assertions)]
    fixture::load(app);
    theme::follow(app);
    let rail_open = move || if app.rail_open.get() { "open" } else { "closed" };
    html::div().class("app").attr("data-rail", rail_open).child((
        rail::bar(app),
        rail::rail(app),
        html::button()
            .r#type("button")
            .class("scrim")
            .attr("aria-label", "Close the list of runs")
            .on(leptos::ev::click, move |_| app.rail_open.set(false)),
        html::main()
            .class("main")
            .attr("data-state", move || if app.page().is_some() { "run" } else { "start" })
            .child((start::hello(app), transcript::transcript(app), composer::composer(app), start::examples(app))),
        panel::panel(app),
        html::p().class("hidden").attr("role", "status").child(move || app.announcement()),
    ))
}

//! Tables and charts in results, and texts of files: a worker finds them and lays them out; `www/app/figure.js` and `www/app/preview.js`,
//! which load when they are first needed, draw them.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_protocol::DocumentTask;

use crate::browser::scripts::{draw, show};
use crate::state::App;

/// Draws the figure in a text, if there is one, whenever the text changes.
pub fn figure(
    app: App,
    task: DocumentTask,
    text: impl Fn() -> Option<String> + Send + Sync + 'static,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    Effect::new(move || {
        let (Some(text), Some(place)) = (text(), place.get()) else { return };
        let renderer = app.renderer.get_value();
        spawn_local(async move {
            if let Some(figure) = renderer.figure(task, text).await {
                draw(&place, &figure);
            }
        });
    });
    html::div().class("figure-place").node_ref(place)
}

/// Draws the text of a file, at a place of it such as `page 7` or `line 12`.
pub fn file_text(text: String, at: String) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    place.on_load(move |place| show(&place, &text, &at));
    html::div().class("preview").attr("tabindex", "0").node_ref(place)
}

//! Tables and charts in results: a worker finds and lays them out, and `www/figure.js`, which loads with the first one, draws
//! them.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::Element;

use crate::protocol::DocumentTask;

use super::state::App;

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

#[wasm_bindgen]
extern "C" {
    /// Defined in `www/boot.js`.
    #[wasm_bindgen(js_name = turnwiseFigure)]
    fn draw(place: &Element, figure: &str);
}

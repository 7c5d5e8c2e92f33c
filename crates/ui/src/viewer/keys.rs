//! Keys of the replay: arrows step, Home and End go to the first and last step, space plays.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::state::App;
use crate::viewer::state::View;

pub fn listen(app: App) {
    let _ = window_event_listener(ev::keydown, move |event| {
        let other =
            event.ctrl_key() || event.meta_key() || event.alt_key() || event.shift_key() || event.default_prevented();
        if other || app.view.get_untracked() != View::Replay || app.dialog.get_untracked().is_some() {
            return;
        }
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let on =
            |selector: &str| target.as_ref().is_some_and(|target| target.closest(selector).ok().flatten().is_some());
        // The slider and other fields keep their own keys; space presses a focused button.
        if on("input, textarea, select") || (event.key() == " " && on("button, summary, a")) {
            return;
        }
        let Some(stage) = app.replays().stage.get_untracked() else { return };
        match event.key().as_str() {
            "ArrowRight" => stage.step(app, 1),
            "ArrowLeft" => stage.step(app, -1),
            "Home" => stage.step(app, isize::MIN),
            "End" => stage.step(app, isize::MAX),
            " " => stage.play(app),
            _ => return,
        }
        event.prevent_default();
    });
}

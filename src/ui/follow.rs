//! Following the end of the document while it grows, unless the reader went up to read.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::Element;

use super::dom;
use super::icon::{Icon, icon};
use super::state::App;

/// The scrolling element.
pub const TRANSCRIPT: &str = "transcript";
/// So close to the end is at the end.
const NEAR: i32 = 80;

/// Notes where the reader is.
pub fn scrolled(app: App) {
    let at_end = scroller().is_none_or(|it| it.scroll_height() - it.scroll_top() - it.client_height() < NEAR);
    if app.at_end.get_untracked() != at_end {
        app.at_end.set(at_end);
    }
}

/// After the page has drawn: to the end, if the reader was there.
pub fn keep_up(app: App) {
    if app.at_end.get_untracked() {
        let go = Closure::once_into_js(to_end);
        let _ = dom::window().request_animation_frame(go.unchecked_ref());
    }
}

pub fn to_end() {
    if let Some(scroller) = scroller() {
        scroller.set_scroll_top(scroller.scroll_height());
    }
}

/// Back to the end, where the reader left it.
pub fn latest(app: App) -> impl IntoView {
    move || {
        (!app.at_end.get() && app.running()).then(|| {
            html::button()
                .r#type("button")
                .class("btn quiet small latest")
                .on(ev::click, move |_| {
                    app.at_end.set(true);
                    to_end();
                })
                .child((icon(Icon::Down), "Latest turn"))
        })
    }
}

fn scroller() -> Option<Element> {
    dom::document().get_element_by_id(TRANSCRIPT)
}

//! Keys that work unless the user is typing; palette.rs lists them.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, FocusOptions, HtmlElement, KeyboardEvent};

use super::state::{App, Dialog};
use super::viewer::state::View;
use super::{dom, follow};

pub fn listen(app: App) {
    keep_place();
    let _ = window_event_listener(ev::keydown, move |event| {
        // The browser has closed it, and will tell soon.
        if app.dialog.get_untracked().is_some() && !is_dialog_open() {
            app.dialog.set(None);
        }
        let command =
            if is_mac() { event.meta_key() && !event.ctrl_key() } else { event.ctrl_key() && !event.meta_key() };
        let plain = !event.alt_key() && !event.shift_key();
        let elsewhere = app.dialog.get_untracked().is_some_and(|dialog| dialog != Dialog::Palette);
        if command && plain && !elsewhere && event.key().eq_ignore_ascii_case("k") && !event.default_prevented() {
            event.prevent_default();
            return app.toggle_palette();
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() || event.default_prevented() {
            return;
        }
        if event.key() == "Escape" {
            app.rail_open.set(false);
            app.panel_open.set(false);
            if app.dialog.get_untracked().is_none() && matches!(app.view.get_untracked(), View::Compare(_)) {
                app.look(View::Transcript);
            }
            return;
        }
        if typing(&event) || app.dialog.get_untracked().is_some() {
            return;
        }
        match event.key().as_str() {
            "n" | "N" => {
                event.prevent_default();
                app.new_run();
            }
            "l" | "L" if app.page().is_some() => {
                event.prevent_default();
                app.dialog.set(Some(Dialog::Log));
            }
            "?" => {
                event.prevent_default();
                app.dialog.set(Some(Dialog::Keys));
            }
            "j" | "J" => follow::to_turn(app, true),
            "k" | "K" => follow::to_turn(app, false),
            "/" => {
                event.prevent_default();
                dom::focus(dom::TASK);
            }
            _ => {}
        }
    });
}

/// A control that is gone takes the focus with it, and Tab would start at the top of the page. It goes on where the control was: in
/// what is left of the parts of the page around it.
fn keep_place() {
    let around: StoredValue<Vec<Element>, LocalStorage> = StoredValue::new_local(Vec::new());
    let _ = window_event_listener(ev::focusin, move |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        around.set_value(std::iter::successors(target, |part| part.parent_element()).collect());
    });
    let _ = window_event_listener(ev::keydown, move |event| {
        let is_lost = || dom::document().active_element().is_none_or(|active| active.tag_name() == "BODY");
        if event.key() != "Tab" || !is_lost() {
            return;
        }
        let left = around.with_value(|around| around.iter().find(|part| part.is_connected()).cloned());
        if let Some(part) =
            left.and_then(|part| part.dyn_into::<HtmlElement>().ok()).filter(|part| part.tag_name() != "BODY")
        {
            if part.tab_index() < 0 {
                let _ = part.set_attribute("tabindex", "-1");
            }
            let quietly = FocusOptions::new();
            quietly.set_prevent_scroll(true);
            let _ = part.focus_with_options(&quietly);
        }
    });
}

fn is_dialog_open() -> bool {
    dom::document().query_selector("dialog[open]").is_ok_and(|open| open.is_some())
}

/// On a Mac, Ctrl+K deletes to the end of a line.
fn is_mac() -> bool {
    dom::window().navigator().platform().is_ok_and(|platform| platform.starts_with("Mac"))
}

fn typing(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    target.is_some_and(|element| {
        matches!(element.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
            || element.has_attribute("contenteditable")
    })
}

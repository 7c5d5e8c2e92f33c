//! Keys that work unless the user is typing; mod.rs lists them.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlSelectElement, KeyboardEvent};

use crate::browser::dom;
use crate::browser::focus;
use crate::state::{App, Dialog};
use crate::transcript::follow;
use crate::viewer::state::View;

/// How long a choice takes in letters as the beginning of an option, in milliseconds.
const SPELLS: f64 = 1500.0;

pub fn listen(app: App) {
    let spelled = StoredValue::new(f64::MIN);
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
        // Where a full stop is on the upper half of its key, Shift is held too.
        let stops = command && event.key() == "." && !event.alt_key() && !event.default_prevented();
        if stops && app.dialog.get_untracked().is_none() && untrack(|| app.stop_what_runs()) {
            return event.prevent_default();
        }
        let undoes = command && plain && event.key().eq_ignore_ascii_case("z") && !event.default_prevented();
        // An empty task box has no typing to undo. The focus may have moved there when the open run was deleted.
        let is_offered = || app.toast.with_untracked(|toast| toast.as_ref().is_some_and(|toast| toast.undo.is_some()));
        let writes = |active: &Element| {
            let is_empty_task = active.id() == dom::TASK && app.composer().draft.with_untracked(String::is_empty);
            focus::is_field(active) && !(is_empty_task && is_offered())
        };
        if undoes && !focus::active().as_ref().is_some_and(writes) {
            if app.undo_last() {
                // Or the browser would undo typing in the task box, too, and move the focus there.
                event.prevent_default();
            }
            return;
        }
        if command && plain && event.key() == "Enter" && !event.default_prevented() {
            let sends = dom::document().query_selector("dialog[open] .dialog-foot .btn.primary").ok().flatten();
            if let Some(sends) = sends.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
                event.prevent_default();
                sends.click();
            }
            return;
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() || event.default_prevented() {
            return;
        }
        if event.key() == "Escape" {
            // The browser closes a menu, and nothing around it.
            if dom::document().query_selector(":popover-open").ok().flatten().is_some() {
                return;
            }
            let closes = app.rail_open.get_untracked() || app.panel_open.get_untracked();
            app.rail_open.set(false);
            app.panel_open.set(false);
            let writes = focus::active().is_some_and(|active| active.id() == dom::TASK);
            if closes || event.is_composing() || app.dialog.get_untracked().is_some() {
                return;
            }
            if writes {
                let _ = focus::home();
            } else if app.feature.with_untracked(Option::is_some) {
                app.close_feature();
            } else if matches!(app.view.get_untracked(), View::Compare(_)) {
                app.look(View::Transcript);
            }
            return;
        }
        if typing(&event, spelled) || app.dialog.get_untracked().is_some() {
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

fn is_dialog_open() -> bool {
    dom::document().query_selector("dialog[open]").is_ok_and(|open| open.is_some())
}

/// On a Mac, Ctrl+K deletes to the end of a line.
fn is_mac() -> bool {
    dom::window().navigator().platform().is_ok_and(|platform| platform.starts_with("Mac"))
}

/// Whether a key goes to a field, or changes a choice: a letter goes to the option that begins with it.
fn typing(event: &KeyboardEvent, spelled: StoredValue<f64>) -> bool {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return false };
    let Some(choice) = target.dyn_ref::<HtmlSelectElement>() else { return focus::is_field(&target) };
    let key = event.key().to_lowercase();
    let mut options = (0..choice.length()).filter_map(|at| choice.item(at)?.text_content());
    let begins = options.any(|option| option.trim_start().to_lowercase().starts_with(&key));
    let now = dom::uptime();
    let goes_on = now - spelled.get_value() < SPELLS;
    if begins || goes_on {
        spelled.set_value(now);
    }
    begins || goes_on
}

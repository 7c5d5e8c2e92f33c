//! Follows the end of the document while it grows, unless the reader has scrolled up to read.
//!
//! Invariant: only the reader leaves the end. Growth of the document, however much at once, never counts as leaving it.

use std::cell::Cell;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, FocusOptions, HtmlElement};

use crate::browser::dom;
use crate::browser::focus;
use crate::client::slots::RunPage;
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::state::App;

/// The id of the scrolling element.
pub const TRANSCRIPT: &str = "transcript";
/// Distance from the end, in pixels, that still counts as the end.
const NEAR: i32 = 32;

/// Room above a turn that was scrolled to, in pixels.
const ABOVE: f64 = 16.0;

// The scroll position of the transcript at its last scroll event, or where it was scrolled to since.
thread_local!(static TOP: Cell<i32> = const { Cell::new(0) });

/// Notes the position of the reader.
pub fn scrolled(app: App) {
    let Some(it) = scroller() else { return };
    let now = it.scroll_top();
    let before = TOP.replace(now);
    let at_end = it.scroll_height() - now - it.client_height() < NEAR;
    note(app, &it);
    // Text may arrive faster than scroll events: being far from the end is not enough, the reader must have scrolled
    // up.
    if at_end || now < before {
        set_at_end(app, at_end);
    } else if app.reading().at_end.get_untracked() {
        // What shrinks and grows again in one frame has kept its size, but not its place.
        to_end();
    }
}

/// Notes whether there is anything below what is in sight.
fn note(app: App, it: &Element) {
    let is_below = it.scroll_height() - it.scroll_top() - it.client_height() >= NEAR;
    if app.reading().below.get_untracked() != is_below {
        app.reading().below.set(is_below);
    }
    if !is_below && app.reading().unseen.get_untracked() {
        app.reading().unseen.set(false);
    }
}

/// Sets whether the reader is at the end from now on.
pub fn set_at_end(app: App, at_end: bool) {
    if app.reading().at_end.get_untracked() != at_end {
        app.reading().at_end.set(at_end);
    }
    if at_end && app.reading().unseen.get_untracked() {
        app.reading().unseen.set(false);
    }
}

/// Follows growth that is not drawn here, such as text rendered by a worker.
pub fn watch(app: App, it: &Element, column: &Element) {
    dom::on_resize(&[it, column], move || match app.reading().at_end.try_get_untracked() {
        Some(true) => to_end(),
        Some(false) => scroller().iter().for_each(|it| note(app, it)),
        None => {}
    });
}

/// Scrolls to the end of what was just changed, if the reader was at the end, in a task of its own: it lays out the page, which
/// together with painting would be a long task on a slow processor.
pub fn keep_up(app: App) {
    if app.reading().at_end.get_untracked() {
        dom::later(0, to_end);
    }
}

/// The same after a small change, in the task that made it, also for a reader who is elsewhere: the next frame only has to paint it.
pub fn keep_up_at_once(app: App) {
    // After the effects of the change.
    spawn_local(async move {
        if app.reading().at_end.try_get_untracked() == Some(true) {
            to_end();
        } else if let Some(it) = scroller() {
            let _ = it.scroll_height();
        }
    });
}

/// Scrolls to the beginning. Another run may have been shown in the same element before.
pub fn to_start() {
    if let Some(scroller) = scroller() {
        scroller.set_scroll_top(0);
    }
}

pub fn to_end() {
    if let Some(scroller) = scroller() {
        scroller.set_scroll_top(scroller.scroll_height());
        // A text that became shorter moved the reader up: its scroll event, which comes later, is not the reader's.
        TOP.set(scroller.scroll_top());
    }
}

/// Scrolls to the next or the previous turn, and moves the focus there, so that a screen reader reads it. It counts from the turn
/// that has the focus, if that is in view, since the last turns cannot be scrolled to the top.
pub fn to_turn(app: App, next: bool) {
    let pages = app.thread_now().map(|thread| thread.pages.get_untracked()).unwrap_or_default();
    if !pages.iter().any(|page| page.folded.get_untracked()) {
        return go_to_turn(app, next);
    }
    set_at_end(app, false);
    pages.iter().for_each(RunPage::unfold);
    // Once the turns are there.
    request_animation_frame(move || go_to_turn(app, next));
}

fn go_to_turn(app: App, next: bool) {
    let Some(it) = scroller() else { return };
    let Ok(list) = it.query_selector_all("section.turn") else { return };
    let turns: Vec<HtmlElement> = (0..list.length()).filter_map(|at| list.get(at)?.dyn_into().ok()).collect();
    let view = it.get_bounding_client_rect();
    let edge = view.top() + ABOVE;
    let offset = |turn: &HtmlElement| turn.get_bounding_client_rect().top() - edge;
    let active = focus::active();
    let in_view = |turn: &HtmlElement| {
        let place = turn.get_bounding_client_rect();
        place.bottom() > edge && place.top() < view.bottom()
    };
    let at = turns.iter().position(|turn| active.as_ref() == Some(turn) && in_view(turn));
    // A turn within a pixel is the one that is being read.
    let wanted = match at {
        Some(at) if next => turns.get(at + 1),
        Some(at) if turns.get(at).is_some_and(|turn| offset(turn) >= -1.0) => {
            at.checked_sub(1).and_then(|before| turns.get(before))
        }
        _ if next => turns.iter().find(|turn| offset(turn) > 1.0),
        _ => turns.iter().rev().find(|turn| offset(turn) < -1.0),
    };
    let Some(turn) = wanted else { return };
    set_at_end(app, false);
    it.set_scroll_top(it.scroll_top() + offset(turn) as i32);
    note(app, &it);
    let _ = turn.set_attribute("tabindex", "-1");
    let quietly = FocusOptions::new();
    quietly.set_prevent_scroll(true);
    let _ = turn.focus_with_options(&quietly);
}

/// Draws the button that jumps to the end, for a reader who left it: while the run is running, and afterwards until the
/// new content was seen.
pub fn latest(app: App) -> impl IntoView {
    reactive(move || {
        (!app.reading().at_end.get() && app.reading().below.get() && (app.running() || app.reading().unseen.get()))
            .then(|| {
                html::button()
                    .r#type("button")
                    .class("btn quiet small latest")
                    .on(ev::click, move |_| {
                        set_at_end(app, true);
                        to_end();
                    })
                    .child((icon(Icon::Down), "Jump to latest"))
            })
    })
}

fn scroller() -> Option<Element> {
    dom::document().get_element_by_id(TRANSCRIPT)
}

//! The focus when the control that had it is gone: it goes on close to where that control was, so that neither Tab nor a screen
//! reader starts at the top of the page again.
//!
//! Invariant: it never leaves a control that is still there. Only a focus that was lost is moved, and, by what the user asked for by
//! name (`to`), one that is in no field.

use std::cell::{Cell, RefCell};

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::*;
use web_sys::{Element, FocusOptions, HtmlElement, MutationObserver, MutationObserverInit};

use crate::browser::dom;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Element)]
    type Drawn;
    #[wasm_bindgen(method, js_name = checkVisibility)]
    fn check_visibility(this: &Drawn, options: &JsValue) -> bool;
}

/// What is read first in the view: the viewer, or the heading of the run.
const HOME: &str = "main :is(.feature, .viewer, .comparison, h1)";
/// The rows of a list.
const ROWS: &str = ":scope > li:not(.day)";
/// Fields in which somebody may be typing.
const FIELDS: &str =
    "textarea, [contenteditable], input:not([type=checkbox], [type=radio], [type=range], [type=button], [type=file])";

/// Where the focus is, or was last.
#[derive(Debug, Default)]
pub struct FocusPlace {
    /// The control, and what it is in, from the inside out. Empty: the user left it.
    around: Vec<Element>,
    /// The same of the control from which a dialog was opened that has the focus now.
    before: Vec<Element>,
    /// The index of its row, if it is in a list.
    row: usize,
    /// What is to have the focus as soon as it is drawn, as a selector.
    wanted: Option<String>,
    /// A run was opened.
    arriving: bool,
    /// It is looked at once the page was drawn.
    due: bool,
}

thread_local! {
    static PLACE: RefCell<FocusPlace> = RefCell::default();
    /// Something had the focus since the page was loaded.
    static BEGUN: Cell<bool> = const { Cell::new(false) };
}

/// Draws the first stop of Tab: a link to the task box, past the list of runs.
pub fn skip_link(app: crate::state::App) -> impl IntoView {
    html::a()
        .class("skip")
        .attr("href", format!("#{}", dom::TASK))
        .on(ev::click, move |event| {
            // The address names the open run.
            event.prevent_default();
            app.rail_open.set(false);
            dom::focus(dom::TASK);
        })
        .child("Skip to the task box")
}

pub fn listen() {
    let _ = window_event_listener(ev::focusin, |event| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        BEGUN.set(true);
        PLACE.with_borrow_mut(|place| place.came_to(target));
    });
    let _ = window_event_listener(ev::focusout, |_| soon());
    let changed = Closure::<dyn FnMut()>::new(|| {
        if PLACE.with_borrow(|place| place.arriving || !place.around.is_empty()) && active().is_none() {
            soon();
        }
    });
    let options = MutationObserverInit::new();
    options.set_child_list(true);
    options.set_subtree(true);
    let observer = MutationObserver::new(changed.as_ref().unchecked_ref());
    if let (Ok(observer), Some(body)) = (observer, dom::document().body()) {
        let _ = observer.observe_with_options(&body, &options);
    }
    // As long as the page.
    changed.forget();
}

/// Moves the focus to what a selector names, once it is drawn.
pub fn to(selector: String) {
    PLACE.with_borrow_mut(|place| place.wanted = Some(selector));
    soon();
}

/// Another run is shown: a focus that is nowhere goes to its heading. Not when the page is loaded: reading starts at its top.
pub fn arrive() {
    if !BEGUN.get() {
        return;
    }
    PLACE.with_borrow_mut(|place| place.arriving = true);
    soon();
}

/// Moves the focus to what is read first; `false`: it is not there yet.
pub fn home() -> bool {
    dom::document().query_selector(HOME).ok().flatten().is_some_and(|home| give(&home))
}

/// Moves the focus to what is read first, once it is drawn.
pub fn to_home() {
    to(HOME.to_owned());
}

/// Whether somebody may be typing in this element.
pub fn is_field(element: &Element) -> bool {
    element.matches(FIELDS).unwrap_or(false)
}

/// The element that has the focus. `None`: none has it.
pub fn active() -> Option<Element> {
    dom::document().active_element().filter(|active| active.tag_name() != "BODY")
}

fn soon() {
    if !PLACE.with_borrow_mut(|place| std::mem::replace(&mut place.due, true)) {
        dom::after_frame(|_| look());
    }
}

/// Looks for the focus, and moves it if it was lost.
fn look() {
    let mut place = PLACE.take();
    let now = active().filter(is_shown);
    if now.is_some() {
        let (around, before, row) = (place.around.clone(), place.before.clone(), place.row);
        PLACE.set(FocusPlace { around, before, row, ..FocusPlace::default() });
    }
    let may_move = now.as_ref().is_none_or(|now| !is_field(now));
    let wanted = place.wanted.take().filter(|_| may_move);
    let wanted = wanted.and_then(|wanted| dom::document().query_selector(&wanted).ok().flatten());
    if let Some(wanted) = wanted.filter(give) {
        return dom::reveal(&wanted);
    }
    if now.is_some() {
        return;
    }
    // A dialog that was closed: what matters is where it was opened.
    if place.around.iter().any(|part| part.tag_name() == "DIALOG" && !is_shown(part)) {
        place.around = std::mem::take(&mut place.before);
    }
    // Otherwise the user left it.
    let is_lost = place.around.first().is_some_and(|control| !is_shown(control));
    if !(is_lost && place.go_on()) && (is_lost || place.arriving) && !home() {
        // With the next change of the page.
        PLACE.with_borrow_mut(|place| place.arriving = true);
    }
}

impl FocusPlace {
    fn came_to(&mut self, target: Option<Element>) {
        let around: Vec<Element> = std::iter::successors(target, |part| part.parent_element()).collect();
        let is_in_dialog = |around: &[Element]| around.iter().any(|part| part.tag_name() == "DIALOG");
        match (is_in_dialog(&around), is_in_dialog(&self.around)) {
            (true, false) => self.before = std::mem::take(&mut self.around),
            (true, true) => {}
            (false, _) => self.before.clear(),
        }
        let row = around.iter().find(|part| part.tag_name() == "LI");
        let above = std::iter::successors(row.cloned(), |row| row.previous_element_sibling());
        self.row = above.skip(1).filter(|row| row.class_name() != "day").count();
        self.around = around;
    }

    /// Moves the focus close to the control that is gone; `false`: nothing is left there that has a name.
    fn go_on(&self) -> bool {
        let Some((control, left)) = self.around.split_first() else { return false };
        let gone = left.iter().take_while(|part| !part.is_connected()).count();
        let Some(first) = left.get(gone) else { return false };
        let is_row = gone.checked_sub(1).and_then(|at| left.get(at)).is_some_and(|part| part.tag_name() == "LI");
        if is_row && self.to_row(first) {
            return true;
        }
        // The same control, drawn anew; in another run, it is not the same.
        let name = name(control);
        let is_same = |other: &Element| crate::browser::focus::name(other) == name && give(other);
        if gone > 0
            && !is_row
            && !self.arriving
            && !name.is_empty()
            && children(first, &control.tag_name()).iter().any(is_same)
        {
            return true;
        }
        left.iter().skip(gone).any(|part| match part.tag_name().as_str() {
            "DETAILS" => children(part, ":scope > summary").first().is_some_and(give),
            _ if part.class_name() == "composer" => {
                // On a touch screen the focus would bring up the keyboard.
                !dom::matches("(pointer: coarse)")
                    && dom::document().get_element_by_id(dom::TASK).as_ref().is_some_and(give)
            }
            _ => part.has_attribute("aria-label") && give(part),
        })
    }

    /// The row that took the place of the one that is gone, or else the last one.
    fn to_row(&self, list: &Element) -> bool {
        let rows = children(list, ROWS);
        let row = rows.get(self.row).or(rows.last());
        let control = row.and_then(|row| row.query_selector("button, a[href], input, summary").ok().flatten());
        control.filter(give).inspect(dom::reveal).is_some()
    }
}

fn children(of: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = of.query_selector_all(selector) else { return Vec::new() };
    (0..found.length()).filter_map(|at| found.get(at)?.dyn_into().ok()).collect()
}

fn name(of: &Element) -> String {
    of.get_attribute("aria-label").or_else(|| of.text_content()).unwrap_or_default()
}

/// Gives an element the focus, without scrolling; `false`: it cannot have it.
fn give(element: &Element) -> bool {
    // What has just been hidden counts as active until the page is drawn.
    let Some(target) = element.dyn_ref::<HtmlElement>().filter(|_| is_shown(element)) else { return false };
    if target.tab_index() < 0 {
        let _ = target.set_attribute("tabindex", "-1");
    }
    let quietly = FocusOptions::new();
    quietly.set_prevent_scroll(true);
    let _ = target.focus_with_options(&quietly);
    active().as_ref() == Some(element)
}

/// Whether it is drawn, if perhaps out of sight.
pub fn is_shown(element: &Element) -> bool {
    let options = js_sys::Object::new();
    let _ = js_sys::Reflect::set(&options, &"visibilityProperty".into(), &true.into());
    element.unchecked_ref::<Drawn>().check_visibility(&options)
}

//! The work of a run, folded into one line above its answer once it has one.
//!
//! Invariants: nothing is folded that the reader is at; what is folded stays in its place in the document, where the browser's search
//! finds and opens it.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::browser::focus;
use crate::client::slots::{RunPage, put};
use crate::components::icon;
use crate::components::reactive::{attribute, reactive};
use crate::state::App;
use crate::transcript::follow;

/// The value of `hidden` with which the browser's search finds what is inside. It then asks the page to show it.
pub const FOLDED: &str = "until-found";
/// The event by which it asks.
const FOUND: &str = "beforematch";

/// How much of a turn is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Whole,
    /// Its text, which is the answer.
    Answer,
    Nothing,
}

impl RunPage {
    /// Returns how much of a turn is shown; tracks that.
    pub fn shown(&self, turn: usize) -> Shown {
        if !self.folded.get() {
            return Shown::Whole;
        }
        match self.work.with(|work| work.as_ref().and_then(|work| work.answer)) {
            Some(answer) if answer == turn => Shown::Answer,
            _ => Shown::Nothing,
        }
    }

    /// Folds the work, now that all of the run's end is drawn, unless the reader is at a part of it or wrote a note on one.
    pub fn fold(&self, reads_end: bool) {
        let has_answer = self.work.with_untracked(Option::is_some);
        let has_notes = !self.notes.with_untracked(Vec::is_empty);
        put(&self.folded, has_answer && reads_end && !has_notes && !has_focus(self.place));
    }

    pub fn unfold(&self) {
        put(&self.folded, false);
    }
}

/// Returns whether the focus is in a turn of the run.
fn has_focus(place: usize) -> bool {
    focus::active().is_some_and(|active| matches!(active.closest(&format!("#{}", id(place))), Ok(Some(_))))
}

/// The id of the element with the turns of a run.
pub fn id(place: usize) -> String {
    format!("work-{place}")
}

/// Draws the button that shows the turns or folds them, above the turns.
pub fn button(app: App, page: &RunPage) -> impl IntoView + use<> {
    let (work, folded, place) = (page.work.clone(), page.folded.clone(), page.place);
    let words = Memo::new(move |_| work.with(|work| work.as_ref().map(|work| work.words.clone())));
    let drawn = page.clone();
    reactive(move || {
        let words = words.get().filter(|_| drawn.is_over())?;
        let (state, toggled) = (folded.clone(), folded.clone());
        let toggle = move |_| {
            // It stays where it was pressed.
            follow::set_at_end(app, false);
            toggled.update(|folded| *folded = !*folded);
        };
        let button = html::button()
            .r#type("button")
            .class("work")
            .attr("aria-expanded", attribute(move || if state.get() { "false" } else { "true" }))
            .attr("aria-controls", id(place))
            .attr("title", "What it did before the answer")
            .on(ev::click, toggle)
            .child((icon::chevron(), html::span().child(words)));
        Some(button)
    })
}

/// Draws the turns, which can be folded.
pub fn turns(page: &RunPage, turns: AnyView) -> impl IntoView + use<> {
    let found = page.clone();
    html::div()
        .class("turns")
        .id(id(page.place))
        .on(ev::Custom::<web_sys::Event>::new(FOUND), move |_| {
            found.unfold();
        })
        .child(turns)
}

/// Returns the value of the attribute `hidden` of a turn or, with `beside`, of what is next to the text of a turn.
pub fn hidden(
    page: Option<&RunPage>,
    turn: usize,
    beside: bool,
) -> Option<impl Fn() -> Option<&'static str> + Send + use<>> {
    let page = page.cloned()?;
    Some(move || match page.shown(turn) {
        Shown::Whole => None,
        Shown::Answer => beside.then_some(FOLDED),
        Shown::Nothing => (!beside).then_some(FOLDED),
    })
}

impl App {
    /// Shows all turns of the run at this place of the open thread.
    pub fn show_turns(self, place: usize) {
        if let Some(page) = self.thread_now().and_then(|thread| thread.page_at(place)) {
            page.unfold();
        }
    }
}

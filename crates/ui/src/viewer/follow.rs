//! The run next to the details of a step follows the steps: one of another turn brings that turn into view, another one of the same
//! turn its end, which is where the run has got to.
//!
//! Invariant: between two steps only the reader scrolls. Parts that are built or rendered later move nothing away.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::html;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::browser::dom;

/// Room above the turn, in pixels.
const ABOVE: f64 = 16.0;

/// What stays in view until the reader scrolls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kept {
    #[default]
    Nothing,
    TurnStart,
    End,
}

/// Where the run is shown, and what of it.
#[derive(Debug, Default)]
pub struct Following {
    scroller: RefCell<Option<Element>>,
    kept: Cell<Kept>,
    /// The number of turns when it was last scrolled.
    turns: Cell<usize>,
}

impl Following {
    fn scroller(&self) -> Option<Element> {
        self.scroller.borrow().clone()
    }

    /// The reader scrolls.
    pub fn let_go(&self) {
        self.kept.set(Kept::Nothing);
    }

    fn step(&self) {
        let Some(scroller) = self.scroller() else { return };
        let turns = turns(&scroller).len();
        self.kept.set(if self.turns.replace(turns) == turns { Kept::End } else { Kept::TurnStart });
        self.scroll();
    }

    fn scroll(&self) {
        let Some(scroller) = self.scroller() else { return };
        match self.kept.get() {
            Kept::Nothing => {}
            Kept::End => scroller.set_scroll_top(scroller.scroll_height()),
            Kept::TurnStart => {
                let edge = scroller.get_bounding_client_rect().top() + ABOVE;
                if let Some(turn) = turns(&scroller).last() {
                    let by = turn.get_bounding_client_rect().top() - edge;
                    scroller.set_scroll_top(scroller.scroll_top() + by as i32);
                }
            }
        }
    }
}

/// The turns of the run, without those of its sub-agents.
fn turns(scroller: &Element) -> Vec<HtmlElement> {
    let Ok(list) = scroller.query_selector_all("section.turn:not(section.turn section.turn)") else {
        return Vec::new();
    };
    (0..list.length()).filter_map(|at| list.get(at)?.dyn_into().ok()).collect()
}

impl Following {
    /// Follows the steps in an element that shows the run in a column.
    pub fn watch(self: &Rc<Self>, scroller: NodeRef<html::Div>, column: NodeRef<html::Div>) {
        let following = SendWrapper::new(Rc::clone(self));
        Effect::new(move || {
            if let (Some(scroller), Some(column)) = (scroller.get(), column.get()) {
                following.scroller.replace(Some(scroller.clone().into()));
                let of = Rc::clone(&following);
                dom::on_resize(&[&scroller, &column], move || of.scroll());
            }
        });
    }

    /// Brings what a step did into view, once it is drawn.
    pub fn follow(self: &Rc<Self>) {
        let following = Rc::clone(self);
        dom::after_frame(move |_| following.step());
    }
}

//! A long list of turns, built a few at a time as they come near the screen.
//!
//! Invariants: turns that are built stay built (what was opened in them stays open), and the browser skips those far
//! away (`content-visibility`); a place that is not built yet has the usual height of such turns; a frame builds no
//! more than fits into it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, UnwrapThrowExt};
use web_sys::{IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit};

use crate::browser::dom;
use crate::components::reactive::{attribute, reactive};

/// Number of turns built together.
const SIZE: usize = 2;
/// Number of turns whose places are created together.
const GROUP: usize = 40;
/// Lists up to this length are built at once.
const SHORT: usize = 24;
/// Milliseconds per frame that building may take; at least one place is built.
const BUDGET: f64 = 4.0;
/// The margin within which turns are built: two screens in either direction.
const NEAR: &str = "200% 0px";

/// Draws the turns of a growing or shrinking list.
pub fn chunks(
    length: ArcRwSignal<usize>,
    turn: impl Fn(usize) -> Option<AnyView> + Send + Sync + Clone + 'static,
) -> impl IntoView {
    let builder = StoredValue::new_local(Builder::default());
    on_cleanup(move || builder.with_value(Builder::stop));
    let turn: Turn = Arc::new(turn);
    let count = {
        let length = length.clone();
        Memo::new(move |_| length.get().div_ceil(GROUP))
    };
    For(ForProps::builder()
        .each(move || 0..count.get())
        .key(|group| *group)
        .children(move |group| place(builder, &length, &turn, group * GROUP, GROUP))
        .build())
}

type Turn = Arc<dyn Fn(usize) -> Option<AnyView> + Send + Sync>;

/// Draws the place of `size` turns: smaller places, or the turns themselves.
fn place(
    builder: StoredValue<Builder, LocalStorage>,
    length: &ArcRwSignal<usize>,
    turn: &Turn,
    first: usize,
    size: usize,
) -> AnyView {
    // The turns of a short list, and those that a run adds, are shown at once.
    let all = length.get_untracked();
    let at_once = all <= SHORT || first + size >= all;
    let built = RwSignal::new(at_once);
    let place_ref = NodeRef::<html::Div>::new();
    if !at_once {
        place_ref.on_load(move |place| builder.with_value(|builder| builder.watch(&place, built)));
    }
    let last = {
        let length = length.clone();
        Memo::new(move |_| length.get().min(first + size))
    };
    let (length, turn) = (length.clone(), Arc::clone(turn));
    let inside = move || {
        let (length, turn) = (length.clone(), Arc::clone(&turn));
        let step = if size > SIZE { SIZE } else { 1 };
        let one = move |at: usize| match size > SIZE {
            true => Some(place(builder, &length, &turn, at, SIZE)),
            false => turn(at),
        };
        built.get().then(|| {
            For(ForProps::builder().each(move || (first..last.get()).step_by(step)).key(|at| *at).children(one).build())
        })
    };
    html::div()
        .class(if size > SIZE { "chunk many" } else { "chunk" })
        .attr("data-built", attribute(move || built.get().then_some("")))
        .node_ref(place_ref)
        .child(reactive(inside))
        .into_any()
}

/// Builds places as they come near, a few per frame.
#[derive(Clone, Default)]
struct Builder(Rc<RefCell<BuilderState>>);

#[derive(Default)]
struct BuilderState {
    observer: Option<Observer>,
    waiting: VecDeque<(web_sys::Element, RwSignal<bool>)>,
    near: VecDeque<RwSignal<bool>>,
    scheduled: bool,
}

struct Observer {
    observer: IntersectionObserver,
    _seen: Closure<dyn FnMut(js_sys::Array)>,
}

impl Builder {
    fn watch(&self, place: &web_sys::Element, built: RwSignal<bool>) {
        let builder = self.clone();
        let mut inner = self.0.borrow_mut();
        inner.waiting.push_back((place.clone(), built));
        let observer = inner.observer.get_or_insert_with(|| Observer::new(builder, place));
        observer.observer.observe(place);
    }

    /// Handles places that have come near or moved away again.
    fn seen(&self, entries: &js_sys::Array) {
        let mut inner = self.0.borrow_mut();
        for entry in entries.iter() {
            let entry: IntersectionObserverEntry = entry.unchecked_into();
            let target = entry.target();
            let known = inner.waiting.iter().find(|(place, _)| *place == target).map(|(_, built)| *built);
            let Some(built) = known else { continue };
            inner.near.retain(|near| *near != built);
            if entry.is_intersecting() {
                // The latest one is where the reader is going.
                inner.near.push_front(built);
            }
        }
        drop(inner);
        self.schedule();
    }

    fn schedule(&self) {
        let mut inner = self.0.borrow_mut();
        if inner.near.is_empty() || std::mem::replace(&mut inner.scheduled, true) {
            return;
        }
        let builder = SendWrapper::new(self.clone());
        request_animation_frame(move || builder.build());
    }

    fn build(&self) {
        let began = now();
        loop {
            let next = {
                let mut inner = self.0.borrow_mut();
                let next = inner.near.pop_front();
                if let (Some(built), Some(observer)) = (next, &inner.observer)
                    && let Some((place, _)) = inner.waiting.iter().find(|(_, key)| *key == built)
                {
                    observer.observer.unobserve(place);
                }
                inner.waiting.retain(|(_, key)| Some(*key) != next);
                next
            };
            let Some(built) = next else { break };
            // The list may be gone by now.
            let _ = built.try_set(true);
            if now() - began > BUDGET {
                break;
            }
        }
        self.0.borrow_mut().scheduled = false;
        self.schedule();
    }

    fn stop(&self) {
        let mut inner = self.0.borrow_mut();
        if let Some(Observer { observer, .. }) = &inner.observer {
            observer.disconnect();
        }
        *inner = BuilderState::default();
    }
}

impl Observer {
    /// Creates an observer for the element that scrolls the place.
    fn new(builder: Builder, place: &web_sys::Element) -> Self {
        let seen = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| builder.seen(&entries));
        let options = IntersectionObserverInit::new();
        options.set_root_margin(NEAR);
        if let Ok(Some(scroller)) = place.closest(".scroll") {
            options.set_root(Some(&scroller));
        }
        let made = IntersectionObserver::new_with_options(seen.as_ref().unchecked_ref(), &options);
        let observer = made.unwrap_or_else(|_| IntersectionObserver::new(seen.as_ref().unchecked_ref()).unwrap_throw());
        Observer { observer, _seen: seen }
    }
}

fn now() -> f64 {
    dom::window().performance().map_or(0.0, |clock| clock.now())
}

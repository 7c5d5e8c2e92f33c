//! A sub-agent below the call that requested it: a line, and its own transcript while it is open.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Element;

use turnwise_content::format::clock;
use turnwise_view::{LaneState, LaneTime, LaneView};

use crate::answer::ending::dot;
use crate::client::slots::{Behind, CallSlot, LaneSlot, Transcript};
use crate::components::icon;
use crate::components::reactive::{attribute, reactive};
use crate::run_facts::meter;
use crate::state::App;

/// Draws the turns of an open lane.
type DrawTurns = fn(App, &Behind, &Transcript) -> AnyView;

/// Draws the sub-agents of a call, if it has any.
pub fn lanes(app: App, behind: &Behind, slot: &CallSlot, turns: DrawTurns) -> impl IntoView + use<> {
    let lanes = slot.lanes.clone();
    let some = {
        let lanes = lanes.clone();
        Memo::new(move |_| lanes.with(|lanes| !lanes.is_empty()))
    };
    let behind = behind.clone();
    reactive(move || {
        let (lanes, behind) = (lanes.clone(), behind.clone());
        some.get().then(|| {
            html::ul().class("lanes").attr("aria-label", "Sub-agents").child(For(ForProps::builder()
                .each(move || lanes.get())
                .key(|slot| slot.task_id)
                .children(move |slot| html::li().child(lane(app, &behind, &slot, turns)))
                .build()))
        })
    })
}

fn lane(app: App, behind: &Behind, slot: &LaneSlot, turns: DrawTurns) -> impl IntoView + use<> {
    let part = |part: fn(&LaneView) -> String| {
        let view = slot.view.clone();
        move || view.with(part)
    };
    let state = {
        let view = slot.view.clone();
        Memo::new(move |_| view.with(|view| view.state))
    };
    let ticks = {
        let view = slot.view.clone();
        let ticks = Memo::new(move |_| view.with(|view| view.ticks.clone()));
        move || ticks.with(|ticks| meter::tiny(ticks))
    };
    let agent = slot.view.with_untracked(|view| view.agent.clone());
    let body = {
        let (behind, slot) = (behind.clone(), slot.clone());
        move || slot.opened.get().then(|| inside(app, behind.clone(), &slot, turns))
    };
    let toggled = {
        let (behind, slot) = (behind.clone(), slot.clone());
        move |event: web_sys::Event| {
            let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
            if target.is_some_and(|it| it.has_attribute("open")) {
                // A reader who opens a lane does not want to be scrolled to the end.
                app.reading().at_end.set(false);
                slot.open(&behind, &app.renderer.get_value());
            } else {
                slot.close();
            }
        }
    };
    let gone = slot.clone();
    on_cleanup(move || gone.close());
    html::details()
        .class("lane")
        .attr("data-state", attribute(move || name(state.get())))
        .attr("data-level", attribute(move || level(state.get())))
        .on(ev::toggle, toggled)
        .child((
            html::summary().child((
                icon::chevron(),
                html::span().class("sign").child(reactive(move || sign(state.get()))),
                html::span().class("what").child((
                    agent.map(|agent| html::b().child(agent)),
                    html::span().attr("dir", "auto").child(part(|view| view.task.clone())),
                )),
                html::span().class("course").child(ticks),
                html::span().class("words").child(part(|view| view.words.clone())),
                html::span().class("t").child(time(app, slot)),
            )),
            body,
        ))
}

fn inside(app: App, behind: Behind, slot: &LaneSlot, turns: DrawTurns) -> impl IntoView + use<> {
    let (inside, view) = (slot.inside.clone(), slot.view.clone());
    let content = move || match inside.get() {
        Some(inside) => (
            inside.task.map(|task| html::p().class("whole").attr("dir", "auto").child(task)),
            turns(app, &behind, &inside.transcript),
        )
            .into_any(),
        None => html::p().class("fact").child(view.with(LaneView::nothing_yet)).into_any(),
    };
    html::div().class("lane-body").child(reactive(content))
}

fn time(app: App, slot: &LaneSlot) -> impl IntoView + use<> {
    let view = slot.view.clone();
    let time = Memo::new(move |_| view.with(|view| view.time.clone()));
    reactive(move || match time.get() {
        LaneTime::None => String::new(),
        LaneTime::Took(text) => text,
        LaneTime::Since(at) => clock(app.now.get().saturating_sub(at)),
    })
}

fn sign(state: LaneState) -> AnyView {
    match state {
        LaneState::Running | LaneState::Concluding => dot(None, "dot").into_any(),
        LaneState::Ended(tone) => dot(Some(tone), "dot").into_any(),
        LaneState::Waiting | LaneState::NotRun => html::i().class("dot").attr("data-tone", name(state)).into_any(),
    }
}

fn level(state: LaneState) -> Option<&'static str> {
    (state == LaneState::Concluding).then_some("synthesis")
}

fn name(state: LaneState) -> &'static str {
    match state {
        LaneState::Waiting => "waiting",
        LaneState::Running => "running",
        LaneState::Concluding => "concluding",
        LaneState::Ended(_) => "ended",
        LaneState::NotRun => "not-run",
    }
}

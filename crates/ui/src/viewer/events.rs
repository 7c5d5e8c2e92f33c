//! The list of events: only the visible rows exist.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Element;

use turnwise_content::format::clock;
use turnwise_view::replay::{ReplayStep, StepKind, StepTone};

use crate::components::reactive::{attribute, reactive};
use crate::state::App;
use crate::viewer::state::{StagedRun, ViewerTab};

/// The height of a row, as in `viewer.css`.
const ROW: i32 = 44;
/// Rows beyond the edges that exist too.
const BEYOND: usize = 8;

pub fn events(app: App, stage: &StagedRun) -> impl IntoView + use<> {
    let (tab, stage) = (stage.tab, stage.clone());
    reactive(move || (tab.get() == ViewerTab::Events).then(|| list(app, &stage)))
}

fn list(app: App, stage: &StagedRun) -> impl IntoView + use<> {
    let top = RwSignal::new(0);
    let height = RwSignal::new(800);
    let place = NodeRef::<html::Div>::new();
    let range = {
        let stage = stage.clone();
        Memo::new(move |_| {
            let count = stage.steps().len();
            let first = usize::try_from(top.get() / ROW).unwrap_or(0).saturating_sub(BEYOND);
            let seen = usize::try_from(height.get() / ROW).unwrap_or(0) + 2 * BEYOND + 1;
            (first.min(count), (first + seen).min(count))
        })
    };
    // Keeps the row of the current step visible.
    let at = stage.at;
    Effect::new(move || {
        let (at, Some(place)) = (at.get(), place.get()) else { return };
        let row = i32::try_from(at).unwrap_or(0) * ROW;
        height.set(place.client_height());
        if row < place.scroll_top() || row + ROW > place.scroll_top() + place.client_height() {
            place.set_scroll_top(row - place.client_height() / 2);
        }
    });
    let rows = {
        let stage = stage.clone();
        For(ForProps::builder()
            .each(move || {
                let (from, to) = range.get();
                from..to
            })
            .key(|index| *index)
            .children(move |index| stage.all().get(index).map(|step| row(app, &stage, index, step)))
            .build())
    };
    let count = {
        let stage = stage.clone();
        move || i32::try_from(stage.steps().len()).unwrap_or(0) * ROW
    };
    let scrolled = move |event: web_sys::Event| {
        let picked = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        if let Some(picked) = picked {
            top.set(picked.scroll_top());
            height.set(picked.client_height());
        }
    };
    html::div().class("events").node_ref(place).on(ev::scroll, scrolled).child(
        html::ol().attr("aria-label", "Events").style(("height", move || format!("{}px", count()))).child((
            html::li()
                .class("space")
                .attr("aria-hidden", "true")
                .style(("height", move || format!("{}px", i32::try_from(range.get().0).unwrap_or(0) * ROW))),
            rows,
        )),
    )
}

fn row(app: App, stage: &StagedRun, index: usize, step: &ReplayStep) -> impl IntoView + use<> {
    let (at, go, all) = (stage.at, stage.clone(), stage.all().len());
    let line = step.line.clone().map(|line| html::span().class("line").child(line));
    html::li().attr("aria-setsize", all.to_string()).attr("aria-posinset", (index + 1).to_string()).child(
        html::button()
            .r#type("button")
            .class("event")
            .attr("data-tone", tone(step.tone))
            .attr("aria-current", attribute(move || (at.get() == index).then_some("step")))
            .on(ev::click, move |_| {
                go.playing.set(false);
                go.go(app, index);
            })
            .child((
                html::span().class("sign").attr("data-kind", kind(step.kind)).attr("aria-hidden", "true"),
                html::span().class("words").child((
                    html::b().child((line, step.title.clone())),
                    html::span().class("detail").child(step.detail.clone()),
                )),
                html::span().class("t").child((html::span().child(format!("turn {}", step.turn)), clock(step.at_ms))),
            )),
    )
}

fn tone(tone: StepTone) -> &'static str {
    match tone {
        StepTone::Plain => "plain",
        StepTone::Warn => "warn",
        StepTone::Failed => "failed",
        StepTone::Synthesis => "synthesis",
        StepTone::Done => "done",
        StepTone::Quiet => "quiet",
    }
}

fn kind(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Start => "start",
        StepKind::Reply => "reply",
        StepKind::Failure => "failure",
        StepKind::Tool => "tool",
        StepKind::Timer => "timer",
        StepKind::Stop | StepKind::Cancel | StepKind::Grant => "user",
        StepKind::Other => "other",
    }
}

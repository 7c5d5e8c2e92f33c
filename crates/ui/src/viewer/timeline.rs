//! The timeline: the reader's position in the run, playback, and verification.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use leptos::svg;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use turnwise_content::format::clock_exact;
use turnwise_view::replay::ReplayVerdict;
use turnwise_view::replay::play::{Band, Speed};

use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::{attribute, reactive};
use crate::run_facts::meter;
use crate::state::App;
use crate::viewer::state::StagedRun;

pub fn timeline(app: App, stage: &StagedRun) -> impl IntoView + use<> {
    html::div().class("timeline").child((controls(app, stage), slider(app, stage), verdict(stage)))
}

fn controls(app: App, stage: &StagedRun) -> impl IntoView + use<> {
    let to = |text: &'static str, key: &'static str, of: Icon, act: Box<dyn Fn(&StagedRun)>| {
        let stage = stage.clone();
        button(Look::Square)
            .attr("aria-label", text)
            .attr("title", format!("{text} ({key})"))
            .on(ev::click, move |_| act(&stage))
            .child(icon(of))
    };
    let playing = stage.playing;
    let play = {
        let stage = stage.clone();
        html::button()
            .r#type("button")
            .class("btn quiet square play")
            .attr("aria-label", attribute(move || if playing.get() { "Pause" } else { "Play" }))
            .attr("title", attribute(move || if playing.get() { "Pause (space)" } else { "Play (space)" }))
            .on(ev::click, move |_| stage.play(app))
            .child(reactive(move || icon(if playing.get() { Icon::Pause } else { Icon::Play })))
    };
    let speed = stage.speed;
    let speeds = Speed::ALL.iter().map(|of| {
        let of = *of;
        html::button()
            .r#type("button")
            .class("tab")
            .attr("aria-pressed", attribute(move || if speed.get() == of { "true" } else { "false" }))
            .on(ev::click, move |_| speed.set(of))
            .child(of.label())
    });
    let verify = {
        let (stage, verifying) = (stage.clone(), stage.verifying);
        html::button()
            .r#type("button")
            .class("btn quiet small verify")
            .attr("title", "Run the engine again on the recorded events and compare everything")
            .attr("aria-disabled", attribute(move || verifying.get().then_some("true")))
            .on(ev::click, move |_| stage.verify())
            .child(reactive(move || if verifying.get() { "Verifying" } else { "Verify" }))
    };
    html::div().class("controls").child((
        to("First step", "Home", Icon::First, Box::new(move |stage| stage.step(app, isize::MIN))),
        to("Step back", "left arrow", Icon::Back, Box::new(move |stage| stage.step(app, -1))),
        play,
        to("Step forward", "right arrow", Icon::Forward, Box::new(move |stage| stage.step(app, 1))),
        to("Last step", "End", Icon::Last, Box::new(move |stage| stage.step(app, isize::MAX))),
        html::div().class("tabs small").attr("role", "group").attr("aria-label", "Speed").child(speeds.collect_view()),
        where_it_is(stage),
        verify,
    ))
}

/// Draws the position (`Step 12 of 40 · turn 3 · 00:12.300`) and what happened.
fn where_it_is(stage: &StagedRun) -> impl IntoView + use<> {
    let here = {
        let stage = stage.clone();
        move || {
            let (at, steps) = (stage.at.get(), stage.steps());
            let step = steps.get(at)?;
            let place = format!(
                "Step {at} of {} · turn {} · {}",
                steps.len().saturating_sub(1),
                step.turn,
                clock_exact(step.at_ms)
            );
            let line = step.line.clone().map(|line| format!("{line}: ")).unwrap_or_default();
            Some((
                html::span().class("place").child(place),
                html::span().class("what").child(format!("{line}{}", step.title)),
            ))
        }
    };
    html::p().class("here").attr("aria-live", "polite").child(here)
}

fn slider(app: App, stage: &StagedRun) -> impl IntoView + use<> {
    let input = {
        let (at, all, text, moved) = (stage.at, stage.clone(), stage.clone(), stage.clone());
        let last = move || all.steps().len().saturating_sub(1).to_string();
        let label = move || {
            text.steps().get(at.get()).map(|step| format!("Step {}, turn {}: {}", at.get(), step.turn, step.title))
        };
        html::input()
            .r#type("range")
            .attr("min", "0")
            .attr("max", attribute(last))
            .attr("aria-label", "Step")
            .attr("aria-valuetext", attribute(label))
            .prop("value", move || at.get().to_string())
            .on(ev::input, move |event| {
                let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
                if let Some(to) = input.and_then(|input| input.value().parse().ok()) {
                    moved.playing.set(false);
                    moved.go(app, to);
                }
            })
    };
    let bands = {
        let stage = stage.clone();
        move || {
            let steps = stage.steps().len();
            stage.bands.with(|bands| bands.iter().map(|turn_band| band(*turn_band, steps)).collect_view())
        }
    };
    let passed = {
        let stage = stage.clone();
        move || {
            let last = stage.steps().len().saturating_sub(1).max(1);
            format!("{}", stage.at.get() * 1_000 / last)
        }
    };
    html::div().class("slider").child((
        svg::svg()
            .attr("class", "bands")
            .attr("viewBox", "0 0 1000 8")
            .attr("preserveAspectRatio", "none")
            .attr("aria-hidden", "true")
            .child((
                svg::g().child(bands),
                svg::rect()
                    .attr("class", "ahead")
                    .attr("x", attribute(passed))
                    .attr("y", "0")
                    .attr("width", "1000")
                    .attr("height", "8"),
            )),
        input,
    ))
}

/// Draws a turn, from the step that began it to the step that began the next.
fn band(turn_band: Band, steps: usize) -> impl IntoView {
    let last = steps.saturating_sub(1).max(1);
    let place = |step: usize| step.min(last) * 10_000 / last;
    let (from, to) = (place(turn_band.from), place(turn_band.to));
    let level = meter::kind(turn_band.kind);
    // A narrow gap between two turns, so that they can be counted.
    let width = to.saturating_sub(from).saturating_sub(if to - from > 60 { 20 } else { 0 });
    svg::rect()
        .attr("data-level", level)
        .attr("x", tenths(from))
        .attr("y", "0")
        .attr("width", tenths(width.max(5)))
        .attr("height", "8")
}

fn tenths(count: usize) -> String {
    format!("{}.{}", count / 10, count % 10)
}

fn verdict(stage: &StagedRun) -> impl IntoView + use<> {
    let verdict = stage.verdict;
    let text = move || {
        verdict.get().map(|verdict| match verdict {
            Ok(verdict) => of_record(verdict).into_any(),
            Err(why) => html::div()
                .class("verdict")
                .attr("data-level", "urgent")
                .child(format!("It could not be verified: {why}"))
                .into_any(),
        })
    };
    html::div().attr("role", "status").child(reactive(text))
}

fn of_record(verdict: ReplayVerdict) -> impl IntoView {
    let level = if verdict.exact { "normal" } else { "urgent" };
    let difference = verdict.difference.map(|differing| {
        let row =
            |name: &'static str, value: String| (html::dt().child(name), html::dd().child(html::code().child(value)));
        html::dl().child((row("Recorded", differing.expected), row("Derived again", differing.actual)))
    });
    html::div().class("verdict").attr("data-level", level).child((html::p().child(verdict.words), difference))
}

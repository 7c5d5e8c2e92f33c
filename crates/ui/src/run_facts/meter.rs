//! Ticks: the meter in the panel, and a tiny one in the list of runs.

use leptos::html;
use leptos::prelude::*;

use turnwise_engine::CounterLevel;
use turnwise_view::meter::thinned;
use turnwise_view::{Meter, Tick, TickKind, TickState};

/// Maximum number of ticks; more cannot be told apart.
const MOST: usize = 120;

/// Draws the meter of the panel.
pub fn meter(meter: &Meter) -> impl IntoView + use<> {
    html::div()
        .class("ticks")
        .attr("role", "img")
        .attr("aria-label", meter.label.clone())
        .child(thinned(&meter.ticks, MOST).into_iter().map(draw).collect_view())
}

/// Draws the same, tiny; text next to it says the same in words.
pub fn tiny(ticks: &[Tick]) -> impl IntoView + use<> {
    html::span()
        .class("ticks tiny")
        .attr("aria-hidden", "true")
        .child(thinned(ticks, MOST).into_iter().map(draw).collect_view())
}

/// Draws one tick by itself, for a legend.
pub fn swatch(kind: TickKind) -> impl IntoView {
    html::span().class("ticks").attr("aria-hidden", "true").child(draw(Tick { kind, state: TickState::Used }))
}

fn draw(tick: Tick) -> impl IntoView {
    let report = matches!(tick.kind, TickKind::Report(_)).then_some("report");
    html::i().attr("data-level", kind(tick.kind)).attr("data-state", state(tick.state)).attr("data-kind", report)
}

/// Returns the style name of a tick's kind.
pub fn kind(kind: TickKind) -> &'static str {
    match kind {
        TickKind::Turn(turn_level) | TickKind::Report(turn_level) => level(turn_level),
        TickKind::Synthesis => "synthesis",
    }
}

/// Returns the style name of a level.
pub fn level(level: CounterLevel) -> &'static str {
    match level {
        CounterLevel::Normal => "normal",
        CounterLevel::Moderate => "moderate",
        CounterLevel::Urgent => "urgent",
        CounterLevel::Off => "off",
    }
}

fn state(state: TickState) -> &'static str {
    match state {
        TickState::Used => "used",
        TickState::Live => "live",
        TickState::Failed => "failed",
        TickState::Ahead => "ahead",
    }
}

//! Ticks: the meter of the panel, and tiny in the list of runs.

use leptos::html;
use leptos::prelude::*;

use crate::engine::CounterLevel;
use crate::view::meter::thinned;
use crate::view::{Meter, Tick, TickKind, TickState};

/// More ticks than these cannot be told apart.
const MOST: usize = 120;

/// The meter of the panel.
pub fn meter(meter: &Meter) -> impl IntoView + use<> {
    html::div()
        .class("ticks")
        .attr("role", "img")
        .attr("aria-label", meter.label.clone())
        .child(thinned(&meter.ticks, MOST).into_iter().map(draw).collect_view())
}

/// The same, tiny; what it says stands in words beside it.
pub fn tiny(ticks: &[Tick]) -> impl IntoView + use<> {
    html::span()
        .class("ticks tiny")
        .attr("aria-hidden", "true")
        .child(thinned(ticks, MOST).into_iter().map(draw).collect_view())
}

/// One tick by itself, for a legend.
pub fn swatch(kind: TickKind) -> impl IntoView {
    html::span().class("ticks").attr("aria-hidden", "true").child(draw(Tick { kind, state: TickState::Used }))
}

fn draw(tick: Tick) -> impl IntoView {
    let report = matches!(tick.kind, TickKind::Report(_)).then_some("report");
    html::i().attr("data-level", kind(tick.kind)).attr("data-state", state(tick.state)).attr("data-kind", report)
}

/// What a tick stands for, as the styles name it.
pub fn kind(kind: TickKind) -> &'static str {
    match kind {
        TickKind::Turn(of) | TickKind::Report(of) => level(of),
        TickKind::Synthesis => "synthesis",
    }
}

/// A level as the styles name it.
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

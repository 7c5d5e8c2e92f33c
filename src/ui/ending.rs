//! How a segment ended, at its place in the document: in words and as code.

use leptos::html;
use leptos::prelude::*;

use crate::view::ending::Tone;
use crate::view::{EndingView, SegmentView};

pub fn ending(segment: &SegmentView) -> impl IntoView + use<> {
    let view = segment.ending.clone();
    let granted = segment.granted.map(|turns| {
        let words = if turns == 1 { "1 more turn granted".to_owned() } else { format!("{turns} more turns granted") };
        html::p().class("granted").child(words)
    });
    (
        html::section().class("ending").attr("aria-label", "How it ended").child((
            dot(Some(view.tone), "dot sign"),
            html::div().child((
                html::p().class("headline").child(view.headline.clone()),
                html::dl().class("fields").child((
                    field("ended by", view.reason.clone()),
                    field("outcome", view.outcome.to_owned()),
                    field("answer from", view.source.to_owned()),
                    html::div().child(html::dd().child(view.turns.clone())),
                )),
                view.error.clone().map(|error| html::p().class("error").child(error)),
                report(&view),
                view.data.clone().map(|data| html::pre().class("report data").attr("tabindex", "0").child(data)),
            )),
        )),
        granted,
    )
}

fn report(view: &EndingView) -> Option<impl IntoView + use<>> {
    view.report.clone().map(|report| html::div().class("report").child(report))
}

fn field(name: &'static str, value: String) -> impl IntoView {
    html::div().child((html::dt().child(name), html::dd().child(html::code().child(value))))
}

/// The sign of an ending; no tone: it is running.
pub fn dot(tone: Option<Tone>, class: &'static str) -> impl IntoView {
    let (class, tone) = match tone {
        None => ("pulse", ""),
        Some(Tone::Complete) => (class, "complete"),
        Some(Tone::Synthesized) => (class, "synthesized"),
        Some(Tone::Failed) => (class, "failed"),
        Some(Tone::Cancelled) => (class, "cancelled"),
    };
    html::i().class(class).attr("data-tone", tone).attr("aria-hidden", "true")
}

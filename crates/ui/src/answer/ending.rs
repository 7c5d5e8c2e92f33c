//! The ending of a segment, at its place in the document: in words, and as code under Details.

use leptos::html;
use leptos::prelude::*;

use turnwise_view::SegmentView;
use turnwise_view::ending::Tone;
use turnwise_view::report::ReportPosition;

use crate::answer;
use crate::answer::report;
use crate::client::slots::{RunPage, TurnsOwner};
use crate::components::icon;
use crate::state::App;
use crate::transcript::attempt;

/// Draws an ending. `at`: the index of the run in its thread, and of the segment in its run. `page`: the run, if this is its last
/// segment.
pub fn ending(
    app: App,
    segment: &SegmentView,
    whose: TurnsOwner,
    at: (usize, usize),
    page: Option<&RunPage>,
) -> impl IntoView + use<> {
    let view = segment.ending.clone();
    let whose = match whose {
        TurnsOwner::Run => "How it ended",
        TurnsOwner::Subagent(_) => "How the sub-agent ended",
    };
    // Landmarks on one page need distinct names.
    let label = match at {
        (0, 0) => whose.to_owned(),
        (0, segment) => format!("{whose}, segment {}", segment + 1),
        (page, 0) => format!("{whose}, follow-up {page}"),
        (page, segment) => format!("{whose}, follow-up {page}, segment {}", segment + 1),
    };
    let granted = segment.granted.map(|turns| {
        let text = if turns == 1 { "1 more turn granted".to_owned() } else { format!("{turns} more turns granted") };
        html::p().class("granted").child(text)
    });
    let report_at = |position: ReportPosition| {
        let report = segment.shown_report().filter(|report| report.position == position);
        report.map(|view| html::div().class("reported").child(report::report(app, &view)))
    };
    let (failed, cancelled) = (view.tone == Tone::Failed, view.tone == Tone::Cancelled);
    // Beside an answer, how it ended is a line; without one, it is what there is to read.
    let telling = failed || cancelled;
    let cause = view.cause.clone().or_else(|| view.error.clone());
    (
        report_at(ReportPosition::Before),
        html::section()
            .class("ending")
            .attr("data-failed", failed.then_some(""))
            .attr("data-told", telling.then_some(""))
            .attr("aria-label", label)
            .child((
                dot(Some(view.tone), "dot sign"),
                html::div().child((
                    telling.then(|| html::p().class("headline").child(view.headline.clone())),
                    cause.map(|cause| html::p().class("error").child(attempt::linked(&cause))),
                    page.and(view.remark).map(|remark| html::p().class("so-far").child(remark)),
                    page.filter(|_| failed || cancelled).map(|page| answer::remedies(app, page)),
                    html::div().class("under").child((
                        (!telling).then(|| html::span().class("label").child(view.label)),
                        html::span().child(view.turns.clone()),
                        html::details().child((
                            html::summary().child((icon::chevron(), "Details")),
                            (!telling).then(|| html::p().child(view.headline.clone())),
                            html::dl().class("fields").child((
                                field("ended by", view.reason.clone()),
                                field("outcome", view.outcome.to_owned()),
                                field("answer from", view.source.to_owned()),
                            )),
                        )),
                    )),
                )),
            )),
        report_at(ReportPosition::After),
        granted,
    )
}

fn field(name: &'static str, value: String) -> impl IntoView {
    html::div().child((html::dt().child(name), html::dd().child(html::code().child(value))))
}

/// Draws the sign of an ending; without a tone, the run is under way.
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

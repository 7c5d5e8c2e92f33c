//! The changes since the previous request of the same run or sub-agent.

use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::counted;
use turnwise_view::replay::difference::{ChangedText, PieceKind};
use turnwise_view::replay::{Difference, DifferenceEntry};

use crate::components::reactive::reactive;
use crate::viewer::message::message;
use crate::viewer::state::StagedRun;

pub fn difference(stage: &StagedRun, request: usize) -> impl IntoView + use<> {
    let (shown, stage) = (stage.difference, stage.clone());
    reactive(move || shown.get().map(|found| drawn(&stage, request, &found)))
}

fn drawn(stage: &StagedRun, request: usize, found: &Difference) -> impl IntoView + use<> {
    let against = found.against.clone().unwrap_or_else(|| "This is the first request: all of it is new.".to_owned());
    let facts = found.facts.iter().map(|(name, before, now)| {
        (
            html::dt().child(name.clone()),
            html::dd().child((html::del().child(before.clone()), " ", html::ins().child(now.clone()))),
        )
    });
    let facts = (!found.facts.is_empty()).then(|| html::dl().class("changes").child(facts.collect_view()));
    let entries = found.entries.iter().map(|entry| one(stage, request, entry)).collect_view();
    html::div().class("difference").child((
        html::p().class("fact").child(format!("{against} {}", found.words)),
        facts,
        html::ol().class("messages").child(entries),
    ))
}

fn one(stage: &StagedRun, request: usize, entry: &DifferenceEntry) -> AnyView {
    match entry {
        DifferenceEntry::Same(count) => {
            html::li().class("gap").child(format!("{} the same", counted(*count as u64, "message"))).into_any()
        }
        DifferenceEntry::Added(view) => message(stage, request, view, Some("added")).into_any(),
        DifferenceEntry::Removed(view) => message(stage, request, view, Some("removed")).into_any(),
        DifferenceEntry::Changed(view, changed) => html::li()
            .class("message")
            .attr("data-role", view.role.as_str())
            .attr("data-sign", "changed")
            .child((
                html::div().class("who").child((
                    html::span().class("sign").child("changed"),
                    html::span().class("role").child(view.role.as_str()),
                    html::b().child(view.name.clone()),
                )),
                pieces(changed),
            ))
            .into_any(),
    }
}

/// Draws two texts in one: removed text is struck out.
pub fn pieces(list: &[ChangedText]) -> impl IntoView + use<> {
    let each = list.iter().map(|piece| {
        let text = piece.text.clone();
        match piece.kind {
            PieceKind::Same => html::span().child(text).into_any(),
            PieceKind::Added => html::ins().child(text).into_any(),
            PieceKind::Removed => html::del().child(text).into_any(),
            PieceKind::Gap => html::span().class("gap").child(format!(" … {text} … ")).into_any(),
        }
    });
    html::p().class("text pieces").child(each.collect_view())
}

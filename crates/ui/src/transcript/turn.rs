//! The turns of a run or of a sub-agent: the number in the margin, and what happened in each.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::countdown;
use turnwise_view::branch::FormPart;
use turnwise_view::provider::needs_network;
use turnwise_view::turn::{CHANGED, calling};
use turnwise_view::{Activity, SegmentView, TurnKind, TurnView, WaitView};

use crate::answer::ending;
use crate::answer::work::{self, Shown};
use crate::branch;
use crate::client::slots::{Behind, CallSlot, RunPage, Transcript, TurnSlot, TurnsOwner};
use crate::components::icon;
use crate::components::reactive::{Value, attribute, reactive};
use crate::run_facts::meter;
use crate::state::App;
use crate::transcript::attempt;
use crate::transcript::call;
use crate::transcript::chunks;
use crate::transcript::lane;
use crate::transcript::notes;
use crate::transcript::original::Original;

/// Draws the turns of a run or of a sub-agent, and how its segments ended.
pub fn transcript(app: App, behind: &Behind, shown: &Transcript) -> AnyView {
    turns(app, behind, shown, None).into_any()
}

/// Draws turns and endings. `page`: set if its turns can be branched and noted upon.
pub fn turns(app: App, behind: &Behind, shown: &Transcript, page: Option<&RunPage>) -> impl IntoView + use<> {
    let (segments, behind, whose) = (shown.segments.clone(), behind.clone(), shown.whose);
    let page = page.cloned();
    let first = endings(app, whose, page.as_ref(), segments.clone(), None);
    let transcript = shown.clone();
    let draw = move |index: usize| {
        let renderer = app.renderer.get_value();
        let slot = behind.with(|source| transcript.turn(source, index, &renderer)).flatten()?;
        let after = endings(app, whose, page.as_ref(), segments.clone(), Some(index));
        Some((turn(app, &behind, &slot, page.as_ref()), after).into_any())
    };
    (first, chunks::chunks(shown.length.clone(), draw))
}

fn endings(
    app: App,
    whose: TurnsOwner,
    page: Option<&RunPage>,
    segments: ArcRwSignal<Vec<SegmentView>>,
    after: Option<usize>,
) -> impl IntoView + use<> {
    let page = page.cloned();
    reactive(move || {
        let at = page.as_ref().map_or(0, |page| page.place);
        segments.with(|segments| {
            segments
                .iter()
                .enumerate()
                .filter(|(_, segment)| segment.after == after)
                .map(|(place, segment)| {
                    let page_of = page.as_ref();
                    let page = page_of.filter(|_| place + 1 == segments.len());
                    let last = place + 1 == segments.len();
                    let folded = page_of.as_ref().filter(|_| !last).map(|page| page.folded.clone());
                    let hidden = folded.map(|folded| attribute(move || folded.get().then_some(work::FOLDED)));
                    let drawn = ending::ending(app, segment, whose, (at, place), page);
                    html::div().class("segment-end").attr("hidden", hidden).child(drawn)
                })
                .collect_view()
        })
    })
}

/// Draws a turn, updated by its own signal alone. `page`: set if it can be branched and noted upon.
fn turn(app: App, behind: &Behind, slot: &TurnSlot, page: Option<&RunPage>) -> impl IntoView + use<> {
    let view = slot.view.clone();
    let level = {
        let view = view.clone();
        move || view.with(|view| if is_synthesis(view) { "synthesis" } else { meter::level(view.level) })
    };
    // Landmarks on one page need distinct names.
    let follow_up = page.map(|page| page.place).filter(|place| *place > 0);
    let follow_up = follow_up.map_or_else(String::new, |place| format!(", follow-up {place}"));
    let label = {
        let (view, page, index) = (view.clone(), page.cloned(), slot.index);
        move || match page.as_ref().map(|page| page.shown(index)) {
            Some(Shown::Answer) => Some(format!("Answer{follow_up}")),
            // Without a name, it is no landmark.
            Some(Shown::Nothing) => None,
            _ => Some(view.with(|view| format!("{}{follow_up}", view.label))),
        }
    };
    let number = move || view.with(|view| (view.number, view.of.map(|of| html::span().child(format!("/{of}")))));
    let section = html::section()
        .class("turn")
        .attr("data-level", attribute(level))
        .attr("data-shown", shown_as(page, slot.index))
        .attr("hidden", work::hidden(page, slot.index, false).map(attribute))
        .attr("aria-label", label);
    section.child((
        html::div().class("n").attr("aria-hidden", "true").child(reactive(number)),
        html::div().class("body").child(body(app, behind, slot, page)),
        page.map(|page| {
            let (notes, add_note) = notes::notes(app, page, slot);
            let acts = html::div()
                .class("turn-acts")
                .child((add_note, branch::change(app, page, slot.index, FormPart::Reply)));
            (branch_here(app, page.place, slot), notes, acts)
        }),
    ))
}

/// Draws the button that branches from this turn.
fn branch_here(app: App, page: usize, slot: &TurnSlot) -> impl IntoView + use<> {
    let (index, view) = (slot.index, slot.view.clone());
    let label = move || format!("Branch: {}", view.with(|view| view.label.clone()));
    html::button()
        .r#type("button")
        .class("btn bare branch")
        .attr("aria-label", label)
        .attr("title", "Repeat this turn as a separate run with another model, prompt or limit")
        .on(ev::click, move |_| app.ask_branch(page, index, None))
        .child(icon::icon(icon::Icon::Branch))
}

fn is_synthesis(view: &TurnView) -> bool {
    matches!(view.kind, TurnKind::Synthesis { .. })
}

fn body(app: App, behind: &Behind, slot: &TurnSlot, page: Option<&RunPage>) -> impl IntoView + use<> {
    let remark = {
        let view = slot.view.clone();
        move || view.with(|view| view.remark.clone()).map(|text| html::p().class("remark").child(text))
    };
    let failed = {
        let view = slot.view.clone();
        // Parts that were opened stay open while the turn continues.
        let failed = Memo::new(move |_| view.with(|view| view.failed.clone()));
        move || failed.with(|failed| failed.iter().map(|one| attempt::failed(app, one)).collect_view())
    };
    let left = {
        let view = slot.view.clone();
        let left = Memo::new(move |_| view.with(|view| view.left.clone()));
        move || left.with(|left| left.as_ref().map(|left| attempt::left(app, left)))
    };
    // The kind never changes, so whether there is a box is decided once.
    let title = slot.view.with_untracked(|view| match &view.kind {
        TurnKind::Synthesis { .. } => true,
        TurnKind::Turn => false,
    });
    let said = (reasoning(slot, page), said(app, behind, slot));
    let said = if title {
        let view = slot.view.clone();
        let title = move || {
            view.with(|view| match &view.kind {
                TurnKind::Synthesis { title } => title.clone(),
                TurnKind::Turn => String::new(),
            })
        };
        html::div().class("box").child((html::h2().class("title").child(reactive(title)), said)).into_any()
    } else {
        said.into_any()
    };
    let changed = page.map(|page| changed(app, page, slot));
    let calls = calls(app, behind, slot, page);
    let counter = {
        let view = slot.view.clone();
        move || {
            let line = view.with(|view| view.counter.clone());
            line.map(|line| {
                html::span()
                    .class("counter")
                    .attr("data-level", meter::level(line.level))
                    .attr("title", "The turn counter, as the model read it")
                    .child(line.text)
            })
        }
    };
    let beside = |part: AnyView| {
        let hidden = work::hidden(page, slot.index, true).map(attribute);
        html::div().class("beside").attr("hidden", hidden).child(part)
    };
    (
        beside((remark, failed, reactive(left)).into_any()),
        changed,
        said,
        beside((calls, doing_tools(app, slot, page), counter).into_any()),
    )
}

/// Returns the attribute of a turn of which only the answer is shown.
fn shown_as(page: Option<&RunPage>, turn: usize) -> Option<Value> {
    let page = page.cloned()?;
    Some(attribute(move || (page.shown(turn) == Shown::Answer).then_some("answer")))
}

/// Says that a branch changed the reply of this turn.
fn changed(app: App, page: &RunPage, slot: &TurnSlot) -> impl IntoView + use<> {
    let (view, page) = (slot.view.clone(), page.clone());
    reactive(move || {
        view.with(|view| view.changed_from.clone()).map(|run_id| {
            let original = Original::at(&page, run_id);
            html::p().class("changed-reply").child((
                html::span().class("changed").child(CHANGED),
                original.map(|original| original.compare(app, "link", || "Compare with the original".into_any())),
            ))
        })
    })
}

/// Draws the calls of a turn, each with its sub-agents, whose turns are drawn like these.
fn calls(app: App, behind: &Behind, slot: &TurnSlot, page: Option<&RunPage>) -> impl IntoView + use<> {
    let (calls, behind, page, index) = (slot.calls.clone(), behind.clone(), page.cloned(), slot.index);
    let one = move |slot: &CallSlot| {
        let card = call::live(app, slot, page.as_ref().map(|page| (page, index)));
        (card, lane::lanes(app, &behind, slot, transcript)).into_any()
    };
    html::div().class("calls").child(For(ForProps::builder()
        .each(move || calls.with(|calls| call::groups(calls)))
        .key(|group| (group.len(), group.first().map(|slot| (slot.place, slot.id.clone()))))
        .children(move |group| match group.as_slice() {
            [only] => one(only),
            several => call::group(several, one.clone()),
        })
        .build()))
}

fn reasoning(slot: &TurnSlot, page: Option<&RunPage>) -> impl IntoView + use<> {
    let view = slot.view.clone();
    let streaming = slot.streaming.clone();
    let thoughts = slot.thoughts.clone();
    let there = move || {
        streaming.track();
        view.track();
        !thoughts.is_empty()
    };
    let host = slot.thoughts.clone();
    let folded = work::hidden(page, slot.index, true);
    html::details()
        .class("reasoning")
        .attr("hidden", attribute(move || if there() { folded.as_ref().and_then(|folded| folded()) } else { Some("") }))
        .child((html::summary().child((icon::chevron(), "Reasoning")), host.place()))
}

fn said(app: App, behind: &Behind, slot: &TurnSlot) -> impl IntoView + use<> {
    let view = slot.view.clone();
    let streaming = slot.streaming.clone();
    let remote = behind.with(|source| source.config.providers.first().is_some_and(needs_network)).unwrap_or(false);
    // Since when the model has been asked, and with which words: another attempt begins anew.
    let since = StoredValue::new((String::new(), 0));
    let words = move |words: String| {
        let now = app.now.get();
        let began = since
            .try_update_value(|since| {
                if since.0 != words {
                    *since = (words.clone(), now);
                }
                since.1
            })
            .unwrap_or(now);
        calling(&words, now.saturating_sub(began), remote && app.reading().offline.get())
    };
    let doing = move || {
        let live = view.with(|view| view.live.clone());
        match live {
            Some(Activity::Calling { words: text }) if !streaming.get() => {
                let line = move || words(text.clone());
                Some(doing(reactive(line)).into_any())
            }
            Some(Activity::Waiting(wait)) => Some(waiting(app, wait).into_any()),
            _ => None,
        }
    };
    (slot.text.place(), reactive(doing))
}

fn doing_tools(app: App, slot: &TurnSlot, page: Option<&RunPage>) -> impl IntoView + use<> {
    let (view, handle) = (slot.view.clone(), page.and_then(RunPage::handle).map(|handle| handle.id()));
    let asks = move || app.permissions().open.with(|open| open.iter().any(|question| Some(question.handle) == handle));
    reactive(move || match view.with(|view| view.live.clone()) {
        Some(Activity::Tools { .. }) if asks() => Some(doing("Waiting for your answer below".to_owned())),
        Some(Activity::Tools { words: text }) => Some(doing(text)),
        _ => None,
    })
}

fn doing(text: impl IntoView) -> impl IntoView {
    html::div().class("doing").child((html::span().class("pulse").attr("aria-hidden", "true"), text))
}

fn waiting(app: App, wait: WaitView) -> impl IntoView {
    let left = move || countdown(wait.until.saturating_sub(app.now.get()));
    html::div().class("doing wait").child((
        html::span().class("pulse").attr("aria-hidden", "true"),
        html::span().child(("Trying again in ", reactive(left), format!(", attempt {} of {}", wait.attempt, wait.of))),
    ))
}

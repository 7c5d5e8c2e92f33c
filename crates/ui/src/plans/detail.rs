//! A step in full: its action, its state, its context, and its whole transcript.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::browser::dom;
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::plans::context;
use crate::plans::state::PlanPage;
use crate::state::App;
use crate::text::pieces;
use crate::transcript::turn;

const DETAIL: &str = "step-detail";

/// Scrolls to the detail once it is drawn; the styles decide how much of the graph stays visible.
pub fn bring_into_view() {
    request_animation_frame(|| {
        if let Some(detail) = dom::document().get_element_by_id(DETAIL) {
            detail.scroll_into_view();
        }
    });
}

pub fn detail(app: App, plan: &PlanPage, order: u32) -> Option<impl IntoView + use<>> {
    let slot = plan.slot(order)?.clone();
    let (agent, kind, action) = slot.view.with_untracked(|view| (view.agent.clone(), view.kind, view.action.clone()));
    let level = if kind == turnwise_record::plan::AgentKind::Synthesis { "synthesis" } else { "normal" };
    let facts = {
        let (view, started) = (slot.view.clone(), plan.started_at);
        move || view.with(|view| view.facts(started)).into_iter().map(|fact| html::li().child(fact)).collect_view()
    };
    let text = slot.view.with_untracked(|view| view.kind_words);
    let error = {
        let view = slot.view.clone();
        move || view.with(|view| view.error.clone()).map(|error| html::p().class("error").child(error))
    };
    let again = {
        let panel = plan.panel.clone();
        let can = Memo::new(move |_| panel.with(|panel| panel.can_rerun));
        move || {
            can.get().then(|| {
                button(Look::QuietSmall)
                    .attr("title", "Runs this step and all steps that depend on it; other results are kept")
                    .on(ev::click, move |_| app.rerun_from(order))
                    .child("Run again from this step")
            })
        }
    };
    let input = {
        let context = slot.context.clone();
        let view = Memo::new(move |_| context.get());
        move || view.with(|view| context::context(app, view))
    };
    let transcript = {
        let slot = slot.clone();
        move || match slot.page.get() {
            Some(page) => turn::transcript(app, &page.behind, &page.transcript),
            None => html::p().class("fact").child("This step was not run, so it has no transcript.").into_any(),
        }
    };
    let selected = plan.selected.clone();
    let title = format!("Step {order}, {agent}");
    Some(
        html::section()
            .class("step-detail")
            .id(DETAIL)
            .attr("aria-label", title.clone())
            .attr("data-level", level)
            .child((
                html::div().class("detail-head").child((
                    html::h2().child((title, html::span().class("kind").child(text))),
                    again,
                    button(Look::Square)
                        .attr("aria-label", "Close the step")
                        .attr("title", "Close the step")
                        .on(ev::click, move |_| selected.set(None))
                        .child(icon(Icon::Close)),
                )),
                html::ul().class("facts").child(facts),
                html::p().class("action").attr("dir", "auto").child(pieces::text(&action)),
                error,
                html::section()
                    .class("told")
                    .attr("aria-label", "Step input")
                    .child((html::h3().child("Input"), input)),
                html::section()
                    .class("did")
                    .attr("aria-label", "Step transcript")
                    .child((html::h3().child("Transcript"), transcript)),
            )),
    )
}

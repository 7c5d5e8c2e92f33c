//! The page of a plan: its title, its graph, and below it the selected step or the result.

use leptos::html;
use leptos::prelude::*;

use crate::answer::ending::dot;
use crate::components::reactive::reactive;
use crate::plans::detail;
use crate::plans::graph;
use crate::plans::state::PlanPage;
use crate::state::App;
use crate::text::prose::Prose;

pub fn page(app: App, page: &PlanPage) -> impl IntoView + use<> {
    let facts = page.head.facts.iter().map(|fact| html::li().child(fact.clone())).collect_view();
    let selected = {
        let selected = page.selected.clone();
        Memo::new(move |_| selected.get())
    };
    let below = {
        let page = page.clone();
        move || match selected.get() {
            Some(order) => detail::detail(app, &page, order).into_any(),
            None => result(app, &page).into_any(),
        }
    };
    html::article().class("page plan").child((
        html::h1().class("task").attr("dir", "auto").child(page.head.title.clone()),
        html::ul().class("facts").child(facts),
        graph::graph(app, page),
        below,
    ))
}

/// Draws the plan's result; before there is one, what can be done here.
fn result(app: App, page: &PlanPage) -> impl IntoView + use<> {
    let ending = {
        let panel = page.panel.clone();
        Memo::new(move |_| panel.with(|panel| panel.ending.clone()))
    };
    reactive(move || {
        let hint = "Select a step to see its input and its transcript.";
        let Some(ending) = ending.get() else { return html::p().class("hint-below").child(hint).into_any() };
        let prose = Prose::new("prose");
        prose.set(&ending.output);
        app.renderer.get_value().render(&prose);
        let source = ending.output_step.map(|order| format!("from step {order}"));
        html::section()
            .class("plan-result")
            .attr("aria-label", "Result of the plan")
            .child((
                html::div().class("result-head").child((
                    dot(Some(ending.tone), "dot"),
                    html::h2().child("Result"),
                    html::span().class("fact").child(source),
                    html::span().class("fact end").child(hint),
                )),
                prose.place(),
            ))
            .into_any()
    })
}

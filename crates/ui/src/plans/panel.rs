//! The panel of a plan: steps and meter, available actions, usage, ending.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::clock;
use turnwise_view::plan::PlanPanelView;
use turnwise_view::plan::panel::PlanEndingView;

use crate::answer::ending::dot;
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, chevron, icon};
use crate::components::reactive::{attribute, reactive};
use crate::plans::state::PlanPage;
use crate::run_facts::STOP_KEYS;
use crate::run_facts::meter;
use crate::state::App;

pub fn panel(app: App, page: &PlanPage) -> impl IntoView + use<> {
    let panel = page.panel.clone();
    let view = Memo::new(move |_| panel.get());
    let state =
        Memo::new(move |_| view.with(|view| (view.running && !view.elsewhere, view.can_wrap_up, view.can_resume)));
    let controls = move || match state.get() {
        (true, can_wrap_up, _) => running(app, can_wrap_up).into_any(),
        (false, _, can_resume) => {
            let resume = can_resume.then(|| resume(app));
            // A next step stays visible on narrow pages too.
            let class = if can_resume { "row next" } else { "row" };
            html::div().class(class).child((resume, edit(app), download(app))).into_any()
        }
    };
    let ending = Memo::new(move |_| view.with(|view| view.ending.clone()));
    (
        reactive(move || view.with(|view| figures(app, view))),
        reactive(controls),
        reactive(move || ending.with(|ending| ending.as_ref().map(ends))),
        reactive(move || view.with(|view| numbers(app, view))),
    )
}

fn figures(app: App, view: &PlanPanelView) -> impl IntoView + use<> {
    let more = html::button()
        .r#type("button")
        .class("btn quiet small more")
        .attr("aria-expanded", attribute(move || if app.panel_open.get() { "true" } else { "false" }))
        .on(ev::click, move |_| app.panel_open.update(|open| *open = !*open))
        .child("Details");
    html::div().class("meter").child((
        html::div()
            .class("figure")
            .child((html::span().child(view.done), html::span().class("of").child(format!("/ {} steps", view.of)))),
        meter::meter(&view.meter),
        more,
        html::p().class("note").child(view.note.clone()),
    ))
}

fn action(text: &'static str, title: &'static str, act: impl Fn() + 'static) -> impl IntoView {
    button(Look::Quiet).attr("title", title).on(ev::click, move |_| act()).child(text)
}

fn running(app: App, can_wrap_up: bool) -> impl IntoView {
    let wrap_up = "Running steps conclude from what they have, and no further steps start";
    html::div().class("row next").child((
        button(Look::Quiet)
            .attr("title", "End now: nothing more is sent. What the steps have found so far stays (Ctrl .)")
            .attr("aria-keyshortcuts", STOP_KEYS)
            .on(ev::click, move |_| app.stop_plan())
            .child("Stop"),
        can_wrap_up.then(|| action("Wrap up", wrap_up, move || app.wrap_up_plan())),
    ))
}

fn resume(app: App) -> impl IntoView {
    button(Look::Primary)
        .attr("title", "Continue the steps that were interrupted, then the ones that follow")
        .on(ev::click, move |_| app.resume_plan())
        .child("Resume")
}

fn edit(app: App) -> impl IntoView {
    let title = "Open this plan in the editor to change it and run it again";
    button(Look::Quiet).attr("title", title).on(ev::click, move |_| app.edit_plan()).child("Edit")
}

fn download(app: App) -> impl IntoView {
    button(Look::Quiet)
        .attr("title", "Download the plan with the runs of its steps (JSON)")
        .on(ev::click, move |_| app.download_plan())
        .child((icon(Icon::Download), "Download"))
}

fn numbers(app: App, view: &PlanPanelView) -> impl IntoView + use<> {
    let row = |class: &'static str, name: &'static str, value: String| {
        (html::dt().class(class).child(name), html::dd().child(value))
    };
    let (started, ended) = (view.started_at, view.elapsed_ms);
    let elapsed = move || clock(ended.unwrap_or_else(|| app.now.get().saturating_sub(started)));
    html::dl().class("figures").child((
        (html::dt().child("Requests"), html::dd().attr("title", view.calls_bound.clone()).child(view.calls.clone())),
        row("", "Tokens in", view.tokens_in.clone()),
        row("", "Tokens out", view.tokens_out.clone()),
        view.estimated.then(|| row("sub", "token counts are", "estimates".to_owned())),
        (html::dt().child("Elapsed"), html::dd().child(reactive(elapsed))),
    ))
}

fn ends(view: &PlanEndingView) -> impl IntoView + use<> {
    html::section().class("ends").attr("aria-label", "Ending").child((
        html::p().class("headline").child((dot(Some(view.tone), "dot"), html::span().child(view.headline.clone()))),
        html::dl().child(html::div().child((
            html::dt().child("Steps"),
            html::dd().child(html::span().class("plain").child(view.steps.clone())),
        ))),
        html::details().child((
            html::summary().child((chevron(), "Details")),
            html::dl().child(
                html::div().child((html::dt().child("Outcome"), html::dd().child(html::code().child(view.outcome)))),
            ),
        )),
    ))
}

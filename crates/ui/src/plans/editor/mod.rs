//! The plan editor: a form or JSON, its faults, a draft by a model, and Run.

pub mod draft;
pub mod fields;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_record::plan::Plan;
use turnwise_view::plan::edit::{FaultView, PlanDraft, to_fix};
use turnwise_view::plan::example::PLAN;

use crate::browser::storage;
use crate::components::dialog::dialog;
use crate::components::reactive::{attribute, flag, reactive};
use crate::parts::{later, parts};
use crate::state::{App, Backing, Dialog, Thread};

const STORED: &str = "turnwise.plan";

/// Restores what was written on an earlier visit, and saves it as it changes.
pub fn keep(app: App) {
    if let Some(text) = storage::load(STORED) {
        app.plans().draft.set(PlanDraft::from_json(&text));
    }
    Effect::new(move || app.plans().draft.with(|draft| storage::save(STORED, &draft.to_json())));
}

pub fn editor(app: App) -> impl IntoView {
    dialog(app, Dialog::Plan, "plan-editor", "Plan", move || later(plan_editor(app)))
}

/// The plan or all its faults, updated as the user types.
type CheckedPlan = Memo<Result<Plan, Vec<FaultView>>>;

parts! {
    plans: plan_editor(app: App) => content(app);
}

fn content(app: App) -> impl IntoView {
    let checked: CheckedPlan = Memo::new(move |_| {
        let (config, _) = app.settings.with(|settings| settings.draft(app.tools()));
        let tools: Vec<&str> = config.tools.iter().map(|tool| tool.name.as_str()).collect();
        app.plans().draft.with(|draft| draft.plan(&tools))
    });
    let as_json = Memo::new(move |_| app.plans().draft.with(|draft| draft.text.is_some()));
    let body = move || {
        if as_json.get() {
            json(app, checked).into_any()
        } else {
            crate::plans::editor::fields::form(app, checked).into_any()
        }
    };
    (
        html::div().class("dialog-body").child((
            crate::plans::editor::draft::draft(app),
            mode(app, as_json),
            sketch(app),
            body,
        )),
        foot(app, checked),
    )
}

/// Draws the plan as it is written so far.
fn sketch(app: App) -> impl IntoView {
    let sketched = Memo::new(move |_| app.plans().draft.with(PlanDraft::sketch));
    reactive(move || sketched.with(|plan| plan.as_ref().map(crate::plans::graph::sketch)))
}

/// Draws the switch between form and JSON.
fn mode(app: App, as_json: Memo<bool>) -> impl IntoView {
    let refused = RwSignal::new(None::<String>);
    let choice = move |text: &'static str, json: bool| {
        html::button()
            .r#type("button")
            .attr("aria-pressed", attribute(move || if as_json.get() == json { "true" } else { "false" }))
            .on(ev::click, move |_| {
                if as_json.get_untracked() != json {
                    let mut tried = app.plans().draft.get_untracked();
                    let switched = tried.switch();
                    if switched.is_ok() {
                        app.plans().draft.set(tried);
                    }
                    refused.set(switched.err());
                }
            })
            .child(text)
    };
    html::div().class("mode").child((
        html::div()
            .class("segmented")
            .attr("role", "group")
            .attr("aria-label", "Plan format")
            .child((choice("Form", false), choice("JSON", true))),
        html::button()
            .r#type("button")
            .class("btn bare small")
            .on(ev::click, move |_| app.use_example())
            .child("Use the example"),
        html::button()
            .r#type("button")
            .class("btn bare small")
            .on(ev::click, move |_| app.plans().draft.set(PlanDraft::blank()))
            .child("Start over"),
        reactive(move || refused.get().map(|why| html::span().class("wrong").attr("role", "alert").child(why))),
    ))
}

fn json(app: App, checked: CheckedPlan) -> impl IntoView {
    let invalid = move || if checked.with(Result::is_err) { "true" } else { "false" };
    (
        html::div().class("input mono").child((
            html::label().r#for("plan-json").child("The plan as JSON"),
            html::textarea()
                .id("plan-json")
                .attr("rows", "16")
                .attr("spellcheck", "false")
                .attr("aria-invalid", attribute(invalid))
                .attr("aria-describedby", "plan-faults")
                .prop("value", move || app.plans().draft.with(|draft| draft.text.clone().unwrap_or_default()))
                .on(ev::input, move |event| {
                    let text = event_target_value(&event);
                    app.plans().draft.update(|draft| draft.text = Some(text));
                }),
        )),
        faults(checked),
    )
}

/// Draws every fault, with its place and what to do.
fn faults(checked: CheckedPlan) -> impl IntoView {
    let each = move || {
        checked.with(|checked| {
            let faults = checked.as_ref().err().map(Vec::as_slice).unwrap_or_default();
            let line = |fault: &FaultView| {
                html::li().child((html::b().child(fault.place.clone()), html::span().child(fault.full_text())))
            };
            faults.iter().map(line).collect_view()
        })
    };
    html::ul().class("faults").id("plan-faults").child(reactive(each))
}

fn foot(app: App, checked: CheckedPlan) -> impl IntoView {
    let text = move || {
        checked.with(|checked| match checked {
            Ok(_) => "Saved in this browser.".to_owned(),
            Err(faults) => to_fix(faults),
        })
    };
    let samples = move || {
        app.plans().draft.with(|draft| draft.samples).then(|| {
            html::label().class("with-samples").child((
                html::input()
                    .r#type("checkbox")
                    .prop("checked", true)
                    .on(ev::change, move |_| app.plans().draft.update(|draft| draft.samples = false)),
                "over the sample documents",
            ))
        })
    };
    html::div().class("dialog-foot").child((
        html::span().class("grow").attr("role", "status").child(reactive(text)),
        reactive(samples),
        html::button()
            .r#type("button")
            .class("btn primary")
            .prop("disabled", flag(move || checked.with(Result::is_err)))
            .on(ev::click, move |_| {
                if let Ok(plan) = checked.get_untracked() {
                    app.run_edited(plan);
                }
            })
            .child("Run the plan"),
    ))
}

impl App {
    /// Opens the editor with the plan as it was left.
    pub fn new_plan(&self) {
        self.rail_open.set(false);
        self.dialog.set(Some(Dialog::Plan));
    }

    /// Opens the editor with the open plan.
    pub fn edit_plan(&self) {
        let Some(Thread { backing: Backing::Plan { page, workspace }, .. }) = self.thread_now() else { return };
        let first = PLAN.files.first().map(|name| format!("{}/{name}", PLAN.folder)).unwrap_or_default();
        let samples = workspace.is_some_and(|workspace| workspace.get(&first).is_some());
        self.plans().draft.update(|draft| {
            draft.fill_from(&page.plan);
            draft.samples = samples;
        });
        self.dialog.set(Some(Dialog::Plan));
    }

    fn use_example(&self) {
        self.plans().draft.update(|draft| {
            draft.fill(&PLAN.plan());
            draft.samples = true;
        });
    }

    /// Runs the edited plan.
    fn run_edited(&self, plan: Plan) {
        let Some(config) = self.config() else { return };
        self.dialog.set(None);
        let app = *self;
        if self.plans().draft.with_untracked(|draft| draft.samples) {
            self.with_sample_documents(move |files| {
                app.run_plan(plan, config, &app.workspace_of(files), None);
            });
        } else {
            crate::files::samples::when_ready(app, move || {
                app.run_plan(plan, config, &app.new_workspace(), None);
            });
        }
    }
}

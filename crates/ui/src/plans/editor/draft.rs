//! A plan drafted by a model: the task, the run that drafts it, and the result, to be edited before it runs.

use std::collections::BTreeMap;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_engine::{ProviderKind, RunConfig, Status};
use turnwise_record::plan::{AgentSpec, draft, fault};
use turnwise_view::plan::edit::PlanDraft;

use crate::client::app_worker::RunClient;
use crate::client::slots::Local;
use crate::components::reactive::{flag, reactive};
use crate::state::App;

/// The state of drafting.
#[derive(Clone, Debug, Default)]
enum DraftState {
    #[default]
    Idle,
    Drafting(Local<RunClient>),
    Done(String),
    Failed(String),
}

pub fn draft(app: App) -> impl IntoView {
    let state = RwSignal::new(DraftState::Idle);
    // The run is closed with the dialog.
    on_cleanup(move || {
        if let Some(DraftState::Drafting(handle)) = state.try_get_untracked() {
            handle.close();
        }
    });
    let demo = Memo::new(move |_| {
        let (config, _) = app.settings.with(|settings| settings.draft(turnwise_tools::all()));
        is_demo(&config)
    });
    let busy = Memo::new(move |_| state.with(|state| matches!(state, DraftState::Drafting(_))));
    let act = move || {
        if busy.get() {
            let cancel = move |_| {
                if let DraftState::Drafting(handle) = state.get_untracked() {
                    handle.cancel();
                }
            };
            html::button().r#type("button").class("btn quiet").on(ev::click, cancel).child("Cancel").into_any()
        } else {
            html::button()
                .r#type("button")
                .class("btn quiet")
                .prop(
                    "disabled",
                    flag(move || demo.get() || app.plans().draft.with(|draft| draft.task.trim().is_empty())),
                )
                .on(ev::click, move |_| begin(app, state))
                .child("Draft the plan")
                .into_any()
        }
    };
    let said = move || {
        match (state.get(), demo.get()) {
        (DraftState::Drafting(_), _) => Some(("doing", "The model is drafting the plan.".to_owned())),
        (DraftState::Done(text), _) => Some(("done", text)),
        (DraftState::Failed(text), _) => Some(("wrong", text)),
        (DraftState::Idle, true) => Some((
            "help",
            "The demo model is scripted and cannot draft a plan. Choose a model in the settings, or use the example below."
                .to_owned(),
        )),
        (DraftState::Idle, false) => Some((
            "help",
            "The model drafts steps for the agents below, and you edit them before anything runs.".to_owned(),
        )),
    }
    };
    html::div().class("drafting").child((
        html::div().class("input").child((
            html::label().r#for("plan-task").child("Draft from a task"),
            html::textarea()
                .id("plan-task")
                .attr("rows", "2")
                .attr("placeholder", "What should the plan achieve?")
                .prop("value", move || app.plans().draft.with(|draft| draft.task.clone()))
                .on(ev::input, move |event| {
                    let task = event_target_value(&event);
                    app.plans().draft.update(|draft| draft.task = task);
                }),
        )),
        html::div().class("row").child((
            reactive(act),
            html::span()
                .class("said")
                .attr("role", "status")
                .child(reactive(move || said().map(|(class, text)| html::span().class(class).child(text)))),
        )),
    ))
}

fn is_demo(config: &RunConfig) -> bool {
    config.providers.iter().all(|provider| provider.kind == ProviderKind::Demo)
}

fn begin(app: App, state: RwSignal<DraftState>) {
    let Some(base) = app.config() else { return };
    let (task, agents) = app.plans().draft.with_untracked(|draft| (draft.task.clone(), agents(draft)));
    let agents = match agents {
        Ok(agents) => agents,
        Err(why) => return state.set(DraftState::Failed(why)),
    };
    let input = draft::input(&task, &base, &agents);
    let Some(handle) = app.run_apart(draft::config(&base, &agents), input) else { return };
    state.set(DraftState::Drafting(Local::new(handle.clone())));
    let open = handle.downgrade();
    handle.observe(move |_, _| {
        let Some(handle) = open() else { return };
        if handle.location() == turnwise_protocol::app::RunLocation::Interrupted {
            let _ = state.try_set(DraftState::Failed(
                "The draft was lost because its worker stopped. Draft the plan again.".to_owned(),
            ));
            return;
        }
        let ended = handle.look(|run| run.segments.last().filter(|_| run.status == Status::Ended).cloned()).flatten();
        let Some(ending) = ended else { return };
        handle.close();
        let came = match draft::plan(&ending, &base, &agents) {
            Ok(plan) => {
                app.plans().draft.update(|draft| draft.fill_from(&plan));
                DraftState::Done("Draft ready. Check it before you run it; nothing has run yet.".to_owned())
            }
            Err(faults) => DraftState::Failed(format!("The model's draft cannot be used. {}", fault::listed(&faults))),
        };
        let _ = state.try_set(came);
    });
}

/// Returns the agents that were entered, or the default ones if there are none.
fn agents(written: &PlanDraft) -> Result<BTreeMap<String, AgentSpec>, String> {
    let text = written.agents_value().to_string();
    let agents: BTreeMap<String, AgentSpec> =
        serde_json::from_str(&text).map_err(|e| format!("Fix the agents first: {e}"))?;
    Ok(if agents.is_empty() { draft::default_agents() } else { agents })
}

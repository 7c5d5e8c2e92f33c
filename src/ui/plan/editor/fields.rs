//! The form: agents and steps as rows of fields, each fault beside its field.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::plan::AgentKind;
use crate::view::plan::edit::{AgentForm, FaultView, PlanDraft, StepForm, name_path};

use super::super::super::icon::{Icon, icon};
use super::super::super::state::App;
use super::Checked;

pub fn form(app: App, checked: Checked) -> impl IntoView {
    let agents = move || app.plan_draft.with(|draft| draft.agents.iter().map(|agent| agent.key).collect::<Vec<_>>());
    let steps = move || app.plan_draft.with(|draft| draft.steps.iter().map(|step| step.key).collect::<Vec<_>>());
    (
        html::fieldset().class("group").child((
            html::legend().child("Agents"),
            For(ForProps::builder().each(agents).key(|key| *key).children(move |key| agent(app, checked, key)).build()),
            add("Add an agent", move || app.plan_draft.update(PlanDraft::add_agent)),
        )),
        html::fieldset().class("group").child((
            html::legend().child("Steps"),
            html::p().class("fact").child(
                "Steps that need nothing from each other run at the same time. A synthesis step is told all that came \
                 before it; it needs no dependencies for that.",
            ),
            For(ForProps::builder().each(steps).key(|key| *key).children(move |key| step(app, checked, key)).build()),
            add("Add a step", move || app.plan_draft.update(PlanDraft::add_step)),
            other_faults(app, checked),
        )),
    )
}

fn add(words: &'static str, act: impl Fn() + 'static) -> impl IntoView {
    html::button()
        .r#type("button")
        .class("btn quiet small add")
        .on(ev::click, move |_| act())
        .child((icon(Icon::Plus), words))
}

/// One field of the form, wherever it is.
#[derive(Clone)]
struct Slot {
    id: String,
    label: &'static str,
    help: &'static str,
    class: &'static str,
}

fn slot(key: u32, what: &'static str, name: &'static str, label: &'static str) -> Slot {
    Slot { id: format!("plan-{what}-{key}-{name}"), label, help: "", class: "input" }
}

type Reads = fn(&PlanDraft, u32) -> Option<String>;
type Writes = fn(&mut PlanDraft, u32, String);
/// Where the field is in the JSON: steps and agents move.
type Path = fn(&PlanDraft, u32) -> Option<String>;

fn agent_of(draft: &PlanDraft, key: u32) -> Option<&AgentForm> {
    draft.agents.iter().find(|agent| agent.key == key)
}

fn with_agent(draft: &mut PlanDraft, key: u32, set: impl FnOnce(&mut AgentForm)) {
    if let Some(agent) = draft.agents.iter_mut().find(|agent| agent.key == key) {
        set(agent);
    }
}

fn step_of(draft: &PlanDraft, key: u32) -> Option<&StepForm> {
    draft.steps.iter().find(|step| step.key == key)
}

fn with_step(draft: &mut PlanDraft, key: u32, set: impl FnOnce(&mut StepForm)) {
    if let Some(step) = draft.steps.iter_mut().find(|step| step.key == key) {
        set(step);
    }
}

fn step_path(draft: &PlanDraft, key: u32, field: &str) -> Option<String> {
    let at = draft.steps.iter().position(|step| step.key == key)?;
    Some(format!("plan.steps[{at}].{field}"))
}

fn agent(app: App, checked: Checked, key: u32) -> impl IntoView {
    let name = slot(key, "agent", "name", "Name");
    let kind = slot(key, "agent", "kind", "Kind");
    let turns = Slot { help: "empty: as in the settings", ..slot(key, "agent", "turns", "Turns at most") };
    let tools = Slot { help: "empty: all of them; none: no tools", ..slot(key, "agent", "tools", "Tools") };
    let system = Slot { class: "input wide", ..slot(key, "agent", "system", "System message") };
    let kinds = || AgentKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect::<Vec<_>>();
    let remove = move || app.plan_draft.update(|draft| draft.agents.retain(|agent| agent.key != key));
    let named = move || app.plan_draft.with(|draft| agent_of(draft, key).map(|agent| agent.name.clone()));
    row(
        named,
        "agent",
        remove,
        (
            line(
                app,
                checked,
                key,
                name,
                |d, k| agent_of(d, k).map(|a| a.name.clone()),
                |d, k, v| with_agent(d, k, |a| a.name = v),
                |_, k| Some(name_path(k)),
            ),
            choice(
                app,
                checked,
                key,
                kind,
                kinds,
                |d, k| agent_of(d, k).map(|a| a.kind.clone()),
                |d, k, v| with_agent(d, k, |a| a.kind = v),
                |d, k| agent_of(d, k).map(|a| a.path("kind")),
            ),
            line(
                app,
                checked,
                key,
                turns,
                |d, k| agent_of(d, k).map(|a| a.max_turns.clone()),
                |d, k, v| with_agent(d, k, |a| a.max_turns = v),
                |d, k| agent_of(d, k).map(|a| a.path("max_turns")),
            ),
            line(
                app,
                checked,
                key,
                tools,
                |d, k| agent_of(d, k).map(|a| a.tools.clone()),
                |d, k, v| with_agent(d, k, |a| a.tools = v),
                |d, k| agent_of(d, k).map(|a| a.path("tools")),
            ),
            area(
                app,
                checked,
                key,
                system,
                |d, k| agent_of(d, k).map(|a| a.system.clone()),
                |d, k, v| with_agent(d, k, |a| a.system = v),
                |d, k| agent_of(d, k).map(|a| a.path("system")),
            ),
        ),
    )
}

fn step(app: App, checked: Checked, key: u32) -> impl IntoView {
    let order = slot(key, "step", "order", "Order");
    let agent = slot(key, "step", "agent", "Agent");
    let dependencies = Slot { help: "orders, as in 1, 2", ..slot(key, "step", "dependencies", "Depends on") };
    let tools = Slot { help: "empty: those of its agent", ..slot(key, "step", "tools", "Only these tools") };
    let action = Slot { class: "input wide", ..slot(key, "step", "action", "Action") };
    let agents = move || {
        app.plan_draft.with(|draft| draft.agents.iter().map(|agent| agent.name.trim().to_owned()).collect::<Vec<_>>())
    };
    let remove = move || app.plan_draft.update(|draft| draft.steps.retain(|step| step.key != key));
    let named = move || app.plan_draft.with(|draft| step_of(draft, key).map(|step| step.order.clone()));
    row(
        named,
        "step",
        remove,
        (
            line(
                app,
                checked,
                key,
                order,
                |d, k| step_of(d, k).map(|s| s.order.clone()),
                |d, k, v| with_step(d, k, |s| s.order = v),
                |d, k| step_path(d, k, "order"),
            ),
            choice(
                app,
                checked,
                key,
                agent,
                agents,
                |d, k| step_of(d, k).map(|s| s.agent.clone()),
                |d, k, v| with_step(d, k, |s| s.agent = v),
                |d, k| step_path(d, k, "agent"),
            ),
            line(
                app,
                checked,
                key,
                dependencies,
                |d, k| step_of(d, k).map(|s| s.dependencies.clone()),
                |d, k, v| with_step(d, k, |s| s.dependencies = v),
                |d, k| step_path(d, k, "dependencies"),
            ),
            line(
                app,
                checked,
                key,
                tools,
                |d, k| step_of(d, k).map(|s| s.tools.clone()),
                |d, k, v| with_step(d, k, |s| s.tools = v),
                |d, k| step_path(d, k, "tools"),
            ),
            area(
                app,
                checked,
                key,
                action,
                |d, k| step_of(d, k).map(|s| s.action.clone()),
                |d, k, v| with_step(d, k, |s| s.action = v),
                |d, k| step_path(d, k, "action"),
            ),
        ),
    )
}

fn row(
    named: impl Fn() -> Option<String> + Send + Sync + Copy + 'static,
    what: &'static str,
    remove: impl Fn() + 'static,
    fields: impl IntoView + 'static,
) -> impl IntoView {
    let title = move || format!("{what} {}", named().unwrap_or_default());
    html::div().class("plan-row").attr("role", "group").attr("aria-label", title).attr("data-what", what).child((
        fields,
        html::button()
            .r#type("button")
            .class("btn bare square")
            .attr("aria-label", move || format!("Remove {}", title()))
            .on(ev::click, move |_| remove())
            .child(icon(Icon::Trash)),
    ))
}

fn wrong(app: App, checked: Checked, key: u32, path: Path) -> Memo<Option<String>> {
    Memo::new(move |_| {
        let path = app.plan_draft.with(|draft| path(draft, key))?;
        checked.with(|checked| {
            let faults = checked.as_ref().err()?.iter().filter(|fault| fault.is_at(&path));
            let words: Vec<String> = faults.map(|fault| format!("{}. {}", fault.message, fault.advice)).collect();
            (!words.is_empty()).then(|| words.join(" "))
        })
    })
}

fn labelled(slot: Slot, wrong: Memo<Option<String>>, input: impl IntoView + 'static) -> impl IntoView {
    let id = format!("{}-wrong", slot.id);
    html::div().class(slot.class).child((
        html::label().r#for(slot.id).child(slot.label),
        input,
        html::span().class("wrong").id(id).child(move || wrong.get()),
        (!slot.help.is_empty()).then(|| html::span().class("help").child(slot.help)),
    ))
}

fn line(app: App, checked: Checked, key: u32, slot: Slot, get: Reads, set: Writes, path: Path) -> impl IntoView {
    let wrong = wrong(app, checked, key, path);
    let input = html::input()
        .r#type("text")
        .id(slot.id.clone())
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("aria-describedby", format!("{}-wrong", slot.id))
        .attr("aria-invalid", move || if wrong.with(Option::is_some) { "true" } else { "false" })
        .prop("value", move || app.plan_draft.with(|draft| get(draft, key).unwrap_or_default()))
        .on(ev::input, move |event| app.plan_draft.update(|draft| set(draft, key, event_target_value(&event))));
    labelled(slot, wrong, input)
}

fn area(app: App, checked: Checked, key: u32, slot: Slot, get: Reads, set: Writes, path: Path) -> impl IntoView {
    let wrong = wrong(app, checked, key, path);
    let input = html::textarea()
        .id(slot.id.clone())
        .attr("rows", "1")
        .attr("aria-describedby", format!("{}-wrong", slot.id))
        .attr("aria-invalid", move || if wrong.with(Option::is_some) { "true" } else { "false" })
        .prop("value", move || app.plan_draft.with(|draft| get(draft, key).unwrap_or_default()))
        .on(ev::input, move |event| app.plan_draft.update(|draft| set(draft, key, event_target_value(&event))));
    labelled(slot, wrong, input)
}

#[allow(clippy::too_many_arguments)] // one field, in one line where it is used
fn choice(
    app: App,
    checked: Checked,
    key: u32,
    slot: Slot,
    options: impl Fn() -> Vec<String> + Send + Sync + 'static,
    get: Reads,
    set: Writes,
    path: Path,
) -> impl IntoView {
    let wrong = wrong(app, checked, key, path);
    let now = Memo::new(move |_| app.plan_draft.with(|draft| get(draft, key).unwrap_or_default()));
    // What is chosen stays to be seen, also where it is none of the choices.
    let each = Memo::new(move |_| {
        let (mut options, now) = (options(), now.get());
        if !options.contains(&now) {
            options.push(now);
        }
        options
    });
    let each = move || {
        let option = |name: String| {
            let same = name.clone();
            html::option().value(name.clone()).prop("selected", move || now.get() == same).child(name)
        };
        each.get().into_iter().map(option).collect_view()
    };
    let input = html::select()
        .id(slot.id.clone())
        .attr("aria-describedby", format!("{}-wrong", slot.id))
        .attr("aria-invalid", move || if wrong.with(Option::is_some) { "true" } else { "false" })
        .on(ev::change, move |event| app.plan_draft.update(|draft| set(draft, key, event_target_value(&event))))
        .child(each);
    labelled(slot, wrong, input)
}

/// What stands beside no field: about the plan as a whole.
fn other_faults(app: App, checked: Checked) -> impl IntoView {
    let about =
        |fault: &FaultView| !["plan.steps[", "plan.agents.", "form."].iter().any(|at| fault.path.starts_with(at));
    move || {
        app.plan_draft.track();
        checked.with(|checked| {
            let faults = checked.as_ref().err().map(Vec::as_slice).unwrap_or_default();
            let line =
                |fault: &FaultView| html::p().class("wrong").child(format!("{}. {}", fault.message, fault.advice));
            faults.iter().filter(|fault| about(fault)).map(line).collect_view()
        })
    }
}

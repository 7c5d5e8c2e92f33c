//! The form: agents and steps as rows of fields, each fault next to its field.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::plan::cell::{OF_AGENT, OF_STEP, StepField};
use turnwise_view::plan::edit::{FaultView, PlanDraft};

use crate::components::icon::{Icon, icon};
use crate::components::reactive::{attribute, flag, reactive};
use crate::plans::editor::CheckedPlan;
use crate::state::App;

pub fn form(app: App, checked: CheckedPlan) -> impl IntoView {
    let agents = move || app.plans().draft.with(|draft| draft.agents.iter().map(|agent| agent.key).collect::<Vec<_>>());
    let steps = move || app.plans().draft.with(|draft| draft.steps.iter().map(|step| step.key).collect::<Vec<_>>());
    let agent = move |key| row(app, checked, key, "agent", OF_AGENT, StepField::Name);
    let step = move |key| row(app, checked, key, "step", OF_STEP, StepField::Order);
    (
        html::fieldset().class("group").child((
            html::legend().child("Steps"),
            html::p().class("fact").child(
                "Steps that do not depend on each other run at the same time. A synthesis step receives the results \
                 of all earlier steps and needs no dependencies.",
            ),
            For(ForProps::builder().each(steps).key(|key| *key).children(step).build()),
            add("Add a step", move || app.plans().draft.update(PlanDraft::add_step)),
            other_faults(checked),
        )),
        html::fieldset().class("group").child((
            html::legend().child("Agents"),
            html::p().class("fact").child("An agent without a list of tools has all tools from Settings."),
            For(ForProps::builder().each(agents).key(|key| *key).children(agent).build()),
            add("Add an agent", move || app.plans().draft.update(PlanDraft::add_agent)),
        )),
    )
}

fn add(text: &'static str, act: impl Fn() + 'static) -> impl IntoView {
    html::button()
        .r#type("button")
        .class("btn quiet small add")
        .on(ev::click, move |_| act())
        .child((icon(Icon::Plus), text))
}

fn row(
    app: App,
    checked: CheckedPlan,
    key: u32,
    what: &'static str,
    fields: [StepField; 5],
    name: StepField,
) -> impl IntoView {
    let title = move || app.plans().draft.with(|draft| format!("{what} {}", draft.get(key, name)));
    let (inputs, faults): (Vec<_>, Vec<_>) =
        fields.into_iter().map(|field_name| field(app, checked, key, field_name)).unzip();
    html::div()
        .class("plan-row")
        .attr("role", "group")
        .attr("aria-label", attribute(title))
        .attr("data-what", what)
        .child((
            inputs,
            html::button()
                .r#type("button")
                .class("btn bare square")
                .attr("aria-label", attribute(move || format!("Remove {}", title())))
                .on(ev::click, move |_| app.plans().draft.update(|draft| draft.remove(key)))
                .child(icon(Icon::Trash)),
            html::div().class("row-faults").child(faults),
        ))
}

/// Returns the input, and its faults: those go below the row, where there is room for text.
fn field(app: App, checked: CheckedPlan, key: u32, field: StepField) -> (impl IntoView, impl IntoView) {
    let id = format!("plan-{key}-{}", field.key());
    let says = format!("{id}-wrong");
    let value = move || app.plans().draft.with(|draft| draft.get(key, field));
    // An empty field is no mistake before the user has been there.
    let left = RwSignal::new(false);
    let wrong = Memo::new(move |_| {
        let path = app.plans().draft.with(|draft| draft.path(key, field));
        let is_empty = value().trim().is_empty();
        if is_empty && !left.get() {
            return None;
        }
        checked.with(|checked| {
            let faults = checked.as_ref().err()?.iter().filter(|fault| fault.is_at(&path));
            let text: Vec<String> = faults.map(FaultView::full_text).collect();
            match (text.is_empty(), is_empty, field) {
                (true, ..) => None,
                (false, true, StepField::Action) => Some(vec!["Describe what this step should do.".to_owned()]),
                (false, ..) => Some(text),
            }
        })
    });
    let invalid = move || if wrong.with(Option::is_some) { "true" } else { "false" };
    let set = move |value: String| app.plans().draft.update(|draft| draft.set(key, field, value));
    let input = match field {
        StepField::Kind | StepField::Agent => html::select()
            .id(id.clone())
            .attr("aria-describedby", says.clone())
            .attr("aria-invalid", invalid)
            .on(ev::change, move |event| set(event_target_value(&event)))
            .child(options(app, key, field))
            .into_any(),
        StepField::Action | StepField::System => html::textarea()
            .id(id.clone())
            .attr("rows", "1")
            .attr("aria-describedby", says.clone())
            .attr("aria-invalid", invalid)
            .attr("placeholder", field.empty())
            .prop("value", value)
            .on(ev::input, move |event| set(event_target_value(&event)))
            .into_any(),
        _ if field.is_list() => chips(app, key, field, &id, &says, invalid),
        _ => html::input()
            .r#type("text")
            .id(id.clone())
            .attr("autocomplete", "off")
            .attr("spellcheck", "false")
            .attr("aria-describedby", says.clone())
            .attr("aria-invalid", invalid)
            .attr("placeholder", field.empty())
            .prop("value", value)
            .on(ev::input, move |event| set(event_target_value(&event)))
            .into_any(),
    };
    let label = html::label().r#for(id).child(field.label());
    let input = html::div()
        .class("input")
        .attr("data-field", field.key())
        .on(ev::focusout, move |_| left.set(true))
        .child((label, input));
    let line = move |text: String| html::p().child((html::b().child(field.label()), text));
    let faults = move || wrong.get().unwrap_or_default().into_iter().map(line).collect_view();
    (input, html::div().class("wrong").id(says).child(reactive(faults)))
}

/// Draws a list: its entries, each with a way to remove it, and what can be added.
fn chips(
    app: App,
    key: u32,
    field: StepField,
    id: &str,
    says: &str,
    invalid: impl Fn() -> &'static str + Send + 'static,
) -> AnyView {
    let draft = app.plans().draft;
    let entries = Memo::new(move |_| draft.with(|draft| draft.entries(key, field)));
    let addable = Memo::new(move |_| {
        let (config, _) = app.settings.with(|settings| settings.draft(turnwise_tools::all()));
        let tools: Vec<&str> = config.tools.iter().map(|tool| tool.name.as_str()).collect();
        draft.with(|draft| draft.addable(key, field, &tools))
    });
    let select = NodeRef::<html::Select>::new();
    let chip = move |(at, text): (usize, String)| {
        html::li().child(
            html::button()
                .r#type("button")
                .class("chip")
                .attr("aria-label", format!("Remove {text} from {}", field.label()))
                .on(ev::click, move |_| {
                    draft.update(|draft| draft.remove_entry(key, field, at));
                    if let Some(select) = select.get_untracked() {
                        let _ = select.focus();
                    }
                })
                .child((text, icon(Icon::Close))),
        )
    };
    let add = move |_| {
        let Some(select) = select.get_untracked() else { return };
        let value = select.value();
        select.set_value("");
        if !value.is_empty() {
            draft.update(|draft| draft.add(key, field, &value));
        }
    };
    let options = move || {
        let empty = if entries.with(Vec::is_empty) { field.empty() } else { "add" };
        let option = |(value, text): (String, String)| html::option().value(value).child(text);
        (html::option().value("").child(empty), addable.get().into_iter().map(option).collect_view())
    };
    html::div()
        .class("chips")
        .child((
            html::ul()
                .attr("aria-label", field.label())
                .child(reactive(move || entries.get().into_iter().enumerate().map(chip).collect_view())),
            html::select()
                .node_ref(select)
                .id(id.to_owned())
                .attr("aria-describedby", says.to_owned())
                .attr("aria-invalid", invalid)
                .on(ev::change, add)
                .child(reactive(options)),
        ))
        .into_any()
}

/// Draws the choices. The current value stays visible, even if it is not one of them.
fn options(app: App, key: u32, field: StepField) -> impl IntoView {
    let now = Memo::new(move |_| app.plans().draft.with(|draft| draft.get(key, field)));
    let each = Memo::new(move |_| {
        let mut choices = app.plans().draft.with(|draft| draft.choices(field)).unwrap_or_default();
        let now = now.get();
        if !choices.contains(&now) {
            choices.push(now);
        }
        choices
    });
    reactive(move || {
        let option = |name: String| {
            let same = name.clone();
            html::option().value(name.clone()).prop("selected", flag(move || now.get() == same)).child(name)
        };
        each.get().into_iter().map(option).collect_view()
    })
}

/// Draws the faults of no particular field: those about the plan as a whole.
fn other_faults(checked: CheckedPlan) -> impl IntoView {
    reactive(move || {
        checked.with(|checked| {
            let faults = checked.as_ref().err().map(Vec::as_slice).unwrap_or_default();
            let line = |fault: &FaultView| html::p().class("wrong").child(fault.full_text());
            faults.iter().filter(|fault| fault.is_about_the_whole()).map(line).collect_view()
        })
    })
}

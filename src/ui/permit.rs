//! The question whether a tool call may run: a card above the task box, one question at a time.
//!
//! The focus goes to the refusal, unless the user is typing; Escape inside the card refuses this call. Nothing is allowed
//! by a key that was meant for something else.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlElement;

use crate::engine::Scope;
use crate::protocol::desk::{Order, Permit, PermitId, Permitted};
use crate::view::permit::{DiffLine, PermitBody, PermitView};

use super::dom;
use super::state::App;

const REFUSE: &str = "refuse";

impl App {
    /// Shows a question, after those that are open.
    pub(super) fn ask_permit(&self, permit: &Permit) {
        let view = PermitView::from(permit);
        self.permits.update(|permits| permits.push(view));
    }

    /// Closes a question that needs no answer any more.
    pub(super) fn close_permit(&self, id: PermitId) {
        self.permits.update(|permits| permits.retain(|permit| permit.id != id));
    }

    fn answer_permit(&self, id: PermitId, allow: bool, scope: Scope) {
        self.close_permit(id);
        let order = Order::Permit { permit: id, answered: Permitted { allow, scope } };
        self.line.with_value(|line| {
            if let Some(line) = line {
                line.tell(&order, Vec::new());
            }
        });
        if self.permits.with_untracked(Vec::is_empty) {
            dom::focus(dom::TASK);
        }
    }
}

/// Draws the first open question. The live region stays; only its content changes.
pub fn card(app: App) -> impl IntoView {
    let first = Memo::new(move |_| app.permits.with(|permits| permits.first().cloned()));
    let more = Memo::new(move |_| app.permits.with(Vec::len).saturating_sub(1));
    html::div().class("permits").attr("aria-live", "assertive").child(move || {
        let view = first.get()?;
        Some(question(app, view, more))
    })
}

fn question(app: App, view: PermitView, more: Memo<usize>) -> impl IntoView {
    let PermitView { id, title, warning, body, tool, folder } = view;
    let scope = RwSignal::new(Scope::Call);
    let answer = move |allow: bool| {
        let scope = scope.get_untracked();
        match folder.clone().filter(|_| allow) {
            None => app.answer_permit(id, allow, scope),
            // The browser asks too, and wants the user's click for it.
            Some(folder) => spawn_local(async move {
                if app.may_write(&folder).await {
                    return app.answer_permit(id, true, scope);
                }
                app.complain(format!("The browser did not permit changes to {folder}, so the call was refused."));
                app.answer_permit(id, false, Scope::Call);
            }),
        }
    };
    let refuse_call = {
        let answer = answer.clone();
        move || answer(false)
    };
    let choice = move |of: Scope, text: &'static str, help: String| {
        html::label().attr("title", help).child((
            html::input()
                .r#type("radio")
                .attr("name", "permit-scope")
                .prop("checked", move || scope.get() == of)
                .on(ev::change, move |_| scope.set(of)),
            html::span().child(text),
        ))
    };
    let refuse = NodeRef::<html::Button>::new();
    Effect::new(move || {
        if let Some(button) = refuse.get().filter(|_| !is_typing()) {
            let _ = button.focus();
        }
    });
    let waiting = move || match more.get() {
        0 => "Permission needed".to_owned(),
        1 => "Permission needed · 1 more question waits".to_owned(),
        more => format!("Permission needed · {more} more questions wait"),
    };
    html::section()
        .class("permit")
        .attr("role", "group")
        .attr("aria-label", "Permission needed")
        .on(ev::keydown, move |event| {
            if event.key() == "Escape" {
                event.prevent_default();
                event.stop_propagation();
                app.answer_permit(id, false, Scope::Call);
            }
        })
        .child((
            html::p().class("over").child(waiting),
            html::h2().child(title),
            warning.map(|text| html::p().class("warning").child(text)),
            content(body),
            html::div().class("answer").child((
                html::fieldset().class("reach").child((
                    html::legend().class("hidden").child("The answer is for"),
                    choice(Scope::Call, "This call", "Ask again for the next call".to_owned()),
                    choice(Scope::Tool, "This tool", format!("Every call of {tool} in this run")),
                    choice(Scope::Run, "This run", "Every call of this run that would ask".to_owned()),
                )),
                html::button()
                    .r#type("button")
                    .id(REFUSE)
                    .node_ref(refuse)
                    .class("btn quiet")
                    .on(ev::click, move |_| refuse_call())
                    .child("Refuse"),
                html::button()
                    .r#type("button")
                    .class("btn primary")
                    .on(ev::click, move |_| answer(true))
                    .child("Allow"),
            )),
        ))
}

fn content(body: PermitBody) -> AnyView {
    match body {
        PermitBody::Diff { lines, figures } => (diff(&lines), html::p().class("fact").child(figures)).into_any(),
        PermitBody::Arguments(text) => {
            html::pre().class("args").attr("tabindex", "0").attr("aria-label", "Arguments").child(text).into_any()
        }
    }
}

/// Draws a diff: each line with a sign, so that its colour is not the only mark.
pub fn diff(lines: &[DiffLine]) -> impl IntoView + use<> {
    let lines = lines.iter().map(|line| {
        let kind = match line.kind.as_str() {
            "added" => "added: ",
            "removed" => "removed: ",
            _ => "",
        };
        html::div().class("line").attr("data-kind", line.kind.as_str()).child((
            html::span().class("sign").attr("aria-hidden", "true").child(line.kind.mark()),
            html::span().class("hidden").child(kind),
            html::span().class("text").child(line.text.clone()),
        ))
    });
    let lines = lines.collect::<Vec<_>>();
    html::div().class("diff").attr("tabindex", "0").attr("role", "group").attr("aria-label", "Changes").child(lines)
}

/// Whether a field has the focus and text in it.
fn is_typing() -> bool {
    let active = dom::document().active_element().and_then(|element| element.dyn_into::<HtmlElement>().ok());
    active.is_some_and(|element| {
        let value = js_sys::Reflect::get(&element, &"value".into()).ok().and_then(|value| value.as_string());
        let field = matches!(element.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT");
        field && value.is_some_and(|value| !value.is_empty())
    })
}

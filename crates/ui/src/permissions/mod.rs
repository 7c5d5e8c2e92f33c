//! The question whether a tool call may run: a card above the task box of its own thread, one question at a time. Other threads
//! show a line that leads there.
//!
//! The focus goes to the refusal, unless the user is typing; Escape inside the card refuses this call. Nothing is allowed
//! by a key or a click that was meant for something else, and nothing before all of it was shown.

pub mod store;

use std::time::Duration;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlElement;

use turnwise_content::format::thousands;
use turnwise_engine::Scope;
use turnwise_engine::hidden::visible;
use turnwise_protocol::app::{Order, PermitId, Permitted};
use turnwise_view::permit::{FIRST_ROWS, LineKind, PermitBody, PermitRow, PermitView};

use crate::browser::dom;
use crate::components::button::{Look, button};
use crate::components::reactive::{attribute, flag, reactive};
use crate::state::App;

const REFUSE: &str = "refuse";
/// A click so soon after the question changed was meant for what was there before.
const TOO_SOON: Duration = Duration::from_millis(500);
/// Says that a question does not show everything yet.
const NOT_ALL: &str = "permit-not-all";
/// So many rows are drawn one by one; those behind them are text, with their signs.
const DRAWN_ROWS: usize = 5_000;
/// The browser lays out so many rows at once, when they come into view.
const CHUNK: usize = 200;

impl App {
    /// Shows a question, after those that are open.
    pub fn ask_permit(&self, view: Option<&str>) {
        match view.map(serde_json::from_str::<PermitView>) {
            Some(Ok(view)) => self.permissions().open.update(|permits| permits.push(view)),
            Some(Err(_)) | None => self.complain("The app's worker sent a question that cannot be read."),
        }
    }

    /// Closes a question that needs no answer any more.
    pub fn close_permit(&self, id: PermitId) {
        self.permissions().open.update(|permits| permits.retain(|permit| permit.id != id));
    }

    fn answer_permit(&self, id: PermitId, allow: bool, scope: Scope) {
        self.close_permit(id);
        let order = Order::Permit { permit: id, answered: Permitted { allow, scope } };
        self.line.with_value(|line| {
            if let Some(line) = line {
                line.tell(&order, Vec::new());
            }
        });
        // On a touch screen the focus would bring up the keyboard.
        if untrack(|| self.permits_here().is_empty()) && !dom::matches("(pointer: coarse)") {
            dom::focus(dom::TASK);
        }
    }

    /// Returns the questions of the open thread, and those of runs that no thread shows.
    fn permits_here(&self) -> Vec<PermitView> {
        let open = self.current.get();
        let here = |permit: &&PermitView| self.thread_of(permit.handle).is_none_or(|thread| Some(thread.id) == open);
        self.permissions().open.with(|permits| permits.iter().filter(here).cloned().collect())
    }

    /// Returns whether a run of this thread asks.
    pub fn asks(&self, thread: u32) -> bool {
        let of = |permit: &PermitView| self.thread_of(permit.handle).is_some_and(|found| found.id == thread);
        self.permissions().open.with(|permits| permits.iter().any(of))
    }

    /// Returns the first other thread that asks: its id and its title.
    fn asks_elsewhere(&self) -> Option<(u32, String)> {
        let open = self.current.get();
        let threads = self
            .permissions()
            .open
            .with(|permits| permits.iter().map(|permit| self.thread_of(permit.handle)).collect::<Vec<_>>());
        let thread = threads.into_iter().flatten().find(|thread| Some(thread.id) != open)?;
        Some((thread.id, thread.rail.with(|rail| rail.title.clone())))
    }
}

/// Draws the first open question. The live region stays; only its content changes.
pub fn card(app: App) -> impl IntoView {
    let here = Memo::new(move |_| app.permits_here());
    let first = Memo::new(move |_| here.with(|here| here.first().cloned()));
    let more = Memo::new(move |_| here.with(Vec::len).saturating_sub(1));
    let elsewhere = Memo::new(move |_| app.asks_elsewhere());
    html::div().class("permits").attr("aria-live", "assertive").child((
        reactive(move || {
            let (thread, title) = elsewhere.get()?;
            Some(
                html::button()
                    .r#type("button")
                    .class("asks-elsewhere")
                    .on(ev::click, move |_| app.open_thread(thread))
                    .child((
                        html::span().child("Waits for your permission:"),
                        html::b().attr("dir", "auto").child(title),
                    )),
            )
        }),
        reactive(move || {
            let view = first.get()?;
            Some(question(app, view, more))
        }),
    ))
}

fn question(app: App, view: PermitView, more: Memo<usize>) -> impl IntoView {
    let PermitView { id, handle, title, warning, body, tool, folders, host } = view;
    let said = app.services().offered.with_untracked(|offered| offered.said_of(&tool));
    let scope = RwSignal::new(Scope::Call);
    // Set while an answer would not count: at first, and while the browser asks.
    let waits = RwSignal::new(true);
    let wait = move || {
        waits.set(true);
        let answers = move || {
            let _ = waits.try_set(false);
        };
        set_timeout(answers, TOO_SOON);
    };
    wait();
    let later = body.later_rows();
    let all_shown = RwSignal::new(later == 0);
    let change = NodeRef::<html::Div>::new();
    let show_all = move || {
        all_shown.set(true);
        wait();
        // Its button is gone, and the keys scroll the change.
        if let Some(change) = change.get_untracked() {
            let _ = change.focus();
        }
    };
    let allow = {
        let folders = folders.clone();
        move || {
            let (scope, folders) = (scope.get_untracked(), folders.clone());
            if folders.is_empty() {
                return app.answer_permit(id, true, scope);
            }
            waits.set(true);
            // The browser asks too, and wants the user's click for it.
            spawn_local(async move {
                match app.may_write(handle, &folders).await {
                    Ok(()) => app.answer_permit(id, true, scope),
                    Err(why) => {
                        app.complain(why);
                        app.answer_permit(id, false, Scope::Call);
                    }
                }
            });
        }
    };
    let closed = move || {
        let name = app.closed_folder(handle, &folders)?;
        let text =
            format!("The folder {name} is not open any more, so this call cannot write to it. Open it again in Files.");
        Some(html::p().class("warning").child(text))
    };
    let choice = move |of: Scope, text: &'static str, help: String| {
        html::label().attr("title", help).child((
            html::input()
                .r#type("radio")
                .attr("name", "permit-scope")
                .prop("checked", flag(move || scope.get() == of))
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
            html::p().class("over").child(reactive(waiting)),
            html::h2().child(title),
            said.map(|text| html::p().class("fact").child(visible(&text).into_owned())),
            warning.map(|text| html::p().class("warning").child(text)),
            reactive(closed),
            content(body, change, all_shown),
            html::div().class("answer").child((
                not_all(later, all_shown, show_all),
                html::fieldset().class("reach").child((
                    html::legend().class("hidden").child("The answer is for"),
                    choice(Scope::Call, "This call", "Ask again for the next call".to_owned()),
                    host.map(|host| {
                        choice(Scope::Host, "This host", format!("Every call of {tool} to {host} in this run"))
                    }),
                    choice(Scope::Tool, "This tool", format!("Every call of {tool} in this run")),
                    choice(Scope::Run, "This run", "Every call of this run that would ask".to_owned()),
                )),
                html::button()
                    .r#type("button")
                    .id(REFUSE)
                    .node_ref(refuse)
                    .class("btn quiet")
                    .on(ev::click, move |_| app.answer_permit(id, false, scope.get_untracked()))
                    .child("Refuse"),
                button(Look::Primary)
                    .prop("disabled", flag(move || waits.get() || !all_shown.get()))
                    .attr("aria-describedby", attribute(move || (!all_shown.get()).then_some(NOT_ALL)))
                    .attr("title", attribute(move || (!all_shown.get()).then_some("First press Show everything")))
                    .on(ev::click, move |_| allow())
                    .child("Allow"),
            )),
        ))
}

/// Says how much of the change is not shown yet, and shows it. It is next to the answer that waits for it.
fn not_all(later: usize, all_shown: RwSignal<bool>, show_all: impl Fn() + Copy + Send + 'static) -> impl IntoView {
    reactive(move || {
        let lines = if later == 1 { "1 line is".to_owned() } else { format!("{} lines are", thousands(later as u64)) };
        (!all_shown.get()).then(|| {
            html::div().class("not-all").child((
                html::p()
                    .id(NOT_ALL)
                    .class("warning")
                    .child(format!("{lines} not shown yet. You can allow this once everything is shown.")),
                button(Look::QuietSmall).on(ev::click, move |_| show_all()).child("Show everything"),
            ))
        })
    })
}

/// Draws what the call would do: the beginning at first, and all of it once the user wants to see it.
fn content(body: PermitBody, place: NodeRef<html::Div>, all_shown: RwSignal<bool>) -> impl IntoView {
    let PermitBody { rows, figures } = body;
    let (class, label) = if figures.is_some() { ("diff", "Changes") } else { ("diff args", "Arguments") };
    let first = rows.iter().take(FIRST_ROWS).map(row).collect::<Vec<_>>();
    let rest = move || {
        all_shown.get().then(|| {
            let one_by_one = rows.get(FIRST_ROWS..rows.len().min(DRAWN_ROWS)).unwrap_or_default();
            let text = rows.get(DRAWN_ROWS..).unwrap_or_default();
            let chunk = |class: &'static str, rows: &[PermitRow]| {
                html::div().class(class).style(("--rows", rows.len().to_string()))
            };
            let drawn = one_by_one
                .chunks(CHUNK)
                .map(|rows| chunk("rows", rows).child(rows.iter().map(row).collect::<Vec<_>>()).into_any());
            let written = text.chunks(CHUNK).map(|rows| {
                let text = rows.iter().map(written).collect::<Vec<_>>().join("\n");
                chunk("rows plain", rows).child(text).into_any()
            });
            drawn.chain(written).collect::<Vec<_>>()
        })
    };
    (
        // What comes into it later is not read out by itself.
        html::div()
            .class(class)
            .node_ref(place)
            .attr("tabindex", "0")
            .attr("role", "group")
            .attr("aria-label", label)
            .attr("aria-live", "off")
            .child((first, reactive(rest))),
        figures.map(|figures| html::p().class("fact").child(figures)),
    )
}

/// Draws a row: with a sign, so that its colour is not the only mark.
fn row(row: &PermitRow) -> impl IntoView + use<> {
    let kind = match row.kind {
        LineKind::Added if !row.continued => "added: ",
        LineKind::Removed if !row.continued => "removed: ",
        _ => "",
    };
    let sign = if row.continued { "" } else { row.kind.mark() };
    html::div().class("line").attr("data-kind", row.kind.as_str()).child((
        html::span().class("sign").attr("aria-hidden", "true").child(sign),
        html::span().class("hidden").child(kind),
        html::span().class("text").child(row.text.clone()),
    ))
}

/// A row as text.
fn written(row: &PermitRow) -> String {
    let sign = Some(row.kind.mark()).filter(|sign| !row.continued && !sign.is_empty()).unwrap_or(" ");
    format!("{sign} {}", row.text)
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

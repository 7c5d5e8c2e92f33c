//! The task box: Enter runs the task, Shift+Enter inserts a line break.

pub mod add;
pub mod drafts;
pub mod drop;
pub mod models_used;
pub mod pictures;
pub mod queue;
pub mod quote;
pub mod store;
pub mod switcher;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::PanelPhase;

use crate::answer;
use crate::browser::dom;
use crate::browser::notify;
use crate::components::button::{Look, button};
use crate::components::dialog::messages;
use crate::components::icon::{Icon, icon};
use crate::components::reactive::{attribute, flag, reactive};
use crate::features;
use crate::files::kept_files;
use crate::permissions;
use crate::run_facts;
use crate::state::{App, Backing, Dialog};
use crate::text::render::Renderer;
use crate::transcript::follow;

pub fn composer(app: App) -> impl IntoView {
    let placeholder = move || match app.phase() {
        None => "What should it find out or do?",
        Some(PanelPhase::Ended) => "Ask a follow-up",
        Some(_) => "Write a follow-up: it is sent when this run ends",
    };
    let phase = Memo::new(move |_| app.phase());
    let written = Memo::new(move |_| app.composer().draft.with(|draft| !draft.trim().is_empty()));
    let queue = move || {
        written.get().then(|| {
            button(Look::Primary)
                .attr("title", "Send as a follow-up when this run ends")
                .on(ev::click, move |_| app.submit())
                .child((icon(Icon::Send), html::span().class("word").child("Queue")))
        })
    };
    let area = html::textarea()
        .id(dom::TASK)
        .attr("rows", "1")
        .attr("aria-label", "Task")
        .attr("dir", "auto")
        .attr("placeholder", attribute(placeholder))
        .prop("value", move || app.composer().draft.get())
        .on(ev::input, move |event| {
            app.composer().draft.set(event_target_value(&event));
            app.renderer.with_value(Renderer::warm);
        })
        .on(ev::paste, move |event| pictures::pasted(app, &event))
        .on(ev::keydown, move |event| {
            if event.key() == "ArrowUp" && app.composer().draft.with_untracked(String::is_empty) {
                if let Some(prompt) = app.last_prompt() {
                    event.prevent_default();
                    app.composer().draft.set(prompt);
                }
            } else if event.key() == "Enter" && !event.shift_key() && !event.is_composing() {
                event.prevent_default();
                app.submit();
            }
        });
    let here = Memo::new(move |_| app.page().is_some_and(|page| page.panel.with(|panel| !panel.elsewhere)));
    let act = move || match phase.get() {
        Some(PanelPhase::Running | PanelPhase::Synthesizing) if !here.get() => ().into_any(),
        Some(PanelPhase::Running) => (run_facts::wrap_up(app), run_facts::stop(app), queue).into_any(),
        Some(PanelPhase::Synthesizing) => (
            html::span().class("hint").child("Concluding"),
            html::span().class("next").child(run_facts::stop(app)),
            queue,
        )
            .into_any(),
        Some(PanelPhase::Ended) | None => (
            html::span().class("hint").child("Enter to run"),
            button(Look::Primary)
                // Not `disabled`: after a click on it, the focus stays.
                .attr("aria-disabled", attribute(move || (!written.get()).then_some("true")))
                .on(ev::click, move |_| app.submit())
                .child((icon(Icon::Send), html::span().class("word").child("Run"))),
        )
            .into_any(),
    };
    let to_read = move || app.why_only_to_read();
    html::div().class("composer").child((
        messages(app, features::in_page(app, false)),
        follow::latest(app),
        quote::button(app),
        permissions::card(app),
        queue::card(app),
        answer::card(app),
        notify::offer(app),
        reactive(move || to_read().map(|text| read_only(app, text))),
        html::div().class("field").prop("hidden", flag(move || to_read().is_some())).child((
            kept_files::tray(app),
            pictures::tray(app),
            area,
            html::div().class("tools").child((
                add::button(app),
                button(Look::Bare).on(ev::click, move |_| app.dialog.set(Some(Dialog::Files))).child((
                    icon(Icon::Files),
                    html::span().class("word").child("Files "),
                    html::span().child(reactive(move || app.file_count())),
                )),
                switcher::switcher(app),
                switcher::missing_key(app),
                html::span().class("grow"),
                reactive(act),
            )),
        )),
    ))
}

/// Replaces the task box where no follow-up is possible.
fn read_only(app: App, text: &'static str) -> impl IntoView {
    html::div()
        .class("read-only")
        .child((html::p().child(text), button(Look::Quiet).on(ev::click, move |_| app.new_run()).child("New run")))
}

impl App {
    /// Why no follow-up is possible in the open thread; `None`: one is.
    fn why_only_to_read(&self) -> Option<&'static str> {
        match self.thread().map(|thread| thread.backing) {
            Some(Backing::Document(_)) => {
                Some("This run was opened from a file. You can replay, branch and download it; it takes no follow-up.")
            }
            Some(Backing::Plan { .. }) => Some("Plans don't support follow-ups. You can run any step again."),
            Some(Backing::Live { .. }) => self.page().and_then(|page| {
                page.panel.with(|panel| match (panel.elsewhere, panel.can_resume) {
                    (true, _) => Some("This run belongs to another tab. Ask follow-ups there."),
                    (_, true) => Some("This run was interrupted: resume it in the panel to continue."),
                    _ => None,
                })
            }),
            None => None,
        }
    }

    /// Whether something can be written in the task box.
    pub fn can_write(&self) -> bool {
        self.why_only_to_read().is_none()
    }
}

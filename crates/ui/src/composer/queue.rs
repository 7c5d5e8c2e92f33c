//! A message that waits for the end of the current run: shown above the task box, sent as a follow-up.
//!
//! Invariants: it is sent once, and only after a run that came to a conclusion; after any other end it goes back to the
//! task box. The user's text is never dropped, unless the user removes it.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::{counted, pieces};
use turnwise_engine::Outcome;
use turnwise_view::PanelView;

use crate::browser::dom;
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::state::{App, TaskInput, Thread};

impl App {
    /// Keeps a message until the thread's run ends. A second one is appended to the first.
    pub fn queue(&self, thread: &Thread, asked: TaskInput) {
        thread.queued.update(|queued| match queued {
            Some(before) => {
                before.text = format!("{}\n\n{}", before.text, asked.text);
                before.pictures.extend(asked.pictures);
            }
            None => *queued = Some(asked),
        });
        dom::focus(dom::TASK);
    }

    /// Handles the end of a panel's run: sends its queued message, or gives it back.
    pub fn run_ended(&self, panel: &ArcRwSignal<PanelView>, outcome: Outcome) {
        let of_run = |thread: &&Thread| {
            thread.pages.with_untracked(|pages| pages.last().is_some_and(|page| page.panel == *panel))
        };
        let thread = self.threads.with_untracked(|threads| threads.iter().find(of_run).cloned());
        let Some(thread) = thread.filter(|thread| thread.queued.with_untracked(Option::is_some)) else { return };
        if !matches!(outcome, Outcome::Success | Outcome::Partial) {
            return self.give_back_unsent();
        }
        match self.config() {
            Some(config) => {
                if let Some(asked) = take(&thread) {
                    self.follow_up(&thread, asked, config);
                }
            }
            // The settings dialog is open and shows what is wrong.
            None if self.is_open(panel) => self.edit_queued(),
            None => {}
        }
    }

    /// Moves the open thread's message back to the task box, if its run has ended without sending it.
    pub fn give_back_unsent(&self) {
        let Some(thread) = self.thread_now().filter(|thread| !thread.is_running()) else { return };
        if thread.queued.with_untracked(Option::is_some) {
            self.edit_queued();
            self.tell("The run ended without a conclusion, so your message was not sent. It is in the task box.");
        }
    }

    /// Puts the open thread's queued message in the task box, before the text that is being written there.
    fn edit_queued(&self) {
        let Some(TaskInput { text, pictures }) = self.thread_now().and_then(|thread| take(&thread)) else { return };
        self.composer().draft.update(|draft| {
            *draft = if draft.trim().is_empty() { text } else { format!("{text}\n\n{draft}") };
        });
        self.put_back_pictures(pictures);
        dom::focus(dom::TASK);
    }
}

fn take(thread: &Thread) -> Option<TaskInput> {
    let asked = thread.queued.get_untracked();
    thread.queued.set(None);
    asked
}

/// Draws the open thread's queued message. The live region stays; only its content changes.
pub fn card(app: App) -> impl IntoView {
    let queued = Memo::new(move |_| app.thread().and_then(|thread| thread.queued.get()));
    html::div().class("queue").attr("aria-live", "polite").child(reactive(move || {
        let TaskInput { text, pictures } = queued.get()?;
        let pictures = Some(pictures.len()).filter(|count| *count > 0);
        // Only its first lines are seen.
        let beginning = pieces(&text, 2_000).next().unwrap_or_default().to_owned();
        let remove = move |_| {
            if let Some(thread) = app.thread_now() {
                thread.queued.set(None);
            }
            dom::focus(dom::TASK);
        };
        Some(
            html::div().class("queued").attr("role", "group").attr("aria-label", "Queued message").child((
                html::div().class("words").child((
                    html::p().class("over").child("Sends when this run ends"),
                    html::p().class("text").attr("dir", "auto").child(beginning),
                    pictures.map(|count| html::p().class("fact").child(counted(count as u64, "picture"))),
                )),
                html::div().class("acts").child((
                    button(Look::BareSmall).on(ev::click, move |_| app.edit_queued()).child("Edit"),
                    html::button()
                        .r#type("button")
                        .class("btn bare small square")
                        .attr("aria-label", "Remove")
                        .attr("title", "Remove without sending")
                        .on(ev::click, remove)
                        .child(icon(Icon::Close)),
                )),
            )),
        )
    }))
}

//! One line above the task box, or in the head of the dialog or drawer that is open: what just happened and how to undo it, or
//! what went wrong and what to try.

use std::time::Duration;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_record::trajectory::Note;

use crate::browser::dom;
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;

/// How often it is looked whether the reader is still there.
const AGAIN: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq)]
pub struct Toast {
    pub text: String,
    pub kind: ToastKind,
    pub undo: Option<Undo>,
}

/// What the Undo button brings back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// A task, by its session.
    Task(String),
    /// A file, by its path: the last one that was removed.
    File(String),
    /// The files that the user had added, all at once.
    OwnFiles,
    /// A pasted text that became a file.
    Pasted { path: String, text: String },
    /// A skill, by its name: the last one that was removed.
    Skill(String),
    /// A service, by its id: the last one that was removed.
    Service(String),
    /// A note on a run: the index `page` in its thread.
    Note { thread: u32, page: usize, note: Note },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToastKind {
    Done,
    Wrong,
}

/// Calls `f` once this time is over, and then not before the reader has left the toast with the pointer and the focus.
pub fn after(time: Duration, f: impl FnOnce() + 'static) {
    set_timeout(
        move || {
            let read = ".toast:is(:hover, :focus-within)";
            match dom::document().query_selector(read) {
                Ok(Some(_)) => after(AGAIN, f),
                _ => f(),
            }
        },
        time,
    );
}

/// Draws it while `here` holds. `undo` brings back what was deleted.
pub fn toast(
    shown: RwSignal<Option<Toast>>,
    here: Memo<bool>,
    undo: impl Fn(&Undo) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    // The live region stays; only its content changes, or screen readers would not announce it.
    html::div().class("toasts").attr("role", "status").child(reactive(move || {
        shown.get().filter(|_| here.get()).map(|toast| {
            let level = if toast.kind == ToastKind::Wrong { "urgent" } else { "normal" };
            let back = toast.undo.map(|deleted| {
                let name = if matches!(deleted, Undo::Pasted { .. }) { "Keep as text" } else { "Undo" };
                html::button()
                    .r#type("button")
                    .class("btn bare undo")
                    .on(ev::click, move |_| {
                        shown.set(None);
                        undo(&deleted);
                    })
                    .child(name)
            });
            html::div().class("toast").attr("data-level", level).child((
                html::span().child(toast.text),
                back,
                button(Look::Bare)
                    .attr("aria-label", "Dismiss")
                    .on(ev::click, move |_| shown.set(None))
                    .child(icon(Icon::Close)),
            ))
        })
    }))
}

//! One line above the task box: what just happened and how to undo it, or what went wrong and what to try.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use web_sys::Blob;

use super::icon::{Icon, icon};
use super::slots::Local;
use super::state::App;

#[derive(Clone, Debug, PartialEq)]
pub struct Toast {
    pub text: String,
    pub kind: ToastKind,
    pub undo: Option<Undo>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToastKind {
    Done,
    Wrong,
}

/// What the Undo button brings back.
#[derive(Clone, Debug)]
pub enum Undo {
    /// A task, by its session.
    Task(String),
    File(String, Local<Blob>),
}

impl PartialEq for Undo {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Undo::Task(a), Undo::Task(b)) => a == b,
            (Undo::File(a, one), Undo::File(b, other)) => a == b && **one == **other,
            _ => false,
        }
    }
}

pub fn toast(app: App) -> impl IntoView {
    let shown = app.toast;
    // The live region stays; only its content changes, or screen readers would not announce it.
    html::div().attr("role", "status").child(move || {
        shown.get().map(|toast| {
            let level = if toast.kind == ToastKind::Wrong { "urgent" } else { "normal" };
            let undo = toast.undo.map(|undo| {
                html::button()
                    .r#type("button")
                    .class("btn bare undo")
                    .on(ev::click, move |_| {
                        shown.set(None);
                        app.undo(&undo);
                    })
                    .child("Undo")
            });
            html::div().class("toast").attr("data-level", level).child((
                html::span().child(toast.text),
                undo,
                html::button()
                    .r#type("button")
                    .class("btn bare")
                    .attr("aria-label", "Dismiss")
                    .on(ev::click, move |_| shown.set(None))
                    .child(icon(Icon::Close)),
            ))
        })
    })
}

impl App {
    fn undo(&self, undo: &Undo) {
        match undo {
            Undo::Task(session) => self.keep_task(session),
            Undo::File(path, blob) => self.add_files(vec![(path.clone(), Blob::clone(blob))]),
        }
    }
}

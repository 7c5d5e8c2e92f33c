//! One line above the task box: what just happened, or what went wrong and what to try.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use super::icon::{Icon, icon};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub text: String,
    pub kind: ToastKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToastKind {
    Done,
    Wrong,
}

pub fn toast(shown: RwSignal<Option<Toast>>) -> impl IntoView {
    // The live region stays; only its content changes, or screen readers would not announce it.
    html::div().attr("role", "status").child(move || {
        shown.get().map(|toast| {
            let level = if toast.kind == ToastKind::Wrong { "urgent" } else { "normal" };
            html::div().class("toast").attr("data-level", level).child((
                html::span().child(toast.text),
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

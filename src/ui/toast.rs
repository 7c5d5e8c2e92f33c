//! One line above the task box: what just happened, or what went wrong and what to try.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use super::icon::{Icon, icon};
use super::state::App;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub text: String,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Done,
    Wrong,
}

impl App {
    pub fn tell(&self, text: impl Into<String>) {
        let toast = Toast { text: text.into(), kind: Kind::Done };
        self.toast.set(Some(toast.clone()));
        let shown = self.toast;
        // Good news disappears by itself; an error stays until it is dismissed.
        let away = move || shown.update(|now| *now = now.take().filter(|now| *now != toast));
        set_timeout(away, std::time::Duration::from_secs(8));
    }

    pub fn complain(&self, text: impl Into<String>) {
        self.toast.set(Some(Toast { text: text.into(), kind: Kind::Wrong }));
    }
}

pub fn toast(app: App) -> impl IntoView {
    // The live region stays; only its content changes, or screen readers would not announce it.
    html::div().attr("role", "status").child(move || {
        app.toast.get().map(|toast| {
            let level = if toast.kind == Kind::Wrong { "urgent" } else { "normal" };
            html::div().class("toast").attr("data-level", level).child((
                html::span().child(toast.text),
                html::button()
                    .r#type("button")
                    .class("btn bare")
                    .attr("aria-label", "Dismiss")
                    .on(ev::click, move |_| app.toast.set(None))
                    .child(icon(Icon::Close)),
            ))
        })
    })
}

//! The task box: Enter runs, Shift+Enter breaks the line.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::view::Phase;

use super::icon::{Icon, icon};
use super::state::{App, Backing, Dialog};
use super::{follow, toast};

/// The task box, for the keyboard.
pub const TASK: &str = "task";

pub fn composer(app: App) -> impl IntoView {
    let placeholder = move || match app.page().map(|page| page.panel.with(|panel| panel.phase)) {
        None => "What should it find out or do?",
        Some(Phase::Ended) => "Ask a follow-up",
        Some(_) => "It is working. You can already write what comes next.",
    };
    let running = move || app.running();
    let area = html::textarea()
        .id(TASK)
        .attr("rows", "1")
        .attr("aria-label", "Task")
        .attr("placeholder", placeholder)
        .prop("value", move || app.draft.get())
        .on(ev::input, move |event| app.draft.set(event_target_value(&event)))
        .on(ev::keydown, move |event| {
            if event.key() == "Enter" && !event.shift_key() && !event.is_composing() {
                event.prevent_default();
                app.submit();
            }
        });
    let act = move || {
        if running() {
            html::button()
                .r#type("button")
                .class("btn quiet")
                .on(ev::click, move |_| app.stop())
                .attr("title", "Wrap up: a last request asks for a conclusion")
                .child("Stop")
                .into_any()
        } else {
            html::button()
                .r#type("button")
                .class("btn primary")
                .on(ev::click, move |_| app.submit())
                .child((icon(Icon::Send), "Run"))
                .into_any()
        }
    };
    let to_read = move || matches!(app.thread().map(|thread| thread.backing), Some(Backing::Document { .. }));
    html::div().class("composer").child((
        toast::toast(app),
        follow::latest(app),
        html::div().class("field").prop("hidden", to_read).child((
            area,
            html::div().class("tools").child((
                html::button()
                    .r#type("button")
                    .class("btn bare")
                    .on(ev::click, move |_| app.dialog.set(Some(Dialog::Files)))
                    .child((icon(Icon::Files), html::span().child(move || format!("Files {}", app.file_count())))),
                html::button()
                    .r#type("button")
                    .class("btn bare")
                    .attr("title", "Model and settings")
                    .on(ev::click, move |_| app.dialog.set(Some(Dialog::Settings)))
                    .child((icon(Icon::Settings), html::span().child(move || app.model_name()))),
                html::span().class("grow"),
                html::span().class("hint").child("Enter to run"),
                act,
            )),
        )),
    ))
}

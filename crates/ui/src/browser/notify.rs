//! A notification when a long run has ended and the tab is hidden. The user is asked once, during the first long run.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use web_sys::{Notification, NotificationOptions, NotificationPermission};

use turnwise_view::PanelView;

use crate::browser::dom;
use crate::browser::storage;
use crate::components::reactive::reactive;
use crate::state::App;

/// A run that takes longer is long.
const LONG_MS: u64 = 15_000;
/// Where it is kept that the user was asked.
const ASKED: &str = "turnwise.notify";

/// Draws the question.
pub fn offer(app: App) -> impl IntoView {
    let asked = RwSignal::new(storage::load(ASKED).is_some());
    let due = Memo::new(move |_| {
        !asked.get()
            && app.running()
            && app.page().is_some_and(|page| {
                page.panel.with(|panel| !panel.elsewhere && panel.started_at.saturating_add(LONG_MS) < app.now.get())
            })
            && permission() == Some(NotificationPermission::Default)
    });
    let answer = move |yes: bool| {
        storage::save(ASKED, if yes { "yes" } else { "no" });
        asked.set(true);
        if yes {
            let _ = Notification::request_permission();
        }
    };
    let button = move |text: &'static str, yes: bool| {
        let class = if yes { "btn quiet small" } else { "btn bare small" };
        html::button().r#type("button").class(class).on(ev::click, move |_| answer(yes)).child(text)
    };
    html::div().class("queue").attr("aria-live", "polite").child(reactive(move || {
        due.get().then(|| {
            html::div().class("queued").attr("role", "group").attr("aria-label", "Notification").child((
                html::p().class("words").child("Notify you when a long run ends and this tab is in the background?"),
                html::div().class("acts").child((button("No", false), button("Notify me", true))),
            ))
        })
    }))
}

impl App {
    /// Tells that a run has ended, if it was long and the tab is hidden.
    pub fn notify_end(&self, panel: &PanelView, title: &str) {
        let long = panel.elapsed_ms.is_some_and(|ms| ms >= LONG_MS);
        let wanted =
            storage::load(ASKED).as_deref() == Some("yes") && permission() == Some(NotificationPermission::Granted);
        if !long || !wanted || !dom::document().hidden() {
            return;
        }
        let options = NotificationOptions::new();
        options.set_body(title);
        options.set_tag("turnwise-run");
        // Some browsers only show notifications of a service worker.
        let what = if panel.title == "Failed" { "failed" } else { "has ended" };
        let _ = Notification::new_with_options(&format!("Turnwise: your run {what}"), &options);
    }
}

/// `None`: this browser has no notifications.
fn permission() -> Option<NotificationPermission> {
    let has = js_sys::Reflect::has(&dom::window(), &"Notification".into()).unwrap_or(false);
    has.then(Notification::permission)
}

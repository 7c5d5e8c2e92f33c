//! The news of the worker: opens the connection, and passes each message to what shows it.

use std::cell::Cell;

use js_sys::{Function, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use turnwise_protocol::app::{News, Order};

use crate::browser::dom;
use crate::client::app_worker::{AppWorker, PlanChanges, PlanReport};
use crate::state::App;

/// Opens the connection, and asks the worker for the stored runs.
pub fn listen(app: App) {
    let asked_to_stay = Cell::new(false);
    let listener = move |line: &AppWorker, text: &str, parts| match serde_json::from_str(text) {
        Ok(news) => {
            if matches!(news, News::Stored { .. }) && !asked_to_stay.replace(true) {
                ask_to_stay();
            }
            on_news(app, line, news, parts);
        }
        Err(error) => app.complain(format!("The app's worker sent a message that cannot be read: {error}")),
    };
    let line = AppWorker::open(app.keys, listener, move |line, message| lost(app, line, message));
    line.tell(&Order::List, Vec::new());
    app.line.set_value(Some(line));
}

fn on_news(app: App, line: &AppWorker, news: News, parts: Vec<JsValue>) {
    match news {
        News::Seen { handle, location, streamed, changes } => line.take_run(handle, location, &streamed, changes),
        News::Planned { plan, begun, location, steps, traces, calls_left, ending } => {
            let changes = PlanChanges { location, steps, traces, calls_left, ending: ending.map(|ending| *ending) };
            let report = match begun {
                Some(begun) => PlanReport::Begun(begun, changes),
                None => PlanReport::Changed(changes),
            };
            line.take_plan(plan, report);
        }
        News::Asked => app.ask_permit(parts.first().and_then(JsValue::as_string).as_deref()),
        News::Unasked { id } => app.close_permit(id),
        News::Wrote { files, changes } => line.take_files(files, changes, parts),
        News::Listed { headers, unread } => app.take_list(headers, unread),
        News::Stored { header } => app.note(*header),
        News::Told { message, wrong: true } => app.complain(message),
        News::Told { message, wrong: false } => app.tell(message),
        News::Done { id } => line.answered(id, Ok(parts.first().and_then(JsValue::as_string))),
        News::Failed { id, message } => line.answered(id, Err(message)),
    }
}

/// Handles the loss of the worker and of all its runs. Stored runs can be resumed.
fn lost(app: App, line: &AppWorker, message: &str) {
    let running = line.lose(message);
    app.permissions().open.set(Vec::new());
    line.tell(&Order::List, Vec::new());
    // More may be stored than was shown. Only tried once, and not for runs that had ended: opening a run may be what
    // ended the worker.
    let thread = app.thread_now().filter(|_| running);
    let text = match thread.map(|thread| app.find_again(&thread)) {
        Some(Ok(())) => " It was stored; you can resume it.",
        Some(Err(_)) | None => "",
    };
    app.complain(format!("Something went wrong: {message}.{text}"));
}

/// Asks the browser, once, not to clear the stored runs when space runs short. A refusal changes nothing.
fn ask_to_stay() {
    let get = |object: &JsValue, key: &str| Reflect::get(object, &key.into()).unwrap_or_default();
    let storage = get(&dom::window().navigator(), "storage");
    if let Some(persist) = get(&storage, "persist").dyn_ref::<Function>() {
        let _ = persist.call0(&storage);
    }
}

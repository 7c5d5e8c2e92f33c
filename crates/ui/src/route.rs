//! The address of the open task, `#/run/SESSION`, or plan, `#/plan/KEY`: a reload stays there, Back and Forward lead from task to task.
//!
//! A text that was shared to the installed app comes in the query (manifest.webmanifest) and goes to the task box.
//!
//! Records opened from a file have no address, because they are not stored.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::Url;

use crate::browser::dom;
use crate::state::{App, Thread};

const RUN: &str = "#/run/";
const PLAN: &str = "#/plan/";

/// The parameters of a shared text.
const SHARED: [&str; 3] = ["share-title", "share-text", "share-url"];

pub fn listen(app: App) {
    take_shared(app);
    // The list of stored runs comes later than the page.
    let wanted = RwSignal::new(in_address());
    let visits = app.visits.get_value();
    Effect::new(move || {
        if !app.list().listed.get() {
            return;
        }
        if let Some(session) = wanted.get_untracked() {
            wanted.set(None);
            if app.visits.get_value() == visits {
                open(app, &session);
            } else if app.current.get_untracked().is_none() {
                write(None);
            }
        }
    });
    let address = |thread: Thread| {
        let kind = if thread.plan().is_some() { PLAN } else { RUN };
        thread.session_id.map(|session| format!("{kind}{session}"))
    };
    let session = Memo::new(move |_| app.thread().map(address));
    Effect::new(move |before: Option<()>| {
        let session = session.get();
        // Until what the address asks for is open, it stays.
        if before.is_some() && (session.is_some() || wanted.get_untracked().is_none()) {
            wanted.set(None);
            write(session.flatten().as_deref());
        }
    });
    let _ = window_event_listener(ev::popstate, move |_| match in_address() {
        Some(session) => open(app, &session),
        None if app.current.get_untracked().is_some() => app.new_run(),
        None => {}
    });
}

fn take_shared(app: App) {
    let here = dom::window().location().href().ok().and_then(|href| Url::new(&href).ok());
    let Some(here) = here else { return };
    let params = here.search_params();
    let parts: Vec<String> =
        SHARED.iter().filter_map(|name| params.get(name)).filter(|part| !part.trim().is_empty()).collect();
    if parts.is_empty() {
        return;
    }
    // Before what was being written.
    app.composer().draft.update(|draft| *draft = format!("{}\n\n{draft}", parts.join("\n")).trim_end().to_owned());
    SHARED.iter().for_each(|name| params.delete(name));
    // A reload does not bring it again.
    if let Ok(history) = dom::window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&here.href()));
    }
}

fn open(app: App, session: &str) {
    let shown = app.thread_now().and_then(|thread| thread.session_id);
    if shown.as_deref() != Some(session) && !app.open_session(session) {
        app.keep_draft_here();
        app.complain(
            "The run in the address is not stored in this browser. It may have been deleted, or run elsewhere.",
        );
    }
}

/// The session of the run, or the key of the plan, in the page's address.
pub fn in_address() -> Option<String> {
    let hash = dom::window().location().hash().ok()?;
    let session = hash.strip_prefix(RUN).or_else(|| hash.strip_prefix(PLAN))?;
    (!session.is_empty()).then(|| session.to_owned())
}

/// Adds an entry to the history, unless the address is this one already.
fn write(hash: Option<&str>) {
    let hash = hash.unwrap_or_default();
    let location = dom::window().location();
    let (Ok(path), Ok(search), Ok(now)) = (location.pathname(), location.search(), location.hash()) else { return };
    if now == hash || (hash.is_empty() && in_address().is_none()) {
        return;
    }
    if let Ok(history) = dom::window().history() {
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(&format!("{path}{search}{hash}")));
    }
}

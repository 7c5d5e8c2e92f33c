//! The records that were opened from files: they survive a reload of the page, like what is in the task box.
//!
//! Kept in the tab's session storage until they are closed, or until the tab is. The newest come first there: what no longer fits
//! is not kept, and the user is told. A record that the page's address names is opened from there again.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_protocol::record::OpenError;

use crate::browser::dom;
use crate::browser::storage;
use crate::components::icon::{Icon, icon};
use crate::plans::state::{PlanPage, RecordPlace};
use crate::state::{App, Backing, OpenRecord, Thread};
use crate::viewer;

/// Followed by the index of a record, newest first: its name, a line break, its text.
const RECORD: &str = "turnwise.record.";
/// The index of the record that is shown.
const SHOWN: &str = "turnwise.record_shown";
/// The most that is kept of all records together, in bytes. The storage of a tab holds about 5 MB, also of what is being written.
const MOST: usize = 2_000_000;

/// A record: the number of its thread, its name and its text.
type RecordToOpen = (u32, String, Arc<str>);

/// Opens the records that were open before a reload, and keeps those that are open from now on.
pub fn keep(app: App) {
    let before: Vec<String> = (0..).map_while(|at| storage::load_of_tab(&key(at))).collect();
    let count = before.len();
    let shown = storage::load_of_tab(SHOWN).and_then(|at| at.parse::<usize>().ok());
    let ready = RwSignal::new(before.is_empty());
    let visits = app.visits.get_value();
    let named = viewer::named_in_address();
    spawn_local(async move {
        // The oldest comes first in the list.
        for (at, kept) in before.iter().enumerate().rev() {
            let Some((name, text)) = kept.split_once('\n').filter(|(name, _)| named.as_deref() != Some(*name)) else {
                continue;
            };
            // What this version cannot read was read by an earlier one: it is dropped.
            let id = read(app, name, text).await;
            if let Some(id) = id.filter(|_| shown == Some(at) && app.visits.get_value() == visits) {
                app.open_thread(id);
            }
        }
        ready.set(true);
    });
    let open =
        Memo::new(move |_| app.threads.with(|threads| threads.iter().rev().filter_map(record).collect::<Vec<_>>()));
    let kept = StoredValue::new(count);
    Effect::new(move || {
        let fitting = open.with(|open| fitting(open));
        if !ready.get() {
            return;
        }
        let full = open.with(|open| {
            let mut all = open.iter().take(fitting).enumerate();
            !all.all(|(at, (_, name, text))| storage::save_of_tab(&key(at), &format!("{name}\n{text}")))
        });
        (fitting..kept.get_value()).for_each(|at| _ = storage::save_of_tab(&key(at), ""));
        kept.set_value(fitting);
        if full {
            app.complain(
                "There is no room to keep the opened records for a reload of this page. Open them again then.",
            );
        }
    });
    Effect::new(move || {
        let current = app.current.get();
        if ready.get() {
            let at = open.with(|open| open.iter().position(|(id, ..)| Some(*id) == current));
            storage::save_of_tab(SHOWN, &at.map(|at| at.to_string()).unwrap_or_default());
        }
    });
}

/// Adds a record to the list without showing it. Returns the number of its thread.
async fn read(app: App, name: &str, text: &str) -> Option<u32> {
    let blob = dom::text_blob(text, "application/json")?;
    match viewer::read_text(app, Some(name), &blob).await {
        Ok(opened) => Some(opened.add(app)),
        // A plan.
        Err(OpenError::OtherFormat) => {
            let id = StoredValue::new(None);
            let add = move |thread: Thread| {
                id.set_value(Some(thread.id));
                app.threads.update(|threads| threads.push(thread));
            };
            app.read_plan(name, text.into(), add).await.ok()?;
            id.get_value()
        }
        Err(_) => None,
    }
}

fn key(at: usize) -> String {
    format!("{RECORD}{at}")
}

fn record(thread: &Thread) -> Option<RecordToOpen> {
    match &thread.backing {
        Backing::Document(OpenRecord { name, text, .. }) => Some((thread.id, name.clone(), Arc::clone(text))),
        Backing::Plan { page: PlanPage { record: RecordPlace::Document { name, text }, .. }, .. } => {
            Some((thread.id, name.clone(), Arc::clone(text)))
        }
        Backing::Live { .. } | Backing::Plan { .. } => None,
    }
}

/// How many of the records, newest first, are kept.
fn fitting(open: &[RecordToOpen]) -> usize {
    let mut left = MOST;
    let fits = |(_, _, text): &&RecordToOpen| {
        let rest = left.checked_sub(text.len());
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    open.iter().take_while(fits).count()
}

impl App {
    /// Says that a record was opened, and whether a reload loses it.
    pub fn tell_opened(&self, text: &str) {
        self.tell(self.about_opened(text));
    }

    /// Adds to what is said of opened records whether a reload loses them.
    pub fn about_opened(&self, text: &str) -> String {
        let open: Vec<RecordToOpen> =
            self.threads.with_untracked(|threads| threads.iter().rev().filter_map(record).collect());
        match (fitting(&open), open.len()) {
            (fit, all) if fit == all => text.to_owned(),
            (0, _) => format!("{text} It is too large to be kept when this page is reloaded."),
            _ => format!("{text} Older open records are not kept when this page is reloaded."),
        }
    }

    fn close_record(self, id: u32) {
        if self.current.get_untracked() == Some(id) {
            self.new_run();
        }
        self.threads.update(|threads| threads.retain(|thread| thread.id != id));
    }
}

/// Draws the button that takes a record off the list; the file stays.
pub fn close(app: App, thread: &Thread) -> Option<impl IntoView + use<>> {
    let (id, name, _) = record(thread)?;
    Some(
        html::button()
            .r#type("button")
            .class("btn bare square close-record")
            .attr("aria-label", format!("Close {name}"))
            .attr("title", "Close this record; its file stays")
            .on(ev::click, move |_| app.close_record(id))
            .child(icon(Icon::Close)),
    )
}

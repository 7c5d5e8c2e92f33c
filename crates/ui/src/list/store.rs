//! The list of runs: what is stored, searched, filtered and about to be deleted.

use std::collections::BTreeSet;

use leptos::prelude::*;

use turnwise_protocol::app::Header;
use turnwise_view::ending::Tone;
use turnwise_view::rail::Period;
use turnwise_view::search::TaskHit;

use crate::browser::storage;
use crate::state::App;

#[derive(Clone, Copy, Debug)]
pub struct ListStore {
    /// The stored runs, oldest first.
    pub stored: RwSignal<Vec<Header>>,
    /// Tasks that are deleted as soon as this can no longer be undone: their sessions, and when that began.
    pub deleted: RwSignal<Vec<(String, u64)>>,
    /// The list of stored runs has arrived.
    pub listed: RwSignal<bool>,
    /// The search text of the list of runs.
    pub search: RwSignal<String>,
    /// The stored runs whose answers or calls contain the search text.
    pub found: RwSignal<Vec<TaskHit>>,
    /// The endings and the model to which the list is limited.
    pub tone: RwSignal<Option<Tone>>,
    pub model: RwSignal<String>,
    /// The period to which the list is limited.
    pub period: RwSignal<Period>,
    /// The tasks at the top of the list, by their sessions; kept for later visits.
    pub pinned: RwSignal<BTreeSet<String>>,
    /// The runs whose other versions are shown, by the lines of their originals.
    pub unfolded: RwSignal<BTreeSet<String>>,
    /// Tasks that are being opened, so that a second click does not open one twice.
    pub opening: StoredValue<Vec<String>>,
}

impl Default for ListStore {
    fn default() -> Self {
        ListStore {
            stored: RwSignal::new(Vec::new()),
            deleted: RwSignal::new(Vec::new()),
            listed: RwSignal::new(false),
            search: RwSignal::new(String::new()),
            found: RwSignal::new(Vec::new()),
            tone: RwSignal::new(None),
            model: RwSignal::new(String::new()),
            period: RwSignal::new(Period::Any),
            pinned: RwSignal::new(pinned()),
            unfolded: RwSignal::new(BTreeSet::new()),
            opening: StoredValue::new(Vec::new()),
        }
    }
}

const PINNED: &str = "turnwise.pinned";

fn pinned() -> BTreeSet<String> {
    storage::load(PINNED).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

impl App {
    /// Puts a task at the top of the list, or back to its day.
    pub fn toggle_pin(&self, session: &str) {
        let pinned = self.list().pinned;
        pinned.update(|pinned| {
            if !pinned.remove(session) {
                pinned.insert(session.to_owned());
            }
        });
        match pinned.with_untracked(serde_json::to_string) {
            Ok(text) if pinned.with_untracked(|pinned| !pinned.is_empty()) => storage::save(PINNED, &text),
            _ => storage::remove(PINNED),
        }
    }

    pub fn list(&self) -> ListStore {
        self.store()
    }
}

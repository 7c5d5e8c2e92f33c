//! The list of runs: what is stored, searched, filtered and about to be deleted.

use leptos::prelude::*;

use turnwise_protocol::app::Header;
use turnwise_view::ending::Tone;
use turnwise_view::search::TaskHit;

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
            opening: StoredValue::new(Vec::new()),
        }
    }
}

impl App {
    pub fn list(&self) -> ListStore {
        self.store()
    }
}

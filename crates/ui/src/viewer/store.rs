//! The record that is open in the viewer.

use leptos::prelude::*;

use turnwise::worker::ViewerHost;

use crate::state::App;
use crate::viewer::state::HandedOver;
use crate::viewer::state::StagedRun;

#[derive(Clone, Copy, Debug)]
pub struct ViewerStore {
    /// The record that is being stepped through.
    pub stage: RwSignal<Option<StagedRun>>,
    /// A worker that already has the record of a thread open, for its replay.
    pub opened: StoredValue<Option<(u32, ViewerHost)>, LocalStorage>,
    /// The step that the next record on stage begins with.
    pub first: StoredValue<usize>,
    /// A record that a page of another origin wants to open here.
    pub handed: RwSignal<Option<HandedOver>>,
}

impl Default for ViewerStore {
    fn default() -> Self {
        ViewerStore {
            stage: RwSignal::new(None),
            opened: StoredValue::new_local(None),
            first: StoredValue::new(0),
            handed: RwSignal::new(None),
        }
    }
}

impl App {
    pub fn replays(&self) -> ViewerStore {
        self.store()
    }
}

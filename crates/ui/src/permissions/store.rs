//! The open questions of tool calls.

use leptos::prelude::*;

use turnwise_view::permit::PermitView;

use crate::state::App;

#[derive(Clone, Copy, Debug)]
pub struct PermissionsStore {
    /// The open questions of tool calls, oldest first.
    pub open: RwSignal<Vec<PermitView>>,
}

impl Default for PermissionsStore {
    fn default() -> Self {
        PermissionsStore { open: RwSignal::new(Vec::new()) }
    }
}

impl App {
    pub fn permissions(&self) -> PermissionsStore {
        self.store()
    }
}

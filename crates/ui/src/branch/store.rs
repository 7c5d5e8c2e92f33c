//! The branch that is being set up.

use leptos::prelude::*;

use turnwise_view::branch::BranchDraft;

use crate::client::app_worker::RunClient;
use crate::state::App;
use crate::state::OpenRecord;

#[derive(Clone, Copy, Debug)]
pub struct BranchStore {
    /// The branch that is being set up, and the run it comes from.
    pub draft: RwSignal<Option<BranchDraft>>,
    pub from: StoredValue<Option<BranchOf>, LocalStorage>,
}

impl Default for BranchStore {
    fn default() -> Self {
        BranchStore { draft: RwSignal::new(None), from: StoredValue::new_local(None) }
    }
}

impl App {
    pub fn branches(&self) -> BranchStore {
        self.store()
    }
}

/// The run that is branched.
#[derive(Clone, Debug)]
pub enum BranchOf {
    Handle(RunClient),
    Record(OpenRecord),
}

//! The plan that is being written.

use leptos::prelude::*;

use turnwise_view::plan::edit::PlanDraft;

use crate::state::App;

#[derive(Clone, Copy, Debug)]
pub struct PlansStore {
    /// The plan that is being written.
    pub draft: RwSignal<PlanDraft>,
}

impl Default for PlansStore {
    fn default() -> Self {
        PlansStore { draft: RwSignal::new(PlanDraft::blank()) }
    }
}

impl App {
    pub fn plans(&self) -> PlansStore {
        self.store()
    }
}

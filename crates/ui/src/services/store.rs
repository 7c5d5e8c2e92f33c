//! The services of the user, how their documents were read, and what is shown beside them.

use std::collections::{BTreeMap, BTreeSet};

use leptos::prelude::*;
use web_sys::Blob;

use turnwise_view::services::{KeptService, OfferedServices};

use crate::state::App;

#[derive(Clone, Copy, Debug)]
pub struct ServicesStore {
    /// In the order in which they were added.
    pub kept: RwSignal<Vec<KeptService>>,
    pub offered: RwSignal<OfferedServices>,
    /// Their page is open.
    pub open: RwSignal<bool>,
    /// A document is being read.
    pub busy: RwSignal<bool>,
    /// A sentence about what was not added.
    pub remark: RwSignal<Option<String>>,
    /// The documents, by the ids of the services.
    pub documents: StoredValue<BTreeMap<String, Blob>, LocalStorage>,
    /// The last one that was removed.
    pub removed: StoredValue<Option<(KeptService, Blob)>, LocalStorage>,
    /// The files whose change has to be stored, and whether changes are being stored.
    pub unkept: StoredValue<(BTreeSet<String>, bool)>,
}

impl Default for ServicesStore {
    fn default() -> Self {
        ServicesStore {
            kept: RwSignal::new(Vec::new()),
            offered: RwSignal::new(OfferedServices::default()),
            open: RwSignal::new(false),
            busy: RwSignal::new(false),
            remark: RwSignal::new(None),
            documents: StoredValue::new_local(BTreeMap::new()),
            removed: StoredValue::new_local(None),
            unkept: StoredValue::new(Default::default()),
        }
    }
}

impl App {
    pub fn services(&self) -> ServicesStore {
        self.store()
    }
}

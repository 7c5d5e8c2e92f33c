//! The task box: what is being written, here and for other threads.

use std::collections::BTreeMap;

use leptos::prelude::*;

use turnwise_view::picture::PictureView;

use crate::composer::models_used;
use crate::composer::models_used::UsedModel;
use crate::state::App;
use crate::state::TaskInput;

#[derive(Clone, Copy, Debug)]
pub struct ComposerStore {
    pub draft: RwSignal<String>,
    /// What is in the task boxes of other threads.
    pub drafts: StoredValue<Drafts, LocalStorage>,
    pub editing: RwSignal<Option<Editing>>,
    /// Pictures for the task that is being written.
    pub pictures: RwSignal<Vec<TaskPicture>>,
    /// The models that runs have used, the last one first.
    pub models_used: RwSignal<Vec<UsedModel>>,
}

impl Default for ComposerStore {
    fn default() -> Self {
        ComposerStore {
            draft: RwSignal::new(String::new()),
            drafts: StoredValue::new_local(Drafts::default()),
            editing: RwSignal::new(None),
            pictures: RwSignal::new(Vec::new()),
            models_used: RwSignal::new(models_used::load()),
        }
    }
}

impl App {
    pub fn composer(&self) -> ComposerStore {
        self.store()
    }
}

/// The prompt that is being edited: a run of a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Editing {
    pub thread: u32,
    pub place: usize,
    /// What was in the task box before.
    pub aside: (String, Vec<PictureView>),
}

/// The content of the task boxes that are not shown.
#[derive(Debug, Default)]
pub struct Drafts {
    /// The session of the task box that is shown; empty on the start page.
    pub key: String,
    pub others: BTreeMap<String, TaskInput>,
    /// Stores the text once typing has rested.
    pub later: Option<TimeoutHandle>,
}

/// One picture in the task box.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPicture {
    pub id: u32,
    pub view: PictureView,
}

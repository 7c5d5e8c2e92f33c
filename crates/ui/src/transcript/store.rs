//! Where the reader is in the transcript.

use leptos::prelude::*;

use crate::state::App;

#[derive(Clone, Copy, Debug)]
pub struct ReadingStore {
    /// The reader is at the end of the transcript.
    pub at_end: RwSignal<bool>,
    /// The transcript goes on below what is in sight.
    pub below: RwSignal<bool>,
    /// The open run grew while the reader was elsewhere in it.
    pub unseen: RwSignal<bool>,
}

impl Default for ReadingStore {
    fn default() -> Self {
        ReadingStore { at_end: RwSignal::new(true), below: RwSignal::new(false), unseen: RwSignal::new(false) }
    }
}

impl App {
    pub fn reading(&self) -> ReadingStore {
        self.store()
    }
}

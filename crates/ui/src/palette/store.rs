//! The palette of commands.

use leptos::prelude::*;

use crate::state::App;

#[derive(Clone, Copy, Debug)]
pub struct PaletteStore {
    /// What was selected in the transcript when the palette was opened.
    pub selected: StoredValue<Option<String>>,
    /// What the field begins with when the palette is opened next.
    pub begin: StoredValue<String>,
}

impl Default for PaletteStore {
    fn default() -> Self {
        PaletteStore { selected: StoredValue::new(None), begin: StoredValue::default() }
    }
}

impl App {
    pub fn commands(&self) -> PaletteStore {
        self.store()
    }
}

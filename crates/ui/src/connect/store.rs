//! Connecting a model.

use leptos::prelude::*;

use turnwise_view::signin::SignIn;

use crate::state::App;

#[derive(Clone, Copy, Debug)]
pub struct ConnectStore {
    pub signin: RwSignal<SignIn>,
    /// A run was refused because of the settings, which are open now.
    pub refused: RwSignal<bool>,
    /// The id of the field that the dialog opens at, if it is not the one that is entered first.
    pub first: StoredValue<Option<String>>,
}

impl Default for ConnectStore {
    fn default() -> Self {
        ConnectStore {
            signin: RwSignal::new(SignIn::Idle),
            refused: RwSignal::new(false),
            first: StoredValue::new(None),
        }
    }
}

impl App {
    pub fn connect(&self) -> ConnectStore {
        self.store()
    }
}

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
    /// The browser says that it is offline.
    pub offline: RwSignal<bool>,
}

impl Default for ReadingStore {
    fn default() -> Self {
        ReadingStore {
            at_end: RwSignal::new(true),
            below: RwSignal::new(false),
            unseen: RwSignal::new(false),
            offline: RwSignal::new(!crate::browser::dom::window().navigator().on_line()),
        }
    }
}

/// Keeps up with the connection.
pub fn listen(app: App) {
    for (event, offline) in [("online", false), ("offline", true)] {
        let _ = window_event_listener(leptos::ev::Custom::<leptos::ev::Event>::new(event), move |_| {
            app.reading().offline.set(offline);
        });
    }
}

impl App {
    pub fn reading(&self) -> ReadingStore {
        self.store()
    }
}

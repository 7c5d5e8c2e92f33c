//! What is in the task box, for the start page and for each thread: it survives a reload and a look at another run.
//!
//! Kept in the tab's session storage until it is sent, or until the tab is closed. Keys in it are replaced as in a record. A
//! message that waits for the end of a run is kept the same way: a reload interrupts the run.

use std::sync::Arc;
use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;

use turnwise_engine::Image;
use turnwise_record::trajectory::Secrets;
use turnwise_view::picture::PictureView;

use crate::browser::storage;
use crate::route;
use crate::state::{App, TaskInput, Thread};

const TEXT: &str = "turnwise.draft.";
const PICTURES: &str = "turnwise.draft_pictures.";
/// The key of threads without a session, in which nothing can be written.
const NONE: &str = "-";
/// A text is stored once typing has rested this long, and when the page is left.
const REST: Duration = Duration::from_millis(300);

/// Restores what was in the task box before a reload, and stores its changes from now on.
pub fn keep(app: App) {
    let key = route::in_address().unwrap_or_default();
    app.show_draft(stored(&key));
    app.composer().drafts.update_value(|drafts| drafts.key = key);
    Effect::new(move |before: Option<()>| {
        app.composer().draft.track();
        if before.is_some() {
            let later = set_timeout_with_handle(move || app.store_draft(), REST).ok();
            let earlier =
                app.composer().drafts.try_update_value(|drafts| std::mem::replace(&mut drafts.later, later)).flatten();
            earlier.into_iter().for_each(|earlier| earlier.clear());
        }
    });
    Effect::new(move |before: Option<()>| {
        app.composer().pictures.track();
        if before.is_some() {
            let pictures: Vec<PictureView> =
                app.composer().pictures.with_untracked(|all| all.iter().map(|picture| picture.view.clone()).collect());
            if !app.composer().drafts.with_value(|drafts| store_pictures(&drafts.key, &pictures)) {
                app.complain("The pictures are too large to be kept for a reload of this page. They can be sent.");
            }
        }
    });
    let _ = window_event_listener(ev::pagehide, move |_| {
        app.store_draft();
        app.store_queued();
    });
}

/// Forgets what was written in a thread that is deleted.
pub fn forget(session: &str) {
    storage::save_of_tab(&format!("{TEXT}{session}"), "");
    store_pictures(session, &[]);
}

impl App {
    /// Shows the task box of what is shown now: of the open thread, or of the start page.
    pub fn switch_draft(&self) {
        let key = self.thread_now().map_or_else(String::new, |thread| thread.session_id.unwrap_or(NONE.to_owned()));
        if self.composer().drafts.with_value(|drafts| drafts.key == key) {
            return;
        }
        self.store_draft();
        let left = TaskInput { text: self.composer().draft.get_untracked(), pictures: self.take_pictures() };
        let shown = self.composer().drafts.try_update_value(|drafts| {
            store_pictures(&drafts.key, &left.pictures);
            drafts.others.insert(std::mem::replace(&mut drafts.key, key.clone()), left);
            drafts.others.remove(&key)
        });
        self.show_draft(shown.flatten().unwrap_or_else(|| stored(&key)));
    }

    /// The thread of the task box could not be opened: what is in it belongs to the start page.
    pub fn keep_draft_here(&self) {
        self.composer().drafts.update_value(|drafts| drafts.key.clear());
    }

    fn show_draft(&self, shown: TaskInput) {
        self.composer().draft.set(shown.text);
        self.put_back_pictures(shown.pictures);
    }

    fn store_draft(&self) {
        if let Some(text) = self.composer().draft.try_get_untracked() {
            self.composer().drafts.with_value(|drafts| self.store_text(&drafts.key, &text));
        }
    }

    /// Stores each waiting message as the beginning of what is written in its thread.
    fn store_queued(&self) {
        for Thread { session_id, queued, .. } in self.threads.get_untracked() {
            let (Some(session), Some(TaskInput { text, .. })) = (session_id, queued.get_untracked()) else { continue };
            let draft = self.composer().drafts.with_value(|drafts| match drafts.others.get(&session) {
                _ if drafts.key == session => self.composer().draft.get_untracked(),
                other => other.map(|other| other.text.clone()).unwrap_or_default(),
            });
            self.store_text(&session, format!("{text}\n\n{draft}").trim_end());
        }
    }

    fn store_text(&self, key: &str, text: &str) {
        let keys = self.keys.with_untracked(|keys| keys.all().into_iter().map(|(_, key)| key).collect::<Vec<_>>());
        let text = if text.trim().is_empty() { "" } else { text };
        storage::save_of_tab(&format!("{TEXT}{key}"), &Secrets::new(keys).scrub(text));
    }
}

fn stored(key: &str) -> TaskInput {
    let load = |kind: &str| storage::load_of_tab(&format!("{kind}{key}"));
    let pictures: Vec<(String, Image)> =
        load(PICTURES).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let view = |(alt, image)| PictureView { image: Arc::new(image), alt };
    TaskInput { text: load(TEXT).unwrap_or_default(), pictures: pictures.into_iter().map(view).collect() }
}

/// Returns whether there was room for them.
fn store_pictures(key: &str, pictures: &[PictureView]) -> bool {
    let all: Vec<(&str, &Image)> = pictures.iter().map(|view| (view.alt.as_str(), view.image.as_ref())).collect();
    let text = if all.is_empty() { String::new() } else { serde_json::to_string(&all).unwrap_or_default() };
    storage::save_of_tab(&format!("{PICTURES}{key}"), &text)
}

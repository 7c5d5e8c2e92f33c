//! Renames and deletes stored tasks.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::protocol::desk::{Header, Order};
use crate::view::RailView;

use super::super::desk::Seat;
use super::super::slots::Page;
use super::super::state::{App, Thread};

impl App {
    /// Returns the name of a stored task.
    pub fn title_of(&self, session_id: &str) -> String {
        let runs = self.runs_of(session_id);
        runs.first().map(|header| RailView::from(header).title).unwrap_or_default()
    }

    /// Renames a stored task; if the name is empty, it is named after its text again.
    pub fn rename_task(&self, session_id: &str, name: &str) {
        let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        let runs = self.runs_of(session_id);
        let keys: Vec<String> = runs.iter().map(|header| header.key.clone()).collect();
        let title =
            name.clone().or_else(|| runs.first().map(|header| header.summary.title.clone())).unwrap_or_default();
        self.threads.with_untracked(|threads| {
            let open = threads.iter().find(|thread| thread.session_id.as_deref() == Some(session_id));
            if let Some(thread) = open {
                thread.rail.update(|rail| rail.title = title);
            }
        });
        // Shown at once, because storing it may take a while.
        self.stored.update(|headers| {
            headers
                .iter_mut()
                .filter(|header| keys.contains(&header.key))
                .for_each(|header| header.name.clone_from(&name));
        });
        let (app, line) = (*self, self.line.get_value());
        spawn_local(async move {
            let Some(line) = line else { return };
            if let Err(why) = line.ask(|id| Order::Rename { id, keys, name }, Vec::new()).await {
                app.complain(why);
            }
        });
    }

    /// Deletes a stored task with its follow-ups, unless it is running here or open in another tab.
    pub fn delete_task(&self, session_id: &str) {
        let keys: Vec<String> = self.runs_of(session_id).into_iter().map(|header| header.key).collect();
        let seats = self.seats_of(session_id);
        if seats.iter().any(Seat::is_running) {
            return self.complain("This run is in progress: stop or cancel it first.");
        }
        self.let_go(session_id);
        let (app, line) = (*self, self.line.get_value());
        spawn_local(async move {
            let Some(line) = line else { return };
            let seats = seats.iter().map(Seat::id).collect();
            if let Err(why) = line.ask(|id| Order::Delete { id, keys, seats }, Vec::new()).await {
                app.complain(why);
            }
        });
    }

    /// Removes a task from the page.
    fn let_go(&self, session_id: &str) {
        let is_of_session = |thread: &Thread| thread.session_id.as_deref() == Some(session_id);
        let gone = self
            .threads
            .with_untracked(|threads| threads.iter().find(|thread| is_of_session(thread)).map(|thread| thread.id));
        if gone.is_some() && self.current.get_untracked() == gone {
            self.new_run();
        }
        self.threads.update(|threads| threads.retain(|thread| !is_of_session(thread)));
    }

    /// Returns the open runs of a task.
    fn seats_of(&self, session_id: &str) -> Vec<Seat> {
        let pages = self.threads.with_untracked(|threads| {
            let found = threads.iter().find(|thread| thread.session_id.as_deref() == Some(session_id));
            found.map(|thread| thread.pages.get_untracked()).unwrap_or_default()
        });
        pages.iter().filter_map(Page::seat).collect()
    }

    fn runs_of(&self, session_id: &str) -> Vec<Header> {
        let is_of_session = |header: &&Header| header.summary.session_id == session_id;
        self.stored.with_untracked(|headers| headers.iter().filter(is_of_session).cloned().collect())
    }
}

//! Renames and deletes stored tasks.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::protocol::desk::{Header, Order};
use crate::view::RailView;

use super::super::desk::Seat;
use super::super::slots::Page;
use super::super::state::{App, SHOWN, Thread};
use super::super::toast::Undo;

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

    /// Takes a task with its follow-ups off the list, unless it is running here. It is deleted once that can no longer be undone.
    pub fn delete_task(&self, session_id: &str) {
        if self.seats_of(session_id).iter().any(Seat::is_running) {
            return self.complain("This run is in progress: stop or cancel it first.");
        }
        let (app, session) = (*self, session_id.to_owned());
        let title = self.title_of(session_id);
        self.deleted.update(|deleted| deleted.push(session.clone()));
        self.leave(session_id);
        self.tell_with_undo(format!("Deleted \u{201c}{title}\u{201d}."), Some(Undo::Task(session.clone())));
        set_timeout(move || app.delete_for_good(&session), SHOWN);
    }

    /// Brings back a task that was to be deleted.
    pub(in super::super) fn keep_task(&self, session_id: &str) {
        self.deleted.update(|deleted| deleted.retain(|other| other != session_id));
    }

    /// Deletes what can no longer be brought back by Undo: the page is about to close.
    pub(in super::super) fn delete_rest(&self) {
        for session in self.deleted.get_untracked() {
            self.delete_for_good(&session);
        }
    }

    /// Deletes a task, if it was not brought back and is not open in another tab.
    fn delete_for_good(&self, session_id: &str) {
        if !self.deleted.with_untracked(|deleted| deleted.iter().any(|other| other == session_id)) {
            return;
        }
        let keys: Vec<String> = self.runs_of(session_id).into_iter().map(|header| header.key).collect();
        let seats = self.seats_of(session_id);
        self.let_go(session_id);
        let (app, line, session) = (*self, self.line.get_value(), session_id.to_owned());
        spawn_local(async move {
            let Some(line) = line else { return };
            let seats = seats.iter().map(Seat::id).collect();
            let deleted = line.ask(|id| Order::Delete { id, keys, seats }, Vec::new()).await;
            // If that failed, it is on the list again.
            app.deleted.update(|deleted| deleted.retain(|other| *other != session));
            if let Err(why) = deleted {
                app.complain(why);
            }
        });
    }

    /// Shows the start page, if this task is open.
    fn leave(&self, session_id: &str) {
        let is_open = self.thread_now().is_some_and(|thread| thread.session_id.as_deref() == Some(session_id));
        if is_open {
            self.new_run();
        }
    }

    /// Removes a task from the page.
    fn let_go(&self, session_id: &str) {
        let is_of_session = |thread: &Thread| thread.session_id.as_deref() == Some(session_id);
        self.leave(session_id);
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

//! What the user does with stored tasks: names, and deleting.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::super::state::App;
use crate::store::{Header, Told, claim};

impl App {
    /// What a stored task is called.
    pub fn title_of(&self, session_id: &str) -> String {
        let runs = self.runs_of(session_id);
        runs.first().map(|header| header.rail().title).unwrap_or_default()
    }

    /// Names a stored task; an empty name: by its text again.
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
        // Shown at once: storing it may take a while.
        self.stored.update(|headers| {
            headers
                .iter_mut()
                .filter(|header| keys.contains(&header.key))
                .for_each(|header| header.name.clone_from(&name));
        });
        let app = *self;
        spawn_local(async move {
            let Some(shelf) = app.shelf.get_value() else { return };
            let ours = shelf.open.iter().filter(|open| keys.contains(&open.keeper.key()));
            ours.for_each(|open| open.keeper.rename(name.clone()));
            match shelf.database.rename(&keys, name.as_deref()).await {
                Ok(()) => shelf.tabs.tell(&Told::Listed),
                Err(error) => app.complain(error.to_string()),
            }
            app.read_list();
        });
    }

    /// Deletes a stored task with its follow-ups, unless it is at work here or open in another tab.
    pub fn delete_task(&self, session_id: &str) {
        let (app, id) = (*self, session_id.to_owned());
        spawn_local(async move {
            let keys: Vec<String> = app.runs_of(&id).into_iter().map(|header| header.key).collect();
            let Some(shelf) = app.shelf.get_value() else { return };
            if shelf.open.iter().any(|open| keys.contains(&open.keeper.key()) && open.session.is_running()) {
                return app.complain("This run is at work: stop or cancel it first.");
            }
            app.let_go(&id, &keys);
            let mut held = Vec::new();
            for key in &keys {
                match claim(key).await {
                    Some(lock) => held.push(lock),
                    None => return app.complain("This run is open in another tab: close it there first."),
                }
            }
            match shelf.database.delete(&keys).await {
                Ok(()) => shelf.tabs.tell(&Told::Listed),
                Err(error) => app.complain(error.to_string()),
            }
            drop(held);
            app.read_list();
        });
    }

    /// Takes a task off the page.
    fn let_go(&self, session_id: &str, keys: &[String]) {
        let gone = self.threads.with_untracked(|threads| {
            threads.iter().find(|thread| thread.session_id.as_deref() == Some(session_id)).map(|thread| thread.id)
        });
        self.shelf.update_value(|shelf| {
            if let Some(shelf) = shelf {
                shelf.open.retain(|open| {
                    let ours = keys.contains(&open.keeper.key());
                    if ours {
                        open.keeper.let_go();
                        open.session.set_journal(None);
                        open.session.close();
                    }
                    !ours
                });
            }
        });
        if gone.is_some() && self.current.get_untracked() == gone {
            self.new_run();
        }
        self.threads.update(|threads| threads.retain(|thread| Some(thread.id) != gone));
    }

    fn runs_of(&self, session_id: &str) -> Vec<Header> {
        let of = |header: &&Header| header.summary.session_id == session_id;
        self.stored.with_untracked(|headers| headers.iter().filter(of).cloned().collect())
    }
}

//! Renames and deletes stored tasks.

use std::collections::BTreeSet;

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement};

use turnwise_content::format::counted;
use turnwise_protocol::app::{Header, Order};
use turnwise_view::RailView;

use crate::browser::dom;
use crate::browser::focus;
use crate::browser::storage;
use crate::client::app_worker::RunClient;
use crate::client::slots::RunPage;
use crate::components::toast::{self, Toast, Undo};
use crate::composer::drafts;
use crate::state::{App, Thread, UNDOABLE};

/// Where the sessions are kept that are to be deleted.
const DELETED: &str = "turnwise.deleted";

impl App {
    /// Returns the name of a stored task.
    pub fn title_of(&self, session_id: &str) -> String {
        let runs = self.runs_of(session_id);
        let open = || {
            self.threads.with_untracked(|threads| {
                let thread = threads.iter().find(|thread| thread.session_id.as_deref() == Some(session_id));
                thread.map(|thread| thread.rail.with_untracked(|rail| rail.title.clone()))
            })
        };
        runs.first().map(|header| RailView::from(header).title).or_else(open).unwrap_or_default()
    }

    /// Opens the menu of a stored task in the list, with the focus in the field for its name.
    pub fn start_renaming(&self, session_id: &str) {
        let find = |inside: &str| {
            let found = dom::document().query_selector(&format!("[data-line=\"{session_id}\"] > .run-menu {inside}"));
            found.ok().flatten()
        };
        let menu = find("> summary").and_then(|menu| menu.dyn_into::<HtmlElement>().ok());
        let name = find("input").and_then(|name| name.dyn_into::<HtmlInputElement>().ok());
        let (Some(menu), Some(name)) = (menu, name) else {
            return self.complain(
                "The filter of the list hides this run: choose \u{201c}Any ending\u{201d} and clear the search first.",
            );
        };
        if !focus::is_shown(&menu) {
            self.rail_open.set(true);
        }
        menu.click();
        dom::after_frame(move |_| {
            let _ = name.focus();
            name.select();
        });
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
        self.list().stored.update(|headers| {
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
        if self.handles_of(session_id).iter().any(RunClient::is_running) {
            return self.complain("This run is in progress: stop it first.");
        }
        let (app, session) = (*self, session_id.to_owned());
        let title = self.title_of(session_id);
        // Deleted again after an Undo, it has its whole time again.
        let this = (session.clone(), dom::now());
        self.list().deleted.update(|deleted| deleted.push(this.clone()));
        toast::after(UNDOABLE, move || {
            if app.list().deleted.with_untracked(|deleted| deleted.contains(&this)) {
                app.delete_for_good(&session);
            }
        });
        self.remember_deleted();
        self.leave(session_id);
        self.tell_with_undo(format!("Deleted \u{201c}{title}\u{201d}."), Some(Undo::Task(session_id.to_owned())));
    }

    /// The stored tasks and plans, by session.
    pub fn stored_tasks(&self) -> BTreeSet<String> {
        self.list().stored.with(|headers| headers.iter().map(|header| header.line().to_owned()).collect())
    }

    /// Deletes all stored tasks and plans at once, unless one is running.
    pub fn delete_all(&self) {
        let tasks = untrack(|| self.stored_tasks());
        let handles: Vec<RunClient> = tasks.iter().flat_map(|session| self.handles_of(session)).collect();
        if handles.iter().any(RunClient::is_running) {
            return self.complain("A run is in progress: stop it first.");
        }
        let keys = self.list().stored.with_untracked(|all| all.iter().map(|header| header.key.clone()).collect());
        let handles = handles.iter().map(RunClient::id).collect();
        for session in &tasks {
            self.let_go(session);
            drafts::forget(session);
        }
        let (app, line) = (*self, self.line.get_value());
        spawn_local(async move {
            let Some(line) = line else { return };
            match line.ask(|id| Order::Delete { id, keys, handles }, Vec::new()).await {
                Ok(_) => app.tell(format!("Deleted {}.", counted(tasks.len() as u64, "run"))),
                Err(why) => app.complain(why),
            }
        });
    }

    /// Undoes a deletion.
    pub fn undo(&self, deleted: &Undo) {
        self.deleted_last.set_value(None);
        match deleted {
            Undo::Task(session) => {
                self.keep_task(session);
                focus::to(format!("[data-line=\"{session}\"] > .run"));
            }
            Undo::File(path) => {
                self.put_back_file(path);
                focus::to(format!(".file > * > [title=\"{}\"]", path.replace('\\', "\\\\").replace('"', "\\\"")));
            }
            Undo::Pasted { path, text } => self.put_back_text(path, text),
            Undo::OwnFiles => self.put_back_own_files(),
            Undo::Skill(_) => self.put_back_skill(),
            Undo::Service(_) => self.put_back_service(),
            Undo::Note { thread, page, note } => self.put_back_note(*thread, *page, note.clone()),
        }
    }

    /// Brings back what was deleted last; after that, the last entry that the palette would offer. `false`: there is nothing to
    /// bring back.
    pub fn undo_last(&self) -> bool {
        let found = self.deleted_last.get_value().or_else(|| self.undoable().pop().map(|(_, undo)| undo));
        if let Some(undo) = &found {
            self.toast.set(None);
            self.undo(undo);
        }
        found.is_some()
    }

    /// Everything that can still be brought back, as the palette names it.
    pub fn undoable(&self) -> Vec<(String, Undo)> {
        let tasks = self.list().deleted.with_untracked(|deleted| deleted.clone());
        let mut all: Vec<(String, Undo)> = tasks
            .into_iter()
            .map(|(session, _)| {
                (format!("Undo: delete \u{201c}{}\u{201d}", self.title_of(&session)), Undo::Task(session))
            })
            .collect();
        self.drawer().library.with_value(|library| {
            let file = library.removed.iter().map(|removed| removed.path.clone());
            all.extend(file.map(|path| (format!("Undo: remove {path}"), Undo::File(path))));
            if !library.removed_own.is_empty() {
                all.push(("Undo: remove your files".to_owned(), Undo::OwnFiles));
            }
        });
        let shown = self.toast.get_untracked();
        if let Some(Toast { text, undo: Some(undo @ Undo::Note { .. }), .. }) = shown {
            all.push((format!("Undo: {text}"), undo));
        }
        all
    }

    /// Whether a task is about to be deleted.
    pub fn is_deleted(&self, session_id: &str) -> bool {
        self.list().deleted.with(|deleted| deleted.iter().any(|(other, _)| other == session_id))
    }

    /// Deletes what an earlier page could no longer delete.
    pub fn delete_rest(&self) {
        let rest = storage::load(DELETED).unwrap_or_default();
        for session in rest.lines() {
            self.list().deleted.update(|deleted| deleted.push((session.to_owned(), 0)));
            self.delete_for_good(session);
        }
    }

    fn keep_task(&self, session_id: &str) {
        self.list().deleted.update(|deleted| deleted.retain(|(other, _)| other != session_id));
        self.remember_deleted();
    }

    /// Keeps in the browser what is to be deleted: the page may be closed before.
    fn remember_deleted(&self) {
        let sessions = self.list().deleted.with_untracked(|deleted| {
            deleted.iter().map(|(session, _)| session.clone()).collect::<Vec<_>>().join("\n")
        });
        storage::save(DELETED, &sessions);
    }

    /// Deletes a task, if it was not brought back and is not open in another tab.
    fn delete_for_good(&self, session_id: &str) {
        if !untrack(|| self.is_deleted(session_id)) {
            return;
        }
        if self.handles_of(session_id).iter().any(RunClient::is_running) {
            return self.keep_task(session_id); // it was opened again, and goes on
        }
        let keys: Vec<String> = self.runs_of(session_id).into_iter().map(|header| header.key).collect();
        let handles = self.handles_of(session_id);
        self.let_go(session_id);
        drafts::forget(session_id);
        self.deleted_last.update_value(|last| {
            last.take_if(|undo| matches!(undo, Undo::Task(session) if session == session_id));
        });
        let (app, line, session) = (*self, self.line.get_value(), session_id.to_owned());
        spawn_local(async move {
            let Some(line) = line else { return };
            let handles = handles.iter().map(RunClient::id).collect();
            let deleted = line.ask(|id| Order::Delete { id, keys, handles }, Vec::new()).await;
            // If that failed, it is on the list again.
            app.keep_task(&session);
            if let Err(why) = deleted {
                app.complain(why);
            }
        });
    }

    /// Shows the start page, if this task is open.
    fn leave(&self, session_id: &str) {
        let is_open = self.thread_now().is_some_and(|thread| thread.session_id.as_deref() == Some(session_id));
        if is_open {
            // The focus stays in the list.
            self.start_page();
        }
    }

    /// Removes a task from the page.
    fn let_go(&self, session_id: &str) {
        let is_of_session = |thread: &Thread| thread.session_id.as_deref() == Some(session_id);
        self.leave(session_id);
        self.threads.update(|threads| threads.retain(|thread| !is_of_session(thread)));
    }

    /// Returns the open runs of a task.
    fn handles_of(&self, session_id: &str) -> Vec<RunClient> {
        self.threads.with_untracked(|threads| {
            let found = threads.iter().find(|thread| thread.session_id.as_deref() == Some(session_id));
            let Some(thread) = found else { return Vec::new() };
            match thread.plan() {
                Some(plan) => plan.steps.iter().map(|slot| RunClient::clone(&slot.handle)).collect(),
                None => thread.pages.with_untracked(|pages| pages.iter().filter_map(RunPage::handle).collect()),
            }
        })
    }

    fn runs_of(&self, session_id: &str) -> Vec<Header> {
        let is_of_session = |header: &&Header| header.line() == session_id;
        self.list().stored.with_untracked(|headers| headers.iter().filter(is_of_session).cloned().collect())
    }
}

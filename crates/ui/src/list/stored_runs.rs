//! The stored runs on the page: their list, and opening them again.

use leptos::prelude::*;
use leptos::task::spawn_local;

use turnwise_protocol::app::{Header, Order, StoredKind};
use turnwise_view::RailView;
use turnwise_view::search::{TaskHit, has_words};

use crate::actions::files_fact;
use crate::client::app_worker::{AppWorker, RunClient};
use crate::client::slots::RunPage;
use crate::state::{App, Backing, Thread};

/// One line of the list of earlier runs: a task and its follow-ups, or a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRow {
    /// The key of a plan.
    pub session_id: String,
    /// Oldest first. Of a plan, the plan and then its steps.
    pub runs: Vec<Header>,
    pub rail: RailView,
}

impl App {
    /// Returns the stored runs that are not open and fit the search and the filters of the list, newest first.
    pub fn listed_lines(&self) -> Vec<StoredRow> {
        let found = self.list().found.get();
        let wanted = self.list().search.get().to_lowercase();
        let (tone, model) = (self.list().tone.get(), self.list().model.get());
        let mut lines = self.stored_lines();
        lines.retain(|line| {
            let fits = tone.is_none_or(|tone| line.rail_now().tone == Some(tone))
                && (model.is_empty() || line.runs.iter().any(|header| header.summary.model == model));
            fits && (wanted.is_empty() || found.iter().any(|hit| hit.line == line.session_id) || line.matches(&wanted))
        });
        lines
    }

    /// Returns the stored runs that are not open, newest first.
    pub fn stored_lines(&self) -> Vec<StoredRow> {
        let open: Vec<String> =
            self.threads.with(|threads| threads.iter().filter_map(|thread| thread.session_id.clone()).collect());
        let mut lines: Vec<StoredRow> = Vec::new();
        self.list().stored.with(|headers| {
            for header in headers.iter().filter(|header| open.iter().all(|open| open != header.line())) {
                let id = header.line();
                let line = lines.iter_mut().find(|line| line.session_id == id);
                match (line, header.kind) {
                    (Some(line), StoredKind::Step) => line.runs.push(header.clone()),
                    (Some(line), _) => {
                        let title = line.rail.title.clone();
                        line.rail = RailView { title, ..RailView::from(header) };
                        line.runs.push(header.clone());
                    }
                    // Its plan cannot be read.
                    (None, StoredKind::Step) => {}
                    (None, _) => {
                        let rail = RailView::from(header);
                        lines.push(StoredRow { session_id: id.to_owned(), runs: vec![header.clone()], rail });
                    }
                }
            }
        });
        lines.retain(|line| !self.is_deleted(&line.session_id));
        lines.sort_by_key(|line| std::cmp::Reverse(line.began()));
        lines
    }

    /// Asks the worker which stored runs contain the words of a search, whenever they have changed and then rested for a moment.
    pub fn search_answers(&self, search: RwSignal<String>, hits: RwSignal<Vec<TaskHit>>) {
        let app = *self;
        let later = StoredValue::new(None::<TimeoutHandle>);
        Effect::new(move || {
            let words = search.get().trim().to_owned();
            if let Some(before) = later.get_value() {
                before.clear();
            }
            hits.set(Vec::new());
            if words.is_empty() {
                return;
            }
            let ask = move || {
                let Some(line) = app.line.get_value() else { return };
                let words = words.clone();
                spawn_local(async move {
                    let found = line.ask_for(|id| Order::Search { id, words: words.clone() }).await;
                    if search.try_with_untracked(|now| now.trim() == words) == Some(true) {
                        // Without an answer, the titles are still searched.
                        hits.try_set(found.unwrap_or_default());
                    }
                });
            };
            later.set_value(set_timeout_with_handle(ask, std::time::Duration::from_millis(150)).ok());
        });
    }

    /// Opens a stored task with its follow-ups.
    pub fn open_stored(&self, line: &StoredRow) {
        let (app, stored, id) = (*self, line.clone(), line.session_id.clone());
        self.rail_open.set(false);
        let Some(line) =
            self.line.get_value().filter(|_| !self.list().opening.with_value(|opening| opening.contains(&id)))
        else {
            return;
        };
        self.list().opening.update_value(|opening| opening.push(id.clone()));
        self.visits.update_value(|visits| *visits += 1);
        let visits = self.visits.get_value();
        spawn_local(async move {
            match app.load(&line, stored).await {
                Ok(Some(thread)) if app.visits.get_value() == visits => app.add_thread(thread),
                Ok(thread) => app.threads.update(|threads| threads.extend(thread)),
                Err(why) => app.complain(why),
            }
            app.list().opening.update_value(|opening| opening.retain(|other| *other != id));
        });
    }

    /// Opens a task by its session, whether it is open already or stored. Returns whether it was found.
    pub fn open_session(&self, session_id: &str) -> bool {
        if untrack(|| self.is_deleted(session_id)) {
            return false;
        }
        let open = self.threads.with_untracked(|threads| {
            let same = threads.iter().find(|thread| thread.session_id.as_deref() == Some(session_id));
            same.map(|thread| thread.id)
        });
        if let Some(id) = open {
            self.open_thread(id);
            return true;
        }
        let stored = untrack(|| self.stored_lines()).into_iter().find(|line| line.session_id == session_id);
        let found = stored.is_some();
        stored.iter().for_each(|stored| self.open_stored(stored));
        found
    }

    /// Opens a stored task without showing it.
    pub async fn open_behind(&self, session_id: &str) -> Result<(), String> {
        let stored = untrack(|| self.stored_lines()).into_iter().find(|line| line.session_id == session_id);
        if let (Some(line), Some(stored)) = (self.line.get_value(), stored) {
            let thread = self.load(&line, stored).await?;
            self.threads.update(|threads| threads.extend(thread));
        }
        Ok(())
    }

    async fn load(&self, line: &AppWorker, stored: StoredRow) -> Result<Option<Thread>, String> {
        if stored.is_plan() {
            return self.load_plan(line, stored.session_id, stored.rail.title).await.map(|()| None);
        }
        let workspace = self.workspace_of(Vec::new());
        let handles: Vec<RunClient> = stored.runs.iter().map(|_| line.handle()).collect();
        let runs = handles.iter().zip(&stored.runs).map(|(handle, header)| (handle.id(), header.key.clone())).collect();
        let with = line.with(&workspace);
        line.ask(|id| Order::Open { id, with, runs }, Vec::new()).await?;
        let rail = ArcRwSignal::new(stored.rail);
        let mut pages = Vec::new();
        let mut last = None;
        for (place, handle) in handles.into_iter().enumerate() {
            let Some(mut page) = RunPage::from_handle(&handle, place) else { continue };
            if place == 0 {
                page.head.facts.push(files_fact(&workspace));
            }
            self.draw(&handle, &page, &rail).renew();
            pages.push(page);
            last = Some(handle);
        }
        Ok(last.map(|handle| self.run_thread(pages, rail, handle, workspace)))
    }

    /// Has the worker open the runs of a thread again, if they were lost with an earlier worker. Later orders about them
    /// wait for that.
    ///
    /// # Errors
    /// One of them was not stored.
    pub fn find_again(&self, thread: &Thread) -> Result<(), String> {
        if let Backing::Plan { page, workspace: Some(workspace) } = &thread.backing {
            self.find_plan_again(page, workspace);
        }
        let Backing::Live { workspace, .. } = &thread.backing else { return Ok(()) };
        let pages = thread.pages.get_untracked();
        let handles: Vec<RunClient> = pages.iter().filter_map(RunPage::handle).filter(RunClient::is_lost).collect();
        let Some(line) = self.line.get_value().filter(|_| !handles.is_empty()) else { return Ok(()) };
        let key = |handle: &RunClient| {
            let run_id = handle.start()?.run_id;
            let is_this_run = |header: &&Header| header.summary.run_id == run_id;
            self.list().stored.with_untracked(|headers| {
                headers.iter().find(is_this_run).map(|header| (handle.id(), header.key.clone()))
            })
        };
        let runs: Option<Vec<_>> = handles.iter().map(key).collect();
        let runs = runs.ok_or("This run was not stored and was lost when its worker stopped. Run the task again.")?;
        // The stored files are read again; the page's copies are the same, or newer.
        let with = line.with(workspace);
        handles.iter().for_each(RunClient::reopen);
        let app = *self;
        let opened = line.ask(|id| Order::Open { id, with, runs }, Vec::new());
        spawn_local(async move {
            if let Err(why) = opened.await {
                app.complain(why);
            }
        });
        Ok(())
    }

    /// Resumes the open run, if it was interrupted.
    pub fn resume(&self) {
        if self.own_model_lacks_key() {
            return;
        }
        self.reading().at_end.set(true);
        let app = *self;
        self.with_handle(|handle| handle.resume(app.authority_for(handle)));
    }

    /// Takes in the list of all stored runs.
    pub fn take_list(&self, headers: Vec<Header>, unread: usize) {
        self.list().stored.set(headers);
        if !self.list().listed.get_untracked() {
            self.list().listed.set(true);
            self.delete_rest();
        }
        if unread > 0 {
            self.complain(format!("This version cannot read {unread} stored runs. They were not changed."));
        }
    }

    /// Takes in a header that is new or has changed.
    pub fn note(&self, header: Header) {
        self.list().stored.update(|headers| match headers.iter_mut().find(|old| old.key == header.key) {
            Some(old) => *old = header,
            None => headers.push(header),
        });
    }
}

impl StoredRow {
    pub fn is_plan(&self) -> bool {
        self.runs.first().is_some_and(|header| header.kind == StoredKind::Plan)
    }

    /// The plan, or the last run.
    fn last(&self) -> Option<&Header> {
        if self.is_plan() { self.runs.first() } else { self.runs.last() }
    }

    /// Returns whether the plan or the last run had not ended when it was last stored.
    pub fn is_open(&self) -> bool {
        self.last().is_some_and(|header| !header.ended)
    }

    /// Returns the line in its current state: an interrupted run does not continue by itself.
    pub fn rail_now(&self) -> RailView {
        match self.last().filter(|header| !header.ended) {
            Some(_) if self.is_plan() => self.rail.clone().plan_left_open(),
            Some(header) => RailView { title: self.rail.title.clone(), ..RailView::left_open(&header.summary) },
            None => self.rail.clone(),
        }
    }

    /// When its last run began, in milliseconds since 1970.
    pub fn began(&self) -> u64 {
        self.runs.iter().map(Header::began_ms).max().unwrap_or(0)
    }

    /// Returns whether all words of the search occur, in any place.
    fn matches(&self, wanted: &str) -> bool {
        let mut text = self.rail.title.clone();
        for Header { summary, .. } in &self.runs {
            let reason = summary.termination_reason.map(|reason| reason.to_string()).unwrap_or_default();
            text.push_str(&format!(" {} {} {} {reason}", summary.title, summary.model, summary.run_id));
        }
        has_words(&text.to_lowercase(), wanted)
    }
}

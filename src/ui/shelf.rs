//! The stored runs on the page: what is stored, what is opened again, what storing says when it fails.

mod manage;

use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::shell::Session;
use crate::store::{Database, Header, Keeper, Loaded, State, StoreError, Tabs, Told, Watch, claim};
use crate::trajectory::Restored;
use crate::view::RailView;
use crate::worker::Workspace;

use super::dom::Slice;
use super::live::LiveRun;
use super::slots::{Behind, source_of};
use super::state::{App, Backing, Local, Page, Thread};

/// What this tab has of the stored runs.
#[derive(Clone, Debug)]
pub struct Shelf {
    database: Database,
    tabs: Rc<Tabs>,
    /// Runs that this tab keeps, or follows.
    open: Vec<OpenRun>,
    /// Tasks that are being read: a second click opens nothing twice.
    opening: Vec<String>,
}

#[derive(Clone, Debug)]
struct OpenRun {
    keeper: Keeper,
    session: Session,
    live: LiveRun,
}

/// One line of the list of earlier runs: a task and its follow-ups.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub session_id: String,
    /// The oldest first.
    pub runs: Vec<Header>,
    pub rail: RailView,
}

/// Tells the page how storing goes.
struct Report(App);

impl Watch for Report {
    fn stored(&self, header: &Header) {
        self.0.note(header.clone());
    }

    fn health(&self, state: Result<(), StoreError>) {
        match state {
            Ok(()) => self.0.tell("The run is stored again."),
            Err(error) => self.0.complain(error.to_string()),
        }
    }
}

/// Opens the database and reads the list.
pub fn open(app: App) {
    let tabs = Tabs::new(move |told| app.hear(told));
    let database = Database::open(move |state| match state {
        State::Open => app.read_list(),
        State::Shut(error) => app.complain(error.to_string()),
        State::Opening => {}
    });
    app.shelf.set_value(Some(Shelf { database, tabs, open: Vec::new(), opening: Vec::new() }));
    // A tab that ends without a word lets its runs go.
    set_interval(move || app.look_for_left_runs(), std::time::Duration::from_secs(3));
}

impl App {
    /// The stored runs that are not open, the newest first.
    pub fn stored_lines(&self) -> Vec<Stored> {
        let open: Vec<String> =
            self.threads.with(|threads| threads.iter().filter_map(|thread| thread.session_id.clone()).collect());
        let wanted = self.search.get().to_lowercase();
        let mut lines: Vec<Stored> = Vec::new();
        self.stored.with(|headers| {
            for header in headers.iter().filter(|header| !open.contains(&header.summary.session_id)) {
                let id = &header.summary.session_id;
                match lines.iter_mut().find(|line| line.session_id == *id) {
                    Some(line) => {
                        let title = line.rail.title.clone();
                        line.rail = RailView { title, ..header.rail() };
                        line.runs.push(header.clone());
                    }
                    None => {
                        lines.push(Stored { session_id: id.clone(), runs: vec![header.clone()], rail: header.rail() });
                    }
                }
            }
        });
        lines.retain(|line| wanted.is_empty() || line.matches(&wanted));
        lines.sort_by_key(|line| std::cmp::Reverse(line.updated()));
        lines
    }

    /// A session whose runs are stored.
    pub(super) fn keep(&self, session: &Session, workspace: &Workspace) -> Option<Keeper> {
        let shelf = self.shelf.get_value()?;
        let keeper = Keeper::new(shelf.database, shelf.tabs, workspace.clone(), Rc::new(Report(*self)));
        session.set_journal(Some(Rc::new(keeper.clone())));
        Some(keeper)
    }

    /// This run is on the page.
    pub(super) fn shelve(&self, keeper: Keeper, session: Session, live: LiveRun) {
        self.shelf.update_value(|shelf| {
            if let Some(shelf) = shelf {
                shelf.open.retain(|open| open.keeper.key() != keeper.key());
                shelf.open.push(OpenRun { keeper, session, live });
            }
        });
    }

    /// Opens a stored task with its follow-ups.
    pub fn open_stored(&self, line: &Stored) {
        let (app, line, id) = (*self, line.clone(), line.session_id.clone());
        self.rail_open.set(false);
        let begun = self.shelf.try_update_value(|shelf| {
            let opening = &mut shelf.as_mut()?.opening;
            (!opening.contains(&id)).then(|| opening.push(id.clone()))
        });
        if begun.flatten().is_none() {
            return;
        }
        spawn_local(async move {
            if let Err(error) = app.load(line).await {
                app.complain(error.to_string());
            }
            app.shelf
                .update_value(|shelf| shelf.iter_mut().for_each(|shelf| shelf.opening.retain(|other| *other != id)));
        });
    }

    /// Goes on with the open run where its page was closed.
    pub fn resume(&self) {
        self.at_end.set(true);
        self.with_session(|session| {
            if let Err(error) = session.resume() {
                self.complain(error.to_string());
            }
        });
    }

    fn read_list(&self) {
        let app = *self;
        spawn_local(async move {
            let Some(shelf) = app.shelf.get_value() else { return };
            match shelf.database.list().await {
                Ok((headers, unread)) => {
                    app.stored.set(headers);
                    if unread > 0 {
                        app.complain(format!(
                            "{unread} stored runs cannot be read by this version. They are left as they are."
                        ));
                    }
                }
                Err(error) => app.complain(error.to_string()),
            }
            // What had to wait until the database was open.
            shelf.open.iter().for_each(|open| open.keeper.flush());
        });
    }

    /// A header is new or has changed.
    fn note(&self, header: Header) {
        self.stored.update(|headers| match headers.iter_mut().find(|old| old.key == header.key) {
            Some(old) => *old = header,
            None => headers.push(header),
        });
    }

    fn hear(&self, told: Told) {
        match told {
            Told::Listed => self.read_list(),
            Told::Written { key } => {
                let app = *self;
                spawn_local(async move { app.catch_up(&key).await });
            }
        }
    }

    /// Another tab wrote more of a run.
    async fn catch_up(&self, key: &str) {
        let Some(shelf) = self.shelf.get_value() else { return };
        if let Ok(Some(header)) = shelf.database.header(key).await {
            self.note(header);
        }
        let Some(OpenRun { session, live, .. }) = shelf.followed().find(|open| open.keeper.key() == key) else {
            return;
        };
        if let Ok(events) = shelf.database.events_after(key, session.events()).await {
            for event in events {
                // Two that catch up at once read the same events.
                if event.seq == session.events() + 1 {
                    session.follow(event);
                }
            }
            live.renew();
        }
    }

    /// Takes over runs whose tab is gone.
    fn look_for_left_runs(&self) {
        let Some(shelf) = self.shelf.get_value() else { return };
        for OpenRun { keeper, session, live } in shelf.followed().cloned() {
            let app = *self;
            spawn_local(async move {
                let key = keeper.key();
                let Some(held) = claim(&key).await else { return };
                app.catch_up(&key).await;
                let header = app.stored.with_untracked(|all| all.iter().find(|header| header.key == key).cloned());
                if let Some(header) = header {
                    keeper.go_on(&header, held);
                    session.set_journal(Some(Rc::new(keeper)));
                    session.set_followed(false);
                    live.renew();
                }
            });
        }
    }

    async fn load(&self, line: Stored) -> Result<(), StoreError> {
        let Some(shelf) = self.shelf.get_value() else { return Ok(()) };
        let workspace = self.workspace_of(Vec::new());
        let rail = ArcRwSignal::new(line.rail.clone());
        let mut pages = Vec::new();
        let mut last = None;
        for (place, header) in line.runs.iter().enumerate() {
            let Loaded { origin, mut events, files } = shelf.database.load(&header.key, &workspace).await?;
            let mut restored = Restored::from_events(origin.config, origin.task, Vec::new());
            let mut slice = Slice::begin();
            for event in events.by_ref() {
                restored.play(event);
                slice.pause_if_long().await;
            }
            let damaged_at = events.damaged_at();
            let session = self.session(restored.recorder.run.config().clone(), workspace.clone());
            session.restore(restored);
            if let Some(seq) = damaged_at {
                self.complain(format!(
                    "A part of this run is damaged: it is shown up to event {}. Nothing was deleted.",
                    seq.saturating_sub(1)
                ));
            }
            let keeper = self.keep(&session, &workspace);
            if let Some(keeper) = &keeper {
                keeper.has(&files);
            }
            match (claim(&header.key).await, &keeper) {
                (Some(held), Some(keeper)) if damaged_at.is_none() => keeper.go_on(header, held),
                // To be read: what is damaged is not written over.
                (Some(_), _) => session.set_journal(None),
                (None, _) => {
                    if let Some(keeper) = &keeper {
                        keeper.name_key(header);
                    }
                    session.set_journal(None);
                    session.set_followed(true);
                }
            }
            let made = session.with_run(|run| {
                let source = source_of(&session, run?);
                let behind = Behind::Session(Local::new(session.clone()));
                Some(Page::new(place, &source, behind))
            });
            let Some(page) = made else { continue };
            let live = LiveRun::new(*self, session.clone(), page.clone(), rail.clone(), self.renderer.get_value());
            let observer = live.clone();
            session.observe(move |notice| observer.observe(notice));
            if let Some(keeper) = keeper {
                self.shelve(keeper, session.clone(), live.clone());
            }
            live.renew();
            pages.push(page);
            last = Some(session);
        }
        if let Some(session) = last {
            let backing = Backing::Live { session: Local::new(session.into()), workspace: Local::new(workspace) };
            let (pages, session_id) = (ArcRwSignal::new(pages), Some(line.session_id));
            self.add_thread(Thread {
                id: self.next_id(),
                pages,
                rail,
                backing,
                session_id,
                queued: ArcRwSignal::default(),
            });
        }
        Ok(())
    }
}

impl Shelf {
    fn followed(&self) -> impl Iterator<Item = &OpenRun> {
        self.open.iter().filter(|open| open.session.is_followed())
    }
}

impl Stored {
    /// It was not at its end when it was last stored.
    pub fn is_open(&self) -> bool {
        self.runs.last().is_some_and(|header| !header.ended)
    }

    /// The line as it stands now: a run that was left open does not go on by itself.
    pub fn rail_now(&self) -> RailView {
        let last = self.runs.last();
        match last.filter(|header| !header.ended) {
            Some(header) => RailView { title: self.rail.title.clone(), ..RailView::left_open(&header.summary) },
            None => self.rail.clone(),
        }
    }

    fn updated(&self) -> u64 {
        self.runs.iter().map(|header| header.updated_ms).max().unwrap_or(0)
    }

    /// The words of a search, all of them, wherever they stand.
    fn matches(&self, wanted: &str) -> bool {
        let mut text = self.rail.title.clone();
        for Header { summary, .. } in &self.runs {
            let reason = summary.termination_reason.map(|reason| reason.to_string()).unwrap_or_default();
            text.push_str(&format!(" {} {} {} {reason}", summary.title, summary.model, summary.run_id));
        }
        let text = text.to_lowercase();
        wanted.split_whitespace().all(|word| text.contains(word))
    }
}

//! The stored runs: storing, reopening, renaming and deleting them, and messages from other tabs.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;

use super::run_handle::{NewsSender, RunHandle};
use super::state::{RunManager, Storage};
use crate::shell::{self, Session, Slice};
use crate::store::{Loaded, OpenState, RunDatabase, RunWriter, StoreError, StoreObserver, TabMessage, Tabs, claim};
use crate::worker::Workspace;
use turnwise_protocol::app::{FilesId, HandleId, Header, KeptList, News, StorageUsage, With};
use turnwise_record::trajectory::{Note, Restored, Trajectory};
use turnwise_view::search::TaskHit;

/// Interval of the search for runs whose tab ended without notice, in milliseconds.
const LOOK_MS: u32 = 3_000;

/// Reports to the page whether storing works.
struct StoreReport(NewsSender);

impl StoreObserver for StoreReport {
    fn stored(&self, header: &Header) {
        self.0.post(News::Stored { header: Box::new(header.clone().listed()) }, Vec::new());
    }

    fn health(&self, state: Result<(), StoreError>) {
        let (message, wrong) = match state {
            Ok(()) => ("The run is stored again.".to_owned(), false),
            Err(error) => (error.to_string(), true),
        };
        self.0.post(News::Told { message, wrong }, Vec::new());
    }
}

/// Plays the events of a stored run. Returns its notes too, and the number of the first event that cannot be read.
async fn restored(Loaded { origin, mut events, notes }: Loaded) -> (Restored, Vec<Note>, Option<u32>) {
    let mut restored = Restored::from_events(origin.config, origin.task, Vec::new());
    let mut slice = Slice::begin();
    for event in events.by_ref() {
        restored.play(event);
        slice.pause_if_long().await;
    }
    (restored, notes, events.damaged_at())
}

impl RunManager {
    /// Opens the database, and begins to hear from other tabs.
    pub(super) fn open_storage(&self) {
        let hearing = self.downgrade();
        let tabs = Tabs::new(move |message| {
            if let Some(manager) = hearing.upgrade() {
                manager.on_tab_message(message);
            }
        });
        let opening = self.downgrade();
        let database = RunDatabase::open(move |state| {
            let Some(manager) = opening.upgrade() else { return };
            match state {
                OpenState::Open => manager.list_soon(),
                OpenState::Shut(error) => manager.notify(error.to_string(), true),
                OpenState::Opening => {}
            }
        });
        let looking = self.downgrade();
        spawn_local(async move {
            while let Some(manager) = looking.upgrade() {
                manager.look_for_left_runs();
                drop(manager);
                shell::pause(LOOK_MS).await;
            }
        });
        self.0.storage.replace(Some(Storage { database, tabs }));
    }

    pub(super) fn storage(&self) -> Option<Storage> {
        self.0.storage.borrow().clone()
    }

    /// Returns what stores a run or a plan; `None`: nothing can be stored.
    pub(super) fn new_keeper(&self, workspace: Workspace) -> Option<RunWriter> {
        let Storage { database, tabs } = self.storage()?;
        Some(RunWriter::new(database, tabs, workspace, Rc::new(StoreReport(self.news()))))
    }

    /// Stores the runs of a session from now on.
    pub(super) fn keeper(&self, session: &Session, workspace: &Workspace) -> Option<RunWriter> {
        let keeper = self.new_keeper(workspace.clone())?;
        session.set_journal(Some(Rc::new(keeper.clone())));
        Some(keeper)
    }

    /// Opens stored runs, in the given order; fails if one of them cannot be opened.
    pub(super) async fn open_stored(&self, with: &With, runs: &[(HandleId, String)]) -> Result<(), String> {
        for (id, key) in runs {
            self.open_one(with, *id, key).await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    async fn open_one(&self, with: &With, id: HandleId, key: &str) -> Result<(), StoreError> {
        let Some(Storage { database, .. }) = self.storage() else { return Ok(()) };
        database.ready().await;
        let header = database.header(key).await?.ok_or_else(StoreError::no_longer_stored)?;
        let workspace = self.files(with.files).workspace().clone();
        let loaded = database.load(key).await?;
        let files = database.load_files(key, &workspace).await?;
        let (restored, notes, damaged_at) = restored(loaded).await;
        let session = self.session(id, with, restored.recorder.run.config().clone(), workspace.clone());
        session.restore(restored);
        if let Some(seq) = damaged_at {
            let last = seq.saturating_sub(1);
            let message =
                format!("A part of this run is damaged: it is shown up to event {last}. Nothing was deleted.");
            self.notify(message, true);
        }
        let keeper = self.keeper(&session, &workspace);
        if let Some(keeper) = &keeper {
            keeper.has(&files);
        }
        match (claim(key).await, &keeper) {
            (Some(held), Some(keeper)) if damaged_at.is_none() => {
                keeper.go_on(&header, held);
                self.recall(&session, key).await;
            }
            // Read-only: damaged data is not overwritten.
            (Some(_), _) => session.set_journal(None),
            (None, _) => {
                if let Some(keeper) = &keeper {
                    keeper.name_key(&header);
                }
                session.set_journal(None);
                session.set_followed(true);
            }
        }
        let handle = RunHandle::new(self.news(), id, session, keeper);
        handle.session.observe(handle.ear());
        handle.set_notes(notes);
        self.0.handles.borrow_mut().insert(id, Rc::clone(&handle));
        handle.tell();
        Ok(())
    }

    /// Returns the record of a run as it is stored.
    pub(super) async fn stored_record(&self, key: &str) -> Result<Trajectory, StoreError> {
        let Storage { database, .. } = self.storage().ok_or_else(StoreError::no_longer_stored)?;
        database.ready().await;
        let (mut restored, notes, _) = restored(database.load(key).await?).await;
        restored.recall(database.streamed(key).await?);
        Ok(Trajectory { notes, ..restored.recorder.document() })
    }

    /// Stores changes of what is kept for later visits.
    pub(super) async fn keep_files(&self, list: KeptList, changes: Vec<(String, Option<Blob>)>) -> Result<(), String> {
        let Some(Storage { database, .. }) = self.storage() else { return Ok(()) };
        database.keep_files(list, changes).await.map_err(|error| error.of_kept(list.noun()))
    }

    /// Loads what is kept for later visits. Without storage, there is nothing.
    pub(super) async fn load_kept_files(&self, list: KeptList, files: FilesId) -> Result<(), String> {
        let Some(Storage { database, .. }) = self.storage() else { return Ok(()) };
        database.ready().await;
        if database.state() != OpenState::Open {
            return Ok(()); // the user is told why
        }
        let workspace = self.files(files).workspace().clone();
        let loaded = database.load_kept_files(list, &workspace).await;
        loaded.map_err(|error| format!("The {} you added earlier could not be loaded: {error}", list.noun()))
    }

    /// Counts what is stored.
    pub(super) async fn space(&self) -> Result<StorageUsage, String> {
        let Some(Storage { database, .. }) = self.storage() else { return Ok(StorageUsage::default()) };
        database.space().await.map_err(|error| error.to_string())
    }

    /// Returns the lines of the list whose runs contain these words.
    pub(super) async fn search(&self, words: &str) -> Result<Vec<TaskHit>, String> {
        let Some(Storage { database, .. }) = self.storage() else { return Ok(Vec::new()) };
        database.search(words).await.map_err(|error| error.to_string())
    }

    pub(super) async fn rename(&self, keys: &[String], name: Option<String>) -> Result<(), String> {
        let Some(Storage { database, tabs }) = self.storage() else { return Ok(()) };
        self.keepers(keys).for_each(|keeper| keeper.rename(name.clone()));
        let renamed = database.rename(keys, name.as_deref()).await;
        tabs.tell(&TabMessage::Listed);
        self.list().await;
        renamed.map_err(|error| error.to_string())
    }

    /// Deletes stored runs and plans, unless one is open in another tab.
    pub(super) async fn delete(&self, keys: &[String], handles: &[HandleId]) -> Result<(), String> {
        let Some(Storage { database, tabs }) = self.storage() else { return Ok(()) };
        // Its own runs stay claimed: a released one cannot be claimed again at once.
        let (own, mut held): (Vec<String>, Vec<_>) =
            self.keepers(keys).filter_map(|keeper| Some((keeper.key(), keeper.let_go()?))).unzip();
        for id in handles {
            let handle = self.0.handles.borrow_mut().remove(id);
            if let Some(handle) = handle {
                handle.session.set_journal(None);
                handle.session.close();
            }
        }
        self.close_plans(keys);
        for key in keys.iter().filter(|key| !own.contains(key)) {
            match claim(key).await {
                Some(lock) => held.push(lock),
                None => return Err("This run is open in another tab: close it there first.".to_owned()),
            }
        }
        let deleted = database.delete(keys).await;
        tabs.tell(&TabMessage::Listed);
        drop(held);
        self.list().await;
        deleted.map_err(|error| error.to_string())
    }

    fn keepers(&self, keys: &[String]) -> impl Iterator<Item = RunWriter> {
        let runs = self.handles().into_iter().filter_map(|handle| handle.keeper.clone());
        let plans = self.plans().into_iter().filter_map(|plan| Some(plan.keeper.clone()?.0));
        runs.chain(plans).filter(move |keeper| keys.contains(&keeper.key()))
    }

    pub(super) fn list_soon(&self) {
        let manager = self.clone();
        spawn_local(async move { manager.list().await });
    }

    async fn list(&self) {
        // While the database is opening, nothing is listed: the list is requested again once it is open.
        let database =
            self.storage().map(|storage| storage.database).filter(|database| database.state() != OpenState::Opening);
        let Some(database) = database else { return };
        match database.list().await {
            Ok((headers, unread)) => self.post(News::Listed { headers, unread }, Vec::new()),
            Err(error) => self.notify(error.to_string(), true),
        }
        // Writes what had to wait until the database was open.
        self.handles().iter().filter_map(|handle| handle.keeper.as_ref()).for_each(RunWriter::flush);
        self.plans().iter().filter_map(|plan| plan.keeper.as_ref()).for_each(|keeper| keeper.0.flush());
    }

    fn on_tab_message(&self, message: TabMessage) {
        match message {
            TabMessage::Listed => self.list_soon(),
            TabMessage::Noted { key } => {
                let manager = self.clone();
                spawn_local(async move { manager.read_notes(&key).await });
            }
            TabMessage::Written { key } => {
                let manager = self.clone();
                spawn_local(async move { drop(manager.catch_up(&key).await) });
            }
        }
    }

    /// Takes in what another tab wrote of a run; returns its stored header.
    pub(super) async fn catch_up(&self, key: &str) -> Option<Header> {
        let Storage { database, .. } = self.storage()?;
        let header = database.header(key).await.ok()??;
        self.post(News::Stored { header: Box::new(header.clone().listed()) }, Vec::new());
        self.follow_plan(key).await;
        let followed = self.handles().into_iter().find(|handle| handle.follows(key));
        if let Some(handle) = followed
            && let Ok(events) = database.events_after(key, handle.session.events()).await
        {
            for event in events {
                // Two concurrent calls read the same events.
                if event.seq == handle.session.events() + 1 {
                    handle.session.follow(event);
                }
            }
            handle.renew();
        }
        Some(header)
    }

    /// Adds to a run, which this tab now owns, what its requests had streamed. Without it, the run is as it was stored.
    pub(super) async fn recall(&self, session: &Session, key: &str) {
        if let Some(Storage { database, .. }) = self.storage()
            && let Ok(streamed) = database.streamed(key).await
        {
            session.recall(streamed);
        }
    }

    /// Takes over runs whose tab is gone.
    fn look_for_left_runs(&self) {
        self.look_for_left_plans();
        for handle in self.handles() {
            let Some(keeper) = handle.keeper.clone().filter(|_| handle.session.is_followed()) else { continue };
            let manager = self.clone();
            spawn_local(async move {
                let key = keeper.key();
                let Some(held) = claim(&key).await else { return };
                if let Some(header) = manager.catch_up(&key).await {
                    keeper.go_on(&header, held);
                    manager.recall(&handle.session, &key).await;
                    handle.session.set_journal(Some(Rc::new(keeper)));
                    handle.session.set_followed(false);
                    handle.renew();
                }
            });
        }
    }
}

//! Writes one run while it is running: a queue, one transaction at a time.
//!
//! Data that arrives during a transaction goes into the next one together. After a failure, everything that is not
//! stored stays in the queue and is retried with the next event; the run does not wait for it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use futures_channel::oneshot;
use indexed_db_futures::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::database::{Database, Durability, EVENTS, FILES, ORIGINS, RUNS, WORKSPACES, writing};
use super::error::StoreError;
use super::files::{Changes, Mirror, StoredFile};
use super::header::{header, new_key};
use super::read::event_key;
use super::tabs::{Held, TabMessage, Tabs, claim};
use crate::engine::Run;
use crate::protocol::desk::Header;
use crate::shell::{Journal, js};
use crate::trajectory::{RecordedEvent, Recorder};
use crate::worker::Workspace;

/// Receives the results of storing.
pub trait Watch {
    /// Called when a header was stored.
    fn stored(&self, header: &Header);
    /// Called when storing fails, or works again after a failure.
    fn health(&self, state: Result<(), StoreError>);
}

/// Stores one run; clones share it.
#[derive(Clone)]
pub struct Keeper(Rc<KeeperState>);

struct KeeperState {
    database: Database,
    tabs: Rc<Tabs>,
    watch: Rc<dyn Watch>,
    workspace: Workspace,
    key: RefCell<String>,
    name: RefCell<Option<String>>,
    turns: Cell<usize>,
    mirror: Mirror,
    queue: RefCell<Batch>,
    waiting: RefCell<Vec<oneshot::Sender<()>>>,
    writing: Cell<bool>,
    failed: Cell<bool>,
    /// Number of write passes that have completed or failed.
    rounds: Cell<u64>,
    held: RefCell<Option<Held>>,
}

/// The longest time a run waits for its storage, in milliseconds. Storing a step takes a few of them.
const PATIENCE_MS: f64 = 10_000.0;

/// The content of one transaction.
#[derive(Default)]
struct Batch {
    origin: Option<String>,
    /// By `seq`: a repeated event replaces the old one.
    events: BTreeMap<u32, String>,
    header: Option<Header>,
    /// A turn or the run ended.
    strict: bool,
}

impl Keeper {
    /// Creates a keeper for runs that are not stored yet; each run that begins gets its own key.
    #[must_use]
    pub fn new(database: Database, tabs: Rc<Tabs>, workspace: Workspace, watch: Rc<dyn Watch>) -> Self {
        Keeper(Rc::new(KeeperState {
            database,
            tabs,
            watch,
            workspace,
            key: RefCell::default(),
            name: RefCell::default(),
            turns: Cell::default(),
            mirror: Mirror::default(),
            queue: RefCell::default(),
            waiting: RefCell::default(),
            writing: Cell::default(),
            failed: Cell::default(),
            rounds: Cell::default(),
            held: RefCell::default(),
        }))
    }

    /// Continues a stored run, which this tab owns.
    pub fn go_on(&self, header: &Header, held: Held) {
        self.0.key.replace(header.key.clone());
        self.0.name.replace(header.name.clone());
        self.0.held.replace(Some(held));
    }

    /// Records the files that the workspace was filled with when the run was loaded.
    pub fn has(&self, files: &[StoredFile]) {
        self.0.mirror.begin_with(&self.0.workspace, files);
    }

    /// Takes over key and name of a stored run that another tab writes.
    pub fn name_key(&self, header: &Header) {
        self.0.key.replace(header.key.clone());
        self.0.name.replace(header.name.clone());
    }

    /// Gives up the run. It belongs to this tab until the result is dropped; `None`: it does not now.
    pub fn let_go(&self) -> Option<Held> {
        self.0.held.take()
    }

    /// Returns the key of the run; empty before a run has begun.
    #[must_use]
    pub fn key(&self) -> String {
        self.0.key.borrow().clone()
    }

    /// Renames the run from its next write on.
    pub fn rename(&self, name: Option<String>) {
        self.0.name.replace(name);
    }

    /// Writes what is queued; also retries what could not be written, for example before the database was open.
    pub fn flush(&self) {
        if !self.0.writing.replace(true) {
            let this = self.clone();
            spawn_local(async move { this.write_all().await });
        }
    }

    async fn write_all(self) {
        self.0.database.ready().await;
        loop {
            let batch = self.0.queue.take();
            if batch.is_empty() {
                break;
            }
            match self.write(&batch).await {
                Ok(()) => {
                    if self.0.failed.replace(false) {
                        self.0.watch.health(Ok(()));
                    }
                    if let Some(header) = &batch.header {
                        self.0.watch.stored(header);
                    }
                    self.0.tabs.tell(&TabMessage::Written { key: self.key() });
                }
                Err(error) => {
                    self.0.queue.borrow_mut().put_back(batch);
                    if !self.0.failed.replace(true) {
                        self.0.watch.health(Err(error));
                    }
                    break;
                }
            }
        }
        self.0.writing.set(false);
        self.0.rounds.set(self.0.rounds.get() + 1);
        self.let_go_on();
        // Data that arrived while observers were notified of the last transaction.
        if !self.0.failed.get() && !self.0.queue.borrow().is_empty() {
            self.flush();
        }
    }

    async fn write(&self, batch: &Batch) -> Result<(), StoreError> {
        let files = self.0.mirror.changes(&self.0.workspace).await?;
        let connection = self.0.database.connection()?;
        let durability = if batch.strict { Durability::Strict } else { Durability::Relaxed };
        let mut stores = vec![RUNS, ORIGINS, EVENTS];
        if files.is_some() {
            stores.extend([WORKSPACES, FILES]);
        }
        let transaction = writing(&connection, &stores, durability)?;
        let key = self.key();
        if let Some(origin) = &batch.origin {
            transaction.object_store(ORIGINS)?.put(origin.as_str()).with_key(key.as_str()).primitive()?;
        }
        let events = transaction.object_store(EVENTS)?;
        for (seq, event) in &batch.events {
            events.put(event.as_str()).with_key(event_key(&key, *seq)).primitive()?;
        }
        if let Some(header) = &batch.header {
            let text = serde_json::to_string(header).unwrap_or_default();
            transaction.object_store(RUNS)?.put(text).with_key(key.as_str()).primitive()?;
        }
        if let Some(Changes { contents, .. }) = &files {
            let store = transaction.object_store(FILES)?;
            for (hash, bytes) in contents {
                store.put(JsValue::from(bytes.clone())).with_key(hash.as_str()).primitive()?;
            }
        }
        if let Some(changes) = &files {
            transaction.object_store(WORKSPACES)?.put(changes.paths()).with_key(key.as_str()).primitive()?;
        }
        transaction.commit().await?;
        if let Some(changes) = files {
            self.0.mirror.accept(changes);
        }
        Ok(())
    }

    /// Wakes the tasks that wait until everything recorded so far is stored.
    fn let_go_on(&self) {
        self.0.waiting.take().into_iter().for_each(|sender| {
            let _ = sender.send(());
        });
    }

    /// Guards against storage that never answers: after a while the run continues, and this counts as a failure until
    /// something is stored again.
    fn watch_over(&self) {
        let (this, round) = (Rc::downgrade(&self.0), self.0.rounds.get());
        let late = Closure::once_into_js(move || {
            let Some(this) = this.upgrade().map(Keeper) else { return };
            if this.0.rounds.get() == round {
                if !this.0.failed.replace(true) {
                    this.0.watch.health(Err(StoreError::Slow));
                }
                this.let_go_on();
            }
        });
        js::set_timeout(late.unchecked_ref(), PATIENCE_MS);
    }

    fn queue_header(&self, run: &Run) {
        let header = header(&self.key(), self.0.name.borrow().clone(), run, js::epoch_ms());
        let mut queue = self.0.queue.borrow_mut();
        queue.strict = true;
        queue.header = Some(header);
    }
}

impl Journal for Keeper {
    fn begun(&self, recorder: &Recorder) {
        let key = new_key(js::epoch_ms());
        self.0.key.replace(key.clone());
        let this = self.clone();
        spawn_local(async move {
            // The key is new: no other tab can own it.
            let held = claim(&key).await;
            this.0.held.replace(held);
        });
        let run = &recorder.run;
        let origin = super::read::Origin::from_run(run);
        {
            let mut queue = self.0.queue.borrow_mut();
            *queue = Batch { origin: serde_json::to_string(&origin).ok(), ..Batch::default() };
            queue.events.extend(recorder.events.iter().filter_map(written));
        }
        self.0.turns.set(run.turns().len());
        self.queue_header(run);
        self.flush();
    }

    fn happened(&self, events: &[&RecordedEvent], run: &Run) {
        self.0.queue.borrow_mut().events.extend(events.iter().copied().filter_map(written));
        let ended = run.ending().is_some();
        if self.0.turns.replace(run.turns().len()) != run.turns().len() || ended {
            self.queue_header(run);
        }
        self.flush();
    }

    fn kept(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        // While storing fails, or cannot begin, a run does not wait for it.
        let waits = self.0.writing.get() && !self.0.failed.get();
        let opening = matches!(self.0.database.state(), super::State::Shut(_));
        if !waits || opening {
            return None;
        }
        self.watch_over();
        let (sender, kept) = oneshot::channel();
        self.0.waiting.borrow_mut().push(sender);
        Some(Box::pin(async move {
            let _ = kept.await;
        }))
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.origin.is_none() && self.events.is_empty() && self.header.is_none()
    }

    /// Puts unwritten data back, ahead of newer data.
    fn put_back(&mut self, old: Batch) {
        let new = std::mem::replace(self, old);
        self.origin = new.origin.or(self.origin.take());
        self.events.extend(new.events);
        self.header = new.header.or(self.header.take());
        self.strict |= new.strict;
    }
}

fn written(event: &RecordedEvent) -> Option<(u32, String)> {
    Some((event.seq, serde_json::to_string(event).ok()?))
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Keeper").field(&self.key()).finish()
    }
}

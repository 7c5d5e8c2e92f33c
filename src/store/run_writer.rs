//! Writes one run, or a plan with the runs of its steps, while it is running: a queue, one transaction at a time.
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

use super::database::{DRAFTS, Durability, EVENTS, FILES, ORIGINS, PLANS, RUNS, RunDatabase, WORKSPACES, writing};
use super::error::StoreError;
use super::files::{Mirror, StoredFile, StoredFileChanges};
use super::header::{GivenHeader, header, new_key, plan_header};
use super::read::event_key;
use super::tabs::{RunLock, TabMessage, Tabs, claim};
use crate::shell::{Journal, js};
use crate::worker::Workspace;
use turnwise_engine::{Event, Run};
use turnwise_protocol::app::{Header, StoredKind, VersionOf};
use turnwise_record::plan::PlanRun;
use turnwise_record::trajectory::{RecordedEvent, Recorder};

/// Receives the results of storing.
pub trait StoreObserver {
    /// Called when a header was stored.
    fn stored(&self, header: &Header);
    /// Called when storing fails, or works again after a failure.
    fn health(&self, state: Result<(), StoreError>);
}

/// Stores one run or one plan; clones share it.
#[derive(Clone)]
pub struct RunWriter(Rc<RunWriterState>);

struct RunWriterState {
    database: RunDatabase,
    tabs: Rc<Tabs>,
    watch: Rc<dyn StoreObserver>,
    workspace: Workspace,
    key: RefCell<String>,
    given: RefCell<GivenHeader>,
    /// Which run is in the header, and how many turns of it, by the run's key. A branch begins as the run that it comes from.
    told: RefCell<BTreeMap<String, (String, usize)>>,
    mirror: Mirror,
    queue: RefCell<Batch>,
    waiting: RefCell<Vec<oneshot::Sender<()>>>,
    writing: Cell<bool>,
    failed: Cell<bool>,
    /// Number of write passes that have completed or failed.
    rounds: Cell<u64>,
    held: RefCell<Option<RunLock>>,
}

/// The longest time a run waits for its storage, in milliseconds. Storing a step takes a few of them.
const PATIENCE_MS: f64 = 10_000.0;

/// The content of one transaction.
#[derive(Default)]
struct Batch {
    /// By the key of the run.
    origins: BTreeMap<String, String>,
    /// By the key of the event: a repeated event replaces the old one.
    events: BTreeMap<String, String>,
    /// By the key of the run or the plan.
    headers: BTreeMap<String, Header>,
    /// The state of the plan.
    plan: Option<String>,
    /// What the open requests have streamed, by the key of the run; `None`: it has ended.
    drafts: BTreeMap<String, Option<String>>,
    /// A turn, a step or the run ended.
    strict: bool,
}

impl RunWriter {
    /// Creates a keeper for runs that are not stored yet; each run that begins gets its own key.
    #[must_use]
    pub fn new(database: RunDatabase, tabs: Rc<Tabs>, workspace: Workspace, watch: Rc<dyn StoreObserver>) -> Self {
        RunWriter(Rc::new(RunWriterState {
            database,
            tabs,
            watch,
            workspace,
            key: RefCell::default(),
            given: RefCell::new(GivenHeader { strange: Some(false), ..GivenHeader::default() }),
            told: RefCell::default(),
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
    pub fn go_on(&self, header: &Header, held: RunLock) {
        self.name_key(header);
        self.0.held.replace(Some(held));
    }

    /// Records the files that the workspace was filled with when the run was loaded.
    pub fn has(&self, files: &[StoredFile]) {
        self.0.mirror.begin_with(&self.0.workspace, files);
    }

    /// Takes over key, name and version of a stored run that another tab writes.
    pub fn name_key(&self, header: &Header) {
        self.0.key.replace(header.key.clone());
        self.0.given.replace(GivenHeader {
            name: header.name.clone(),
            version: header.version.clone(),
            strange: header.strange,
        });
    }

    /// Gives up the run. It belongs to this tab until the result is dropped; `None`: it does not now.
    pub fn let_go(&self) -> Option<RunLock> {
        self.0.held.take()
    }

    /// Returns the key of the run; empty before a run has begun.
    #[must_use]
    pub fn key(&self) -> String {
        self.0.key.borrow().clone()
    }

    /// Renames the run from its next write on.
    pub fn rename(&self, name: Option<String>) {
        self.0.given.borrow_mut().name = name;
    }

    /// Sets the run of which this one, which begins now, is another version.
    pub fn set_version(&self, version: Option<VersionOf>) {
        self.0.given.borrow_mut().version = version;
    }

    /// Marks the run, which begins now: a part of its content comes from a record that this store did not make.
    pub fn set_strange(&self) {
        self.0.given.borrow_mut().strange = Some(true);
    }

    #[must_use]
    pub fn is_strange(&self) -> bool {
        self.0.given.borrow().strange == Some(true)
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
                    batch.headers.values().for_each(|header| self.0.watch.stored(header));
                    if !batch.has_only_drafts() {
                        self.0.tabs.tell(&TabMessage::Written { key: self.key() });
                    }
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
        let files = match batch.has_only_drafts() {
            true => None,
            false => self.0.mirror.changes(&self.0.workspace).await?,
        };
        let connection = self.0.database.connection()?;
        let durability = if batch.strict { Durability::Strict } else { Durability::Relaxed };
        let mut stores = vec![RUNS, ORIGINS, EVENTS];
        if batch.plan.is_some() {
            stores.push(PLANS);
        }
        if !batch.drafts.is_empty() {
            stores.push(DRAFTS);
        }
        if files.is_some() {
            stores.extend([WORKSPACES, FILES]);
        }
        let transaction = writing(&connection, &stores, durability)?;
        let key = self.key();
        for (key, origin) in &batch.origins {
            transaction.object_store(ORIGINS)?.put(origin.as_str()).with_key(key.as_str()).primitive()?;
        }
        let events = transaction.object_store(EVENTS)?;
        for (key, event) in &batch.events {
            events.put(event.as_str()).with_key(key.as_str()).primitive()?;
        }
        for (key, header) in &batch.headers {
            let text = serde_json::to_string(header).unwrap_or_default();
            transaction.object_store(RUNS)?.put(text).with_key(key.as_str()).primitive()?;
        }
        if let Some(plan) = &batch.plan {
            transaction.object_store(PLANS)?.put(plan.as_str()).with_key(key.as_str()).primitive()?;
        }
        for (key, draft) in &batch.drafts {
            let drafts = transaction.object_store(DRAFTS)?;
            match draft {
                Some(text) => drop(drafts.put(text.as_str()).with_key(key.as_str()).primitive()?),
                None => drop(drafts.delete(key.as_str()).primitive()?),
            }
        }
        if let Some(StoredFileChanges { contents, .. }) = &files {
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
            let Some(this) = this.upgrade().map(RunWriter) else { return };
            if this.0.rounds.get() == round {
                if !this.0.failed.replace(true) {
                    this.0.watch.health(Err(StoreError::Slow));
                }
                this.let_go_on();
            }
        });
        js::set_timeout(late.unchecked_ref(), PATIENCE_MS);
    }

    /// Gives the run or plan that begins its own key, which no other tab can own.
    pub(super) fn take_new_key(&self) -> String {
        let key = new_key(js::epoch_ms());
        self.0.key.replace(key.clone());
        let (this, claimed) = (self.clone(), key.clone());
        spawn_local(async move {
            let held = claim(&claimed).await;
            this.0.held.replace(held);
        });
        key
    }

    pub(super) fn begin(&self, key: &str, kind: StoredKind, recorder: &Recorder) {
        let origin = super::read::RunStart::from_run(&recorder.run);
        if let Ok(origin) = serde_json::to_string(&origin) {
            self.0.queue.borrow_mut().origins.insert(key.to_owned(), origin);
        }
        let events: Vec<&RecordedEvent> = recorder.events.iter().collect();
        self.0.told.borrow_mut().remove(key);
        self.queue(key, kind, &events, &recorder.run);
    }

    pub(super) fn queue(&self, key: &str, kind: StoredKind, events: &[&RecordedEvent], run: &Run) {
        let written = |event: &&RecordedEvent| Some((event_key(key, event.seq), serde_json::to_string(event).ok()?));
        self.0.queue.borrow_mut().events.extend(events.iter().filter_map(written));
        let now = (run.task().run_id.clone(), run.turns().len());
        let before = self.0.told.borrow_mut().insert(key.to_owned(), now.clone());
        if before != Some(now) || run.ending().is_some() {
            // Only the plan as a whole has a name.
            let given = if kind == StoredKind::Run { self.0.given.borrow().clone() } else { GivenHeader::default() };
            self.queue_header(header(key, kind, given, run, js::epoch_ms()));
        }
        if run.ending().is_some() {
            self.0.queue.borrow_mut().drafts.insert(key.to_owned(), None);
        }
        self.flush();
    }

    pub(super) fn queue_draft(&self, key: &str, streamed: &[Event]) {
        if let Ok(text) = serde_json::to_string(streamed) {
            self.0.queue.borrow_mut().drafts.insert(key.to_owned(), Some(text));
            self.flush();
        }
    }

    pub(super) fn queue_plan(&self, plan: &PlanRun) {
        let (key, given) = (self.key(), self.0.given.borrow().clone());
        if let Ok(text) = serde_json::to_string(&plan.without_runs()) {
            self.0.queue.borrow_mut().plan = Some(text);
        }
        self.queue_header(plan_header(&key, given, plan, js::epoch_ms()));
        self.flush();
    }

    fn queue_header(&self, header: Header) {
        let mut queue = self.0.queue.borrow_mut();
        queue.strict = true;
        queue.headers.insert(header.key.clone(), header);
    }
}

impl Journal for RunWriter {
    fn begun(&self, recorder: &Recorder) {
        let key = self.take_new_key();
        self.begin(&key, StoredKind::Run, recorder);
    }

    fn happened(&self, events: &[&RecordedEvent], run: &Run) {
        self.queue(&self.key(), StoredKind::Run, events, run);
    }

    fn streamed(&self, streamed: &[Event]) {
        self.queue_draft(&self.key(), streamed);
    }

    fn kept(&self) -> Option<Pin<Box<dyn Future<Output = ()>>>> {
        // While storing fails, or cannot begin, a run does not wait for it.
        let waits = self.0.writing.get() && !self.0.failed.get();
        let opening = matches!(self.0.database.state(), super::OpenState::Shut(_));
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
        self.has_only_drafts() && self.drafts.is_empty()
    }

    /// Nothing that other tabs follow.
    fn has_only_drafts(&self) -> bool {
        self.origins.is_empty() && self.events.is_empty() && self.headers.is_empty() && self.plan.is_none()
    }

    /// Puts unwritten data back, ahead of newer data.
    fn put_back(&mut self, old: Batch) {
        let new = std::mem::replace(self, old);
        self.origins.extend(new.origins);
        self.events.extend(new.events);
        self.headers.extend(new.headers);
        self.drafts.extend(new.drafts);
        self.plan = new.plan.or(self.plan.take());
        self.strict |= new.strict;
    }
}

impl std::fmt::Debug for RunWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RunWriter").field(&self.key()).finish()
    }
}

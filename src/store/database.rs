//! The database: its stores, its versions, and the one connection of this tab.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_channel::oneshot;
use indexed_db_futures::database::Database as Connection;
use indexed_db_futures::prelude::*;
use indexed_db_futures::transaction::{Transaction, TransactionDurability, TransactionMode, TransactionOptions};
use wasm_bindgen_futures::spawn_local;

use super::error::StoreError;

const NAME: &str = "turnwise";

/// One header per run, by the run's key: the content of the list.
pub(super) const RUNS: &str = "runs";
/// The start of each run, by the run's key.
pub(super) const ORIGINS: &str = "origins";
/// One event of a run, under `key/00000001`.
pub(super) const EVENTS: &str = "events";
/// The paths of a run's workspace, with the hash of each content, by the run's key.
pub(super) const WORKSPACES: &str = "workspaces";
/// The state of each plan without the runs of its steps, by the plan's key.
pub(super) const PLANS: &str = "plans";
/// File contents, by their hash: equal contents are stored once.
pub(super) const FILES: &str = "files";
/// The notes on a run, by the run's key. Apart from its header, which only the tab that drives the run writes.
pub(super) const NOTES: &str = "notes";

/// What the open requests of a run had streamed a second ago, by the run's key.
pub(super) const DRAFTS: &str = "drafts";

/// The object stores that each version added. Version n+1 is entry n; an old database goes through the entries it
/// lacks, in order. Entries are never changed after a release: a change is a new entry.
const MIGRATIONS: &[&[&str]] = &[&[RUNS, ORIGINS, EVENTS], &[WORKSPACES, FILES], &[PLANS, NOTES], &[DRAFTS]];

/// Whether the database is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenState {
    Opening,
    Open,
    /// Not available, with the reason.
    Shut(StoreError),
}

/// The tab's handle to the stored runs; clones share it.
#[derive(Clone)]
pub struct RunDatabase(Rc<DatabaseState>);

struct DatabaseState {
    connection: RefCell<Option<Connection>>,
    state: RefCell<OpenState>,
    waiting: RefCell<Vec<oneshot::Sender<()>>>,
    /// Called when the database opens, or turns out to be unavailable.
    on_change: Box<dyn Fn(&OpenState)>,
    opening: Cell<bool>,
}

/// The durability of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// Survives a crash of the page.
    Relaxed,
    /// Survives a crash of the machine.
    Strict,
}

impl RunDatabase {
    /// Opens the database; `on_change` is called with each new state.
    #[must_use]
    pub fn open(on_change: impl Fn(&OpenState) + 'static) -> Self {
        let database = RunDatabase(Rc::new(DatabaseState {
            connection: RefCell::default(),
            state: RefCell::new(OpenState::Opening),
            waiting: RefCell::default(),
            on_change: Box::new(on_change),
            opening: Cell::default(),
        }));
        database.connect();
        database
    }

    #[must_use]
    pub fn state(&self) -> OpenState {
        self.0.state.borrow().clone()
    }

    /// Waits until it is known whether the database is available.
    pub async fn ready(&self) {
        if self.state() == OpenState::Opening {
            let (sender, waits) = oneshot::channel();
            self.0.waiting.borrow_mut().push(sender);
            let _ = waits.await;
        }
    }

    fn connect(&self) {
        if self.0.opening.replace(true) {
            return;
        }
        let this = self.clone();
        spawn_local(async move {
            let opened = this.request().await;
            this.0.opening.set(false);
            match opened {
                Ok(connection) => {
                    this.0.connection.replace(Some(connection.clone()));
                    this.become_(&OpenState::Open);
                    this.give_way(connection).await;
                }
                Err(error) => this.become_(&OpenState::Shut(error)),
            }
        });
    }

    async fn request(&self) -> Result<Connection, StoreError> {
        let version = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
        let blocked = self.clone();
        let request = Connection::open(NAME)
            .with_version(version)
            .with_on_blocked(move |_| {
                // The request stays pending: it succeeds as soon as the other tab is closed.
                blocked.become_(&OpenState::Shut(StoreError::Blocked));
                Ok(())
            })
            .with_on_upgrade_needed(|event, connection| {
                let had = event.old_version() as usize;
                for store in MIGRATIONS.iter().skip(had).flat_map(|stores| stores.iter()) {
                    connection.create_object_store(*store).build()?;
                }
                Ok(())
            });
        Ok(request.await?)
    }

    /// Closes the connection when asked to: a newer version in another tab must not wait for this one.
    async fn give_way(&self, connection: Connection) {
        let Ok(mut changes) = connection.version_changes() else { return };
        // `None`: the browser closed the connection, for example because the site's data was cleared.
        drop(changes.recv().await);
        self.0.connection.take();
        connection.close();
        self.become_(&OpenState::Shut(StoreError::Closed));
    }

    fn become_(&self, state: &OpenState) {
        if self.0.state.replace(state.clone()) == *state {
            return;
        }
        self.0.waiting.take().into_iter().for_each(|sender| {
            let _ = sender.send(());
        });
        (self.0.on_change)(state);
    }

    pub(super) fn connection(&self) -> Result<Connection, StoreError> {
        match (self.0.connection.borrow().clone(), self.state()) {
            (Some(connection), _) => Ok(connection),
            (None, OpenState::Shut(error)) => Err(error),
            (None, _) => Err(StoreError::Unavailable("it is not open yet".to_owned())),
        }
    }
}

/// Starts a transaction that reads.
pub(super) fn reading<'a>(connection: &'a Connection, stores: &[&str]) -> Result<Transaction<'a>, StoreError> {
    Ok(connection.transaction(stores.to_vec()).with_mode(TransactionMode::Readonly).build()?)
}

/// Starts a transaction that writes everything or nothing. It is rolled back if dropped.
pub(super) fn writing<'a>(
    connection: &'a Connection,
    stores: &[&str],
    durability: Durability,
) -> Result<Transaction<'a>, StoreError> {
    let mut options = TransactionOptions::new();
    options.set_durability(match durability {
        Durability::Relaxed => TransactionDurability::Relaxed,
        Durability::Strict => TransactionDurability::Strict,
    });
    let stores = connection.transaction(stores.to_vec());
    Ok(stores.with_mode(TransactionMode::Readwrite).with_options(options).build()?)
}

impl std::fmt::Debug for RunDatabase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Database").field(&self.state()).finish()
    }
}

//! Runs and plans that survive the page: in IndexedDB, written while they run, shared by all tabs. WASM -> view, shell.
//!
//! Owns the database and its versions, which tab writes a run (one at a time), and the messages about failed storage.
//! Invariants: an event is stored before the request that follows from it is sent; writes of one run are in order; a
//! failure never changes what was stored, and never stops a run. Deliberately absent: secrets (the shell redacts what
//! comes here) and everything visible (`ui`).

mod database;
mod error;
mod files;
mod header;
mod plan_writer;
mod read;
mod run_writer;
mod tabs;

pub use database::{OpenState, RunDatabase};
pub use error::StoreError;
pub use plan_writer::PlanWriter;
pub use read::{Events, Loaded};
pub use run_writer::{RunWriter, StoreObserver};
pub use tabs::{RunLock, TabMessage, Tabs, claim};

//! Runs that outlast the page: in IndexedDB, written as they go, shared by all tabs. WASM -> view, shell.
//!
//! Owns the database with its versions, who writes a run (one tab at a time), and what is told when storing fails.
//! Invariants: an event is stored before the request that follows from it is sent; writes of one run are in order; what
//! was stored is never changed by a failure, and a failure never stops a run. Deliberately absent: secrets (the shell
//! redacted what comes here) and everything that is seen (`ui`).

mod database;
mod error;
mod files;
mod header;
mod keeper;
mod read;
mod tabs;

pub use database::{Database, State};
pub use error::StoreError;
pub use keeper::{Keeper, Watch};
pub use read::{Events, Loaded};
pub use tabs::{Held, Tabs, Told, claim};

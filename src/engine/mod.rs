//! The turn engine: a sans-IO state machine. Owns every rule of a run.
//!
//! PURE: no clock, no randomness, no network, no async, no web crate. Time and seeds come in as data ([`Event`], the
//! `at` of [`Run::handle`]), what must happen goes out as data ([`Effect`]). Everything here is `Serialize`.
//! Deliberately absent: wire formats (`llm`), tools' code (`tools`), storage and export (`trajectory`).

pub mod config;
pub mod effect;
pub mod event;
pub mod failure;
pub mod ids;
pub mod message;
pub mod record;
pub mod reply;
pub mod run;

pub use config::*;
pub use effect::*;
pub use event::*;
pub use failure::Slug;
pub use ids::*;
pub use message::*;
pub use record::*;
pub use reply::*;
pub use run::{Run, Status, Task};

//! The turn engine: a sans-IO state machine. Owns every rule of a run.
//!
//! PURE: no clock, no randomness, no network, no async, no web crate. Time and seeds come in as data ([`Event`], the
//! `at` of [`Run::handle`]), what must happen goes out as data ([`Effect`]). Everything here is `Serialize`.
//! Deliberately absent: wire formats (`llm`), tools' code (`tools`), storage and export (`trajectory`).

mod answers;
mod attempt;
pub mod batch;
pub mod budget;
mod calls;
pub mod caps;
pub mod config;
pub mod context;
pub mod counter;
pub mod effect;
mod ending;
pub mod event;
pub mod failure;
pub mod final_result;
pub mod history;
pub mod ids;
pub mod limits;
pub mod message;
pub mod notice;
mod own_tools;
pub mod provider;
pub mod record;
mod refusal;
pub mod reply;
pub mod report;
pub mod restart;
pub mod result;
pub mod retry;
pub mod run;
pub mod spawn;
mod status;
pub mod subagents;
pub mod success;
pub mod synthesis;
pub mod time;
mod turn;
mod wrap_up;

pub use caps::RAW_CAP;
pub use config::*;
pub use effect::*;
pub use event::*;
pub use failure::Slug;
pub(crate) use history::Outgoing;
pub use ids::*;
pub use limits::*;
pub use message::*;
pub use provider::*;
pub use record::*;
pub use reply::*;
pub use restart::{Branch, Parent};
pub use run::{Run, Task};
pub use status::Status;
pub use subagents::Child;

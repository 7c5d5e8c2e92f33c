//! The thin shell around the engine: performs its effects and feeds it events. WASM -> all pure modules.
//!
//! Owns the clock, fetch, timers, host tools and everything else that touches JavaScript. Contains no rules of a run: those
//! belong to the engine. Keys and extra headers live here and nowhere else ([`Access`]).
//! Deliberately absent: reading documentation sites (`docs_fetch`), the JavaScript API (`embed`), drawing (`ui`), code that runs
//! in workers (`worker`).

mod access;
mod ask_order;
mod custom;
mod deadline;
mod demo;
mod diagnose;
mod driver;
mod exchange;
mod fetch;
mod gate;
mod history;
mod ids;
mod input;
mod journal;
pub mod js;
mod live;
mod misuse;
mod models;
mod network;
mod page;
mod plain;
mod plan;
mod program;
pub mod prompt_api;
mod record;
mod restore;
mod session;
pub mod stream;
mod timer;
mod tool;
mod watch;
mod wire;

pub use access::Access;
pub use ids::{random_seed, session_id};
pub use input::UserInput;
pub use journal::{Journal, PlanJournal};
pub use live::Notice;
pub use misuse::StartError;
pub use models::list_models;
pub use page::{ApprovalRequest, Code, Page, PageOutput, PendingRequest, Returned};
pub use plan::{PlanNotice, PlanSession, PlanStart};
pub use session::{Session, SessionOptions};
pub use timer::{Slice, Timeout, pause};

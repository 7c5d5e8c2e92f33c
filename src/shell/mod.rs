//! The thin shell around the engine: performs its effects and feeds it events. WASM -> all pure modules.
//!
//! Owns the clock, fetch, timers, host tools and everything else that touches JavaScript. Contains no rules of a run: those
//! belong to the engine. Keys and extra headers live here and nowhere else ([`Access`]).
//! Deliberately absent: the JavaScript API (`embed`), drawing (`ui`), code that runs in workers (`worker`).

mod access;
mod bridged;
mod custom;
mod demo;
mod diagnose;
mod docs;
mod driver;
mod fetch;
mod gate;
mod history;
mod ids;
mod in_page;
mod input;
mod journal;
pub mod js;
mod live;
mod misuse;
mod models;
mod page;
mod plain;
mod plan;
pub mod prompt_api;
mod reading;
mod record;
mod restore;
mod session;
mod shelf;
pub mod signin;
mod stream;
mod timer;
mod tool;
mod watch;
mod wire;

pub use docs::{Docs, DocsOptions};
pub use ids::{random_seed, session_id};
pub use journal::Journal;
pub use models::list_models;
pub use page::{Approval, Asked, Page, Piece, Returned};
pub use plan::{PlanNotice, PlanSession, PlanStart};
pub use session::{Access, Carried, Input, Notice, Session, SessionOptions, StartError};
pub use timer::{Slice, pause};
pub use tool::Approve;

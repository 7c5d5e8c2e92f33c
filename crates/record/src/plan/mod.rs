//! Plans: steps with dependencies, each one an ordinary run, and the context that each step receives (plans.md).
//! PURE -> engine, trajectory.
//!
//! A sans-IO scheduler over runs: [`PlanRun::start`] and [`PlanRun::handle`] decide which step starts when, and with what
//! input; the driver executes each step as a separate run and reports how it ended. There is no second turn loop here.
//! Deliberately absent: turns, retries and tool calls (`engine`), the runs' records (`trajectory`), sessions and workers
//! (`shell`).

pub mod context;
pub mod document;
pub mod draft;
pub mod effect;
pub mod fault;
pub mod model;
mod read;
mod rerun;
mod restore;
pub mod run;
mod schedule;
mod step_config;
mod step_run;

pub use context::{Artifact, Context};
pub use document::{PlanDocument, SessionError, StepRecord};
pub use effect::*;
pub use fault::{FaultKind, PlanFault};
pub use model::*;
pub use read::read;
pub use run::{PARALLEL, PlanOptions, PlanRun};
pub use step_run::StepRun;

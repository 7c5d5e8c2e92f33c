//! The turn engine: a sans-IO state machine. It contains every rule of a run.
//!
//! PURE: no clock, no randomness, no network, no async, no web crate. Time and seeds come in as data ([`Event`], the
//! `at` of [`Run::handle`]), and what must happen goes out as data ([`Effect`]). Everything here is `Serialize`.
//! Deliberately absent: wire formats (`turnwise-llm`), the code of tools (`turnwise-tools`), storage and export (`turnwise-record`).
//!
//! A run needs somebody who performs its effects. Here a script does; `examples/real_server.rs` sends requests to a server.
//!
//! ```
//! use turnwise_engine::*;
//!
//! let task = Task { input: "What is 6 times 7?".into(), ..Task::default() };
//! let (mut run, mut effects) = Run::start(RunConfig::preset(Preset::Research), task);
//! while run.ending().is_none() {
//!     let mut events = Vec::new();
//!     for effect in effects {
//!         match effect {
//!             Effect::CallModel(call) => {
//!                 let reply = Reply { content: "42".into(), ..Reply::default() };
//!                 events.push(Event::ModelReplied { request: call.request, reply, raw: None, first_token_ms: None });
//!             }
//!             Effect::RunTool(tool) => {
//!                 let outcome = ToolOutcome::Failed { message: "no tool is offered".into() };
//!                 events.push(Event::ToolFinished { call: tool.call, outcome });
//!             }
//!             Effect::Sleep { timer, .. } => events.push(Event::TimerFired { timer }),
//!             Effect::Abort(_) | Effect::KeepResult { .. } | Effect::AnswerProgram { .. } => {}
//!             Effect::Record(_) | Effect::Finish => {}
//!         }
//!     }
//!     effects = events.into_iter().flat_map(|event| run.handle(Millis(1), event)).collect();
//! }
//! assert_eq!(run.ending().map(|ending| ending.output.as_str()), Some("42"));
//! ```
//!
//! `turn` is the loop; read it first. Files use only those further up in this list:
//!
//! | files | what they own |
//! | --- | --- |
//! | `ids`, `time`, `digest`, `hidden`, `failure`, `correction`, `retry` | ids and units, hashes, characters that cannot be seen, slugs, what is learnt from a refusal, waits |
//! | `usage`, `provider`, `message`, `config`, `own_tools`, `skills`, `record`, `interface`, `caps` | data: what goes in and out, and what is recorded; the engine's own tools |
//! | `judge`, `prompts`, `setup`, `history`, `permission` | rules that need no run: verdicts, exact texts, the bound, the history, which calls are asked about |
//! | `tool_round`, `program` | the tool calls of one reply, a machine of its own; those that programs make |
//! | `run` | the state of a run, and `handle` |
//! | `turn` | the loop: how a turn begins, what follows, when the run concludes |
//! | `request`, `tool_calls` | one request with its retries; the run's side of a round, stop and its grace period, the counter line |
//! | `limits`, `ending` | usage, cost, bound, wall time, context guard; wrap-up, synthesis, and the ends of a run |
//! | `subagents`, `restart`, `authority`, `status` | child runs; resume and branch; who decides after that; what others may ask about a run |

mod authority;
pub mod caps;
pub mod config;
pub mod correction;
pub mod digest;
mod ending;
pub mod failure;
pub mod hidden;
pub mod history;
pub mod ids;
pub mod interface;
pub mod judge;
mod limits;
pub mod message;
pub mod own_tools;
mod permission;
mod program;
pub mod prompts;
pub mod provider;
pub mod record;
mod request;
mod restart;
pub mod retry;
mod run;
pub mod setup;
pub mod skills;
mod status;
mod subagents;
pub mod time;
mod tool_calls;
mod tool_round;
mod turn;
pub mod usage;

pub use authority::Authority;
pub use caps::RAW_CAP;
pub use config::*;
pub use correction::Correction;
pub use failure::Slug;
pub use ids::{BaseId, CallId, EpochMillis, MAX_CHILDREN, MAX_OWN, Millis, RequestId, TimerId, TokenCount};
pub use interface::*;
pub use message::*;
pub use permission::{host_of, named_tool};
pub use program::MAX_PROGRAM_CALLS;
pub use provider::{DemoMode, Price, ProviderConfig, ProviderKind, user_info};
pub use record::*;
pub use run::{ChildRun, Run, Task};
pub use setup::inherited_counter;
pub use skills::ScriptCode;
pub use status::Status;
pub use usage::Usage;

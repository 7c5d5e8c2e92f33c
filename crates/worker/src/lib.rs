//! The worker's end of the tools: it answers the requests of a page (`turnwise_protocol::tool_worker`).
//!
//! [`documents`] (tasks on records) and [`growing`] (a text that streams) are PURE. On wasm32, `serve` receives the requests and
//! `pattern` runs the regular expressions of schemas. What a worker can do is given by its module (`serve::Abilities`): the complete one
//! is `modules/tools`, the docs agent's `modules/docs`. Deliberately absent: the work of the tools (`turnwise-tools`), and the page's
//! end (`src/worker`).

pub mod documents;
pub mod growing;
#[cfg(target_arch = "wasm32")]
mod pattern;
#[cfg(target_arch = "wasm32")]
pub mod serve;

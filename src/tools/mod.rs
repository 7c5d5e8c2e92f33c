//! The built-in tools: their names and specs, and (features `docs` and `worker`) their implementation.
//!
//! The page contains only the small table below; all code that runs a tool or checks its arguments is behind these
//! features and runs in a worker. PURE: a tool gets its files through [`files::Files`] and the time as data, and
//! returns text. Deliberately absent: the final-result protocol and the truncation of long results (`engine`),
//! deadlines and crashes (`worker`), tools of the host page.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub mod folder;
pub mod path;
pub mod table;

#[cfg(feature = "docs")]
pub mod arguments;
#[cfg(feature = "worker")]
pub mod calculate;
#[cfg(feature = "docs")]
mod call;
#[cfg(feature = "worker")]
pub mod change;
#[cfg(feature = "worker")]
pub mod diff;
#[cfg(any(feature = "docs", feature = "convert"))]
pub mod document;
#[cfg(feature = "worker")]
pub mod edit;
#[cfg(any(feature = "docs", feature = "convert"))]
pub mod files;
#[cfg(feature = "docs")]
pub mod html;
#[cfg(feature = "docs")]
pub mod now;
#[cfg(feature = "docs")]
pub mod rank;
#[cfg(feature = "docs")]
pub mod read;
#[cfg(feature = "docs")]
pub mod schema;
#[cfg(feature = "worker")]
pub mod search;
#[cfg(any(feature = "worker", feature = "jq"))]
pub mod tabular;
#[cfg(feature = "docs")]
pub mod terms;
#[cfg(feature = "docs")]
pub mod words;

#[cfg(feature = "docs")]
pub use call::Index;
#[cfg(feature = "docs")]
pub use table::run;
pub use table::{Needs, ON_REQUEST, all, builtin, names, needs, safe_set};

/// Arguments of a tool call that passed its schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arguments {
    /// An object.
    pub value: Value,
    pub repaired: Repaired,
}

/// Whether the model's text had to be repaired to become an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repaired {
    No,
    Yes,
}

impl Arguments {
    /// For `ToolOutcome::Executed`: the arguments, if they had to be repaired.
    #[must_use]
    pub fn if_repaired(&self) -> Option<Value> {
        (self.repaired == Repaired::Yes).then(|| self.value.clone())
    }
}

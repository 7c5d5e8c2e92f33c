//! The built-in tools: their names and specs ([`table`]), their code, the checks of arguments. PURE -> engine, files.
//!
//! Only workers run tools and check arguments. What runs a session links no more than the table. A tool gets its files through
//! [`turnwise_files::Files`] and the time as data, and returns text. Deliberately absent: the final-result protocol and the truncation of long results (`engine`),
//! deadlines and crashes (`worker`), tools of the host page.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub mod folder;
pub mod path;
pub mod table;

pub mod arguments;
pub mod calculate;
mod call;
pub mod change;
pub mod diff;
pub mod edit;
pub mod encoded;
pub mod html;
mod large;
pub mod now;
pub mod rank;
pub mod read;
pub mod schema;
pub mod search;
pub mod tabular;
pub mod terms;
pub mod words;

pub use call::FileIndex;
pub use table::{Needs, ON_REQUEST, all, builtin, names, needs, run, run_basic, safe_set};

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

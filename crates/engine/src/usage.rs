//! Token usage.

use serde::{Deserialize, Serialize};

use super::ids::TokenCount;

/// Token usage of one reply. `input` includes `cached`, `output` includes `reasoning`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Usage {
    pub input: TokenCount,
    pub output: TokenCount,
    pub cached: TokenCount,
    pub reasoning: TokenCount,
    /// Whether the numbers are estimates because the provider reported none.
    pub estimated: bool,
}

impl Usage {
    /// Both together; estimated where one of them is.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        let sum = |a: TokenCount, b: TokenCount| TokenCount(a.0.saturating_add(b.0));
        Usage {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            cached: sum(self.cached, other.cached),
            reasoning: sum(self.reasoning, other.reasoning),
            estimated: self.estimated || other.estimated,
        }
    }
}

//! Newtypes for ids and units, and the ids of tool calls.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Milliseconds since the run started (`events[].at_ms`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(transparent)]
pub struct Millis(pub u64);

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(transparent)]
pub struct EpochMillis(pub u64);

/// Tokens as the provider counts them, or an estimate marked as such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(transparent)]
pub struct TokenCount(pub u64);

/// One LLM request of a run, counted from 1. Stale ids do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(transparent)]
pub struct RequestId(pub u32);

/// The bits above say which sub-agent a request or a timer belongs to; 0: the run itself.
const OWN_BITS: u32 = 20;

/// Requests that one run can number, and timers; the same for each of its sub-agents.
pub const MAX_OWN: u32 = (1 << OWN_BITS) - 1;

/// Sub-agents that one run can number.
pub const MAX_CHILDREN: u32 = (1 << (32 - OWN_BITS)) - 1;

impl RequestId {
    /// The `n`-th request of a sub-agent, or of the run itself (0).
    #[must_use]
    pub fn numbered(child: u32, n: u32) -> Self {
        RequestId(number(child, n))
    }

    /// Which sub-agent it belongs to; 0: the run itself.
    #[must_use]
    pub fn child(self) -> u32 {
        self.0 >> OWN_BITS
    }
}

impl TimerId {
    /// As [`RequestId::numbered`].
    #[must_use]
    pub fn numbered(child: u32, n: u32) -> Self {
        TimerId(number(child, n))
    }

    /// As [`RequestId::child`].
    #[must_use]
    pub fn child(self) -> u32 {
        self.0 >> OWN_BITS
    }
}

fn number(child: u32, n: u32) -> u32 {
    (child.min(MAX_CHILDREN) << OWN_BITS) | n.min(MAX_OWN)
}

/// One wait of a run. Stale ids do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(transparent)]
pub struct TimerId(pub u32);

/// Identity of the frozen part of the history: as long as it stays the same, the history only grew at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BaseId(pub u32);

/// A tool call's id, unique in the run, of `[A-Za-z0-9_-]` (tool-calls.md#tool-calls).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(schemars::JsonSchema, ts_rs::TS), schemars(extend("pattern" = "^[A-Za-z0-9_-]+$")))]
#[serde(transparent)]
pub struct CallId(pub String);

impl std::fmt::Display for CallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The prefix of the ids of sub-agents' calls.
const SUB: &str = "sub";

/// Assigns the ids of tool calls, each used once in the whole tree of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CallIds {
    /// The number of the sub-agent whose calls these are; 0: the run itself.
    child: u32,
    used: BTreeSet<CallId>,
    /// The ids of the conversation that only a model has: those that it gave, where the engine's are others.
    given: BTreeSet<String>,
}

impl CallIds {
    /// With the ids of a conversation that is carried over: the engine's, and those that only a model has.
    pub fn new(child: u32, used: impl Iterator<Item = CallId>, given: impl Iterator<Item = String>) -> Self {
        let mut ids = CallIds { child, used: BTreeSet::new(), given: BTreeSet::new() };
        // Not by `collect`, which sorts first: a sort is 3 KB of the agent's module.
        ids.used.extend(used);
        ids.given.extend(given);
        ids
    }

    /// The ids of a call of the model: the engine's, and the model's own if that is another one and no other call of the conversation
    /// has it.
    pub fn assign(&mut self, given: String, fresh: &str) -> (CallId, Option<String>) {
        let is_engines = self.used.contains(&CallId(given.clone()));
        let is_first = !given.is_empty() && !is_engines && self.given.insert(given.clone());
        let id = self.assign_given(&given, fresh);
        let wire_id = Some(given).filter(|given| is_first && id.0 != *given);
        (id, wire_id)
    }

    /// The id of a call that the engine makes.
    pub fn fresh(&mut self, fresh: &str) -> CallId {
        self.assign_given("", fresh)
    }

    /// The model's id if it is usable and not used yet, else `fresh`. Ids of a sub-agent contain its number.
    fn assign_given(&mut self, given: &str, fresh: &str) -> CallId {
        if self.child > 0 {
            return self.assign_own(&format!("{SUB}{}_{fresh}", self.child));
        }
        let usable = !given.is_empty()
            && given.len() <= 64
            && !given.starts_with(SUB)
            && given.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        let id = CallId(given.to_owned());
        if !usable || self.used.contains(&id) {
            return self.assign_own(fresh);
        }
        self.used.insert(id.clone());
        id
    }

    /// `wanted`, or with a suffix if it is used already.
    pub fn assign_own(&mut self, wanted: &str) -> CallId {
        let mut id = CallId(wanted.to_owned());
        let mut n = 1;
        while self.used.contains(&id) {
            n += 1;
            id = CallId(format!("{wanted}_{n}"));
        }
        self.used.insert(id.clone());
        id
    }
}

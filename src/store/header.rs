//! What the list of runs knows of one, without its events.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::Run;
use crate::trajectory::Summary;
use crate::view::{RailView, Source};

/// One stored run. JSON text in the database; what is missing there has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// UUIDv7: keys are in the order in which runs began.
    pub key: String,
    /// What the user calls it, where that is not its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Milliseconds since 1970: when it was last written.
    pub updated_ms: u64,
    /// Its last segment has ended.
    pub ended: bool,
    pub summary: Summary,
    /// Its line in the list. Kept loosely: where a later version draws it otherwise, the figures are enough.
    #[serde(default)]
    rail: Value,
}

impl Header {
    #[must_use]
    pub fn of(key: &str, name: Option<String>, run: &Run, updated_ms: u64) -> Self {
        let rail = serde_json::to_value(RailView::from(&Source::from(run))).unwrap_or(Value::Null);
        let (summary, ended) = (Summary::of_run(run), run.ending().is_some());
        Header { key: key.to_owned(), name, updated_ms, ended, summary, rail }
    }

    /// Its line in the list; one that was left open says so.
    #[must_use]
    pub fn rail(&self) -> RailView {
        let mut view = serde_json::from_value(self.rail.clone()).unwrap_or_else(|_| RailView::from(&self.summary));
        if let Some(name) = &self.name {
            view.title.clone_from(name);
        }
        view
    }
}

/// A new key. Keys made later sort later.
#[must_use]
pub(super) fn new_key(now_ms: u64) -> String {
    let (seconds, millis) = (now_ms / 1000, (now_ms % 1000) as u32);
    let at = uuid::Timestamp::from_unix(uuid::NoContext, seconds, millis * 1_000_000);
    uuid::Uuid::new_v7(at).to_string()
}

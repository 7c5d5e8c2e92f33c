//! The result of replaying a record, as text.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use turnwise_content::format::counted;
use turnwise_record::trajectory::{Mismatch, Trajectory, replay};

/// The number of characters shown of a long value.
const EXCERPT: usize = 200;

/// The result of running the engine again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayVerdict {
    pub exact: bool,
    /// `Replays exactly: 12 events, 5 requests, every hash matches.`
    pub words: String,
    pub difference: Option<FirstDifference>,
}

/// The first place where the record differs from the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstDifference {
    /// A JSON Pointer into the document.
    pub path: String,
    pub turn: Option<u32>,
    /// The recorded and the derived value: excerpts around the first difference.
    pub expected: String,
    pub actual: String,
}

/// Runs the engine again and compares everything.
#[must_use]
pub fn verdict(document: &Trajectory) -> ReplayVerdict {
    match replay(document) {
        Ok(_) => {
            let events = counted(document.events.len() as u64, "event");
            let requests = counted(u64::from(document.requests), "request");
            let text = format!("Replays exactly: {events}, {requests}, every hash matches.");
            ReplayVerdict { exact: true, words: text, difference: None }
        }
        Err(mismatch) => refused(&mismatch),
    }
}

fn refused(mismatch: &Mismatch) -> ReplayVerdict {
    let place = match mismatch.turn {
        Some(turn) => format!("The first difference is in turn {turn}"),
        None => "The first difference is outside the turns".to_owned(),
    };
    let why = match &mismatch.recorded_by {
        Some(version) => format!(" It was recorded by engine {version}, and replay is exact within one version."),
        None => " The record was changed after it was written, or it is damaged.".to_owned(),
    };
    let (expected, actual) = excerpts(&text(&mismatch.expected), &text(&mismatch.actual));
    ReplayVerdict {
        exact: false,
        words: format!("Does not replay. {place}, at {}.{why}", mismatch.path),
        difference: Some(FirstDifference { path: mismatch.path.clone(), turn: mismatch.turn, expected, actual }),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// Returns excerpts of both from shortly before the first character that differs.
fn excerpts(expected: &str, actual: &str) -> (String, String) {
    let same = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let from = if same > EXCERPT / 2 { same - EXCERPT / 4 } else { 0 };
    let cut = |text: &str| {
        let count = text.chars().count();
        let start = if from > 0 { "…" } else { "" };
        let end = if count > from + EXCERPT { "…" } else { "" };
        format!("{start}{}{end}", text.chars().skip(from).take(EXCERPT).collect::<String>())
    };
    (cut(expected), cut(actual))
}

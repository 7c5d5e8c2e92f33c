//! A record that is open in a worker: the questions of the page, and the record in parts, so that a page reads a long one
//! without a long task.

use serde::{Deserialize, Serialize};

use super::snapshot::{Snapshot, Subagent};
use turnwise_engine::{LogRecord, TraceRecord, TurnRecord};
use turnwise_record::trajectory::{RunSummary, Trajectory};

/// The approximate number of bytes of text in one part; a longer entry is sent alone.
const BUDGET: usize = 96 * 1024;
/// The size of an entry without its texts.
const ENTRY: usize = 400;

/// A question. The first is always [`RecordQuery::Open`]; answers are JSON. The types that are not here are in `view::replay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordQuery {
    /// Open the record whose text is sent along with this: `Result<Opened, Refused>`.
    Open,
    /// A part of the document: [`DocumentPart`].
    Part(Cursor),
    /// The steps from an index on: `Steps`.
    Steps { from: usize },
    /// The state of everything after a step: `StateAt`.
    State { step: usize },
    /// `RequestView`
    Request { index: usize },
    /// Some messages of a request, from one index up to but not including another: a list of `MessageView`.
    Messages { index: usize, from: usize, to: usize },
    /// One message in full: `MessageView`.
    Message { index: usize, at: usize },
    /// `Difference`
    Difference { index: usize },
    /// Whether the record replays: `Verdict`.
    Verify,
    /// The changes between two texts: a list of `Piece`. Needs no open record.
    Compare { before: String, after: String },
}

/// A record that was opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenedRecord {
    /// Without its turns, logs, traces and sub-agents: they follow in parts.
    pub head: Snapshot,
    pub summary: RunSummary,
    pub turns: usize,
    pub events: usize,
}

/// The reason a text was not opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenError {
    /// Not JSON.
    NotJson,
    /// JSON in another format.
    OtherFormat,
    /// A trajectory that cannot be read; a message for users says why.
    Unreadable(String),
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            OpenError::NotJson => "it is not JSON",
            OpenError::OtherFormat => "it is not a trajectory",
            OpenError::Unreadable(why) => why,
        })
    }
}

/// The position at which the next part begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    pub list: List,
    pub at: usize,
}

/// The lists of a document in the order in which they are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
    #[default]
    Turns,
    Logs,
    Traces,
    Children,
}

/// A part of a document's lists.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentPart {
    pub turns: Vec<TurnRecord>,
    pub logs: Vec<LogRecord>,
    pub traces: Vec<TraceRecord>,
    pub children: Vec<Subagent>,
    /// `None`: this was the last part.
    pub next: Option<Cursor>,
}

impl DocumentPart {
    /// Returns the part of a document that begins at a position.
    #[must_use]
    pub fn new(document: &Trajectory, from: Cursor) -> Self {
        let mut part = DocumentPart::default();
        let mut left = BUDGET;
        let mut cursor = from;
        loop {
            let (taken, of, next) = match cursor.list {
                List::Turns => (
                    take(&document.turns, cursor.at, &mut left, &mut part.turns, weigh, TurnRecord::clone),
                    document.turns.len(),
                    Some(List::Logs),
                ),
                List::Logs => {
                    let weigh = |log: &LogRecord| log.raw.as_ref().map_or(0, |raw| raw.text.len());
                    (
                        take(&document.logs, cursor.at, &mut left, &mut part.logs, weigh, LogRecord::clone),
                        document.logs.len(),
                        Some(List::Traces),
                    )
                }
                List::Traces => (
                    take(&document.traces, cursor.at, &mut left, &mut part.traces, |_| 0, TraceRecord::clone),
                    document.traces.len(),
                    Some(List::Children),
                ),
                List::Children => {
                    let weigh = |child: &Trajectory| child.turns.iter().map(|turn| self::weigh(turn) + ENTRY).sum();
                    let copy = |child: &Trajectory| Subagent::recorded(document, child);
                    (
                        take(&document.children, cursor.at, &mut left, &mut part.children, weigh, copy),
                        document.children.len(),
                        None,
                    )
                }
            };
            cursor.at += taken;
            if cursor.at < of {
                part.next = Some(cursor);
                return part;
            }
            match next {
                Some(list) => cursor = Cursor { list, at: 0 },
                None => return part,
            }
        }
    }

    /// Adds the part to a snapshot, and returns the position of the next part.
    pub fn join(self, snapshot: &mut Snapshot) -> Option<Cursor> {
        snapshot.turns.extend(self.turns);
        snapshot.logs.extend(self.logs);
        snapshot.traces.extend(self.traces);
        snapshot.children.extend(self.children);
        self.next
    }
}

/// Copies entries while there is room, but at least one if nothing was copied yet. Returns how many.
fn take<T, U>(
    all: &[T],
    at: usize,
    left: &mut usize,
    into: &mut Vec<U>,
    weigh: impl Fn(&T) -> usize,
    copy: impl Fn(&T) -> U,
) -> usize {
    let mut taken = 0;
    for entry in all.get(at..).unwrap_or_default() {
        let weight = weigh(entry) + ENTRY;
        if weight > *left && *left < BUDGET {
            *left = 0;
            break;
        }
        *left = left.saturating_sub(weight);
        into.push(copy(entry));
        taken += 1;
    }
    taken
}

fn weigh(turn: &TurnRecord) -> usize {
    let calls: usize = turn.tool_calls.iter().map(|call| call.result.as_ref().map_or(0, String::len) + ENTRY).sum();
    turn.content.len() + turn.reasoning.len() + calls + turn.attempts.len() * ENTRY
}

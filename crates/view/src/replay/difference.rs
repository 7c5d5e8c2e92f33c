//! The changes from one request to the next in the same line of work.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fold::Replay;
use super::marks::MarkedMessage;
use super::message::MessageView;
use super::request::choice;

/// One operation of those that turn the messages of the previous request into the messages of a request. `before` and `now`
/// are indices into the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// The same message in both.
    Same {
        before: usize,
    },
    Added {
        now: usize,
    },
    Removed {
        before: usize,
    },
    /// The same message with a different text: a result that the context guard removed.
    Changed {
        before: usize,
        now: usize,
    },
}

/// The difference, for display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// `Compared with request 3, turn 2`; `None`: it is the first in its line.
    pub against: Option<String>,
    /// `Messages: 12 the same, 3 added.`
    pub words: String,
    /// Other differences: name, before, now.
    pub facts: Vec<(String, String, String)>,
    pub entries: Vec<DifferenceEntry>,
}

/// One part of a difference, in the order of the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceEntry {
    /// A number of consecutive messages that are the same.
    Same(usize),
    Added(MessageView),
    Removed(MessageView),
    /// The message as it is now, and the changes in it.
    Changed(MessageView, Vec<ChangedText>),
}

/// A run of text with one kind of change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedText {
    pub kind: PieceKind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceKind {
    Same,
    Added,
    Removed,
    /// Unchanged text that is left out; `text` says how much.
    Gap,
}

/// The maximum number of characters of a message that a difference shows.
const SHOWN: usize = 1_500;

impl Replay {
    /// Returns the operations that turn the messages of the previous request in the line into the messages of this one. For the
    /// first request, all messages are added.
    #[must_use]
    pub fn operations(&self, index: usize) -> Vec<Op> {
        let now: Vec<&Arc<MarkedMessage>> = self.marked(index).collect();
        let previous = self.requests.get(index).and_then(|sent| sent.previous);
        let Some(previous) = previous else { return (0..now.len()).map(|now| Op::Added { now }).collect() };
        let before: Vec<&Arc<MarkedMessage>> = self.marked(previous).collect();
        let (frozen_before, frozen_now) = (self.frozen(previous), self.frozen(index));
        let mut ops = Vec::new();
        // A history only grows, or is sent again in full with some texts shortened in place.
        for at in 0..frozen_before.max(frozen_now) {
            let old = before.get(at).filter(|_| at < frozen_before);
            let new = now.get(at).filter(|_| at < frozen_now);
            ops.extend(match (old, new) {
                (Some(old), Some(new)) if same(old, new) => Some(Op::Same { before: at }),
                (Some(_), Some(_)) => Some(Op::Changed { before: at, now: at }),
                (Some(_), None) => Some(Op::Removed { before: at }),
                (None, Some(_)) => Some(Op::Added { now: at }),
                (None, None) => None,
            });
        }
        let mut left: Vec<usize> = (frozen_before..before.len()).collect();
        let mut tail = Vec::new();
        for (at, new) in now.iter().enumerate().skip(frozen_now) {
            let kept = left.iter().position(|old| before.get(*old).is_some_and(|old| same(old, new)));
            tail.push(match kept {
                Some(place) => Op::Same { before: left.remove(place) },
                None => Op::Added { now: at },
            });
        }
        ops.extend(left.into_iter().map(|before| Op::Removed { before }));
        ops.extend(tail);
        ops
    }

    /// Returns the difference for display; `pieces` computes the changes between two texts.
    pub fn difference(&self, index: usize, pieces: impl Fn(&str, &str) -> Vec<ChangedText>) -> Option<Difference> {
        let sent = self.requests.get(index)?;
        let before = sent.previous.and_then(|at| Some((at, self.requests.get(at)?)));
        let view = |request: usize, at: usize| self.views(request, at..at + 1, SHOWN).pop();
        let (mut entries, mut counts) = (Vec::new(), [0usize; 4]);
        for op in self.operations(index) {
            match op {
                Op::Same { .. } => {
                    counts[0] += 1;
                    match entries.last_mut() {
                        Some(DifferenceEntry::Same(count)) => *count += 1,
                        _ => entries.push(DifferenceEntry::Same(1)),
                    }
                }
                Op::Added { now } => {
                    counts[1] += 1;
                    entries.extend(view(index, now).map(DifferenceEntry::Added));
                }
                Op::Removed { before: at } => {
                    counts[2] += 1;
                    entries.extend(before.and_then(|(before, _)| view(before, at)).map(DifferenceEntry::Removed));
                }
                Op::Changed { before: at, now } => {
                    counts[3] += 1;
                    let whole = |request, at| self.whole_message(request, at).map(|view| view.content());
                    let old = before.and_then(|(before, _)| whole(before, at)).unwrap_or_default();
                    let new = whole(index, now).unwrap_or_default();
                    entries.extend(view(index, now).map(|view| DifferenceEntry::Changed(view, pieces(&old, &new))));
                }
            }
        }
        let against = before.map(|(at, before)| format!("Compared with request {}, turn {}.", at + 1, before.turn));
        Some(Difference {
            against,
            words: counts_text(&counts),
            facts: self.facts(index, before.map(|(at, _)| at)),
            entries,
        })
    }

    fn facts(&self, index: usize, before: Option<usize>) -> Vec<(String, String, String)> {
        let (Some(before), Some(now)) = (before.and_then(|at| self.requests.get(at)), self.requests.get(index)) else {
            return Vec::new();
        };
        let Some(line) = self.line_of(index) else { return Vec::new() };
        let model = |at: usize| line.config.providers.get(at).map(crate::provider::name).unwrap_or_default();
        let offered =
            |sent: &super::fold::SentRequest, at: usize| choice(sent.tools, &line.config, self.offered(at).len());
        let mut facts = Vec::new();
        if before.provider != now.provider {
            facts.push(("Model".to_owned(), model(before.provider), model(now.provider)));
        }
        if before.tools != now.tools {
            let old = now.previous.map(|at| offered(before, at)).unwrap_or_default();
            facts.push(("Tools".to_owned(), old, offered(now, index)));
        }
        if before.turn != now.turn {
            facts.push(("Turn".to_owned(), before.turn.to_string(), now.turn.to_string()));
        } else if before.attempt != now.attempt {
            facts.push(("Attempt".to_owned(), before.attempt.to_string(), now.attempt.to_string()));
        }
        facts
    }
}

fn same(old: &Arc<MarkedMessage>, new: &Arc<MarkedMessage>) -> bool {
    Arc::ptr_eq(old, new) || old.message == new.message
}

/// `Messages: 12 the same, 3 added.`
fn counts_text(counts: &[usize; 4]) -> String {
    let each = [(counts[0], "the same"), (counts[1], "added"), (counts[2], "removed"), (counts[3], "changed")];
    let mut text: Vec<String> =
        each.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if text.is_empty() {
        text.push("nothing".to_owned());
    }
    format!("Messages: {}.", text.join(", "))
}

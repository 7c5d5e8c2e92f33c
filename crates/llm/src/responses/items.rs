//! The output items of one reply: which event belongs to which item, and the order in which the items began.
//!
//! According to the format, `output_index` identifies the item. Servers differ: no index, one index for all, ids that
//! change from event to event, items that are never announced, missing deltas.

use serde_json::{Value, json};

use turnwise_engine::RawCall;
use turnwise_engine::caps::{MAX_CALLS, MAX_PARTS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemType {
    Message,
    Call,
    Reasoning,
}

impl ItemType {
    /// Other kinds (such as the server's own search) are ignored.
    pub fn of(item: &Value) -> Option<ItemType> {
        match text(item, "type") {
            "message" => Some(ItemType::Message),
            "function_call" => Some(ItemType::Call),
            "reasoning" => Some(ItemType::Reasoning),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct OutputItem {
    pub kind: ItemType,
    index: Option<u64>,
    id: String,
    /// Whether its end was announced.
    pub done: bool,
    /// For a message: its number of bytes in the reply's text. For reasoning: its number of bytes in the reasoning.
    pub bytes: usize,
    /// For a message: data that newer models need back along with its text.
    pub phase: Option<Value>,
    /// For a call.
    pub call: RawCall,
    /// For reasoning that can be sent back: the original item.
    pub whole: Option<Value>,
}

/// The items of one reply in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<OutputItem>,
    calls: usize,
    /// Whether a message continued after the next one had begun, so that the position of each text is no longer known.
    mixed: bool,
}

impl Items {
    pub fn get_mut(&mut self, at: usize) -> Option<&mut OutputItem> {
        self.items.get_mut(at)
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The number of calls among them.
    pub fn calls(&self) -> usize {
        self.calls
    }

    pub fn has(&self, kind: ItemType) -> bool {
        self.items.iter().any(|item| item.kind == kind)
    }

    pub fn keeps_reasoning(&self) -> bool {
        self.items.iter().any(|item| item.whole.is_some())
    }

    /// The item that a delta event adds to.
    pub fn of_delta(&mut self, kind: ItemType, event: &Value) -> usize {
        let (index, id) = (index(event), text(event, "item_id"));
        let last = self.last(kind, |item| index.is_none() || item.index.is_none() || kind == ItemType::Call);
        let found = self.find(kind, index, [id, ""]).or(last);
        self.at(found, kind, index, id)
    }

    /// The item that an event contains.
    pub fn of_item(&mut self, kind: ItemType, index: Option<u64>, item: &Value) -> usize {
        let (id, call_id) = (text(item, "id"), text(item, "call_id"));
        // A call is never mistaken for another one. Text may have arrived for which no item was announced.
        let last = match kind {
            ItemType::Call => None,
            _ => self.last(kind, |item| !item.done && (index.is_none() || item.index.is_none())),
        };
        let found = self.find(kind, index, [id, call_id]).or(last);
        self.at(found, kind, index, id)
    }

    /// Records that text of a message was added at the end of the reply's text.
    pub fn add_text(&mut self, at: usize, bytes: usize) {
        let later = self.items.iter().skip(at + 1);
        self.mixed |= later.filter(|item| item.kind == ItemType::Message).any(|item| item.bytes > 0);
        if let Some(item) = self.items.get_mut(at) {
            item.bytes += bytes;
        }
    }

    pub fn calls_mut(&mut self) -> impl Iterator<Item = &mut RawCall> {
        self.items.iter_mut().filter(|item| item.kind == ItemType::Call).map(|item| &mut item.call)
    }

    /// The data that must be sent back: the reasoning items and the positions of text and calls among them. `None` if
    /// the text and the calls alone are sufficient.
    pub fn kept(&self) -> Option<Value> {
        if !self.items.iter().any(|item| item.whole.is_some() || item.phase.is_some()) {
            return None;
        }
        let marks = self.items.iter().filter_map(|item| match item.kind {
            ItemType::Reasoning => item.whole.clone(),
            _ if self.mixed => None,
            ItemType::Call => Some(json!({ "call": true })),
            ItemType::Message if item.bytes == 0 => None,
            ItemType::Message => Some(match &item.phase {
                Some(phase) => json!({ "text": item.bytes, "phase": phase }),
                None => json!({ "text": item.bytes }),
            }),
        });
        Some(marks.collect())
    }

    fn find(&self, kind: ItemType, index: Option<u64>, ids: [&str; 2]) -> Option<usize> {
        let known = |own: &str| !own.is_empty() && ids.contains(&own);
        let by_id = || self.last(kind, |item| known(&item.id) || known(&item.call.id));
        let by_index = || self.last(kind, |item| index.is_some() && item.index == index);
        if kind != ItemType::Call {
            return by_index().or_else(by_id);
        }
        // A server that gives every item the same index still gives each call its own id.
        let [_, call_id] = ids;
        let other = |item: &OutputItem| !call_id.is_empty() && !item.call.id.is_empty() && item.call.id != call_id;
        by_id().or_else(|| by_index().filter(|at| self.items.get(*at).is_some_and(|item| !other(item))))
    }

    fn last(&self, kind: ItemType, fits: impl Fn(&OutputItem) -> bool) -> Option<usize> {
        self.items.iter().rposition(|item| item.kind == kind && fits(item))
    }

    fn at(&mut self, found: Option<usize>, kind: ItemType, index: Option<u64>, id: &str) -> usize {
        if let Some((at, item)) = found.and_then(|at| Some((at, self.items.get_mut(at)?))) {
            item.index = item.index.or(index);
            return at;
        }
        // Beyond a limit the reply has failed: no further items are told apart.
        if self.items.len() > MAX_PARTS || self.calls > MAX_CALLS {
            return self.items.len() - 1;
        }
        self.calls += usize::from(kind == ItemType::Call);
        self.items.push(OutputItem {
            kind,
            index,
            id: id.to_owned(),
            done: false,
            bytes: 0,
            phase: None,
            call: RawCall::default(),
            whole: None,
        });
        self.items.len() - 1
    }
}

/// The `output_index` of an event.
pub(super) fn index(event: &Value) -> Option<u64> {
    event.get("output_index").and_then(Value::as_u64)
}

/// The string in a field; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

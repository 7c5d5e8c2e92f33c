//! Assembles tool calls from their fragments.
//!
//! According to the format, an `index` identifies the call, its id and name arrive once, its arguments in pieces. Servers
//! differ: index 0 for every call, -1, no index, whole calls at once, empty or repeated ids, the name in every piece or in
//! pieces, `{}` before the arguments, a finished call sent again. Ids are kept as received, even empty and repeated ones: the
//! engine makes them unique.

use serde::de::IgnoredAny;
use serde_json::Value;

use turnwise_engine::RawCall;
use turnwise_engine::caps::{MAX_ARGUMENTS, MAX_CALLS};

use super::super::json::bytes;
use super::wire::CallDelta;
use crate::lenient::Number;

/// The calls of one reply, in the order in which they began. Beyond a limit no more are added.
#[derive(Debug, Default)]
pub(super) struct PartialCalls {
    slots: Vec<PartialCall>,
    /// Bytes of ids, names and arguments.
    bytes: usize,
}

#[derive(Debug, Default)]
struct PartialCall {
    index: Number,
    call: RawCall,
    extra: Value,
    extent: ArgumentsExtent,
}

/// The progress of a call's arguments, as one JSON object.
#[derive(Debug, Default)]
struct ArgumentsExtent {
    depth: u32,
    in_string: bool,
    escaped: bool,
    state: CallsState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CallsState {
    #[default]
    Open,
    Whole,
    /// Not an object, or followed by something else.
    Never,
}

enum CallKey {
    New,
    /// A further piece of this call.
    Slot(usize),
    /// Identical to what is already there.
    Repeated,
}

impl PartialCalls {
    /// Adds the fragments of one chunk.
    pub fn add(&mut self, fragments: &[CallDelta<'_>]) {
        // A chunk never splits one call in two, so a second name for the same call in one chunk is another call.
        let before = self.slots.len();
        for fragment in fragments {
            if self.slots.len() > MAX_CALLS || self.bytes > MAX_ARGUMENTS {
                return;
            }
            if fragment.is_empty() {
                continue;
            }
            match self.place(fragment, before) {
                CallKey::New => {
                    let mut slot = PartialCall { index: fragment.index, ..PartialCall::default() };
                    self.bytes += slot.add(fragment);
                    self.slots.push(slot);
                }
                CallKey::Slot(at) => {
                    if let Some(slot) = self.slots.get_mut(at) {
                        self.bytes += slot.add(fragment);
                    }
                }
                CallKey::Repeated => {}
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Bytes of ids, names and arguments.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What has to go back with each call, `null` where that is nothing; empty if it is nothing for any.
    pub fn extras(&self) -> Vec<Value> {
        let any = self.slots.iter().any(|slot| !slot.extra.is_null());
        self.slots.iter().filter(|_| any).map(|slot| slot.extra.clone()).collect()
    }

    pub fn finish(self) -> Vec<RawCall> {
        self.slots.into_iter().map(|slot| slot.call).collect()
    }

    fn place(&self, fragment: &CallDelta<'_>, before: usize) -> CallKey {
        let (id, name, arguments) = (&*fragment.id.0, fragment.name(), fragment.arguments());
        let found = match fragment.index.0 {
            Some(_) => self.slots.iter().rposition(|slot| slot.index == fragment.index),
            None if id.is_empty() => self.slots.len().checked_sub(1),
            None => self.slots.iter().rposition(|slot| slot.call.id == id),
        };
        let Some((at, slot)) = found.and_then(|at| Some((at, self.slots.get(at)?))) else { return CallKey::New };
        // Without a name it can only continue the same call, whatever its id: some servers create an id per piece.
        if name.is_empty() || slot.call.name.is_empty() {
            return CallKey::Slot(at);
        }
        let other_id = !id.is_empty() && !slot.call.id.is_empty() && id != slot.call.id;
        let same_id = !id.is_empty() && id == slot.call.id;
        if other_id || at >= before {
            return CallKey::New;
        }
        if name != slot.call.name {
            // The next piece of a name, before any arguments.
            let has_none = slot.call.arguments.is_empty() && arguments.is_empty();
            let is_piece = has_none && (same_id || id.is_empty() && fragment.index.0.is_some());
            return if is_piece { CallKey::Slot(at) } else { CallKey::New };
        }
        if same_id && slot.has_placeholder() {
            return CallKey::Slot(at);
        }
        if slot.extent.state != CallsState::Whole || arguments.is_empty() {
            return CallKey::Slot(at);
        }
        if !id.is_empty() && arguments == slot.call.arguments { CallKey::Repeated } else { CallKey::New }
    }
}

impl PartialCall {
    /// Whether its arguments are `{}`, which some servers send before the real ones.
    fn has_placeholder(&self) -> bool {
        self.extent.state == CallsState::Whole && self.call.arguments.trim() == "{}"
    }

    /// Adds a fragment; returns the number of bytes added.
    fn add(&mut self, fragment: &CallDelta<'_>) -> usize {
        let is_placeholder = self.has_placeholder();
        let mut extra_bytes = 0;
        if self.extra.is_null() && !fragment.extra_content.is_null() {
            self.extra.clone_from(&fragment.extra_content);
            extra_bytes = bytes(&self.extra);
        }
        let RawCall { id, name, arguments } = &mut self.call;
        let before = id.len() + name.len();
        if id.is_empty() {
            id.push_str(&fragment.id.0);
        }
        let more = fragment.name();
        if name.is_empty() || (arguments.is_empty() && more.starts_with(&**name)) {
            // The first piece, even after arguments, or the name so far.
            more.clone_into(name);
        } else if arguments.is_empty() && fragment.arguments().is_empty() {
            name.push_str(more);
        }
        let piece = fragment.arguments();
        if self.extent.state == CallsState::Whole && piece.trim() == arguments.trim() {
            // The whole arguments once more.
            return extra_bytes + self.call.id.len() + self.call.name.len() - before;
        }
        if is_placeholder && piece.trim_start().starts_with('{') {
            arguments.clear();
            self.extent = ArgumentsExtent::default();
        }
        arguments.push_str(piece);
        if self.extent.closes(piece) {
            let whole = serde_json::from_str::<IgnoredAny>(arguments).is_ok();
            self.extent.state = if whole { CallsState::Whole } else { CallsState::Never };
        }
        extra_bytes + self.call.id.len() + self.call.name.len() - before + piece.len()
    }
}

impl ArgumentsExtent {
    /// Takes the next piece; returns whether it closes the object. Each byte is examined once, so the arguments are
    /// parsed once, however many pieces they arrive in.
    fn closes(&mut self, piece: &str) -> bool {
        let mut closed = false;
        for byte in piece.bytes() {
            let blank = byte.is_ascii_whitespace();
            if (closed || self.state == CallsState::Whole) && !blank {
                self.state = CallsState::Never;
            }
            match self.state {
                CallsState::Open => {}
                CallsState::Whole => continue,
                CallsState::Never => return false,
            }
            if self.in_string {
                self.in_string = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'{' => self.depth += 1,
                _ if self.depth == 0 && !blank => self.state = CallsState::Never,
                b'"' => self.in_string = true,
                b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    closed = self.depth == 0;
                }
                _ => {}
            }
        }
        closed
    }
}

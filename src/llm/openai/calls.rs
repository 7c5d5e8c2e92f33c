//! Tool calls out of their fragments.
//!
//! The format says: an `index` names the call, its id and name come once, its arguments in pieces. Servers differ:
//! index 0 for every call, no index, whole calls at once, ids empty or repeated, the name in every piece, a finished
//! call sent again. Ids are kept as they came, empty and repeated ones too: the engine answers for unique ones.

use serde::de::IgnoredAny;

use crate::engine::RawCall;

use super::wire::CallDelta;

/// The calls of one reply, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Slot>);

#[derive(Debug)]
struct Slot {
    index: Option<u64>,
    call: RawCall,
}

enum Place {
    New,
    /// More of this call.
    Slot(usize),
    /// Word for word what is there already.
    Repeated,
}

impl Calls {
    /// The fragments of one chunk.
    pub fn add(&mut self, fragments: &[CallDelta<'_>]) {
        // A chunk never cuts one call in two, so a second name for the same call in one chunk is another call.
        let before = self.0.len();
        for fragment in fragments {
            match self.place(fragment, before) {
                Place::New => self.0.push(Slot {
                    index: fragment.index,
                    call: RawCall {
                        id: fragment.id.0.to_string(),
                        name: fragment.name().to_owned(),
                        arguments: fragment.arguments().to_owned(),
                    },
                }),
                Place::Slot(at) => {
                    if let Some(Slot { call, .. }) = self.0.get_mut(at) {
                        if call.id.is_empty() {
                            call.id.push_str(&fragment.id.0);
                        }
                        if call.name.is_empty() {
                            call.name.push_str(fragment.name());
                        }
                        call.arguments.push_str(fragment.arguments());
                    }
                }
                Place::Repeated => {}
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn finish(self) -> Vec<RawCall> {
        self.0.into_iter().map(|slot| slot.call).collect()
    }

    fn place(&self, fragment: &CallDelta<'_>, before: usize) -> Place {
        let (id, name, arguments) = (&*fragment.id.0, fragment.name(), fragment.arguments());
        let found = match fragment.index {
            Some(_) => self.0.iter().rposition(|slot| slot.index == fragment.index),
            None if id.is_empty() => self.0.len().checked_sub(1),
            None => self.0.iter().rposition(|slot| slot.call.id == id),
        };
        let Some((at, slot)) = found.and_then(|at| Some((at, self.0.get(at)?))) else { return Place::New };
        // Without a name it can only be more of the same, whatever its id says: some servers make one a piece.
        if name.is_empty() || slot.call.name.is_empty() {
            return Place::Slot(at);
        }
        let other_id = !id.is_empty() && !slot.call.id.is_empty() && id != slot.call.id;
        if other_id || at >= before || name != slot.call.name {
            return Place::New;
        }
        if !is_whole(&slot.call.arguments) || arguments.is_empty() {
            return Place::Slot(at);
        }
        if !id.is_empty() && arguments == slot.call.arguments { Place::Repeated } else { Place::New }
    }
}

fn is_whole(arguments: &str) -> bool {
    arguments.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

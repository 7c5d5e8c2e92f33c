//! The settings in a request's body: the run's own, and those that `provider_options` adds or replaces.

use serde_json::{Map, Value};

use turnwise_engine::ProviderConfig;

use super::json::{field, raw, write};

/// The fields that a writer sets itself, in any of the formats: the conversation, the tools, and how the response is sent.
const OWN: &[&str] = &[
    "model",
    "messages",
    "input",
    "contents",
    "system",
    "systemInstruction",
    "system_instruction",
    "tools",
    "tool_choice",
    "toolConfig",
    "tool_config",
    "stream",
    "stream_options",
];

/// The fields that a provider's configuration adds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options<'a>(Option<&'a Map<String, Value>>);

impl<'a> Options<'a> {
    pub fn of(p: &'a ProviderConfig) -> Self {
        Options(p.provider_options.as_ref().and_then(Value::as_object))
    }

    pub fn get(self, key: &str) -> Option<&'a Value> {
        self.0?.get(key).filter(|_| !OWN.contains(&key))
    }

    /// Begins a setting of the run; `false` if another replaces it. Each setting starts with its comma.
    pub fn begin(self, key: &str, out: &mut Vec<u8>) -> bool {
        let free = self.get(key).is_none();
        if free {
            raw(out, ",\"");
            raw(out, key);
            raw(out, "\":");
        }
        free
    }

    /// Writes a setting of the run, unless it is absent, is a number that JSON does not have, or another replaces it.
    pub fn set(self, key: &str, value: Option<impl Into<Value>>, out: &mut Vec<u8>) {
        let value = value.map_or(Value::Null, Into::into);
        if !value.is_null() && self.begin(key, out) {
            write(out, &value);
        }
    }

    /// Writes all added settings. They are the same in every request, so they precede the conversation.
    pub fn write(self, out: &mut Vec<u8>) {
        for (key, value) in self.0.into_iter().flatten().filter(|(key, _)| !OWN.contains(&key.as_str())) {
            field(out, key, value);
        }
    }
}

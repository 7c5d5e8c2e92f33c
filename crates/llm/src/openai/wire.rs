//! The chunks as received, borrowed from the bytes; unknown fields are ignored.
//!
//! Its values are lenient (`lenient.rs`).

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::lenient::{Many, Number, Object, WireText, missing_if};

/// One chunk of a stream, or a complete response.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CompletionChunk<'a> {
    #[serde(borrow)]
    pub id: WireText<'a>,
    #[serde(borrow)]
    pub object: WireText<'a>,
    #[serde(borrow)]
    pub model: WireText<'a>,
    /// One reply is asked for, so all of them are parts of it.
    #[serde(borrow)]
    pub choices: Many<ReplyChoice<'a>>,
    pub usage: Object<WireUsage>,
    /// Groq.
    pub x_groq: Object<OtherUsage>,
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReplyChoice<'a> {
    pub index: Number,
    #[serde(borrow)]
    pub delta: Object<MessageFields<'a>>,
    /// Set if the response was not streamed.
    #[serde(borrow)]
    pub message: Object<MessageFields<'a>>,
    #[serde(borrow)]
    pub finish_reason: WireText<'a>,
    /// OpenRouter: the error that ended this choice.
    pub error: Option<Value>,
    /// Moonshot.
    pub usage: Object<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OtherUsage {
    pub usage: Object<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageFields<'a> {
    #[serde(borrow)]
    pub content: MessageContent<'a>,
    #[serde(borrow)]
    pub refusal: WireText<'a>,
    /// llama.cpp, DeepSeek, vLLM.
    #[serde(borrow)]
    pub reasoning_content: ThoughtText<'a>,
    /// OpenRouter, Ollama; some servers send both.
    #[serde(borrow)]
    pub reasoning: ThoughtText<'a>,
    /// OpenRouter: to be sent back with the results of the calls. An array, or something odd.
    pub reasoning_details: Value,
    #[serde(borrow)]
    pub tool_calls: Many<CallDelta<'a>>,
}

impl<'a> ReplyChoice<'a> {
    pub fn into_calls(self) -> Vec<CallDelta<'a>> {
        self.delta.0.or(self.message.0).map(|body| body.tool_calls.0).unwrap_or_default()
    }
}

impl MessageFields<'_> {
    pub fn details(&self) -> &[Value] {
        self.reasoning_details.as_array().map_or(&[], Vec::as_slice)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallDelta<'a> {
    pub index: Number,
    #[serde(borrow)]
    pub id: WireText<'a>,
    #[serde(borrow)]
    pub function: Object<Function<'a>>,
    /// Gemini: a signature, to be sent back with the call.
    pub extra_content: Value,
}

impl CallDelta<'_> {
    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty() && self.index.0.is_none() && self.name().is_empty() && self.arguments().is_empty()
    }

    pub fn name(&self) -> &str {
        self.function.0.as_ref().map_or("", |function| &function.name.0)
    }

    pub fn arguments(&self) -> &str {
        self.function.0.as_ref().map_or("", |function| &function.arguments.0)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub name: WireText<'a>,
    #[serde(borrow)]
    pub arguments: WireText<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    pub prompt_tokens: Number,
    pub completion_tokens: Number,
    pub prompt_tokens_details: Object<PromptDetails>,
    pub completion_tokens_details: Object<CompletionDetails>,
    /// DeepSeek.
    pub prompt_cache_hit_tokens: Number,
    /// Moonshot.
    pub cached_tokens: Number,
    /// Mistral.
    pub num_cached_tokens: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PromptDetails {
    pub cached_tokens: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CompletionDetails {
    pub reasoning_tokens: Number,
}

/// The text of a message, and the thoughts that some servers put among its parts.
#[derive(Debug, Default)]
pub(super) struct MessageContent<'a> {
    pub text: WireText<'a>,
    /// Magistral: parts of the type `thinking`.
    pub thoughts: String,
}

/// The thoughts of a message: a text, or parts with texts (openclaw#67203).
#[derive(Debug, Default)]
pub(super) struct ThoughtText<'a>(pub WireText<'a>);

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = MessageContent<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or an array of parts")
    }

    missing_if!(MessageContent::default(); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));

    fn visit_unit<E: Error>(self) -> Result<MessageContent<'de>, E> {
        Ok(MessageContent::default())
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<MessageContent<'de>, E> {
        Ok(MessageContent { text: WireText(Cow::Borrowed(text)), thoughts: String::new() })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<MessageContent<'de>, E> {
        Ok(MessageContent { text: WireText(Cow::Owned(text.to_owned())), thoughts: String::new() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<MessageContent<'de>, A::Error> {
        let (mut text, mut thoughts) = (String::new(), String::new());
        while let Some(part) = parts.next_element::<Value>()? {
            match part.get("type").and_then(Value::as_str) {
                Some("thinking" | "reasoning") => add_thoughts(&mut thoughts, &part),
                _ => add_texts(&mut text, Some(&part)),
            }
        }
        Ok(MessageContent { text: WireText(Cow::Owned(text)), thoughts })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MessageContent<'de>, A::Error> {
        let part = Value::deserialize(MapAccessDeserializer::new(map))?;
        let mut text = String::new();
        add_texts(&mut text, Some(&part));
        Ok(MessageContent { text: WireText(Cow::Owned(text)), thoughts: String::new() })
    }
}

/// Adds a text, the text of a part, or those of an array of them.
fn add_texts(to: &mut String, part: Option<&Value>) {
    match part {
        Some(Value::String(text)) => to.push_str(text),
        Some(Value::Object(part)) => to.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default()),
        Some(Value::Array(parts)) => parts.iter().for_each(|part| add_texts(to, Some(part))),
        _ => {}
    }
}

/// Adds the thoughts of a text, a part, or an array of them.
fn add_thoughts(to: &mut String, part: &Value) {
    match part {
        Value::String(text) => to.push_str(text),
        Value::Array(parts) => parts.iter().for_each(|part| add_thoughts(to, part)),
        Value::Object(part) => {
            let named = ["thinking", "reasoning", "text", "content"].iter().find_map(|name| part.get(*name));
            named.into_iter().for_each(|part| add_thoughts(to, part));
        }
        _ => {}
    }
}

struct ThoughtsVisitor;

impl<'de> Visitor<'de> for ThoughtsVisitor {
    type Value = ThoughtText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or an array of parts")
    }

    missing_if!(ThoughtText::default(); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));

    fn visit_unit<E: Error>(self) -> Result<ThoughtText<'de>, E> {
        Ok(ThoughtText::default())
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<ThoughtText<'de>, E> {
        Ok(ThoughtText(WireText(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ThoughtText<'de>, E> {
        Ok(ThoughtText(WireText(Cow::Owned(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<ThoughtText<'de>, A::Error> {
        let mut text = String::new();
        while let Some(part) = parts.next_element::<Value>()? {
            add_thoughts(&mut text, &part);
        }
        Ok(ThoughtText(WireText(Cow::Owned(text))))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ThoughtText<'de>, A::Error> {
        let mut text = String::new();
        add_thoughts(&mut text, &Value::deserialize(MapAccessDeserializer::new(map))?);
        Ok(ThoughtText(WireText(Cow::Owned(text))))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ThoughtText<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ThoughtsVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for MessageContent<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ContentVisitor)
    }
}

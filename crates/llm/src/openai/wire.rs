//! The chunks as received, borrowed from the bytes; unknown fields are ignored.
//!
//! Lenient on purpose where servers differ and nothing is lost: a value of an unexpected type is read as missing, numbers may be
//! texts, texts arrays of parts, arguments objects. One odd field must not cost the reply.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

/// An object; anything else is read as missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<T>(pub Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Object(None)
    }
}

/// An array of objects, or one object without an array; anything else is read as missing.
#[derive(Debug)]
pub(crate) struct Many<T>(pub Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Many(Vec::new())
    }
}

/// A number, also as a text; anything else is read as missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Number(pub Option<f64>);

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

/// A text, borrowed from the bytes if it has no escapes. `null` and missing values are empty, parts are joined, an
/// object becomes its JSON.
#[derive(Debug, Default)]
pub(crate) struct WireText<'a>(pub Cow<'a, str>);

impl WireText<'_> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads what has an unexpected type as missing.
macro_rules! missing_if {
    ($missing:expr; $($visit:ident($of:ty)),+) => {
        $(fn $visit<E: Error>(self, _: $of) -> Result<Self::Value, E> {
            Ok($missing)
        })+
    };
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = WireText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<WireText<'de>, E> {
        Ok(WireText(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<WireText<'de>, E> {
        Ok(WireText(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<WireText<'de>, E> {
        Ok(WireText::default())
    }

    missing_if!(WireText::default(); visit_bool(bool));

    fn visit_u64<E: Error>(self, number: u64) -> Result<WireText<'de>, E> {
        Ok(WireText(Cow::Owned(number.to_string())))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<WireText<'de>, E> {
        Ok(WireText(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<WireText<'de>, E> {
        Ok(WireText(Cow::Owned(number.to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<WireText<'de>, A::Error> {
        let mut text = String::new();
        while let Some(part) = parts.next_element::<Value>()? {
            text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
        }
        Ok(WireText(Cow::Owned(text)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WireText<'de>, A::Error> {
        let object = Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(WireText(Cow::Owned(object.to_string())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for WireText<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(TextVisitor)
    }
}

/// Skips the rest of an array.
fn skip<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    missing_if!(Object(None); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

    fn visit_unit<E: Error>(self) -> Result<Object<T>, E> {
        Ok(Object(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Object<T>, A::Error> {
        skip(list).map(|()| Object(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Object(Some(value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    missing_if!(Number(None); visit_bool(bool));

    fn visit_unit<E: Error>(self) -> Result<Number, E> {
        Ok(Number(None))
    }

    #[allow(clippy::cast_precision_loss)] // counts and places are far below 2^53
    fn visit_i64<E: Error>(self, number: i64) -> Result<Number, E> {
        Ok(Number(Some(number as f64)))
    }

    #[allow(clippy::cast_precision_loss)]
    fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
        Ok(Number(Some(number as f64)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Number, E> {
        Ok(Number(Some(number)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        Ok(Number(text.trim().parse().ok()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Number, A::Error> {
        skip(list).map(|()| Number(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Number, A::Error> {
        IgnoredAny::deserialize(MapAccessDeserializer::new(map)).map(|_| Number(None))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(NumberVisitor)
    }
}

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

struct ManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ManyVisitor<T> {
    type Value = Many<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    missing_if!(Many::default(); visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));

    fn visit_unit<E: Error>(self) -> Result<Many<T>, E> {
        Ok(Many::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Many<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element::<Object<T>>()? {
            all.extend(one.0);
        }
        Ok(Many(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Many<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|one| Many(vec![one]))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ManyVisitor(PhantomData))
    }
}

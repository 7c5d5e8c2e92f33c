//! The chunks as received, borrowed from the bytes; unknown fields are ignored.
//!
//! Lenient on purpose where servers differ: `null` for missing values, texts as arrays of parts, arguments as objects.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// One chunk of a stream, or a complete response.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub object: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub choices: FirstChoice<'a>,
    pub usage: Option<WireUsage>,
    pub error: Option<Value>,
}

/// The choice with index 0; more are never requested.
#[derive(Debug, Default)]
pub(super) struct FirstChoice<'a>(pub Option<Choice<'a>>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    pub index: Option<u64>,
    #[serde(borrow)]
    pub delta: Option<Body<'a>>,
    /// Set if the response was not streamed.
    #[serde(borrow)]
    pub message: Option<Body<'a>>,
    #[serde(borrow)]
    pub finish_reason: Text<'a>,
    /// OpenRouter: the error that ended this choice.
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Body<'a> {
    #[serde(borrow)]
    pub content: Text<'a>,
    #[serde(borrow)]
    pub refusal: Text<'a>,
    /// llama.cpp, DeepSeek, vLLM.
    #[serde(borrow)]
    pub reasoning_content: Text<'a>,
    /// OpenRouter, Ollama; some servers send both.
    #[serde(borrow)]
    pub reasoning: Text<'a>,
    /// OpenRouter: to be sent back with the results of the calls.
    pub reasoning_details: Option<Vec<Value>>,
    #[serde(borrow)]
    pub tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallDelta<'a> {
    pub index: Option<u64>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub function: Option<Function<'a>>,
}

impl CallDelta<'_> {
    pub fn name(&self) -> &str {
        self.function.as_ref().map_or("", |function| &function.name.0)
    }

    pub fn arguments(&self) -> &str {
        self.function.as_ref().map_or("", |function| &function.arguments.0)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub arguments: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    pub prompt_tokens: Option<f64>,
    pub completion_tokens: Option<f64>,
    pub prompt_tokens_details: Option<PromptDetails>,
    pub completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek.
    pub prompt_cache_hit_tokens: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PromptDetails {
    pub cached_tokens: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CompletionDetails {
    pub reasoning_tokens: Option<f64>,
}

/// A text, borrowed from the bytes if it has no escapes. `null` and missing values are empty, parts are joined, an
/// object becomes its JSON.
#[derive(Debug, Default)]
pub(in crate::llm) struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Text<'de>, E> {
        Ok(Text::default())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Text<'de>, A::Error> {
        let mut text = String::new();
        while let Some(part) = parts.next_element::<Value>()? {
            text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
        }
        Ok(Text(Cow::Owned(text)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Text<'de>, A::Error> {
        let object = Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Text(Cow::Owned(object.to_string())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(TextVisitor)
    }
}

struct FirstChoiceVisitor;

impl<'de> Visitor<'de> for FirstChoiceVisitor {
    type Value = FirstChoice<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of choices")
    }

    fn visit_unit<E: Error>(self) -> Result<FirstChoice<'de>, E> {
        Ok(FirstChoice(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut choices: A) -> Result<FirstChoice<'de>, A::Error> {
        let mut first = None;
        while let Some(choice) = choices.next_element::<Choice<'de>>()? {
            if choice.index.unwrap_or(0) == 0 && first.is_none() {
                first = Some(choice);
            }
        }
        Ok(FirstChoice(first))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for FirstChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(FirstChoiceVisitor)
    }
}

//! Values of a service as they come: what has an unexpected type is read as missing, numbers may be texts, and texts arrays of parts.
//!
//! Lenient on purpose where services differ and nothing is lost. One odd field must not cost the reply.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

pub(crate) use missing_if;

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

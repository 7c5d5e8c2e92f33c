//! The message to a model about an invalid value: what was found, and what would be valid.

use serde_json::{Number, Value};

use super::rule::{BoundEnd, BoundSide, Countable, Type};

/// Maximum number of characters shown of a value.
const MAX_SHOWN: usize = 200;
/// Maximum number of `enum` values, and of members, that are named.
const MAX_NAMED: usize = 20;

/// A value as JSON, truncated if it is long.
pub fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

pub fn quoted(text: &str) -> String {
    shown(&Value::from(text))
}

/// A property's name as a part of a JSON Pointer.
pub fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

pub fn types(value: &Value, types: &[Type]) -> String {
    let names: Vec<String> = types.iter().map(|one| format!("\"{}\"", one.name())).collect();
    format!("{} is not of type{} {}", shown(value), if names.len() > 1 { "s" } else { "" }, names.join(", "))
}

pub fn one_of(value: &Value, values: &[Value]) -> String {
    let mut named: Vec<String> = values.iter().take(MAX_NAMED).map(shown).collect();
    let last = match values.len() - named.len() {
        0 => named.pop(),
        more => Some(format!("{more} others")),
    };
    let last = last.unwrap_or_else(|| "anything".to_owned());
    let or = if named.is_empty() { "" } else { " or " };
    format!("{} is not one of {}{or}{last}", shown(value), named.join(", "))
}

pub fn bound(value: &Value, side: BoundSide, limit: &Number) -> String {
    let than = match side {
        BoundSide::Minimum => "less than the minimum of",
        BoundSide::Maximum => "greater than the maximum of",
        BoundSide::ExclusiveMinimum => "less than or equal to the exclusive minimum of",
        BoundSide::ExclusiveMaximum => "greater than or equal to the exclusive maximum of",
    };
    format!("{} is {than} {limit}", shown(value))
}

pub fn size(value: &Value, countable: Countable, end: BoundEnd, limit: u64) -> String {
    let than = match (countable, end) {
        (Countable::Characters, BoundEnd::Least) => "is shorter than",
        (Countable::Characters, BoundEnd::Most) => "is longer than",
        (_, BoundEnd::Least) => "has less than",
        (_, BoundEnd::Most) => "has more than",
    };
    let what = match (countable, limit) {
        (Countable::Characters, 1) => "character",
        (Countable::Characters, _) => "characters",
        (Countable::Items, 1) => "item",
        (Countable::Items, _) => "items",
        (Countable::Properties, 1) => "property",
        (Countable::Properties, _) => "properties",
    };
    format!("{} {than} {limit} {what}", shown(value))
}

/// The message about members that no schema allows; `kind` describes them.
pub fn unexpected(kind: &str, members: &[String]) -> String {
    let were = if members.len() == 1 { "was" } else { "were" };
    let named: Vec<String> = members.iter().take(MAX_NAMED).map(|member| format!("'{member}'")).collect();
    let more = match members.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{kind} are not allowed ({}{more} {were} unexpected)", named.join(", "))
}

pub fn contains(value: &Value, fitting: u64, end: &str, limit: u64) -> String {
    format!("{fitting} of the items of {} fit the schema of 'contains', not at {end} {limit}", shown(value))
}

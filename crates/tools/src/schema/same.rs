//! Converts values to texts that are the same if the values are equal in JSON Schema: `1` and `1.0`, objects regardless
//! of the order of their members. Looking up such texts avoids comparing every pair for `uniqueItems` and long `enum`s.

use serde_json::Value;

use super::number::Amount;

pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Strings are preceded by their length, so none can be mistaken for something else.
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push('n'),
        Value::Bool(true) => out.push('t'),
        Value::Bool(false) => out.push('f'),
        Value::Number(number) => out.push_str(&match Amount::from_number(number) {
            Amount::Whole(whole) => format!("{whole},"),
            Amount::Other(float) => format!("{float:e},"),
        }),
        Value::String(string) => counted(string, out),
        Value::Array(items) => {
            out.push('[');
            items.iter().for_each(|item| write(item, out));
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            out.push('{');
            for (name, member) in members {
                counted(name, out);
                write(member, out);
            }
            out.push('}');
        }
    }
}

fn counted(string: &str, out: &mut String) {
    out.push('"');
    out.push_str(&string.len().to_string());
    out.push(':');
    out.push_str(string);
}

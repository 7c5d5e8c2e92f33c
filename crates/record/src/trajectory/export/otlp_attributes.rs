//! Attributes and ids of OTLP/JSON: camelCase, hex ids, 64-bit integers as strings.

use serde_json::{Value, json};

use turnwise_engine::digest::sha256_hex;

/// A list of attributes that omits missing values.
#[derive(Debug, Default)]
pub struct Attributes(Vec<Value>);

impl Attributes {
    pub fn text(self, key: &str, text: &str) -> Self {
        if text.is_empty() { self } else { self.push(key, &json!({ "stringValue": text })) }
    }

    pub fn number(self, key: &str, number: u64) -> Self {
        self.push(key, &json!({ "intValue": number.to_string() }))
    }

    pub fn real(self, key: &str, number: Option<f64>) -> Self {
        match number {
            Some(number) => self.push(key, &json!({ "doubleValue": number })),
            None => self,
        }
    }

    pub fn truth(self, key: &str, truth: bool) -> Self {
        self.push(key, &json!({ "boolValue": truth }))
    }

    pub fn texts<'a>(self, key: &str, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let values: Vec<Value> = texts.into_iter().map(|text| json!({ "stringValue": text })).collect();
        if values.is_empty() { self } else { self.push(key, &json!({ "arrayValue": { "values": values } })) }
    }

    /// Adds structured content as JSON text, as the conventions require on spans.
    pub fn structured(self, key: &str, value: &Value) -> Self {
        let nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if nothing { self } else { self.text(key, &value.to_string()) }
    }

    fn push(mut self, key: &str, value: &Value) -> Self {
        self.0.push(json!({ "key": key, "value": value }));
        self
    }
}

impl From<Attributes> for Value {
    fn from(attributes: Attributes) -> Self {
        attributes.0.into()
    }
}

/// Returns 16 bytes in hex, always the same for the same run.
pub fn trace_id(run_id: &str) -> String {
    hex(run_id, 16)
}

/// Returns 8 bytes in hex, always the same for the same place in the same run.
pub fn span_id(run_id: &str, place: &str) -> String {
    hex(&format!("{run_id}/{place}"), 8)
}

fn hex(text: &str, bytes: usize) -> String {
    let mut hex = sha256_hex(&[text.as_bytes()]);
    hex.truncate(bytes * 2);
    hex
}

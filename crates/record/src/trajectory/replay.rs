//! Replay: the document alone drives the same engine through the same states, with no key and no network.

use serde::Serialize;
use serde_json::Value;

use super::document::{ENGINE_VERSION, Trajectory};
use super::{RecordedEvent, Recorder};

/// The first difference between the record and the run that the engine derives from its events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ReplayDifference"))]
pub struct Mismatch {
    /// The turn that differs; `null`: the difference is not in a turn.
    pub turn: Option<u32>,
    /// The part that differs, as a JSON Pointer into the document.
    pub path: String,
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub expected: Value,
    #[cfg_attr(feature = "types", ts(type = "any"))]
    pub actual: Value,
    /// The engine version that recorded the document, if it is not this one: differences are then expected.
    pub recorded_by: Option<String>,
}

/// Derives the run again from its events. `Err` holds the first difference.
pub fn replay(recorded: &Trajectory) -> Result<Recorder, Box<Mismatch>> {
    let recorder = fold(recorded, &recorded.events);
    compare(recorded, &recorder.document()).map_or(Ok(recorder), Err)
}

/// Returns the run after the given events: the whole list gives the run as it ended, a shorter list an earlier state.
#[must_use]
pub fn fold(recorded: &Trajectory, events: &[RecordedEvent]) -> Recorder {
    let (config, task) = recorded.origin();
    let (mut recorder, _) = Recorder::start(config, task);
    for RecordedEvent { at_ms, event, .. } in events {
        // The effects already happened during recording.
        drop(recorder.handle(*at_ms, event.clone()));
    }
    recorder
}

fn compare(expected: &Trajectory, actual: &Trajectory) -> Option<Box<Mismatch>> {
    let recorded_by = (expected.engine_version != ENGINE_VERSION).then(|| expected.engine_version.clone());
    for index in 0..expected.turns.len().max(actual.turns.len()) {
        let (want, have) = (json(&expected.turns.get(index)), json(&actual.turns.get(index)));
        if let Some((path, expected_part, actual_part)) = first_difference(&want, &have) {
            let turn = expected.turns.get(index).or(actual.turns.get(index)).map(|t| t.turn);
            let path = format!("/turns/{index}{path}");
            let mismatch = Mismatch { turn, path, expected: expected_part, actual: actual_part, recorded_by };
            return Some(Box::new(mismatch));
        }
    }
    let (mut want, mut have) = (json(expected), json(actual));
    without_notes(&mut want);
    // `recorded_by` reports the version; a document of another version is compared all the same.
    set_version(&mut have, &expected.engine_version);
    let (path, expected, actual) = first_difference(&want, &have)?;
    Some(Box::new(Mismatch { turn: None, path, expected, actual, recorded_by }))
}

/// Sets the engine version of a document and of its sub-agents.
fn set_version(document: &mut Value, version: &str) {
    let Some(fields) = document.as_object_mut() else { return };
    fields.insert("engine_version".into(), Value::String(version.to_owned()));
    fields
        .get_mut("children")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .for_each(|child| set_version(child, version));
}

/// Notes are the only part that is not derived from the events.
fn without_notes(document: &mut Value) {
    let Some(fields) = document.as_object_mut() else { return };
    fields.remove("notes");
    fields.get_mut("children").and_then(Value::as_array_mut).into_iter().flatten().for_each(without_notes);
}

/// Returns the first difference between two values: its JSON Pointer and both parts.
fn first_difference(want: &Value, have: &Value) -> Option<(String, Value, Value)> {
    match (want, have) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|k| !a.contains_key(*k)));
            keys.into_iter().find_map(|key| {
                let parts = (a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null));
                let (path, x, y) = first_difference(parts.0, parts.1)?;
                Some((format!("/{key}{path}"), x, y))
            })
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len())).find_map(|i| {
            let parts = (a.get(i).unwrap_or(&Value::Null), b.get(i).unwrap_or(&Value::Null));
            let (path, x, y) = first_difference(parts.0, parts.1)?;
            Some((format!("/{i}{path}"), x, y))
        }),
        // A document that went through JavaScript writes 1.0 as 1.
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        _ if want == have => None,
        _ => Some((String::new(), want.clone(), have.clone())),
    }
}

/// Converts through text: serializing to a `Value` would add a second serializer for every type to the page.
fn json(part: &impl Serialize) -> Value {
    let text = serde_json::to_string(part).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

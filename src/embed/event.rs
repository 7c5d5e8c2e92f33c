//! Events as pages get them: a plain object with `type`, `turn`, `callsLeft` and what belongs to it.

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::engine::Record;

/// A record of the engine's. What is nested in it has the trajectory's keys.
pub(super) fn from_record(record: &Record) -> Result<JsValue, JsValue> {
    // By way of text: writing to JavaScript values would be a second writer of every type in the page.
    let event = super::trajectory::to_js(&record.what)?;
    stamp(&event, record.turn, record.calls_left)?;
    Ok(event)
}

/// Streamed text: `text_delta`, `reasoning_delta`.
pub(super) fn from_delta(kind: &str, turn: u32, calls_left: u32, text: &str) -> Result<JsValue, JsValue> {
    let event: JsValue = Object::new().into();
    Reflect::set(&event, &"type".into(), &kind.into())?;
    Reflect::set(&event, &"text".into(), &text.into())?;
    stamp(&event, turn, calls_left)?;
    Ok(event)
}

fn stamp(event: &JsValue, turn: u32, calls_left: u32) -> Result<(), JsValue> {
    Reflect::set(event, &"turn".into(), &turn.into())?;
    Reflect::set(event, &"callsLeft".into(), &calls_left.into())?;
    Ok(())
}

//! Events as pages get them: a plain object with `type`, `turn`, `callsLeft` and what belongs to it.

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::engine::{Record, RecordKind};

/// A record of the engine's. What is nested in it has the trajectory's keys; a sub-agent's event is again such an event.
pub(super) fn from_record(record: &Record) -> Result<JsValue, JsValue> {
    if let RecordKind::Child { child, event } = &record.what {
        return from_child(*child, &from_record(event)?, record.turn, record.calls_left);
    }
    // By way of text: writing to JavaScript values would be a second writer of every type in the page.
    let event = super::trajectory::to_js(&record.what)?;
    stamp(&event, record.turn, record.calls_left)?;
    Ok(event)
}

/// Streamed text: `text_delta`, `reasoning_delta`. A sub-agent's turn is its own.
pub(super) fn from_delta(kind: &str, child: u32, turn: u32, calls_left: u32, text: &str) -> Result<JsValue, JsValue> {
    let event: JsValue = Object::new().into();
    Reflect::set(&event, &"type".into(), &kind.into())?;
    Reflect::set(&event, &"text".into(), &text.into())?;
    stamp(&event, turn, calls_left)?;
    if child == 0 { Ok(event) } else { from_child(child, &event, turn, calls_left) }
}

fn from_child(child: u32, event: &JsValue, turn: u32, calls_left: u32) -> Result<JsValue, JsValue> {
    let outer: JsValue = Object::new().into();
    Reflect::set(&outer, &"type".into(), &"child".into())?;
    Reflect::set(&outer, &"child".into(), &child.into())?;
    Reflect::set(&outer, &"event".into(), event)?;
    stamp(&outer, turn, calls_left)?;
    Ok(outer)
}

fn stamp(event: &JsValue, turn: u32, calls_left: u32) -> Result<(), JsValue> {
    Reflect::set(event, &"turn".into(), &turn.into())?;
    Reflect::set(event, &"callsLeft".into(), &calls_left.into())?;
    Ok(())
}

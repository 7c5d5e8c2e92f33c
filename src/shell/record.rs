//! `Effect::Record` and `Effect::KeepResult`: telling the observer, and what must outlast the turn.

use wasm_bindgen::JsValue;

use super::session::{Notice, Session};
use crate::engine::{CallId, LogLevel, LogRecord, Record, RecordKind};

/// Tells the observer, in order. Logs go to the console too (SEMANTICS 7).
pub(super) fn publish(session: &Session, records: &[Record]) {
    for record in records {
        match &record.what {
            RecordKind::Log { log } => console(0, log),
            RecordKind::Child { child, event } => {
                if let RecordKind::Log { log } = &event.what {
                    console(*child, log);
                }
            }
            _ => {}
        }
        session.notify(Notice::Record(record));
    }
}

/// The whole of a result that was cut for the model, where `read_result` finds it.
pub(super) fn keep_result(session: &Session, handle: &CallId, content: &str) {
    session.workspace().keep_result(&handle.0, content);
}

/// `child`: which sub-agent's log it is, 0 the run's own.
fn console(child: u32, log: &LogRecord) {
    let slugs: Vec<&str> = log.slugs.iter().map(|slug| slug.as_str()).collect();
    let whose = if child == 0 { String::new() } else { format!("sub-agent {child}, ") };
    let line =
        format!("turnwise: {whose}turn {}, attempt {}: {}: {}", log.turn, log.attempt, slugs.join(", "), log.message);
    match log.level {
        LogLevel::Warn => web_sys::console::warn_1(&JsValue::from_str(&line)),
        LogLevel::Error => web_sys::console::error_1(&JsValue::from_str(&line)),
    }
}

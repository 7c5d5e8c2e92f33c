//! `Effect::Record` and `Effect::KeepResult`: notifies the observer, and keeps results that must outlive the turn.

use wasm_bindgen::JsValue;

use super::live::Notice;
use super::session::Session;
use turnwise_engine::{CallId, LogLevel, LogRecord, Record, RecordKind};

/// Passes the records to the observer, in order. Logs also go to the console (retries.md#logs).
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

/// Keeps the full text of a result that was truncated for the model, so that `read_result` can find it.
pub(super) fn keep_result(session: &Session, handle: &CallId, content: &str) {
    session.workspace().keep_result(&handle.0, content);
}

/// Prints a log to the console. `child`: the sub-agent that it belongs to; 0 is the run itself.
fn console(child: u32, log: &LogRecord) {
    let slugs: Vec<&str> = log.slugs.iter().map(|slug| slug.as_str()).collect();
    let whose = if child == 0 { String::new() } else { format!("sub-agent {child}, ") };
    let line = match log.attempt {
        0 => format!("turnwise: {whose}{}", log.message),
        attempt => {
            format!("turnwise: {whose}turn {}, attempt {attempt}: {}: {}", log.turn, slugs.join(", "), log.message)
        }
    };
    match log.level {
        LogLevel::Warn => web_sys::console::warn_1(&JsValue::from_str(&line)),
        LogLevel::Error => web_sys::console::error_1(&JsValue::from_str(&line)),
    }
}

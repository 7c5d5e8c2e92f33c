//! One strict simulator for each service: it refuses what documents and reports say that the service refuses, in its own words, and
//! replies in its own style. Whole runs are played against all of them: with the service's own row no request may be refused, and with
//! nothing known of the server at most two corrections lead to the same end.

mod chat;
mod drive;
mod formats;
mod histories;
mod matrix;
mod replies;
mod services;

use serde_json::json;

/// The status and the body of a refusal.
pub type Refusal = (u16, String);

/// An error in the form of OpenAI.
pub fn said(words: &str) -> String {
    json!({ "error": { "message": words, "type": "invalid_request_error" } }).to_string()
}

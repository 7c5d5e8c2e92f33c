//! Wire formats: convert a request to bytes, a stream of bytes to a reply, and an error response to a [`ModelError`].
//!
//! PURE -> engine. No network, no clock, no web crate: the shell sends the requests and passes the responses in.
//! `providers.rs` is the table of providers, `profile.rs` says what differs between servers of one format, `abilities.rs` what models take of a run's settings; each wire format has a folder.
//! Deliberately absent: keys and extra headers (the shell's), retries (the engine's), argument repair (the tools').
//!
//! [`ModelError`]: turnwise_engine::ModelError

mod abilities;
pub mod address;
mod anthropic;
mod call_ids;
pub mod classify;
mod correct;
mod decoder;
pub mod diagnose;
mod dialect;
mod endpoint;
mod error_body;
mod families;
mod gemini;
mod json;
mod late;
mod learn;
mod marks;
pub mod models;
mod names;
mod openai;
mod options;
mod profile;
pub mod prompt_api;
pub mod providers;
mod responses;
pub mod retry_after;
pub mod servers;
pub mod sse;
mod writer;

pub use abilities::adjustments;
pub use classify::{Online, classify_fetch_failure, classify_response, is_stream};
pub use decoder::{Decoder, Delta};
pub use diagnose::{Evidence, Knock, LocalPermission, NoResponseCause, PageOrigin, diagnose};
pub use dialect::Encode;
pub use endpoint::{HttpRequestHead, base_url, models_head, request_head, server};
pub use late::{Late, classify_late};
pub use retry_after::RetryHeaders;
pub use servers::ServerName;
pub use writer::encoder;

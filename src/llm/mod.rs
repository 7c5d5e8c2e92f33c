//! Wire formats: a request to bytes, a stream of bytes to a reply, an answer that is none to a [`ModelError`].
//!
//! PURE -> engine. No network, no clock, no web crate: the shell sends what comes from here and feeds what comes back.
//! Adding a provider is one folder here and one row in each `match` on [`ProviderKind`].
//! Deliberately absent: keys and extra headers (the shell's), retries (the engine's), argument repair (the tools').
//!
//! [`ModelError`]: crate::engine::ModelError
//! [`ProviderKind`]: crate::engine::ProviderKind

pub mod classify;
mod decoder;
pub mod demo;
mod endpoint;
mod error_body;
mod late;
pub mod openai;
pub mod retry_after;
pub mod sse;

use crate::engine::ProviderConfig;

pub use classify::{Online, RetryHeaders, classify_fetch_failure, classify_response};
pub use decoder::{Decoder, Delta};
pub use late::{Late, classify_late};
pub use openai::encode::{Encoder, Position};

/// Where a request goes and the headers this side knows of. The user's extra headers are the shell's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequestHead {
    pub url: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
}

/// The head of a chat request. No key, no `authorization`; white space around a pasted key is dropped.
#[must_use]
pub fn request_head(p: &ProviderConfig, api_key: Option<&str>) -> HttpRequestHead {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    if let Some(key) = api_key.map(str::trim).filter(|key| !key.is_empty()) {
        headers.push(("authorization".to_owned(), format!("Bearer {key}")));
    }
    HttpRequestHead { url: endpoint::chat_url(p), headers }
}

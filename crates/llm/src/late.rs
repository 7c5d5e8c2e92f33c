//! Converts a missed deadline of a request (retries.md#retries-and-waiting) to a [`ModelError`].

use turnwise_engine::{ModelError, ProviderConfig, Retry, Slug};

use super::endpoint;

/// The part that did not arrive in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The response headers.
    Headers,
    /// The first text, reasoning or tool call.
    FirstToken,
    /// The next bytes of a stream.
    Stream,
    /// The end of the reply.
    Whole,
}

/// Names the deadline, in milliseconds, and how to extend it. The request is always retried.
#[must_use]
pub fn classify_late(p: &ProviderConfig, late: Late, after_ms: u64) -> ModelError {
    let (host, time) = (endpoint::host(p), time(after_ms));
    let message = match late {
        Late::Headers => format!(
            "{host} did not begin to answer within {time}. It may be busy, or still loading the model. To \
             wait longer, raise \"Wait for an answer\" (headersMs)."
        ),
        Late::FirstToken => format!(
            "{host} sent no part of a reply within {time}. If the model thinks in silence, raise \"First \
             token\" (firstTokenMs)."
        ),
        Late::Stream => format!(
            "The stream from {host} was silent for {time}. If the model pauses that long, raise \"Silent \
             stream\" (idleMs)."
        ),
        Late::Whole => format!(
            "The reply from {host} was not complete after {time}. If a reply may take that long, raise \
             \"Whole answer\" (requestMs)."
        ),
    };
    ModelError { slug: Slug::Timeout, message, status: None, retry_after_ms: None, retry: Retry::Yes }
}

fn time(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { format!("{} s", ms as f64 / 1000.0) }
}

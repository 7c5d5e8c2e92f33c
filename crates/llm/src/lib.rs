//! Wire formats: convert a request to bytes, a stream of bytes to a reply, and an error response to a [`ModelError`].
//!
//! PURE -> engine. No network, no clock, no web crate: the shell sends the requests and passes the responses in.
//! `providers.rs` is the table of providers, `profile.rs` says what differs between servers of one format, `abilities.rs` what models take of a run's settings; each wire format has a folder.
//! Deliberately absent: keys and extra headers (the shell's), retries (the engine's), argument repair (the tools').
//!
//! A run with a model: the engine says what to send, [`encoder`] writes it for the provider, [`request_head`] has the address and the
//! headers, and [`Decoder`] reads the response as it arrives. Here the response is a text; `examples/real_server.rs` in the repository
//! sends the request with an HTTP client.
//!
//! ```
//! use turnwise_engine::*;
//! use turnwise_llm::{Decoder, encoder, request_head};
//!
//! let provider = ProviderConfig {
//!     kind: ProviderKind::Openai,
//!     base_url: "http://localhost:11434/v1".into(),
//!     model: "qwen3".into(),
//!     ..ProviderConfig::default()
//! };
//! let config = RunConfig { providers: vec![provider.clone()], ..RunConfig::preset(Preset::Research) };
//! let task = Task { input: "What is 6 times 7?".into(), ..Task::default() };
//! let (mut run, mut effects) = Run::start(config, task);
//! let mut sent = Vec::new();
//! while run.ending().is_none() {
//!     let mut events = Vec::new();
//!     for effect in effects {
//!         if let Effect::CallModel(call) = effect {
//!             let mut writer = encoder(&provider, run.config(), &call.learnt);
//!             let mut body = Vec::new();
//!             writer.start(&mut body);
//!             for message in call.append.iter().chain(&call.tail) {
//!                 writer.message(message, &mut body);
//!             }
//!             writer.end(&run.config().tools, call.tools, &mut body);
//!             sent.push((request_head(&provider, None).url, String::from_utf8(body).unwrap()));
//!
//!             let mut decoder = Decoder::new(&provider);
//!             decoder.push(b"data: {\"choices\":[{\"delta\":{\"content\":\"42\"},\"finish_reason\":\"stop\"}]}\n\n");
//!             decoder.push(b"data: [DONE]\n\n");
//!             let (reply, raw) = decoder.finish();
//!             events.push(match reply {
//!                 Ok(reply) => Event::ModelReplied { request: call.request, reply, raw: Some(raw), first_token_ms: None },
//!                 Err(error) => Event::ModelFailed { request: call.request, error, raw: Some(raw) },
//!             });
//!         }
//!     }
//!     effects = events.into_iter().flat_map(|event| run.handle(Millis(1), event)).collect();
//! }
//! assert_eq!(run.ending().map(|ending| ending.output.as_str()), Some("42"));
//! assert_eq!(sent[0].0, "http://localhost:11434/v1/chat/completions");
//! assert!(sent[0].1.contains("What is 6 times 7?"));
//! ```
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
mod lenient;
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
pub use classify::{Online, classify_fetch_failure, classify_keyless_response, classify_response, is_stream};
pub use decoder::{Decoder, Delta};
pub use diagnose::{Evidence, Knock, LocalPermission, NoResponseCause, PageOrigin, diagnose};
pub use dialect::Encode;
pub use endpoint::{HttpRequestHead, base_url, models_head, request_head, server};
pub use late::{Late, classify_late};
pub use retry_after::RetryHeaders;
pub use servers::ServerName;
pub use writer::encoder;

//! What a refusal says should be different: one named change, read from the words of the server (semantics.md#corrections).
//!
//! Only refusals of the request itself are read, and only what the run itself sends: a field that the user added stays, and the message
//! of the server names it.

use crate::engine::{Correction, ProviderConfig};

use super::error_body::ErrorBody;
use super::options::Options;

/// A refusal in words, in lower case.
#[derive(Debug)]
struct Refusal {
    /// All of these are in it.
    all: &'static [&'static str],
    /// One of these is in it, if there are any.
    any: &'static [&'static str],
    correction: Correction,
    /// The fields of the request that it is about.
    fields: &'static [&'static str],
}

/// How servers say that they do not take a field, or a value of it.
const NOT_TAKEN: &[&str] = &[
    "not support",
    "unsupported",
    "not permitted",
    "extra_forbidden",
    "extra inputs",
    "unrecognized",
    "unknown",
    "unexpected",
    "not allowed",
    "deprecated",
    "only the default",
    "only 1 is allowed",
    "invalid",
    "cannot be used",
    // OpenRouter, of a field that no server behind it takes (zed#36094).
    "no endpoints found that support",
];

// The first that fits.
const REFUSALS: &[Refusal] = &[
    // DeepSeek (continue#9720, zed#55321), Moonshot (opencode#16318)
    Refusal {
        all: &["reasoning_content"],
        any: &["must be passed back", "is missing", "is required"],
        correction: Correction::SendThoughts,
        fields: &[],
    },
    // Groq (freellmapi#1070), Cerebras (kilocode#10375), Mistral (crush#1590)
    Refusal { all: &["reasoning_content"], any: NOT_TAKEN, correction: Correction::DropThoughts, fields: &[] },
    // OpenAI Responses (w25)
    Refusal { all: &["invalid_encrypted_content"], any: &[], correction: Correction::NoOpaque, fields: &[] },
    Refusal {
        all: &["encrypted content"],
        any: &["could not be verified", "could not be decrypted", "not support"],
        correction: Correction::NoOpaque,
        fields: &[],
    },
    // OpenAI (litellm#34569, livekit#7169)
    Refusal {
        all: &["reasoning_effort", "'none'"],
        any: NOT_TAKEN,
        correction: Correction::EffortNone,
        fields: &["reasoning_effort"],
    },
    Refusal {
        all: &["reasoning_effort"],
        any: NOT_TAKEN,
        correction: Correction::NoEffort,
        fields: &["reasoning_effort"],
    },
    Refusal { all: &["reasoning.effort"], any: NOT_TAKEN, correction: Correction::NoEffort, fields: &["reasoning"] },
    // GPT-5 and later behind a proxy; Mistral (eca#231) the other way round
    Refusal {
        all: &["max_tokens", "max_completion_tokens"],
        any: &[],
        correction: Correction::OtherLimitName,
        fields: &["max_tokens", "max_completion_tokens"],
    },
    Refusal {
        all: &["max_completion_tokens"],
        any: &["not permitted", "extra_forbidden", "extra inputs", "unrecognized", "unknown", "unexpected"],
        correction: Correction::OtherLimitName,
        fields: &["max_completion_tokens"],
    },
    // anon-kode#53
    Refusal { all: &["stream_options"], any: NOT_TAKEN, correction: Correction::NoUsageFlag, fields: &[] },
    // OpenAI, Anthropic (pi#7961), Moonshot
    Refusal { all: &["temperature"], any: NOT_TAKEN, correction: Correction::NoSampling, fields: &["temperature"] },
    Refusal { all: &["top_p"], any: NOT_TAKEN, correction: Correction::NoSampling, fields: &["top_p"] },
    // DeepSeek, DashScope (eino#994), LM Studio. vLLM without a parser for the model's calls is another matter.
    Refusal { all: &["tool_choice"], any: NOT_TAKEN, correction: Correction::NoToolChoice, fields: &["tool_choice"] },
    // Qwen's template (vllm#41114)
    Refusal {
        all: &["system message"],
        any: &["at the beginning", "must be first", "must be the first", "only one", "multiple system"],
        correction: Correction::OneSystemMessage,
        fields: &[],
    },
    // Mistral (zed#37021), its template (llama.cpp#19851), Perplexity
    Refusal {
        all: &["role"],
        any: &["after role 'tool'", "must alternate", "should be alternating", "alternate user"],
        correction: Correction::AlternateRoles,
        fields: &[],
    },
    // Mistral
    Refusal {
        all: &["tool call id"],
        any: &["length of 9", "length 9"],
        correction: Correction::NineCharacterIds,
        fields: &[],
    },
    // Cloudflare (zeroclaw#9493)
    Refusal {
        all: &["content", "null"],
        any: &["string", "expected", "must be"],
        correction: Correction::EmptyText,
        fields: &[],
    },
];

/// What the next request to this server should do differently; `None`: the refusal names nothing that the run itself sends.
pub(super) fn correction(p: &ProviderConfig, status: u16, error: &ErrorBody) -> Option<Correction> {
    if !matches!(status, 400 | 404 | 422 | 500) {
        return None;
    }
    let said = format!("{} {} {}", error.message, error.kind, error.about).to_lowercase();
    let fits = |refusal: &&Refusal| {
        let any = refusal.any.is_empty() || refusal.any.iter().any(|words| said.contains(words));
        any && refusal.all.iter().all(|words| said.contains(words))
    };
    let refusal = REFUSALS.iter().find(fits)?;
    // A template of llama.cpp fails with 500; other failures of a server are none of the request.
    let is_template = matches!(refusal.correction, Correction::AlternateRoles | Correction::OneSystemMessage);
    let is_added = refusal.fields.iter().any(|field| Options::of(p).get(field).is_some());
    (!is_added && (status != 500 || is_template)).then_some(refusal.correction)
}

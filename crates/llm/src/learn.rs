//! What a refusal says should be different: one named change, read from the words of the server (retries.md#corrections).
//!
//! Only refusals of the request itself are read, and only what the run itself sends: a field that the user added stays, and the message
//! of the server names it.

use turnwise_engine::{Correction, ProviderConfig, ReasoningEffort};

use super::error_body::ErrorBody;
use super::options::Options;

/// A refusal in words, in lower case.
type RefusalText = (
    // All of these are in it.
    &'static [&'static str],
    // One of these is in it, if there are any.
    &'static [&'static str],
    Correction,
);

/// How servers say that they do not take a field, or a value of it.
const NOT_TAKEN: &[&str] = &[
    "not support",
    "n't support",
    "unsupported",
    "no longer",
    "not permitted",
    "not allowed",
    "not accept",
    "not available",
    "not enabled",
    "not implemented",
    "not compatible",
    "incompatible",
    "not valid",
    "extra_forbidden",
    "extra inputs",
    "unrecognized",
    "not recognized",
    "unknown",
    "unexpected",
    "deprecated",
    "only the default",
    "only supports",
    "only supported",
    "is allowed",
    "must be one of",
    // OpenRouter, of a field that no server behind it takes (zed#36094).
    "no endpoints found that support",
    "input should be",
    "supported values",
    "cannot be",
    "cannot both",
    "may not be",
    "can not be",
    "can't be",
];

/// The same, where what is refused is a field and not its value: a value out of range is the user's to correct.
const NO_FIELD: &[&str] = &[
    "not support",
    "n't support",
    "unsupported",
    "no longer",
    "not permitted",
    "extra_forbidden",
    "extra inputs",
    "unrecognized",
    "unknown",
    "unexpected",
    "deprecated",
];

/// How servers say that a model always thinks.
const CANNOT_BE_OFF: &[&str] = &["can't be disabled", "cannot be disabled", "can not be disabled"];

/// What is missing must not be left out as well: Gemini's signature of a call (securo#884).
const MISSING: &[&[&str]] = &[&["missing", "thought_signature"]];

// The first that fits.
const REFUSALS: &[RefusalText] = &[
    // DeepSeek (continue#9720, zed#55321), Moonshot (opencode#16318)
    (
        &["reasoning_content"],
        &["must be passed", "must be sent", "must be provided", "must be included", "missing", "required"],
        Correction::SendThoughts,
    ),
    // DeepSeek in the Messages format (hermes-agent#22313)
    (&["thinking", "must be passed back"], &[], Correction::SendThoughts),
    // Groq (freellmapi#1070), Cerebras (kilocode#10375), Mistral (crush#1590)
    (&["reasoning_content"], NOT_TAKEN, Correction::DropThoughts),
    // OpenAI Responses (w25)
    (&["invalid_encrypted_content"], &[], Correction::NoOpaque),
    (
        &["encrypted content"],
        &["could not be verified", "could not be decrypted", "not support", "invalid"],
        Correction::NoOpaque,
    ),
    (&["without its required"], &[], Correction::NoOpaque),
    (&["items are not persisted"], &[], Correction::NoOpaque),
    // Anthropic, also behind gateways
    (&["signature", "think"], &["invalid", "not valid", "not support", "field required"], Correction::NoOpaque),
    (&["thinking", "cannot be modified"], &[], Correction::NoOpaque),
    // Gemini
    (&["thought", "signature"], &["corrupt", "not valid", "invalid", "unable"], Correction::NoOpaque),
    // Anthropic: the last reply is that of a model that did not think.
    (&["expected `thinking`"], &[], Correction::NoEffort),
    // DeepSeek, DashScope (eino#994), Moonshot, Anthropic. vLLM without a parser for the model's calls is another matter.
    (&["tool_choice"], NOT_TAKEN, Correction::NoToolChoice),
    (&["tool choice"], &["not support", "n't support", "incompatible"], Correction::NoToolChoice),
    (&["forces tool use"], &[], Correction::NoToolChoice),
    // Bedrock, behind LiteLLM (litellm#40735) and by itself (oh-my-pi#1227): the history has calls, so it wants tools.
    (&["without `tools=`"], &[], Correction::DeclareTools),
    (&["toolconfig", "must be defined"], &[], Correction::DeclareTools),
    (&["function calling mode"], NOT_TAKEN, Correction::NoToolChoice),
    (&["function_calling_config"], NOT_TAKEN, Correction::NoToolChoice),
    // OpenAI (litellm#34569)
    (&["function tools", "reasoning_effort"], NOT_TAKEN, Correction::Effort(ReasoningEffort::None)),
    (
        &["tool", "not support"],
        &["when thinking", "while thinking", "when reasoning", "while reasoning", "in thinking mode"],
        Correction::Effort(ReasoningEffort::None),
    ),
    // OpenAI (livekit#7169), Groq
    (&["reasoning_effort"], NOT_TAKEN, Correction::NoEffort),
    (&["reasoning.effort"], NOT_TAKEN, Correction::NoEffort),
    (&["reasoning effort"], NOT_TAKEN, Correction::NoEffort),
    // xAI (hermes-agent#23435)
    (&["reasoningeffort"], NOT_TAKEN, Correction::NoEffort),
    (&["reasoning parameter"], NOT_TAKEN, Correction::NoEffort),
    // Anthropic
    (&["output_config"], NOT_TAKEN, Correction::NoEffort),
    (&["thinking.type"], NOT_TAKEN, Correction::NoEffort),
    (&["adaptive thinking"], NOT_TAKEN, Correction::NoEffort),
    (&["budget_tokens"], NO_FIELD, Correction::NoEffort),
    // Gemini (pi#9455, kiss-translator#1051)
    (&["thinking level"], NOT_TAKEN, Correction::NoEffort),
    (&["thinking_level"], NOT_TAKEN, Correction::NoEffort),
    (&["thinkinglevel"], NOT_TAKEN, Correction::NoEffort),
    (&["thinking budget"], NOT_TAKEN, Correction::NoEffort),
    (&["thinking_budget"], NOT_TAKEN, Correction::NoEffort),
    (&["thinkingbudget"], NOT_TAKEN, Correction::NoEffort),
    (&["thinking_config"], NOT_TAKEN, Correction::NoEffort),
    (&["thinkingconfig"], NOT_TAKEN, Correction::NoEffort),
    (&["only works in thinking mode"], &[], Correction::NoEffort),
    (&["thinking"], CANNOT_BE_OFF, Correction::NoEffort),
    // OpenRouter (rakazo#114)
    (&["reasoning"], CANNOT_BE_OFF, Correction::NoEffort),
    // Ollama (skim#41)
    (&["invalid think value"], &[], Correction::NoEffort),
    (&["does not support thinking"], &[], Correction::NoEffort),
    // GPT-5 and later behind a proxy; Mistral (eca#231) the other way round
    (&["max_tokens", "max_completion_tokens"], &[], Correction::OtherLimitName),
    (&["max_completion_tokens"], NO_FIELD, Correction::OtherLimitName),
    (&["max_tokens"], NO_FIELD, Correction::OtherLimitName),
    // anon-kode#53
    (&["stream_options"], NOT_TAKEN, Correction::NoUsageFlag),
    (&["include_usage"], NOT_TAKEN, Correction::NoUsageFlag),
    // OpenAI, Anthropic (pi#7961), Moonshot
    (&["temperature"], NOT_TAKEN, Correction::NoSampling),
    (&["top_p"], NOT_TAKEN, Correction::NoSampling),
    // Gemma's template, and Gemini's interface for it
    (&["system role not supported"], &[], Correction::NoSystemMessage),
    // opencode#5034
    (&["roles are supported", "system"], &[], Correction::NoSystemMessage),
    (&["system", "role"], &["not support", "n't support", "unsupported"], Correction::NoSystemMessage),
    // Servers in Rust (claude-code#63454)
    (&["unknown variant `system`"], &[], Correction::NoSystemMessage),
    (&["unknown variant system,"], &[], Correction::NoSystemMessage),
    (&["system message"], &["not support", "n't support", "unsupported"], Correction::NoSystemMessage),
    (&["system prompt"], &["not support", "n't support", "unsupported"], Correction::NoSystemMessage),
    (&["developer instruction"], NOT_TAKEN, Correction::NoSystemMessage),
    // Qwen's template (vllm#41114), Mistral, Anthropic
    (
        &["system"],
        &[
            "at the beginning",
            "at the start",
            "must be first",
            "must be the first",
            "must come first",
            "only be the first",
            "first message",
            "only one",
            "multiple system",
            "more than one system",
            "unexpected role 'system'",
            "unexpected role \"system\"",
            // Qwen#956, claude-code#73821
            "incorrect role system",
            "role 'system' must precede",
        ],
        Correction::OneSystemMessage,
    ),
    // Mistral (zed#37021), its template (llama.cpp#19851), Perplexity
    (
        &["role"],
        &[
            "after role 'tool'",
            "must alternate",
            "should alternate",
            "should be alternating",
            "must be alternating",
            "alternate user",
            "alternate between",
            "consecutive",
        ],
        Correction::AlternateRoles,
    ),
    // Mistral
    (&["tool", "id"], &["length of 9", "length 9", "{9}"], Correction::NineCharacterIds),
    // OpenAI (vercel/ai#5171, opencode#12653), Anthropic
    (&["tool_call", "string too long"], &[], Correction::PlainIds),
    (&["call_id", "string too long"], &[], Correction::PlainIds),
    (&["tool_call", "string_above_max_length"], &[], Correction::PlainIds),
    (&["tool_use", "id", "match pattern"], &[], Correction::PlainIds),
    (&["call_id", "pattern"], &[], Correction::PlainIds),
    (&["tool_call", "id", "pattern"], &[], Correction::PlainIds),
    // DeepSeek, OpenRouter, vLLM, Ollama
    (&["image_url"], NOT_TAKEN, Correction::NoImages),
    (
        &["image"],
        &["not support", "n't support", "no endpoints found", "not multimodal", "not a multimodal"],
        Correction::NoImages,
    ),
    (&["vision"], &["not support", "n't support", "not a vision"], Correction::NoImages),
    (&["multimodal"], &["not support", "n't support", "is not"], Correction::NoImages),
    (&["unknown variant `file`"], &[], Correction::NoImages),
    (&["content", "sequence", "expected a string"], &[], Correction::NoImages),
    // Cloudflare (zeroclaw#9493), servers in Rust and Python
    (
        &["content", "null"],
        &["string", "expected", "must be", "cannot be", "not allowed", "not be null"],
        Correction::EmptyText,
    ),
    (&["content", "valid string"], &[], Correction::EmptyText),
    (&["content", "none"], &["not of type", "nonetype"], Correction::EmptyText),
    (&["content", "string_type"], &[], Correction::EmptyText),
    // xAI behind Foundry, Anthropic, Gemini, llama.cpp
    (&["$ref"], &[], Correction::PlainSchemas),
    (&["$defs"], &[], Correction::PlainSchemas),
    (&["additionalproperties"], &[], Correction::PlainSchemas),
    (&["oneof", "top level"], &[], Correction::PlainSchemas),
    (&["invalid schema"], &[], Correction::PlainSchemas),
    // opencode#43371, pi-subagents#248
    (&["unsupported_keyword"], &[], Correction::PlainSchemas),
    (&["conflict in schema"], &[], Correction::PlainSchemas),
    (&["schema"], &["not support", "n't support", "unsupported", "invalid", "too complex"], Correction::PlainSchemas),
    (&["function_declarations"], &["unknown name", "invalid"], Correction::PlainSchemas),
    (
        &["grammar"],
        &["too large", "failed to parse", "failed to initialize", "compile", "invalid"],
        Correction::PlainSchemas,
    ),
];

/// The fields of a request that a correction is about, in all formats.
fn fields(correction: Correction) -> &'static [&'static str] {
    match correction {
        Correction::NoEffort | Correction::Effort(_) => {
            &["reasoning_effort", "reasoning", "thinking", "output_config", "generationConfig"]
        }
        Correction::NoSampling => &["temperature", "top_p", "generationConfig"],
        Correction::OtherLimitName => &["max_tokens", "max_completion_tokens"],
        _ => &[],
    }
}

/// What the next request to this server should do differently; `None`: the refusal names nothing that the run itself sends.
pub(super) fn correction(p: &ProviderConfig, status: u16, error: &ErrorBody) -> Option<Correction> {
    let correction = named(status, error)?;
    (!is_added(p, correction)).then_some(correction)
}

/// Whether the user set what a correction is about.
pub(super) fn is_added(p: &ProviderConfig, correction: Correction) -> bool {
    fields(correction).iter().any(|field| Options::of(p).get(field).is_some())
}

/// The correction that a refusal names. `status`: that of the response, or of an error inside a stream.
pub(super) fn named(status: u16, error: &ErrorBody) -> Option<Correction> {
    if !matches!(status, 400 | 404 | 422 | 500) {
        return None;
    }
    // Most refusals are of these kinds, whatever is wrong.
    let said = &error.said.replace("invalid_request_error", "").replace("invalid_argument", "");
    if MISSING.iter().any(|all| all.iter().all(|words| said.contains(words))) {
        return None;
    }
    let fits = |(all, any, _): &&RefusalText| {
        (any.is_empty() || any.iter().any(|words| said.contains(words))) && all.iter().all(|words| said.contains(words))
    };
    let (_, _, correction) = *REFUSALS.iter().find(fits)?;
    // A template fails with 500 (llama.cpp, omlx#1997); other failures of a server are not about the request.
    let is_template = matches!(
        correction,
        Correction::AlternateRoles
            | Correction::OneSystemMessage
            | Correction::NoSystemMessage
            | Correction::NineCharacterIds
            | Correction::PlainSchemas
    );
    if status == 500 && !is_template {
        return None;
    }
    Some(match (correction, nearest_effort(said)) {
        (Correction::NoEffort, Some(effort)) => Correction::Effort(effort),
        (correction, _) => correction,
    })
}

/// The effort that comes nearest to the refused one, if the server lists those that it takes: less before more.
fn nearest_effort(said: &str) -> Option<ReasoningEffort> {
    const LISTS: &[&str] = &[
        "supported values are",
        "supported values:",
        "must be one of",
        "should be one of",
        "expected one of",
        "allowed values are",
        "allowed values:",
        "valid values are",
        "valid options",
        "input should be",
        "only supports",
    ];
    let (before, list) = LISTS.iter().find_map(|words| said.split_once(words))?;
    let at = |text: &str, effort: &ReasoningEffort| {
        ['\'', '"', '`'].iter().find_map(|q| text.find(&format!("{q}{}{q}", effort.as_str())))
    };
    let allowed: Vec<ReasoningEffort> =
        ReasoningEffort::ALL.iter().filter(|effort| at(list, effort).is_some()).copied().collect();
    let refused = ReasoningEffort::ALL.iter().find(|effort| at(before, effort).is_some()).copied();
    let refused = refused.unwrap_or(ReasoningEffort::Medium);
    let is_thought = |effort: &&ReasoningEffort| refused == ReasoningEffort::None || **effort != ReasoningEffort::None;
    let less = allowed.iter().rev().find(|effort| **effort < refused && is_thought(effort));
    less.or_else(|| allowed.iter().find(|effort| **effort > refused)).copied()
}

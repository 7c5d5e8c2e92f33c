//! Converts a response that is not a reply to a [`ModelError`]: its slug, whether to retry (retries.md#retries-and-waiting), and a message
//! that tells users what happened and what to do.

use serde_json::Value;

use turnwise_engine::{EpochMillis, ModelError, ProviderConfig, ProviderKind, Retry, Slug};

use super::correct::better_base;
use super::endpoint;
use super::error_body::ErrorBody;
use super::learn::{correction, named};
use super::providers::wire;
use super::retry_after::{RetryHeaders, wait_ms};
use super::servers::{Browser, ServerRow};

/// The browser's view of the network (`navigator.onLine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Online {
    Yes,
    No,
    Unknown,
}

/// Whether the decoder reads the body of such a response. Servers mislabel their streams, and the decoder also reads
/// JSON; only an HTML page is certainly neither.
#[must_use]
pub fn is_stream(status: u16, content_type: &str) -> bool {
    (200..300).contains(&status) && !content_type.contains("html")
}

/// Classifies an HTTP response that is not a stream. Status 0 is a redirect, about which a browser reveals nothing
/// else. `now` is needed for a `Retry-After` that is a date.
#[must_use]
pub fn classify_response(
    p: &ProviderConfig,
    status: u16,
    retry: &RetryHeaders,
    content_type: &str,
    body: &str,
    now: EpochMillis,
) -> ModelError {
    classify(p, status, retry, content_type, body, now, true)
}

/// The same for a request that carried no key.
#[must_use]
pub fn classify_keyless_response(
    p: &ProviderConfig,
    status: u16,
    retry: &RetryHeaders,
    content_type: &str,
    body: &str,
    now: EpochMillis,
) -> ModelError {
    classify(p, status, retry, content_type, body, now, false)
}

fn classify(
    p: &ProviderConfig,
    status: u16,
    retry: &RetryHeaders,
    content_type: &str,
    body: &str,
    now: EpochMillis,
    keyed: bool,
) -> ModelError {
    let error = ErrorBody::read(body);
    let is_page = content_type.trim_start().starts_with("text/html") || body.trim_start().starts_with('<');
    // Some servers respond with 200 and put the real status into the error.
    let real = if status < 400 { error.status.unwrap_or(status) } else { status };
    let (slug, again) = verdict(Some(real), &error);
    let again = obeyed(retry.should_retry.as_deref(), slug, again);
    let correction = Some(real).filter(|_| slug == Slug::ProviderError).and_then(|real| correction(p, real, &error));
    ModelError {
        slug,
        message: message(p, real, slug, &error, is_page, keyed),
        status: Some(status).filter(|status| *status > 0),
        retry_after_ms: match again {
            Retry::Yes => wait_ms(retry, now).or_else(|| error.wait.ms(Some(now))),
            Retry::Fatal | Retry::With(_) => None,
        },
        retry: correction.map_or(again, Retry::With),
    }
}

/// Classifies a rejected `fetch`. A page cannot learn the cause: an error response without CORS headers looks like no
/// network at all.
#[must_use]
pub fn classify_fetch_failure(p: &ProviderConfig, js_message: &str, online: Online) -> ModelError {
    let (host, base) = (endpoint::host(p), endpoint::base(p));
    let mut message = if online == Online::No {
        format!("The browser says it is offline, and {host} could not be reached. Check the connection.")
    } else {
        format!(
            "No readable answer from {host}. Either this page is not allowed to call it (CORS), or it \
             answered with an error that the browser hides, or it cannot be reached."
        )
    };
    let hint = if p.kind == ProviderKind::Demo {
        "The demo model only simulates this error, so there is nothing to fix.".to_owned()
    } else if endpoint::is_ollama(p) {
        "Is `ollama serve` running, and does OLLAMA_ORIGINS name this page's origin?".to_owned()
    } else if endpoint::is_local(p) {
        "Is the server running, and does it allow this page's origin (llama.cpp: `--cors-origins`, LM Studio: \
         `lms server start --cors`)? Chrome also asks for permission before a site may reach this machine."
            .to_owned()
    } else if base.starts_with("http://") {
        format!("If this page is https, it may not call an http address: use https for {host}.")
    } else if let Browser::No(date) = ServerRow::browser_of(p) {
        endpoint::needs_proxy(p, date)
    } else {
        format!("Check the key and the base URL ({base}), and whether {host} allows calls from browsers.")
    };
    message.push(' ');
    message.push_str(&hint);
    if !js_message.trim().is_empty() {
        message.push_str(&format!(" (The browser says: {})", js_message.trim()));
    }
    ModelError { slug: Slug::NetworkError, message, status: None, retry_after_ms: None, retry: Retry::Yes }
}

/// Classifies an error inside a stream that began normally, or in a response with status 200; `error` is the value of
/// that field.
pub(super) fn stream_error(error: &Value) -> ModelError {
    let body = ErrorBody::of(error);
    let (slug, mut retry) = verdict(body.status, &body);
    let said = if body.message.is_empty() { error.to_string() } else { body.message.clone() };
    let mut message = format!("The provider reported an error: {said}");
    // LM Studio reports this with status 200.
    if said.to_lowercase().contains("unexpected endpoint") {
        retry = Retry::Fatal;
        message.push_str(" Check the base URL: most servers want it to end in /v1.");
    }
    // Of the request, not of the reply: the decoder drops it once the reply has begun. An error that does not say what it is may be a
    // refusal, too (vscode-unify-chat-provider#178).
    let is_refusal = body.is_refused_request() || !body.is_failure();
    let status = body.status.or(is_refusal.then_some(400)).filter(|_| slug == Slug::ProviderError);
    if let Some(correction) = status.and_then(|status| named(status, &body)) {
        retry = Retry::With(correction);
    }
    let again = if retry == Retry::Yes { body.wait.ms(None) } else { None };
    ModelError { slug, message, status: body.status, retry_after_ms: again, retry }
}

/// Applies the server's own hint on whether to retry, but not to an empty account, a wrong key or a full context.
fn obeyed(header: Option<&str>, slug: Slug, again: Retry) -> Retry {
    let may_pass = matches!(slug, Slug::ProviderError | Slug::RateLimited | Slug::Timeout);
    match header.map(str::trim) {
        Some("false") => Retry::Fatal,
        Some("true") if may_pass => Retry::Yes,
        _ => again,
    }
}

/// The slug and whether the same request may be sent again.
fn verdict(status: Option<u16>, error: &ErrorBody) -> (Slug, Retry) {
    if error.is_quota() {
        return (Slug::QuotaError, Retry::Fatal);
    }
    if status == Some(413) || error.is_overflow(status) {
        return (Slug::ContextGuard, Retry::Fatal);
    }
    if error.is_bad_key() {
        return (Slug::AuthError, Retry::Fatal);
    }
    if error.has("timeout_error") {
        return (Slug::Timeout, Retry::Yes);
    }
    if error.is_bad_sample() {
        return (Slug::ProviderError, Retry::Yes);
    }
    match status {
        Some(401 | 403) => (Slug::AuthError, Retry::Fatal),
        Some(402) => (Slug::QuotaError, Retry::Fatal),
        Some(408) => (Slug::Timeout, Retry::Yes),
        Some(429) => (Slug::RateLimited, Retry::Yes),
        Some(409 | 500..=599) => (Slug::ProviderError, Retry::Yes),
        Some(_) => (Slug::ProviderError, Retry::Fatal),
        None if ["rate_limit", "resource_exhausted", "usage_limit_reached"].iter().any(|kind| error.has(kind)) => {
            (Slug::RateLimited, Retry::Yes)
        }
        None if error.has("authentication") || error.has("permission") => (Slug::AuthError, Retry::Fatal),
        None if error.is_refused_request() => (Slug::ProviderError, Retry::Fatal),
        // The request itself was accepted, so the failure is on the server's side.
        None => (Slug::ProviderError, Retry::Yes),
    }
}

impl ErrorBody {
    fn has(&self, word: &str) -> bool {
        self.kind.contains(word)
    }

    fn has_code(&self, code: &str) -> bool {
        self.kind.split(' ').any(|word| word == code)
    }

    /// Whether the account is empty. Gemini's text for a per-minute limit reads like one for that, so its own words are not here.
    fn is_quota(&self) -> bool {
        const KINDS: [&str; 10] = [
            "insufficient_quota",
            "credit_balance_exhausted",
            "spend_limit_exceeded",
            "usage_limit_exceeded",
            "insufficient_balance",
            "insufficient_credits",
            "billing_",
            "payment_required",
            // Moonshot.
            "exceeded_current_quota",
            // Alibaba.
            "arrearage",
        ];
        // xAI, OpenRouter, DeepSeek, Anthropic, MiniMax, Fireworks.
        const WORDS: [&str; 12] = [
            "insufficient balance",
            "insufficient credit",
            "insufficient funds",
            "insufficient account balance",
            "credit balance is too low",
            "not enough credit",
            "out of credits",
            "have any credits",
            "all available credits",
            "spending limit",
            // kandev#3811
            "monthly spend limit",
            "requires more credits",
        ];
        let said = self.message.to_lowercase();
        // Z.ai, with status 429.
        self.has_code("1113")
            || KINDS.iter().any(|kind| self.has(kind))
            || WORDS.iter().any(|words| said.contains(words))
    }

    /// Whether the model's reply could not be read as a call: another one is another sample. Gateways have the kind in their text.
    fn is_bad_sample(&self) -> bool {
        // Groq, Bedrock (harness-sdk#649), vLLM where a call is demanded (inference-perf#695).
        const WORDS: [&str; 5] = [
            "tool_use_failed",
            "json_validate_failed",
            "output_parse_failed",
            "invalid sequence as part of tooluse",
            "validation error for list[function-wrap[",
        ];
        WORDS.iter().any(|words| self.said.contains(words))
    }

    /// Whether the server says that it failed itself.
    fn is_failure(&self) -> bool {
        ["server_error", "overloaded", "internal", "unavailable", "api_error"].iter().any(|kind| self.has(kind))
    }

    /// Whether this request will never be accepted. The last three are sent by Responses inside a stream.
    fn is_refused_request(&self) -> bool {
        const KINDS: [&str; 8] = [
            "invalid_request",
            "badrequest",
            "not_found",
            "invalid_argument",
            "failed_precondition",
            "invalid_prompt",
            "invalid_image",
            "invalid_encrypted_content",
        ];
        KINDS.iter().any(|kind| self.has(kind))
    }

    /// Whether the request is longer than the model takes. The words are distinctive, so no server has a row for its own.
    fn is_overflow(&self, status: Option<u16>) -> bool {
        const KINDS: [&str; 5] = [
            "exceed_context_size",
            "context_length_exceeded",
            "context_window_exceeded",
            "request_too_large",
            "tokens_limit_reached",
        ];
        // Each list of words occurs in this order.
        const WORDS: [&[&str]; 34] = [
            &["maximum context length"],
            &["context window"],
            &["context size"],
            &["context length"],
            &["prompt is too long"],
            &["prompt too long"],
            &["prompt exceeds max length"],
            &["exceed context limit"],
            // Gemini.
            &["exceeds the maximum number of tokens"],
            &["input token count", "exceeds"],
            // xAI.
            &["maximum prompt length"],
            // Moonshot.
            &["exceeded model token limit"],
            &["total message size", "exceeds limit"],
            // DashScope.
            &["range of input length should be"],
            // Bedrock.
            &["input is too long"],
            &["input too long"],
            &["expected maxlength"],
            // Groq.
            &["reduce the length of the messages"],
            // Cerebras.
            &["current length is", "limit is"],
            // Text Generation Inference.
            &["`inputs` tokens + `max_new_tokens`"],
            &["inputs", "must have less than", "tokens"],
            &["maximum allowed input length"],
            &["maximum input length is", "tokens"],
            &["input tokens exceed"],
            &["too large for model with", "maximum"],
            // GitHub Models.
            &["max size:", "tokens"],
            // LM Studio.
            &["trying to keep the first", "tokens"],
            &["tokens to keep from the initial prompt"],
            &["prompt length", "exceeds"],
            &["prompt contains", "tokens", "maximum"],
            &["too many tokens in"],
            &["token limit exceeded"],
            // Bedrock (harness-sdk#3969).
            &["too many total text bytes"],
            // OpenAI says this of a request that is larger than a minute's limit, with status 429.
            &["request too large", "must be reduced"],
        ];
        const RATE: [&str; 7] =
            ["rate limit", "rate-limit", "too many requests", "throttl", "per minute", "per day", "please wait"];
        let said = self.message.to_lowercase();
        let in_order = |words: &[&str]| {
            let mut rest = said.as_str();
            words.iter().all(|word| rest.split_once(word).map(|(_, after)| rest = after).is_some())
        };
        let is_rate = RATE.iter().any(|words| said.contains(words)) && !said.contains("must be reduced");
        // Z.ai.
        self.has_code("1261")
            || KINDS.iter().any(|kind| self.has(kind))
            || (!matches!(status, Some(401..=404)) && !is_rate && WORDS.iter().any(|words| in_order(words)))
            || (!matches!(status, Some(401..=404 | 429)) && !is_rate && exceeds(&said))
    }

    /// Gemini and xAI respond with 400 to a wrong key.
    fn is_bad_key(&self) -> bool {
        let said = self.message.to_lowercase();
        self.has("invalid_api_key")
            || (said.contains("api key")
                && ["not valid", "incorrect", "invalid", "expired"].iter().any(|word| said.contains(word)))
    }

    /// Servers respond with 404 or 400 if they do not have the model.
    fn lacks_model(&self, status: u16) -> bool {
        const WORDS: [&str; 7] = [
            "not found",
            "does not exist",
            "not a valid model",
            "invalid model",
            "unknown model",
            "no such model",
            "not available",
        ];
        let said = self.message.to_lowercase();
        match status {
            404 => self.has("model_not_found") || said.contains("model") || said.contains("no endpoints found"),
            400 => {
                self.has("model_not_found")
                    || (said.contains("model") && WORDS.iter().any(|words| said.contains(words)))
            }
            _ => false,
        }
    }

    /// Whether the model calls no tools: Ollama, OpenRouter (pydantic-ai#2896), vLLM without a parser for the model's calls.
    fn lacks_tools(&self, status: u16) -> bool {
        const WORDS: [&str; 3] = ["does not support tools", "endpoints found that support tool use", VLLM_TOOLS];
        matches!(status, 400 | 404) && WORDS.iter().any(|words| self.message.contains(words))
    }

    /// Anthropic: the key's organisation forbids it, or a header was lost on the way.
    fn refuses_pages(&self) -> bool {
        self.message.contains("CORS") || self.message.contains("direct-browser-access")
    }
}

/// Whether a text in lower case says that the tokens of the prompt are more than the most there may be. Services say it in words of their
/// own: "number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit" (cursor-byok#129), "prompt tokens (1200008) exceed
/// model maximum" (harness-sdk#3722), "tokens in request more than max tokens allowed" (opencode#27519).
fn exceeds(said: &str) -> bool {
    const PROMPT: [&str; 6] =
        ["prompt token", "input token", "tokens in request", "tokens in the request", "request token", "prompt length"];
    const MORE: [&str; 6] = ["exceed", "more than", "longer than", "larger than", "greater than", "over the"];
    const MOST: [&str; 3] = ["max", "limit", "allowed"];
    let after =
        |text: &'_ str, words: &[&str]| words.iter().filter_map(|words| Some(text.find(words)? + words.len())).min();
    let behind = |words| after(said, words).and_then(|at| said.get(at..));
    let more = behind(&PROMPT).and_then(|rest| rest.get(after(rest, &MORE)?..));
    more.is_some_and(|rest| MOST.iter().any(|words| rest.contains(words)))
}

/// The option of vLLM that its error names.
const VLLM_TOOLS: &str = "--enable-auto-tool-choice";

/// The message: what happened, what the provider said, what to do.
fn message(p: &ProviderConfig, status: u16, slug: Slug, error: &ErrorBody, is_page: bool, keyed: bool) -> String {
    let host = endpoint::host(p);
    let happened = match slug {
        Slug::AuthError if error.refuses_pages() => {
            format!("{host} does not accept calls from a web page with this key ({status}).")
        }
        Slug::AuthError if status == 403 => format!("{host} does not allow this (403)."),
        Slug::AuthError if !keyed => format!("{host} wants a key, and none was sent ({status})."),
        Slug::AuthError => format!("{host} did not accept the key ({status})."),
        Slug::QuotaError => format!("The account at {host} has no quota or credit left ({status})."),
        Slug::RateLimited => format!("{host} received too many requests ({status})."),
        Slug::Timeout => format!("{host} timed out ({status})."),
        Slug::ContextGuard => format!("The conversation is too long for {} ({status}).", model(p)),
        _ if is_redirect(status) => format!("{host} redirects the request to another address."),
        _ if is_page => format!("{host} answered with a web page ({status}), not with a model's reply."),
        _ if status >= 500 => format!("{host} has a problem ({status})."),
        _ if error.lacks_tools(status) => format!("{host} does not let {} call tools ({status}).", model(p)),
        _ if error.lacks_model(status) && p.model.is_empty() => format!("{host} needs the name of a model ({status})."),
        _ if error.lacks_model(status) => format!("{host} has no model {} ({status}).", model(p)),
        _ if status == 404 || status == 405 => format!("{host} has nothing at {} ({status}).", endpoint::reply_url(p)),
        _ if status < 400 => format!("{host} answered {status} without a reply."),
        _ => format!("{host} refused the request ({status})."),
    };
    let mut text = happened;
    if !error.message.is_empty() {
        let by = if is_page { "The page's title" } else { "It says" };
        text.push_str(&format!(" {by}: {}", error.message));
        if !error.message.ends_with(['.', '!', '?', '…']) {
            text.push('.');
        }
    }
    if let Some(advice) = advice(p, status, slug, error, is_page, keyed) {
        text.push(' ');
        text.push_str(&advice);
    }
    text
}

fn advice(
    p: &ProviderConfig,
    status: u16,
    slug: Slug,
    error: &ErrorBody,
    is_page: bool,
    keyed: bool,
) -> Option<String> {
    let base = endpoint::base(p);
    Some(match slug {
        Slug::AuthError if error.refuses_pages() => {
            "Allow it in the organisation's settings, or call the API through your own server, which adds the key."
                .to_owned()
        }
        Slug::AuthError if status == 403 && endpoint::is_ollama(p) => {
            "Ollama only answers pages whose origin is listed in OLLAMA_ORIGINS. Set it and restart Ollama.".to_owned()
        }
        Slug::AuthError if status == 403 => format!("Check that the key may use {}.", model(p)),
        Slug::AuthError if !keyed => "Enter the key for this address.".to_owned(),
        Slug::AuthError => "Check that the key is complete and belongs to this provider.".to_owned(),
        Slug::QuotaError => "Add credit there, or choose another provider.".to_owned(),
        Slug::ContextGuard => "Shorten the tool results, or use a model with a larger context window.".to_owned(),
        Slug::ProviderError if error.lacks_tools(status) => {
            if error.message.contains(VLLM_TOOLS) {
                format!("Start vLLM with {VLLM_TOOLS} and the --tool-call-parser of the model.")
            } else if endpoint::host(p) == "openrouter.ai" {
                "Choose one that calls tools: openrouter.ai/models?supported_parameters=tools lists them.".to_owned()
            } else {
                "Choose one that calls tools, or run without tools.".to_owned()
            }
        }
        Slug::ProviderError if error.lacks_model(status) && !is_page => match endpoint::is_ollama(p) {
            true => format!("`ollama pull {}` fetches it.", p.model),
            false => wire(p.kind).no_such_model.to_owned(),
        },
        Slug::ProviderError if is_redirect(status) => {
            format!(
                "The redirect was not followed, because the key would have been sent there too. Set the base URL \
                 ({base}) to the new address."
            )
        }
        // Its words for that are not known.
        Slug::ProviderError if matches!(status, 400 | 422) && !ServerRow::of(p).tools => {
            format!("{} takes no tools: run without them, or use another provider.", ServerRow::of(p).title)
        }
        // OpenAI's newer models think in Responses only, if they have tools.
        Slug::ProviderError
            if status == 400 && p.kind == ProviderKind::Openai && error.message.contains("/v1/responses") =>
        {
            "Use the provider openai-responses (openaiResponses in code), or set reasoning to none (reasoning: 'none')."
                .to_owned()
        }
        Slug::ProviderError if matches!(status, 400 | 422) && !is_page => {
            format!("Check the options of this run and whether {} takes them.", model(p))
        }
        Slug::ProviderError if status < 500 && (is_page || matches!(status, 404 | 405)) => match better_base(p) {
            Some(better) => format!("Check the base URL: it is {base}, try {better} instead."),
            None => format!("Check the base URL ({base})."),
        },
        _ => return None,
    })
}

fn is_redirect(status: u16) -> bool {
    status == 0 || (300..400).contains(&status)
}

fn model(p: &ProviderConfig) -> String {
    if p.model.is_empty() { "the model".to_owned() } else { format!("\"{}\"", p.model) }
}

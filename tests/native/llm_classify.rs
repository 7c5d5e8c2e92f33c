//! Responses of servers and browsers other than a reply: slug, retry, wait, and a helpful message.

use turnwise_engine::*;
use turnwise_llm::retry_after::http_date;
use turnwise_llm::{RetryHeaders, classify_response};

const OLLAMA: &str = "http://localhost:11434/v1";
const OTHER: &str = "https://models.example.org/v1";

fn provider(base_url: &str) -> ProviderConfig {
    let (kind, model) = (ProviderKind::Openai, "qwen3:8b".into());
    ProviderConfig { kind, base_url: base_url.into(), model, ..ProviderConfig::default() }
}

fn classify(base_url: &str, status: u16, body: &str) -> ModelError {
    let kind = if body.starts_with('<') { "text/html; charset=utf-8" } else { "application/json" };
    classify_response(&provider(base_url), status, &RetryHeaders::default(), kind, body, EpochMillis(0))
}

#[test]
fn answers_become_slugs_retries_and_words_that_help() {
    use Retry::{Fatal, Yes};
    use Slug::*;
    // base URL, status, body, slug, retry, text in the message
    let cases = [
        (
            OTHER,
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-x***1.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            AuthError,
            Fatal,
            &["did not accept the key (401)", "Incorrect API key", "Check that the key"][..],
        ),
        (
            OTHER,
            403,
            r#"{"error":{"message":"Your key lacks scopes","code":403}}"#,
            AuthError,
            Fatal,
            &["(403)", "lacks scopes", "qwen3:8b"],
        ),
        (OLLAMA, 403, "", AuthError, Fatal, &["OLLAMA_ORIGINS"]),
        (
            OTHER,
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
            AuthError,
            Fatal,
            &["API key not valid"],
        ),
        (
            OTHER,
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
            QuotaError,
            Fatal,
            &["no quota or credit", "Insufficient Balance"],
        ),
        (
            OTHER,
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            QuotaError,
            Fatal,
            &["exceeded your current quota", "credit"],
        ),
        (
            OTHER,
            429,
            r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan","status":"RESOURCE_EXHAUSTED"}}]"#,
            RateLimited,
            Yes,
            &["too many requests"],
        ),
        (OTHER, 429, "", RateLimited, Yes, &["too many requests (429)"]),
        (OTHER, 408, "", Timeout, Yes, &["timed out"]),
        (OTHER, 409, r#"{"error":"conflict"}"#, ProviderError, Yes, &["conflict"]),
        (
            OTHER,
            500,
            r#"{"error":{"message":"The server had an error","type":"server_error"}}"#,
            ProviderError,
            Yes,
            &["has a problem (500)", "had an error"],
        ),
        (
            OTHER,
            502,
            "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
            ProviderError,
            Yes,
            &["web page (502)", "502 Bad Gateway"],
        ),
        (
            OTHER,
            503,
            r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#,
            ProviderError,
            Yes,
            &["Loading model"],
        ),
        (
            OTHER,
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ProviderError,
            Yes,
            &["Overloaded"],
        ),
        (
            OTHER,
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            ContextGuard,
            Fatal,
            &["too long for \"qwen3:8b\"", "8192"],
        ),
        (
            OTHER,
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":4096}}"#,
            ContextGuard,
            Fatal,
            &["too long"],
        ),
        (
            OTHER,
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}"#,
            ContextGuard,
            Fatal,
            &["4096"],
        ),
        (
            OTHER,
            500,
            r#"{"error":{"code":500,"message":"too long","type":"exceed_context_size_error"}}"#,
            ContextGuard,
            Fatal,
            &["too long"],
        ),
        (OTHER, 413, "<html><title>413 Request Entity Too Large</title>", ContextGuard, Fatal, &["too long"]),
        (
            OTHER,
            400,
            r#"{"error":{"message":"Unsupported value: 'temperature'","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}"#,
            ProviderError,
            Retry::With(Correction::NoSampling),
            &["refused the request (400)", "'temperature'."],
        ),
        (
            OTHER,
            422,
            r#"{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error"}]}"#,
            ProviderError,
            Fatal,
            &["field required"],
        ),
        (
            OTHER,
            404,
            r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","code":"model_not_found"}}"#,
            ProviderError,
            Fatal,
            &["no model \"qwen3:8b\"", "Check the model's name"],
        ),
        (
            OLLAMA,
            404,
            r#"{"error":"model 'qwen3:8b' not found, try pulling it first"}"#,
            ProviderError,
            Fatal,
            &["no model", "`ollama pull qwen3:8b`"],
        ),
        (
            "http://localhost:11434",
            404,
            "404 page not found",
            ProviderError,
            Fatal,
            &["nothing at http://localhost:11434/chat/completions", "try http://localhost:11434/v1 instead"],
        ),
        (OTHER, 404, "", ProviderError, Fatal, &["nothing at", "Check the base URL (https://models.example.org/v1)"]),
        (OTHER, 405, r#"{"detail":"Method Not Allowed"}"#, ProviderError, Fatal, &["Method Not Allowed", "base URL"]),
        (
            "https://docs.example.org",
            200,
            "<!doctype html><TITLE>Docs</TITLE>",
            ProviderError,
            Fatal,
            &["web page (200)", "Docs", "/v1"],
        ),
        (
            OTHER,
            200,
            r#"{"error":{"message":"Rate limit exceeded","code":429}}"#,
            RateLimited,
            Yes,
            &["Rate limit exceeded"],
        ),
        (
            OTHER,
            200,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"prompt is too long: 9 tokens"}}}"#,
            ContextGuard,
            Fatal,
            &["prompt is too long"],
        ),
        // Gemini.
        (
            OTHER,
            400,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            ContextGuard,
            Fatal,
            &["1048576"],
        ),
        (
            OTHER,
            400,
            r#"{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}}"#,
            AuthError,
            Fatal,
            &["API key expired"],
        ),
        (
            OTHER,
            400,
            r#"{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}"#,
            ProviderError,
            Fatal,
            &["User location"],
        ),
        (OTHER, 204, "", ProviderError, Fatal, &["answered 204 without a reply"]),
        (OTHER, 418, "I'm a teapot", ProviderError, Fatal, &["I'm a teapot"]),
    ];
    for (base_url, status, body, slug, retry, says) in cases {
        let error = classify(base_url, status, body);
        assert_eq!((error.slug, error.retry), (slug, retry), "{status} {body}: {}", error.message);
        assert_eq!(error.status, Some(status));
        for part in says {
            assert!(error.message.contains(part), "{status} {body}: {part:?} is not in {:?}", error.message);
        }
        assert!(!error.message.contains('<'), "no markup in {:?}", error.message);
        assert_eq!(error.retry_after_ms, None);
    }
}

#[test]
fn the_errors_of_anthropic_become_slugs_and_retries() {
    use Retry::{Fatal, Yes};
    let p = ProviderConfig { kind: ProviderKind::Anthropic, model: "claude-x".into(), ..ProviderConfig::default() };
    // status, type, message, slug, retry, text in the message
    let cases = [
        (400, "invalid_request_error", "messages: at least one message", Slug::ProviderError, Fatal, "at least one"),
        (400, "invalid_request_error", "Your credit balance is too low to access", Slug::QuotaError, Fatal, "credit"),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8", Slug::ContextGuard, Fatal, "\"claude-x\""),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 7 + 2 > 8",
            Slug::ContextGuard,
            Fatal,
            "7 + 2",
        ),
        (401, "authentication_error", "invalid x-api-key", Slug::AuthError, Fatal, "Check that the key"),
        (402, "billing_error", "pay", Slug::QuotaError, Fatal, "pay"),
        (403, "permission_error", "not for you", Slug::AuthError, Fatal, "may use \"claude-x\""),
        (404, "not_found_error", "model: claude-x", Slug::ProviderError, Fatal, "has no model \"claude-x\""),
        (413, "request_too_large", "Request exceeds the maximum size", Slug::ContextGuard, Fatal, "too long"),
        (429, "rate_limit_error", "slow down", Slug::RateLimited, Yes, "api.anthropic.com received too many requests"),
        (500, "api_error", "Internal server error", Slug::ProviderError, Yes, "has a problem (500)"),
        (504, "timeout_error", "took too long", Slug::Timeout, Yes, "timed out (504)"),
        (529, "overloaded_error", "Overloaded", Slug::ProviderError, Yes, "Overloaded"),
    ];
    for (status, kind, said, slug, retry, says) in cases {
        let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{said}"}},"request_id":"req_1"}}"#);
        let error = classify_response(&p, status, &RetryHeaders::default(), "application/json", &body, EpochMillis(0));
        assert_eq!((error.slug, error.retry), (slug, retry), "{body}: {}", error.message);
        assert!(error.message.contains(says), "{says:?} is not in {:?}", error.message);
    }
}

#[test]
fn the_servers_own_word_on_trying_again_is_obeyed() {
    let cases = [
        (529, Some("false"), Slug::ProviderError, Retry::Fatal),
        (429, Some("false"), Slug::RateLimited, Retry::Fatal),
        (429, Some("true"), Slug::RateLimited, Retry::Yes),
        (400, Some(" true "), Slug::ProviderError, Retry::Yes),
        (400, Some("maybe"), Slug::ProviderError, Retry::Fatal),
        (500, Some("maybe"), Slug::ProviderError, Retry::Yes),
        (401, Some("true"), Slug::AuthError, Retry::Fatal),
        (402, Some("true"), Slug::QuotaError, Retry::Fatal),
        (413, Some("true"), Slug::ContextGuard, Retry::Fatal),
    ];
    for (status, word, slug, retry) in cases {
        let headers = RetryHeaders {
            retry_after: Some("2".into()),
            should_retry: word.map(str::to_owned),
            ..RetryHeaders::default()
        };
        let error = classify_response(&provider(OTHER), status, &headers, "", "", EpochMillis(0));
        assert_eq!((error.slug, error.retry), (slug, retry), "{status} {word:?}");
        assert_eq!(error.retry_after_ms, (retry == Retry::Yes).then_some(2_000), "{status} {word:?}");
    }
}

#[test]
fn a_redirect_is_not_followed_and_says_what_to_set() {
    for (status, recorded) in [(0, None), (302, Some(302)), (307, Some(307))] {
        let error = classify(OTHER, status, "");
        assert_eq!((error.slug, error.retry, error.status), (Slug::ProviderError, Retry::Fatal, recorded));
        assert!(error.message.contains("redirects the request"), "{}", error.message);
        assert!(error.message.contains("Set the base URL"), "{}", error.message);
    }
}

#[test]
fn every_status_is_classified_as_the_rules_say() {
    for status in 400..=599 {
        let error = classify(OTHER, status, "");
        let again = matches!(status, 408 | 409 | 429 | 500..=599);
        assert_eq!(error.retry == Retry::Yes, again, "{status}");
        assert!(error.message.len() > 20, "{status}: {}", error.message);
    }
}

#[test]
fn the_wait_that_was_asked_for_is_read_in_every_form() {
    const NOW: u64 = 784_111_767_000; // ten seconds before the date below
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let cases = [
        (None, None, None),
        (Some("2"), None, Some(2_000)),
        (Some(" 0.5 "), None, Some(500)),
        (Some("2"), Some("150"), Some(150)),
        (Some("2"), Some("soon"), Some(2_000)),
        (Some("-1"), None, None),
        (Some("inf"), None, None),
        (Some("later"), None, None),
        (Some(date), None, Some(10_000)),
        (Some("Sunday, 06-Nov-94 08:49:37 GMT"), None, Some(10_000)),
        (Some("Sun Nov  6 08:49:37 1994"), None, Some(10_000)),
        (Some("Sun, 06 Nov 1994 08:00:00 GMT"), None, Some(0)),
        (Some("Sun, 06 Nov 1994"), None, None),
    ];
    for (retry_after, retry_after_ms, expected) in cases {
        let headers = RetryHeaders {
            retry_after: retry_after.map(str::to_owned),
            retry_after_ms: retry_after_ms.map(str::to_owned),
            ..RetryHeaders::default()
        };
        let error = classify_response(&provider(OTHER), 429, &headers, "", "", EpochMillis(NOW));
        assert_eq!(error.retry_after_ms, expected, "{retry_after:?} {retry_after_ms:?}");
        let fatal = classify_response(&provider(OTHER), 401, &headers, "", "", EpochMillis(NOW));
        assert_eq!(fatal.retry_after_ms, None, "what is not tried again has no wait");
    }
}

#[test]
fn the_wait_in_the_body_counts_where_the_header_cannot_be_read() {
    let cases = [
        (r#"{"error":{"message":"Rate limit reached. Please try again in 1m2.5s. Visit"}}"#, Some(62_500)),
        (r#"{"error":{"message":"Please try again in 350ms."}}"#, Some(350)),
        (r#"{"error":{"message":"Please try again in a while."}}"#, None),
        (
            r#"[{"error":{"code":429,"message":"x","details":[{"@type":"a"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]"#,
            Some(34_000),
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(classify(OTHER, 429, body).retry_after_ms, expected, "{body}");
    }
    let headers = RetryHeaders { retry_after: Some("3".into()), ..RetryHeaders::default() };
    let error = classify_response(&provider(OTHER), 429, &headers, "", cases[0].0, EpochMillis(0));
    assert_eq!(error.retry_after_ms, Some(3_000));
}

#[test]
fn dates_are_counted_like_the_calendar_does() {
    let cases = [
        ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
        ("Tue, 29 Feb 2000 12:00:00 GMT", Some(951_825_600_000)),
        ("Sat, 21 Nov 2026 22:49:04 GMT", Some(1_795_301_344_000)),
        ("Fri, 31 Dec 2100 23:59:59 GMT", Some(4_133_980_799_000)),
        ("Sat, 21 Nov 2026 24:00:00 GMT", None),
        ("Sat, 41 Nov 2026 20:00:00 GMT", None),
        ("Sat, 21 Foo 2026 20:00:00 GMT", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(http_date(text).map(|at| at.0), expected, "{text}");
    }
}

//! Wrong key, unknown model, wrong base URL: told apart for every kind of provider, with the base URL to try.

use turnwise_engine::ProviderKind::*;
use turnwise_engine::*;
use turnwise_llm::{Decoder, RetryHeaders, classify_response, models_head, request_head, server};

fn answer(kind: ProviderKind, base_url: &str, status: u16, body: &str) -> ModelError {
    let p = ProviderConfig { kind, base_url: base_url.into(), model: "m-1".into(), ..ProviderConfig::default() };
    let content = if body.starts_with('<') { "text/html" } else { "application/json" };
    classify_response(&p, status, &RetryHeaders::default(), content, body, EpochMillis(0))
}

#[test]
fn the_version_of_an_azure_address_goes_behind_the_path() {
    // oh-my-pi#782, litellm#8572
    let head = |kind, base_url: &str| {
        let p = ProviderConfig { kind, base_url: base_url.into(), model: "m-1".into(), ..ProviderConfig::default() };
        (request_head(&p, None).url, models_head(&p, None).url, server(&p).map(|address| address.to_string()))
    };
    let azure = "https://a.openai.azure.com/openai/deployments/d";
    for given in [
        format!("{azure}?api-version=2024-10-21"),
        format!("{azure}/?api-version=2024-10-21"),
        format!("{azure}/chat/completions?api-version=2024-10-21"),
    ] {
        let (reply, models, address) = head(Openai, &given);
        assert_eq!(reply, format!("{azure}/chat/completions?api-version=2024-10-21"));
        assert_eq!(models, format!("{azure}/models?api-version=2024-10-21"));
        // The key is bound to the server, whatever its version.
        assert_eq!(address, Ok(azure.to_owned()));
    }
    assert!(
        head(Gemini, "https://g.example.org/v1?api-version=1")
            .0
            .ends_with(":streamGenerateContent?alt=sse&api-version=1")
    );
    // Another query may hold a key, which would be in every record.
    for query in ["?key=abc", "?api-version=1&key=abc", "?api-version=", "?api-version=a%20b", "?", "#a"] {
        assert!(head(Openai, &format!("{azure}{query}")).2.is_err(), "{query}");
    }
}

#[test]
fn an_address_that_leads_nowhere_is_corrected() {
    // kind, base URL, suggestion
    let rows = [
        (Openai, "https://api.openai.com", Some("https://api.openai.com/v1")),
        (Openai, "https://api.openai.com/v1/", None),
        (Openai, "https://api.openai.com/v1/chat/completions", None),
        (Openai, "https://api.openai.com/v1/v1", Some("https://api.openai.com/v1")),
        (OpenaiResponses, "https://api.openai.com/v2", Some("https://api.openai.com/v1")),
        (OpenaiResponses, "https://api.openai.com/v1/responses", None),
        (Anthropic, "https://api.anthropic.com", Some("https://api.anthropic.com/v1")),
        (Anthropic, "https://proxy.example.org/claude", Some("https://proxy.example.org/claude/v1")),
        (Gemini, "https://generativelanguage.googleapis.com", Some("https://generativelanguage.googleapis.com/v1beta")),
        (Gemini, "https://proxy.example.org/v1beta/openai", Some("https://proxy.example.org/v1beta")),
        (Gemini, "https://proxy.example.org", Some("https://proxy.example.org/v1beta")),
        (
            Openai,
            "https://generativelanguage.googleapis.com/v1beta",
            Some("https://generativelanguage.googleapis.com/v1beta/openai"),
        ),
        (Openai, "https://generativelanguage.googleapis.com/v1beta/openai", None),
        (Openrouter, "https://openrouter.ai/v1", Some("https://openrouter.ai/api/v1")),
        (Openrouter, "https://openrouter.ai", Some("https://openrouter.ai/api/v1")),
        (Openai, "https://openrouter.ai/v1", Some("https://openrouter.ai/api/v1")),
        (Ollama, "http://localhost:11434", Some("http://localhost:11434/v1")),
        (Ollama, "http://localhost:11434/api", Some("http://localhost:11434/v1")),
        (Ollama, "http://localhost:11434/api/chat", Some("http://localhost:11434/v1")),
        (Ollama, "http://localhost:11434/v1/models", Some("http://localhost:11434/v1")),
        (Lmstudio, "http://localhost:1234/api/v0", Some("http://localhost:1234/v1")),
        (Llamacpp, "http://127.0.0.1:8081/v1", None),
        (Llamacpp, "http://127.0.0.1:8081/v1/v1", Some("http://127.0.0.1:8081/v1")),
        // Addresses with their own layout are left alone.
        (Openai, "https://api.groq.com/openai/v1", None),
        (Openai, "https://api.z.ai/api/paas/v4", None),
        (Openai, "https://models.github.ai/inference", None),
        (Openai, "https://gateway.ai.cloudflare.com/v1/account/gateway/openai", None),
        (Openai, "/llm/v1", None),
        (Openai, "/llm", None),
    ];
    for (kind, base, better) in rows {
        for (status, body) in [(404, ""), (405, r#"{"detail":"Method Not Allowed"}"#), (200, "<title>Home</title>")] {
            let error = answer(kind, base, status, body);
            assert_eq!((error.slug, error.retry), (Slug::ProviderError, Retry::Fatal), "{base}");
            let proposed = error.message.split_once(", try ").and_then(|(_, rest)| rest.strip_suffix(" instead."));
            assert_eq!(proposed, better, "{kind:?} {base} {status}: {}", error.message);
            assert!(error.message.contains("Check the base URL"), "{}", error.message);
        }
    }
}

#[test]
fn each_kind_tells_a_wrong_key_from_a_missing_model() {
    // kind, status and body of a wrong key, status and body of a missing model, what to do then
    let rows = [
        (
            Openai,
            (
                401,
                r#"{"error":{"message":"Incorrect API key provided: sk-1.","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            ),
            (
                404,
                r#"{"error":{"message":"The model `m-1` does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}"#,
            ),
            "Check the model's name.",
        ),
        (
            OpenaiResponses,
            (
                401,
                r#"{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"The requested model 'm-1' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}"#,
            ),
            "Check the model's name.",
        ),
        (
            Anthropic,
            (401, r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#),
            (404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: m-1"}}"#),
            "Check the model's name.",
        ),
        (
            Gemini,
            (
                400,
                r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#,
            ),
            (
                404,
                r#"{"error":{"code":404,"message":"models/m-1 is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}"#,
            ),
            "Check the model's name.",
        ),
        (
            Openrouter,
            (401, r#"{"error":{"message":"User not found.","code":401}}"#),
            (400, r#"{"error":{"message":"m-1 is not a valid model ID","code":400}}"#),
            "it looks like vendor/model",
        ),
        (
            Openrouter,
            (401, r#"{"error":{"message":"No auth credentials found","code":401}}"#),
            (404, r#"{"error":{"message":"No endpoints found for m-1.","code":404}}"#),
            "it looks like vendor/model",
        ),
        (
            Ollama,
            (401, r#"{"error":"unauthorized"}"#),
            (404, r#"{"error":{"message":"model 'm-1' not found","type":"not_found_error"}}"#),
            "`ollama pull m-1`",
        ),
        (
            Lmstudio,
            (401, r#"{"error":{"message":"Invalid API token","type":"invalid_request_error"}}"#),
            (
                400,
                r#"{"error":{"message":"Invalid model identifier \"m-1\". Please specify a valid downloaded model.","type":"invalid_request_error","code":"model_not_found"}}"#,
            ),
            "`lms ls`",
        ),
        (
            Llamacpp,
            (401, r#"{"error":{"code":401,"message":"Invalid API Key","type":"authentication_error"}}"#),
            (400, r#"{"error":{"code":400,"message":"model 'm-1' not found","type":"invalid_request_error"}}"#),
            "Check the model's name.",
        ),
    ];
    for (kind, key, model, advice) in rows {
        let error = answer(kind, "", key.0, key.1);
        assert_eq!((error.slug, error.retry), (Slug::AuthError, Retry::Fatal), "{kind:?}: {}", error.message);
        assert!(error.message.contains("did not accept the key"), "{kind:?}: {}", error.message);
        let error = answer(kind, "", model.0, model.1);
        assert_eq!((error.slug, error.retry), (Slug::ProviderError, Retry::Fatal), "{kind:?}: {}", error.message);
        assert!(error.message.contains("has no model \"m-1\""), "{kind:?}: {}", error.message);
        assert!(error.message.contains(advice), "{kind:?}: {}", error.message);
    }
}

#[test]
fn a_model_without_a_name_is_asked_for() {
    let p =
        ProviderConfig { kind: Openai, base_url: "https://models.example.org/v1".into(), ..ProviderConfig::default() };
    let body = r#"{"error":"model '' not found"}"#;
    let error = classify_response(&p, 404, &RetryHeaders::default(), "application/json", body, EpochMillis(0));
    assert!(error.message.starts_with("models.example.org needs the name of a model (404)."), "{}", error.message);
}

#[test]
fn a_refused_request_that_only_mentions_the_model_is_no_missing_model() {
    let error = answer(Openai, "", 400, r#"{"error":{"message":"This model does not support pictures."}}"#);
    assert!(error.message.contains("refused the request (400)"), "{}", error.message);
}

#[test]
fn anthropic_says_that_it_takes_no_pages() {
    let bodies = [
        "CORS requests must set 'anthropic-dangerous-direct-browser-access' header",
        "CORS requests are not allowed for this Organization because of its settings.",
    ];
    for said in bodies {
        let body = serde_json::json!({ "type": "error", "error": { "type": "authentication_error", "message": said } });
        let error = answer(Anthropic, "", 401, &body.to_string());
        assert_eq!(error.slug, Slug::AuthError);
        assert!(
            error.message.contains("does not accept calls from a web page with this key (401)"),
            "{}",
            error.message
        );
        assert!(error.message.contains("call the API through your own server"), "{}", error.message);
    }
}

#[test]
fn lm_studio_answers_200_where_the_path_is_wrong() {
    let mut decoder = Decoder::new(&ProviderConfig { kind: Lmstudio, ..ProviderConfig::default() });
    decoder.push(br#"{"error":"Unexpected endpoint or method. (POST /chat/completions)"}"#);
    let error = decoder.finish().0.expect_err("no reply");
    assert_eq!((error.slug, error.retry), (Slug::ProviderError, Retry::Fatal), "{}", error.message);
    assert!(error.message.contains("end in /v1"), "{}", error.message);
}

#[test]
fn a_model_without_tools_is_named_with_a_way_out() {
    // kind, status, body, advice. pydantic-ai#2896; vLLM: its documentation of tool calls.
    let rows = [
        (
            Ollama,
            400,
            r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}"#,
            "Choose one that calls tools, or run without tools.",
        ),
        (
            Openrouter,
            404,
            r#"{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}"#,
            "openrouter.ai/models?supported_parameters=tools",
        ),
        (
            Openai,
            400,
            r#"{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}}"#,
            "Start vLLM with --enable-auto-tool-choice",
        ),
    ];
    for (kind, status, body, advice) in rows {
        let error = answer(kind, "", status, body);
        assert_eq!((error.slug, error.retry), (Slug::ProviderError, Retry::Fatal), "{}", error.message);
        assert!(error.message.contains("does not let \"m-1\" call tools"), "{}", error.message);
        assert!(error.message.contains(advice), "{}", error.message);
    }
    // A route that does not exist is another matter.
    let missing = answer(Openrouter, "", 404, r#"{"error":{"message":"No endpoints found for m-1.","code":404}}"#);
    assert!(missing.message.contains("has no model"), "{}", missing.message);
}

#[test]
fn a_tool_choice_that_no_server_behind_openrouter_takes_is_left_out_next() {
    let body = r#"{"error":{"message":"No endpoints found that support the provided 'tool_choice' value. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}"#;
    assert_eq!(answer(Openrouter, "", 404, body).retry, Retry::With(Correction::NoToolChoice)); // zed#36094
}

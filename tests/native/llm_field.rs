//! What model servers really send, from public bug reports (the comment of each case): too long, out of money, waits, failures inside
//! a stream, and fields of unexpected types. Each kind also has texts that look alike and mean something else.

use turnwise_engine::*;
use turnwise_llm::{RetryHeaders, classify_response};

use crate::support::splits;

const NOW: EpochMillis = EpochMillis(1_795_000_000_000);

fn classify(status: u16, body: &str) -> ModelError {
    let p = ProviderConfig {
        kind: ProviderKind::Openai,
        base_url: "https://models.example.org/v1".into(),
        model: "m".into(),
        ..ProviderConfig::default()
    };
    classify_response(&p, status, &RetryHeaders::default(), "application/json", body, NOW)
}

fn decode(stream: &str) -> Result<Reply, ModelError> {
    splits::decodes_the_same_in_parts(ProviderKind::Openai, stream, stream.as_bytes());
    splits::decode(ProviderKind::Openai, [stream.as_bytes()]).result
}

fn chunks(all: &[&str]) -> String {
    all.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

#[test]
fn too_long_is_known_in_every_service_s_words() {
    let message = |text: &str| serde_json::json!({ "error": { "message": text } }).to_string();
    let too_long = [
        // cline#3120 (xAI)
        (400, r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 136973 tokens."}"#.to_owned()),
        // kimi-code#207, kimi-code#476
        (400, message("Invalid request: Your request exceeded model token limit: 262144 (requested: 270101)")),
        (400, message("total message size 10176584 exceeds limit 2097152")),
        // opencode#45834 (DashScope)
        (400, message("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]")),
        // Tycode#15 (Bedrock)
        (400, r#"{"message":"The model returned the following errors: Input is too long for requested model."}"#.to_owned()),
        // continue#10602 (OpenAI)
        (429, r#"{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 61337. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}"#.to_owned()),
        // pi#4943 (Poolside)
        (400, message("Input length 131393 exceeds the maximum allowed input length of 131040 tokens.")),
        // openclaw#129352 (SGLang)
        (400, message("The input (263000 tokens) is longer than the model's context length (262144 tokens).")),
        // Z.ai, Cerebras, Groq, Text Generation Inference, LM Studio, GitHub Models, vLLM behind a gateway that says 500
        (400, r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#.to_owned()),
        (400, message("Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192")),
        (400, message("Please reduce the length of the messages or completion.")),
        (422, r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens","error_type":"validation"}"#.to_owned()),
        (400, message("Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens")),
        (413, message("Request body too large for gpt-4.1 model. Max size: 8000 tokens.")),
        (500, message("This model's maximum context length is 4096 tokens.")),
    ];
    for (status, body) in too_long {
        let error = classify(status, &body);
        assert_eq!((error.slug, error.retry), (Slug::ContextGuard, Retry::Fatal), "{status} {body}: {}", error.message);
    }
    let others = [
        (
            429,
            message("Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000."),
        ),
        (429, message("ThrottlingException: Too many tokens, please wait before trying again.")),
        (
            400,
            message(
                "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
            ),
        ),
        (400, message("max_tokens is too large: 100000. This model supports at most 16384 completion tokens.")),
        (403, message("This key may not use the model's long context length.")),
    ];
    for (status, body) in others {
        assert_ne!(classify(status, &body).slug, Slug::ContextGuard, "{status} {body}");
    }
}

#[test]
fn an_empty_account_is_not_asked_again() {
    let empty = [
        // Z.ai with 429, Moonshot, xAI, MiniMax, Alibaba, oh-my-pi#3102 (401), agentao#283
        (429, r#"{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}"#),
        (429, r#"{"error":{"code":1113,"message":"请充值"}}"#),
        (
            429,
            r#"{"error":{"message":"Your account is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}"#,
        ),
        (
            403,
            r#"{"code":"The caller does not have permission","error":"Your newly created team doesn't have any credits yet."}"#,
        ),
        (
            429,
            r#"{"code":"Some resource has been exhausted","error":"Your team has either used all available credits or reached its monthly spending limit."}"#,
        ),
        (200, r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#),
        (
            400,
            r#"{"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}}"#,
        ),
        (401, r#"{"error":"Insufficient balance. Manage your billing here"}"#),
        (429, r#"{"error":{"code":"organization_spend_limit_exceeded","message":"Limit"}}"#),
        (402, r#"{"error":{"message":"This request requires more credits, or fewer max_tokens.","code":402}}"#),
    ];
    for (status, body) in empty {
        let error = classify(status, body);
        assert_eq!((error.slug, error.retry), (Slug::QuotaError, Retry::Fatal), "{status} {body}: {}", error.message);
    }
}

#[test]
fn a_reply_that_the_server_could_not_read_is_asked_for_again() {
    let body = r#"{"error":{"message":"Failed to call a function. Please adjust your prompt.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=f>"}}"#;
    assert_eq!(classify(400, body).retry, Retry::Yes);
}

#[test]
fn a_wait_is_read_in_words_units_and_fields() {
    let message = |text: &str| serde_json::json!({ "error": { "message": text } }).to_string();
    let reset = |at: u64| {
        format!(
            r#"{{"error":{{"message":"Rate limit exceeded","code":429,"metadata":{{"headers":{{"X-RateLimit-Reset":"{at}"}}}}}}}}"#
        )
    };
    let cases = [
        // Azure; the same in capitals; kilocode#14269 (Gemini); firecrawl#819
        (message("Requests have exceeded call rate limit. Please retry after 33 seconds."), Some(33_000)),
        (message("PLEASE RETRY AFTER 33 SECONDS"), Some(33_000)),
        (message("Please retry in 7.25s."), Some(7_250)),
        (message("Rate limit exceeded. please retry after 25s, resets at Wed Oct 23 2024 23:13:13"), Some(25_000)),
        (message("Try again in 1 minute and 30 seconds."), Some(90_000)),
        (message("Try again in 2h5m."), Some(7_500_000)),
        (message("Retry after 12"), Some(12_000)),
        (message("Please try again in 350ms."), Some(350)),
        (message("Please retry in a moment"), None),
        (message("Retry after 2 attempts"), None),
        // dirge#719 (OpenRouter): milliseconds; seconds; past
        (reset(NOW.0 + 42_000), Some(42_000)),
        (reset(NOW.0 / 1000 + 42), Some(42_000)),
        (reset(NOW.0 - 1_000), Some(0)),
        (r#"{"error":{"message":"slow","retry_after":3.5}}"#.to_owned(), Some(3_500)),
    ];
    for (body, expected) in cases {
        assert_eq!(classify(429, &body).retry_after_ms, expected, "{body}");
    }
}

#[test]
fn errors_are_read_in_every_shape() {
    let cases = [
        // Cloudflare, xAI, AWS, MiniMax
        (400, r#"{"errors":[{"message":"bad content","code":5006}],"success":false}"#, "bad content"),
        (400, r#"{"errors":{"message":"bad content","code":5006},"success":false}"#, "bad content"),
        (400, r#"{"code":"invalid","error":"no such field"}"#, "no such field"),
        (400, r#"{"Message":"Malformed input"}"#, "Malformed input"),
        (200, r#"{"base_resp":{"status_code":2013,"status_msg":"invalid params"}}"#, "invalid params"),
    ];
    for (status, body, says) in cases {
        let error = classify(status, body);
        assert!(error.message.contains(says), "{body}: {}", error.message);
    }
}

#[test]
fn a_failure_inside_a_stream_keeps_its_words() {
    let begun = r#"{"choices":[{"delta":{"content":"Three"}}]}"#;
    let said =
        r#"{"code":400,"message":"the request exceeds the available context size","type":"invalid_request_error"}"#;
    let cases = [
        // llama.cpp#16109, a flat event, a line without its field, one inside the object
        format!("{}error: {said}\n\n", chunks(&[begun])),
        format!("{}event: error\ndata: {said}\n\n", chunks(&[begun])),
        format!("{}{{\"error\":{said}}}\n", chunks(&[begun])),
        chunks(&[begun, &format!("{{\"error\":{said}}}")]),
    ];
    for stream in cases {
        let error = decode(&stream).unwrap_err();
        assert!(error.message.contains("available context size"), "{stream}: {}", error.message);
        assert_eq!(error.slug, Slug::ContextGuard, "{stream}");
    }
    // What is no error does not cost the reply.
    let reply = decode(&format!(
        "{}{{\"log\":\"x\"}}\n{{\n\n{}",
        chunks(&[begun]),
        chunks(&[r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#])
    ));
    assert_eq!(reply.unwrap().content, "Three");
    for kind in [ProviderKind::OpenaiResponses, ProviderKind::Anthropic, ProviderKind::Gemini] {
        for stream in [
            format!("error: {said}\n\n"),
            format!("{{\"error\":{said}}}\n"),
            chunks(&[&format!("{{\"error\":{said}}}")]),
        ] {
            let stream = format!(": begun\n\n{stream}");
            let error = splits::decode(kind, [stream.as_bytes()]).result.unwrap_err();
            assert!(error.message.contains("available context size"), "{kind:?} {stream}: {}", error.message);
        }
    }
    let error = decode(&format!("{}error: GPU lost\n\n", chunks(&[begun]))).unwrap_err();
    assert!(error.message.contains("GPU lost"), "{}", error.message);
    let error =
        decode(&chunks(&[r#"{"choices":null,"base_resp":{"status_code":1004,"status_msg":"not authorized"}}"#]))
            .unwrap_err();
    assert!(error.message.contains("not authorized"), "{}", error.message);
}

#[test]
fn one_odd_field_does_not_cost_the_reply() {
    let cases = [
        r#"{"id":-1,"choices":[{"index":0,"delta":{"content":"It is 36."}}]}"#,
        r#"{"model":1.5,"choices":[{"index":-1,"delta":{"content":"It is 36."}}]}"#,
        r#"{"choices":[{"index":"0","delta":{"content":"It is 36."},"finish_reason":false}]}"#,
        r#"{"usage":"","error":{},"choices":[{"delta":{"content":"It is 36."}}]}"#,
        r#"{"usage":[],"error":"","choices":[{"error":{},"delta":{"content":"It is 36."}}]}"#,
        r#"{"usage":{"prompt_tokens":"12","prompt_tokens_details":0},"error":false,"choices":[{"delta":{"content":"It is 36."}}]}"#,
        r#"{"base_resp":{"status_code":0,"status_msg":""},"choices":[{"delta":{"content":"It is 36."}}]}"#,
        r#"{"choices":[{"delta":{"content":"It is 36.","refusal":false,"tool_calls":{}}}]}"#,
        r#"{"choices":[{"delta":{"content":"It is 36.","tool_calls":""}}]}"#,
        r#"{"choices":[{"delta":{"content":"It is 36.","tool_calls":[null],"reasoning_details":{}}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"It is 36."}],"reasoning_details":""}}]}"#,
        r#"{"id":"x","id":"x","choices":[{"delta":{"content":"It is 36."}}]}"#,
    ];
    for odd in cases {
        let reply = decode(&chunks(&[odd, r#"{"choices":[{"delta":"","finish_reason":"stop"}]}"#]))
            .unwrap_or_else(|error| panic!("{odd}: {}", error.message));
        assert_eq!((reply.content.as_str(), reply.tool_calls.len()), ("It is 36.", 0), "{odd}");
    }
    let reply =
        decode(&chunks(&[r#"{"choices":[{"index":1,"delta":{"content":"a"},"finish_reason":"stop"}]}"#])).unwrap();
    assert_eq!(reply.content, "a", "the only choice has another index");
}

#[test]
fn thoughts_among_the_parts_are_thoughts() {
    // litellm#16272, vercel/ai#8072 (Magistral)
    let reply = decode(&chunks(&[
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm. "}]}]}}]}"#,
        r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":"So."},{"type":"text","text":"It is "}]}}]}"#,
        r#"{"choices":[{"delta":{"content":"36."},"finish_reason":"stop"}]}"#,
    ]))
    .unwrap();
    assert_eq!((reply.reasoning.as_str(), reply.content.as_str()), ("Hm. So.", "It is 36."));
}

#[test]
fn tokens_are_counted_wherever_the_server_puts_them() {
    let text = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let cases = [
        // Moonshot, Groq, DeepSeek, Kimi, Mistral
        (r#"{"choices":[{"delta":{},"usage":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":4}}]}"#, 4),
        (r#"{"choices":[],"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":2}}}"#, 0),
        (r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":4}}"#, 4),
        (r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"num_cached_tokens":4}}"#, 4),
        (
            r#"{"choices":[],"usage":{"prompt_tokens":"9","completion_tokens":"2","prompt_tokens_details":{"cached_tokens":4},"cached_tokens":1}}"#,
            4,
        ),
    ];
    for (usage, cached) in cases {
        let found = decode(&chunks(&[text, usage])).unwrap().usage.unwrap();
        assert_eq!((found.input.0, found.output.0, found.cached.0), (9, 2, cached), "{usage}");
    }
}

#[test]
fn calls_of_gateways_come_out_whole() {
    let call = |more: &str| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{{more}}}]}}}}]}}"#);
    // Each case: the calls of the chunks, then the calls as name and arguments.
    let cases: [(&str, &[&str], &[&str]); 7] = [
        (
            "bedrock-access-gateway#247",
            &[
                r#""index":-1,"id":"a","function":{"name":"f","arguments":""}"#,
                r#""index":-1,"function":{"arguments":"{\"x\""}"#,
                r#""index":-1,"function":{"arguments":":1}"}"#,
            ],
            &[r#"f {"x":1}"#],
        ),
        (
            "vercel/ai#14722: the name after arguments",
            &[
                r#""index":0,"id":"a","function":{"arguments":"{\"x\":"}"#,
                r#""index":0,"id":"a","function":{"name":"f","arguments":""}"#,
                r#""index":0,"id":"a","function":{"arguments":"1}"}"#,
            ],
            &[r#"f {"x":1}"#],
        ),
        (
            "continue#5849",
            &[
                r#""index":0,"id":"a","function":{"name":"get","arguments":""}"#,
                r#""index":0,"function":{"name":"Price","arguments":""}"#,
                r#""index":0,"function":{"arguments":"{}"}"#,
            ],
            &["getPrice {}"],
        ),
        (
            "the name so far",
            &[
                r#""index":0,"id":"a","function":{"name":"get","arguments":""}"#,
                r#""index":0,"function":{"name":"getPrice","arguments":""}"#,
                r#""index":0,"function":{"arguments":"{}"}"#,
            ],
            &["getPrice {}"],
        ),
        (
            "{} before the arguments",
            &[
                r#""index":0,"id":"a","function":{"name":"f","arguments":"{}"}"#,
                r#""index":0,"function":{"arguments":"{\"x\":"}"#,
                r#""index":0,"function":{"arguments":"1}"}"#,
            ],
            &[r#"f {"x":1}"#],
        ),
        (
            "opencodex#361: the whole arguments twice",
            &[
                r#""index":0,"id":"a","function":{"name":"f","arguments":""}"#,
                r#""index":0,"function":{"arguments":"{\"x\":1}"}"#,
                r#""index":0,"function":{"arguments":"{\"x\":1}"}"#,
            ],
            &[r#"f {"x":1}"#],
        ),
        (
            "numbers as ids and indices as texts",
            &[
                r#""index":"0","id":7,"function":{"name":"f","arguments":"{}"}"#,
                r#""index":"1","id":-8,"function":{"name":"g","arguments":"{}"}"#,
            ],
            &["f {}", "g {}"],
        ),
    ];
    for (name, pieces, expected) in cases {
        let mut all: Vec<String> = pieces.iter().map(|piece| call(piece)).collect();
        all.push(r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.into());
        let reply = decode(&chunks(&all.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
        let found: Vec<_> = reply.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
        assert_eq!(found, expected, "{name}");
    }
    // nanobot#1555: the text in one choice, the calls in the next.
    let whole = r#"{"choices":[{"finish_reason":"tool_calls","message":{"content":"Let me look."}},{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#;
    let reply = decode(whole).unwrap();
    assert_eq!(
        (reply.content.as_str(), reply.tool_calls.len(), reply.finish),
        ("Let me look.", 1, FinishReason::ToolCalls)
    );
    // What is asked for once is not two answers.
    let two = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"a"}},{"index":1,"finish_reason":"stop","message":{"content":"b"}}]}"#;
    assert_eq!(decode(two).unwrap().content, "a");
}

#[test]
fn a_model_that_needs_another_interface_is_named_with_it() {
    // litellm#34569
    let error = classify(
        400,
        r#"{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-6-astra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","type":"invalid_request_error","param":"reasoning_effort","code":null}}"#,
    );
    assert!(
        error.message.contains("openaiResponses") && error.message.contains("reasoning: 'none'"),
        "{}",
        error.message
    );
}

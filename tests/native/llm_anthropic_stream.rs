//! Responses of Anthropic's Messages API: every fixture decodes to its golden reply, however its bytes are split.
//!
//! The fixtures are written by hand from the provider's documentation of streams, thinking, tools and errors; they are
//! not captured.

use crate::support::splits;

use serde_json::{Value, json};
use splits::Decoded;
use turnwise_engine::*;

const KIND: ProviderKind = ProviderKind::Anthropic;

fn fixtures() -> Vec<(String, Vec<u8>)> {
    splits::fixtures("anthropic")
}

fn decode(bytes: &[u8]) -> Decoded {
    splits::decode(KIND, [bytes])
}

/// A stream of events, as sent on the wire.
fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())).collect()
}

fn start() -> Value {
    json!({ "type": "message_start", "message": { "type": "message", "id": "msg_1", "model": "m", "content": [],
        "usage": { "input_tokens": 10, "output_tokens": 1 } } })
}

fn begin(index: u32, block: &Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn delta(index: u32, delta: &Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn text(index: u32, text: &str) -> Value {
    delta(index, &json!({ "type": "text_delta", "text": text }))
}

fn input(index: u32, json: &str) -> Value {
    delta(index, &json!({ "type": "input_json_delta", "partial_json": json }))
}

fn tool(index: u32, id: &str, input: &Value) -> Value {
    begin(index, &json!({ "type": "tool_use", "id": id, "name": "f", "input": input }))
}

fn stopped(reason: &Value) -> Value {
    json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 5 } })
}

fn end() -> Value {
    json!({ "type": "message_stop" })
}

/// Decodes a reply with these events between its start and its end.
fn reply(events: &[Value]) -> Reply {
    let events = [&[start()], events, &[stopped(&json!("end_turn")), end()]].concat();
    decode(stream(&events).as_bytes()).result.unwrap()
}

fn error(body: &str) -> ModelError {
    decode(body.as_bytes()).result.unwrap_err()
}

#[test]
fn every_fixture_gives_its_golden_reply() {
    let all = fixtures();
    assert!(all.len() >= 20, "{} fixtures", all.len());
    for (name, bytes) in all {
        let decoded = decode(&bytes);
        insta::with_settings!({ snapshot_path => "../golden/anthropic", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_json_snapshot!(name.as_str(), &decoded.result);
        });
        assert_eq!(decoded.done, !name.starts_with("cut"), "{name}");
    }
}

#[test]
fn every_fixture_decodes_the_same_however_it_is_cut() {
    for (name, bytes) in fixtures() {
        splits::decodes_the_same_in_parts(KIND, &name, &bytes);
    }
}

#[test]
fn a_thousand_random_splits_decode_the_same() {
    splits::decodes_the_same_in_random_parts(KIND, &fixtures());
}

#[test]
fn a_stream_cut_before_message_stop_is_never_a_reply() {
    let (mut events, mut bytes_cut) = (0, 0);
    for (name, bytes) in fixtures() {
        if decode(&bytes).result.is_err() {
            continue;
        }
        // A response that is not streamed ends with its last bracket, a stream with the event that says so.
        let mark: &[u8] = if name.ends_with(".json") { b"}" } else { b"{\"type\":\"message_stop\"}" };
        let whole = bytes.windows(mark.len()).rposition(|window| window == mark).unwrap() + mark.len() - 1;
        for at in 0..=whole {
            let decoded = decode(&bytes[..at]);
            let error = decoded.result.expect_err(&format!("{name} cut at {at}"));
            assert_eq!((error.slug, error.retry), (Slug::StreamCut, Retry::Yes), "{name} at {at}: {}", error.message);
            assert!(!decoded.done, "{name} cut at {at}");
            events += usize::from(bytes[..at].ends_with(b"\n\n") || bytes[..at].ends_with(b"\r\n\r\n"));
            bytes_cut += 1;
        }
        assert!(decode(&bytes[..=whole]).result.is_ok(), "{name}: its end is enough");
    }
    assert!(events > 100 && bytes_cut > 8_000, "{events} events, {bytes_cut} bytes");
}

#[test]
fn stop_reasons_are_mapped_and_unknown_ones_do_not_lose_the_reply() {
    let call = || tool(0, "a", &json!({}));
    let cases = [
        (None, json!("end_turn"), FinishReason::Stop),
        (None, json!("stop_sequence"), FinishReason::Stop),
        (None, json!("max_tokens"), FinishReason::Length),
        (None, json!("model_context_window_exceeded"), FinishReason::Length),
        (Some(call()), json!("max_tokens"), FinishReason::Length),
        (Some(call()), json!("tool_use"), FinishReason::ToolCalls),
        (None, json!("pause_turn"), FinishReason::Paused),
        (None, json!("refusal"), FinishReason::Refusal),
        (None, json!("compaction"), FinishReason::Stop),
        (Some(call()), json!("something_new"), FinishReason::ToolCalls),
        (None, json!(null), FinishReason::Stop),
        (Some(call()), json!(null), FinishReason::ToolCalls),
    ];
    for (block, reason, expected) in cases {
        let what = format!("{reason} with {block:?}");
        let events: Vec<_> = [start()].into_iter().chain(block).chain([stopped(&reason), end()]).collect();
        assert_eq!(decode(stream(&events).as_bytes()).result.unwrap().finish, expected, "{what}");
    }
    let counts_only = json!({ "type": "message_delta", "delta": {}, "usage": { "output_tokens": 6 } });
    let twice = stream(&[start(), stopped(&json!("max_tokens")), counts_only, end()]);
    assert_eq!(decode(twice.as_bytes()).result.unwrap().finish, FinishReason::Length, "said once is said");
}

#[test]
fn arguments_are_the_deltas_or_what_the_block_began_with() {
    let calls = reply(&[
        tool(0, "a", &json!({})),
        tool(1, "b", &json!({})),
        input(1, ""),
        input(1, "{\"x\":"),
        input(1, "1}"),
        tool(2, "c", &json!({ "given": [1, "two"] })),
        tool(3, "d", &json!({ "given": true })),
        input(3, "{\"sent\":true}"),
        // More input for an earlier call, and for no call.
        input(1, " "),
        input(9, "lost"),
    ])
    .tool_calls;
    let calls: Vec<_> = calls.iter().map(|call| format!("{}|{}|{}", call.id, call.name, call.arguments)).collect();
    assert_eq!(calls, ["a|f|{}", "b|f|{\"x\":1} ", "c|f|{\"given\":[1,\"two\"]}", "d|f|{\"sent\":true}"]);
}

#[test]
fn usage_counts_what_came_from_the_cache_and_the_last_word_is_right() {
    let usage = |events: &[Value]| decode(stream(events).as_bytes()).result.unwrap().usage;
    let full = |input, output, cached, reasoning| {
        let [input, output, cached, reasoning] = [input, output, cached, reasoning].map(TokenCount);
        Some(Usage { input, output, cached, reasoning, estimated: false })
    };
    let begun = |usage: Value| json!({ "type": "message_start", "message": { "usage": usage } });
    let delta =
        |usage: Value| json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": usage });
    let cached = json!({ "input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100,
        "cache_creation": { "ephemeral_5m_input_tokens": 20 }, "output_tokens": 1, "service_tier": "standard" });
    let cases = [
        (begun(cached.clone()), delta(json!({ "output_tokens": 9 })), full(123, 9, 100, 0)),
        (begun(cached), delta(json!({ "input_tokens": 5, "output_tokens": 9 })), full(125, 9, 100, 0)),
        (
            begun(json!(null)),
            delta(json!({ "input_tokens": 7, "cache_read_input_tokens": null, "output_tokens": 9,
                "output_tokens_details": { "thinking_tokens": 4 } })),
            full(7, 9, 0, 4),
        ),
        (begun(json!(null)), delta(json!(null)), None),
    ];
    for (first, last, expected) in cases {
        let what = format!("{first} {last}");
        assert_eq!(usage(&[first, last, end()]), expected, "{what}");
    }
}

#[test]
fn what_must_go_back_is_kept_without_the_text() {
    let thinking = |index| begin(index, &json!({ "type": "thinking", "thinking": "", "signature": "" }));
    let thought = |index, text: &str| delta(index, &json!({ "type": "thinking_delta", "thinking": text }));
    let signed = |index, text: &str| delta(index, &json!({ "type": "signature_delta", "signature": text }));
    let open = |index| begin(index, &json!({ "type": "text", "text": "" }));
    let made = reply(&[
        thinking(0),
        thought(0, "hm "),
        thought(0, "🙂"),
        signed(0, "si"),
        signed(0, "g1"),
        open(1),
        text(1, "Grüße"),
        tool(2, "a", &json!({})),
        thinking(3),
        signed(3, "sig2"),
        begin(4, &json!({ "type": "redacted_thinking", "data": "xyz" })),
        thinking(5),
        thought(5, "no signature"),
        open(6),
        text(6, "!"),
    ]);
    assert_eq!(
        made.opaque,
        Some(json!({ "anthropic": [
            { "type": "thought", "size": 19, "block": { "type": "thinking", "thinking": "hm 🙂", "signature": "sig1" } },
            { "type": "text", "chars": 5 },
            { "type": "tool_use" },
            { "type": "thought", "size": 12, "block": { "type": "thinking", "thinking": "", "signature": "sig2" } },
            { "type": "thought", "size": 20, "block": { "type": "redacted_thinking", "data": "xyz" } },
            { "type": "text", "chars": 1 },
        ] }))
    );
    assert_eq!((made.content.as_str(), made.reasoning.as_str()), ("Grüße!", "hm 🙂\n\nno signature"));
    let plain = reply(&[open(0), text(0, "a"), tool(1, "a", &json!({})), thinking(2), thought(2, "unsigned")]);
    assert_eq!(plain.opaque, None, "nothing that must go back");
}

#[test]
fn an_error_ends_the_reply_unless_it_was_whole() {
    use Retry::{Fatal, Yes};
    let cases = [
        (json!({ "type": "overloaded_error", "message": "Overloaded" }), Slug::ProviderError, Yes, "Overloaded"),
        (json!({ "type": "api_error", "message": "Internal server error" }), Slug::ProviderError, Yes, "Internal"),
        (json!({ "type": "rate_limit_error", "message": "slow" }), Slug::RateLimited, Yes, "slow"),
        (json!({ "type": "timeout_error", "message": "late" }), Slug::Timeout, Yes, "late"),
        (
            json!({ "type": "authentication_error", "message": "invalid x-api-key" }),
            Slug::AuthError,
            Fatal,
            "x-api-key",
        ),
        (json!({ "type": "permission_error", "message": "no" }), Slug::AuthError, Fatal, "no"),
        (json!({ "type": "not_found_error", "message": "model: x" }), Slug::ProviderError, Fatal, "model: x"),
        (json!({ "type": "invalid_request_error", "message": "bad" }), Slug::ProviderError, Fatal, "bad"),
        (json!({ "type": "request_too_large", "message": "big" }), Slug::ContextGuard, Fatal, "big"),
        (json!({ "type": "billing_error", "message": "pay" }), Slug::QuotaError, Fatal, "pay"),
        (json!("in one word"), Slug::ProviderError, Yes, "in one word"),
    ];
    for (what, slug, retry, says) in cases {
        let event = json!({ "type": "error", "error": what });
        for body in [stream(&[start(), text(0, "half"), event.clone()]), event.to_string()] {
            let decoded = decode(body.as_bytes());
            let error = decoded.result.unwrap_err();
            assert_eq!((error.slug, error.retry), (slug, retry), "{body}: {}", error.message);
            assert!(error.message.contains(says) && decoded.done, "{body}: {}", error.message);
        }
    }
    let late = json!({ "type": "error", "error": { "type": "api_error", "message": "late" } });
    let before = decode(stream(&[start(), stopped(&json!("end_turn")), late.clone(), end()]).as_bytes()).result;
    assert_eq!(before.unwrap_err().slug, Slug::ProviderError, "the end marker had not come");
    let after = decode(stream(&[start(), text(0, "a"), end(), late, text(0, "b")]).as_bytes()).result.unwrap();
    assert_eq!(after.content, "a");
}

#[test]
fn what_is_no_answer_of_this_format_is_named() {
    let cases = [
        ("data: not json\n\n", Slug::ProviderError, Retry::Yes, "not json"),
        ("data: [1]\n\n", Slug::ProviderError, Retry::Yes, "[1]"),
        ("data: {\"type\":\"message_start\",\"message\":7}\n\n", Slug::ProviderError, Retry::Yes, "\"message\":7"),
        ("{\"choices\":[]}", Slug::ProviderError, Retry::Yes, "choices"),
        ("{\"type\":\"message\",\"content\":7}", Slug::ProviderError, Retry::Yes, "\"content\":7"),
        ("{\"error\":{\"message\":\"Not allowed\",\"code\":403}}", Slug::AuthError, Retry::Fatal, "Not allowed"),
        ("{\"type\":\"error\",\"message\":\"Overloaded\"}", Slug::ProviderError, Retry::Yes, "Overloaded"),
        ("<!doctype html><title>Welcome</title>", Slug::ProviderError, Retry::Fatal, "\"Welcome\""),
        ("", Slug::StreamCut, Retry::Yes, "before any data arrived"),
        ("data: {\"type\":\"message_stop\"}\n\n", Slug::StreamCut, Retry::Yes, "before the reply began"),
        ("data: {\"type\":\"ping\"}\n\n", Slug::StreamCut, Retry::Yes, "before the reply began"),
    ];
    for (body, slug, retry, says) in cases {
        let error = error(body);
        assert_eq!((error.slug, error.retry), (slug, retry), "{body}: {}", error.message);
        assert!(error.message.contains(says), "{body}: {}", error.message);
    }
}

#[test]
fn bytes_that_are_no_utf8_are_mended_like_a_browser_does() {
    let sent = stream(&[start(), text(0, "a?b"), end()]);
    let bytes: Vec<u8> = sent.bytes().map(|byte| if byte == b'?' { 0xFF } else { byte }).collect();
    assert_eq!(decode(&bytes).result.unwrap().content, "a\u{fffd}b");
}

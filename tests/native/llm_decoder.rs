//! Every fixture of `tests/fixtures/llm` decodes to its golden reply, however its bytes are split.

use crate::support::splits;

use splits::Decoded;
use turnwise_engine::*;

fn fixtures() -> Vec<(String, Vec<u8>)> {
    splits::fixtures("llm")
}

fn decode<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    splits::decode(ProviderKind::Openai, parts)
}

fn decode_text(text: &str) -> Result<Reply, ModelError> {
    decode([text.as_bytes()]).result
}

#[test]
fn every_fixture_gives_its_golden_reply() {
    let all = fixtures();
    assert!(all.len() >= 14, "{} fixtures", all.len());
    for (name, bytes) in all {
        let decoded = decode([&bytes[..]]);
        insta::with_settings!({ snapshot_path => "../golden/llm", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_json_snapshot!(name.as_str(), &decoded.result);
        });
    }
}

#[test]
fn every_fixture_decodes_the_same_however_it_is_cut() {
    for (name, bytes) in fixtures() {
        splits::decodes_the_same_in_parts(ProviderKind::Openai, &name, &bytes);
    }
}

#[test]
fn a_thousand_random_splits_decode_the_same() {
    splits::decodes_the_same_in_random_parts(ProviderKind::Openai, &fixtures());
}

#[test]
fn a_stream_cut_before_its_finish_reason_is_never_a_reply() {
    let mut cut = 0;
    for (name, bytes) in fixtures() {
        if decode([&bytes[..]]).result.is_err() {
            continue;
        }
        // The event that carries the reason is complete only at its closing brackets; before that it is cut.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let reason = ["\"stop\"", "\"length\"", "\"tool_calls\"", "\"content_filter\"", "\"eos\""]
            .iter()
            .filter_map(|reason| text.find(&format!("\"finish_reason\":{reason}")))
            .min()
            .unwrap_or_else(|| panic!("{name} has no finish_reason"));
        for at in 0..=reason {
            let decoded = decode([&bytes[..at]]);
            let error = decoded.result.expect_err(&format!("{name} cut at {at}"));
            assert_eq!(
                (error.slug, error.retry),
                (Slug::StreamCut, Retry::Yes),
                "{name} cut at {at}: {}",
                error.message
            );
            assert!(!decoded.done, "{name} cut at {at}");
            cut += 1;
        }
    }
    assert!(cut > 5_000, "{cut} cuts");
}

#[test]
fn the_trailer_tells_that_reading_may_stop() {
    let start = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert!(!decode([start.as_bytes()]).done, "usage may still come");
    assert!(decode([start.as_bytes(), b"data: [DONE]\n\n"]).done);
    assert!(decode([&b"data: {\"error\":{\"message\":\"no\"}}\n\n"[..]]).done);
}

#[test]
fn nothing_after_the_trailer_or_an_error_changes_the_reply() {
    let chunk = |text: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":\"stop\"}}]}}\n\n")
    };
    let reply = decode_text(&format!("{}data: [DONE]\n\n{}", chunk("a"), chunk("b"))).unwrap();
    assert_eq!(reply.content, "a");
    let error = decode_text(&format!("data: {{\"error\":\"x\"}}\n\n{}", chunk("b"))).unwrap_err();
    assert_eq!(error.slug, Slug::ProviderError);
    let reply = decode_text(&format!("{}data: {{\"error\":\"late\"}}\n\n", chunk("whole"))).unwrap();
    assert_eq!(reply.content, "whole");
}

#[test]
fn what_is_no_stream_is_named() {
    let cases = [
        ("<!doctype html><title>Welcome</title><p>hi", Slug::ProviderError, Retry::Fatal, "\"Welcome\""),
        ("upstream connect error or disconnect", Slug::ProviderError, Retry::Yes, "upstream connect error"),
        ("data: not json\n\n", Slug::ProviderError, Retry::Yes, "not json"),
        ("data: {\"choices\":[{]}\n\n", Slug::ProviderError, Retry::Yes, "{\"choices\":[{]}"),
        ("data: \"text\"\n\n", Slug::ProviderError, Retry::Yes, "\"text\""),
        ("[{\"error\":{\"code\":429,\"message\":\"slow\"}}]", Slug::RateLimited, Retry::Yes, "slow"),
        ("", Slug::StreamCut, Retry::Yes, "before any data arrived"),
        (" \n\n", Slug::StreamCut, Retry::Yes, "before any data arrived"),
        (": ping\n\n", Slug::StreamCut, Retry::Yes, "before the reply began"),
        ("data: [DONE]\n\n", Slug::StreamCut, Retry::Yes, "before the reply began"),
        ("{\"choices\":[{\"message\":{\"content\":\"half", Slug::StreamCut, Retry::Yes, "before the reply began"),
    ];
    for (body, slug, retry, says) in cases {
        let error = decode_text(body).unwrap_err();
        assert_eq!((error.slug, error.retry), (slug, retry), "{body}: {}", error.message);
        assert!(error.message.contains(says), "{body}: {}", error.message);
    }
}

#[test]
fn a_last_event_without_its_blank_line_counts_only_where_it_is_whole() {
    let whole = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}";
    for end in ["", "\n", "\r"] {
        assert_eq!(decode_text(&format!("{whole}{end}")).unwrap().content, "a");
    }
    assert_eq!(decode_text(&whole[..whole.len() - 1]).unwrap_err().slug, Slug::StreamCut);
}

#[test]
fn chunks_that_differ_from_the_one_before_are_not_taken_for_more_text() {
    let chunk = |inner: &str| format!("data: {{\"choices\":[{{\"delta\":{inner},\"finish_reason\":null}}]}}\n\n");
    let stream = [
        r#"{"content":"a"}"#,
        r#"{"content":"b\n\u00e9\ud83d\ude00\"c"}"#,
        r#"{"content":"","refusal":"r"}"#,
        r#"{"content":"d","tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}],"more":"e"}"#,
        r#"{"content":null}"#,
        r#"{"content":"f"}"#,
        r#"{"reasoning":"t"}"#,
        r#"{"reasoning":"u"}"#,
        r#"{"content":"g"}"#,
    ];
    let stream: String = stream.iter().map(|inner| chunk(inner)).collect();
    let reply = decode_text(&format!("{stream}data: {{\"choices\":[{{\"finish_reason\":\"stop\"}}]}}\n\n")).unwrap();
    assert_eq!(reply.content, "ab\né😀\"crdfg");
    assert_eq!(reply.reasoning, "tu");
    assert_eq!(reply.tool_calls, [RawCall { id: "x".into(), name: "f".into(), arguments: "{}".into() }]);
    assert_eq!(reply.finish, FinishReason::Refusal);
}

#[test]
fn bytes_that_are_no_utf8_are_mended_like_a_browser_does() {
    let mut bytes =
        b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFFb\"},\"finish_reason\":\"stop\"}]}\n\n".to_vec();
    assert_eq!(decode([&bytes[..]]).result.unwrap().content, "a\u{fffd}b");
    bytes.truncate(40);
    assert_eq!(decode([&bytes[..]]).result.unwrap_err().slug, Slug::StreamCut);
}

#[test]
fn tool_calls_come_out_whole_however_the_server_sends_them() {
    // Each case: the `tool_calls` arrays of the chunks, then the calls as id|name|arguments.
    let cases: [(&str, &[&str], &[&str]); 13] = [
        (
            "by index, interleaved",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]"#,
                r#"[{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]"#,
                r#"[{"index":0,"function":{"arguments":"{\"x\":1}"}},{"index":1,"function":{"arguments":"}"}}]"#,
            ],
            &["a|f|{\"x\":1}", "b|g|{}"],
        ),
        (
            "index 0 with new ids",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]"#,
                r#"[{"index":0,"id":"b","function":{"name":"f","arguments":"{"}}]"#,
                r#"[{"index":0,"function":{"arguments":"}"}}]"#,
            ],
            &["a|f|{}", "b|f|{}"],
        ),
        (
            "whole calls in one chunk, one index",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]"#,
            ],
            &["a|f|{}", "b|g|{}"],
        ),
        (
            "no index",
            &[
                r#"[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}}]"#,
            ],
            &["a|f|{}", "b|f|{}"],
        ),
        (
            "no index, in pieces",
            &[r#"[{"id":"a","function":{"name":"f","arguments":"{\"x\""}}]"#, r#"[{"function":{"arguments":":1}"}}]"#],
            &["a|f|{\"x\":1}"],
        ),
        (
            "no index, pieces with their id",
            &[
                r#"[{"id":"a","function":{"name":"f","arguments":""}}]"#,
                r#"[{"id":"b","function":{"name":"g","arguments":""}}]"#,
                r#"[{"id":"a","function":{"arguments":"{}"}}]"#,
            ],
            &["a|f|{}", "b|g|"],
        ),
        (
            "no index and no ids",
            &[r#"[{"function":{"name":"f","arguments":"{}"}}]"#, r#"[{"function":{"name":"f","arguments":"{}"}}]"#],
            &["|f|{}", "|f|{}"],
        ),
        (
            "one id for two indices",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"g","arguments":"{}"}}]"#,
            ],
            &["a|f|{}", "a|g|{}"],
        ),
        (
            "one id and one index for two calls",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":2}"}}]"#,
            ],
            &["a|f|{\"x\":1}", "a|f|{\"x\":2}"],
        ),
        (
            "empty ids",
            &[
                r#"[{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}]"#,
                r#"[{"index":1,"id":null,"function":{"name":"g","arguments":"{}"}}]"#,
            ],
            &["|f|{}", "|g|{}"],
        ),
        (
            "the name in every piece, a new id for each",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]"#,
            ],
            &["a|f|{\"x\":1}"],
        ),
        (
            "a finished call sent again",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]"#,
            ],
            &["a|f|{}"],
        ),
        (
            "arguments as an object, no function",
            &[
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}},{"index":1,"id":"b","function":null}]"#,
            ],
            &["a|f|{\"x\":1}", "b||"],
        ),
    ];
    for (name, chunks, expected) in cases {
        let mut stream: String = chunks
            .iter()
            .map(|calls| format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":{calls}}}}}]}}\n\n"))
            .collect();
        stream.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n");
        let reply = decode_text(&stream).unwrap();
        let calls: Vec<_> = reply.tool_calls.iter().map(|c| format!("{}|{}|{}", c.id, c.name, c.arguments)).collect();
        assert_eq!(calls, expected, "{name}");
    }
}

#[test]
fn finish_reasons_are_mapped_and_unknown_ones_do_not_lose_the_reply() {
    let finish = |delta: &str, reason: &str| {
        decode_text(&format!("data: {{\"choices\":[{{\"delta\":{delta},\"finish_reason\":\"{reason}\"}}]}}\n\n"))
    };
    let call = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
    let cases = [
        ("{}", "stop", FinishReason::Stop),
        ("{}", "length", FinishReason::Length),
        ("{}", "content_filter", FinishReason::ContentFilter),
        (call, "tool_calls", FinishReason::ToolCalls),
        (call, "function_call", FinishReason::ToolCalls),
        ("{}", "eos_token", FinishReason::Stop),
        (call, "eos_token", FinishReason::ToolCalls),
        (r#"{"refusal":"no"}"#, "stop", FinishReason::Refusal),
        (r#"{"refusal":"no"}"#, "length", FinishReason::Length),
    ];
    for (delta, reason, expected) in cases {
        assert_eq!(finish(delta, reason).unwrap().finish, expected, "{reason} of {delta}");
    }
    assert_eq!(finish("{}", "").unwrap_err().slug, Slug::StreamCut);
    assert_eq!(finish("{}", "error").unwrap_err().slug, Slug::ProviderError);
}

#[test]
fn the_raw_response_is_cut_at_its_cap_between_characters() {
    for ascii in 0..3 {
        let comment = format!(":{}{}\n", "a".repeat(ascii), "é".repeat(RAW_CAP / 2));
        for size in [1, 1000, comment.len()] {
            let raw = decode(comment.as_bytes().chunks(size)).raw;
            assert!(raw.truncated && raw.text.len() <= RAW_CAP && raw.text.len() >= RAW_CAP - 1);
            assert!(comment.starts_with(&raw.text));
        }
    }
    let raw = decode([&b": short\n"[..]]).raw;
    assert_eq!((raw.text.as_str(), raw.truncated), (": short\n", false));
    let raw = decode([&vec![0xFF; RAW_CAP][..]]).raw;
    assert!(raw.truncated && raw.text.len() <= RAW_CAP, "{} bytes", raw.text.len());
}

//! Deadlines of a request: what counts as the start of a reply, and the message when a deadline has passed.

use turnwise_engine::*;
use turnwise_llm::{Decoder, Late, classify_late};
use turnwise_view::settings::{ConfigField, UserSettings};

fn begun(parts: &[&str]) -> bool {
    let mut decoder = Decoder::new(&ProviderConfig { kind: ProviderKind::Openai, ..ProviderConfig::default() });
    for part in parts {
        decoder.push(part.as_bytes());
    }
    decoder.has_begun()
}

#[test]
fn a_reply_begins_with_text_reasoning_or_a_tool_call() {
    for delta in [
        r#"{"content":"Hi"}"#,
        r#"{"reasoning_content":"Hm"}"#,
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"now","arguments":""}}]}"#,
    ] {
        assert!(begun(&[&format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n")]), "{delta}");
    }
}

#[test]
fn what_only_keeps_a_connection_alive_begins_nothing() {
    for bytes in [
        ": OPENROUTER PROCESSING\n\n",
        "event: ping\ndata: \n\n",
        "   \n\n  ",
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
        "data: {\"choices\":[]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"cut off bef",
        "{\"choices\":[{\"message\":{\"content\":\"a JSON answer that is not whole",
    ] {
        assert!(!begun(&[bytes]), "{bytes}");
        assert!(!begun(&[bytes, bytes, bytes]), "{bytes}, three times");
    }
}

#[test]
fn a_passed_deadline_is_retried_names_its_time_and_how_to_move_it() {
    let provider = ProviderConfig {
        kind: ProviderKind::Openai,
        base_url: "https://models.example.org/v1".into(),
        ..ProviderConfig::default()
    };
    let cases = [
        (Late::Headers, "did not begin to answer within 120 s", "headersMs", ConfigField::HeadersTimeout),
        (Late::FirstToken, "sent no part of a reply within 120 s", "firstTokenMs", ConfigField::FirstTokenTimeout),
        (Late::Stream, "was silent for 120 s", "idleMs", ConfigField::IdleTimeout),
        (Late::Whole, "was not complete after 120 s", "requestMs", ConfigField::RequestTimeout),
    ];
    for (late, happened, option, field) in cases {
        let error = classify_late(&provider, late, 120_000);
        assert_eq!((error.slug, error.retry, error.retry_after_ms), (Slug::Timeout, Retry::Yes, None));
        let label = field.row().expect("a row").label.split(',').next().expect("a label");
        for words in ["models.example.org", happened, option, label] {
            assert!(error.message.contains(words), "{words:?} is not in: {}", error.message);
        }
    }
    assert!(classify_late(&provider, Late::Stream, 80).message.contains("80 ms"));
    assert!(classify_late(&provider, Late::Stream, 2500).message.contains("2.5 s"));
}

#[test]
fn the_deadlines_have_defaults_and_can_be_set() {
    let limits = Limits::default();
    assert_eq!((limits.headers_ms, limits.first_token_ms), (120_000, 120_000));
    assert_eq!((limits.idle_ms, limits.request_ms), (60_000, 600_000));
    let mut settings = UserSettings::default();
    assert_eq!(settings.value(ConfigField::FirstTokenTimeout), "120");
    assert_eq!(settings.value(ConfigField::RequestTimeout), "600");
    settings.set(ConfigField::FirstTokenTimeout, "7.5");
    settings.set(ConfigField::RequestTimeout, "30");
    let limits = settings.build(Vec::new()).expect("valid").limits;
    assert_eq!((limits.first_token_ms, limits.request_ms), (7500, 30_000));
    // Records of older versions lack both.
    let older: Limits = serde_json::from_str(r#"{"headers_ms":1,"idle_ms":2}"#).unwrap();
    assert_eq!((older.first_token_ms, older.request_ms), (120_000, 600_000));
}

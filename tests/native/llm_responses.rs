//! OpenAI Responses: requests, and replies decoded from its streams. The fixtures of `tests/fixtures/responses` were
//! written by hand from the documentation of OpenAI and the sources of llama.cpp's server; none was captured.

use crate::support::splits;
use crate::support::wire;

use serde_json::{Value, json};
use splits::{Decoded, fixtures};
use turnwise_engine::*;
use turnwise_llm::{encoder, request_head};
use wire::{answer, body, entered, grows_at_its_end_only, picture, reply, tool};

const KIND: ProviderKind = ProviderKind::OpenaiResponses;

fn provider(model: &str) -> ProviderConfig {
    ProviderConfig { kind: KIND, model: model.into(), ..ProviderConfig::default() }
}

fn decode<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    splits::decode(KIND, parts)
}

fn decode_events(events: &[Value]) -> Result<Reply, ModelError> {
    let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    decode([stream.as_bytes()]).result
}

fn fixture(name: &str) -> Reply {
    let all = fixtures("responses");
    let (_, bytes) = all.iter().find(|(file, _)| file == name).unwrap();
    decode([&bytes[..]]).result.unwrap()
}

fn input(messages: &[Message]) -> Value {
    body(&provider("m"), messages, &[], ToolChoice::Auto)["input"].take()
}

fn call_item(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments })
}

fn said(text: &str) -> Value {
    json!({ "type": "message", "role": "assistant", "content": text })
}

#[test]
fn every_fixture_gives_its_golden_reply() {
    let all = fixtures("responses");
    assert!(all.len() >= 23, "{} fixtures", all.len());
    for (name, bytes) in all {
        let decoded = decode([&bytes[..]]);
        insta::with_settings!({ snapshot_path => "../golden/responses", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_json_snapshot!(name.as_str(), &decoded.result);
        });
    }
}

#[test]
fn every_fixture_decodes_the_same_however_it_is_cut() {
    for (name, bytes) in fixtures("responses") {
        splits::decodes_the_same_in_parts(KIND, &name, &bytes);
    }
}

#[test]
fn a_thousand_random_splits_decode_the_same() {
    splits::decodes_the_same_in_random_parts(KIND, &fixtures("responses"));
}

#[test]
fn a_stream_cut_before_its_last_event_is_never_a_reply() {
    let mut cut = 0;
    for (name, bytes) in fixtures("responses") {
        let text = String::from_utf8_lossy(&bytes);
        let ends =
            ["\"type\":\"response.completed\"", "\"type\": \"response.completed\"", "\"type\":\"response.incomplete\""];
        let Some(end) =
            ends.iter().filter_map(|end| text.find(end)).min().filter(|_| decode([&bytes[..]]).result.is_ok())
        else {
            continue;
        };
        for at in 0..=end {
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
fn the_same_reply_comes_of_deltas_of_finished_items_and_of_the_whole_answer() {
    let whole = fixture("only_the_end.sse");
    assert_eq!(whole.content, "All at once.");
    assert_eq!(whole.reasoning, "**Looking** at the cache first.\n\nThen the limits.");
    assert_eq!(fixture("no_deltas.sse"), whole);
    // A gateway in between gives every item a new id in every event.
    let all = fixtures("responses");
    let (_, bytes) = all.iter().find(|(name, _)| name == "reasoning_and_tools.sse").unwrap();
    let events = std::str::from_utf8(bytes).unwrap().lines().filter_map(|line| line.strip_prefix("data: "));
    let changed = events.enumerate().map(|(number, event)| {
        let mut event: Value = serde_json::from_str(event).unwrap();
        for id in ["/item/id", "/item_id"] {
            if let Some(id) = event.pointer_mut(id) {
                *id = json!(format!("id_{number}"));
            }
        }
        event
    });
    let changed = decode_events(&changed.collect::<Vec<_>>()).unwrap();
    let streamed = fixture("reasoning_and_tools.sse");
    assert_eq!((&changed.content, &changed.reasoning), (&streamed.content, &streamed.reasoning));
    assert_eq!(changed.tool_calls, streamed.tool_calls);
    assert_eq!(changed.opaque.unwrap()["responses"].as_array().unwrap().len(), 5);
}

#[test]
fn the_whole_answer_adds_only_what_is_missing_and_messages_that_take_turns_keep_no_places() {
    let delta = |index: u64, delta: &str| json!({ "type": "response.output_text.delta", "output_index": index, "delta": delta });
    let item = |item: Value| json!({ "type": "response.output_item.done", "output_index": 2, "item": item });
    let thought = json!({ "type": "reasoning", "id": "r", "encrypted_content": "e" });
    let call =
        |arguments: &str| json!({ "type": "function_call", "call_id": "a", "name": "f", "arguments": arguments });
    let message = json!({ "type": "message", "content": [{ "type": "output_text", "text": "other" }] });
    let end = json!({ "type": "response.completed", "response": { "output": [thought, message, call("{}")] } });
    let turns = [delta(0, "a"), delta(1, "b"), delta(0, "c"), item(thought.clone()), item(call("")), end];
    let reply = decode_events(&turns).unwrap();
    assert_eq!((reply.content.as_str(), reply.tool_calls[0].arguments.as_str()), ("abc", "{}"));
    assert_eq!(reply.opaque.unwrap(), json!({ "responses": [thought] }));
}

#[test]
fn reading_stops_at_the_last_event_and_nothing_after_it_counts() {
    let delta = json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "a" });
    let completed = json!({ "type": "response.completed", "response": { "status": "completed", "output": [] } });
    let error = json!({ "type": "error", "message": "late" });
    let start = format!("data: {delta}\n\n");
    assert!(!decode([start.as_bytes()]).done);
    let end = format!("{start}data: {completed}\n\n");
    assert!(decode([end.as_bytes()]).done);
    let reply = decode_events(&[delta.clone(), completed, error.clone(), delta.clone()]).unwrap();
    assert_eq!((reply.content.as_str(), reply.finish), ("a", FinishReason::Stop));
    assert_eq!(decode_events(&[delta.clone(), error, delta]).unwrap_err().slug, Slug::ProviderError);
}

#[test]
fn what_is_no_event_is_named() {
    let cases = [
        ("data: not json\n\n", Slug::ProviderError, Retry::Yes, "not json"),
        ("data: [1]\n\n", Slug::ProviderError, Retry::Yes, "not an event"),
        ("data: {\"choices\":[{\"delta\":{}}]}\n\n", Slug::ProviderError, Retry::Yes, "choices"),
        ("data: {\"error\":{\"message\":\"slow\",\"code\":429}}\n\n", Slug::RateLimited, Retry::Yes, "slow"),
        ("<!doctype html><title>Welcome</title>", Slug::ProviderError, Retry::Fatal, "Welcome"),
        ("data: [DONE]\n\n", Slug::StreamCut, Retry::Yes, "before the reply began"),
        ("data: {\"type\":\"response.cancelled\"}\n\n", Slug::ProviderError, Retry::Yes, "cancelled"),
    ];
    for (stream, slug, retry, says) in cases {
        let error = decode([stream.as_bytes()]).result.unwrap_err();
        assert_eq!((error.slug, error.retry), (slug, retry), "{stream}: {}", error.message);
        assert!(error.message.contains(says), "{stream}: {}", error.message);
    }
}

/// Errors without a status, which only their text classifies.
#[test]
fn errors_inside_a_stream_are_classified_by_their_words() {
    use Retry::{Fatal, With, Yes};
    let cases = [
        (r#"{"type":"error","code":"rate_limit_exceeded","message":"slow"}"#, Slug::RateLimited, Yes),
        (r#"{"type":"error","code":"insufficient_quota","message":"empty"}"#, Slug::QuotaError, Fatal),
        (r#"{"type":"error","code":"context_length_exceeded","message":"long"}"#, Slug::ContextGuard, Fatal),
        (r#"{"type":"error","code":"invalid_prompt","message":"flagged"}"#, Slug::ProviderError, Fatal),
        (r#"{"type":"error","code":"invalid_image_format","message":"bad"}"#, Slug::ProviderError, Fatal),
        (r#"{"type":"error","error":{"type":"server_error","code":"server_is_overloaded"}}"#, Slug::ProviderError, Yes),
        (
            r#"{"type":"error","error":{"code":"invalid_encrypted_content"}}"#,
            Slug::ProviderError,
            With(Correction::NoOpaque),
        ),
        (r#"{"error":{"status":"INVALID_ARGUMENT","message":"no"}}"#, Slug::ProviderError, Fatal),
        (r#"{"error":{"status":"RESOURCE_EXHAUSTED","message":"no"}}"#, Slug::RateLimited, Yes),
        (r#"{"error":{"status":"PERMISSION_DENIED","message":"no"}}"#, Slug::AuthError, Fatal),
        (r#"{"error":{"status":"UNAVAILABLE","message":"no"}}"#, Slug::ProviderError, Yes),
    ];
    for (event, slug, retry) in cases {
        let error = decode_events(&[serde_json::from_str(event).unwrap()]).unwrap_err();
        assert_eq!((error.slug, error.retry), (slug, retry), "{event}: {}", error.message);
        assert_eq!(error.status, None);
    }
}

#[test]
fn calls_are_told_apart_however_the_server_names_them() {
    let added = |index: Value, id: &str, call: &str, name: &str| {
        json!({ "type": "response.output_item.added", "output_index": index,
            "item": { "type": "function_call", "id": id, "call_id": call, "name": name, "arguments": "" } })
    };
    let delta = |index: Value, id: &str, delta: &str| json!({ "type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": delta });
    let cases = [
        (
            "interleaved, by index",
            vec![
                added(json!(0), "", "a", "f"),
                added(json!(1), "", "b", "g"),
                delta(json!(0), "", "{\"x\":"),
                delta(json!(1), "", "{}"),
                delta(json!(0), "", "1}"),
            ],
        ),
        (
            "interleaved, by id",
            vec![
                added(json!(null), "1", "a", "f"),
                added(json!(null), "2", "b", "g"),
                delta(json!(null), "1", "{\"x\":"),
                delta(json!(null), "2", "{}"),
                delta(json!(null), "1", "1}"),
            ],
        ),
        (
            "one index for both",
            vec![
                added(json!(0), "1", "a", "f"),
                delta(json!(0), "1", "{\"x\":1}"),
                added(json!(0), "2", "b", "g"),
                delta(json!(0), "2", "{}"),
            ],
        ),
        (
            "neither index nor id",
            vec![
                added(json!(null), "", "a", "f"),
                delta(json!(null), "", "{\"x\":1}"),
                added(json!(null), "", "b", "g"),
                delta(json!(null), "", "{}"),
            ],
        ),
    ];
    for (name, mut events) in cases {
        events.push(json!({ "type": "response.completed", "response": { "output": [] } }));
        let calls = decode_events(&events).unwrap().tool_calls;
        let calls: Vec<_> = calls.iter().map(|c| format!("{}|{}|{}", c.id, c.name, c.arguments)).collect();
        assert_eq!(calls, ["a|f|{\"x\":1}", "b|g|{}"], "{name}");
    }
}

#[test]
fn a_whole_request_has_the_format_of_the_api() {
    let p = ProviderConfig { max_output_tokens: Some(7), ..provider("gpt-5-mini") };
    let messages = [
        Message::system("be \"brief\"\n"),
        Message::user("Grüße 🙂 \u{2028} \u{0}"),
        reply("I look.", &[("a", "f", "{\"x\": 1}"), ("b", "g", "")], None),
        answer("a", "f", "1\n[Turn 1/15]", false),
        answer("b", "g", "", true),
        reply("", &[], None),
        Message::system("conclude"),
        picture("What is this?"),
    ];
    let function = |name: &str| {
        json!({ "type": "function", "name": name, "description": "says \"hi\"", "parameters": { "type": "object" },
            "strict": false })
    };
    assert_eq!(
        body(&p, &messages, &[tool("f"), tool("g")], ToolChoice::Auto),
        json!({
            "model": "gpt-5-mini", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
            "max_output_tokens": 7,
            "input": [
                { "role": "system", "content": "be \"brief\"\n" },
                { "role": "user", "content": "Grüße 🙂 \u{2028} \u{0}" },
                said("I look."),
                call_item("a", "f", "{\"x\": 1}"),
                call_item("b", "g", "{}"),
                { "type": "function_call_output", "call_id": "a", "output": "1\n[Turn 1/15]" },
                { "type": "function_call_output", "call_id": "b", "output": "" },
                { "role": "system", "content": "conclude" },
                { "role": "user", "content": [
                    { "type": "input_text", "text": "What is this?" },
                    { "type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo=" },
                ] },
            ],
            "tools": [function("f"), function("g")],
        })
    );
    assert_eq!(request_head(&p, None).url, "https://api.openai.com/v1/responses");
}

#[test]
fn a_reply_is_sent_back_in_the_order_in_which_it_came() {
    let message = entered(fixture("reasoning_and_tools.sse"), &["a", "b"]);
    let thought =
        |id: &str, content: &str| json!({ "id": id, "type": "reasoning", "summary": [], "encrypted_content": content });
    let mut first = thought("rs_1", "gAAAAABo1first==");
    first["summary"] = json!([
        { "type": "summary_text", "text": "**Looking** at the cache first." },
        { "type": "summary_text", "text": "Then the limits." },
    ]);
    let mut text = said("I look into it.");
    text["phase"] = json!("commentary");
    let second = thought("rs_2", "gAAAAABo2second==");
    let calls =
        [call_item("a", "read_file", "{\"path\":\"a.md\"}"), call_item("b", "read_file", "{\"path\":\"b.md\"}")];
    assert_eq!(input(std::slice::from_ref(&message)), json!([first, text, calls[0], second, calls[1]]));

    // The kept items no longer fit: the reasoning comes first.
    let Message::Assistant(mut message) = message else { panic!("a reply") };
    message.content.push('!');
    let plain = said("I look into it.!");
    assert_eq!(input(&[Message::Assistant(message)]), json!([first, second, plain, calls[0], calls[1]]));
}

#[test]
fn reasoning_is_kept_only_where_it_can_be_read_again_and_leads_to_something() {
    for name in ["text.sse", "parallel_tools.sse", "llamacpp.sse"] {
        assert_eq!(fixture(name).opaque, None, "{name}");
    }
    let thought = json!({ "type": "reasoning", "id": "r", "summary": [], "encrypted_content": "e" });
    let alone = json!({ "responses": [{ "text": 1 }, thought] });
    assert_eq!(input(&[reply("a", &[], Some(alone))]), json!([said("a")]));
    let other = json!({ "gemini": [thought] });
    assert_eq!(input(&[reply("a", &[], Some(other))]), json!([said("a")]));
}

#[test]
fn names_that_a_model_made_up_do_not_spoil_the_request() {
    let long = "x".repeat(70);
    let messages = [reply("", &[("a", "my tool.é", "{"), ("b", "", "{}"), ("c", &long, "[1]")], None)];
    let sent = input(&messages);
    let names: Vec<_> = sent.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["my_tool__", "_", &long[..64]]);
    assert_eq!(sent[0]["arguments"], "{\"malformed_arguments\":\"{\"}");
}

#[test]
fn tools_are_forced_only_where_the_server_is_known_to_take_it() {
    let tools = [tool("f"), tool("final_report")];
    for (base_url, forced) in [("", true), ("http://127.0.0.1:8080/v1", false)] {
        let p = ProviderConfig { base_url: base_url.into(), ..provider("m") };
        let sent = body(&p, &[], &tools, ToolChoice::Report);
        assert_eq!(sent["tools"].as_array().unwrap().len(), if forced { 2 } else { 1 });
        assert_eq!(sent["tools"].as_array().unwrap().last().unwrap()["name"], "final_report");
        let choice = if forced { json!({ "type": "function", "name": "final_report" }) } else { Value::Null };
        assert_eq!(sent["tool_choice"], choice, "{base_url}");
        let none = body(&p, &[], &tools, ToolChoice::None);
        let declared = none["tools"].as_array().map_or(0, Vec::len);
        let expected = if forced { (2, json!("none")) } else { (0, Value::Null) };
        assert_eq!((declared, none["tool_choice"].clone()), expected);
    }
}

#[test]
fn models_that_never_reason_are_not_asked_for_their_reasoning() {
    let cases = [
        ("gpt-5.5", true),
        ("o4-mini", true),
        ("qwen3:8b", true),
        ("", true),
        ("openai/gpt-oss-20b", true),
        ("gpt-4o-mini", false),
        ("gpt-4.1", false),
        ("ft:gpt-4o:acme::x", false),
        ("chatgpt-4o-latest", false),
        ("openai/gpt-4.1", false),
        ("gpt-3.5-turbo", false),
    ];
    for (model, asked) in cases {
        assert_eq!(body(&provider(model), &[], &[], ToolChoice::Auto).get("include").is_some(), asked, "{model}");
    }
}

#[test]
fn the_temperature_is_sent_only_where_one_is_set() {
    for (temperature, sent) in [(Some(0.2), json!(0.2)), (Some(f64::NAN), Value::Null), (None, Value::Null)] {
        let (mut encoder, mut bytes) =
            (encoder(&provider("m"), &RunConfig { temperature, ..RunConfig::default() }, &[]), Vec::new());
        encoder.start(&mut bytes);
        encoder.end(&[], ToolChoice::Auto, &mut bytes);
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap()["temperature"], sent);
    }
}

#[test]
fn requests_only_grow_at_their_end() {
    let thought = json!({ "type": "reasoning", "id": "r", "encrypted_content": "e" });
    let kept = [
        json!({ "responses": [thought, { "text": 8 }, { "call": true }] }),
        json!({ "responses": [thought, { "text": 0 }] }),
        json!({ "responses": { "not": "a list" } }),
    ];
    grows_at_its_end_only(&provider("m"), &kept);
}

//! Gemini: requests, and replies decoded from its streams. The fixtures of `tests/fixtures/gemini` were written by hand
//! from Google's documentation; none was captured.

use crate::support::splits;
use crate::support::wire;

use serde_json::{Value, json};
use splits::{Decoded, fixtures};
use turnwise_engine::*;
use turnwise_llm::{encoder, request_head};
use wire::{answer, body, entered, grows_at_its_end_only, picture, reply, tool};

const KIND: ProviderKind = ProviderKind::Gemini;

fn provider(model: &str) -> ProviderConfig {
    ProviderConfig { kind: KIND, model: model.into(), ..ProviderConfig::default() }
}

fn decode<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    splits::decode(KIND, parts)
}

fn decode_chunks(chunks: &[Value]) -> Result<Reply, ModelError> {
    let stream: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    decode([stream.as_bytes()]).result
}

fn fixture(name: &str) -> Reply {
    let all = fixtures("gemini");
    let (_, bytes) = all.iter().find(|(file, _)| file == name).unwrap();
    decode([&bytes[..]]).result.unwrap()
}

fn contents(model: &str, messages: &[Message]) -> Value {
    body(&provider(model), messages, &[], ToolChoice::Auto)["contents"].take()
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "parts": [{ "text": text }] })
}

#[test]
fn every_fixture_gives_its_golden_reply() {
    let all = fixtures("gemini");
    assert!(all.len() >= 25, "{} fixtures", all.len());
    for (name, bytes) in all {
        let decoded = decode([&bytes[..]]);
        insta::with_settings!({ snapshot_path => "../golden/gemini", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_json_snapshot!(name.as_str(), &decoded.result);
        });
    }
}

#[test]
fn every_fixture_decodes_the_same_however_it_is_cut() {
    for (name, bytes) in fixtures("gemini") {
        splits::decodes_the_same_in_parts(KIND, &name, &bytes);
    }
}

#[test]
fn a_thousand_random_splits_decode_the_same() {
    splits::decodes_the_same_in_random_parts(KIND, &fixtures("gemini"));
}

#[test]
fn a_stream_cut_before_its_finish_reason_is_never_a_reply() {
    let mut cut = 0;
    for (name, bytes) in fixtures("gemini") {
        let text = String::from_utf8_lossy(&bytes);
        let Some(end) = text.find("\"finishReason\"").filter(|_| decode([&bytes[..]]).result.is_ok()) else { continue };
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
    assert!(cut > 3_000, "{cut} cuts");
}

#[test]
fn reading_goes_on_until_the_stream_ends_and_stops_at_an_error() {
    let chunk = |text: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}]}},\"finishReason\":\"STOP\"}}]}}\n\n"
        )
    };
    let (a, b) = (chunk("a"), chunk("b"));
    let decoded = decode([a.as_bytes(), b.as_bytes()]);
    assert!(!decoded.done);
    assert_eq!(decoded.result.unwrap().content, "ab");
    let failed = decode([&b"data: {\"error\":{\"code\":500,\"message\":\"no\"}}\n\n"[..], a.as_bytes()]);
    assert!(failed.done);
    assert_eq!(failed.result.unwrap_err().status, Some(500));
}

#[test]
fn finish_reasons_are_mapped() {
    let finish = |parts: Value, reason: &str| {
        decode_chunks(&[json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": reason }] })])
    };
    let call = json!([{ "functionCall": { "name": "f", "args": {} } }]);
    assert_eq!(finish(call.clone(), "STOP").unwrap().finish, FinishReason::ToolCalls);
    assert_eq!(finish(call, "MAX_TOKENS").unwrap().finish, FinishReason::Length);
    for reason in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"] {
        assert_eq!(finish(json!([]), reason).unwrap().finish, FinishReason::ContentFilter, "{reason}");
    }
    for reason in ["OTHER", "LANGUAGE", "FINISH_REASON_UNSPECIFIED", "NEW"] {
        let error = finish(json!([{ "text": "half" }]), reason).unwrap_err();
        assert_eq!((error.slug, error.retry), (Slug::ProviderError, Retry::Yes), "{reason}");
        assert!(error.message.contains(reason));
    }
    assert_eq!(finish(json!([]), "").unwrap_err().slug, Slug::StreamCut);
}

#[test]
fn what_is_no_chunk_is_named() {
    let cases = [
        ("data: not json\n\n", Slug::ProviderError, Retry::Yes, "not json"),
        ("data: \"text\"\n\n", Slug::ProviderError, Retry::Yes, "\"text\""),
        ("data: {\"candidates\":{}}\n\n", Slug::ProviderError, Retry::Yes, "not a chunk"),
        ("<!doctype html><title>Welcome</title>", Slug::ProviderError, Retry::Fatal, "Welcome"),
        ("[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"half\"}]}}]}", Slug::StreamCut, Retry::Yes, "began"),
        ("data: {\"error\":\"no\"}\n\n", Slug::ProviderError, Retry::Yes, "no"),
    ];
    for (stream, slug, retry, says) in cases {
        let error = decode([stream.as_bytes()]).result.unwrap_err();
        assert_eq!((error.slug, error.retry), (slug, retry), "{stream}: {}", error.message);
        assert!(error.message.contains(says), "{stream}: {}", error.message);
    }
}

#[test]
fn a_whole_request_has_the_format_of_the_api() {
    let p = ProviderConfig { max_output_tokens: Some(7), ..provider("gemini-2.5-flash") };
    let messages = [
        Message::system("be \"brief\"\n"),
        Message::user("Grüße 🙂 \u{2028} \u{0}"),
        reply("I look.", &[("a", "f", "{\"x\": 1}"), ("b", "g", "")], None),
        answer("a", "f", "1\n[Turn 1/15]", false),
        answer("b", "g", "no such file", true),
        Message::user("system notice: go on"),
        Message::system("conclude"),
        picture("What is this?"),
        picture(""),
        Message::user(""),
    ];
    let function = |name: &str| json!({ "name": name, "description": "says \"hi\"", "parametersJsonSchema": { "type": "object" } });
    let image = json!({ "inlineData": { "mimeType": "image/png", "data": "iVBORw0KGgo=" } });
    assert_eq!(
        body(&p, &messages, &[tool("f"), tool("g")], ToolChoice::Auto),
        json!({
            "generationConfig": { "maxOutputTokens": 7 },
            "systemInstruction": { "parts": [{ "text": "be \"brief\"\n" }] },
            "contents": [
                user("Grüße 🙂 \u{2028} \u{0}"),
                { "role": "model", "parts": [
                    { "text": "I look." },
                    { "functionCall": { "name": "f", "args": { "x": 1 } } },
                    { "functionCall": { "name": "g", "args": {} } },
                ] },
                { "role": "user", "parts": [
                    { "functionResponse": { "name": "f", "response": { "result": "1\n[Turn 1/15]" } } },
                    { "functionResponse": { "name": "g", "response": { "error": "no such file" } } },
                ] },
                user("system notice: go on"),
                user("conclude"),
                { "role": "user", "parts": [{ "text": "What is this?" }, image] },
                { "role": "user", "parts": [image] },
                user(" "),
            ],
            "tools": [{ "functionDeclarations": [function("f"), function("g")] }],
        })
    );
    let url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse";
    assert_eq!(request_head(&p, None).url, url);
}

#[test]
fn every_part_gets_its_signature_back() {
    let message = entered(fixture("thinking_text_and_tools.sse"), &["a", "b"]);
    let messages = [message.clone(), answer("a", "read_file", "1", false), answer("b", "read_file", "2", false)];
    let call = |args: Value| json!({ "name": "read_file", "args": args });
    let answered = |text: &str| json!({ "functionResponse": { "name": "read_file", "response": { "result": text } } });
    let answers = json!({ "role": "user", "parts": [answered("1"), answered("2")] });
    let calls = [
        json!({ "functionCall": call(json!({ "path": "a.md" })), "thoughtSignature": "EcallSig1==" }),
        json!({ "functionCall": call(json!({})) }),
    ];
    assert_eq!(
        contents("gemini-3-flash", &messages),
        json!([{ "role": "model", "parts": [
            { "text": "I look " },
            { "text": "into it.", "thoughtSignature": "EtextSig==" },
            calls[0], calls[1],
        ] }, answers])
    );

    // The kept parts no longer fit the text: the calls keep their signatures, which are the ones that are checked.
    let Message::Assistant(mut message) = message else { panic!("a reply") };
    message.content.push('!');
    let parts = json!([{ "text": "I look into it.!" }, calls[0], calls[1]]);
    assert_eq!(contents("gemini-3-flash", &[Message::Assistant(message)])[0]["parts"], parts);

    let message = entered(fixture("signature_in_empty_text.sse"), &[]);
    let parts = json!([{ "text": "The cache is full." }, { "text": "", "thoughtSignature": "EjQKMgEMlast" }]);
    assert_eq!(contents("gemini-3-flash", &[message])[0]["parts"], parts);
}

#[test]
fn a_thought_is_sent_back_only_with_its_signature() {
    let place = |part: &str, bytes: usize| json!({ "part": { part: bytes }, "signature": "S" });
    let kept = json!({ "gemini": [place("thought", 7), place("text", 1)] });
    let parts = json!([
        { "thought": true, "text": "thought", "thoughtSignature": "S" },
        { "text": "a", "thoughtSignature": "S" },
    ]);
    assert_eq!(contents("m", &[reply("a", &[], Some(kept))])[0]["parts"], parts);
    let kept = json!({ "gemini": [{ "part": { "thought": 7 } }, place("text", 1)] });
    assert_eq!(contents("m", &[reply("a", &[], Some(kept))])[0]["parts"], json!([parts[1]]));
}

#[test]
fn calls_and_answers_have_the_ids_that_the_model_gave() {
    let message = entered(fixture("parallel_tools.sse"), &["sub1_call_1", "sub1_call_2"]);
    let answers = [answer("sub1_call_1", "search_files", "1", false), answer("sub1_call_2", "read_file", "2", false)];
    let sent = contents("gemini-3-flash", &[&[message][..], &answers].concat());
    let ids = |content: &Value, kind: &str| -> Vec<Value> {
        content["parts"].as_array().unwrap().iter().map(|part| part[kind]["id"].clone()).collect()
    };
    assert_eq!(ids(&sent[0], "functionCall"), ["a1b2c3d4", "e5f6a7b8"]);
    assert_eq!(ids(&sent[1], "functionResponse"), ["a1b2c3d4", "e5f6a7b8"]);

    // The same id on two calls would make them one call, so the engine's ids are used on both sides.
    let twice =
        json!({ "gemini": [{ "part": { "call": "x" } }, { "part": { "call": "x" } }, { "part": { "call": "" } }] });
    let message = reply("", &[("a", "f", "{}"), ("b", "f", "{}"), ("c", "f", "{}")], Some(twice));
    let sent =
        contents("m", &[message, answer("a", "f", "", false), answer("b", "f", "", true), answer("c", "f", "", true)]);
    assert_eq!(ids(&sent[0], "functionCall"), [json!("a"), json!("b"), Value::Null]);
    assert_eq!(ids(&sent[1], "functionResponse"), [json!("a"), json!("b"), Value::Null]);
}

#[test]
fn calls_of_another_model_get_the_stand_in_for_a_signature_where_one_is_wanted() {
    for (model, wanted) in [
        ("gemini-3-flash", true),
        ("models/gemini-3.5-pro", true),
        ("gemini-flash-latest", true),
        ("gemini-2.5-pro", false),
        ("gemini-1.5-flash", false),
        ("gemma-3-27b-it", false),
    ] {
        let other = json!({ "responses": [{ "call": true }, { "call": true }] });
        let sent = contents(model, &[reply("", &[("a", "f", "{}"), ("b", "f", "{}")], Some(other))]);
        let signature = if wanted { json!("skip_thought_signature_validator") } else { Value::Null };
        assert_eq!(sent[0]["parts"][0]["thoughtSignature"], signature, "{model}");
        assert_eq!(sent[0]["parts"][1].get("thoughtSignature"), None, "{model}: only the first of a turn");
    }
}

#[test]
fn replies_in_a_row_are_one_content_and_an_empty_one_has_a_part() {
    let messages =
        [Message::user("a"), reply("b", &[], None), reply("", &[("x", "f", "{}")], None), answer("x", "f", "1", false)];
    let sent = contents("m", &messages);
    let roles: Vec<_> = sent.as_array().unwrap().iter().map(|content| content["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "model", "user"]);
    assert_eq!(sent[1]["parts"].as_array().unwrap().len(), 2);
    assert_eq!(contents("m", &[reply("", &[], None)]), json!([{ "role": "model", "parts": [{ "text": " " }] }]));
}

#[test]
fn names_are_made_legal_and_come_back_as_they_were() {
    let names =
        [("f", "f"), ("1st", "_1st"), ("_1st", "__1st"), ("_x", "_x"), ("-", "_-"), ("_", "__"), ("a.b-c", "a.b-c")];
    for (name, wire) in names {
        let sent = body(&provider("m"), &[reply("", &[("a", name, "{}")], None)], &[tool(name)], ToolChoice::Auto);
        assert_eq!(sent["tools"][0]["functionDeclarations"][0]["name"], wire);
        assert_eq!(sent["contents"][0]["parts"][0]["functionCall"]["name"], wire);
        let call = json!({ "functionCall": { "name": wire } });
        let reply =
            decode_chunks(&[json!({ "candidates": [{ "content": { "parts": [call] }, "finishReason": "STOP" }] })]);
        assert_eq!(reply.unwrap().tool_calls[0].name, name);
    }
    // Names and arguments that a model made up.
    let sent = contents("m", &[reply("", &[("a", "my tool", "["), ("b", "", "{}")], None)]);
    assert_eq!(
        sent[0]["parts"][0]["functionCall"],
        json!({ "name": "my_tool", "args": { "malformed_arguments": "[" } })
    );
    assert_eq!(sent[0]["parts"][1]["functionCall"]["name"], "__");
}

#[test]
fn tools_that_may_not_be_called_stay_declared() {
    let tools = [tool("f"), tool("final_report")];
    let called = [reply("", &[("a", "f", "{}")], None), answer("a", "f", "1", false)];
    let mode = |messages: &[Message], choice: ToolChoice| {
        let sent = body(&provider("m"), messages, &tools, choice);
        let declared = sent["tools"][0]["functionDeclarations"].as_array().map_or(0, Vec::len);
        (declared, sent["toolConfig"]["functionCallingConfig"].clone())
    };
    assert_eq!(mode(&called, ToolChoice::Auto), (2, Value::Null));
    assert_eq!(mode(&called, ToolChoice::None), (2, json!({ "mode": "NONE" })));
    assert_eq!(mode(&[Message::user("a")], ToolChoice::None), (2, json!({ "mode": "NONE" })));
    let forced = json!({ "mode": "ANY", "allowedFunctionNames": ["final_report"] });
    assert_eq!(mode(&called, ToolChoice::Report), (2, forced));
}

#[test]
fn settings_and_the_system_text_are_sent_only_where_they_are_set() {
    for (temperature, max, expected) in [
        (Some(0.2), Some(9), json!({ "temperature": 0.2, "maxOutputTokens": 9 })),
        (Some(0.2), None, json!({ "temperature": 0.2 })),
        (Some(f64::NAN), None, Value::Null),
    ] {
        let p = ProviderConfig { max_output_tokens: max, ..provider("m") };
        let (mut encoder, mut bytes) =
            (encoder(&p, &RunConfig { temperature, ..RunConfig::default() }, &[]), Vec::new());
        encoder.start(&mut bytes);
        encoder.message(&Message::system(""), &mut bytes);
        encoder.end(&[], ToolChoice::Auto, &mut bytes);
        let sent: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(sent["generationConfig"], expected);
        assert_eq!((sent.get("systemInstruction"), &sent["contents"]), (None, &json!([])));
    }
}

#[test]
fn requests_only_grow_at_their_end() {
    let kept = [
        json!({ "gemini": [{ "part": { "text": 8 }, "signature": "S" }, { "part": { "call": "x" }, "signature": "T" }] }),
        json!({ "gemini": [{ "part": { "thought": 3 } }, { "part": { "text": 0 }, "signature": "S" }] }),
        json!({ "gemini": "not a list" }),
    ];
    grows_at_its_end_only(&provider("gemini-3-flash"), &kept);
}

//! Requests in the format of Anthropic's Messages API.

use crate::support::anthropic_rules as rules;
use crate::support::splits;

use serde_json::{Value, json};
use splits::Random;
use turnwise_engine::*;
use turnwise_llm::{Encode, encoder, request_head};

fn provider() -> ProviderConfig {
    ProviderConfig { kind: ProviderKind::Anthropic, model: "claude-x".into(), ..ProviderConfig::default() }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "says \"hi\"".into(),
        parameters: json!({ "type": "object" }),
        may_finish: false,
        side_effect: SideEffect::Page,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    }
}

fn declared(name: &str) -> Value {
    json!({ "name": name, "description": "says \"hi\"", "input_schema": { "type": "object" } })
}

fn assistant(content: &str, calls: &[(&str, &str, &str)]) -> Message {
    thinking(content, calls, None)
}

fn thinking(content: &str, calls: &[(&str, &str, &str)], kept: Option<Value>) -> Message {
    let call = |(id, name, arguments): &(&str, &str, &str)| {
        ToolCall::new(CallId((*id).into()), (*name).into(), (*arguments).into())
    };
    Message::Assistant(AssistantMessage {
        content: content.into(),
        reasoning: "never sent".into(),
        tool_calls: calls.iter().map(call).collect(),
        opaque: kept.map(|kept| json!({ "anthropic": kept, "chat": ["another format's"] })),
        from: None,
    })
}

fn result(id: &str, content: &str, is_error: bool) -> Message {
    Message::Tool(ToolMessage {
        call_id: CallId(id.into()),
        name: "f".into(),
        content: content.into(),
        images: Vec::new(),
        is_error,
    })
}

fn picture() -> Image {
    Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() }
}

/// A signed thought, as the decoder keeps it.
fn thought(text: &str) -> Value {
    json!({ "type": "thought", "size": 11 + text.len(),
        "block": { "type": "thinking", "thinking": text, "signature": "sig" } })
}

fn frozen(messages: &[Message]) -> (Vec<u8>, Box<dyn Encode>) {
    let (mut encoder, mut bytes) = (encoder(&provider(), &RunConfig::default(), &[]), Vec::new());
    encoder.start(&mut bytes);
    for message in messages {
        encoder.message(message, &mut bytes);
    }
    (bytes, encoder)
}

/// Builds a request: the frozen history, its mark, the messages for this request only, the tools.
fn request(messages: &[Message], tail: &[Message], tools: &[ToolSpec], choice: ToolChoice) -> Value {
    let (mut bytes, encoder) = frozen(messages);
    let mut rest = encoder.fork();
    rest.mark(&mut bytes);
    for message in tail {
        rest.message(message, &mut bytes);
    }
    rest.end(tools, choice, &mut bytes);
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
}

fn messages(history: &[Message]) -> Value {
    let (mut bytes, mut encoder) = frozen(history);
    encoder.end(&[], ToolChoice::Auto, &mut bytes);
    serde_json::from_slice::<Value>(&bytes).unwrap()["messages"].take()
}

fn cached() -> Value {
    json!({ "type": "ephemeral" })
}

#[test]
fn a_whole_request_has_the_format_of_the_api() {
    let history = [
        Message::system("be \"brief\"\n"),
        Message::User { content: "Grüße 🙂 \u{2028}".into(), images: vec![picture()] },
        assistant("I look.", &[("toolu_a", "f", "{\"x\": 1}"), ("toolu_b", "g", "")]),
        result("toolu_a", "1\n[Turn 1/15]", false),
        result("toolu_b", "no such file", true),
    ];
    let tail = [Message::user("system notice: go on")];
    assert_eq!(
        request(&history, &tail, &[tool("f"), tool("g")], ToolChoice::Auto),
        json!({
            "model": "claude-x", "max_tokens": 8192, "stream": true,
            "system": [{ "type": "text", "text": "be \"brief\"\n", "cache_control": cached() }],
            "messages": [
                { "role": "user", "content": [
                    { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=" } },
                    { "type": "text", "text": "Grüße 🙂 \u{2028}", "cache_control": cached() },
                ] },
                { "role": "assistant", "content": [
                    { "type": "text", "text": "I look." },
                    { "type": "tool_use", "id": "toolu_a", "name": "f", "input": { "x": 1 } },
                    { "type": "tool_use", "id": "toolu_b", "name": "g", "input": {} },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "toolu_a", "content": "1\n[Turn 1/15]" },
                    { "type": "tool_result", "tool_use_id": "toolu_b", "content": "no such file", "is_error": true,
                        "cache_control": cached() },
                    { "type": "text", "text": "system notice: go on" },
                ] },
            ],
            "tools": [declared("f"), declared("g")],
        })
    );
}

#[test]
fn the_head_names_the_version_and_that_a_page_asks() {
    let head = request_head(&provider(), Some(" sk-ant-1\n"));
    let headers: Vec<_> = head.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(head.url, "https://api.anthropic.com/v1/messages");
    let known = ["anthropic-version: 2023-06-01", "anthropic-dangerous-direct-browser-access: true"];
    assert_eq!(headers, ["content-type: application/json", known[0], known[1], "x-api-key: sk-ant-1"]);
    assert!(request_head(&provider(), None).headers.iter().all(|(name, _)| name != "x-api-key"));
}

#[test]
fn breakpoints_are_at_the_ends_of_this_request_and_of_the_one_before_and_in_the_request_only() {
    let history = [
        Message::system("s"),
        Message::user("a"),
        assistant("b", &[("x", "f", "{}")]),
        result("x", "c", false),
        assistant("d", &[]),
        assistant("e", &[]),
        Message::user("f"),
    ];
    let expected = ["", "", "a", "a b", "a c", "c d", "d e", "d f"];
    for (length, expected) in expected.iter().enumerate() {
        let body = request(&history[..length], &[], &[], ToolChoice::Auto);
        let blocks = body["messages"].as_array().unwrap().iter().flat_map(|m| m["content"].as_array().unwrap());
        let marked = blocks.filter(|block| block.get("cache_control").is_some());
        let text = |block: &Value| match block["type"].as_str().unwrap() {
            "tool_use" => "b".to_owned(),
            "tool_result" => block["content"].as_str().unwrap().to_owned(),
            _ => block["text"].as_str().unwrap().to_owned(),
        };
        assert_eq!(marked.map(text).collect::<Vec<_>>().join(" "), *expected, "{length} messages");
        let kept = String::from_utf8(frozen(&history[..length]).0).unwrap();
        assert_eq!(kept.matches("cache_control").count(), usize::from(length > 2), "only that of the system text");
    }
}

#[test]
fn limits_and_temperature_are_those_of_the_api() {
    let head = |max_output_tokens, temperature| {
        let p = ProviderConfig { max_output_tokens, ..provider() };
        let (mut encoder, mut bytes) =
            (encoder(&p, &RunConfig { temperature, ..RunConfig::default() }, &[]), Vec::new());
        encoder.start(&mut bytes);
        encoder.end(&[], ToolChoice::Auto, &mut bytes);
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    assert_eq!(head(None, None), json!({ "model": "claude-x", "max_tokens": 8192, "stream": true, "messages": [] }));
    for (temperature, sent) in [(0.2, json!(0.2)), (1.7, json!(1.0)), (f64::NAN, Value::Null)] {
        let head = head(Some(7), Some(temperature));
        assert_eq!((&head["max_tokens"], &head["temperature"]), (&json!(7), &sent));
    }
}

#[test]
fn only_a_system_text_at_the_start_is_the_system_text() {
    let texts = |history: &[Message]| {
        let body = request(history, &[], &[], ToolChoice::Auto);
        let said = |block: &Value| block["text"].as_str().map(str::to_owned).unwrap_or_default();
        let user: Vec<_> = body["messages"][0]["content"].as_array().into_iter().flatten().map(said).collect();
        (said(&body["system"][0]), user.join("|"), body["messages"].as_array().unwrap().len())
    };
    let (system, user) = (Message::system, |text: &str| Message::user(text));
    assert_eq!(texts(&[system("s"), user("a"), system("b"), user("c")]), ("s".into(), "a|b|c".into(), 1));
    assert_eq!(texts(&[system("s"), system("t"), user("a")]), ("s".into(), "t|a".into(), 1));
    assert_eq!(texts(&[user("a"), system("b")]), (String::new(), "a|b".into(), 1));
    assert_eq!(texts(&[system(" "), user("a")]), (String::new(), "a".into(), 1));
}

#[test]
fn blank_texts_are_left_out_or_stood_in_for() {
    let user = |text: &str| Message::user(text);
    let block = |text: &str| json!({ "type": "text", "text": text });
    let said = |role: &str, blocks: Value| json!({ "role": role, "content": blocks });
    let call = json!({ "type": "tool_use", "id": "a", "name": "f", "input": {} });
    let cases: [(&[Message], Value); 6] = [
        (&[user(""), user("b")], json!([said("user", json!([block("(no text)"), block("b")]))])),
        (&[user("a"), user(" \n")], json!([said("user", json!([block("a")]))])),
        (&[user("a"), assistant("", &[]), user("b")], json!([said("user", json!([block("a"), block("b")]))])),
        (
            &[user("a"), assistant("\n", &[("a", "f", "{}")]), result("a", "", false)],
            json!([
                said("user", json!([block("a")])),
                said("assistant", json!([call])),
                said("user", json!([{ "type": "tool_result", "tool_use_id": "a" }])),
            ]),
        ),
        (
            &[user("a"), assistant(" so:\n\n", &[])],
            json!([said("user", json!([block("a")])), said("assistant", json!([block(" so:")]))]),
        ),
        (
            &[user("a"), assistant("b", &[]), assistant("c", &[])],
            json!([said("user", json!([block("a")])), said("assistant", json!([block("b"), block("c")]))]),
        ),
    ];
    for (history, expected) in cases {
        assert_eq!(messages(history), expected, "{history:?}");
    }
}

#[test]
fn thoughts_go_back_whole_and_where_they_stood() {
    let types = |message: Message| {
        let sent = messages(&[Message::user("a"), message]);
        let name = |block: &Value| match block["type"].as_str().unwrap() {
            "text" => format!("\"{}\"", block["text"].as_str().unwrap()),
            "thinking" => format!("<{}>", block["thinking"].as_str().unwrap()),
            "redacted_thinking" => "<?>".to_owned(),
            _ => block["id"].as_str().unwrap().to_owned(),
        };
        sent[1]["content"].as_array().into_iter().flatten().map(name).collect::<Vec<_>>().join(" ")
    };
    let text = |chars: u32| json!({ "type": "text", "chars": chars });
    let call = || json!({ "type": "tool_use" });
    let hidden = json!({ "type": "thought", "size": 20, "block": { "type": "redacted_thinking", "data": "xyz" } });
    let calls = [("a", "f", "{}"), ("b", "f", "{}")];
    let order = json!([thought("hm"), text(6), call(), hidden, thought(""), text(2), call()]);
    let cases = [
        ("in order", "Grüße!ok", &calls[..], order.clone(), "<hm> \"Grüße!\" a <?> <> \"ok\" b"),
        ("a longer text", "Grüße! [redacted]", &calls, order.clone(), "<hm> <?> <> \"Grüße! [redacted]\" a b"),
        ("a shorter text", "Grü", &calls, order.clone(), "<hm> <?> <> \"Grü\" a b"),
        ("a call less", "Grüße!ok", &calls[..1], order.clone(), "<hm> <?> <> \"Grüße!ok\" a"),
        ("a blank piece", "\n\nok", &[], json!([text(2), thought("x"), text(2)]), "<x> \"ok\""),
        ("only a thought", "", &[], json!([thought("x")]), "<x> \"(no text)\""),
        ("a thought at the end", "ok", &[], json!([text(2), thought("x")]), "\"ok\" <x> \"(no text)\""),
        ("nothing it knows", "ok", &[], json!([{ "type": "news" }, 7]), "\"ok\""),
        ("no list", "ok", &[], json!("x"), "\"ok\""),
    ];
    for (name, content, calls, kept, expected) in cases {
        assert_eq!(types(thinking(content, calls, Some(kept))), expected, "{name}");
    }
    // A secret was redacted in one of the thoughts: the API would refuse the changed thought, and also the others without it.
    let mut changed = order;
    changed[0]["block"]["thinking"] = json!("h[redacted]m");
    assert_eq!(types(thinking("Grüße!ok", &calls, Some(changed))), "\"Grüße!ok\" a b");
    let sent = messages(&[Message::user("a"), thinking("ok", &[], Some(json!([thought("x"), text(2)])))]);
    assert_eq!(sent[1]["content"][0], json!({ "type": "thinking", "thinking": "x", "signature": "sig" }));
}

#[test]
fn a_reply_goes_back_as_it_came() {
    let mut seen = 0;
    for (name, bytes) in splits::fixtures("anthropic").into_iter().filter(|(name, _)| name.ends_with("answer.json")) {
        let Reply { content, tool_calls, opaque, .. } =
            splits::decode(ProviderKind::Anthropic, [&bytes[..]]).result.unwrap();
        let call = |call: RawCall| ToolCall::new(CallId(call.id), call.name, call.arguments);
        let tool_calls = tool_calls.into_iter().map(call).collect();
        let reply = AssistantMessage { content, reasoning: String::new(), tool_calls, opaque, from: None };
        let sent = messages(&[Message::user("a"), Message::Assistant(reply)]);
        assert_eq!(sent[1]["content"], serde_json::from_slice::<Value>(&bytes).unwrap()["content"], "{name}");
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn tools_are_there_whenever_the_history_has_tool_blocks() {
    let plain = vec![Message::user("a")];
    let called = vec![Message::user("a"), assistant("", &[("x", "old.one", "{}")]), result("x", "1", false)];
    let signed = json!([thought("x"), { "type": "tool_use" }]);
    let thought = [&plain[..], &[thinking("", &[("x", "f", "{}")], Some(signed)), result("x", "1", false)]].concat();
    let all = [tool("f"), tool("final_report")];
    let both = json!([declared("f"), declared("final_report")]);
    let (report, none) = (json!([declared("final_report")]), json!({ "type": "none" }));
    let forced = json!({ "type": "tool", "name": "final_report" });
    let by_name = json!([{ "name": "old_2e_one", "input_schema": { "type": "object" } }]);
    let null = Value::Null;
    let cases = [
        (&plain, &all[..], ToolChoice::Auto, &both, &null),
        (&called, &all, ToolChoice::Auto, &both, &null),
        (&plain, &all, ToolChoice::None, &both, &none),
        (&called, &all, ToolChoice::None, &both, &none),
        (&plain, &all, ToolChoice::Report, &both, &forced),
        (&called, &all, ToolChoice::Report, &both, &forced),
        // A model that thinks is not forced.
        (&thought, &all, ToolChoice::Report, &report, &null),
        (&called, &[], ToolChoice::Auto, &by_name, &none),
        (&called, &[], ToolChoice::Report, &by_name, &none),
        (&plain, &[], ToolChoice::Auto, &null, &null),
        (&plain, &[], ToolChoice::Report, &null, &null),
    ];
    for (history, tools, choice, declared, chosen) in cases {
        let body = request(history, &[], tools, choice);
        assert_eq!((&body["tools"], &body["tool_choice"]), (declared, chosen), "{choice:?} {history:?}");
        assert!(body.get("tools").is_none_or(|tools| !tools.is_null()), "absent, not null");
    }
}

#[test]
fn the_final_report_is_forced_where_the_model_and_the_server_are_known_to_take_it() {
    let sent_after = |model: &str, base_url: &str, reasoning, learnt: &[Correction]| {
        let p = ProviderConfig { model: model.into(), base_url: base_url.into(), ..provider() };
        let config = RunConfig { reasoning, ..RunConfig::default() };
        let (mut encoder, mut bytes) = (encoder(&p, &config, learnt), Vec::new());
        encoder.start(&mut bytes);
        encoder.end(&[tool("f"), tool("final_report")], ToolChoice::Report, &mut bytes);
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        (body["tools"].as_array().unwrap().len(), body["tool_choice"]["name"].as_str().unwrap_or_default().to_owned())
    };
    let sent = |model: &str, base_url: &str, reasoning| sent_after(model, base_url, reasoning, &[]);
    // litellm#39151: "tool_choice: type "tool" and "any" are not supported for this model."
    assert_eq!(sent_after("claude-sonnet-4-6", "", None, &[Correction::NoToolChoice]), (1, String::new()));
    let low = Some(ReasoningEffort::Low);
    for (model, base_url, reasoning, declared, forced) in [
        ("claude-sonnet-4-6", "", None, 2, "final_report"),
        ("claude-sonnet-4-6", "", low, 1, ""),
        ("claude-sonnet-4-6", "https://proxy.example/v1", None, 1, ""),
        // They refuse the demand, and their thoughts in a request with other tools (rig).
        ("claude-sonnet-5-5", "", None, 2, ""),
        ("claude-fable-5-1", "", low, 2, ""),
        ("claude-fable-5-1", "https://proxy.example/v1", low, 2, ""),
    ] {
        assert_eq!(sent(model, base_url, reasoning), (declared, forced.to_owned()), "{model} {base_url}");
    }
}

#[test]
fn ids_are_of_the_characters_the_api_takes_and_stay_apart() {
    let calls = ["a.b", "a_b", "a b", "", "ü:1", "toolu_01-X"];
    let calls: Vec<_> = calls.iter().map(|id| (*id, "f", "{}")).collect();
    let results = calls.iter().map(|(id, ..)| result(id, "1", false));
    let history: Vec<_> = [Message::user("a"), assistant("", &calls)].into_iter().chain(results).collect();
    let sent = messages(&history);
    let ids = |at: usize, key: &str| -> Vec<String> {
        sent[at]["content"].as_array().unwrap().iter().map(|block| block[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(1, "id"), ["a_2e_b", "a_b", "a_20_b", "_", "_fc__3a_1", "toolu_01-X"]);
    assert_eq!(ids(1, "id"), ids(2, "tool_use_id"));
}

#[test]
fn arguments_sent_back_are_always_an_object() {
    for (arguments, expected) in [
        (" {\"a\": 1} ", json!({ "a": 1 })),
        ("", json!({})),
        ("{\"a\":", json!({ "malformed_arguments": "{\"a\":" })),
        ("[1]", json!({ "malformed_arguments": "[1]" })),
    ] {
        let sent = messages(&[Message::user("a"), assistant("", &[("a", "f", arguments)])]);
        assert_eq!(sent[1]["content"][0]["input"], expected, "{arguments:?}");
    }
}

/// A history as the engine could produce it: each call answered at once, anything else in any order.
fn random_history(random: &mut Random) -> Vec<Vec<Message>> {
    let texts = ["", " \n", "one", "Grüße 🙂", "two\n"];
    let mut steps = vec![vec![Message::user("the task")]];
    if random.below(4) > 0 {
        steps.insert(0, vec![Message::system(texts[random.below(texts.len())])]);
    }
    for step in 0..random.below(9) {
        let text = texts[random.below(texts.len())];
        let ids: Vec<String> = (0..random.below(4)).map(|call| format!("call.{step}/{call}")).collect();
        let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "a.tool", ["{}", "", "oops"][random.below(3)])).collect();
        let kept = match random.below(4) {
            0 => Some(json!([thought("x"), { "type": "text", "chars": text.chars().count() }])),
            1 => Some(json!([{ "type": "text", "chars": 1 }, thought("")])),
            2 => Some(json!([{ "type": "tool_use" }, thought("y"), { "type": "tool_use" }, thought("z")])),
            _ => None,
        };
        steps.push(match random.below(5) {
            0 => vec![Message::user(text)],
            1 => vec![Message::User { content: text.into(), images: vec![picture(); random.below(3)] }],
            2 => vec![Message::system(text)],
            _ => {
                let results = ids.iter().map(|id| result(id, text, random.below(2) == 0)).collect::<Vec<_>>();
                [vec![thinking(text, &calls, kept)], results].concat()
            }
        });
    }
    steps
}

#[test]
fn random_histories_only_grow_and_keep_every_rule_of_the_api() {
    let mut requests = 0;
    for seed in 0..1500 {
        let mut random = Random(seed);
        let steps = random_history(&mut random);
        let all = steps.concat();
        let (whole, _) = frozen(&all);
        for length in 0..=all.len() {
            assert!(whole.starts_with(&frozen(&all[..length]).0), "seed {seed}: {length} messages");
        }
        for step in 2..=steps.len() {
            let tail = [Message::user("system notice: go on")];
            let tail = &tail[..random.below(2)];
            let choice = [ToolChoice::Auto, ToolChoice::None, ToolChoice::Report][random.below(3)];
            let tools = &[tool("f"), tool("final_report")][..random.below(3)];
            let body = request(&steps[..step].concat(), tail, tools, choice);
            rules::check(&body, !tail.is_empty()).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}\n{body:#}"));
            requests += 1;
        }
    }
    assert!(requests > 4_000, "{requests} requests");
}

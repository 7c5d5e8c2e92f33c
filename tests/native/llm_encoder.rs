//! Requests in the format of Chat Completions servers.

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::{Encode, encoder, request_head};

fn provider(base_url: &str) -> ProviderConfig {
    ProviderConfig {
        kind: ProviderKind::Openai,
        base_url: base_url.into(),
        model: "m".into(),
        ..ProviderConfig::default()
    }
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "says \"hi\"".into(),
        parameters: json!({ "type": "object" }),
        may_finish: true,
        side_effect: SideEffect::Page,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    }
}

fn assistant(content: &str, calls: &[(&str, &str, &str)]) -> Message {
    let call = |(id, name, arguments): &(&str, &str, &str)| {
        ToolCall::new(CallId((*id).into()), (*name).into(), (*arguments).into())
    };
    Message::Assistant(AssistantMessage {
        content: content.into(),
        reasoning: "kept here".into(),
        tool_calls: calls.iter().map(call).collect(),
        opaque: None,
        from: None,
    })
}

fn result(id: &str, content: &str) -> Message {
    Message::Tool(ToolMessage {
        call_id: CallId(id.into()),
        name: "f".into(),
        content: content.into(),
        images: Vec::new(),
        is_error: true,
    })
}

fn history() -> Vec<Message> {
    vec![
        Message::system("be \"brief\"\n"),
        Message::user("Grüße 🙂 \u{2028} \u{0}"),
        assistant("", &[("a", "f", "{\"x\": 1}"), ("b", "g", "")]),
        result("a", "1\n[Turn 1/15]"),
        result("b", ""),
        assistant("done", &[]),
    ]
}

fn frozen(p: &ProviderConfig, messages: &[Message]) -> (Vec<u8>, Box<dyn Encode>) {
    let (mut encoder, mut bytes) = (encoder(p, &RunConfig::default(), &[]), Vec::new());
    encoder.start(&mut bytes);
    for message in messages {
        encoder.message(message, &mut bytes);
    }
    (bytes, encoder)
}

fn body(p: &ProviderConfig, messages: &[Message], tools: &[ToolSpec], choice: ToolChoice) -> Value {
    let (mut bytes, encoder) = frozen(p, messages);
    let mut rest = encoder.fork();
    rest.mark(&mut bytes);
    rest.end(tools, choice, &mut bytes);
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn a_whole_request_has_the_format_of_the_api() {
    let body = body(&provider("http://x/v1"), &history(), &[tool("f"), tool("g")], ToolChoice::Auto);
    let function = |name: &str| {
        json!({ "type": "function", "function":
            { "name": name, "description": "says \"hi\"", "parameters": { "type": "object" } } })
    };
    assert_eq!(
        body,
        json!({
            "model": "m", "stream": true, "stream_options": { "include_usage": true },
            "messages": [
                { "role": "system", "content": "be \"brief\"\n" },
                { "role": "user", "content": "Grüße 🙂 \u{2028} \u{0}" },
                { "role": "assistant", "content": "", "tool_calls": [
                    { "id": "a", "type": "function", "function": { "name": "f", "arguments": "{\"x\": 1}" } },
                    { "id": "b", "type": "function", "function": { "name": "g", "arguments": "{}" } },
                ] },
                { "role": "tool", "tool_call_id": "a", "content": "1\n[Turn 1/15]" },
                { "role": "tool", "tool_call_id": "b", "content": "" },
                { "role": "assistant", "content": "done" },
            ],
            "tools": [function("f"), function("g")],
        })
    );
}

#[test]
fn what_was_encoded_for_one_turn_is_a_byte_prefix_of_the_next() {
    for kind in ProviderKind::ALL {
        let p = ProviderConfig { kind: *kind, ..provider("") };
        let messages = history();
        let (whole, _) = frozen(&p, &messages);
        for length in 0..=messages.len() {
            assert!(whole.starts_with(&frozen(&p, &messages[..length]).0), "{kind:?}, {length} messages");
        }
    }
}

#[test]
fn where_none_is_not_respected_a_request_without_tools_has_none_at_all() {
    for (base_url, tools, choice) in [
        ("http://localhost:11434/v1", vec![tool("f")], ToolChoice::None),
        ("https://proxy.example/v1", vec![tool("f")], ToolChoice::None),
        ("", vec![], ToolChoice::None),
        ("", vec![], ToolChoice::Auto),
    ] {
        let body = body(&provider(base_url), &history(), &tools, choice);
        assert!(body.get("tools").is_none() && body.get("tool_choice").is_none(), "{base_url}");
        assert_eq!(body["messages"][2]["tool_calls"][0]["id"], "a", "the history keeps its calls");
    }
}

#[test]
fn where_none_is_respected_the_tools_stay_declared() {
    let sent = |kind, base_url: &str, model: &str, choice, learnt: &[Correction]| {
        let p = ProviderConfig { kind, model: model.into(), ..provider(base_url) };
        let (mut writer, mut bytes) = (encoder(&p, &RunConfig::default(), learnt), Vec::new());
        writer.start(&mut bytes);
        writer.end(&[tool("f"), tool("final_report")], choice, &mut bytes);
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        (body["tools"].as_array().map_or(0, Vec::len), body["tool_choice"].clone())
    };
    use ProviderKind::{Openai, Openrouter};
    for (kind, base_url, model, declared) in [
        (Openai, "", "gpt-5.4", 2),
        (Openai, "https://api.mistral.ai/v1", "mistral-large", 2),
        (Openai, "https://proxy.example/v1", "gpt-5.4", 0),
        (Openrouter, "", "openai/gpt-5.4", 2),
        (Openrouter, "", "anthropic/claude-sonnet-5", 2),
        (Openrouter, "", "google/gemini-3.1-pro", 2),
        // zed#36094: no server behind it takes a tool choice.
        (Openrouter, "", "z-ai/glm-4.5-air:free", 0),
    ] {
        let choice = if declared == 0 { Value::Null } else { json!("none") };
        assert_eq!(sent(kind, base_url, model, ToolChoice::None, &[]), (declared, choice), "{base_url} {model}");
        let refused = sent(kind, base_url, model, ToolChoice::None, &[Correction::NoToolChoice]);
        assert_eq!(refused, (0, Value::Null), "{base_url} {model}, after it was refused");
    }
    let forced = json!({ "type": "function", "function": { "name": "final_report" } });
    assert_eq!(sent(Openai, "", "m", ToolChoice::Report, &[]), (2, forced));
    assert_eq!(sent(Openai, "", "m", ToolChoice::Report, &[Correction::NoToolChoice]), (1, Value::Null));
    for (kind, base_url) in [(Openai, "https://proxy.example/v1"), (Openrouter, "")] {
        assert_eq!(sent(kind, base_url, "openai/m", ToolChoice::Report, &[]), (1, Value::Null));
    }
}

#[test]
fn claude_through_openrouter_gets_its_breakpoints_in_parts() {
    let of = |model: &str, history: &[Message]| {
        let p = ProviderConfig { kind: ProviderKind::Openrouter, model: model.into(), ..provider("") };
        body(&p, history, &[], ToolChoice::Auto)["messages"].clone()
    };
    let part = |text: &str, marked: bool| match marked {
        true => json!([{ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } }]),
        false => json!([{ "type": "text", "text": text }]),
    };
    let image = Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
    let history = [
        Message::system("s"),
        Message::User { content: "look".into(), images: vec![image] },
        Message::user("task"),
        assistant("", &[("a", "f", "{}"), ("b", "f", "{}")]),
        result("a", "1"),
        result("b", "2"),
    ];
    let sent = of("anthropic/claude-sonnet-5", &history);
    assert_eq!(sent[0]["content"], part("s", true));
    assert_eq!(sent[1]["content"][1]["type"], "image_url");
    assert_eq!(sent[2]["content"], part("task", true), "the end of the request before");
    assert_eq!(sent[3]["content"], Value::Null);
    assert_eq!((&sent[4]["content"], &sent[5]["content"]), (&part("1", false), &part("2", true)));
    // The service refuses a breakpoint on a blank text.
    assert_eq!(of("anthropic/claude-sonnet-5", &[Message::user(" ")])[0]["content"], " ");
    assert!(!of("openai/gpt-5.4", &history).to_string().contains("cache_control"));
}

#[test]
fn the_output_limit_has_the_name_the_server_knows() {
    let cases = [
        ("", "max_completion_tokens"),
        ("https://api.openai.com/v1/", "max_completion_tokens"),
        ("https://api.openai.com.example.org/v1", "max_tokens"),
        ("http://127.0.0.1:11434/v1", "max_tokens"),
    ];
    for (base_url, name) in cases {
        let p = ProviderConfig { max_output_tokens: Some(7), ..provider(base_url) };
        let body = body(&p, &[], &[], ToolChoice::Auto);
        assert_eq!(body[name], 7, "{base_url}");
        assert!(body.get("temperature").is_none());
    }
    // litellm#13432, opencode#5421: also behind a proxy.
    for (model, name) in [
        ("gpt-5.4-mini", "max_completion_tokens"),
        ("openai/gpt-6.1-terra", "max_completion_tokens"),
        ("o4-mini", "max_completion_tokens"),
        ("gpt-4o", "max_tokens"),
        ("gpt-oss-120b", "max_tokens"),
        ("olmo-3", "max_tokens"),
    ] {
        let p =
            ProviderConfig { max_output_tokens: Some(7), model: model.into(), ..provider("https://proxy.example/v1") };
        assert_eq!(body(&p, &[], &[], ToolChoice::Auto)[name], 7, "{model}");
        let routed = ProviderConfig { kind: ProviderKind::Openrouter, ..p };
        assert_eq!(body(&routed, &[], &[], ToolChoice::Auto)["max_tokens"], 7, "OpenRouter translates");
    }
}

#[test]
fn arguments_sent_back_are_always_a_json_object() {
    // Templates of llama.cpp and vLLM parse the arguments, and answer 500 or 400 if they cannot.
    let cases = [
        ("{\"a\":1}", json!({ "a": 1 })),
        (" {} ", json!({})),
        ("", json!({})),
        ("  ", json!({})),
        ("{\"a\":", json!({ "malformed_arguments": "{\"a\":" })),
        ("[1]", json!({ "malformed_arguments": "[1]" })),
        ("{} {}", json!({ "malformed_arguments": "{} {}" })),
    ];
    for (arguments, expected) in cases {
        let messages = [assistant("", &[("a", "f", arguments)])];
        let body = body(&provider(""), &messages, &[], ToolChoice::Auto);
        let sent = body["messages"][0]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(sent).unwrap(), expected, "{arguments:?}");
    }
}

#[test]
fn an_assistant_message_without_calls_keeps_its_empty_text() {
    let body = body(&provider(""), &[assistant("", &[])], &[], ToolChoice::Auto);
    assert_eq!(body["messages"][0], json!({ "role": "assistant", "content": "" }));
}

#[test]
fn the_head_has_the_address_and_the_key_only_where_one_is_set() {
    let urls = [
        ("", "https://api.openai.com/v1/chat/completions"),
        ("http://x/v1", "http://x/v1/chat/completions"),
        (" http://x/v1// ", "http://x/v1/chat/completions"),
        ("http://x/v1/chat/completions", "http://x/v1/chat/completions"),
        ("/proxy/v1", "/proxy/v1/chat/completions"),
    ];
    for (base_url, url) in urls {
        assert_eq!(request_head(&provider(base_url), None).url, url);
    }
    let json = ("content-type".to_owned(), "application/json".to_owned());
    for none in [None, Some(""), Some(" \n")] {
        assert_eq!(request_head(&provider(""), none).headers, std::slice::from_ref(&json));
    }
    let key = ("authorization".to_owned(), "Bearer sk-1".to_owned());
    assert_eq!(request_head(&provider(""), Some(" sk-1\n")).headers, [json, key]);
}

#[test]
fn the_temperature_is_sent_only_where_one_is_set() {
    for (temperature, sent) in [(Some(0.2), json!(0.2)), (Some(f64::NAN), Value::Null), (None, Value::Null)] {
        let (mut encoder, mut bytes) =
            (encoder(&provider(""), &RunConfig { temperature, ..RunConfig::default() }, &[]), Vec::new());
        encoder.start(&mut bytes);
        encoder.end(&[], ToolChoice::Auto, &mut bytes);
        assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap()["temperature"], sent);
    }
}

#[test]
fn pictures_stand_beside_their_text() {
    let image = Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
    let message = Message::User { content: "What is this?".into(), images: vec![image] };
    let body = body(&provider(""), &[message], &[], ToolChoice::Auto);
    assert_eq!(
        body["messages"][0]["content"],
        json!([
            { "type": "text", "text": "What is this?" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=" } },
        ])
    );
}

#[test]
fn local_templates_get_alternating_roles_and_one_system_message() {
    let messages = [
        Message::system("be brief"),
        Message::user("a \"task\""),
        Message::system("conclude"),
        Message::user("system notice: go on\n"),
        assistant("done", &[]),
        Message::user("and?"),
    ];
    for (kind, expected) in [
        (
            ProviderKind::Llamacpp,
            json!([
                { "role": "system", "content": "be brief" },
                { "role": "user", "content": "a \"task\"\n\nconclude\n\nsystem notice: go on\n" },
                { "role": "assistant", "content": "done" },
                { "role": "user", "content": "and?" },
            ]),
        ),
        (
            ProviderKind::Openai,
            json!([
                { "role": "system", "content": "be brief" },
                { "role": "user", "content": "a \"task\"" },
                { "role": "system", "content": "conclude" },
                { "role": "user", "content": "system notice: go on\n" },
                { "role": "assistant", "content": "done" },
                { "role": "user", "content": "and?" },
            ]),
        ),
    ] {
        // Of a server at another address nothing is known (llm_servers.rs).
        let p = ProviderConfig { kind, ..provider(if kind == ProviderKind::Openai { "" } else { "http://x/v1" }) };
        assert_eq!(body(&p, &messages, &[], ToolChoice::Auto)["messages"], expected);
    }
}

#[test]
fn reasoning_details_go_back_as_they_came_and_only_to_their_own_format() {
    let details = json!([{ "type": "reasoning.text", "text": "hm", "signature": "s", "index": 0 }]);
    let message = |opaque: Value| {
        Message::Assistant(AssistantMessage {
            content: "a".into(),
            opaque: Some(opaque),
            ..AssistantMessage::default()
        })
    };
    let sent = |opaque| {
        let p = ProviderConfig { kind: ProviderKind::Openrouter, ..provider("") };
        body(&p, &[message(opaque)], &[], ToolChoice::Auto)["messages"][0].clone()
    };
    assert_eq!(sent(json!({ "chat": details }))["reasoning_details"], details);
    assert!(sent(json!({ "anthropic": [{ "thinking": "hm" }] })).get("reasoning_details").is_none());
}

#[test]
fn names_that_a_model_made_up_do_not_spoil_the_history() {
    let long = "x".repeat(70);
    for (name, sent) in [("default_api.find", "default_api_find"), ("", "_"), ("ok-1", "ok-1"), (&long, &long[..64])] {
        let body = body(&provider(""), &[assistant("", &[("a", name, "{}")])], &[], ToolChoice::Auto);
        assert_eq!(body["messages"][0]["tool_calls"][0]["function"]["name"], sent, "{name:?}");
    }
}

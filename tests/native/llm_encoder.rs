//! Requests in the format of Chat Completions servers.

use serde_json::{Value, json};
use turnwise::engine::*;
use turnwise::llm::{Encode, encoder, request_head};

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
fn without_tools_the_request_has_no_tools_at_all() {
    for (tools, choice) in [(vec![tool("f")], ToolChoice::None), (vec![], ToolChoice::Auto)] {
        let body = body(&provider(""), &history(), &tools, choice);
        assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
        assert_eq!(body["messages"][2]["tool_calls"][0]["id"], "a", "the history keeps its calls");
    }
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

//! The list of what the example's key proxy sends on (`examples/key-proxy/content.mjs`) has everything that a request of ours may contain.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::encoder;

use crate::support::plain_tool;

const LIST: &str = include_str!("../../examples/key-proxy/content.mjs");

const MODELS: &[&str] = &[
    "gpt-4o",
    "gpt-5.4-mini",
    "gpt-5.6",
    "o4-mini",
    "gpt-oss-120b",
    "claude-sonnet-5",
    "gemini-3.1-pro",
    "deepseek-v4",
    "kimi-k2.5",
    "glm-5.3",
    "qwen3.8-max",
    "minimax-m2",
    "mistral-large",
    "magistral-medium",
    "grok-4.6",
    "command-a",
    "llama-4",
];

const EFFORTS: &[Option<ReasoningEffort>] = &[
    None,
    Some(ReasoningEffort::None),
    Some(ReasoningEffort::Minimal),
    Some(ReasoningEffort::Low),
    Some(ReasoningEffort::Medium),
    Some(ReasoningEffort::High),
    Some(ReasoningEffort::Xhigh),
    Some(ReasoningEffort::Max),
];

const LEARNT: &[&[Correction]] = &[
    &[],
    &[Correction::OtherLimitName],
    &[Correction::SendThoughts],
    &[Correction::AlternateRoles],
    &[Correction::EmptyText],
];

/// A conversation with everything that there may be in one.
fn conversation(p: &ProviderConfig) -> Vec<Message> {
    let reply = AssistantMessage {
        content: "a".into(),
        reasoning: "because".into(),
        tool_calls: vec![ToolCall::new(CallId("call_1".into()), "search".into(), "{}".into())],
        opaque: Some(json!({ "chat": [{ "type": "reasoning.text", "text": "because" }] })),
        from: Some(Author::from(p)),
    };
    let (call_id, name, content) = (CallId("call_1".into()), "search".to_owned(), "found".to_owned());
    let image = Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
    vec![
        Message::system("s"),
        Message::User { content: "look".into(), images: vec![image] },
        Message::Assistant(reply),
        Message::Tool(ToolMessage { call_id, name, content, images: Vec::new(), is_error: false }),
    ]
}

/// All names of fields in a value, but not those inside arguments and schemas.
fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                found.insert(name.clone());
                if name != "parameters" {
                    names(value, found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn the_proxy_sends_on_every_field_that_a_request_may_have() {
    let mut sent = BTreeSet::new();
    for model in MODELS {
        let p = ProviderConfig {
            kind: ProviderKind::Openai,
            base_url: "https://docs.example.org/ask/v1".into(),
            model: (*model).into(),
            max_output_tokens: Some(100),
            ..ProviderConfig::default()
        };
        for (effort, learnt) in EFFORTS.iter().flat_map(|effort| LEARNT.iter().map(move |learnt| (effort, learnt))) {
            let config = RunConfig {
                temperature: Some(0.5),
                top_p: Some(0.5),
                reasoning: *effort,
                tool_choice: Some(AskedTool::Tool("search".into())),
                tools: vec![plain_tool("search")],
                ..RunConfig::default()
            };
            let (mut writer, mut bytes) = (encoder(&p, &config, learnt), Vec::new());
            writer.start(&mut bytes);
            conversation(&p).iter().for_each(|message| writer.message(message, &mut bytes));
            writer.end(&config.tools, ToolChoice::Asked, &mut bytes);
            names(&serde_json::from_slice(&bytes).unwrap(), &mut sent);
        }
    }
    for name in ["max_tokens", "max_completion_tokens", "reasoning_effort", "reasoning_content", "tool_choice", "top_p"]
    {
        assert!(sent.contains(name), "the requests of this test have no {name}");
    }
    let is_code = |line: &&str| !["//", "/*", "*"].iter().any(|begin| line.trim_start().starts_with(begin));
    let in_line = |line: &'static str| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words: BTreeSet<&str> = LIST.lines().filter(is_code).flat_map(in_line).collect();
    let missing: Vec<_> = sent.iter().filter(|name| !words.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "not in content.mjs: {missing:?}");
}

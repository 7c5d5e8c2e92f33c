//! Request bodies, for the tests of every wire format.

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::{Encode, encoder};

use super::splits::Random;

pub fn tool(name: &str) -> ToolSpec {
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

/// A reply with calls as id, name and arguments, and its opaque data, which must be sent back.
pub fn reply(content: &str, calls: &[(&str, &str, &str)], opaque: Option<Value>) -> Message {
    let call = |(id, name, arguments): &(&str, &str, &str)| {
        ToolCall::new(CallId((*id).into()), (*name).into(), (*arguments).into())
    };
    let tool_calls = calls.iter().map(call).collect();
    Message::Assistant(AssistantMessage {
        content: content.into(),
        reasoning: "thought".into(),
        tool_calls,
        opaque,
        from: None,
    })
}

/// The message that a decoded reply becomes; the engine's ids may differ from the model's.
pub fn entered(reply: Reply, ids: &[&str]) -> Message {
    let Reply { content, reasoning, tool_calls, opaque, .. } = reply;
    assert_eq!(tool_calls.len(), ids.len());
    let call = |(call, id): (RawCall, &&str)| ToolCall::new(CallId((*id).into()), call.name, call.arguments);
    let tool_calls = tool_calls.into_iter().zip(ids).map(call).collect();
    Message::Assistant(AssistantMessage { content, reasoning, tool_calls, opaque, from: None })
}

pub fn answer(id: &str, name: &str, content: &str, is_error: bool) -> Message {
    Message::Tool(ToolMessage {
        call_id: CallId(id.into()),
        name: name.into(),
        content: content.into(),
        images: Vec::new(),
        is_error,
    })
}

pub fn picture(content: &str) -> Message {
    let image = Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
    Message::User { content: content.into(), images: vec![image] }
}

pub fn frozen(p: &ProviderConfig, messages: &[Message]) -> (Vec<u8>, Box<dyn Encode>) {
    frozen_of(p, &RunConfig::default(), messages)
}

pub fn frozen_of(p: &ProviderConfig, config: &RunConfig, messages: &[Message]) -> (Vec<u8>, Box<dyn Encode>) {
    let (mut encoder, mut bytes) = (encoder(p, config, &[]), Vec::new());
    encoder.start(&mut bytes);
    for message in messages {
        encoder.message(message, &mut bytes);
    }
    (bytes, encoder)
}

pub fn body(p: &ProviderConfig, messages: &[Message], tools: &[ToolSpec], choice: ToolChoice) -> Value {
    let config = RunConfig { tools: tools.to_vec(), ..RunConfig::default() };
    body_of(p, &config, messages, choice)
}

/// A request body with everything that a run asks of a model.
pub fn body_of(p: &ProviderConfig, config: &RunConfig, messages: &[Message], choice: ToolChoice) -> Value {
    let (mut bytes, encoder) = frozen_of(p, config, messages);
    let mut rest = encoder.fork();
    rest.mark(&mut bytes);
    rest.end(&config.tools, choice, &mut bytes);
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
}

/// Conversations as runs make them, and some that no run makes.
fn conversation(random: &mut Random, opaque: &[Value]) -> Vec<Message> {
    let texts = ["", "be brief", "Grüße 🙂 \u{2028} \u{0}\n", "\"", "{}"];
    let names = ["f", "", "1 tool", "final_report"];
    let mut messages = Vec::new();
    for turn in 0..random.below(7) {
        let text = texts[random.below(texts.len())];
        match random.below(6) {
            0 => messages.push(Message::system(text)),
            1 => messages.push(Message::user(text)),
            2 => messages.push(picture(text)),
            _ => {
                let ids: Vec<_> = (0..random.below(4)).map(|call| format!("c{turn}_{call}")).collect();
                let calls: Vec<_> =
                    ids.iter().map(|id| (&**id, names[random.below(4)], texts[random.below(5)])).collect();
                let opaque = opaque.get(random.below(opaque.len() + 1)).cloned();
                messages.push(reply(text, &calls, opaque));
                messages.extend(calls.iter().map(|(id, name, _)| answer(id, name, text, random.below(2) == 0)));
            }
        }
    }
    messages
}

/// Checks that sent bytes stay a prefix of what is sent next, that every request is JSON, and that a fork continues
/// like its original.
pub fn grows_at_its_end_only(p: &ProviderConfig, opaque: &[Value]) {
    for seed in 0..2000 {
        let messages = conversation(&mut Random(seed), opaque);
        let (whole, _) = frozen(p, &messages);
        for length in 0..=messages.len() {
            let (before, encoder) = frozen(p, &messages[..length]);
            assert!(whole.starts_with(&before), "seed {seed}, {length} messages");
            let (mut rest, mut forked) = (encoder.fork(), before);
            for message in &messages[length..] {
                rest.message(message, &mut forked);
            }
            assert_eq!(forked, whole, "seed {seed}, forked after {length} messages");
            body(p, &messages[..length], &[tool("f")], ToolChoice::Auto);
        }
    }
}

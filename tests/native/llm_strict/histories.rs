//! Any history that the engine can make is accepted by every service, and what was sent before is a prefix of what is sent next.

use serde_json::Value;
use turnwise_engine::*;
use turnwise_llm::{ServerName, encoder};

use super::drive::{close, write};
use super::services::{Service, services};
use crate::support::plain_tool;
use crate::support::splits::Random;

const SEEDS: u64 = 40;

/// An id of a call as the engine has it: a model's own, its own, that of a sub-agent.
fn id(random: &mut Random, turn: usize, call: usize, own: bool) -> String {
    match random.below(4) {
        0 => format!("call_{turn}_1_{call}"),
        1 => format!("sub3_call_{turn}_1_{call}"),
        // Longer than a model of OpenAI's makes them.
        2 if !own => format!("toolu_{turn}{call}{}", "aB1".repeat(18)),
        _ => format!("aBcDeF{turn}{call}Z"),
    }
}

fn history(random: &mut Random, me: &ProviderConfig) -> Vec<Message> {
    let others = [
        ProviderConfig { kind: ProviderKind::Anthropic, model: "claude-sonnet-5".into(), ..ProviderConfig::default() },
        ProviderConfig { model: "another".into(), ..me.clone() },
        ProviderConfig { kind: ProviderKind::Ollama, model: "qwen3".into(), ..ProviderConfig::default() },
    ];
    let texts = ["Let me look.", "Grüße 🙂 \u{2028}\n", "\"", "{}"];
    let image = |media_type: &str| Image { media_type: media_type.into(), data: "AA==".into() };
    let mut messages = vec![Message::system("Be brief."), Message::user("What is 3 x 4?")];
    for turn in 1..2 + random.below(6) {
        let text = texts[random.below(texts.len())];
        let from = others.get(random.below(others.len() + 3)).unwrap_or(me);
        let own = from == me;
        let count = random.below(4);
        let calls = (0..count).map(|n| {
            let call = ToolCall::new(
                CallId(id(random, turn, n, own)),
                "f".into(),
                ["{}", "", "{\"x\":1}"][random.below(3)].into(),
            );
            // What a model gave itself goes back as it came, so it fits its own rule.
            let given = (own && me.model.contains("istral")).then(|| format!("aB3dE{turn}g{n}x"));
            ToolCall { wire_id: given, ..call }
        });
        let tool_calls: Vec<ToolCall> = calls.collect();
        let content = if count > 0 && random.below(2) == 0 { "" } else { text };
        let reasoning = ["", "Let me think."][random.below(2)].to_owned();
        messages.push(Message::Assistant(AssistantMessage {
            content: content.to_owned(),
            reasoning,
            tool_calls: tool_calls.clone(),
            opaque: None,
            from: Some(Author::from(from)),
        }));
        for call in tool_calls {
            let images = if random.below(8) == 0 { vec![image("image/png")] } else { Vec::new() };
            let (call_id, name, content) = (call.id, "f".to_owned(), text.to_owned());
            messages.push(Message::Tool(ToolMessage {
                call_id,
                name,
                content,
                images,
                is_error: random.below(4) == 0,
            }));
        }
        // A follow-up, after an answer or a run that was ended.
        if count == 0 || random.below(4) == 0 {
            if random.below(3) == 0 {
                messages.push(Message::system("Be brief, now in German."));
            }
            let images = [vec![], vec![], vec![image("image/png"), image("application/pdf")]][random.below(3)].clone();
            messages.push(Message::User { content: text.to_owned(), images });
        }
    }
    messages
}

fn check(service: &Service, seed: u64) {
    let me = ProviderConfig {
        kind: service.kind,
        base_url: service.base_url.into(),
        model: service.model.into(),
        ..ProviderConfig::default()
    };
    let tools = if service.tools { vec![plain_tool("f")] } else { Vec::new() };
    let config = RunConfig { tools: tools.clone(), ..RunConfig::default() };
    let what = format!("{:?} {} {}, seed {seed}", me.kind, me.base_url, me.model);
    let messages = history(&mut Random(seed), &me);
    let mut writer = encoder(&me, &config, &[]);
    let whole = write(&mut *writer, &messages);
    let choice = if seed.is_multiple_of(3) { ToolChoice::None } else { ToolChoice::Auto };
    let tail = [Message::user("system notice: conclude")];
    let tail = if seed.is_multiple_of(2) { &tail[..] } else { &[] };
    let body: Value = serde_json::from_slice(&close(&*writer, whole.clone(), tail, &tools, choice)).unwrap();
    if let Err((status, words)) = (service.accepts)(&body) {
        panic!("{what}: {status} {words}\n{body:#}");
    }
    for length in 0..messages.len() {
        let before = write(&mut *encoder(&me, &config, &[]), &messages[..length]);
        assert!(whole.starts_with(&before), "{what}: {length} messages are no prefix");
    }
}

#[test]
fn any_history_is_accepted_by_every_service() {
    for service in ServerName::ALL.iter().flat_map(|name| services(*name)) {
        (0..SEEDS).for_each(|seed| check(&service, seed));
    }
}

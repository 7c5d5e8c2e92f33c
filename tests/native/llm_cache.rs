//! How much of each prompt was sent before: thirty turns of twelve calls, the synthesis at the limit and the forced final report.

use std::collections::BTreeSet;

use serde_json::Value;
use turnwise_engine::*;
use turnwise_llm::encoder;

use crate::support::*;

const TURNS: u32 = 30;
const CALLS: usize = 12;

/// The requests of a run to its limit, each with twelve calls as its reply but the last.
fn requests(preset: Preset) -> Vec<ModelCall> {
    let ids: Vec<String> = (0..TURNS as usize * CALLS).map(|at| format!("call_{at}")).collect();
    let replying = if preset == Preset::Strict { TURNS - 1 } else { TURNS };
    let mut script = Vec::new();
    for turn in 0..replying as usize {
        let asked: Vec<_> = ids[turn * CALLS..][..CALLS].iter().map(|id| (id.as_str(), "search", "{}")).collect();
        script.push(calls("I look.", &asked));
        script.extend((0..CALLS).map(|_| executed("search", "a line of a file that was found\n")));
    }
    script.extend(match preset {
        Preset::Strict => {
            let report = r#"{"format": "text", "content": "the answer"}"#;
            vec![calls("", &[("end", "final_report", report)]), executed("final_report", "")]
        }
        Preset::Research | Preset::Orchestrator => vec![text("concluded")],
    });
    let played = play(RunConfig { max_turns: TURNS, ..config(preset) }, script);
    assert_eq!(played.ending().outcome, if preset == Preset::Strict { Outcome::Success } else { Outcome::Partial });
    assert_eq!(played.requests.len(), replying as usize + 1);
    played.requests
}

/// The bodies of requests, written as the shell does.
fn bodies(p: &ProviderConfig, preset: Preset) -> Vec<Value> {
    let config = RunConfig { max_turns: TURNS, ..config(preset) };
    let tools = [config.tools.clone(), vec![own_tools::report_spec(&config.report)]].concat();
    let (mut writer, mut frozen) = (encoder(p, &config, &[]), Vec::new());
    writer.start(&mut frozen);
    let body = |call: &ModelCall| {
        for message in &call.append {
            writer.message(message, &mut frozen);
        }
        let (mut rest, mut body) = (writer.fork(), frozen.clone());
        rest.mark(&mut body);
        call.tail.iter().for_each(|message| rest.message(message, &mut body));
        rest.end(&tools, call.tools, &mut body);
        serde_json::from_slice(&body).unwrap()
    };
    requests(preset).iter().map(body).collect()
}

/// The prompt as services have it: tools, system text, messages, a block each; and which blocks have a breakpoint.
fn prompt(body: &Value) -> (Vec<String>, Vec<usize>) {
    let (mut blocks, mut marked) = (Vec::new(), Vec::new());
    let mut add = |block: &Value| {
        let mut block = block.clone();
        if let Some(fields) = block.as_object_mut()
            && fields.remove("cache_control").is_some()
        {
            marked.push(blocks.len());
        }
        blocks.push(block.to_string());
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    list(&body["tools"]).iter().for_each(&mut add);
    add(&body["systemInstruction"]);
    list(&body["system"]).iter().for_each(&mut add);
    for key in ["messages", "input", "contents"] {
        for message in list(&body[key]) {
            match message.get("content").or(message.get("parts")) {
                Some(Value::Array(parts)) => parts.iter().for_each(&mut add),
                Some(text) => add(text),
                None => add(&message),
            }
            list(&message["tool_calls"]).iter().for_each(&mut add);
        }
    }
    (blocks, marked)
}

fn size(blocks: &[String]) -> usize {
    blocks.iter().map(String::len).sum()
}

/// The least share of a prompt that the next one begins with.
fn least_kept(p: &ProviderConfig, preset: Preset) -> f64 {
    let prompts: Vec<Vec<String>> = bodies(p, preset).iter().map(|body| prompt(body).0).collect();
    let share = |pair: &[Vec<String>]| {
        let same = pair[0].iter().zip(&pair[1]).take_while(|(a, b)| a == b).count();
        size(&pair[0][..same]) as f64 / size(&pair[0]) as f64
    };
    prompts.windows(2).map(share).fold(1.0, f64::min)
}

/// The least share of a prompt that the next request reads from a cache that looks at most 20 blocks back from a breakpoint. Prompts are equal if
/// their blocks are; whether another tool choice is another prompt, documents and measurements disagree (local-operator#534).
fn least_read(p: &ProviderConfig, preset: Preset) -> f64 {
    let (mut cache, mut before, mut least) = (BTreeSet::new(), 0, 1.0_f64);
    for body in bodies(p, preset) {
        let (blocks, marked) = prompt(&body);
        assert!(marked.len() <= 4, "the service takes four breakpoints");
        let known = |end: &usize| cache.contains(&blocks[..=*end].concat());
        let found = marked.iter().filter_map(|at| (at.saturating_sub(19)..=*at).rev().find(known)).max();
        let read = found.map_or(0, |end| size(&blocks[..=end]));
        if before > 0 {
            least = least.min(read as f64 / before as f64);
        }
        before = size(&blocks);
        cache.extend(marked.iter().map(|at| blocks[..=*at].concat()));
    }
    least
}

fn provider(kind: ProviderKind, base_url: &str, model: &str) -> ProviderConfig {
    ProviderConfig { kind, base_url: base_url.into(), model: model.into(), ..ProviderConfig::default() }
}

use ProviderKind::{Anthropic, Gemini, Ollama, Openai, OpenaiResponses, Openrouter};

#[test]
fn every_prompt_begins_with_the_one_before_it() {
    for (kind, base_url, model, synthesis, report) in [
        (Openai, "", "gpt-5.4", true, true),
        (OpenaiResponses, "", "gpt-5.4", true, true),
        (Anthropic, "", "claude-sonnet-5", true, true),
        (Anthropic, "", "claude-sonnet-5-5", true, true),
        (Gemini, "", "gemini-3.1-pro", true, true),
        (Openrouter, "", "anthropic/claude-sonnet-5", true, false),
        (Openrouter, "", "openai/gpt-5.4", true, false),
        (Openai, "https://api.mistral.ai/v1", "mistral-large", true, false),
        // Here a request without calls is one without tools.
        (Ollama, "", "qwen3", false, false),
    ] {
        let p = provider(kind, base_url, model);
        for (preset, keeps) in [(Preset::Research, synthesis), (Preset::Strict, report)] {
            let kept = least_kept(&p, preset);
            println!("{kind:?} {model} {preset:?}: {:.1} % kept", kept * 100.0);
            assert_eq!(kept >= 0.95, keeps, "{kind:?} {model} {preset:?}: {kept}");
        }
    }
}

#[test]
fn claude_reads_from_its_cache_what_was_sent_before_also_after_twelve_calls() {
    for (kind, model, preset) in [
        (Anthropic, "claude-sonnet-5", Preset::Research),
        (Anthropic, "claude-sonnet-5", Preset::Strict),
        (Openrouter, "anthropic/claude-sonnet-5", Preset::Research),
    ] {
        let read = least_read(&provider(kind, "", model), preset);
        println!("{kind:?} {model} {preset:?}: {:.1} % read", read * 100.0);
        assert!(read >= 0.95, "{kind:?} {model} {preset:?}: {read}");
    }
}

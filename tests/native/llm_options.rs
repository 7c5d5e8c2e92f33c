//! The model options of a run, in every wire format: sampling, reasoning, tool choice, and the fields that a provider's
//! configuration adds.

use crate::support::wire;

use serde_json::{Value, json};
use turnwise_engine::*;
use wire::{answer, body_of, frozen_of, reply, tool};

use ProviderKind::{
    Anthropic, Custom, Gemini, Llamacpp, Lmstudio, Ollama, Openai, OpenaiResponses, Openrouter, PromptApi,
};

const LOCAL: &str = "http://127.0.0.1:8000/v1";

fn provider(kind: ProviderKind, base_url: &str, model: &str) -> ProviderConfig {
    ProviderConfig { kind, base_url: base_url.into(), model: model.into(), ..ProviderConfig::default() }
}

fn with_tools(config: RunConfig) -> RunConfig {
    RunConfig { tools: vec![tool("f"), tool("g")], ..config }
}

/// The fields of a request, except those that every request has.
fn settings(p: &ProviderConfig, config: &RunConfig) -> Value {
    let mut body = body_of(p, config, &[Message::user("a")], ToolChoice::Auto);
    for common in ["model", "stream", "stream_options", "store", "include", "messages", "input", "contents"] {
        body.as_object_mut().unwrap().remove(common);
    }
    body
}

#[test]
fn without_options_the_bytes_are_what_they_were() {
    let cases = [
        (
            Openai,
            r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"max_completion_tokens":7,"messages":["#,
        ),
        (
            OpenaiResponses,
            r#"{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"temperature":0.5,"max_output_tokens":7,"input":["#,
        ),
        (Anthropic, r#"{"model":"m","max_tokens":7,"stream":true,"temperature":0.5"#),
        (Gemini, r#"{"generationConfig":{"temperature":0.5,"maxOutputTokens":7},"#),
    ];
    for (kind, expected) in cases {
        let p = ProviderConfig { max_output_tokens: Some(7), ..provider(kind, "", "m") };
        let config = RunConfig { temperature: Some(0.5), ..RunConfig::default() };
        let (head, _) = frozen_of(&p, &config, &[]);
        assert_eq!(String::from_utf8(head).unwrap(), expected);
    }
    let record = serde_json::to_value(RunConfig::default()).unwrap();
    let absent = ["top_p", "reasoning", "tool_choice"].iter().all(|key| record.get(key).is_none());
    assert!(absent && record["providers"][0].get("provider_options").is_none(), "{record}");
}

#[test]
fn sampling_and_reasoning_have_the_names_of_each_format() {
    let config = RunConfig { top_p: Some(0.25), reasoning: Some(ReasoningEffort::Low), ..RunConfig::default() };
    let chat = json!({ "top_p": 0.25, "reasoning_effort": "low" });
    let object = json!({ "top_p": 0.25, "reasoning": { "effort": "low" } });
    for (kind, expected) in [
        (Openai, &chat),
        (Ollama, &chat),
        (Lmstudio, &chat),
        (Llamacpp, &chat),
        (Custom, &chat),
        (Openrouter, &object),
        (OpenaiResponses, &object),
    ] {
        assert_eq!(settings(&provider(kind, "", "m"), &config), *expected, "{kind:?}");
    }
    for top_p in [None, Some(f64::NAN)] {
        let config = RunConfig { top_p, ..RunConfig::default() };
        assert_eq!(settings(&provider(Openai, "", "m"), &config), json!({}));
        assert_eq!(settings(&provider(Gemini, "", "m"), &config), json!({}));
    }
    let p = ProviderConfig { max_output_tokens: Some(7), ..provider(Gemini, "", "m") };
    let config = RunConfig { temperature: Some(0.5), top_p: Some(0.25), ..RunConfig::default() };
    assert_eq!(
        settings(&p, &config),
        json!({ "generationConfig": { "temperature": 0.5, "topP": 0.25, "maxOutputTokens": 7 } })
    );
}

#[test]
fn gemini_is_told_a_number_or_a_word_as_its_model_knows_it() {
    use ReasoningEffort::{High, Low, Medium, Minimal, None};
    let cases = [
        ("gemini-2.5-flash", None, json!({ "thinkingBudget": 0 })),
        ("gemini-2.5-pro", None, json!({ "thinkingBudget": 128 })),
        ("gemini-2.5-flash", Minimal, json!({ "thinkingBudget": 512 })),
        ("gemini-2.5-flash", Low, json!({ "thinkingBudget": 2048 })),
        ("gemini-2.5-pro", Medium, json!({ "thinkingBudget": 8192 })),
        ("gemini-2.5-pro", High, json!({ "thinkingBudget": 24576 })),
        ("gemini-3-flash", None, json!({ "thinkingLevel": "minimal" })),
        ("gemini-3-flash", Minimal, json!({ "thinkingLevel": "minimal" })),
        ("gemini-3.5-flash-lite", Minimal, json!({ "thinkingLevel": "minimal" })),
        // pi#9455: refused by 3.1 pro, and by all flash models from 3.6 or 3.7 on.
        ("gemini-3.8-flash", Minimal, json!({ "thinkingLevel": "low" })),
        ("gemini-flash-latest", None, json!({ "thinkingLevel": "low" })),
        ("gemini-4-argon", Minimal, json!({ "thinkingLevel": "low" })),
        ("models/gemini-3.1-pro", Minimal, json!({ "thinkingLevel": "low" })),
        ("gemini-3.1-pro", None, json!({ "thinkingLevel": "low" })),
        ("gemini-flash-latest", Medium, json!({ "thinkingLevel": "medium" })),
        ("gemini-3.1-pro", High, json!({ "thinkingLevel": "high" })),
    ];
    for (model, effort, expected) in cases {
        let config = RunConfig { reasoning: Some(effort), ..RunConfig::default() };
        let sent = settings(&provider(Gemini, "", model), &config);
        assert_eq!(sent, json!({ "generationConfig": { "thinkingConfig": expected } }), "{model} {effort:?}");
    }
}

#[test]
fn claude_thinks_within_its_output_limit_and_without_a_temperature() {
    use ReasoningEffort::{High, Low, Medium, Minimal, None};
    let enabled = |budget: u32| json!({ "type": "enabled", "budget_tokens": budget });
    let (adaptive, off) = (json!({ "type": "adaptive" }), json!({ "type": "disabled" }));
    let cases = [
        ("claude-sonnet-4-5", Minimal, Option::None, 8192 + 1024, enabled(1024), Value::Null),
        ("claude-sonnet-4-20250514", Low, Option::None, 8192 + 2048, enabled(2048), Value::Null),
        ("claude-3-7-sonnet-latest", Medium, Option::None, 8192 + 8192, enabled(8192), Value::Null),
        ("claude-haiku-4-5-20251001", High, Option::None, 8192 + 16384, enabled(16384), Value::Null),
        ("another", High, Option::None, 8192 + 16384, enabled(16384), Value::Null),
        // A configured limit is raised only as far as necessary.
        ("claude-opus-4-1", High, Some(100), 16384 + 1024, enabled(16384), Value::Null),
        ("claude-opus-4-1", High, Some(32_000), 32_000, enabled(16384), Value::Null),
        ("claude-opus-4-1", None, Some(100), 100, off.clone(), Value::Null),
        ("claude-opus-4-6", Minimal, Option::None, 8192 + 2048, adaptive.clone(), json!({ "effort": "low" })),
        ("claude-opus-4-7", Medium, Option::None, 8192 + 8192, adaptive.clone(), json!({ "effort": "medium" })),
        ("claude-opus-5-20270101", High, Option::None, 8192 + 16384, adaptive, json!({ "effort": "high" })),
        ("claude-opus-4-6", None, Option::None, 8192, off, Value::Null),
    ];
    for (model, effort, max_output_tokens, max_tokens, thinking, output) in cases {
        let p = ProviderConfig { max_output_tokens, ..provider(Anthropic, "", model) };
        let config = RunConfig {
            temperature: Some(0.5),
            top_p: Some(0.25),
            reasoning: Some(effort),
            tool_choice: Some(AskedTool::Required),
            ..RunConfig::default()
        };
        let sent = body_of(&p, &with_tools(config), &[Message::user("a")], ToolChoice::Asked);
        assert_eq!(
            (&sent["max_tokens"], &sent["thinking"], &sent["output_config"]),
            (&json!(max_tokens), &thinking, &output)
        );
        // With thinking enabled, all three are refused.
        let (sampling, choice) = match effort {
            None => (json!([0.5, 0.25]), "any"),
            _ => (json!([null, null]), "auto"),
        };
        assert_eq!(json!([sent["temperature"], sent["top_p"]]), sampling, "{model}");
        assert_eq!(sent["tool_choice"], json!({ "type": choice }), "{model}");
    }
}

#[test]
fn claude_gets_only_what_its_version_takes() {
    use ReasoningEffort::None;
    let of = |model: &str, reasoning| {
        let config = RunConfig {
            temperature: Some(0.5),
            top_p: Some(0.25),
            reasoning,
            tool_choice: Some(AskedTool::Required),
            ..RunConfig::default()
        };
        let sent =
            body_of(&provider(Anthropic, "", model), &with_tools(config), &[Message::user("a")], ToolChoice::Asked);
        let has = |key: &str| sent.get(key).is_some();
        (
            has("temperature") && has("top_p"),
            sent["tool_choice"]["type"].as_str().unwrap().to_owned(),
            sent["thinking"]["type"].clone(),
        )
    };
    let off = json!("disabled");
    for (model, sampling, choice) in [
        ("claude-sonnet-4-6", true, "any"),
        ("claude-opus-4-6-20260205", true, "any"),
        ("claude-haiku-4-5", true, "any"),
        // pi#7961: "`temperature` is deprecated for this model."
        ("claude-opus-4-7", false, "any"),
        ("claude-sonnet-5", false, "any"),
        ("claude-opus-5", false, "any"),
        ("claude-haiku-5-5", false, "any"),
        ("claude-opus-5-5", false, "auto"),
        ("claude-sonnet-5-5-20261001", false, "auto"),
        ("claude-fable-5-1", false, "auto"),
        ("claude-mythos-5-1", false, "auto"),
        ("anthropic/claude-fable-5", false, "any"),
        ("another", true, "any"),
    ] {
        assert_eq!(of(model, Option::None), (sampling, choice.to_owned(), Value::Null), "{model}");
    }
    assert_eq!(of("claude-opus-5", Some(None)), (false, "any".to_owned(), off));
    assert_eq!(of("claude-sonnet-5-5", Some(None)), (false, "auto".to_owned(), json!("between_tools")));
    // They always think: the least there is.
    for model in ["claude-opus-5-5", "claude-fable-5", "claude-mythos-5-1"] {
        assert_eq!(of(model, Some(None)), (false, "auto".to_owned(), json!("adaptive")), "{model}");
    }
}

#[test]
fn chat_completions_with_tools_tell_newer_models_not_to_think() {
    let effort = |kind, model: &str, config: RunConfig| {
        settings(&provider(kind, "", model), &config).get("reasoning_effort").cloned()
    };
    let low = RunConfig { reasoning: Some(ReasoningEffort::Low), ..RunConfig::default() };
    // litellm#34569, onyx#15008, oh-my-pi#11052, livekit/agents#7169
    for model in ["gpt-5.6", "gpt-5.6-terra", "gpt-6-sol", "openai/gpt-6-luna"] {
        assert_eq!(effort(Openai, model, with_tools(RunConfig::default())), Some(json!("none")), "{model}");
        assert_eq!(effort(Openai, model, RunConfig::default()), None, "{model}, without tools");
        assert_eq!(
            effort(Openai, model, with_tools(low.clone())),
            Some(json!("low")),
            "{model}: what the user set is sent"
        );
    }
    for model in ["gpt-5.4-mini", "gpt-5", "gpt-6-astra", "gpt-6.1-sol", "qwen3"] {
        assert_eq!(effort(Openai, model, with_tools(RunConfig::default())), None, "{model}");
    }
    assert_eq!(effort(Openrouter, "openai/gpt-5.6", with_tools(RunConfig::default())), None);
}

/// The tools that a request with a tool choice declares, and the choice that it sends.
fn choice(p: &ProviderConfig, asked: &AskedTool) -> (Vec<String>, Value) {
    let config = with_tools(RunConfig { tool_choice: Some(asked.clone()), ..RunConfig::default() });
    let sent = body_of(p, &config, &[Message::user("a")], ToolChoice::Asked);
    let list = sent["tools"].pointer("/0/functionDeclarations").unwrap_or(&sent["tools"]);
    let name = |tool: &Value| tool.pointer("/function/name").unwrap_or(&tool["name"]).as_str().unwrap().to_owned();
    let names = list.as_array().map(|tools| tools.iter().map(name).collect()).unwrap_or_default();
    let choice = sent.get("tool_choice").or_else(|| sent.pointer("/toolConfig/functionCallingConfig"));
    (names, choice.cloned().unwrap_or_default())
}

#[test]
fn a_choice_of_a_tool_has_the_words_of_each_format() {
    let all = || vec!["f".to_owned(), "g".to_owned()];
    let words = [("auto", AskedTool::Auto), ("none", AskedTool::None), ("required", AskedTool::Required)];
    let named = AskedTool::Tool("g".into());
    let function = json!({ "type": "function", "function": { "name": "g" } });
    for (kind, base_url, by_name) in [
        (Openai, "", &function),
        (Openrouter, "", &function),
        (Custom, "", &function),
        (OpenaiResponses, "", &json!({ "type": "function", "name": "g" })),
    ] {
        let p = provider(kind, base_url, "m");
        for (word, asked) in &words {
            assert_eq!(choice(&p, asked), (all(), json!(word)), "{kind:?}");
        }
        assert_eq!(choice(&p, &named), (all(), by_name.clone()), "{kind:?}");
    }
    // These servers accept no names, and some ignore `none`; of another address nothing is known.
    for (kind, base_url) in [
        (Ollama, ""),
        (Lmstudio, ""),
        (Llamacpp, ""),
        (PromptApi, ""),
        (Openai, LOCAL),
        (OpenaiResponses, LOCAL),
        (Openai, "https://proxy.example/v1"),
    ] {
        let p = provider(kind, base_url, "m");
        assert_eq!(choice(&p, &AskedTool::Auto), (all(), json!("auto")), "{kind:?}");
        assert_eq!(choice(&p, &AskedTool::Required), (all(), json!("required")), "{kind:?}");
        assert_eq!(choice(&p, &AskedTool::None), (Vec::new(), Value::Null), "{kind:?}");
        assert_eq!(choice(&p, &named), (vec!["g".to_owned()], json!("required")), "{kind:?}");
    }
    let claude = provider(Anthropic, "", "m");
    let gemini = provider(Gemini, "", "m");
    for (asked, anthropic, google) in [
        (AskedTool::Auto, json!({ "type": "auto" }), json!({ "mode": "AUTO" })),
        (AskedTool::None, json!({ "type": "none" }), json!({ "mode": "NONE" })),
        (AskedTool::Required, json!({ "type": "any" }), json!({ "mode": "ANY" })),
        (named, json!({ "type": "tool", "name": "g" }), json!({ "mode": "ANY", "allowedFunctionNames": ["g"] })),
    ] {
        assert_eq!(choice(&claude, &asked), (all(), anthropic));
        assert_eq!(choice(&gemini, &asked), (all(), google));
    }
}

#[test]
fn a_choice_holds_only_where_the_engine_says_so_and_there_are_tools() {
    for kind in ProviderKind::ALL {
        let p = provider(*kind, "", "m");
        let config = RunConfig { tool_choice: Some(AskedTool::Required), ..RunConfig::default() };
        let says = |config: &RunConfig, choice| {
            let sent = body_of(&p, config, &[Message::user("a")], choice);
            sent.get("tool_choice").or(sent.get("toolConfig")).cloned()
        };
        assert_eq!(says(&config, ToolChoice::Asked), None, "{kind:?}: without tools");
        let config = with_tools(config);
        assert!(says(&config, ToolChoice::Asked).is_some(), "{kind:?}");
        assert_eq!(says(&config, ToolChoice::Auto), None, "{kind:?}");
        let none = says(&config, ToolChoice::None).map(|said| said.to_string().to_lowercase());
        assert!(none.is_none_or(|said| said.contains("none")), "{kind:?}");
    }
}

#[test]
fn added_fields_take_the_place_of_the_runs_and_never_of_what_it_says_itself() {
    let given = json!({
        "temperature": 1, "top_p": null, "seed": 3, "metadata": { "a": "é" }, "reasoning_effort": "xhigh",
        "store": true, "max_tokens": 9, "generationConfig": { "seed": 3 }, "thinking": { "type": "disabled" },
        "reasoning": { "summary": "auto" },
        "model": "other", "messages": [], "input": [], "contents": [], "system": "x", "systemInstruction": "x",
        "system_instruction": "x", "tools": [], "tool_choice": "none", "toolConfig": {}, "tool_config": {},
        "stream": false, "stream_options": {},
    });
    let mut kept = given.clone();
    let own = [
        "model",
        "messages",
        "input",
        "contents",
        "system",
        "systemInstruction",
        "system_instruction",
        "tools",
        "tool_choice",
        "toolConfig",
        "tool_config",
        "stream",
        "stream_options",
    ];
    kept.as_object_mut().unwrap().retain(|key, _| !own.contains(&key.as_str()));
    let config = with_tools(RunConfig {
        temperature: Some(0.5),
        top_p: Some(0.25),
        reasoning: Some(ReasoningEffort::Low),
        ..RunConfig::default()
    });
    for kind in ProviderKind::ALL {
        let plain = provider(*kind, "", "m");
        let p = ProviderConfig { provider_options: Some(given.clone()), ..plain.clone() };
        let bytes = frozen_of(&p, &config, &[]).0;
        let text = String::from_utf8(bytes).unwrap();
        for key in kept.as_object().unwrap().keys() {
            assert_eq!(text.matches(&format!("\"{key}\":")).count(), 1 + usize::from(key == "seed"), "{kind:?} {key}");
        }
        let (sent, before) = (
            body_of(&p, &config, &[Message::system("s"), Message::user("a")], ToolChoice::Auto),
            body_of(&plain, &config, &[Message::system("s"), Message::user("a")], ToolChoice::Auto),
        );
        for (key, value) in kept.as_object().unwrap() {
            assert_eq!(sent[key], *value, "{kind:?} {key}");
        }
        for key in own {
            assert_eq!(sent.get(key), before.get(key), "{kind:?} {key}");
        }
    }
    // A record from elsewhere may contain anything there.
    for odd in [json!([1]), json!("x"), json!({})] {
        let p = ProviderConfig { provider_options: Some(odd), ..provider(Gemini, "", "m") };
        assert_eq!(settings(&p, &RunConfig::default()), json!({}));
    }
}

#[test]
fn options_stand_where_they_leave_what_was_sent_before_a_prefix() {
    let history = [
        Message::system("s"),
        Message::user("a"),
        reply("b", &[("x", "f", "{}")], None),
        answer("x", "f", "1", false),
        Message::user("c"),
    ];
    let config = with_tools(RunConfig {
        top_p: Some(0.25),
        reasoning: Some(ReasoningEffort::High),
        tool_choice: Some(AskedTool::Tool("f".into())),
        ..RunConfig::default()
    });
    for kind in ProviderKind::ALL {
        let p = ProviderConfig { provider_options: Some(json!({ "user": "u" })), ..provider(*kind, "", "m") };
        let (whole, _) = frozen_of(&p, &config, &history);
        for length in 0..history.len() {
            assert!(whole.starts_with(&frozen_of(&p, &config, &history[..length]).0), "{kind:?}, {length} messages");
        }
        for choice in [ToolChoice::Auto, ToolChoice::Asked, ToolChoice::None, ToolChoice::Report] {
            body_of(&p, &config, &history, choice);
        }
    }
}

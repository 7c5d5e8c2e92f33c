//! What models take of a run's settings, by the table of families, and what is said about the rest. The comments name the sources.

use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_llm::adjustments;
use turnwise_record::trajectory::{RunSummary, replay};

use crate::support::tree::{Tree, reply_call, says, spawn_call, spawning, tasks};
use crate::support::wire::{body_of, tool};
use crate::support::*;

use ProviderKind::{Anthropic, Gemini, Openai, OpenaiResponses, Openrouter};
use ReasoningEffort::{High, Low, Max, Medium, Minimal, Xhigh};

const TABLE: &str = include_str!("../../crates/llm/src/models/families.csv");
const NONE: ReasoningEffort = ReasoningEffort::None;

fn at(kind: ProviderKind, base_url: &str, model: &str) -> ProviderConfig {
    ProviderConfig { kind, base_url: base_url.into(), model: model.into(), ..ProviderConfig::default() }
}

fn of(kind: ProviderKind, model: &str) -> ProviderConfig {
    at(kind, "", model)
}

fn thinking(effort: ReasoningEffort) -> RunConfig {
    RunConfig { reasoning: Some(effort), ..RunConfig::default() }
}

fn sampling() -> RunConfig {
    RunConfig { temperature: Some(0.5), top_p: Some(0.25), ..RunConfig::default() }
}

fn sent(p: &ProviderConfig, config: &RunConfig) -> Value {
    body_of(p, config, &[Message::user("a")], ToolChoice::Asked)
}

/// What is said if a run has this one provider.
fn said(p: &ProviderConfig, config: RunConfig) -> Vec<String> {
    adjustments(&RunConfig { providers: vec![p.clone()], ..config })
}

#[test]
fn every_row_of_the_table_says_something_that_is_read() {
    let mut names = Vec::new();
    for line in TABLE.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let [pattern, at, words, efforts, off, sampling, forced, chat_tools] = cells.as_slice() else {
            panic!("{line}")
        };
        assert!(
            !pattern.is_empty() && pattern.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-')),
            "{line}"
        );
        assert!(["", "yes"].contains(words), "{line}");
        let all = ["minimal", "low", "medium", "high", "xhigh", "max"];
        let mut known = all.iter();
        let in_order = efforts.split(' ').all(|effort| known.any(|one| *one == effort));
        assert!(["", "-"].contains(efforts) || in_order, "{line}");
        assert!(
            ["", "none", "never", "disabled", "between_tools"].contains(off) || off.parse::<u32>().is_ok(),
            "{line}"
        );
        assert!(
            [sampling, forced, chat_tools].iter().all(|when| ["", "off", "none", "never"].contains(when)),
            "{line}"
        );
        names.push((*pattern, *at));
    }
    let rows = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(rows == names.len() && rows > 100, "{rows} rows, each name once");
    // It is part of the agent's worker.
    assert!(TABLE.len() < 8192, "{} bytes", TABLE.len());
}

#[test]
fn an_effort_that_a_model_does_not_take_is_the_nearest_that_it_takes() {
    let effort = |p: &ProviderConfig, effort| {
        let body = sent(p, &thinking(effort));
        let places = [
            "/reasoning_effort",
            "/reasoning/effort",
            "/output_config/effort",
            "/generationConfig/thinkingConfig/thinkingLevel",
        ];
        places.iter().find_map(|place| body.pointer(place)).and_then(Value::as_str).map(str::to_owned)
    };
    let cases = [
        // openai-python's table of efforts, as pi-ai and rig-core have it
        (of(Openai, "gpt-5"), [(NONE, "minimal"), (Minimal, "minimal"), (High, "high"), (Max, "high")]),
        (of(Openai, "gpt-5-2025-08-07"), [(NONE, "minimal"), (Minimal, "minimal"), (High, "high"), (Max, "high")]),
        (of(Openai, "gpt-5.2"), [(NONE, "none"), (Minimal, "low"), (Xhigh, "xhigh"), (Max, "xhigh")]),
        (of(Openai, "gpt-5.4-pro"), [(NONE, "medium"), (Low, "medium"), (Xhigh, "xhigh"), (Max, "xhigh")]),
        (of(Openai, "o3-mini"), [(NONE, "low"), (Minimal, "low"), (High, "high"), (Xhigh, "high")]),
        // @ai-sdk/openai: max in Responses only
        (of(Openai, "gpt-6-astra"), [(NONE, "low"), (Minimal, "low"), (Xhigh, "xhigh"), (Max, "xhigh")]),
        (of(OpenaiResponses, "gpt-6-astra"), [(NONE, "low"), (Minimal, "low"), (Xhigh, "xhigh"), (Max, "max")]),
        // OpenRouter has its own words for all models.
        (of(Openrouter, "openai/gpt-5.2"), [(NONE, "none"), (Minimal, "minimal"), (Xhigh, "xhigh"), (Max, "xhigh")]),
        (of(Openrouter, "openai/gpt-5.6"), [(NONE, "none"), (Minimal, "minimal"), (Xhigh, "xhigh"), (Max, "max")]),
        (of(Anthropic, "claude-opus-4-6"), [(Minimal, "low"), (High, "high"), (Xhigh, "high"), (Max, "max")]),
        (of(Anthropic, "claude-opus-4.8"), [(Minimal, "low"), (High, "high"), (Xhigh, "xhigh"), (Max, "max")]),
        (
            of(Anthropic, "eu.anthropic.claude-haiku-5-5-v1:0"),
            [(Minimal, "low"), (Low, "low"), (High, "high"), (Max, "max")],
        ),
        // A version that is not known yet
        (of(Anthropic, "claude-opus-7"), [(NONE, "low"), (Minimal, "low"), (Xhigh, "xhigh"), (Max, "max")]),
        (of(Gemini, "gemini-3-pro-preview"), [(NONE, "low"), (Minimal, "low"), (Medium, "low"), (Max, "high")]),
        (of(Gemini, "gemini-4-hydrogen"), [(NONE, "low"), (Minimal, "low"), (Xhigh, "xhigh"), (Max, "xhigh")]),
        // @ai-sdk/mistral: "medium" is refused
        (
            at(Openai, "https://api.mistral.ai/v1", "mistral-small-latest"),
            [(NONE, "none"), (Low, "high"), (Medium, "high"), (Max, "high")],
        ),
        (
            at(Openai, "https://api.deepseek.com", "deepseek-v4-pro"),
            [(Low, "high"), (Medium, "high"), (Xhigh, "high"), (Max, "max")],
        ),
        (
            at(Openai, "https://api.moonshot.ai/v1", "kimi-k3"),
            [(NONE, "low"), (Medium, "low"), (Xhigh, "high"), (Max, "max")],
        ),
        // gpt-oss cannot stop thinking, wherever it is served.
        (
            at(Openai, "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"),
            [(NONE, "low"), (Minimal, "low"), (High, "high"), (Max, "high")],
        ),
        // Nothing is known: it is sent as it is, and the server says what it takes.
        (
            at(Openai, "http://localhost:8000/v1", "kimi-k3"),
            [(NONE, "none"), (Minimal, "minimal"), (Xhigh, "xhigh"), (Max, "max")],
        ),
        (of(Openai, "m"), [(NONE, "none"), (Minimal, "minimal"), (Xhigh, "xhigh"), (Max, "max")]),
    ];
    for (p, expected) in cases {
        for (asked, word) in expected {
            assert_eq!(effort(&p, asked).as_deref(), Some(word), "{:?} {} {asked:?}", p.kind, p.model);
            let changed = word != asked.as_str();
            assert_eq!(said(&p, thinking(asked)).len(), usize::from(changed), "{:?} {} {asked:?}", p.kind, p.model);
        }
    }
    for (p, asked) in [
        (of(Openai, "gpt-4.1"), High),
        // @ai-sdk/xai: refused, whatever its value
        (of(Openai, "grok-4.20-0309-reasoning"), Low),
        (at(Openai, "https://api.mistral.ai/v1", "devstral-latest"), Max),
        (of(Gemini, "gemini-2.0-flash"), Medium),
    ] {
        assert_eq!(sent(&p, &thinking(asked)), sent(&p, &RunConfig::default()), "{}", p.model);
        assert_eq!(said(&p, thinking(asked)).len(), 1, "{}", p.model);
        assert_eq!(effort(&p, NONE), None, "{}", p.model);
    }
    assert!(said(&of(Openai, "gpt-4.1"), thinking(NONE)).is_empty(), "it does as it is told");
}

#[test]
fn a_number_of_tokens_has_no_more_than_four_steps() {
    let budget = |p: &ProviderConfig, effort, place| sent(p, &thinking(effort)).pointer(place).cloned();
    for asked in [High, Xhigh, Max] {
        let claude = of(Anthropic, "claude-sonnet-4-5");
        assert_eq!(budget(&claude, asked, "/thinking/budget_tokens"), Some(json!(16384)));
        let gemini = of(Gemini, "gemini-2.5-flash");
        assert_eq!(budget(&gemini, asked, "/generationConfig/thinkingConfig/thinkingBudget"), Some(json!(24576)));
        assert_eq!(said(&claude, thinking(asked)).len(), usize::from(asked != High));
    }
    let pro = of(Gemini, "gemini-2.5-pro");
    assert_eq!(budget(&pro, NONE, "/generationConfig/thinkingConfig/thinkingBudget"), Some(json!(128)));
    assert_eq!(said(&pro, thinking(NONE)), ["gemini-2.5-pro always thinks: `none` is sent as 128 tokens."]);
    assert!(said(&of(Gemini, "gemini-2.5-flash"), thinking(NONE)).is_empty());
    let max = sent(&of(Anthropic, "claude-opus-5"), &thinking(Max));
    assert_eq!((&max["max_tokens"], &max["output_config"]), (&json!(8192 + 32768), &json!({ "effort": "max" })));
}

#[test]
fn a_model_is_told_not_to_think_in_its_own_words() {
    let thinks = |base_url: &str, model: &str| {
        let body = sent(&at(Openai, base_url, model), &thinking(NONE));
        (body["thinking"]["type"].clone(), body["reasoning_effort"].clone())
    };
    let (disabled, none) = (json!("disabled"), json!("none"));
    // @ai-sdk/deepseek, @ai-sdk/moonshotai, pi-ai for Z.ai
    for (base_url, model) in [
        ("https://api.deepseek.com", "deepseek-v4-pro"),
        ("https://api.moonshot.ai/v1", "kimi-k2.6"),
        ("https://api.z.ai/api/paas/v4", "glm-5.1"),
    ] {
        assert_eq!(thinks(base_url, model), (disabled.clone(), Value::Null), "{model}");
        assert_eq!(thinks("http://localhost:8000/v1", model), (Value::Null, none.clone()), "{model}, elsewhere");
    }
    assert_eq!(thinks("https://gateway.example.org/v1", "claude-opus-5"), (Value::Null, none));
    // It is on or off.
    let kimi = at(Openai, "https://api.moonshot.ai/v1", "kimi-k2.6");
    assert_eq!(sent(&kimi, &thinking(Low)).get("reasoning_effort"), None);
    // It only thinks.
    let code = at(Openai, "https://api.moonshot.ai/v1", "kimi-k2.7-code");
    assert_eq!(sent(&code, &thinking(NONE)), sent(&code, &RunConfig::default()));
    assert_eq!(said(&code, thinking(NONE)), ["kimi-k2.7-code always thinks: `none` is not sent."]);
}

#[test]
fn a_temperature_is_sent_only_where_it_is_taken() {
    let taken = |p: &ProviderConfig, reasoning| {
        let config = RunConfig { reasoning, ..sampling() };
        let body = sent(p, &config);
        let has = |key: &str| body.get(key).is_some();
        assert_eq!(has("temperature"), has("top_p"), "{}", p.model);
        let about = said(p, config).iter().any(|sentence| sentence.contains("temperature and no topP"));
        assert_eq!(about, !has("temperature"), "{} {reasoning:?}", p.model);
        has("temperature")
    };
    let moonshot = at(Openai, "https://api.moonshot.ai/v1", "kimi-k2.6");
    for (p, unset, off, low) in [
        (of(Openai, "gpt-4.1"), true, true, true),
        (of(Openai, "m"), true, true, true),
        // @ai-sdk/openai, rig-core: while the effort is none, which it is by default up to 5.4
        (of(Openai, "gpt-5.4-mini"), true, true, false),
        (of(OpenaiResponses, "gpt-5.5"), false, true, false),
        (of(OpenaiResponses, "gpt-6-sol"), false, true, false),
        (of(Openai, "gpt-5-mini"), false, false, false),
        (of(Openai, "o4-mini"), false, false, false),
        (of(OpenaiResponses, "gpt-6-astra"), false, false, false),
        (of(Openrouter, "openai/gpt-5"), false, false, false),
        // pi#7961
        (of(Anthropic, "claude-sonnet-4-6"), true, true, false),
        (of(Anthropic, "claude-opus-4-7"), false, false, false),
        (moonshot, false, false, false),
        // Others serve it too.
        (at(Openai, "http://localhost:8000/v1", "kimi-k2.6"), true, true, true),
    ] {
        assert_eq!((taken(&p, None), taken(&p, Some(NONE)), taken(&p, Some(Low))), (unset, off, low), "{}", p.model);
    }
    // Told not to think because of its tools, it takes a temperature.
    let sol = of(Openai, "gpt-6-sol");
    assert_eq!(sent(&sol, &RunConfig { tools: vec![tool("f")], ..sampling() })["temperature"], 0.5);
}

#[test]
fn a_forced_call_becomes_a_free_one_where_it_is_refused() {
    let choice = |p: &ProviderConfig, reasoning, asked: AskedTool| {
        let config = RunConfig {
            tools: vec![tool("f"), tool("g")],
            tool_choice: Some(asked),
            reasoning,
            ..RunConfig::default()
        };
        let body = sent(p, &config);
        let softened = said(p, config).iter().any(|sentence| sentence.contains("cannot be made to call a tool"));
        (body["tools"].as_array().unwrap().len(), body["tool_choice"].clone(), softened)
    };
    let named = || AskedTool::Tool("f".into());
    let deepseek = at(Openai, "https://api.deepseek.com", "deepseek-v4-pro");
    let named_f = json!({ "type": "function", "function": { "name": "f" } });
    // "Thinking mode does not support this tool_choice"
    for asked in [AskedTool::Required, named()] {
        assert_eq!(choice(&deepseek, None, asked), (2, json!("auto"), true));
    }
    assert_eq!(choice(&deepseek, Some(NONE), named()), (2, named_f.clone(), false));
    assert_eq!(choice(&deepseek, None, AskedTool::None), (2, json!("none"), false));
    assert_eq!(choice(&at(Openai, "http://localhost:8000/v1", "deepseek-v4"), None, AskedTool::Required).1, "required");
    assert_eq!(choice(&of(Openai, "gpt-6-sol"), None, named()), (2, named_f, false));
    assert_eq!(choice(&of(Anthropic, "claude-opus-5-5"), None, named()), (2, json!({ "type": "auto" }), true));
    assert_eq!(choice(&of(Anthropic, "claude-opus-5"), None, named()).1["type"], "tool");
}

#[test]
fn what_is_changed_is_said_in_a_sentence() {
    let everything = |model: &str| RunConfig {
        providers: vec![of(Openai, model)],
        tools: vec![tool("f")],
        tool_choice: Some(AskedTool::Required),
        reasoning: Some(Minimal),
        ..sampling()
    };
    let flash = RunConfig { providers: vec![of(Gemini, "gemini-3.8-flash")], ..thinking(Minimal) };
    assert_eq!(
        adjustments(&flash),
        ["gemini-3.8-flash takes the reasoning efforts low, medium, high: `minimal` is sent as `low`."]
    );
    assert_eq!(
        adjustments(&everything("gpt-6.2-sol")),
        [
            "gpt-6.2-sol takes the reasoning efforts low, medium, high, xhigh: `minimal` is sent as `low`.",
            "gpt-6.2-sol takes no temperature and no topP: not sent.",
            "gpt-6.2-sol takes no tools in Chat Completions: use the provider openai-responses (openaiResponses in code)."
        ]
    );
    let claude = RunConfig { providers: vec![of(Anthropic, "claude-sonnet-4-6")], ..everything("") };
    assert_eq!(
        adjustments(&claude),
        [
            "claude-sonnet-4-6 takes the reasoning efforts low, medium, high, max: `minimal` is sent as `low`.",
            "claude-sonnet-4-6 takes no temperature and no topP while it thinks: not sent.",
            "claude-sonnet-4-6 cannot be made to call a tool while it thinks: it chooses itself."
        ]
    );
    // Each model of a list, and each sentence once.
    let providers = vec![of(Gemini, "gemini-3.8-flash"), of(Gemini, "gemini-3.8-flash"), of(Openai, "gpt-5.4")];
    assert_eq!(adjustments(&RunConfig { providers, ..thinking(Minimal) }).len(), 2);
    assert!(adjustments(&RunConfig { providers: vec![of(Openai, "gpt-6-sol")], ..RunConfig::default() }).is_empty());
}

#[test]
fn what_the_user_adds_is_sent_and_nothing_is_said_about_it() {
    for (p, options) in [
        (of(Openai, "gpt-5"), json!({ "reasoning_effort": "max", "temperature": 2, "top_p": 1 })),
        (of(OpenaiResponses, "gpt-5"), json!({ "reasoning": { "effort": "max" }, "temperature": 2, "top_p": 1 })),
        (
            of(Anthropic, "claude-opus-5"),
            json!({ "thinking": { "type": "x" }, "output_config": {}, "temperature": 2, "top_p": 1 }),
        ),
        (of(Gemini, "gemini-4-argon"), json!({ "generationConfig": { "seed": 1 } })),
    ] {
        let p = ProviderConfig { provider_options: Some(options.clone()), ..p };
        let config = RunConfig { reasoning: Some(Xhigh), ..sampling() };
        let body = sent(&p, &config);
        for (key, value) in options.as_object().unwrap() {
            assert_eq!(body[key], *value, "{}", p.model);
        }
        assert_eq!(said(&p, config), Vec::<String>::new());
    }
    // What it adds decides whether the model thinks.
    let p = ProviderConfig { provider_options: Some(json!({ "reasoning_effort": "low" })), ..of(Openai, "gpt-5.4") };
    assert_eq!(sent(&p, &sampling()).get("temperature"), None);
    assert_eq!(said(&p, sampling()), ["gpt-5.4 takes no temperature and no topP while it thinks: not sent."]);
}

#[test]
fn it_is_logged_once_when_the_run_starts_and_replays() {
    let adjusted = vec!["m takes no temperature: not sent.".to_owned()];
    let played = play(RunConfig { adjusted: adjusted.clone(), ..config(Preset::Research) }, vec![text("done")]);
    let logs = played.run().logs();
    let lines: Vec<_> =
        logs.iter().map(|log| (log.level, log.turn, log.attempt, log.slugs.len(), &log.message)).collect();
    assert_eq!(lines, [(LogLevel::Warn, 0, 0, 0, &adjusted[0])]);
    let document = played.document();
    validate(&document);
    assert_eq!(replay(&document).unwrap().run.logs(), logs);
    assert!(RunSummary::from(&document).failed_attempts.is_empty(), "it is no failed attempt");
    // A sub-agent has the same models.
    let tree = Tree::new(RunConfig { adjusted, ..spawning(Preset::Research) }).play(|call| {
        Ok(match (call.request.child(), call.turn) {
            (0, 1) => spawn_call(&tasks(1)),
            (0, _) => says("done"),
            (_, 1) => reply_call("search", "{}"),
            _ => says("found"),
        })
    });
    assert_eq!((tree.run().logs().len(), tree.run().child_runs().map(|run| run.logs().len()).sum::<usize>()), (1, 0));
}

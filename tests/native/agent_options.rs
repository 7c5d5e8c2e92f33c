//! Options of an agent that are valid one by one and cannot be had together.

use serde_json::{Value, json};
use turnwise_llm::models;
use turnwise_protocol::{AgentOptions, contradiction};

/// What is said of these options, with the prices of the table of models, as when a run starts.
fn fault(config: Value, tools: &[&str]) -> Option<String> {
    let options: AgentOptions = serde_json::from_value(json!({ "config": config, "tools": tools })).unwrap();
    let mut config = options.config(1).unwrap();
    models::complete(&mut config);
    contradiction(&config)
}

#[test]
fn a_budget_in_dollars_needs_the_price_of_every_model() {
    let known = json!({ "kind": "openai", "model": "gpt-5.4-mini" });
    let own = json!({ "kind": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "own" });
    let priced = json!({ "kind": "custom", "price": { "input": 1.0, "output": 2.0, "cached": 1.0 } });
    let cost = json!({ "cost": 0.5 });
    for preset in ["research", "orchestrator", "strict"] {
        let options = |providers: Value| json!({ "preset": preset, "providers": providers, "limits": cost });
        assert_eq!(fault(options(json!([known])), &[]), None);
        assert_eq!(fault(options(json!([known, priced])), &[]), None);
        // A fallback model too.
        for providers in [json!([own]), json!([known, own]), json!([{ "kind": "demo" }]), json!([{ "kind": "custom" }])]
        {
            let why = fault(options(providers.clone()), &[]).unwrap_or_else(|| panic!("{providers}"));
            assert!(why.contains("budget.usd") && why.contains("price: { input, output }"), "{why}");
        }
        assert!(fault(options(json!([own])), &[]).unwrap().contains("openai own is not known"));
    }
    assert_eq!(fault(json!({ "providers": [own], "limits": { "tokens": 5 } }), &[]), None);
}

#[test]
fn tools_that_are_named_are_there() {
    let choice = |name: &str| json!({ "tool_choice": { "tool": name } });
    assert_eq!(fault(choice("calculate"), &["calculate"]), None);
    let why = fault(choice("zzz"), &["calculate", "now"]).unwrap();
    assert_eq!(why, "toolChoice names the tool \"zzz\", which this agent does not have; it has calculate, now");
    assert!(fault(choice("zzz"), &[]).unwrap().ends_with("it has none"));
    // A strict run has this one, whatever it is given.
    let strict = json!({ "preset": "strict", "tool_choice": { "tool": "final_report" } });
    assert_eq!(fault(strict, &[]), None);

    let kind = |tools: Value| json!({ "agents": [{ "name": "reader", "tools": tools }, { "name": "writer" }] });
    assert_eq!(fault(kind(json!([])), &["spawn_subagents"]), None);
    assert_eq!(fault(kind(json!(["now"])), &["now", "spawn_subagents"]), None);
    let why = fault(kind(json!(["now", "look"])), &["now", "spawn_subagents"]).unwrap();
    assert!(why.starts_with("the sub-agent \"reader\" names the tool \"look\""), "{why}");
}

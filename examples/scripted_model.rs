//! The engine with a scripted model and one tool, without a network: `cargo run --example scripted_model`.
//!
//! The model never finishes by itself, so the run reaches its turn limit and concludes with a synthesis.
#![allow(clippy::print_stdout)]

use std::collections::VecDeque;

use serde_json::json;
use turnwise_engine::*;

fn main() -> Result<(), &'static str> {
    let tool = ToolSpec {
        name: "look_up".into(),
        description: "Looks a word up.".into(),
        parameters: json!({ "type": "object", "properties": { "word": { "type": "string" } } }),
        may_finish: false,
        side_effect: SideEffect::None,
        effect_argument: None,
        host_argument: None,
        tool_argument: None,
    };
    let config = RunConfig { max_turns: 3, tools: vec![tool], ..RunConfig::preset(Preset::Research) };
    let task = Task { input: "What is a lamp?".into(), started_at: EpochMillis(1_795_298_400_000), ..Task::default() };
    let (mut run, effects) = Run::start(config, task);
    let mut effects = VecDeque::from(effects);
    let mut now = 0;
    while let Some(effect) = effects.pop_front() {
        now += 10;
        let event = match effect {
            Effect::CallModel(call) => {
                let reply = reply(&call);
                Event::ModelReplied { request: call.request, reply, raw: None, first_token_ms: None }
            }
            Effect::RunTool(RunTool { call, name, arguments, .. }) => {
                println!("  {name} {arguments}");
                let content = "A lamp gives light.".to_owned();
                Event::ToolFinished { call, outcome: ToolOutcome::executed(content, None) }
            }
            Effect::Sleep { timer, ms } => {
                now += ms;
                Event::TimerFired { timer }
            }
            Effect::Record(Record { turn, calls_left, what: RecordKind::TurnStarted { .. } }) => {
                println!("turn {turn}, at most {calls_left} requests can follow");
                continue;
            }
            Effect::Abort(_)
            | Effect::KeepResult { .. }
            | Effect::AnswerProgram { .. }
            | Effect::Record(_)
            | Effect::Finish => continue,
        };
        effects.extend(run.handle(Millis(now), event));
    }
    let ending = run.ending().ok_or("the run waits for something that this example does not do")?;
    println!("{}: {}", ending.termination_reason, ending.output);
    Ok(())
}

/// Calls the tool as long as there is one.
fn reply(call: &ModelCall) -> Reply {
    if call.tools == ToolChoice::None {
        return Reply { content: "In short: a lamp gives light.".into(), ..Reply::default() };
    }
    let arguments = json!({ "word": format!("lamp {}", call.turn) }).to_string();
    let tool_calls = vec![RawCall { id: String::new(), name: "look_up".into(), arguments }];
    Reply { tool_calls, finish: FinishReason::ToolCalls, ..Reply::default() }
}

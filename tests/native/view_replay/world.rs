//! Random runs, small and quick: every kind of reply, outcome, error and user action, with sub-agents and a small window.

use serde_json::json;
use turnwise_engine::retry::Rng;
use turnwise_engine::*;
use turnwise_record::trajectory::{Recorder, Trajectory};

use crate::support::{config, task};

enum Open {
    Request(RequestId),
    Tool(CallId),
    Timer(TimerId),
}

/// The document of a seed's run, played to its end.
pub fn run(seed: u64) -> Trajectory {
    let mut rng = Rng::new(seed);
    let (mut recorder, effects) = Recorder::start(options(&mut rng), task());
    let (mut open, mut ended, mut grants, mut at) = (Vec::new(), false, 0, 0);
    take(&mut open, &mut ended, effects);
    for _ in 0..400 {
        at += rng.up_to(2_500);
        let event = if ended {
            if grants == 2 || !recorder.run.can_continue() || rng.up_to(1) == 0 {
                break;
            }
            (grants, ended) = (grants + 1, false);
            Event::TurnsGranted { turns: 1 + rng.up_to(1) as u32 }
        } else {
            match rng.up_to(60) {
                0 => Event::StopRequested,
                3 => {
                    let open = open.iter().find_map(|one| match one {
                        Open::Request(request) => Some(*request),
                        _ => None,
                    });
                    let partial = PartialReply { content: "so far".into(), reasoning: String::new() };
                    Event::ModelStreamed { request: open.unwrap_or(RequestId(900)), partial }
                }
                1 if rng.up_to(2) == 0 => Event::Cancelled { keeps_text: true },
                2 => Event::TimerFired { timer: TimerId(900) },
                _ => {
                    let at = rng.up_to(open.len() as u64 - 1) as usize;
                    happens(&mut rng, open.remove(at))
                }
            }
        };
        let effects = recorder.handle(Millis(at), event);
        take(&mut open, &mut ended, effects);
    }
    recorder.document()
}

fn options(rng: &mut Rng) -> RunConfig {
    let mut of = config(Preset::ALL[rng.up_to(2) as usize]);
    (of.max_turns, of.max_attempts, of.seed) = (1 + rng.up_to(5) as u32, 1 + rng.up_to(2) as u32, rng.up_to(1 << 40));
    of.tools.extend([own_tools::batch_spec(), own_tools::progress_spec()]);
    if rng.up_to(2) == 0 {
        of.tools.push(own_tools::spawn_spec(&[]));
        of.limits.children = 3;
    }
    if rng.up_to(2) == 0 {
        of.limits.context_tokens = Some(150 + rng.up_to(900));
    }
    of.limits.max_result_chars = 40 + rng.up_to(200) as usize;
    of.providers =
        vec![ProviderConfig::default(), ProviderConfig { model: "second".into(), ..ProviderConfig::default() }];
    if rng.up_to(3) == 0 {
        of.counter = None;
    }
    if let Some(synthesis) = of.synthesis.as_mut().filter(|_| rng.up_to(2) == 0) {
        synthesis.role = SynthesisRole::System;
        synthesis.prompt = Some("Conclude.".into());
    }
    of
}

fn take(open: &mut Vec<Open>, ended: &mut bool, effects: Vec<Effect>) {
    for effect in effects {
        match effect {
            Effect::CallModel(call) => open.push(Open::Request(call.request)),
            Effect::RunTool(call) => open.push(Open::Tool(call.call)),
            Effect::Sleep { timer, .. } => open.push(Open::Timer(timer)),
            Effect::Abort(Abort::Request(id)) => open.retain(|one| !matches!(one, Open::Request(of) if *of == id)),
            Effect::Abort(Abort::Tool(id)) => open.retain(|one| !matches!(one, Open::Tool(of) if *of == id)),
            Effect::Abort(Abort::Timer(id)) => open.retain(|one| !matches!(one, Open::Timer(of) if *of == id)),
            Effect::Finish => *ended = true,
            _ => {}
        }
    }
    if *ended {
        open.clear();
    }
}

fn happens(rng: &mut Rng, open: Open) -> Event {
    match open {
        Open::Timer(timer) => Event::TimerFired { timer },
        Open::Tool(call) => Event::ToolFinished { call, outcome: outcome(rng) },
        Open::Request(request) if rng.up_to(5) == 0 => {
            let slug = [Slug::RateLimited, Slug::ProviderError, Slug::ContextGuard][rng.up_to(2) as usize];
            let error =
                ModelError { slug, message: "no".into(), status: None, retry_after_ms: None, retry: Retry::Yes };
            Event::ModelFailed { request, error, raw: Some(RawResponse { text: "raw".into(), truncated: false }) }
        }
        Open::Request(request) => {
            Event::ModelReplied { request, reply: reply(rng), raw: None, first_token_ms: Some(3) }
        }
    }
}

fn reply(rng: &mut Rng) -> Reply {
    let calls = if rng.up_to(3) == 0 { 0 } else { 1 + rng.up_to(2) };
    let tool_calls = (0..calls).map(|_| raw_call(rng)).collect();
    let content = if rng.up_to(3) == 0 { String::new() } else { format!("Thought number {}.", rng.up_to(99_999)) };
    let finish = if rng.up_to(9) == 0 { FinishReason::Length } else { FinishReason::Stop };
    let reasoning = if rng.up_to(4) == 0 { "hm".into() } else { String::new() };
    let opaque = (rng.up_to(6) == 0).then(|| json!({ "signature": "abc" }));
    Reply { content, tool_calls, finish, reasoning, opaque, ..Reply::default() }
}

fn raw_call(rng: &mut Rng) -> RawCall {
    let names = ["search", "read", "bash", "batch", "spawn_subagents", "progress_report", "final_report", "search"];
    let name = names[rng.up_to(7) as usize];
    let arguments = match name {
        "batch" => json!({ "calls": [{ "name": "search", "arguments": {} }, { "name": "read", "arguments": {} }] }),
        "spawn_subagents" => json!({ "tasks": [{ "task": "one part" }, { "task": "another", "max_turns": 1 }] }),
        "progress_report" => json!({ "status": "working" }),
        "final_report" => json!({ "format": "text", "content": "all of it" }),
        _ => json!({ "q": rng.up_to(9) }),
    };
    RawCall { id: format!("c{}", rng.up_to(9)), name: name.into(), arguments: arguments.to_string() }
}

fn outcome(rng: &mut Rng) -> ToolOutcome {
    match rng.up_to(9) {
        0 => ToolOutcome::Failed { message: "broken".into() },
        1 => ToolOutcome::TimedOut { after_ms: 30_000 },
        2 => ToolOutcome::Rejected { slug: Slug::InvalidArguments, path: None, message: "no q".into() },
        _ => {
            let content = "found äöü\n".repeat(1 + rng.up_to(30) as usize);
            ToolOutcome::executed(content, None)
        }
    }
}

//! ATIF 1.7, the Agent Trajectory Interchange Format of Harbor (its RFC 0001): one step per message, one agent step per turn.
//!
//! Counter levels, synthesis, attempts and times are in `extra`, under the names they have in the document, so that
//! the import can restore them.

use serde_json::{Value, json};

use super::{cost, object, openai, pretty, tree, usage, value, whole_cost};
use crate::trajectory::Trajectory;
use turnwise_engine::{CallRecord, Image, Message, ToolMessage, ToolSpec, TurnRecord, Usage};

pub const VERSION: &str = "ATIF-v1.7";
/// The name of the agent in the files we write.
pub const AGENT: &str = "turnwise";

/// Writes the whole document with its sub-agents.
#[must_use]
pub fn write(document: &Trajectory) -> String {
    pretty(&trajectory(document))
}

fn trajectory(run: &Trajectory) -> Value {
    let mut steps = opening(run);
    steps.extend(run.turns.iter().map(|turn| turn_step(run, turn)));
    let total = steps.len();
    let steps: Vec<Value> = (1..).zip(steps).map(|(id, step)| numbered(id, step)).collect();
    // References are resolved in the list of the trajectory that contains them.
    let below: Vec<Value> = run.children.iter().map(trajectory).collect();
    object([
        ("schema_version", VERSION.into()),
        ("session_id", run.session_id.as_str().into()),
        ("trajectory_id", run.run_id.as_str().into()),
        ("agent", agent(run)),
        ("steps", steps.into()),
        ("final_metrics", final_metrics(run, total)),
        ("subagent_trajectories", below.into()),
        ("extra", extra(run)),
    ])
}

fn numbered(id: u64, mut step: Value) -> Value {
    if let Some(fields) = step.as_object_mut() {
        fields.insert("step_id".to_owned(), id.into());
    }
    step
}

fn agent(run: &Trajectory) -> Value {
    let (name, version) = match &run.imported {
        Some(from) => (from.agent.as_str(), from.agent_version.as_str()),
        None => (AGENT, run.engine_version.as_str()),
    };
    object([
        ("name", name.into()),
        ("version", version.into()),
        ("model_name", run.model.as_str().into()),
        ("tool_definitions", openai::tools(&run.tools)),
        ("extra", json!({ "provider": run.provider, "preset": run.preset, "tools": traits(&run.tools) })),
    ])
}

/// The properties of each tool that OpenAI's format cannot express, by tool name.
fn traits(tools: &[ToolSpec]) -> Value {
    let tool_traits = |tool: &ToolSpec| {
        (tool.name.clone(), json!({ "may_finish": tool.may_finish, "side_effect": tool.side_effect }))
    };
    Value::Object(tools.iter().map(tool_traits).collect())
}

/// The messages before the first turn: the system message or the carried-over history, and the task.
fn opening(run: &Trajectory) -> Vec<Value> {
    let mut steps = if run.history.is_empty() {
        vec![json!({ "source": "system", "message": run.config.system_text() })]
    } else {
        carried(&run.history)
    };
    steps.push(object([
        ("source", "user".into()),
        ("timestamp", run.started_at.as_str().into()),
        ("message", with_pictures(&run.input, &run.images)),
    ]));
    steps
}

/// The conversation before a follow-up. The results of a reply's tool calls are in the reply's step.
fn carried(history: &[Message]) -> Vec<Value> {
    let mut steps: Vec<Value> = Vec::new();
    let mut rest = history.iter().peekable();
    while let Some(message) = rest.next() {
        let step = match message {
            Message::System { content } => json!({ "source": "system", "message": content }),
            Message::User { content, images } => {
                json!({ "source": "user", "message": with_pictures(content, images) })
            }
            Message::Assistant(reply) => {
                let calls = reply.tool_calls.iter().map(|call| {
                    let args = serde_json::from_str(&call.arguments).unwrap_or(Value::String(call.arguments.clone()));
                    tool_call(&call.id.0, &call.name, &args, Value::Null)
                });
                let calls: Vec<Value> = calls.collect();
                let mut results = Vec::new();
                while let Some(Message::Tool(answer)) = rest.next_if(|next| matches!(next, Message::Tool(_))) {
                    results.push(json!({ "source_call_id": answer.call_id, "content": with_pictures(&answer.content, &answer.images) }));
                }
                object([
                    ("source", "agent".into()),
                    ("message", reply.content.as_str().into()),
                    ("reasoning_content", some(&reply.reasoning)),
                    ("tool_calls", calls.into()),
                    ("observation", observation(&results)),
                ])
            }
            // Tool results follow their reply; one without a reply is kept as a user message.
            Message::Tool(ToolMessage { content, images, .. }) => {
                json!({ "source": "user", "message": with_pictures(content, images) })
            }
        };
        steps.push(step);
    }
    for step in steps.iter_mut().filter_map(Value::as_object_mut) {
        step.insert("is_copied_context".to_owned(), true.into());
    }
    steps
}

fn turn_step(run: &Trajectory, turn: &TurnRecord) -> Value {
    let calls = turn.tool_calls.iter().map(|call| tool_call(&call.id.0, &call.name, &call.args, call_extra(call)));
    let results: Vec<Value> = turn.tool_calls.iter().filter_map(|call| result(run, call)).collect();
    let sent = turn.attempts.len() as u64;
    let model = turn.attempts.last().and_then(|attempt| run.config.providers.get(attempt.provider));
    let model = model.map(|provider| provider.model.clone()).filter(|model| *model != run.model && !model.is_empty());
    let metrics = match sent {
        0 => Value::Null,
        _ => usage(turn.attempts.iter()).map_or(Value::Null, |used| metrics(used, cost(run, turn.attempts.iter()))),
    };
    object([
        ("source", "agent".into()),
        ("timestamp", some(&turn.started_at)),
        ("model_name", model.into()),
        ("message", turn.content.as_str().into()),
        ("reasoning_content", some(&turn.reasoning)),
        ("tool_calls", calls.collect()),
        ("observation", observation(&results)),
        ("metrics", metrics),
        ("llm_call_count", if sent > 0 { sent.into() } else { Value::Null }),
        (
            "extra",
            json!({
                "turn": turn.turn,
                "counter_level": turn.counter_level,
                "synthesis": turn.synthesis,
                "final": turn.is_final,
                "attempts": turn.attempts,
            }),
        ),
    ])
}

/// ATIF requires `arguments` to be an object; any other value goes to `extra`.
fn tool_call(id: &str, name: &str, args: &Value, extra: Value) -> Value {
    let (arguments, extra) = match (args, extra) {
        (Value::Object(_), extra) => (args.clone(), extra),
        (raw, Value::Object(mut fields)) => {
            fields.insert("raw_arguments".to_owned(), raw.clone());
            (json!({}), Value::Object(fields))
        }
        (raw, _) => (json!({}), json!({ "raw_arguments": raw })),
    };
    let mut call = object([("tool_call_id", id.into()), ("function_name", name.into()), ("extra", extra)]);
    if let Some(fields) = call.as_object_mut() {
        // Inserted separately because `object` drops an empty object.
        fields.insert("arguments".to_owned(), arguments);
    }
    call
}

fn call_extra(call: &CallRecord) -> Value {
    object([
        ("model_id", call.model_id.clone().into()),
        ("attempt", call.attempt.into()),
        ("started_ms", call.started_ms.into()),
        ("duration_ms", call.duration_ms.into()),
        ("error", call.error.clone().into()),
        ("slug", value(&call.slug)),
        ("structured_content", value(&call.structured_content)),
        ("is_final", if call.is_final { true.into() } else { Value::Null }),
        ("calls", value(&call.calls)),
    ])
}

/// The result of a call; `None` while the call is open.
fn result(run: &Trajectory, call: &CallRecord) -> Option<Value> {
    let known = call.children.iter().filter(|id| run.children.iter().any(|child| child.run_id == **id));
    let references: Vec<Value> = known.map(|id| json!({ "trajectory_id": id, "session_id": run.session_id })).collect();
    let content = call.result.clone();
    (content.is_some() || !references.is_empty()).then(|| {
        object([
            ("source_call_id", call.id.0.as_str().into()),
            ("content", content.into()),
            ("subagent_trajectory_ref", references.into()),
        ])
    })
}

fn observation(results: &[Value]) -> Value {
    if results.is_empty() { Value::Null } else { json!({ "results": results }) }
}

fn metrics(usage: Usage, cost: Option<f64>) -> Value {
    object([
        ("prompt_tokens", usage.input.0.into()),
        ("completion_tokens", usage.output.0.into()),
        ("cached_tokens", usage.cached.0.into()),
        ("cost_usd", cost.into()),
        ("extra", json!({ "reasoning_tokens": usage.reasoning.0, "estimated": usage.estimated })),
    ])
}

fn final_metrics(run: &Trajectory, steps: usize) -> Value {
    object([
        ("total_prompt_tokens", run.tokens.input.0.into()),
        ("total_completion_tokens", run.tokens.output.0.into()),
        ("total_cached_tokens", run.tokens.cached.0.into()),
        ("total_cost_usd", whole_cost(run).filter(|_| run.requests > 0).into()),
        ("total_steps", steps.into()),
        (
            "extra",
            json!({
                "requests": run.requests,
                "reasoning_tokens": run.tokens.reasoning.0,
                "estimated": run.tokens.estimated,
                "runs": tree(run).len(),
            }),
        ),
    ])
}

/// Data that the format has no field for, except the events, which are only in the native document.
fn extra(run: &Trajectory) -> Value {
    object([
        ("started_at", run.started_at.as_str().into()),
        ("finished_at", run.finished_at.clone().into()),
        ("termination_reason", value(&run.termination_reason)),
        ("outcome", value(&run.outcome)),
        ("answer_source", value(&run.answer_source)),
        ("wrap_up", value(&run.wrap_up)),
        ("error", run.error.clone().into()),
        ("max_turns", run.max_turns.into()),
        ("effective_max_turns", run.effective_max_turns.into()),
        ("total_turns", run.total_turns.into()),
        ("output", run.output.clone().into()),
        ("final_result_data", run.final_result_data.clone().unwrap_or_default()),
        ("config", value(&run.config)),
        ("segments", value(&run.segments)),
        ("traces", value(&run.traces)),
        ("logs", value(&run.logs)),
        ("notes", value(&run.notes)),
        ("parent", value(&run.parent)),
        ("imported", value(&run.imported)),
    ])
}

/// The text, or a list of parts if images are attached. The format has no PDFs: a note replaces each one.
fn with_pictures(text: &str, images: &[Image]) -> Value {
    if images.is_empty() {
        return text.into();
    }
    let pictures = images.iter().map(|image| match image.is_pdf() {
        true => json!({ "type": "text", "text": "[a PDF was attached here]" }),
        false => json!({ "type": "image", "source": { "media_type": image.media_type, "path": image.data_url() } }),
    });
    std::iter::once(json!({ "type": "text", "text": text })).chain(pictures).collect()
}

fn some(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}

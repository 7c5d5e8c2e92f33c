//! mini-swe-agent's `.traj.json`, version 1.1: `info`, `messages`, `trajectory_format`.

use serde_json::{Value, json};

use super::conversation::conversations;
use super::{Trajectory, object, openai, pretty, value, whole_cost};
use turnwise_engine::{Message, Outcome};

/// Writes the run's own conversation; the format cannot hold the conversations of sub-agents.
#[must_use]
pub fn write(document: &Trajectory) -> String {
    let said = conversations(document).into_iter().next().map(|(_, messages)| messages).unwrap_or_default();
    let status = exit_status(document);
    let submission = document.output.clone().unwrap_or_default();
    let mut messages: Vec<Value> = said.iter().map(message).collect();
    // mini-swe-agent itself ends a list of messages this way.
    let exit = json!({ "exit_status": status, "submission": submission });
    messages.push(json!({ "role": "exit", "content": status, "extra": exit }));
    let info = json!({
        "model_stats": { "instance_cost": whole_cost(document).unwrap_or(0.0), "api_calls": document.requests },
        "config": {
            "agent": value(&document.config),
            "agent_type": "turnwise",
            "model": { "model_name": document.model, "provider": document.provider.as_str() },
            "model_type": "turnwise",
        },
        "exit_status": status,
        "submission": submission,
        "turnwise": turnwise(document),
    });
    pretty(&json!({ "info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1.1" }))
}

/// Data that the format has no field for.
fn turnwise(document: &Trajectory) -> Value {
    object([
        ("engine_version", document.engine_version.as_str().into()),
        ("run_id", document.run_id.as_str().into()),
        ("session_id", document.session_id.as_str().into()),
        ("termination_reason", value(&document.termination_reason)),
        ("outcome", value(&document.outcome)),
        ("answer_source", value(&document.answer_source)),
        ("total_turns", document.total_turns.into()),
        ("effective_max_turns", document.effective_max_turns.into()),
        ("tokens", value(&document.tokens)),
        ("error", document.error.clone().into()),
    ])
}

/// `Submitted` is the format's status for an answer by the agent itself; any other ending keeps our termination reason.
fn exit_status(document: &Trajectory) -> String {
    match (document.outcome, document.termination_reason) {
        (Some(Outcome::Success), _) => "Submitted".to_owned(),
        (_, Some(reason)) => reason.to_string(),
        (_, None) => String::new(),
    }
}

fn message(source: &Message) -> Value {
    let mut message = openai::message(source);
    let Some(fields) = message.as_object_mut() else { return message };
    if let Message::Assistant(reply) = source {
        // Readers of this format expect the content to be a string.
        fields.insert("content".to_owned(), reply.content.as_str().into());
        if !reply.reasoning.is_empty() {
            fields.insert("reasoning_content".to_owned(), reply.reasoning.as_str().into());
        }
    }
    message
}

//! The last request of a run and of each of its sub-agents, with the reply: the conversation as the model saw it.
//!
//! It is replayed from the events, so it includes notices, the synthesis prompt and shortened results. If a record does
//! not replay (because it is imported or of another version), the conversation is built from its turns.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tree;
use crate::trajectory::{Recorder, Trajectory, replay};
use turnwise_engine::{
    AssistantMessage, BaseId, CallRecord, ChildRun, Effect, Message, ModelCall, Run, ToolCall, ToolMessage, TurnRecord,
};

/// Returns the conversation of each run, parents before their children.
pub fn conversations(document: &Trajectory) -> Vec<(&Trajectory, Vec<Message>)> {
    let mut played = played(document).unwrap_or_default();
    let run_messages = |run: &Trajectory| played.remove(&run.run_id).unwrap_or_else(|| said(run));
    tree(document).into_iter().map(run_messages).zip(tree(document)).map(|(messages, run)| (run, messages)).collect()
}

/// The last request of a run: the frozen history, and the messages for this request only.
#[derive(Default)]
struct LastRequest {
    base: Option<BaseId>,
    frozen: Vec<Message>,
    tail: Vec<Message>,
    /// How many messages the run had.
    messages: usize,
}

/// Replays the conversations, by run id; `None` if the document does not replay.
fn played(document: &Trajectory) -> Option<BTreeMap<String, Vec<Message>>> {
    drop(replay(document).ok()?);
    let (config, task) = document.origin();
    let (mut recorder, effects) = Recorder::start(config, task);
    let mut sent: BTreeMap<u32, LastRequest> = BTreeMap::new();
    take(&mut sent, &recorder.run, effects);
    for recorded in &document.events {
        let effects = recorder.handle(recorded.at_ms, recorded.event.clone());
        take(&mut sent, &recorder.run, effects);
    }
    let runs = std::iter::once(&recorder.run).chain(recorder.run.child_runs());
    Some(runs.map(|run| (run.task().run_id.clone(), whole(run, sent.remove(&run.task().child)))).collect())
}

fn take(sent: &mut BTreeMap<u32, LastRequest>, run: &Run, effects: Vec<Effect>) {
    for effect in effects {
        let Effect::CallModel(ModelCall { request, base, append, tail, .. }) = effect else { continue };
        let last = sent.entry(request.child()).or_default();
        if last.base != Some(base) {
            (last.base, last.frozen) = (Some(base), Vec::new());
        }
        last.frozen.extend(append);
        last.tail = tail;
        let child = run.children().iter().find(|child| child.id == request.child()).and_then(ChildRun::run);
        last.messages = child.unwrap_or(run).messages().len();
    }
}

/// The last request and the messages since: its reply and the results of the reply's tool calls.
fn whole(run: &Run, sent: Option<LastRequest>) -> Vec<Message> {
    let LastRequest { frozen, tail, messages, .. } = sent.unwrap_or_default();
    let since = run.messages().get(messages..).unwrap_or_default();
    // The synthesis prompt enters the history together with its reply, so it is in both.
    let entered = tail.iter().zip(since).take_while(|(sent, kept)| sent == kept).count();
    let since = since.iter().skip(entered).cloned().collect::<Vec<_>>();
    frozen.into_iter().chain(tail).chain(since).collect()
}

/// Builds the messages from the turns.
fn said(run: &Trajectory) -> Vec<Message> {
    let mut messages = run.history.clone();
    if messages.is_empty() {
        messages.push(Message::system(run.config.system_text()));
    }
    messages.push(Message::User { content: run.input.clone(), images: run.images.clone() });
    run.turns.iter().for_each(|turn| add_turn(&mut messages, turn));
    messages
}

fn add_turn(messages: &mut Vec<Message>, turn: &TurnRecord) {
    if turn.content.is_empty() && turn.tool_calls.is_empty() {
        return;
    }
    messages.push(Message::Assistant(AssistantMessage {
        content: turn.content.clone(),
        reasoning: turn.reasoning.clone(),
        tool_calls: turn.tool_calls.iter().map(asked).collect(),
        opaque: None,
        from: None,
    }));
    let answers = turn.tool_calls.iter().filter_map(|call| {
        let content = call.result.clone()?;
        let (call_id, name) = (call.id.clone(), call.name.clone());
        Some(Message::Tool(ToolMessage { call_id, name, content, images: Vec::new(), is_error: call.error.is_some() }))
    });
    messages.extend(answers);
}

fn asked(call: &CallRecord) -> ToolCall {
    let arguments = match &call.args {
        Value::String(raw) => raw.clone(),
        args => args.to_string(),
    };
    ToolCall::new(call.id.clone(), call.name.clone(), arguments)
}

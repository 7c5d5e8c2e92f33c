//! The programs of a recorded run (`run_code`, scripts of skills), with everything that their output follows from: the code, what it saw of the world,
//! and the answers to its calls in the order in which it received them. A replay runs each again and compares its output.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{RecordedEvent, Recorder, Trajectory};
use turnwise_engine::{Branch, CallId, Effect, Event, Program, RunTool, ToolOutcome, own_tools};

/// A program of a record that ended by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedProgram {
    /// The turn of the run that called it; `null`: a sub-agent called it.
    pub turn: Option<u32>,
    /// Its output as a JSON Pointer into the document.
    pub path: String,
    pub code: String,
    pub seed: u32,
    pub at: u64,
    /// The tools that it could call.
    pub tools: Vec<String>,
    /// For the script of a skill: its arguments as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The calls that it made, in order: name and arguments.
    pub calls: Vec<(String, String)>,
    /// The answers in the order in which it received them: the index of the call, whether it failed, the result.
    pub answers: Vec<(usize, bool, String)>,
    /// Whether it ended without an error.
    pub ok: bool,
    /// Its output, or its error.
    pub output: String,
}

/// The programs of a record that ended by themselves, in the order in which they ended. One that was stopped by a deadline or by
/// the user has no output of its own, and one whose calls were changed by hand has another's.
#[must_use]
pub fn programs(recorded: &Trajectory) -> Vec<RecordedProgram> {
    let (config, task) = recorded.origin();
    let (mut recorder, effects) = Recorder::start(config, task);
    let mut open: BTreeMap<CallId, RecordedProgram> = BTreeMap::new();
    let mut ended = Vec::new();
    take(&recorder, &mut open, effects);
    for (index, RecordedEvent { at_ms, event, .. }) in recorded.events.iter().enumerate() {
        match event {
            Event::ToolAsked { call, name, arguments } => {
                if let Some(program) = open.get_mut(call) {
                    program.calls.push((name.clone(), arguments.clone()));
                }
            }
            Event::ToolFinished { call, outcome } => {
                if let Some(mut program) = open.remove(call) {
                    program.path = format!("/events/{index}/event/outcome");
                    ended.extend(finished(program, outcome).map(|program| (call.clone(), program)));
                }
            }
            _ => {}
        }
        let effects = recorder.handle(*at_ms, event.clone());
        take(&recorder, &mut open, effects);
    }
    let edited = |event: &RecordedEvent| match &event.event {
        Event::Branched(branch) => {
            let Branch { edited, .. } = &**branch;
            edited.clone()
        }
        _ => None,
    };
    let edited: Vec<CallId> = recorded.events.iter().filter_map(edited).collect();
    let by_hand = |call: &CallId| {
        let inner = format!("{call}_");
        edited.iter().any(|edited| edited == call || edited.0.starts_with(&inner))
    };
    ended.into_iter().filter(|(call, _)| !by_hand(call)).map(|(_, program)| program).collect()
}

fn take(recorder: &Recorder, open: &mut BTreeMap<CallId, RecordedProgram>, effects: Vec<Effect>) {
    for effect in effects {
        match effect {
            Effect::RunTool(RunTool { call, arguments, program: Some(Program { seed, at, script }), .. }) => {
                let run = &recorder.run;
                let names = run.config_of(&call).tools.iter().map(|tool| tool.name.clone());
                let args: Value = serde_json::from_str(&arguments).unwrap_or_default();
                let (code, tools, input) = match script {
                    Some(script) => (script.code, script.tools, Some(args.to_string())),
                    None => (code_of(&args), names.filter(|name| own_tools::allowed_inside(name)).collect(), None),
                };
                let turn = run.turns().last().filter(|turn| turn.tool_calls.iter().any(|one| one.id == call));
                let program = RecordedProgram {
                    turn: turn.map(|turn| turn.turn),
                    path: String::new(),
                    code,
                    seed,
                    at: at.0,
                    tools,
                    input,
                    calls: Vec::new(),
                    answers: Vec::new(),
                    ok: false,
                    output: String::new(),
                };
                open.insert(call, program);
            }
            Effect::AnswerProgram { program, asked, answer } => {
                if let Some(program) = open.get_mut(&program) {
                    program.answers.push((asked, answer.failed, answer.content));
                }
            }
            _ => {}
        }
    }
}

fn finished(mut program: RecordedProgram, outcome: &ToolOutcome) -> Option<RecordedProgram> {
    let (ok, output) = match outcome {
        ToolOutcome::Executed { content, repaired_args, .. } => {
            match (repaired_args, &mut program.input) {
                (Some(args), Some(input)) => *input = args.to_string(),
                (Some(args), None) => program.code = code_of(args),
                (None, _) => {}
            }
            (true, content)
        }
        ToolOutcome::Failed { message } => (false, message),
        _ => return None,
    };
    (program.ok, program.output) = (ok, output.clone());
    Some(program)
}

fn code_of(args: &Value) -> String {
    args.get("code").and_then(Value::as_str).unwrap_or_default().to_owned()
}

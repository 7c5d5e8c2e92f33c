//! The draft of a branch: the contents of the form, and the branch that it results in.

use serde_json::{Value, json};

use turnwise_engine::{
    Authority, Branch, BranchChanges, BranchPart, CallId, CallRecord, Parent, RawCall, Reply, RunConfig, ToolSpec,
    TurnRecord, own_tools,
};

use turnwise_llm::models;

use super::ending;
use super::lines::AddedLines;
use super::provider;
use super::source::RunSource;

/// The contents of the form.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchDraft {
    /// The turn that is requested again, and its index in `turns`.
    pub turn: u32,
    pub place: usize,
    pub run_id: String,
    pub model: String,
    /// The models that it ran with, as far as what is sent to them: [`provider::destination`].
    pub destinations: Vec<String>,
    /// Whether to use the provider from the settings instead.
    pub elsewhere: bool,
    /// The run's settings are those of a record that somebody else made: apart from the models that are shown, none of them
    /// counts.
    pub strange: bool,
    pub max_turns: String,
    pub system: String,
    pub say: String,
    /// The model's reply in the turn: its text, and its calls as a JSON array of `{name, arguments}`.
    pub reply: String,
    pub calls: String,
    /// The calls before the turn whose results can be changed.
    pub results: Vec<CallResult>,
    /// What the form was opened for.
    pub wanted: Option<FormPart>,
    was: RunConfig,
    was_reply: (String, String),
}

/// A part of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormPart {
    /// The result of this call.
    Result(String),
    Reply,
}

/// The result of a call, which a branch can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    pub call: CallId,
    /// `read_file {"path":"a.md"}`
    pub title: String,
    pub result: String,
    was: String,
}

impl BranchDraft {
    /// Creates the draft of a branch from one turn of a run; `None` if there is no such turn. `strange`: see the field. Then the
    /// models of the settings are chosen, until the user chooses those of the record.
    #[must_use]
    pub fn new(source: &RunSource<'_>, run_id: &str, place: usize, strange: bool) -> Option<Self> {
        let turn = source.turns.get(place)?.turn;
        let was = source.config.clone();
        let reply = source.turns.get(place).map(recorded_reply).unwrap_or_default();
        let before = place.checked_sub(1).and_then(|before| source.turns.get(before));
        Some(BranchDraft {
            turn,
            place,
            run_id: run_id.to_owned(),
            model: was.providers.first().map(|p| p.model.clone()).unwrap_or_default(),
            destinations: was.providers.iter().map(provider::destination).collect(),
            elsewhere: strange,
            strange,
            max_turns: was.max_turns.to_string(),
            system: was.system_text(),
            say: String::new(),
            reply: reply.0.clone(),
            calls: reply.1.clone(),
            results: before.map(|turn| results(turn, AddedLines::of_turn(source, turn))).unwrap_or_default(),
            wanted: None,
            was,
            was_reply: reply,
        })
    }

    /// Lowers the number of turns that the form begins with.
    pub fn limit_turns(&mut self, most: u32) {
        self.max_turns = self.was.max_turns.min(most).to_string();
    }

    /// Whether the branch needs the settings: for its models, or for everything else that a record must not decide.
    #[must_use]
    pub fn needs_settings(&self) -> bool {
        self.elsewhere || self.strange
    }

    /// Returns the branch. `settings`: a new run's configuration, if [`BranchDraft::needs_settings`]. `tools`: those of the app.
    ///
    /// # Errors
    /// A message for users that says what is wrong.
    pub fn changes(&self, settings: Option<&RunConfig>, tools: &[ToolSpec]) -> Result<Branch, String> {
        let max_turns: u32 =
            self.max_turns.trim().parse().ok().filter(|n| (1..=10_000).contains(n)).ok_or_else(|| {
                format!("Max turns must be a whole number, at least 1; it is \u{201c}{}\u{201d}.", self.max_turns)
            })?;
        let ours = settings.filter(|_| self.strange).unwrap_or(&self.was);
        let others = settings.filter(|_| self.elsewhere).unwrap_or(&self.was);
        let mut providers = others.providers.clone();
        if self.strange && !self.elsewhere {
            // What a record says about prices would decide when a budget is used up.
            providers.iter_mut().for_each(|provider| provider.price = None);
        }
        if let Some(first) = providers.first_mut().filter(|_| !self.elsewhere) {
            if first.model != self.model.trim() {
                // The price does not apply to another model.
                first.price = None;
            }
            first.model = self.model.trim().to_owned();
        }
        let mut config = RunConfig { providers: providers.clone(), max_turns, tools: tools.to_vec(), ..ours.clone() };
        config.limits.context_tokens =
            others.limits.context_tokens.filter(|_| self.elsewhere || providers == self.was.providers);
        models::complete(&mut config);
        let changed: Vec<&CallResult> = self.results.iter().filter(|call| call.result != call.was).collect();
        if changed.len() > 1 {
            return Err("A branch can change one result. Put back the others.".to_owned());
        }
        let system = (self.system != self.was.system_text()).then(|| self.system.clone());
        Ok(Branch {
            parent: Parent { run_id: self.run_id.clone(), turn: self.turn },
            providers: (providers != self.was.providers).then_some(providers),
            authority: Some(Box::new(Authority::from(&config))),
            system,
            max_turns: (max_turns != self.was.max_turns).then_some(max_turns),
            say: Some(self.say.trim().to_owned()).filter(|say| !say.is_empty()),
            reply: self.changed_reply()?,
            edited: changed.first().map(|changed| changed.call.clone()),
            ..Branch::default()
        })
    }

    /// Returns the new result of the call that [`Branch::edited`] names.
    #[must_use]
    pub fn result(&self) -> Option<String> {
        self.results.iter().find(|call| call.result != call.was).map(|call| call.result.clone())
    }

    fn changed_reply(&self) -> Result<Option<Reply>, String> {
        let (text, calls) = &self.was_reply;
        if self.reply == *text && self.calls == *calls {
            return Ok(None);
        }
        let tool_calls = parsed_calls(&self.calls)?;
        if self.reply.trim().is_empty() && tool_calls.is_empty() {
            return Err("The model's reply is empty: write a text or a tool call.".to_owned());
        }
        Ok(Some(Reply::by_hand(self.reply.clone(), tool_calls)))
    }

    /// The form's heading.
    #[must_use]
    pub fn title(&self) -> String {
        match self.turn {
            1 => "Try again from the beginning".to_owned(),
            turn => format!("Try again from turn {turn}"),
        }
    }
}

/// Returns the message with which a stopped run goes on. It quotes the part of the reply that had arrived, since the history does
/// not include it. `None` if nothing had arrived.
#[must_use]
pub fn go_on_message(source: &RunSource<'_>) -> Option<String> {
    let begun = ending::arrived(source.turns)?;
    Some(format!(
        "I interrupted your reply. This much had arrived:\n\n{begun}\n\nWrite the whole reply, beginning with exactly this."
    ))
}

/// Says what the last branch on the way to a run changed: `result of calculate changed, model changed`; `None`: nothing.
#[must_use]
pub fn changes(source: &RunSource<'_>) -> Option<String> {
    let branches = source.branches.list();
    let BranchChanges { edited, parts, .. } = branches.last()?;
    let name = |id: &CallId| {
        let of_turns = source.turns.iter().flat_map(|turn| &turn.tool_calls);
        let mut all = of_turns.flat_map(|call| std::iter::once(call).chain(&call.calls));
        let name = all.find(|call| call.id == *id).map_or("a call", |call| call.name.as_str());
        format!("result of {name} changed")
    };
    let words = |part: &BranchPart| {
        let words = match part {
            BranchPart::Reply => "reply changed",
            BranchPart::Message => "message added",
            BranchPart::System => "system message changed",
            BranchPart::Model => "model changed",
            BranchPart::Limits => "limits changed",
        };
        words.to_owned()
    };
    let all: Vec<String> = edited.iter().map(name).chain(parts.iter().map(words)).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns the run that a branch is another version of, and what is different; `None`: the run is not a branch.
#[must_use]
pub fn version(source: &RunSource<'_>) -> Option<(String, String)> {
    let parent = source.parent?;
    let from = |what: &str| format!("{what} from turn {}", parent.turn);
    Some((
        parent.run_id.clone(),
        changes(source).map_or_else(|| from("regenerated"), |changes| from(&format!("{changes},"))),
    ))
}

fn recorded_reply(turn: &TurnRecord) -> (String, String) {
    let call = |call: &CallRecord| json!({ "name": call.name, "arguments": call.args });
    let calls: Vec<Value> = turn.tool_calls.iter().map(call).collect();
    let calls = if calls.is_empty() { String::new() } else { serde_json::to_string_pretty(&calls).unwrap_or_default() };
    (turn.content.clone(), calls)
}

fn parsed_calls(text: &str) -> Result<Vec<RawCall>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |why: String| format!("The tool calls must be a JSON array of {{\"name\", \"arguments\"}}: {why}.");
    let calls: Vec<Value> = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let call = |call: &Value| {
        let name = call.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())?;
        let arguments = match call.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(arguments) => arguments.to_string(),
            None => "{}".to_owned(),
        };
        Some(RawCall { id: String::new(), name: name.to_owned(), arguments })
    };
    calls.iter().map(|one| call(one).ok_or_else(|| wrong("a call has no name".to_owned()))).collect()
}

/// Returns whether the reply of a turn, or the result of a call in it, can be changed: the run goes on from there.
#[must_use]
pub fn can_change(source: &RunSource<'_>, place: usize, wanted: &FormPart) -> bool {
    let turn = source.turns.get(place).filter(|_| source.imported.is_none());
    match wanted {
        // A failed turn has none.
        FormPart::Reply => turn.is_some_and(|turn| !(turn.content.is_empty() && turn.tool_calls.is_empty())),
        FormPart::Result(id) => turn.filter(|_| place + 1 < source.turns.len()).is_some_and(|turn| {
            turn.tool_calls.iter().any(|call| call.id.0 == *id && call.result.is_some() && has_own_result(call))
        }),
    }
}

/// The call was run, and not by the engine: it answers its own tools itself.
fn has_own_result(call: &CallRecord) -> bool {
    let own = [own_tools::BATCH, own_tools::SPAWN, own_tools::PROGRESS, own_tools::REPORT];
    call.slug.is_none() && !own.contains(&call.name.as_str())
}

/// The calls of a turn that were run, with their results.
fn results(turn: &TurnRecord, lines: AddedLines) -> Vec<CallResult> {
    let last = turn.tool_calls.len().saturating_sub(1);
    let each = turn.tool_calls.iter().enumerate().filter(|(_, call)| has_own_result(call));
    each.filter_map(|(place, call)| {
        let mut result = call.result.clone()?;
        // The engine writes its lines at the end again.
        if place == last {
            result.truncate(result.len() - lines.bytes());
        }
        let title = format!("{} {}", call.name, call.args);
        Some(CallResult { call: call.id.clone(), title, was: result.clone(), result })
    })
    .collect()
}

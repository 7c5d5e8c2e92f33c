//! How a recorded run continues elsewhere: the events to replay before its next one. A worker that reads records builds
//! the course from a trajectory; the worker that executes runs receives the course and knows nothing about trajectories.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::Trajectory;
use super::restore::Restored;
use super::{RecordedEvent, replay};
use turnwise_engine::{Branch, CallId, Event, Parent, RawCall, Reply, RunConfig, Task, ToolOutcome};

/// A run's origin and the events that lead to the point where it continues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResumePoint {
    pub config: RunConfig,
    pub task: Task,
    pub events: Vec<RecordedEvent>,
    /// The changes from that point on; `None`: the same run continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
}

/// A requested branch.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchWish {
    pub trajectory: Box<Trajectory>,
    /// The first turn of the branch itself. Default: the turn after the edited call, or else the last turn.
    #[serde(default)]
    pub turn: Option<u32>,
    /// The call whose result is replaced by `result`.
    #[serde(default)]
    pub call_id: Option<CallId>,
    #[serde(default)]
    pub result: String,
    /// Replaces the model's reply in the turn.
    #[serde(default)]
    pub reply: Option<WishedReply>,
    #[serde(default)]
    pub system: Option<String>,
    #[serde(default)]
    pub say: Option<String>,
}

/// The reply that replaces the model's.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WishedReply {
    pub text: String,
    pub tool_calls: Vec<WishedCall>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WishedCall {
    pub tool_name: String,
    pub input: Value,
}

impl ResumePoint {
    /// Returns the course of a run that has not ended.
    ///
    /// # Errors
    /// A message for users that says what is wrong with the record.
    pub fn resumed(recorded: &Trajectory) -> Result<Self, String> {
        if recorded.outcome.is_some() {
            return Err("this run has ended; follow it up, or branch from one of its turns".to_owned());
        }
        replay(recorded)
            .map_err(|_| "this trajectory does not replay; replay() reports where it differs".to_owned())?;
        let (config, task) = recorded.origin();
        Ok(ResumePoint { config, task, events: recorded.events.clone(), branch: None })
    }

    /// Returns the course of a branch.
    ///
    /// # Errors
    /// If there is no such turn or call, or the events do not lead there.
    pub fn branched(wish: BranchWish) -> Result<Self, String> {
        let BranchWish { trajectory: recorded, turn, call_id, result, reply, system, say } = wish;
        let mut recorded = *recorded;
        let place = match &call_id {
            Some(call) => after_call(&recorded, call, turn)?,
            None => of_turn(&recorded, turn)?,
        };
        if let Some(call) = &call_id {
            recorded = recorded.with_result(call, result)?;
        }
        let (restored, events) =
            Restored::up_to_turn(&recorded, place).ok_or("the events of this trajectory do not lead to that turn")?;
        let turn = restored.recorder.run.turns().last().map_or(0, |turn| turn.turn);
        let branch = Branch {
            parent: Parent { run_id: recorded.run_id.clone(), turn },
            system,
            say,
            reply: reply.map(Reply::from),
            edited: call_id,
            ..Branch::default()
        };
        let (config, task) = recorded.origin();
        Ok(ResumePoint { config, task, events, branch: Some(branch) })
    }
}

fn of_turn(recorded: &Trajectory, turn: Option<u32>) -> Result<usize, String> {
    let turns = &recorded.turns;
    match turn {
        Some(wanted) => turns.iter().position(|turn| turn.turn == wanted).ok_or_else(|| no_turn(recorded, wanted)),
        None => turns.len().checked_sub(1).ok_or_else(|| "this trajectory has no turn".to_owned()),
    }
}

fn no_turn(recorded: &Trajectory, wanted: u32) -> String {
    format!("there is no turn {wanted}; the run has {}", recorded.turns.len())
}

/// Returns the index of the turn that follows the call's turn.
fn after_call(recorded: &Trajectory, call: &CallId, turn: Option<u32>) -> Result<usize, String> {
    let has = |id: &CallId| id == call;
    let place = recorded.turns.iter().position(|turn| {
        turn.tool_calls.iter().any(|one| has(&one.id) || one.calls.iter().any(|inner| has(&inner.id)))
    });
    let place = place.ok_or_else(|| format!("there is no call {}", call.0))?;
    let own = recorded.turns.get(place).map_or(0, |turn| turn.turn);
    match turn {
        Some(turn) if turn != own && turn != own.saturating_add(1) => {
            Err(format!("the call {} belongs to turn {own}, not to turn {turn}", call.0))
        }
        _ => Ok(place.saturating_add(1)),
    }
}

impl Trajectory {
    /// Returns the record with another result of a call: what a branch after it starts from.
    ///
    /// # Errors
    /// The call was not run.
    pub fn with_result(mut self, call: &CallId, result: String) -> Result<Self, String> {
        let finished = self.events.iter_mut().find_map(|recorded| match &mut recorded.event {
            Event::ToolFinished { call: id, outcome } if id == call => Some(outcome),
            _ => None,
        });
        let outcome =
            finished.ok_or_else(|| format!("the call {} was not run, so its result cannot be changed", call.0))?;
        let repaired_args = match outcome {
            ToolOutcome::Executed { repaired_args, .. } => repaired_args.take(),
            _ => None,
        };
        *outcome = ToolOutcome::executed(result, repaired_args);
        Ok(self)
    }
}

impl From<WishedReply> for Reply {
    fn from(WishedReply { text, tool_calls }: WishedReply) -> Self {
        let call = |WishedCall { tool_name, input }: WishedCall| RawCall {
            id: String::new(),
            name: tool_name,
            arguments: input.to_string(),
        };
        Reply::by_hand(text, tool_calls.into_iter().map(call).collect())
    }
}

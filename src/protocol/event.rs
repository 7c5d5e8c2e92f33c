//! Output events as the page gets them: a plain object with `type`, `turn`, `callsLeft` and what belongs to it; of a plan's
//! step with `step` too. Nested parts have the trajectory's keys, and a sub-agent's event is again such an event.

use serde::{Serialize, Serializer};

use crate::engine::{Record, RecordKind};
use crate::plan::PlanRecord;

/// A record of a run's.
#[derive(Debug)]
pub struct EventOf<'a>(pub &'a Record, pub Option<Step>);

/// Which step of a plan an event belongs to, and how many requests of the whole plan can still follow.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub order: u32,
    pub calls_left: u32,
}

/// Streamed text. A sub-agent's turn is its own.
#[derive(Clone, Copy, Debug)]
pub struct Delta<'a> {
    /// `text_delta` or `reasoning_delta`.
    pub kind: &'static str,
    /// 0: the run itself.
    pub child: u32,
    pub turn: u32,
    pub calls_left: u32,
    pub text: &'a str,
    pub step: Option<Step>,
}

/// A record of a plan's.
#[derive(Debug)]
pub struct PlanEventOf<'a>(pub &'a PlanRecord);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stamped<T> {
    #[serde(flatten)]
    what: T,
    turn: u32,
    calls_left: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct OfChild<T> {
    #[serde(rename = "type")]
    kind: &'static str,
    child: u32,
    event: T,
}

impl<T> OfChild<T> {
    fn new(child: u32, event: T) -> Self {
        OfChild { kind: "child", child, event }
    }
}

impl Serialize for EventOf<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let EventOf(Record { what, turn, calls_left, .. }, step) = self;
        let (turn, calls_left) = (*turn, step.map_or(*calls_left, |step| step.calls_left));
        let step = step.map(|step| step.order);
        match what {
            RecordKind::Child { child, event } => {
                Stamped { what: OfChild::new(*child, EventOf(event, None)), turn, calls_left, step }.serialize(s)
            }
            what => Stamped { what, turn, calls_left, step }.serialize(s),
        }
    }
}

impl Serialize for Delta<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Delta { kind, child, turn, text, .. } = *self;
        let calls_left = self.step.map_or(self.calls_left, |step| step.calls_left);
        let step = self.step.map(|step| step.order);
        let text = Text { kind, text };
        match child {
            0 => Stamped { what: text, turn, calls_left, step }.serialize(s),
            _ => {
                let event = Stamped { what: text, turn, calls_left, step: None };
                Stamped { what: OfChild::new(child, event), turn, calls_left, step }.serialize(s)
            }
        }
    }
}

impl Serialize for PlanEventOf<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct OfPlan<'a> {
            #[serde(flatten)]
            what: &'a crate::plan::PlanRecordKind,
            step: Option<u32>,
            calls_left: u32,
        }
        let PlanRecord { step, calls_left, what } = self.0;
        OfPlan { what, step: *step, calls_left: *calls_left }.serialize(s)
    }
}

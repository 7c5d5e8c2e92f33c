//! Events as the page receives them: a plain object with `type`, `turn`, `callsLeft` and the fields of its type; events of a
//! plan's step also have `step`. Nested parts have the trajectory's keys, and a sub-agent's event is again such an event.

use serde::Serialize;

use turnwise_engine::{Record, RecordKind};
use turnwise_record::plan::{PlanRecord, PlanRecordKind};

/// Events of a run, as the engine emits them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct RunEvent<'a> {
    #[serde(flatten)]
    what: EventKind<'a>,
    /// Sub-agents count their own turns.
    turn: u32,
    /// Maximum number of LLM requests still to come.
    calls_left: u32,
    /// The step that the run belongs to, if it is part of a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "types", ts(optional))]
    step: Option<u32>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
enum EventKind<'a> {
    TextDelta {
        text: &'a str,
    },
    ReasoningDelta {
        text: &'a str,
    },
    Child {
        /// Counts from 1 across the run.
        child: u32,
        /// An event of the sub-agent.
        event: Box<RunEvent<'a>>,
    },
    #[serde(untagged)]
    Record(#[cfg_attr(feature = "types", ts(inline))] &'a RecordKind),
}

/// Events of a plan, except those of its steps' runs. `step` is `null` for the plan as a whole.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PlanOwnEvent<'a> {
    #[serde(flatten)]
    what: &'a PlanRecordKind,
    step: Option<u32>,
    /// Maximum number of LLM requests of the whole plan still to come.
    calls_left: u32,
}

/// Which step of a plan an event belongs to, and how many requests of the whole plan can still follow.
#[derive(Clone, Copy, Debug)]
pub struct EventStep {
    pub order: u32,
    pub calls_left: u32,
}

/// Streamed text.
#[derive(Clone, Copy, Debug)]
pub struct DeltaEvent<'a> {
    pub kind: DeltaKind,
    /// The sub-agent; 0 is the run itself.
    pub child: u32,
    pub turn: u32,
    pub calls_left: u32,
    pub text: &'a str,
    pub step: Option<EventStep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaKind {
    Text,
    Reasoning,
}

impl<'a> RunEvent<'a> {
    /// The event for a run's record.
    #[must_use]
    pub fn from_record(record: &'a Record, step: Option<EventStep>) -> Self {
        let Record { what, turn, calls_left, .. } = record;
        let what = match what {
            RecordKind::Child { child, event } => {
                EventKind::Child { child: *child, event: Box::new(RunEvent::from_record(event, None)) }
            }
            what => EventKind::Record(what),
        };
        RunEvent::at(what, *turn, *calls_left, step)
    }

    #[must_use]
    pub fn streamed(DeltaEvent { kind, child, turn, calls_left, text, step }: DeltaEvent<'a>) -> Self {
        let what = match kind {
            DeltaKind::Text => EventKind::TextDelta { text },
            DeltaKind::Reasoning => EventKind::ReasoningDelta { text },
        };
        let calls_left = step.map_or(calls_left, |step| step.calls_left);
        let what = match child {
            0 => what,
            _ => EventKind::Child { child, event: Box::new(RunEvent::at(what, turn, calls_left, None)) },
        };
        RunEvent::at(what, turn, calls_left, step)
    }

    fn at(what: EventKind<'a>, turn: u32, calls_left: u32, step: Option<EventStep>) -> Self {
        let calls_left = step.map_or(calls_left, |step| step.calls_left);
        RunEvent { what, turn, calls_left, step: step.map(|step| step.order) }
    }
}

impl<'a> PlanOwnEvent<'a> {
    /// The event for a plan's record.
    #[must_use]
    pub fn from_record(PlanRecord { step, calls_left, what }: &'a PlanRecord) -> Self {
        PlanOwnEvent { what, step: *step, calls_left: *calls_left }
    }
}

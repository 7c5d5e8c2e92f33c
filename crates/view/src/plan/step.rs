//! A step as its node shows it: agent, kind, state as text, duration, turns as ticks.

use turnwise_engine::{Outcome, Usage};
use turnwise_record::plan::{AgentKind, StepStatus};

use super::super::ending::Tone;
use super::super::meter::{Meter, Tick, TickKind, TickState};
use super::super::panel::PanelView;
use super::super::source::SourceOrigin;
use super::graph::inputs_of;
use super::{StepSource, listed, named};
use turnwise_content::format::{clock, counted, duration, one_line};

#[derive(Clone, Debug, PartialEq)]
pub struct StepView {
    pub order: u32,
    pub agent: String,
    pub kind: AgentKind,
    /// `gathers`, `synthesis`
    pub kind_words: &'static str,
    pub action: String,
    pub status: StepStatus,
    /// Its state as text: `turn 3 of 6`, `completed`, `blocked by step 2`.
    pub state: String,
    /// The tone of its state; `None`: it is running or has not begun. An interrupted step is not running.
    pub tone: Option<Tone>,
    /// The turns of its run.
    pub ticks: Vec<Tick>,
    /// Milliseconds since 1970.
    pub started_at: Option<u64>,
    /// Its duration, once it has ended.
    pub elapsed_ms: Option<u64>,
    /// The steps whose results it waits for or received, in ascending order.
    pub inputs_of: Vec<u32>,
    /// The steps whose results it received; `None` before it starts.
    pub given: Option<Vec<u32>>,
    pub requests: u32,
    pub usage: Usage,
    pub error: Option<String>,
    /// The text for the lines of the graph: `Received the results of 1 and 2.`
    pub inputs_text: String,
}

/// The state of a line of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenLine {
    /// Not known yet.
    Planned,
    Given,
    /// There was no result to pass on.
    Missing,
}

impl From<&StepSource<'_>> for StepView {
    fn from(source: &StepSource<'_>) -> Self {
        let StepSource { plan, record, run, .. } = *source;
        let action = plan.step(record.order).map(|step| step.action.clone()).unwrap_or_default();
        let inputs_of = plan.step(record.order).map(|step| inputs_of(plan, step)).unwrap_or_default();
        let panel = run.as_ref().map(PanelView::from);
        let started = !matches!(record.status, StepStatus::Pending | StepStatus::Blocked) && run.is_some();
        let orders = || record.context.artifacts().iter().map(|artifact| artifact.step_order).collect();
        let state = state(source, panel.as_ref(), &inputs_of);
        let ticks = run.as_ref().map(|run| Meter::from(run).ticks).unwrap_or_default();
        let over = record.status.ended() || source.origin == SourceOrigin::Interrupted;
        let elapsed_ms = panel.as_ref().and_then(|panel| panel.elapsed_ms).filter(|_| over);
        let mut view = StepView {
            order: record.order,
            agent: record.agent.clone(),
            kind: record.kind,
            kind_words: kind_words(record.kind),
            action,
            status: record.status,
            state,
            tone: tone(source),
            ticks: ticks.into_iter().filter(|tick| tick.state != TickState::Ahead).collect(),
            started_at: run.as_ref().map(|run| run.started_at.0),
            elapsed_ms,
            inputs_of,
            given: (started || record.status == StepStatus::Running).then(orders),
            requests: run.as_ref().map_or(0, |run| run.requests),
            usage: run.as_ref().map(|run| run.usage).unwrap_or_default(),
            error: record.error.as_deref().map(|error| one_line(error, 400)),
            inputs_text: String::new(),
        };
        view.inputs_text = inputs_text(&view);
        view
    }
}

impl StepView {
    /// Returns the state of the line from another step to this one.
    #[must_use]
    pub fn given_by(&self, from: u32) -> GivenLine {
        match &self.given {
            Some(given) if given.contains(&from) => GivenLine::Given,
            Some(_) => GivenLine::Missing,
            None if self.status.ended() => GivenLine::Missing,
            None => GivenLine::Planned,
        }
    }

    /// Returns the state of all lines to it together.
    #[must_use]
    pub fn given_at_all(&self) -> GivenLine {
        match &self.given {
            Some(given) if !given.is_empty() => GivenLine::Given,
            Some(_) => GivenLine::Missing,
            None if self.status.ended() => GivenLine::Missing,
            None => GivenLine::Planned,
        }
    }

    /// `4.2 s`, or a running clock.
    #[must_use]
    pub fn time(&self, now: u64) -> Option<String> {
        match (self.elapsed_ms, self.started_at) {
            (Some(ms), _) => Some(duration(ms)),
            (None, Some(started)) if self.status == StepStatus::Running && !self.is_interrupted() => {
                Some(clock(now.saturating_sub(started)))
            }
            _ => None,
        }
    }

    /// Returns short phrases for display under the title of its details.
    #[must_use]
    pub fn facts(&self, plan_started: u64) -> Vec<String> {
        let mut facts = vec![self.state.clone()];
        if let Some(started) = self.started_at {
            let after = started.checked_sub(plan_started).filter(|_| plan_started > 0);
            facts.push(match after {
                Some(0..100) => "started with the plan".to_owned(),
                Some(ms) => format!("started {} after it", duration(ms)),
                None => "kept from an earlier run of the plan".to_owned(),
            });
        }
        facts.extend(self.elapsed_ms.map(|ms| format!("took {}", duration(ms))));
        if self.requests > 0 {
            facts.push(counted(u64::from(self.requests), "request"));
        }
        facts
    }

    /// Returns the step as one tick of the plan.
    #[must_use]
    pub fn tick(&self) -> Tick {
        let tick = tick(self.kind, self.status);
        if self.is_interrupted() { Tick { state: TickState::Ahead, ..tick } } else { tick }
    }

    /// Whether it was in progress when its page was closed.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.status == StepStatus::Running && self.tone.is_some()
    }
}

/// Returns a step as one tick of its plan.
#[must_use]
pub(super) fn tick(kind: AgentKind, status: StepStatus) -> Tick {
    let kind = match kind {
        AgentKind::Gather => TickKind::Turn(turnwise_engine::CounterLevel::Normal),
        AgentKind::Synthesis => TickKind::Synthesis,
    };
    let state = match status {
        StepStatus::Completed => TickState::Used,
        StepStatus::Running => TickState::Live,
        StepStatus::Failed | StepStatus::Blocked => TickState::Failed,
        StepStatus::Pending | StepStatus::Cancelled => TickState::Ahead,
    };
    Tick { kind, state }
}

/// Returns one word for what an agent of this kind does.
#[must_use]
pub fn kind_words(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Gather => "gathers",
        AgentKind::Synthesis => "synthesis",
    }
}

fn tone(source: &StepSource<'_>) -> Option<Tone> {
    let ending = source.run.and_then(|run| run.segments.last());
    let partial = ending.is_some_and(|ending| ending.outcome == Outcome::Partial);
    match source.record.status {
        StepStatus::Running if source.origin == SourceOrigin::Interrupted => Some(Tone::Cancelled),
        StepStatus::Pending | StepStatus::Running => None,
        StepStatus::Completed if partial => Some(Tone::Synthesized),
        StepStatus::Completed => Some(Tone::Complete),
        StepStatus::Failed | StepStatus::Blocked => Some(Tone::Failed),
        StepStatus::Cancelled => Some(Tone::Cancelled),
    }
}

fn state(source: &StepSource<'_>, panel: Option<&PanelView>, inputs_of: &[u32]) -> String {
    let record = source.record;
    match record.status {
        StepStatus::Pending if inputs_of.is_empty() => "waits for a free slot".to_owned(),
        StepStatus::Pending if record.kind == AgentKind::Synthesis => "waits for all earlier steps".to_owned(),
        StepStatus::Pending => format!("waits for {}", named(inputs_of)),
        StepStatus::Running if source.origin == SourceOrigin::Interrupted => match panel {
            // Its ticks show the turn.
            Some(_) => "interrupted".to_owned(),
            None => "not stored, starts again".to_owned(),
        },
        StepStatus::Running => match panel {
            Some(panel) if panel.phase == super::super::PanelPhase::Synthesizing => "concluding".to_owned(),
            Some(panel) if panel.turn > 0 => format!("turn {} of {}", panel.turn, panel.max_turns),
            _ => "starting".to_owned(),
        },
        StepStatus::Completed if tone(source) == Some(Tone::Synthesized) => "completed early".to_owned(),
        StepStatus::Completed => "completed".to_owned(),
        StepStatus::Failed => "failed".to_owned(),
        StepStatus::Blocked if record.blocked_by.is_empty() => "blocked: no earlier results".to_owned(),
        StepStatus::Blocked => format!("blocked by {}", named(&record.blocked_by)),
        StepStatus::Cancelled if source.run.is_some() => "stopped".to_owned(),
        StepStatus::Cancelled => "not started".to_owned(),
    }
}

fn inputs_text(view: &StepView) -> String {
    match &view.given {
        Some(given) if !given.is_empty() => format!("Received the results of {}.", listed(given)),
        None if !view.inputs_of.is_empty() && !view.status.ended() => {
            format!("Depends on {}.", listed(&view.inputs_of))
        }
        _ => String::new(),
    }
}

//! A plan in the list of runs: its goal, a tick for each step, its state as text.

use turnwise_record::plan::{PlanRun, StepStatus};

use super::super::ending::Tone;
use super::super::meter::TickState;
use super::super::rail::RailView;
use super::panel::PlanEndingView;
use super::step::tick;
use super::{PlanHead, PlanPanelView};

impl From<&PlanRun> for RailView {
    fn from(run: &PlanRun) -> Self {
        let plan = run.plan();
        let statuses: Vec<StepStatus> = run.statuses().map(|(_, status)| status).collect();
        let done = statuses.iter().filter(|status| **status == StepStatus::Completed).count();
        let ending = run.ending().map(PlanEndingView::from_ending);
        RailView {
            title: PlanHead::from_plan(plan).title,
            words: match &ending {
                Some(ending) => format!("plan, {}", ending.steps),
                None => format!("plan, {done} of {} steps", statuses.len()),
            },
            tone: ending.map(|ending| ending.tone),
            ticks: plan.steps.iter().zip(statuses).map(|(step, status)| tick(plan.kind(step), status)).collect(),
        }
    }
}

impl RailView {
    /// Returns the entry of a plan that had not ended when it was last stored.
    #[must_use]
    pub fn plan_left_open(mut self) -> Self {
        self.words.push_str(", interrupted");
        self.tone = Some(Tone::Cancelled);
        self.ticks
            .iter_mut()
            .filter(|tick| tick.state == TickState::Live)
            .for_each(|tick| tick.state = TickState::Ahead);
        self
    }
}

impl PlanPanelView {
    /// Returns the plan's entry in the list of runs.
    #[must_use]
    pub fn rail(&self, title: &str) -> RailView {
        let text = match &self.ending {
            Some(ending) => format!("plan, {}", ending.steps),
            None if self.running => format!("plan, {} of {} steps", self.done, self.of),
            None if self.can_resume => format!("plan, {} of {} steps, interrupted", self.done, self.of),
            None => format!("plan, {} of {} steps, unfinished", self.done, self.of),
        };
        let over = (!self.running).then_some(Tone::Cancelled);
        let tone = self.ending.as_ref().map(|ending| ending.tone).or(over);
        RailView { title: title.to_owned(), words: text, tone, ticks: self.meter.ticks.clone() }
    }
}

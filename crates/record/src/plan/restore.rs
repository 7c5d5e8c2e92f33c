//! A plan run that survives its page (plans.md#resuming-a-plan): what is stored of it, and how it goes on.
//!
//! Its state is stored without the runs of its steps, which are stored one by one, like any run. A step that had ended keeps
//! its result. A step that was in progress resumes its run; if that was not stored, it starts again with the same context.

use super::effect::PlanEffect;
use super::model::StepStatus;
use super::run::{PlanRun, StepState, UserRequest};
use super::step_config;
use super::step_run::StepRun;
use turnwise_engine::Usage;

impl PlanRun {
    /// Returns its state without the runs of its steps.
    #[must_use]
    pub fn without_runs(&self) -> PlanRun {
        PlanRun {
            plan: self.plan.clone(),
            options: self.options.clone(),
            origin: self.origin,
            steps: self.steps.iter().map(StepState::without_run).collect(),
            traces: self.traces.clone(),
            asked: self.asked,
            ending: self.ending.clone(),
            now: self.now,
            out: Vec::new(),
        }
    }

    /// Returns a stored plan run with the stored runs of its steps. Nothing happens until it is resumed.
    #[must_use]
    pub fn restored(mut self, runs: impl IntoIterator<Item = (u32, StepRun)>) -> PlanRun {
        for (order, run) in runs {
            if let Some(state) = self.state_mut(order) {
                state.run = Some(run);
            }
        }
        if self.ending.is_none() {
            let mut bound = step_config::bounds(&self.plan, &self.options.base);
            for state in &mut self.steps {
                let has_ended = state.run.as_ref().is_some_and(|run| run.outcome.is_some());
                // The result of a step may not have been stored, although it is known that there was one.
                let lost = state.status == StepStatus::Completed && !has_ended;
                // If its run was not stored, the step may send all of its requests again.
                let again = state.status == StepStatus::Running && state.run.is_none();
                if lost || again {
                    (state.status, state.calls_left) = (StepStatus::Running, bound(&state.step));
                }
            }
        }
        self
    }

    /// Whether a restored step starts again when the plan goes on, because its run was not stored.
    #[must_use]
    pub fn starts_again(&self, order: u32) -> bool {
        self.state(order).is_some_and(|state| state.status == StepStatus::Running && state.run.is_none())
    }

    /// LLM requests sent by the steps that have ended, and the tokens they used.
    #[must_use]
    pub fn usage(&self) -> (u32, Usage) {
        let runs = self.steps.iter().filter_map(|state| state.run.as_ref());
        runs.fold((0, Usage::default()), |(requests, tokens), run| {
            (requests.saturating_add(run.requests), tokens.plus(run.tokens))
        })
    }

    /// Goes on with the steps that were in progress.
    pub(super) fn resume_steps(&mut self) {
        let running: Vec<u32> = self.statuses().filter(|(_, s)| *s == StepStatus::Running).map(|(o, _)| o).collect();
        for order in running {
            let run = self.state(order).and_then(|state| state.run.clone());
            match run {
                None => self.start_again(order),
                Some(run) if run.outcome.is_none() => self.out.push(PlanEffect::ResumeStep { order }),
                // Its end was stored, but not what followed from it.
                Some(run) => self.step_ended(order, run),
            }
        }
    }

    fn start_again(&mut self, order: u32) {
        if self.asked != UserRequest::Nothing {
            return self.finish_step(order, StepStatus::Cancelled);
        }
        self.send_step(order);
    }
}

impl StepState {
    fn without_run(&self) -> StepState {
        StepState {
            step: self.step.clone(),
            kind: self.kind,
            status: self.status,
            blocked_by: self.blocked_by.clone(),
            context: self.context.clone(),
            error: self.error.clone(),
            calls_left: self.calls_left,
            run: None,
        }
    }
}

//! Wrapping up: stop and the limits end the work early, with a conclusion (SEMANTICS 4, 7, 8).

use super::failure::Slug;
use super::run::{Phase, Run};
use super::success::{AtLimit, Offer};
use super::*;

impl Run {
    /// Ends what is open and goes to the conclusion: synthesis, or in `strict` a forced-final next turn. A run that is
    /// concluding already, or has ended, is left alone.
    pub(super) fn wrap_up(&mut self, trigger: Trigger) {
        if self.concluding() || self.phase == Phase::Ended {
            return;
        }
        self.ask_wrap_up(Some(trigger));
        match self.phase {
            Phase::Ended => {}
            Phase::Calling { attempt, request } => {
                // Not a failed attempt: nothing is logged, and its text stays out of the history.
                self.emit(Effect::Abort(Abort::Request(request)));
                self.close_attempt(|a| a.slugs = vec![Slug::Stopped]);
                let message = "stopped before the reply was complete".to_owned();
                self.record(RecordKind::AttemptFailed { attempt, slugs: vec![Slug::Stopped], message });
                self.turn_done();
            }
            Phase::Waiting { timer, .. } => {
                self.emit(Effect::Abort(Abort::Timer(timer)));
                self.turn_done();
            }
            Phase::Tools(_) => self.stop_calls(trigger),
        }
    }

    /// Nothing is open, and no further attempt is to be made.
    pub(super) fn conclude(&mut self, trigger: Trigger) {
        self.ask_wrap_up(Some(trigger));
        self.turn_done();
    }

    /// The turn that ends next is the last but for the conclusion.
    pub(super) fn ask_wrap_up(&mut self, trigger: Option<Trigger>) {
        if trigger.is_some() {
            (self.wrap_up, self.wrap_up_pending) = (trigger, trigger);
            self.collapse();
        }
    }

    /// The run is on its way to its conclusion already.
    pub(super) fn concluding(&self) -> bool {
        self.synthesis.is_some() || self.wrap_up.is_some() || self.offer() == Offer::ReportOnly
    }

    /// Only ever shrinks: the next turn is the last.
    fn collapse(&mut self) {
        if self.policy().at_limit == AtLimit::ForcedFinal {
            self.effective_max_turns = self.effective_max_turns.min(self.turn().saturating_add(1));
        }
    }
}

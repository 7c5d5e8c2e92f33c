//! Optional limits of a whole run: wall time, tokens, cost. Each wraps up with its own trigger (SEMANTICS 8).

use serde::{Deserialize, Serialize};

use super::run::Run;
use super::*;

/// Tokens and US dollars that a run may use; `None`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Budget {
    tokens: Option<u64>,
    cost: Option<f64>,
}

impl Run {
    /// US dollars spent so far, by sub-agents too, where the price of every provider used is known.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        let used = self.turns.iter().flat_map(|t| &t.attempts).map(|a| a.provider);
        let mut providers = used.map(|i| self.config.providers.get(i));
        let own = providers.all(|p| p.is_some_and(|p| p.price.is_some())).then_some(self.cost)?;
        self.child_runs().try_fold(own, |sum, child| Some(sum + child.cost()?))
    }

    fn known_cost(&self) -> f64 {
        self.child_runs().fold(self.cost, |sum, child| sum + child.known_cost())
    }

    /// The clock of a segment starts.
    pub(super) fn start_clock(&mut self) {
        let Some(ms) = self.config.limits.wall_ms else { return };
        self.wall_until = Millis(self.now.0.saturating_add(ms));
        self.wall_timer = Some(self.sleep(ms));
    }

    /// The same clock, for another driver.
    pub(super) fn rearm_clock(&mut self) {
        if let Some(timer) = self.wall_timer {
            let ms = self.wall_until.0.saturating_sub(self.now.0);
            self.emit(Effect::Sleep { timer, ms });
        }
    }

    pub(super) fn stop_clock(&mut self) {
        if let Some(timer) = self.wall_timer.take() {
            self.emit(Effect::Abort(Abort::Timer(timer)));
        }
    }

    pub(super) fn add_cost(&mut self, provider: usize, usage: Usage) {
        let Some(price) = self.config.providers.get(provider).and_then(|p| p.price) else { return };
        self.cost += price.of(usage);
    }

    /// What the rest of the tree leaves for a sub-agent.
    pub(super) fn left_for(&self, child: &Run) -> Budget {
        let limits = &self.config.limits;
        let others = total(self.usage()).saturating_sub(total(child.usage()));
        Budget {
            tokens: limits.tokens.map(|most| most.saturating_sub(others)),
            cost: limits.cost.map(|most| most - (self.known_cost() - child.known_cost())),
        }
    }

    /// Which budget is used up.
    pub(super) fn spent(&self) -> Option<Trigger> {
        let limits = self.budget.unwrap_or(Budget { tokens: self.config.limits.tokens, cost: self.config.limits.cost });
        if limits.tokens.is_some_and(|most| total(self.usage()) >= most) {
            Some(Trigger::Tokens)
        } else if limits.cost.is_some_and(|most| self.known_cost() >= most) {
            Some(Trigger::Cost)
        } else {
            None
        }
    }
}

fn total(usage: Usage) -> u64 {
    usage.input.0.saturating_add(usage.output.0)
}

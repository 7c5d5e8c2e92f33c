//! Optional limits of a whole run: wall time, tokens, cost. Each wraps up with its own trigger (SEMANTICS 8).

use super::run::Run;
use super::*;

impl Run {
    /// US dollars spent so far, where the price of every provider used is known.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        let used = self.turns.iter().flat_map(|t| &t.attempts).map(|a| a.provider);
        let mut providers = used.map(|i| self.config.providers.get(i));
        providers.all(|p| p.is_some_and(|p| p.price.is_some())).then_some(self.cost)
    }

    /// The clock of a segment starts.
    pub(super) fn start_clock(&mut self) {
        self.wall_timer = self.config.limits.wall_ms.map(|ms| self.sleep(ms));
    }

    pub(super) fn stop_clock(&mut self) {
        if let Some(timer) = self.wall_timer.take() {
            self.emit(Effect::Abort(Abort::Timer(timer)));
        }
    }

    pub(super) fn add_cost(&mut self, provider: usize, usage: Usage) {
        let Some(price) = self.config.providers.get(provider).and_then(|p| p.price) else { return };
        let fresh = usage.input.0.saturating_sub(usage.cached.0);
        let dollars = |tokens: u64, per_million: f64| tokens as f64 * per_million / 1e6;
        self.cost +=
            dollars(fresh, price.input) + dollars(usage.cached.0, price.cached) + dollars(usage.output.0, price.output);
    }

    /// Which budget is used up.
    pub(super) fn spent(&self) -> Option<Trigger> {
        let limits = &self.config.limits;
        let tokens = self.usage.input.0.saturating_add(self.usage.output.0);
        if limits.tokens.is_some_and(|most| tokens >= most) {
            Some(Trigger::Tokens)
        } else if limits.cost.is_some_and(|most| self.cost >= most) {
            Some(Trigger::Cost)
        } else {
            None
        }
    }
}

//! A document as it was after a step: put together from the whole one and what the worker says of the step.

use std::sync::Arc;

use crate::engine::{Status, Trigger};
use crate::trajectory::Trajectory;
use crate::view::Source;
use crate::view::replay::{Standing, StateAt};

/// The document, moved from step to step.
#[derive(Debug)]
pub struct Stepped {
    whole: Arc<Trajectory>,
    now: Trajectory,
    status: Status,
    wrap_up: Option<Trigger>,
}

impl Stepped {
    /// Before anything happened.
    pub fn new(whole: Arc<Trajectory>) -> Self {
        let now = short(&whole);
        Stepped { whole, now, status: Status::Ended, wrap_up: None }
    }

    /// As a view is made from.
    pub fn source(&self) -> Source<'_> {
        Source { status: self.status, wrap_up: self.wrap_up, ..Source::from(&self.now) }
    }

    /// Moves to a step. Returns the first turn that may look different now.
    pub fn go(&mut self, to: &StateAt) -> usize {
        let segments = self.now.segments.len();
        let from = move_to(&mut self.now, &self.whole, &to.run);
        (self.status, self.wrap_up) = (to.run.status, to.run.wrap_up);
        self.now.children.truncate(to.children.len());
        for (at, standing) in to.children.iter().enumerate() {
            let Some(whole) = self.whole.children.get(at) else { continue };
            if self.now.children.len() <= at {
                self.now.children.push(short(whole));
            }
            if let Some(child) = self.now.children.get_mut(at) {
                move_to(child, whole, standing);
            }
        }
        // The ends of segments say which limit a turn ran under.
        if self.now.segments.len() == segments { from } else { 0 }
    }
}

/// All but the last turn of either state are whole and the same in both.
fn move_to(now: &mut Trajectory, whole: &Trajectory, to: &Standing) -> usize {
    let keep = now.turns.len().min(to.turns).saturating_sub(1);
    now.turns.truncate(keep);
    now.turns.extend(whole.turns.get(keep..to.turns.min(whole.turns.len())).unwrap_or_default().iter().cloned());
    if let (Some(last), Some(partial)) = (now.turns.last_mut(), &to.partial) {
        last.clone_from(partial);
    }
    now.segments = whole.segments.get(..to.segments).unwrap_or_default().to_vec();
    now.effective_max_turns = to.effective_max_turns;
    (now.requests, now.tokens) = (to.requests, to.tokens);
    keep
}

/// What stays the same, without the long lists.
fn short(of: &Trajectory) -> Trajectory {
    Trajectory {
        format: of.format.clone(),
        version: of.version,
        engine_version: of.engine_version.clone(),
        run_id: of.run_id.clone(),
        session_id: of.session_id.clone(),
        model: of.model.clone(),
        provider: of.provider,
        preset: of.preset,
        config: of.config.clone(),
        started_with: None,
        parent: of.parent.clone(),
        imported: of.imported.clone(),
        tools: Vec::new(),
        input: of.input.clone(),
        images: of.images.clone(),
        history: Vec::new(),
        started_at: of.started_at.clone(),
        started_ms: of.started_ms,
        finished_at: of.finished_at.clone(),
        termination_reason: of.termination_reason,
        outcome: of.outcome,
        answer_source: of.answer_source,
        wrap_up: of.wrap_up,
        error: None,
        max_turns: of.max_turns,
        effective_max_turns: of.max_turns,
        total_turns: of.total_turns,
        requests: 0,
        tokens: of.tokens,
        output: None,
        final_result_data: None,
        turns: Vec::new(),
        segments: Vec::new(),
        traces: Vec::new(),
        logs: Vec::new(),
        children: Vec::new(),
        events: Vec::new(),
    }
}

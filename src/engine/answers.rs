//! The answers of a turn's calls enter the history, the counter line on the last of them (SEMANTICS 3).

use super::run::{Phase, Run};
use super::*;

impl Run {
    /// All calls are answered: appends the counter line to the last answer, and the answers to the history.
    pub(super) fn enter_answers(&mut self) {
        let Phase::Tools(calls) = &self.phase else { return };
        let count = calls.open.iter().filter(|c| c.place.inner.is_none()).count();
        let counter = self.config.counter.as_ref().map(|c| counter::line(c, self.turn(), self.effective_max_turns));
        let Some(turn) = self.turns.last_mut() else { return };
        let start = turn.tool_calls.len().saturating_sub(count);
        for (at, record) in turn.tool_calls.iter().skip(start).enumerate() {
            // Of the call, or of the calls inside a batch.
            let images = calls.open.iter().filter(|c| c.place.call == at).flat_map(|c| &c.images).cloned().collect();
            self.history.push(Message::Tool(ToolMessage {
                call_id: record.id.clone(),
                name: record.name.clone(),
                content: record.result.clone().unwrap_or_default(),
                images,
                is_error: record.error.is_some(),
            }));
        }
        let mut lines = String::new();
        if let Some(context) = self.context_line() {
            lines.push('\n');
            lines.push_str(&context);
        }
        let Some(turn) = self.turns.last_mut() else { return };
        if let Some((level, line)) = counter {
            turn.counter_level = level;
            lines.push('\n');
            lines.push_str(&line);
        }
        if let Some(result) = turn.tool_calls.last_mut().and_then(|r| r.result.as_mut()) {
            result.push_str(&lines);
        }
        self.history.extend_last(&lines);
    }
}

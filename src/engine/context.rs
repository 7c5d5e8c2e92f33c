//! The context guard: the size of the next request, and what is removed if it is too large (SEMANTICS 8).

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::run::Run;
use super::*;

/// Room kept for the reply where the provider's configuration names none.
const RESERVE: u64 = 1_024;

/// An estimate that the provider's own count corrects at each reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Tokens of the history as it was when the provider last counted.
    counted: u64,
    /// Bytes of the history then; what came later is about four bytes a token.
    at_bytes: u64,
    /// The turn whose request the provider refused as too long: it is tried again once.
    pub(super) overflowed_in: u32,
}

/// The result of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    Fits,
    /// Nothing more can be removed, and it is still too much.
    Full,
}

impl Run {
    /// The provider counted the request and its reply.
    pub(super) fn count_context(&mut self, usage: Usage, before: u64, after: u64) {
        if usage.estimated {
            return;
        }
        // The reply has entered the history or not: only what did is part of the next request.
        let reply = if after > before { usage.output.0 } else { 0 };
        (self.context.counted, self.context.at_bytes) = (usage.input.0 + reply, after);
    }

    /// Tokens of the history and the tool schemas.
    #[must_use]
    pub fn context_tokens(&self) -> u64 {
        let bytes = self.history.bytes();
        if self.context.at_bytes == 0 {
            return (bytes + self.tool_bytes()).div_ceil(4);
        }
        let counted = self.context.counted;
        match bytes.checked_sub(self.context.at_bytes) {
            Some(more) => counted + more.div_ceil(4),
            None => counted.saturating_sub((self.context.at_bytes - bytes) / 4),
        }
    }

    /// How full the model's window is, in percent, where the window is known.
    #[must_use]
    pub fn context_percent(&self) -> Option<u64> {
        let window = self.config.limits.context_tokens.filter(|w| *w > 0)?;
        Some(self.context_tokens().saturating_mul(100) / window)
    }

    /// `[Context 74% full]`, over 70 %.
    pub(super) fn context_line(&self) -> Option<String> {
        let percent = self.context_percent().filter(|p| *p > 70)?;
        Some(format!("[Context {percent}% full]"))
    }

    /// Before a request: removes the oldest tool results where it would be too long.
    pub(super) fn guard_context(&mut self) -> Guard {
        let Some(window) = self.config.limits.context_tokens else { return Guard::Fits };
        if self.context_tokens() + self.reserve() <= window {
            return Guard::Fits;
        }
        self.free(window * 6 / 10);
        if self.context_tokens() + self.reserve() <= window { Guard::Fits } else { Guard::Full }
    }

    /// The provider refused the request as too long. Whether it is worth another attempt.
    pub(super) fn free_after_overflow(&mut self) -> Guard {
        let before = self.context_tokens();
        let window = self.config.limits.context_tokens.unwrap_or(before).min(before);
        self.free(window * 6 / 10);
        let again = self.context.overflowed_in != self.turn() && self.context_tokens() < before;
        self.context.overflowed_in = self.turn();
        if again { Guard::Fits } else { Guard::Full }
    }

    fn free(&mut self, target: u64) {
        let before = self.context_tokens();
        let mut too_much = before.saturating_sub(target).saturating_mul(4);
        let mut removed = 0u64;
        let mut kept = Vec::new();
        let stubbed = &mut self.stubbed;
        let has_whole = &self.kept;
        self.history.shorten(&self.config, |tool| {
            if too_much == 0 || stubbed.contains(&tool.call_id) {
                return None;
            }
            let stub = stub(tool);
            too_much = too_much.saturating_sub(tool.content.len().checked_sub(stub.len())? as u64);
            removed += 1;
            stubbed.insert(tool.call_id.clone());
            // The whole of a result that was cut is kept already.
            if !has_whole.contains(&tool.call_id) {
                kept.push((tool.call_id.clone(), tool.content.clone()));
            }
            Some(stub)
        });
        for (handle, content) in kept {
            self.kept.insert(handle.clone());
            self.emit(Effect::KeepResult { handle, content });
        }
        let data = json!({ "removed": removed, "tokens_before": before, "tokens_after": self.context_tokens() });
        self.trace("context_guard", data);
    }

    fn reserve(&self) -> u64 {
        let most = self.config.providers.iter().filter_map(|p| p.max_output_tokens).max();
        most.map_or(RESERVE, u64::from)
    }

    fn tool_bytes(&self) -> u64 {
        let one = |t: &ToolSpec| t.name.len() + t.description.len() + t.parameters.to_string().len();
        self.config.tools.iter().map(one).sum::<usize>() as u64
    }
}

fn stub(tool: &ToolMessage) -> String {
    let n = tool.content.chars().count();
    format!("[Result of {} removed: {n} characters; read_result(\"{}\") reads it]", tool.name, tool.call_id)
}

//! The lines that the engine adds to the last result of a turn: how full the context is, and the turn counter
//! (semantics.md#turn-counter, retries.md#context-window). A record has them in the result's text only, so they are written again from
//! the configuration and compared, whatever a custom template looks like.

use turnwise_engine::{CounterConfig, CounterLevel, TurnRecord, prompts};

use super::source::RunSource;

/// The lines at the end of a result, each with the line break before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AddedLines {
    /// The bytes of the context line.
    pub context: usize,
    /// The bytes of the counter line.
    pub counter: usize,
}

impl AddedLines {
    pub fn bytes(self) -> usize {
        self.context + self.counter
    }

    /// The lines of the last result of a turn.
    pub fn of_turn(source: &RunSource<'_>, record: &TurnRecord) -> Self {
        let Some(result) = record.tool_calls.last().and_then(|call| call.result.as_deref()) else {
            return AddedLines::default();
        };
        if record.counter_level == CounterLevel::Off {
            return AddedLines { context: context_line(result), counter: 0 };
        }
        // A grant raises the limit after the line was written.
        let segments = source.segments.iter().map(|ending| ending.effective_max_turns);
        let mut limits = segments.chain([source.effective_max_turns]);
        let written = |config: &CounterConfig| limits.find_map(|max| counter_line(result, config, record.turn, max));
        // A turn that a branch took over may have had other templates: then the line is the last one.
        let counter = source.config.counter.as_ref().and_then(written).map(|(_, bytes)| bytes);
        let counter = counter.unwrap_or_else(|| result.len() - result.rfind('\n').unwrap_or(result.len()));
        AddedLines { context: result.get(..result.len() - counter).map_or(0, context_line), counter }
    }
}

/// The counter line of a turn, if a result ends with it: its level, and its bytes with the line break before it.
pub(super) fn counter_line(
    content: &str,
    config: &CounterConfig,
    turn: u32,
    max_turns: u32,
) -> Option<(CounterLevel, usize)> {
    let (level, line) = prompts::counter_line(config, turn, max_turns);
    let rest = content.strip_suffix(line.as_str())?.strip_suffix('\n')?;
    Some((level, content.len() - rest.len()))
}

/// The bytes of the context line at the end of a result without its counter line, with the line break before it.
pub(super) fn context_line(content: &str) -> usize {
    match content.rsplit_once('\n') {
        Some((rest, line)) if line.starts_with("[Context ") && line.ends_with("% full]") => content.len() - rest.len(),
        _ => 0,
    }
}

//! Marks special messages and lines: the counter line, a notice, the synthesis prompt, a result that was shortened.

use serde::{Deserialize, Serialize};

use crate::lines;
use turnwise_engine::{CounterLevel, Message, Run, RunConfig, ToolMessage, Trigger, prompts};

/// The mark of a special message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageMark {
    /// A system notice about a failure.
    Notice,
    SynthesisPrompt,
    /// A result that the context guard removed.
    Removed,
    /// A result that was truncated because it was too long.
    Cut,
    /// The note in place of the oldest messages.
    LeftOut,
}

impl MessageMark {
    /// Returns the mark as text.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            MessageMark::Notice => "system notice",
            MessageMark::SynthesisPrompt => "synthesis prompt",
            MessageMark::Removed => "result removed by the context guard",
            MessageMark::Cut => "long result, cut in the middle",
            MessageMark::LeftOut => "earlier messages left out by the context guard",
        }
    }
}

/// A message with its mark and its special lines.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedMessage {
    pub message: Message,
    pub mark: Option<MessageMark>,
    /// For the last tool result of a turn: the counter level, and the bytes of the counter line at its end, including the line
    /// break.
    pub counter: Option<(CounterLevel, usize)>,
    /// The bytes of the context line before the counter line, including the line break.
    pub context: usize,
}

/// The data needed to mark messages.
#[derive(Debug)]
pub(super) struct Marker {
    /// The possible prompts of a synthesis.
    prompts: Vec<Message>,
}

const TRIGGERS: &[Trigger] =
    &[Trigger::MaxTurns, Trigger::Stop, Trigger::Context, Trigger::WallTime, Trigger::Tokens, Trigger::Cost];

impl Marker {
    pub fn new(run: &Run) -> Self {
        let config = run.config();
        let prompts = config.synthesis.as_ref().map(|used_trigger| {
            TRIGGERS.iter().map(|trigger| prompts::synthesis_prompt(config.preset, used_trigger, *trigger)).collect()
        });
        Marker { prompts: prompts.unwrap_or_default() }
    }

    /// Marks a message that is for one request only.
    pub fn of_tail(&self, message: Message) -> MarkedMessage {
        let mark = match &message {
            prompt if self.prompts.contains(prompt) => Some(MessageMark::SynthesisPrompt),
            Message::User { content, .. } if content.starts_with(prompts::NOTICE_PREFIX) => Some(MessageMark::Notice),
            _ => None,
        };
        MarkedMessage { message, mark, counter: None, context: 0 }
    }

    /// Marks a message of the history, as it was first sent.
    pub fn of_history(&self, message: Message, run: &Run) -> MarkedMessage {
        let (mut mark, mut level, mut context) = (None, None, 0);
        match &message {
            Message::Tool(tool) => {
                mark = shortened(tool);
                level = counter_line(&tool.content, run.config(), run);
                let end = tool.content.len() - level.map_or(0, |(_, bytes)| bytes);
                context = tool.content.get(..end).map_or(0, lines::context_line);
            }
            prompt if self.prompts.contains(prompt) => mark = Some(MessageMark::SynthesisPrompt),
            Message::User { content, .. } if content.starts_with(prompts::LEFT_OUT_PREFIX) => {
                mark = Some(MessageMark::LeftOut);
            }
            _ => {}
        }
        MarkedMessage { message, mark, counter: level, context }
    }
}

impl MarkedMessage {
    /// Removes the special lines from a tool result that is not the last in its turn: only the last one has a counter line.
    pub fn without_lines(self) -> Self {
        MarkedMessage { counter: None, context: 0, ..self }
    }
}

/// Finds the counter line of the turn whose calls were answered: the open turn if one of its attempts failed, otherwise the
/// turn before.
fn counter_line(content: &str, config: &RunConfig, run: &Run) -> Option<(CounterLevel, usize)> {
    let config = config.counter.as_ref()?;
    let open = run.turns().last().map_or(0, |turn| turn.turn);
    // A grant raises the limit after the line was written.
    let limits = run.segments().iter().map(|ending| ending.effective_max_turns).chain([run.effective_max_turns()]);
    let mut written =
        limits.flat_map(|max| [open, open.saturating_sub(1), open.saturating_sub(2)].map(|turn| (turn, max)));
    written.find_map(|(turn, max)| lines::counter_line(content, config, turn, max))
}

fn shortened(tool: &ToolMessage) -> Option<MessageMark> {
    let read = format!("read_result(\"{}\") reads it]", tool.call_id);
    if tool.content.starts_with(&format!("[Result of {} removed: ", tool.name)) && tool.content.ends_with(&read) {
        return Some(MessageMark::Removed);
    }
    let cut = format!(" characters were cut here; read_result(\"{}\")", tool.call_id);
    tool.content.contains(&cut).then_some(MessageMark::Cut)
}

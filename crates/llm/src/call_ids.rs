//! The ids of tool calls as a server reads them. A model gets its own ids back byte for byte; what another model wrote has ids that fit
//! the rule of the server. They depend on nothing but the message, so what was written never changes.

use std::borrow::Cow;

use turnwise_engine::digest::sha256_hex;
use turnwise_engine::{AssistantMessage, CallId, Correction, ToolCall};

use super::names;

/// Which ids a server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdRule {
    /// At most so many characters. OpenAI: 40 in Chat Completions, 64 in Responses (vercel/ai#5171, opencode#12653).
    Max(usize),
    /// Exactly nine letters and digits: Mistral, code 3280, and its chat template wherever it is served.
    Nine,
    /// At most so many of `[A-Za-z0-9_-]`: 64 at Anthropic.
    Safe(usize),
}

/// The ids of the last assistant message, whose results follow it.
#[derive(Clone, Debug)]
pub(super) struct WireIds {
    rule: IdRule,
    /// The engine's id, and the server's where it is another one.
    last: Vec<(CallId, String)>,
}

impl WireIds {
    pub fn new(rule: IdRule) -> Self {
        WireIds { rule, last: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.last.clear();
    }

    /// Takes the ids of a message; `own`: the model that the request is for wrote it.
    pub fn take(&mut self, message: &AssistantMessage, own: bool) {
        let id = |call: &ToolCall| {
            let theirs = match &call.wire_id {
                Some(given) if own => given.clone(),
                // The server's own, or one of ours, which is short.
                None if own && self.rule != IdRule::Nine => return None,
                _ => self.rule.fit(&call.id.0).into_owned(),
            };
            (theirs != call.id.0).then(|| (call.id.clone(), theirs))
        };
        self.last = message.tool_calls.iter().filter_map(id).collect();
    }

    /// The server's id of a call of the last message; that of another call fits the rule.
    pub fn of<'a>(&'a self, id: &'a CallId) -> Cow<'a, str> {
        match self.last.iter().find(|(ours, _)| ours == id) {
            Some((_, theirs)) => Cow::Borrowed(theirs),
            None => Cow::Borrowed(&id.0),
        }
    }
}

impl IdRule {
    /// The rule that a refusal named, or this one.
    pub fn corrected(self, learnt: &[Correction]) -> IdRule {
        let rule = learnt.iter().find_map(|correction| match correction {
            Correction::NineCharacterIds => Some(IdRule::Nine),
            Correction::PlainIds => Some(IdRule::Safe(40)),
            _ => None,
        });
        rule.unwrap_or(self)
    }

    /// The id as it is if it fits, else one that is made of it.
    fn fit(self, id: &str) -> Cow<'_, str> {
        let hash = |digits: usize| sha256_hex(&[id.as_bytes()]).chars().take(digits).collect::<String>();
        match self {
            IdRule::Nine if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => id.into(),
            IdRule::Nine => hash(9).into(),
            IdRule::Max(most) if id.chars().count() <= most => id.into(),
            IdRule::Max(most) => {
                let kept: String = id.chars().take(most.saturating_sub(9)).collect();
                format!("{kept}_{}", hash(8)).into()
            }
            IdRule::Safe(most) => match names::safe(id) {
                safe if safe.len() <= most => safe,
                safe => IdRule::Max(most).fit(&safe).into_owned().into(),
            },
        }
    }
}

//! The draft of a branch: the contents of the form, and the branch that it results in.

use crate::engine::{Branch, Parent, ProviderConfig, RunConfig};

use super::provider;
use super::source::Source;

/// The contents of the form.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchDraft {
    /// The turn that is requested again, and its index in `turns`.
    pub turn: u32,
    pub place: usize,
    pub run_id: String,
    pub model: String,
    /// The provider that runs it: `OpenAI-compatible at 127.0.0.1`
    pub provider: String,
    /// Whether to use the provider from the settings instead.
    pub elsewhere: bool,
    pub max_turns: String,
    pub system: String,
    pub say: String,
    was: RunConfig,
}

impl BranchDraft {
    /// Creates the draft of a branch from one turn of a run; `None` if there is no such turn.
    #[must_use]
    pub fn new(source: &Source<'_>, run_id: &str, place: usize) -> Option<Self> {
        let turn = source.turns.get(place)?.turn;
        let was = source.config.clone();
        Some(BranchDraft {
            turn,
            place,
            run_id: run_id.to_owned(),
            model: was.providers.first().map(|p| p.model.clone()).unwrap_or_default(),
            provider: provider::facts(&was).into_iter().next().unwrap_or_default(),
            elsewhere: false,
            max_turns: was.max_turns.to_string(),
            system: was.system_text(),
            say: String::new(),
            was,
        })
    }

    /// Returns the changes, given the providers from the settings.
    ///
    /// # Errors
    /// A message for users that says what is wrong.
    pub fn changes(&self, settings: &[ProviderConfig]) -> Result<Branch, String> {
        let max_turns: u32 =
            self.max_turns.trim().parse().ok().filter(|n| (1..=10_000).contains(n)).ok_or_else(|| {
                format!("Max turns must be a whole number, at least 1; it is \u{201c}{}\u{201d}.", self.max_turns)
            })?;
        let mut providers = if self.elsewhere { settings.to_vec() } else { self.was.providers.clone() };
        if let Some(first) = providers.first_mut().filter(|_| !self.elsewhere) {
            if first.model != self.model.trim() {
                // The price does not apply to another model.
                first.price = None;
            }
            first.model = self.model.trim().to_owned();
        }
        let system = (self.system != self.was.system_text()).then(|| self.system.clone());
        Ok(Branch {
            parent: Parent { run_id: self.run_id.clone(), turn: self.turn },
            providers: (providers != self.was.providers).then_some(providers),
            system,
            max_turns: (max_turns != self.was.max_turns).then_some(max_turns),
            say: Some(self.say.trim().to_owned()).filter(|say| !say.is_empty()),
            ..Branch::default()
        })
    }

    /// The form's heading.
    #[must_use]
    pub fn title(&self) -> String {
        match self.turn {
            1 => "Branch from the beginning".to_owned(),
            turn => format!("Branch before turn {turn}"),
        }
    }
}

//! The run of a step as its record was written, letter by letter, with what a plan reads of it.
//!
//! A plan never looks inside a run that has ended, so it is kept as text: a record is read and written without every type
//! of a trajectory being read too.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::engine::{Outcome, Usage};
use crate::trajectory::{ParseError, Trajectory};

/// A whole trajectory, as text.
#[derive(Clone, Debug)]
pub struct StepRun {
    pub outcome: Option<Outcome>,
    pub output: Option<String>,
    /// LLM requests sent.
    pub requests: u32,
    pub tokens: Usage,
    text: Box<RawValue>,
}

/// What is read of the text.
#[derive(Deserialize)]
struct Summary {
    outcome: Option<Outcome>,
    output: Option<String>,
    requests: u32,
    tokens: Usage,
}

impl StepRun {
    #[must_use]
    pub fn of(run: &Trajectory) -> Self {
        let Trajectory { outcome, requests, tokens, .. } = *run;
        // Plain data with string keys: serializing cannot fail.
        let text = serde_json::value::to_raw_value(run).unwrap_or_else(|_| RawValue::NULL.to_owned());
        StepRun { outcome, output: run.output.clone(), requests, tokens, text }
    }

    /// The trajectory itself.
    ///
    /// # Errors
    /// The text is none: it came from a record that somebody else wrote.
    pub fn trajectory(&self) -> Result<Trajectory, ParseError> {
        Trajectory::parse(self.text.get())
    }
}

impl PartialEq for StepRun {
    fn eq(&self, other: &Self) -> bool {
        self.text.get() == other.text.get()
    }
}

impl Serialize for StepRun {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(s)
    }
}

impl<'de> Deserialize<'de> for StepRun {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(d)?;
        let Summary { outcome, output, requests, tokens } =
            serde_json::from_str(text.get()).map_err(serde::de::Error::custom)?;
        Ok(StepRun { outcome, output, requests, tokens, text })
    }
}

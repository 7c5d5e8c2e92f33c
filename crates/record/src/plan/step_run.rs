//! The run of a step, verbatim as its record was written, with the values that a plan reads from it.
//!
//! A plan never looks inside a run that has ended, so the run is kept as text: a record is read and written without
//! parsing every type of a trajectory.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::trajectory::{ParseError, Trajectory};
use turnwise_engine::{Outcome, Usage};

/// A complete trajectory, as text.
#[derive(Clone, Debug)]
pub struct StepRun {
    pub outcome: Option<Outcome>,
    pub output: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// LLM requests sent.
    pub requests: u32,
    pub tokens: Usage,
    text: Box<RawValue>,
}

/// The values read from the text.
#[derive(Deserialize)]
struct StepRunSummary {
    outcome: Option<Outcome>,
    output: Option<String>,
    error: Option<String>,
    requests: u32,
    tokens: Usage,
}

impl StepRun {
    #[must_use]
    pub fn from_document(run: &Trajectory) -> Self {
        let Trajectory { outcome, requests, tokens, .. } = *run;
        // Plain data with string keys: serializing cannot fail.
        let text = serde_json::value::to_raw_value(run).unwrap_or_else(|_| RawValue::NULL.to_owned());
        StepRun { outcome, output: run.output.clone(), error: run.error.clone(), requests, tokens, text }
    }

    /// Parses the trajectory.
    ///
    /// # Errors
    /// The text is not a trajectory: it comes from a record that other software wrote.
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
        let StepRunSummary { outcome, output, error, requests, tokens } =
            serde_json::from_str(text.get()).map_err(serde::de::Error::custom)?;
        Ok(StepRun { outcome, output, error, requests, tokens, text })
    }
}

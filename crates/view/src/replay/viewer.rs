//! An open record, and the answers about it. It runs in a worker; the fold is made when it is first needed.

use serde::Serialize;

use turnwise_protocol::Snapshot;
use turnwise_protocol::record::{DocumentPart, OpenError, OpenedRecord, RecordQuery};
use turnwise_record::trajectory::document::ParseError;
use turnwise_record::trajectory::{RunSummary, Trajectory};

use super::fold::Replay;
use super::step::ReplaySteps;
use super::text::{pieces, shortened};
use super::verify::verdict;

/// The maximum number of steps in one answer.
const STEPS: usize = 500;

/// One record.
#[derive(Debug)]
pub struct Viewer {
    document: Trajectory,
    replay: Option<Replay>,
}

impl Viewer {
    /// Parses a record, and returns its beginning.
    ///
    /// # Errors
    /// The reason the text was not opened.
    pub fn open(text: &str) -> Result<(Self, OpenedRecord), OpenError> {
        let document = Trajectory::parse(text).map_err(|error| match error {
            ParseError::NotJson(_) => OpenError::NotJson,
            ParseError::OtherFormat => OpenError::OtherFormat,
            other => OpenError::Unreadable(other.to_string()),
        })?;
        let (turns, events) = (document.turns.len(), document.events.len());
        let opened =
            OpenedRecord { head: Snapshot::head(&document), summary: RunSummary::from(&document), turns, events };
        Ok((Viewer { document, replay: None }, opened))
    }

    /// Returns the answer to a question, as JSON.
    ///
    /// # Errors
    /// If the record has no such part.
    pub fn answer(&mut self, ask: &RecordQuery) -> Result<String, String> {
        let nothing = || "this record has no such position".to_owned();
        match ask {
            RecordQuery::Open | RecordQuery::Compare { .. } => {
                Err("an open record cannot answer this request".to_owned())
            }
            RecordQuery::Part(cursor) => Ok(written(&DocumentPart::new(&self.document, *cursor))),
            RecordQuery::Verify => Ok(written(&verdict(&self.document))),
            RecordQuery::Steps { from } => {
                let replay = self.replay();
                let (all, requests) = (replay.steps(), replay.requests().len());
                let steps = all.iter().skip(*from).take(STEPS).cloned().collect();
                Ok(written(&ReplaySteps { steps, of: all.len(), requests }))
            }
            RecordQuery::State { step } => self.replay().state(*step).as_ref().map(written).ok_or_else(nothing),
            RecordQuery::Request { index } => {
                self.replay().request_view(*index).as_ref().map(written).ok_or_else(nothing)
            }
            RecordQuery::Messages { index, from, to } => Ok(written(&self.replay().message_views(*index, *from..*to))),
            RecordQuery::Message { index, at } => {
                self.replay().whole_message(*index, *at).as_ref().map(written).ok_or_else(nothing)
            }
            RecordQuery::Difference { index } => {
                let difference = self.replay().difference(*index, |old, new| shortened(pieces(old, new)));
                difference.as_ref().map(written).ok_or_else(nothing)
            }
        }
    }

    /// Returns the changes between two texts, as JSON.
    #[must_use]
    pub fn compare(before: &str, after: &str) -> String {
        written(&pieces(before, after))
    }

    fn replay(&mut self) -> &Replay {
        let document = &self.document;
        self.replay.get_or_insert_with(|| Replay::from_document(document))
    }
}

fn written(part: &impl Serialize) -> String {
    // Plain data with string keys: serializing cannot fail.
    serde_json::to_string(part).unwrap_or_default()
}

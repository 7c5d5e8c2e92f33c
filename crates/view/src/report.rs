//! The report of an ended segment, by its format; only if no turn shows it already.

use std::sync::Arc;

use serde_json::Value;

use turnwise_engine::{AnswerSource, Ending, Outcome, ReportFormat, RunConfig, TerminationReason};

use turnwise_content::json::JsonNode;
use turnwise_content::slack::{self, SlackMessage};

/// A report, for display and for copying.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportView {
    /// `Report`, `Final result`
    pub title: &'static str,
    /// `JSON`, `Slack messages`: the kind of content.
    pub format: &'static str,
    /// The reason it is shown here, if that needs an explanation.
    pub note: Option<&'static str>,
    pub position: ReportPosition,
    pub body: ReportBody,
    /// The text that the copy button copies.
    pub copy: Arc<str>,
}

/// The position of a report: a requested report precedes the ending, a substitute follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPosition {
    Before,
    After,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReportBody {
    /// Shown verbatim.
    Text(String),
    Markdown(String),
    Json(JsonNode),
    Slack(Vec<SlackMessage>),
}

impl ReportView {
    /// Returns the report; `None` if it is the text of the last turn, or if there is none.
    pub(super) fn for_ending(config: &RunConfig, ending: &Ending) -> Option<Self> {
        if let Some(data) = &ending.final_result_data {
            return Some(ReportView::json("Final result", data));
        }
        if ending.termination_reason == TerminationReason::FinalReport {
            return Some(ReportView::accepted(config, ending));
        }
        // The ending of a cancelled run already says as much as its report would.
        let by_system = ending.answer_source == AnswerSource::System && ending.outcome != Outcome::Cancelled;
        by_system.then(|| ReportView {
            title: "Report",
            format: "Text",
            note: Some("Written by Turnwise, because the run ended without a report from the model."),
            position: ReportPosition::After,
            body: ReportBody::Text(ending.output.clone()),
            copy: ending.output.as_str().into(),
        })
    }

    /// Returns what follows the cause of a failure in a report of the system; `None`: nothing. The ending gives the cause itself.
    #[must_use]
    pub fn after(&self, cause: &str) -> Option<Self> {
        let rest = self.copy.split_once(cause).map_or("", |(_, rest)| rest.trim()).to_owned();
        (!rest.is_empty()).then(|| ReportView {
            note: None,
            copy: rest.as_str().into(),
            body: ReportBody::Text(rest),
            ..*self
        })
    }

    fn accepted(config: &RunConfig, ending: &Ending) -> Self {
        let text = |format, body| ReportView {
            title: "Report",
            format,
            note: None,
            position: ReportPosition::Before,
            body,
            copy: ending.output.as_str().into(),
        };
        match (config.report.format, &ending.report_data) {
            (ReportFormat::Markdown, _) => text("Markdown", ReportBody::Markdown(ending.output.clone())),
            (ReportFormat::Json, Some(data)) => ReportView::json("Report", data),
            (ReportFormat::Slack, Some(data)) => {
                let mut view = ReportView::json("Report", data);
                if let Some(messages) = slack::messages(data) {
                    view.format =
                        if messages.len() == 1 { "Slack message, preview" } else { "Slack messages, preview" };
                    view.body = ReportBody::Slack(messages);
                }
                view
            }
            (ReportFormat::Text | ReportFormat::Json | ReportFormat::Slack, _) => {
                text("Text", ReportBody::Text(ending.output.clone()))
            }
        }
    }

    fn json(title: &'static str, data: &Value) -> Self {
        let copy = serde_json::to_string_pretty(data).unwrap_or_default().into();
        ReportView {
            title,
            format: "JSON",
            note: None,
            position: ReportPosition::Before,
            body: ReportBody::Json(JsonNode::root(Arc::new(data.clone()))),
            copy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ReportBody, ReportPosition, ReportView};

    #[test]
    fn what_the_ending_says_is_not_repeated() {
        let report = |text: &str| ReportView {
            title: "Report",
            format: "Text",
            note: Some("Written by Turnwise."),
            position: ReportPosition::After,
            body: ReportBody::Text(text.to_owned()),
            copy: text.into(),
        };
        assert_eq!(report("It failed: no answer").after("no answer"), None);
        let rest =
            report("It failed: no answer\n\nFound so far: 3").after("no answer").map(|rest| (rest.note, rest.body));
        assert_eq!(rest, Some((None, ReportBody::Text("Found so far: 3".to_owned()))));
    }
}

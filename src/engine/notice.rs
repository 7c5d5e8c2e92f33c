//! System notices: one ephemeral user message in the request after a failure that the model caused (SEMANTICS 7).
//! Never stored in the history; at most one per request.

use super::failure::Slug;
use super::success::{Offer, Policy, TurnSuccess};

/// The prefix of every notice.
pub const PREFIX: &str = "system notice: ";

/// The notice for a failure, from its most significant slug: what was wrong, why the turn did not progress, what to do now.
/// `None` where the model did not cause the failure.
#[must_use]
pub fn text(policy: Policy, offer: Offer, slugs: &[Slug]) -> Option<String> {
    let wrong = wrong(*slugs.first()?)?;
    let now = match (slugs.first()?, offer, policy.turn_success) {
        (Slug::SynthesisToolCall, ..) => "Write your conclusion as text now, from what you already have.",
        (_, Offer::ReportOnly, _) => {
            "This is the last turn and final_report is the only tool: call it now, alone, with the report that you can give."
        }
        (Slug::FinalReportSchemaFail | Slug::FinalReportInvalidFormat | Slug::FinalReportMissing, _, _) => {
            "Call final_report again with these faults corrected."
        }
        (Slug::TruncatedOutput, _, _) => {
            "Continue with a shorter reply: finish the answer in fewer words, or call tools with shorter arguments."
        }
        (Slug::Refused, _, TurnSuccess::ExecutedTool) => {
            "Do not repeat it: call another of the offered tools, or final_report with what you have."
        }
        (_, _, TurnSuccess::AnyReply) => "Reply now with a tool call or with your answer as text.",
        (_, _, TurnSuccess::ExecutedTool) => {
            "Call one of the offered tools with valid arguments, or final_report if the task is done."
        }
    };
    Some(format!("{PREFIX}{wrong} {now}"))
}

/// What was wrong, and why the turn did not progress.
fn wrong(slug: Slug) -> Option<&'static str> {
    Some(match slug {
        Slug::EmptyResponse => "Your last reply was empty, so the turn did not progress.",
        Slug::ReasoningOnly => {
            "Your last reply held only reasoning, no text and no tool call, so the turn did not progress."
        }
        Slug::TextOnly => {
            "Your last reply was text without a tool call, and text alone neither progresses the turn nor ends the run."
        }
        Slug::NoTools => "Your last reply ran no tool, so the turn did not progress.",
        Slug::TruncatedOutput => {
            "Your last reply was cut off by its length limit, so it was not taken as the answer and none of its tool \
             calls were run."
        }
        Slug::SynthesisToolCall => "You called a tool, but no tools are available any more and the call was not run.",
        Slug::MalformedToolCall => {
            "The arguments of your tool call were not valid JSON, so nothing was run and the turn did not progress. \
             The answer to the call says where the JSON breaks."
        }
        Slug::InvalidArguments => {
            "The arguments of your tool call do not fit the tool's schema, so nothing was run and the turn did not \
             progress. The answer to the call names the path that failed."
        }
        Slug::UnknownTool => {
            "You called a tool that does not exist, so nothing was run and the turn did not progress. \
             The answer to the call lists the tools there are."
        }
        Slug::ToolLimit => "You made more tool calls than one turn may run, so the turn did not progress.",
        Slug::Refused => {
            "Your tool call was refused, so nothing was run and the turn did not progress. The answer to the call says why."
        }
        Slug::ProgressOnly => {
            "You only reported progress. A progress report is shown to the user but does not progress the turn."
        }
        Slug::FinalReportMissing => "This turn must end with a final_report, and your last reply had none.",
        Slug::FinalReportInvalidFormat => {
            "Your final_report was refused: its format is not the one asked for, or it is empty. \
             The answer to the call says what is wrong."
        }
        Slug::FinalReportSchemaFail => {
            "Your final_report was refused: its content does not fit the run's JSON Schema. \
             The answer to the call names the path that failed."
        }
        _ => return None,
    })
}

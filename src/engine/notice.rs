//! System notices: one ephemeral user message in the request after a failure that the model caused (SEMANTICS 7).
//! Never stored in the history; at most one a request.

use super::failure::Slug;

/// What every notice starts with.
pub const PREFIX: &str = "system notice: ";

/// The notice for a failure, from its most telling slug: what was wrong, why the turn did not progress, what to do now.
/// `None` where the model did not cause the failure.
#[must_use]
pub fn text(slugs: &[Slug]) -> Option<String> {
    let body = match slugs.first()? {
        Slug::EmptyResponse => {
            "Your last reply was empty, so the turn did not progress. Reply now with a tool call or with your answer as text."
        }
        Slug::ReasoningOnly => {
            "Your last reply held only reasoning, no text and no tool call, so the turn did not progress. \
             Reply now with a tool call or with your answer as text."
        }
        Slug::TruncatedOutput => {
            "Your last reply was cut off by its length limit, so it was not taken as the answer and none of its tool calls \
             were run. Continue with a shorter reply: finish the answer in fewer words, or call tools with shorter arguments."
        }
        Slug::SynthesisToolCall => {
            "You called a tool, but no tools are available any more and the call was not run. \
             Write your conclusion as text now, from what you already have."
        }
        _ => return None,
    };
    Some(format!("{PREFIX}{body}"))
}

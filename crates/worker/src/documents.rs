//! Tasks on records: replay, continuation in another run; other formats; tables and charts. PURE: text in, text out. What answers them
//! loads apart in the tools' worker, so each function links only its own.
//!
//! They run in a worker, because a page that never opens a record should not load the code that reads one.

use serde::{Deserialize, Serialize};
use serde_json::json;

use turnwise_content::figure;
use turnwise_protocol::tool_worker::DocumentTask;
use turnwise_record::plan::{PlanDocument, StepRun, StepStatus};

use turnwise_record::trajectory::import::import;
use turnwise_record::trajectory::{
    BranchWish, ExportFormat, Mismatch, ResumePoint, RunSummary, Trajectory, programs, replay,
};
use turnwise_view::export::export;
use turnwise_view::insight::{Filter, Insight};

/// Summaries, and the filter that selects from them.
#[derive(Deserialize)]
struct InsightRequest {
    summaries: Vec<RunSummary>,
    #[serde(default)]
    filter: Filter,
}

/// Answers a task on the text of a record with JSON; exports and figures have functions of their own.
///
/// # Errors
/// A message for users that says what is wrong with the record.
pub fn answer(task: DocumentTask, text: &str) -> Result<String, String> {
    match task {
        DocumentTask::Replay => {
            let document = Trajectory::parse(text).map_err(|e| e.to_string())?;
            if let Some(from) = &document.imported {
                return Err(format!("it was imported ({from}) and has no events, so it cannot be replayed"));
            }
            Ok(match replay(&document) {
                Ok(_) => json!({ "ok": true, "programs": programs(&document) }).to_string(),
                Err(mismatch) => refused(&mismatch),
            })
        }
        DocumentTask::Import => Ok(written(&import(text).map_err(|e| e.to_string())?)),
        DocumentTask::Session => {
            let session = PlanDocument::parse(text).map_err(|e| e.to_string())?;
            // Later steps receive the results of the completed ones.
            for step in session.steps.iter().filter(|step| step.status == StepStatus::Completed) {
                let run = step.run.as_ref().map(StepRun::trajectory);
                if !run.is_some_and(|run| run.is_ok_and(|run| replay(&run).is_ok())) {
                    return Err(does_not_replay(&format!("the run of step {}", step.order)));
                }
            }
            Ok("true".to_owned())
        }
        DocumentTask::Summarize => {
            let document = Trajectory::parse(text).map_err(|e| e.to_string())?;
            Ok(written(&RunSummary::from(&document)))
        }
        DocumentTask::Insight => {
            let InsightRequest { summaries, filter } = serde_json::from_str(text).map_err(|e| wrong(&e))?;
            Ok(written(&Insight::from_summaries(&summaries, &filter)))
        }
        DocumentTask::Resume => {
            let document = Trajectory::parse(text).map_err(|e| e.to_string())?;
            Ok(written(&ResumePoint::resumed(&document)?))
        }
        DocumentTask::Branch => {
            let wish: BranchWish = serde_json::from_str(text).map_err(|e| wrong(&e))?;
            Ok(written(&ResumePoint::branched(wish)?))
        }
        DocumentTask::Export(_) | DocumentTask::Figure | DocumentTask::Separated => {
            Err("another part answers that".into())
        }
    }
}

/// The text of a file: a record in another format.
///
/// # Errors
/// A message for users that says what is wrong with the record.
pub fn exported(format: ExportFormat, text: &str) -> Result<String, String> {
    let document = Trajectory::parse(text).map_err(|e| e.to_string())?;
    Ok(export(&document, format))
}

/// The table or chart in a result of a tool, as JSON; with `separated`, the table in a text of separated values.
#[must_use]
pub fn figure(separated: bool, text: &str) -> String {
    written(&if separated { figure::of_separated(text) } else { figure::read(text) })
}

fn refused(mismatch: &Mismatch) -> String {
    #[derive(Serialize)]
    struct ReplayRefused<'a> {
        ok: bool,
        #[serde(flatten)]
        mismatch: &'a Mismatch,
    }
    written(&ReplayRefused { ok: false, mismatch })
}

/// Returns the error without its position: users did not write the text, so the position would not help them.
fn wrong(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

fn does_not_replay(what: &str) -> String {
    format!("{what} does not replay; replay() reports where it differs")
}

fn written(part: &impl Serialize) -> String {
    // Plain data with string keys: serializing cannot fail.
    serde_json::to_string(part).unwrap_or_default()
}

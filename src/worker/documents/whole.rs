//! Operations on records that only the complete worker supports.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::protocol::DocumentTask;
use super::{does_not_replay, written};
use crate::content::figure;
use crate::plan::{PlanDocument, StepStatus};
use crate::trajectory::import::import;
use crate::trajectory::{BranchWish, Course, Mismatch, Summary, Trajectory, programs, replay};
use crate::view::export::export;
use crate::view::insight::{Filter, Insight};

/// Summaries, and the filter that selects from them.
#[derive(Deserialize)]
struct InsightRequest {
    summaries: Vec<Summary>,
    #[serde(default)]
    filter: Filter,
}

pub(super) fn answer(task: DocumentTask, text: &str) -> Result<String, String> {
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
        DocumentTask::Export(format) => {
            let document = Trajectory::parse(text).map_err(|e| e.to_string())?;
            Ok(export(&document, format))
        }
        DocumentTask::Import => Ok(written(&import(text).map_err(|e| e.to_string())?)),
        DocumentTask::Session => {
            let session = PlanDocument::parse(text).map_err(|e| e.to_string())?;
            // Later steps receive the results of the completed ones.
            for step in session.steps.iter().filter(|step| step.status == StepStatus::Completed) {
                let run = step.run.as_ref().map(crate::plan::StepRun::trajectory);
                if !run.is_some_and(|run| run.is_ok_and(|run| replay(&run).is_ok())) {
                    return Err(does_not_replay(&format!("the run of step {}", step.order)));
                }
            }
            Ok("true".to_owned())
        }
        DocumentTask::Summarize => {
            let document = Trajectory::parse(text).map_err(|e| e.to_string())?;
            Ok(written(&Summary::from(&document)))
        }
        DocumentTask::Insight => {
            let InsightRequest { summaries, filter } = serde_json::from_str(text).map_err(|e| wrong(&e))?;
            Ok(written(&Insight::from_summaries(&summaries, &filter)))
        }
        DocumentTask::Figure => Ok(written(&figure::read(text))),
        DocumentTask::Separated => Ok(written(&figure::of_separated(text))),
        DocumentTask::Carry => super::answer(task, text),
        DocumentTask::Resume => {
            let document = Trajectory::parse(text).map_err(|e| e.to_string())?;
            Ok(written(&Course::resumed(&document)?))
        }
        DocumentTask::Branch => {
            let wish: BranchWish = serde_json::from_str(text).map_err(|e| wrong(&e))?;
            Ok(written(&Course::branched(wish)?))
        }
    }
}

fn refused(mismatch: &Mismatch) -> String {
    #[derive(Serialize)]
    struct Refused<'a> {
        ok: bool,
        #[serde(flatten)]
        mismatch: &'a Mismatch,
    }
    written(&Refused { ok: false, mismatch })
}

/// Returns the error without its position: users did not write the text, so the position would not help them.
fn wrong(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

//! Reads a file for a preview, as the tools of a run read it: documents become text with their places.

use std::rc::Rc;

use serde_json::json;
use web_sys::Blob;

use super::driver::{Driver, Ended};
use super::protocol::{Answer, Call};
use super::workspace::Workspace;
use crate::engine::ToolOutcome;

/// The tool whose view of the file is shown.
const TOOL: &str = "read_file";
/// Lines that are asked for at once; the tool may answer fewer.
const LINES: u32 = 2_000;
/// A document that takes longer than this is not worth waiting for.
const READ_MS: u64 = 60_000;
/// Parts of the text that are read.
const MAX_PARTS: usize = 40;

/// Returns the text of a file, up to a length that a preview can show. The worker is started for it and ended afterwards.
///
/// # Errors
/// The reason the tools cannot read the file, for users.
pub async fn read(worker_url: String, path: &str, blob: Blob) -> Result<String, String> {
    let workspace = Workspace::new();
    workspace.put(path, blob).map_err(|error| error.to_string())?;
    let driver = Driver::new(worker_url, workspace, 1);
    let read = parts(&driver, path).await;
    driver.close();
    read
}

async fn parts(driver: &Rc<Driver>, path: &str) -> Result<String, String> {
    let spec = crate::tools::all().into_iter().find(|spec| spec.name == TOOL).ok_or("no tool reads files here")?;
    let (mut text, mut offset) = (String::new(), 1);
    for _ in 0..MAX_PARTS {
        let schema = driver.schema(&spec.parameters);
        let arguments = json!({ "path": path, "offset": offset, "limit": LINES }).to_string();
        let call = Call::Run { name: TOOL.to_owned(), arguments, schema, now: 0, files: Vec::new() };
        let (_, ended) = driver.submit(call, READ_MS);
        let part = match ended.await {
            Ok(Ended::Answer(Answer::Outcome { outcome: ToolOutcome::Executed { content, .. }, .. })) => content,
            Ok(Ended::Answer(Answer::Outcome { outcome: ToolOutcome::Failed { message }, .. })) => return Err(message),
            Ok(Ended::Error(why)) => return Err(why),
            _ => return Err(format!("{path} could not be read in time")),
        };
        // The tool's last line says how to continue.
        let (body, next) = match part.trim_end().rsplit_once("; continue with offset ") {
            Some((body, next)) => {
                (body.rsplit_once('\n').map_or("", |(body, _)| body), next.trim_end_matches(']').parse().ok())
            }
            None => (part.as_str(), None),
        };
        text.push_str(body);
        let Some(next) = next.filter(|next| *next > offset) else { break };
        text.push('\n');
        offset = next;
    }
    Ok(text)
}

//! Runs built-in tools, and checks the arguments of host tools, in a pool of workers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::driver::{Driver, EndedCall, Unwritten};
use super::pool::CallEnd;
use super::workspace::Workspace;
use super::writes::Prepared;
use turnwise_engine::{CallId, RunTool, ToolOutcome, ToolSpec};
use turnwise_protocol::tool_worker::{CheckedArguments, Ticket, WorkerAnswer, WorkerCall, WritePreview};
use turnwise_tools::Arguments;

/// A document that takes longer than this is not worth waiting for.
const READ_MS: u64 = 60_000;
/// A check of arguments that takes longer than this is stuck.
const CHECK_MS: u64 = 10_000;
/// How often a call is run because the disk had something else than the workspace.
const LOOKS: usize = 4;
const RESTLESS: &str = "not written: another program keeps changing the file";

/// A shared handle to one pool. Dropping the last handle ends its workers.
#[derive(Clone)]
pub struct ToolHost {
    driver: Rc<Driver>,
    open: Rc<RefCell<HashMap<CallId, Ticket>>>,
}

impl ToolHost {
    /// `worker_url`: the URL of `worker.js`, with `worker_bg.wasm` next to it. No worker is started before the first
    /// call, and there are never more than `max_workers`.
    #[must_use]
    pub fn new(worker_url: String, workspace: Workspace, max_workers: usize) -> Self {
        ToolHost { driver: Driver::new(worker_url, workspace, max_workers), open: Rc::default() }
    }

    /// Sets the folders on the user's disk that these files may be in, by name. What a tool writes below one that is not open
    /// is not written.
    #[must_use]
    pub fn with_folders(self, names: Vec<String>) -> Self {
        self.driver.set_folders(names);
        self
    }

    /// Reads a file as the tools read it: documents become text with their places.
    ///
    /// # Errors
    /// The reason why it has no text, for users.
    pub async fn text(&self, path: &str, blob: web_sys::Blob) -> Result<String, String> {
        let (_, ended) = self.driver.submit_with(WorkerCall::Text { path: path.to_owned() }, vec![blob], READ_MS);
        match ended.await {
            Ok(EndedCall::Answer(WorkerAnswer::Document(text))) => Ok(text),
            Ok(EndedCall::Error(why) | EndedCall::Without(CallEnd::NoWorker(why))) => Err(why),
            Ok(EndedCall::Without(CallEnd::Crashed(why))) => Err(format!("{path} could not be read: {why}")),
            _ => Err(format!("{path} could not be read in time")),
        }
    }

    /// Checks the arguments and runs a built-in tool. The deadline counts from the moment a worker has the call; a worker
    /// that misses it is ended, and the next call gets a new worker.
    /// `to_disk`: whether it may write to folders on the user's disk.
    pub async fn run(&self, call: RunTool, spec: ToolSpec, to_disk: bool) -> ToolOutcome {
        let schema = self.driver.schema(&spec.parameters);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole milliseconds since 1970
        let now = js_sys::Date::now() as u64;
        let RunTool { call: id, name, arguments, timeout_ms, .. } = call;
        let target = self.driver.target();
        for _ in 0..LOOKS {
            let (name, arguments, schema) = (name.clone(), arguments.clone(), schema.clone());
            let request = WorkerCall::Run { name, arguments, schema, now, files: Vec::new() };
            let (outcome, files) = match self.ended_with(Some(&id), request, timeout_ms).await {
                Ok((WorkerAnswer::Outcome { outcome, .. }, unwritten)) => (outcome, unwritten.files),
                Ok(_) => return failed("the tool worker answered another question"),
                Err(outcome) => return outcome,
            };
            let written = match target.look(files).await {
                Ok(Some(writes)) => target.write(writes, to_disk).await,
                Ok(None) => Ok(false),
                Err(why) => Err(why),
            };
            match written {
                Ok(true) => return outcome,
                // It wrote nothing, and sees now what is on the disk.
                Ok(false) => {}
                Err(why) => return failed(&why),
            }
        }
        failed(RESTLESS)
    }

    /// Checks the arguments, and runs a built-in tool without applying what it writes.
    ///
    /// # Errors
    /// The outcome of a call that cannot run.
    pub async fn prepare(&self, call: RunTool, spec: ToolSpec) -> Result<Prepared, ToolOutcome> {
        let schema = self.driver.schema(&spec.parameters);
        let RunTool { call: id, name, arguments, timeout_ms, .. } = call;
        let target = self.driver.target();
        for _ in 0..LOOKS {
            let (name, arguments, schema) = (name.clone(), arguments.clone(), schema.clone());
            let request = WorkerCall::Preview { name, arguments, schema, files: Vec::new() };
            let (preview, unwritten) = match self.ended_with(Some(&id), request, timeout_ms).await {
                Ok((WorkerAnswer::Preview(preview), unwritten)) => (preview, unwritten),
                Ok((WorkerAnswer::Checked(CheckedArguments::Refused(outcome)), _)) => return Err(outcome),
                // The call itself was never started.
                Err(ToolOutcome::TimedOut { after_ms }) => {
                    let seconds = after_ms / 1000;
                    return Err(failed(&format!(
                        "not run: it took longer than {seconds} s to see what it would change"
                    )));
                }
                Err(outcome) => return Err(outcome),
                Ok(_) => return Err(failed("the tool worker answered another question")),
            };
            let WritePreview { outcome, diff, omitted, .. } = preview;
            if let Some(writes) = target.look(unwritten.files).await.map_err(|why| failed(&why))? {
                return Ok(Prepared { outcome, diff, omitted, writes, seen: unwritten.seen });
            }
        }
        Err(failed(RESTLESS))
    }

    /// Whether a prepared call would still replace what it replaced when it was prepared.
    pub async fn is_current(&self, prepared: &Prepared) -> bool {
        self.driver.target().is_current(&prepared.writes, prepared.seen).await
    }

    /// Does what was prepared, and nothing else. `None`: a file changed meanwhile, so nothing was written.
    /// `to_disk`: whether it may write to folders on the user's disk.
    pub async fn apply(&self, prepared: Prepared, to_disk: bool) -> Option<ToolOutcome> {
        if !self.is_current(&prepared).await {
            return None;
        }
        match self.driver.target().write(prepared.writes, to_disk).await {
            Ok(written) => written.then_some(prepared.outcome),
            Err(why) => Some(failed(&why)),
        }
    }

    /// Parses, repairs and checks the arguments of a host tool, which the page then runs itself.
    ///
    /// # Errors
    /// The outcome that answers the call, usually `Rejected`.
    pub async fn check(&self, arguments: &str, spec: &ToolSpec) -> Result<Arguments, ToolOutcome> {
        let schema = self.driver.schema(&spec.parameters);
        let request = WorkerCall::Check { name: spec.name.clone(), arguments: arguments.to_owned(), schema };
        let ended = self.ended(request, CHECK_MS).await.map_err(|outcome| match outcome {
            // The tool itself was never started.
            ToolOutcome::TimedOut { after_ms } => failed(&format!(
                "not run: checking the arguments against the parameter schema of `{}` took longer than {} s. A `pattern` of \
                 the schema may have no end on such a text; try a shorter one",
                spec.name,
                after_ms / 1000
            )),
            outcome => outcome,
        });
        match ended? {
            WorkerAnswer::Checked(CheckedArguments::Valid(arguments)) => Ok(arguments),
            WorkerAnswer::Checked(CheckedArguments::Refused(outcome)) => Err(outcome),
            _ => Err(failed("the tool worker answered another question")),
        }
    }

    /// Aborts a call that is running or waiting for a worker; its outcome is `Cancelled`.
    pub fn abort(&self, call: &CallId) {
        let ticket = self.open.borrow().get(call).copied();
        if let Some(ticket) = ticket {
            self.driver.abort(ticket);
        }
    }

    /// Ends every call and every worker. A later call starts new workers.
    pub fn close(&self) {
        self.driver.close();
    }

    async fn ended(&self, request: WorkerCall, timeout_ms: u64) -> Result<WorkerAnswer, ToolOutcome> {
        self.ended_with(None, request, timeout_ms).await.map(|(answer, _)| answer)
    }

    /// The answer, and what is not written yet.
    async fn ended_with(
        &self,
        id: Option<&CallId>,
        request: WorkerCall,
        timeout_ms: u64,
    ) -> Result<(WorkerAnswer, Unwritten), ToolOutcome> {
        let (ticket, ended) = self.driver.submit(request, timeout_ms);
        if let Some(id) = id {
            self.open.borrow_mut().insert(id.clone(), ticket);
        }
        let ended = ended.await;
        if let Some(id) = id {
            self.open.borrow_mut().remove(id);
        }
        match ended {
            Ok(EndedCall::Answer(answer)) => Ok((answer, Unwritten { files: Vec::new(), seen: 0 })),
            Ok(EndedCall::Unwritten(answer, unwritten)) => Ok((answer, unwritten)),
            Ok(EndedCall::Error(error)) => Err(failed(&error)),
            Ok(EndedCall::Without(CallEnd::TimedOut)) => Err(ToolOutcome::TimedOut { after_ms: timeout_ms }),
            Ok(EndedCall::Without(CallEnd::Crashed(why))) => Err(failed(&format!("the tool worker crashed: {why}"))),
            Ok(EndedCall::Without(CallEnd::NoWorker(why))) => Err(failed(&why)),
            Ok(EndedCall::Without(CallEnd::Aborted | CallEnd::Answered)) | Err(_) => Err(ToolOutcome::Cancelled),
        }
    }
}

impl std::fmt::Debug for ToolHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolHost").field("open", &self.open.borrow().len()).finish_non_exhaustive()
    }
}

fn failed(message: &str) -> ToolOutcome {
    ToolOutcome::Failed { message: message.to_owned() }
}

//! Carries out the pool's decisions with real workers, and reports to it what happens to them. All hosts are built on it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use futures_channel::oneshot;
use serde_json::Value;
use web_sys::Blob;

use super::live::{LiveWorker, StartStage, WorkerEvent};
use super::pool::{CallEnd, Pool, PoolAction, PoolEvent, WorkerId};
use super::workspace::Workspace;
use super::writes::WriteTarget;
use turnwise_protocol::tool_worker::{Request, SchemaRef, Ticket, WorkerAnswer, WorkerCall, WorkerReply};
use turnwise_tools::{Needs, needs};

/// A worker that is not ready after this time never will be.
const START_MS: u64 = 20_000;

/// Workers of one kind, and the calls they run.
pub struct Driver {
    url: String,
    workspace: Workspace,
    pool: RefCell<Pool>,
    live: RefCell<HashMap<WorkerId, LiveWorker>>,
    calls: RefCell<HashMap<Ticket, Waiting>>,
    schemas: RefCell<Vec<Value>>,
    tickets: Cell<u32>,
    generations: Cell<u64>,
    /// The folders on the user's disk in the run's rules, also those that are not open.
    folders: RefCell<Vec<String>>,
}

struct Waiting {
    /// `None` once it is posted.
    call: Option<WorkerCall>,
    /// Transferred along with the text of the call.
    blobs: Vec<Blob>,
    timeout_ms: u64,
    /// The version of the workspace that the call sees.
    seen: u64,
    /// The worker's answer, kept from its message until the pool's decision.
    answer: Option<(EndedCall, Vec<Blob>)>,
    done: oneshot::Sender<EndedCall>,
}

/// How a call ended.
pub enum EndedCall {
    Answer(WorkerAnswer),
    /// An answer, and files that are not written: of a preview, or below a folder on the user's disk. The host decides about them.
    Unwritten(WorkerAnswer, Unwritten),
    /// The worker could not serve the request.
    Error(String),
    /// No answer.
    Without(CallEnd),
}

/// Files that a call would write.
pub struct Unwritten {
    pub files: Vec<(String, Blob)>,
    /// The version of the workspace that the call saw.
    pub seen: u64,
}

impl Driver {
    pub fn new(url: String, workspace: Workspace, max_workers: usize) -> Rc<Self> {
        Rc::new(Driver {
            url,
            workspace,
            pool: RefCell::new(Pool::new(max_workers)),
            live: RefCell::default(),
            calls: RefCell::default(),
            schemas: RefCell::default(),
            tickets: Cell::new(0),
            generations: Cell::new(0),
            folders: RefCell::default(),
        })
    }

    /// Queues a call; the receiver delivers how it ended.
    pub fn submit(self: &Rc<Self>, call: WorkerCall, timeout_ms: u64) -> (Ticket, oneshot::Receiver<EndedCall>) {
        self.submit_with(call, Vec::new(), timeout_ms)
    }

    /// Queues a call with blobs in addition to its text.
    pub fn submit_with(
        self: &Rc<Self>,
        call: WorkerCall,
        blobs: Vec<Blob>,
        timeout_ms: u64,
    ) -> (Ticket, oneshot::Receiver<EndedCall>) {
        let ticket = Ticket(self.tickets.get());
        self.tickets.set(ticket.0.wrapping_add(1));
        let (done, receiver) = oneshot::channel();
        self.calls
            .borrow_mut()
            .insert(ticket, Waiting { call: Some(call), blobs, timeout_ms, seen: 0, answer: None, done });
        self.input(PoolEvent::Submit(ticket));
        (ticket, receiver)
    }

    /// Returns a reference to a schema; equal schemas have the same number.
    pub fn schema(&self, schema: &Value) -> SchemaRef {
        let mut schemas = self.schemas.borrow_mut();
        let at = schemas.iter().position(|known| known == schema).unwrap_or_else(|| {
            schemas.push(schema.clone());
            schemas.len() - 1
        });
        SchemaRef { id: u32::try_from(at).unwrap_or(u32::MAX), define: None }
    }

    pub fn abort(self: &Rc<Self>, ticket: Ticket) {
        self.input(PoolEvent::Abort(ticket));
    }

    pub fn close(self: &Rc<Self>) {
        self.input(PoolEvent::Close);
    }

    fn input(self: &Rc<Self>, input: PoolEvent) {
        let actions = self.pool.borrow_mut().handle(input);
        for action in actions {
            match action {
                PoolAction::Spawn(id) => self.spawn(id),
                PoolAction::Post(id, ticket) => self.post(id, ticket),
                PoolAction::Terminate(id) => drop(self.live.borrow_mut().remove(&id)),
                PoolAction::End(ticket, end) => self.end(ticket, end),
            }
        }
    }

    fn spawn(self: &Rc<Self>, id: WorkerId) {
        let generation = self.generations.get() + 1;
        self.generations.set(generation);
        let listener = {
            let driver = Rc::downgrade(self);
            move |heard| {
                if let Some(driver) = driver.upgrade() {
                    driver.heard(id, generation, heard);
                }
            }
        };
        match LiveWorker::spawn(&self.url, generation, listener) {
            Ok(mut live) => {
                live.arm(START_MS);
                self.live.borrow_mut().insert(id, live);
            }
            Err(error) => self.input(PoolEvent::Lost(id, error)),
        }
    }

    /// Returns the message for a worker that could not be started, with possible reasons.
    fn blocked(&self, why: &str) -> String {
        format!(
            "the worker could not be started from {}: {why}. If the address is right, the page's Content-Security-\
             Policy may block it: it must allow the worker (worker-src; blob: too where it is of another origin) and \
             WebAssembly (script-src 'wasm-unsafe-eval')",
            self.url
        )
    }

    fn heard(self: &Rc<Self>, id: WorkerId, generation: u64, heard: WorkerEvent) {
        // A terminated worker can still have messages in flight, and a new worker may have taken its id.
        let known = self.live.borrow().get(&id).map(|live| (live.generation, live.stage));
        let stage = match known {
            Some((current, stage)) if current == generation => stage,
            _ => return,
        };
        match heard {
            WorkerEvent::Reply(WorkerReply::Ready { .. }, _) => {
                self.disarm(id);
                if let Some(live) = self.live.borrow_mut().get_mut(&id) {
                    live.stage = StartStage::Ready;
                }
                self.input(PoolEvent::Ready(id));
            }
            WorkerEvent::Reply(WorkerReply::Result { id: ticket, result }, blobs) => {
                self.answered(id, ticket, EndedCall::Answer(result), blobs);
            }
            WorkerEvent::Reply(WorkerReply::Error { id: ticket, error }, _) => {
                self.answered(id, ticket, EndedCall::Error(error), Vec::new());
            }
            WorkerEvent::Time if !self.is_late(id) => {}
            WorkerEvent::Time => match stage {
                StartStage::Starting => {
                    let why = format!("it was not ready within {} s", START_MS / 1000);
                    self.input(PoolEvent::Lost(id, why));
                }
                StartStage::Ready => self.input(PoolEvent::Deadline(id)),
            },
            WorkerEvent::Reply(WorkerReply::Fatal { fatal: why }, _) | WorkerEvent::Broken(why) => {
                self.input(PoolEvent::Lost(id, why));
            }
        }
    }

    fn answered(self: &Rc<Self>, id: WorkerId, ticket: Ticket, ended: EndedCall, blobs: Vec<Blob>) {
        self.disarm(id);
        if let Some(waiting) = self.calls.borrow_mut().get_mut(&ticket) {
            waiting.answer = Some((ended, blobs));
        }
        self.input(PoolEvent::Answered(id, ticket));
    }

    fn is_late(&self, id: WorkerId) -> bool {
        self.live.borrow_mut().get_mut(&id).is_some_and(LiveWorker::is_late)
    }

    fn disarm(&self, id: WorkerId) {
        if let Some(live) = self.live.borrow_mut().get_mut(&id) {
            live.disarm();
        }
    }

    fn post(self: &Rc<Self>, id: WorkerId, ticket: Ticket) {
        if let Err(error) = self.try_post(id, ticket) {
            self.input(PoolEvent::Lost(id, format!("the call could not be posted: {error}")));
        }
    }

    fn try_post(&self, id: WorkerId, ticket: Ticket) -> Result<(), String> {
        let mut live = self.live.borrow_mut();
        let live = live.get_mut(&id).ok_or("the worker is gone")?;
        let mut calls = self.calls.borrow_mut();
        let waiting = calls.get_mut(&ticket).ok_or("the call is gone")?;
        let call = waiting.call.take().ok_or("the call was posted before")?;
        let mut request = Request { id: ticket, call };
        let mut blobs = std::mem::take(&mut waiting.blobs);
        if let WorkerCall::Run { schema, .. } | WorkerCall::Preview { schema, .. } | WorkerCall::Check { schema, .. } =
            &mut request.call
            && live.schemas.insert(schema.id)
        {
            schema.define = self.schemas.borrow().get(schema.id as usize).cloned();
        }
        if let WorkerCall::Run { name, files, .. } | WorkerCall::Preview { name, files, .. } = &mut request.call
            && needs(name) == Needs::Files
        {
            (*files, blobs) = self.workspace.changes_since(live.synced);
            live.synced = self.workspace.version();
        }
        waiting.seen = live.synced;
        live.post(&request.encode(), blobs)?;
        live.arm(waiting.timeout_ms);
        Ok(())
    }

    fn end(&self, ticket: Ticket, end: CallEnd) {
        let Some(waiting) = self.calls.borrow_mut().remove(&ticket) else { return };
        let ended = match (end, waiting.answer) {
            (CallEnd::Answered, Some((EndedCall::Answer(answer), blobs))) => {
                self.apply_writes(answer, blobs, waiting.seen)
            }
            (CallEnd::Answered, Some((ended, _))) => ended,
            (CallEnd::Answered, None) => EndedCall::Error("the answer was lost".to_owned()),
            (CallEnd::NoWorker(why), _) => EndedCall::Without(CallEnd::NoWorker(self.blocked(&why))),
            (end, _) => EndedCall::Without(end),
        };
        // The caller may have stopped waiting.
        let _ = waiting.done.send(ended);
    }

    pub fn set_folders(&self, names: Vec<String>) {
        self.folders.replace(names);
    }

    /// The files of the run, as far as calls write to them.
    pub fn target(&self) -> Box<dyn WriteTarget> {
        self.workspace.target(self.folders.borrow().clone())
    }

    /// Adds the files that the tool wrote to the workspace, now that its call has ended. Those below a folder on the user's disk
    /// are written there first, by the host.
    fn apply_writes(&self, answer: WorkerAnswer, blobs: Vec<Blob>, seen: u64) -> EndedCall {
        let mut files = Vec::new();
        match &answer {
            WorkerAnswer::Preview(preview) => files.extend(preview.writes.iter().cloned().zip(blobs)),
            WorkerAnswer::Outcome { writes, .. } => {
                let target = self.target();
                for (path, blob) in writes.iter().zip(blobs) {
                    if target.is_on_disk(path) {
                        files.push((path.clone(), blob));
                    } else {
                        // The tool normalised the path before it wrote.
                        let _ = self.workspace.put(path, blob);
                    }
                }
            }
            _ => return EndedCall::Answer(answer),
        }
        EndedCall::Unwritten(answer, Unwritten { files, seen })
    }
}

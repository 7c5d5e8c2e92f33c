//! The page's end of the connection to its worker, and a handle for each run on the screen.
//!
//! Invariant: a handle shows only what the worker has reported of its run. Nothing is read from a run itself.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use futures_channel::oneshot;
use js_sys::{Array, Function};
use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Blob;

use turnwise::worker::{Workspace, WorkspaceSync};
use turnwise_engine::Authority;
use turnwise_protocol::app::{Begun, FilesId, HandleId, Order, PlanId, QuestionId, RunLocation, StreamedText, With};
use turnwise_protocol::snapshot::SnapshotStart;
use turnwise_protocol::{AgentFileChange, Snapshot, SnapshotChange};
use turnwise_record::plan::{PlanEnding, PlanTraceRecord, StepRecord};
use turnwise_record::trajectory::RunSummary;
use turnwise_view::RunSource;
use turnwise_view::services::{Trial, WebSettings};

use crate::browser::dom;
use crate::browser::scripts::Problem;
use crate::connect::keys::Keys;

/// The id for no workspace; the others begin after it.
const NO_FILES: FilesId = FilesId(0);
/// Number of handles reserved for the steps of a plan.
const MOST_STEPS: u32 = 1 << 20;

/// The connection to the worker; clones share it.
#[derive(Clone)]
pub struct AppWorker(Rc<Connection>);

struct Connection {
    keys: RwSignal<Keys>,
    worker: OnceCell<JsAppWorker>,
    handles: RefCell<BTreeMap<HandleId, Weak<RunState>>>,
    files: RefCell<Vec<(FilesId, Rc<WorkspaceSync>)>>,
    plans: RefCell<BTreeMap<PlanId, PlanListener>>,
    questions: RefCell<BTreeMap<QuestionId, oneshot::Sender<OrderResult>>>,
    /// The tools that the page runs for its runs.
    page_tools: RefCell<Vec<String>>,
    /// The last number given out; handles, files, plans and questions share the count.
    last: Cell<u32>,
}

/// Draws what was reported: streamed text, and whether anything else changed.
type RunListener = Rc<dyn Fn(&StreamedText, bool)>;

/// Draws what was reported about a plan.
type PlanListener = Rc<dyn Fn(PlanReport)>;

/// A report about a plan.
#[derive(Debug)]
pub enum PlanReport {
    Begun(Box<Begun>, PlanChanges),
    Changed(PlanChanges),
    /// The worker that ran the plan is gone. What was reported of it stays.
    Lost,
}

/// The changes in a plan.
#[derive(Debug)]
pub struct PlanChanges {
    pub location: RunLocation,
    pub steps: Vec<StepRecord>,
    pub traces: Vec<PlanTraceRecord>,
    pub calls_left: u32,
    pub ending: Option<PlanEnding>,
}

/// The worker's answer: a text if the question was for one, or the reason why there is none.
type OrderResult = Result<Option<String>, String>;

/// One run on the page; clones share it.
#[derive(Clone)]
pub struct RunClient(Rc<RunState>);

struct RunState {
    id: HandleId,
    line: AppWorker,
    seen: RefCell<Option<Snapshot>>,
    location: Cell<RunLocation>,
    /// The run was lost with an earlier worker; the current one does not know it.
    lost: Cell<bool>,
    /// The next report contains the whole run.
    anew: Cell<bool>,
    /// Draws the run.
    ear: RefCell<Option<RunListener>>,
}

/// Defined in `www/client/app-worker.ts`; `boot.js` puts it here.
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = TurnwiseAppWorker)]
    type JsAppWorker;

    #[wasm_bindgen(constructor, js_class = "TurnwiseAppWorker")]
    fn new(listener: &Function, lost: &Function) -> JsAppWorker;

    #[wasm_bindgen(method)]
    fn tell(this: &JsAppWorker, text: &str, parts: Array);

    #[wasm_bindgen(method)]
    fn reach(this: &JsAppWorker, text: &str);

    #[wasm_bindgen(method, catch, js_name = try)]
    async fn try_tool(this: &JsAppWorker, name: &str, arguments: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    async fn services(this: &JsAppWorker, what: &str, given: &str, files: Vec<Blob>) -> Result<JsValue, JsValue>;
}

impl AppWorker {
    /// Opens the connection. `listener` receives the worker's messages; `lost` is called when the worker is gone, and with it all of
    /// its runs.
    pub fn open(
        keys: RwSignal<Keys>,
        listener: impl Fn(&AppWorker, &str, Vec<JsValue>) + 'static,
        lost: impl Fn(&AppWorker, &str) + 'static,
    ) -> Self {
        let connection = Rc::new(Connection {
            keys,
            worker: OnceCell::new(),
            handles: RefCell::default(),
            plans: RefCell::default(),
            files: RefCell::default(),
            questions: RefCell::default(),
            page_tools: RefCell::default(),
            last: Cell::default(),
        });
        let (hearing, losing) = (Rc::downgrade(&connection), Rc::downgrade(&connection));
        let listener = Closure::<dyn Fn(String, Array)>::new(move |text: String, parts: Array| {
            if let Some(line) = hearing.upgrade().map(AppWorker) {
                listener(&line, &text, parts.to_vec());
            }
        });
        let lost = Closure::<dyn Fn(String)>::new(move |message: String| {
            if let Some(line) = losing.upgrade().map(AppWorker) {
                lost(&line, &message);
            }
        });
        let _ =
            connection.worker.set(JsAppWorker::new(listener.as_ref().unchecked_ref(), lost.as_ref().unchecked_ref()));
        // They live as long as the page.
        listener.forget();
        lost.forget();
        AppWorker(connection)
    }

    pub fn tell(&self, order: &Order, parts: Vec<JsValue>) {
        if let (Some(worker), Ok(text)) = (self.0.worker.get(), serde_json::to_string(order)) {
            worker.tell(&text, parts.into_iter().collect());
        }
    }

    /// Sends the question at once, and returns a future for the answer. Orders sent after this call arrive after it.
    pub fn ask<O: FnOnce(QuestionId) -> Order>(
        &self,
        order: O,
        parts: Vec<JsValue>,
    ) -> impl Future<Output = OrderResult> + use<O> {
        let id = QuestionId(self.number());
        let (sender, answer) = oneshot::channel();
        self.0.questions.borrow_mut().insert(id, sender);
        self.tell(&order(id), parts);
        async move { answer.await.unwrap_or_else(|_| Err("the run's worker is gone".to_owned())) }
    }

    /// Asks for something, and parses the answer.
    pub async fn ask_for<T: DeserializeOwned>(&self, order: impl FnOnce(QuestionId) -> Order) -> Result<T, String> {
        let text = self.ask(order, Vec::new()).await?.unwrap_or_default();
        serde_json::from_str(&text).map_err(|error| format!("the answer cannot be read: {error}"))
    }

    /// Sets what the tools of all runs may ask of the web.
    pub fn reach(&self, web: &WebSettings) {
        if let (Some(worker), Ok(text)) = (self.0.worker.get(), serde_json::to_string(web)) {
            worker.reach(&text);
        }
    }

    /// Calls a tool that reaches the web, as a run does.
    ///
    /// # Errors
    /// What a model would read.
    pub async fn try_tool(&self, name: &str, arguments: &Value) -> Result<Trial, String> {
        let worker = self.0.worker.get().ok_or("the page is closing")?;
        let answer = worker.try_tool(name, &arguments.to_string()).await.map_err(message)?;
        serde_json::from_str(&answer.as_string().unwrap_or_default()).map_err(|error| error.to_string())
    }

    /// Calls the script that reads services (`www/client/app-services.ts`).
    ///
    /// # Errors
    /// A clause or a sentence for the user.
    pub async fn services<T: DeserializeOwned>(
        &self,
        what: &str,
        given: &impl Serialize,
        files: Vec<Blob>,
    ) -> Result<(T, Option<Blob>), String> {
        let worker = self.0.worker.get().ok_or("the page is closing")?;
        let given = serde_json::to_string(given).map_err(|error| error.to_string())?;
        let answer: Array = worker.services(what, &given, files).await.map_err(message)?.unchecked_into();
        let text = answer.get(0).as_string().unwrap_or_default();
        let read = serde_json::from_str(&text).map_err(|error| format!("the answer cannot be read: {error}"))?;
        Ok((read, answer.get(1).dyn_into().ok()))
    }

    /// Sets which tools of runs the page has.
    pub fn set_page_tools(&self, names: Vec<String>) {
        self.0.page_tools.replace(names);
    }

    /// Creates a handle that shows nothing yet.
    pub fn handle(&self) -> RunClient {
        self.handle_of(HandleId(self.number()))
    }

    /// Creates a handle with a number that is already reserved.
    pub fn handle_of(&self, id: HandleId) -> RunClient {
        let (seen, location, lost, ear) = (RefCell::default(), Cell::default(), Cell::default(), RefCell::default());
        let place = Rc::new(RunState { id, line: self.clone(), seen, location, lost, anew: Cell::default(), ear });
        self.0.handles.borrow_mut().insert(id, Rc::downgrade(&place));
        RunClient(place)
    }

    /// Creates a handle for a run that begins now.
    pub fn begin(&self, start: SnapshotStart) -> RunClient {
        let handle = self.handle();
        handle.0.seen.replace(Some(Snapshot::begin(start)));
        handle
    }

    /// Returns what a run with these files needs in addition to its configuration.
    pub fn with(&self, workspace: &Workspace) -> With {
        With { files: self.files(workspace), ..self.with_no_files() }
    }

    /// Returns the same for a run without files.
    pub fn with_no_files(&self) -> With {
        let keys = self.0.keys.with_untracked(Keys::all);
        With { files: NO_FILES, worker_url: dom::worker_url(), keys, page_tools: self.0.page_tools.borrow().clone() }
    }

    /// Returns the number of these files. From the first call on, the worker has a copy of them.
    fn files(&self, workspace: &Workspace) -> FilesId {
        if let Some(id) = self.known_files(workspace) {
            return id;
        }
        let id = FilesId(self.number());
        // Before its files: those are not to be copied.
        for (name, handle) in workspace.folders() {
            self.tell(&Order::Mount { files: id, name }, vec![handle]);
        }
        let line = Rc::downgrade(&self.0);
        let twin = WorkspaceSync::new(workspace.clone(), move |changes, blobs| {
            if let Some(line) = line.upgrade() {
                let parts = blobs.into_iter().map(JsValue::from).collect();
                AppWorker(line).tell(&Order::Files { files: id, changes }, parts);
            }
        });
        self.0.files.borrow_mut().push((id, twin));
        id
    }

    /// Adds a folder on the user's disk to these files, also at the worker.
    pub fn mount(&self, workspace: &Workspace, name: &str, handle: &JsValue) {
        workspace.mount(name, handle.clone());
        if let Some(files) = self.known_files(workspace) {
            self.tell(&Order::Mount { files, name: name.to_owned() }, vec![handle.clone()]);
        }
    }

    /// Removes a folder on the user's disk from these files, also at the worker.
    pub fn unmount(&self, workspace: &Workspace, name: &str) {
        workspace.unmount(name);
        if let Some(files) = self.known_files(workspace) {
            self.tell(&Order::Unmount { files, name: name.to_owned() }, Vec::new());
        }
    }

    fn known_files(&self, workspace: &Workspace) -> Option<FilesId> {
        let known = |(_, twin): &&(FilesId, Rc<WorkspaceSync>)| twin.workspace().is(workspace);
        self.0.files.borrow().iter().find(known).map(|(id, _)| *id)
    }

    /// Returns the number of a plan and of its first step's handle; the numbers after that are the handles of its other
    /// steps.
    pub fn plan_numbers(&self) -> (PlanId, HandleId) {
        let first = self.number();
        self.0.last.set(first.saturating_add(MOST_STEPS));
        (PlanId(first), HandleId(first))
    }

    /// Sets what draws a plan.
    pub fn observe_plan(&self, plan: PlanId, ear: impl Fn(PlanReport) + 'static) {
        self.0.plans.borrow_mut().insert(plan, Rc::new(ear));
    }

    fn number(&self) -> u32 {
        self.0.last.set(self.0.last.get() + 1);
        self.0.last.get()
    }

    /// Takes in a report about a run.
    pub fn take_run(
        &self,
        handle: HandleId,
        location: RunLocation,
        streamed: &StreamedText,
        changes: Vec<SnapshotChange>,
    ) {
        let handle = self.0.handles.borrow().get(&handle).and_then(Weak::upgrade);
        if let Some(handle) = handle.map(RunClient) {
            handle.take(location, streamed, changes);
        }
    }

    /// Takes in a report about a plan.
    pub fn take_plan(&self, plan: PlanId, report: PlanReport) {
        let ear = self.0.plans.borrow().get(&plan).cloned();
        if let Some(ear) = ear {
            ear(report);
        }
    }

    /// Takes in what the worker's tools wrote.
    pub fn take_files(&self, files: FilesId, changes: Vec<AgentFileChange>, parts: Vec<JsValue>) {
        let known = |(id, _): &&(FilesId, Rc<WorkspaceSync>)| *id == files;
        let twin = self.0.files.borrow().iter().find(known).map(|(_, twin)| Rc::clone(twin));
        if let Some(twin) = twin {
            twin.take(changes, parts.into_iter().filter_map(|part| part.dyn_into().ok()));
        }
    }

    /// Handles the loss of the worker and of all its runs. Returns whether one was under way.
    pub fn lose(&self, message: &str) -> bool {
        let questions = self.0.questions.take();
        questions.into_values().for_each(|sender| drop(sender.send(Err(message.to_owned()))));
        // The next worker starts without files.
        self.0.files.take();
        let handles: Vec<RunClient> =
            self.0.handles.borrow().values().filter_map(Weak::upgrade).map(RunClient).collect();
        let running = handles.iter().any(RunClient::is_running);
        handles.iter().for_each(RunClient::lose);
        let plans: Vec<PlanListener> = self.0.plans.borrow().values().cloned().collect();
        plans.iter().for_each(|ear| ear(PlanReport::Lost));
        running
    }

    /// Resolves a question.
    pub fn answered(&self, id: QuestionId, answer: OrderResult) {
        let sender = self.0.questions.borrow_mut().remove(&id);
        if let Some(sender) = sender {
            let _ = sender.send(answer);
        }
    }
}

impl RunClient {
    pub fn id(&self) -> HandleId {
        self.0.id
    }

    /// Passes the run as reported so far to `look`; `None`: nothing was reported yet.
    pub fn look<T>(&self, look: impl FnOnce(&RunSource<'_>) -> T) -> Option<T> {
        let seen = self.0.seen.borrow();
        let source = RunSource::from(seen.as_ref()?);
        Some(look(&match self.0.location.get() {
            RunLocation::Here => source,
            RunLocation::Interrupted => source.interrupted(),
            RunLocation::Elsewhere => source.elsewhere(),
            RunLocation::Recorded => source.recorded(),
        }))
    }

    /// Returns the start of the run.
    pub fn start(&self) -> Option<SnapshotStart> {
        self.0.seen.borrow().as_ref().map(|seen| seen.start.clone())
    }

    /// Returns the run as reported so far.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.0.seen.borrow().clone()
    }

    pub fn summary(&self) -> Option<RunSummary> {
        self.0.seen.borrow().as_ref().map(Snapshot::summary)
    }

    /// Returns whether there is a run that has ended.
    pub fn snapshot_ended(&self) -> bool {
        self.look(|source| source.status == turnwise_engine::Status::Ended) == Some(true)
    }

    pub fn location(&self) -> RunLocation {
        self.0.location.get()
    }

    pub fn is_running(&self) -> bool {
        let open = || self.look(|source| source.status != turnwise_engine::Status::Ended);
        self.location() == RunLocation::Here && open() == Some(true)
    }

    pub fn stop(&self) {
        self.tell(&Order::Stop { handle: self.0.id });
    }

    pub fn cancel(&self) {
        self.tell(&Order::Cancel { handle: self.0.id });
    }

    pub fn grant(&self, turns: u32, authority: Option<Box<Authority>>) {
        self.tell(&Order::Grant { handle: self.0.id, turns, with: self.0.line.with_no_files(), authority });
    }

    /// Resumes a run that was interrupted.
    pub fn resume(&self, authority: Option<Box<Authority>>) {
        self.tell(&Order::Resume { handle: self.0.id, with: self.0.line.with_no_files(), authority });
    }

    /// Closes the run: nothing in it continues. What was reported of it stays.
    pub fn close(&self) {
        self.tell(&Order::Close { handle: self.0.id });
    }

    /// Returns the run's record, as JSON text.
    pub async fn record(&self) -> Result<String, String> {
        let handle = self.0.id;
        let text = self.0.line.ask(|id| Order::Record { id, handle }, Vec::new()).await?;
        text.ok_or_else(|| "this run has no record yet".to_owned())
    }

    /// Returns a weak handle, for callbacks that the handle itself holds; it yields `None` once the handle is gone.
    pub fn downgrade(&self) -> impl Fn() -> Option<RunClient> + use<> {
        let place = Rc::downgrade(&self.0);
        move || place.upgrade().map(RunClient)
    }

    /// Sets what draws the run from now on.
    pub fn observe(&self, ear: impl Fn(&StreamedText, bool) + 'static) {
        self.0.ear.replace(Some(Rc::new(ear)));
    }

    fn take(&self, location: RunLocation, streamed: &StreamedText, changes: Vec<SnapshotChange>) {
        let moved = self.0.location.replace(location) != location;
        let changed = moved || !changes.is_empty();
        {
            let mut seen = self.0.seen.borrow_mut();
            let before = seen.take().filter(|_| !self.0.anew.take());
            *seen = Snapshot::after(before, changes);
        }
        let ear = self.0.ear.borrow().clone();
        if let Some(ear) = ear {
            ear(streamed, changed);
        }
    }

    fn tell(&self, order: &Order) {
        self.0.line.tell(order, Vec::new());
    }

    /// Handles the loss of the worker: a run under way counts as interrupted.
    fn lose(&self) {
        let running = self.is_running();
        self.0.lost.set(true);
        if running {
            self.take(RunLocation::Interrupted, &StreamedText { void: true, ..StreamedText::default() }, Vec::new());
        }
    }

    /// Returns whether the worker has to open the run before any order about it.
    pub fn is_lost(&self) -> bool {
        self.0.lost.get()
    }

    /// Prepares for the worker to open the run again: the next report contains all of it.
    pub fn reopen(&self) {
        self.0.lost.set(false);
        self.0.anew.set(true);
    }
}

fn message(error: JsValue) -> String {
    error.unchecked_into::<Problem>().message()
}

impl std::fmt::Debug for AppWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AppWorker")
    }
}

impl std::fmt::Debug for RunClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Handle").field(&self.0.id).finish()
    }
}

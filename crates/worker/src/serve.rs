//! The worker's main loop: one request at a time, answered in order. It uses the global scope of a dedicated worker;
//! in Node.js the loader of `worker.js` provides the same (`www/worker-loader.js`).
//!
//! A separate thread hosts one worker. If the agents' own thread takes the place of workers (`www/client/in-thread.ts`), one
//! module serves many of them: each message then names its worker in the field `worker`, and `{ worker, ended: true }` drops
//! the state of that worker. All state is in [`Worker`], so workers share only code.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::{Array, Reflect, Uint8Array};
use serde_json::Value;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, BlobPropertyBag, MessageEvent};

use turnwise_docs_index::site::Site;
use turnwise_docs_index::{self as docs, SiteQuery, web};
use turnwise_engine::{EpochMillis, ToolOutcome};
use turnwise_files::document::{HEAD, container};
use turnwise_files::{FileInfo, Files};
use turnwise_protocol::tool_worker::{
    ChangedBlocks, CheckedArguments, DocumentTask, FileChange, GrowingPart, Request, SchemaRef, WorkerAnswer,
    WorkerCall, WorkerReply, WritePreview,
};
use turnwise_tools::arguments::Validators;

/// What a worker can do. Every worker checks arguments and searches documentation sites; the rest differs between modules, each of which
/// links only the code that its abilities call.
// Everything is on one thread, so no future has to be `Send`.
#[allow(async_fn_in_trait)]
pub trait Abilities: Default + std::fmt::Debug + 'static {
    /// Markdown as nodes, or what changes in a text that grows. A worker that keeps no such text takes only whole ones.
    ///
    /// # Errors
    /// A message for users.
    async fn render(&mut self, markdown: &str, growing: Option<GrowingPart>) -> Result<ChangedBlocks, String>;

    /// Answers a task on the text of a record.
    ///
    /// # Errors
    /// A message for users.
    async fn document(&self, task: DocumentTask, text: &str) -> Result<String, String>;

    /// Answers a question about the documentation site that is open; `texts` are the fetched ones.
    ///
    /// # Errors
    /// A message for users.
    async fn docs(&self, site: &mut Option<Site>, ask: SiteQuery, texts: Vec<String>) -> Result<String, String>;

    /// The text of a page of the web, as JSON.
    ///
    /// # Errors
    /// A message for users.
    async fn page(&self, got: &docs::FetchedPage, text: &str) -> Result<String, String>;

    /// Runs a built-in tool whose arguments have passed its schema.
    ///
    /// # Errors
    /// The tool's own failure, as a message for the model.
    async fn run(&mut self, name: &str, args: &Value, files: &mut BlobFiles, at: EpochMillis)
    -> Result<String, String>;

    /// What these writes would change, as a unified diff, and the number of lines that it leaves out.
    async fn diff(&self, files: &BlobFiles, writes: &[(String, Vec<u8>)]) -> (Option<String>, usize);

    /// A text in an encoding that nothing declares, and the name of the encoding as it is guessed; `None`: this worker has no tables to
    /// guess by.
    async fn guess(&self, _: &[u8]) -> Option<(String, String)> {
        None
    }

    /// Answers any other request.
    ///
    /// # Errors
    /// A message for users.
    async fn answer(&mut self, call: WorkerCall, blobs: Vec<Blob>) -> Result<WorkerAnswer, String>;
}

/// Installs the message handler, then posts `Ready`. Called once, from the worker's `main`.
pub fn serve<A: Abilities>() {
    std::panic::set_hook(Box::new(|info| {
        post(&JsValue::from_str(&WorkerReply::Fatal { fatal: info.to_string() }.encode()));
    }));
    let workers = Rc::new(Workers::<A>::default());
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let member = |name: &str| Reflect::get(&event, &name.into()).unwrap_or_default();
        let name = member("worker").as_string().unwrap_or_default();
        if member("ended").is_truthy() {
            workers.borrow_mut().remove(&name);
            return;
        }
        let workers = workers.clone();
        spawn_local(async move { take(&workers, name, event.data()).await });
    });
    let _ = Reflect::set(&js_sys::global(), &"onmessage".into(), on_message.as_ref());
    on_message.forget(); // for the worker's lifetime
    post(&JsValue::from_str(&WorkerReply::Ready { ready: env!("CARGO_PKG_VERSION").to_owned() }.encode()));
}

/// The workers of this module by name; `None` while a call holds the state.
type Workers<A> = RefCell<BTreeMap<String, Option<Worker<A>>>>;

/// The state of a worker between calls.
#[derive(Debug)]
pub struct Worker<A> {
    validators: Validators,
    files: BlobFiles,
    /// The text of a reply that streams.
    /// The documentation site that is open.
    site: Option<Site>,
    abilities: A,
}

impl<A: Abilities> Default for Worker<A> {
    fn default() -> Self {
        Worker {
            validators: Validators::new(crate::pattern::pattern),
            files: BlobFiles::default(),
            site: None,
            abilities: A::default(),
        }
    }
}

impl<A: Abilities> Worker<A> {
    /// Answers one request; `blobs` came with the request.
    pub async fn answer(&mut self, request: Request, blobs: Vec<Blob>) -> (WorkerReply, Vec<Blob>) {
        let id = request.id;
        let mut written = Vec::new();
        let result = match request.call {
            WorkerCall::Render { markdown, growing } => match self.abilities.render(&markdown, growing).await {
                Ok(blocks) => WorkerAnswer::Nodes(blocks),
                Err(error) => return (WorkerReply::Error { id, error }, written),
            },
            WorkerCall::Document { task, text } => match self.abilities.document(task, &text).await {
                Ok(answer) => WorkerAnswer::Document(answer),
                Err(error) => return (WorkerReply::Error { id, error }, written),
            },
            WorkerCall::Docs(ask) => match self.docs(*ask, blobs).await {
                Ok(answer) => WorkerAnswer::Document(answer),
                Err(error) => return (WorkerReply::Error { id, error }, written),
            },
            WorkerCall::Page { url, content_type } => match self.page(url, content_type, blobs).await {
                Ok(answer) => WorkerAnswer::Document(answer),
                Err(error) => return (WorkerReply::Error { id, error }, written),
            },
            WorkerCall::Check { name, arguments, schema } => {
                self.define(&schema);
                WorkerAnswer::Checked(match self.validators.check(&name, schema.id, &arguments) {
                    Ok(arguments) => CheckedArguments::Valid(arguments),
                    Err(outcome) => CheckedArguments::Refused(outcome),
                })
            }
            WorkerCall::Preview { name, arguments, schema, files } => {
                self.define(&schema);
                self.files.apply(files, blobs);
                match self.run(&name, schema.id, &arguments, EpochMillis(0)).await {
                    outcome @ ToolOutcome::Executed { .. } => {
                        let writes = std::mem::take(&mut self.files.writes);
                        let (diff, omitted) = self.abilities.diff(&self.files, &writes).await;
                        let (writes, blobs) = into_blobs(writes);
                        written = blobs;
                        WorkerAnswer::Preview(WritePreview { outcome, diff, omitted, writes })
                    }
                    outcome => WorkerAnswer::Checked(CheckedArguments::Refused(outcome)),
                }
            }
            WorkerCall::Run { name, arguments, schema, now, files } => {
                self.define(&schema);
                self.files.apply(files, blobs);
                let outcome = self.run(&name, schema.id, &arguments, EpochMillis(now)).await;
                let (writes, blobs) = into_blobs(std::mem::take(&mut self.files.writes));
                written = blobs;
                WorkerAnswer::Outcome { outcome, writes }
            }
            call @ (WorkerCall::View(_) | WorkerCall::Demo(_) | WorkerCall::Text { .. }) => {
                match self.abilities.answer(call, blobs).await {
                    Ok(answer) => answer,
                    Err(error) => return (WorkerReply::Error { id, error }, written),
                }
            }
        };
        (WorkerReply::Result { id, result }, written)
    }

    async fn docs(&mut self, mut ask: SiteQuery, blobs: Vec<Blob>) -> Result<String, String> {
        let mut texts = Vec::new();
        let answers: Vec<&mut docs::FetchedPage> = match &mut ask {
            SiteQuery::Take(answers) => answers.iter_mut().filter(|got| got.body).collect(),
            _ => Vec::new(),
        };
        let mut answers = answers.into_iter();
        for blob in blobs {
            let buffer = JsFuture::from(blob.array_buffer()).await.map_err(|_| "the fetched data could not be read")?;
            let bytes = Uint8Array::new(&buffer).to_vec();
            texts.push(match answers.next() {
                Some(got) => decoded(bytes, got),
                None => String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
        self.abilities.docs(&mut self.site, ask, texts).await
    }

    /// Reads one response: a page or a text here, a document as the tools read files.
    async fn page(&mut self, url: String, content_type: String, blobs: Vec<Blob>) -> Result<String, String> {
        let blob = blobs.into_iter().next().ok_or("the request came without a body")?;
        let bytes = bytes_of(&blob, &url).await?;
        let mut got = docs::FetchedPage { url, content_type, ..docs::FetchedPage::default() };
        let head = bytes.get(..HEAD.min(bytes.len())).unwrap_or_default();
        // An encoding that nothing declares is guessed by who has the tables for it.
        let unknown =
            || docs::charset::declared(&got.content_type, &bytes).is_none() && std::str::from_utf8(&bytes).is_err();
        let html = web::is_html(&got.content_type, &String::from_utf8_lossy(head));
        if !html && (container(head).is_some() || unknown()) {
            let path = file_name(&got.url);
            let answer = self.abilities.answer(WorkerCall::Text { path }, vec![blob]).await?;
            let WorkerAnswer::Document(text) = answer else {
                return Err("the worker answered another question".into());
            };
            let read = web::WebText { text, ..web::WebText::default() };
            return serde_json::to_string(&read).map_err(|error| error.to_string());
        }
        // As browsers do for pages that name no language of another alphabet.
        let guessed = unknown() && docs::charset::usual(&bytes) == docs::charset::FALLBACK;
        let guess = if guessed { self.abilities.guess(&bytes).await } else { None };
        let text = match guess {
            Some((text, encoding)) => {
                got.guessed = encoding;
                text
            }
            None => decoded(bytes, &mut got),
        };
        self.abilities.page(&got, &text).await
    }

    fn define(&mut self, schema: &SchemaRef) {
        if let Some(text) = &schema.define {
            self.validators.define(schema.id, text);
        }
    }

    async fn run(&mut self, name: &str, schema: u32, arguments: &str, now: EpochMillis) -> ToolOutcome {
        let arguments = match self.validators.check(name, schema, arguments) {
            Ok(arguments) => arguments,
            Err(outcome) => return outcome,
        };
        match self.abilities.run(name, &arguments.value, &mut self.files, now).await {
            Ok(content) => ToolOutcome::executed(content, arguments.if_repaired()),
            Err(message) => {
                // A failed tool has written nothing.
                self.files.writes.clear();
                ToolOutcome::Failed { message }
            }
        }
    }
}

/// The paths of these files, and their contents.
fn into_blobs(writes: Vec<(String, Vec<u8>)>) -> (Vec<String>, Vec<Blob>) {
    writes.into_iter().map(|(path, content)| (path, text_blob(&content))).unzip()
}

/// The workspace as this worker knows it: handles, read on demand.
#[derive(Debug, Default)]
pub struct BlobFiles {
    infos: BTreeMap<String, FileInfo>,
    blobs: BTreeMap<String, Blob>,
    writes: Vec<(String, Vec<u8>)>,
}

impl BlobFiles {
    /// The content of a file, not read yet.
    ///
    /// # Errors
    /// There is no such file.
    pub fn blob(&self, path: &str) -> Result<&Blob, String> {
        self.blobs.get(path).ok_or_else(|| format!("there is no file {path}"))
    }

    /// Takes over changes of the workspace; `blobs` are the contents of those that have one, in order.
    pub fn apply(&mut self, changes: Vec<FileChange>, blobs: Vec<Blob>) {
        let mut blobs = blobs.into_iter();
        for FileChange { path, version, size } in changes {
            match size.and_then(|size| Some((size, blobs.next()?))) {
                Some((size, blob)) => {
                    self.infos.insert(path.clone(), FileInfo { version, size });
                    self.blobs.insert(path, blob);
                }
                None => {
                    self.infos.remove(&path);
                    self.blobs.remove(&path);
                }
            }
        }
    }
}

/// Why a file cannot be read that was there: on the disk it was removed or changed.
#[must_use]
pub fn gone(path: &str) -> String {
    format!("{path} can no longer be read; the user must add it again")
}

/// The bytes of a blob. `path`: for the error.
///
/// # Errors
/// A dropped file may have been removed or changed on disk since then.
pub async fn bytes_of(blob: &Blob, path: &str) -> Result<Vec<u8>, String> {
    let buffer = JsFuture::from(blob.array_buffer()).await.map_err(|_| gone(path))?;
    Ok(Uint8Array::new(&buffer).to_vec())
}

/// The bytes `from..to` of a blob, not read yet.
///
/// # Errors
/// The blob is gone.
pub fn part_of(blob: &Blob, path: &str, from: u64, to: u64) -> Result<Blob, String> {
    blob.slice_with_f64_and_f64(from as f64, to as f64).map_err(|_| gone(path))
}

impl Files for BlobFiles {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        &self.infos
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        bytes_of(self.blob(path)?, path).await
    }

    async fn read_part(&self, path: &str, from: u64, to: u64) -> Result<Vec<u8>, String> {
        bytes_of(&part_of(self.blob(path)?, path, from, to)?, path).await
    }

    fn write(&mut self, path: String, content: Vec<u8>) {
        self.writes.push((path, content));
    }
}

async fn take<A: Abilities>(workers: &Workers<A>, name: String, data: JsValue) {
    let (text, blobs) = match data.dyn_ref::<Array>() {
        Some(parts) => (parts.get(0), parts.iter().skip(1).map(JsCast::unchecked_into).collect()),
        None => (data, Vec::new()),
    };
    let request = match Request::decode(&text.as_string().unwrap_or_default()) {
        Ok(request) => request,
        Err(error) => {
            return send(WorkerReply::Fatal { fatal: format!("cannot read the request: {error}") }, Vec::new());
        }
    };
    // The state is taken out while a call runs: the page sends the next call only after the answer.
    let state = workers.borrow_mut().entry(name.clone()).or_insert_with(|| Some(Worker::default())).take();
    let Some(mut state) = state else {
        return send(WorkerReply::Error { id: request.id, error: "the worker is busy".to_owned() }, Vec::new());
    };
    let (reply, written) = state.answer(request, blobs).await;
    // If the worker was ended in the meantime, it has no entry, and its state is dropped here.
    if let Some(place) = workers.borrow_mut().get_mut(&name) {
        *place = Some(state);
    }
    send(reply, written);
}

fn send(reply: WorkerReply, blobs: Vec<Blob>) {
    let text = JsValue::from_str(&reply.encode());
    if blobs.is_empty() {
        post(&text);
    } else {
        let mut message = Array::of1(&text);
        message.extend(blobs);
        post(&message);
    }
}

/// The name of the file at an address, by which some kinds of texts are told.
fn file_name(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = docs::url::decoded(path.rsplit('/').next().unwrap_or_default());
    let name: String = name.chars().filter(|c| !c.is_control() && !"/\\:".contains(*c)).take(100).collect();
    if name.trim_matches(['.', ' ']).is_empty() { "document".to_owned() } else { name }
}

/// The text of a response, decoded as a browser does it.
fn decoded(bytes: Vec<u8>, got: &mut docs::FetchedPage) -> String {
    let declared = docs::charset::declared(&got.content_type, &bytes);
    if let Some(decoder) = declared.filter(|label| label != "utf-8").and_then(|label| TextDecoder::new(&label).ok()) {
        return decoder.decode(&bytes).unwrap_or_default();
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
        Err(error) => error.into_bytes(),
    };
    if docs::charset::declared(&got.content_type, &bytes).is_some_and(|label| label == "utf-8") {
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let label = docs::charset::usual(&bytes);
    label.clone_into(&mut got.guessed);
    let text = TextDecoder::new(label).and_then(|decoder| decoder.decode(&bytes));
    text.unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned())
}

/// The bytes of a text as a blob.
fn text_blob(bytes: &[u8]) -> Blob {
    let parts = Array::of1(&Uint8Array::from(bytes));
    let options = BlobPropertyBag::new();
    options.set_type("text/plain");
    // The constructor throws only if the parts are not a sequence.
    Blob::new_with_u8_array_sequence_and_options(&parts, &options).unwrap_or_else(|error| error.unchecked_into())
}

#[wasm_bindgen]
extern "C" {
    type TextDecoder;
    #[wasm_bindgen(constructor, catch)]
    fn new(label: &str) -> Result<TextDecoder, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn decode(this: &TextDecoder, bytes: &[u8]) -> Result<String, JsValue>;

    #[wasm_bindgen(js_name = postMessage)]
    fn post(message: &JsValue);
}

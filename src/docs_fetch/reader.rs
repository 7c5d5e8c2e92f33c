//! Fetches the pages that the worker requests while it reads a documentation site, a few at a time, and passes them to it.
//!
//! A site can be queried as soon as the worker says so, while the rest is still being fetched.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use futures_channel::oneshot;
use serde_json::Value;
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;

use super::cache;
use super::fetch::Fetcher;
use crate::shell::{Page, pause};
use crate::worker::DocsHost;
use crate::worker::workspace::text_blob;
use turnwise_docs_index::{FetchedPage, Info, SearchResult, SiteQuery, SiteStep, ToolReply, ToolText};
use turnwise_engine::ToolSpec;

/// Maximum number of concurrent requests, so that the page's own requests do not have to wait.
const AT_ONCE: usize = 6;
/// Maximum number of responses passed to the worker at once: queries made meanwhile wait for one such batch.
const LOT: usize = 8;
/// How long a tool call waits for pages that are still being read: number of retries and delay of each.
const MAX_PATIENCE: usize = 25;
const PATIENCE_MS: u32 = 100;
/// Maximum size of a stored site.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// The options for opening a site.
pub struct DocsOptions {
    /// Address of a page of the site.
    pub page: String,
    /// The HTML of that page, if the caller has it.
    pub html: Option<String>,
    /// The source to read; `None`: it is discovered.
    pub source: Option<String>,
    /// Whether the content is cached in the browser, and reused as long as the site is unchanged.
    pub cache: bool,
    /// Whether requests carry credentials such as cookies. Only then are pages behind a login readable; they are not cached.
    pub credentials: bool,
    /// Fetches from the page's origin, if requests from here could not read the responses.
    pub bridge: Option<Rc<dyn Page>>,
    pub worker_url: String,
    /// Receives the progress of reading, even after the site is ready for queries.
    pub on_progress: Box<dyn Fn(&SiteStep)>,
}

/// An open site; clones share it. [`Docs::close`] ends the worker.
#[derive(Clone)]
pub struct Docs(Rc<SiteState>);

struct SiteState {
    host: DocsHost,
    info: RefCell<Info>,
    tools: RefCell<Vec<ToolSpec>>,
    fetcher: Fetcher,
    on_progress: Box<dyn Fn(&SiteStep)>,
    queue: RefCell<VecDeque<String>>,
    active: Cell<usize>,
    arrived: RefCell<VecDeque<(FetchedPage, Option<Blob>)>>,
    wake: RefCell<Option<oneshot::Sender<()>>>,
    ready: RefCell<Option<oneshot::Sender<Result<(), String>>>>,
    closed: Cell<bool>,
    /// Whether `read` still takes responses.
    reading: Cell<bool>,
}

impl Docs {
    /// Begins to read a site. The receiver resolves when the site can be queried, or with the reason why it cannot.
    pub fn open(options: DocsOptions) -> (Self, oneshot::Receiver<Result<(), String>>) {
        let DocsOptions { page, html, source, cache, credentials, bridge, worker_url, on_progress } = options;
        let (ready, waits) = oneshot::channel();
        let docs = Docs(Rc::new(SiteState {
            host: DocsHost::new(worker_url),
            info: RefCell::default(),
            tools: RefCell::default(),
            fetcher: Fetcher::new(&page, credentials, bridge),
            on_progress,
            queue: RefCell::default(),
            active: Cell::default(),
            arrived: RefCell::default(),
            wake: RefCell::default(),
            ready: RefCell::new(Some(ready)),
            closed: Cell::default(),
            reading: Cell::new(true),
        }));
        // Pages that one user may read are not stored for the next user.
        let cache = (cache && !credentials).then(|| source.clone().unwrap_or_default());
        let reader = docs.clone();
        spawn_local(async move {
            if let Err(why) = reader.read(SiteQuery::Open { page, html, source }, cache).await {
                reader.0.reading.set(false);
                reader.tell(Err(why));
            }
        });
        (docs, waits)
    }

    /// Ends the worker and all open requests.
    pub fn close(&self) {
        if !self.0.closed.replace(true) {
            self.0.fetcher.close();
            self.0.queue.borrow_mut().clear();
            self.0.host.close();
            self.wake();
            self.tell(Err("the site was closed".to_owned()));
        }
    }

    #[must_use]
    pub fn info(&self) -> Info {
        self.0.info.borrow().clone()
    }

    /// The specs of the site's tools, for a model.
    #[must_use]
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.0.tools.borrow().clone()
    }

    /// The best sections for a query, and how well they match it.
    ///
    /// # Errors
    /// Why the worker gave no answer, for users.
    pub async fn search(&self, query: String, limit: usize) -> Result<SearchResult, String> {
        self.ask(SiteQuery::Search { query, limit }, Vec::new()).await
    }

    /// Calls one of the tools.
    ///
    /// # Errors
    /// A message for the model, or why the worker gave no answer.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolText, String> {
        let ask = || SiteQuery::Call { name: name.to_owned(), arguments: arguments.clone() };
        // A page that is missing now may arrive in a moment.
        for _ in 0..MAX_PATIENCE {
            if name == "read_page" || self.0.closed.get() || self.info().complete {
                break;
            }
            pause(PATIENCE_MS).await;
        }
        // The worker asks for a page once, so this ends.
        loop {
            match self.ask(ask(), Vec::new()).await? {
                ToolReply::Result(result) => return Ok(result),
                ToolReply::Wrong(why) => return Err(why),
                ToolReply::Fetch(urls) => self.fetch_now(urls).await?,
            }
        }
    }

    /// Fetches the pages that an answer waits for, a few at a time.
    async fn fetch_now(&self, urls: Vec<String>) -> Result<(), String> {
        let mut urls = VecDeque::from(urls);
        while !urls.is_empty() {
            let (queue, arrived) = (Rc::new(RefCell::new(urls)), Rc::new(RefCell::new(Vec::new())));
            let ends: Vec<oneshot::Receiver<()>> = (0..AT_ONCE.min(queue.borrow().len()))
                .map(|_| {
                    let (docs, queue, arrived) = (self.clone(), Rc::clone(&queue), Rc::clone(&arrived));
                    let (end, ended) = oneshot::channel();
                    spawn_local(async move {
                        loop {
                            let next = queue.borrow_mut().pop_front();
                            let Some(url) = next.filter(|_| !docs.0.closed.get()) else { break };
                            let one = docs.0.fetcher.fetch(url).await;
                            arrived.borrow_mut().push(one);
                        }
                        let _ = end.send(());
                    });
                    ended
                })
                .collect();
            for ended in ends {
                let _ = ended.await;
            }
            let (answers, bodies): (Vec<FetchedPage>, Vec<Option<Blob>>) = arrived.take().into_iter().unzip();
            let take = SiteQuery::Take(answers);
            let step: SiteStep = self.ask(take, bodies.into_iter().flatten().collect()).await?;
            if let Some(info) = step.info {
                self.0.info.replace(info);
            }
            urls = VecDeque::from(step.fetch);
            if self.0.reading.get() {
                // These are not for the answer.
                self.0.queue.borrow_mut().append(&mut urls);
                self.start();
            }
        }
        Ok(())
    }

    async fn ask<T: serde::de::DeserializeOwned>(&self, ask: SiteQuery, blobs: Vec<Blob>) -> Result<T, String> {
        if self.0.closed.get() {
            return Err("the site was closed".to_owned());
        }
        self.0.host.ask(ask, blobs).await
    }

    fn tell(&self, how: Result<(), String>) {
        if let Some(ready) = self.0.ready.take() {
            let _ = ready.send(how);
        }
    }

    fn wake(&self) {
        if let Some(wake) = self.0.wake.take() {
            let _ = wake.send(());
        }
    }

    /// Reads the site from the first page to the last.
    async fn read(&self, open: SiteQuery, mut cache: Option<String>) -> Result<(), String> {
        let tools = self.ask(SiteQuery::Tools, Vec::new()).await?;
        self.0.tools.replace(tools);
        let mut step: SiteStep = self.ask(open, Vec::new()).await?;
        let mut kept = None;
        loop {
            if let Some(((root, version), source)) =
                step.version.clone().filter(|v| !v.1.is_empty()).zip(cache.take_if(|_| step.version.is_some()))
            {
                let key = format!("{root} {source}");
                if let Some(loaded) = self.load(&key, &version).await {
                    step = loaded;
                }
                // What is read now is stored; a stored site may have more pages than were read.
                if !step.info.as_ref().is_some_and(|info| info.cached && info.complete) {
                    kept = Some(key);
                }
            }
            (self.0.on_progress)(&step);
            if let Some(why) = step.error {
                return Err(why);
            }
            if let Some(info) = step.info {
                self.0.info.replace(info);
                self.tell(Ok(()));
            }
            self.0.queue.borrow_mut().extend(step.fetch);
            self.start();
            let Some(lot) = self.lot().await else { break };
            let (answers, bodies): (Vec<FetchedPage>, Vec<Option<Blob>>) = lot.into_iter().unzip();
            step = self.ask(SiteQuery::Take(answers), bodies.into_iter().flatten().collect()).await?;
        }
        self.0.reading.set(false);
        if let Some(key) = kept.filter(|_| self.info().complete) {
            self.keep(&key).await;
        }
        Ok(())
    }

    /// Loads the cached content of the site, if it has this version.
    async fn load(&self, key: &str, version: &str) -> Option<SiteStep> {
        let blob = text_blob(&cache::take(key, version).await?);
        self.ask::<Option<SiteStep>>(SiteQuery::Load { version: version.to_owned() }, vec![blob]).await.ok()?
    }

    async fn keep(&self, key: &str) {
        let Ok(text) = self.0.host.ask_text(SiteQuery::Save, Vec::new()).await else { return };
        if !text.is_empty() && text.len() <= MAX_KEPT_BYTES {
            // If there is no space, nothing is cached.
            let _ = cache::put(key, &self.info().version, &text).await;
        }
    }

    /// Waits for responses and returns the next batch; `None`: there are no more.
    async fn lot(&self) -> Option<Vec<(FetchedPage, Option<Blob>)>> {
        loop {
            let lot: Vec<_> = {
                let mut arrived = self.0.arrived.borrow_mut();
                let many = arrived.len().min(LOT);
                arrived.drain(..many).collect()
            };
            if !lot.is_empty() {
                return Some(lot);
            }
            if self.0.closed.get() || self.0.active.get() == 0 {
                return None;
            }
            let (wake, woken) = oneshot::channel();
            self.0.wake.replace(Some(wake));
            let _ = woken.await;
        }
    }

    /// Starts queued requests, up to the limit.
    fn start(&self) {
        while self.0.active.get() < AT_ONCE && !self.0.closed.get() {
            let Some(url) = self.0.queue.borrow_mut().pop_front() else { break };
            self.0.active.set(self.0.active.get() + 1);
            let docs = self.clone();
            spawn_local(async move {
                let arrived = docs.0.fetcher.fetch(url).await;
                docs.0.active.set(docs.0.active.get() - 1);
                docs.0.arrived.borrow_mut().push_back(arrived);
                docs.start();
                docs.wake();
            });
        }
    }
}

impl std::fmt::Debug for Docs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Docs").field("info", &self.0.info.borrow()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for DocsOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocsOptions").field("page", &self.page).finish_non_exhaustive()
    }
}

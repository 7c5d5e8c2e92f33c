//! Drives and stores the app's runs. WASM -> shell, store.
//!
//! The app's page sends orders and receives news (`protocol::app`); it holds only what the run manager has reported about a
//! run. Owns the sessions, their files, the database, and the exchange with other tabs. Deliberately absent: how orders
//! arrive here, and everything visible (`ui`).

mod notes;
mod permits;
mod plans;
mod run_handle;
mod running;
mod state;
mod stored_plans;
mod stored_runs;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use serde::Serialize;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;

use crate::shell::{self, Access, Notice, Page, js};
use crate::store::RunWriter;
use crate::worker::{ToolHost, Workspace};
use turnwise_engine::{Branch, RunConfig, Task};
use turnwise_protocol::AgentFileChange;
use turnwise_protocol::app::{HandleId, News, Order, PlanId, QuestionId, StoredKind, With};
use turnwise_record::trajectory::{Carried, Restored, Trajectory};
use turnwise_view::probe::{self, Probe};

use permits::Permits;
use run_handle::RunHandle;
use running::PlanRunning;
pub use state::RunManager;
use state::{RunManagerState, all_access};

impl RunManager {
    /// Opens the run manager and its database. `post` sends news with their parts to the page; `page` calls the models that
    /// only the page can reach.
    #[must_use]
    pub fn open(page: Rc<dyn Page>, post: impl Fn(News, Vec<JsValue>) + 'static) -> Self {
        let post: Rc<run_handle::NewsPoster> = Rc::new(post);
        let manager = RunManager(Rc::new(RunManagerState {
            page,
            permits: Permits::new(run_handle::NewsSender::new(&post)),
            post,
            handles: RefCell::default(),
            plans: RefCell::default(),
            files: RefCell::default(),
            storage: RefCell::default(),
            opening: RefCell::default(),
            opening_plans: RefCell::default(),
            waiting: RefCell::default(),
        }));
        manager.open_storage();
        manager
    }

    /// Handles one order with its parts.
    pub fn take(&self, order: Order, parts: Vec<JsValue>) {
        let opening = |handle: &HandleId| self.0.opening.borrow().contains(handle);
        let opening_plan = |plan: PlanId| self.0.opening_plans.borrow().contains(&plan);
        if order.about().iter().any(opening) || order.about_plan().is_some_and(opening_plan) {
            return self.0.waiting.borrow_mut().push((order, parts));
        }
        let mut parts = VecDeque::from(parts);
        let part = |parts: &mut VecDeque<JsValue>| parts.pop_front().and_then(|part| part.as_string());
        match order {
            Order::List => self.list_soon(),
            Order::Run { handle, with, config, task, after, kept, version } => {
                let handle = self.new_handle(handle, &with, config.as_ref().clone(), kept);
                handle.keeper.iter().for_each(|keeper| keeper.set_version(version.clone()));
                if after.is_some_and(|after| self.is_strange(after)) {
                    handle.keeper.iter().for_each(RunWriter::set_strange);
                }
                self.run(&handle, *config, *task, after);
            }
            Order::Branch { id, handle, with, of, place, branch, result } => {
                let strange = of.is_none_or(|of| self.is_strange(of));
                let document = match of {
                    Some(of) => self.handle(of).and_then(|handle| handle.session.document()),
                    None => part(&mut parts).and_then(|text| Trajectory::parse(&text).ok()),
                };
                let document = match (document, &branch.edited, result) {
                    (Some(document), Some(call), Some(result)) => document.with_result(call, result),
                    (document, ..) => document.ok_or_else(|| "The run no longer exists.".to_owned()),
                };
                self.answer(
                    id,
                    document.and_then(|document| self.branch(handle, &with, &document, place, *branch, strange)),
                );
            }
            Order::Open { id, with, runs } => {
                self.0.opening.borrow_mut().extend(runs.iter().map(|(handle, _)| *handle));
                let manager = self.clone();
                spawn_local(async move {
                    let opened = manager.open_stored(&with, &runs).await;
                    manager.answer(id, opened);
                    manager.0.opening.borrow_mut().retain(|handle| runs.iter().all(|(opened, _)| opened != handle));
                    manager.take_waiting();
                });
            }
            Order::Stop { handle } => self.with(handle, |handle| handle.session.stop()),
            Order::Cancel { handle } => self.with(handle, |handle| handle.session.cancel()),
            Order::Grant { handle, turns, with, authority } => {
                let handle = self.handle_with_keys(handle, &with);
                let granted = handle.map(|handle| handle.session.grant(turns, authority.map(|authority| *authority)));
                self.complain(granted);
            }
            Order::Resume { handle, with, authority } => {
                let handle = self.handle_with_keys(handle, &with);
                let authority = authority.map(|authority| *authority);
                self.complain(handle.as_ref().map(|handle| handle.session.resume(authority)));
                handle.iter().for_each(RunHandle::renew);
            }
            Order::Permit { permit, answered } => self.0.permits.answer(permit, answered),
            Order::Close { handle: id } => self.with(id, |handle| {
                handle.session.close();
                if handle.keeper.is_none() {
                    self.0.handles.borrow_mut().remove(&id);
                }
            }),
            Order::Record { id, handle } => {
                let document = self.handle(handle).and_then(|handle| handle.document());
                self.hand_over(id, document.as_ref());
            }
            Order::StoredRecord { id, key, kind } => {
                let manager = self.clone();
                spawn_local(async move {
                    let handed = match kind {
                        StoredKind::Plan => {
                            manager.stored_plan_record(&key).await.map(|plan| manager.hand_over(id, Some(&plan)))
                        }
                        StoredKind::Run | StoredKind::Step => {
                            manager.stored_record(&key).await.map(|run| manager.hand_over(id, Some(&run)))
                        }
                    };
                    if let Err(error) = handed {
                        manager.answer(id, Err(error.to_string()));
                    }
                });
            }
            Order::Note { id, handle, with, change } => {
                let (manager, record) = (self.clone(), part(&mut parts));
                spawn_local(async move {
                    match manager.note(handle, record, &with, *change).await {
                        Ok(noted) => manager.hand_over(id, Some(&noted)),
                        Err(why) => manager.answer(id, Err(why)),
                    }
                });
            }
            Order::Plan { plan, handles, with, config, written, after, from } => {
                let (manager, text) = (self.clone(), part(&mut parts));
                let start = plans::PlanParameters { plan, handles, with, config: *config, written: *written, from };
                spawn_local(async move { manager.run_plan(start, after, text).await });
            }
            Order::ShowPlan { id, plan, handles } => {
                let shown = self.show_plan(plan, handles, &part(&mut parts).unwrap_or_default());
                self.answer(id, shown);
            }
            Order::OpenPlan { id, plan, handles, with, key } => {
                self.0.opening_plans.borrow_mut().insert(plan);
                let manager = self.clone();
                spawn_local(async move {
                    let opened = manager.open_plan(plan, handles, &with, &key).await;
                    manager.answer(id, opened.map_err(|error| error.to_string()));
                    manager.0.opening_plans.borrow_mut().remove(&plan);
                    manager.take_waiting();
                });
            }
            Order::ResumePlan { plan, with } => {
                let running = self.plan(plan);
                self.complain(running.as_ref().map(|running| {
                    running.session.set_access(&all_access(&with));
                    running.session.set_page_tools(&with.page_tools);
                    running.session.resume()
                }));
                running.iter().for_each(PlanRunning::renew);
            }
            Order::StopPlan { plan } => self.plan(plan).iter().for_each(|plan| plan.session.stop()),
            Order::CancelPlan { plan } => self.plan(plan).iter().for_each(|plan| plan.session.cancel()),
            Order::PlanRecord { id, plan } => {
                self.hand_over(id, self.plan(plan).map(|running| running.session.document()).as_ref());
            }
            Order::Probe { id, handle, with, config } => self.probe(id, handle, &with, *config),
            Order::Models { id, with, provider } => {
                let manager = self.clone();
                spawn_local(async move {
                    match shell::list_models(&provider, &Access::of(&all_access(&with), 0, &provider)).await {
                        Ok(models) => manager.hand_over(id, Some(&models)),
                        Err(error) => manager.answer(id, Err(error.message)),
                    }
                });
            }
            Order::Text { id, worker_url, path } => {
                let blob = parts.pop_front().and_then(|part| part.dyn_into().ok());
                let manager = self.clone();
                spawn_local(async move {
                    match text(worker_url, &path, blob).await {
                        Ok(text) => manager.post(News::Done { id }, vec![text.into()]),
                        Err(why) => manager.answer(id, Err(why)),
                    }
                });
            }
            Order::Files { files, changes } => {
                let blobs = parts.into_iter().filter_map(|part| part.dyn_into().ok());
                self.files(files).take(changes, blobs);
            }
            Order::Mount { files, name } => {
                if let Some(handle) = parts.pop_front() {
                    self.files(files).workspace().mount(&name, handle);
                }
            }
            Order::Unmount { files, name } => self.files(files).workspace().unmount(&name),
            Order::KeepFiles { id, list, changes } => {
                let mut blobs = parts.into_iter().filter_map(|part| part.dyn_into::<Blob>().ok());
                let changed = changes.into_iter().map(|AgentFileChange { path, there }| {
                    let blob = there.then(|| blobs.next()).flatten();
                    (path, blob)
                });
                let (manager, changed) = (self.clone(), changed.collect());
                spawn_local(async move { manager.answer(id, manager.keep_files(list, changed).await) });
            }
            Order::KeptFiles { id, list, files } => {
                let manager = self.clone();
                spawn_local(async move { manager.answer(id, manager.load_kept_files(list, files).await) });
            }
            Order::Search { id, words } => {
                let manager = self.clone();
                spawn_local(async move {
                    match manager.search(&words).await {
                        Ok(sessions) => manager.hand_over(id, Some(&sessions)),
                        Err(why) => manager.answer(id, Err(why)),
                    }
                });
            }
            Order::Space { id } => {
                let manager = self.clone();
                spawn_local(async move {
                    match manager.space().await {
                        Ok(stored) => manager.hand_over(id, Some(&stored)),
                        Err(why) => manager.answer(id, Err(why)),
                    }
                });
            }
            Order::Rename { id, keys, name } => {
                let manager = self.clone();
                spawn_local(async move { manager.answer(id, manager.rename(&keys, name).await) });
            }
            Order::Delete { id, keys, handles } => {
                let manager = self.clone();
                spawn_local(async move { manager.answer(id, manager.delete(&keys, &handles).await) });
            }
        }
    }

    /// Handles the orders that had to wait until a run or a plan was open.
    fn take_waiting(&self) {
        let waited = self.0.waiting.take();
        waited.into_iter().for_each(|(order, parts)| self.take(order, parts));
    }

    fn run(&self, handle: &Rc<RunHandle>, mut config: RunConfig, task: Task, after: Option<HandleId>) {
        state::permit(&mut config);
        let carried = after.and_then(|after| self.handle(after)?.session.with_run(|run| run.map(Carried::from_run)));
        let task = match carried {
            // The page says to which session the run belongs.
            Some(Carried { history, refused_tokens, .. }) => Task { history, refused_tokens, ..task },
            None => task,
        };
        let listener = handle.ear();
        if let Err(error) = handle.session.begin(config, task, listener) {
            self.notify(error.to_string(), true);
        }
    }

    fn branch(
        &self,
        id: HandleId,
        with: &With,
        document: &Trajectory,
        place: usize,
        mut branch: Branch,
        strange: bool,
    ) -> Result<(), String> {
        let restored = Restored::before_turn(document, place)
            .ok_or("This turn cannot be reached from the events of the record.")?;
        // Whoever wrote the record decides nothing here: not even which folders are open.
        let authority = branch.authority.as_mut().ok_or("The branch says nothing about who decides in it.")?;
        state::permit_branch(&mut authority.permissions, self.files(with.files).workspace());
        let mut config = restored.recorder.run.config().clone();
        drop(authority.apply(&mut config));
        let handle = self.new_handle(id, with, config, true);
        handle.keeper.iter().filter(|_| strange).for_each(RunWriter::set_strange);
        let listener = handle.ear();
        handle.session.branch(restored, branch, listener).map_err(|error| error.to_string())?;
        handle.tell();
        Ok(())
    }

    fn new_handle(&self, id: HandleId, with: &With, config: RunConfig, kept: bool) -> Rc<RunHandle> {
        let workspace = self.files(with.files).workspace().clone();
        let session = self.session(id, with, config, workspace.clone());
        let keeper = if kept { self.keeper(&session, &workspace) } else { None };
        let handle = RunHandle::new(self.news(), id, session, keeper);
        self.0.handles.borrow_mut().insert(id, Rc::clone(&handle));
        handle
    }

    /// Whether the content of a run comes from a record that this store did not make.
    fn is_strange(&self, id: HandleId) -> bool {
        self.handle(id).is_some_and(|handle| handle.keeper.as_ref().is_some_and(RunWriter::is_strange))
    }

    fn complain<E: std::fmt::Display>(&self, done: Option<Result<(), E>>) {
        if let Some(Err(error)) = done {
            self.notify(error.to_string(), true);
        }
    }

    /// Answers with the requested value, as JSON.
    fn hand_over<T: Serialize>(&self, id: QuestionId, what: Option<&T>) {
        match what.and_then(|what| serde_json::to_string_pretty(what).ok()) {
            Some(text) => self.post(News::Done { id }, vec![text.into()]),
            None => self.answer(id, Err("There is no record of it.".to_owned())),
        }
    }

    /// Tests a provider with one turn and one attempt; answers when it is over.
    fn probe(&self, id: QuestionId, handle: HandleId, with: &With, config: RunConfig) {
        let handle = self.new_handle(handle, with, config, false);
        let (asker, began, run) = (self.downgrade(), js::now(), Rc::downgrade(&handle));
        let listener = move |notice: Notice<'_>| {
            let Notice::Record(record) = notice else { return };
            let document = || run.upgrade()?.session.document();
            let found = Probe::from_record(&record.what, (js::now() - began) as u64, document);
            if let (Some(found), Some(manager)) = (found, asker.upgrade()) {
                manager.hand_over(id, Some(&found));
            }
        };
        if let Err(error) = handle.session.start(probe::QUESTION.to_owned(), None, listener) {
            self.answer(id, Err(error.to_string()));
        }
    }

    fn answer(&self, id: QuestionId, done: Result<(), String>) {
        let news = match done {
            Ok(()) => News::Done { id },
            Err(message) => News::Failed { id, message },
        };
        self.post(news, Vec::new());
    }
}

/// The text of a file, as the tools read it. The worker is started for it and ended afterwards: a document may need much memory.
async fn text(worker_url: String, path: &str, blob: Option<Blob>) -> Result<String, String> {
    let blob = blob.ok_or("the question came without a file")?;
    let host = ToolHost::new(worker_url, Workspace::new(), 1);
    let text = host.text(path, blob).await;
    host.close();
    text
}

//! Prepares a record for stepping through: a worker opens it, its steps are fetched, and the state at the first is
//! drawn.

use std::cell::RefCell;
use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;

use turnwise::worker::ViewerHost;
use turnwise_protocol::Snapshot;
use turnwise_protocol::record::{OpenError, RecordQuery};
use turnwise_view::replay::ReplaySteps;
use turnwise_view::replay::play::bands;
use turnwise_view::{HeadView, Meter, RunSource};

use crate::browser::dom;
use crate::client::slots::{Behind, Local, RunPage};
use crate::state::{App, Backing, Thread};
use crate::viewer::state::{LoadState, StagedRun};
use crate::viewer::stepped::Stepped;

impl App {
    /// Prepares the open thread's last run, unless that is done.
    pub fn set_stage(&self) {
        let Some(thread) = self.thread_now() else { return };
        if self.replays().stage.with_untracked(|stage| stage.as_ref().is_some_and(|stage| stage.is_of(&thread))) {
            return;
        }
        if let Some(old) = self.replays().stage.get_untracked() {
            self.replays().stage.set(None);
            old.clear();
        }
        let app = *self;
        spawn_local(async move {
            if let Err(why) = app.find_again(&thread) {
                return app.complain(why);
            }
            let Some(Staged { whole, text }) = Staged::from_thread(&thread).await else {
                return app.complain("This run has no record yet.");
            };
            // The reader may have gone elsewhere in the meantime.
            if app.current.get_untracked() != Some(thread.id) || app.replays().stage.with_untracked(Option::is_some) {
                return;
            }
            let host = app.host_of(&thread);
            let opened = host.is_some();
            let host = host.unwrap_or_else(|| ViewerHost::new(dom::worker_url()));
            let stage = StagedRun::for_thread(&thread, staged(&whole, &thread), host);
            app.replays().stage.set(Some(stage.clone()));
            let record = if opened { None } else { dom::text_blob(&text, "application/json") };
            let ready = fetch(&stage, record, whole.turns.len()).await;
            if ready == LoadState::Ready {
                let first = stage.all();
                stage.bands.set(bands(&first, &Meter::from(&RunSource::from(whole.as_ref()).recorded()).ticks));
                stage.load.set(ready);
                stage.go(app, app.replays().first.with_value(|first| *first));
                app.replays().first.set_value(0);
            } else {
                stage.load.set(ready);
            }
        });
    }

    /// Takes the worker that already has the thread's record open. It is used once.
    fn host_of(&self, thread: &Thread) -> Option<ViewerHost> {
        let taken = self.replays().opened.try_update_value(|opened| match opened {
            Some((id, _)) if *id == thread.id => opened.take(),
            _ => None,
        });
        taken.flatten().map(|(_, host)| host)
    }
}

/// Makes a page that shows the state of the thread's last run at a step.
fn staged(whole: &Arc<Snapshot>, thread: &Thread) -> (RunPage, Local<RefCell<Stepped>>) {
    let stepped = Stepped::new(Arc::clone(whole));
    let stepped = Local::new(RefCell::new(stepped));
    let page = {
        let borrowed = stepped.borrow();
        let page = RunPage::new(0, &borrowed.source(), Behind::Stepped(stepped.clone()));
        // What a branch changed is not there yet at the first step.
        let page = RunPage { head: HeadView::from(&borrowed.whole()), ..page };
        let last = thread.pages.with_untracked(|pages| pages.last().map(|last| (last.place, last.notes.clone())));
        // Branches and notes are those of the run itself.
        last.into_iter().fold(page, |page, (place, notes)| RunPage { place, notes, ..page })
    };
    (page, stepped)
}

/// The last run of a thread in its current state, and the text of its record.
struct Staged {
    whole: Arc<Snapshot>,
    text: String,
}

impl Staged {
    async fn from_thread(thread: &Thread) -> Option<Self> {
        match &thread.backing {
            Backing::Document(record) => {
                Some(Staged { whole: Arc::clone(&record.whole), text: record.text.to_string() })
            }
            Backing::Live { handle, .. } => {
                let handle = handle.borrow().clone();
                let (text, mut whole) = (handle.record().await.ok()?, handle.snapshot()?);
                // The record only has sub-agents that began.
                whole.children.retain(|child| child.run.is_some());
                Some(Staged { whole: Arc::new(whole), text })
            }
            Backing::Plan { .. } => None,
        }
    }
}

async fn fetch(stage: &StagedRun, record: Option<Blob>, turns: usize) -> LoadState {
    if let Some(record) = record {
        match stage.host.open(record).await {
            Ok(Ok(opened)) if opened.events == 0 && turns > 0 => return nothing(),
            Ok(Ok(_)) => {}
            Ok(Err(OpenError::Unreadable(why))) | Err(why) => {
                return LoadState::Nothing(format!("This run cannot be replayed: {why}"));
            }
            Ok(Err(OpenError::NotJson | OpenError::OtherFormat)) => return nothing(),
        }
    }
    let mut all = Vec::new();
    loop {
        let from = all.len();
        match stage.host.ask::<ReplaySteps>(RecordQuery::Steps { from }).await {
            Ok(steps) if steps.of <= 1 && turns > 1 => return nothing(),
            Ok(steps) => {
                let none = steps.steps.is_empty();
                all.extend(steps.steps);
                if none || all.len() >= steps.of {
                    stage.keep(all, steps.requests);
                    return LoadState::Ready;
                }
            }
            Err(why) => return LoadState::Nothing(format!("This run cannot be replayed: {why}")),
        }
    }
}

fn nothing() -> LoadState {
    LoadState::Nothing(
        "This record has no events, so there is nothing to step through. Other formats store the messages of a run \
         but not its events. The transcript shows all messages."
            .to_owned(),
    )
}

//! Reads what is stored (the list, one run with its events); renames and deletes runs.

use indexed_db_futures::KeyRange;
use indexed_db_futures::prelude::*;
use js_sys::JsString;
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Blob;

use super::database::{
    DRAFTS, Durability, EVENTS, FILES, NOTES, ORIGINS, PLANS, RUNS, RunDatabase, WORKSPACES, reading, writing,
};
use super::error::StoreError;
use super::files::{self, StoredFile};
use crate::worker::Workspace;
use turnwise_engine::{Event, Run, RunConfig, Task};
use turnwise_protocol::app::{Header, KeptList, StorageUsage, StoredKind};
use turnwise_record::plan::PlanRun;
use turnwise_record::trajectory::{Note, NoteChange, RecordedEvent};
use turnwise_view::search::{TaskHit, has_words, passage};

/// The start of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunStart {
    pub config: RunConfig,
    pub task: Task,
}

/// A stored run.
#[derive(Debug)]
pub struct Loaded {
    pub origin: RunStart,
    pub events: Events,
    pub notes: Vec<Note>,
}

/// Stored events, in order, up to the first that is missing or cannot be read. Each is parsed on demand, so that the
/// caller can pause while it opens a long run.
#[derive(Debug)]
pub struct Events {
    values: std::vec::IntoIter<JsValue>,
    seq: u32,
    damaged_at: Option<u32>,
}

impl RunStart {
    pub(super) fn from_run(run: &Run) -> Self {
        let config = run.started_with().unwrap_or(run.config()).clone();
        RunStart { config, task: run.task().clone() }
    }
}

impl RunDatabase {
    /// Returns all runs, oldest first. Headers that cannot be read are left out and counted.
    pub async fn list(&self) -> Result<(Vec<Header>, usize), StoreError> {
        let connection = self.connection()?;
        let transaction = reading(&connection, &[RUNS])?;
        let texts: Vec<String> =
            transaction.object_store(RUNS)?.get_all::<JsValue>().primitive()?.await?.filter_map(text).collect();
        let read = |text: &String| serde_json::from_str(text).ok().map(Header::listed);
        let headers: Vec<Header> = texts.iter().filter_map(read).collect();
        let unread = texts.len() - headers.len();
        Ok((headers, unread))
    }

    /// Returns the lines of the list with a run whose text contains all of these words, each with a passage.
    pub async fn search(&self, words: &str) -> Result<Vec<TaskHit>, StoreError> {
        let connection = self.connection()?;
        let transaction = reading(&connection, &[RUNS])?;
        let texts = transaction.object_store(RUNS)?.get_all::<JsValue>().primitive()?.await?.filter_map(text);
        let wanted = words.to_lowercase();
        let headers = texts.filter_map(|text| serde_json::from_str::<Header>(&text).ok());
        let found = headers.filter(|header| has_words(&header.words.to_lowercase(), &wanted));
        let hit = |header: Header| TaskHit {
            line: header.line().to_owned(),
            passage: passage(&header.summary.title, &header.words, &wanted),
        };
        Ok(found.map(hit).collect())
    }

    /// Counts what is stored. Runs are read one at a time.
    pub async fn space(&self) -> Result<StorageUsage, StoreError> {
        let connection = self.connection()?;
        let length = |value: &JsValue| value.dyn_ref::<JsString>().map_or(0, |text| u64::from(text.length()));
        let mut stored = StorageUsage::default();
        let all = reading(&connection, &[RUNS])?.object_store(RUNS)?.get_all::<JsValue>().primitive()?.await?;
        for value in all.filter_map(Result::ok) {
            let header = value.as_string().and_then(|text| serde_json::from_str::<Header>(&text).ok());
            let Some(Header { key, kind, .. }) = header else { continue };
            let mut size = length(&value);
            let transaction = reading(&connection, &[ORIGINS, EVENTS, PLANS, NOTES, DRAFTS])?;
            for name in [ORIGINS, PLANS, NOTES, DRAFTS] {
                let found: Option<JsValue> = transaction.object_store(name)?.get(key.as_str()).primitive()?.await?;
                size += found.as_ref().map_or(0, length);
            }
            let events = transaction.object_store(EVENTS)?;
            let events = events.get_all::<JsValue>().with_query::<String, _>(events_of(&key, 0)).primitive()?.await?;
            size += events.filter_map(Result::ok).map(|event| length(&event)).sum::<u64>();
            let share = if kind == StoredKind::Run { &mut stored.runs } else { &mut stored.plans };
            share.count += u64::from(kind != StoredKind::Step);
            share.bytes += size;
        }
        stored.files = files::space(&connection).await?;
        Ok(stored)
    }

    /// Returns the header of one run; `None`: it was deleted.
    pub async fn header(&self, key: &str) -> Result<Option<Header>, StoreError> {
        let connection = self.connection()?;
        let transaction = reading(&connection, &[RUNS])?;
        let found: Option<String> = transaction.object_store(RUNS)?.get(key).primitive()?.await?;
        Ok(found.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Loads a run with all events up to the first that cannot be read.
    ///
    /// # Errors
    /// The run was deleted, or its start cannot be read.
    pub async fn load(&self, key: &str) -> Result<Loaded, StoreError> {
        let (origin, events) = self.load_run(key).await?.ok_or_else(StoreError::no_longer_stored)?;
        Ok(Loaded { origin, events, notes: self.notes(key).await? })
    }

    /// Loads a run without its notes; `None`: it is not stored.
    ///
    /// # Errors
    /// Its start cannot be read.
    pub async fn load_run(&self, key: &str) -> Result<Option<(RunStart, Events)>, StoreError> {
        let connection = self.connection()?;
        let transaction = reading(&connection, &[ORIGINS, EVENTS])?;
        let origin: Option<String> = transaction.object_store(ORIGINS)?.get(key).primitive()?.await?;
        let Some(origin) = origin else { return Ok(None) };
        let events = transaction.object_store(EVENTS)?;
        let events = events.get_all::<JsValue>().with_query::<String, _>(events_of(key, 0)).primitive()?.await?;
        let origin = serde_json::from_str(&origin)
            .map_err(|error| StoreError::Failed(format!("its beginning is damaged: {error}")))?;
        Ok(Some((origin, Events::from(events.filter_map(Result::ok).collect(), 1))))
    }

    /// Loads the state of a plan, without the runs of its steps.
    ///
    /// # Errors
    /// The plan was deleted, or cannot be read.
    pub async fn load_plan(&self, key: &str) -> Result<PlanRun, StoreError> {
        let connection = self.connection()?;
        let transaction = reading(&connection, &[PLANS])?;
        let plan: Option<String> = transaction.object_store(PLANS)?.get(key).primitive()?.await?;
        let plan = plan.ok_or_else(StoreError::no_longer_stored)?;
        serde_json::from_str(&plan).map_err(|error| StoreError::Failed(format!("the plan is damaged: {error}")))
    }

    /// Puts the files of a run or a plan in the workspace, and returns them.
    pub async fn load_files(&self, key: &str, workspace: &Workspace) -> Result<Vec<StoredFile>, StoreError> {
        files::load(self, key, workspace).await
    }

    /// Changes what is kept for later visits; without content, a file is removed.
    ///
    /// # Errors
    /// It could not be stored: nothing was changed.
    pub async fn keep_files(&self, list: KeptList, changes: Vec<(String, Option<Blob>)>) -> Result<(), StoreError> {
        files::keep(self, list, changes).await
    }

    /// Puts what is kept in the workspace.
    pub async fn load_kept_files(&self, list: KeptList, workspace: &Workspace) -> Result<(), StoreError> {
        files::load(self, files::key_of(list), workspace).await.map(drop)
    }

    /// Returns what the open requests of a run had streamed when it was last driven (`Event::ModelStreamed`).
    pub async fn streamed(&self, key: &str) -> Result<Vec<Event>, StoreError> {
        let connection = self.connection()?;
        let transaction = reading(&connection, &[DRAFTS])?;
        let found: Option<String> = transaction.object_store(DRAFTS)?.get(key).primitive()?.await?;
        Ok(found.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Returns the notes on a run.
    pub async fn notes(&self, key: &str) -> Result<Vec<Note>, StoreError> {
        let connection = self.connection()?;
        let transaction = reading(&connection, &[NOTES])?;
        Ok(read_notes(transaction.object_store(NOTES)?.get(key).primitive()?.await?))
    }

    /// Changes a note on a run, and returns all of its notes.
    ///
    /// # Errors
    /// The notes could not be stored, or are too many.
    pub async fn note(&self, key: &str, change: &NoteChange) -> Result<Vec<Note>, StoreError> {
        let connection = self.connection()?;
        let transaction = writing(&connection, &[NOTES], Durability::Strict)?;
        let store = transaction.object_store(NOTES)?;
        let mut notes = read_notes(store.get(key).primitive()?.await?);
        change.apply(&mut notes).map_err(StoreError::Failed)?;
        store.put(serde_json::to_string(&notes).unwrap_or_default()).with_key(key).primitive()?;
        transaction.commit().await?;
        Ok(notes)
    }

    /// Returns the events of a run after the first `known`.
    pub async fn events_after(&self, key: &str, known: u32) -> Result<Vec<RecordedEvent>, StoreError> {
        let connection = self.connection()?;
        let transaction = reading(&connection, &[EVENTS])?;
        let events = transaction.object_store(EVENTS)?;
        let events =
            events.get_all::<JsValue>().with_query::<String, _>(events_of(key, known + 1)).primitive()?.await?;
        Ok(Events::from(events.filter_map(Result::ok).collect(), known + 1).collect())
    }

    /// Renames these runs; `None`: they are named after their task again.
    pub async fn rename(&self, keys: &[String], name: Option<&str>) -> Result<(), StoreError> {
        let connection = self.connection()?;
        let transaction = writing(&connection, &[RUNS], Durability::Strict)?;
        let runs = transaction.object_store(RUNS)?;
        for key in keys {
            let found: Option<String> = runs.get(key.as_str()).primitive()?.await?;
            let header = found.and_then(|text| serde_json::from_str::<Header>(&text).ok());
            if let Some(mut header) = header {
                header.name = name.map(str::to_owned);
                let text = serde_json::to_string(&header).unwrap_or_default();
                runs.put(text).with_key(key.as_str()).primitive()?;
            }
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Deletes these runs and plans, and the contents that no other run uses.
    pub async fn delete(&self, keys: &[String]) -> Result<(), StoreError> {
        let connection = self.connection()?;
        let transaction = writing(
            &connection,
            &[RUNS, ORIGINS, EVENTS, PLANS, WORKSPACES, FILES, NOTES, DRAFTS],
            Durability::Strict,
        )?;
        for key in keys {
            for store in [RUNS, ORIGINS, PLANS, WORKSPACES, NOTES, DRAFTS] {
                transaction.object_store(store)?.delete(key.as_str()).primitive()?;
            }
            transaction.object_store(EVENTS)?.delete::<String, _>(events_of(key, 0)).primitive()?;
            for store in [RUNS, ORIGINS, EVENTS, DRAFTS] {
                transaction.object_store(store)?.delete::<String, _>(steps_of(key)).primitive()?;
            }
        }
        files::remove_unused(&transaction).await?;
        transaction.commit().await?;
        Ok(())
    }
}

impl Events {
    fn from(values: Vec<JsValue>, first: u32) -> Self {
        Events { values: values.into_iter(), seq: first, damaged_at: None }
    }

    /// Returns the number of the first event that cannot be read, known once the iterator is exhausted. The damaged
    /// data is left as it is.
    #[must_use]
    pub fn damaged_at(&self) -> Option<u32> {
        self.damaged_at
    }
}

impl Iterator for Events {
    type Item = RecordedEvent;

    fn next(&mut self) -> Option<RecordedEvent> {
        if self.damaged_at.is_some() {
            return None;
        }
        let value = self.values.next()?;
        let event = value.as_string().and_then(|text| serde_json::from_str::<RecordedEvent>(&text).ok());
        let event = event.filter(|event| event.seq == self.seq);
        if event.is_none() {
            self.damaged_at = Some(self.seq);
        }
        self.seq += 1;
        event
    }
}

fn read_notes(text: Option<String>) -> Vec<Note> {
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn text<E>(value: Result<JsValue, E>) -> Option<String> {
    // Anything but text is not a header; it counts as unreadable.
    value.ok().map(|value| value.as_string().unwrap_or_default())
}

/// Returns the key of an event. Keys sort in the order of the events.
pub(super) fn event_key(key: &str, seq: u32) -> String {
    format!("{key}/{seq:08}")
}

fn events_of(key: &str, first: u32) -> KeyRange<String> {
    KeyRange::Bound(event_key(key, first), false, format!("{key}/~"), false)
}

/// The keys of the runs of a plan's steps, and of their events.
fn steps_of(plan: &str) -> KeyRange<String> {
    KeyRange::Bound(format!("{plan}."), false, format!("{plan}.~"), false)
}

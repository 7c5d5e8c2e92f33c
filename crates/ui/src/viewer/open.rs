//! Opens a record: a worker reads it and takes it apart, and it is assembled here piece by piece, so that no browser
//! task is long.

use std::sync::Arc;

use futures_channel::oneshot;
use js_sys::Uint8Array;
use leptos::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::Blob;

use turnwise::worker::ViewerHost;
use turnwise_content::format::bytes;
use turnwise_protocol::Snapshot;
use turnwise_protocol::record::{Cursor, DocumentPart};
use turnwise_protocol::record::{OpenError, OpenedRecord, RecordQuery};
use turnwise_record::trajectory::ExportFormat;

use crate::browser::dom;
use crate::components::toast::{Toast, ToastKind};
use crate::state::{App, OpenRecord, Thread};

/// Records larger than this, in bytes, take a moment to open.
const LONG: f64 = 192.0 * 1024.0;
/// Bytes decoded at a time.
const SLICE: u32 = 512 * 1024;

/// A record that was read: its thread, and the worker that has its events.
pub struct ReadRecord {
    thread: Thread,
    events: Option<ViewerHost>,
}

impl ReadRecord {
    /// Adds it to the list without showing it.
    pub fn add(self, app: App) -> u32 {
        let id = self.thread.id;
        app.threads.update(|threads| threads.push(self.thread));
        id
    }
}

/// Opens a trajectory as a run. Without a name, it is named after the run.
///
/// # Errors
/// The reason why it was not opened; nothing has changed in that case.
pub async fn open_text(app: App, name: Option<&str>, blob: &Blob) -> Result<(), OpenError> {
    if blob.size() > LONG {
        let what = name.unwrap_or("the record");
        app.progress(format!("Opening {what}, {}", bytes(size(blob))));
    }
    let ReadRecord { thread, events } = read_text(app, name, blob).await?;
    let id = thread.id;
    app.dialog.set(None);
    app.list_all();
    app.add_thread(thread);
    // Its events stay with the worker.
    if let Some(host) = events {
        app.replays().opened.set_value(Some((id, host)));
    }
    Ok(())
}

/// Reads a trajectory without showing it.
///
/// # Errors
/// The reason why that is not possible.
pub async fn read_text(app: App, name: Option<&str>, blob: &Blob) -> Result<ReadRecord, OpenError> {
    let host = ViewerHost::new(dom::worker_url());
    let text = text_of(blob.clone());
    let (whole, OpenedRecord { summary, events, .. }) = assemble(&host, blob).await?;
    let text = text.await.ok().flatten().ok_or_else(|| OpenError::Unreadable("It could not be read.".to_owned()))?;
    // Separate browser tasks: reading the last piece, making the page's thread, and drawing the first turns.
    dom::pause().await;
    let name = name.map_or_else(|| ExportFormat::Native.file_name(&whole.start.run_id), str::to_owned);
    let (text, whole, summary) = (text.into(), Arc::new(whole), Arc::new(summary));
    let thread = app.record_thread(&OpenRecord { name, text, whole, summary, events });
    dom::pause().await;
    Ok(ReadRecord { thread, events: (events > 0).then_some(host) })
}

/// Assembles the record from its parts; also returns what else the worker reported of it.
async fn assemble(host: &ViewerHost, blob: &Blob) -> Result<(Snapshot, OpenedRecord), OpenError> {
    let opened = host.open(blob.clone()).await.map_err(OpenError::Unreadable)??;
    let mut whole = opened.head.clone();
    let mut next = Some(Cursor::default());
    while let Some(cursor) = next {
        let part = host.ask::<DocumentPart>(RecordQuery::Part(cursor)).await.map_err(OpenError::Unreadable)?;
        next = part.join(&mut whole);
    }
    Ok((whole, opened))
}

/// Starts reading the text in the background.
fn text_of(blob: Blob) -> oneshot::Receiver<Option<String>> {
    let (done, text) = oneshot::channel();
    spawn_local(async move {
        // The caller may have given up.
        let _ = done.send(read(&blob).await);
    });
    text
}

async fn read(blob: &Blob) -> Option<String> {
    let all = Uint8Array::new(&JsFuture::from(blob.array_buffer()).await.ok()?);
    let mut text = String::with_capacity(all.length() as usize);
    let mut rest = Vec::new();
    for from in (0..all.length()).step_by(SLICE as usize) {
        rest.extend(all.subarray(from, from.saturating_add(SLICE).min(all.length())).to_vec());
        let whole = match std::str::from_utf8(&rest) {
            Ok(part) => part.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return None,
        };
        // A character may span two slices.
        let over = rest.split_off(whole);
        text.push_str(std::str::from_utf8(&rest).ok()?);
        rest = over;
        dom::pause().await;
    }
    rest.is_empty().then_some(text)
}

impl App {
    /// Shows what is in progress, until the next message.
    pub fn progress(&self, text: String) {
        self.toast.set(Some(Toast { text, kind: ToastKind::Done, undo: None }));
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Sizes are whole and positive.
fn size(blob: &Blob) -> u64 {
    blob.size() as u64
}

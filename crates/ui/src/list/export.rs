//! The runs of the list as one ZIP file of their records, which opens all of them when it is dropped on the page.

use std::collections::BTreeMap;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;

use turnwise_content::format::counted;
use turnwise_protocol::app::{Header, Order, StoredKind};
use turnwise_record::trajectory::ExportFormat;

use crate::browser::dom;
use crate::client::app_worker::AppWorker;
use crate::client::slots::RunPage;
use crate::files::archive;
use crate::list::rows;
use crate::plans::state::{PlanPage, RecordPlace};
use crate::state::{App, Backing, Thread};

const NAME: &str = "turnwise-runs.zip";

/// Returns a file name for a record that is not taken yet: a plan may have been run twice. A record from a file may have any text as
/// its id.
fn free_name(taken: &BTreeMap<String, Blob>, id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let id: String = id.chars().take(100).map(safe).collect();
    let names = std::iter::once(id.clone()).chain((2..).map(|n: u32| format!("{id}-{n}")));
    let mut names = names.map(|name| ExportFormat::Native.file_name(&name));
    names.find(|name| !taken.contains_key(name)).unwrap_or_default()
}

impl App {
    /// Downloads the runs that the list shows: those that match its search and its filters.
    pub fn export_shown(self) {
        let shown = untrack(|| self.lines(self.listed_lines()));
        let Some(line) = self.line.get_value() else { return };
        self.tell("Collecting the records of the runs in the list.");
        spawn_local(async move {
            let (mut records, mut failed) = (BTreeMap::new(), 0);
            for shown in shown {
                let found = match shown {
                    rows::ListRow::Day(_) | rows::ListRow::Versions { .. } => continue,
                    rows::ListRow::Open(thread) => self.records_of(&line, &thread).await,
                    rows::ListRow::Stored(stored) => {
                        let mut records = Vec::new();
                        // The record of a plan holds those of its steps.
                        for Header { key, kind, summary, .. } in stored.runs {
                            if kind == StoredKind::Step {
                                continue;
                            }
                            let record = line.ask(|id| Order::StoredRecord { id, key, kind }, Vec::new()).await;
                            records.push((summary.run_id, record.map(Option::unwrap_or_default)));
                        }
                        records
                    }
                };
                for (id, record) in found {
                    let blob = record.ok().and_then(|text| dom::text_blob(&text, ExportFormat::Native.media_type()));
                    match blob {
                        Some(blob) => _ = records.insert(free_name(&records, &id), blob),
                        None => failed += 1,
                    }
                }
            }
            self.save_all(records.into_iter().collect(), failed).await;
        });
    }

    async fn save_all(self, records: Vec<(String, Blob)>, failed: u64) {
        let exported = counted(records.len() as u64, "record");
        match archive::archive(&records).await {
            Ok(blob) => {
                dom::save_as(NAME, &blob);
                match failed {
                    0 => self.tell(format!("Saved {NAME} with {exported}. To open them again, drop it on Turnwise.")),
                    _ => self.complain(format!("Saved {NAME} with {exported}; {failed} could not be read.")),
                }
            }
            Err(why) => self.complain(why),
        }
    }

    /// Returns the records of an open thread, each with its id.
    async fn records_of(self, line: &AppWorker, thread: &Thread) -> Vec<(String, Result<String, String>)> {
        let plan = |page: &PlanPage| (page.plan.plan_id.clone(), page.record.clone());
        match &thread.backing {
            Backing::Document(record) => vec![(record.whole.start.run_id.clone(), Ok(record.text.to_string()))],
            Backing::Plan { page, .. } => match plan(page) {
                (id, RecordPlace::Document { text, .. }) => vec![(id, Ok(text.to_string()))],
                (id, RecordPlace::Live(plan)) => {
                    let text = line.ask(|id| Order::PlanRecord { id, plan }, Vec::new()).await;
                    vec![(id, text.map(Option::unwrap_or_default))]
                }
            },
            Backing::Live { .. } => {
                let found = self.find_again(thread);
                let handles =
                    thread.pages.with_untracked(|pages| pages.iter().filter_map(RunPage::handle).collect::<Vec<_>>());
                let mut records = Vec::new();
                for handle in handles {
                    let id = handle.start().map(|start| start.run_id).unwrap_or_default();
                    let record = match &found {
                        Ok(()) => handle.record().await,
                        Err(why) => Err(why.clone()),
                    };
                    records.push((id, record));
                }
                records
            }
        }
    }
}

//! The runs to count. This is the only place that knows where they come from.

use leptos::prelude::*;

use turnwise_protocol::app::StoredKind;
use turnwise_record::trajectory::RunSummary;

use crate::state::{App, Backing, Thread};

/// Returns the figures of all runs, open or stored, oldest first.
pub fn summaries(app: App) -> Vec<RunSummary> {
    let mut runs: Vec<RunSummary> = app.threads.with_untracked(|threads| threads.iter().flat_map(of_thread).collect());
    // Open runs as they are now; all others as they were stored.
    app.list().stored.with_untracked(|headers| {
        for header in headers {
            // The steps of a plan count, each as a run.
            if header.kind != StoredKind::Plan && !runs.iter().any(|run| run.run_id == header.summary.run_id) {
                runs.push(header.summary.clone());
            }
        }
    });
    runs.sort_by_key(|run| run.started_ms);
    runs
}

fn of_thread(thread: &Thread) -> Vec<RunSummary> {
    match &thread.backing {
        Backing::Live { handle, .. } => handle.borrow().summary().into_iter().collect(),
        Backing::Document(record) => vec![record.summary.as_ref().clone()],
        // Each step is a run.
        Backing::Plan { page, .. } => page.steps.iter().filter_map(|slot| slot.ended()?.summary()).collect(),
    }
}

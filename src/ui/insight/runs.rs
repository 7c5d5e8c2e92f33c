//! Which runs there are to count. The one place that says where they come from.

use std::collections::HashMap;

use leptos::prelude::*;

use crate::trajectory::{Summary, Trajectory};

use super::super::state::{App, Backing, Thread};

thread_local! {
    /// Of documents, by thread: they do not change, and reading a long one takes its time.
    static READ: std::cell::RefCell<HashMap<u32, Option<Summary>>> = std::cell::RefCell::default();
}

/// The figures of every run of the page, in the order in which they were opened.
pub fn summaries(app: App) -> Vec<Summary> {
    app.threads.with_untracked(|threads| threads.iter().filter_map(summary).collect())
}

fn summary(thread: &Thread) -> Option<Summary> {
    match &thread.backing {
        Backing::Live { session, .. } => session.borrow().with_run(|run| run.map(Summary::of_run)),
        Backing::Document { text, .. } => READ.with_borrow_mut(|read| {
            let parsed = || Trajectory::parse(text).ok().map(|document| Summary::from(&document));
            read.entry(thread.id).or_insert_with(parsed).clone()
        }),
        // The runs of a plan's steps are the steps', and are counted with their files.
        Backing::Plan { .. } => None,
    }
}

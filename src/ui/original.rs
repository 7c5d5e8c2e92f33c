//! A branch next to the run that it comes from.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::protocol::desk::Header;

use super::slots::Page;
use super::state::{App, Thread};
use super::viewer::state::{Compared, View};

/// The run that a branch comes from.
#[derive(Clone, Debug)]
pub struct Original {
    run_id: String,
    /// The index of the branch in its thread.
    branch: usize,
}

impl Original {
    /// `None`: the run of this page is not a branch, or is stepped through.
    pub fn of(page: &Page) -> Option<Self> {
        let run_id = page.behind.with(|source| source.parent.map(|parent| parent.run_id.clone())).flatten()?;
        Original::at(page, run_id)
    }

    /// The run in which something was not yet changed. `None`: the page is a step of a replay.
    pub fn at(page: &Page, run_id: String) -> Option<Self> {
        page.run_id().map(|_| Original { run_id, branch: page.place })
    }

    /// Returns whether it is the run of this page.
    pub fn is(&self, page: &Page) -> bool {
        page.run_id().as_ref() == Some(&self.run_id)
    }

    /// Draws `face` as a button that compares the two, as long as the original is open or stored.
    pub fn compare(self, app: App, class: &'static str, face: fn() -> AnyView) -> impl IntoView {
        let original = self.clone();
        let found =
            Memo::new(move |_| app.find(&original.run_id).is_some() || app.find_stored(&original.run_id).is_some());
        move || {
            let original = self.clone();
            found.get().then(|| {
                html::button()
                    .r#type("button")
                    .class(class)
                    .attr("title", "Show this branch and the original side by side")
                    .on(ev::click, move |_| app.compare_with(original.clone()))
                    .child(face())
            })
        }
    }
}

impl App {
    /// Compares the open thread's last run with the last one of another thread.
    pub(super) fn compare_last(&self, other: u32) {
        let last = |thread: Thread| thread.pages.with_untracked(|pages| pages.len().checked_sub(1));
        let places = self.thread_now().and_then(last).zip(self.thread_with(other).and_then(last));
        if let Some((own, place)) = places {
            self.look(View::Compare(Compared { own, other, place }));
        }
    }

    /// Compares a branch in the open thread with its original, which is opened if it is stored.
    fn compare_with(self, original: Original) {
        let here = self.current.get_untracked();
        spawn_local(async move {
            let found = match self.find_or_open(&original.run_id).await {
                Ok(found) => found,
                Err(why) => return self.complain(why),
            };
            if let Some((other, place)) = found.filter(|_| self.current.get_untracked() == here) {
                self.look(View::Compare(Compared { own: original.branch, other, place }));
            }
        });
    }

    /// Opens a run without showing it, if it is stored and not open yet. Returns its thread, and its index there.
    pub(super) async fn find_or_open(self, run_id: &str) -> Result<Option<(u32, usize)>, String> {
        if untrack(|| self.find(run_id)).is_none()
            && let Some(header) = untrack(|| self.find_stored(run_id))
        {
            self.open_behind(header.line()).await?;
        }
        Ok(untrack(|| self.find(run_id)))
    }

    /// Finds an open run: its thread, and its index there.
    fn find(&self, run_id: &str) -> Option<(u32, usize)> {
        let is_it = |page: &Page| page.run_id().as_deref() == Some(run_id);
        self.threads.with(|threads| {
            let place = |thread: &Thread| thread.pages.with(|pages| pages.iter().position(is_it));
            threads.iter().find_map(|thread| Some((thread.id, place(thread)?)))
        })
    }

    fn find_stored(&self, run_id: &str) -> Option<Header> {
        let header =
            self.stored.with(|headers| headers.iter().find(|header| header.summary.run_id == run_id).cloned())?;
        (!self.is_deleted(header.line())).then_some(header)
    }
}

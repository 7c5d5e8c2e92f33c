//! A branch next to the run that it comes from.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_protocol::app::Header;

use crate::client::slots::RunPage;
use crate::components::reactive::reactive;
use crate::state::{App, Thread};
use crate::viewer::state::{Compared, View};

/// The run that a branch comes from.
#[derive(Clone, Debug)]
pub struct Original {
    run_id: String,
    /// The index of the branch in its thread.
    branch: usize,
}

impl Original {
    /// `None`: the run of this page is not a branch, or is stepped through.
    pub fn of(page: &RunPage) -> Option<Self> {
        let run_id = page.behind.with(|source| source.parent.map(|parent| parent.run_id.clone())).flatten()?;
        Original::at(page, run_id)
    }

    /// The run in which something was not yet changed. `None`: the page is a step of a replay.
    pub fn at(page: &RunPage, run_id: String) -> Option<Self> {
        page.run_id().map(|_| Original { run_id, branch: page.place })
    }

    /// Returns whether it is the run of this page.
    pub fn is(&self, page: &RunPage) -> bool {
        page.run_id().as_ref() == Some(&self.run_id)
    }

    /// Draws `face` as a button that compares the two, as long as the original is open or stored.
    pub fn compare(self, app: App, class: &'static str, face: fn() -> AnyView) -> impl IntoView {
        let original = self.clone();
        let found =
            Memo::new(move |_| app.find(&original.run_id).is_some() || app.find_stored(&original.run_id).is_some());
        reactive(move || {
            let original = self.clone();
            found.get().then(|| {
                html::button()
                    .r#type("button")
                    .class(class)
                    .attr("title", "Show this run and the original side by side")
                    .on(ev::click, move |_| {
                        let Original { run_id, branch } = original.clone();
                        spawn_local(async move { _ = app.compare_with(&run_id, branch).await });
                    })
                    .child(face())
            })
        })
    }
}

impl App {
    /// Compares a run of the open thread, the one at this index, with another one, which is opened if it is stored. Returns whether
    /// that could be done, and the reader has not gone elsewhere.
    pub async fn compare_with(self, run_id: &str, own: usize) -> bool {
        let here = self.current.get_untracked();
        match self.find_or_open(run_id).await {
            Ok(Some((other, place))) if self.current.get_untracked() == here => {
                self.look(View::Compare(Compared { own, other, place }));
                true
            }
            Ok(None) => {
                self.complain("The run to compare with is not in this browser any more.");
                false
            }
            Ok(Some(_)) => false,
            Err(why) => {
                self.complain(why);
                false
            }
        }
    }

    /// Opens a run without showing it, if it is stored and not open yet. Returns its thread, and its index there.
    pub async fn find_or_open(self, run_id: &str) -> Result<Option<(u32, usize)>, String> {
        if untrack(|| self.find(run_id)).is_none()
            && let Some(header) = untrack(|| self.find_stored(run_id))
        {
            self.open_behind(header.line()).await?;
        }
        Ok(untrack(|| self.find(run_id)))
    }

    /// Finds an open run: its thread, and its index there.
    fn find(&self, run_id: &str) -> Option<(u32, usize)> {
        let is_it = |page: &RunPage| page.run_id().as_deref() == Some(run_id);
        self.threads.with(|threads| {
            let place = |thread: &Thread| thread.pages.with(|pages| pages.iter().position(is_it));
            threads.iter().find_map(|thread| Some((thread.id, place(thread)?)))
        })
    }

    pub fn find_stored(&self, run_id: &str) -> Option<Header> {
        let header = self
            .list()
            .stored
            .with(|headers| headers.iter().find(|header| header.summary.run_id == run_id).cloned())?;
        (!self.is_deleted(header.line())).then_some(header)
    }
}

//! Below an answer: its other versions, which are runs of their own, each opened in place.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_protocol::app::{Header, StoredKind};
use turnwise_view::version::{ListedRun, Version, VersionChoice, choices, versions};
use turnwise_view::{RailView, branch};

use crate::browser::dom;
use crate::client::slots::RunPage;
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::state::App;
use crate::transcript::follow;

/// Draws the way to the version before and after this one, if there are others.
pub fn pager(app: App, page: &RunPage) -> impl IntoView + use<> {
    let (run_id, place) = (page.run_id(), page.place);
    let all = move || {
        let run_id = run_id.as_deref()?;
        let all = versions(&app.all_runs(), run_id);
        let own = all.iter().position(|version| version.run_id == run_id);
        own.filter(|_| all.len() > 1).map(|own| (own, all))
    };
    reactive(move || {
        all().map(|(own, all)| {
            let what = all.get(own).map(|version| version.change.clone()).unwrap_or_default();
            let count = format!("Version {} of {}", own + 1, all.len());
            let step = |at: Option<usize>, name: Icon, forward: bool| {
                let to = at.and_then(|at| all.get(at)).cloned();
                let side = if forward { "Next" } else { "Previous" };
                let title = to.as_ref().map(|to| format!("{side} version: {}", to.change));
                html::button()
                    .r#type("button")
                    .id(button(place, forward))
                    .class("btn bare square")
                    .attr("aria-label", format!("{side} version"))
                    .attr("title", title)
                    .prop("disabled", to.is_none())
                    .on(ev::click, move |_| to.iter().for_each(|to| app.open_version(to, forward)))
                    .child(icon(name))
            };
            html::div().class("versions").attr("role", "group").attr("aria-label", format!("{count}: {what}")).child((
                step(own.checked_sub(1), Icon::Back, false),
                html::span().attr("title", format!("{count}: {what}")).child(format!("{} / {}", own + 1, all.len())),
                step(Some(own + 1), Icon::Forward, true),
            ))
        })
    })
}

/// The id of a button of the pager.
fn button(place: usize, forward: bool) -> String {
    format!("version-{}-{place}", if forward { "next" } else { "back" })
}

impl App {
    /// Returns all runs that are open or stored, in the order in which they began. Those that are only open come last.
    pub fn all_runs(self) -> Vec<ListedRun> {
        let mut runs: Vec<ListedRun> = self.list().stored.with(|headers| {
            let of_runs =
                headers.iter().filter(|header| header.kind == StoredKind::Run && !self.is_deleted(header.line()));
            let listed = |header: &Header| {
                let (of, change) = header.version.clone().map(|version| (version.run_id, version.change)).unzip();
                let summary = &header.summary;
                ListedRun {
                    version: Version::new(summary.run_id.clone(), of, change),
                    line: header.line().to_owned(),
                    rail: if header.ended { RailView::from(summary) } else { RailView::left_open(summary) },
                    model: summary.model.clone(),
                    began_ms: header.began_ms(),
                }
            };
            of_runs.map(listed).collect()
        });
        // What is open may be a record from a file, or not stored yet.
        for thread in self.threads.get() {
            for page in thread.pages.get() {
                let Some(run_id) = page.run_id().filter(|id| runs.iter().all(|run| run.version.run_id != *id)) else {
                    continue;
                };
                let (of, change) = page.behind.with(branch::version).flatten().unzip();
                runs.push(ListedRun {
                    version: Version::new(run_id, of, change),
                    line: thread.session_id.clone().unwrap_or_default(),
                    rail: page.behind.with(|source| RailView::from(source)).unwrap_or_default(),
                    model: thread.model().unwrap_or_default(),
                    began_ms: thread.began(),
                });
            }
        }
        runs
    }

    /// Returns the run that the one of a page is another version of: a branch, or the same run with another prompt.
    pub fn original_of(self, page: &RunPage) -> Option<String> {
        let own = page.run_id()?;
        self.all_runs().into_iter().find(|run| run.version.run_id == own)?.version.of
    }

    /// Returns the runs that the shown one can be compared with.
    pub fn choices(self) -> Vec<VersionChoice> {
        let own = self.page().and_then(|page| page.run_id());
        own.map(|own| choices(&self.all_runs(), &own, dom::now(), dom::clock_offset())).unwrap_or_default()
    }

    /// Opens another version; the focus stays on the pager.
    fn open_version(self, version: &Version, forward: bool) {
        let (run_id, visits) = (version.run_id.clone(), self.visits.get_value());
        spawn_local(async move {
            match self.find_or_open(&run_id).await {
                Ok(Some((thread, place))) if self.visits.get_value() == visits => {
                    let last = self.thread_with(thread).map_or(0, |thread| thread.pages.with_untracked(Vec::len));
                    self.open_thread(thread);
                    if place + 1 < last {
                        follow::set_at_end(self, false);
                    }
                    // Once it is drawn. At either end of the list, only the other button takes the focus.
                    set_timeout(
                        move || {
                            dom::focus(&button(place, !forward));
                            dom::focus(&button(place, forward));
                        },
                        std::time::Duration::ZERO,
                    );
                }
                Ok(_) => {}
                Err(why) => self.complain(why),
            }
        });
    }
}

//! Another way from one of a run's turns: the form, and the new run.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::engine::Branch;
use crate::trajectory::{Restored, Trajectory};
use crate::view::branch::BranchDraft;

use super::dialog::dialog;
use super::follow;
use super::live::LiveRun;
use super::slots::{Behind, source_of};
use super::state::{App, Backing, Dialog, Local, Page, Thread};

pub fn branch(app: App) -> impl IntoView {
    dialog(app, Dialog::Branch, "sheet branch", "Branch", move || content(app))
}

fn content(app: App) -> Option<impl IntoView> {
    let title = app.branching.with(|draft| draft.as_ref().map(BranchDraft::title))?;
    let (get, set) = (
        move |of: fn(&BranchDraft) -> String| app.branching.with(|draft| draft.as_ref().map(of).unwrap_or_default()),
        move |change: &dyn Fn(&mut BranchDraft)| app.branching.update(|draft| draft.iter_mut().for_each(change)),
    );
    let elsewhere = move || app.branching.with(|draft| draft.as_ref().is_some_and(|draft| draft.elsewhere));
    let provider = get(|draft| draft.provider.clone());
    let choice = move |words: String, value: bool| {
        html::label().class("choice").child((
            html::input()
                .r#type("radio")
                .attr("name", "branch-provider")
                .prop("checked", elsewhere() == value)
                .on(ev::change, move |_| set(&|draft| draft.elsewhere = value)),
            html::span().child(words),
        ))
    };
    let model = move || {
        (!elsewhere()).then(|| {
            field(
                "Model",
                html::input()
                    .r#type("text")
                    .prop("value", get(|draft| draft.model.clone()))
                    .on(ev::input, move |event| set(&|draft| draft.model = event_target_value(&event))),
            )
        })
    };
    Some((
        html::div().class("dialog-body").child((
            html::p().class("fact").child(
                "What came before this turn stays as it was, and nothing of the old run changes. The branch is a run of its own \
                 that names where it comes from.",
            ),
            html::h3().child(title),
            html::div().class("choices").attr("role", "radiogroup").attr("aria-label", "Provider").child((
                choice(format!("The same provider: {provider}"), false),
                choice(format!("That of the settings: {}", app.model_name()), true),
            )),
            model,
            field(
                "Turns at most",
                html::input()
                    .r#type("number")
                    .attr("min", "1")
                    .prop("value", get(|draft| draft.max_turns.clone()))
                    .on(ev::input, move |event| set(&|draft| draft.max_turns = event_target_value(&event))),
            ),
            field(
                "Say something before this turn",
                html::textarea()
                    .attr("rows", "2")
                    .attr("placeholder", "Optional: a message of yours to the model")
                    .prop("value", get(|draft| draft.say.clone()))
                    .on(ev::input, move |event| set(&|draft| draft.say = event_target_value(&event))),
            ),
            field(
                "System message",
                html::textarea()
                    .attr("rows", "6")
                    .prop("value", get(|draft| draft.system.clone()))
                    .on(ev::input, move |event| set(&|draft| draft.system = event_target_value(&event))),
            ),
        )),
        html::div().class("dialog-foot").child((
            html::button().r#type("button").class("btn quiet").on(ev::click, move |_| app.dialog.set(None)).child("Cancel"),
            html::button().r#type("button").class("btn primary").on(ev::click, move |_| app.take_branch()).child("Start the branch"),
        )),
    ))
}

fn field(name: &'static str, input: impl IntoView) -> impl IntoView {
    html::label().class("field-row").child((html::span().child(name), input))
}

impl App {
    /// Asks how to go on from a turn of the open thread's page of that place.
    pub fn ask_branch(&self, page: usize, turn: usize) {
        let draft = self.document_of(page).and_then(|document| {
            let source = crate::view::Source::from(&document);
            BranchDraft::of(&source, &document.run_id, turn).map(|draft| (draft, document))
        });
        match draft {
            Some((_, document)) if document.events.is_empty() => {
                self.complain("This record has no events: a run that was imported cannot be branched.");
            }
            Some((draft, document)) => {
                self.branch_of.set_value(Some(document));
                self.branching.set(Some(draft));
                self.dialog.set(Some(Dialog::Branch));
            }
            None => self.complain("This turn is not there any more."),
        }
    }

    /// The whole record of a run on the page.
    fn document_of(&self, page: usize) -> Option<Trajectory> {
        let thread = self.thread_now()?;
        match &thread.backing {
            Backing::Document { text, .. } => Trajectory::parse(text).ok(),
            Backing::Live { .. } => {
                let page = thread.pages.with_untracked(|pages| pages.get(page).cloned())?;
                match &page.behind {
                    Behind::Session(session) => session.document(),
                    Behind::Document(document) => Some(document.as_ref().clone()),
                    // Steps are shown apart; the run they are of is on the page.
                    Behind::Stepped(_) => None,
                }
            }
            Backing::Plan { .. } => None,
        }
    }

    fn take_branch(&self) {
        let Some(draft) = self.branching.get_untracked() else { return };
        let settings = match (draft.elsewhere, self.config()) {
            (true, Some(config)) => config.providers,
            // The settings are open and say what is wrong with them.
            (true, None) => return,
            (false, _) => Vec::new(),
        };
        let done = draft.changes(&settings).and_then(|changes| {
            let document = self.branch_of.with_value(Clone::clone).ok_or("The run is not there any more.")?;
            let restored = Restored::before_turn(&document, draft.place)
                .ok_or("This turn cannot be reached from the events of the record.")?;
            self.start_branch(restored, changes)
        });
        match done {
            Ok(()) => self.dialog.set(None),
            Err(why) => self.complain(why),
        }
    }

    fn start_branch(&self, restored: Restored, branch: Branch) -> Result<(), String> {
        let mut config = restored.recorder.run.config().clone();
        if let Some(providers) = &branch.providers {
            config.providers.clone_from(providers);
        }
        // Files as they are now: what a turn of the past had is not kept apart.
        let workspace = self.new_workspace();
        if let Some(Thread { backing: Backing::Live { workspace: of, .. }, .. }) = self.thread_now() {
            for file in of.list() {
                if let Some(blob) = of.get(&file.path) {
                    let _ = workspace.put(&file.path, blob);
                }
            }
        }
        let session = self.session(config, workspace.clone());
        let keeper = self.keep(&session, &workspace);
        let live: Rc<OnceCell<LiveRun>> = Rc::default();
        let observer = {
            let live = Rc::clone(&live);
            move |notice: crate::shell::Notice<'_>| {
                if let Some(live) = live.get() {
                    live.observe(notice);
                }
            }
        };
        session.branch(restored, branch, observer).map_err(|error| error.to_string())?;
        let made = session.with_run(|run| {
            let run = run?;
            let source = source_of(&session, run);
            let behind = Behind::Session(Local::new(session.clone()));
            let mut page = Page::new(0, &source, behind);
            page.head
                .facts
                .extend(run.parent().map(|parent| format!("branch of {} before turn {}", parent.run_id, parent.turn)));
            let rail = ArcRwSignal::new(crate::view::RailView::from(&source));
            Some((page, rail, run.task().session_id.clone()))
        });
        let (page, rail, session_id) = made.ok_or("The branch did not begin.")?;
        let run = LiveRun::new(*self, session.clone(), page.clone(), rail.clone(), self.renderer.get_value());
        if let Some(keeper) = keeper {
            self.shelve(keeper, session.clone(), run.clone());
        }
        run.renew();
        let _ = live.set(run);
        let backing = Backing::Live { session: Local::new(RefCell::new(session)), workspace: Local::new(workspace) };
        let (pages, session_id) = (ArcRwSignal::new(vec![page]), Some(session_id));
        self.add_thread(Thread {
            id: self.next_id(),
            pages,
            rail,
            backing,
            session_id,
            queued: ArcRwSignal::default(),
        });
        self.at_end.set(true);
        follow::keep_up(*self);
        Ok(())
    }
}

//! Below an answer: copy it, have it written again, or change the prompt. The last two start a separate run; this one stays.

pub mod ending;
pub mod report;
pub mod versions;
pub mod work;
pub mod written;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_engine::RunConfig;
use turnwise_protocol::app::{RunLocation, VersionOf};
use turnwise_view::SegmentView;
use turnwise_view::formats::SHARE;
use turnwise_view::panel::Remedy;
use turnwise_view::settings::ConfigField;

use crate::browser::dom;
use crate::client::slots::{Behind, EndDrawn, RunPage};
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::composer::store::Editing;
use crate::settings::id_of;
use crate::settings::key::KEY;
use crate::state::{App, Backing, TaskInput, Thread};
use crate::transcript::original::Original;

/// Draws the actions, once the run has ended. A step of a replay has none.
pub fn acts(app: App, page: &RunPage) -> impl IntoView + use<> {
    let (panel, drawn, page) = (page.panel.clone(), page.clone(), page.clone());
    let pager = versions::pager(app, &page);
    let has_acts = !matches!(page.behind, Behind::Stepped(_));
    let ended = Memo::new(move |_| {
        let is_due = has_acts && drawn.end.get() >= EndDrawn::AnswerActions;
        panel.with(|panel| (is_due && panel.ending.is_some()).then_some(panel.remedy))
    });
    html::footer()
        .class("answer-foot")
        .child((pager, reactive(move || ended.get().map(|remedy| bar(app, &page, remedy)))))
}

fn bar(app: App, page: &RunPage, remedy: Option<Remedy>) -> impl IntoView + use<> {
    let place = page.place;
    // A report has a button of its own that copies it.
    let reports = |segments: &Vec<SegmentView>| segments.last().is_some_and(|last| last.shown_report().is_some());
    let copies = page.answer().is_some() && !page.transcript.segments.with_untracked(reports);
    let (copied, shared, compared, of) = (page.clone(), page.clone(), page.clone(), page.clone());
    let original = Memo::new(move |_| app.original_of(&of));
    // A record has its prompt, but not the settings to send another one.
    let own = page.handle().is_some_and(|handle| handle.location() == RunLocation::Here);
    html::div().class("answer-acts").attr("role", "group").attr("aria-label", "This answer").child((
        copies.then(|| {
            action(Icon::Copy, "Copy", "Copy the answer as Markdown", move || {
                if let Some(text) = copied.answer() {
                    app.copy(&text);
                }
            })
        }),
        // The ending offers the same as the way to go on, if the run is the user's own.
        (remedy.is_none() || (remedy == Some(Remedy::LastTurn) && !own)).then(|| {
            action(Icon::Again, "Regenerate", "Have the last turn written again, as a separate run", move || {
                app.regenerate(place);
            })
        }),
        reactive(move || {
            let original = original.get().and_then(|run_id| Original::at(&compared, run_id));
            original
                .map(|original| original.compare(app, "btn bare small", || (icon(Icon::Branch), "Compare").into_any()))
        }),
        action(Icon::Share, "Share", SHARE, move || app.share(shared.clone())),
        own.then(|| {
            action(Icon::Edit, "Ask differently", "Change the prompt and run it as a separate run", move || {
                app.edit_prompt(place);
            })
        }),
    ))
}

/// Draws what can be done about a run that failed or was stopped: the most likely remedy first.
pub fn remedies(app: App, page: &RunPage) -> impl IntoView + use<> {
    let (panel, place, page) = (page.panel.clone(), page.place, page.clone());
    let own = page.handle().is_some_and(|handle| handle.location() == RunLocation::Here);
    let remedy = Memo::new(move |_| panel.with(|panel| panel.remedy).filter(|_| own));
    reactive(move || {
        let remedy = remedy.get()?;
        let way = |first: Remedy, text: &'static str, title: &'static str| {
            button(if remedy == first { Look::Primary } else { Look::Quiet }).attr("title", title).child(text)
        };
        let has_key = page.behind.with(|source| source.config.providers.first().and_then(|first| app.key_for(first)));
        let key = if has_key.flatten().is_some() { "Change key" } else { "Enter a key" };
        let key = way(Remedy::Key, key, "Enter the key of the model");
        let model = way(Remedy::Model, "Choose another model", "Connect another model, or another one of this service");
        let again = way(Remedy::Time, "Try again", "Run the same task again with the current settings");
        let key = (remedy == Remedy::Key).then(|| key.on(ev::click, move |_| app.open_connect_at(KEY)));
        let model = model.on(ev::click, move |_| app.open_connect_at(&id_of(ConfigField::Model)));
        let again = again.on(ev::click, move |_| app.ask_again_at(place));
        let arrived = page.arrived();
        let how = match arrived.is_some() {
            true => "Have the whole answer written, beginning with what had arrived, as a separate run",
            false => "Go on from the last turn, as a separate run",
        };
        let go_on = way(Remedy::LastTurn, "Finish the answer", how).on(ev::click, move |_| app.go_on(place));
        let quote = arrived.filter(|_| app.can_write()).map(|text| {
            let how = "Quote it in a follow-up: the conversation goes on from before this answer";
            way(Remedy::Model, "Quote what arrived", how).on(ev::click, move |_| app.quote(&text))
        });
        let all = match remedy {
            Remedy::LastTurn => (go_on, quote, again).into_any(),
            Remedy::Time => (again, model).into_any(),
            Remedy::Key | Remedy::Model => (key, model, again).into_any(),
        };
        Some(html::div().class("remedies").attr("role", "group").attr("aria-label", "What you can do").child(all))
    })
}

fn action(name: Icon, text: &'static str, title: &'static str, act: impl Fn() + 'static) -> impl IntoView {
    button(Look::BareSmall).attr("title", title).on(ev::click, move |_| act()).child((icon(name), text))
}

impl App {
    /// Copies the answer of the open thread's last run.
    pub fn copy_answer(&self) {
        match untrack(|| self.page()).and_then(|page| page.answer()) {
            Some(text) => self.copy(&text),
            None => self.complain("This run has no answer to copy."),
        }
    }

    /// The prompt of the open thread's last run; on the start page, that of the newest run.
    pub fn last_prompt(&self) -> Option<String> {
        let newest = || self.threads.with_untracked(|threads| threads.last().cloned());
        let thread = self.thread_now().or_else(newest)?;
        thread.pages.with_untracked(|pages| pages.last().map(|page| page.head.task.clone()))
    }

    /// Puts the prompt of a run of the open thread into the task box.
    pub fn edit_prompt(&self, place: usize) {
        let Some(thread) = self.thread_now() else { return };
        let Some(page) = thread.pages.with_untracked(|pages| pages.get(place).cloned()) else { return };
        let draft = (self.composer().draft.get_untracked(), self.take_pictures());
        let aside =
            self.composer().editing.with_untracked(|editing| editing.as_ref().map(|editing| editing.aside.clone()));
        self.composer().editing.set(Some(Editing { thread: thread.id, place, aside: aside.unwrap_or(draft) }));
        self.composer().draft.set(page.head.task);
        self.put_back_pictures(page.head.pictures);
        dom::focus(dom::TASK);
    }

    /// The run whose prompt is being edited, if its thread is open.
    pub fn edited(&self) -> Option<(Thread, usize)> {
        let (id, place) =
            self.composer().editing.with(|editing| editing.as_ref().map(|editing| (editing.thread, editing.place)))?;
        self.thread().filter(|thread| thread.id == id).map(|thread| (thread, place))
    }

    /// Runs the edited prompt after what came before it, in a thread of its own.
    pub fn run_edited_prompt(&self, thread: &Thread, place: usize, text: String) {
        let Some(config) = self.config().filter(|_| self.line.with_value(Option::is_some)) else { return };
        if let Err(why) = self.find_again(thread) {
            return self.complain(why);
        }
        let asked = TaskInput { text, pictures: self.take_pictures() };
        self.end_editing();
        let run_id = thread.page_at(place).and_then(|page| page.run_id());
        let version = run_id.map(|run_id| VersionOf { run_id, change: "prompt changed".to_owned() });
        self.run_after(thread, place, asked, config, version);
    }

    /// Runs a prompt after what came before the run at this place, in a thread of its own. The thread's runs are open.
    pub fn run_after(
        &self,
        thread: &Thread,
        place: usize,
        asked: TaskInput,
        config: RunConfig,
        version: Option<VersionOf>,
    ) {
        let before = place.checked_sub(1);
        let before = before.and_then(|at| thread.pages.with_untracked(|pages| pages.get(at).and_then(RunPage::handle)));
        let Backing::Live { workspace, .. } = &thread.backing else { return };
        let workspace = self.copy_of(workspace);
        self.run_in_new_thread(asked, config, workspace, before.as_ref(), version);
    }
}

impl App {
    /// Puts back what was in the task box before a prompt was edited there.
    pub fn end_editing(&self) {
        let Some(Editing { aside: (draft, pictures), .. }) = self.composer().editing.get_untracked() else { return };
        self.composer().editing.set(None);
        self.take_pictures();
        self.composer().draft.set(draft);
        self.put_back_pictures(pictures);
    }
}

/// Says above the task box that a prompt is being edited.
pub fn card(app: App) -> impl IntoView {
    let shown = Memo::new(move |_| app.edited().is_some());
    let cancel = move |_| {
        app.end_editing();
        dom::focus(dom::TASK);
    };
    html::div().class("queue").attr("aria-live", "polite").child(reactive(move || {
        shown.get().then(|| {
            html::div().class("queued").attr("role", "group").attr("aria-label", "Editing a prompt").child((
                html::div().class("words").child((
                    html::p().class("over").child("Editing the prompt"),
                    html::p().class("text").child("It runs as a separate run. This one stays as it is."),
                )),
                html::div().class("acts").child(button(Look::BareSmall).on(ev::click, cancel).child("Cancel")),
            ))
        })
    }))
}

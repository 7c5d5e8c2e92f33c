//! Branching from one of a run's turns: the form, and the new run.

pub mod store;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise::worker::Workspace;
use turnwise_content::format::one_line;
use turnwise_engine::{Authority, Branch, RunConfig};
use turnwise_protocol::app::Order;
use turnwise_view::branch::{BranchDraft, CallResult, FormPart, go_on_message};
use turnwise_view::{RailView, RunSource};

use crate::branch::store::BranchOf;
use crate::browser::dom;
use crate::client::app_worker::AppWorker;
use crate::client::app_worker::RunClient;
use crate::client::slots::RunPage;
use crate::components::button::{Look, button};
use crate::components::dialog::dialog;
use crate::components::icon;
use crate::components::reactive::{flag, reactive};
use crate::parts::{later, parts};
use crate::state::{App, Backing, Dialog, OpenRecord, Thread};
use crate::transcript::follow;

/// The id of the field that the form was opened for.
const WANTED: &str = "branch-wanted";

pub fn branch(app: App) -> impl IntoView {
    dialog(app, Dialog::Branch, "sheet branch", "Branch", move || later(branch_form(app)))
}

parts! {
    inspect: branch_form(app: App) => content(app);
}

fn content(app: App) -> Option<impl IntoView> {
    let title = app.branches().draft.with_untracked(|draft| draft.as_ref().map(BranchDraft::title))?;
    let (get, set) = (
        move |getter: fn(&BranchDraft) -> String| {
            app.branches().draft.with_untracked(|draft| draft.as_ref().map(getter).unwrap_or_default())
        },
        move |change: &dyn Fn(&mut BranchDraft)| app.branches().draft.update(|draft| draft.iter_mut().for_each(change)),
    );
    let (same, strange) = app.branches().draft.with_untracked(|draft| draft.as_ref().map(same_model))?;
    let elsewhere = move || app.branches().draft.with(|draft| draft.as_ref().is_some_and(|draft| draft.elsewhere));
    let choice = move |text: Vec<String>, value: bool| {
        html::label().class("choice").child((
            html::input()
                .r#type("radio")
                .attr("name", "branch-provider")
                .prop("checked", flag(move || elsewhere() == value))
                .on(ev::change, move |_| set(&|draft| draft.elsewhere = value)),
            html::span().child(text.into_iter().map(|line| html::span().class("line").child(line)).collect_view()),
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
    let wanted = app.branches().draft.with_untracked(|draft| draft.as_ref().and_then(|draft| draft.wanted.clone()));
    let is_alone = wanted.is_some();
    let part = alone(app, wanted.as_ref());
    let rest = (
        html::div().class("choices").attr("role", "radiogroup").attr("aria-label", "Provider").child((
            choice(same, false),
            choice(vec![format!("Model from Settings: {}", app.model_name())], true),
        )),
        strange.then(|| html::p().class("fact").child(
            "This record comes from somewhere else. The branch has your permissions, tools and limits. If you choose the \
             record's model, the conversation and the files that tools read are sent to the address shown there.",
        )),
        reactive(model),
        field(
            "Max turns",
            html::input()
                .r#type("number")
                .attr("min", "1")
                .prop("value", get(|draft| draft.max_turns.clone()))
                .on(ev::input, move |event| set(&|draft| draft.max_turns = event_target_value(&event))),
        ),
        field(
            "Add a message before this turn",
            html::textarea()
                .attr("rows", "2")
                .attr("placeholder", "Optional: your message to the model")
                .prop("value", get(|draft| draft.say.clone()))
                .on(ev::input, move |event| set(&|draft| draft.say = event_target_value(&event))),
        ),
        by_hand(app, wanted.as_ref()),
        field(
            "System message",
            html::textarea()
                .attr("rows", "6")
                .prop("value", get(|draft| draft.system.clone()))
                .on(ev::input, move |event| set(&|draft| draft.system = event_target_value(&event))),
        ),
    );
    let fact = html::p().class("fact").child(
        "The branch keeps everything before this turn. The original run does not change. The branch is a separate run and \
         records where it started.",
    );
    let body = match is_alone {
        // What the form was opened for is shown by itself.
        true => (
            part,
            html::details().class("group more").child((
                html::summary().child((icon::chevron(), "More")),
                html::div().class("edit-reply").child((fact, html::h3().child(title), rest)),
            )),
        )
            .into_any(),
        false => (fact, html::h3().child(title), rest).into_any(),
    };
    Some((
        html::div().class("dialog-body").child(body),
        html::div().class("dialog-foot").child((
            button(Look::Quiet).on(ev::click, move |_| app.dialog.set(None)).child("Cancel"),
            button(Look::Primary).on(ev::click, move |_| app.take_branch()).child("Start the branch"),
        )),
    ))
}

/// The lines that name the models of the run, and whether they were chosen by somebody else.
fn same_model(draft: &BranchDraft) -> (Vec<String>, bool) {
    let (count, all) = (draft.destinations.len(), draft.destinations.iter().enumerate());
    let lines = all.map(|(at, destination)| match (at, count) {
        (0, 1) => format!("Same model: {destination}"),
        (0, _) => format!("Same models: {destination}"),
        _ => format!("if that fails: {destination}"),
    });
    (lines.collect(), draft.strange)
}

/// Draws the part that the form was opened for.
fn alone(app: App, wanted: Option<&FormPart>) -> Option<AnyView> {
    match wanted? {
        FormPart::Result(id) => {
            let results = app.branches().draft.with_untracked(|draft| Some(draft.as_ref()?.results.clone()))?;
            let (place, call) = results.into_iter().enumerate().find(|(_, call)| call.call.0 == *id)?;
            Some(
                html::div()
                    .class("alone")
                    .child((
                        html::h3().child("The result that the model reads"),
                        result(app, place, call, true),
                        html::p().class("fact").child("The run goes on from this result as a new run."),
                    ))
                    .into_any(),
            )
        }
        FormPart::Reply => {
            Some(html::div().class("alone").child((html::h3().child("The model's reply"), reply(app, true))).into_any())
        }
    }
}

/// Draws what can be changed by hand, except what is shown by itself: results before the turn, and the reply in it.
fn by_hand(app: App, wanted: Option<&FormPart>) -> impl IntoView + use<> {
    let is_reply = wanted == Some(&FormPart::Reply);
    (
        results(app, wanted),
        (!is_reply).then(|| {
            html::details().class("group").child((
                html::summary().child((icon::chevron(), "Change the model's reply in this turn")),
                html::div().class("edit-reply").child(reply(app, false)),
            ))
        }),
    )
}

fn reply(app: App, is_wanted: bool) -> impl IntoView + use<> {
    let get = |getter: fn(&BranchDraft) -> String| {
        app.branches().draft.with_untracked(|draft| draft.as_ref().map(getter).unwrap_or_default())
    };
    let set =
        move |change: &dyn Fn(&mut BranchDraft)| app.branches().draft.update(|draft| draft.iter_mut().for_each(change));
    (
        html::p().class("fact").child("The branch takes this reply instead of asking the model for this turn."),
        field(
            "Text",
            html::textarea()
                .id(is_wanted.then_some(WANTED))
                .attr("rows", if is_wanted { "12" } else { "4" })
                .prop("value", get(|draft| draft.reply.clone()))
                .on(ev::input, move |event| set(&|draft| draft.reply = event_target_value(&event))),
        ),
        field(
            "Tool calls (JSON)",
            html::textarea()
                .class("code")
                .attr("rows", "4")
                .attr("spellcheck", "false")
                .attr("placeholder", "[{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.md\"}}]")
                .prop("value", get(|draft| draft.calls.clone()))
                .on(ev::input, move |event| set(&|draft| draft.calls = event_target_value(&event))),
        ),
    )
}

/// Draws the results of the calls before the turn, one of which can be changed, except the one that is shown by itself.
fn results(app: App, wanted: Option<&FormPart>) -> Option<impl IntoView + use<>> {
    let results = app.branches().draft.with_untracked(|draft| draft.as_ref().map(|draft| draft.results.clone()))?;
    let is_wanted = |call: &CallResult| matches!(wanted, Some(FormPart::Result(id)) if *id == call.call.0);
    let others = results.into_iter().enumerate().filter(|(_, call)| !is_wanted(call));
    let each = others.map(|(place, call)| result(app, place, call, false)).collect_view();
    (!each.is_empty()).then(|| {
        html::details().class("group").child((
            html::summary().child((icon::chevron(), "Change a tool's result before this turn")),
            html::div().class("edit-reply").child(each),
        ))
    })
}

fn result(app: App, place: usize, call: CallResult, is_wanted: bool) -> impl IntoView + use<> {
    let change = move |text: String| {
        app.branches().draft.update(|draft| {
            let call = draft.as_mut().and_then(|draft| draft.results.get_mut(place));
            if let Some(call) = call {
                call.result = text;
            }
        });
    };
    html::label().class("field-row").child((
        html::code().child(one_line(&call.title, 120)),
        html::textarea()
            .id(is_wanted.then_some(WANTED))
            .class("code")
            .attr("rows", if is_wanted { "16" } else { "3" })
            .attr("spellcheck", "false")
            .prop("value", call.result)
            .on(ev::input, move |event| change(event_target_value(&event))),
    ))
}

/// Draws the button that changes a part of a turn, and lets the run go on from there, once the run has ended.
pub fn change(app: App, page: &RunPage, turn: usize, wanted: FormPart) -> impl IntoView + use<> {
    let page = page.clone();
    reactive(move || {
        page.is_changeable(turn, &wanted).then(|| {
            let (place, wanted) = (page.place, wanted.clone());
            let (before, text, title) = match &wanted {
                FormPart::Result(_) => {
                    (turn + 1, "Change this result", "See what the model does with another result, as a separate run")
                }
                FormPart::Reply => (turn, "Change this reply", "Write another reply for the model, as a separate run"),
            };
            button(Look::BareSmall)
                .attr("title", title)
                .on(ev::click, move |_| app.ask_branch(place, before, Some(wanted.clone())))
                .child((icon::icon(icon::Icon::Edit), text))
        })
    })
}

fn field(name: &'static str, input: impl IntoView) -> impl IntoView {
    html::label().class("field-row").child((html::span().child(name), input))
}

impl App {
    /// Opens the form for a branch from a turn of the open thread. `page`: the index of the run in the thread.
    /// `wanted`: the part of the form to begin with.
    pub fn ask_branch(&self, page: usize, turn: usize, wanted: Option<FormPart>) {
        let of = self.thread_now().and_then(|thread| BranchOf::new(&thread, page));
        let draft = of.and_then(|of| Some((self.draft(&of, turn)?, of)));
        match draft {
            Some((_, of)) if of.has_no_events() => {
                self.complain("This run was imported and has no events, so it cannot be branched.");
            }
            Some((mut draft, of)) => {
                let begins = wanted.is_some();
                draft.wanted = wanted;
                self.branches().from.set_value(Some(of));
                self.branches().draft.set(Some(draft));
                self.dialog.set(Some(Dialog::Branch));
                if begins {
                    // Once the dialog is drawn.
                    set_timeout(|| dom::focus_start(WANTED), std::time::Duration::ZERO);
                }
            }
            None => self.complain("This turn no longer exists."),
        }
    }

    fn take_branch(&self) {
        let Some(draft) = self.branches().draft.get_untracked() else { return };
        let settings = match draft.needs_settings().then(|| self.config()) {
            // The settings dialog is open and shows what is wrong.
            Some(None) => return,
            found => found.flatten(),
        };
        if !draft.elsewhere && self.own_model_lacks_key() {
            return;
        }
        let changes = match draft.changes(settings.as_ref(), &untrack(|| self.tools())) {
            Ok(changes) => changes,
            Err(why) => return self.complain(why),
        };
        if let Some(branched) = self.branches().from.get_value() {
            self.begin_branch(branched, draft.place, changes, draft.result());
        }
    }

    /// Has the last turn of a run of the open thread written again, as a branch. `page`: its index in the thread.
    pub fn regenerate(&self, page: usize) {
        self.last_turn_again(page, |_| None);
    }

    /// The same for a run that was cancelled; the model is shown what had arrived of its reply.
    pub fn go_on(&self, page: usize) {
        self.last_turn_again(page, go_on_message);
    }

    fn last_turn_again(&self, page: usize, say: fn(&RunSource<'_>) -> Option<String>) {
        let Some(of) = self.thread_now().and_then(|thread| BranchOf::new(&thread, page)) else { return };
        if of.has_no_events() {
            return self.complain("This run was imported and has no events, so it cannot be branched.");
        }
        let turn = of.last_turn();
        // Its own model may be one that this user does not want to send anything to.
        if let (Some(turn), true) = (turn, self.is_strange(&of)) {
            return self.ask_branch(page, turn, None);
        }
        if self.own_model_lacks_key() {
            return;
        }
        let said =
            self.thread_now().and_then(|thread| thread.page_at(page)).and_then(|page| page.behind.with(say)).flatten();
        let mut draft = turn.and_then(|turn| self.draft(&of, turn));
        if let (Some(draft), Some(said)) = (&mut draft, said) {
            draft.say = said;
        }
        let changes = draft.map(|draft| (draft.place, draft.changes(None, &untrack(|| self.tools()))));
        match changes {
            Some((place, Ok(changes))) => self.begin_branch(of, place, changes, None),
            Some((_, Err(why))) => self.complain(why),
            None => self.complain("The run has no turn that could be written again."),
        }
    }

    /// Has the turn at which a branch failed written again with the providers of the settings. The branch's task alone would not
    /// repeat what it changed.
    pub fn branch_again(&self, page: usize, settings: &RunConfig) {
        let Some(of) = self.thread_now().and_then(|thread| BranchOf::new(&thread, page)) else { return };
        let Some(mut draft) = of.last_turn().and_then(|turn| self.draft(&of, turn)) else { return };
        draft.elsewhere = true;
        match draft.changes(Some(settings), &untrack(|| self.tools())) {
            Ok(changes) => self.begin_branch(of, draft.place, changes, None),
            Err(why) => self.complain(why),
        }
    }

    fn begin_branch(&self, of: BranchOf, place: usize, branch: Branch, result: Option<String>) {
        let Some(line) = self.line.get_value() else { return };
        let app = *self;
        spawn_local(async move {
            match app.start_branch(&line, of, place, branch, result).await {
                Ok(()) => app.dialog.set(None),
                Err(why) => app.complain(why),
            }
        });
    }

    /// Returns the draft of a branch from a turn of this run.
    fn draft(&self, of: &BranchOf, turn: usize) -> Option<BranchDraft> {
        let mut draft = of.draft(turn, self.is_strange(of))?;
        if draft.strange {
            draft.limit_turns(self.preview_config().max_turns);
        }
        Some(draft)
    }

    /// Whether the settings of this run are those of a record that somebody else made. A branch that was stored before there
    /// were authorities has those of its record, too, unless the run that it comes from was made here.
    fn is_strange(&self, of: &BranchOf) -> bool {
        match of {
            BranchOf::Record(_) => true,
            BranchOf::Handle(handle) => self.has_strange_settings(handle),
        }
    }

    /// The same for a run on the screen.
    pub fn has_strange_settings(&self, handle: &RunClient) -> bool {
        let unadopted = handle.look(|source| {
            let adopted = source.branches.list().last().is_none_or(|branch| branch.adopted);
            source.parent.filter(|_| !adopted).map(|parent| parent.run_id.clone())
        });
        unadopted.flatten().is_some_and(|parent| self.find_stored(&parent).is_none())
    }

    /// Who decides in a run on the screen that goes on; `None`: the run itself says so, because it is the user's own.
    pub fn authority_for(&self, handle: &RunClient) -> Option<Box<Authority>> {
        self.has_strange_settings(handle).then(|| Box::new(Authority::from(&self.with_kept(self.preview_config()))))
    }

    /// Copies the run's current files. How they were at an earlier turn is not stored.
    pub fn copy_of(&self, files: &Workspace) -> Workspace {
        let workspace = self.new_workspace();
        for file in files.list() {
            if let Some(blob) = files.get(&file.path) {
                let _ = workspace.put(&file.path, blob);
            }
        }
        workspace
    }

    async fn start_branch(
        &self,
        line: &AppWorker,
        of: BranchOf,
        place: usize,
        branch: Branch,
        result: Option<String>,
    ) -> Result<(), String> {
        let thread = self.thread_now();
        if let Some(thread) = &thread {
            self.find_again(thread)?;
        }
        let workspace = match &thread {
            Some(Thread { backing: Backing::Live { workspace, .. }, .. }) => self.copy_of(workspace),
            _ => self.new_workspace(),
        };
        let (handle, with, branch) = (line.handle(), line.with(&workspace), Box::new(branch));
        let (of, parts) = match of {
            BranchOf::Handle(of) => (Some(of.id()), Vec::new()),
            BranchOf::Record(record) => (None, vec![record.text.as_ref().into()]),
        };
        let order = |id| Order::Branch { id, handle: handle.id(), with, of, place, branch, result };
        line.ask(order, parts).await?;
        let page = RunPage::from_handle(&handle, 0).ok_or("The branch could not start.")?;
        let rail = ArcRwSignal::new(handle.look(|source| RailView::from(source)).unwrap_or_default());
        self.draw(&handle, &page, &rail).renew();
        self.add_run(vec![page], rail, handle, workspace);
        self.reading().at_end.set(true);
        follow::keep_up(*self);
        Ok(())
    }
}

impl BranchOf {
    /// Finds the run at this index of the thread.
    fn new(thread: &Thread, page: usize) -> Option<Self> {
        if let Backing::Document(record) = &thread.backing {
            return Some(BranchOf::Record(record.clone()));
        }
        let page = thread.pages.with_untracked(|pages| pages.get(page).cloned())?;
        page.handle().map(BranchOf::Handle)
    }

    fn draft(&self, turn: usize, strange: bool) -> Option<BranchDraft> {
        match self {
            BranchOf::Handle(handle) => {
                let run_id = handle.start()?.run_id;
                handle.look(|source| BranchDraft::new(source, &run_id, turn, strange)).flatten()
            }
            BranchOf::Record(OpenRecord { whole, .. }) => {
                BranchDraft::new(&RunSource::from(whole.as_ref()).recorded(), &whole.start.run_id, turn, strange)
            }
        }
    }

    /// The index of its last turn.
    fn last_turn(&self) -> Option<usize> {
        let turns = match self {
            BranchOf::Handle(handle) => handle.look(|source| source.turns.len())?,
            BranchOf::Record(record) => RunSource::from(record.whole.as_ref()).turns.len(),
        };
        turns.checked_sub(1)
    }

    fn has_no_events(&self) -> bool {
        matches!(self, BranchOf::Record(OpenRecord { events: 0, .. }))
    }
}

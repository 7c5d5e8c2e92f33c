//! Every action by name (Ctrl+K), with the open and the stored runs, and the list of keys (`?`).

pub mod keyboard;
pub mod store;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::KeyboardEvent;

use turnwise_content::format::counted;
use turnwise_record::trajectory::ExportFormat;
use turnwise_view::PanelPhase;
use turnwise_view::palette::rank;
use turnwise_view::search::{MarkedText, TaskHit};

use crate::browser::dom;
use crate::browser::theme::Theme;
use crate::components::dialog::dialog;
use crate::components::reactive::{attribute, reactive};
use crate::components::toast::Undo;
use crate::composer::drop as files;
use crate::composer::quote;
use crate::features::Feature;
use crate::list::marks;
use crate::state::{App, Dialog, Thread};
use crate::viewer::state::View;

/// Most entries that are shown at a time.
const MOST: usize = 40;
/// How the entries begin that another one leads to: the formats, and the runs to compare with.
const DOWNLOAD: &str = "Download:";
const COMPARE: &str = "Compare with:";
/// The rank of a run of which only a passage matches.
const PASSAGE: usize = 100;
/// The id of the field.
const FIELD: &str = "palette-field";

const STOP: &str = "Ctrl .";

/// The keys that work unless the user is typing.
const KEYS: &[(&str, &str)] = &[
    ("Ctrl K", "Find an action or a run"),
    ("?", "Show these keys"),
    ("N", "New run"),
    ("/", "Go to the task box"),
    ("Enter", "Run the task, or queue it while a run goes on"),
    ("Shift Enter", "Line break in the task"),
    ("Ctrl Enter", "In a dialog or a note: what its main button does"),
    (STOP, "Stop the run or the plan: it ends now, and keeps what it has"),
    ("\u{2191}", "In an empty task box: the last prompt"),
    ("J and K", "Next and previous turn"),
    ("Ctrl Z", "Undo the last deletion"),
    ("L", "Log of the open run"),
    ("\u{2190} and \u{2192}", "In a replay: one step back or forward"),
    ("Space", "In a replay: play or pause"),
    ("Esc", "Close what is open; in the task box: leave it for the run"),
];

#[derive(Clone, Debug, PartialEq)]
struct PaletteEntry {
    text: String,
    /// The key that does the same, or what kind of entry it is.
    hint: &'static str,
    action: PaletteAction,
    /// Where a run has the words of the search.
    passage: Option<MarkedText>,
}

#[derive(Clone, Debug, PartialEq)]
enum PaletteAction {
    NewRun,
    NewPlan,
    OpenFile,
    Quote,
    Show(Dialog),
    Page(&'static Feature),
    Stop,
    WrapUp,
    Resume,
    Continue(u32),
    CopyAnswer,
    TryAgain,
    Regenerate,
    EditPrompt,
    EditPlan,
    /// A run, by its id.
    Compare(String),
    Rename(String),
    Delete(String),
    Share,
    Download(ExportFormat),
    DownloadPlan,
    /// Lists the entries that begin like this.
    List(&'static str),
    Look(View),
    Theme(Theme),
    Open(u32),
    /// Open or stored.
    OpenSession(String),
    ExportShown,
    Undo(Undo),
}

/// Draws the palette.
pub fn palette(app: App) -> impl IntoView {
    dialog(app, Dialog::Palette, "sheet palette", "Find an action or a run", move || content(app))
}

/// Draws the list of keys.
pub fn keys(app: App) -> impl IntoView {
    dialog(app, Dialog::Keys, "sheet keys", "Keys", move || {
        let row = |(keys, what): &(&'static str, &'static str)| {
            html::div().child((html::dt().child(html::kbd().child(*keys)), html::dd().child(*what)))
        };
        // It has no control, and in a low window it scrolls: so keys have to reach it.
        html::div()
            .class("dialog-body")
            .attr("tabindex", "0")
            .attr("role", "region")
            .attr("aria-label", "List of keys")
            .child(html::dl().class("key-list").child(KEYS.iter().map(row).collect_view()))
    })
}

fn content(app: App) -> impl IntoView {
    let begin = app.commands().begin.try_update_value(std::mem::take).unwrap_or_default();
    let (query, at) = (RwSignal::new(begin), RwSignal::new(0usize));
    // A run may end while the palette is open.
    let all = Memo::new(move |_| {
        let _ = app.phase();
        app.entries()
    });
    let hits = RwSignal::new(Vec::new());
    app.search_answers(query, hits);
    let found = Memo::new(move |_| query.with(|query| all.with(|all| hits.with(|hits| matching(all, query, hits)))));
    let grouped = Memo::new(move |_| query.with(|query| query.trim().is_empty()));
    let some = Memo::new(move |_| found.with(|found| !found.is_empty()));
    let choose = move |place: usize| {
        if let Some(entry) = found.with_untracked(|found| found.get(place).cloned()) {
            if let PaletteAction::List(begin) = entry.action {
                query.set(begin.to_owned());
                at.set(0);
                return dom::focus(FIELD);
            }
            app.dialog.set(None);
            // Once the dialog is closed: it gives the focus back first.
            set_timeout(move || app.do_entry(&entry.action), std::time::Duration::ZERO);
        }
    };
    let field = NodeRef::<html::Input>::new();
    Effect::new(move || {
        if let Some(field) = field.get() {
            let _ = field.focus();
        }
    });
    let pressed = move |event: KeyboardEvent| {
        let count = found.with_untracked(Vec::len).max(1);
        match event.key().as_str() {
            "ArrowDown" => at.update(|at| *at = (*at + 1) % count),
            "ArrowUp" => at.update(|at| *at = (*at + count - 1) % count),
            "Enter" if !event.is_composing() => choose(at.get_untracked()),
            _ => return,
        }
        event.prevent_default();
        let row = dom::document().get_element_by_id(&option_id(at.get_untracked()));
        row.iter().for_each(dom::reveal);
    };
    let rows = move || {
        let found = found.get();
        if found.is_empty() {
            return html::p().class("nothing").attr("role", "status").child("Nothing matches.").into_any();
        }
        let mut before = "";
        let rows = found.into_iter().enumerate().map(|(place, entry)| {
            let group = group(&entry.action);
            let heading = (grouped.get_untracked() && group != before)
                .then(|| html::li().class("over").attr("role", "presentation").child(group));
            before = group;
            let hint = match entry.hint {
                hint if KEYS.iter().any(|(key, _)| *key == hint) => html::kbd().child(hint).into_any(),
                hint => html::span().class("hint").child(hint).into_any(),
            };
            let row = html::li()
                .id(option_id(place))
                .attr("role", "option")
                .attr("aria-selected", attribute(move || if at.get() == place { "true" } else { "false" }))
                .on(ev::click, move |_| choose(place))
                .child((
                    html::span().attr("dir", "auto").child(entry.text),
                    hint,
                    entry.passage.map(|text| html::span().class("passage").attr("dir", "auto").child(marks(text))),
                ));
            (heading, row)
        });
        html::ul()
            .id("palette-list")
            .attr("role", "listbox")
            .attr("aria-label", "Entries")
            .child(rows.collect_view())
            .into_any()
    };
    html::div().class("dialog-body").child((
        html::input()
            .r#type("text")
            .id(FIELD)
            .node_ref(field)
            // Whether the dialog opens before this is there, or after.
            .attr("autofocus", "")
            .attr("role", "combobox")
            .attr("aria-expanded", attribute(move || if some.get() { "true" } else { "false" }))
            .attr("aria-controls", attribute(move || some.get().then_some("palette-list")))
            .attr("aria-autocomplete", "list")
            .attr("aria-label", "Action or run")
            .attr("aria-activedescendant", attribute(move || some.get().then(|| option_id(at.get()))))
            .attr("autocomplete", "off")
            .attr("spellcheck", "false")
            .prop("value", move || query.get())
            .attr("placeholder", "New run, download, dark, or a word of a run")
            .on(ev::input, move |event| {
                query.set(event_target_value(&event));
                at.set(0);
            })
            .on(ev::keydown, pressed),
        reactive(rows),
    ))
}

fn option_id(place: usize) -> String {
    format!("palette-{place}")
}

/// The heading of the entries of its kind.
fn group(action: &PaletteAction) -> &'static str {
    match action {
        PaletteAction::Undo(_) => "Undo",
        PaletteAction::NewRun | PaletteAction::NewPlan | PaletteAction::OpenFile => "Start",
        PaletteAction::Show(Dialog::Log)
        | PaletteAction::Quote
        | PaletteAction::Stop
        | PaletteAction::WrapUp
        | PaletteAction::Resume
        | PaletteAction::Continue(_)
        | PaletteAction::CopyAnswer
        | PaletteAction::TryAgain
        | PaletteAction::Regenerate
        | PaletteAction::EditPrompt
        | PaletteAction::EditPlan
        | PaletteAction::Compare(_)
        | PaletteAction::Rename(_)
        | PaletteAction::Delete(_)
        | PaletteAction::Share
        | PaletteAction::Download(_)
        | PaletteAction::DownloadPlan
        | PaletteAction::List(_)
        | PaletteAction::Look(_) => "This run",
        PaletteAction::Show(_) | PaletteAction::Page(_) | PaletteAction::Theme(_) | PaletteAction::ExportShown => {
            "Turnwise"
        }
        PaletteAction::Open(_) | PaletteAction::OpenSession(_) => "Runs",
    }
}

fn matching(all: &[PaletteEntry], query: &str, hits: &[TaskHit]) -> Vec<PaletteEntry> {
    let words = query.trim().to_lowercase();
    let compares = words.starts_with("compare");
    // Each format is found by name; without a name, one entry leads to them. By its name, a run is opened.
    let is_shown = |entry: &&PaletteEntry| match entry.action {
        PaletteAction::Download(_) => !words.is_empty(),
        PaletteAction::Compare(_) => compares,
        PaletteAction::List(COMPARE) => !compares,
        PaletteAction::List(_) => words.is_empty(),
        _ => true,
    };
    let hit = |entry: &PaletteEntry| match &entry.action {
        PaletteAction::OpenSession(session) => hits.iter().find(|hit| hit.line == *session),
        _ => None,
    };
    let ranked = |entry: &PaletteEntry| rank(&entry.text, query).or_else(|| hit(entry).map(|_| PASSAGE));
    let mut found: Vec<(usize, &PaletteEntry)> =
        all.iter().filter(is_shown).filter_map(|entry| Some((ranked(entry)?, entry))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    let shown = |(_, entry): (usize, &PaletteEntry)| PaletteEntry {
        passage: hit(entry).and_then(|hit| hit.passage.clone()),
        ..entry.clone()
    };
    found.into_iter().take(MOST).map(shown).collect()
}

impl App {
    /// Opens the palette at the runs that the open one can be compared with.
    pub fn find_to_compare(&self) {
        self.commands().begin.set_value(format!("{COMPARE} "));
        self.dialog.set(Some(Dialog::Palette));
    }

    /// Opens the palette, or closes it.
    pub fn toggle_palette(&self) {
        let open = self.dialog.get_untracked() == Some(Dialog::Palette);
        if !open {
            // The palette's field takes the selection.
            self.commands().selected.set_value(quote::selection());
        }
        self.dialog.set((!open).then_some(Dialog::Palette));
    }

    /// The actions that have an effect now, then the runs.
    fn entries(&self) -> Vec<PaletteEntry> {
        let mut entries = Vec::new();
        let mut add = |text: &str, hint: &'static str, action: PaletteAction| {
            entries.push(PaletteEntry { text: text.to_owned(), hint, action, passage: None });
        };
        for (text, undo) in self.undoable() {
            add(&text, "", PaletteAction::Undo(undo));
        }
        add("New run", "N", PaletteAction::NewRun);
        add("New plan", "", PaletteAction::NewPlan);
        add("Open or import a file\u{2026}", "", PaletteAction::OpenFile);
        let thread = self.thread_now();
        let page = untrack(|| self.page());
        if untrack(|| self.can_write()) {
            if self.commands().selected.with_value(Option::is_some) {
                add("Quote the selection", "", PaletteAction::Quote);
            } else if let Some(answer) = page.as_ref().and_then(|page| page.answer()) {
                self.commands().selected.set_value(Some(answer));
                add("Quote the answer", "", PaletteAction::Quote);
            }
        }
        let panel = page.as_ref().map(|page| page.panel.get_untracked());
        match panel.as_ref().map(|panel| panel.phase) {
            Some(PanelPhase::Running | PanelPhase::Synthesizing) => {
                if panel.as_ref().is_some_and(|panel| !panel.elsewhere) {
                    add("Stop: end the run now, and keep what it has", STOP, PaletteAction::Stop);
                }
                if page.as_ref().is_some_and(|page| untrack(|| page.can_wrap_up())) {
                    add("Wrap up: conclude from what it has found", "", PaletteAction::WrapUp);
                }
            }
            Some(PanelPhase::Ended) => {
                let own = page.as_ref().is_some_and(|page| page.handle().is_some());
                if let Some(panel) = panel.as_ref() {
                    if panel.can_resume {
                        add("Resume the run", "", PaletteAction::Resume);
                    }
                    if panel.can_continue {
                        let text = format!("Continue with {}", counted(panel.more_turns.into(), "more turn"));
                        add(&text, "", PaletteAction::Continue(panel.more_turns));
                    }
                    if own && panel.remedy.is_some() {
                        add("Try again: run the same task again", "", PaletteAction::TryAgain);
                    }
                }
                add("Copy the answer", "", PaletteAction::CopyAnswer);
                add("Regenerate the answer", "", PaletteAction::Regenerate);
                if own {
                    add("Edit the prompt", "", PaletteAction::EditPrompt);
                }
                add("Replay the run", "", PaletteAction::Look(View::Replay));
                let others = untrack(|| self.choices());
                if !others.is_empty() {
                    add("Compare with\u{2026}", "another run", PaletteAction::List(COMPARE));
                }
                for (kind, runs) in others {
                    for (run_id, text) in runs {
                        add(&format!("{COMPARE} {text}"), kind, PaletteAction::Compare(run_id));
                    }
                }
                add("Share the run", "", PaletteAction::Share);
                add("Download the run", "in one of several formats", PaletteAction::List(DOWNLOAD));
                for format in ExportFormat::ALL {
                    add(&format!("{DOWNLOAD} {}", format.label()), "", PaletteAction::Download(*format));
                }
            }
            None => {}
        }
        let plan = thread.as_ref().and_then(Thread::plan).map(|plan| plan.panel.get_untracked());
        if let Some(plan) = &plan {
            if plan.running && !plan.elsewhere {
                add("Stop the plan: end it now", STOP, PaletteAction::Stop);
                if plan.can_wrap_up {
                    add("Wrap up the plan: running steps conclude", "", PaletteAction::WrapUp);
                }
            }
            if plan.can_resume {
                add("Resume the plan", "", PaletteAction::Resume);
            }
            if !plan.running {
                add("Edit the plan", "", PaletteAction::EditPlan);
                add("Download the plan", "", PaletteAction::DownloadPlan);
            }
        }
        if panel.is_some() {
            if self.view.get_untracked() != View::Transcript {
                add("Show the transcript", "", PaletteAction::Look(View::Transcript));
            }
            add("Log of the run", "L", PaletteAction::Show(Dialog::Log));
        }
        let is_under_way = plan.as_ref().map_or_else(|| untrack(|| self.running()), |plan| plan.running);
        if let Some(session) = thread.and_then(|thread| thread.session_id).filter(|_| !is_under_way) {
            let what = if plan.is_some() { "plan" } else { "run" };
            add(&format!("Rename this {what}"), "", PaletteAction::Rename(session.clone()));
            add(&format!("Delete this {what}"), "", PaletteAction::Delete(session));
        }
        if self.threads.with_untracked(|threads| !threads.is_empty())
            || self.list().stored.with_untracked(|all| !all.is_empty())
        {
            add("Export the runs in the list", "", PaletteAction::ExportShown);
        }
        add("Files", "", PaletteAction::Show(Dialog::Files));
        add("Settings: connect a model, keys, tools, limits", "", PaletteAction::Show(Dialog::Settings));
        for feature in crate::FEATURES {
            add(feature.title, "", PaletteAction::Page(feature));
        }
        add("Keys", "?", PaletteAction::Show(Dialog::Keys));
        for theme in Theme::ALL.into_iter().filter(|theme| *theme != self.theme.get_untracked()) {
            add(&format!("Theme: {}", theme.label()), "", PaletteAction::Theme(theme));
        }
        self.threads.with_untracked(|threads| {
            let deleted = |thread: &&Thread| {
                thread.session_id.as_ref().is_some_and(|session| untrack(|| self.is_deleted(session)))
            };
            for thread in threads.iter().rev().filter(|thread| !deleted(thread)) {
                let action =
                    thread.session_id.clone().map_or(PaletteAction::Open(thread.id), PaletteAction::OpenSession);
                let is_shown = Some(thread.id) == self.current.get_untracked();
                let hint = if is_shown { "shown now" } else { "open run" };
                add(&thread.rail.with_untracked(|rail| rail.title.clone()), hint, action);
            }
        });
        for stored in untrack(|| self.stored_lines()) {
            add(
                &stored.rail.title,
                if stored.is_plan() { "plan" } else { "run" },
                PaletteAction::OpenSession(stored.session_id),
            );
        }
        entries
    }

    fn do_entry(&self, action: &PaletteAction) {
        let last =
            || self.thread_now().and_then(|thread| thread.pages.with_untracked(|pages| pages.len().checked_sub(1)));
        let is_plan = self.thread_now().is_some_and(|thread| thread.plan().is_some());
        match action {
            PaletteAction::NewRun => self.new_run(),
            PaletteAction::NewPlan => self.new_plan(),
            PaletteAction::Show(dialog) => self.dialog.set(Some(*dialog)),
            PaletteAction::Quote => {
                self.commands().selected.with_value(|text| text.iter().for_each(|text| self.quote(text)));
            }
            PaletteAction::Page(feature) => self.open_feature(feature),
            PaletteAction::OpenFile => files::choose(*self),
            PaletteAction::Stop => drop(untrack(|| self.stop_what_runs())),
            PaletteAction::WrapUp if is_plan => self.wrap_up_plan(),
            PaletteAction::WrapUp => self.wrap_up(),
            PaletteAction::Resume if is_plan => self.resume_plan(),
            PaletteAction::Resume => self.resume(),
            PaletteAction::Continue(turns) => self.grant(*turns),
            PaletteAction::TryAgain => drop(last().map(|page| self.ask_again_at(page))),
            PaletteAction::CopyAnswer => self.copy_answer(),
            PaletteAction::Regenerate => drop(last().map(|page| self.regenerate(page))),
            PaletteAction::EditPrompt => drop(last().map(|page| self.edit_prompt(page))),
            PaletteAction::EditPlan => self.edit_plan(),
            PaletteAction::Compare(run_id) => {
                let (app, run_id, own) = (*self, run_id.clone(), last());
                spawn_local(async move {
                    if let Some(own) = own {
                        app.compare_with(&run_id, own).await;
                    }
                });
            }
            PaletteAction::Rename(session) => self.start_renaming(session),
            PaletteAction::Delete(session) => self.delete_task(session),
            PaletteAction::Share => untrack(|| self.page()).into_iter().for_each(|page| self.share(page)),
            PaletteAction::Download(format) => self.download(*format),
            PaletteAction::DownloadPlan => self.download_plan(),
            PaletteAction::List(_) => {}
            PaletteAction::Look(view) => self.look(*view),
            PaletteAction::Theme(theme) => self.theme.set(*theme),
            PaletteAction::Open(id) => self.open_thread(*id),
            PaletteAction::ExportShown => self.export_shown(),
            PaletteAction::Undo(undo) => {
                self.toast.set(None);
                self.undo(undo);
            }
            PaletteAction::OpenSession(session) => drop(self.open_session(session)),
        }
    }
}

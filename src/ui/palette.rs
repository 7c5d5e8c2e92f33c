//! Every action by name (Ctrl+K), with the open and the stored runs, and the list of keys (`?`).

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::trajectory::Format;
use crate::view::Phase;
use crate::view::palette::rank;

use super::dialog::dialog;
use super::dom;
use super::state::{App, Dialog, Thread};
use super::theme::Theme;
use super::toast::Undo;
use super::viewer::state::View;

/// Most entries that are shown at a time.
const MOST: usize = 40;
/// How the entries of the formats begin.
const DOWNLOAD: &str = "Download:";
/// The id of the field.
const FIELD: &str = "palette-field";

/// The keys that work unless the user is typing.
const KEYS: &[(&str, &str)] = &[
    ("Ctrl K", "Find an action or a run"),
    ("?", "Show these keys"),
    ("N", "New run"),
    ("/", "Go to the task box"),
    ("Enter", "Run the task, or queue it while a run goes on"),
    ("Shift Enter", "Line break in the task"),
    ("\u{2191}", "In an empty task box: the last prompt"),
    ("J and K", "Next and previous turn"),
    ("L", "Log of the open run"),
    ("\u{2190} and \u{2192}", "In a replay: one step back or forward"),
    ("Space", "In a replay: play or pause"),
    ("Esc", "Close what is open"),
];

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    text: String,
    /// The key that does the same, or what kind of entry it is.
    hint: &'static str,
    action: Action,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    NewRun,
    NewPlan,
    Show(Dialog),
    Insight,
    Stop,
    Cancel,
    CopyAnswer,
    Regenerate,
    EditPrompt,
    Share,
    Download(Format),
    /// Lists the formats.
    Downloads,
    Look(View),
    Theme(Theme),
    Open(u32),
    OpenStored(String),
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
        html::div().class("dialog-body").child(html::dl().class("key-list").child(KEYS.iter().map(row).collect_view()))
    })
}

fn content(app: App) -> impl IntoView {
    let (query, at) = (RwSignal::new(String::new()), RwSignal::new(0usize));
    // A run may end while the palette is open.
    let all = Memo::new(move |_| {
        let _ = app.phase();
        app.entries()
    });
    let found = Memo::new(move |_| query.with(|query| all.with(|all| matching(all, query))));
    let grouped = Memo::new(move |_| query.with(|query| query.trim().is_empty()));
    let some = Memo::new(move |_| found.with(|found| !found.is_empty()));
    let choose = move |place: usize| {
        if let Some(entry) = found.with_untracked(|found| found.get(place).cloned()) {
            if entry.action == Action::Downloads {
                query.set(DOWNLOAD.to_owned());
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
        if let Some(row) = row {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            row.scroll_into_view_with_scroll_into_view_options(&options);
        }
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
                .attr("aria-selected", move || if at.get() == place { "true" } else { "false" })
                .on(ev::click, move |_| choose(place))
                .child((html::span().attr("dir", "auto").child(entry.text), hint));
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
            .attr("aria-expanded", move || if some.get() { "true" } else { "false" })
            .attr("aria-controls", move || some.get().then_some("palette-list"))
            .attr("aria-autocomplete", "list")
            .attr("aria-label", "Action or run")
            .attr("aria-activedescendant", move || some.get().then(|| option_id(at.get())))
            .attr("autocomplete", "off")
            .attr("spellcheck", "false")
            .prop("value", move || query.get())
            .attr("placeholder", "New run, download, dark, or a word of a run")
            .on(ev::input, move |event| {
                query.set(event_target_value(&event));
                at.set(0);
            })
            .on(ev::keydown, pressed),
        rows,
    ))
}

fn option_id(place: usize) -> String {
    format!("palette-{place}")
}

/// The heading of the entries of its kind.
fn group(action: &Action) -> &'static str {
    match action {
        Action::Undo(_) => "Undo",
        Action::NewRun | Action::NewPlan => "Start",
        Action::Show(Dialog::Log)
        | Action::Stop
        | Action::Cancel
        | Action::CopyAnswer
        | Action::Regenerate
        | Action::EditPrompt
        | Action::Share
        | Action::Download(_)
        | Action::Downloads
        | Action::Look(_) => "This run",
        Action::Show(_) | Action::Insight | Action::Theme(_) | Action::ExportShown => "Turnwise",
        Action::Open(_) | Action::OpenStored(_) => "Runs",
    }
}

fn matching(all: &[Entry], query: &str) -> Vec<Entry> {
    // Each format is found by name; without a name, one entry leads to them.
    let is_shown = |entry: &&Entry| match entry.action {
        Action::Download(_) => !query.trim().is_empty(),
        Action::Downloads => query.trim().is_empty(),
        _ => true,
    };
    let mut found: Vec<(usize, &Entry)> =
        all.iter().filter(is_shown).filter_map(|entry| Some((rank(&entry.text, query)?, entry))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().take(MOST).map(|(_, entry)| entry.clone()).collect()
}

impl App {
    /// Opens the palette, or closes it.
    pub fn toggle_palette(&self) {
        let open = self.dialog.get_untracked() == Some(Dialog::Palette);
        self.dialog.set((!open).then_some(Dialog::Palette));
    }

    /// The actions that have an effect now, then the runs.
    fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut add = |text: &str, hint: &'static str, action: Action| {
            entries.push(Entry { text: text.to_owned(), hint, action });
        };
        for (text, undo) in self.undoable() {
            add(&text, "", Action::Undo(undo));
        }
        add("New run", "N", Action::NewRun);
        add("New plan", "", Action::NewPlan);
        let page = untrack(|| self.page());
        let panel = page.as_ref().map(|page| page.panel.get_untracked());
        match panel.as_ref().map(|panel| panel.phase) {
            Some(Phase::Running) => {
                add("Stop: wrap up with a conclusion", "", Action::Stop);
                add("Cancel: end the run now", "", Action::Cancel);
            }
            Some(Phase::Synthesizing) => add("Cancel: end the run now", "", Action::Cancel),
            Some(Phase::Ended) => {
                add("Copy the answer", "", Action::CopyAnswer);
                add("Regenerate the answer", "", Action::Regenerate);
                if page.is_some_and(|page| page.seat().is_some()) {
                    add("Edit the prompt", "", Action::EditPrompt);
                }
                add("Replay the run", "", Action::Look(View::Replay));
                add("Share the run", "", Action::Share);
                add("Download the run", "in one of several formats", Action::Downloads);
                for format in Format::ALL {
                    add(&format!("{DOWNLOAD} {}", format.label()), "", Action::Download(*format));
                }
            }
            None => {}
        }
        if panel.is_some() {
            if self.view.get_untracked() != View::Transcript {
                add("Show the transcript", "", Action::Look(View::Transcript));
            }
            add("Log of the run", "L", Action::Show(Dialog::Log));
        }
        if self.threads.with_untracked(|threads| !threads.is_empty())
            || self.stored.with_untracked(|all| !all.is_empty())
        {
            add("Export the runs in the list", "", Action::ExportShown);
        }
        add("Files", "", Action::Show(Dialog::Files));
        add("Settings", "", Action::Show(Dialog::Settings));
        add("Insight", "", Action::Insight);
        add("Keys", "?", Action::Show(Dialog::Keys));
        for theme in Theme::ALL.into_iter().filter(|theme| *theme != self.theme.get_untracked()) {
            add(&format!("Theme: {}", theme.label()), "", Action::Theme(theme));
        }
        self.threads.with_untracked(|threads| {
            let deleted = |thread: &&Thread| {
                thread.session_id.as_ref().is_some_and(|session| untrack(|| self.is_deleted(session)))
            };
            let others = threads.iter().rev().filter(|thread| Some(thread.id) != self.current.get_untracked());
            for thread in others.filter(|thread| !deleted(thread)) {
                add(&thread.rail.with_untracked(|rail| rail.title.clone()), "open run", Action::Open(thread.id));
            }
        });
        for stored in untrack(|| self.stored_lines()) {
            add(
                &stored.rail.title,
                if stored.is_plan() { "plan" } else { "run" },
                Action::OpenStored(stored.session_id),
            );
        }
        entries
    }

    fn do_entry(&self, action: &Action) {
        let last =
            || self.thread_now().and_then(|thread| thread.pages.with_untracked(|pages| pages.len().checked_sub(1)));
        match action {
            Action::NewRun => self.new_run(),
            Action::NewPlan => self.new_plan(),
            Action::Show(dialog) => self.dialog.set(Some(*dialog)),
            Action::Insight => self.open_insight(),
            Action::Stop => self.stop(),
            Action::Cancel => self.cancel(),
            Action::CopyAnswer => self.copy_answer(),
            Action::Regenerate => drop(last().map(|page| self.regenerate(page))),
            Action::EditPrompt => drop(last().map(|page| self.edit_prompt(page))),
            Action::Share => untrack(|| self.page()).into_iter().for_each(|page| self.share(page)),
            Action::Download(format) => self.download(*format),
            Action::Downloads => {}
            Action::Look(view) => self.look(*view),
            Action::Theme(theme) => self.theme.set(*theme),
            Action::Open(id) => self.open_thread(*id),
            Action::ExportShown => self.export_shown(),
            Action::Undo(undo) => {
                self.toast.set(None);
                self.undo(undo);
            }
            Action::OpenStored(session) => drop(self.open_session(session)),
        }
    }
}

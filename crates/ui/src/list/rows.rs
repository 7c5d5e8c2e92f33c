//! The list of runs, open or stored, by day: a search, a line for each run, and its menu.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlDetailsElement;

use turnwise_content::format::counted;
use turnwise_protocol::app::{Header, StoredKind};
use turnwise_view::ending::Tone;
use turnwise_view::rail::{Period, day};
use turnwise_view::search::has_words;
use turnwise_view::version::{families, folded};

use crate::browser::dom;
use crate::components::icon::{Icon, chevron, icon};
use crate::components::reactive::{attribute, flag, reactive};
use crate::list::Labels;
use crate::list::label_of;
use crate::list::line;
use crate::list::run;
use crate::list::stored_runs::StoredRow;
use crate::state::{App, Thread};

/// Minimum number of runs for a search field.
const SEARCHED: usize = 6;

/// What the list consists of.
#[derive(Clone, Debug)]
pub enum ListRow {
    Day(String),
    Open(Thread),
    Stored(StoredRow),
    /// Other versions of the line above, which are folded. `family`: the line of their original.
    Versions {
        family: String,
        count: usize,
    },
}

impl ListRow {
    fn session(&self) -> Option<&str> {
        match self {
            ListRow::Day(_) | ListRow::Versions { .. } => None,
            ListRow::Open(thread) => thread.session_id.as_deref(),
            ListRow::Stored(stored) => Some(&stored.session_id),
        }
    }

    /// A line survives changes of its run: its menu stays open, with the text typed there.
    fn key(&self) -> String {
        match self {
            ListRow::Day(name) => format!("day {name}"),
            ListRow::Open(thread) => format!("open {}", thread.id),
            ListRow::Stored(stored) => format!("stored {}", stored.session_id),
            ListRow::Versions { family, count } => format!("{count} versions of {family}"),
        }
    }
}

/// Folds the versions of a run below the newest of them, except the one that is open.
fn fold(app: App, rows: &[ListRow], families: &[Vec<(String, String)>]) -> Vec<ListRow> {
    let (unfolded, pinned, current) = (app.list().unfolded.get(), app.list().pinned.get(), app.current.get());
    let family_of = |row: &ListRow| {
        let session = row.session().filter(|session| !pinned.contains(*session))?;
        families.iter().position(|family| family.iter().any(|(line, _)| line == session))
    };
    let of_rows: Vec<Option<usize>> = rows.iter().map(family_of).collect();
    let is_open = |row: &ListRow| matches!(row, ListRow::Open(thread) if current == Some(thread.id));
    let mut out: Vec<ListRow> = Vec::new();
    for (first, others) in folded(&of_rows) {
        out.extend(rows.get(first).cloned());
        let family = of_rows.get(first).copied().flatten().and_then(|at| families.get(at)?.first());
        let Some((family, _)) = family.filter(|_| !others.is_empty()) else { continue };
        out.push(ListRow::Versions { family: family.clone(), count: others.len() });
        let others = others.into_iter().filter_map(|place| rows.get(place));
        out.extend(others.filter(|row| unfolded.contains(family) || is_open(row)).cloned());
    }
    // A day all of whose lines are folded away.
    let is_day = |row: Option<&ListRow>| matches!(row, None | Some(ListRow::Day(_)));
    let is_empty = |at: usize| matches!(out.get(at), Some(ListRow::Day(_))) && is_day(out.get(at + 1));
    let kept: Vec<bool> = (0..out.len()).map(|at| !is_empty(at)).collect();
    let mut kept = kept.into_iter();
    out.retain(|_| kept.next().unwrap_or(true));
    out
}

/// Draws what shows or folds the other versions of the run above.
fn versions(app: App, family: String, count: usize) -> impl IntoView {
    let shown = family.clone();
    let is_unfolded = Memo::new(move |_| app.list().unfolded.with(|unfolded| unfolded.contains(&shown)));
    let toggle = move |_| {
        app.list().unfolded.update(|unfolded| {
            if !unfolded.remove(&family) {
                unfolded.insert(family.clone());
            }
        });
    };
    html::button()
        .r#type("button")
        .class("versions-of")
        .attr("aria-expanded", attribute(move || if is_unfolded.get() { "true" } else { "false" }))
        .on(ev::click, toggle)
        .child((chevron(), counted(count as u64, "other version")))
}

pub fn list(app: App) -> impl IntoView {
    let stored = Memo::new(move |_| app.listed_lines());
    let stored_count =
        move || app.list().stored.with(|stored| stored.iter().filter(|of| of.kind != StoredKind::Step).count());
    let count = move || stored_count().max(app.threads.with(Vec::len));
    let limited = move || {
        app.list().tone.get().is_some()
            || app.list().model.with(|model| !model.is_empty())
            || app.list().period.get() != Period::Any
    };
    let searched = Memo::new(move |_| count() >= SEARCHED || !app.list().search.with(String::is_empty) || limited());
    let search = move || {
        searched.get().then(|| {
            html::input()
                .r#type("search")
                .class("search")
                .attr("placeholder", "Search tasks and answers")
                .attr("aria-label", "Search runs")
                .prop("value", move || app.list().search.get())
                .on(ev::input, move |event| app.list().search.set(event_target_value(&event)))
        })
    };
    let filters = move || searched.get().then(|| filters(app));
    let families = Memo::new(move |_| families(&app.all_runs()));
    // What is searched for is shown where it is.
    let lines = move || {
        let lines = app.lines(stored.get());
        let is_limited = limited() || !app.list().search.with(String::is_empty);
        if is_limited { lines } else { families.with(|families| fold(app, &lines, families)) }
    };
    let labels = Memo::new(move |_| families.get().into_iter().flatten().collect());
    let none = move || {
        let wanted = app.list().search.get();
        let text = match (wanted.is_empty(), limited()) {
            (true, false) => return None,
            (true, true) => "No run matches the filter.".to_owned(),
            (false, _) => format!("No run matches \u{201c}{wanted}\u{201d}."),
        };
        lines().is_empty().then(|| html::p().class("empty-list").child(text))
    };
    let each = For(ForProps::builder()
        .each(lines)
        .key(ListRow::key)
        .children(move |line| match line {
            ListRow::Day(name) => html::li().class("day").child(html::h2().class("over").child(name)).into_any(),
            ListRow::Open(thread) => {
                html::li().attr("data-line", thread.session_id.clone()).child(run(app, labels, &thread)).into_any()
            }
            ListRow::Versions { family, count } => html::li().child(versions(app, family, count)).into_any(),
            ListRow::Stored(line) => html::li()
                .class("earlier")
                .attr("data-line", line.session_id.clone())
                .child(row(app, stored, labels, line))
                .into_any(),
        })
        .build());
    html::div().class("lists").child((
        html::div().class("find").child((reactive(search), reactive(filters))),
        reactive(none),
        html::ul().class("runs").child(each),
    ))
}

/// Draws the choice of endings and models.
fn filters(app: App) -> impl IntoView {
    let tones = [
        ("", "Any ending", None),
        ("complete", "Complete", Some(Tone::Complete)),
        ("synthesized", "Synthesized", Some(Tone::Synthesized)),
        ("failed", "Failed", Some(Tone::Failed)),
        ("cancelled", "Stopped", Some(Tone::Cancelled)),
    ];
    let choose = move |event: web_sys::Event| {
        let value = event_target_value(&event);
        app.list().tone.set(tones.iter().find(|(key, ..)| *key == value).and_then(|(_, _, tone)| *tone));
    };
    let ending = html::select().attr("aria-label", "Ending").on(ev::change, choose).child(
        tones
            .map(|(key, text, tone)| {
                html::option().value(key).prop("selected", flag(move || app.list().tone.get() == tone)).child(text)
            })
            .into_iter()
            .collect_view(),
    );
    let models = Memo::new(move |_| {
        let mut models: Vec<String> =
            app.list().stored.with(|stored| stored.iter().map(|header| header.summary.model.clone()).collect());
        models.sort();
        models.dedup();
        models.retain(|model| !model.is_empty());
        models
    });
    let model = move || {
        let each = models.get().into_iter().map(|model| {
            let shown = model.clone();
            let is_chosen = move || app.list().model.with(|chosen| *chosen == shown);
            html::option().value(model.clone()).prop("selected", is_chosen).child(model)
        });
        let each = each.collect_view();
        (each.len() > 1).then(|| {
            html::select()
                .attr("aria-label", "Model")
                .on(ev::change, move |event| app.list().model.set(event_target_value(&event)))
                .child((html::option().value("").child("Any model"), each))
        })
    };
    let export = html::button()
        .r#type("button")
        .class("btn bare square")
        .attr("aria-label", "Export the runs in the list")
        .attr("title", "Export the runs in the list as one ZIP file")
        .on(ev::click, move |_| app.export_shown())
        .child(icon(Icon::Download));
    let periods = Period::ALL.map(|period| {
        let is_chosen = flag(move || app.list().period.get() == period);
        html::option().value(period.name()).prop("selected", is_chosen).child(period.name())
    });
    let choose = move |event: web_sys::Event| {
        let value = event_target_value(&event);
        let found = Period::ALL.into_iter().find(|period| period.name() == value);
        app.list().period.set(found.unwrap_or_default());
    };
    let period =
        html::select().attr("aria-label", "Time").on(ev::change, choose).child(periods.into_iter().collect_view());
    html::div().class("filters").child((period, ending, reactive(model), export))
}

impl App {
    /// Ends the search of the list and its filters: a run that begins, or a record that is opened, is never hidden.
    pub fn list_all(&self) {
        for text in [self.list().search, self.list().model] {
            if text.with_untracked(|text| !text.is_empty()) {
                text.set(String::new());
            }
        }
        if self.list().period.get_untracked() != Period::Any {
            self.list().period.set(Period::Any);
        }
        if self.list().tone.get_untracked().is_some() {
            self.list().tone.set(None);
        }
    }

    /// The runs that match the search, newest first, below the days on which they began. A run keeps its place when it is opened.
    pub fn lines(&self, stored: Vec<StoredRow>) -> Vec<ListRow> {
        let wanted = self.list().search.get().to_lowercase();
        let open = self.threads.get().into_iter();
        let open = open.filter(|thread| thread.session_id.as_ref().is_none_or(|session| !self.is_deleted(session)));
        let found = self.list().found.get();
        let open = open.filter(|thread| {
            let found = thread.session_id.as_ref().is_some_and(|session| found.iter().any(|hit| hit.line == *session));
            wanted.is_empty() || found || thread.rail.with(|rail| has_words(&rail.title.to_lowercase(), &wanted))
        });
        let (tone, model) = (self.list().tone.get(), self.list().model.get());
        let open = open.filter(|thread| tone.is_none_or(|tone| thread.rail.with(|rail| rail.tone == Some(tone))));
        // A plan has the model of its steps.
        let stored_with = |thread: &Thread| {
            let is_of_thread = |header: &Header| thread.session_id.as_deref() == Some(header.line());
            self.list()
                .stored
                .with(|headers| headers.iter().any(|header| is_of_thread(header) && header.summary.model == model))
        };
        let has_model = |thread: &Thread| thread.model().map_or_else(|| stored_with(thread), |of| of == model);
        let open = open.filter(|thread| model.is_empty() || has_model(thread));
        let mut lines: Vec<(u64, ListRow)> =
            open.map(|thread| (self.last_began(&thread), ListRow::Open(thread))).collect();
        lines.extend(stored.into_iter().map(|stored| (stored.began(), ListRow::Stored(stored))));
        let (now, offset, period) = (dom::now(), dom::clock_offset(), self.list().period.get());
        lines.retain(|(began, _)| period.holds(*began, now, offset));
        let pinned = self.list().pinned.get();
        let is_pinned = |line: &ListRow| line.session().is_some_and(|session| pinned.contains(session));
        lines.sort_by_key(|(began, line)| (!is_pinned(line), std::cmp::Reverse(*began)));
        let mut last = String::new();
        let mut out = Vec::new();
        for (began, line) in lines {
            let day = if is_pinned(&line) { "Pinned".to_owned() } else { day(began, now, offset) };
            if day != last {
                last.clone_from(&day);
                out.push(ListRow::Day(day));
            }
            out.push(line);
        }
        out
    }

    /// When a thread's last run began, as it is stored.
    pub fn last_began(&self, thread: &Thread) -> u64 {
        let is_of_thread = |header: &&Header| thread.session_id.as_deref() == Some(header.line());
        let stored = self.list().stored.with(|headers| headers.iter().filter(is_of_thread).map(Header::began_ms).max());
        stored.unwrap_or_else(|| thread.began())
    }

    /// The runs that began last, open or stored, newest first.
    pub fn recent_runs(&self, most: usize) -> Vec<RecentRun> {
        let stored = self.stored_lines().into_iter().map(|stored| {
            let (began, rail) = (stored.began(), stored.rail_now());
            RecentRun { session_id: stored.session_id, title: rail.title, tone: rail.tone, began }
        });
        let threads = self.threads.get();
        let open = threads.into_iter().filter_map(|thread| {
            let session_id = thread.session_id.clone().filter(|session| !self.is_deleted(session))?;
            let (title, tone) = thread.rail.with(|rail| (rail.title.clone(), rail.tone));
            Some(RecentRun { session_id, title, tone, began: self.last_began(&thread) })
        });
        let mut all: Vec<RecentRun> = stored.chain(open).collect();
        all.sort_by_key(|run| std::cmp::Reverse(run.began));
        all.truncate(most);
        all
    }
}

/// A run on the start page.
#[derive(Clone, Debug, PartialEq)]
pub struct RecentRun {
    pub session_id: String,
    pub title: String,
    /// `None`: it is running.
    pub tone: Option<Tone>,
    /// In milliseconds since 1970.
    pub began: u64,
}

fn row(app: App, lines: Memo<Vec<StoredRow>>, labels: Labels, stored: StoredRow) -> impl IntoView + use<> {
    let session = stored.session_id.clone();
    let now = Memo::new(move |_| {
        let same = |other: &&StoredRow| other.session_id == stored.session_id;
        lines.with(|lines| lines.iter().find(same).cloned()).unwrap_or_else(|| stored.clone())
    });
    let label = label_of(labels, Some(session.clone()));
    let button = html::button()
        .r#type("button")
        .class("run")
        .attr("aria-current", "false")
        .on(ev::click, move |_| app.open_stored(&now.get_untracked()))
        .child(reactive(move || {
            now.with(|stored| {
                line(app, label.get(), &stored.rail_now(), false, Some(&stored.session_id), stored.began())
            })
        }));
    (button, menu(app, session))
}

/// Draws the menu of a stored task: rename and delete.
pub fn menu(app: App, session: String) -> impl IntoView {
    let details: NodeRef<html::Details> = NodeRef::new();
    let close = move || {
        if let Some(details) = details.get_untracked() {
            details.set_open(false);
        }
    };
    let title: NodeRef<html::Input> = NodeRef::new();
    let id = session.clone();
    // Set when the menu opens and not after: a change of the run never overwrites what is typed. The event that reports
    // the opening would come after the first key.
    let show_title = move |_| {
        if let (Some(details), Some(title)) = (details.get_untracked(), title.get_untracked())
            && !details.open()
        {
            title.set_value(&app.title_of(&id));
        }
    };
    let (renamed, deleted, pinned) = (session.clone(), session.clone(), session);
    let shown = pinned.clone();
    let is_pinned = move || app.list().pinned.with(|pinned| pinned.contains(&shown));
    let pin = html::button()
        .r#type("button")
        .class("btn quiet small")
        .on(ev::click, move |_| {
            close();
            app.toggle_pin(&pinned);
        })
        .child(reactive(move || if is_pinned() { "Unpin" } else { "Pin to the top" }));
    let rename = move |event: web_sys::Event| {
        let name = event_target_value(&event);
        app.rename_task(&renamed, &name);
    };
    let delete = html::button()
        .r#type("button")
        .class("btn quiet small")
        .on(ev::click, move |_| {
            close();
            app.delete_task(&deleted);
        })
        .child((icon(Icon::Trash), "Delete"));
    // The name is taken when the focus leaves the field.
    let save = html::button().r#type("button").class("btn quiet small").on(ev::click, move |_| close()).child("Save");
    // At the lower edge of the list, the list scrolls.
    let reveal = move |_| {
        let pop =
            details.get_untracked().filter(|details| details.open()).and_then(|details| details.last_element_child());
        pop.iter().for_each(dom::reveal);
    };
    html::details()
        .class("run-menu")
        .node_ref(details)
        .on(ev::toggle, reveal)
        .on(ev::keydown, move |event| {
            let named = event.target().is_some_and(|target| target.has_type::<web_sys::HtmlInputElement>());
            if event.key() == "Escape" {
                event.stop_propagation();
                close();
            } else if named && event.key() == "Enter" {
                // After the change of the name, which Enter reports.
                dom::later(0, close);
            }
        })
        .on(ev::focusout, move |event| {
            let inside = event.related_target().and_then(|target| target.dyn_into::<web_sys::Node>().ok());
            let menu = event.current_target().and_then(|menu| menu.dyn_into::<HtmlDetailsElement>().ok());
            if let (Some(menu), Some(to)) = (menu, inside)
                && !menu.contains(Some(&to))
            {
                close();
            }
        })
        .child((
            html::summary()
                .on(ev::click, show_title)
                .attr("aria-label", "Rename, pin or delete")
                .attr("title", "Rename, pin or delete")
                .child(icon(Icon::More)),
            html::div().class("pop").child((
                html::label().child((
                    html::span().child("Name"),
                    html::input().r#type("text").node_ref(title).on(ev::change, rename),
                )),
                html::div().class("row").child((save, delete)),
                pin,
            )),
        ))
}

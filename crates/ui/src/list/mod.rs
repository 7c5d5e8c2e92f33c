//! The rail: the logo, a new run, the open and the stored runs; a drawer on narrow pages.

pub mod export;
pub mod kept_records;
pub mod manage;
pub mod rows;
pub mod store;
pub mod stored_runs;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::sentence_case;
use turnwise_view::RailView;
use turnwise_view::rail::{clock, date};
use turnwise_view::search::{MarkedText, marked};

use crate::answer::ending::dot;
use crate::browser::dom;
use crate::components::dialog::messages;
use crate::components::icon::{self, Icon, icon};
use crate::components::reactive::{attribute, reactive};
use crate::run_facts::meter;
use crate::state::{App, Dialog, Thread};

/// The id of the drawer's first button.
const NEW: &str = "new-run";

/// Draws the bar of narrow pages.
pub fn bar(app: App) -> impl IntoView {
    let button = |text: &'static str, name: Icon| {
        html::button()
            .r#type("button")
            .class("btn bare square")
            .attr("aria-label", text)
            .attr("title", text)
            .child(icon(name))
    };
    html::header().class("bar").child((
        button("Runs", Icon::Menu)
            .attr("aria-expanded", attribute(move || if app.rail_open.get() { "true" } else { "false" }))
            .on(ev::click, move |_| {
                app.rail_open.set(true);
                // The drawer must be drawn first.
                request_animation_frame(|| dom::focus(NEW));
            }),
        html::div().class("brand").child((icon::mark(), "Turnwise")),
        button("Files", Icon::Files).on(ev::click, move |_| app.dialog.set(Some(Dialog::Files))),
        button("Settings", Icon::Settings).on(ev::click, move |_| app.dialog.set(Some(Dialog::Settings))),
        button("New run", Icon::Plus).on(ev::click, move |_| app.new_run()),
    ))
}

pub fn rail(app: App) -> impl IntoView {
    let empty = move || app.threads.with(Vec::is_empty) && app.list().stored.with(Vec::is_empty);
    html::nav().class("rail").attr("aria-label", "Runs").child((
        html::div().class("brand").child((icon::mark(), "Turnwise")),
        html::button()
            .r#type("button")
            .class("btn quiet new")
            .id(NEW)
            .on(ev::click, move |_| app.new_run())
            .child((html::span().child("New run"), html::kbd().child("N"))),
        html::button()
            .r#type("button")
            .class("btn bare new-plan")
            .on(ev::click, move |_| app.new_plan())
            .child((icon(Icon::Plus), "New plan")),
        reactive(move || empty().then(|| html::p().class("empty-list").child("Your runs appear here."))),
        crate::list::rows::list(app),
        messages(app, Memo::new(move |_| app.rail_open.get() && app.dialog.get().is_none())),
        html::div().class("foot").child((
            crate::features::rows(app),
            html::button()
                .r#type("button")
                .class("btn bare")
                .on(ev::click, move |_| app.dialog.set(Some(Dialog::Files)))
                .child((
                    icon(Icon::Files),
                    "Files",
                    html::span().class("count").child(reactive(move || app.file_count())),
                )),
            html::button()
                .r#type("button")
                .class("btn bare")
                .on(ev::click, move |_| app.dialog.set(Some(Dialog::Settings)))
                .child((icon(Icon::Settings), "Settings")),
            html::div().class("keys-hint").child((
                hint(app, Dialog::Palette, "Ctrl K", "Find"),
                html::span().class("grow"),
                hint(app, Dialog::Keys, "?", "Keys"),
            )),
        )),
    ))
}

fn hint(app: App, opens: Dialog, key: &'static str, name: &'static str) -> impl IntoView {
    html::button()
        .r#type("button")
        .class("btn bare small")
        .on(ev::click, move |_| match opens {
            Dialog::Palette => app.toggle_palette(),
            other => app.dialog.set(Some(other)),
        })
        .child((html::kbd().child(key), name))
}

/// What tells the versions of a run apart, by line of the list.
type Labels = Memo<Vec<(String, String)>>;

/// The label of one line, so that another one's does not draw it again.
fn label_of(labels: Labels, session: Option<String>) -> Memo<Option<String>> {
    Memo::new(move |_| {
        let session = session.as_ref()?;
        labels.with(|labels| labels.iter().find(|(line, _)| line == session).map(|(_, label)| sentence_case(label)))
    })
}

fn run(app: App, labels: Labels, thread: &Thread) -> impl IntoView + use<> {
    let (id, session) = (thread.id, thread.session_id.clone());
    let rail = thread.rail.clone();
    let level = {
        let rail = rail.clone();
        move || rail.with(|view| view.is_concluding().then_some("synthesis"))
    };
    let asks = Memo::new(move |_| app.asks(id));
    let of = thread.clone();
    let label = label_of(labels, session.clone());
    let content = move || {
        rail.with(|view| line(app, label.get(), view, asks.get(), of.session_id.as_deref(), app.last_began(&of)))
    };
    let button = html::button()
        .r#type("button")
        .class("run")
        .attr("data-level", attribute(level))
        .attr("aria-current", attribute(move || if app.current.get() == Some(id) { "true" } else { "false" }))
        .on(ev::click, move |_| app.open_thread(id))
        .child(reactive(content));
    (button, session.map(|session| crate::list::rows::menu(app, session)), kept_records::close(app, thread))
}

/// Draws a short summary of a run; while the list is searched, with the words that were found and the date.
fn line(
    app: App,
    label: Option<String>,
    view: &RailView,
    asks: bool,
    session: Option<&str>,
    began: u64,
) -> impl IntoView + use<> {
    let wanted = app.list().search.with(|search| search.trim().to_lowercase());
    let hit = (!wanted.is_empty()).then(|| {
        let passage = app.list().found.with(|found| {
            found.iter().filter(|hit| Some(hit.line.as_str()) == session).find_map(|hit| hit.passage.clone())
        });
        (
            passage.map(|passage| html::span().class("passage").attr("dir", "auto").child(marks(passage))),
            html::span().class("words").child(date(began, dom::clock_offset())),
        )
    });
    let words = if asks { "Waits for your permission".to_owned() } else { view.words.clone() };
    // One line: how it ended is in its dot and in its tooltip. What is under way is told in words and ticks.
    let ended = view.tone.is_some() && !asks;
    (
        html::span().class("one").attr("title", format!("{}: {words}", view.title)).child((
            dot(view.tone, "dot"),
            html::b().attr("dir", "auto").child(marks(marked(&view.title, &wanted))),
            html::span().class("when").child(clock(began, dom::clock_offset())),
        )),
        html::span()
            .class(if ended { "words ended" } else { "words" })
            .attr("data-asks", asks.then_some(""))
            .child(html::span().child(words)),
        label.map(|label| html::span().class("words").child(label)),
        hit,
        (!ended).then(|| meter::tiny(&view.ticks)),
    )
}

pub fn marks(pieces: MarkedText) -> impl IntoView {
    let piece = |(text, hit): (String, bool)| if hit { html::mark().child(text).into_any() } else { text.into_any() };
    pieces.into_iter().map(piece).collect_view()
}

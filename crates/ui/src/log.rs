//! The log drawer: failures and the engine's notes, with filters, and the provider's raw responses.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::log::{Chip, Level, Log, LogEntry, LogFilter, LogView, PORTION, Raw};

use crate::browser::dom;
use crate::components::button::{Look, button, chip};
use crate::components::dialog::dialog;
use crate::components::icon::{self, Icon, icon};
use crate::components::reactive::reactive;
use crate::parts::{later, parts};
use crate::state::{App, Dialog};
use crate::transcript::call;

pub fn log(app: App) -> impl IntoView {
    dialog(app, Dialog::Log, "drawer log", "Log", move || later(log_part(app)))
}

parts! {
    inspect: log_part(app: App) => content(app);
}

fn content(app: App) -> Option<impl IntoView> {
    let log = app.page()?.log;
    let filter = RwSignal::new(LogFilter::default());
    let view = {
        let log = log.clone();
        Memo::new(move |_| log.with(|log| filter.with(|filter| log.view(filter))))
    };
    let entries = For(ForProps::builder()
        .each(move || view.with(|view| view.entries.clone()))
        .key(|entry| entry.index)
        .children(|entry| html::li().class("entry").attr("data-log", entry.level.as_str()).child(one(&entry)))
        .build());
    let more = move || {
        view.with(|view| view.more.clone()).map(|text| {
            let act = move |_| filter.update(|filter| filter.most += PORTION);
            html::button().r#type("button").class("link").on(ev::click, act).child(text)
        })
    };
    let empty = move || view.with(|view| view.empty).map(|text| html::p().class("fact").child(text));
    Some((
        html::div().class("dialog-body").child((
            filters(filter, view),
            reactive(more),
            reactive(empty),
            html::ol().class("entries").child(entries),
        )),
        foot(app, log, filter, view),
    ))
}

fn filters(filter: RwSignal<LogFilter>, view: Memo<LogView>) -> impl IntoView {
    let of_level = move |level: Level| {
        let part = move |view: &LogView| view.chips.iter().find(|chip| chip.level == level).cloned();
        let part_now = Memo::new(move |_| view.with(part));
        let text = move || part_now.get().map(|chip: Chip| chip.words);
        let is_on = move || part_now.get().is_some_and(|chip| chip.on);
        let toggle = move || filter.update(|filter| filter.toggle(level));
        chip(reactive(text), is_on, toggle).attr("title", level.label())
    };
    let slugs = Memo::new(move |_| view.with(|view| view.slugs.clone()));
    let options = move || {
        let each = slugs.get().into_iter();
        let each = each.map(|(slug, count)| html::option().attr("value", slug).child(format!("{slug} ({count})")));
        (html::option().attr("value", "").child("All slugs"), each.collect_view())
    };
    html::div().class("filters").child((
        html::div().class("chips").attr("role", "group").attr("aria-label", "Levels").child(Level::ALL.map(of_level)),
        html::input()
            .r#type("search")
            .attr("placeholder", "Search messages and raw responses")
            .attr("aria-label", "Search the log")
            .on(ev::input, move |event| filter.update(|filter| filter.text = event_target_value(&event))),
        html::select()
            .attr("aria-label", "Slug")
            .on(ev::change, move |event| filter.update(|filter| filter.slug = event_target_value(&event)))
            .child(reactive(options)),
    ))
}

fn one(entry: &LogEntry) -> impl IntoView + use<> {
    (
        html::p().class("when").child((
            html::code().class("lvl").attr("title", entry.level.label()).child(entry.level.as_str()),
            html::span().class("at").child(entry.at.clone()),
            html::span().child(entry.place.clone()),
            html::span().class("model").child(entry.model.clone()),
        )),
        html::p().class("said").child((call::slugs(&entry.slugs), html::span().child(entry.message.clone()))),
        entry.raw.clone().map(raw),
    )
}

/// Draws a raw response. It may be 128 KiB, so it is built when it is opened.
fn raw(raw: Raw) -> impl IntoView {
    let opened = RwSignal::new(false);
    let text = move || {
        let text = Arc::clone(&raw.text);
        opened.get().then(|| html::pre().attr("tabindex", "0").child(text.to_string()))
    };
    html::details().class("raw").child((
        html::summary().on(ev::click, move |_| opened.set(true)).child((
            icon::chevron(),
            "Raw response",
            raw.note.map(|note| html::span().class("fact").child(note)),
        )),
        reactive(text),
    ))
}

fn foot(app: App, log: ArcRwSignal<Log>, filter: RwSignal<LogFilter>, view: Memo<LogView>) -> impl IntoView {
    let lines = move || log.with_untracked(|log| filter.with_untracked(|filter| log.json_lines(filter)));
    let copied = lines.clone();
    let save = move |_| match dom::text_blob(&lines(), "application/x-ndjson") {
        Some(blob) => dom::save_as("log.jsonl", &blob),
        None => app.complain("The log could not be written to a file."),
    };
    html::div().class("dialog-foot").child((
        html::span().class("grow").attr("role", "status").child(reactive(move || view.with(|view| view.words.clone()))),
        button(Look::Quiet)
            .attr("title", "Download the listed entries as JSON lines")
            .on(ev::click, move |_| app.copy(&copied()))
            .child((icon(Icon::Copy), "Copy")),
        button(Look::Quiet)
            .attr("title", "Download the listed entries as JSON lines")
            .on(ev::click, save)
            .child((icon(Icon::Download), "Download")),
    ))
}

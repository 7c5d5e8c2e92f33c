//! Stored runs in the rail: a search, a line for each run, and its menu.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlDetailsElement;

use super::super::icon::{Icon, icon};
use super::super::state::App;
use super::super::stored_runs::Stored;
use super::line;

/// Minimum number of runs for a search field.
const SEARCHED: usize = 6;

pub fn earlier(app: App) -> impl IntoView {
    let lines = Memo::new(move |_| app.stored_lines());
    let searched = Memo::new(move |_| app.stored.with(Vec::len) >= SEARCHED || !app.search.with(String::is_empty));
    let any = Memo::new(move |_| lines.with(|lines| !lines.is_empty()) || searched.get());
    let head = move || any.get().then(|| html::h2().class("over").child("Earlier"));
    let search = move || {
        searched.get().then(|| {
            html::input()
                .r#type("search")
                .class("search")
                .attr("placeholder", "Search runs")
                .attr("aria-label", "Search runs")
                .prop("value", app.search.get_untracked())
                .on(ev::input, move |event| app.search.set(event_target_value(&event)))
        })
    };
    let none = move || {
        let wanted = app.search.get();
        (any.get() && !wanted.is_empty() && lines.with(Vec::is_empty))
            .then(|| html::p().class("empty-list").child(format!("No run matches \u{201c}{wanted}\u{201d}.")))
    };
    let each = For(ForProps::builder()
        .each(move || lines.get())
        // A row survives changes of its run: its menu stays open, with the text typed there.
        .key(|stored| stored.session_id.clone())
        .children(move |stored| html::li().child(row(app, lines, stored)))
        .build());
    (head, search, none, html::ul().class("runs earlier").child(each))
}

fn row(app: App, lines: Memo<Vec<Stored>>, stored: Stored) -> impl IntoView + use<> {
    let session = stored.session_id.clone();
    let now = Memo::new(move |_| {
        let same = |other: &&Stored| other.session_id == stored.session_id;
        lines.with(|lines| lines.iter().find(same).cloned()).unwrap_or_else(|| stored.clone())
    });
    let button = html::button()
        .r#type("button")
        .class("run")
        .attr("aria-current", "false")
        .on(ev::click, move |_| app.open_stored(&now.get_untracked()))
        .child(move || now.with(|stored| line(&stored.rail_now(), false)));
    (button, menu(app, session))
}

/// Draws the menu of a stored task: rename and delete.
pub fn menu(app: App, session: String) -> impl IntoView {
    let asked = RwSignal::new(false);
    let details: NodeRef<html::Details> = NodeRef::new();
    let close = move || {
        asked.set(false);
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
    let (renamed, deleted) = (session.clone(), session);
    let rename = move |event: web_sys::Event| {
        let name = event_target_value(&event);
        app.rename_task(&renamed, &name);
    };
    let delete = move || {
        let deleted = deleted.clone();
        let (text, class) =
            if asked.get() { ("Delete for good", "btn danger small") } else { ("Delete", "btn quiet small") };
        html::button()
            .r#type("button")
            .class(class)
            .on(ev::click, move |_| {
                if asked.get_untracked() {
                    close();
                    app.delete_task(&deleted);
                } else {
                    asked.set(true);
                }
            })
            .child((icon(Icon::Trash), text))
    };
    html::details()
        .class("run-menu")
        .node_ref(details)
        .on(ev::keydown, move |event| {
            if event.key() == "Escape" {
                event.stop_propagation();
                close();
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
                .attr("aria-label", "Rename or delete")
                .attr("title", "Rename or delete")
                .child(icon(Icon::More)),
            html::div().class("pop").child((
                html::label().child((
                    html::span().child("Name"),
                    html::input().r#type("text").node_ref(title).on(ev::change, rename),
                )),
                delete,
            )),
        ))
}

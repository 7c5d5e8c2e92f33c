//! The components in their states, at `#/gallery` of a test build: tests/e2e/app_gallery.test.mjs photographs them.
//!
//! `data-state` names the state of each: the test forces `hover`, `focus` and `pressed`, the others are drawn.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::components::button::{Look, button, chip};
use crate::components::dialog::dialog;
use crate::components::field::field;
use crate::components::icon::{Icon, icon};
use crate::components::list::{list, row};
use crate::components::menu::{MenuEntry, menu};
use crate::features::Feature;
use crate::state::{App, Dialog};

pub const FEATURE: Feature =
    Feature { name: "gallery", title: "Gallery", icon: Icon::Picture, page: |app| content(app).into_any() };

/// The states of what can be pressed. `loading` keeps the focus and says what is being done, in words.
const STATES: [&str; 6] = ["default", "hover", "focus", "pressed", "disabled", "loading"];

fn content(app: App) -> impl IntoView {
    let looks = [
        ("Primary", Look::Primary),
        ("Quiet", Look::Quiet),
        ("Quiet, small", Look::QuietSmall),
        ("Bare", Look::Bare),
        ("Bare, small", Look::BareSmall),
        ("Square", Look::Square),
    ];
    let buttons = looks.map(|(name, look)| line(name, STATES.map(|state| of_button(look, state)).collect_view()));
    let chips = ["default", "hover", "focus", "pressed"].map(|state| {
        let on = RwSignal::new(state == "pressed");
        chip(state, move || on.get(), move || on.update(|on| *on = !*on)).attr("data-state", state)
    });
    let fields = ["default", "hover", "focus", "disabled", "error"].map(of_field);
    let rows = ["default", "hover", "focus", "pressed"].map(|state| {
        let sign = html::span().class("dot").attr("data-state", state);
        row(sign, format!("A run, {state}"), "12:30", || ()).into_any()
    });
    let entry = |name, note| MenuEntry { name, note, act: Box::new(|| ()) };
    let entries = vec![
        entry("As one file", "What it holds, in one sentence"),
        entry("As a folder", "What differs"),
        entry("As text", "The last one is apart"),
    ];
    let of_dialog = button(Look::Quiet).on(ev::click, move |_| app.dialog.set(Some(Dialog::Gallery)));
    let of_notice =
        button(Look::Quiet).on(ev::click, move |_| app.complain("The file could not be read. Choose it again."));
    (
        part(
            "Button",
            "Says what it does. At most one is the main action; one that cannot be used keeps the focus.",
            buttons,
        ),
        part("Chip", "A choice that is on or off, beside others of its kind.", html::div().class("chips").child(chips)),
        part(
            "Field",
            "Has a name, says what is wrong after it was left, and may have a hint.",
            html::div().class("grid").child(fields),
        ),
        part(
            "List",
            "One line each; all of it opens what it names.",
            (list(rows.into(), ""), list(Vec::new(), "Your runs appear here.")),
        ),
        part(
            "Menu",
            "More ways to do what its button says. Arrows, Home and End move, Escape closes.",
            html::div().class("row").child(menu(
                "gallery-menu",
                "Download in a format",
                (icon(Icon::Download), "Download"),
                entries,
            )),
        ),
        part(
            "Dialog and notice",
            "A dialog asks for one thing at a time. A notice says what happened, and offers to undo it.",
            html::div().class("row").child((of_dialog.child("Open the dialog"), of_notice.child("Show a notice"))),
        ),
        dialog(app, Dialog::Gallery, "sheet gallery-dialog", "A dialog", move || {
            let foot = html::div().class("dialog-foot").child((
                html::span().class("grow").child("Nothing is stored."),
                button(Look::Quiet).on(ev::click, move |_| app.dialog.set(None)).child("Cancel"),
                button(Look::Primary).on(ev::click, move |_| app.dialog.set(None)).child("Start"),
            ));
            (html::div().class("dialog-body").child(of_field("in-dialog")), foot)
        }),
    )
}

fn part(name: &'static str, about: &'static str, of: impl IntoView) -> impl IntoView {
    html::section().attr("aria-label", name).attr("data-part", name).child((
        html::h2().child(name),
        html::p().class("note").child(about),
        of,
    ))
}

fn line(name: &'static str, of: impl IntoView) -> impl IntoView {
    html::div().class("row").attr("role", "group").attr("aria-label", name).child(of)
}

fn of_button(look: Look, state: &'static str) -> impl IntoView {
    let text = if state == "loading" { "Asking" } else { state };
    let is_square = look == Look::Square;
    let cannot = matches!(state, "disabled" | "loading").then_some("true");
    button(look)
        .attr("data-state", state)
        .attr("aria-disabled", cannot)
        .attr("aria-busy", (state == "loading").then_some("true"))
        .attr("aria-label", is_square.then_some(text))
        .child((is_square.then(|| icon(Icon::Close)), (!is_square).then_some(text)))
}

fn of_field(state: &'static str) -> impl IntoView {
    let id = format!("gallery-{state}");
    let is_wrong = state == "error";
    let input = html::input()
        .r#type("text")
        .id(id.clone())
        .attr("data-state", state)
        .attr("placeholder", "12")
        .attr("disabled", (state == "disabled").then_some(""))
        .attr("aria-invalid", is_wrong.then_some("true"))
        .attr("aria-describedby", format!("{id}-wrong {id}-help"));
    let wrong = move || is_wrong.then(|| "Enter a number from 1 to 200.".to_owned());
    field("input", id, "Max turns", input.into_any(), wrong, "A limit of one run.")
}

//! The report of a run, drawn by its format, with a button to copy it.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::ReportView;
use turnwise_view::report::ReportBody;

use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::state::App;
use crate::text::json;
use crate::text::prose::Prose;
use crate::text::slack;

pub fn report(app: App, view: &ReportView) -> impl IntoView + use<> {
    let copy = Arc::clone(&view.copy);
    html::section().class("report").attr("aria-label", view.title).child((
        html::div().class("report-head").child((
            html::h2().child(view.title),
            html::span().class("fact").child(view.format),
            button(Look::BareSmall).on(ev::click, move |_| app.copy(&copy)).child((icon(Icon::Copy), "Copy")),
        )),
        view.note.map(|note| html::p().class("fact").child(note)),
        body(app, &view.body),
    ))
}

fn body(app: App, body: &ReportBody) -> AnyView {
    match body {
        // Models write Markdown into plain text too, and nobody should have to read its markup; line breaks are kept.
        ReportBody::Text(text) => rendered(app, "prose kept-lines", text).into_any(),
        ReportBody::Markdown(text) => rendered(app, "prose", text).into_any(),
        ReportBody::Json(place) => json::tree(place.clone()).into_any(),
        ReportBody::Slack(messages) => slack::messages(messages, Some(&app.renderer.get_value())).into_any(),
    }
}

fn rendered(app: App, class: &'static str, text: &str) -> impl IntoView + use<> {
    let prose = Prose::new(class);
    prose.set(text);
    app.renderer.get_value().render(&prose);
    prose.place()
}

//! The report of a run, by its format, with a button to copy it.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::view::ReportView;
use crate::view::report::Body;

use super::icon::{Icon, icon};
use super::prose::Prose;
use super::state::App;
use super::{json, slack};

pub fn report(app: App, view: &ReportView) -> impl IntoView + use<> {
    let copy = Arc::clone(&view.copy);
    html::section().class("report").attr("aria-label", view.title).child((
        html::div().class("report-head").child((
            html::h2().child(view.title),
            html::span().class("fact").child(view.format),
            html::button()
                .r#type("button")
                .class("btn bare small")
                .on(ev::click, move |_| app.copy(&copy))
                .child((icon(Icon::Copy), "Copy")),
        )),
        view.note.map(|note| html::p().class("fact").child(note)),
        body(app, &view.body),
    ))
}

fn body(app: App, body: &Body) -> AnyView {
    match body {
        Body::Text(text) => html::p().class("as-is").child(text.clone()).into_any(),
        Body::Markdown(text) => {
            let prose = Prose::new("prose");
            prose.set(text);
            app.renderer.get_value().render(&prose);
            prose.place().into_any()
        }
        Body::Json(place) => json::tree(place.clone()).into_any(),
        Body::Slack(messages) => slack::messages(messages, Some(&app.renderer.get_value())).into_any(),
    }
}

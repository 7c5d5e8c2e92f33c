//! The example plan of the start page: its documents are fetched, then it runs.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;

use turnwise_record::plan::{fault, read};
use turnwise_view::plan::example::PLAN;

use crate::browser::dom;
use crate::files::samples::fetch;
use crate::run_facts::meter;
use crate::state::App;

/// Draws its card among the examples.
pub fn example(app: App) -> impl IntoView {
    html::button().r#type("button").class("example plan-example").on(ev::click, move |_| app.run_example_plan()).child(
        (
            html::span().child((meter::tiny(&PLAN.ticks()), html::b().child(PLAN.title))),
            html::span().class("shows").child(PLAN.shows),
            html::span().class("text").child(PLAN.text),
        ),
    )
}

impl App {
    /// Runs the example plan with its own documents.
    pub fn run_example_plan(&self) {
        let app = *self;
        let Some(config) = app.config() else { return };
        let tools: Vec<&str> = config.tools.iter().map(|tool| tool.name.as_str()).collect();
        match read(&PLAN.plan(), &tools) {
            Ok(plan) => self.with_sample_documents(move |files| {
                app.run_plan(plan, config, &app.workspace_of(files), None);
            }),
            Err(faults) => {
                app.complain(format!("The example cannot run with the current settings. {}", fault::listed(&faults)));
            }
        }
    }

    /// Fetches the sample documents; if one is missing, reports that instead.
    pub fn with_sample_documents(&self, then: impl FnOnce(Vec<(String, Blob)>) + 'static) {
        let app = *self;
        spawn_local(async move {
            let mut files = Vec::new();
            for name in PLAN.files {
                let path = format!("{}/{name}", PLAN.folder);
                match fetch(&path).await.and_then(|text| dom::text_blob(&text, "text/markdown")) {
                    Some(blob) => files.push((path, blob)),
                    None => return app.complain(format!("{path} could not be loaded, so nothing was started.")),
                }
            }
            then(files);
        });
    }
}

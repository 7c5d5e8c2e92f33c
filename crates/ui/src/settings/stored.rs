//! What the browser stores for the app, by kind, and the way to delete all runs.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_content::format::{bytes, counted};
use turnwise_protocol::app::{Order, Share, StorageUsage};
use turnwise_view::settings::SettingsTab;

use crate::browser::dom;
use crate::components::reactive::{flag, reactive};
use crate::files::folder;
use crate::state::App;

/// The id of the safe answer.
const KEEP: &str = "keep-runs";

pub fn storage(app: App, open: RwSignal<SettingsTab>) -> impl IntoView {
    let stored = RwSignal::new(None::<StorageUsage>);
    // The tab is in the page while another one is shown: counting takes a while, so it waits until somebody looks.
    Effect::new(move || {
        app.list().stored.track();
        let line = app.line.get_value().filter(|_| open.get() == SettingsTab::Storage);
        let Some(line) = line else { return };
        spawn_local(async move {
            if let Ok(found) = line.ask_for(|id| Order::Space { id }).await {
                stored.try_set(Some(found));
            }
        });
    });
    let rows = move || {
        stored.get().map(|StorageUsage { runs, plans, files }| {
            let row = |name: &'static str, what: &str, Share { count, bytes: size }: Share| {
                let value = format!("{}, {}", counted(count, what), bytes(size));
                html::div().child((html::dt().child(name), html::dd().child(value)))
            };
            html::dl().class("stored").child((
                row("Runs", "run", runs),
                row("Plans", "plan", plans),
                row("Files of runs, your own files, and skills", "file", files),
            ))
        })
    };
    let asking = RwSignal::new(false);
    let count = Memo::new(move |_| app.stored_tasks().len());
    let button = |class: &'static str, text: String| html::button().r#type("button").class(class).child(text);
    let delete = move || {
        if asking.get() {
            let many = match count.get() {
                1 => "the one stored run".to_owned(),
                many => format!("all {many} runs and plans"),
            };
            html::div().class("sure").attr("role", "group").attr("aria-label", "Delete all runs").child((
                html::p().child(format!(
                    "Delete {many} with their files and notes? This cannot be undone. Your own files, skills, the settings and keys stay."
                )),
                html::div().class("row").child((
                    button("btn quiet", "Keep them".to_owned()).id(KEEP).on(ev::click, move |_| asking.set(false)),
                    button("btn quiet danger", "Delete all".to_owned()).on(ev::click, move |_| {
                        asking.set(false);
                        app.delete_all();
                    }),
                )),
            ))
            .into_any()
        } else {
            button("btn quiet", "Delete all runs\u{2026}".to_owned())
                .prop("disabled", flag(move || count.get() == 0))
                .on(ev::click, move |_| {
                    asking.set(true);
                    // Once it is drawn.
                    set_timeout(|| dom::focus(KEEP), std::time::Duration::ZERO);
                })
                .into_any()
        }
    };
    html::fieldset().class("group").child((
        html::legend().child("Stored in this browser"),
        html::div().class("storage").child((reactive(rows), folder::space(), html::div().child(reactive(delete)))),
    ))
}

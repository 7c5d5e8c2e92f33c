//! The files drawer: what the agent works over, what it wrote; add, look at, download, remove.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::dialog::dialog;
use super::dom;
use super::drop;
use super::icon::{Icon, icon};
use super::library::FileRow;
use super::state::{App, Dialog};

/// So much of a file is shown; the whole can be downloaded.
const SHOWN: f64 = 200_000.0;
const PICK: &str = "pick-files";

pub fn files(app: App) -> impl IntoView {
    dialog(app, Dialog::Files, "drawer", "Files", move || {
        html::div().class("dialog-body").child(move || match app.shown_file.get() {
            Some(path) => preview(app, path).into_any(),
            None => list(app).into_any(),
        })
    })
}

fn list(app: App) -> impl IntoView {
    let rows = move || app.files();
    let empty = move || rows().is_empty();
    (
        html::div().class("zone").child((
            html::p().child("Drop files or a whole folder anywhere on this page. They stay in this browser; the model sees what its tools read. A trajectory, a report (.html) or an ATIF file opens as a run."),
            html::div().class("row").child((
                html::input()
                    .r#type("file")
                    .id(PICK)
                    .attr("multiple", "")
                    .class("hidden")
                    .attr("tabindex", "-1")
                    .attr("aria-label", "Files to add")
                    .on(ev::change, move |event| drop::picked(app, &event)),
                html::button()
                    .r#type("button")
                    .class("btn quiet")
                    .on(ev::click, |_| {
                        let input = dom::document().get_element_by_id(PICK);
                        if let Some(input) = input.and_then(|input| input.dyn_into::<web_sys::HtmlElement>().ok()) {
                            input.click();
                        }
                    })
                    .child((icon(Icon::Plus), "Choose files")),
                move || {
                    (!empty()).then(|| {
                        html::button()
                            .r#type("button")
                            .class("btn quiet")
                            .attr("title", "Every file below, those the agent wrote too, as one ZIP file")
                            .on(ev::click, move |_| app.download_all())
                            .child((icon(Icon::Download), "Download all (.zip)"))
                    })
                },
            )),
        )),
        move || empty().then(|| html::p().class("fact").child("No files yet: the agent can still calculate and write files of its own.")),
        html::ul().class("files").child(For(ForProps::builder()
            .each(rows)
            .key(|row| (row.path.clone(), row.size.clone(), row.written))
            .children(move |row| html::li().class("file").child(file(app, row)))
            .build())),
    )
}

fn file(app: App, row: FileRow) -> impl IntoView {
    let act = |words: String, of: Icon| {
        html::button()
            .r#type("button")
            .class("btn bare")
            .attr("title", words.clone())
            .attr("aria-label", words)
            .child(icon(of))
    };
    let path = row.path;
    let (shown, saved, removed) = (path.clone(), path.clone(), path.clone());
    (
        icon(Icon::File),
        html::span().child((
            html::button()
                .r#type("button")
                .class("path")
                .attr("title", path.clone())
                .on(ev::click, move |_| app.shown_file.set(Some(shown.clone())))
                .child(path.clone()),
            row.written.then(|| html::span().class("tag").child("written by the agent")),
        )),
        html::span().class("size").child(row.size),
        html::span().class("acts").child((
            act(format!("Download {path}"), Icon::Download).on(ev::click, move |_| save(app, &saved)),
            act(format!("Remove {path}"), Icon::Trash).on(ev::click, move |_| app.remove_file(&removed)),
        )),
    )
}

fn preview(app: App, path: String) -> impl IntoView {
    let text = RwSignal::new(Option::<String>::None);
    let blob = app.file(&path);
    match blob {
        None => text.set(Some("There is no such file any more.".to_owned())),
        Some(blob) => spawn_local(async move {
            let cut = blob.size() > SHOWN;
            let part = blob.slice_with_f64_and_f64(0.0, SHOWN);
            let read = match part {
                Ok(part) => JsFuture::from(part.text()).await.ok().and_then(|text| text.as_string()),
                Err(_) => None,
            };
            let mut read = read.unwrap_or_else(|| "This file could not be read.".to_owned());
            if cut {
                read.push_str("\n… (the beginning only; download it to see the whole)");
            }
            text.try_set(Some(read));
        }),
    }
    let saved = path.clone();
    (
        html::div().class("row").child((
            html::button()
                .r#type("button")
                .class("btn quiet small")
                .on(ev::click, move |_| app.shown_file.set(None))
                .child("All files"),
            html::button()
                .r#type("button")
                .class("btn quiet small")
                .on(ev::click, move |_| save(app, &saved))
                .child((icon(Icon::Download), "Download")),
        )),
        html::h3().class("fact").child(path),
        html::pre().class("preview").attr("tabindex", "0").child(move || text.get().unwrap_or_default()),
    )
}

fn save(app: App, path: &str) {
    match app.file(path) {
        Some(blob) => dom::save_as(path.rsplit('/').next().unwrap_or(path), &blob),
        None => app.complain("There is no such file any more."),
    }
}

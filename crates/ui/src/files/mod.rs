//! The files drawer: the files the agent works on and those it wrote; add, view, download, remove.

pub mod archive;
pub mod folder;
pub mod kept_files;
pub mod library;
pub mod samples;
pub mod store;

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::Blob;

use turnwise_content::format::{bytes, counted};
use turnwise_engine::hidden::visible;
use turnwise_files::kind::{FileKind, HEAD};
use turnwise_protocol::DocumentTask;
use turnwise_protocol::app::Order;

use crate::browser::dom::{self, BlobUrl};
use crate::components::button::{Look, button};
use crate::components::dialog::dialog;
use crate::components::icon::{self, Icon, icon};
use crate::components::reactive::reactive;
use crate::composer::drop;
use crate::files::library::FileRow;
use crate::state::{App, Dialog};
use crate::text::figure::{figure, file_text};

/// Bytes of a file that are shown; the whole can be downloaded.
const SHOWN: f64 = 200_000.0;
const PICK: &str = "pick-files";

pub fn files(app: App) -> impl IntoView {
    dialog(app, Dialog::Files, "drawer", "Files", move || {
        html::div().class("dialog-body").child(reactive(move || match app.drawer().file.get() {
            Some(path) => preview(app, &path).into_any(),
            None => list(app).into_any(),
        }))
    })
}

/// Rows that are shown at once: drawing those of a folder of 5,000 files takes seconds.
const MOST_ROWS: usize = 300;

fn list(app: App) -> impl IntoView {
    let rows = move || app.files();
    let empty = move || rows().is_empty();
    let samples = Memo::new(move |_| rows().iter().filter(|row| row.sample).count());
    let whole = RwSignal::new(false);
    let table = move |sample: bool| {
        let some = move || {
            let most = if whole.get() { usize::MAX } else { MOST_ROWS };
            rows().into_iter().filter(|row| row.sample == sample).take(most).collect::<Vec<_>>()
        };
        html::ul().class("files").child(For(ForProps::builder()
            .each(some)
            .key(|row| (row.path.clone(), row.size.clone(), row.written))
            .children(move |row| html::li().class("file").child(file(app, row)))
            .build()))
    };
    (
        html::div().class("zone").child((
            html::p().child(html::span().class("not-touch").child("Drop files or a folder anywhere on this page, or choose them. ")),
            html::p().child(
                "Texts, tables, PDFs, office documents, e-books, or a .zip. They stay \
                 in this browser until you remove them, and the model sees only what its tools read. A record of a run opens as a \
                 run.",
            ),
            html::div().class("row").child((
                html::input()
                    .r#type("file")
                    .id(PICK)
                    .attr("multiple", "")
                    .class("hidden")
                    .attr("tabindex", "-1")
                    .attr("aria-label", "Files to add")
                    .on(ev::change, move |event| drop::picked(app, &event)),
                button(Look::Quiet)
                    .on(ev::click, |_| {
                        let input = dom::document().get_element_by_id(PICK);
                        if let Some(input) = input.and_then(|input| input.dyn_into::<web_sys::HtmlElement>().ok()) {
                            input.click();
                        }
                    })
                    .child((icon(Icon::Plus), "Choose files")),
                folder::opener(app),
                reactive(move || {
                    (!empty()).then(|| {
                        button(Look::Quiet)
                            .attr("title", "Download every file below as one ZIP file, including those the agent wrote")
                            .on(ev::click, move |_| app.download_all())
                            .child((icon(Icon::Download), "Download all (.zip)"))
                    })
                }),
            )),
        )),
        folder::list(app),
        reactive(move || empty().then(|| html::p().class("fact").child("No files yet. The agent can still calculate and write \
                                                 its own files."))),
        reactive(move || rows().iter().any(|row| !row.sample).then(|| html::h3().class("over").child("Your files"))),
        table(false),
        reactive(move || {
            let more = rows().iter().filter(|row| !row.sample).count().saturating_sub(MOST_ROWS);
            (more > 0 && !whole.get()).then(|| {
                button(Look::QuietSmall)
                    .on(ev::click, move |_| whole.set(true))
                    .child(format!("Show {}", counted(more as u64, "more file")))
            })
        }),
        reactive(move || {
            let count = samples.get();
            (count > 0).then(|| {
                html::details().class("samples").child((
                    html::summary().child((
                        icon::chevron(),
                        "Sample files",
                        html::span().class("fact").child(counted(count as u64, "file")),
                    )),
                    html::p().class("fact").child(
                        "The app's own manual: the demo and the examples read it. Your own files are never mixed with it.",
                    ),
                    table(true),
                ))
            })
        }),
        folder::space(),
    )
}

fn file(app: App, row: FileRow) -> impl IntoView {
    let act = |text: String, name: Icon| {
        button(Look::Bare).attr("title", text.clone()).attr("aria-label", text).child(icon(name))
    };
    let path = row.path;
    let (shown, saved, removed) = (path.clone(), path.clone(), path.clone());
    let name = visible(&path).into_owned();
    (
        thumbnail(app, &path),
        html::span().child((
            html::button()
                .r#type("button")
                .class("path")
                .attr("title", name.clone())
                .on(ev::click, move |_| {
                    app.drawer().place.set(String::new());
                    app.drawer().file.set(Some(shown.clone()));
                })
                .child(name.clone()),
            row.written.then(|| html::span().class("tag").child("written by the agent")),
            row.on_disk.then(|| html::span().class("tag").child("on your disk")),
        )),
        html::span().class("size").child(row.size),
        html::span().class("acts").child((
            act(format!("Download {name}"), Icon::Download).on(ev::click, move |_| app.save_file(&saved)),
            (!row.sample)
                .then(|| act(format!("Remove {name}"), Icon::Trash).on(ev::click, move |_| app.remove_file(&removed))),
        )),
    )
}

/// A small picture of a picture, or the sign of a file.
fn thumbnail(app: App, path: &str) -> AnyView {
    let ending = path.rsplit('.').next().map(str::to_ascii_lowercase).unwrap_or_default();
    let is_picture = matches!(ending.as_str(), "png" | "jpg" | "jpeg" | "gif" | "webp" | "avif");
    let url = is_picture.then(|| app.file(path)).flatten().as_ref().and_then(BlobUrl::new);
    match url {
        Some(url) => {
            let shown = html::img()
                .class("thumbnail")
                .attr("src", url.as_str().to_owned())
                .attr("alt", "")
                .attr("loading", "lazy");
            // The address is valid as long as the row.
            let kept = StoredValue::new_local(url);
            on_cleanup(move || kept.dispose());
            shown.into_any()
        }
        None => icon(Icon::File).into_any(),
    }
}

/// The preview of a file.
#[derive(Clone, Debug)]
struct ShownFile {
    /// Its kind and its size.
    facts: String,
    body: PreviewBody,
}

#[derive(Clone, Debug)]
enum PreviewBody {
    /// The text of the file, or that of a document as the tools read it.
    Text(String),
    /// The text of a table; `cut`: it is only the beginning of the file.
    Table { text: String, cut: bool },
    /// Loaded by an `img` only: scripts in an SVG do not run there, and nothing is fetched.
    Picture(Arc<BlobUrl>),
    /// With its text, or the reason why the tools find none.
    Pdf(Arc<BlobUrl>, Result<String, String>),
    /// The reason why nothing is shown, and what the tools say of the file.
    Nothing(&'static str, String),
}

const NOT_TEXT: &str = "This is not a text file, so it is not shown here. Download it to open it in another program.";
const UNREADABLE: &str = "This file could not be read. Add it again, or remove it.";

fn preview(app: App, path: &str) -> impl IntoView + use<> {
    let shown = RwSignal::new(Option::<ShownFile>::None);
    match app.file(path) {
        None => shown.set(Some(ShownFile { facts: String::new(), body: nothing("This file no longer exists.") })),
        Some(blob) => {
            let name = path.to_owned();
            spawn_local(async move {
                let read = look(app, &name, &blob).await;
                shown.try_set(Some(read));
            });
        }
    }
    let saved = path.to_owned();
    let open = move || match shown.get()?.body {
        PreviewBody::Pdf(url, _) => Some(
            html::a()
                .class("btn quiet small")
                .attr("href", url.as_str().to_owned())
                .attr("target", "_blank")
                .attr("rel", "noopener")
                .attr("title", "Open in a new tab with the browser's viewer")
                .child("Open"),
        ),
        PreviewBody::Text(_) | PreviewBody::Table { .. } | PreviewBody::Picture(_) | PreviewBody::Nothing(..) => None,
    };
    let name = path.to_owned();
    (
        html::div().class("row shown-acts").child((
            button(Look::QuietSmall).on(ev::click, move |_| app.drawer().file.set(None)).child("All files"),
            reactive(open),
            button(Look::QuietSmall)
                .on(ev::click, move |_| app.save_file(&saved))
                .child((icon(Icon::Download), "Download")),
        )),
        html::div().class("shown-file").child((
            html::h3().child(visible(path).into_owned()),
            reactive(move || shown.get().map(|shown| html::p().class("fact").child(shown.facts))),
        )),
        reactive(move || shown.get().map(|shown| body(app, shown.body, name.clone()))),
    )
}

fn nothing(why: &'static str) -> PreviewBody {
    PreviewBody::Nothing(why, String::new())
}

fn body(app: App, content: PreviewBody, name: String) -> AnyView {
    let label = |label: &'static str| html::p().class("not-shown").child(label).into_any();
    match content {
        PreviewBody::Text(text) | PreviewBody::Pdf(_, Ok(text)) => {
            file_text(text, app.drawer().place.get_untracked()).into_any()
        }
        PreviewBody::Table { text, cut } => table(app, text, cut, app.drawer().place.get_untracked()),
        PreviewBody::Nothing(why, more) => (label(why), html::p().class("fact").child(more)).into_any(),
        PreviewBody::Pdf(_, Err(why)) => {
            (label("A PDF opens in its own tab."), html::p().class("fact").child(why)).into_any()
        }
        PreviewBody::Picture(url) => {
            let broken = RwSignal::new(false);
            (reactive(move || {
                if broken.get() {
                    return label(
                        "The browser cannot show this picture: it is damaged, or in a format the browser does not support.",
                    );
                }
                html::div()
                    .class("shown-picture")
                    .child(
                        html::img()
                            .attr("src", url.as_str().to_owned())
                            .attr("alt", name.clone())
                            .on(ev::error, move |_| broken.set(true)),
                    )
                    .into_any()
            }))
            .into_any()
        }
    }
}

/// Draws a file of separated values: as a table, or as lines if a line of it was asked for.
fn table(app: App, text: String, cut: bool, place: String) -> AnyView {
    let note =
        cut.then(|| html::p().class("fact").child("Only the beginning is shown; download the file to see all of it."));
    let shown = if place.is_empty() {
        figure(app, DocumentTask::Separated, move || Some(text.clone())).into_any()
    } else {
        file_text(text, place).into_any()
    };
    (note, shown).into_any()
}

/// Reads the part of a file that is shown.
async fn look(app: App, name: &str, blob: &Blob) -> ShownFile {
    let facts = |label: &str| format!("{label}, {}", bytes(blob.size() as u64));
    let unreadable = || ShownFile { facts: String::new(), body: nothing(UNREADABLE) };
    let Some(head) = head_of(blob).await else { return unreadable() };
    let kind = FileKind::detect(name, &head);
    // The type comes from the file's bytes, never from its declared type: an HTML file is text here.
    let url = |media_type: &str| {
        let typed = blob.slice_with_f64_and_f64_and_content_type(0.0, blob.size(), media_type).ok();
        typed.as_ref().and_then(BlobUrl::new).map(Arc::new)
    };
    let is_table =
        name.rsplit_once('.').is_some_and(|(_, end)| ["csv", "tsv"].iter().any(|one| end.eq_ignore_ascii_case(one)));
    let mut encoding = String::new();
    let body = match kind {
        FileKind::Text => match text_of(blob).await {
            // Not UTF-8: as the tools read it, with a first line that says in which encoding.
            Some((text, _)) if text.contains(['\u{fffd}', '\0']) => match as_tools_read(app, name, blob).await {
                Ok(text) if is_table => {
                    let (note, text) = text.split_once('\n').unwrap_or(("", &text));
                    let note = note.split_once(": ").map_or(note, |(_, note)| note);
                    encoding = format!(", {}", note.trim_end_matches(']'));
                    PreviewBody::Table { text: text.to_owned(), cut: false }
                }
                Ok(text) => PreviewBody::Text(text),
                Err(why) => PreviewBody::Nothing(NOT_TEXT, why),
            },
            Some((text, cut)) if is_table => PreviewBody::Table { text, cut },
            Some((text, true)) => PreviewBody::Text(format!(
                "{text}\n… (only the beginning is shown; download the file to see all of it)"
            )),
            Some((text, false)) => PreviewBody::Text(text),
            None => return unreadable(),
        },
        FileKind::Picture { media_type, .. } => url(media_type).map_or(nothing(UNREADABLE), PreviewBody::Picture),
        FileKind::Pdf => match url("application/pdf") {
            Some(url) => PreviewBody::Pdf(url, as_tools_read(app, name, blob).await),
            None => nothing(UNREADABLE),
        },
        FileKind::Binary { .. } => match as_tools_read(app, name, blob).await {
            Ok(text) => PreviewBody::Text(text),
            Err(why) => PreviewBody::Nothing(NOT_TEXT, why),
        },
    };
    ShownFile { facts: facts(kind.label()) + &encoding, body }
}

/// The text that the tools find in a file. They are at the worker.
async fn as_tools_read(app: App, name: &str, blob: &Blob) -> Result<String, String> {
    let line = app.line.get_value().ok_or("The app is not ready yet.")?;
    let order = |id| Order::Text { id, worker_url: dom::worker_url(), path: name.to_owned() };
    line.ask(order, vec![blob.clone().into()]).await?.ok_or_else(|| "There is no text.".to_owned())
}

async fn head_of(blob: &Blob) -> Option<Vec<u8>> {
    let part = blob.slice_with_f64_and_f64(0.0, HEAD as f64).ok()?;
    let buffer = JsFuture::from(part.array_buffer()).await.ok()?;
    Some(js_sys::Uint8Array::new(&buffer).to_vec())
}

/// The text of a file, and whether it is only its beginning.
async fn text_of(blob: &Blob) -> Option<(String, bool)> {
    let part = blob.slice_with_f64_and_f64(0.0, SHOWN).ok()?;
    let mut text = JsFuture::from(part.text()).await.ok()?.as_string()?;
    let cut = blob.size() > SHOWN;
    if cut {
        // The last line is not whole.
        text.truncate(text.rfind('\n').unwrap_or(text.len()));
    }
    Some((text, cut))
}

//! Files dropped on the page or picked: files and folders for the agent, or a trajectory to open.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, DragEvent, File, FileList, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry};

use turnwise_content::format::counted;
use turnwise_protocol::record::OpenError;
use turnwise_record::plan::PlanDocument;
use turnwise_record::trajectory::import::EMBEDDED;
use turnwise_tools::folder::is_left_out;
use turnwise_view::formats::MOST_MB;
use turnwise_view::picture::is_picture;

use crate::browser::dom;
use crate::browser::gzip::{self, NotUnpacked};
use crate::browser::scripts::{self, Found, Problem};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::composer::pictures;
use crate::skills::skill_page::{self, Dropped};
use crate::state::{App, Dialog};
use crate::viewer;

/// Maximum number of files taken in one drop.
const MOST: usize = 20_000;

/// Listens on the whole window, and shows a drop panel while something is dragged over it: as long as `over` says so.
pub fn zone(app: App, over: RwSignal<bool>) -> impl IntoView {
    let accept = move |event: DragEvent| {
        if has_files(&event) {
            event.prevent_default();
            over.set(true);
        }
    };
    // Both events: if the element below the pointer is redrawn, its first event decides whether a drop is accepted.
    let _ = window_event_listener(ev::dragenter, accept);
    let _ = window_event_listener(ev::dragover, accept);
    let _ = window_event_listener(ev::dragleave, move |event| {
        if event.related_target().is_none() {
            over.set(false);
        }
    });
    let _ = window_event_listener(ev::drop, move |event| {
        over.set(false);
        if has_files(&event) {
            event.prevent_default();
            dropped(app, &event);
        }
    });
    reactive(move || {
        over.get().then(|| {
            let row = |symbol: Icon, name: &'static str, what: &'static str| {
                html::li().child((icon(symbol), html::span().child((html::b().child(name), html::span().child(what)))))
            };
            html::div().class("drop").child(html::div().class("drop-panel").child((
                html::h2().child("Drop it here"),
                html::ul().child((
                    row(
                        Icon::Files,
                        "Files and folders",
                        "go to the agent's files (a .zip is opened); they stay in this browser",
                    ),
                    row(
                        Icon::Play,
                        "A record",
                        "opens here: a trajectory (.json, .json.gz), a report (.html), an ATIF file, a plan, or a .zip of them",
                    ),
                    row(Icon::Note, "A skill", "a folder or an archive with a SKILL.md: you are asked"),
                    row(Icon::Picture, "Pictures", "dropped on the task box are sent with the task"),
                )),
            )))
        })
    })
}

fn has_files(event: &DragEvent) -> bool {
    event.data_transfer().is_some_and(|data| data.types().includes(&JsValue::from_str("Files"), 0))
}

/// Has the user pick files: records to open, or files for the agent.
pub fn choose(app: App) {
    let Ok(input) = dom::element("input").dyn_into::<web_sys::HtmlInputElement>() else { return };
    input.set_type("file");
    input.set_multiple(true);
    let picked = Closure::once_into_js(move |event: web_sys::Event| picked(app, &event));
    let _ = input.add_event_listener_with_callback("change", picked.unchecked_ref());
    input.click();
}

/// Takes the files picked in a file input.
pub fn picked(app: App, event: &web_sys::Event) {
    let input = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
    let Some(input) = input else { return };
    let files = input.files().map(|list| listed(&list)).unwrap_or_default();
    input.set_value("");
    spawn_local(take(app, files));
}

fn listed(list: &FileList) -> Vec<(String, Blob)> {
    (0..list.length()).filter_map(|place| list.get(place)).map(|file| (file.name(), file.into())).collect()
}

fn dropped(app: App, event: &DragEvent) {
    let Some(data) = event.data_transfer() else { return };
    let items = data.items();
    // Entries must be requested before the event ends; they are read after it.
    let entries: Vec<FileSystemEntry> = (0..items.length())
        .filter_map(|place| items.get(place))
        .filter_map(|item| item.webkit_get_as_entry().ok().flatten())
        .collect();
    let list: Vec<File> = data.files().map(|list| pictures::files(&list)).unwrap_or_default();
    // Pictures dropped on the task box are sent with the task; anywhere else they are ordinary files.
    let to_task = on_task(event);
    let (shown, files): (Vec<File>, Vec<File>) =
        list.into_iter().partition(|file| to_task && is_picture(&file.type_()));
    if !shown.is_empty() {
        pictures::take(app, shown);
        if files.is_empty() {
            return;
        }
    }
    let files = files.into_iter().map(|file| (file.name(), file.into())).collect();
    spawn_local(async move {
        if entries.iter().any(FileSystemEntry::is_directory) {
            let walked = walk(entries).await;
            take(app, walked).await;
        } else {
            take(app, files).await;
        }
    });
}

fn on_task(event: &DragEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|element| element.closest(".composer .field").ok().flatten().is_some())
}

/// Takes files: a single trajectory opens as a run, a single session as a plan; everything else goes to the agent.
async fn take(app: App, files: Vec<(String, Blob)>) {
    // On the page of the services, it is clear what one file is.
    if app.services().open.get_untracked() && files.len() == 1 {
        return files.into_iter().for_each(|(name, file)| app.add_service_file(name, file));
    }
    let given = files.clone();
    let (files, closed) = opened(files).await;
    if skill_page::is_one(&files).await {
        return app.ask_about_skill(Dropped { given, files, closed });
    }
    add(app, files, closed).await;
}

/// The same for files that are no skill. `closed`: the archives that were not opened, a sentence each.
pub async fn add(app: App, files: Vec<(String, Blob)>, mut closed: Vec<String>) {
    // They would be taken for files of the disk.
    let (files, below): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| !app.is_on_disk(path));
    if let Some((path, _)) = below.first() {
        let name = path.split('/').next().unwrap_or_default();
        let count = counted(below.len() as u64, "file");
        closed.push(format!("Left out: {count}. A folder {name} of your disk is open; close it first."));
    }
    let text = App::added(&files);
    match files.as_slice() {
        [] if !closed.is_empty() => return app.complain(closed.join(" ")),
        [] => return app.complain("No files were added: the folder is empty or could not be read."),
        [(name, blob)] if opens(name) => match open(app, name, blob).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(why) => return refuse(app, why),
        },
        several if several.len() > 1 && several.iter().all(|(name, _)| opens(name)) => {
            return take_records(app, files).await;
        }
        _ => {}
    }
    let full = files.len() >= MOST;
    app.add_files(files);
    let added = if full {
        format!("Added {text} for the agent (the limit is {MOST} files).")
    } else {
        format!("Added {text} for the agent.")
    };
    match closed.as_slice() {
        [] => app.tell(added),
        why => app.complain(format!("{added} {}", why.join(" "))),
    }
}

/// Replaces each ZIP archive by the files in it, in a folder of its name. One that cannot be opened stays as it is; a sentence says why.
async fn opened(files: Vec<(String, Blob)>) -> (Vec<(String, Blob)>, Vec<String>) {
    let (mut all, mut closed) = (Vec::new(), Vec::new());
    for (name, blob) in files {
        let Some(folder) = name.strip_suffix(".zip").or_else(|| name.strip_suffix(".ZIP")) else {
            all.push((name, blob));
            continue;
        };
        match scripts::unzip(&blob).await.map(JsCast::unchecked_into::<Found>) {
            Ok(inside) => {
                let left_out = |path: &str| path.split('/').any(|part| is_left_out(part) || part == "__MACOSX");
                let inside = inside.into_files().into_iter().filter(|(path, _)| !left_out(path));
                all.extend(inside.map(|(path, blob)| (format!("{folder}/{path}"), blob)));
            }
            Err(error) => {
                let why = error.unchecked_into::<Problem>().message();
                closed.push(format!("{name} was not opened: {why}. It was added as it is."));
                all.push((name, blob));
            }
        }
    }
    all.truncate(MOST);
    (all, closed)
}

/// Takes several JSON files: the records open as runs and plans, one after another; the others go to the agent. The message names each
/// record that could not be opened, and why.
async fn take_records(app: App, files: Vec<(String, Blob)>) {
    let (mut opened, mut rest, mut refused) = (0, Vec::new(), Vec::new());
    for (name, blob) in files {
        match open(app, &name, &blob).await {
            Ok(true) => opened += 1,
            Ok(false) => rest.push((name, blob)),
            Err(why) => refused.push(why),
        }
    }
    let records = counted(opened, "record");
    let done = match (opened, rest.is_empty()) {
        (0, true) => None,
        (0, false) => Some(format!("Added {} for the agent.", App::added(&rest))),
        (_, true) => Some(app.about_opened(&format!("Opened {records} (read-only)."))),
        (_, false) => {
            Some(app.about_opened(&format!("Opened {records}, and added {} for the agent.", App::added(&rest))))
        }
    };
    if !rest.is_empty() {
        app.add_files(rest);
    }
    match (done, refused.is_empty()) {
        (Some(done), true) => app.tell(done),
        (done, _) => refuse(app, done.into_iter().chain(refused).collect::<Vec<_>>().join(" ")),
    }
}

/// Says what was not opened. The dialog of files closes, as it does for what opens.
fn refuse(app: App, why: String) {
    app.dialog.update(|dialog| *dialog = dialog.filter(|dialog| *dialog != Dialog::Files));
    app.complain(why);
}

/// Returns whether a file may be a run or a plan, by its name.
fn opens(name: &str) -> bool {
    [".json", ".json.gz", ".html", ".htm"].iter().any(|end| name.to_ascii_lowercase().ends_with(end))
}

/// Opens a file if it is a record of a run or of a plan, and returns whether it is one.
///
/// # Errors
/// A sentence about a record that could not be opened.
async fn open(app: App, name: &str, blob: &Blob) -> Result<bool, String> {
    let file = match unpacked(name, blob).await {
        Ok(file) => file,
        Err(NotUnpacked::TooLarge) => {
            return Err(format!("{name} was not opened: it unpacks to more than {MOST_MB} MB."));
        }
        // Another kind of file that only has such a name.
        Err(NotUnpacked::Damaged) => return Ok(false),
    };
    // Without the folder, or the archive, that it came from.
    let name = name.trim_end_matches(".gz").rsplit('/').next().unwrap_or(name);
    if !name.to_ascii_lowercase().ends_with(".json") {
        let text = text_of(&file).await;
        return if text.contains(EMBEDDED.0) { import(app, name, text).await } else { Ok(false) };
    }
    match viewer::open_text(app, Some(name), &file).await {
        Ok(()) => {
            app.tell_opened(&format!("Opened {name} (read-only)."));
            Ok(true)
        }
        Err(OpenError::OtherFormat) => {
            let text = text_of(&file).await;
            if text.contains("\"ATIF-v") { import(app, name, text).await } else { open_plan(app, name, text).await }
        }
        // Any other JSON is an ordinary file.
        Err(OpenError::NotJson) => Ok(false),
        Err(OpenError::Unreadable(error)) => Err(not_opened(name, &error)),
    }
}

async fn unpacked(name: &str, blob: &Blob) -> Result<Blob, NotUnpacked> {
    let most = f64::from(MOST_MB) * 1_048_576.0;
    if name.to_ascii_lowercase().ends_with(".gz") {
        let text = gzip::unpack(blob, most).await?;
        return dom::text_blob(&text, "application/json").ok_or(NotUnpacked::Damaged);
    }
    if blob.size() > most { Err(NotUnpacked::TooLarge) } else { Ok(blob.clone()) }
}

pub async fn text_of(blob: &Blob) -> String {
    let text = JsFuture::from(blob.text()).await.ok().and_then(|text| text.as_string());
    text.unwrap_or_default()
}

fn not_opened(name: &str, why: &str) -> String {
    format!("{name} was not opened. {why}")
}

/// Opens a record of another format. Returns `true`.
async fn import(app: App, name: &str, text: String) -> Result<bool, String> {
    app.import(text).await.map_err(|why| not_opened(name, &why))?;
    app.tell_opened(&format!("Opened {name} (read-only)."));
    Ok(true)
}

/// Opens the record of a plan; returns whether the file is one.
async fn open_plan(app: App, name: &str, text: String) -> Result<bool, String> {
    if !PlanDocument::is_one(&text) {
        return Ok(false);
    }
    app.open_plan(name, text).await.map_err(|why| not_opened(name, &why))?;
    Ok(true)
}

/// Returns all files below the entries, with their paths.
async fn walk(entries: Vec<FileSystemEntry>) -> Vec<(String, Blob)> {
    let mut files = Vec::new();
    let mut open = entries;
    open.reverse();
    while let Some(entry) = open.pop() {
        if is_left_out(&entry.name()) || files.len() >= MOST {
            continue;
        }
        let path = entry.full_path().trim_start_matches('/').to_owned();
        if entry.is_directory() {
            let mut inside = children(entry.unchecked_into()).await;
            inside.reverse();
            open.append(&mut inside);
        } else if let Some(file) = file(entry.unchecked_into()).await {
            files.push((path, file.into()));
        }
    }
    files
}

async fn file(entry: FileSystemFileEntry) -> Option<File> {
    let promise = js_sys::Promise::new(&mut |resolve, reject| {
        entry.file_with_callback_and_callback(&resolve, &reject);
    });
    JsFuture::from(promise).await.ok()?.dyn_into().ok()
}

/// Returns the entries of a folder. Its reader returns them in batches, the last one empty.
async fn children(folder: FileSystemDirectoryEntry) -> Vec<FileSystemEntry> {
    let reader = folder.create_reader();
    let mut all = Vec::new();
    loop {
        let promise = js_sys::Promise::new(&mut |resolve, reject| {
            let _ = reader.read_entries_with_callback_and_callback(&resolve, &reject);
        });
        let portion = JsFuture::from(promise).await.map(|portion| js_sys::Array::from(&portion)).unwrap_or_default();
        if portion.length() == 0 {
            return all;
        }
        all.extend(portion.iter().map(JsCast::unchecked_into::<FileSystemEntry>));
    }
}

//! The open run as a file: the menu of downloads, sharing, and opening files of other formats. A worker converts them.

use js_sys::{Array, Function, Object, Promise, Reflect};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::Blob;

use turnwise::worker::records;
use turnwise_protocol::tool_worker::DocumentTask;
use turnwise_record::trajectory::ExportFormat;
use turnwise_view::formats::{COMPRESSED, COMPRESSED_NAME, SHARE};

use crate::browser::dom;
use crate::browser::gzip;
use crate::client::slots::RunPage;
use crate::components::icon::{Icon, icon};
use crate::components::menu::{MenuEntry, menu};
use crate::state::{App, Backing, OpenRecord};
use crate::viewer;

const MENU: &str = "download-menu";

/// Draws the download button of an ended run.
pub fn downloads(app: App) -> impl IntoView {
    let each = ExportFormat::ALL.iter().copied().map(|format| MenuEntry {
        name: format.label(),
        note: format.note(),
        act: Box::new(move || app.download(format)),
    });
    let small = MenuEntry { name: COMPRESSED.0, note: COMPRESSED.1, act: Box::new(move || app.pack()) };
    let face = (icon(Icon::Download), "Download");
    menu(MENU, "Download the run in a format of your choice", face, each.chain(Some(small)).collect())
}

/// The open run: its id, its file's name if it came from a file, and its text.
struct Named {
    run_id: String,
    name: Option<String>,
    text: String,
}

impl App {
    /// Downloads the open run in this format; the native format is verbatim if the run came from a file.
    pub fn download(self, format: ExportFormat) {
        spawn_local(async move {
            let Some(Named { run_id, name, text }) = self.open_run().await else { return self.nothing_yet() };
            let name = name.filter(|_| format == ExportFormat::Native).unwrap_or_else(|| format.file_name(&run_id));
            let written = match format {
                ExportFormat::Native => Ok(text),
                _ => records::ask(dom::worker_url(), DocumentTask::Export(format), text).await,
            };
            match written.map(|text| dom::text_blob(&text, format.media_type())) {
                Ok(Some(blob)) => dom::save_as(&name, &blob),
                Ok(None) => self.complain("The browser could not create the file. Close other tabs and try again."),
                Err(why) => self.complain(format!("The file could not be written: {why}")),
            }
        });
    }

    /// Writes a run of the open thread as an HTML report, and passes it to the system's share sheet if that accepts it; otherwise
    /// downloads it.
    pub fn share(self, page: RunPage) {
        spawn_local(async move {
            let Some(Named { run_id, text, .. }) = self.run_of(&page).await else { return self.nothing_yet() };
            let written = records::ask(dom::worker_url(), DocumentTask::Export(ExportFormat::Html), text).await;
            let blob = written.map(|text| dom::text_blob(&text, ExportFormat::Html.media_type()));
            let Ok(Some(blob)) = blob else {
                return self.complain("The report could not be written. Download the run.");
            };
            let name = ExportFormat::Html.file_name(&run_id);
            if !hand_over(&name, &blob).await {
                dom::save_as(&name, &blob);
                self.tell(format!("Saved {name}. {SHARE} It opens in any browser, and here as a run."));
            }
        });
    }

    /// Compresses the open run to one file, and hands it over in the same way.
    pub fn pack(self) {
        spawn_local(async move {
            let Some(Named { run_id, text, .. }) = self.open_run().await else { return self.nothing_yet() };
            let packed = match dom::text_blob(&text, ExportFormat::Native.media_type()) {
                Some(blob) => gzip::pack(&blob).await,
                None => None,
            };
            let Some(blob) = packed else {
                return self.complain("This browser cannot compress files. Download the trajectory instead.");
            };
            let name = format!("{run_id}{COMPRESSED_NAME}");
            if !hand_over(&name, &blob).await {
                dom::save_as(&name, &blob);
                self.tell(format!("Saved {name}. To open it again, drop it on Turnwise."));
            }
        });
    }

    fn nothing_yet(self) {
        self.complain("There is nothing to download yet.");
    }

    async fn open_run(self) -> Option<Named> {
        self.run_of(&untrack(|| self.page())?).await
    }

    async fn run_of(self, page: &RunPage) -> Option<Named> {
        let thread = self.thread_now()?;
        self.find_again(&thread).ok()?;
        match thread.backing {
            Backing::Document(OpenRecord { name, text, whole, .. }) => {
                Some(Named { run_id: whole.start.run_id.clone(), name: Some(name), text: text.to_string() })
            }
            Backing::Live { .. } => {
                let handle = page.handle()?;
                let (run_id, text) = (handle.start()?.run_id, handle.record().await.ok()?);
                Some(Named { run_id, name: None, text })
            }
            Backing::Plan { .. } => None,
        }
    }

    /// Opens a record of another format.
    ///
    /// # Errors
    /// The reason why that is not possible.
    pub async fn import(self, text: String) -> Result<(), String> {
        let text = records::ask(dom::worker_url(), DocumentTask::Import, text).await?;
        let blob = dom::text_blob(&text, "application/json").ok_or("there is not enough storage space")?;
        // Named after its run.
        viewer::open_text(self, None, &blob).await.map_err(|refused| refused.to_string())
    }
}

/// Shares a file with `navigator.share`; `false`: it is missing, or does not accept this kind.
async fn hand_over(name: &str, blob: &Blob) -> bool {
    asked(name, blob).await.unwrap_or(false)
}

/// Does the same; `Err`: sharing is not available here.
async fn asked(name: &str, blob: &Blob) -> Result<bool, JsValue> {
    let class: Function = Reflect::get(&js_sys::global(), &"File".into())?.dyn_into()?;
    let options = Object::new();
    Reflect::set(&options, &"type".into(), &blob.type_().into())?;
    let file = Reflect::construct(&class, &Array::of3(&Array::of1(blob), &name.into(), &options))?;
    let data = Object::new();
    Reflect::set(&data, &"files".into(), &Array::of1(&file))?;
    let navigator = dom::window().navigator();
    let method = |name: &str| Reflect::get(&navigator, &name.into())?.dyn_into::<Function>();
    if !method("canShare")?.call1(&navigator, &data)?.is_truthy() {
        return Ok(false);
    }
    let shared: Promise = method("share")?.call1(&navigator, &data)?.dyn_into()?;
    match JsFuture::from(shared).await {
        Ok(_) => Ok(true),
        // A user who closes the share sheet has decided.
        Err(error) => Ok(Reflect::get(&error, &"name".into())? == "AbortError"),
    }
}

//! What the page's own scripts do: they load when they are first needed, and `www/app/boot.js` defines these functions.

use wasm_bindgen::prelude::*;
use web_sys::{Blob, Element};

#[wasm_bindgen]
extern "C" {
    /// Draws a table or a chart, from the JSON of a `Figure`.
    #[wasm_bindgen(js_name = turnwiseFigure)]
    pub fn draw(place: &Element, figure: &str);
    /// Shows the text of a file at a place of it.
    #[wasm_bindgen(js_name = turnwiseShow)]
    pub fn show(place: &Element, text: &str, at: &str);
    /// Makes buttons of the mentions of files in a text.
    #[wasm_bindgen(js_name = turnwiseCite)]
    pub fn cite(place: &Element);
    /// Draws the formulas of a text, and its diagrams once it is complete.
    #[wasm_bindgen(js_name = turnwiseDrawings)]
    pub fn drawings(place: &Element);
    /// Sets the files that can be mentioned: their paths, one per line. Texts that are shown get their buttons.
    #[wasm_bindgen(js_name = turnwiseFiles)]
    pub fn files(paths: &str);

    /// Files with their paths, in the same order.
    pub type Found;
    #[wasm_bindgen(method, getter)]
    pub fn paths(this: &Found) -> Vec<String>;
    #[wasm_bindgen(method, getter, js_name = files)]
    pub fn contents(this: &Found) -> Vec<Blob>;
    /// Files of a folder that are left out because they are too large.
    #[wasm_bindgen(method, getter)]
    pub fn large(this: &Found) -> u32;
    /// The folder has more files.
    #[wasm_bindgen(method, getter)]
    pub fn more(this: &Found) -> bool;
    /// The folder itself, for the workspace: its handle, and what was left out of it.
    #[wasm_bindgen(method, getter)]
    pub fn folder(this: &Found) -> JsValue;

    /// What an exception says.
    pub type Problem;
    #[wasm_bindgen(method, getter)]
    pub fn name(this: &Problem) -> String;
    #[wasm_bindgen(method, getter)]
    pub fn message(this: &Problem) -> String;

    /// A folder on the user's disk (`FileSystemDirectoryHandle`).
    pub type Folder;
    #[wasm_bindgen(method, getter)]
    pub fn name(this: &Folder) -> String;
    /// What [`Found::folder`] has.
    pub type Opened;
    #[wasm_bindgen(method, getter)]
    pub fn handle(this: &Opened) -> JsValue;

    /// How much the browser stores for the page, and how much it may, in bytes (`StorageEstimate`).
    pub type Space;
    #[wasm_bindgen(method, getter)]
    pub fn usage(this: &Space) -> Option<f64>;
    #[wasm_bindgen(method, getter)]
    pub fn quota(this: &Space) -> Option<f64>;
    #[wasm_bindgen(catch, js_name = turnwiseSpace)]
    pub async fn space() -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = turnwiseHasPicker)]
    fn picker() -> Result<bool, JsValue>;
    /// Has the user choose a folder. Needs a click.
    #[wasm_bindgen(catch, js_name = turnwisePick)]
    pub async fn pick() -> Result<JsValue, JsValue>;
    /// Returns the files below a folder, as references ([`Found`]).
    #[wasm_bindgen(catch, js_name = turnwiseWalk)]
    pub async fn walk(folder: &JsValue, left_out: &str) -> Result<JsValue, JsValue>;
    /// Returns whether a folder is another one on the disk than one that is open ([`Opened`]).
    #[wasm_bindgen(catch, js_name = turnwiseIsOther)]
    pub async fn is_other(folder: &JsValue, open: &JsValue) -> Result<JsValue, JsValue>;
    /// Asks the browser for write access to a folder ([`Opened`]); true if it has it. Needs a click.
    #[wasm_bindgen(catch, js_name = turnwiseMayWrite)]
    pub async fn may_write(folder: &JsValue) -> Result<JsValue, JsValue>;
    /// Returns the files of a ZIP archive ([`Found`]). The exception says why not.
    #[wasm_bindgen(catch, js_name = turnwiseUnzip)]
    pub async fn unzip(archive: &Blob) -> Result<JsValue, JsValue>;
    /// Calls a function of `www/app/skills.js`, which reads skills; returns JSON. The exception says why not.
    #[wasm_bindgen(catch, js_name = turnwiseSkills)]
    pub async fn skills(what: &str, others: &str, paths: Vec<String>, files: Vec<Blob>) -> Result<JsValue, JsValue>;
    /// Unpacks at most `most` bytes; null: it would be more.
    #[wasm_bindgen(catch, js_name = turnwiseInflate)]
    pub async fn inflate(packed: &Blob, format: &str, most: f64) -> Result<JsValue, JsValue>;
}

impl Found {
    /// The files with their paths.
    pub fn into_files(self) -> Vec<(String, Blob)> {
        self.paths().into_iter().zip(self.contents()).collect()
    }
}

/// Whether the browser has a picker of folders.
pub fn has_picker() -> bool {
    picker().unwrap_or(false)
}

//! All files of the open workspace as one ZIP file. Their contents are not copied: they are only read for checksums.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, BlobPropertyBag};

use turnwise_files::zip::{Crc32, ZipEntry, frame};

use crate::browser::dom;
use crate::state::App;

const NAME: &str = "turnwise-files.zip";
/// Bytes read at a time for the checksum; the page can do other work in between.
const PIECE: f64 = 4_194_304.0;

impl App {
    /// Downloads every file in the drawer.
    pub fn download_all(self) {
        let files: Vec<(String, Blob)> =
            self.files().into_iter().filter_map(|row| self.file(&row.path).map(|blob| (row.path, blob))).collect();
        spawn_local(async move {
            match archive(&files).await {
                Ok(blob) => dom::save_as(NAME, &blob),
                Err(why) => self.complain(why),
            }
        });
    }
}

/// Writes files into one ZIP file, without compressing them.
pub async fn archive(files: &[(String, Blob)]) -> Result<Blob, String> {
    let mut entries = Vec::with_capacity(files.len());
    for (path, blob) in files {
        let gone = |_| format!("{path} can no longer be read. Add it again, or remove it.");
        entries.push(entry(path, blob).await.map_err(gone)?);
    }
    let too_much = "The files are too many or too large for one ZIP file. Download them one by one.";
    let (heads, tail) = frame(&entries).map_err(|_| too_much.to_owned())?;
    let parts = Array::new();
    for (head, (_, blob)) in heads.iter().zip(files) {
        parts.push(&Uint8Array::from(head.as_slice()));
        parts.push(blob);
    }
    parts.push(&Uint8Array::from(tail.as_slice()));
    let options = BlobPropertyBag::new();
    options.set_type("application/zip");
    Blob::new_with_blob_sequence_and_options(&parts, &options).map_err(|_| too_much.to_owned())
}

async fn entry(path: &str, blob: &Blob) -> Result<ZipEntry, JsValue> {
    let (mut crc, mut at, mut size) = (Crc32::new(), 0.0, 0_usize);
    while at < blob.size() {
        let piece = blob.slice_with_f64_and_f64(at, at + PIECE)?;
        let bytes = Uint8Array::new(&JsFuture::from(piece.array_buffer()).await?).to_vec();
        crc.update(&bytes);
        size += bytes.len();
        at += PIECE;
    }
    // Larger files do not fit, which is reported later.
    Ok(ZipEntry { path: path.to_owned(), size: u32::try_from(size).unwrap_or(u32::MAX), crc: crc.finish() })
}

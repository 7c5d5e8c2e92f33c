//! Opens a dropped ZIP archive: its files, each unpacked by the browser's own streams, with limits.

use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use crate::files::unzip::{LOCAL, NotOpened, Packed, TAIL, data_at, files, list_at};

use super::gzip::{self, NotUnpacked};

/// The files of an archive with their paths.
///
/// # Errors
/// The reason why it cannot be opened, or why one of its files cannot be unpacked.
pub async fn open(archive: &Blob) -> Result<Vec<(String, Blob)>, NotOpened> {
    let size = archive.size();
    let tail = bytes(archive, (size - TAIL as f64).max(0.0), size).await?;
    let (start, length) = list_at(&tail)?;
    let list = bytes(archive, start as f64, (start + length) as f64).await?;
    let mut opened = Vec::new();
    for file in files(&list)? {
        opened.push((file.path.clone(), unpacked(archive, &file).await?));
    }
    Ok(opened)
}

async fn unpacked(archive: &Blob, file: &Packed) -> Result<Blob, NotOpened> {
    let header = bytes(archive, file.at as f64, (file.at + LOCAL) as f64).await?;
    let start = file.at + data_at(&header)?;
    let packed = part(archive, start as f64, (start + file.packed) as f64)?;
    if !file.deflated {
        return Ok(packed);
    }
    // A file that says it is small and is not would fill the tab.
    gzip::inflate(&packed, "deflate-raw", file.size as f64).await.map_err(|reason| match reason {
        NotUnpacked::TooLarge | NotUnpacked::Damaged => NotOpened::Damaged,
    })
}

fn part(archive: &Blob, from: f64, to: f64) -> Result<Blob, NotOpened> {
    archive.slice_with_f64_and_f64(from, to).map_err(|_| NotOpened::Damaged)
}

async fn bytes(archive: &Blob, from: f64, to: f64) -> Result<Vec<u8>, NotOpened> {
    let buffer = JsFuture::from(part(archive, from, to)?.array_buffer()).await.map_err(|_| NotOpened::Damaged)?;
    Ok(js_sys::Uint8Array::new(&buffer).to_vec())
}

//! Compression with the browser's own streams: packing for sharing, unpacking with a limit.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, ReadableStream, Response};

use crate::browser::scripts;

#[wasm_bindgen]
extern "C" {
    type CompressionStream;
    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<CompressionStream, JsValue>;

    #[wasm_bindgen(js_name = ReadableStream)]
    type Stream;
    #[wasm_bindgen(method, catch, js_name = pipeThrough)]
    fn pipe_through(this: &Stream, through: &JsValue) -> Result<ReadableStream, JsValue>;
}

/// The reason why a file was not unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotUnpacked {
    TooLarge,
    /// It is not a gzip file, or it is damaged.
    Damaged,
}

/// Compresses a file; `None`: the browser cannot.
pub async fn pack(blob: &Blob) -> Option<Blob> {
    let through = CompressionStream::new("gzip").ok()?;
    let stream = blob.stream().unchecked_into::<Stream>().pipe_through(&through).ok()?;
    let whole = Response::new_with_opt_readable_stream(Some(&stream)).ok()?;
    let bytes = JsFuture::from(whole.array_buffer().ok()?).await.ok()?;
    let options = web_sys::BlobPropertyBag::new();
    options.set_type("application/gzip");
    Blob::new_with_u8_array_sequence_and_options(&Array::of1(&Uint8Array::new(&bytes)), &options).ok()
}

/// Unpacks a text of at most `most` bytes.
pub async fn unpack(blob: &Blob, most: f64) -> Result<String, NotUnpacked> {
    let whole = scripts::inflate(blob, "gzip", most).await.map_err(|_| NotUnpacked::Damaged)?;
    let whole: Blob = whole.dyn_into().map_err(|_| NotUnpacked::TooLarge)?;
    let text = JsFuture::from(whole.text()).await.map_err(|_| NotUnpacked::Damaged)?;
    text.as_string().ok_or(NotUnpacked::Damaged)
}

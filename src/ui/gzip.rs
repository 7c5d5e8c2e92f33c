//! Compression with the browser's own streams: packing for sharing, unpacking with a limit.

use js_sys::{Array, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, ReadableStream, ReadableStreamDefaultReader, Response};

#[wasm_bindgen]
extern "C" {
    type CompressionStream;
    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<CompressionStream, JsValue>;

    type DecompressionStream;
    #[wasm_bindgen(constructor, catch)]
    fn new(format: &str) -> Result<DecompressionStream, JsValue>;

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
    let whole = inflate(blob, "gzip", most).await?;
    let text = JsFuture::from(whole.text()).await.map_err(|_| NotUnpacked::Damaged)?;
    text.as_string().ok_or(NotUnpacked::Damaged)
}

/// Unpacks at most `most` bytes; `format` as `DecompressionStream` names it. It stops as soon as the content is larger: a small file can
/// unpack to more than a tab can hold.
pub async fn inflate(blob: &Blob, format: &str, most: f64) -> Result<Blob, NotUnpacked> {
    let damaged = |_| NotUnpacked::Damaged;
    let through = DecompressionStream::new(format).map_err(damaged)?;
    let stream = blob.stream().unchecked_into::<Stream>().pipe_through(&through).map_err(damaged)?;
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let (parts, mut size) = (Array::new(), 0.0);
    loop {
        let step = JsFuture::from(reader.read()).await.map_err(damaged)?;
        if Reflect::get(&step, &"done".into()).is_ok_and(|done| done.is_truthy()) {
            break;
        }
        let part: Uint8Array = Reflect::get(&step, &"value".into()).map_err(damaged)?.unchecked_into();
        size += f64::from(part.byte_length());
        if size > most {
            drop(reader.cancel());
            return Err(NotUnpacked::TooLarge);
        }
        parts.push(&part);
    }
    Blob::new_with_u8_array_sequence(&parts).map_err(damaged)
}

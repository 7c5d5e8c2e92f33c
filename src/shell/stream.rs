//! Reads a response body chunk by chunk.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, ReadableStream, ReadableStreamDefaultReader};

use super::js::{Chunk, Thenable};

type StreamStep = Closure<dyn FnMut(Chunk)>;

/// Passes every chunk to `take` until the stream ends, `take` breaks or reading fails.
///
/// One closure serves all chunks of a stream: a future per chunk would cost more than decoding it.
pub(super) async fn pump(
    body: &ReadableStream,
    take: impl FnMut(&[u8]) -> ControlFlow<()> + 'static,
) -> Result<(), JsValue> {
    let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    let kept: Rc<RefCell<Option<StreamStep>>> = Rc::default();
    let mut take = Some(take);
    let promise = Promise::new(&mut |resolve: Function, reject: Function| {
        // The executor runs once.
        let Some(mut take) = take.take() else { return };
        let (again, source, failed) = (Rc::clone(&kept), reader.clone(), reject.clone());
        let mut bytes = Vec::new();
        let step = StreamStep::new(move |chunk: Chunk| {
            let Some(value) = chunk.value().filter(|_| !chunk.done()) else {
                let _ = resolve.call0(&JsValue::UNDEFINED);
                return;
            };
            bytes.resize(value.length() as usize, 0);
            value.copy_to(&mut bytes);
            match (take(&bytes), &*again.borrow()) {
                (ControlFlow::Continue(()), Some(step)) => read(&source, step, &failed),
                _ => drop(resolve.call0(&JsValue::UNDEFINED)),
            }
        });
        read(&reader, &step, &reject);
        *kept.borrow_mut() = Some(step);
    });
    let end = JsFuture::from(promise).await;
    kept.take(); // the closure owns itself
    end.map(drop)
}

/// Reads a whole body as text; `None`: it is longer than `most` bytes, and the rest is not read.
pub async fn read_text(body: &ReadableStream, most: usize) -> Result<Option<String>, JsValue> {
    match read_blob(body, most).await? {
        Some(blob) => Ok(JsFuture::from(blob.text()).await?.as_string()),
        None => Ok(None),
    }
}

/// Reads a whole body as a blob, without copying it into WASM memory; `None`: it is longer than `most` bytes, and the rest is
/// not read. The length is known only at the end: the header may give the compressed length, or be wrong.
pub async fn read_blob(body: &ReadableStream, most: usize) -> Result<Option<Blob>, JsValue> {
    let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    let (parts, mut length) = (Array::new(), 0);
    loop {
        let chunk: Chunk = JsFuture::from(reader.read()).await?.unchecked_into();
        let Some(bytes) = chunk.value().filter(|_| !chunk.done()) else { break };
        length += bytes.length() as usize;
        if length > most {
            // Nobody needs the rest; it does not matter whether cancelling it works.
            let _ = JsFuture::from(reader.cancel()).await;
            return Ok(None);
        }
        parts.push(&bytes);
    }
    Ok(Some(Blob::new_with_u8_array_sequence(&parts)?))
}

fn read(reader: &ReadableStreamDefaultReader, step: &StreamStep, failed: &Function) {
    reader.read().unchecked_ref::<Thenable>().then_call(step.as_ref().unchecked_ref(), failed);
}

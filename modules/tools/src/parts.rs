//! The parts of the worker that load on first use (`www/worker-parts.js`): readers of documents.

use js_sys::{Array, Uint8Array};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use web_sys::Blob;

use turnwise_files::document::{Container, Document, PackedFile};
use turnwise_files::encoding::{DecodedText, EncodingOrigin, TextEncoding};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = convert)]
    async fn convert_package(bytes: &Uint8Array, name: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = pdf)]
    async fn convert_pdf(bytes: &Uint8Array, most_ms: f64) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = decode)]
    async fn decode_text(bytes: &Uint8Array, label: Option<&str>) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = encode)]
    async fn encode_text(text: &str, label: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = archive)]
    async fn list_archive(blob: &Blob) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = member)]
    async fn read_member(blob: &Blob, path: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = attachment)]
    async fn read_attachment(bytes: &Uint8Array, path: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch, js_namespace = turnwiseParts, js_name = gunzip)]
    async fn unpack_gzip(blob: &Blob) -> Result<JsValue, JsValue>;
}

/// What is in an archive.
#[derive(Deserialize)]
pub struct Archive {
    /// Such as `ZIP archive`.
    pub kind: String,
    pub files: Vec<PackedFile>,
    /// What was not listed or was guessed, one sentence each.
    pub notes: Vec<String>,
    /// Whether it is the container of an office document or an e-book.
    pub document: bool,
}

/// The files in an archive.
///
/// # Errors
/// A sentence without the file's name.
pub async fn archive(blob: &Blob) -> Result<Archive, String> {
    let json = list_archive(blob).await.map_err(|error| sentence(&error))?;
    serde_json::from_str(&json.as_string().unwrap_or_default())
        .map_err(|error| format!("its list is not valid: {error}"))
}

/// The content of a file in an archive.
///
/// # Errors
/// A sentence without the file's name.
pub async fn member(blob: &Blob, path: &str) -> Result<Blob, String> {
    let content = read_member(blob, path).await.map_err(|error| sentence(&error))?;
    content.dyn_into().map_err(|_| "it could not be unpacked".to_owned())
}

/// The content of a file that is attached to a mail.
///
/// # Errors
/// A sentence without the file's name.
pub async fn attachment(bytes: &Uint8Array, path: &str) -> Result<Blob, String> {
    let content = read_attachment(bytes, path).await.map_err(|error| sentence(&error))?;
    Blob::new_with_u8_array_sequence(&Array::of1(&content)).map_err(|_| "it could not be read".to_owned())
}

/// What is packed by gzip; `None`: it is an archive.
///
/// # Errors
/// A sentence without the file's name.
pub async fn gunzip(blob: &Blob) -> Result<Option<Blob>, String> {
    let content = unpack_gzip(blob).await.map_err(|error| sentence(&error))?;
    Ok(content.dyn_into().ok())
}

/// The text of bytes in an old encoding.
///
/// # Errors
/// A sentence without the file's name.
pub async fn decode(bytes: &[u8], label: Option<&str>) -> Result<DecodedText, String> {
    let answer = decode_text(&Uint8Array::from(bytes), label).await.map_err(|error| sentence(&error))?;
    let answer: Array = answer.unchecked_into();
    let text = answer.get(0).as_string().unwrap_or_default();
    let name = answer.get(1).as_string().unwrap_or_default();
    let origin = if answer.get(2).is_truthy() { EncodingOrigin::Guessed } else { EncodingOrigin::Declared };
    let faults = text.matches(char::REPLACEMENT_CHARACTER).count();
    Ok(DecodedText { text, encoding: TextEncoding { name, bom: false, origin }, faults })
}

/// The bytes of a text in an old encoding; the inner error is a character that it does not have.
///
/// # Errors
/// A sentence without the file's name.
pub async fn encode(text: &str, label: &str) -> Result<Result<Vec<u8>, char>, String> {
    let answer = encode_text(text, label).await.map_err(|error| sentence(&error))?;
    Ok(match answer.as_string().and_then(|text| text.chars().next()) {
        Some(missing) => Err(missing),
        None => Ok(Uint8Array::new(&answer).to_vec()),
    })
}

/// What a part says besides the document.
#[derive(Deserialize)]
struct ReadExtent {
    #[serde(default)]
    late: bool,
}

/// The text of a document, and whether the rest of it was not read for lack of time: reading stops after `most_ms`.
///
/// # Errors
/// A sentence without the file's name that says why it has none.
pub async fn document(
    container: Container,
    bytes: &Uint8Array,
    name: &str,
    most_ms: f64,
) -> Result<(Document, bool), String> {
    let converted = match container {
        Container::Pdf => convert_pdf(bytes, most_ms).await,
        Container::Package | Container::Tar | Container::Gzip | Container::Mail => convert_package(bytes, name).await,
    };
    let json = converted.map_err(|error| sentence(&error))?;
    let json = json.as_string().unwrap_or_default();
    let invalid = |error| format!("the text that was read of it is not valid: {error}");
    let document = serde_json::from_str(&json).map_err(invalid)?;
    let ReadExtent { late } = serde_json::from_str(&json).map_err(invalid)?;
    Ok((document, late))
}

/// A part throws a string, or an error with a message. Any other error is a trap of its module: out of memory or stack.
fn sentence(error: &JsValue) -> String {
    if let Some(text) = error.as_string() {
        return text;
    }
    let name = js_sys::Error::from(error.clone()).name();
    if name == "RuntimeError" || name == "RangeError" {
        return "it could not be read: it is damaged, or needs more memory than a document may".to_owned();
    }
    String::from(js_sys::Error::from(error.clone()).message())
}

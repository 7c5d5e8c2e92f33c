//! Writes files to a folder on the user's disk through its handle (`FileSystemDirectoryHandle`).

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

/// Writes a file below a folder, with the folders in between. `path` is relative to the folder and normalized.
///
/// # Errors
/// The browser's reason, for instance that writing is not permitted.
pub async fn write(folder: &JsValue, path: &str, content: &Blob) -> Result<(), String> {
    write_file(folder, path, content).await.map_err(|error| {
        let message = Reflect::get(&error, &"message".into()).ok().and_then(|message| message.as_string());
        message.unwrap_or_else(|| String::from(Object::from(error).to_string()))
    })
}

async fn write_file(folder: &JsValue, path: &str, content: &Blob) -> Result<(), JsValue> {
    let create = Object::new();
    Reflect::set(&create, &"create".into(), &JsValue::TRUE)?;
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut at = folder.clone();
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        at = call(&at, "getDirectoryHandle", &[part.into(), create.clone().into()]).await?;
    }
    let file = call(&at, "getFileHandle", &[name.into(), create.into()]).await?;
    let stream = call(&file, "createWritable", &[]).await?;
    if let Err(error) = call(&stream, "write", &[content.into()]).await {
        // The file keeps its old content.
        let _ = call(&stream, "abort", &[]).await;
        return Err(error);
    }
    call(&stream, "close", &[]).await.map(drop)
}

/// Calls a method that returns a promise.
async fn call(object: &JsValue, method: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(object, &method.into())?.dyn_into()?;
    let arguments: Array = arguments.iter().collect();
    let promise: Promise = function.apply(object, &arguments)?.dyn_into()?;
    JsFuture::from(promise).await
}

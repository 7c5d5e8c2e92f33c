//! Files of a folder on the user's disk, through its handle (`FileSystemDirectoryHandle`). Nothing is created before it is written, and
//! nothing is replaced that differs from what was found there before.

use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File};

use turnwise_engine::digest::sha256_hex;
use turnwise_tools::folder::LeftOut;

/// Larger files are not read to tell whether they changed.
const MAX_DIGESTED: f64 = 64.0 * 1_048_576.0;

/// A folder on the user's disk.
#[derive(Clone, Debug)]
pub(super) struct DiskFolder {
    handle: JsValue,
    pub(super) left_out: LeftOut,
}

impl DiskFolder {
    /// Reads the description that `www/app/folder.js` gives: `{ handle, leftOut, more }`.
    pub(super) fn new(folder: &JsValue) -> Self {
        let member = |name: &str| Reflect::get(folder, &name.into()).unwrap_or_default();
        let paths = member("leftOut").dyn_into::<Array>().unwrap_or_default();
        let left_out = LeftOut::new(paths.iter().filter_map(|path| path.as_string()), member("more").is_truthy());
        DiskFolder { handle: member("handle"), left_out }
    }

    /// Returns whether both are the same folder on the disk.
    pub(super) async fn is(&self, other: &DiskFolder) -> bool {
        call(&self.handle, "isSameEntry", std::slice::from_ref(&other.handle)).await.is_ok_and(|same| same.is_truthy())
    }

    /// Finds a file; `None` if there is none. `path` is relative to the folder and normalized.
    ///
    /// # Errors
    /// The browser's reason, for instance that the path is that of a folder.
    pub(super) async fn find(&self, path: &str) -> Result<Option<File>, String> {
        match self.file(path, false).await {
            Ok((_, handle)) => content(&handle).await.map(Some).map_err(|error| reason(&error)),
            Err(error) if name_of(&error) == "NotFoundError" => Ok(None),
            Err(error) => Err(reason(&error)),
        }
    }

    /// Writes a file, with the folders in between. Returns `false`, and writes nothing, if the file that it would replace is not that
    /// with this digest; `None`: there was none.
    ///
    /// # Errors
    /// The browser's reason, for instance that writing is not permitted.
    pub(super) async fn write(&self, path: &str, new: &Blob, before: Option<&str>) -> Result<bool, String> {
        let same = match self.find(path).await? {
            Some(file) => before.is_some() && digest(&file).await.as_deref() == before,
            None => before.is_none(),
        };
        if !same {
            return Ok(false);
        }
        let (parent, handle) = self.file(path, before.is_none()).await.map_err(|error| reason(&error))?;
        let written = replace(&handle, new).await;
        if before.is_none() && !matches!(written, Ok(true)) {
            // Its name is not left behind as an empty file.
            let name = path.rsplit('/').next().unwrap_or(path);
            let _ = call(&parent, "removeEntry", &[name.into()]).await;
        }
        written.map_err(|error| reason(&error))
    }

    /// The handle of a file, and that of the folder that it is in.
    async fn file(&self, path: &str, create: bool) -> Result<(JsValue, JsValue), JsValue> {
        let options = Object::new();
        Reflect::set(&options, &"create".into(), &create.into())?;
        let options = JsValue::from(options);
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut at = self.handle.clone();
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            at = call(&at, "getDirectoryHandle", &[part.into(), options.clone()]).await?;
        }
        let file = call(&at, "getFileHandle", &[name.into(), options]).await?;
        Ok((at, file))
    }
}

/// Replaces the content of a file, unless another program changes it meanwhile: then it keeps that content.
async fn replace(handle: &JsValue, new: &Blob) -> Result<bool, JsValue> {
    let stamp = |file: &File| (file.size(), file.last_modified());
    let before = stamp(&content(handle).await?);
    let stream = call(handle, "createWritable", &[]).await?;
    let written = async {
        call(&stream, "write", &[new.into()]).await?;
        Ok(stamp(&content(handle).await?) == before)
    };
    let written = written.await;
    // What is not closed is not written.
    match written {
        Ok(true) => call(&stream, "close", &[]).await.map(|_| true),
        other => {
            let _ = call(&stream, "abort", &[]).await;
            other
        }
    }
}

async fn content(handle: &JsValue) -> Result<File, JsValue> {
    call(handle, "getFile", &[]).await.map(JsCast::unchecked_into)
}

/// Tells one content from another. `None`: it can no longer be read. A file of another program that is too large to be read has its size
/// and the time of its last change instead.
pub(super) async fn digest(file: &Blob) -> Option<String> {
    if file.size() > MAX_DIGESTED {
        let changed = file.dyn_ref::<File>().map(File::last_modified);
        return Some(format!("{} bytes, {changed:?}", file.size()));
    }
    let bytes = JsFuture::from(file.array_buffer()).await.ok()?;
    Some(sha256_hex(&[&Uint8Array::new(&bytes).to_vec()]))
}

fn name_of(error: &JsValue) -> String {
    Reflect::get(error, &"name".into()).ok().and_then(|name| name.as_string()).unwrap_or_default()
}

fn reason(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|message| message.as_string());
    message.unwrap_or_else(|| String::from(Object::from(error.clone()).to_string()))
}

/// Calls a method that returns a promise.
async fn call(object: &JsValue, method: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(object, &method.into())?.dyn_into()?;
    let arguments: Array = arguments.iter().collect();
    let promise: Promise = function.apply(object, &arguments)?.dyn_into()?;
    JsFuture::from(promise).await
}

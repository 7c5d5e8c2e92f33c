//! Caches the content of documentation sites in the browser between visits: one IndexedDB store, one entry per site.
//!
//! Small on purpose, and independent of the store of runs: a page that only queries a site's docs does not load that store.
//! Any failure (no IndexedDB, no space, private browsing, a database that does not respond) only means that nothing is
//! cached. Text is stored as text: Chromium can lose a blob along with its page in such a way that reading it never ends.

use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::shell::Timeout;

const NAME: &str = "turnwise-docs";
const STORE: &str = "sites";
/// Maximum age of an entry; older ones are read again. A page can change without a change of the site's version.
const MAX_AGE_MS: f64 = 24.0 * 60.0 * 60.0 * 1000.0;
/// The time after which an unresponsive database is given up on.
const PATIENCE_MS: f64 = 3_000.0;

#[wasm_bindgen]
extern "C" {
    type Factory;
    #[wasm_bindgen(method, catch, structural)]
    fn open(this: &Factory, name: &str, version: u32) -> Result<IdbRequest, JsValue>;

    type IdbRequest;
    #[wasm_bindgen(method, getter, structural)]
    fn result(this: &IdbRequest) -> JsValue;
    #[wasm_bindgen(method, setter, structural)]
    fn set_onsuccess(this: &IdbRequest, then: &Function);
    #[wasm_bindgen(method, setter, structural)]
    fn set_onerror(this: &IdbRequest, then: &Function);
    #[wasm_bindgen(method, setter, structural)]
    fn set_onblocked(this: &IdbRequest, then: &Function);
    #[wasm_bindgen(method, setter, structural)]
    fn set_onupgradeneeded(this: &IdbRequest, then: &Function);

    type Database;
    #[wasm_bindgen(method, catch, structural, js_name = createObjectStore)]
    fn create(this: &Database, name: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, structural)]
    fn transaction(this: &Database, store: &str, mode: &str) -> Result<Transaction, JsValue>;
    #[wasm_bindgen(method, structural)]
    fn close(this: &Database);

    type Transaction;
    #[wasm_bindgen(method, catch, structural, js_name = objectStore)]
    fn store(this: &Transaction, name: &str) -> Result<Store, JsValue>;

    type Store;
    #[wasm_bindgen(method, catch, structural)]
    fn get(this: &Store, key: &str) -> Result<IdbRequest, JsValue>;
    #[wasm_bindgen(method, catch, structural)]
    fn put(this: &Store, value: &JsValue, key: &str) -> Result<IdbRequest, JsValue>;
}

/// Returns the cached content of the site `key` in this version, if it is not too old.
pub(super) async fn take(key: &str, version: &str) -> Option<String> {
    let read = async {
        let database = database().await?;
        let asked = database.transaction(STORE, "readonly")?.store(STORE)?.get(key)?;
        let kept = done(&asked).await;
        database.close();
        kept
    };
    let kept: JsValue = read.await.ok()?;
    let field = |name: &str| Reflect::get(&kept, &name.into()).unwrap_or_default();
    let at = field("at").as_f64()?;
    let fresh = (0.0..MAX_AGE_MS).contains(&(js_sys::Date::now() - at));
    if !fresh || field("version").as_string().as_deref() != Some(version) {
        return None;
    }
    field("text").as_string()
}

/// Stores a site, replacing its earlier entry.
pub(super) async fn put(key: &str, version: &str, text: &str) -> Result<(), JsValue> {
    let entry = Object::new();
    Reflect::set(&entry, &"version".into(), &version.into())?;
    Reflect::set(&entry, &"text".into(), &text.into())?;
    Reflect::set(&entry, &"at".into(), &js_sys::Date::now().into())?;
    let database = database().await?;
    let asked = database.transaction(STORE, "readwrite")?.store(STORE)?.put(&entry, key)?;
    let put = done(&asked).await;
    database.close();
    put.map(drop)
}

async fn database() -> Result<Database, JsValue> {
    let factory = Reflect::get(&js_sys::global(), &"indexedDB".into())?;
    if !factory.is_object() {
        return Err(JsValue::NULL);
    }
    let asked = factory.unchecked_into::<Factory>().open(NAME, 1)?;
    let made: IdbRequest = JsValue::from(&asked).unchecked_into();
    let upgrade = Closure::<dyn FnMut()>::new(move || {
        let _ = made.result().unchecked_into::<Database>().create(STORE);
    });
    asked.set_onupgradeneeded(upgrade.as_ref().unchecked_ref());
    Ok(done(&asked).await?.unchecked_into())
}

/// Waits for the result of a request, up to a deadline.
async fn done(asked: &IdbRequest) -> Result<JsValue, JsValue> {
    let mut late = None;
    let promise = Promise::new(&mut |resolve: Function, reject: Function| {
        asked.set_onsuccess(&resolve);
        asked.set_onerror(&reject);
        asked.set_onblocked(&reject);
        late = Some(Timeout::new(PATIENCE_MS, move || {
            let _ = reject.call0(&JsValue::UNDEFINED);
        }));
    });
    JsFuture::from(promise).await?;
    drop(late);
    Ok(asked.result())
}

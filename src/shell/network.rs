//! Waiting for the connection: a request is not sent while the browser says that it is offline (retries.md#retries-and-waiting).

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::EventTarget;

use super::js;
use turnwise_llm::Online;

/// Waits until the browser no longer says that it is offline. Returns at once where it says nothing about that.
pub(super) async fn back() {
    let global = js_sys::global();
    let Some(target) = global.dyn_ref::<EventTarget>().filter(|target| can_listen(target)) else { return };
    while js::online() == Online::No {
        let online = Promise::new(&mut |resolve: Function, _reject: Function| {
            let _ = target.add_event_listener_with_callback("online", &resolve);
        });
        // An event's promise is never rejected.
        let _ = JsFuture::from(online).await;
    }
}

fn can_listen(target: &EventTarget) -> bool {
    Reflect::get(target, &"addEventListener".into()).is_ok_and(|method| method.is_function())
}

//! Several tabs: one owns a run and writes it, the others are notified. A Web Lock marks the owner and is released when
//! its tab ends for any reason; a broadcast channel announces that there is something new to read.

use std::rc::Rc;

use futures_channel::oneshot;
use js_sys::{Function, Object, Promise, Reflect};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{BroadcastChannel, MessageEvent};

const CHANNEL: &str = "turnwise";

/// Messages between tabs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TabMessage {
    /// More of this run is stored.
    Written { key: String },
    /// The notes on this run changed.
    Noted { key: String },
    /// Names or runs changed: the list must be reloaded.
    Listed,
}

/// A run that this tab owns; released when dropped.
pub struct RunLock {
    /// `None`: this page has no locks, so there is nothing to release.
    release: Option<Function>,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if let Some(release) = &self.release {
            let _ = release.call0(&JsValue::UNDEFINED);
        }
    }
}

impl std::fmt::Debug for RunLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RunLock")
    }
}

/// Claims a run for this tab; `None`: another tab owns it. Without locks (pages that are not secure), each tab counts
/// as the only one.
pub async fn claim(key: &str) -> Option<RunLock> {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).unwrap_or_default();
    let locks = Reflect::get(&navigator, &"locks".into()).unwrap_or_default();
    let Some(locks) = locks.dyn_ref::<LockManager>().filter(|_| locks.is_object()) else {
        return Some(RunLock { release: None });
    };
    let (sender, granted) = oneshot::channel();
    let mut sender = Some(sender);
    let on_lock = Closure::once_into_js(move |lock: JsValue| -> JsValue {
        let mut release = None;
        let held = Promise::new(&mut |resolve: Function, _reject: Function| release = Some(resolve));
        let mine = release.filter(|_| !lock.is_null()).map(|release| RunLock { release: Some(release) });
        if mine.is_none() {
            if let Some(sender) = sender.take() {
                let _ = sender.send(None);
            }
            return JsValue::UNDEFINED;
        }
        if let Some(sender) = sender.take() {
            let _ = sender.send(mine);
        }
        held.into()
    });
    let options = Object::new();
    let _ = Reflect::set(&options, &"ifAvailable".into(), &JsValue::TRUE);
    let asked = locks.request(&format!("turnwise-run-{key}"), &options, on_lock.unchecked_ref());
    // A refused request (a page without storage) drops the sender: then no other tab can own the run either.
    spawn_local(async move {
        let _ = wasm_bindgen_futures::JsFuture::from(asked).await;
    });
    granted.await.unwrap_or_else(|_| Some(RunLock { release: None }))
}

/// The other tabs of this site.
pub struct Tabs {
    channel: Option<BroadcastChannel>,
    _listener: Option<Closure<dyn FnMut(MessageEvent)>>,
}

impl Tabs {
    /// Opens the channel. `listener` is called with messages from other tabs, never with this tab's own.
    #[must_use]
    pub fn new(listener: impl Fn(TabMessage) + 'static) -> Rc<Self> {
        let channel = BroadcastChannel::new(CHANNEL).ok();
        let listener = Closure::new(move |event: MessageEvent| {
            let text = event.data().as_string().unwrap_or_default();
            if let Ok(message) = serde_json::from_str(&text) {
                listener(message);
            }
        });
        if let Some(channel) = &channel {
            channel.set_onmessage(Some(listener.as_ref().unchecked_ref()));
        }
        Rc::new(Tabs { channel, _listener: Some(listener) })
    }

    pub fn tell(&self, what: &TabMessage) {
        if let (Some(channel), Ok(text)) = (&self.channel, serde_json::to_string(what)) {
            let _ = channel.post_message(&text.into());
        }
    }
}

impl std::fmt::Debug for Tabs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tabs")
    }
}

#[wasm_bindgen]
extern "C" {
    type LockManager;
    #[wasm_bindgen(method)]
    fn request(this: &LockManager, name: &str, options: &Object, callback: &Function) -> Promise;
}

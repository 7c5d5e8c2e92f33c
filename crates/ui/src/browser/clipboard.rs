//! Copies to the clipboard, if the page is allowed to.

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

use crate::browser::dom;
use crate::state::App;

impl App {
    /// Copies a text, and reports whether that worked.
    pub fn copy(self, text: &str) {
        let Some(clipboard) = clipboard() else { return self.not_copied() };
        let done = JsFuture::from(clipboard.write_text(text));
        spawn_local(async move {
            match done.await {
                Ok(_) => self.tell("Copied."),
                Err(_) => self.not_copied(),
            }
        });
    }

    fn not_copied(self) {
        self.complain("The browser did not allow copying. Select the text and copy it by hand, or download the run.");
    }
}

/// Returns the clipboard. It is missing on pages loaded over plain http from another machine, whatever the bindings
/// say.
fn clipboard() -> Option<web_sys::Clipboard> {
    let navigator = dom::window().navigator();
    let found = js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard")).ok()?;
    found.is_object().then(|| found.unchecked_into())
}

//! The page's local storage, if it is allowed: settings and theme. And that of its tab: what is being written. Runs are not kept here.

use crate::browser::dom;

fn storage() -> Option<web_sys::Storage> {
    dom::window().local_storage().ok().flatten()
}

fn of_tab() -> Option<web_sys::Storage> {
    dom::window().session_storage().ok().flatten()
}

pub fn load(key: &str) -> Option<String> {
    storage()?.get_item(key).ok().flatten()
}

/// Saves a value, best effort: a full or forbidden storage changes nothing for this visit.
pub fn save(key: &str, value: &str) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(key, value);
    }
}

pub fn remove(key: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(key);
    }
}

pub fn load_of_tab(key: &str) -> Option<String> {
    of_tab()?.get_item(key).ok().flatten()
}

/// Saves a value until the tab is closed; an empty one is removed. Returns whether there was room for it; if not, nothing is kept.
pub fn save_of_tab(key: &str, value: &str) -> bool {
    let Some(storage) = of_tab() else { return false };
    let saved = !value.is_empty() && storage.set_item(key, value).is_ok();
    if !saved {
        let _ = storage.remove_item(key);
    }
    saved || value.is_empty()
}

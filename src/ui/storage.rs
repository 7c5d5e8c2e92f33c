//! The page's local storage, if it is allowed: settings and theme. Runs are not kept here.

use super::dom;

fn storage() -> Option<web_sys::Storage> {
    dom::window().local_storage().ok().flatten()
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

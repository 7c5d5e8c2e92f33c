//! API keys: one per address, so that a key never goes to a server other than the one it was typed in for.
//!
//! In memory only, unless the user ticks "remember on this device"; then in the page's local storage, where every
//! script of this origin can read them. The settings say so.

use std::collections::BTreeMap;

use turnwise_llm::address::ServerAddress;

use crate::browser::storage;

const STORED: &str = "turnwise.keys";

#[derive(Clone, Default, PartialEq, Eq)]
pub struct Keys {
    by_address: BTreeMap<String, String>,
    remembered: BTreeMap<String, String>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(..)")
    }
}

impl Keys {
    /// Loads the keys that this device remembers.
    pub fn load() -> Self {
        let remembered: BTreeMap<String, String> =
            storage::load(STORED).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let remembered: BTreeMap<String, String> =
            remembered.into_iter().map(|(base_url, key)| (address(&base_url), key)).collect();
        Keys { by_address: remembered.clone(), remembered }
    }

    /// Returns the key for an address.
    pub fn get(&self, base_url: &str) -> Option<String> {
        self.by_address.get(&address(base_url)).cloned()
    }

    /// Returns every key with its address.
    pub fn all(&self) -> Vec<(String, String)> {
        self.by_address.iter().map(|(address, key)| (address.clone(), key.clone())).collect()
    }

    /// Sets the key for an address. Without an address, no key is kept.
    pub fn set(&mut self, base_url: &str, key: &str) {
        if address(base_url).is_empty() {
            return;
        }
        let (address, key) = (address(base_url), key.trim().to_owned());
        if self.remembered.contains_key(&address) {
            self.remembered.insert(address.clone(), key.clone());
            self.store();
        }
        if key.is_empty() {
            self.by_address.remove(&address)
        } else {
            self.by_address.insert(address, key)
        };
    }

    pub fn is_remembered(&self, base_url: &str) -> bool {
        self.remembered.contains_key(&address(base_url))
    }

    pub fn remember(&mut self, base_url: &str) {
        let address = address(base_url);
        let key = self.by_address.get(&address).cloned().unwrap_or_default();
        self.remembered.insert(address, key);
        self.store();
    }

    pub fn forget(&mut self, base_url: &str) {
        self.remembered.remove(&address(base_url));
        self.store();
    }

    fn store(&self) {
        let kept: BTreeMap<&String, &String> = self.remembered.iter().filter(|(_, key)| !key.is_empty()).collect();
        if kept.is_empty() {
            storage::remove(STORED);
        } else if let Ok(text) = serde_json::to_string(&kept) {
            storage::save(STORED, &text);
        }
    }
}

/// The server that a key is bound to. Text that is no valid address is no server, so no key is kept for it.
fn address(base_url: &str) -> String {
    ServerAddress::parse(base_url).map(|server| server.to_string()).unwrap_or_default()
}

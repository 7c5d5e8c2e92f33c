//! Keys and extra headers: what opens a provider's door.

use std::fmt;

/// What opens a provider's door. Never in a record, never in `Debug`.
#[derive(Clone, Default)]
pub struct Access {
    pub api_key: Option<String>,
    pub headers: Vec<(String, String)>,
    /// The page's own model, where the provider is one.
    pub complete: Option<js_sys::Function>,
}

impl Access {
    /// What must be in no record, message or event.
    pub(super) fn secrets(&self) -> impl Iterator<Item = String> + '_ {
        self.api_key.iter().chain(self.headers.iter().map(|(_, value)| value)).cloned()
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Access(..)")
    }
}

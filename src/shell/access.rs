//! The credentials of a provider: its key and extra headers.

use std::fmt;

/// A provider's credentials. Never in a record or in `Debug` output.
#[derive(Clone, Default)]
pub struct Access {
    pub api_key: Option<String>,
    pub headers: Vec<(String, String)>,
    /// The page's number for the provider, if the page calls the model itself.
    pub in_page: Option<usize>,
}

impl Access {
    /// Removes white space around the key and the header values. A blank key means no key.
    #[must_use]
    pub fn trimmed(self) -> Self {
        let trim = |text: &String| text.trim().to_owned();
        Access {
            api_key: self.api_key.as_ref().map(trim).filter(|key| !key.is_empty()),
            headers: self.headers.iter().map(|(name, value)| (name.clone(), trim(value))).collect(),
            in_page: self.in_page,
        }
    }

    /// The secrets, which must not appear in any record, message or event.
    pub(super) fn secrets(&self) -> impl Iterator<Item = String> + '_ {
        self.api_key.iter().chain(self.headers.iter().map(|(_, value)| value)).cloned()
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Access(..)")
    }
}

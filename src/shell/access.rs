//! The credentials of a provider: its key and extra headers. They belong to a server, never to a place in a list: a run can
//! have other providers than the configuration that the credentials were given with.

use std::fmt;

use turnwise_engine::ProviderConfig;
use turnwise_llm::address::ServerAddress;

/// A provider's credentials. Never in a record or in `Debug` output.
#[derive(Clone, Default)]
pub struct Access {
    /// The server that they are for; `None`: none can be reached.
    pub server: Option<ServerAddress>,
    pub api_key: Option<String>,
    pub headers: Vec<(String, String)>,
    /// The page's number for the provider, if the page calls the model itself.
    pub in_page: Option<usize>,
}

impl Access {
    /// Returns the credentials for a provider, the `at`th of its run: those that were given for its server. If there are several,
    /// those in its place count.
    #[must_use]
    pub fn of(all: &[Access], at: usize, provider: &ProviderConfig) -> Access {
        let server = turnwise_llm::server(provider).ok();
        let fits = |access: &&Access| {
            let in_page = access.in_page.is_some();
            access.server.is_some() && access.server == server && (!in_page || !provider.kind.is_http())
        };
        all.get(at).filter(fits).or_else(|| all.iter().find(fits)).cloned().unwrap_or_default()
    }

    /// Removes white space around the key and the header values. A blank key means no key.
    #[must_use]
    pub fn trimmed(self) -> Self {
        let trim = |text: &String| text.trim().to_owned();
        Access {
            server: self.server.clone(),
            api_key: self.api_key.as_ref().map(trim).filter(|key| !key.is_empty()),
            headers: self.headers.iter().map(|(name, value)| (name.clone(), trim(value))).collect(),
            in_page: self.in_page,
        }
    }

    /// Whether a request carries anything that lets it in.
    pub(super) fn is_keyed(&self) -> bool {
        self.api_key.is_some() || !self.headers.is_empty()
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

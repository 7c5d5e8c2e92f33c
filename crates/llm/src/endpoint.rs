//! The addresses and access headers of providers, by kind.

use turnwise_engine::{ProviderConfig, ProviderKind};

use super::address::{self, AddressFault, AddressSpace, ServerAddress};
use super::providers::{WireFormat, wire};
use super::servers::{Auth, ServerRow};

/// The address of a request, and the headers known here. The shell adds the user's extra headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequestHead {
    pub url: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
}

/// The head of a request for a reply. White space around a pasted key is dropped; without a key there is no header for it.
#[must_use]
pub fn request_head(p: &ProviderConfig, api_key: Option<&str>) -> HttpRequestHead {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    headers.extend(auth_headers(p, api_key));
    HttpRequestHead { url: reply_url(p), headers }
}

/// The head of a request for the list of models (GET); the address is empty if the kind has none.
#[must_use]
pub fn models_head(p: &ProviderConfig, api_key: Option<&str>) -> HttpRequestHead {
    let url = match wire(p.kind).format {
        _ if !p.kind.is_http() => String::new(),
        WireFormat::Messages => below(p, "/models?limit=1000"),
        WireFormat::Gemini => below(p, "/models?pageSize=1000"),
        WireFormat::Chat | WireFormat::Responses => below(p, "/models"),
    };
    HttpRequestHead { url, headers: auth_headers(p, api_key) }
}

/// The header with the key, and what else the server requires.
fn auth_headers(p: &ProviderConfig, api_key: Option<&str>) -> Vec<(String, String)> {
    let key = api_key.map(str::trim).filter(|key| !key.is_empty());
    let wire = wire(p.kind);
    let mut headers = Vec::new();
    let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
    if wire.format == WireFormat::Messages {
        add("anthropic-version", "2023-06-01");
        // Without it, Anthropic responds with 401 to a page.
        add("anthropic-dangerous-direct-browser-access", "true");
    }
    match (ServerRow::of(p).auth, key) {
        (Auth::Header(name), Some(key)) => add(name, key),
        (Auth::Bearer, Some(key)) => add("authorization", &format!("Bearer {key}")),
        (_, None) => {}
    }
    for (name, value) in wire.headers {
        add(name, value);
    }
    headers
}

/// A kind's default base URL.
#[must_use]
pub fn base_url(kind: ProviderKind) -> &'static str {
    wire(kind).base_url
}

/// The base URL without a trailing slash and without the suffix for replies; the kind's default if none is set.
pub(super) fn base(p: &ProviderConfig) -> &str {
    base_of(p.kind, &p.base_url)
}

/// The base URL of a kind at an address, likewise.
pub(super) fn base_of(kind: ProviderKind, given: &str) -> &str {
    let base = address::split_version(given.trim()).0.trim_end_matches('/');
    if base.is_empty() || !kind.is_http() {
        return base_url(kind);
    }
    ["/chat/completions", "/responses", "/messages"].iter().find_map(|path| base.strip_suffix(path)).unwrap_or(base)
}

/// An address below the base URL, with the version that the base URL has behind it.
fn below(p: &ProviderConfig, path: &str) -> String {
    let version = Some(p.base_url.trim()).filter(|_| p.kind.is_http()).and_then(|base| address::split_version(base).1);
    let joint = if path.contains('?') { '&' } else { '?' };
    let version = version.map(|version| format!("{joint}{version}")).unwrap_or_default();
    format!("{}{path}{version}", base(p))
}

/// The server that a provider's requests go to, and that its key is bound to; an empty one if it is not reached over HTTP.
///
/// # Errors
/// What is wrong with its base URL: nothing is sent there.
pub fn server(p: &ProviderConfig) -> Result<ServerAddress, AddressFault> {
    ServerAddress::parse(if p.kind.is_http() { base(p) } else { "" })
}

/// The URL for replies.
pub(super) fn reply_url(p: &ProviderConfig) -> String {
    match wire(p.kind).format {
        WireFormat::Chat => below(p, "/chat/completions"),
        WireFormat::Responses => below(p, "/responses"),
        WireFormat::Messages => below(p, "/messages"),
        WireFormat::Gemini => {
            let model = p.model.trim().trim_start_matches("models/");
            below(p, &format!("/models/{model}:streamGenerateContent?alt=sse"))
        }
    }
}

/// Host and port, for messages; a relative base URL is returned unchanged.
pub(super) fn host(p: &ProviderConfig) -> &str {
    let base = base(p);
    base.split_once("://").and_then(|(_, rest)| rest.split('/').next()).unwrap_or(base)
}

/// Whether a provider uses its kind's default base URL.
pub(super) fn uses_default_url(p: &ProviderConfig) -> bool {
    base(p) == base_url(p.kind)
}

pub(super) fn is_openai(p: &ProviderConfig) -> bool {
    host(p) == "api.openai.com"
}

/// Whether this is a public service with a kind of its own.
pub(super) fn is_known_cloud_host(p: &ProviderConfig) -> bool {
    let of = |kind: &ProviderKind| base_url(*kind).strip_prefix("https://").and_then(|rest| rest.split('/').next());
    base(p).starts_with("https://") && ProviderKind::ALL.iter().any(|kind| of(kind) == Some(host(p)))
}

/// What to do about a service that lets no page call it.
pub(super) fn needs_proxy(p: &ProviderConfig, date: &str) -> String {
    format!(
        "{} does not let web pages call it (as of {date}). Call it through your own server, which adds the key, and set \
         the base URL to that.",
        host(p)
    )
}

/// Whether the server is on the user's own machine.
pub(super) fn is_local(p: &ProviderConfig) -> bool {
    address::space(base(p)) == AddressSpace::Loopback
}

pub(super) fn is_ollama(p: &ProviderConfig) -> bool {
    p.kind == ProviderKind::Ollama || host(p).ends_with(":11434")
}

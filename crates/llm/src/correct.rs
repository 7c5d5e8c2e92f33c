//! Finds the base URL that was probably intended, if the configured one leads nowhere.

use turnwise_engine::{ProviderConfig, ProviderKind};

use super::providers::{WireFormat, wire};
use super::{address, endpoint};

/// The address to try instead; `None` if nothing is known to be wrong with the current one.
pub(super) fn better_base(p: &ProviderConfig) -> Option<String> {
    let base = endpoint::base(p);
    let better = own_base(p).unwrap_or_else(|| versioned(p, base));
    (better != base && base.contains("://")).then_some(better)
}

/// The base URL for a provider's own host, where it is known.
fn own_base(p: &ProviderConfig) -> Option<String> {
    let host = endpoint::host(p);
    let on = |kind: ProviderKind| address::host(endpoint::base_url(kind)) == host;
    if p.kind.is_http() && on(p.kind) && !endpoint::is_local(p) {
        return Some(endpoint::base_url(p.kind).to_owned());
    }
    if p.kind == ProviderKind::Openai && on(ProviderKind::Gemini) {
        return Some(format!("{}/openai", endpoint::base_url(ProviderKind::Gemini)));
    }
    // A cloud service that has a kind of its own and speaks the same format.
    let format = wire(p.kind).format;
    let same = |kind: &&ProviderKind| wire(**kind).format == format && on(**kind);
    let known = endpoint::is_known_cloud_host(p).then(|| ProviderKind::ALL.iter().find(same)).flatten();
    known.map(|kind| endpoint::base_url(*kind).to_owned())
}

/// The base URL with the version at its end, once.
fn versioned(p: &ProviderConfig, base: &str) -> String {
    let version = if wire(p.kind).format == WireFormat::Gemini { "/v1beta" } else { "/v1" };
    // Suffixes of other URLs of the same servers: /v1 a second time, lists, older interfaces.
    const TAILS: [&str; 6] = ["/models", "/completions", "/chat", "/embeddings", "/openai/v1", "/openai"];
    const LOCAL_TAILS: [&str; 5] = ["/api/chat", "/api/generate", "/api/v0", "/api/v1", "/api"];
    let twice = format!("{version}{version}");
    if let Some(cut) = base.strip_suffix(&twice) {
        return format!("{cut}{version}");
    }
    for tail in TAILS {
        if let Some(cut) = base.strip_suffix(tail).filter(|cut| cut.ends_with(version)) {
            return cut.to_owned();
        }
    }
    if endpoint::is_local(p) {
        for tail in LOCAL_TAILS {
            if let Some(cut) = base.strip_suffix(tail) {
                return format!("{cut}{version}");
            }
        }
    }
    let last = base.rsplit('/').next().unwrap_or_default();
    let is_version = last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    // Some services have URLs of a different form: Azure's deployments, and Perplexity, which has no version (cst#742).
    let is_other = base.contains("/openai/deployments/") || endpoint::host(p) == "api.perplexity.ai";
    if is_version || is_other || matches!(last, "openai" | "inference") {
        base.to_owned()
    } else {
        format!("{base}{version}")
    }
}

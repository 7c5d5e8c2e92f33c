//! Reads and classifies an address by its text alone: nothing is resolved here.

use std::borrow::Cow;
use std::fmt;

/// How far away a server is, as browsers see it when they ask before a page may reach it (Local Network Access).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressSpace {
    Public,
    /// Another machine in the same network: a private IP address or a `.local` name.
    Private,
    /// This machine. Plain http to it is not mixed content.
    Loopback,
}

/// Scheme, host and port of an absolute address.
#[must_use]
pub fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(host..).and_then(|rest| rest.find(['/', '?', '#'])).map_or(url.len(), |at| host + at);
    url.get(..end).unwrap_or(url)
}

/// Host and port of an absolute address.
#[must_use]
pub fn host(url: &str) -> &str {
    let origin = origin(url);
    origin.split_once("://").map_or(origin, |(_, host)| host)
}

/// The explicit port, if there is one.
#[must_use]
pub fn port(url: &str) -> Option<u16> {
    host(url).rsplit_once(':')?.1.parse().ok()
}

/// Classifies the host of an absolute address.
#[must_use]
pub fn space(url: &str) -> AddressSpace {
    let host = host(url);
    if let Some(inner) = host.strip_prefix('[') {
        return space_v6(inner.split(']').next().unwrap_or_default());
    }
    let name = host.split(':').next().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return AddressSpace::Loopback;
    }
    match name.parse::<std::net::Ipv4Addr>().map(|ip| ip.octets()) {
        Ok([127, ..] | [0, 0, 0, 0]) => AddressSpace::Loopback,
        Ok([10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [169, 254, ..] | [100, 64..=127, ..]) => {
            AddressSpace::Private
        }
        Err(_) if name.ends_with(".local") => AddressSpace::Private,
        _ => AddressSpace::Public,
    }
}

fn space_v6(text: &str) -> AddressSpace {
    match text.parse::<std::net::Ipv6Addr>() {
        Ok(ip) if ip.is_loopback() || ip.is_unspecified() => AddressSpace::Loopback,
        // fc00::/7 and fe80::/10
        Ok(ip) if ip.segments().first().is_some_and(|s| s & 0xfe00 == 0xfc00 || s & 0xffc0 == 0xfe80) => {
            AddressSpace::Private
        }
        _ => AddressSpace::Public,
    }
}

/// An address without the version of its interface, and that version: Azure's portal shows addresses that end in
/// `?api-version=2024-10-21` (oh-my-pi#782). No other query is taken for one: it may hold a key.
#[must_use]
pub fn split_version(text: &str) -> (&str, Option<&str>) {
    let is_version = |query: &&str| {
        let version = query.strip_prefix("api-version=").unwrap_or_default();
        !version.is_empty() && version.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
    };
    match text.split_once('?') {
        Some((address, query)) if is_version(&query) => (address, Some(query)),
        _ => (text, None),
    }
}

/// The address with the scheme that was left out: `http` on this machine and in its network, else `https`. A path stays as it is.
#[must_use]
pub fn with_scheme(text: &str) -> Cow<'_, str> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let (name, port) =
        text.get(..end).and_then(|host| host.rsplit_once(':')).unwrap_or((text.get(..end).unwrap_or(text), ""));
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_host = is_port || name == "localhost" || (!name.starts_with('.') && name.contains('.') && last != "php");
    if text.contains("://") || !is_host || name.is_empty() || (!port.is_empty() && !is_port) {
        return text.into();
    }
    let plain = format!("http://{text}");
    if space(&plain) == AddressSpace::Public && name.contains('.') {
        format!("https://{text}").into()
    } else {
        plain.into()
    }
}

/// The address of a server: scheme, host, port and path, in the one form that every URL parser reads alike. Keys are bound to
/// it, and it is what a person is shown. Gateways share hosts, so the path belongs to it.
///
/// Below a page, it may be a path (`/api/v1`), which belongs to the server of that page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerAddress {
    scheme: &'static str,
    /// Host and port; empty for a path.
    host: String,
    path: String,
}

/// What is wrong with an address: text for users, a clause without its subject.
pub type AddressFault = &'static str;

impl ServerAddress {
    /// Reads an address. Only the form in which parsers cannot disagree is accepted, so that the host that is shown is the host
    /// that is reached: browsers also read `https:/\\evil.example/://api.openai.com` as an address of evil.example.
    ///
    /// ```
    /// use turnwise_llm::address::ServerAddress;
    ///
    /// let address = ServerAddress::parse("HTTPS://API.example.com:443/v1/")?;
    /// assert_eq!(address.to_string(), "https://api.example.com/v1");
    /// assert!(ServerAddress::parse(r"https:/\evil.example/://api.openai.com/v1").is_err());
    /// # Ok::<(), &str>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, AddressFault> {
        let (text, _) = split_version(text.trim());
        if text.chars().any(|c| !c.is_ascii_graphic()) {
            return Err(
                "has spaces, control characters or letters outside ASCII; write the host as xn--\u{2026} and the rest with %",
            );
        }
        if text.contains(['\\', '"', '<', '>', '^', '`', '{', '|', '}']) {
            return Err("has characters that are not part of an address, such as a backslash");
        }
        if text.contains(['?', '#']) {
            return Err("has a query or a fragment, which a base URL cannot have, except for ?api-version=\u{2026}");
        }
        let lower = text.to_ascii_lowercase();
        let (scheme, default_port) = if lower.starts_with("https://") {
            ("https", 443)
        } else if lower.starts_with("http://") {
            ("http", 80)
        } else {
            return Self::parse_path(text);
        };
        let rest = text.get(scheme.len() + 3..).unwrap_or_default();
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if host.contains('@') {
            return Err("contains a user name or a password; use the key, or a header");
        }
        Ok(ServerAddress { scheme, host: parse_host(host, default_port)?, path: plain_path(path)? })
    }

    fn parse_path(text: &str) -> Result<Self, AddressFault> {
        let first = text.split('/').next().unwrap_or_default();
        if text.starts_with("//") || first.contains(':') {
            return Err("is neither an http address nor a path");
        }
        // It is resolved against the page, whose server it stays on, so it may lead upwards.
        Ok(ServerAddress { scheme: "", host: String::new(), path: text.trim_end_matches('/').to_owned() })
    }

    /// Host and port; `None`: it is a path.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        Some(self.host.as_str()).filter(|host| !host.is_empty())
    }
}

impl fmt::Display for ServerAddress {
    /// `https://api.openai.com/v1`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}://{}", self.scheme, self.host)?;
        }
        f.write_str(&self.path)
    }
}

fn parse_host(text: &str, default_port: u16) -> Result<String, AddressFault> {
    const NO_HOST: AddressFault = "has no valid host";
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (inner, port) = rest.split_once(']').ok_or(NO_HOST)?;
            let ip: std::net::Ipv6Addr = inner.parse().map_err(|_| NO_HOST)?;
            // Parsers write an address within IPv6 that ends in IPv4 in two ways.
            if inner.contains('.') {
                return Err(NO_HOST);
            }
            (format!("[{ip}]"), port)
        }
        None => {
            let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            (parse_name(host).ok_or(NO_HOST)?, port)
        }
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        Some("") => None,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse::<u16>().map(Some).map_err(|_| NO_HOST)?
        }
        _ => return Err(NO_HOST),
    };
    Ok(match port.filter(|port| *port != default_port) {
        Some(port) => format!("{host}:{port}"),
        None => host,
    })
}

/// A name, or an IPv4 address in its usual form: parsers also read `0x7f.1` and `2130706433` as 127.0.0.1.
fn parse_name(host: &str) -> Option<String> {
    let host = host.to_ascii_lowercase();
    let is_name =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !host.strip_suffix('.').unwrap_or(&host).split('.').all(is_name) {
        return None;
    }
    let last = host.trim_end_matches('.').rsplit('.').next()?;
    let is_number = last.bytes().all(|b| b.is_ascii_digit()) || last.starts_with("0x");
    if is_number && host.parse::<std::net::Ipv4Addr>().ok()?.to_string() != host {
        return None;
    }
    Some(host)
}

/// A path without trailing slashes, in which no segment leads upwards.
fn plain_path(path: &str) -> Result<String, AddressFault> {
    let path = path.trim_end_matches('/');
    let dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    if path.split('/').any(dots) {
        return Err("has a path with . or ..");
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{ServerAddress, with_scheme};

    #[test]
    fn a_missing_scheme_is_added_to_a_host_and_to_nothing_else() {
        for (text, expected) in [
            ("api.example.com/v1", "https://api.example.com/v1"),
            ("api.example.com:8443", "https://api.example.com:8443"),
            ("localhost:1234", "http://localhost:1234"),
            ("localhost/v1", "http://localhost/v1"),
            ("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("192.168.1.5:11434/v1", "http://192.168.1.5:11434/v1"),
            ("my-machine:8080/v1", "http://my-machine:8080/v1"),
            ("[::1]:8080", "http://[::1]:8080"),
        ] {
            assert_eq!(with_scheme(text), expected, "{text}");
        }
        for text in [
            "",
            "https://a.example",
            "/v1",
            "v1",
            "api/v1",
            "../api/v1",
            "./api.example.com",
            "proxy.php/v1",
            "//a.example",
            "javascript:alert(1)",
            "data:text/plain,x",
            "user:pass@a.example",
            "api/v1.2",
            "ftp://host",
        ] {
            assert_eq!(with_scheme(text), text);
        }
    }

    #[test]
    fn only_the_plain_form_is_read() {
        let rows = [
            ("https://api.openai.com/v1", "https://api.openai.com/v1"),
            (" HTTPS://API.OpenAI.com:443/v1// ", "https://api.openai.com/v1"),
            ("http://localhost:11434/v1", "http://localhost:11434/v1"),
            ("http://localhost:080", "http://localhost"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
            ("http://[0:0:0:0:0:0:0:1]", "http://[::1]"),
            ("https://xn--bcher-kva.example/v1", "https://xn--bcher-kva.example/v1"),
            ("https://gateway.example/team/a", "https://gateway.example/team/a"),
            ("/api/v1/", "/api/v1"),
            ("api/v1", "api/v1"),
            ("../api/v1/", "../api/v1"),
            ("", ""),
        ];
        for (text, expected) in rows {
            assert_eq!(
                ServerAddress::parse(text).map(|address| address.to_string()),
                Ok(expected.to_owned()),
                "{text}"
            );
        }
        for text in [
            r"http:/\evil/://api.openai.com/v1",
            r"https:\\evil\v1",
            "https:evil.example",
            "https:///evil.example",
            "//evil.example/v1",
            "https://api.openai.com@evil.example/v1",
            "https://user:pass@gateway.example/v1",
            "https://evil.example\t/v1",
            "https://ev\nil.example",
            "https://\u{202e}elpmaxe.live",
            "https://b\u{fc}cher.example",
            "https://0x7f.1/v1",
            "https://2130706433/v1",
            "https://127.1/",
            "https://0177.0.0.1/",
            "https://%65vil.example/",
            "https://a..b/",
            "https://host:99999/",
            "https://host:80a/",
            "https://gateway.example/team/../other",
            "https://gateway.example/team/%2e%2E/other",
            "https://gateway.example/v1?to=x",
            "https://gateway.example/#x",
            "javascript:alert(1)",
            "data:text/plain,x",
            "ftp://host/",
            "blob:https://host/x",
        ] {
            assert!(ServerAddress::parse(text).is_err(), "{text}");
        }
    }
}

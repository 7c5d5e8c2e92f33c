//! Classifies an address by its text alone: nothing is resolved here.

/// How far away a server is, as browsers see it when they ask before a page may reach it (Local Network Access).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
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
pub fn space(url: &str) -> Space {
    let host = host(url);
    if let Some(inner) = host.strip_prefix('[') {
        return space_v6(inner.split(']').next().unwrap_or_default());
    }
    let name = host.split(':').next().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    if name == "localhost" || name.ends_with(".localhost") {
        return Space::Loopback;
    }
    match name.parse::<std::net::Ipv4Addr>().map(|ip| ip.octets()) {
        Ok([127, ..] | [0, 0, 0, 0]) => Space::Loopback,
        Ok([10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [169, 254, ..] | [100, 64..=127, ..]) => Space::Private,
        Err(_) if name.ends_with(".local") => Space::Private,
        _ => Space::Public,
    }
}

fn space_v6(text: &str) -> Space {
    match text.parse::<std::net::Ipv6Addr>() {
        Ok(ip) if ip.is_loopback() || ip.is_unspecified() => Space::Loopback,
        // fc00::/7 and fe80::/10
        Ok(ip) if ip.segments().first().is_some_and(|s| s & 0xfe00 == 0xfc00 || s & 0xffc0 == 0xfe80) => Space::Private,
        _ => Space::Public,
    }
}

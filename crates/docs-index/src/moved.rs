//! Lists of a site's pages (`sitemap.xml`, `llms.txt`) have its public addresses, also in a copy of the site elsewhere: a preview,
//! a staging host, the same host with or without `www`. They are converted to the pages of the copy at hand.

use std::collections::HashMap;

use super::url;

/// Converts a public address to the same page of the copy that the page `here` belongs to. The common end of `canonical` (the
/// public address of `here`) and `here` is the path within the site, the rest is the site's location.
#[must_use]
pub fn moved(address: &str, here: &str, canonical: Option<&str>) -> Option<String> {
    if url::same_origin(address, here) {
        return Some(url::page(address));
    }
    if let Some(moved) = canonical.and_then(|canonical| replaced(address, here, canonical)) {
        return Some(moved);
    }
    url::join(here, url::parts(&url::page(address))?.path)
}

/// `None`: the address is not of the public copy.
fn replaced(address: &str, here: &str, canonical: &str) -> Option<String> {
    let (address, here, canonical) = (url::page(address), url::page(here), url::page(canonical));
    let alike = canonical.bytes().rev().zip(here.bytes().rev()).take_while(|(a, b)| a == b).count();
    // Only whole names count: `/a` and `/la` have no common end.
    let end = here.get(here.len() - alike..)?;
    let end = if end.len() == here.len() { "" } else { end.find('/').and_then(|at| end.get(at..)).unwrap_or_default() };
    let (from, to) = (canonical.strip_suffix(end)?, here.strip_suffix(end)?);
    let rest = address.strip_prefix(from).filter(|rest| rest.starts_with('/') || rest.is_empty())?;
    url::join(&here, &format!("{to}{rest}"))
}

/// The addresses of a list, as pages of the copy of the site that has the page `here` and the root `root`. `any_host`: all of the
/// list is about the site, whatever its host (a site map). Addresses that are none of the site are left as they are.
#[must_use]
pub fn list(addresses: &[String], here: &str, root: &str, canonical: Option<&str>, any_host: bool) -> Vec<String> {
    // A list that names pages of this copy is its own.
    let own = addresses.iter().any(|address| url::below(root, address));
    // Without a canonical address, the one that ends like the page at hand stands for it.
    let end = url::key(here).strip_prefix(root).map(|path| format!("/{path}")).filter(|path| path.len() > 1);
    let ends_alike = |at: &&String| end.as_ref().is_some_and(|end| url::key(at).ends_with(end.as_str()));
    let guessed = addresses.iter().filter(ends_alike).min_by_key(|at| at.len());
    let public = canonical.or(guessed.map(String::as_str)).filter(|_| !own);
    let common = common_host(addresses).filter(|_| !own && canonical.is_none());
    let is_own = |at: &str| {
        any_host || is_site(at, here, canonical) || common.as_deref().is_some_and(|host| url::same_origin(host, at))
    };
    let one = |at: &String| {
        let replaced = public.filter(|public| url::page(public) != url::page(here)).and_then(|p| replaced(at, here, p));
        replaced.or_else(|| is_own(at).then(|| moved(at, here, canonical)).flatten()).unwrap_or_else(|| at.clone())
    };
    addresses.iter().map(one).collect()
}

/// Whether an address is on the public host, or on the same host with or without `www`.
fn is_site(address: &str, here: &str, canonical: Option<&str>) -> bool {
    let host = |at: &str| {
        let origin = url::parts(at).map(|at| at.origin.to_ascii_lowercase()).unwrap_or_default();
        let host = origin.split_once("://").map_or("", |(_, host)| host).to_owned();
        host.strip_prefix("www.").map(str::to_owned).unwrap_or(host)
    };
    host(address) == host(here) || canonical.is_some_and(|canonical| host(canonical) == host(address))
}

/// The host that most of the addresses have.
fn common_host(addresses: &[String]) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    addresses.iter().filter_map(|at| url::parts(at)).for_each(|at| *counts.entry(at.origin).or_default() += 1);
    let (host, count) = counts.into_iter().max_by_key(|(host, count)| (*count, *host))?;
    (count >= 2 && count * 2 > addresses.len()).then(|| host.to_owned())
}

//! Where a link leads, as people have to see it: a link shows its host, or its mailbox, behind its text, unless the text is just that.
//!
//! The text and the address of a link are a model's. A text that only contains the host, or begins with it, can say another one:
//! `api.openai.com.evil.example`, `https://openai.com@evil.example`. Whatever is not plain ASCII never counts as saying the host: it
//! can look like other characters, or be shown in another order. The docs agent has the same rule (`www/widget/nodes.js`), and both are
//! tested with `tests/fixtures/link_targets.json`.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns what a link shows behind its text; `None`: the text says it, or the address is relative.
#[must_use]
pub fn beside(text: &str, href: &str) -> Option<String> {
    let (scheme, rest) = href.split_once(':')?;
    let text = text.trim();
    if scheme.eq_ignore_ascii_case("mailto") {
        let mailbox = encoded(rest);
        let said = without(text, "mailto:").unwrap_or(text).eq_ignore_ascii_case(&mailbox);
        return (!said).then_some(mailbox);
    }
    let host = host(href)?;
    let (_, after) = authority(rest)?;
    let plain = without(text, &format!("{scheme}://")).unwrap_or(text);
    let said = text.eq_ignore_ascii_case(&host) || is_address(plain, &host, rest, after);
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    (!(said && is_plain)).then_some(host)
}

/// Whether a text has characters that change the order of what is shown, also behind the text: it needs an element that ends that.
#[must_use]
pub fn reorders(text: &str) -> bool {
    text.contains(|c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

/// Whether a text without its scheme is the very address.
fn is_address(text: &str, host: &str, rest: &str, after: &str) -> bool {
    let has_user = rest.strip_suffix(after).is_some_and(|authority| authority.contains('@'));
    let path = |path: &str| if path.is_empty() { "/".to_owned() } else { path.to_owned() };
    let end = text.find(['/', '\\', '?', '#']).unwrap_or(text.len());
    let (said, said_after) = text.split_at(end);
    !has_user && said.eq_ignore_ascii_case(host) && path(said_after) == path(after)
}

/// Returns the host of an absolute web address as browsers read it, in ASCII, with its port unless that is the scheme's own; `None`:
/// it is no such address, or written so that what it leads to can only be told by parsing it like a browser (`https:/\host`, an IPv4
/// address in another form than four numbers).
///
/// Browsers also map letters of other widths and styles to the usual ones. This does not: such a name is shown as `xn--…`, too.
#[must_use]
pub fn host(href: &str) -> Option<String> {
    let (scheme, rest) = href.split_once(':')?;
    let own_port = match scheme {
        _ if scheme.eq_ignore_ascii_case("https") => 443,
        _ if scheme.eq_ignore_ascii_case("http") => 80,
        _ => return None,
    };
    let (authority, _) = authority(rest)?;
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    let (name, port) = match place.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port),
        _ => (place, ""),
    };
    let port = if port.is_empty() { own_port } else { port.parse::<u16>().ok()? };
    let name = match name.strip_prefix('[') {
        Some(inside) => format!("[{}]", ipv6(inside.strip_suffix(']')?.parse().ok()?)),
        None => domain(&decoded(name)?)?,
    };
    Some(if port == own_port { name } else { format!("{name}:{port}") })
}

/// What is between the scheme and the path, and what follows it.
fn authority(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.strip_prefix("//")?;
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    (end > 0).then(|| rest.split_at(end))
}

/// As browsers write it: never with an IPv4 address inside.
fn ipv6(address: Ipv6Addr) -> String {
    match (address.to_ipv4_mapped(), address.segments()) {
        (Some(_), [.., high, low]) => format!("::ffff:{high:x}:{low:x}"),
        _ => address.to_string(),
    }
}

fn domain(name: &str) -> Option<String> {
    let labels = name.split(['.', '。', '．', '｡']);
    let labels: Vec<String> = labels.map(label).collect::<Option<_>>()?;
    let name = labels.join(".");
    // Browsers take it for an IPv4 address.
    let last = labels.iter().rev().find(|label| !label.is_empty())?;
    let is_number = last.chars().all(|c| c.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
    (!is_number || name.parse::<Ipv4Addr>().is_ok()).then_some(name)
}

fn label(label: &str) -> Option<String> {
    let label = label.to_lowercase();
    let fits = |c: char| if c.is_ascii() { c.is_ascii_alphanumeric() || c == '-' || c == '_' } else { !c.is_control() };
    if !label.chars().all(fits) {
        return None;
    }
    if label.is_ascii() { Some(label) } else { punycode(&label).map(|code| format!("xn--{code}")) }
}

/// Encodes a label as RFC 3492 does.
fn punycode(label: &str) -> Option<String> {
    const BASE: u32 = 36;
    let mut out: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(out.len()).ok()?;
    let all: Vec<u32> = label.chars().map(u32::from).collect();
    if basic > 0 {
        out.push('-');
    }
    let (mut n, mut delta, mut bias, mut done) = (0x80_u32, 0_u32, 72_u32, basic);
    while usize::try_from(done).ok()? < all.len() {
        let next = all.iter().copied().filter(|code| *code >= n).min()?;
        delta = delta.checked_add((next - n).checked_mul(done + 1)?)?;
        n = next;
        for code in &all {
            if *code < n {
                delta = delta.checked_add(1)?;
            }
            if *code != n {
                continue;
            }
            let mut left = delta;
            for k in (1..).map(|step: u32| step * BASE) {
                let threshold = k.saturating_sub(bias).clamp(1, 26);
                if left < threshold {
                    break;
                }
                out.push(digit(threshold + (left - threshold) % (BASE - threshold))?);
                left = (left - threshold) / (BASE - threshold);
            }
            out.push(digit(left)?);
            // How the next difference is weighted.
            delta = if done == basic { delta / 700 } else { delta / 2 };
            delta += delta / (done + 1);
            let mut steps = 0;
            while delta > 455 {
                delta /= 35;
                steps += BASE;
            }
            bias = steps + 36 * delta / (delta + 38);
            (delta, done) = (0, done + 1);
        }
        (delta, n) = (delta + 1, n + 1);
    }
    Some(out)
}

/// `a` to `z`, then `0` to `9`.
fn digit(value: u32) -> Option<char> {
    char::from_u32(if value < 26 { value + 97 } else { value + 22 })
}

/// Resolves `%` and two digits; `None`: the result is no text.
fn decoded(name: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = after.get(2..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// Writes what is not visible ASCII as `%` and two digits.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| if byte.is_ascii_graphic() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.trim().bytes().map(byte).collect()
}

fn without<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| text.get(prefix.len()..)).flatten()
}

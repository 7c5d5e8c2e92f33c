//! Resolves URI references against their base (RFC 3986, 5.2), as far as `$id` and `$ref` need it.

/// Resolves `reference` against `base`. Neither has a fragment.
pub fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    if scheme(reference) > 0 {
        return reference.to_owned();
    }
    let base = base.split('?').next().unwrap_or_default();
    let (scheme, rest) = base.split_at(scheme(base));
    if reference.starts_with("//") {
        return format!("{scheme}{reference}");
    }
    let host = rest.strip_prefix("//").map_or(0, |after| 2 + after.find('/').unwrap_or(after.len()));
    let (host, path) = rest.split_at(host);
    let (relative, query) = reference.split_at(reference.find('?').unwrap_or(reference.len()));
    let folder = path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or(if host.is_empty() { "" } else { "/" });
    let path = match relative {
        "" => path.to_owned(),
        _ if relative.starts_with('/') => without_dots(relative),
        _ => without_dots(&format!("{folder}{relative}")),
    };
    format!("{scheme}{host}{path}{query}")
}

/// The length of `scheme:`, 0 if there is none.
fn scheme(uri: &str) -> usize {
    let end = uri.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))).unwrap_or_default();
    let is_scheme =
        uri.starts_with(|c: char| c.is_ascii_alphabetic()) && uri.get(end..).unwrap_or_default().starts_with(':');
    if is_scheme { end + 1 } else { 0 }
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part {
            "." | ".." => {
                // The first part is empty if the path begins with `/`.
                if part == ".." && (kept.len() > 1 || kept.first().is_some_and(|first| !first.is_empty())) {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(part),
        }
    }
    kept.join("/")
}

/// Percent-decodes a fragment; `None` if the result is not text.
pub fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push(match byte {
            b'%' => u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?,
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

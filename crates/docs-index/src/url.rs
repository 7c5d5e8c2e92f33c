//! Joins and compares addresses of pages. Supports only what the pages of one site need: http(s), no user, no query.
//! Never fails on malformed text: anything but a web address results in `None`.
//!
//! [`join`] and [`page`] write an address in one spelling, so that equal addresses are equal texts: scheme and host in small
//! letters, no port that is the scheme's own, escapes in capital letters and only where they are needed.

/// An absolute address, split into three parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlParts<'a> {
    /// Scheme, host and port.
    pub origin: &'a str,
    /// From the first `/` up to `?` or `#`; at least `/`.
    pub path: &'a str,
    /// Without `#`; empty if there is none.
    pub fragment: &'a str,
}

/// Longer URLs are not pages.
const MAX_LENGTH: usize = 2_000;

/// The parts of an absolute http(s) address; a query is dropped.
#[must_use]
pub fn parts(url: &str) -> Option<UrlParts<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    if !(scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")) || url.len() > MAX_LENGTH {
        return None;
    }
    let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if host == 0 || rest.get(..host)?.contains(['@', '\\', '%']) {
        return None;
    }
    let (origin, tail) = url.split_at(scheme.len() + 3 + host);
    let (tail, fragment) = tail.split_once('#').unwrap_or((tail, ""));
    let path = tail.split('?').next().unwrap_or_default();
    Some(UrlParts { origin, path: if path.is_empty() { "/" } else { path }, fragment })
}

/// The address without query and fragment.
#[must_use]
pub fn page(url: &str) -> String {
    parts(url).map_or_else(|| url.to_owned(), |parts| put(parts.origin, parts.path, ""))
}

/// The folder of a page, with its trailing `/`.
#[must_use]
pub fn folder(url: &str) -> String {
    let Some(parts) = parts(url) else { return String::new() };
    let end = parts.path.rfind('/').map_or(0, |at| at + 1);
    format!("{}{}", parts.origin, parts.path.get(..end).unwrap_or("/"))
}

/// Resolves `link` against `base`: absolute, fragment kept, query dropped. `None`: it is not a link to a web page.
#[must_use]
pub fn join(base: &str, link: &str) -> Option<String> {
    // As in the URL standard: tabs and line ends are dropped, and a backslash in the path counts as a slash.
    let link: String = link.trim().chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    if link.len() > MAX_LENGTH {
        return None;
    }
    let path = link.find(['?', '#']).unwrap_or(link.len());
    let link = format!("{}{}", link.get(..path)?.replace('\\', "/"), link.get(path..)?);
    let link = link.as_str();
    let base = parts(base)?;
    if link.contains("://") && link.split("://").next().is_some_and(|scheme| scheme.chars().all(char::is_alphabetic)) {
        let there = parts(link)?;
        return Some(put(there.origin, &tidy(there.path), there.fragment));
    }
    if let Some(rest) = link.strip_prefix("//") {
        let scheme = base.origin.split("://").next()?;
        return join(base.origin, &format!("{scheme}://{rest}"));
    }
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let path = path.split('?').next().unwrap_or_default();
    if path.split('/').next().is_some_and(|head| head.contains(':')) {
        return None; // mailto:, javascript:, data:
    }
    let path = if path.is_empty() {
        base.path.to_owned()
    } else if path.starts_with('/') {
        tidy(path)
    } else {
        let end = base.path.rfind('/').map_or(0, |at| at + 1);
        tidy(&format!("{}{path}", base.path.get(..end).unwrap_or("/")))
    };
    Some(put(base.origin, &path, fragment))
}

/// The same with the query of the link, which says on the web which page it is.
#[must_use]
pub fn join_whole(base: &str, link: &str) -> Option<String> {
    let joined = join(base, link)?;
    let before = link.split('#').next().unwrap_or_default().trim();
    let Some((_, query)) = before.split_once('?') else { return Some(joined) };
    let mut whole = String::with_capacity(joined.len() + query.len() + 1);
    let (page, fragment) = joined.split_once('#').unwrap_or((&joined, ""));
    whole.push_str(page);
    whole.push('?');
    for c in query.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')) {
        // What would end the address in Markdown.
        match c {
            ' ' => whole.push_str("%20"),
            '(' => whole.push_str("%28"),
            ')' => whole.push_str("%29"),
            '<' => whole.push_str("%3C"),
            '>' => whole.push_str("%3E"),
            c => whole.push(c),
        }
    }
    if !fragment.is_empty() {
        whole.push('#');
        whole.push_str(fragment);
    }
    Some(whole)
}

fn put(origin: &str, path: &str, fragment: &str) -> String {
    let origin = origin.to_ascii_lowercase();
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    let mut url = origin.strip_suffix(port).unwrap_or(&origin).to_owned();
    spell(path, &mut url);
    if !fragment.is_empty() {
        url.push('#');
        url.push_str(fragment);
    }
    url
}

/// Appends a path in its one spelling. Letters, digits and `-._~` mean the same escaped or not (RFC 3986, section 6.2.2); a dot
/// keeps its escape where it would make up a segment, which [`below`] refuses.
fn spell(path: &str, out: &mut String) {
    let bytes = path.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = (byte == b'%').then(|| hex(bytes.get(at + 1..at + 3)?)).flatten();
        at += if escaped.is_some() { 3 } else { 1 };
        let alone = matches!(escaped, Some(b'.')) && (out.ends_with('/') || out.ends_with("%2E"));
        match escaped.unwrap_or(byte) {
            plain if plain.is_ascii_alphanumeric() || b"-_~".contains(&plain) => out.push(char::from(plain)),
            b'.' if !alone => out.push('.'),
            // As browsers do, other signs stay as they are written.
            plain if escaped.is_none() && plain.is_ascii_graphic() && !b"\"<>`{}^".contains(&plain) => {
                out.push(char::from(plain));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn hex(digits: &[u8]) -> Option<u8> {
    // `from_str_radix` takes signs as well.
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

/// Resolves `.` and `..`, never above the top.
fn tidy(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let last = path.rsplit('/').next().unwrap_or_default();
    for part in path.split('/') {
        match dots(part) {
            Some(1) => {}
            Some(2) => drop(out.pop()),
            _ if part.is_empty() => {}
            _ => out.push(part),
        }
    }
    let mut tidy = format!("/{}", out.join("/"));
    if (last.is_empty() || dots(last).is_some()) && !tidy.ends_with('/') {
        tidy.push('/');
    }
    tidy
}

/// The number of dots if a path segment is `.` or `..`; a dot may be written `%2e`.
fn dots(part: &str) -> Option<usize> {
    let plain = part.replace("%2e", ".").replace("%2E", ".");
    matches!(plain.as_str(), "." | "..").then_some(plain.len())
}

/// Whether `url` is on the site whose root is `root` (which ends in `/`). Addresses with `..` in any spelling are not,
/// nor are addresses with an encoded slash, which servers interpret differently.
#[must_use]
pub fn below(root: &str, url: &str) -> bool {
    let path = parts(url).map(|parts| parts.path.to_ascii_lowercase()).unwrap_or_default();
    let (root, url) = (page(root), page(url));
    let plain = !path.contains(['\\', '\t', '\n', '\r']) && !path.contains("%2f") && !path.contains("%5c");
    plain
        && path.split('/').all(|part| dots(part).is_none())
        && (url.starts_with(&root) || url == root.trim_end_matches('/'))
}

/// Whether fetching an address may end a session, judging by its path segments and the words of its query. HTML and
/// Markdown files are pages about it.
#[must_use]
pub fn ends_session(url: &str) -> bool {
    const ENDS: &[&str] = &["logout", "logoff", "signout", "signoff", "endsession", "sessionend"];
    let address = decoded(url).to_ascii_lowercase();
    let address = address.split('#').next().unwrap_or_default();
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let path = path.split_once("://").map_or(path, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    let bare = |word: &str| word.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>();
    let page = |part: &str| [".html", ".htm", ".md"].iter().any(|end| part.ends_with(end));
    let ends = |word: &str| ENDS.contains(&bare(word).as_str());
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    // `/logout`, `/log-out.php`, `/session/end`.
    let stem = |part: &&str| part.split('.').next().unwrap_or_default().to_owned();
    let named = |part: &&str| !page(part) && ends(&stem(part));
    let pair = |two: &[&str]| two.iter().all(|part| !page(part)) && ends(&two.concat());
    parts.iter().any(named) || parts.windows(2).any(pair) || query.split(['&', ';', '=']).any(ends)
}

/// Whether two addresses have the same origin.
#[must_use]
pub fn same_origin(a: &str, b: &str) -> bool {
    matches!((parts(a), parts(b)), (Some(a), Some(b)) if a.origin.eq_ignore_ascii_case(b.origin))
}

/// Whether an address can belong to a page: a folder, no file extension, or an HTML extension.
#[must_use]
pub fn is_page(url: &str) -> bool {
    let name = url.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_none_or(|(stem, end)| {
        end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm") || stem.is_empty() || is_number(end)
    })
}

/// `v1.2` has no file extension.
fn is_number(end: &str) -> bool {
    end.chars().all(|c| c.is_ascii_digit() || c == '-')
}

/// Decodes `%E6%96%87`; unchanged if the result is not text.
#[must_use]
pub fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes().iter();
    while let Some(&byte) = bytes.next() {
        match bytes.as_slice().get(..2).filter(|_| byte == b'%').and_then(hex) {
            Some(byte) => {
                out.push(byte);
                bytes.nth(1);
            }
            None => out.push(byte),
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// The same key for all spellings of a page's address: `a/index.html`, `a/`, `a` and `a.html` are one page.
#[must_use]
pub fn key(url: &str) -> String {
    let url = decoded(&page(url));
    let url = url.strip_suffix("index.html").unwrap_or(&url);
    let url = url.strip_suffix(".html").unwrap_or(url);
    url.trim_end_matches('/').to_owned()
}

/// The key of the page that a Markdown file accompanies.
#[must_use]
pub fn key_beside(file: &str) -> String {
    key(&format!("{}.html", file.strip_suffix(".md").unwrap_or(file)))
}

/// The words of an address, for pages whose title is not known yet.
#[must_use]
pub fn title_from_path(root: &str, url: &str) -> String {
    let url = page(url);
    let path = decoded(url.strip_prefix(root).unwrap_or(&url));
    let path = path.trim_end_matches(".html").trim_end_matches(".md").trim_end_matches("index");
    path.split(['/', '-', '_', '.', '+']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

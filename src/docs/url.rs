//! Addresses of pages: joined, made absolute, compared. Only what pages of one site need: http(s), no user, no query
//! kept apart. Never fails on odd text; what is no web address is `None`.

/// An absolute address, cut in three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// Scheme, host and port.
    pub origin: &'a str,
    /// From the first `/` up to `?` or `#`; `/` at least.
    pub path: &'a str,
    /// Without `#`; empty for none.
    pub fragment: &'a str,
}

/// Longer addresses are nobody's page.
const MAX_LENGTH: usize = 2_000;

/// The parts of an absolute http(s) address; a query is dropped.
#[must_use]
pub fn parts(url: &str) -> Option<Parts<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    if !(scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")) || url.len() > MAX_LENGTH {
        return None;
    }
    let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if host == 0 || rest.get(..host)?.contains('@') {
        return None;
    }
    let (origin, tail) = url.split_at(scheme.len() + 3 + host);
    let (tail, fragment) = tail.split_once('#').unwrap_or((tail, ""));
    let path = tail.split('?').next().unwrap_or_default();
    Some(Parts { origin, path: if path.is_empty() { "/" } else { path }, fragment })
}

/// The address without query and fragment.
#[must_use]
pub fn page(url: &str) -> String {
    parts(url).map_or_else(|| url.to_owned(), |parts| format!("{}{}", parts.origin, parts.path))
}

/// The folder a page stands in, with its `/` at the end.
#[must_use]
pub fn folder(url: &str) -> String {
    let Some(parts) = parts(url) else { return String::new() };
    let end = parts.path.rfind('/').map_or(0, |at| at + 1);
    format!("{}{}", parts.origin, parts.path.get(..end).unwrap_or("/"))
}

/// `link` as it stands on `base`, absolute, fragment kept, query dropped. `None`: it leads to no web page.
#[must_use]
pub fn join(base: &str, link: &str) -> Option<String> {
    let link = link.trim();
    if link.len() > MAX_LENGTH {
        return None;
    }
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

fn put(origin: &str, path: &str, fragment: &str) -> String {
    if fragment.is_empty() { format!("{origin}{path}") } else { format!("{origin}{path}#{fragment}") }
}

/// Without `.` and `..`, and never above the top.
fn tidy(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let last = path.rsplit('/').next().unwrap_or_default();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(out.pop()),
            part => out.push(part),
        }
    }
    let mut tidy = format!("/{}", out.join("/"));
    if matches!(last, "" | "." | "..") && !tidy.ends_with('/') {
        tidy.push('/');
    }
    tidy
}

/// Whether `url` is on the site whose root is `root` (which ends in `/`).
#[must_use]
pub fn below(root: &str, url: &str) -> bool {
    url.starts_with(root) || page(url) == root.trim_end_matches('/')
}

/// Whether two addresses have the same origin.
#[must_use]
pub fn same_origin(a: &str, b: &str) -> bool {
    matches!((parts(a), parts(b)), (Some(a), Some(b)) if a.origin.eq_ignore_ascii_case(b.origin))
}

/// Whether an address is one a page can have: a folder, no ending, or one of HTML.
#[must_use]
pub fn is_page(url: &str) -> bool {
    let name = url.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_none_or(|(stem, end)| {
        end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm") || stem.is_empty() || is_number(end)
    })
}

/// `v1.2` has no ending.
fn is_number(end: &str) -> bool {
    end.chars().all(|c| c.is_ascii_digit() || c == '-')
}

/// What `%E6%96%87` stands for; as it is where that is no text.
#[must_use]
pub fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes().iter();
    while let Some(&byte) = bytes.next() {
        let digits = bytes.as_slice().get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.filter(|_| byte == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                bytes.nth(1);
            }
            None => out.push(byte),
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// One name for the ways to write a page's address: `a/index.html`, `a/`, `a`, `a.html` are one page.
#[must_use]
pub fn key(url: &str) -> String {
    let url = decoded(&page(url));
    let url = url.strip_suffix("index.html").unwrap_or(&url);
    let url = url.strip_suffix(".html").unwrap_or(url);
    url.trim_end_matches('/').to_owned()
}

/// The key of the page that a file of Markdown stands beside.
#[must_use]
pub fn key_beside(file: &str) -> String {
    key(&format!("{}.html", file.strip_suffix(".md").unwrap_or(file)))
}

/// The language and version that an address begins with below `root`: `fr/`, `docs/v2.1/`, `en/latest/`.
#[must_use]
pub fn scope<'a>(root: &str, url: &'a str) -> Vec<&'a str> {
    const NAMED: &[&str] = &[
        "latest", "stable", "next", "current", "main", "master", "dev", "nightly", "beta", "en", "de", "fr", "es",
        "it", "pt", "nl", "pl", "ru", "uk", "tr", "ar", "he", "fa", "hi", "ja", "ko", "zh", "vi", "th", "cs", "sv",
    ];
    let numbered = |part: &str| {
        let number = part.strip_prefix('v').unwrap_or(part).trim_end_matches(".x");
        number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let language = |part: &str| part.split_once('-').is_some_and(|(of, land)| NAMED.contains(&of) && land.len() <= 4);
    let path = url.strip_prefix(root).unwrap_or_default();
    let path = path.strip_prefix("docs/").unwrap_or(path);
    let folders = path.rsplit_once('/').map(|(folders, _)| folders).unwrap_or_default();
    folders.split('/').take_while(|part| NAMED.contains(part) || numbered(part) || language(part)).collect()
}

/// The words of an address, for pages whose title is not known yet.
#[must_use]
pub fn words(root: &str, url: &str) -> String {
    let url = decoded(&page(url));
    let path = url.strip_prefix(root).unwrap_or(&url);
    let path = path.trim_end_matches(".html").trim_end_matches(".md").trim_end_matches("index");
    path.split(['/', '-', '_', '.', '+']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

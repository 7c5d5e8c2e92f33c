//! The sources as text, for tests about their structure.

use std::collections::BTreeSet;

/// A file, with its path from the root of the project.
pub struct Source {
    pub path: String,
    pub text: String,
}

/// Reads a file of the project.
pub fn text(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All files under a folder with this ending, sorted.
pub fn files(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}")) {
        let path = entry.unwrap().path();
        let name = path.to_str().unwrap().to_owned();
        if path.is_dir() && !name.ends_with("node_modules") {
            found.extend(files(&name, ending));
        } else if name.ends_with(ending) {
            found.push(name);
        }
    }
    found.sort();
    found
}

pub fn rust_sources(folder: &str) -> Vec<Source> {
    files(folder, ".rs").into_iter().map(|path| Source { text: text(&path), path }).collect()
}

/// The module of a source in its crate: `export::html` for `crates/view/src/export/html.rs`, empty for `lib.rs` and `main.rs`.
pub fn module(source: &Source) -> String {
    let path = source.path.rsplit_once("src/").map_or(source.path.as_str(), |(_, path)| path);
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    if matches!(path, "lib" | "main") { String::new() } else { path.replace('/', "::") }
}

/// The modules that a source names by `crate::`, `super::` or `self::`, out of `modules`. What a module re-exports of its own
/// children is left out.
pub fn used_modules(source: &Source, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let code = blank(&source.text);
    let tokens = tokens(&code);
    let own = module(source);
    let mut paths = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if matches!(*token, "crate" | "super" | "self")
            && tokens.get(at + 1) == Some(&"::")
            && (at == 0 || tokens[at - 1] != "::")
        {
            collect_paths(&tokens[at..], &mut Vec::new(), &mut paths);
        }
    }
    let mut used = BTreeSet::new();
    for path in paths {
        let mut base: Vec<&str> = own.split("::").filter(|name| !name.is_empty()).collect();
        let mut names = path.as_slice();
        match names.first() {
            Some(&"crate") => base.clear(),
            Some(&"super") => {
                base.pop();
            }
            _ => {}
        }
        names = &names[1..];
        while names.first() == Some(&"super") {
            base.pop();
            names = &names[1..];
        }
        base.extend(names);
        while !base.is_empty() && !modules.contains(&base.join("::")) {
            base.pop();
        }
        let found = base.join("::");
        if !found.is_empty() && found != own && !found.starts_with(&format!("{own}::")) {
            used.insert(found);
        }
    }
    used
}

/// Collects the paths that begin here, one for each branch of a `{…}`. Returns how many tokens they take.
fn collect_paths<'t>(tokens: &[&'t str], prefix: &mut Vec<&'t str>, paths: &mut Vec<Vec<&'t str>>) -> usize {
    let (mut at, before) = (0, prefix.len());
    while let Some(token) = tokens.get(at) {
        if *token == "{" {
            at += 1;
            while tokens.get(at).is_some_and(|token| *token != "}") {
                at += collect_paths(&tokens[at..], prefix, paths).max(1);
            }
            prefix.truncate(before);
            return at + 1;
        }
        prefix.push(token);
        at += 1;
        if tokens.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    paths.push(prefix.clone());
    prefix.truncate(before);
    at
}

/// Splits code into identifiers, `::`, and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, tail) = rest.split_at(length);
        tokens.push(token);
        rest = tail.trim_start();
    }
    tokens
}

/// Replaces comments and the contents of strings and characters with spaces; the length in bytes stays the same.
fn blank(code: &str) -> String {
    let bytes = code.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_end(bytes, at);
        if end > at {
            out[at..end].fill(b' ');
        }
        at = end.max(at + 1);
    }
    String::from_utf8(out).unwrap()
}

/// Returns where the comment, string or character that starts here ends; `at` if none starts.
fn literal_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let find = |from: usize, what: &[u8]| {
        rest[from..].windows(what.len()).position(|w| w == what).map_or(bytes.len(), |i| at + from + i + what.len())
    };
    let after_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if rest.starts_with(b"//") {
        return find(2, b"\n") - 1;
    }
    if rest.starts_with(b"/*") {
        return find(2, b"*/");
    }
    if rest[0] == b'r' && !after_word {
        let hashes = rest[1..].iter().take_while(|b| **b == b'#').count();
        if rest.get(1 + hashes) == Some(&b'"') {
            let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
            return find(2 + hashes, &close);
        }
    }
    if rest[0] == b'"' {
        return at + quoted(rest, b'"');
    }
    // A character, not a lifetime.
    let wide = rest.get(1).map_or(1, |b| if *b < 0x80 { 1 } else { b.leading_ones() as usize });
    if rest[0] == b'\'' && (rest.get(1) == Some(&b'\\') || rest.get(1 + wide) == Some(&b'\'')) {
        return at + quoted(rest, b'\'');
    }
    at
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

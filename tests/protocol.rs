//! The TypeScript of the protocol says what its Rust says: the same messages with the same fields, the same words.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sources;

use std::collections::{BTreeMap, BTreeSet};

use sources::text;
use turnwise::engine::caps::MAX_RESULT;
use turnwise::engine::{Preset, ProviderKind};
use turnwise::protocol::VERSION;
use turnwise::tools::path::{MAX_PATH, RESULTS};
use turnwise::tools::{NAMES, ON_REQUEST};
use turnwise::trajectory::Format;
use turnwise::trajectory::document;

type Fields = BTreeMap<String, BTreeSet<String>>;

/// `worker_url` is `workerUrl` on the wire.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |name, part| name + &part[..1].to_uppercase() + &part[1..])
}

/// `DocsOpen` is `docs_open` on the wire.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// The lines of an item of the Rust side, without comments and attributes.
fn item(head: &str) -> String {
    let source = text("src/protocol/mod.rs");
    let (_, after) = source.split_once(head).unwrap_or_else(|| panic!("no {head}"));
    let (body, _) = after.split_once("\n}\n").unwrap();
    let kept = |line: &&str| !line.trim_start().starts_with("//") && !line.trim_start().starts_with('#');
    body.lines().filter(kept).collect::<Vec<_>>().join("\n")
}

/// The fields of `a: A, b: B<C, D>`.
fn rust_fields(body: &str) -> BTreeSet<String> {
    let names = body.split(['\n', ',']).filter_map(|part| part.split_once(": ")).map(|(name, _)| name);
    names.map(|name| camel(name.trim().trim_start_matches("pub "))).collect()
}

/// The variants of an enum and their fields.
fn variants(head: &str) -> Fields {
    let body = item(head);
    let mut all = Fields::new();
    let mut rest = body.as_str();
    while let Some(open) = rest.find('{') {
        let name = rest[..open].rsplit([',', '}', '\n']).map(str::trim).find(|name| !name.is_empty()).unwrap();
        let close = open + rest[open..].find('}').unwrap();
        all.insert(snake(name), rust_fields(&rest[open + 1..close]));
        rest = &rest[close + 1..];
    }
    all
}

fn fields(head: &str) -> BTreeSet<String> {
    rust_fields(&item(head))
}

fn typescript() -> String {
    text("www/client/protocol.ts")
}

/// The keys of `{ a: A; b?: B }`, without those of what is nested in it.
fn keys(object: &str) -> BTreeSet<String> {
    let (mut depth, mut own) = (0, String::new());
    for letter in object.chars() {
        match letter {
            '{' | '[' | '(' | '<' => depth += 1,
            '}' | ']' | ')' | '>' => depth -= 1,
            letter if depth == 0 => own.push(letter),
            _ => {}
        }
    }
    let of = |part: &str| part.split_once(':').map(|(key, _)| key.trim().trim_end_matches('?').to_owned());
    own.split([';', '\n']).filter(|line| !line.trim_start().starts_with('/')).filter_map(of).collect()
}

fn interface(name: &str) -> String {
    let source = typescript();
    let (_, after) = source.split_once(&format!("export interface {name} {{\n")).unwrap_or_else(|| panic!("no {name}"));
    after.split_once("\n}\n").unwrap().0.to_owned()
}

/// The messages of an interface that has one a line.
fn messages(name: &str, more: &[&str]) -> Fields {
    let body = interface(name);
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with('/'));
    lines
        .map(|line| {
            let (message, object) = line.split_once(": ").unwrap();
            let object = object.trim_end_matches(';').trim_start_matches('{').trim_end_matches('}');
            let mut keys = if object.starts_with("Record<") { BTreeSet::new() } else { keys(object) };
            keys.extend(more.iter().map(|&key| key.to_owned()));
            (message.to_owned(), keys)
        })
        .collect()
}

#[test]
fn a_page_says_what_the_worker_reads() {
    let mut said = messages("Asks", &["id"]);
    said.extend(messages("Tells", &[]));
    assert!(said.len() > 15, "{said:?}");
    assert_eq!(said, variants("pub enum Command {\n"));
}

#[test]
fn the_worker_says_what_a_page_reads() {
    let heard = messages("Heard", &[]);
    assert!(heard.len() > 8, "{heard:?}");
    assert_eq!(heard, variants("pub enum Told<'a> {\n"));
    let source = typescript();
    let (_, wanted) = source.split_once("export type Wanted =\n").unwrap();
    let wanted = wanted.split_once(";\n\n").unwrap().0;
    let wanted: Fields = wanted
        .lines()
        .map(|line| {
            let (name, object) = line.trim().trim_start_matches("| { ").split_once(": { ").unwrap();
            (name.to_owned(), keys(object.trim_end_matches([' ', '}'])))
        })
        .collect();
    assert_eq!(wanted, variants("pub enum Wanted<'a> {\n"));
}

#[test]
fn what_messages_hold_has_the_same_fields() {
    for (name, head) in [
        ("Listening", "pub struct Listening {\n"),
        ("FileChange", "pub struct FileChange {\n"),
        ("Failure", "pub struct Failure {\n"),
        ("Head", "pub struct Head {\n"),
        ("Progress", "pub struct Progress<'a> {\n"),
        ("Site", "pub struct Site<'a> {\n"),
    ] {
        assert_eq!(keys(&interface(name)), fields(head), "{name}");
    }
}

#[test]
fn words_and_numbers_are_those_of_the_engine() {
    let source = typescript();
    let words = |name: &str| -> Vec<String> {
        let (_, list) = source.split_once(&format!("export const {name} = [")).unwrap_or_else(|| panic!("no {name}"));
        let list = list.split_once(']').unwrap().0;
        list.split(',').map(|word| word.trim().trim_matches('\'').to_owned()).filter(|word| !word.is_empty()).collect()
    };
    let value = |name: &str| -> String {
        let (_, value) = source.split_once(&format!("export const {name} = ")).unwrap_or_else(|| panic!("no {name}"));
        value.split_once(";\n").unwrap().0.trim_matches('\'').to_owned()
    };
    assert_eq!(value("VERSION"), VERSION.to_string());
    assert_eq!(words("PRESETS"), Preset::ALL.iter().map(|preset| preset.as_str()).collect::<Vec<_>>());
    assert_eq!(words("PROVIDER_KINDS"), ProviderKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
    assert_eq!(words("BUILT_IN_TOOLS"), [NAMES, ON_REQUEST].concat());
    assert_eq!(words("FORMATS"), Format::ALL.iter().map(|format| format.as_str()).collect::<Vec<_>>());
    assert_eq!(value("DOCUMENT_FORMAT"), document::FORMAT);
    assert_eq!(value("DOCUMENT_VERSION"), document::VERSION.to_string());
    assert_eq!(value("RESULTS"), RESULTS);
    assert_eq!(value("MAX_PATH"), MAX_PATH.to_string());
    let product: usize = value("MAX_RESULT").split(" * ").map(|factor| factor.parse::<usize>().unwrap()).product();
    assert_eq!(product, MAX_RESULT);
}

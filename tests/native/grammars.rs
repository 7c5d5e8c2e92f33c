//! `crates/content/src/markdown/grammars.bin`: made from syntect's own grammars, and colours code as those do.
//!
//! After a new version of syntect or a change to the list of languages: `UPDATE=1 cargo test --test native grammars::`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::{Deserialize, Serialize};
use syntect::dumps::{dump_binary, dump_to_uncompressed_file, from_binary};
use syntect::parsing::SyntaxSet;
use turnwise_content::markdown::highlight::{CLASSES, Grammars};
use turnwise_content::markdown::{Class, grammars};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/content/src/markdown/grammars.bin");

/// Languages that people ask a model about, among those that syntect knows. Languages that they embed are included.
const LANGUAGES: &[&str] = &[
    "Batch File",
    "Bourne Again Shell (bash)",
    "C",
    "C#",
    "C++",
    "CSS",
    "Clojure",
    "Diff",
    "Erlang",
    "Go",
    "Graphviz (DOT)",
    "Groovy",
    "HTML",
    "HTML (Rails)",
    "Haskell",
    "JSON",
    "Java",
    "Java Properties",
    "JavaScript",
    "LaTeX",
    "Lisp",
    "Lua",
    "Makefile",
    "Markdown",
    "OCaml",
    "Objective-C",
    "PHP",
    "Pascal",
    "Perl",
    "Python",
    "R",
    "Regular Expression",
    "Ruby",
    "Rust",
    "SQL",
    "Scala",
    "Shell-Unix-Generic",
    "Tcl",
    "XML",
    "YAML",
    "reStructuredText",
];

// The types in syntect's dump, field by field: most of its own types can be read but not changed.

#[derive(Serialize, Deserialize)]
struct Set {
    syntaxes: Vec<Syntax>,
    paths: Vec<(String, usize)>,
}

#[derive(Serialize, Deserialize)]
struct Syntax {
    name: String,
    file_extensions: Vec<String>,
    scope: String,
    first_line_match: Option<String>,
    hidden: bool,
    variables: BTreeMap<String, String>,
    /// A [`Grammar`], compressed.
    grammar: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Grammar {
    ids: BTreeMap<String, Id>,
    contexts: Vec<Context>,
}

/// Identifies a context of a syntax.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Id {
    syntax: usize,
    context: usize,
}

#[derive(Serialize, Deserialize)]
struct Context {
    meta_scope: Vec<String>,
    meta_content_scope: Vec<String>,
    meta_include_prototype: bool,
    clear_scopes: Option<Clear>,
    prototype: Option<Id>,
    uses_backrefs: bool,
    patterns: Vec<Pattern>,
}

#[derive(Serialize, Deserialize)]
enum Clear {
    TopN(usize),
    All,
}

#[derive(Serialize, Deserialize)]
enum Pattern {
    Match(Match),
    Include(Reference),
}

#[derive(Serialize, Deserialize)]
struct Match {
    has_captures: bool,
    regex: String,
    scope: Vec<String>,
    captures: Option<Vec<(usize, Vec<String>)>>,
    operation: Operation,
    with_prototype: Option<Reference>,
}

#[derive(Serialize, Deserialize)]
enum Operation {
    Push(Vec<Reference>),
    Set(Vec<Reference>),
    Pop,
    None,
}

#[derive(Serialize, Deserialize)]
enum Reference {
    Named(String),
    ByScope { scope: String, sub_context: Option<String>, with_escape: bool },
    File { name: String, sub_context: Option<String>, with_escape: bool },
    Inline(String),
    Direct(Id),
}

impl Context {
    fn scopes(&mut self) -> Vec<&mut String> {
        let matches = self.patterns.iter_mut().filter_map(|pattern| match pattern {
            Pattern::Match(of) => Some(of),
            Pattern::Include(_) => None,
        });
        let of_matches =
            matches.flat_map(|of| of.scope.iter_mut().chain(of.captures.iter_mut().flatten().flat_map(|c| &mut c.1)));
        self.meta_scope.iter_mut().chain(&mut self.meta_content_scope).chain(of_matches).collect()
    }

    /// The contexts that this one refers to.
    fn ids(&mut self) -> Vec<&mut Id> {
        let references = self.patterns.iter_mut().flat_map(|pattern| match pattern {
            Pattern::Include(reference) => vec![reference],
            Pattern::Match(of) => match &mut of.operation {
                Operation::Push(to) | Operation::Set(to) => to.iter_mut().chain(&mut of.with_prototype).collect(),
                Operation::Pop | Operation::None => of.with_prototype.iter_mut().collect(),
            },
        });
        let direct = references.filter_map(|reference| match reference {
            Reference::Direct(id) => Some(id),
            _ => None,
        });
        self.prototype.iter_mut().chain(direct).collect()
    }
}

/// Collects the contexts that are reachable from one context.
fn reached(grammars: &mut [Grammar], from: Id, found: &mut BTreeSet<Id>) {
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        if found.insert(id) {
            open.extend(grammars[id.syntax].contexts[id.context].ids().into_iter().map(|id| *id));
        }
    }
}

/// Shortens a scope to the part that determines a class. The number of scopes stays the same, since grammars count them.
fn shorten(scope: &mut String) {
    let is_of = |prefix: &str| scope.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let prefix = CLASSES.iter().map(|(prefix, _)| *prefix).find(|prefix| is_of(prefix));
    *scope = prefix.unwrap_or("x").to_owned();
}

/// Serializes a part as syntect does, but uncompressed.
fn plain(part: &impl Serialize) -> Vec<u8> {
    let file = std::env::temp_dir().join(format!("turnwise-grammars-{}", std::process::id()));
    dump_to_uncompressed_file(part, &file).unwrap();
    let bytes = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    bytes
}

/// A zlib stream that stores its bytes uncompressed: syntect decompresses every grammar.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = bytes.chunks(0xffff).count();
    for (at, block) in bytes.chunks(0xffff).enumerate() {
        let length = u16::try_from(block.len()).unwrap();
        stream.push(u8::from(at + 1 == blocks));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    let (a, b) = bytes.iter().fold((1, 0), |(a, b): (u32, u32), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (a + b) % 65_521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

/// Encodes each run of zeros as one zero and its length.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let runs = bytes.chunk_by(|a, b| *a == 0 && *b == 0).flat_map(|run| run.chunks(0xff));
    runs.flat_map(|run| if run[0] == 0 { vec![0, u8::try_from(run.len()).unwrap()] } else { run.to_vec() }).collect()
}

fn made() -> Vec<u8> {
    let Set { syntaxes, .. } = from_binary(&dump_binary(&SyntaxSet::load_defaults_newlines()));
    let mut all: Vec<Grammar> = syntaxes.iter().map(|syntax| from_binary(&syntax.grammar)).collect();
    let place =
        |name: &&str| syntaxes.iter().position(|syntax| syntax.name == *name).unwrap_or_else(|| panic!("{name}"));
    let (mut wanted, mut found) = (LANGUAGES.iter().map(place).collect::<BTreeSet<_>>(), BTreeSet::new());
    // An embedded language can be requested, too.
    while let Some(syntax) = wanted.pop_first() {
        let start = all[syntax].ids["__start"];
        if !found.contains(&start) {
            reached(&mut all, start, &mut found);
            wanted.extend(found.iter().map(|id| id.syntax));
        }
    }
    // Every context gets its index among those that are kept.
    let mut places = BTreeMap::new();
    let mut kept: Vec<usize> = Vec::new();
    for id in &found {
        if kept.last() != Some(&id.syntax) {
            kept.push(id.syntax);
        }
        let context = found.range(Id { syntax: id.syntax, context: 0 }..*id).count();
        places.insert(*id, Id { syntax: kept.len() - 1, context });
    }
    let stays = syntaxes.into_iter().zip(all).enumerate().filter(|(at, _)| kept.contains(at));
    let syntaxes = stays.map(|(at, (syntax, grammar))| {
        let ids =
            grammar.ids.iter().filter(|(name, _)| *name == "__start").map(|(name, id)| (name.clone(), places[id]));
        let ids = ids.collect();
        let of = |context| Id { syntax: at, context };
        let contexts = grammar.contexts.into_iter().enumerate().filter(|(context, _)| found.contains(&of(*context)));
        let contexts = contexts.map(|(_, mut context)| {
            context.scopes().into_iter().for_each(shorten);
            context.ids().into_iter().for_each(|id| *id = places[id]);
            context
        });
        let grammar = stored(&plain(&Grammar { ids, contexts: contexts.collect() }));
        // The other fields are for finding a syntax by the path or the first line of a file, and for building another set.
        Syntax { first_line_match: None, variables: BTreeMap::new(), scope: "x".to_owned(), grammar, ..syntax }
    });
    packed(&plain(&Set { syntaxes: syntaxes.collect(), paths: Vec::new() }))
}

#[test]
fn the_file_is_what_syntect_s_grammars_make() {
    let made = made();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(FILE, &made).unwrap();
    }
    assert!(
        fs::read(FILE).unwrap() == made,
        "syntect or the list changed: UPDATE=1 cargo test --test native grammars::"
    );
}

#[test]
fn every_language_colours_code_as_it_does_with_all_of_syntect() {
    let (ours, whole) = (Grammars::new(grammars::load()), Grammars::new(SyntaxSet::load_defaults_newlines()));
    let samples =
        include_str!("../fixtures/code.txt").split("=== ").skip(1).map(|sample| sample.split_once('\n').unwrap());
    let samples: BTreeMap<&str, &str> = samples.collect();
    assert_eq!(samples.keys().copied().collect::<Vec<_>>(), LANGUAGES, "a sample for each language");
    for (language, code) in samples {
        let (found, expected) = (ours.spans(language, code).unwrap(), whole.spans(language, code).unwrap());
        assert_eq!(found, expected, "{language}");
        assert!(found.iter().any(|span| span.class != Class::Plain), "{language} has no colours");
    }
}

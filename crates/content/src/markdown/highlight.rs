//! Converts code to spans with highlighting classes: syntect's grammars, with its scopes mapped to a closed set of classes.
//! Only in the render worker. The joined text of the spans is always the code.
//!
//! The grammars are most of a module that has them. [`Highlighter`] reaches them only through what [`load`] has set, so that a module
//! may load them with the first code of a language, which [`missed`] tells.

use std::cell::Cell;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};
use syntect::util::LinesWithEndings;

use super::{Class, CodeSpan, grammars};

/// Scope prefixes, the more specific first. The innermost scope that has a row decides. `grammars.bin` contains no other
/// scopes, and of each scope only the prefix.
pub const CLASSES: &[(&str, Class)] = &[
    ("comment", Class::Comment),
    ("string", Class::String),
    ("constant.numeric", Class::Number),
    ("constant", Class::Constant),
    ("keyword.operator", Class::Plain),
    ("keyword", Class::Keyword),
    ("storage", Class::Keyword),
    ("variable.language", Class::Keyword),
    ("entity.name.function", Class::Function),
    ("support.function", Class::Function),
    ("variable.function", Class::Function),
    ("entity.name.tag", Class::Keyword),
    ("entity.name", Class::Type),
    ("support.type", Class::Type),
    ("support.class", Class::Type),
    ("entity.other.inherited-class", Class::Type),
    ("entity.other.attribute-name", Class::Name),
    ("variable.parameter", Class::Name),
    ("markup.inserted", Class::Inserted),
    ("markup.deleted", Class::Deleted),
    ("meta.interpolation", Class::Plain),
    ("meta.template.expression", Class::Plain),
    ("source", Class::Plain),
];

/// Language names that the grammars themselves do not know.
const ALIASES: &[(&str, &str)] = &[
    ("typescript", "js"),
    ("ts", "js"),
    ("tsx", "js"),
    ("jsx", "js"),
    ("mjs", "js"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("shell", "bash"),
    ("console", "bash"),
    ("zsh", "bash"),
    ("cs", "c#"),
    ("csharp", "c#"),
    ("cpp", "c++"),
    ("golang", "go"),
    ("patch", "diff"),
    ("svg", "xml"),
];

/// Longer lines stay plain, and so does all code after them: grammars can be slow on such lines.
const MAX_LINE: usize = 1_000;
/// The maximum number of bytes of code highlighted in one text; the rest stays plain.
const MAX_CODE: usize = 40_000;

/// What makes spans of the code blocks of one text, one after the other.
pub trait Highlight: Clone + Default + std::fmt::Debug {
    /// A block of which more lines may follow.
    type Block: Clone + std::fmt::Debug;

    fn begin(&mut self, lang: &str) -> Self::Block;

    /// Returns the spans of the next lines of a block.
    fn lines(&mut self, block: &mut Self::Block, lines: &str) -> Vec<CodeSpan>;

    /// Returns the spans of a whole block.
    fn spans(&mut self, lang: &str, code: &str) -> Vec<CodeSpan> {
        let mut block = self.begin(lang);
        self.lines(&mut block, code)
    }
}

/// Highlights nothing.
#[derive(Clone, Debug, Default)]
pub struct Plain;

impl Highlight for Plain {
    type Block = ();

    fn begin(&mut self, _: &str) {}

    fn lines(&mut self, (): &mut (), lines: &str) -> Vec<CodeSpan> {
        vec![CodeSpan { class: Class::Plain, text: lines.to_owned() }]
    }
}

/// Highlights the code blocks of one text, once [`load`] was called.
#[derive(Clone, Debug, Default)]
pub struct Highlighter {
    used: usize,
}

/// The state of the grammar after the lines so far; `None`: the rest is plain.
type Grammar = Option<(ParseState, ScopeStack)>;

/// Loaded grammars, and the classes of their scopes.
#[derive(Debug)]
pub struct Grammars {
    set: SyntaxSet,
    classes: Vec<(Scope, Class)>,
}

/// The functions of the loaded grammars.
#[derive(Clone, Copy)]
struct Loaded {
    begin: fn(&str) -> Grammar,
    lines: fn(&mut Grammar, &str, usize, &mut Vec<CodeSpan>),
}

thread_local! {
    /// Unpacked for the first block with a language.
    static GRAMMARS: Grammars = Grammars::new(grammars::load());
    static LOADED: Cell<Option<Loaded>> = const { Cell::new(None) };
    static MISSED: Cell<bool> = const { Cell::new(false) };
}

/// From now on, code of a known language is highlighted.
pub fn load() {
    LOADED.set(Some(Loaded {
        begin: |lang| GRAMMARS.with(|grammars| grammars.begin(lang)),
        lines: |block, lines, room, spans| GRAMMARS.with(|grammars| grammars.lines(block, lines, room, spans)),
    }));
}

/// Whether code of a language stayed plain since the last call of this, because [`load`] was not called before.
#[must_use]
pub fn missed() -> bool {
    MISSED.take()
}

impl Highlight for Highlighter {
    type Block = Grammar;

    fn begin(&mut self, lang: &str) -> Grammar {
        if lang.is_empty() || self.used >= MAX_CODE {
            return None;
        }
        let Some(loaded) = LOADED.get() else {
            MISSED.set(true);
            return None;
        };
        (loaded.begin)(lang)
    }

    fn lines(&mut self, block: &mut Grammar, lines: &str) -> Vec<CodeSpan> {
        let room = MAX_CODE.saturating_sub(self.used);
        self.used += lines.len();
        let Some(loaded) = LOADED.get().filter(|_| block.is_some()) else { return Plain.lines(&mut (), lines) };
        let mut spans = Vec::new();
        (loaded.lines)(block, lines, room, &mut spans);
        spans
    }
}

impl Grammars {
    #[must_use]
    pub fn new(set: SyntaxSet) -> Self {
        let classes = CLASSES.iter().filter_map(|(name, class)| Some((Scope::new(name).ok()?, *class))).collect();
        Grammars { set, classes }
    }

    /// Returns the spans of one block; `None` if the language is unknown.
    #[must_use]
    pub fn spans(&self, lang: &str, code: &str) -> Option<Vec<CodeSpan>> {
        let (mut grammar, mut spans) = (Some(self.begin(lang)?), Vec::new());
        self.lines(&mut grammar, code, usize::MAX, &mut spans);
        Some(spans)
    }

    fn begin(&self, lang: &str) -> Grammar {
        let name = lang.to_lowercase();
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, name)| name);
        let syntax = self.set.find_syntax_by_token(name)?;
        Some((ParseState::new(syntax), ScopeStack::new()))
    }

    /// Adds the spans of the next lines, of which at most `room` bytes are highlighted.
    fn lines(&self, grammar: &mut Grammar, lines: &str, room: usize, spans: &mut Vec<CodeSpan>) {
        let mut done = 0;
        for line in LinesWithEndings::from(lines) {
            let Some((state, stack)) = grammar.as_mut().filter(|_| line.len() <= MAX_LINE && done + line.len() <= room)
            else {
                break;
            };
            let Ok(changes) = state.parse_line(line, &self.set) else { break };
            let mut from = 0;
            for (at, change) in changes {
                push(spans, self.class(stack), line.get(from..at).unwrap_or_default());
                from = at.max(from);
                if stack.apply(&change).is_err() {
                    break;
                }
            }
            push(spans, self.class(stack), line.get(from..).unwrap_or_default());
            done += line.len();
        }
        if let Some(rest) = lines.get(done..).filter(|rest| !rest.is_empty()) {
            push(spans, Class::Plain, rest);
            *grammar = None;
        }
    }

    fn class(&self, stack: &ScopeStack) -> Class {
        let row = |scope: &Scope| self.classes.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|row| row.1);
        stack.as_slice().iter().rev().find_map(row).unwrap_or_default()
    }
}

/// Adds a run of code, joined with the last one if both have the same class.
fn push(spans: &mut Vec<CodeSpan>, class: Class, text: &str) {
    match spans.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.class == class => last.text.push_str(text),
        _ => spans.push(CodeSpan { class, text: text.to_owned() }),
    }
}

//! Converts code to spans with highlighting classes: syntect's grammars, with its scopes mapped to a closed set of classes.
//! Only in the render worker. The joined text of the spans is always the code.

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};
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

/// Highlights the code blocks of one text.
#[derive(Debug, Default)]
pub struct Highlighter {
    used: usize,
}

/// Loaded grammars, and the classes of their scopes.
#[derive(Debug)]
pub struct Grammars {
    set: SyntaxSet,
    classes: Vec<(Scope, Class)>,
}

thread_local! {
    /// Loaded for the first block with a language.
    static GRAMMARS: Grammars = Grammars::new(grammars::load());
}

impl Highlighter {
    /// Returns the spans of one block; one plain span if the language is unknown.
    pub fn spans(&mut self, lang: &str, code: String) -> Vec<CodeSpan> {
        self.used += code.len();
        if lang.is_empty() || self.used > MAX_CODE {
            return vec![CodeSpan { class: Class::Plain, text: code }];
        }
        GRAMMARS
            .with(|grammars| grammars.spans(lang, &code))
            .unwrap_or_else(|| vec![CodeSpan { class: Class::Plain, text: code }])
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
        let name = lang.to_lowercase();
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, name)| name);
        self.set.find_syntax_by_token(name).map(|syntax| self.spans_by(syntax, code))
    }

    fn spans_by(&self, syntax: &SyntaxReference, code: &str) -> Vec<CodeSpan> {
        let mut spans = Vec::new();
        let mut state = ParseState::new(syntax);
        let mut stack = ScopeStack::new();
        let mut done = 0;
        for line in LinesWithEndings::from(code) {
            let parsed = if line.len() > MAX_LINE { None } else { state.parse_line(line, &self.set).ok() };
            let Some(changes) = parsed else { break };
            let mut from = 0;
            for (at, change) in changes {
                push(&mut spans, self.class(&stack), line.get(from..at).unwrap_or_default());
                from = at.max(from);
                if stack.apply(&change).is_err() {
                    break;
                }
            }
            push(&mut spans, self.class(&stack), line.get(from..).unwrap_or_default());
            done += line.len();
        }
        push(&mut spans, Class::Plain, code.get(done..).unwrap_or_default());
        spans
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

//! JSON Schema, draft 2020-12: a schema is compiled once to a list of rules, then values are held against it.
//!
//! Complete except for three things: no schema is fetched, so `$ref` reaches what the schema itself holds; `$schema` and
//! vocabularies are not read; `format`, `content…` and other annotations say nothing. The official suite runs against it
//! (`tests/tools_schema.rs`). Written here because every crate for it brings regular expressions, URLs and domain names,
//! which are most of what such a crate weighs in a page. Regular expressions are the browser's own: whoever compiles a
//! schema says who runs them. Hostile schemas and values end in an error: nesting and work have a bound, and an
//! expression that takes too long is ended with its worker.

mod check;
mod compile;
mod number;
mod place;
mod rule;
mod same;
mod uri;
mod words;

use std::fmt;

use serde_json::Value;

use rule::Tree;

/// Whether a text has a match anywhere in it; an engine may give up on a text.
pub type Pattern = Box<dyn Fn(&str) -> Result<bool, String>>;

/// Makes a pattern of an ECMA-262 expression, which is read with the flag `u`.
pub type Patterns = fn(&str) -> Result<Pattern, String>;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    tree: Tree,
}

/// Why a value does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// JSON Pointer of the value; where a property is missing or not allowed, of that property.
    pub path: String,
    pub message: String,
}

/// Brackets inside brackets, of a schema and of a value. What `serde_json` reads has no more.
const MAX_NESTING: usize = 128;
/// Schemas that lead to schemas while one value is checked: few enough for a worker's stack of 1 MB, without optimization
/// too.
const MAX_DEPTH: usize = 256;

impl Schema {
    /// # Errors
    /// What is wrong with the schema, and where in it.
    pub fn compile(schema: &Value, patterns: Patterns) -> Result<Schema, String> {
        if too_deep(schema, MAX_NESTING) {
            return Err(format!("its brackets are nested more than {MAX_NESTING} deep"));
        }
        Ok(Schema { tree: compile::compile(schema, patterns)? })
    }

    /// Why the value does not fit, `most` reasons at most; none where it fits.
    ///
    /// # Errors
    /// Why the value could not be held against the schema.
    pub fn faults(&self, value: &Value, most: usize) -> Result<Vec<Fault>, Unchecked> {
        if too_deep(value, MAX_NESTING) {
            return Err(Unchecked::Nesting);
        }
        check::faults(&self.tree, value, most.max(1))
    }
}

/// Why a value could not be held against a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// The value's brackets.
    Nesting,
    /// Schemas that lead to schemas, as one does that refers to itself.
    Depth,
    /// Too many steps.
    Work,
    /// The engine gave up on a regular expression.
    Pattern(String),
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unchecked::Nesting => write!(f, "the brackets are nested more than {MAX_NESTING} deep"),
            Unchecked::Depth => write!(f, "its schemas lead to schemas more than {MAX_DEPTH} deep"),
            Unchecked::Work => f.write_str("it takes too many steps"),
            Unchecked::Pattern(why) => write!(f, "a regular expression of the schema failed: {why}"),
        }
    }
}

fn too_deep(value: &Value, left: usize) -> bool {
    let inside = |inner: &Value| left == 0 || too_deep(inner, left - 1);
    match value {
        Value::Array(items) => items.iter().any(inside),
        Value::Object(members) => members.values().any(inside),
        _ => false,
    }
}

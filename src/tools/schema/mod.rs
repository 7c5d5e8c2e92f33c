//! JSON Schema, draft 2020-12: a schema is compiled once to a list of rules, then values are checked against it.
//!
//! Complete except for three things: no schema is fetched, so `$ref` reaches only schemas inside the document;
//! `$schema` and vocabularies are not read; `format`, `content…` and other annotations have no effect. The official
//! test suite runs against it (`tests/native/tools_schema.rs`). Implemented here because every crate for it brings regular
//! expressions, URLs and domain names, which make up most of such a crate's size in a page. Regular expressions run in
//! the browser's own engine, which the caller passes in when it compiles a schema. Hostile schemas and values end in an
//! error: nesting and work are bounded, and an expression that takes too long is terminated with its worker.

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

/// Whether a text contains a match; an engine may give up on a text.
pub type Pattern = Box<dyn Fn(&str) -> Result<bool, String>>;

/// Compiles an ECMA-262 expression, which is read with the flag `u`, to a pattern.
pub type Patterns = fn(&str) -> Result<Pattern, String>;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    tree: Tree,
}

/// Why a value does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// JSON Pointer to the value, or to the property that is missing or not allowed.
    pub path: String,
    pub message: String,
}

/// Maximum nesting of brackets in a schema and in a value. `serde_json` reads no deeper nesting.
const MAX_NESTING: usize = 128;
/// Maximum depth of schemas that lead to schemas while one value is checked: low enough for a worker's stack of 1 MB,
/// even without optimization.
const MAX_DEPTH: usize = 256;

impl Schema {
    /// # Errors
    /// The fault in the schema, and its location.
    pub fn compile(schema: &Value, patterns: Patterns) -> Result<Schema, String> {
        if too_deep(schema, MAX_NESTING) {
            return Err(format!("its brackets are nested more than {MAX_NESTING} deep"));
        }
        Ok(Schema { tree: compile::compile(schema, patterns)? })
    }

    /// Returns at most `most` reasons why the value does not fit; an empty list if it fits.
    ///
    /// # Errors
    /// Why the value could not be checked against the schema.
    pub fn faults(&self, value: &Value, most: usize) -> Result<Vec<Fault>, Unchecked> {
        if too_deep(value, MAX_NESTING) {
            return Err(Unchecked::Nesting);
        }
        check::faults(&self.tree, value, most.max(1))
    }
}

/// The reason why a value could not be checked against a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// The value's brackets are nested too deeply.
    Nesting,
    /// Schemas lead to schemas too deeply, as with one that refers to itself.
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

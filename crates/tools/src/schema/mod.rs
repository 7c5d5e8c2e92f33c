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
mod fill;
mod number;
mod place;
mod rule;
mod same;
mod uri;
mod words;

use serde_json::Value;

pub use check::{SchemaFault, Unchecked};
pub use rule::{Pattern, Patterns};

use check::{MAX_NESTING, too_deep};
use rule::SchemaTree;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    tree: SchemaTree,
}

impl Schema {
    /// # Errors
    /// The fault in the schema, and its location.
    pub fn compile(schema: &Value, patterns: Patterns) -> Result<Schema, String> {
        if too_deep(schema) {
            return Err(format!("its brackets are nested more than {MAX_NESTING} deep"));
        }
        Ok(Schema { tree: compile::compile(schema, patterns)? })
    }

    /// Adds required properties that are missing and can have only one value. Returns whether something was missing.
    pub fn fill(&self, value: &mut Value) -> bool {
        fill::fill(&self.tree, value)
    }

    /// Returns at most `most` reasons why the value does not fit; an empty list if it fits.
    ///
    /// # Errors
    /// Why the value could not be checked against the schema.
    pub fn faults(&self, value: &Value, most: usize) -> Result<Vec<SchemaFault>, Unchecked> {
        check::faults(&self.tree, value, most.max(1))
    }
}

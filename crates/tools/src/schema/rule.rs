//! A compiled schema: rules that refer to each other's schemas by number.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use serde_json::{Number, Value};

use super::place::Resource;

/// Whether a text contains a match; an engine may give up on a text.
pub type Pattern = Box<dyn Fn(&str) -> Result<bool, String>>;

/// Compiles an ECMA-262 expression, which is read with the flag `u`, to a pattern.
pub type Patterns = fn(&str) -> Result<Pattern, String>;

/// All schemas that the first one leads to.
#[derive(Debug, Default)]
pub struct SchemaTree {
    pub nodes: Vec<SchemaNode>,
    /// The schema that each `$dynamicAnchor` refers to in each resource.
    pub dynamic: HashMap<String, HashMap<Resource, NodeId>>,
}

/// The number of a schema.
pub type NodeId = usize;

#[derive(Debug, Default)]
pub struct SchemaNode {
    pub home: Resource,
    pub rules: Vec<SchemaRule>,
}

/// The rule of one keyword, or of a few that belong together. A value must satisfy all rules of a node.
#[derive(Debug)]
pub enum SchemaRule {
    /// The schema `false`.
    Never,
    Types(Vec<Type>),
    Enum {
        texts: HashSet<String>,
        values: Vec<Value>,
    },
    Const {
        text: String,
        value: Value,
    },
    Bound {
        side: BoundSide,
        limit: Number,
    },
    MultipleOf(Number),
    Size {
        of: Countable,
        end: BoundEnd,
        limit: u64,
    },
    Pattern(Expression),
    UniqueItems,
    Required(Vec<String>),
    /// Properties that need others.
    DependentRequired(Vec<(String, Vec<String>)>),
    DependentSchemas(Vec<(String, NodeId)>),
    Properties {
        named: BTreeMap<String, NodeId>,
        patterns: Vec<(Expression, NodeId)>,
        others: Option<NodeId>,
    },
    PropertyNames(NodeId),
    Items {
        first: Vec<NodeId>,
        others: Option<NodeId>,
    },
    Contains {
        node: NodeId,
        least: u64,
        most: Option<u64>,
    },
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not {
        node: NodeId,
        text: String,
    },
    If {
        test: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    Ref(NodeId),
    DynamicRef {
        node: NodeId,
        name: String,
    },
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Array,
    Boolean,
    Integer,
    Null,
    Number,
    Object,
    String,
}

impl Type {
    pub const NAMES: [(&str, Type); 7] = [
        ("array", Type::Array),
        ("boolean", Type::Boolean),
        ("integer", Type::Integer),
        ("null", Type::Null),
        ("number", Type::Number),
        ("object", Type::Object),
        ("string", Type::String),
    ];

    pub fn name(self) -> &'static str {
        Type::NAMES.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
}

#[derive(Clone, Copy, Debug)]
pub enum BoundSide {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

#[derive(Clone, Copy, Debug)]
pub enum Countable {
    Characters,
    Items,
    Properties,
}

#[derive(Clone, Copy, Debug)]
pub enum BoundEnd {
    Least,
    Most,
}

/// A regular expression and the function that runs it.
pub struct Expression {
    pub source: String,
    pattern: Pattern,
}

impl Expression {
    pub fn new(source: String, pattern: Pattern) -> Self {
        Expression { source, pattern }
    }

    pub fn matches(&self, text: &str) -> Result<bool, String> {
        (self.pattern)(text)
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

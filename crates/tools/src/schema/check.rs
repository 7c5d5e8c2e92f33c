//! Checks a value against the rules. Steps and nested schemas are limited, so that a hostile schema ends in an error.
//! Where only the verdict matters (branches of `anyOf`, `not`, `if`), the first fault ends the search.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde_json::{Map, Value};

use super::number::{Amount, is_multiple};
use super::place::Resource;
use super::rule::{BoundEnd, BoundSide, Countable, Expression, NodeId, SchemaRule, SchemaTree, Type};
use super::same;
use super::words::{self, quoted, shown};

/// Maximum nesting of brackets in a schema and in a value. `serde_json` reads no deeper nesting.
pub const MAX_NESTING: usize = 128;
/// Maximum depth of schemas that lead to schemas while one value is checked: low enough for a worker's stack of 1 MB,
/// even without optimization.
const MAX_DEPTH: usize = 256;
/// Maximum number of schemas checked and members examined.
const MAX_WORK: usize = 10_000_000;
/// Maximum number of branches of `anyOf` and `oneOf` whose fault is reported.
const MAX_BRANCHES: usize = 3;

/// Why a value does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// JSON Pointer to the value, or to the property that is missing or not allowed.
    pub path: String,
    pub message: String,
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

/// Returns whether the brackets of a value are nested too deeply.
pub fn too_deep(value: &Value) -> bool {
    is_deeper(value, MAX_NESTING)
}

fn is_deeper(value: &Value, left: usize) -> bool {
    let inside = |inner: &Value| left == 0 || is_deeper(inner, left - 1);
    match value {
        Value::Array(items) => items.iter().any(inside),
        Value::Object(members) => members.values().any(inside),
        _ => false,
    }
}

/// Returns at most `most` reasons why the value does not fit.
pub fn faults(tree: &SchemaTree, value: &Value, most: usize) -> Result<Vec<SchemaFault>, Unchecked> {
    if too_deep(value) {
        return Err(Unchecked::Nesting);
    }
    let mut check = Check { tree, work: 0, scope: Vec::new(), most, faults: Vec::new(), in_branch: false };
    check.fits(0, value, ValuePath::Root)?;
    Ok(check.faults)
}

/// The path of a value, from the root.
#[derive(Clone, Copy)]
enum ValuePath<'a> {
    Root,
    Member(&'a ValuePath<'a>, &'a str),
    Item(&'a ValuePath<'a>, usize),
}

impl ValuePath<'_> {
    fn pointer(self) -> String {
        match self {
            ValuePath::Root => String::new(),
            ValuePath::Member(parent, name) => format!("{}/{}", parent.pointer(), words::token(name)),
            ValuePath::Item(parent, index) => format!("{}/{index}", parent.pointer()),
        }
    }
}

struct Check<'t> {
    tree: &'t SchemaTree,
    work: usize,
    /// The resources of the current schemas, outermost first; `$dynamicRef` searches them.
    scope: Vec<Resource>,
    /// The maximum number of reported faults; 0 if only the verdict matters.
    most: usize,
    faults: Vec<SchemaFault>,
    /// Whether the faults already belong to a branch.
    in_branch: bool,
}

type Fits = Result<bool, Unchecked>;

impl<'t> Check<'t> {
    fn fits(&mut self, id: NodeId, value: &Value, at: ValuePath<'_>) -> Fits {
        let rules = self.enter(id)?;
        let mut fits = true;
        for rule in rules {
            fits &= self.rule(id, rule, value, at)?;
            if !fits && self.is_enough() {
                break;
            }
        }
        self.leave();
        Ok(fits)
    }

    fn enter(&mut self, id: NodeId) -> Result<&'t [SchemaRule], Unchecked> {
        self.step()?;
        if self.scope.len() == MAX_DEPTH {
            return Err(Unchecked::Depth);
        }
        let node = self.tree.nodes.get(id);
        self.scope.push(node.map_or(0, |node| node.home));
        Ok(node.map_or(&[], |node| &node.rules))
    }

    fn leave(&mut self) {
        self.scope.pop();
    }

    fn step(&mut self) -> Result<(), Unchecked> {
        self.work += 1;
        if self.work > MAX_WORK { Err(Unchecked::Work) } else { Ok(()) }
    }

    /// Whether no further fault would be reported.
    fn is_enough(&self) -> bool {
        self.faults.len() >= self.most
    }

    /// Returns only the verdict.
    fn fits_quietly(&mut self, id: NodeId, value: &Value, at: ValuePath<'_>) -> Fits {
        let (most, faults) = (std::mem::take(&mut self.most), std::mem::take(&mut self.faults));
        let fits = self.fits(id, value, at);
        (self.most, self.faults) = (most, faults);
        fits
    }

    /// Returns `Ok(false)`, and records the message if it will be reported.
    fn fault(&mut self, at: ValuePath<'_>, words: &dyn Fn() -> String) -> Fits {
        if !self.is_enough() {
            self.faults.push(SchemaFault { path: at.pointer(), message: words() });
        }
        Ok(false)
    }

    fn rule(&mut self, id: NodeId, rule: &'t SchemaRule, value: &Value, at: ValuePath<'_>) -> Fits {
        match (rule, value) {
            (SchemaRule::AllOf(nodes), _) => self.all(nodes, value, at),
            (SchemaRule::AnyOf(nodes), _) => self.any(nodes, value, at),
            (SchemaRule::OneOf(nodes), _) => self.exactly_one(nodes, value, at),
            (SchemaRule::Not { node, text }, _) if self.fits_quietly(*node, value, at)? => {
                self.fault(at, &|| format!("{text} is not allowed for {}", shown(value)))
            }
            (SchemaRule::If { test, then, otherwise }, _) => {
                let branch = if self.fits_quietly(*test, value, at)? { then } else { otherwise };
                branch.map_or(Ok(true), |branch| self.fits(branch, value, at))
            }
            (SchemaRule::Ref(node), _) => self.fits(*node, value, at),
            (SchemaRule::DynamicRef { node, name }, _) => self.fits(self.outermost(*node, name), value, at),
            (SchemaRule::UnevaluatedProperties(node), Value::Object(members)) => {
                let mut unseen = self.unseen(id, value, at, members.len())?.into_iter();
                let rest = members.iter().filter(|_| unseen.next() == Some(true));
                let mut rest = rest.map(|(name, member)| (ValuePath::Member(&at, name), member));
                self.rest(*node, "Unevaluated properties", &mut rest)
            }
            (SchemaRule::UnevaluatedItems(node), Value::Array(items)) => {
                let mut unseen = self.unseen(id, value, at, items.len())?.into_iter();
                let rest = items.iter().enumerate().filter(|_| unseen.next() == Some(true));
                let mut rest = rest.map(|(index, item)| (ValuePath::Item(&at, index), item));
                self.rest(*node, "Unevaluated items", &mut rest)
            }
            (SchemaRule::Properties { named, patterns, others }, Value::Object(members)) => {
                self.properties(named, patterns, *others, members, at)
            }
            (rule, Value::Object(members)) => self.object(rule, value, members, at),
            (rule, Value::Array(items)) => self.array(rule, value, items, at),
            _ => self.alone(rule, value, at),
        }
    }

    /// Checks a rule that applies to the value as a whole, without nested schemas. A separate function, so that nested
    /// schemas use little stack.
    fn alone(&mut self, rule: &SchemaRule, value: &Value, at: ValuePath<'_>) -> Fits {
        match (rule, value) {
            (SchemaRule::Never, _) => self.fault(at, &|| format!("False schema does not allow {}", shown(value))),
            (SchemaRule::Types(types), _) if !types.iter().any(|one| is_of(value, *one)) => {
                self.fault(at, &|| words::types(value, types))
            }
            (SchemaRule::Enum { texts, values }, _) if !texts.contains(&same::text(value)) => {
                self.fault(at, &|| words::one_of(value, values))
            }
            (SchemaRule::Const { text, value: expected }, _) if *text != same::text(value) => {
                self.fault(at, &|| format!("{} was expected", shown(expected)))
            }
            (SchemaRule::Bound { side, limit }, Value::Number(number)) => {
                let order = Amount::from_number(number).compare(Amount::from_number(limit));
                let is_within = match side {
                    BoundSide::Minimum => order.is_ge(),
                    BoundSide::Maximum => order.is_le(),
                    BoundSide::ExclusiveMinimum => order.is_gt(),
                    BoundSide::ExclusiveMaximum => order.is_lt(),
                };
                if is_within { Ok(true) } else { self.fault(at, &|| words::bound(value, *side, limit)) }
            }
            (SchemaRule::MultipleOf(of), Value::Number(number)) if !is_multiple(number, of) => {
                self.fault(at, &|| format!("{number} is not a multiple of {of}"))
            }
            (SchemaRule::Size { of, end, limit }, _) => {
                let size = match (of, value) {
                    (Countable::Characters, Value::String(text)) => text.chars().count(),
                    (Countable::Items, Value::Array(items)) => items.len(),
                    (Countable::Properties, Value::Object(members)) => members.len(),
                    _ => return Ok(true),
                };
                let is_within = match end {
                    BoundEnd::Least => size as u64 >= *limit,
                    BoundEnd::Most => size as u64 <= *limit,
                };
                if is_within { Ok(true) } else { self.fault(at, &|| words::size(value, *of, *end, *limit)) }
            }
            (SchemaRule::Pattern(expression), Value::String(text))
                if !expression.matches(text).map_err(Unchecked::Pattern)? =>
            {
                self.fault(at, &|| format!("{} does not match \"{}\"", shown(value), expression.source))
            }
            _ => Ok(true),
        }
    }

    fn all(&mut self, nodes: &[NodeId], value: &Value, at: ValuePath<'_>) -> Fits {
        let mut fits = true;
        for node in nodes {
            fits &= self.fits(*node, value, at)?;
            if !fits && self.is_enough() {
                break;
            }
        }
        Ok(fits)
    }

    fn any(&mut self, nodes: &[NodeId], value: &Value, at: ValuePath<'_>) -> Fits {
        for node in nodes {
            if self.fits_quietly(*node, value, at)? {
                return Ok(true);
            }
        }
        self.no_branch("anyOf", nodes, value, at)
    }

    fn exactly_one(&mut self, nodes: &[NodeId], value: &Value, at: ValuePath<'_>) -> Fits {
        let mut fitting = 0;
        for node in nodes {
            fitting += usize::from(self.fits_quietly(*node, value, at)?);
            if fitting > 1 {
                return self.fault(at, &|| {
                    format!(
                        "{} is valid under more than one of the schemas listed in the 'oneOf' keyword",
                        shown(value)
                    )
                });
            }
        }
        if fitting == 1 { Ok(true) } else { self.no_branch("oneOf", nodes, value, at) }
    }

    /// Reports the fault of each branch, but not for branches within branches, which would be checked again and again.
    fn no_branch(&mut self, keyword: &str, nodes: &[NodeId], value: &Value, at: ValuePath<'_>) -> Fits {
        let mut reasons = String::new();
        if !self.is_enough() && !self.in_branch {
            let (most, known_faults) = (std::mem::replace(&mut self.most, 1), std::mem::take(&mut self.faults));
            self.in_branch = true;
            for node in nodes.iter().take(MAX_BRANCHES) {
                self.fits(*node, value, at)?;
                for fault in std::mem::take(&mut self.faults) {
                    let or = if reasons.is_empty() { ":" } else { ", or" };
                    reasons.push_str(&format!("{or} at `{}`: {}", fault.path, fault.message));
                }
            }
            self.in_branch = false;
            (self.most, self.faults) = (most, known_faults);
        }
        self.fault(at, &|| {
            format!("{} is not valid under any of the schemas listed in the '{keyword}' keyword{reasons}", shown(value))
        })
    }

    /// The schema of a dynamic anchor in the outermost resource that has it.
    fn outermost(&self, node: NodeId, name: &str) -> NodeId {
        let named = self.tree.dynamic.get(name);
        let found = named.and_then(|named| self.scope.iter().find_map(|home| named.get(home)));
        found.copied().unwrap_or(node)
    }

    fn object(&mut self, rule: &'t SchemaRule, value: &Value, members: &Map<String, Value>, at: ValuePath<'_>) -> Fits {
        let mut fits = true;
        match rule {
            SchemaRule::Required(names) => {
                for name in names.iter().filter(|name| !members.contains_key(*name)) {
                    fits = self
                        .fault(ValuePath::Member(&at, name), &|| format!("{} is a required property", quoted(name)))?;
                }
            }
            SchemaRule::DependentRequired(needs) => {
                for (name, needed) in needs.iter().filter(|(name, _)| members.contains_key(name)) {
                    for missing in needed.iter().filter(|missing| !members.contains_key(*missing)) {
                        fits = self.fault(ValuePath::Member(&at, missing), &|| {
                            format!("{} is a required property where {} is given", quoted(missing), quoted(name))
                        })?;
                    }
                }
            }
            SchemaRule::DependentSchemas(needs) => {
                for (_, node) in needs.iter().filter(|(name, _)| members.contains_key(name)) {
                    fits &= self.fits(*node, value, at)?;
                }
            }
            SchemaRule::PropertyNames(node) => {
                for name in members.keys() {
                    let known_faults = self.faults.len();
                    fits &= self.fits(*node, &Value::from(name.as_str()), ValuePath::Member(&at, name))?;
                    for fault in self.faults.iter_mut().skip(known_faults) {
                        fault.message.insert_str(0, "the property's name: ");
                    }
                }
            }
            _ => return self.alone(rule, value, at),
        }
        Ok(fits)
    }

    fn properties(
        &mut self,
        named: &BTreeMap<String, NodeId>,
        patterns: &'t [(Expression, NodeId)],
        others: Option<NodeId>,
        members: &Map<String, Value>,
        at: ValuePath<'_>,
    ) -> Fits {
        let (mut fits, mut rest) = (true, Vec::new());
        for (name, member) in members {
            self.step()?;
            let inner = ValuePath::Member(&at, name);
            let mut is_other = others.is_some();
            if let Some(node) = named.get(name) {
                is_other = false;
                fits &= self.fits(*node, member, inner)?;
            }
            for (expression, node) in patterns {
                if expression.matches(name).map_err(Unchecked::Pattern)? {
                    is_other = false;
                    fits &= self.fits(*node, member, inner)?;
                }
            }
            if !fits && self.is_enough() {
                return Ok(false);
            }
            if is_other {
                rest.push((inner, member));
            }
        }
        match others {
            Some(node) => Ok(self.rest(node, "Additional properties", &mut rest.into_iter())? && fits),
            None => Ok(fits),
        }
    }

    /// Checks the members left over by the previous rules against one schema. If no such members are allowed, one fault
    /// names them all.
    fn rest(&mut self, id: NodeId, what: &str, members: &mut dyn Iterator<Item = (ValuePath<'_>, &Value)>) -> Fits {
        let is_never = self.tree.nodes.get(id).is_some_and(|node| matches!(node.rules.as_slice(), [SchemaRule::Never]));
        let mut fits = true;
        if !is_never {
            for (at, member) in members {
                fits &= self.fits(id, member, at)?;
                if !fits && self.is_enough() {
                    break;
                }
            }
            return Ok(fits);
        }
        let Some((at, first)) = members.next() else { return Ok(true) };
        if self.is_enough() {
            return Ok(false);
        }
        let name = |at: ValuePath<'_>, member: &Value| match at {
            ValuePath::Member(_, name) => name.to_owned(),
            _ => shown(member),
        };
        let mut names = vec![name(at, first)];
        names.extend(members.map(|(at, member)| name(at, member)));
        self.fault(at, &|| words::unexpected(what, &names))
    }

    /// For each member or item, in order: whether no other rule of the schema has evaluated it.
    fn unseen(&mut self, id: NodeId, value: &Value, at: ValuePath<'_>, length: usize) -> Result<Vec<bool>, Unchecked> {
        let mut seen = vec![false; length];
        self.see(id, value, at, &mut seen, true)?;
        Ok(seen.into_iter().map(|seen| !seen).collect())
    }

    /// Marks the members or items evaluated by the rules of a schema, and by the schemas that it applies to the same
    /// value. `itself`: it is the requesting schema, whose own `unevaluated…` does not count.
    fn see(
        &mut self,
        id: NodeId,
        value: &Value,
        at: ValuePath<'_>,
        seen: &mut [bool],
        itself: bool,
    ) -> Result<(), Unchecked> {
        let rules = self.enter(id)?;
        for rule in rules {
            match (rule, value) {
                (SchemaRule::UnevaluatedProperties(_), Value::Object(_))
                | (SchemaRule::UnevaluatedItems(_), Value::Array(_))
                    if !itself =>
                {
                    seen.fill(true);
                }
                (SchemaRule::Properties { named, patterns, others }, Value::Object(members)) => {
                    for (name, seen) in members.keys().zip(seen.iter_mut()) {
                        self.step()?;
                        *seen |= others.is_some() || named.contains_key(name);
                        for (expression, _) in patterns {
                            *seen = *seen || expression.matches(name).map_err(Unchecked::Pattern)?;
                        }
                    }
                }
                (SchemaRule::Items { first, others }, Value::Array(items)) => {
                    let most = if others.is_some() { items.len() } else { first.len() };
                    seen.iter_mut().take(most).for_each(|seen| *seen = true);
                }
                (SchemaRule::Contains { node, .. }, Value::Array(items)) => {
                    for ((index, item), seen) in items.iter().enumerate().zip(seen.iter_mut()) {
                        *seen = *seen || self.fits_quietly(*node, item, ValuePath::Item(&at, index))?;
                    }
                }
                (SchemaRule::AllOf(nodes) | SchemaRule::AnyOf(nodes) | SchemaRule::OneOf(nodes), _) => {
                    for node in nodes {
                        self.see_if_fits(*node, value, at, seen)?;
                    }
                }
                (SchemaRule::If { test, then, otherwise }, _) => {
                    let branch = if self.see_if_fits(*test, value, at, seen)? { then } else { otherwise };
                    if let Some(branch) = branch {
                        self.see(*branch, value, at, seen, false)?;
                    }
                }
                (SchemaRule::Ref(node), _) => self.see(*node, value, at, seen, false)?,
                (SchemaRule::DynamicRef { node, name }, _) => {
                    self.see(self.outermost(*node, name), value, at, seen, false)?;
                }

                (SchemaRule::DependentSchemas(needs), Value::Object(members)) => {
                    for (_, node) in needs.iter().filter(|(name, _)| members.contains_key(name)) {
                        self.see(*node, value, at, seen, false)?;
                    }
                }
                _ => {}
            }
        }
        self.leave();
        Ok(())
    }

    fn see_if_fits(&mut self, id: NodeId, value: &Value, at: ValuePath<'_>, seen: &mut [bool]) -> Fits {
        let fits = self.fits_quietly(id, value, at)?;
        if fits {
            self.see(id, value, at, seen, false)?;
        }
        Ok(fits)
    }

    fn array(&mut self, rule: &'t SchemaRule, value: &Value, items: &[Value], at: ValuePath<'_>) -> Fits {
        match rule {
            SchemaRule::UniqueItems => {
                let mut known = HashSet::with_capacity(items.len());
                if items.iter().all(|item| known.insert(same::text(item))) {
                    return Ok(true);
                }
                self.fault(at, &|| format!("{} has non-unique elements", shown(value)))
            }
            SchemaRule::Items { first, others } => {
                let mut fits = true;
                for (index, (item, node)) in items.iter().zip(first).enumerate() {
                    fits &= self.fits(*node, item, ValuePath::Item(&at, index))?;
                }
                let Some(node) = others else { return Ok(fits) };
                let rest = items.iter().enumerate().skip(first.len());
                let mut rest = rest.map(|(index, item)| (ValuePath::Item(&at, index), item));
                Ok(self.rest(*node, "Additional items", &mut rest)? && fits)
            }
            SchemaRule::Contains { node, least, most } => {
                let mut fitting = 0;
                for (index, item) in items.iter().enumerate() {
                    fitting += u64::from(self.fits_quietly(*node, item, ValuePath::Item(&at, index))?);
                }
                if fitting < *least {
                    return self.fault(at, &|| words::contains(value, fitting, "least", *least));
                }
                match most.filter(|most| fitting > *most) {
                    Some(most) => self.fault(at, &|| words::contains(value, fitting, "most", most)),
                    None => Ok(true),
                }
            }
            _ => self.alone(rule, value, at),
        }
    }
}

fn is_of(value: &Value, one: Type) -> bool {
    match (value, one) {
        (Value::Number(number), Type::Integer) => Amount::from_number(number).is_whole(),
        (Value::Null, Type::Null)
        | (Value::Bool(_), Type::Boolean)
        | (Value::Number(_), Type::Number)
        | (Value::String(_), Type::String)
        | (Value::Array(_), Type::Array)
        | (Value::Object(_), Type::Object) => true,
        _ => false,
    }
}

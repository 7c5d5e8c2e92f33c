//! Compiles a schema document to rules. Reads only the schemas reachable from the first one, each once, without
//! recursion.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::number::Amount;
use super::place::{Places, Resource};
use super::rule::{
    BoundEnd, BoundSide, Countable, Expression, NodeId, Patterns, SchemaNode, SchemaRule, SchemaTree, Type,
};
use super::same;
use super::words::{quoted, shown};

pub fn compile(schema: &Value, patterns: Patterns) -> Result<SchemaTree, String> {
    let places = Places::from_schema(schema);
    let mut compiler =
        Compiler { places, patterns, tree: SchemaTree::default(), known: HashMap::new(), left: Vec::new() };
    compiler.node(schema, String::new());
    while let Some((id, schema, path)) = compiler.left.pop() {
        let home = compiler.places.home(schema);
        let rules = compiler.rules(schema, home, &path)?;
        if let Some(node) = compiler.tree.nodes.get_mut(id) {
            *node = SchemaNode { home, rules };
        }
    }
    Ok(compiler.tree)
}

struct Compiler<'s> {
    places: Places<'s>,
    patterns: Patterns,
    tree: SchemaTree,
    /// By memory address.
    known: HashMap<*const Value, NodeId>,
    /// Schemas that have a number but no rules yet, with their paths for error texts.
    left: Vec<(NodeId, &'s Value, String)>,
}

/// The keywords of one schema.
#[derive(Clone, Copy)]
struct Keywords<'s, 'p> {
    map: &'s Map<String, Value>,
    home: Resource,
    path: &'p str,
}

#[derive(Clone, Copy)]
struct Keyword<'s, 'p> {
    name: &'static str,
    value: &'s Value,
    path: &'p str,
}

impl<'s> Compiler<'s> {
    /// The number of a schema, which is read later if it is new.
    fn node(&mut self, schema: &'s Value, path: String) -> NodeId {
        let next = self.tree.nodes.len();
        let id = *self.known.entry(schema).or_insert(next);
        if id == next {
            self.tree.nodes.push(SchemaNode::default());
            self.left.push((id, schema, path));
        }
        id
    }

    fn rules(&mut self, schema: &'s Value, home: Resource, path: &str) -> Result<Vec<SchemaRule>, String> {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(true) => return Ok(Vec::new()),
            Value::Bool(false) => return Ok(vec![SchemaRule::Never]),
            _ => return Err(format!("at `{path}`: a schema must be an object or a boolean, not {}", shown(schema))),
        };
        let all = Keywords { map, home, path };
        let mut rules = Vec::new();
        values(all, &mut rules)?;
        if let Some(keyword) = all.get("pattern") {
            rules.push(SchemaRule::Pattern(self.expression(keyword, keyword.string()?)?));
        }
        self.objects(all, &mut rules)?;
        self.arrays(all, &mut rules)?;
        self.references(all, &mut rules)?;
        self.combinations(all, &mut rules)?;
        // Last, because they depend on what the others have evaluated.
        rules.extend(self.one(all, "unevaluatedItems").map(SchemaRule::UnevaluatedItems));
        rules.extend(self.one(all, "unevaluatedProperties").map(SchemaRule::UnevaluatedProperties));
        Ok(rules)
    }

    fn objects(&mut self, all: Keywords<'s, '_>, rules: &mut Vec<SchemaRule>) -> Result<(), String> {
        if let Some(keyword) = all.get("required") {
            rules.push(SchemaRule::Required(keyword.strings(keyword.value)?));
        }
        if let Some(keyword) = all.get("dependentRequired") {
            let named = keyword.object()?.iter().map(|(name, needed)| Ok((name.clone(), keyword.strings(needed)?)));
            rules.push(SchemaRule::DependentRequired(named.collect::<Result<_, String>>()?));
        }
        let mut patterns = Vec::new();
        for (source, node) in self.named(all, "patternProperties")? {
            let expression = match all.get("patternProperties") {
                Some(keyword) => self.expression(keyword, &source)?,
                None => continue,
            };
            patterns.push((expression, node));
        }
        let named = self.named(all, "properties")?;
        let others = self.one(all, "additionalProperties");
        if !(named.is_empty() && patterns.is_empty() && others.is_none()) {
            rules.push(SchemaRule::Properties { named: named.into_iter().collect(), patterns, others });
        }
        rules.extend(self.one(all, "propertyNames").map(SchemaRule::PropertyNames));
        let named = self.named(all, "dependentSchemas")?;
        if !named.is_empty() {
            rules.push(SchemaRule::DependentSchemas(named));
        }
        Ok(())
    }

    fn arrays(&mut self, all: Keywords<'s, '_>, rules: &mut Vec<SchemaRule>) -> Result<(), String> {
        if let Some(keyword) = all.get("items").filter(|keyword| keyword.value.is_array()) {
            return Err(keyword.wrong("one schema (a list of them is `prefixItems` in draft 2020-12)"));
        }
        let first = self.list(all, "prefixItems")?;
        let others = self.one(all, "items");
        if !first.is_empty() || others.is_some() {
            rules.push(SchemaRule::Items { first, others });
        }
        if let Some(node) = self.one(all, "contains") {
            let least = all.get("minContains").map_or(Ok(1), |keyword| keyword.count())?;
            let most = all.get("maxContains").map(|keyword| keyword.count()).transpose()?;
            rules.push(SchemaRule::Contains { node, least, most });
        }
        match all.get("uniqueItems").map(|keyword| (keyword, keyword.value)) {
            Some((_, Value::Bool(true))) => rules.push(SchemaRule::UniqueItems),
            Some((_, Value::Bool(false))) | None => {}
            Some((keyword, _)) => return Err(keyword.wrong("a boolean")),
        }
        Ok(())
    }

    fn references(&mut self, all: Keywords<'s, '_>, rules: &mut Vec<SchemaRule>) -> Result<(), String> {
        for name in ["$ref", "$dynamicRef"] {
            let Some(keyword) = all.get(name) else { continue };
            let reference = keyword.string()?;
            let Some(found) = self.places.find(all.home, reference) else {
                return Err(keyword.fault(&format!(
                    "`{name}` leads to {}, which the schema does not hold; nothing is fetched",
                    quoted(reference)
                )));
            };
            let node = self.node(found, reference.to_owned());
            match self.places.dynamic_name(reference, found).filter(|_| name == "$dynamicRef") {
                Some(name) => {
                    rules.push(SchemaRule::DynamicRef { node, name: name.to_owned() });
                    for (home, name, schema) in self.places.dynamic.clone() {
                        let node = self.node(schema, format!("#{name}"));
                        self.tree.dynamic.entry(name.to_owned()).or_default().entry(home).or_insert(node);
                    }
                }
                None => rules.push(SchemaRule::Ref(node)),
            }
        }
        Ok(())
    }

    fn combinations(&mut self, all: Keywords<'s, '_>, rules: &mut Vec<SchemaRule>) -> Result<(), String> {
        for (name, rule) in [
            ("allOf", SchemaRule::AllOf as fn(Vec<NodeId>) -> SchemaRule),
            ("anyOf", SchemaRule::AnyOf),
            ("oneOf", SchemaRule::OneOf),
        ] {
            if let Some(keyword) = all.get(name) {
                let nodes = self.list(all, name)?;
                if nodes.is_empty() {
                    return Err(keyword.wrong("an array with a schema in it"));
                }
                rules.push(rule(nodes));
            }
        }
        if let (Some(keyword), Some(node)) = (all.get("not"), self.one(all, "not")) {
            rules.push(SchemaRule::Not { node, text: shown(keyword.value) });
        }
        if let Some(test) = self.one(all, "if") {
            rules.push(SchemaRule::If { test, then: self.one(all, "then"), otherwise: self.one(all, "else") });
        }
        Ok(())
    }

    fn one(&mut self, all: Keywords<'s, '_>, name: &'static str) -> Option<NodeId> {
        all.get(name).map(|keyword| self.node(keyword.value, format!("{}/{name}", all.path)))
    }

    fn list(&mut self, all: Keywords<'s, '_>, name: &'static str) -> Result<Vec<NodeId>, String> {
        let Some(keyword) = all.get(name) else { return Ok(Vec::new()) };
        let items = keyword.value.as_array().ok_or_else(|| keyword.wrong("an array of schemas"))?;
        Ok(items.iter().enumerate().map(|(at, item)| self.node(item, format!("{}/{name}/{at}", all.path))).collect())
    }

    fn named(&mut self, all: Keywords<'s, '_>, keyword: &'static str) -> Result<Vec<(String, NodeId)>, String> {
        let Some(keyword) = all.get(keyword) else { return Ok(Vec::new()) };
        let path = |name: &str| format!("{}/{}/{}", all.path, keyword.name, super::words::token(name));
        Ok(keyword.object()?.iter().map(|(name, schema)| (name.clone(), self.node(schema, path(name)))).collect())
    }

    fn expression(&self, keyword: Keyword<'_, '_>, source: &str) -> Result<Expression, String> {
        let pattern = (self.patterns)(source);
        let pattern =
            pattern.map_err(|why| keyword.fault(&format!("{} is no regular expression: {why}", quoted(source))))?;
        Ok(Expression::new(source.to_owned(), pattern))
    }
}

/// Constraints on a single value.
fn values(all: Keywords<'_, '_>, rules: &mut Vec<SchemaRule>) -> Result<(), String> {
    if let Some(keyword) = all.get("type") {
        let names = match keyword.value {
            Value::Array(names) => names.as_slice(),
            one => std::slice::from_ref(one),
        };
        let types = names.iter().map(|name| Type::NAMES.iter().find(|(known, _)| name == known).map(|(_, one)| *one));
        let types: Option<Vec<Type>> = types.collect();
        let types = types.filter(|types| !types.is_empty());
        rules.push(SchemaRule::Types(types.ok_or_else(|| keyword.wrong("the name of a type, or an array of them"))?));
    }
    if let Some(keyword) = all.get("enum") {
        let values = keyword.value.as_array().ok_or_else(|| keyword.wrong("an array"))?.clone();
        rules.push(SchemaRule::Enum { texts: values.iter().map(same::text).collect(), values });
    }
    if let Some(Keyword { value, .. }) = all.get("const") {
        rules.push(SchemaRule::Const { text: same::text(value), value: value.clone() });
    }
    for (name, side) in [
        ("minimum", BoundSide::Minimum),
        ("maximum", BoundSide::Maximum),
        ("exclusiveMinimum", BoundSide::ExclusiveMinimum),
        ("exclusiveMaximum", BoundSide::ExclusiveMaximum),
    ] {
        if let Some(keyword) = all.get(name) {
            rules.push(SchemaRule::Bound { side, limit: keyword.number()?.clone() });
        }
    }
    if let Some(keyword) = all.get("multipleOf") {
        let divisor = keyword.number()?;
        if Amount::from_number(divisor).compare(Amount::Whole(0)).is_le() {
            return Err(keyword.wrong("more than 0"));
        }
        rules.push(SchemaRule::MultipleOf(divisor.clone()));
    }
    for (name, of, end) in [
        ("minLength", Countable::Characters, BoundEnd::Least),
        ("maxLength", Countable::Characters, BoundEnd::Most),
        ("minItems", Countable::Items, BoundEnd::Least),
        ("maxItems", Countable::Items, BoundEnd::Most),
        ("minProperties", Countable::Properties, BoundEnd::Least),
        ("maxProperties", Countable::Properties, BoundEnd::Most),
    ] {
        if let Some(keyword) = all.get(name) {
            rules.push(SchemaRule::Size { of, end, limit: keyword.count()? });
        }
    }
    Ok(())
}

impl<'s, 'p> Keywords<'s, 'p> {
    fn get(self, name: &'static str) -> Option<Keyword<'s, 'p>> {
        self.map.get(name).map(|value| Keyword { name, value, path: self.path })
    }
}

impl<'s> Keyword<'s, '_> {
    fn fault(self, what: &str) -> String {
        format!("at `{}`: {what}", self.path)
    }

    fn wrong(self, expected: &str) -> String {
        self.fault(&format!("`{}` must be {expected}, not {}", self.name, shown(self.value)))
    }

    fn string(self) -> Result<&'s str, String> {
        self.value.as_str().ok_or_else(|| self.wrong("a string"))
    }

    fn number(self) -> Result<&'s Number, String> {
        self.value.as_number().ok_or_else(|| self.wrong("a number"))
    }

    fn object(self) -> Result<&'s Map<String, Value>, String> {
        self.value.as_object().ok_or_else(|| self.wrong("an object"))
    }

    /// A whole number, which may be written `2.0`; a number larger than any count becomes the largest count.
    fn count(self) -> Result<u64, String> {
        let amount = Amount::from_number(self.number()?);
        if !amount.is_whole() || amount.compare(Amount::Whole(0)).is_lt() {
            return Err(self.wrong("a whole number, 0 or more"));
        }
        match amount {
            Amount::Whole(whole) => Ok(u64::try_from(whole).unwrap_or(u64::MAX)),
            Amount::Other(_) => Ok(u64::MAX),
        }
    }

    fn strings(self, list: &Value) -> Result<Vec<String>, String> {
        let strings =
            list.as_array().and_then(|items| items.iter().map(|item| Some(item.as_str()?.to_owned())).collect());
        strings.ok_or_else(|| {
            self.wrong(if std::ptr::eq(list, self.value) {
                "an array of strings"
            } else {
                "an object of arrays of strings"
            })
        })
    }
}

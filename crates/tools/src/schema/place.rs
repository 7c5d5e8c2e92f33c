//! The locations of a document's schemas: the resource (`$id`) that each belongs to, the schemas that anchors name, and
//! the schema that a reference leads to.

use std::collections::HashMap;

use serde_json::Value;

use super::uri;

/// The keywords whose value is a schema, a list of schemas, or an object of schemas.
const ONE: [&str; 11] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The number of a schema with an address of its own.
pub type Resource = usize;

#[derive(Debug)]
pub struct Places<'s> {
    resources: Vec<(String, &'s Value)>,
    by_uri: HashMap<String, Resource>,
    anchors: HashMap<(Resource, &'s str), &'s Value>,
    /// The anchors of `$dynamicAnchor`.
    pub dynamic: Vec<(Resource, &'s str, &'s Value)>,
    /// The resource of each schema, by memory address.
    homes: HashMap<*const Value, Resource>,
}

impl<'s> Places<'s> {
    pub fn from_schema(root: &'s Value) -> Self {
        let mut places = Places {
            resources: vec![(String::new(), root)],
            by_uri: HashMap::from([(String::new(), 0)]),
            anchors: HashMap::new(),
            dynamic: Vec::new(),
            homes: HashMap::new(),
        };
        places.enter(root, 0);
        places
    }

    pub fn home(&self, schema: &Value) -> Resource {
        self.homes.get(&std::ptr::from_ref(schema)).copied().unwrap_or_default()
    }

    /// Registers a schema and all schemas inside it.
    fn enter(&mut self, schema: &'s Value, resource: Resource) {
        let mut left = vec![(schema, resource)];
        while let Some((schema, mut home)) = left.pop() {
            let Some(keywords) = schema.as_object() else {
                self.homes.insert(schema, home);
                continue;
            };
            let text = |name: &str| keywords.get(name).and_then(Value::as_str);
            if let Some(id) = text("$id") {
                let base = self.resources.get(home).map(|(base, _)| base.as_str()).unwrap_or_default();
                let uri = uri::resolve(base, id.split('#').next().unwrap_or_default());
                home = self.resources.len();
                self.by_uri.entry(uri.clone()).or_insert(home);
                self.resources.push((uri, schema));
            }
            self.homes.insert(schema, home);
            for anchor in [text("$anchor"), text("$dynamicAnchor")].into_iter().flatten() {
                self.anchors.entry((home, anchor)).or_insert(schema);
            }
            if let Some(anchor) = text("$dynamicAnchor") {
                self.dynamic.push((home, anchor, schema));
            }
            let one = ONE.iter().filter_map(|name| keywords.get(*name));
            let list = LIST.iter().filter_map(|name| keywords.get(*name)?.as_array()).flatten();
            let named = NAMED.iter().filter_map(|name| keywords.get(*name)?.as_object()).flat_map(|map| map.values());
            left.extend(one.chain(list).chain(named).map(|inner| (inner, home)));
        }
    }

    /// The schema that a reference in a schema of `from` leads to; nothing is fetched.
    pub fn find(&mut self, from: Resource, reference: &str) -> Option<&'s Value> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let (base, _) = self.resources.get(from)?;
        let resource = *self.by_uri.get(&uri::resolve(base, address))?;
        let (_, root) = *self.resources.get(resource)?;
        let fragment = uri::decoded(fragment)?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(&(resource, fragment.as_str())).copied();
        }
        let found = root.pointer(&fragment)?;
        // Below a keyword that the draft does not define.
        if !self.homes.contains_key(&std::ptr::from_ref(found)) {
            self.enter(found, resource);
        }
        Some(found)
    }

    /// The name, if the reference leads to a `$dynamicAnchor` by name: it then refers to the outermost one with that name.
    pub fn dynamic_name(&self, reference: &str, found: &Value) -> Option<&'s str> {
        let (_, fragment) = reference.split_once('#')?;
        let named = self.dynamic.iter().find(|(_, name, schema)| std::ptr::eq(*schema, found) && *name == fragment);
        named.map(|(_, name, _)| *name)
    }
}

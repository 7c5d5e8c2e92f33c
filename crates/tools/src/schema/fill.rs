//! Adds required properties that are missing and can have only one value: a constant, or the only value of an `enum`. Nothing is
//! invented, since no other value would fit. Branches (`anyOf`, `oneOf`, `if`) are left alone: they are choices.

use serde_json::{Map, Value};

use super::rule::{NodeId, SchemaRule, SchemaTree};

/// Schemas that lead to schemas, and values in values; a schema can refer to itself.
const MAX_DEPTH: usize = 64;
/// Schemas visited.
const MAX_WORK: usize = 10_000;

/// Fills in what is missing. Returns whether something was.
pub fn fill(tree: &SchemaTree, value: &mut Value) -> bool {
    let mut fill = Fill { tree, left: MAX_WORK, filled: false };
    fill.value(0, value, MAX_DEPTH);
    fill.filled
}

struct Fill<'t> {
    tree: &'t SchemaTree,
    left: usize,
    filled: bool,
}

impl<'t> Fill<'t> {
    fn value(&mut self, id: NodeId, value: &mut Value, depth: usize) {
        if depth == 0 || self.left == 0 {
            return;
        }
        self.left -= 1;
        let rules = self.rules(id);
        for rule in rules {
            match (rule, &mut *value) {
                (SchemaRule::Ref(node), value) => self.value(*node, value, depth - 1),
                (SchemaRule::AllOf(nodes), value) => {
                    nodes.iter().for_each(|node| self.value(*node, value, depth - 1));
                }
                (SchemaRule::Required(names), Value::Object(members)) => self.required(rules, names, members),
                (SchemaRule::Items { first, others }, Value::Array(items)) => {
                    let nodes = first.iter().copied().map(Some).chain(std::iter::repeat(*others));
                    for (item, node) in items.iter_mut().zip(nodes) {
                        node.into_iter().for_each(|node| self.value(node, item, depth - 1));
                    }
                }
                _ => {}
            }
        }
        // Last, so that what was just filled in is whole.
        if let Value::Object(members) = value {
            for named in properties(rules) {
                for (name, node) in named {
                    if let Some(member) = members.get_mut(name) {
                        self.value(*node, member, depth - 1);
                    }
                }
            }
        }
    }

    fn required(&mut self, rules: &[SchemaRule], names: &[String], members: &mut Map<String, Value>) {
        for name in names.iter().filter(|name| !members.contains_key(*name)).collect::<Vec<_>>() {
            let node = properties(rules).find_map(|named| named.get(name));
            if let Some(only) = node.and_then(|node| self.only_value(*node, MAX_DEPTH)) {
                members.insert(name.clone(), only.clone());
                self.filled = true;
            }
        }
    }

    fn only_value(&self, id: NodeId, depth: usize) -> Option<&'t Value> {
        let depth = depth.checked_sub(1)?;
        self.rules(id).iter().find_map(|rule| match rule {
            SchemaRule::Const { value, .. } => Some(value),
            SchemaRule::Enum { values, .. } => match values.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            SchemaRule::Ref(node) => self.only_value(*node, depth),
            _ => None,
        })
    }

    fn rules(&self, id: NodeId) -> &'t [SchemaRule] {
        self.tree.nodes.get(id).map_or(&[], |node| &node.rules)
    }
}

fn properties(rules: &[SchemaRule]) -> impl Iterator<Item = &std::collections::BTreeMap<String, NodeId>> {
    rules.iter().filter_map(|rule| match rule {
        SchemaRule::Properties { named, .. } => Some(named),
        _ => None,
    })
}

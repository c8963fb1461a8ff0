//! JSON Schema of a configuration: what it says of a key, and whether a value fits.
//!
//! A subset of the drafts 4 to 2020-12: types, enumerations, bounds, patterns, objects, lists,
//! local references and combinations. It ignores keywords that it does not know.

mod keywords;

use std::cell::Cell;

use redaction::{Redaction, RedactionScope};

use super::tree::{ConfigNode, ConfigScalar, NodeValue, ScalarKind};
use keywords::{check_own, scalar_text, to_inline_json};

/// How many references and parts of `allOf` are followed from one schema.
const MAX_REFERENCES: usize = 64;

/// How many schemas one value is checked against, alternatives included. Schemas may refer to
/// themselves; what is left after these counts as fitting.
const MAX_CHECKS: usize = 2000;

/// What a masked value begins with. Its type is no longer that of the value.
const MASK_PREFIX: &str = "[redacted ";

/// A parsed schema.
pub(super) struct ConfigSchema(ConfigNode);

/// What a schema says of one key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SchemaNote {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    /// The default, as JSON.
    pub(super) default: Option<String>,
    /// The allowed values, as JSON.
    pub(super) allowed: Vec<String>,
    /// Why the value does not fit. Never holds the value.
    pub(super) faults: Vec<String>,
}

/// The terms of checking one value.
struct CheckTerms {
    /// Other layers may have the keys that are missing.
    is_partial: bool,
    checks_left: Cell<usize>,
}

/// The schemas of one place in a configuration.
#[derive(Default)]
struct PlaceSchemas<'a> {
    /// All of these must hold.
    all: Vec<&'a ConfigNode>,
    /// One of each group must hold.
    groups: Vec<Vec<&'a ConfigNode>>,
    /// A schema says that no key may be here.
    is_forbidden: bool,
}

impl ConfigSchema {
    pub(super) fn new(root: ConfigNode) -> Self {
        Self(root)
    }

    /// What the schema says of the value at `keys` of the configuration `root`. `is_partial` says
    /// that other layers may have the keys that are missing.
    /// What is secret at `keys` is masked by `redaction`: the schema itself holds values too.
    pub(super) fn note(
        &self,
        root: &ConfigNode,
        keys: &[String],
        is_partial: bool,
        redaction: &Redaction,
    ) -> SchemaNote {
        let mut places = PlaceSchemas { all: vec![&self.0], ..PlaceSchemas::default() };
        for key in keys {
            places = self.step(&places, key);
        }
        let node = root.descend(keys);
        let mut note = SchemaNote::default();
        for schema in self.expand(&places) {
            describe(schema, &mut note, &|value| masked_json(value, keys, redaction));
        }
        if redaction.scope() != RedactionScope::Off {
            for text in [&mut note.title, &mut note.description].into_iter().flatten() {
                // Words are under no key: only what looks like a secret is one.
                *text = redaction.redactor().mask_value(&[], text).unwrap_or(std::mem::take(text));
            }
        }
        let Some(node) = node.filter(|node| !is_masked(node)) else { return note };
        if places.is_forbidden {
            note.faults.push("the schema has no such key".to_owned());
        }
        let terms = CheckTerms { is_partial, checks_left: Cell::new(MAX_CHECKS) };
        for schema in &places.all {
            self.find_faults(schema, node, &terms, &mut note.faults);
        }
        let terms = CheckTerms { is_partial: true, ..terms };
        let fits = |schema: &&ConfigNode| self.fits(schema, node, &terms);
        if places.groups.iter().any(|group| !group.iter().any(fits)) {
            note.faults.push("fits none of the alternatives of the schema".to_owned());
        }
        note.faults.dedup();
        note
    }

    /// The schemas of the child under `key`.
    fn step<'a>(&'a self, places: &PlaceSchemas<'a>, key: &str) -> PlaceSchemas<'a> {
        let mut below = PlaceSchemas::default();
        for schema in self.resolve_all(&places.all) {
            below.is_forbidden |= self.step_one(schema, key, &mut below.all);
            for name in ["anyOf", "oneOf"] {
                let Some(alternatives) = schema.child(name) else { continue };
                let mut group = Vec::new();
                for (_, alternative) in alternatives.children() {
                    for schema in self.resolve_all(&[alternative]) {
                        self.step_one(schema, key, &mut group);
                    }
                }
                below.groups.extend((!group.is_empty()).then_some(group));
            }
        }
        for group in &places.groups {
            let mut next = Vec::new();
            for schema in self.resolve_all(group) {
                self.step_one(schema, key, &mut next);
            }
            below.groups.extend((!next.is_empty()).then_some(next));
        }
        below
    }

    /// Adds the schemas that `schema` itself has for `key`. True if it forbids the key.
    fn step_one<'a>(
        &'a self,
        schema: &'a ConfigNode,
        key: &str,
        into: &mut Vec<&'a ConfigNode>,
    ) -> bool {
        if let Ok(index) = key.parse::<usize>() {
            let tuple = schema.child("prefixItems").or_else(|| schema.child("items"));
            let tuple = tuple.filter(|items| matches!(items.value, NodeValue::List(_)));
            let own = tuple.and_then(|items| items.child(key));
            let is_single = |items: &&ConfigNode| matches!(items.value, NodeValue::Table(_));
            let rest = schema.child("items").filter(is_single);
            let rest = rest.filter(|_| tuple.is_none_or(|tuple| index >= tuple.len()));
            into.extend(own.or(rest));
        }
        if let Some(own) = schema.child("properties").and_then(|all| all.child(key)) {
            into.push(own);
            return false;
        }
        if let Some(NodeValue::Table(patterns)) =
            schema.child("patternProperties").map(|all| &all.value)
        {
            let known = into.len();
            let fits = |(pattern, _): &(&String, &ConfigNode)| keywords::matches(pattern, key);
            into.extend(patterns.iter().filter(fits).map(|(_, schema)| schema));
            if into.len() > known {
                return false;
            }
        }
        match schema.child("additionalProperties") {
            Some(other) if is_false(other) => true,
            Some(other) => {
                into.push(other);
                false
            }
            None => false,
        }
    }

    /// The schemas of a place with those of its groups, for descriptions.
    fn expand<'a>(&'a self, places: &PlaceSchemas<'a>) -> Vec<&'a ConfigNode> {
        let all = places.all.iter().chain(places.groups.iter().flatten()).copied();
        self.resolve_all(&all.collect::<Vec<_>>())
    }

    /// The schemas with what they refer to, and all parts of `allOf`.
    fn resolve_all<'a>(&'a self, schemas: &[&'a ConfigNode]) -> Vec<&'a ConfigNode> {
        let mut open: Vec<&ConfigNode> = schemas.iter().rev().copied().collect();
        let mut resolved: Vec<&ConfigNode> = Vec::new();
        while let Some(schema) = open.pop() {
            if resolved.len() >= MAX_REFERENCES {
                break;
            }
            if resolved.iter().any(|known| std::ptr::eq(*known, schema)) {
                continue;
            }
            resolved.push(schema);
            let parts = schema.child("allOf").into_iter().flat_map(ConfigNode::children);
            open.extend(parts.map(|(_, part)| part));
            open.extend(self.referred(schema));
        }
        resolved
    }

    /// What `$ref` points to, inside this schema.
    fn referred<'a>(&'a self, schema: &'a ConfigNode) -> Option<&'a ConfigNode> {
        let pointer = scalar_text(schema.child("$ref")?)?.strip_prefix('#')?;
        if pointer.is_empty() {
            return Some(&self.0);
        }
        let keys = pointer.strip_prefix('/')?.split('/').map(|key| {
            let decoded = resource::uri::percent_decode(key);
            String::from_utf8_lossy(&decoded).replace("~1", "/").replace("~0", "~")
        });
        self.0.descend(&keys.collect::<Vec<_>>())
    }

    /// Adds why `node` itself does not fit `schema`; its children have faults of their own.
    fn find_faults(
        &self,
        schema: &ConfigNode,
        node: &ConfigNode,
        terms: &CheckTerms,
        into: &mut Vec<String>,
    ) {
        for schema in self.resolve_all(&[schema]) {
            let Some(left) = terms.checks_left.get().checked_sub(1) else { return };
            terms.checks_left.set(left);
            check_own(schema, node, terms.is_partial, into);
            for name in ["anyOf", "oneOf"] {
                let Some(all) = schema.child(name).filter(|all| all.len() > 0) else { continue };
                if !all.children().any(|(_, one)| self.fits(one, node, terms)) {
                    into.push("fits none of the alternatives of the schema".to_owned());
                }
            }
        }
    }

    /// Whether `node` itself fits `schema`.
    fn fits(&self, schema: &ConfigNode, node: &ConfigNode, terms: &CheckTerms) -> bool {
        let mut faults = Vec::new();
        self.find_faults(schema, node, terms, &mut faults);
        faults.is_empty()
    }
}

/// Adds what `schema` says, unless an earlier one said it. `write` makes JSON of a value.
fn describe(schema: &ConfigNode, note: &mut SchemaNote, write: &dyn Fn(&ConfigNode) -> String) {
    let text = |name: &str| scalar_text(schema.child(name)?).map(str::to_owned);
    note.title = note.title.take().or_else(|| text("title"));
    note.description = note.description.take().or_else(|| text("description"));
    note.default = note.default.take().or_else(|| schema.child("default").map(write));
    if note.allowed.is_empty() {
        let listed = schema.child("enum").into_iter().flat_map(ConfigNode::children);
        let listed = listed.map(|(_, value)| value).chain(schema.child("const"));
        note.allowed = listed.map(write).collect();
    }
}

/// The JSON of a value of the schema that stands for the value at `keys`, masked like that.
fn masked_json(value: &ConfigNode, keys: &[String], redaction: &Redaction) -> String {
    if redaction.scope() == RedactionScope::Off {
        return to_inline_json(value);
    }
    let mut value = value.clone();
    mask_node(&mut value, &mut keys.to_vec(), redaction);
    to_inline_json(&value)
}

fn mask_node(node: &mut ConfigNode, keys: &mut Vec<String>, redaction: &Redaction) {
    if let Some(text) = scalar_text(node) {
        let path: Vec<&str> = keys.iter().map(String::as_str).collect();
        if let Some(mask) = redaction.redactor().mask_value(&path, text) {
            *node = ConfigNode::text(node.line as usize, mask);
        }
        return;
    }
    let names: Vec<String> = node.children().map(|(key, _)| key).collect();
    let mut names = names.into_iter();
    node.each_child(&mut |child| {
        keys.extend(names.next());
        mask_node(child, keys, redaction);
        keys.pop();
    });
}

impl SchemaNote {
    /// What a description says of the key beside title and description, as JSON.
    pub(super) fn to_json(&self) -> Option<String> {
        let mut members = Vec::new();
        members.extend(self.default.as_ref().map(|json| format!(r#""default":{json}"#)));
        if !self.allowed.is_empty() {
            members.push(format!(r#""allowed":[{}]"#, self.allowed.join(",")));
        }
        if !self.faults.is_empty() {
            let faults: Vec<String> =
                self.faults.iter().map(|fault| super::tree::json_string(fault)).collect();
            members.push(format!(r#""faults":[{}]"#, faults.join(",")));
        }
        (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
    }
}

fn is_false(schema: &ConfigNode) -> bool {
    matches!(&schema.value, NodeValue::Scalar(ConfigScalar { kind: ScalarKind::Bool(false), .. }))
}

fn is_masked(node: &ConfigNode) -> bool {
    scalar_text(node).is_some_and(|text| text.starts_with(MASK_PREFIX))
}

/// The path of the schema that a file names: `$schema` at its top, or a comment in one of its
/// first lines. `None` for a schema that is not on disk beside it.
pub(super) fn named_schema(path: &str, text: &str, tree: &ConfigNode) -> Option<String> {
    let named = tree.child("$schema").and_then(scalar_text);
    let comment = || {
        text.lines().take(10).find_map(|line| {
            let note = line.trim().strip_prefix('#')?;
            let named = note.strip_prefix(":schema ").or_else(|| {
                note.trim().strip_prefix("yaml-language-server:")?.trim().strip_prefix("$schema=")
            });
            named.map(str::trim)
        })
    };
    let named = named.or_else(comment)?.split('#').next()?;
    let named = named.strip_prefix("file:").unwrap_or(named);
    if named.is_empty() || named.contains("://") || named.starts_with('/') {
        return None;
    }
    let mut names: Vec<&str> = path.split('/').collect();
    names.pop();
    for name in named.split('/') {
        match name {
            "." | "" => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

#[cfg(test)]
mod tests;

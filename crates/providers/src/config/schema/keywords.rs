//! Keywords of a JSON Schema that one value is checked against.

use std::sync::OnceLock;

use machinery::{Cache, CacheBounds};
use regex_automata::meta::{Config, Regex};

use super::super::tree::{ConfigNode, ConfigScalar, NodeValue, ScalarKind};

/// The longest pattern, and the memory that a compiled one may take.
const MAX_PATTERN_BYTES: usize = 1024;
const MAX_PATTERN_MEMORY: usize = 1 << 20;

/// Patterns that are kept compiled.
const PATTERNS: usize = 256;

/// Adds why `node` does not fit the keywords of `schema` about itself.
pub(super) fn check_own(
    schema: &ConfigNode,
    node: &ConfigNode,
    is_partial: bool,
    faults: &mut Vec<String>,
) {
    check_type(schema, node, faults);
    check_values(schema, node, faults);
    check_range(schema, node, faults);
    if is_partial {
        return;
    }
    if let (Some(required), NodeValue::Table(table)) = (schema.child("required"), &node.value) {
        for (_, name) in required.children() {
            let Some(name) = scalar_text(name) else { continue };
            if !table.contains_key(name) {
                faults.push(format!("the key {name} is missing"));
            }
        }
    }
}

fn check_type(schema: &ConfigNode, node: &ConfigNode, faults: &mut Vec<String>) {
    let Some(types) = schema.child("type") else { return };
    let names: Vec<&str> = match &types.value {
        NodeValue::List(names) => names.iter().filter_map(scalar_text).collect(),
        _ => scalar_text(types).into_iter().collect(),
    };
    if !names.is_empty() && !names.iter().any(|name| has_type(node, name)) {
        faults.push(format!("must be of type {}", names.join(" or ")));
    }
}

fn has_type(node: &ConfigNode, name: &str) -> bool {
    match (&node.value, name) {
        (NodeValue::Table(_), "object") | (NodeValue::List(_), "array") => true,
        (NodeValue::Scalar(scalar), _) => match (&scalar.kind, name) {
            (ScalarKind::Null, "null")
            | (ScalarKind::Bool(_), "boolean")
            | (ScalarKind::Text, "string")
            | (ScalarKind::Number(_), "number") => true,
            (ScalarKind::Number(json), "integer") => {
                json.parse::<f64>().is_ok_and(|number| number.fract() == 0.0)
            }
            _ => false,
        },
        _ => false,
    }
}

fn check_values(schema: &ConfigNode, node: &ConfigNode, faults: &mut Vec<String>) {
    if let Some(allowed) = schema.child("enum")
        && !allowed.children().any(|(_, value)| is_equal(value, node))
    {
        faults.push("must be one of the allowed values".to_owned());
    }
    if let Some(constant) = schema.child("const")
        && !is_equal(constant, node)
    {
        faults.push("must be the allowed value".to_owned());
    }
}

/// Whether two values are equal; numbers by value.
fn is_equal(one: &ConfigNode, two: &ConfigNode) -> bool {
    match (number(one), number(two)) {
        (Some(one), Some(two)) => (one - two).abs() <= f64::EPSILON * one.abs(),
        _ => to_inline_json(one) == to_inline_json(two),
    }
}

fn check_range(schema: &ConfigNode, node: &ConfigNode, faults: &mut Vec<String>) {
    let limit = |name: &str| number(schema.child(name)?);
    if let Some(own) = number(node) {
        let mut check = |name: &str, is_bad: fn(f64, f64) -> bool, words: &str| {
            if let Some(limit) = limit(name).filter(|limit| is_bad(own, *limit)) {
                faults.push(format!("must be {words} {limit}"));
            }
        };
        check("minimum", |own, limit| own < limit, "at least");
        check("maximum", |own, limit| own > limit, "at most");
        check("exclusiveMinimum", |own, limit| own <= limit, "over");
        check("exclusiveMaximum", |own, limit| own >= limit, "below");
        return;
    }
    let (length, names, unit) = match &node.value {
        NodeValue::List(items) => (items.len(), ["minItems", "maxItems"], "items"),
        NodeValue::Table(table) => (table.len(), ["minProperties", "maxProperties"], "keys"),
        NodeValue::Scalar(ConfigScalar { kind: ScalarKind::Text, text }) => {
            if let Some(pattern) = schema.child("pattern").and_then(scalar_text)
                && !matches(pattern, text)
            {
                faults.push(format!("must match the pattern {pattern}"));
            }
            (text.chars().count(), ["minLength", "maxLength"], "characters")
        }
        NodeValue::Scalar(_) => return,
    };
    if let Some(limit) = limit(names[0]).filter(|limit| (length as f64) < *limit) {
        faults.push(format!("must have at least {limit} {unit}"));
    }
    if let Some(limit) = limit(names[1]).filter(|limit| length as f64 > *limit) {
        faults.push(format!("must have at most {limit} {unit}"));
    }
}

/// Whether `pattern` is found in `text`. A pattern that is none here fits everything.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    static COMPILED: OnceLock<Cache<String, Option<Regex>>> = OnceLock::new();
    if pattern.len() > MAX_PATTERN_BYTES {
        return true;
    }
    let cache = COMPILED.get_or_init(|| Cache::new(CacheBounds::entries(PATTERNS)));
    let compiled = cache.get(pattern).unwrap_or_else(|| {
        let config = Config::new().nfa_size_limit(Some(MAX_PATTERN_MEMORY));
        let config = config.hybrid_cache_capacity(MAX_PATTERN_MEMORY);
        let regex = Regex::builder().configure(config).build(pattern).ok();
        cache.insert(pattern.to_owned(), regex.clone(), 1);
        regex
    });
    compiled.is_none_or(|regex| regex.is_match(text))
}

/// The text of a scalar.
pub(super) fn scalar_text(node: &ConfigNode) -> Option<&str> {
    match &node.value {
        NodeValue::Scalar(scalar) => Some(&scalar.text),
        NodeValue::List(_) | NodeValue::Table(_) => None,
    }
}

fn number(node: &ConfigNode) -> Option<f64> {
    match &node.value {
        NodeValue::Scalar(ConfigScalar { kind: ScalarKind::Number(json), .. }) => json.parse().ok(),
        _ => None,
    }
}

/// The JSON of a value on one line.
pub(super) fn to_inline_json(node: &ConfigNode) -> String {
    node.to_json().lines().map(str::trim_start).collect()
}

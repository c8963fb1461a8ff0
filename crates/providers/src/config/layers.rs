//! Layers: trees of files and variables, merged in order into the effective configuration.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use bytes::Bytes;
use indexmap::IndexMap;
use redaction::{Redaction, RedactionScope};
use resource::{Error, Result};

use super::document::ConfigDocument;
use super::options::{ConfigLayer, LayerSource};
use super::parse::MAX_DEPTH;
use super::tree::{ConfigNode, NodeValue, ScalarKind, json_number, json_string};
use crate::memory_content::content_fingerprint;

/// The values of one layer.
#[derive(Clone)]
pub(super) enum LayerValues {
    /// A file; `None` while there is none.
    File(Option<Arc<ConfigDocument>>),
    Variables(Arc<VariableTree>),
}

/// The tree of a layer of environment variables.
pub(super) struct VariableTree {
    root: ConfigNode,
    /// The names, by the line of their nodes, counted from 1.
    names: Vec<String>,
}

/// All layers, and what they merge into.
pub(super) struct MergedLayers {
    names: Vec<String>,
    values: Vec<LayerValues>,
    pub(super) root: ConfigNode,
    normalised: OnceLock<Bytes>,
    /// Changes with every file of a layer.
    pub(super) etag: Option<String>,
    pub(super) modified: Option<SystemTime>,
}

impl MergedLayers {
    /// Merges `values`, one for each of `layers`, in order.
    pub(super) fn merge(layers: &[ConfigLayer], values: Vec<LayerValues>) -> Result<Self> {
        let mut root = ConfigNode::new(0, NodeValue::Table(IndexMap::new()));
        let mut modified = None;
        for (at, (layer, values)) in layers.iter().zip(&values).enumerate() {
            let Some(tree) = values.tree()? else { continue };
            let mut tree = tree.clone();
            match tree.value {
                NodeValue::Table(_) => {}
                _ if is_null(&tree) => continue,
                _ => {
                    let message = format!("the layer {} is not a table of keys", layer.name);
                    return Err(Error::invalid(message));
                }
            }
            tree.set_layer(u16::try_from(at).unwrap_or(u16::MAX));
            merge_node(&mut root, tree);
            if let LayerValues::File(Some(document)) = values {
                modified = modified.max(document.modified);
            }
        }
        let names = layers.iter().map(|layer| layer.name.clone()).collect();
        let etag = combined_etag(&values);
        Ok(Self { names, values, root, normalised: OnceLock::new(), etag, modified })
    }

    /// Whether these are the merged layers of `values`.
    pub(super) fn is_of(&self, values: &[LayerValues]) -> bool {
        self.values.len() == values.len()
            && self.values.iter().zip(values).all(|(one, two)| one.is_same(two))
    }

    /// Whether these are layers that a principal may see while another sees `newer`: the same versions
    /// of files, and not of the same files.
    pub(super) fn may_stay_beside(&self, newer: &Self) -> bool {
        let mut both = self.values.iter().zip(&newer.values);
        let is_current = both.all(|(own, other)| match (own, other) {
            (LayerValues::File(None), _) | (_, LayerValues::File(None)) => true,
            _ => own.is_same(other),
        });
        is_current && !self.is_of(&newer.values)
    }

    /// The normalised JSON of the effective configuration.
    pub(super) fn normalised(&self) -> &Bytes {
        self.normalised.get_or_init(|| self.root.to_json().into())
    }

    /// The positions of the two layers that `text` names, such as `base.toml..prod.toml`, among those
    /// that are seen.
    pub(super) fn find_pair(
        layers: &[ConfigLayer],
        text: &str,
        is_seen: impl Fn(&ConfigLayer) -> bool,
    ) -> Option<(usize, usize)> {
        let find =
            |name: &str| layers.iter().position(|layer| layer.name == name && is_seen(layer));
        let splits = text.match_indices("..");
        splits
            .into_iter()
            .find_map(|(at, dots)| Some((find(&text[..at])?, find(&text[at + dots.len()..])?)))
    }

    /// The tree of one layer; empty, if it has none.
    pub(super) fn layer_tree(&self, layer: usize) -> Result<Option<&ConfigNode>> {
        self.values[layer].tree()
    }

    /// Where the value of `node` of the layer at `layer` stands, as JSON.
    pub(super) fn origin_json(&self, node: &ConfigNode, layer: usize) -> Option<String> {
        let name = json_string(self.names.get(layer)?);
        match &self.values[layer] {
            LayerValues::File(document) => {
                let file = json_string(&document.as_ref()?.path);
                Some(format!(r#"{{"file":{file},"line":{},"layer":{name}}}"#, node.line))
            }
            LayerValues::Variables(tree) => {
                let at = (node.line as usize).checked_sub(1)?;
                let variable = json_string(tree.names.get(at)?);
                Some(format!(r#"{{"variable":{variable},"layer":{name}}}"#))
            }
        }
    }
}

impl MergedLayers {
    /// Where the value of `node` of the layer at `layer` stands, in short: `prod.toml:3`.
    pub(super) fn origin_text(&self, node: &ConfigNode, layer: usize) -> Option<String> {
        match &self.values[layer] {
            LayerValues::File(document) => {
                Some(format!("{}:{}", document.as_ref()?.path, node.line))
            }
            LayerValues::Variables(tree) => {
                tree.names.get((node.line as usize).checked_sub(1)?).cloned()
            }
        }
    }
}

impl LayerValues {
    fn tree(&self) -> Result<Option<&ConfigNode>> {
        match self {
            Self::File(None) => Ok(None),
            Self::File(Some(document)) => document.tree().map(Some),
            Self::Variables(tree) => Ok(Some(&tree.root)),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(None), Self::File(None)) => true,
            (Self::File(Some(one)), Self::File(Some(two))) => Arc::ptr_eq(one, two),
            (Self::Variables(one), Self::Variables(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }
}

impl VariableTree {
    /// The tree of variables: `APP_DB__HOST` with the prefix `APP_` is `db.host`.
    pub(super) fn new(
        prefix: &str,
        values: &BTreeMap<String, String>,
        redaction: &Redaction,
    ) -> Self {
        let mut root = ConfigNode::new(0, NodeValue::Table(IndexMap::new()));
        let mut names = Vec::new();
        for (name, value) in values {
            let bare = name.strip_prefix(prefix).unwrap_or(name).to_lowercase();
            let keys: Vec<&str> = bare.split("__").collect();
            if keys.len() > MAX_DEPTH || keys.iter().any(|key| key.is_empty()) {
                continue;
            }
            names.push(name.clone());
            let node = match mask_variable(name, &keys, value, redaction) {
                Some(mask) => ConfigNode::text(names.len(), mask),
                None => variable_node(names.len(), value),
            };
            insert_at(&mut root, &keys, node);
        }
        Self { root, names }
    }

    /// The values of a layer that needs no file.
    pub(super) fn of_layer(source: &LayerSource, redaction: &Redaction) -> Option<Arc<Self>> {
        match source {
            LayerSource::File(_) => None,
            LayerSource::Variables { prefix, values } => {
                Some(Arc::new(Self::new(prefix, values, redaction)))
            }
        }
    }
}

/// The masked form of a variable's value; `None` if it is shown. The prefix that a layer cuts off
/// may be what names a secret, so the whole name counts as well as the keys.
fn mask_variable(name: &str, keys: &[&str], value: &str, redaction: &Redaction) -> Option<String> {
    let redactor = redaction.redactor();
    if redaction.scope() == RedactionScope::Off || redactor.reveals(keys) {
        return None;
    }
    redactor.mask_value(keys, value).or_else(|| redactor.mask_value(&[name], value))
}

/// The node of one variable: a number or boolean where its text is one, else a string.
fn variable_node(line: usize, value: &str) -> ConfigNode {
    match value {
        "true" | "false" => ConfigNode::scalar(line, ScalarKind::Bool(value == "true"), value),
        // Only what is a number in JSON already: `007` and `+49` are texts.
        _ if json_number(value).is_some_and(|json| json == value) => {
            ConfigNode::number(line, value)
        }
        _ => ConfigNode::text(line, value),
    }
}

/// Puts `node` at `keys`; a later name replaces what stands in its way.
fn insert_at(root: &mut ConfigNode, keys: &[&str], node: ConfigNode) {
    let Some((last, folders)) = keys.split_last() else { return };
    let mut table = root;
    for key in folders {
        let empty = || ConfigNode { value: NodeValue::Table(IndexMap::new()), ..node.clone() };
        let NodeValue::Table(entries) = &mut table.value else { return };
        let child = entries.entry((*key).to_owned()).or_insert_with(empty);
        if child.is_scalar() {
            *child = empty();
        }
        table = child;
    }
    if let NodeValue::Table(entries) = &mut table.value {
        entries.insert((*last).to_owned(), node);
    }
}

/// One etag for the files of all layers; `None` if one of them has none.
fn combined_etag(values: &[LayerValues]) -> Option<String> {
    let etags = values.iter().map(|values| match values {
        LayerValues::File(Some(document)) => document.etag.as_deref(),
        LayerValues::File(None) | LayerValues::Variables(_) => Some(""),
    });
    let etags: Vec<&str> = etags.collect::<Option<_>>()?;
    Some(content_fingerprint(etags.join(" ").as_bytes()))
}

fn is_null(node: &ConfigNode) -> bool {
    matches!(&node.value, NodeValue::Scalar(scalar) if scalar.kind == ScalarKind::Null)
}

/// Merges tables key by key; anything else takes the place of what was there.
fn merge_node(base: &mut ConfigNode, over: ConfigNode) {
    let (line, layer) = (over.line, over.layer);
    match (&mut base.value, over.value) {
        (NodeValue::Table(base_table), NodeValue::Table(table)) => {
            for (key, node) in table {
                match base_table.get_mut(&key) {
                    Some(known) => merge_node(known, node),
                    None => {
                        base_table.insert(key, node);
                    }
                }
            }
        }
        (value, over) => *value = over,
    }
    (base.line, base.layer) = (line, layer);
}

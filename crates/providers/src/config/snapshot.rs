//! Snapshot of a configuration mount, and what changed between two of them, key by key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use resource::{Context, Result};

use super::document::ConfigDocument;
use super::layers::MergedLayers;
use super::options::{ConfigLayer, LayerSource};
use super::place::ConfigPlace;
use super::schema::ConfigSchema;
use super::source::{ConfigSource, MAX_SCHEMAS, given_etag};
use super::tree::ConfigNode;

/// The weight of the files that one snapshot holds. Of the others it knows only whether they
/// changed.
const MAX_WEIGHT: usize = 64 << 20;

/// How many keys are told when a schema changes.
const MAX_DESCRIBED: usize = 10_000;

/// The state of a mount at one moment.
#[derive(Default)]
pub(super) struct ConfigSnapshot {
    files: BTreeMap<String, FileState>,
    merged: Option<Arc<MergedLayers>>,
    /// The schema of the mount, which describes the merged layers.
    schema: Option<Arc<ConfigSchema>>,
    /// The paths of all schemas that files have.
    pub(super) schema_paths: BTreeSet<String>,
}

struct FileState {
    etag: Option<String>,
    /// The file, if there is room for it.
    document: Option<Arc<ConfigDocument>>,
    /// The last version that could be parsed.
    parsed: Option<Arc<ConfigDocument>>,
    schema: Option<Arc<ConfigSchema>>,
}

/// What happened to one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlaceChange {
    pub(super) place: ConfigPlace,
    /// The collection that it is a member of.
    pub(super) parent: ConfigPlace,
    pub(super) is_removed: bool,
}

/// Everything that changed between two snapshots.
#[derive(Default)]
pub(super) struct ConfigChanges {
    pub(super) places: Vec<PlaceChange>,
    /// Resources came or went.
    pub(super) listing: bool,
}

impl ConfigSnapshot {
    /// The state now, as the principal sees it. What cannot be read is taken over from `before`.
    pub(super) async fn take(
        source: &ConfigSource,
        ctx: &Context,
        before: Option<&Self>,
    ) -> Result<Self> {
        let mut snapshot = Self::default();
        let mut weight = 0;
        for (path, file) in source.list_files(ctx).await? {
            let known = before.and_then(|before| before.files.get(&path));
            let document =
                if weight < MAX_WEIGHT { source.load(ctx, &path).await.ok() } else { None };
            weight += document.as_ref().map_or(0, |document| document.weight);
            let etag = match &document {
                Some(document) => document.etag.clone(),
                None => given_etag(&file, &source.redaction),
            };
            let parsed = document.as_ref().filter(|document| document.tree().is_ok()).cloned();
            let parsed = parsed.or_else(|| known?.parsed.clone());
            let mut schema = None;
            if let Some(document) = &document
                && let Some(path) = source.schema_path(document)
                && snapshot.schema_paths.len() < MAX_SCHEMAS
            {
                schema = source.schema_of(ctx, document).await;
                snapshot.schema_paths.insert(path);
            }
            snapshot.files.insert(path, FileState { etag, document, parsed, schema });
        }
        snapshot.schema = source.own_schema(ctx).await;
        snapshot.schema_paths.extend(source.schema.clone());
        if !source.layers.is_empty() {
            let merged = source.load_layers(ctx).await.ok();
            snapshot.merged = merged.or_else(|| before?.merged.clone());
        }
        Ok(snapshot)
    }

    /// What is different in `now`, where these layers are seen.
    pub(super) fn changes_to(&self, now: &Self, layers: &[&ConfigLayer]) -> ConfigChanges {
        let mut changes = ConfigChanges::default();
        let mut touched = BTreeSet::new();
        let paths: BTreeSet<&String> = self.files.keys().chain(now.files.keys()).collect();
        for path in paths {
            let (old, new) = (self.files.get(path), now.files.get(path));
            if let Some((old, new)) = old.zip(new)
                && old.is_same(new)
            {
                if !is_same_schema(old.schema.as_ref(), new.schema.as_ref()) {
                    let place = |keys: &[String]| ConfigPlace::of_keys(path, keys);
                    changes.add_described(new.tree(), &mut Vec::new(), &place);
                }
                continue;
            }
            touched.insert(path.as_str());
            changes.add_file(path, old, new);
        }
        if touched.iter().any(|path| is_layer(layers, path)) {
            changes.add_layers((self.merged.as_deref(), now.merged.as_deref()), layers, &touched);
        } else if !is_same_schema(self.schema.as_ref(), now.schema.as_ref()) {
            let place = |keys: &[String]| ConfigPlace::Effective(keys.to_vec());
            let root = now.merged.as_ref().map(|merged| &merged.root);
            changes.add_described(root, &mut Vec::new(), &place);
        }
        changes
    }
}

impl FileState {
    fn is_same(&self, other: &Self) -> bool {
        match (&self.document, &other.document) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two) || one.text == two.text,
            _ => self.etag.is_some() && self.etag == other.etag,
        }
    }

    fn tree(&self) -> Option<&ConfigNode> {
        self.parsed.as_ref()?.tree().ok()
    }
}

impl ConfigChanges {
    fn add(&mut self, place: ConfigPlace, parent: ConfigPlace, is_removed: bool) {
        self.places.push(PlaceChange { place, parent, is_removed });
    }

    fn add_file(&mut self, path: &str, old: Option<&FileState>, new: Option<&FileState>) {
        let is_removed = new.is_none();
        if old.is_none() || is_removed {
            self.listing = true;
            self.add(ConfigPlace::AllKeys, ConfigPlace::Root, false);
            self.add(ConfigPlace::Root, ConfigPlace::Root, false);
        }
        self.add(ConfigPlace::File(path.to_owned()), ConfigPlace::Root, is_removed);
        let root = ConfigPlace::of_keys(path, &[]);
        self.add(root, ConfigPlace::AllKeys, is_removed);
        let trees = (old.and_then(FileState::tree), new.and_then(FileState::tree));
        self.compare_children(trees, &mut Vec::new(), &|keys| ConfigPlace::of_keys(path, keys));
    }

    fn add_layers(
        &mut self,
        merged: (Option<&MergedLayers>, Option<&MergedLayers>),
        layers: &[&ConfigLayer],
        touched: &BTreeSet<&str>,
    ) {
        let roots = (merged.0.map(|merged| &merged.root), merged.1.map(|merged| &merged.root));
        let is_same = matches!(roots, (Some(old), Some(new)) if old.has_value_of(new));
        if !is_same {
            let effective = ConfigPlace::Effective(Vec::new());
            self.add(effective, ConfigPlace::Root, false);
            let place = |keys: &[String]| ConfigPlace::Effective(keys.to_vec());
            self.compare_children(roots, &mut Vec::new(), &place);
        }
        let is_touched = |layer: &ConfigLayer| matches!(&layer.source, LayerSource::File(path) if touched.contains(path.as_str()));
        for from in layers {
            for to in layers.iter().filter(|to| to.name != from.name) {
                if is_touched(from) || is_touched(to) {
                    let place = ConfigPlace::Diff(format!("{}..{}", from.name, to.name));
                    self.add(place, ConfigPlace::AllDiffs, false);
                }
            }
        }
    }

    /// Adds all keys below `keys`: what a schema says of them may differ, and their values do not.
    fn add_described(
        &mut self,
        node: Option<&ConfigNode>,
        keys: &mut Vec<String>,
        place: &dyn Fn(&[String]) -> ConfigPlace,
    ) {
        for (key, child) in node.into_iter().flat_map(ConfigNode::children) {
            if self.places.len() >= MAX_DESCRIBED {
                return;
            }
            let parent = place(keys);
            keys.push(key);
            self.add(place(keys), parent, false);
            self.add_described(Some(child), keys, place);
            keys.pop();
        }
    }

    /// Adds the keys below `keys` whose values differ, each with its parents.
    fn compare_children(
        &mut self,
        (old, new): (Option<&ConfigNode>, Option<&ConfigNode>),
        keys: &mut Vec<String>,
        place: &dyn Fn(&[String]) -> ConfigPlace,
    ) {
        let old_children = old.into_iter().flat_map(ConfigNode::children);
        for (key, before) in old_children {
            let after = new.and_then(|new| new.child(&key));
            if after.is_some_and(|after| after.has_value_of(before)) {
                continue;
            }
            self.add_key(key, (Some(before), after), keys, place);
        }
        let new_children = new.into_iter().flat_map(ConfigNode::children);
        for (key, after) in new_children {
            if old.is_none_or(|old| old.child(&key).is_none()) {
                self.add_key(key, (None, Some(after)), keys, place);
            }
        }
    }

    fn add_key(
        &mut self,
        key: String,
        (old, new): (Option<&ConfigNode>, Option<&ConfigNode>),
        keys: &mut Vec<String>,
        place: &dyn Fn(&[String]) -> ConfigPlace,
    ) {
        let parent = place(keys);
        self.listing |= old.is_none() || new.is_none();
        keys.push(key);
        self.add(place(keys), parent, new.is_none());
        self.compare_children((old, new), keys, place);
        keys.pop();
    }
}

/// A schema is parsed once for each version of its file.
fn is_same_schema(old: Option<&Arc<ConfigSchema>>, new: Option<&Arc<ConfigSchema>>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => Arc::ptr_eq(old, new),
        (old, new) => old.is_none() && new.is_none(),
    }
}

fn is_layer(layers: &[&ConfigLayer], path: &str) -> bool {
    layers.iter().any(|layer| matches!(&layer.source, LayerSource::File(own) if own == path))
}

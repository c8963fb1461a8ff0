//! Items of a configuration mount: what a URI names, found and described.

use std::sync::Arc;

use resource::{Context, Error, ErrorKind, Resource, Result, Uri};

use super::ConfigFiles;
use super::describe::{
    KeyFacts, describe_difference, describe_file, describe_fixed, describe_key, describe_key_tree,
};
use super::document::ConfigDocument;
use super::layers::MergedLayers;
use super::place::ConfigPlace;
use super::schema::ConfigSchema;
use super::source::given_etag;
use super::tree::{ConfigNode, json_string};

/// What a URI names.
pub(super) enum ConfigItem {
    /// A collection without content.
    Fixed(ConfigPlace),
    File {
        path: String,
        file: Arc<Resource>,
    },
    /// The key tree of a whole file.
    KeyTree {
        path: String,
        file: Arc<Resource>,
    },
    /// A value in a file.
    Key(KeyItem),
    /// The effective configuration as a whole; without layers, if one cannot be read.
    Effective(Option<Arc<MergedLayers>>),
    /// A value of the effective configuration.
    EffectiveKey(EffectiveItem),
    /// The difference between the layers at these positions.
    Difference {
        name: String,
        from: usize,
        to: usize,
        layers: Option<Arc<MergedLayers>>,
    },
}

/// A value in a file, at keys that exist; the root has none.
pub(super) struct KeyItem {
    pub(super) document: Arc<ConfigDocument>,
    pub(super) schema: Option<Arc<ConfigSchema>>,
    pub(super) keys: Vec<String>,
}

/// A value of the effective configuration, at keys that exist; the root has none.
pub(super) struct EffectiveItem {
    pub(super) layers: Arc<MergedLayers>,
    pub(super) schema: Option<Arc<ConfigSchema>>,
    pub(super) keys: Vec<String>,
}

impl ConfigFiles {
    /// Finds what `uri` names.
    pub(super) async fn find_item(&self, ctx: &Context, uri: &Uri) -> Result<ConfigItem> {
        let (place, is_collection) = ConfigPlace::parse(uri).ok_or_else(not_found)?;
        let item = self.find_place(ctx, place).await?;
        if is_collection && !item.is_collection()? {
            return Err(not_found());
        }
        Ok(item)
    }

    async fn find_place(&self, ctx: &Context, place: ConfigPlace) -> Result<ConfigItem> {
        let has_layers = !self.source.layers.is_empty();
        match place {
            ConfigPlace::Root | ConfigPlace::AllKeys => Ok(ConfigItem::Fixed(place)),
            ConfigPlace::AllDiffs if has_layers => Ok(ConfigItem::Fixed(place)),
            ConfigPlace::File(path) => {
                let file = self.source.find_file(ctx, &path).await?;
                Ok(ConfigItem::File { path, file })
            }
            ConfigPlace::Keys(segments) => {
                let (path, file, count) = self.source.find_keyed_file(ctx, &segments).await?;
                if count == segments.len() {
                    return Ok(ConfigItem::KeyTree { path, file });
                }
                let item = self.key_item(ctx, &path, segments[count..].to_vec()).await?;
                Ok(ConfigItem::Key(item))
            }
            ConfigPlace::Effective(keys) if has_layers => {
                if keys.is_empty() {
                    return Ok(ConfigItem::Effective(self.source.load_layers(ctx).await.ok()));
                }
                Ok(ConfigItem::EffectiveKey(self.effective_item(ctx, keys).await?))
            }
            ConfigPlace::Diff(name) => {
                let is_seen = |layer: &_| self.source.may_see_layer(ctx, layer);
                let pair = MergedLayers::find_pair(&self.source.layers, &name, is_seen);
                let (from, to) = pair.ok_or_else(not_found)?;
                let layers = self.source.load_layers(ctx).await.ok();
                Ok(ConfigItem::Difference { name, from, to, layers })
            }
            ConfigPlace::AllDiffs | ConfigPlace::Effective(_) => Err(not_found()),
        }
    }

    /// The value at `keys` of the file at `path`.
    pub(super) async fn key_item(
        &self,
        ctx: &Context,
        path: &str,
        keys: Vec<String>,
    ) -> Result<KeyItem> {
        let document = self.source.load(ctx, path).await?;
        document.tree()?.descend(&keys).ok_or_else(not_found)?;
        let schema = self.source.schema_of(ctx, &document).await;
        Ok(KeyItem { document, schema, keys })
    }

    /// The value at `keys` of the effective configuration.
    pub(super) async fn effective_item(
        &self,
        ctx: &Context,
        keys: Vec<String>,
    ) -> Result<EffectiveItem> {
        let layers = self.source.load_layers(ctx).await?;
        layers.root.descend(&keys).ok_or_else(not_found)?;
        let schema = self.source.own_schema(ctx).await;
        Ok(EffectiveItem { layers, schema, keys })
    }

    /// The description of an item, under its usual URI.
    pub(super) fn describe_item(&self, item: &ConfigItem) -> Result<Resource> {
        let watchable = self.watchable();
        let fixed = |place: &ConfigPlace| describe_fixed(place, watchable).ok_or_else(not_found);
        match item {
            ConfigItem::Fixed(place) => fixed(place),
            ConfigItem::Effective(layers) => {
                let described = fixed(&ConfigPlace::Effective(Vec::new()))?;
                Ok(with_layers(described, layers.as_deref()))
            }
            ConfigItem::File { path, file } => {
                let uri = to_uri(&ConfigPlace::File(path.clone()))?;
                Ok(describe_file(uri, path, file, given_etag(file, &self.source.redaction)))
            }
            ConfigItem::KeyTree { path, file } => {
                let uri = to_uri(&ConfigPlace::of_keys(path, &[]))?;
                Ok(describe_key_tree(uri, path, file, given_etag(file, &self.source.redaction)))
            }
            ConfigItem::Key(item) => self.describe_key_of(item, &item.keys),
            ConfigItem::EffectiveKey(item) => self.describe_effective(item, &item.keys),
            ConfigItem::Difference { name, layers, .. } => {
                let uri = to_uri(&ConfigPlace::Diff(name.clone()))?;
                Ok(with_layers(describe_difference(uri, name, watchable), layers.as_deref()))
            }
        }
    }

    /// The description of the value at `keys` of the file of `item`.
    pub(super) fn describe_key_of(&self, item: &KeyItem, keys: &[String]) -> Result<Resource> {
        let KeyItem { document, schema, .. } = item;
        let root = document.tree()?;
        let node = root.descend(keys).ok_or_else(not_found)?;
        let layer = self.source.layer_of(&document.path);
        let note = schema
            .as_ref()
            .map(|schema| schema.note(root, keys, layer.is_some(), &self.source.redaction));
        let file = json_string(&document.path);
        let layer = layer.map(|layer| format!(r#","layer":{}"#, json_string(layer)));
        let layer = layer.unwrap_or_default();
        let facts = KeyFacts {
            node,
            etag: document.etag.clone(),
            modified: document.modified,
            origin: Some(format!(r#"{{"file":{file},"line":{}{layer}}}"#, node.line)),
            note,
            watchable: self.watchable(),
        };
        let uri = to_uri(&ConfigPlace::of_keys(&document.path, keys))?;
        Ok(describe_key(uri, keys.last().map_or("", String::as_str), facts))
    }

    /// The description of the value at `keys` of the effective configuration.
    pub(super) fn describe_effective(
        &self,
        item: &EffectiveItem,
        keys: &[String],
    ) -> Result<Resource> {
        let EffectiveItem { layers, schema, .. } = item;
        let node = layers.root.descend(keys).ok_or_else(not_found)?;
        let note = schema
            .as_ref()
            .map(|schema| schema.note(&layers.root, keys, false, &self.source.redaction));
        let facts = KeyFacts {
            node,
            etag: layers.etag.clone(),
            modified: layers.modified,
            origin: layers.origin_json(node, usize::from(node.layer)),
            note,
            watchable: self.watchable(),
        };
        let uri = to_uri(&ConfigPlace::Effective(keys.to_vec()))?;
        Ok(describe_key(uri, keys.last().map_or("", String::as_str), facts))
    }
}

impl ConfigItem {
    /// Whether it can be listed.
    pub(super) fn is_collection(&self) -> Result<bool> {
        Ok(match self {
            Self::Fixed(_) | Self::KeyTree { .. } | Self::Effective(_) => true,
            Self::File { .. } | Self::Difference { .. } => false,
            Self::Key(item) => !item.node()?.is_scalar(),
            Self::EffectiveKey(item) => !item.node()?.is_scalar(),
        })
    }
}

impl KeyItem {
    pub(super) fn node(&self) -> Result<&ConfigNode> {
        self.document.tree()?.descend(&self.keys).ok_or_else(not_found)
    }
}

impl EffectiveItem {
    pub(super) fn node(&self) -> Result<&ConfigNode> {
        self.layers.root.descend(&self.keys).ok_or_else(not_found)
    }
}

/// A description with the etag and date of the layers it is made of.
pub(super) fn with_layers(mut resource: Resource, layers: Option<&MergedLayers>) -> Resource {
    resource.etag = layers.and_then(|layers| layers.etag.clone());
    resource.annotations.modified = layers.and_then(|layers| layers.modified);
    resource
}

/// The URI of `place`.
pub(super) fn to_uri(place: &ConfigPlace) -> Result<Uri> {
    place.to_uri().ok_or_else(|| Error::internal("a key cannot be written as a URI"))
}

pub(super) fn not_found() -> Error {
    Error::new(ErrorKind::NotFound, "resource not found")
}

//! Lists of a configuration mount, page by page.

use std::sync::Arc;

use resource::{
    Context, Error, Freshness, Items, Page, PageRequest, Resource, Result, Template, Uri,
};

use super::ConfigFiles;
use super::describe::{describe_difference, describe_file, describe_fixed, describe_key_tree};
use super::item::{ConfigItem, to_uri, with_layers};
use super::parse::ConfigSyntax;
use super::place::ConfigPlace;
use super::source::given_etag;
use super::tree::ConfigNode;
use crate::list_page::{cursor_after, page_range};

/// The longest key that has a resource of its own, in bytes.
const MAX_KEY_BYTES: usize = 4096;

impl ConfigFiles {
    /// One page of the members of `parent`, or of the top level.
    pub(super) async fn list_page(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let item = match parent {
            None => ConfigItem::Fixed(ConfigPlace::Root),
            Some(uri) => self.find_item(ctx, uri).await?,
        };
        match &item {
            ConfigItem::Fixed(place) => {
                let members = self.fixed_members(ctx, place).await?;
                self.page_of(members, paging)
            }
            ConfigItem::KeyTree { path, .. } => {
                let root = self.key_item(ctx, path, Vec::new()).await?;
                self.page_of_keys(root.node()?, paging, |key| {
                    self.describe_key_of(&root, &[key.to_owned()])
                })
            }
            ConfigItem::Effective(_) => {
                let root = self.effective_item(ctx, Vec::new()).await?;
                self.page_of_keys(root.node()?, paging, |key| {
                    self.describe_effective(&root, &[key.to_owned()])
                })
            }
            ConfigItem::Key(item) if item.node()?.is_scalar() => Err(not_a_collection()),
            ConfigItem::Key(item) => self.page_of_keys(item.node()?, paging, |key| {
                self.describe_key_of(item, &child_keys(&item.keys, key))
            }),
            ConfigItem::EffectiveKey(item) if item.node()?.is_scalar() => Err(not_a_collection()),
            ConfigItem::EffectiveKey(item) => self.page_of_keys(item.node()?, paging, |key| {
                self.describe_effective(item, &child_keys(&item.keys, key))
            }),
            ConfigItem::File { .. } | ConfigItem::Difference { .. } => Err(not_a_collection()),
        }
    }

    /// All members of a fixed collection.
    async fn fixed_members(&self, ctx: &Context, place: &ConfigPlace) -> Result<Vec<Resource>> {
        let (layers, watchable) = (&self.source.layers, self.watchable());
        // A layer that cannot be read is an error of what is made of it, not of this list.
        let merged = if *place == ConfigPlace::AllKeys || layers.is_empty() {
            None
        } else {
            self.source.load_layers(ctx).await.ok()
        };
        if *place == ConfigPlace::AllDiffs {
            let layers = self.source.visible_layers(ctx);
            let pairs = layers.iter().enumerate().flat_map(|(at, from)| {
                layers[at + 1..].iter().map(move |to| format!("{}..{}", from.name, to.name))
            });
            let describe = |name: String| {
                let uri = to_uri(&ConfigPlace::Diff(name.clone()))?;
                let described = describe_difference(uri, &name, watchable);
                Ok(with_layers(described, merged.as_deref()))
            };
            return pairs.map(describe).collect();
        }
        let files = self.source.list_files(ctx).await?;
        if *place == ConfigPlace::AllKeys {
            let parsed = files.iter().filter(|(path, _)| ConfigSyntax::of_path(path).is_some());
            let describe = |(path, file): &(String, Arc<Resource>)| {
                let uri = to_uri(&ConfigPlace::of_keys(path, &[]))?;
                Ok(describe_key_tree(uri, path, file, given_etag(file, &self.source.redaction)))
            };
            return parsed.map(describe).collect();
        }
        let mut members = Vec::with_capacity(files.len() + 3);
        if !layers.is_empty() {
            let effective = describe_fixed(&ConfigPlace::Effective(Vec::new()), watchable);
            members.extend(effective.map(|described| with_layers(described, merged.as_deref())));
            members.extend(describe_fixed(&ConfigPlace::AllDiffs, watchable));
        }
        members.extend(describe_fixed(&ConfigPlace::AllKeys, watchable));
        for (path, file) in &files {
            let uri = to_uri(&ConfigPlace::File(path.clone()))?;
            members.push(describe_file(uri, path, file, given_etag(file, &self.source.redaction)));
        }
        Ok(members)
    }

    fn page_of(&self, members: Vec<Resource>, paging: &PageRequest) -> Result<Page<Resource>> {
        let place = |key: &str| members.iter().position(|member| member.uri.as_str() == key);
        let (start, end) = page_range(paging, members.len(), place)?;
        let next = (end < members.len()).then(|| cursor_after(members[end - 1].uri.as_str()));
        let items = members.into_iter().skip(start).take(end - start);
        let items: Items<_> = items.filter(|item| paging.shows(item)).map(Arc::new).collect();
        Ok(Page { next, ..Page::from_items(items, self.source.freshness) })
    }

    /// One page of the children of `node`. A key that no URI can name is in its parent only.
    fn page_of_keys(
        &self,
        node: &ConfigNode,
        paging: &PageRequest,
        describe: impl Fn(&str) -> Result<Resource>,
    ) -> Result<Page<Resource>> {
        let (start, end) = page_range(paging, node.len(), |key| node.position(key))?;
        let mut items = Vec::new();
        let mut last = None;
        for (key, _) in (start..end).filter_map(|position| node.child_at(position)) {
            if !key.is_empty() && key.len() <= MAX_KEY_BYTES {
                let item = describe(&key)?;
                items.extend(paging.shows(&item).then(|| Arc::new(item)));
            }
            last = Some(key);
        }
        let next = last.filter(|_| end < node.len()).map(|key| cursor_after(&key));
        Ok(Page { next, ..Page::from_items(items, self.source.freshness) })
    }
}

/// One page of `templates`.
pub(super) fn template_page(
    templates: &[Arc<Template>],
    paging: &PageRequest,
    freshness: Freshness,
) -> Result<Page<Template>> {
    let place = |key: &str| templates.iter().position(|template| template.uri.as_str() == key);
    let (start, end) = page_range(paging, templates.len(), place)?;
    let next = (end < templates.len()).then(|| cursor_after(templates[end - 1].uri.as_str()));
    Ok(Page { next, ..Page::from_items(templates[start..end].to_vec(), freshness) })
}

fn child_keys(keys: &[String], key: &str) -> Vec<String> {
    keys.iter().cloned().chain([key.to_owned()]).collect()
}

fn not_a_collection() -> Error {
    Error::invalid("not a collection")
}

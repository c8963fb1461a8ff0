//! Reads of a configuration mount: files in both formats, values, and differences of layers.

use std::sync::Arc;

use bytes::Bytes;
use resource::{Content, Context, Part, ReadRequest, Reading, Resource, Result, Uri, Window};

use super::ConfigFiles;
use super::describe::{JSON, NORMALISED, spelled};
use super::diff::{self, KeyDifference, Side};
use super::document::ConfigDocument;
use super::item::ConfigItem;
use super::layers::MergedLayers;
use super::tree::{ConfigNode, NodeValue};
use crate::memory_content::body_from_bytes;

impl ConfigFiles {
    pub(super) async fn read_item(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let item = self.find_item(ctx, uri).await?;
        let resource = spelled(self.describe_item(&item)?, uri);
        match &item {
            ConfigItem::Fixed(_) => {
                Ok(Reading::new(Content::Collection(resource), self.source.freshness))
            }
            ConfigItem::File { path, .. } => {
                let document = self.source.load(ctx, path).await?;
                self.read_file(&document, &resource, request)
            }
            ConfigItem::KeyTree { path, .. } => {
                let document = self.source.load(ctx, path).await?;
                let json = document.normalised()?.clone();
                let resource = with_etag(&resource, document.etag.clone());
                self.reading_of(request, vec![(resource, json)])
            }
            ConfigItem::Effective(layers) => {
                let layers = self.layers_or_error(ctx, layers.as_ref()).await?;
                self.reading_of(request, vec![(resource, layers.normalised().clone())])
            }
            ConfigItem::Key(item) => {
                self.reading_of(request, vec![(resource, node_content(item.node()?))])
            }
            ConfigItem::EffectiveKey(item) => {
                self.reading_of(request, vec![(resource, node_content(item.node()?))])
            }
            ConfigItem::Difference { from, to, layers, .. } => {
                let layers = self.layers_or_error(ctx, layers.as_ref()).await?;
                let (markdown, json) = self.difference_texts(&layers, (*from, *to))?;
                let alternate = with_mime(&resource, JSON);
                self.reading_of(request, vec![(resource, markdown), (alternate, json)])
            }
        }
    }

    /// The layers that were found, or the reason why there are none.
    async fn layers_or_error(
        &self,
        ctx: &Context,
        found: Option<&Arc<MergedLayers>>,
    ) -> Result<Arc<MergedLayers>> {
        match found {
            Some(layers) => Ok(Arc::clone(layers)),
            None => self.source.load_layers(ctx).await,
        }
    }

    /// Reads a file: its text, and its normalised JSON if it can be parsed.
    fn read_file(
        &self,
        document: &ConfigDocument,
        resource: &Arc<Resource>,
        request: &ReadRequest,
    ) -> Result<Reading> {
        let resource = with_etag(resource, document.etag.clone());
        let mut formats = vec![(Arc::clone(&resource), document.text.clone())];
        // The JSON is made only if it may be wanted.
        let is_window = matches!(request.window, Window::Part { .. });
        let has_json = resource.formats.len() > 1;
        if has_json && (!is_window || request.format.is_some() || request.part.is_some()) {
            let alternate = with_mime(&resource, NORMALISED);
            match document.normalised() {
                Ok(json) => formats.push((alternate, json.clone())),
                // What is asked for by its name is missing for a reason.
                Err(error) if request.format.as_deref().is_some_and(is_json) => return Err(error),
                Err(_) => {}
            }
        }
        let mut reading = self.reading_of(request, formats)?;
        if is_window && request.format.is_none() && request.part.is_none() && has_json {
            reading.total_parts = 1 + usize::from(document.tree().is_ok());
        }
        Ok(reading)
    }

    /// A reading of the wanted ones of `formats`; of a window, the first of them.
    fn reading_of(
        &self,
        request: &ReadRequest,
        mut formats: Vec<(Arc<Resource>, Bytes)>,
    ) -> Result<Reading> {
        let total_parts = request.select(&mut formats, |(resource, _)| resource.mime.as_deref())?;
        if matches!(request.window, Window::Part { .. }) {
            formats.truncate(1);
        }
        let total = formats.iter().map(|(_, content)| content.len() as u64).sum();
        let etag = formats.first().and_then(|(resource, _)| resource.etag.as_deref());
        request.window.check(etag, total)?;
        let parts = formats.into_iter().map(|(resource, content)| {
            let (body, slice) = body_from_bytes(&content, true, &request.window);
            Part { resource, body, slice }
        });
        let content = Content::Parts(parts.collect());
        Ok(Reading { total_parts, ..Reading::new(content, self.source.freshness) })
    }

    /// The difference between two layers as Markdown and as JSON.
    fn difference_texts(
        &self,
        layers: &MergedLayers,
        (from, to): (usize, usize),
    ) -> Result<(Bytes, Bytes)> {
        let found = diff::differences(layers.layer_tree(from)?, layers.layer_tree(to)?);
        let side = |difference: &KeyDifference<'_>, side: Side| match side {
            Side::From => layers.origin_json(difference.from?, from),
            Side::To => layers.origin_json(difference.to?, to),
        };
        let place = |difference: &KeyDifference<'_>, side: Side| match side {
            Side::From => layers.origin_text(difference.from?, from),
            Side::To => layers.origin_text(difference.to?, to),
        };
        let names = (&*self.source.layers[from].name, &*self.source.layers[to].name);
        let markdown = diff::to_markdown(names, &found, place);
        Ok((markdown.into(), diff::to_json(&found, side).into()))
    }
}

/// The content of a value: a scalar as it is written, anything else as JSON.
fn node_content(node: &ConfigNode) -> Bytes {
    match &node.value {
        NodeValue::Scalar(scalar) => Bytes::copy_from_slice(scalar.text.as_bytes()),
        NodeValue::List(_) | NodeValue::Table(_) => node.to_json().into(),
    }
}

fn is_json(mime: &str) -> bool {
    mime.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(JSON))
}

fn with_mime(resource: &Arc<Resource>, mime: &str) -> Arc<Resource> {
    Arc::new(Resource { mime: Some(mime.to_owned()), ..resource.as_ref().clone() })
}

/// The description with the etag of what was read, which may be newer than the description.
fn with_etag(resource: &Arc<Resource>, etag: Option<String>) -> Arc<Resource> {
    if resource.etag == etag {
        return Arc::clone(resource);
    }
    Arc::new(Resource { etag, ..resource.as_ref().clone() })
}

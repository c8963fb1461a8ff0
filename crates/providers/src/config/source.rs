//! Source of a configuration mount: lists, loads and caches its files, layers and schemas.

use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use futures_util::TryStreamExt as _;
use machinery::{Cache, CacheBounds};
use parking_lot::Mutex;
use redaction::{Redaction, Redactor};
use resource::{
    Body, ByteSource, CacheScope, Change, Content, Context, Error, ErrorKind, Freshness, Interest,
    PageRequest, Part, Provider, ReadRequest, Resource, Result,
};
use tokio::sync::Semaphore;

use super::document::ConfigDocument;
use super::file_globs::FileGlobs;
use super::layers::{LayerValues, MergedLayers, VariableTree};
use super::options::{ConfigLayer, LayerSource, Options};
use super::parse::ConfigSyntax;
use super::place::{ConfigPlace, file_uri, path_from_file_uri};
use super::schema::{ConfigSchema, named_schema};
use crate::VisibilityRule;

/// The largest file, in bytes.
const MAX_FILE_BYTES: u64 = Redactor::MAX_PARSED_BYTES;

/// The most files of a mount.
const MAX_FILES: usize = 10_000;

/// Files listed at a time.
const PAGE: usize = 1000;

/// Memory for loaded files.
const CACHE_BOUNDS: CacheBounds =
    CacheBounds { entries: MAX_FILES, weight: 64 << 20, heaviest: 128 << 20 };

/// Schemas that are kept parsed.
pub(super) const MAX_SCHEMAS: usize = 64;

/// Merged layers that are kept where principals may see different files.
const MAX_MERGED: usize = 4;

/// Files that are parsed at a time.
const MAX_PARSERS: usize = 2;

/// The files, layers and schemas of one mount.
pub(super) struct ConfigSource {
    pub(super) files: Arc<dyn Provider>,
    schemas: Arc<dyn Provider>,
    globs: FileGlobs,
    pub(super) layers: Arc<[ConfigLayer]>,
    /// The tree of each layer of variables.
    variables: Vec<Option<Arc<VariableTree>>>,
    /// The path of the schema of the mount.
    pub(super) schema: Option<String>,
    pub(super) redaction: Redaction,
    pub(super) visibility: Option<VisibilityRule>,
    pub(super) freshness: Freshness,
    documents: Cache<String, Arc<ConfigDocument>>,
    parsed_schemas: Cache<String, (Option<String>, Option<Arc<ConfigSchema>>)>,
    /// The merged layers, by the files that they are made of; the latest first.
    merged: Mutex<Vec<Arc<MergedLayers>>>,
    parsers: Semaphore,
}

impl ConfigSource {
    pub(super) fn new(options: Options) -> Self {
        let Options { files, schemas, globs, layers, schema, redaction, visibility, ttl } = options;
        let variables =
            layers.iter().map(|layer| VariableTree::of_layer(&layer.source, &redaction));
        Self {
            variables: variables.collect(),
            files,
            schemas,
            globs,
            layers: layers.into(),
            schema,
            redaction,
            visibility,
            freshness: Freshness { ttl, scope: CacheScope::Private },
            documents: Cache::new(CACHE_BOUNDS),
            parsed_schemas: Cache::new(CacheBounds::entries(MAX_SCHEMAS)),
            merged: Mutex::default(),
            parsers: Semaphore::new(MAX_PARSERS),
        }
    }

    /// Whether the principal may know of the file, layer or schema at `path`.
    fn may_see(&self, ctx: &Context, path: &str) -> bool {
        let Some(rule) = &self.visibility else { return true };
        let uri = ConfigPlace::File(path.to_owned()).to_uri();
        uri.is_some_and(|uri| rule(ctx.principal(), &uri))
    }

    /// Whether the principal may know of a layer.
    pub(super) fn may_see_layer(&self, ctx: &Context, layer: &ConfigLayer) -> bool {
        match &layer.source {
            LayerSource::File(path) => self.may_see(ctx, path),
            LayerSource::Variables { .. } => true,
        }
    }

    /// The layers that the principal may know of.
    pub(super) fn visible_layers(&self, ctx: &Context) -> Vec<&ConfigLayer> {
        self.layers.iter().filter(|layer| self.may_see_layer(ctx, layer)).collect()
    }

    /// All served files that the principal may know of: their paths, in order, and their descriptions
    /// in the folder.
    pub(super) async fn list_files(&self, ctx: &Context) -> Result<Vec<(String, Arc<Resource>)>> {
        let mut found = Vec::new();
        let mut paging = PageRequest::first(PAGE);
        loop {
            let page = self.files.list(ctx, None, &paging).await.map_err(without_place)?;
            let files = page.items.into_iter().filter(|item| item.listable != Some(true));
            let files = files.filter_map(|item| Some((path_from_file_uri(&item.uri)?, item)));
            found.extend(
                files.filter(|(path, _)| self.globs.is_match(path) && self.may_see(ctx, path)),
            );
            if found.len() > MAX_FILES {
                let message = format!("more than {MAX_FILES} files; narrow the globs in `files`");
                return Err(Error::invalid(message));
            }
            paging.cursor = page.next;
            if paging.cursor.is_none() {
                break;
            }
        }
        found.sort_by(|(one, _), (two, _)| one.cmp(two));
        found.dedup_by(|(one, _), (two, _)| one == two);
        Ok(found)
    }

    /// The description of the file at `path` in the folder. `NotFound` without a message of its
    /// own, if it is not served to the principal.
    pub(super) async fn find_file(&self, ctx: &Context, path: &str) -> Result<Arc<Resource>> {
        let uri = file_uri(path)
            .filter(|_| self.globs.is_match(path) && self.may_see(ctx, path))
            .ok_or_else(not_found)?;
        let found = self.files.stat(ctx, &uri).await.map_err(without_place)?;
        if found.listable == Some(true) { Err(not_found()) } else { Ok(found) }
    }

    /// The file that a path with keys behind it begins with, and the number of its segments.
    pub(super) async fn find_keyed_file(
        &self,
        ctx: &Context,
        segments: &[String],
    ) -> Result<(String, Arc<Resource>, usize)> {
        let mut path = String::new();
        for (at, segment) in segments.iter().enumerate() {
            if segment.contains('/') {
                break;
            }
            if at > 0 {
                path.push('/');
            }
            path.push_str(segment);
            if !self.globs.is_match(&path) || ConfigSyntax::of_path(&path).is_none() {
                continue;
            }
            match self.find_file(ctx, &path).await {
                Ok(file) => return Ok((path, file, at + 1)),
                Err(error) if error.kind == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(not_found())
    }

    /// The file at `path`, masked and parsed; from the cache, if it has not changed.
    pub(super) async fn load(&self, ctx: &Context, path: &str) -> Result<Arc<ConfigDocument>> {
        let file = self.find_file(ctx, path).await?;
        let etag = given_etag(&file, &self.redaction);
        if let Some(known) = self.documents.get(path)
            && etag.is_some()
            && known.etag == etag
        {
            return Ok(known);
        }
        let (part, text) = read_text(&*self.files, ctx, &file).await?;
        let facts = (given_etag(&part, &self.redaction), part.annotations.modified);
        let document = self.parse(path, (text, part.link_target.clone()), facts).await?;
        self.documents.insert(path.to_owned(), Arc::clone(&document), document.weight);
        Ok(document)
    }

    async fn parse(
        &self,
        path: &str,
        (text, link_target): (String, Option<Arc<str>>),
        facts: (Option<String>, Option<std::time::SystemTime>),
    ) -> Result<Arc<ConfigDocument>> {
        let (path, redaction) = (path.to_owned(), self.redaction.clone());
        let document = move || {
            // The file that a link leads to says by its name how it is written.
            let target = link_target.and_then(|target| redaction.syntax_of(&target));
            let text = match target.filter(|syntax| syntax.has_keys()) {
                Some(syntax) => redaction.redactor().mask(&text, syntax).into_owned(),
                None => text,
            };
            ConfigDocument::new(&path, &text, &redaction, facts)
        };
        self.run(document).await?.map(Arc::new)
    }

    /// Runs `work` on a blocking thread, when there is a place for it.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let _place = self.parsers.acquire().await;
        let failed = |error| Error::internal("parsing a file failed").caused_by(error);
        tokio::task::spawn_blocking(work).await.map_err(failed)
    }

    /// The layers as they are now, merged. One that is refused to the principal is empty.
    pub(super) async fn load_layers(&self, ctx: &Context) -> Result<Arc<MergedLayers>> {
        let mut values = Vec::with_capacity(self.layers.len());
        for (layer, variables) in self.layers.iter().zip(&self.variables) {
            values.push(match (&layer.source, variables) {
                (LayerSource::Variables { .. }, Some(tree)) => {
                    LayerValues::Variables(Arc::clone(tree))
                }
                (LayerSource::Variables { .. }, None) => LayerValues::File(None),
                (LayerSource::File(path), _) => match self.load(ctx, path).await {
                    Ok(document) => LayerValues::File(Some(document)),
                    Err(error) if error.kind == ErrorKind::NotFound => LayerValues::File(None),
                    Err(error) => return Err(error),
                },
            });
        }
        let known = self.merged.lock().iter().find(|known| known.is_of(&values)).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let layers = Arc::clone(&self.layers);
        let merged = Arc::new(self.run(move || MergedLayers::merge(&layers, values)).await??);
        let most = if self.visibility.is_some() { MAX_MERGED } else { 1 };
        let mut known = self.merged.lock();
        known.retain(|older| older.may_stay_beside(&merged));
        known.insert(0, Arc::clone(&merged));
        known.truncate(most);
        Ok(merged)
    }

    /// The name of the layer that the file at `path` is.
    pub(super) fn layer_of(&self, path: &str) -> Option<&str> {
        let is_it =
            |layer: &&ConfigLayer| matches!(&layer.source, LayerSource::File(own) if own == path);
        self.layers.iter().find(is_it).map(|layer| layer.name.as_str())
    }

    /// The schema of a file: the one that it names, or else that of the mount.
    pub(super) async fn schema_of(
        &self,
        ctx: &Context,
        document: &ConfigDocument,
    ) -> Option<Arc<ConfigSchema>> {
        self.load_schema(ctx, &self.schema_path(document)?).await
    }

    /// The path of the schema of a file: the one that it names, or else that of the mount.
    pub(super) fn schema_path(&self, document: &ConfigDocument) -> Option<String> {
        let tree = document.tree().ok()?;
        let text = std::str::from_utf8(&document.text).unwrap_or_default();
        named_schema(&document.path, text, tree).or_else(|| self.schema.clone())
    }

    /// The changes of the schema at `path`; `None` if they cannot be watched.
    pub(super) async fn watch_schema(
        &self,
        ctx: &Context,
        path: &str,
    ) -> Option<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let interest = Interest::Resource(file_uri(path)?);
        self.schemas.facets().watch?.watch(ctx, interest).await.ok()
    }

    /// The schema of the mount.
    pub(super) async fn own_schema(&self, ctx: &Context) -> Option<Arc<ConfigSchema>> {
        self.load_schema(ctx, self.schema.as_ref()?).await
    }

    /// The schema at `path`; `None`, with a line in the log, if it cannot be read, and without one if
    /// it is refused to the principal. It is not masked as a whole, since its keys are those of
    /// values: what it says of a key is masked with that key.
    async fn load_schema(&self, ctx: &Context, path: &str) -> Option<Arc<ConfigSchema>> {
        let uri = file_uri(path).filter(|_| self.may_see(ctx, path))?;
        let file = self.schemas.stat(ctx, &uri).await.ok()?;
        if let Some((etag, known)) = self.parsed_schemas.get(path)
            && etag.is_some()
            && etag == file.etag
        {
            return known;
        }
        let parsed = match read_text(&*self.schemas, ctx, &file).await {
            Ok((_, text)) => self
                .run(move || ConfigSyntax::Json.parse(&text))
                .await
                .and_then(|parsed| parsed.map_err(|failure| Error::invalid(failure.to_string()))),
            Err(error) => Err(error),
        };
        if let Err(error) = &parsed {
            tracing::warn!("the schema {path} cannot be used: {}", error.with_causes());
        }
        let schema = parsed.ok().map(|tree| Arc::new(ConfigSchema::new(tree)));
        self.parsed_schemas.insert(path.to_owned(), (file.etag.clone(), schema.clone()), 1);
        schema
    }
}

/// The etag of a file as this provider gives it: it changes with the masks too.
pub(super) fn given_etag(file: &Resource, redaction: &Redaction) -> Option<String> {
    file.etag.as_ref().map(|etag| format!("{etag}-{}", redaction.version()))
}

fn not_found() -> Error {
    Error::new(ErrorKind::NotFound, "resource not found")
}

/// The error of the folder without its URI, which is not one of this mount.
fn without_place(mut error: Error) -> Error {
    error.uri = None;
    error
}

/// Reads the file `file` of `provider` as text, with the description of what was read.
async fn read_text(
    provider: &dyn Provider,
    ctx: &Context,
    file: &Resource,
) -> Result<(Arc<Resource>, String)> {
    let too_large = || {
        let limit = MAX_FILE_BYTES >> 20;
        Error::new(
            ErrorKind::TooLarge,
            format!(
                "the file is over {limit} MiB, the limit of a configuration mount; \
                     serve it with a mount of kind \"fs\""
            ),
        )
    };
    if file.size.is_some_and(|size| size > MAX_FILE_BYTES) {
        return Err(too_large());
    }
    let reading = provider.read(ctx, &file.uri, &ReadRequest::whole(MAX_FILE_BYTES)).await;
    let reading = reading.map_err(|error| match error.kind {
        ErrorKind::TooLarge => too_large(),
        _ => without_place(error),
    })?;
    let Content::Parts(parts) = reading.content else { return Err(not_found()) };
    let Some(Part { resource, body: Body::Text(source), .. }) = parts.into_iter().next() else {
        return Err(Error::invalid("the file is not a text"));
    };
    let bytes = match source {
        ByteSource::Bytes(bytes) => bytes.to_vec(),
        ByteSource::Stream(mut chunks) => {
            let mut all = Vec::new();
            while let Some(chunk) = chunks.try_next().await.map_err(without_place)? {
                if (all.len() + chunk.len()) as u64 > MAX_FILE_BYTES {
                    return Err(too_large());
                }
                all.extend_from_slice(&chunk);
            }
            all
        }
    };
    let text = String::from_utf8(bytes).map_err(|_| Error::invalid("the file is not a text"))?;
    Ok((resource, text))
}

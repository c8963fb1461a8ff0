//! Tests of the file system provider through its public interface.

mod cancellation;
mod charsets;
mod completing;
mod confinement;
mod content_cache;
mod contract;
mod folder_cache;
mod git_check_ignore;
mod hide_filter;
mod listing;
mod pages;
mod parent_rules;
mod reading;
mod root_changes;
mod visibility;
pub(super) mod watching;
mod windows;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use resource::{
    Body, ByteSource, Content, Cursor, Error, ErrorKind, Page, PageRequest, Part, Provider as _,
    Resource, Uri, Window,
};
use tempfile::TempDir;

pub(super) use super::{Fs, ListingMode};
use super::{Options, TESTED_FILE_API};
use crate::fs::{DEFAULT_POLL_INTERVAL, FileApi};

/// How long a test waits for what must come, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A temporary folder to serve, next to files that must not be served.
pub(super) struct Tree {
    pub(super) home: TempDir,
}

impl Tree {
    /// Creates the files given, each with its own path as content.
    pub(super) fn of<const N: usize>(paths: [&str; N]) -> Self {
        let tree = Self { home: tempfile::tempdir().unwrap() };
        fs::create_dir(tree.root()).unwrap();
        for path in paths {
            tree.write(path, path);
        }
        tree
    }

    pub(super) fn root(&self) -> PathBuf {
        self.home.path().join("root")
    }

    pub(super) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root().join(path)
    }

    pub(super) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(&path).parent().unwrap()).unwrap();
        fs::write(self.at(path), content).unwrap();
    }

    /// Writes a file above the root.
    pub(super) fn write_above(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn folder(&self, path: &str) {
        fs::create_dir_all(self.at(path)).unwrap();
    }

    pub(super) fn remove(&self, path: &str) {
        fs::remove_file(self.at(path)).unwrap();
    }

    pub(super) fn link(&self, path: &str, target: impl AsRef<Path>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        symlink(target, self.at(path)).unwrap();
    }

    pub(super) fn serve(&self, listing: ListingMode) -> ServedFs {
        self.serve_with(listing, false)
    }

    pub(super) fn serve_with(&self, listing: ListingMode, hidden: bool) -> ServedFs {
        ServedFs(Fs::open(Options { hidden, ..self.options(listing) }).unwrap())
    }

    /// Serves the tree with the filter `hide`.
    pub(super) fn serve_hiding(
        &self,
        listing: ListingMode,
        hide: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> ServedFs {
        ServedFs(Fs::open(Options { hide: Some(Arc::new(hide)), ..self.options(listing) }).unwrap())
    }

    /// Default options for the folder at `path`, with the file API under test.
    pub(super) fn options_at(&self, path: impl AsRef<Path>) -> Options {
        let poll = match TESTED_FILE_API {
            FileApi::Native => DEFAULT_POLL_INTERVAL,
            FileApi::Portable => Duration::from_millis(20),
        };
        Options { file_api: TESTED_FILE_API, poll, ..Options::new(self.at(path)) }
    }

    pub(super) fn options(&self, listing: ListingMode) -> Options {
        let ttl = Duration::from_secs(1);
        Options { listing, ttl, root: self.root(), ..self.options_at("") }
    }
}

/// A served folder.
pub(super) struct ServedFs(pub(super) Fs);

impl ServedFs {
    /// Makes the provider treat its disk as local or remote.
    pub(super) fn set_local(&mut self, local: bool) {
        self.0.root.dir.set_local(local);
    }

    pub(super) async fn page(
        &self,
        parent: Option<&str>,
        from: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Resource>, Error> {
        let parent = parent.map(uri);
        self.0
            .list(&testkit::local_context(), parent.as_ref(), &PageRequest::new(from, limit))
            .await
    }

    /// Returns the paths of all pages of `limit` items.
    pub(super) async fn paths_by(&self, parent: Option<&str>, limit: usize) -> Vec<String> {
        let mut paths = Vec::new();
        let mut from = None;
        loop {
            let page = self.page(parent, from, limit).await.unwrap();
            assert!(page.items.len() <= limit);
            paths.extend(page.items.iter().map(|item| path(item)));
            from = page.next;
            if from.is_none() {
                return paths;
            }
        }
    }

    pub(super) async fn paths(&self, parent: Option<&str>) -> Vec<String> {
        self.paths_by(parent, 1_000).await
    }

    pub(super) async fn stat(&self, text: &str) -> Result<Arc<Resource>, Error> {
        self.0.stat(&testkit::local_context(), &uri(text)).await
    }

    pub(super) async fn content(&self, text: &str, window: Window) -> Result<Content, Error> {
        Ok(self.0.read(&testkit::local_context(), &uri(text), &window.into()).await?.content)
    }

    pub(super) async fn part(&self, text: &str, window: Window) -> Result<Part, Error> {
        match self.content(text, window).await? {
            Content::Parts(mut parts) => Ok(parts.remove(0)),
            Content::Collection(_) | Content::InputRequired(_) => panic!("{text} is a collection"),
        }
    }

    pub(super) async fn whole(&self, text: &str) -> Result<Part, Error> {
        self.part(text, Window::Whole { limit: u64::MAX }).await
    }

    pub(super) async fn window(&self, text: &str, offset: u64, length: u64) -> Part {
        self.part(text, Window::Part { offset, length, etag: None }).await.unwrap()
    }

    pub(super) async fn text(&self, text: &str) -> String {
        String::from_utf8(bytes(self.whole(text).await.unwrap().body).await.to_vec()).unwrap()
    }

    /// True if stat, read and list all report `text` as not found.
    pub(super) async fn is_not_found(&self, text: &str) -> bool {
        let missing = |kind: Option<ErrorKind>| kind == Some(ErrorKind::NotFound);
        let whole = Window::Whole { limit: u64::MAX };
        missing(self.stat(text).await.err().map(|error| error.kind))
            && missing(self.content(text, whole).await.err().map(|error| error.kind))
            && missing(self.page(Some(text), None, 10).await.err().map(|error| error.kind))
    }
}

pub(super) fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

pub(super) fn path(item: &Resource) -> String {
    item.uri.as_str().strip_prefix("file:///").unwrap().to_owned()
}

/// Collects all chunks of a body.
pub(super) async fn chunks(body: Body) -> Vec<Bytes> {
    let (Body::Text(source) | Body::Blob(source)) = body;
    match source {
        ByteSource::Bytes(bytes) => vec![bytes],
        ByteSource::Stream(stream) => stream.map(Result::unwrap).collect().await,
    }
}

pub(super) async fn bytes(body: Body) -> Bytes {
    chunks(body).await.concat().into()
}

pub(super) fn is_text(part: &Part) -> bool {
    matches!(part.body, Body::Text(_))
}

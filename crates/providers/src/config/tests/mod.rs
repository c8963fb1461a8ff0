//! Tests of the configuration provider over a folder.

mod contract;
mod effective;
mod reading;
mod schemas;
mod secrets;
mod visibility;
mod watching;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use redaction::Redaction;
use resource::{
    Complete as _, CompletionRequest, Content, Error, MemberPlace, PageRequest, Provider as _,
    ReadRequest, Resource, Uri,
};
use tempfile::TempDir;
use testkit::contract::bytes_of;
use testkit::local_context;

use super::{ConfigFiles, ConfigLayer, FileGlobs, Options};
use crate::fs::{Fs, ListingMode, Options as FsOptions};

/// A folder of configuration files.
struct ConfigFolder(TempDir);

impl ConfigFolder {
    fn of(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn options(&self, globs: &[&str]) -> Options {
        let mut served = FileGlobs::default();
        globs.iter().for_each(|glob| served.add(glob).unwrap());
        let base = FsOptions {
            listing: ListingMode::Flat,
            hidden: true,
            ignore_files: false,
            ..FsOptions::new(self.0.path())
        };
        let hidden = served.clone();
        let hide: crate::fs::HideFilter = Arc::new(move |path: &str| hidden.excludes(path));
        Options {
            files: Arc::new(Fs::open(FsOptions { hide: Some(hide), ..base.clone() }).unwrap()),
            schemas: Arc::new(Fs::open(base).unwrap()),
            globs: served,
            layers: Vec::new(),
            schema: None,
            redaction: Redaction::default(),
            visibility: None,
            ttl: Duration::ZERO,
        }
    }

    fn serve(&self, globs: &[&str]) -> ConfigFiles {
        ConfigFiles::new(self.options(globs))
    }

    /// Serves all files, and `layers` with these variables.
    fn serve_layers(&self, layers: &[&str], variables: &[(&str, &str)]) -> ConfigFiles {
        let environment: BTreeMap<String, String> =
            variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let layers = layers.iter().map(|name| ConfigLayer::parse(name, &environment).unwrap());
        ConfigFiles::new(Options { layers: layers.collect(), ..self.options(&["**"]) })
    }
}

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

/// The URIs of a list.
async fn list(served: &ConfigFiles, parent: &str) -> Vec<String> {
    let parent = (!parent.is_empty()).then(|| uri(parent));
    let paging = PageRequest::first(1000);
    let page = served.list(&local_context(), parent.as_ref(), &paging).await.unwrap();
    page.items.iter().map(|item| item.uri.as_str().to_owned()).collect()
}

async fn stat(served: &ConfigFiles, text: &str) -> Arc<Resource> {
    served.stat(&local_context(), &uri(text)).await.unwrap()
}

/// A member of `_meta` of a resource, without its common prefix.
async fn meta(served: &ConfigFiles, text: &str, name: &str) -> Option<String> {
    let resource = stat(served, text).await;
    let name = format!("dev.refdesk/{name}");
    resource.extra.get(MemberPlace::Meta, &name).map(str::to_owned)
}

async fn try_read(
    served: &ConfigFiles,
    text: &str,
    format: Option<&str>,
) -> Result<Vec<(String, String)>, Error> {
    let request = ReadRequest { format: format.map(str::to_owned), ..ReadRequest::whole(1 << 30) };
    let reading = served.read(&local_context(), &uri(text), &request).await?;
    let Content::Parts(parts) = reading.content else { return Ok(Vec::new()) };
    let mut told = Vec::new();
    for part in parts {
        let text = String::from_utf8(bytes_of(part.body).await.to_vec()).unwrap();
        told.push((part.resource.mime.clone().unwrap_or_default(), text));
    }
    Ok(told)
}

/// The first part of a resource.
async fn read(served: &ConfigFiles, text: &str) -> String {
    try_read(served, text, None).await.unwrap().remove(0).1
}

async fn complete(
    served: &ConfigFiles,
    (template, variable): (&str, &str),
    typed: &str,
    file: Option<&str>,
) -> Vec<String> {
    let resolved = file.map(|file| ("file".to_owned(), file.to_owned())).into_iter().collect();
    let request = CompletionRequest { template, variable, typed, resolved: &resolved };
    served.complete(&local_context(), &request).await.unwrap().values
}

//! Tests of the documentation provider over a folder.

mod contract;
mod denied;
mod hostile;
mod languages;
mod layouts;
mod pages;
mod sections;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use redaction::Redaction;
use resource::{
    Complete as _, CompletionRequest, Content, Context, Error, MemberPlace, PageRequest,
    Provider as _, ReadRequest, Resource, Uri, UriRewrite,
};
use tempfile::TempDir;
use testkit::contract::bytes_of;
use testkit::local_context;

use super::{Documentation, LanguageTag, Options};
use crate::fs::{Fs, ListingMode, Options as FsOptions};

/// Public URIs have the mount's name `manual`.
struct Mounted;

impl UriRewrite for Mounted {
    fn to_public(&self, local: &str) -> Option<String> {
        Some(local.replacen("///", "///manual/", 1))
    }

    fn to_local(&self, public: &str) -> Option<String> {
        Some(public.replacen("///manual/", "///", 1))
    }
}

/// A folder of pages.
struct DocsTree(TempDir);

impl DocsTree {
    fn of(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    /// Makes a file this old.
    fn age(&self, path: &str, seconds: u64) {
        let file = fs::File::options().append(true).open(self.at(path)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    fn options(&self, languages: &[&str]) -> Options {
        let files = FsOptions { listing: ListingMode::Auto, ..FsOptions::new(self.0.path()) };
        Options {
            files: Arc::new(Fs::open(files).unwrap()),
            languages: languages.iter().map(|tag| LanguageTag::parse(tag).unwrap()).collect(),
            original: None,
            rewrite: Arc::new(Mounted),
            visibility: None,
            redaction: Redaction::default(),
            max_uri: 8 << 10,
        }
    }

    fn serve(&self, languages: &[&str]) -> Documentation {
        Documentation::new(self.options(languages)).unwrap()
    }
}

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

async fn try_list(served: &Documentation, parent: &str) -> Result<Vec<Arc<Resource>>, Error> {
    let parent = (!parent.is_empty()).then(|| uri(parent));
    let page = served.list(&local_context(), parent.as_ref(), &PageRequest::first(1000)).await?;
    Ok(page.items.into())
}

/// The names of a list.
async fn names(served: &Documentation, parent: &str) -> Vec<String> {
    let items = try_list(served, parent).await.unwrap();
    items.iter().map(|item| item.name.clone()).collect()
}

async fn stat(served: &Documentation, text: &str) -> Arc<Resource> {
    served.stat(&local_context(), &uri(text)).await.unwrap()
}

async fn read_as(
    ctx: &Context,
    served: &Documentation,
    text: &str,
) -> Result<(Arc<Resource>, String), Error> {
    let reading = served.read(ctx, &uri(text), &ReadRequest::whole(1 << 30)).await?;
    let Content::Parts(parts) = reading.content else { panic!("{text} is a collection") };
    let part = parts.into_iter().next().unwrap();
    let body = String::from_utf8(bytes_of(part.body).await.to_vec()).unwrap();
    Ok((part.resource, body))
}

async fn read(served: &Documentation, text: &str) -> String {
    read_as(&local_context(), served, text).await.unwrap().1
}

/// A member of `_meta`, without its common prefix.
fn meta<'a>(resource: &'a Resource, name: &str) -> Option<&'a str> {
    resource.extra.get(MemberPlace::Meta, &format!("dev.refdesk/{name}"))
}

async fn complete(
    served: &Documentation,
    (template, variable): (&str, &str),
    typed: &str,
    lang: Option<&str>,
) -> Vec<String> {
    let resolved = lang.map(|lang| ("lang".to_owned(), lang.to_owned())).into_iter().collect();
    let request = CompletionRequest { template, variable, typed, resolved: &resolved };
    served.complete(&local_context(), &request).await.unwrap().values
}

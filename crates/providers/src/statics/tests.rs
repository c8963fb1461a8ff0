//! Tests of the static provider: the provider contract, and support for the other tests.

mod files;
mod formats;
mod listing;
mod patterns;
mod watching;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use resource::{
    Annotations, Body, Content, Error, Part, Provider, Resource, Template, UnknownMembers, Uri,
    UriTemplate, Window,
};
use testkit::contract::{Expectations, bytes_of, contract};

use super::{
    ContentOrigin, FormatDeclaration, Options, ResourceDeclaration, Statics, TemplateDeclaration,
};

const WHOLE: Window = Window::Whole { limit: 1 << 40 };

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn form(mime: &str, origin: ContentOrigin) -> FormatDeclaration {
    FormatDeclaration { mime: Some(mime.to_owned()), origin }
}

fn entry(at: &str, formats: Vec<FormatDeclaration>) -> ResourceDeclaration {
    ResourceDeclaration { resource: Resource::new(uri(at), "name"), formats }
}

fn text(at: &str, text: &str) -> ResourceDeclaration {
    entry(at, vec![form("text/plain", ContentOrigin::Text(text.to_owned()))])
}

fn file(at: &str, mime: &str, path: &Path) -> ResourceDeclaration {
    entry(at, vec![form(mime, ContentOrigin::File(path.to_owned()))])
}

fn pattern(at: &str, mime: &str, text: &str, values: &[(&str, &[&str])]) -> TemplateDeclaration {
    let template = Template {
        uri: UriTemplate::parse(at).unwrap(),
        name: "person".to_owned(),
        title: Some("A person".to_owned()),
        description: Some("Somebody.".to_owned()),
        mime: Some(mime.to_owned()),
        icons: Vec::new(),
        annotations: Annotations { priority: Some(0.5), ..Annotations::default() },
        variables: Vec::new(),
        extra: UnknownMembers::default(),
    };
    let values: BTreeMap<String, Vec<String>> = values
        .iter()
        .map(|(name, values)| {
            ((*name).to_owned(), values.iter().copied().map(str::to_owned).collect())
        })
        .collect();
    TemplateDeclaration { template, text: text.to_owned(), values }
}

fn statics(resources: Vec<ResourceDeclaration>, templates: Vec<TemplateDeclaration>) -> Statics {
    Statics::new(Options { resources, templates, ttl: Duration::from_secs(5) })
}

async fn try_read(statics: &Statics, at: &str, window: &Window) -> Result<Vec<Part>, Error> {
    match statics.read(&testkit::local_context(), &uri(at), &window.clone().into()).await?.content {
        Content::Parts(parts) => Ok(parts),
        Content::Collection(_) | Content::InputRequired(_) => panic!("{at} is no collection"),
    }
}

async fn read(statics: &Statics, at: &str) -> Vec<u8> {
    let parts = try_read(statics, at, &WHOLE).await.unwrap();
    bytes_of(parts.into_iter().next().unwrap().body).await.to_vec()
}

fn is_text(part: &Part) -> bool {
    matches!(part.body, Body::Text(_))
}

/// A text, a blob, an empty text, a resource with two formats, and small and large files.
fn one_of_each(paths: &[PathBuf; 3]) -> Vec<ResourceDeclaration> {
    vec![
        text("note://welcome", "# Willkommen, 日本語 🦀"),
        entry("note://picture", vec![form("image/png", ContentOrigin::Bytes(vec![0x89, 0, 0xff]))]),
        text("note://empty", ""),
        entry(
            "note://report",
            vec![
                form("application/pdf", ContentOrigin::Bytes(vec![1, 2, 3, 4, 5])),
                form("text/plain", ContentOrigin::Text("five".to_owned())),
            ],
        ),
        file("disk:///small", "text/markdown", &paths[0]),
        file("disk:///large", "text/plain", &paths[1]),
        file("disk:///binary", "application/octet-stream", &paths[2]),
    ]
}

#[tokio::test]
async fn statics_keep_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let large = "жук🦀".repeat(200_000);
    let paths = ["small.md", "large.txt", "large.bin"].map(|name| folder.path().join(name));
    std::fs::write(&paths[0], "# Grüße").unwrap();
    std::fs::write(&paths[1], &large).unwrap();
    std::fs::write(&paths[2], vec![0xff; 1_500_000]).unwrap();
    let templates = vec![
        pattern(
            "note://person/{id}",
            "application/json",
            "{\"id\": \"{id}\"}",
            &[("id", &["ada"])],
        ),
        pattern("note://plain/{name}", "text/plain", "{name}", &[]),
        pattern("note://third/{+path}", "text/plain", "{path}", &[]),
    ];
    let known = Expectations {
        leaves: vec![
            (uri("note://picture"), vec![0x89, 0, 0xff]),
            (uri("note://report"), vec![1, 2, 3, 4, 5]),
            (uri("disk:///small"), "# Grüße".into()),
            (uri("disk:///large"), large.into()),
            (uri("note://person/ada"), b"{\"id\": \"ada\"}".to_vec()),
        ],
        collections: Vec::new(),
        missing: ["note://none", "note://welcome/", "other://welcome", "disk:///"]
            .map(uri)
            .to_vec(),
        prefix: Some("disk:///".to_owned()),
        outside: Vec::new(),
        open_watches: None,
    };
    contract(&statics(one_of_each(&paths), templates), &known).await;
}

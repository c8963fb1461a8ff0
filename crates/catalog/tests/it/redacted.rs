//! Tests of the redaction layer: no door of a mount tells a secret.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use catalog::layers::Layer;
use catalog::layers::redacted::{Redacted, RedactedMembers};
use futures_util::{StreamExt, stream};
use redaction::{Redaction, RedactionScope, Redactor};
use resource::{
    Body, ByteSource, CompletionRequest, ComponentCall, ComponentKind, Content, Context, ErrorKind,
    Facets, Freshness, HealthState, HealthStatus, Page, PageRequest, Part, Provider, ReadRequest,
    Reading, Resource, Result, Template, Uri, UriRewrite, Window,
};
use testkit::{Expectations, MemoryProvider, contract};

pub(crate) const PASSWORD: &str = "correct-horse-battery";
pub(crate) const CONFIG: &str = "file:///app/config.toml";
const NOTES: &str = "file:///app/notes.txt";

/// A key by shape, in two pieces so that no scanner takes this file for a leak.
pub(crate) fn key() -> String {
    ["AKIA", "QYLPMN5HFIQR7XYB"].concat()
}

fn config_text() -> String {
    format!("# 設定\nhost = \"db\"\npassword = \"{PASSWORD}\"\nid = \"{}\"\nport = 5432\n", key())
}

fn notes_text() -> String {
    format!("the key {} is old\n日本語のメモ\npassword = \"not a key here\"\n", key())
}

/// The redaction layer with threads of its own.
pub(crate) fn redacted_with(redaction: Redaction) -> Redacted {
    Redacted { redaction, work_pool: Arc::default() }
}

/// The same for members of archives.
pub(crate) fn members_redacted(redaction: Redaction) -> RedactedMembers {
    RedactedMembers { redaction, work_pool: Arc::default() }
}

pub(crate) fn redacted(scope: RedactionScope, inner: impl Provider) -> Arc<dyn Provider> {
    redacted_with(Redaction::new(scope, Arc::new(Redactor::default()))).around(Arc::new(inner))
}

pub(crate) fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn memory() -> MemoryProvider {
    MemoryProvider::new()
        .collection("file:///app", &[CONFIG, NOTES])
        .text(CONFIG, &config_text())
        .text(NOTES, &notes_text())
        .blob("file:///logo.png", &[1, 2, 3, 200, 201, 5])
        .template("note:///{+path}", "{path}", &[("path", &["a", &key()])])
        .with_watches()
}

async fn read(provider: &dyn Provider, of: &str, window: Window) -> Result<(Arc<Resource>, Bytes)> {
    let ctx = testkit::local_context();
    let reading = provider.read(&ctx, &uri(of), &window.into()).await?;
    let Content::Parts(mut parts) = reading.content else { panic!("{of} has no content") };
    let Part { resource, body, .. } = parts.remove(0);
    let (Body::Text(source) | Body::Blob(source)) = body;
    let bytes = match source {
        ByteSource::Bytes(bytes) => bytes,
        ByteSource::Stream(mut chunks) => {
            let mut all = Vec::new();
            while let Some(chunk) = chunks.next().await {
                all.extend_from_slice(&chunk?);
            }
            all.into()
        }
    };
    Ok((resource, bytes))
}

async fn whole(provider: &dyn Provider, of: &str) -> String {
    let (_, bytes) = read(provider, of, Window::Whole { limit: u64::MAX }).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn a_masked_mount_keeps_the_contract() {
    let provider = redacted(RedactionScope::Everything, memory());
    let masked = [CONFIG, NOTES].map(|of| whole(&*provider, of));
    let [config, notes] = futures_util::future::join_all(masked).await.try_into().unwrap();
    assert!(!config.contains(PASSWORD) && !config.contains(&key()), "{config}");
    assert!(config.contains("host = \"db\"") && config.contains("port = 5432"), "{config}");
    assert!(!notes.contains(&key()) && notes.contains("日本語のメモ"), "{notes}");
    let expected = Expectations {
        leaves: vec![(uri(CONFIG), config.into_bytes()), (uri(NOTES), notes.into_bytes())],
        collections: vec![(uri("file:///app"), vec![uri(CONFIG), uri(NOTES)])],
        missing: vec![uri("file:///nothing")],
        ..Expectations::default()
    };
    contract(&*provider, &expected).await;
    let streamed = redacted(RedactionScope::Everything, Streams::default());
    let missing = vec![uri("file:///nothing")];
    contract(&*streamed, &Expectations { missing, ..Expectations::default() }).await;
}

#[tokio::test]
async fn only_files_that_are_named_like_it_are_masked_by_default() {
    let provider = redacted(RedactionScope::SensitiveFiles, memory());
    assert!(!whole(&*provider, CONFIG).await.contains(PASSWORD));
    assert_eq!(whole(&*provider, NOTES).await, notes_text());
    let ctx = testkit::local_context();
    let (config, notes) = (uri(CONFIG), uri(NOTES));
    let plain = memory();
    let (before, after) = (plain.stat(&ctx, &config).await, provider.stat(&ctx, &config).await);
    let (before, after) = (before.unwrap(), after.unwrap());
    assert_eq!((before.size.is_some(), after.size), (true, None), "its size tells of the secret");
    assert!(before.etag.is_some() && after.etag.is_some() && before.etag != after.etag);
    let same = provider.stat(&ctx, &notes).await.unwrap();
    assert_eq!(*same, *plain.stat(&ctx, &notes).await.unwrap());
}

/// The name of a link says nothing about the file that it leads to.
#[tokio::test]
async fn a_link_to_a_file_that_is_masked_is_masked() {
    let (link, plain_link) = ("file:///link.txt", "file:///other.txt");
    let memory = MemoryProvider::new()
        .text(link, &format!("PORT=80\nDB_PASSWORD={PASSWORD}\n"))
        .with_description(|resource| resource.link_target = Some("deep/.env".into()))
        .text(plain_link, &notes_text())
        .with_description(|resource| resource.link_target = Some("deep/notes.txt".into()))
        .collection("file:///all", &[link, plain_link]);
    let provider = redacted(RedactionScope::SensitiveFiles, memory);
    let all = whole(&*provider, link).await;
    assert!(all.contains("PORT=80\nDB_PASSWORD=") && !all.contains(PASSWORD), "{all}");
    for offset in 0..all.len() as u64 {
        let window = Window::Part { offset, length: 7, etag: None };
        let (resource, bytes) = read(&*provider, link, window).await.unwrap();
        let end = all.len().min(offset as usize + 7);
        assert_eq!(bytes, all[offset as usize..end]);
        assert_eq!(resource.size, Some(all.len() as u64));
    }
    let ctx = testkit::local_context();
    let listed = provider.list(&ctx, Some(&uri("file:///all")), &PageRequest::first(9)).await;
    let sizes: Vec<_> = listed.unwrap().items.iter().map(|item| item.size.is_some()).collect();
    assert_eq!(sizes, [false, true], "a size tells of the secret");
    assert_eq!(whole(&*provider, plain_link).await, notes_text());
    let strict = MemoryProvider::new()
        .text("file:///data.txt", &format!("{{\"token\": \"{PASSWORD}\"}}"))
        .with_description(|resource| resource.link_target = Some("data.json".into()));
    let strict = redacted(RedactionScope::Everything, strict);
    assert!(!whole(&*strict, "file:///data.txt").await.contains(PASSWORD), "by its real name");
}

/// Windows of any size, from a text in memory and from a stream, join to the masked whole.
#[tokio::test]
async fn a_secret_across_the_edge_of_a_window_is_masked_on_both_sides() {
    let streams = redacted(RedactionScope::Everything, Streams::default());
    let memory = redacted(RedactionScope::Everything, memory());
    for (provider, of) in [(&memory, CONFIG), (&memory, NOTES), (&streams, Streams::SECRETS)] {
        let all = whole(&**provider, of).await;
        assert!(!all.contains(PASSWORD) && !all.contains(&key()), "{all}");
        for length in (1..40).chain([64, 100, 1000]) {
            let (mut joined, mut offset, mut version) = (String::new(), 0, None);
            while offset < all.len() as u64 {
                let window = Window::Part { offset, length, etag: version.clone() };
                let (resource, bytes) = read(&**provider, of, window).await.unwrap();
                version.clone_from(&resource.etag);
                assert_eq!(resource.size, Some(all.len() as u64), "the size of what is given");
                joined.push_str(std::str::from_utf8(&bytes).unwrap());
                offset += bytes.len() as u64;
            }
            assert_eq!(joined, all, "{of} by {length}");
        }
    }
}

#[tokio::test]
async fn a_stream_without_a_secret_is_read_by_window_from_the_source() {
    let source = Arc::new(Streams::default());
    let provider = redacted(RedactionScope::Everything, Arc::clone(&source));
    let window = Window::Part { offset: 3, length: 5, etag: None };
    let (_, bytes) = read(&*provider, Streams::CLEAN, window).await.unwrap();
    assert_eq!(bytes, Streams::clean_text()[3..8]);
    let windows = source.windows.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(windows, 1, "the window was asked of the source");
}

#[tokio::test]
async fn a_file_that_cannot_be_masked_is_not_given() {
    let large = format!("password = \"{}\"\n", "x".repeat(Redactor::MAX_PARSED_BYTES as usize));
    let memory = MemoryProvider::new()
        .blob("file:///keys.yaml", &[0, 255, 1])
        .blob("file:///logo.png", &[0, 255, 1, 7])
        .text("file:///large.toml", &large);
    let provider = redacted(RedactionScope::Everything, memory);
    let all = || Window::Whole { limit: u64::MAX };
    let error = read(&*provider, "file:///keys.yaml", all()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.message.contains("redact = false"), "{error}");
    for window in [all(), Window::Part { offset: 0, length: 9, etag: None }] {
        let error = read(&*provider, "file:///large.toml", window).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::TooLarge);
    }
    assert_eq!(read(&*provider, "file:///logo.png", all()).await.unwrap().1, [0, 255, 1, 7][..]);
    let window = Window::Part { offset: 1, length: 2, etag: None };
    assert_eq!(read(&*provider, "file:///logo.png", window).await.unwrap().1, [255, 1][..]);
}

pub(crate) struct Unchanged;

impl UriRewrite for Unchanged {
    fn to_public(&self, _local: &str) -> Option<String> {
        None
    }

    fn to_local(&self, _public: &str) -> Option<String> {
        None
    }
}

#[tokio::test]
async fn descriptions_completions_tools_and_health_are_masked() {
    let key = key();
    let json = format!(
        r#"{{"content":[{{"type":"text","text":"{{\"password\":\"{PASSWORD}\"}} {key}"}},
            {{"type":"text","text":"{{\"token\":\"{PASSWORD}\"}}"}}],
            "structuredContent":{{"password":"{PASSWORD}","port":5432}}}}"#
    );
    let schema = format!(
        r#"{{"name":"t","description":"uses {key}","inputSchema":{{"properties":{{"password":{{"type":"string"}}}}}}}}"#
    );
    let memory = memory()
        .with_health(HealthStatus::new(HealthState::Degraded, Some(format!("bad key {key}"))))
        .text("note:1", "x")
        .with_description(|resource| {
            resource.title = Some(format!("title {key}"));
            resource.description = Some(format!("postgres://app:{PASSWORD}@db/x"));
        })
        .tool("t", &schema, &json);
    let provider = redacted(RedactionScope::Everything, memory);
    let ctx = testkit::local_context();
    let told = format!("{:?}", provider.stat(&ctx, &uri("note:1")).await.unwrap());
    assert!(!told.contains(&key) && !told.contains(PASSWORD), "{told}");
    let Facets { complete, health, relay, .. } = provider.facets();
    let resolved = BTreeMap::new();
    let template = "note:///{+path}";
    let request = CompletionRequest { template, variable: "path", typed: "", resolved: &resolved };
    let completion = complete.unwrap().complete(&ctx, &request).await.unwrap();
    assert_eq!((completion.values, completion.total), (vec!["a".to_owned()], 1));
    let message = health.unwrap().health(&ctx).message.unwrap();
    assert!(message.starts_with("bad key [redacted"), "{message}");
    let (relay, paging) = (relay.unwrap(), PageRequest::first(9));
    let tools = relay.list_components(&ctx, ComponentKind::Tool, &Unchanged, &paging).await;
    let tool = &tools.unwrap().items[0];
    assert!(!tool.json.as_str().contains(&key), "{:?}", tool.json);
    assert!(tool.json.as_str().contains(r#""password":{"type":"string"}"#), "a name of a field");
    let call = ComponentCall {
        kind: ComponentKind::Tool,
        name: "t",
        params: &"{}".into(),
        uri_rewrite: &Unchanged,
    };
    let result = relay.call_component(&ctx, &call).await.unwrap();
    let text = result.as_str();
    assert!(!text.contains(&key) && !text.contains(PASSWORD), "{text}");
    assert!(text.contains(r#""port":5432"#), "{text}");
}

/// A provider that streams two texts in small chunks.
#[derive(Default)]
struct Streams {
    windows: std::sync::atomic::AtomicUsize,
}

impl Streams {
    const SECRETS: &str = "file:///secrets.txt";
    const CLEAN: &str = "file:///clean.txt";

    fn secret_text() -> String {
        let dashes = "-----";
        format!(
            "日本 {key}\nurl https://app:{PASSWORD}@host/x {key}{filler}\n{dashes}BEGIN PRIVATE \
             KEY{dashes}\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n{dashes}END PRIVATE KEY{dashes}\nend\n",
            key = key(),
            filler = " 語".repeat(40),
        )
    }

    fn clean_text() -> &'static str {
        "nothing to hide in here\n"
    }

    fn text_of(uri: &Uri) -> Result<String> {
        match uri.as_str() {
            Self::SECRETS => Ok(Self::secret_text()),
            Self::CLEAN => Ok(Self::clean_text().to_owned()),
            _ => Err(resource::Error::not_found(uri)),
        }
    }

    fn describe(uri: &Uri) -> Result<Arc<Resource>> {
        let mut resource = Resource::new(uri.clone(), "a text");
        resource.size = Some(Self::text_of(uri)?.len() as u64);
        resource.etag = Some("v1".to_owned());
        resource.mime = Some("text/plain".to_owned());
        Ok(Arc::new(resource))
    }
}

#[async_trait]
impl Provider for Streams {
    async fn list(
        &self,
        _: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        if let Some(uri) = parent {
            Self::describe(uri)?;
            return Err(resource::Error::invalid("not a collection").about(uri));
        }
        let at = match paging.cursor.as_ref().map(|cursor| &cursor.0[..]) {
            None => 0,
            Some(b"1") => 1,
            Some(_) => return Err(resource::Error::bad_cursor()),
        };
        let uris = [Self::CLEAN, Self::SECRETS].map(uri);
        let mut items: resource::Items<_> = uris[at..]
            .iter()
            .take(paging.limit.max(1))
            .map(Self::describe)
            .collect::<Result<_>>()?;
        let next = (at + items.len() < 2).then(|| resource::Cursor("1".into()));
        items.retain(|item| paging.shows(item));
        Ok(Page { items, next, ..Page::empty() })
    }

    async fn templates(&self, _: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        if paging.cursor.is_some() {
            return Err(resource::Error::bad_cursor());
        }
        Ok(Page::empty())
    }

    async fn stat(&self, _: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        Self::describe(uri)
    }

    async fn read(&self, _: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        let text = Bytes::from(Self::text_of(uri)?);
        let resource = Self::describe(uri)?;
        request.select(&mut vec![()], |()| Some("text/plain"))?;
        request.window.check(resource.etag.as_deref(), text.len() as u64)?;
        let (bytes, slice) = request.window.cut(&text, true);
        if slice.is_some() {
            self.windows.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        let characters: Vec<char> = std::str::from_utf8(&bytes).unwrap().chars().collect();
        let chunks: Vec<Result<Bytes>> = characters
            .chunks(3)
            .map(|chunk| Ok(Bytes::from(chunk.iter().collect::<String>())))
            .collect();
        let body = Body::Text(ByteSource::Stream(Box::pin(stream::iter(chunks))));
        let part = Part { resource, body, slice };
        Ok(Reading::new(Content::Parts(vec![part]), Freshness::default()))
    }

    fn facets(&self) -> Facets<'_> {
        Facets::default()
    }
}

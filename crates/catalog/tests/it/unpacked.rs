//! Tests of the archive layer: archives are collections, and their members resources.

use std::io::{Cursor as IoCursor, Write};
use std::sync::Arc;

use bytes::Bytes;
use catalog::layers::Layer;
use catalog::layers::unpacked::Unpacked;
use catalog::layers::withheld::Withheld;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::StreamExt;
use redaction::{Redaction, RedactionScope, Redactor};
use resource::{
    Body, ByteSource, Content, ErrorKind, Filter, PageRequest, Part, PathFilter, Provider,
    ReadRequest, Resource, Result, Uri, Window,
};
use testkit::{Expectations, MemoryProvider, contract};
use zip::write::SimpleFileOptions;

use crate::redacted::{members_redacted, redacted_with};

pub(crate) const ARCHIVE: &str = "file:///app/a.zip";

pub(crate) fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

pub(crate) fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(IoCursor::new(Vec::new()));
    for (name, content) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = Vec::new();
    for (name, content) in members {
        let mut block = [0; 512];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        block[136..147].copy_from_slice(b"00000000007");
        block[156] = b'0';
        block[148..156].fill(b' ');
        let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
        block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        file.extend_from_slice(&block);
        file.extend_from_slice(content);
        file.resize(file.len().next_multiple_of(512), 0);
    }
    file.resize(file.len() + 1024, 0);
    file
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn members() -> Vec<(&'static str, &'static [u8])> {
    vec![
        ("inner/x.txt", "hello\n日本語のテキスト\n".as_bytes()),
        ("inner/deep/y.md", b"# deep\n"),
        ("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\xff\xfe"),
        ("50% 資料.csv", b"a,b\n1,2\n"),
        ("empty", b""),
    ]
}

pub(crate) fn unpacked(inner: impl Provider) -> Arc<dyn Provider> {
    Unpacked.around(Arc::new(inner))
}

/// A provider with an archive `a.zip` of these bytes in a folder.
pub(crate) fn with_archive(name: &str, bytes: &[u8]) -> MemoryProvider {
    let archive = format!("file:///app/{name}");
    MemoryProvider::new()
        .collection("file:///app", &[&archive, "file:///app/plain.txt"])
        .blob(&archive, bytes)
        .text("file:///app/plain.txt", "plain")
        .with_watches()
}

pub(crate) async fn names(provider: &dyn Provider, parent: &str) -> Vec<String> {
    let ctx = testkit::local_context();
    let page = provider.list(&ctx, Some(&uri(parent)), &PageRequest::first(1000)).await.unwrap();
    page.items.iter().map(|item| item.uri.to_string()).collect()
}

pub(crate) async fn read(
    provider: &dyn Provider,
    of: &str,
    request: impl Into<ReadRequest>,
) -> Result<(Arc<Resource>, Bytes, bool)> {
    let reading = provider.read(&testkit::local_context(), &uri(of), &request.into()).await?;
    let Content::Parts(mut parts) = reading.content else { panic!("{of} has no content") };
    let Part { resource, body, .. } = parts.remove(0);
    let is_text = matches!(body, Body::Text(_));
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
    Ok((resource, bytes, is_text))
}

pub(crate) fn whole() -> Window {
    Window::Whole { limit: u64::MAX }
}

pub(crate) async fn text(provider: &dyn Provider, of: &str) -> String {
    let (_, bytes, is_text) = read(provider, of, whole()).await.unwrap();
    assert!(is_text, "{of} is no text");
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) async fn failure(provider: &dyn Provider, of: &str) -> (ErrorKind, String) {
    let error = read(provider, of, whole()).await.unwrap_err();
    (error.kind, error.message.into_owned())
}

#[tokio::test]
async fn a_mount_with_archives_keeps_the_contract() {
    let plain = tar_of(&members());
    let nested = zip_of(&[("in.tar.gz", &gzip(&plain)), ("note.txt", b"nested")]);
    let all: Vec<(&str, Vec<u8>)> = vec![
        ("a.zip", zip_of(&members())),
        ("a.tar", plain.clone()),
        ("a.tgz", gzip(&plain)),
        ("n.jar", nested),
    ];
    for (name, bytes) in all {
        let redaction = Redaction::new(RedactionScope::Everything, Arc::new(Redactor::default()));
        let masked = redacted_with(redaction.clone()).around(unpacked(with_archive(name, &bytes)));
        let members = members_redacted(redaction.clone());
        let stacks = [
            unpacked(with_archive(name, &bytes)),
            members.around(unpacked(with_archive(name, &bytes))),
            Withheld(redaction).around(masked),
        ];
        let root = match name {
            "n.jar" => "file:///app/n.jar/in.tar.gz".to_owned(),
            name => format!("file:///app/{name}"),
        };
        let at = |path: &str| uri(&format!("{root}/{path}"));
        let expected = Expectations {
            leaves: vec![
                (at("inner/x.txt"), "hello\n日本語のテキスト\n".into()),
                (at("50%25%20%E8%B3%87%E6%96%99.csv"), b"a,b\n1,2\n".to_vec()),
                (at("empty"), Vec::new()),
            ],
            collections: vec![
                (
                    uri(&root),
                    ["50%25%20%E8%B3%87%E6%96%99.csv", "empty", "inner", "logo.png"].map(at).into(),
                ),
                (at("inner"), vec![at("inner/deep"), at("inner/x.txt")]),
            ],
            missing: vec![
                at("nothing"),
                at("inner/x.txt/more"),
                at("inner/x.txt/"),
                uri("file:///b.zip/x"),
            ],
            prefix: Some(format!("{root}/")),
            outside: vec!["../plain.txt".to_owned(), "inner/../../plain.txt".to_owned()],
            open_watches: None,
        };
        for provider in stacks {
            contract::contract(&*provider, &expected).await;
        }
    }
}

#[tokio::test]
async fn an_archive_is_a_collection_whose_bytes_are_a_format() {
    let bytes = zip_of(&members());
    let provider = unpacked(with_archive("a.zip", &bytes));
    let ctx = testkit::local_context();
    let archive = provider.stat(&ctx, &uri(ARCHIVE)).await.unwrap();
    assert_eq!((archive.listable, archive.is_archive), (Some(true), true));
    let mime = archive.mime.clone().unwrap();
    assert_eq!(archive.formats[0].mime, mime);
    let reading = provider.read(&ctx, &uri(ARCHIVE), &whole().into()).await.unwrap();
    assert!(matches!(reading.content, Content::Collection(found) if found == archive));
    let format = ReadRequest { format: Some(mime), ..ReadRequest::whole(u64::MAX) };
    let (described, found, _) = read(&*provider, ARCHIVE, format).await.unwrap();
    assert_eq!((&found[..], described.is_archive), (&bytes[..], true));
    let window = Window::Part { offset: 0, length: 4, etag: archive.etag.clone() };
    assert_eq!(&read(&*provider, ARCHIVE, window).await.unwrap().1[..], b"PK\x03\x04");
    let other = ReadRequest { format: Some("text/html".to_owned()), ..ReadRequest::whole(9) };
    assert_eq!(read(&*provider, ARCHIVE, other).await.unwrap_err().kind, ErrorKind::Invalid);
    let listed = provider.list(&ctx, Some(&uri("file:///app")), &PageRequest::first(9)).await;
    assert_eq!(listed.unwrap().items[0], archive);
    let again = provider.stat(&ctx, &uri("file:///app/a.zip/")).await.unwrap();
    assert_eq!(again.uri.as_str(), "file:///app/a.zip/");
}

#[tokio::test]
async fn a_plain_list_does_not_go_into_archives() {
    let provider = unpacked(with_archive("a.zip", &zip_of(&members())));
    assert_eq!(names(&*provider, "file:///app").await, [ARCHIVE, "file:///app/plain.txt"]);
    let page =
        provider.list(&testkit::local_context(), None, &PageRequest::first(9)).await.unwrap();
    assert_eq!(page.items.len(), 1, "the folder alone");
}

#[tokio::test]
async fn ordinary_uris_cost_no_extra_request() {
    let inner = Arc::new(with_archive("a.zip", &zip_of(&members())));
    let provider = Unpacked.around(Arc::clone(&inner) as Arc<dyn Provider>);
    let ctx = testkit::local_context();
    provider.read(&ctx, &uri("file:///app/plain.txt"), &whole().into()).await.unwrap();
    assert_eq!(inner.counts().stats(), 0);
}

#[tokio::test]
async fn a_member_is_described_without_being_unpacked() {
    let provider = unpacked(with_archive("a.zip", &zip_of(&members())));
    let ctx = testkit::local_context();
    let x = provider.stat(&ctx, &uri("file:///app/a.zip/inner/x.txt")).await.unwrap();
    assert_eq!((x.name.as_str(), x.mime.as_deref()), ("x.txt", Some("text/plain")));
    assert_eq!((x.size, x.listable), (Some(31), Some(false)));
    assert!(x.annotations.modified.is_some() && x.etag.is_some());
    let again = provider.stat(&ctx, &x.uri).await.unwrap();
    assert!(Arc::ptr_eq(&x, &again), "an unchanged member is the same object");
    let folder = provider.stat(&ctx, &uri("file:///app/a.zip/inner")).await.unwrap();
    assert_eq!((folder.mime.as_deref(), folder.listable), (Some("inode/directory"), Some(true)));
}

#[tokio::test]
async fn text_in_another_charset_is_read_as_utf_8() {
    let sentence = "これは日本語の文書です。\n";
    let (shift_jis, _, _) = encoding_rs::SHIFT_JIS.encode(sentence);
    let long = shift_jis.repeat(300_000);
    let members: [(&str, &[u8]); 2] = [("a.txt", &shift_jis), ("long.txt", &long)];
    let provider = unpacked(with_archive("a.zip", &zip_of(&members)));
    assert_eq!(text(&*provider, "file:///app/a.zip/a.txt").await, sentence);
    let long = "file:///app/a.zip/long.txt";
    assert_eq!(text(&*provider, long).await, sentence.repeat(300_000));
    let window = Window::Part { offset: 37 * 200_000 + 1, length: 8, etag: None };
    let (described, bytes, _) = read(&*provider, long, window).await.unwrap();
    assert_eq!((&bytes[..], described.charset), ("れは".as_bytes(), Some("Shift_JIS")));
}

#[tokio::test]
async fn large_members_are_read_in_windows_and_as_a_stream() {
    let long: String = (0..400_000).map(|line| format!("行 {line} of a long text\n")).collect();
    let blob: Vec<u8> = (0..6_000_000_u32).map(|at| (at % 251) as u8).collect();
    let members: [(&str, &[u8]); 2] = [("long.txt", long.as_bytes()), ("blob.bin", &blob)];
    for (name, bytes) in [("a.zip", zip_of(&members)), ("a.tar.gz", gzip(&tar_of(&members)))] {
        let provider = unpacked(with_archive(name, &bytes));
        let at = format!("file:///app/{name}/long.txt");
        assert!(text(&*provider, &at).await == long, "{name}");
        let offset = 5_000_000;
        let window = Window::Part { offset, length: 100, etag: None };
        let (_, bytes, is_text) = read(&*provider, &at, window).await.unwrap();
        let start = long.ceil_char_boundary(offset as usize);
        let end = long.floor_char_boundary(start + 100);
        assert_eq!((&bytes[..], is_text), (&long.as_bytes()[start..end], true));
        let window = Window::Part { offset, length: 100, etag: None };
        let at = format!("file:///app/{name}/blob.bin");
        let (_, bytes, is_text) = read(&*provider, &at, window).await.unwrap();
        assert_eq!((&bytes[..], is_text), (&blob[5_000_000..5_000_100], false));
        let limit = Window::Whole { limit: 1000 };
        assert_eq!(read(&*provider, &at, limit).await.unwrap_err().kind, ErrorKind::TooLarge);
    }
}

#[tokio::test]
async fn archives_in_archives_are_opened_three_deep() {
    let fourth = zip_of(&[("leaf.txt", b"fourth")]);
    let third = zip_of(&[("leaf.txt", b"third"), ("4.zip", &fourth)]);
    let second = gzip(&tar_of(&[("dir/3.zip", &third)]));
    let first = zip_of(&[("2.tar.gz", &second)]);
    let provider = unpacked(with_archive("a.zip", &first));
    let third = "file:///app/a.zip/2.tar.gz/dir/3.zip";
    assert_eq!(text(&*provider, &format!("{third}/leaf.txt")).await, "third");
    assert_eq!(names(&*provider, third).await.len(), 2);
    let ctx = testkit::local_context();
    let fourth = provider.stat(&ctx, &uri(&format!("{third}/4.zip"))).await.unwrap();
    assert_eq!(fourth.listable, Some(false), "an archive that is too deep is a file");
    let (kind, _) = failure(&*provider, &format!("{third}/4.zip/leaf.txt")).await;
    assert_eq!(kind, ErrorKind::NotFound);
    let nested = provider.stat(&ctx, &uri("file:///app/a.zip/2.tar.gz")).await.unwrap();
    assert_eq!((nested.listable, nested.is_archive), (Some(true), true));
    let format = ReadRequest { format: nested.mime.clone(), ..ReadRequest::whole(u64::MAX) };
    let (_, bytes, _) = read(&*provider, nested.uri.as_str(), format).await.unwrap();
    assert_eq!(&bytes[..], &second[..]);
}

#[tokio::test]
async fn a_folder_with_the_name_of_an_archive_is_a_folder() {
    let inner = MemoryProvider::new()
        .collection("file:///old.zip", &["file:///old.zip/a.txt", "file:///old.zip/b.zip"])
        .text("file:///old.zip/a.txt", "in a folder")
        .blob("file:///old.zip/b.zip", &zip_of(&members()));
    let provider = unpacked(inner);
    assert_eq!(text(&*provider, "file:///old.zip/a.txt").await, "in a folder");
    assert_eq!(names(&*provider, "file:///old.zip").await.len(), 2);
    assert_eq!(text(&*provider, "file:///old.zip/b.zip/inner/deep/y.md").await, "# deep\n");
}

#[tokio::test]
async fn filters_and_pages_hold_in_archives() {
    let many: Vec<(String, Vec<u8>)> = (0..500)
        .map(|at| (format!("f{at:03}.{}", if at % 2 == 0 { "md" } else { "txt" }), vec![b'x']))
        .collect();
    let many: Vec<(&str, &[u8])> =
        many.iter().map(|(name, content)| (name.as_str(), &content[..])).collect();
    let provider = unpacked(with_archive("a.zip", &zip_of(&many)));
    let ctx = testkit::local_context();
    let filter = Filter { mime: Some("text/markdown".to_owned()), ..Filter::default() };
    let mut paging = PageRequest::first(7).with_filter(Some(Arc::new(filter)));
    let mut found = Vec::new();
    loop {
        let page = provider.list(&ctx, Some(&uri(ARCHIVE)), &paging).await.unwrap();
        assert!(page.items.len() <= 7);
        found.extend(page.items.iter().map(|item| item.name.clone()));
        let Some(next) = page.next else { break };
        paging.cursor = Some(next);
    }
    assert_eq!(found.len(), 250);
    assert!(found.is_sorted() && found.iter().all(|name| name.ends_with(".md")));
    // A pattern that leads into the archive shows it on the way.
    let path = PathFilter::new("file:///app/a.zip/f00", |_| true);
    let filter = Filter { path: Some(path), keep_collections: true, ..Filter::default() };
    let paging = PageRequest::first(100).with_filter(Some(Arc::new(filter)));
    let on_the_way = provider.list(&ctx, Some(&uri("file:///app")), &paging).await.unwrap();
    assert_eq!(on_the_way.items.len(), 1);
    let inside = provider.list(&ctx, Some(&uri(ARCHIVE)), &paging).await.unwrap();
    assert_eq!(inside.items.len(), 10);
}

#[tokio::test]
async fn members_are_masked_as_files_are() {
    let secret = b"host = \"db\"\npassword = \"correct-horse-battery\"\n";
    let bytes = zip_of(&[("config.toml", secret), ("other.txt", b"x")]);
    let redaction = Redaction::new(RedactionScope::Everything, Arc::new(Redactor::default()));
    let member = "file:///app/a.zip/config.toml";
    let both = redacted_with(redaction.clone()).around(unpacked(with_archive("a.zip", &bytes)));
    let members = members_redacted(redaction).around(unpacked(with_archive("a.zip", &bytes)));
    for provider in [both, members] {
        let masked = text(&*provider, member).await;
        assert!(masked.contains("host") && !masked.contains("correct-horse"), "{masked}");
        let window = Window::Part { offset: 0, length: 4, etag: None };
        let (_, start, _) = read(&*provider, ARCHIVE, window).await.unwrap();
        assert_eq!(&start[..], b"PK\x03\x04", "the bytes of the archive");
    }
}

#[tokio::test]
async fn windows_in_a_row_unpack_a_large_member_once() {
    // Pseudo-random text, so that the archive is as large as its content.
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b' ' + (state >> 24) as u8 % 95
    };
    let long: Vec<u8> = std::iter::repeat_with(&mut next).take(6 << 20).collect();
    let inner = Arc::new(with_archive("a.zip", &zip_of(&[("long.txt", &long)])));
    let provider = Unpacked.around(Arc::clone(&inner) as Arc<dyn Provider>);
    let at = "file:///app/a.zip/long.txt";
    let first = Window::Part { offset: 0, length: 1000, etag: None };
    read(&*provider, at, first).await.unwrap();
    let before = inner.counts().reads();
    let mut joined = Vec::new();
    while joined.len() < long.len() {
        let window = Window::Part { offset: joined.len() as u64, length: 100_000, etag: None };
        joined.extend_from_slice(&read(&*provider, at, window).await.unwrap().1);
    }
    assert!(joined == long);
    let reads = inner.counts().reads() - before;
    assert!(reads < 40, "{reads} reads for 63 windows of 6 MiB");
    // A window further back begins anew.
    let back = Window::Part { offset: 5, length: 5, etag: None };
    assert_eq!(&read(&*provider, at, back).await.unwrap().1[..], &long[5..10]);
}

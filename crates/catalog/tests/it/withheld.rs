//! Tests of the withholding layer: no answer has a secret of a member, in whatever packing.

use std::io::{Cursor, Write};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use catalog::layers::Layer;
use catalog::layers::rendered::{ConvertJob, Converter, Rendered};
use catalog::layers::unpacked::Unpacked;
use catalog::layers::withheld::Withheld;
use convert::{Conversion, Document, Options};
use futures_util::StreamExt;
use redaction::{Redaction, RedactionScope, Redactor};
use resource::{
    Accept, Body, ByteSource, Content, Error, ErrorKind, PageRequest, Provider, ReadRequest,
    Reading, Result, Window,
};
use testkit::MemoryProvider;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use crate::redacted::{members_redacted, redacted_with};
use crate::unpacked::{gzip, tar_of, text, uri, with_archive, zip_of};

const SECRET: &str = "correct-horse-battery";
const CLEAN: &[u8] = b"host = \"db\"\n";

fn config() -> Vec<u8> {
    format!("host = \"db\"\npassword = \"{SECRET}\"\n").into_bytes()
}

fn zip_by(method: CompressionMethod, members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, content) in members {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The same members in every packing, by the name of the archive.
fn packings(config: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let members: &[(&str, &[u8])] = &[("app/db.toml", config), ("app/x.txt", b"x")];
    let stored = zip_by(CompressionMethod::Stored, members);
    let tar = tar_of(members);
    vec![
        ("stored.zip", stored.clone()),
        ("deflated.zip", zip_by(CompressionMethod::Deflated, members)),
        ("plain.tar", tar.clone()),
        ("packed.tar.gz", gzip(&tar)),
        ("nested.zip", zip_of(&[("inner.zip", &stored), ("y.txt", b"y")])),
        ("deep.tar", tar_of(&[("in.tgz", &gzip(&tar_of(&[("in.zip", &stored)])))])),
        ("mail.zip", zip_of(&[("plan.eml", &mail(config))])),
    ]
}

/// A mail with an attachment in base64.
fn mail(attachment: &[u8]) -> Vec<u8> {
    mail_of(b"Hello", attachment)
}

fn mail_of(body: &[u8], attachment: &[u8]) -> Vec<u8> {
    format!(
        "From: a@example.com\r\nSubject: Plan\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}\r\n--b\r\n\
         Content-Disposition: attachment; filename=\"db.toml\"\r\n\
         Content-Type: application/toml; name=\"db.toml\"\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}\r\n--b--\r\n",
        base64(body),
        base64(attachment)
    )
    .into_bytes()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |group: &[u8]| {
        let all = group.iter().fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
        let all = all << (8 * (3 - group.len()));
        let digit = |at: usize| match at <= group.len() {
            true => char::from(DIGITS[(all >> (18 - 6 * at)) as usize & 63]),
            false => '=',
        };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(digits).collect()
}

/// Converts in this process.
struct InProcess;

#[async_trait]
impl Converter for InProcess {
    async fn convert(&self, job: ConvertJob<'_>) -> Result<Conversion> {
        if job.name == "busy.eml" {
            return Err(Error::unavailable("too many documents are being converted"));
        }
        let bytes = all_bytes(job.source.open().await?).await?;
        let options = &Options::default();
        let document = Document { kind: job.kind, bytes: &bytes, name: job.name, options };
        let converted = convert::convert(&document, job.form);
        converted.map_err(|error| Error::new(ErrorKind::Unsupported, error.to_string()))
    }
}

async fn all_bytes(source: ByteSource) -> Result<Vec<u8>> {
    let mut chunks = match source {
        ByteSource::Bytes(bytes) => return Ok(bytes.to_vec()),
        ByteSource::Stream(chunks) => chunks,
    };
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().await {
        all.extend_from_slice(&chunk?);
    }
    Ok(all)
}

fn masking(scope: RedactionScope) -> Redaction {
    static REDACTOR: LazyLock<Arc<Redactor>> = LazyLock::new(Arc::default);
    Redaction::new(scope, Arc::clone(&REDACTOR))
}

/// The layers of a mount that masks, as a folder has them, and as a repository has them.
fn mounts(inner: &Arc<MemoryProvider>, scope: RedactionScope) -> [Arc<dyn Provider>; 3] {
    let redaction = masking(scope);
    let unpacked = || Unpacked.around(Arc::clone(inner) as Arc<dyn Provider>);
    let render = |inner| {
        let (redaction, formats) = (redaction.clone(), Accept::parse([]).unwrap());
        Rendered { converter: Arc::new(InProcess), redaction, formats, keep: false }.around(inner)
    };
    let withhold = |inner| Withheld(redaction.clone()).around(inner);
    [
        withhold(render(redacted_with(redaction.clone()).around(unpacked()))),
        withhold(redacted_with(redaction.clone()).around(unpacked())),
        withhold(render(members_redacted(redaction.clone()).around(unpacked()))),
    ]
}

fn mount(name: &str, bytes: &[u8]) -> Arc<dyn Provider> {
    let [first, ..] = mounts(&Arc::new(with_archive(name, bytes)), RedactionScope::Everything);
    first
}

fn window(offset: u64, length: u64) -> ReadRequest {
    Window::Part { offset, length, etag: None }.into()
}

async fn bytes_of(reading: Reading) -> Result<Vec<u8>> {
    let Content::Parts(parts) = reading.content else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for part in parts {
        let (Body::Text(source) | Body::Blob(source)) = part.body;
        all.extend(all_bytes(source).await?);
    }
    Ok(all)
}

async fn read(provider: &dyn Provider, of: &str, request: &ReadRequest) -> Result<Vec<u8>> {
    bytes_of(provider.read(&testkit::local_context(), &uri(of), request).await?).await
}

/// Asserts that the bytes of an archive are withheld, whole and by window.
async fn assert_withheld(provider: &dyn Provider, of: &str) {
    let mime = provider.stat(&testkit::local_context(), &uri(of)).await.unwrap().mime.clone();
    let whole = ReadRequest { format: mime.clone(), ..ReadRequest::whole(u64::MAX) };
    let part = ReadRequest { format: mime, ..window(0, 64) };
    for request in [whole, part, window(0, 16), window(40, 1 << 20), window(7, 1)] {
        let error = read(provider, of, &request).await.expect_err(of);
        assert_eq!(error.kind, ErrorKind::Unsupported, "{of}: {error}");
        assert!(error.message.contains("withheld"), "{of}: {error}");
    }
}

/// All that a mount says of a resource and what is in it.
async fn answers(provider: &dyn Provider, of: &str, all: &mut Vec<Vec<u8>>) {
    let ctx = testkit::local_context();
    let described = provider.stat(&ctx, &uri(of)).await.unwrap();
    all.push(format!("{described:?}").into_bytes());
    let formats = described.formats.iter().map(|format| Some(format.mime.clone()));
    for format in formats.chain([None, described.mime.clone()]) {
        for request in [ReadRequest::whole(u64::MAX), window(0, 1 << 20), window(60, 4096)] {
            let request = ReadRequest { format: format.clone(), ..request };
            match read(provider, of, &request).await {
                Ok(bytes) => all.push(bytes),
                Err(error) => all.push(error.to_string().into_bytes()),
            }
        }
    }
    if described.listable == Some(true) {
        let page = provider.list(&ctx, Some(&uri(of)), &PageRequest::first(1000)).await.unwrap();
        for item in page.items {
            Box::pin(answers(provider, item.uri.as_str(), all)).await;
        }
    }
}

fn holds(answer: &[u8], sought: &[u8]) -> bool {
    answer.windows(sought.len()).any(|bytes| bytes == sought)
}

#[tokio::test]
async fn no_answer_has_a_secret_of_a_member_in_any_packing() {
    let packed_secret = base64(SECRET.as_bytes());
    for scope in [RedactionScope::Everything, RedactionScope::SensitiveFiles] {
        for (name, bytes) in packings(&config()) {
            let of = format!("file:///app/{name}");
            for provider in mounts(&Arc::new(with_archive(name, &bytes)), scope) {
                assert_withheld(&*provider, &of).await;
                let mut all = Vec::new();
                answers(&*provider, &of, &mut all).await;
                assert!(all.len() > 10 && all.iter().any(|answer| holds(answer, b"[redacted")));
                for answer in &all {
                    assert!(!holds(answer, SECRET.as_bytes()), "{name} {scope:?}");
                    assert!(!holds(answer, &packed_secret.as_bytes()[..20]), "{name} {scope:?}");
                    // A piece of the packed archive may be unpacked by its reader.
                    assert!(!holds(answer, &bytes[..24]), "{name} {scope:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn an_archive_without_secrets_is_given_byte_for_byte() {
    for (name, bytes) in packings(CLEAN) {
        let of = format!("file:///app/{name}");
        for provider in mounts(&Arc::new(with_archive(name, &bytes)), RedactionScope::Everything) {
            let mime =
                provider.stat(&testkit::local_context(), &uri(&of)).await.unwrap().mime.clone();
            let whole = ReadRequest { format: mime, ..ReadRequest::whole(u64::MAX) };
            assert_eq!(read(&*provider, &of, &whole).await.unwrap(), bytes, "{name}");
            let part = read(&*provider, &of, &window(10, 20)).await.unwrap();
            assert_eq!(part, &bytes[10..30], "{name}");
        }
    }
}

#[tokio::test]
async fn a_mail_whose_secret_is_packed_is_given_as_its_masked_text() {
    let of = "file:///app/plan.eml";
    let key = ["AKIA", "QYLPMN5HFIQR7XYB"].concat();
    let packed_body = mail_of(format!("the key is {key}\n").as_bytes(), CLEAN);
    for bytes in [mail(&config()), packed_body] {
        let inner = MemoryProvider::new().text(of, std::str::from_utf8(&bytes).unwrap());
        let inner = Arc::new(inner.of_type("message/rfc822"));
        let [rendered, plain, _] = mounts(&inner, RedactionScope::Everything);
        let ctx = testkit::local_context();
        let reading = rendered.read(&ctx, &uri(of), &ReadRequest::whole(u64::MAX)).await.unwrap();
        let Content::Parts(parts) = &reading.content else { panic!("no parts") };
        assert_eq!(parts[0].resource.mime.as_deref(), Some("text/markdown"));
        let notes = &parts[0].resource.notes;
        assert!(notes.iter().any(|note| note.contains("withheld")), "{notes:?}");
        assert_eq!(parts.len(), 1);
        assert_withheld(&*rendered, of).await;
        let mut all = Vec::new();
        answers(&*rendered, of, &mut all).await;
        for answer in &all {
            for secret in [SECRET, &key] {
                assert!(!holds(answer, secret.as_bytes()));
            }
            for packed in [base64(&config()), base64(format!("the key is {key}\n").as_bytes())] {
                assert!(!holds(answer, packed.as_bytes()));
            }
        }
        if holds(&bytes, base64(&config()).as_bytes()) {
            // Without a text of the mail there is nothing to give.
            assert_withheld(&*plain, of).await;
        }
    }
    let clean = mail(CLEAN);
    let inner = MemoryProvider::new().text(of, std::str::from_utf8(&clean).unwrap());
    let [provider, ..] =
        mounts(&Arc::new(inner.of_type("message/rfc822")), RedactionScope::Everything);
    assert_eq!(text(&*provider, of).await.as_bytes(), clean);
}

#[tokio::test]
async fn what_cannot_be_searched_is_withheld() {
    let clean: (&str, &[u8]) = ("x.toml", CLEAN);
    let secret = config();
    let leaf = zip_of(&[clean]);
    let too_deep = zip_of(&[("2.zip", &zip_of(&[("3.zip", &zip_of(&[("4.zip", &leaf)]))]))]);
    let broken = zip_of(&[("in.zip", b"PK\x03\x04 this is none")]);
    let whole = tar_of(&[clean, ("y.txt", &[b'y'; 5000])]);
    // Each has a secret, or may have one, where no member shows it.
    for (name, bytes) in [
        ("deep.zip", too_deep),
        ("broken.zip", broken),
        ("keys.zip", zip_of(&[(".env", b"\0\x01\xff\xfe binary")])),
        ("outside.tar", tar_of(&[clean, ("../up.toml", &secret)])),
        ("twice.tar", tar_of(&[("x.toml", &secret), clean])),
        ("cut.tar", whole[..whole.len() - 4096].to_vec()),
    ] {
        assert_withheld(&*mount(name, &bytes), &format!("file:///app/{name}")).await;
    }
    let deepest = "file:///app/deep.zip/2.zip/3.zip/4.zip";
    let bytes = zip_of(&[("2.zip", &zip_of(&[("3.zip", &zip_of(&[("4.zip", &leaf)]))]))]);
    assert_withheld(&*mount("deep.zip", &bytes), deepest).await;
}

#[tokio::test]
async fn an_archive_is_searched_once_for_each_version() {
    let members: Vec<(String, Vec<u8>)> =
        (0..50).map(|at| (format!("f{at}.txt"), vec![b'x'; 100])).collect();
    let members: Vec<(&str, &[u8])> =
        members.iter().map(|(name, content)| (name.as_str(), &content[..])).collect();
    let inner = Arc::new(with_archive("a.zip", &zip_of(&members)));
    let [provider, ..] = mounts(&inner, RedactionScope::Everything);
    let of = "file:///app/a.zip";
    read(&*provider, of, &window(0, 10)).await.unwrap();
    let before = inner.counts().reads();
    for at in 0..20 {
        read(&*provider, of, &window(at, 10)).await.unwrap();
    }
    let reads = inner.counts().reads() - before;
    assert!(reads <= 60, "{reads} reads for 20 windows of an archive of 50 members");
}

#[tokio::test]
async fn a_mail_that_cannot_be_searched_now_is_an_error_that_passes() {
    let of = "file:///app/busy.eml";
    let bytes = mail(CLEAN);
    let inner = MemoryProvider::new().text(of, std::str::from_utf8(&bytes).unwrap());
    let [provider, ..] =
        mounts(&Arc::new(inner.of_type("message/rfc822")), RedactionScope::Everything);
    let error = read(&*provider, of, &ReadRequest::whole(u64::MAX)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
}

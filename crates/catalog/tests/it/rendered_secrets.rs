//! Tests of secrets in documents: none gets out in a title, a note, an original or after a failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use catalog::layers::Layer;
use catalog::layers::rendered::{ConvertJob, Converter, FormExtent, Rendered};
use convert::{Conversion, Document, Options};
use redaction::{Redaction, RedactionScope, Redactor};
use resource::{Accept, Error, ErrorKind, Provider, ReadRequest, Result, Window};
use testkit::MemoryProvider;
use testkit::documents::{document, docx, pdf, png, text_cell, workbook};

use crate::rendered::{collect, key, of_format, read_parts, whole};

/// Converts in this process.
pub(crate) struct LocalConverter;

#[async_trait]
impl Converter for LocalConverter {
    async fn convert(&self, job: ConvertJob<'_>) -> Result<Conversion> {
        let bytes = collect(job.source.open().await?).await;
        let usual = Options::default();
        let options = match job.extent {
            FormExtent::Shown => usual,
            FormExtent::Searched => Options {
                max_table_rows: Options::WITHOUT_LIMIT,
                max_table_columns: Options::WITHOUT_LIMIT,
                ..usual
            },
        };
        let (kind, name) = (job.kind, job.name);
        let document = Document { kind, bytes: &bytes, name, options: &options };
        convert::convert(&document, job.form).map_err(Error::from)
    }
}

fn masked(memory: MemoryProvider, converter: Arc<dyn Converter>) -> Arc<dyn Provider> {
    let redaction = Redaction::new(RedactionScope::Everything, Arc::new(Redactor::default()));
    let layer = Rendered { converter, redaction, formats: Accept::default(), keep: true };
    layer.around(Arc::new(memory))
}

/// A mount that masks, with one document of this name.
fn desk(name: &str, bytes: &[u8]) -> (Arc<dyn Provider>, String) {
    let uri = format!("file:///app/{name}");
    let ending = name.rsplit('.').next().unwrap();
    let kind = convert::DocumentKind::of_name(name, None).unwrap();
    let memory = MemoryProvider::new().blob(&uri, bytes).of_type(kind.mime());
    assert!(!ending.is_empty());
    (masked(memory, Arc::new(LocalConverter)), uri)
}

fn first_bytes() -> ReadRequest {
    Window::Part { offset: 0, length: 5_000, etag: None }.into()
}

/// Reads all that a client can read of a document, and asserts that the key is nowhere in it, and
/// that the text stands in the place of the original.
async fn assert_withheld(provider: &dyn Provider, uri: &str, mime: &str, text: &str) {
    let parts = read_parts(provider, uri, &whole()).await.unwrap();
    assert_eq!(parts.len(), 1, "{uri}");
    let (given, body) = &parts[0];
    assert_eq!(given.mime.as_deref(), Some(text), "{uri}");
    assert!(given.notes.iter().any(|note| note.contains("withheld")), "{uri} {:?}", given.notes);
    assert!(!format!("{given:?}{body}").contains(&key()), "{uri} {given:?} {body}");
    for request in [of_format(mime), first_bytes()] {
        let error = read_parts(provider, uri, &request).await.unwrap_err();
        assert!(error.message.contains("withheld"), "{uri} {error}");
    }
}

#[tokio::test]
async fn titles_of_slides_and_names_of_sheets_are_masked() {
    for (name, mime) in [("deck.pptx", "pptx"), ("plan.xlsx", "xlsx"), ("plan.ods", "ods")] {
        let words = format!("key {}", key());
        let (provider, uri) = desk(name, &document(mime, &words));
        let parts = read_parts(&*provider, &uri, &of_format("text/markdown")).await.unwrap();
        let outline = parts[0].0.outline.clone().unwrap();
        assert!(outline.titles[0].title.starts_with("key "), "{name} {outline:?}");
        assert!(!format!("{outline:?}").contains(&key()), "{name} {outline:?}");
        let kind = convert::DocumentKind::of_name(name, None).unwrap();
        assert_withheld(&*provider, &uri, kind.mime(), "text/markdown").await;
    }
}

#[tokio::test]
async fn what_is_said_of_a_book_is_masked() {
    let container = "<container><rootfiles><rootfile full-path='a.opf'/></rootfiles></container>";
    let item = format!("<item id='a' href='{}.xhtml' media-type='application/xhtml+xml'/>", key());
    let spine = "<spine><itemref idref='a'/><itemref idref='b'/></spine>";
    let good = "<item id='b' href='b.xhtml' media-type='application/xhtml+xml'/>";
    let opf = format!("<package><manifest>{item}{good}</manifest>{spine}</package>");
    let book = testkit::documents::package(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", container),
        ("a.opf", &opf),
        ("b.xhtml", "<html><body><p>clean words</p></body></html>"),
    ]);
    let (provider, uri) = desk("book.epub", &book);
    let parts = read_parts(&*provider, &uri, &of_format("text/markdown")).await.unwrap();
    assert!(parts[0].0.notes[0].contains("is missing"), "{:?}", parts[0].0.notes);
    assert_withheld(&*provider, &uri, "application/epub+zip", "text/markdown").await;
}

#[tokio::test]
async fn a_secret_that_the_form_does_not_show_withholds_the_original() {
    let row = |number: usize, text: &str| {
        format!("<row r='{number}'>{}</row>", text_cell(&format!("A{number}"), text))
    };
    let secret = |at: usize| {
        move |number: usize| {
            row(number, &if number == at { key() } else { format!("row {number}") })
        }
    };
    let long: String = (1..=1_400).map(secret(1_400)).collect();
    let long_word: String = (1..=1_400)
        .map(|number| {
            let text = if number == 1_400 { key() } else { format!("row {number}") };
            format!("<w:tr><w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc></w:tr>")
        })
        .collect();
    let formula = format!("CONCATENATE(\"{}\",\"{}\")", "x".repeat(90), key());
    let formula = format!("<row r='1'><c r='A1'><f>{formula}</f><v>1</v></c></row>");
    let documents = [
        ("long.xlsx", workbook("Sheet", &long)),
        ("formula.xlsx", workbook("Sheet", &formula)),
        ("long.docx", docx(&format!("<w:tbl>{long_word}</w:tbl>"))),
    ];
    for (name, bytes) in documents {
        let (provider, uri) = desk(name, &bytes);
        let kind = convert::DocumentKind::of_name(name, None).unwrap();
        assert_withheld(&*provider, &uri, kind.mime(), "text/markdown").await;
    }
    let clean: String = (1..=1_400).map(secret(9_999)).collect();
    let (provider, uri) = desk("clean.xlsx", &workbook("Sheet", &clean));
    assert_eq!(read_parts(&*provider, &uri, &whole()).await.unwrap().len(), 2, "without a secret");
}

#[tokio::test]
async fn a_private_key_over_two_pages_of_a_pdf_is_masked_on_both() {
    let line =
        |at: usize| format!("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7Vx{at:02}pQ");
    let lines = |from: usize, to: usize| (from..to).map(line).collect::<Vec<_>>().join("\n");
    let kind = ["PRIVATE", " KEY"].concat();
    let first = format!("-----BEGIN {kind}-----\n{}", lines(0, 12));
    let second = format!("{}\n-----END {kind}-----", lines(12, 24));
    let (provider, uri) = desk("keys.pdf", &pdf(&[first, second]));
    for format in ["text/markdown", "text/plain"] {
        let parts = read_parts(&*provider, &uri, &of_format(format)).await.unwrap();
        assert!(!parts[0].1.contains("MIIEv"), "{format}: {}", parts[0].1);
    }
    assert_withheld(&*provider, &uri, "application/pdf", "text/markdown").await;
}

#[tokio::test]
async fn an_image_whose_text_is_masked_is_withheld_and_another_is_given() {
    let (provider, uri) = desk("photo.png", &png(&format!("key {}", key())));
    assert_withheld(&*provider, &uri, "image/png", "text/plain").await;
    let clean = png("a harbour");
    let (provider, uri) = desk("photo.png", &clean);
    let parts = read_parts(&*provider, &uri, &whole()).await.unwrap();
    assert_eq!((parts.len(), parts[0].0.mime.as_deref()), (1, Some("image/png")));
}

#[tokio::test]
async fn a_document_that_cannot_be_converted_is_withheld_and_its_reason_is_masked() {
    let broken = format!("no package, but {}", key());
    let (provider, uri) = desk("broken.docx", broken.as_bytes());
    let requests = [whole(), first_bytes(), of_format(convert::DocumentKind::Docx.mime())];
    for request in requests {
        let error = read_parts(&*provider, &uri, &request).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
        assert!(error.message.contains("cannot be searched for secrets"), "{error}");
        assert!(!error.message.contains(&key()), "{error}");
    }
    struct Telling;
    #[async_trait]
    impl Converter for Telling {
        async fn convert(&self, _job: ConvertJob<'_>) -> Result<Conversion> {
            Err(Error::new(ErrorKind::Unsupported, format!("the part {:?} is broken", key())))
        }
    }
    let memory =
        MemoryProvider::new().blob(&uri, b"PK").of_type(convert::DocumentKind::Docx.mime());
    let provider = masked(memory, Arc::new(Telling));
    for request in [whole(), of_format("text/markdown")] {
        let error = read_parts(&*provider, &uri, &request).await.unwrap_err();
        assert!(error.message.contains("is broken") && !error.message.contains(&key()), "{error}");
    }
}

/// Takes ten seconds and fails, the first time.
#[derive(Default)]
struct SlowStarter {
    attempts: AtomicUsize,
}

#[async_trait]
impl Converter for SlowStarter {
    async fn convert(&self, _job: ConvertJob<'_>) -> Result<Conversion> {
        if self.attempts.fetch_add(1, Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_secs(10)).await;
            return Err(Error::unavailable("the conversion took longer than 10s"));
        }
        Ok(Conversion::text(format!("the key is {}", key())))
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_out_gives_no_original_and_is_tried_again_later() {
    let uri = "file:///app/report.pdf";
    let memory = || MemoryProvider::new().blob(uri, b"%PDF").of_type("application/pdf");
    let converter = Arc::new(SlowStarter::default());
    let provider = masked(memory(), Arc::clone(&converter) as Arc<dyn Converter>);
    for request in [whole(), of_format("application/pdf"), first_bytes()] {
        let error = read_parts(&*provider, uri, &request).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    }
    assert_eq!(converter.attempts.load(Ordering::Relaxed), 1, "not at once");
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_withheld(&*provider, uri, "application/pdf", "text/markdown").await;

    let plain = Rendered {
        converter: Arc::new(SlowStarter::default()),
        redaction: Redaction::default(),
        formats: Accept::default(),
        keep: true,
    };
    let provider = plain.around(Arc::new(memory()));
    let parts = read_parts(&*provider, uri, &whole()).await.unwrap();
    assert!(parts.len() == 1 && parts[0].0.notes[0].contains("longer than"), "{:?}", parts[0].0);
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(read_parts(&*provider, uri, &whole()).await.unwrap().len(), 2, "tried again");
}

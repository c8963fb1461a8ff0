//! Tests of the rendering layer: forms, sections, windows, versions and masks of documents.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use catalog::layers::Layer;
use catalog::layers::rendered::{ConvertJob, Converter, Rendered};
use convert::{Conversion, DocumentKind, Form, Section};
use futures_util::StreamExt;
use redaction::{Redaction, RedactionScope, Redactor};
use resource::{
    Accept, Body, ByteSource, Content, Error, ErrorKind, PageRequest, Part, Provider, ReadRequest,
    Resource, Result, SectionChoice, SectionUnit, Uri, Window,
};
use testkit::{Expectations, MemoryProvider, contract};

const REPORT: &str = "file:///app/report.pdf";
const SHEET: &str = "file:///app/plan.xlsx";
const BROKEN: &str = "file:///app/broken.docx";
const PAGE: &str = "file:///app/page.html";
const NOTES: &str = "file:///app/notes.txt";

/// A key by shape, in two pieces so that no scanner takes this file for a leak.
pub(crate) fn key() -> String {
    ["AKIA", "QYLPMN5HFIQR7XYB"].concat()
}

/// Makes three sections of the document's own text, and counts how often.
#[derive(Default)]
struct SectionMaker {
    made: AtomicUsize,
}

#[async_trait]
impl Converter for SectionMaker {
    async fn convert(&self, job: ConvertJob<'_>) -> Result<Conversion> {
        self.made.fetch_add(1, Ordering::Relaxed);
        let text = collect(job.source.open().await?).await;
        let text = String::from_utf8(text.to_vec()).unwrap();
        if job.name == "broken.docx" {
            return Err(Error::new(ErrorKind::Unsupported, "the package is broken"));
        }
        if job.kind.section_unit().is_none() {
            let mark = text.starts_with('\u{FEFF}');
            return Ok(Conversion::text(format!(
                "{} {mark} {}",
                job.form.mime(),
                text.trim_start_matches('\u{FEFF}').trim()
            )));
        }
        let mut converted = Conversion::default();
        for (at, title) in ["One", "Two", "三"].into_iter().enumerate() {
            let (title, start) = (Some(title.to_owned()), converted.body.len());
            converted.sections.push(Section { title, start, is_hidden: at == 1 });
            let piece = if job.form == Form::Csv { "a,b" } else { &text };
            converted.body.extend(format!("<{at}>\n{piece}\n日本\n").into_bytes());
        }
        converted.losses.push("a picture is left out".to_owned());
        Ok(converted)
    }
}

pub(crate) async fn collect(source: ByteSource) -> Bytes {
    match source {
        ByteSource::Bytes(bytes) => bytes,
        ByteSource::Stream(mut stream) => {
            let mut all = BytesMut::new();
            while let Some(chunk) = stream.next().await {
                all.extend_from_slice(&chunk.unwrap());
            }
            all.freeze()
        }
    }
}

fn memory() -> MemoryProvider {
    let secret = format!("the key is {}", key());
    MemoryProvider::new()
        .collection("file:///app", &[REPORT, SHEET, BROKEN, PAGE, NOTES])
        .blob(REPORT, secret.as_bytes())
        .of_type("application/pdf")
        .blob(SHEET, b"numbers")
        .of_type(DocumentKind::Xlsx.mime())
        .blob(BROKEN, b"none")
        .of_type(DocumentKind::Docx.mime())
        .text(PAGE, "<p>Hi</p>")
        .of_type("text/html")
        .text(NOTES, "plain notes\n")
}

struct Desk {
    provider: Arc<dyn Provider>,
    maker: Arc<SectionMaker>,
}

fn desk(scope: RedactionScope, formats: &[&str]) -> Desk {
    let maker = Arc::new(SectionMaker::default());
    let redaction = Redaction::new(scope, Arc::new(Redactor::default()));
    let formats = Accept::parse(formats.iter().copied()).unwrap();
    let converter = Arc::clone(&maker) as Arc<dyn Converter>;
    let layer = Rendered { converter, redaction, formats, keep: true };
    Desk { provider: layer.around(Arc::new(memory())), maker }
}

fn plain_desk() -> Desk {
    desk(RedactionScope::Off, &[])
}

pub(crate) fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

pub(crate) fn whole() -> ReadRequest {
    ReadRequest::whole(u64::MAX)
}

pub(crate) fn of_format(format: &str) -> ReadRequest {
    ReadRequest { format: Some(format.to_owned()), ..whole() }
}

fn of_section(unit: SectionUnit, range: &str) -> ReadRequest {
    ReadRequest { section: Some(SectionChoice::parse_range(unit, range).unwrap()), ..whole() }
}

/// The parts of a reading: their descriptions and their contents.
pub(crate) async fn read_parts(
    provider: &dyn Provider,
    of: &str,
    request: &ReadRequest,
) -> Result<Vec<(Arc<Resource>, String)>> {
    let reading = provider.read(&testkit::local_context(), &uri(of), request).await?;
    let Content::Parts(parts) = reading.content else { panic!("{of} has no content") };
    assert_eq!(reading.total_parts, parts.len(), "{of}");
    let mut given = Vec::new();
    for Part { resource, body, .. } in parts {
        let (Body::Text(source) | Body::Blob(source)) = body;
        let bytes = collect(source).await;
        given.push((resource, String::from_utf8_lossy(&bytes).into_owned()));
    }
    Ok(given)
}

impl Desk {
    async fn parts(&self, of: &str, request: &ReadRequest) -> Result<Vec<(Arc<Resource>, String)>> {
        read_parts(&*self.provider, of, request).await
    }

    async fn one(&self, of: &str, request: &ReadRequest) -> Result<(Arc<Resource>, String)> {
        let mut parts = self.parts(of, request).await?;
        assert_eq!(parts.len(), 1, "{of} {request:?}");
        Ok(parts.remove(0))
    }
}

#[tokio::test]
async fn the_rendered_provider_keeps_the_contract() {
    let expected =
        Expectations { missing: vec![uri("file:///app/none.pdf")], ..Expectations::default() };
    contract::contract(&*plain_desk().provider, &expected).await;
}

#[tokio::test]
async fn a_list_names_the_forms_and_converts_nothing() {
    let desk = plain_desk();
    let ctx = testkit::local_context();
    let page = desk.provider.list(&ctx, Some(&uri("file:///app")), &PageRequest::first(10)).await;
    let formats = |of: &str| -> Vec<String> {
        let items = &page.as_ref().unwrap().items;
        let item = items.iter().find(|item| item.uri == uri(of)).unwrap();
        item.formats.iter().map(|format| format.mime.clone()).collect()
    };
    assert_eq!(formats(REPORT), ["application/pdf", "text/markdown", "text/plain"]);
    assert_eq!(
        formats(PAGE),
        ["text/html", "text/markdown", "text/plain", "text/html;variant=sanitised"]
    );
    assert_eq!(formats(NOTES), [""; 0]);
    assert_eq!(desk.maker.made.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_document_is_read_with_its_text_beside_it_and_a_text_alone() {
    let desk = plain_desk();
    let parts = desk.parts(REPORT, &whole()).await.unwrap();
    let mimes: Vec<_> = parts.iter().map(|(part, _)| part.mime.as_deref().unwrap()).collect();
    assert_eq!(mimes, ["application/pdf", "text/markdown"]);
    let (original, text) = (&parts[0].0, &parts[1].0);
    assert_eq!((&original.name, &original.annotations), (&text.name, &text.annotations));
    assert_eq!(text.size, Some(parts[1].1.len() as u64));
    assert!(text.etag.is_some() && text.etag != original.etag);
    assert_eq!(text.notes, ["a picture is left out"]);
    let outline = text.outline.as_ref().unwrap();
    let hidden: Vec<bool> = outline.titles.iter().map(|known| known.is_hidden).collect();
    assert_eq!((outline.total, hidden), (Some(3), vec![false, true, false]));
    assert_eq!(desk.parts(PAGE, &whole()).await.unwrap().len(), 1);
    let broken = desk.parts(BROKEN, &whole()).await.unwrap();
    assert_eq!((broken.len(), broken[0].1.as_str()), (1, "none"));
    assert_eq!(broken[0].0.notes, ["its text is left out: the package is broken"]);
}

/// The number after its name tells a manual page, also one that is compressed.
#[tokio::test]
async fn a_manual_page_is_a_document_compressed_or_not() {
    let page = "file:///man/ls.1.gz";
    let memory = MemoryProvider::new()
        .collection("file:///man", &[page])
        .blob(page, b"packed")
        .of_type("application/gzip");
    let maker = Arc::new(SectionMaker::default());
    let redaction = Redaction::new(RedactionScope::Off, Arc::new(Redactor::default()));
    let formats = Accept::parse([]).unwrap();
    let converter = Arc::clone(&maker) as Arc<dyn Converter>;
    let layer = Rendered { converter, redaction, formats, keep: true };
    let desk = Desk { provider: layer.around(Arc::new(memory)), maker };
    let parts = desk.parts(page, &whole()).await.unwrap();
    let mimes: Vec<_> = parts.iter().map(|(part, _)| part.mime.as_deref().unwrap()).collect();
    assert_eq!(mimes, ["application/gzip", "text/markdown"]);
    let known: Vec<_> = parts[0].0.formats.iter().map(|format| format.mime.as_str()).collect();
    assert_eq!(known, ["application/gzip", "text/markdown", "text/plain", "text/html"]);
}

#[tokio::test]
async fn each_form_is_converted_once_for_a_version() {
    let desk = plain_desk();
    for _ in 0..3 {
        desk.parts(REPORT, &whole()).await.unwrap();
        desk.one(REPORT, &of_format("text/markdown")).await.unwrap();
        desk.parts(BROKEN, &whole()).await.unwrap();
    }
    assert_eq!(desk.maker.made.load(Ordering::Relaxed), 2);
    let request = whole();
    let (one, other) = tokio::join!(desk.parts(SHEET, &request), desk.parts(SHEET, &request));
    assert_eq!(one.unwrap().len() + other.unwrap().len(), 4);
    assert_eq!(desk.maker.made.load(Ordering::Relaxed), 3, "shared while it is made");
}

#[tokio::test]
async fn a_format_is_given_alone_and_one_that_is_not_there_is_refused_by_name() {
    let desk = plain_desk();
    let (html, text) = desk.one(PAGE, &of_format("text/html")).await.unwrap();
    assert_eq!((html.mime.as_deref(), text.as_str()), (Some("text/html"), "<p>Hi</p>"));
    let (_, text) = desk.one(PAGE, &of_format("text/html;variant=sanitised")).await.unwrap();
    assert_eq!(text, "text/html;variant=sanitised true <p>Hi</p>", "marked as UTF-8");
    let error = desk.one(PAGE, &of_format("image/png")).await.unwrap_err();
    assert_eq!((error.kind, error.formats.len()), (ErrorKind::Invalid, 4));
    let error = desk.one(BROKEN, &of_format("text/markdown")).await.unwrap_err();
    assert_eq!(error.message, "the package is broken");
    let chosen = crate::rendered::desk(RedactionScope::Off, &["text/markdown"]);
    let (form, _) = chosen.one(PAGE, &whole()).await.unwrap();
    assert_eq!(form.mime.as_deref(), Some("text/markdown"), "as the mount's settings say");
    assert_eq!(chosen.one(NOTES, &whole()).await.unwrap().1, "plain notes\n");
}

#[tokio::test]
async fn windows_are_of_the_format_that_the_settings_of_the_mount_say() {
    let desk = desk(RedactionScope::Off, &["text/markdown"]);
    let window = |etag: Option<&str>, part: Option<usize>| {
        let etag = etag.map(str::to_owned);
        let window = Window::Part { offset: 0, length: 6, etag };
        ReadRequest { part, ..window.into() }
    };
    let (form, text) = desk.one(REPORT, &window(None, None)).await.unwrap();
    assert_eq!((form.mime.as_deref(), text.as_str()), (Some("text/markdown"), "<0>\nth"));
    let (_, text) = desk.one(REPORT, &window(form.etag.as_deref(), Some(0))).await.unwrap();
    assert_eq!(text, "<0>\nth", "of the version of the form");
    let error = desk.one(REPORT, &window(Some("other"), None)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Changed, "not of the original");
    let error = desk.one(REPORT, &window(None, Some(1))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid, "there is one part");
    let (original, text) = desk.one(BROKEN, &window(None, None)).await.unwrap();
    assert_eq!(original.mime.as_deref(), Some(DocumentKind::Docx.mime()));
    assert_eq!(text, "none", "what cannot be converted is given as it is");
    assert_eq!(desk.one(NOTES, &window(None, None)).await.unwrap().1, "plain ");
}

#[tokio::test]
async fn pages_and_sheets_are_windows_and_past_the_end_says_how_many_there_are() {
    let desk = plain_desk();
    let page = |range: &str| of_section(SectionUnit::Page, range);
    let (_, text) = desk.one(REPORT, &page("2")).await.unwrap();
    assert!(text.starts_with("<1>\n") && text.ends_with("日本\n") && !text.contains("<2>"));
    let (_, text) = desk.one(REPORT, &page("2-3")).await.unwrap();
    assert!(text.starts_with("<1>\n") && text.contains("<2>"));
    let error = desk.one(REPORT, &page("37")).await.unwrap_err();
    assert!(error.message.contains("3 pages"), "{error}");
    let named = ReadRequest { section: Some(SectionChoice::sheet("三")), ..of_format("text/csv") };
    assert_eq!(desk.one(SHEET, &named).await.unwrap().1, "<2>\na,b\n日本\n");
    let first = desk.one(SHEET, &of_format("text/csv")).await.unwrap().1;
    assert_eq!(first, "<0>\na,b\n日本\n", "a table is of one sheet");
    let error = desk.one(PAGE, &page("1")).await.unwrap_err();
    assert!(error.message.contains("no pages"), "{error}");
    let error = desk.one(SHEET, &page("1")).await.unwrap_err();
    assert!(error.message.contains("ask for sheet"), "{error}");
    let window = Window::Part { offset: 2, length: 3, etag: None };
    let (_, text) = desk.one(REPORT, &page("2").with_window(window)).await.unwrap();
    assert_eq!(text, ">\nt", "counted from the start of the page");
}

#[tokio::test]
async fn a_text_is_given_where_its_original_is_too_large() {
    let desk = plain_desk();
    let large = "x".repeat(1_000);
    let memory = MemoryProvider::new().blob(REPORT, large.as_bytes());
    let memory = memory.of_type("application/pdf");
    let small = Arc::new(Shortener);
    let (redaction, formats) = (Redaction::default(), Accept::default());
    let layer = Rendered { converter: small, redaction, formats, keep: true };
    let provider = layer.around(Arc::new(memory));
    let desk = Desk { provider, maker: desk.maker };
    let (text, body) = desk.one(REPORT, &ReadRequest::whole(100)).await.unwrap();
    assert_eq!(body, "short");
    assert!(text.notes[0].contains("over the limit"), "{:?}", text.notes);
    let error = desk.one(REPORT, &ReadRequest::whole(2)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
}

struct Shortener;

#[async_trait]
impl Converter for Shortener {
    async fn convert(&self, _job: ConvertJob<'_>) -> Result<Conversion> {
        Ok(Conversion::text("short"))
    }
}

#[tokio::test]
async fn where_a_secret_is_masked_in_the_text_the_original_is_withheld() {
    let desk = desk(RedactionScope::Everything, &[]);
    let (text, body) = desk.one(REPORT, &whole()).await.unwrap();
    assert_eq!(text.mime.as_deref(), Some("text/markdown"));
    assert!(!body.contains(&key()) && body.contains("the key is"), "{body}");
    assert!(text.notes.iter().any(|note| note.contains("withheld")), "{:?}", text.notes);
    let (_, third) = desk.one(REPORT, &of_section(SectionUnit::Page, "3")).await.unwrap();
    assert!(third.starts_with("<2>\n") && !third.contains(&key()), "{third}");
    let window = Window::Part { offset: 0, length: 100, etag: None };
    for request in [of_format("application/pdf"), ReadRequest::from(window)] {
        let error = desk.one(REPORT, &request).await.unwrap_err();
        assert!(error.message.contains("withheld"), "{error}");
    }
    let parts = desk.parts(SHEET, &whole()).await.unwrap();
    assert_eq!((parts.len(), parts[0].1.as_str()), (2, "numbers"), "without a secret in it");
}

//! The command `convert`: converts a document on the command line, as the server would.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use async_trait::async_trait;
use bytes::Bytes;
use catalog::layers::rendered::{ConvertJob, Converter as _, DocumentSource, FormExtent};
use clap::error::ErrorKind as UsageErrorKind;
use convert::{Conversion, DocumentKind, MAX_DOCUMENT_BYTES};
use resource::{Accept, ByteSource, Principal, SectionChoice, SectionUnit};
use serde_json::json;

use crate::args::{Args, ConvertArgs};
use crate::conversion::ConvertPool;
use crate::output;
use crate::settings::RenderSettings;

/// After how long a person is told that the conversion goes on, and how often.
const PATIENCE: Duration = Duration::from_secs(1);

/// Converts the file, or lists what can be converted.
pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<ExitCode> {
    if args.list {
        output::print(&list_kinds(args.json))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(file) = &args.file else { return Ok(usage("a FILE is needed, or - for stdin")) };
    let accept = match Accept::parse([args.to.as_str()]) {
        Ok(accept) if !accept.is_empty() => accept,
        _ => return Ok(usage("--to takes a MIME type such as text/markdown")),
    };
    let section = match section(args) {
        Ok(section) => section,
        Err(why) => return Ok(usage(&why)),
    };
    let bytes = read(file)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let kind = DocumentKind::of_content(&bytes, &name, args.from.as_deref());
    let kind = kind.with_context(|| {
        let hint = "name its type with --from, or see refdesk convert --list";
        format!("{} is no document that can be converted; {hint}", file.display())
    })?;
    let forms = kind.forms();
    let form = accept.choose(forms.iter().map(|form| form.mime())).with_context(|| {
        let known: Vec<_> = forms.iter().map(|form| form.mime()).collect();
        format!("there is no {} of {}; there are {}", args.to, kind.word(), known.join(", "))
    })?;
    let source = FileSource(bytes.into());
    let (chosen, extent) = (forms[form], FormExtent::Shown);
    let principal = Principal::local();
    let job = ConvertJob {
        kind,
        form: chosen,
        extent,
        name: &name,
        source: &source,
        keep: true,
        principal: principal.key(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let converted = runtime.block_on(convert_with_progress(&name, job))?;
    for loss in &converted.losses {
        output::tell(&format!("note: {loss}\n"));
    }
    let whole = (&converted.sections[..], converted.body.len());
    let outline = converted.outline(kind);
    let range = convert::chosen_range(whole, outline.as_ref(), forms[form], section.as_ref())?;
    match io::stdout().lock().write_all(&converted.body[range]) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written?,
    }
    Ok(ExitCode::SUCCESS)
}

fn section(args: &ConvertArgs) -> Result<Option<SectionChoice>, String> {
    let pages = args.pages.as_deref();
    let slides = args.slides.as_deref();
    pages
        .map(|pages| SectionChoice::parse_range(SectionUnit::Page, pages))
        .or_else(|| slides.map(|slides| SectionChoice::parse_range(SectionUnit::Slide, slides)))
        .or_else(|| args.sheet.as_deref().map(|sheet| Ok(SectionChoice::sheet(sheet))))
        .transpose()
}

/// Refuses the arguments, as the parser of arguments does.
fn usage(why: &str) -> ExitCode {
    use clap::CommandFactory as _;
    let error = Args::command().error(UsageErrorKind::ValueValidation, why);
    let _ = error.print();
    ExitCode::from(2)
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let cannot = || format!("cannot read {}", file.display());
    if file == Path::new("-") {
        let stdin = io::stdin().lock();
        stdin.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes).with_context(cannot)?;
    } else {
        let opened = File::open(file).with_context(cannot)?;
        opened.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes).with_context(cannot)?;
    }
    let is_small = bytes.len() as u64 <= MAX_DOCUMENT_BYTES;
    anyhow::ensure!(is_small, "the document is over the limit of {MAX_DOCUMENT_BYTES} bytes");
    Ok(bytes)
}

/// Converts, and tells a person at a terminal that it goes on.
async fn convert_with_progress(name: &str, job: ConvertJob<'_>) -> anyhow::Result<Conversion> {
    let pool = ConvertPool::new(RenderSettings::default().limits());
    let started = Instant::now();
    let mut converting = pool.convert(job);
    loop {
        let Ok(done) = tokio::time::timeout(PATIENCE, &mut converting).await else {
            if io::stderr().is_terminal() {
                output::tell(&format!("\rconverting {name}: {} s ", started.elapsed().as_secs()));
            }
            continue;
        };
        if started.elapsed() > PATIENCE && io::stderr().is_terminal() {
            output::tell("\r\u{1b}[K");
        }
        return Ok(done?);
    }
}

struct FileSource(Bytes);

#[async_trait]
impl DocumentSource for FileSource {
    async fn open(&self) -> resource::Result<ByteSource> {
        Ok(ByteSource::Bytes(self.0.clone()))
    }
}

/// What can be converted to what.
fn list_kinds(as_json: bool) -> String {
    let forms =
        |kind: DocumentKind| -> Vec<&str> { kind.forms().iter().map(|form| form.mime()).collect() };
    if as_json {
        let kinds = DocumentKind::all()
            .map(|kind| json!({ "from": kind.mime(), "document": kind.word(), "to": forms(kind) }));
        let kinds: Vec<_> = kinds.collect();
        return format!("{}\n", json!({ "conversions": kinds }));
    }
    let mut text = String::new();
    for kind in DocumentKind::all() {
        let line = format!("{}, {}\n    {}\n", kind.word(), kind.mime(), forms(kind).join(", "));
        text.push_str(&line);
    }
    text
}

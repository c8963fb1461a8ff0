//! The child process that converts one document: its command line, and what it does.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use catalog::layers::rendered::{ConvertJob, FormExtent};
use convert::{ConvertError, Document, DocumentKind, Form, MAX_DOCUMENT_BYTES, Options};
use tokio::process::Command;

use super::pdf_program::PdfProgram;
use super::{ConvertLimits, MAX_RESULT_BYTES, frame, sandbox};
use crate::args::ConvertWorkerArgs;

/// The command line of the child for `job`.
pub(super) fn command(
    program: &str,
    job: &ConvertJob<'_>,
    limits: &ConvertLimits,
    pdf_program: Option<&PdfProgram>,
) -> Command {
    let mut command = Command::new(program);
    let options = &limits.options;
    let (rows, columns) = match job.extent {
        FormExtent::Shown => (options.max_table_rows, options.max_table_columns),
        FormExtent::Searched => (Options::WITHOUT_LIMIT, Options::WITHOUT_LIMIT),
    };
    command.arg("convert-worker").arg(kind_text(job.kind)).arg(job.form.mime());
    command.arg(format!("--memory={}", limits.memory));
    command.arg(format!("--seconds={}", limits.time.as_secs().max(1)));
    command.arg(format!("--rows={rows}"));
    command.arg(format!("--columns={columns}"));
    command.arg(format!("--pixels={}", options.thumbnail_pixels));
    if options.with_position {
        command.arg("--position");
    }
    if let Some(program) = pdf_program {
        command.arg("--pdftotext").arg(&program.path);
    }
    command.arg("--").arg(OsStr::new(shown_name(job)));
    command.env_clear();
    // The program that reads PDF may be a script, which runs others.
    command.envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
    command.env("LC_ALL", "C.UTF-8");
    command
}

/// What a converter is told of the name: all of it for source code, whose language it tells, else the
/// ending alone, because the command line is there for all to see.
pub(super) fn shown_name<'a>(job: &ConvertJob<'a>) -> &'a str {
    let name = job.name.rsplit('/').next().unwrap_or(job.name);
    let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
    if job.kind == DocumentKind::Source { name } else { ending }
}

fn kind_text(kind: DocumentKind) -> &'static str {
    if kind == DocumentKind::Source { "source" } else { kind.mime() }
}

fn parse_kind(text: &str) -> Option<DocumentKind> {
    if text == "source" {
        return Some(DocumentKind::Source);
    }
    DocumentKind::of_name("", Some(text))
}

/// Converts the document on standard input, and writes the answer to standard output.
pub(crate) fn run(args: &ConvertWorkerArgs) -> anyhow::Result<ExitCode> {
    let kind = parse_kind(&args.kind);
    let (Some(kind), Some(form)) = (kind, Form::of_mime(&args.form)) else {
        anyhow::bail!("no such kind of document or form");
    };
    let options = Options {
        max_table_rows: args.rows,
        max_table_columns: args.columns,
        thumbnail_pixels: args.pixels,
        with_position: args.position,
        max_output_bytes: usize::try_from(MAX_RESULT_BYTES / 2)?,
        max_unpacked_bytes: args.memory / 4,
        pdftotext: args.pdftotext.clone(),
    };
    sandbox::enter(args.memory, args.seconds, args.pdftotext.as_deref())?;
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes)?;
    let answer = if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        Err(ConvertError::over_limit("the document is too large to be converted"))
    } else {
        let document = Document { kind, bytes: &bytes, name: &args.name, options: &options };
        convert::convert(&document, form)
    };
    let mut output = io::stdout().lock();
    output.write_all(&frame::encode(&answer))?;
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}

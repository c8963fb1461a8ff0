//! Benchmarks of documents: conversions beside pdftotext and pandoc, and reads of what is kept.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::{
    fixture::{self, ListingOption},
    measure::median,
    message::BenchRequest,
    options::Options,
    process_usage,
    report::{progress, time},
    scaling_bench::ScalingRow,
    server_process::{self, ServerCommand},
    verify::{VerifyingClient, check_read},
};

const PAGES: usize = 100;
const LINES: usize = 40;
/// Runs of each converter; the median counts.
const RUNS: usize = 7;
/// Conversions per measurement, because child CPU time is counted in 1/100 s.
const AT_A_TIME: u32 = 3;
const READS: u32 = 400;

/// Measures the conversions and the reads that are selected.
///
/// # Errors
/// When refdesk, pdftotext or pandoc does not start, or a result is not the expected one.
pub async fn run(options: &Options) -> anyhow::Result<Vec<ScalingRow>> {
    let mut rows = Vec::new();
    let scratch = options.scratch()?.join("documents");
    let works = ["markdown of a 100-page PDF", "markdown of a 100-page docx", "read a kept form"];
    if !works.iter().any(|work| options.wants(work)) {
        return Ok(rows);
    }
    fs::create_dir_all(&scratch).context("make the scratch folder")?;
    let (pdf, docx) = (scratch.join("book.pdf"), scratch.join("book.docx"));
    fs::write(&pdf, pdf_of(PAGES)).context("write the PDF")?;
    write_docx(&docx, PAGES).context("write the docx")?;
    let refdesk = options.refdesk()?;
    let pdftotext = ["pdftotext", "-enc", "UTF-8", path_text(&pdf)?, "-"].map(str::to_owned);
    let pandoc =
        ["pandoc", "--wrap=none", "--to", "markdown", path_text(&docx)?].map(str::to_owned);
    for (work, file, rival) in [(works[0], &pdf, &pdftotext[..]), (works[1], &docx, &pandoc[..])] {
        if options.wants(work) {
            progress(work);
            rows.push(conversion(work, (&refdesk, &scratch), file, rival)?);
        }
    }
    if options.wants(works[2]) {
        progress(works[2]);
        rows.push(kept_read(works[2], &refdesk, &scratch).await?);
    }
    Ok(rows)
}

fn path_text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().context("the scratch folder has a name that is no text")
}

fn conversion(
    work: &str,
    (refdesk, scratch): (&Path, &Path),
    file: &Path,
    rival: &[String],
) -> anyhow::Result<ScalingRow> {
    let cache = scratch.join("cache");
    let own = [path_text(refdesk)?, "convert", path_text(file)?].map(str::to_owned);
    let run = |measured: &[String]| -> anyhow::Result<()> {
        // What is kept must be converted again.
        let _ = fs::remove_dir_all(&cache);
        let (program, arguments) = measured.split_first().context("no converter")?;
        let mut command = Command::new(program);
        command.args(arguments).env("XDG_CACHE_HOME", &cache);
        expect_text(command)
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        ours.push(cpu_of(|| run(&own))?);
        theirs.push(cpu_of(|| run(rival))?);
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    let ratio = ours / theirs;
    let name = rival.first().map_or("", String::as_str);
    let peaks = [peak_of(scratch, &own, run)?, peak_of(scratch, rival, run)?];
    let [peak, their_peak] = peaks.map(|bytes| format!("{} MiB", bytes >> 20));
    Ok(ScalingRow {
        work: work.to_owned(),
        figure: format!("CPU {}, {peak}", time(Duration::from_secs_f64(ours))),
        reference: format!("{name} {}, {their_peak}", time(Duration::from_secs_f64(theirs))),
        ratio: Some(ratio),
        target: "CPU within 2",
        met: ratio <= 2.0,
    })
}

/// The most memory of a conversion, or of one of its processes, in bytes. The program `time` starts it:
/// the memory of a process counts for those that it starts, and `time` has little.
fn peak_of(
    scratch: &Path,
    command: &[String],
    run: impl Fn(&[String]) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let report = scratch.join("peak");
    let timed = ["time", "--quiet", "--format=%M", "--output", path_text(&report)?];
    let timed: Vec<String> = timed.map(str::to_owned).into_iter().chain(command.to_vec()).collect();
    run(&timed)?;
    let kib = fs::read_to_string(&report).context("read the report of time")?;
    Ok(kib.trim().parse::<u64>().context("read the report of time")? << 10)
}

/// Seconds of CPU that a conversion takes.
fn cpu_of(convert: impl Fn() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let before = process_usage::children_cpu()?;
    for _ in 0..AT_A_TIME {
        convert()?;
    }
    let all = process_usage::children_cpu()?.saturating_sub(before);
    Ok((all / AT_A_TIME).as_secs_f64())
}

fn expect_text(mut command: Command) -> anyhow::Result<()> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.with_context(|| format!("start {command:?}, which must be installed"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(text.contains(&line_of(PAGES, LINES)), "{command:?} lost the last line");
    Ok(())
}

/// The Markdown of a PDF, which is kept, beside a file of the same text.
async fn kept_read(work: &str, refdesk: &Path, scratch: &Path) -> anyhow::Result<ScalingRow> {
    let folder = scratch.join("served");
    fs::create_dir_all(&folder).context("make the served folder")?;
    fs::write(folder.join("book.pdf"), pdf_of(PAGES)).context("write the PDF")?;
    let mut command = Command::new(refdesk);
    let converted = command.arg("convert").arg(folder.join("book.pdf")).output();
    let text = converted.context("start refdesk")?.stdout;
    fs::write(folder.join("book.txt"), &text).context("write the text")?;
    let settings: PathBuf = scratch.join("documents.toml");
    let settings = fixture::fs_settings(&settings, &folder, ListingOption::Default, 100)?;
    let (server, address) =
        server_process::start_http(&ServerCommand::refdesk(refdesk, &settings)).await?;
    let mut client = VerifyingClient::open(address).await?;
    let form = BenchRequest::read_as(&fixture::file_uri("book.pdf"), "text/markdown");
    let plain = BenchRequest::read(&fixture::file_uri("book.txt"));
    for request in [&form, &plain] {
        check_read(&client.request(request).await?, &text)?;
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        for (request, costs) in [(&form, &mut ours), (&plain, &mut theirs)] {
            let before = process_usage::fine_cpu(server.pid)?;
            for _ in 0..READS {
                client.request(request).await?;
            }
            let all = process_usage::fine_cpu(server.pid)?.saturating_sub(before);
            costs.push((all / READS).as_secs_f64());
        }
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    let ratio = ours / theirs;
    Ok(ScalingRow {
        work: format!("{work} of {} KiB", text.len() >> 10),
        figure: format!("CPU {}", time(Duration::from_secs_f64(ours))),
        reference: format!("plain file {}", time(Duration::from_secs_f64(theirs))),
        ratio: Some(ratio),
        target: "CPU within 1.5",
        met: ratio <= 1.5,
    })
}

/// A line of the book. Its page and number tell it from all others.
fn line_of(page: usize, line: usize) -> String {
    format!("Line {line} of page {page} tells of harbours, tides and the lights along the coast")
}

/// A PDF with a line of text for each line of the book, in a font that every reader knows.
fn pdf_of(pages: usize) -> Vec<u8> {
    let kids: Vec<String> = (0..pages).map(|at| format!("{} 0 R", 4 + at * 2)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {pages} >>", kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for page in 1..=pages {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            3 + page * 2
        ));
        let lines = (1..=LINES).map(|line| format!("({}) Tj T*\n", line_of(page, line)));
        let drawn = format!("BT /F1 10 Tf 14 TL 60 780 Td\n{}ET", lines.collect::<String>());
        objects.push(format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()));
    }
    let (mut pdf, mut table) = (String::from("%PDF-1.4\n"), String::new());
    for (at, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", pdf.len()));
        pdf.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
    }
    let (start, size) = (pdf.len(), objects.len() + 1);
    pdf.push_str(&format!("xref\n0 {size}\n0000000000 65535 f \n{table}"));
    pdf.push_str(&format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"));
    pdf.into_bytes()
}

/// The parts of a Word document besides its text.
const DOCX_PARTS: [(&str, &str); 4] = [
    (
        "[Content_Types].xml",
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-\
         officedocument.wordprocessingml.document.main+xml\"/>\
         <Override PartName=\"/word/styles.xml\" ContentType=\"application/vnd.openxmlformats-\
         officedocument.wordprocessingml.styles+xml\"/></Types>",
    ),
    (
        "_rels/.rels",
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/\
         relationships/officeDocument\" Target=\"word/document.xml\"/></Relationships>",
    ),
    (
        "word/_rels/document.xml.rels",
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/\
         relationships/styles\" Target=\"styles.xml\"/></Relationships>",
    ),
    (
        "word/styles.xml",
        "<w:styles xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\
         <w:style w:type=\"paragraph\" w:styleId=\"Heading1\"><w:name w:val=\"heading 1\"/>\
         <w:pPr><w:outlineLvl w:val=\"0\"/></w:pPr></w:style></w:styles>",
    ),
];

/// A Word document with the same lines, each a paragraph, and a heading for each page.
fn write_docx(path: &Path, pages: usize) -> anyhow::Result<()> {
    let paragraph = |style: &str, text: &str| {
        format!("<w:p>{style}<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
    };
    let mut text = String::from(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\
         <w:body>",
    );
    for page in 1..=pages {
        let style = "<w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr>";
        text.push_str(&paragraph(style, &format!("Chapter {page}")));
        for line in 1..=LINES {
            text.push_str(&paragraph("", &line_of(page, line)));
        }
    }
    text.push_str("</w:body></w:document>");
    let mut package = ZipWriter::new(fs::File::create(path)?);
    for (name, part) in DOCX_PARTS.into_iter().chain([("word/document.xml", text.as_str())]) {
        package.start_file(name, SimpleFileOptions::default())?;
        package.write_all(part.as_bytes())?;
    }
    package.finish()?;
    Ok(())
}

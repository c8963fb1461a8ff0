//! Whole conversions of small PDF documents.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::conversion::Conversion;
use crate::document::{Document, DocumentKind};
use crate::error::{ConvertError, ConvertErrorKind};
use crate::form::Form;
use crate::options::Options;

const HELVETICA: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
const FORM: &str = "/Type /XObject /Subtype /Form /BBox [0 0 600 900]";

/// A document of objects: the catalog is 1, the page tree 2.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n", at + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let start = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    places.iter().for_each(|place| bytes.extend(format!("{place:010} 00000 n \n").bytes()));
    let size = objects.len() + 1;
    let trailer = format!("trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    bytes.extend(trailer.bytes());
    bytes
}

fn stream(content: &[u8], entries: &str) -> Vec<u8> {
    let mut object = format!("<< /Length {} {entries} >>\nstream\n", content.len()).into_bytes();
    object.extend(content);
    object.extend(b"\nendstream");
    object
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// A document with one page for each content; the objects of `more` start at 4, the first of them
/// the font F1, the second the form or image X1.
fn pages(contents: &[Vec<u8>], more: &[Vec<u8>]) -> Vec<u8> {
    let first = 4 + more.len();
    let kids: Vec<_> = (0..contents.len()).map(|at| format!("{} 0 R", first + 2 * at)).collect();
    let tree = format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), kids.len());
    let mut objects = vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(), tree.into_bytes()];
    objects.push(b"<< /Font << /F1 4 0 R >> /XObject << /X1 5 0 R >> >>".to_vec());
    objects.extend(more.iter().cloned());
    for (at, content) in contents.iter().enumerate() {
        let next = first + 2 * at + 1;
        let page = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources 3 0 R \
             /Contents {next} 0 R >>"
        );
        objects.push(page.into_bytes());
        objects.push(content.clone());
    }
    pdf(&objects)
}

fn text(content: &str) -> Vec<u8> {
    stream(format!("BT /F1 12 Tf 15 TL 50 700 Td {content} ET").as_bytes(), "")
}

fn convert(bytes: &[u8], form: Form) -> Result<Conversion, ConvertError> {
    let options = Options { pdftotext: None, ..Options::default() };
    convert_with(bytes, form, &options)
}

fn convert_with(bytes: &[u8], form: Form, options: &Options) -> Result<Conversion, ConvertError> {
    crate::convert(&Document { kind: DocumentKind::Pdf, bytes, name: "a.pdf", options }, form)
}

fn body(converted: &Conversion) -> &str {
    std::str::from_utf8(&converted.body).unwrap()
}

#[test]
fn pages_are_marked_in_markdown_and_separated_in_plain_text() {
    let document = pages(
        &[text("(First page.) Tj"), text("[(Sec) 10 (ond) -400 (page.)] TJ")],
        &[HELVETICA.into()],
    );
    let markdown = convert(&document, Form::Markdown).unwrap();
    let expected = "<!-- page 1 -->\n\nFirst page.\n\n<!-- page 2 -->\n\nSecond page.\n\n";
    assert_eq!(body(&markdown), expected);
    assert_eq!(markdown.section(1).unwrap(), b"<!-- page 2 -->\n\nSecond page.\n\n");
    let plain = convert(&document, Form::Plain).unwrap();
    assert_eq!(body(&plain), "First page.\n\n\u{C}Second page.\n\n");
    assert_eq!(plain.section(1).unwrap(), b"Second page.\n\n");
    assert!(markdown.losses.is_empty(), "{:?}", markdown.losses);
}

#[test]
fn headings_words_broken_by_a_hyphen_and_bullets_are_known() {
    let content = "/F1 20 Tf (Big title) Tj /F1 10 Tf 0 -40 Td \
        (A line of running text that is as long as others of the docu-) Tj T* \
        (ment, and the next one.) Tj 0 -40 Td (\\225 item of a list) Tj";
    let font = HELVETICA.replace(">>", "/Encoding /WinAnsiEncoding >>");
    let markdown = convert(&pages(&[text(content)], &[font.into()]), Form::Markdown).unwrap();
    let expected = "<!-- page 1 -->\n\n# Big title\n\nA line of running text that is as long as \
        others of the document, and the next one.\n\n- item of a list\n\n";
    assert_eq!(body(&markdown), expected);
}

#[test]
fn japanese_of_a_known_collection_is_read_without_a_map() {
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H \
        /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /A /DW 1000 \
        /CIDSystemInfo << /Registry (Adobe) /Ordering (ORDER) /Supplement 2 >> >>] >>";
    let content = text("<034b034d034f> Tj");
    let known = pages(std::slice::from_ref(&content), &[font.replace("ORDER", "Japan1").into()]);
    let known = convert(&known, Form::Markdown).unwrap();
    assert_eq!(body(&known), "<!-- page 1 -->\n\nあいう\n\n");

    let unknown = pages(&[content], &[font.replace("ORDER", "Identity").into()]);
    let unknown = convert(&unknown, Form::Markdown).unwrap();
    let note = "<!-- page 1 -->\n\n*[the text of this page could not be read: 3 glyphs]*\n\n";
    assert_eq!(body(&unknown), note);
    assert_eq!(unknown.losses, ["page 1: 3 glyphs are drawn, 0 characters could be read"]);
}

#[test]
fn a_page_of_an_image_and_a_page_without_its_content_are_said() {
    let image = stream(b"\0", "/Type /XObject /Subtype /Image /Width 1 /Height 1");
    let drawing = stream(b"q 9 0 0 9 0 0 cm /X1 Do Q", "");
    let document = pages(&[drawing, b"null".to_vec()], &[HELVETICA.into(), image]);
    let markdown = convert(&document, Form::Markdown).unwrap();
    let expected = "<!-- page 1 -->\n\n*[this page has no text, 1 image]*\n\n\
        <!-- page 2 -->\n\n*[some content is broken or missing]*\n\n";
    assert_eq!(body(&markdown), expected);
    let losses = ["page 1: no text, 1 image", "page 2: some content is broken or missing"];
    assert_eq!(markdown.losses, losses);
}

#[test]
fn forms_that_draw_themselves_and_glyphs_without_end_are_bounded() {
    let own = format!("{FORM} /Resources << /XObject << /X1 5 0 R >> /Font << /F1 4 0 R >> >>");
    let form = stream(b"/X1 Do BT /F1 9 Tf 50 700 Td (Looping) Tj ET", &own);
    let document = pages(&[stream(b"/X1 Do", "")], &[HELVETICA.into(), form]);
    let markdown = convert(&document, Form::Markdown).unwrap();
    // The same glyphs at the same place are drawn once.
    assert_eq!(body(&markdown), "<!-- page 1 -->\n\nLooping\n\n");

    let glyphs = format!("BT /F1 1 Tf {} ET", "(aaaaaaaaaa) Tj ".repeat(300_000));
    let glyphs = stream(&packed(glyphs.as_bytes()), "/Filter /FlateDecode");
    let flaw = convert(&pages(&[glyphs], &[HELVETICA.into()]), Form::Plain).unwrap_err();
    assert_eq!(flaw.kind, ConvertErrorKind::OverLimit);
}

#[test]
fn a_stream_that_unpacks_to_too_much_is_refused_before_it_is_unpacked() {
    let once = packed(&vec![b' '; 100 << 20]);
    for (content, filter) in [
        (once.clone(), "/Filter /FlateDecode"),
        (packed(&once), "/Filter [/FlateDecode /FlateDecode]"),
    ] {
        let document = pages(&[stream(&content, filter)], &[HELVETICA.into()]);
        let flaw = convert(&document, Form::Markdown).unwrap_err();
        assert_eq!(flaw.kind, ConvertErrorKind::OverLimit, "{flaw}");
    }
}

#[test]
fn what_is_no_pdf_is_damaged_and_what_is_cut_says_so() {
    for bytes in [&b""[..], b"%PDF-1.7\n", &[0xAB; 5_000]] {
        assert_eq!(convert(bytes, Form::Plain).unwrap_err().kind, ConvertErrorKind::Damaged);
    }
    let document = pages(&[text("(Words.) Tj")], &[HELVETICA.into()]);
    let end = document.windows(4).rposition(|window| window == b"xref").unwrap() - 40;
    let cut = convert(&document[..end], Form::Markdown).unwrap();
    assert_eq!(body(&cut), "<!-- page 1 -->\n\nWords.\n\n");
    assert_eq!(cut.losses, ["the file is cut: it has no end, and pages may be missing"]);
}

#[test]
fn a_document_with_a_password_is_protected() {
    let mut document = pages(&[text("(Words.) Tj")], &[HELVETICA.into()]);
    let place = document.windows(6).position(|window| window == b"/Root ").unwrap();
    let key = "00".repeat(32);
    let entry = format!(
        "/ID [<00> <00>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 \
         /O <{key}> /U <{key}> >> "
    );
    document.splice(place..place, entry.bytes());
    let flaw = convert(&document, Form::Markdown).unwrap_err();
    assert_eq!(flaw, ConvertError::protected());
}

#[test]
fn the_program_reads_the_document_on_its_input_and_a_failing_one_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("pdftotext");
    let script = "#!/bin/sh\nwords=$(wc -c)\nprintf '<page width=\"9\">\n\
        <word xMin=\"0\" yMin=\"0\" xMax=\"9\" yMax=\"9\">got-%d-bytes</word>\n' $words\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let document = pages(&[text("(Words.) Tj")], &[HELVETICA.into()]);
    let options = Options { pdftotext: Some(program), ..Options::default() };
    let plain = convert_with(&document, Form::Plain, &options).unwrap();
    assert_eq!(body(&plain), format!("got-{}-bytes\n\n", document.len()));

    // Text that the program makes of glyphs without a meaning is not taken.
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H \
        /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /A /DW 1000 \
        /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>";
    let opaque = pages(&[text("<004100420043> Tj")], &[font.into()]);
    let plain = convert_with(&opaque, Form::Plain, &options).unwrap();
    assert_eq!(body(&plain), "[the text of this page could not be read: 3 glyphs]\n");

    for missing in ["/bin/false", "/nonexistent/pdftotext"] {
        let options = Options { pdftotext: Some(missing.into()), ..Options::default() };
        let plain = convert_with(&document, Form::Plain, &options).unwrap();
        assert_eq!(body(&plain), "Words.\n\n");
        let is_said = plain.losses.iter().any(|loss| loss.contains("could not be run"));
        assert_eq!(is_said, missing.starts_with("/nonexistent"), "{:?}", plain.losses);
    }
}

/// The program gives three pages, and the walk over the glyphs finds one, or none at all.
#[test]
fn pages_whose_glyphs_are_not_counted_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("pdftotext");
    let word = "<word xMin=\"0\" yMin=\"0\" xMax=\"9\" yMax=\"9\">word</word>";
    let page = format!("<page width=\"9\">\n{word}\n</page>\n");
    let script = format!("#!/bin/sh\ncat >/dev/null\ncat <<'END'\n{}END\n", page.repeat(3));
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let options = Options { pdftotext: Some(program), ..Options::default() };
    let one = pages(&[text("(word) Tj")], &[HELVETICA.into()]);
    let losses = |bytes: &[u8]| convert_with(bytes, Form::Markdown, &options).unwrap().losses;
    let said = losses(&one).join("; ");
    assert!(said.starts_with("from page 2 on, the glyphs are not counted"), "{said}");
    let said = losses(b"%PDF-1.4\nnothing\n%%EOF\n").join("; ");
    assert!(said.starts_with("the glyphs of the pages are not counted"), "{said}");
}

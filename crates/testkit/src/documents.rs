//! Small documents of every kind that converters read, made of given words.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const SHEETS: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

const OFFICE_NAMES: &str = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main' \
     xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main' \
     xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main' \
     xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'";

const ODF_NAMES: &str = "xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' \
     xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0' \
     xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0' \
     xmlns:draw='urn:oasis:names:tc:opendocument:xmlns:drawing:1.0'";

/// The endings of documents that [`document`] makes, one for each kind.
pub const DOCUMENT_ENDINGS: [&str; 21] = [
    "pdf", "docx", "odt", "rtf", "xlsx", "ods", "csv", "tsv", "pptx", "odp", "html", "ipynb", "md",
    "adoc", "rs", "png", "svg", "eml", "mbox", "epub", "1",
];

/// A document whose file name has this ending, with these words in it: as its text, and as the title
/// of its sections where it has them.
///
/// # Panics
///
/// If no kind of document has the ending.
pub fn document(ending: &str, words: &str) -> Vec<u8> {
    let xml = words.replace('&', "&amp;").replace('<', "&lt;");
    match ending {
        "pdf" => pdf(&[words.to_owned(), "The second page".to_owned()]),
        "docx" => docx(&format!("<w:p><w:r><w:t>{xml}</w:t></w:r></w:p>")),
        "xlsx" => workbook(&xml, &format!("<row r='1'>{}</row>", text_cell("A1", &xml))),
        "pptx" => deck(&xml),
        "odt" => odf("text", &format!("<text:p>{xml}</text:p>")),
        "ods" => {
            let cell = format!("<table:table-cell><text:p>{xml}</text:p></table:table-cell>");
            let row = format!("<table:table-row>{cell}</table:table-row>");
            let name = xml.replace('\'', "");
            odf(
                "spreadsheet",
                &format!("<table:table table:name='{name}'>{row}</table:table>").repeat(3),
            )
        }
        "odp" => {
            let text = format!("<draw:text-box><text:p>{xml}</text:p></draw:text-box>");
            let page =
                format!("<draw:page draw:name='x'><draw:frame>{text}</draw:frame></draw:page>");
            odf("presentation", &page.repeat(3))
        }
        "epub" => book(&xml),
        "png" => png(words),
        _ => text_document(ending, words).into_bytes(),
    }
}

/// A document that is a text.
fn text_document(ending: &str, words: &str) -> String {
    match ending {
        "rtf" => format!("{{\\rtf1\\ansi {words}\\par}}"),
        "csv" => format!("a,b\n{words},1\n"),
        "tsv" => format!("a\tb\n{words}\t1\n"),
        "html" => format!("<h1>{words}</h1><p>{words}<table><td>{words}"),
        "ipynb" => format!(
            "{{\"nbformat\": 4, \"cells\": [{{\"cell_type\": \"code\", \"source\": {words:?}, \
             \"outputs\": []}}]}}"
        ),
        "md" => format!("# {words}\n\n```rust\n{words}\n```\n"),
        "adoc" => format!("= {words}\n\n----\n{words}\n----\n\n* {words}\n"),
        "rs" => format!("fn main() {{ \"{words}\" }}\n"),
        "svg" => {
            let xml = words.replace('&', "&amp;").replace('<', "&lt;");
            format!("<svg xmlns='http://www.w3.org/2000/svg'><text>{xml}</text></svg>")
        }
        "eml" => format!("Subject: {words}\nFrom: a@example.com\n\n{words}\n"),
        "mbox" => {
            let message =
                format!("From a Thu Jan 1 00:00:00 2026\nSubject: {words}\n\n{words}\n\n");
            message.repeat(3)
        }
        "1" => format!(".TH A 1\n.SH {words}\n.TP\n{words}\n{words}\n"),
        other => panic!("no kind of document has the ending {other:?}"),
    }
}

/// A package of parts with these names and contents.
pub fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let stored =
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        let options = if *name == "mimetype" { stored } else { SimpleFileOptions::default() };
        let started = writer.start_file(*name, options);
        started
            .and_then(|()| Ok(writer.write_all(content.as_bytes())?))
            .expect("memory is written");
    }
    writer.finish().expect("memory is written").into_inner()
}

fn types(of: &str) -> String {
    let main = format!("application/vnd.openxmlformats-officedocument.{of}.main+xml");
    format!("<Types><Override PartName='/main.xml' ContentType='{main}'/></Types>")
}

fn relationships(rows: &[(&str, &str, &str)]) -> String {
    let row = |(id, kind, target): &(&str, &str, &str)| {
        format!("<Relationship Id='{id}' Type='{OFFICE}/{kind}' Target='{target}'/>")
    };
    let rows: String = rows.iter().map(row).collect();
    let space = "http://schemas.openxmlformats.org/package/2006/relationships";
    format!("<Relationships xmlns='{space}'>{rows}</Relationships>")
}

/// A Word document with this body.
pub fn docx(body: &str) -> Vec<u8> {
    let document = format!("<w:document {OFFICE_NAMES}><w:body>{body}</w:body></w:document>");
    let types = types("wordprocessingml.document");
    package(&[("[Content_Types].xml", &types), ("word/document.xml", &document)])
}

/// A cell with a text.
pub fn text_cell(address: &str, text: &str) -> String {
    format!("<c r='{address}' t='inlineStr'><is><t>{text}</t></is></c>")
}

/// A workbook with two sheets of these rows, the first of this name.
pub fn workbook(name: &str, rows: &str) -> Vec<u8> {
    let targets = [("r1", "worksheet", "sheet1.xml"), ("r2", "worksheet", "sheet1.xml")];
    let name = name.replace('\'', "");
    let sheets = format!("<sheet name='{name}' r:id='r1'/><sheet name='日本' r:id='r2'/>");
    let book =
        format!("<workbook xmlns='{SHEETS}' {OFFICE_NAMES}><sheets>{sheets}</sheets></workbook>");
    let sheet = format!("<worksheet xmlns='{SHEETS}'><sheetData>{rows}</sheetData></worksheet>");
    package(&[
        ("[Content_Types].xml", &types("spreadsheetml.sheet")),
        ("xl/workbook.xml", &book),
        ("xl/_rels/workbook.xml.rels", &relationships(&targets)),
        ("xl/sheet1.xml", &sheet),
    ])
}

/// A presentation of two slides with a title and a text.
fn deck(xml: &str) -> Vec<u8> {
    let targets = [("r1", "slide", "slide1.xml"), ("r2", "slide", "slide2.xml")];
    let list = "<p:sldId id='1' r:id='r1'/><p:sldId id='2' r:id='r2'/>";
    let show =
        format!("<p:presentation {OFFICE_NAMES}><p:sldIdLst>{list}</p:sldIdLst></p:presentation>");
    let text = format!("<p:txBody><a:p><a:r><a:t>{xml}</a:t></a:r></a:p></p:txBody>");
    let title = "<p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr>";
    let shapes = format!("<p:sp>{title}{text}</p:sp><p:sp>{text}</p:sp>");
    let slide =
        format!("<p:sld {OFFICE_NAMES}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>");
    package(&[
        ("[Content_Types].xml", &types("presentationml.presentation")),
        ("ppt/presentation.xml", &show),
        ("ppt/_rels/presentation.xml.rels", &relationships(&targets)),
        ("ppt/slide1.xml", &slide),
        ("ppt/slide2.xml", &slide),
    ])
}

/// An OpenDocument with this body.
fn odf(kind: &str, body: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content {ODF_NAMES}><office:body><office:{kind}>{body}</office:{kind}>\
         </office:body></office:document-content>"
    );
    let mime = format!("application/vnd.oasis.opendocument.{kind}");
    package(&[("mimetype", &mime), ("content.xml", &content)])
}

/// A book of two chapters.
fn book(xml: &str) -> Vec<u8> {
    let container = "<container><rootfiles><rootfile full-path='a.opf'/></rootfiles></container>";
    let item = |id: &str| {
        format!("<item id='{id}' href='{id}.xhtml' media-type='application/xhtml+xml'/>")
    };
    let opf = format!(
        "<package><manifest>{}{}</manifest><spine><itemref idref='a'/><itemref idref='b'/></spine>\
         </package>",
        item("a"),
        item("b")
    );
    let page = format!("<html><body><h1>{xml}</h1><p>{xml}</p></body></html>");
    package(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", container),
        ("a.opf", &opf),
        ("a.xhtml", &page),
        ("b.xhtml", &page),
    ])
}

/// A PDF whose pages have these texts, a line each, in a font that every reader knows.
pub fn pdf(pages: &[String]) -> Vec<u8> {
    let mut objects = vec!["<< /Type /Catalog /Pages 2 0 R >>".to_owned()];
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + at * 2)).collect();
    objects.push(format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()));
    objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned());
    for (at, text) in pages.iter().enumerate() {
        let content = 5 + at * 2;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        let escaped = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        let lines: Vec<_> = escaped.lines().map(|line| format!("({line}) Tj T*")).collect();
        let drawn = format!("BT /F1 10 Tf 12 TL 40 800 Td {} ET", lines.join(" "));
        objects.push(format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()));
    }
    let (mut pdf, mut places) = (String::from("%PDF-1.4\n"), Vec::new());
    for (at, object) in objects.iter().enumerate() {
        places.push(pdf.len());
        pdf.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
    }
    let start = pdf.len();
    pdf.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for place in places {
        pdf.push_str(&format!("{place:010} 00000 n \n"));
    }
    let size = objects.len() + 1;
    pdf.push_str(&format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"));
    pdf.into_bytes()
}

/// An image of one pixel with a comment.
pub fn png(comment: &str) -> Vec<u8> {
    png_of(1, b"tEXt", format!("Comment\0{comment}").as_bytes())
}

/// A black image with this many pixels a side, and EXIF.
pub fn png_of_size(side: u16, exif: &[u8]) -> Vec<u8> {
    png_of(side, b"eXIf", exif)
}

fn png_of(side: u16, name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut image = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |name: &[u8; 4], data: &[u8]| {
        image.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
        let named = [&name[..], data].concat();
        image.extend_from_slice(&named);
        image.extend(crc32(&named).to_be_bytes());
    };
    let length = u32::from(side).to_be_bytes();
    chunk(b"IHDR", &[&length[..], &length, &[8, 0, 0, 0, 0]].concat());
    chunk(name, data);
    // Rows of a filter and black pixels, in one block that is not compressed. The sum of as many
    // zeros is their count and one.
    let pixels = vec![0; usize::from(side) * (usize::from(side) + 1)];
    let count = u16::try_from(pixels.len()).expect("the image is small");
    let sum = (u32::from(count) << 16 | 1).to_be_bytes();
    let head = [&[0x78, 0x01, 0x01][..], &count.to_le_bytes(), &(!count).to_le_bytes()].concat();
    chunk(b"IDAT", &[&head[..], &pixels, &sum].concat());
    chunk(b"IEND", &[]);
    image
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc: u32, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

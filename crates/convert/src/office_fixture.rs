//! Office documents for tests, made of XML.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::document::{Document, DocumentKind};
use crate::error::ConvertError;
use crate::form::Form;
use crate::options::Options;
use crate::{Conversion, convert};

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// The namespaces of Office documents, with their usual prefixes.
pub(crate) const OFFICE_NAMES: &str = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main' \
     xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main' \
     xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main' \
     xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships' \
     xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math' \
     xmlns:c='http://schemas.openxmlformats.org/drawingml/2006/chart' \
     xmlns:dgm='http://schemas.openxmlformats.org/drawingml/2006/diagram' \
     xmlns:wp='http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing' \
     xmlns:pic='http://schemas.openxmlformats.org/drawingml/2006/picture' \
     xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006' \
     xmlns:v='urn:schemas-microsoft-com:vml' xmlns:o='urn:schemas-microsoft-com:office:office'";

/// The namespaces of OpenDocument, with their usual prefixes.
pub(crate) const ODF_NAMES: &str = "xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' \
     xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0' \
     xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0' \
     xmlns:draw='urn:oasis:names:tc:opendocument:xmlns:drawing:1.0' \
     xmlns:style='urn:oasis:names:tc:opendocument:xmlns:style:1.0' \
     xmlns:fo='urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0' \
     xmlns:svg='urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0' \
     xmlns:presentation='urn:oasis:names:tc:opendocument:xmlns:presentation:1.0' \
     xmlns:manifest='urn:oasis:names:tc:opendocument:xmlns:manifest:1.0' \
     xmlns:chart='urn:oasis:names:tc:opendocument:xmlns:chart:1.0' \
     xmlns:math='http://www.w3.org/1998/Math/MathML' \
     xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:xlink='http://www.w3.org/1999/xlink'";

/// A package of parts with these names and contents.
pub(crate) fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Relationships of id, kind and target. A target with a scheme is outside of the package.
pub(crate) fn relationships(rows: &[(&str, &str, &str)]) -> String {
    let row = |(id, kind, target): &(&str, &str, &str)| {
        let mode = if target.contains(':') { " TargetMode='External'" } else { "" };
        format!("<Relationship Id='{id}' Type='{OFFICE}/{kind}' Target='{target}'{mode}/>")
    };
    let rows: String = rows.iter().map(row).collect();
    let space = "http://schemas.openxmlformats.org/package/2006/relationships";
    format!("<Relationships xmlns='{space}'>{rows}</Relationships>")
}

/// A Word document: its body, relationships, and parts that are named without their folder.
pub(crate) fn docx(body: &str, rows: &[(&str, &str, &str)], parts: &[(&str, &str)]) -> Vec<u8> {
    let document = format!("<w:document {OFFICE_NAMES}><w:body>{body}</w:body></w:document>");
    let root = |content: &str| match content.split_once('>') {
        Some((start, rest)) => format!("{} {OFFICE_NAMES}>{rest}", start.trim_end_matches('/')),
        None => content.to_owned(),
    };
    let parts: Vec<(String, String)> =
        parts.iter().map(|(name, content)| (format!("word/{name}"), root(content))).collect();
    let rows = relationships(rows);
    let mut all: Vec<(&str, &str)> =
        vec![("word/document.xml", &document), ("word/_rels/document.xml.rels", &rows)];
    all.extend(parts.iter().map(|(name, content)| (name.as_str(), content.as_str())));
    package(&all)
}

/// A Word document of a body alone.
pub(crate) fn docx_body(body: &str) -> Vec<u8> {
    docx(body, &[], &[])
}

/// The bytes of an OpenDocument with this body and these automatic styles.
pub(crate) fn odf(kind: &str, styles: &str, body: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let content = format!(
        "<office:document-content {ODF_NAMES}><office:automatic-styles>{styles}\
         </office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}>\
         </office:body></office:document-content>"
    );
    let mime = format!("application/vnd.oasis.opendocument.{kind}");
    let mut parts = vec![("mimetype", mime.as_str()), ("content.xml", content.as_str())];
    parts.extend(more);
    package(&parts)
}

/// The result of a conversion.
pub(crate) fn converted(
    kind: DocumentKind,
    bytes: &[u8],
    form: Form,
) -> Result<Conversion, ConvertError> {
    let options = Options::default();
    convert(&Document { kind, bytes, name: "", options: &options }, form)
}

/// The Markdown of a document, without white space at its end.
pub(crate) fn markdown(kind: DocumentKind, bytes: &[u8]) -> String {
    let body = converted(kind, bytes, Form::Markdown).unwrap().body;
    String::from_utf8(body).unwrap().trim_end().to_owned()
}

/// The HTML of a document between the tags of its body.
pub(crate) fn html(kind: DocumentKind, bytes: &[u8]) -> String {
    let page = String::from_utf8(converted(kind, bytes, Form::Html).unwrap().body).unwrap();
    let body = page.split_once("<body>").unwrap().1;
    body.split_once("</body>").unwrap().0.trim().to_owned()
}

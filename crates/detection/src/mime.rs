//! MIME type detection, by file name and by the first bytes.

mod name_tables;

use self::name_tables::{EXTENSIONS, NAMES};
use crate::{man, package};

/// MIME type of unknown binary content.
pub const OCTET_STREAM: &str = "application/octet-stream";

/// MIME type of unknown text.
pub const PLAIN_TEXT: &str = "text/plain";

/// MIME type of manual pages.
pub const TROFF: &str = "text/troff";

/// Returns the MIME type for `name`, by whole name, then by extension.
pub fn by_name(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    if let Some(mime) = find_in_table(&NAMES, &name) {
        return Some(mime);
    }
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    if man::is_page_name(&name) && extension != "gz" {
        return Some(TROFF);
    }
    find_in_table(&EXTENSIONS, extension).or_else(|| mime_guess::from_ext(extension).first_raw())
}

/// Returns the MIME type by signature, unless it is a text type.
pub fn by_magic(head: &[u8]) -> Option<&'static str> {
    if let Some(mime) = package::document_mime(head) {
        return Some(mime);
    }
    let kind = infer::get(head)?;
    let is_text =
        kind.matcher_type() == infer::MatcherType::Text || kind.mime_type().starts_with("text/");
    (!is_text).then_some(kind.mime_type())
}

/// Whether a look at the content may tell more than a name that tells this type: nothing is known
/// of it, or it is a binary type, whose content has a signature.
pub fn is_uncertain(named: Option<&str>) -> bool {
    named.is_none_or(|mime| !is_textual(mime))
}

/// Chooses the MIME type of content detected as text; a binary type from the name is ignored, and
/// where the name tells no text type, `head`, the beginning of the content, decides. The numbers
/// after names of manual pages are also those of old logs: `head`, where it is known, decides.
pub fn for_text(named: Option<&'static str>, head: &[u8]) -> &'static str {
    match named {
        Some(TROFF) if !head.is_empty() && !man::is_roff(head) => PLAIN_TEXT,
        Some(mime) if is_textual(mime) => mime,
        named => {
            let by_name = named.filter(|mime| !is_binary(mime)).unwrap_or(PLAIN_TEXT);
            text_signature(head, named).unwrap_or(by_name)
        }
    }
}

/// Chooses the MIME type of content detected as binary; a text type from the name is ignored. The
/// signature of a document or a picture outweighs a name that says otherwise.
pub fn for_blob(named: Option<&'static str>, head: &[u8]) -> &'static str {
    let named = named.filter(|mime| !is_textual(mime));
    let found = by_magic(head);
    match (named, found) {
        // An archive may hold the members of a document.
        (Some(named), _) if ARCHIVES.contains(&named) => named,
        (Some(_), Some(found)) if STRONG_SIGNATURES.contains(&found) && !is_kin(named, found) => {
            found
        }
        (Some(named), _) => named,
        (None, found) => found.unwrap_or(OCTET_STREAM),
    }
}

/// Types whose content may begin like a document.
const ARCHIVES: [&str; 2] = ["application/java-archive", "application/zip"];

/// Types with a signature that no other content has.
const STRONG_SIGNATURES: [&str; 15] = [
    "application/epub+zip",
    "application/pdf",
    "application/rtf",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.oasis.opendocument.text-template",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/tiff",
    "image/webp",
];

/// Types of variants of documents, such as templates, by the type that their content shows.
fn is_kin(named: Option<&str>, found: &str) -> bool {
    let Some(named) = named else { return false };
    let families = [
        ("wordprocessingml", &["ms-word", "wordprocessingml"][..]),
        ("spreadsheetml", &["ms-excel", "spreadsheetml"]),
        ("presentationml", &["ms-powerpoint", "presentationml"]),
        ("opendocument", &["opendocument"]),
        // Raw photographs and their thumbnails are TIFF.
        ("image/tiff", &["image/"]),
    ];
    families.iter().any(|(family, names)| {
        found.contains(family) && names.iter().any(|name| named.contains(name))
    })
}

/// The type of a text that its first characters tell.
fn text_signature(head: &[u8], named: Option<&str>) -> Option<&'static str> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    if head.starts_with(b"{\\rtf") {
        return Some("application/rtf");
    }
    let head = head.trim_ascii_start();
    let starts_with =
        |mark: &[u8]| head.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    let is_page = starts_with(b"<!doctype html") || starts_with(b"<html");
    (named.is_none() && is_page).then_some("text/html")
}

fn is_textual(mime: &str) -> bool {
    let (family, format) = mime.split_once('/').unwrap_or((mime, ""));
    let named = ["json", "xml", "toml", "yaml", "javascript", "sql", "graphql", "x-sh", "x-ndjson"];
    family == "text"
        || format.ends_with("+json")
        || format.ends_with("+xml")
        || named.contains(&format)
}

fn is_binary(mime: &str) -> bool {
    let (family, format) = mime.split_once('/').unwrap_or((mime, ""));
    let media = ["image", "audio", "video", "font"].contains(&family) && !format.ends_with("xml");
    let packed = ["octet-stream", "pdf", "zip", "gzip", "x-tar", "wasm", "java-archive"];
    media || family == "application" && packed.contains(&format)
}

fn find_in_table(table: &[(&str, &'static str)], key: &str) -> Option<&'static str> {
    table.binary_search_by(|(name, _)| (*name).cmp(key)).ok().map(|index| table[index].1)
}

#[cfg(test)]
mod tests {
    use super::name_tables::{EXTENSIONS, NAMES};
    use super::{by_magic, by_name, for_blob, for_text, is_uncertain};

    #[test]
    fn the_tables_are_in_order() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(EXTENSIONS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn source_code_is_what_it_is_and_not_a_film() {
        for (name, mime) in [
            ("a.ts", "text/typescript"),
            ("a.tsx", "text/tsx"),
            ("a.rs", "text/x-rust"),
            ("README.md", "text/markdown"),
            ("a.json", "application/json"),
            ("Cargo.toml", "application/toml"),
            ("Cargo.lock", "application/toml"),
            ("a.yaml", "application/yaml"),
            ("a.yml", "application/yaml"),
            ("a.py", "text/x-python"),
            ("a.go", "text/x-go"),
            ("Makefile", "text/x-makefile"),
            ("Dockerfile", "text/x-dockerfile"),
            ("LICENSE", "text/plain"),
            ("readme", "text/plain"),
            ("a.PNG", "image/png"),
            ("a.pdf", "application/pdf"),
            ("a.svg", "image/svg+xml"),
            ("a.html", "text/html"),
            ("ls.1", "text/troff"),
            ("Carp.3pm", "text/troff"),
        ] {
            assert_eq!(by_name(name), Some(mime), "{name}");
        }
        for name in ["a.unheardof", "nothing", ".rs", "a.", ""] {
            assert_eq!(by_name(name), None, "{name}");
        }
    }

    #[test]
    fn content_outweighs_a_name_that_cannot_be_right() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        assert_eq!(by_magic(png), Some("image/png"));
        assert_eq!(for_blob(by_name("a.md"), png), "image/png");
        assert_eq!(for_blob(by_name("a.md"), b"\0\x01"), "application/octet-stream");
        assert_eq!(for_blob(by_name("a.docx"), b"PK\x03\x04"), by_name("a.docx").unwrap());
        assert_eq!(for_text(by_name("a.png"), b"a"), "text/plain");
        assert_eq!(for_text(by_name("a.svg"), b"<svg>"), "image/svg+xml");
        assert_eq!(for_text(by_name("ls.1"), b".TH LS 1\n"), "text/troff");
        assert_eq!(for_text(by_name("syslog.1"), b"Nov 16 host kernel: x\n"), "text/plain");
        assert_eq!(for_text(by_name("ls.1"), b""), "text/troff");
        assert_eq!(by_name("ls.1.gz"), Some("application/gzip"));
        assert_eq!(by_magic(b"#!/bin/sh\n"), None);
        assert_eq!(by_magic(b"<!DOCTYPE html>"), None);
    }

    #[test]
    fn the_signature_of_a_document_outweighs_a_name_that_says_otherwise() {
        let pdf = b"%PDF-1.4\n";
        assert_eq!(for_blob(by_name("report"), pdf), "application/pdf");
        assert_eq!(for_blob(by_name("a.docx"), pdf), "application/pdf");
        assert_eq!(for_blob(by_name("a.jpg"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "image/png");
        let rtf = b"{\\rtf1\\ansi Hello}";
        for name in ["letter.doc", "letter", "letter.rtf", "letter.docx"] {
            assert_eq!(for_text(by_name(name), rtf), "application/rtf", "{name}");
        }
        assert_eq!(for_text(by_name("a.txt"), rtf), "text/plain", "the name of a text decides");
        assert_eq!(for_text(None, b" <!DOCTYPE html><p>x"), "text/html");
        assert_eq!(for_text(by_name("a.txt"), b"<!DOCTYPE html>"), "text/plain");
        assert_eq!(for_text(None, b"<!-- a comment -->"), "text/plain");
        let mark = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        let member =
            |name: &str| [&mark[..], &[name.len() as u8, 0, 0, 0], name.as_bytes()].concat();
        let sheet = [member("_rels/.rels"), member("xl/workbook.xml")].concat();
        assert!(for_blob(by_name("a.docx"), &sheet).ends_with("spreadsheetml.sheet"));
        assert!(for_blob(None, &sheet).ends_with("spreadsheetml.sheet"));
        assert_eq!(for_blob(by_name("a.xlsm"), &sheet), by_name("a.xlsm").unwrap());
        assert_eq!(for_blob(by_name("a.zip"), &sheet), "application/zip");
        for text in ["a.md", "Makefile", "a.json", "a.svg", "ls.1"] {
            assert!(!is_uncertain(by_name(text)), "{text}");
        }
        for other in ["a", "a.pdf", "a.png", "a.doc"] {
            assert!(is_uncertain(by_name(other)), "{other}");
        }
    }
}

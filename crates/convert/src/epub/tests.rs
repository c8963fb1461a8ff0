//! Tests of books, on small ones.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{
    Conversion, ConvertError, ConvertErrorKind, Document, DocumentKind, Form, Options, convert,
};

const CONTAINER: &str =
    "<container><rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles></container>";
const OPF: &str = "<package><metadata><dc:title>The Book</dc:title><dc:creator>Ann</dc:creator></metadata>\
    <manifest><item id='n' href='nav.xhtml' media-type='application/xhtml+xml' properties='nav'/>\
    <item id='x' href='toc.ncx' media-type='application/x-dtbncx+xml'/>\
    <item id='a' href='text/one%201.xhtml' media-type='application/xhtml+xml'/>\
    <item id='b' href='text/two.xhtml' media-type='application/xhtml+xml'/>\
    <item id='i' href='cover.svg' media-type='image/svg+xml'/></manifest>\
    <spine><itemref idref='b'/><itemref idref='a'/><itemref idref='b'/></spine></package>";
const NAV: &str = "<html><nav epub:type='landmarks'><a href='text/two.xhtml'>No</a></nav>\
    <nav epub:type='toc'><ol><li><a href='text/one%201.xhtml#x'>Chapter\n One</a></li>\
    <li><a href='text/one%201.xhtml#y'>Part</a></li></ol></nav></html>";
const ONE: &str = "<html><head><title>t</title></head><body><p>first <ruby>漢字<rt>かんじ</rt></ruby></p></body></html>";
const TWO: &str =
    "<html><body><h1>Second</h1><p>words</p><img src='x.png' alt='A picture'/></body></html>";

fn book(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn with(more: &[(&str, &str)]) -> Vec<u8> {
    let mut parts = vec![
        ("META-INF/container.xml", CONTAINER),
        ("OEBPS/book.opf", OPF),
        ("OEBPS/text/one 1.xhtml", ONE),
        ("OEBPS/text/two.xhtml", TWO),
    ];
    parts.extend_from_slice(more);
    book(&parts)
}

fn converted(bytes: &[u8]) -> Result<Conversion, ConvertError> {
    let options = Options::default();
    convert(
        &Document { kind: DocumentKind::Epub, bytes, name: "", options: &options },
        Form::Markdown,
    )
}

#[test]
fn chapters_come_in_the_order_of_reading_with_their_titles() {
    let converted = converted(&with(&[("OEBPS/nav.xhtml", NAV)])).unwrap();
    let titles: Vec<_> = converted.sections.iter().map(|one| one.title.as_deref()).collect();
    assert_eq!(titles, [None, Some("Chapter One")]);
    let text = String::from_utf8(converted.body.clone()).unwrap();
    assert!(text.starts_with("# The Book\n\n- Author: Ann\n\n# Second\n\nwords"), "{text}");
    assert!(text.contains("A picture"), "{text}");
    let second = String::from_utf8(converted.section(1).unwrap().to_vec()).unwrap();
    assert_eq!(second, "# Chapter One\n\nfirst 漢字(かんじ)\n");
}

#[test]
fn titles_of_an_old_book_come_from_its_ncx() {
    let ncx = "<ncx><navMap><navPoint><navLabel><text>Zwei</text></navLabel>\
               <content src='text/two.xhtml'/></navPoint></navMap></ncx>";
    let converted = converted(&with(&[("OEBPS/toc.ncx", ncx)])).unwrap();
    assert_eq!(converted.sections[0].title.as_deref(), Some("Zwei"));
}

#[test]
fn an_encrypted_page_is_protected_and_a_hidden_font_is_not() {
    let encryption = |algorithm: &str, uri: &str| {
        format!(
            "<encryption><EncryptedData><EncryptionMethod Algorithm='{algorithm}'/><KeyInfo>\
             <EncryptionMethod Algorithm='other'/></KeyInfo><CipherData>\
             <CipherReference URI='{uri}'/></CipherData></EncryptedData></encryption>"
        )
    };
    let kind = |text: &str| {
        converted(&with(&[("META-INF/encryption.xml", text)])).map_err(|error| error.kind)
    };
    let page =
        encryption("http://www.w3.org/2001/04/xmlenc#aes256-cbc", "OEBPS/text/one%201.xhtml");
    assert_eq!(kind(&page), Err(ConvertErrorKind::Protected));
    let font = encryption("http://www.idpf.org/2008/embedding", "OEBPS/font.otf");
    assert!(kind(&font).is_ok());
}

#[test]
fn a_book_without_parts_is_damaged_and_a_missing_chapter_a_loss() {
    assert_eq!(converted(&book(&[("a", "b")])).unwrap_err().kind, ConvertErrorKind::Damaged);
    let parts = [
        ("META-INF/container.xml", CONTAINER),
        ("OEBPS/book.opf", OPF),
        ("OEBPS/text/two.xhtml", TWO),
    ];
    let converted = converted(&book(&parts)).unwrap();
    assert_eq!((converted.sections.len(), converted.losses.len()), (1, 1));
}

#[test]
fn footnotes_of_chapters_do_not_meet() {
    let text = "a[^1] `[^b]` [^2]\n\n[^1]: one\n[^2]: two\n";
    assert_eq!(super::relabelled(text, 3), "a[^3-1] `[^b]` [^3-2]\n\n[^3-1]: one\n[^3-2]: two\n");
}

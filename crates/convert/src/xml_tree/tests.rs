//! Tests of XML trees.

use super::XmlTree;
use super::builder::MAX_DEPTH;
use crate::error::ConvertErrorKind;

const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

#[test]
fn names_have_the_usual_prefix_whatever_the_document_calls_it() {
    let strict = "http://purl.oclc.org/ooxml/wordprocessingml/main";
    let text = format!(
        "<body xmlns='{WORD}' xmlns:q='{strict}'><q:p q:val='1 &amp; 2' id='3'>a&lt;b&#x3042;\
         <x xmlns='urn:other'/><r/></q:p></body>"
    );
    let tree = XmlTree::parse(text.as_bytes(), "part").unwrap();
    let root = tree.root();
    assert_eq!(root.name(), "w:body");
    let p = root.child("w:p").unwrap();
    assert_eq!((p.attribute("w:val"), p.attribute("id")), (Some("1 & 2"), Some("3")));
    assert_eq!(p.all_text(), "a<bあ");
    let names: Vec<&str> = p.elements().map(|node| node.name()).collect();
    assert_eq!(names, ["x", "w:r"]);
    assert!(root.descendant("w:r").is_some() && root.descendants("w:p").len() == 1);
}

#[test]
fn an_entity_of_the_document_stays_as_it_is_written() {
    let text = "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a b='&x;'>&x;</a>";
    let tree = XmlTree::parse(text.as_bytes(), "part").unwrap();
    assert_eq!(tree.root().all_text(), "&x;");
    assert_eq!(tree.root().attribute("b"), Some("&x;"));
}

#[test]
fn broken_and_deep_parts_are_told_apart() {
    let kind = |text: &str| XmlTree::parse(text.as_bytes(), "part").err().map(|e| e.kind);
    assert_eq!(kind("<a><b></a>"), Some(ConvertErrorKind::Damaged));
    assert_eq!(kind("<a>"), Some(ConvertErrorKind::Damaged));
    assert_eq!(kind(""), Some(ConvertErrorKind::Damaged));
    assert_eq!(kind(&"<a>".repeat(MAX_DEPTH + 1)), Some(ConvertErrorKind::OverLimit));
    let deep = format!("{}{}", "<a>".repeat(MAX_DEPTH), "</a>".repeat(MAX_DEPTH));
    assert_eq!(kind(&deep), None);
}

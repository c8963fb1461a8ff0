//! Tests of mail, on small messages.

use super::{attachment, attachments, mailbox_attachment, mailbox_attachments, safe_name};
use crate::{Conversion, ConvertErrorKind, Document, DocumentKind, Form, Options, convert};

const MIXED: &str = "From: =?utf-8?B?55Sw5Lit?= <tanaka@example.org>\r\n\
    To: ann@example.com, \"Miller, Bob\" <bob@example.com>\r\nSubject: Plan\r\n\
    Date: Tue, 1 Jul 2025 10:52:37 +0900\r\nMIME-Version: 1.0\r\n\
    Content-Type: multipart/mixed; boundary=\"m\"\r\n\r\n--m\r\n\
    Content-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\r\nHello <you>\r\nsecond\r\n\r\n# no heading\r\n--a\r\n\
    Content-Type: text/html\r\n\r\n<p>HTML words</p>\r\n--a--\r\n--m\r\n\
    Content-Type: application/pdf; name=\"../../pl\\\\an.pdf\"\r\n\
    Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment\r\n\r\naGVsbG8=\r\n--m\r\n\
    Content-Type: message/rfc822\r\n\r\nSubject: Inner one\r\n\r\ninner words\r\n--m--\r\n";

fn converted(kind: DocumentKind, bytes: &[u8]) -> Conversion {
    convert(&Document { kind, bytes, name: "", options: &Options::default() }, Form::Markdown)
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(converted(DocumentKind::Email, bytes).body).unwrap()
}

#[test]
fn a_message_names_its_people_its_text_and_its_attachments() {
    assert_eq!(
        text(MIXED.as_bytes()),
        "# Plan\n\n- From: 田中 <tanaka@example.org>\n\
         - To: ann@example.com, \"Miller, Bob\" <bob@example.com>\n\
         - Date: 2025-07-01T10:52:37+09:00\n\nHello \\<you>  \nsecond\n\n\\# no heading\n\n\
         ## Attachments\n\n- `1-pl_an.pdf` (application/pdf, 5 bytes)\n\
         - `2-Inner one.eml` (message/rfc822, 33 bytes)\n"
    );
}

#[test]
fn attachments_are_listed_and_read_by_number() {
    let found = attachments(MIXED.as_bytes());
    let names: Vec<_> = found.iter().map(|one| one.resource_name()).collect();
    assert_eq!(names, ["1-pl_an.pdf", "2-Inner one.eml"]);
    assert_eq!(found[0].size, 5);
    assert_eq!(attachment(MIXED.as_bytes(), 1).as_deref(), Some(&b"hello"[..]));
    let inner = attachment(MIXED.as_bytes(), 2).unwrap();
    assert!(text(&inner).contains("# Inner one\n\ninner words"));
    assert_eq!(attachment(MIXED.as_bytes(), 0), None);
    assert_eq!(attachment(MIXED.as_bytes(), 3), None);
}

#[test]
fn japanese_in_the_charsets_of_mail_is_read() {
    let (body, _, _) = encoding_rs::ISO_2022_JP.encode("日本語の本文です。");
    let mut mail = b"Subject: =?ISO-2022-JP?B?GyRCN29MPhsoQg==?=\nContent-Type: text/plain; charset=iso-2022-jp\n\n".to_vec();
    mail.extend_from_slice(&body);
    assert_eq!(text(&mail), "# 件名\n\n日本語の本文です。\n");
    let (body, _, _) = encoding_rs::SHIFT_JIS.encode("日本語の本文です。");
    let mut mail = b"Subject: x\nContent-Type: text/plain; charset=cp932\n\n".to_vec();
    mail.extend_from_slice(&body);
    assert!(text(&mail).ends_with("日本語の本文です。\n"));
}

#[test]
fn html_is_read_where_there_is_no_text() {
    let mail = "Subject: x\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\n \n--b\n\
                Content-Type: multipart/related; boundary=r\n\n--r\nContent-Type: text/html\n\n<p>HTML words</p>\n\
                --r\nContent-Type: image/png\nContent-ID: <i>\n\nx\n--r--\n--b--\n";
    let text = text(mail.as_bytes());
    assert!(text.contains("HTML words"), "{text}");
    assert!(text.contains("- `1-attachment.png` (image/png, 1 bytes)"), "{text}");
}

#[test]
fn a_mailbox_has_a_section_a_message() {
    let mailbox = format!(
        "From a@b Tue Jul  1 10:52:37 2025\n{}\nFrom a@b Tue Jul  1 10:52:38 2025\nSubject: Second\n\n>From me\n",
        MIXED.replace("\r\n", "\n")
    );
    let converted = converted(DocumentKind::Mbox, mailbox.as_bytes());
    let titles: Vec<_> = converted.sections.iter().map(|one| one.title.as_deref()).collect();
    assert_eq!(titles, [Some("Plan"), Some("Second")]);
    let second = String::from_utf8(converted.section(1).unwrap().to_vec()).unwrap();
    assert!(second.ends_with("\nFrom me\n"), "{second}");
    let names: Vec<_> =
        mailbox_attachments(mailbox.as_bytes()).iter().map(|one| one.resource_name()).collect();
    assert_eq!(names, ["1-1-pl_an.pdf", "1-2-Inner one.eml"]);
    assert_eq!(mailbox_attachment(mailbox.as_bytes(), 1, 1).as_deref(), Some(&b"hello"[..]));
    assert_eq!(mailbox_attachment(mailbox.as_bytes(), 2, 1), None);
}

#[test]
fn names_of_attachments_are_safe() {
    assert_eq!(safe_name("../../etc/passwd"), "etc_passwd");
    assert_eq!(safe_name("a\u{0}b\r\n\u{202E}fdp.exe"), "a_b___fdp.exe");
    assert_eq!(safe_name(".."), "");
    assert_eq!(safe_name("計画書.pdf"), "計画書.pdf");
    let long = safe_name(&("長".repeat(1_000) + ".pdf"));
    assert!(long.len() <= 120 && long.ends_with("長"), "{long}");
    let long = safe_name(&("長".repeat(100) + ".pdf"));
    assert!(long.len() <= 120 && long.ends_with("長.pdf"), "{long}");
}

#[test]
fn what_is_no_mail_is_damaged() {
    let options = Options::default();
    for kind in [DocumentKind::Email, DocumentKind::Mbox] {
        let document =
            Document { kind, bytes: b"\x00\x01\x02 no mail", name: "", options: &options };
        let error = convert(&document, Form::Markdown).unwrap_err();
        assert_eq!(error.kind, ConvertErrorKind::Damaged);
    }
}

#[test]
fn an_encrypted_message_says_so() {
    let mail = "Subject: x\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n\
                Content-Type: application/pgp-encrypted\n\nVersion: 1\n--b--\n";
    assert_eq!(converted(DocumentKind::Email, mail.as_bytes()).losses.len(), 1);
}

#[test]
fn japanese_without_a_charset_is_told_by_its_shifts() {
    let (body, _, _) = encoding_rs::ISO_2022_JP.encode("日本語の本文です。");
    let mut mail = b"Subject: x\n\n".to_vec();
    mail.extend_from_slice(&body);
    assert!(text(&mail).ends_with("日本語の本文です。\n"));
}

//! The charset of an HTML page: what the page says of itself near its beginning.

use std::borrow::Cow;

use crate::decode::decode;

/// How many bytes of a page may declare its charset.
const PRESCAN_BYTES: usize = 1_024;

/// The text of a page.
pub(super) fn decode_page(bytes: &[u8]) -> Cow<'_, str> {
    match bytes {
        [b'<', 0, ..] => return encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0,
        [0, b'<', ..] => return encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0,
        _ => {}
    }
    // A declaration that could be read as ASCII is not written in UTF-16.
    let label = declared_charset(bytes).filter(|label| !label.starts_with("utf-16"));
    decode(bytes, label.as_deref())
}

/// The charset that `<meta>` or an XML declaration names.
fn declared_charset(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let in_meta = head.split("<meta").skip(1).find_map(|rest| {
        let tag = rest.split('>').next().unwrap_or(rest);
        value_after(tag, "charset")
    });
    let in_declaration = || {
        let declaration = head.trim_start().strip_prefix("<?xml")?;
        value_after(declaration.split("?>").next()?, "encoding")
    };
    in_meta.or_else(in_declaration)
}

/// The value in `name = "value"`, with or without quotes.
fn value_after(text: &str, name: &str) -> Option<String> {
    let rest = &text[text.find(name)? + name.len()..];
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    let end = value.find(|letter: char| {
        letter.is_ascii_whitespace() || matches!(letter, '"' | '\'' | ';' | '/' | '>')
    });
    let label = &value[..end.unwrap_or(value.len())];
    (!label.is_empty()).then(|| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{declared_charset, decode_page};

    #[test]
    fn a_page_names_its_charset_in_any_of_the_three_ways() {
        let charset = |page: &str| declared_charset(page.as_bytes());
        assert_eq!(charset("<META  CharSet = 'Shift_JIS'>").as_deref(), Some("shift_jis"));
        let by_content = r#"<meta http-equiv=content-type content="text/html; charset=EUC-JP">"#;
        assert_eq!(charset(by_content).as_deref(), Some("euc-jp"));
        let declaration = r#"<?xml version="1.0" encoding="iso-2022-jp"?><html>"#;
        assert_eq!(charset(declaration).as_deref(), Some("iso-2022-jp"));
        assert_eq!(charset(&format!("{}<meta charset=big5>", " ".repeat(1_024))), None);
    }

    #[test]
    fn japanese_pages_are_decoded_with_and_without_a_declaration() {
        let words = "日本語の文書です。漢字とかなを含みます。";
        for encoding in [
            encoding_rs::SHIFT_JIS,
            encoding_rs::EUC_JP,
            encoding_rs::ISO_2022_JP,
            encoding_rs::UTF_8,
        ] {
            let declared = format!("<meta charset={}><p>{words}", encoding.name());
            assert_eq!(decode_page(&encoding.encode(&declared).0), declared);
            let silent = format!("<p>{words}{words}");
            assert_eq!(decode_page(&encoding.encode(&silent).0), silent, "{}", encoding.name());
        }
        let utf_16: Vec<u8> = "<p>日本".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode_page(&utf_16), "<p>日本");
        let lies = "<meta charset=utf-16><p>é";
        assert_eq!(decode_page(lies.as_bytes()), lies);
    }
}

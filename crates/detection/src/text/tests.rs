//! Tests of text detection.

use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1252};
use proptest::prelude::{any, proptest};

use super::{ByteClasses, ContentForm, SampleExtent, complete_utf8_len, detect_form};

const SENTENCES: [&str; 4] = [
    "日本語の文章。",
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\r\n",
    "表計算ソフトの予定表を能登で申請する。\nABC 123\n",
    "第一章 はじめに\n\tこの文書は、資源の一覧と読み出しについて述べる。\n",
];

fn form(bytes: &[u8]) -> ContentForm {
    detect_form(bytes, SampleExtent::Whole)
}

#[test]
fn japanese_is_recognised_in_every_charset_it_is_kept_in() {
    for text in SENTENCES.into_iter().chain(["設定ファイル", "こんにちは。"]) {
        assert_eq!(form(text.as_bytes()), ContentForm::Utf8);
        for charset in [SHIFT_JIS, EUC_JP, ISO_2022_JP] {
            let (bytes, _, lossy) = charset.encode(text);
            assert!(!lossy);
            assert_eq!(form(&bytes), ContentForm::Charset(charset), "{text} in {}", charset.name());
        }
    }
}

#[test]
fn half_width_kana_are_recognised() {
    let text = "ﾊﾝｶｸｶﾅﾉﾌﾞﾝｼｮｳﾃﾞｽ｡";
    for charset in [SHIFT_JIS, EUC_JP] {
        assert_eq!(
            form(&charset.encode(text).0),
            ContentForm::Charset(charset),
            "{}",
            charset.name()
        );
    }
    // ESC ( I switches to 7-bit half-width kana.
    assert_eq!(form(b"\x1b(I6@6E\x1b(B"), ContentForm::Charset(ISO_2022_JP));
}

fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn utf_16_is_recognised_with_and_without_its_mark() {
    let texts = SENTENCES.map(|text| format!("{text}😀\n")).into_iter();
    for text in texts.chain(["name = \"x\"\r\n", "Größe: 5 €\n"].map(str::to_owned)) {
        for text in [format!("\u{feff}{text}"), text.clone()] {
            let (little, big) = (wide(&text, u16::to_le_bytes), wide(&text, u16::to_be_bytes));
            assert_eq!(form(&little), ContentForm::Charset(UTF_16LE), "{text:?}");
            assert_eq!(form(&big), ContentForm::Charset(UTF_16BE), "{text:?}");
            assert_eq!(detect_form(&little, SampleExtent::Head), ContentForm::Charset(UTF_16LE));
        }
    }
    let not_text: [&[u8]; 6] = [
        b"\xff\xfe\x00\x00a\x00\x00\x00",
        b"a\0b\0c",
        b"a\0",
        b"a\0\0\0b\0\0\0c\0\0\0",
        b"\x01\0\x02\0\x03\0a\0b\0",
        b"abcd\0\0\0\0",
    ];
    for bytes in not_text {
        assert_eq!(form(bytes), ContentForm::Blob, "{bytes:?}");
    }
}

#[test]
fn a_few_kanji_in_ascii_text_are_found() {
    let words = [
        "設定",
        "日本語",
        "注意",
        "変更履歴",
        "東京",
        "終了",
        "エラー",
        "2024年3月5日",
        "Webサーバ",
        "処理開始",
        "確認",
        "山田太郎",
    ];
    for word in words {
        for around in [("# ", "\n"), ("/* ", " */\nint main(void) { return 0; }\n"), ("name=", "")]
        {
            let ascii = "plain ascii line\n".repeat(2_000);
            for text in [
                format!("{}{word}{}", around.0, around.1),
                format!("{ascii}{}{word}\n{ascii}", around.0),
            ] {
                for charset in [SHIFT_JIS, EUC_JP] {
                    let bytes = charset.encode(&text).0;
                    let name = charset.name();
                    assert_eq!(form(&bytes), ContentForm::Charset(charset), "{word} in {name}");
                }
            }
        }
    }
}

#[test]
fn a_few_western_letters_are_no_kanji() {
    for text in [
        "It’s late, don’t wait; they’re here, we’ll go",
        "“quoted” and ‘quoted’ — twice…",
        "créée, agréée",
        "AÇÃO E REAÇÃO",
        "naïve café, résumé",
        "© 2020 Müller & Söhne",
        "Straße, Größe, Übung, ÄRGER",
        "¿Qué? ¡Sí! «mañana»",
        "word—word, word–word, it’s",
    ] {
        let bytes = WINDOWS_1252.encode(text).0;
        assert_eq!(form(&bytes), ContentForm::Charset(WINDOWS_1252), "{text}");
    }
}

#[test]
fn chinese_and_korean_text_is_not_taken_for_japanese() {
    for (label, text) in [
        ("euc-kr", "한국어 문서입니다. 설정 파일을 여기에 둡니다."),
        ("gbk", "中文文档说明。这里是配置文件的位置，请不要修改。"),
        ("big5", "繁體中文的文件說明，請不要修改這個設定檔。"),
    ] {
        let charset = Encoding::for_label(label.as_bytes()).unwrap();
        assert_eq!(form(&charset.encode(text).0), ContentForm::Blob, "{label}");
    }
}

#[test]
fn western_text_is_recognised() {
    let text = "Der Bär läuft über die Straße, «très élégant», 50 € kostet es.";
    assert_eq!(form(&WINDOWS_1252.encode(text).0), ContentForm::Charset(WINDOWS_1252));
    assert_eq!(form(text.as_bytes()), ContentForm::Utf8);
}

#[test]
fn utf_8_is_text_with_or_without_a_mark_whatever_it_begins_with() {
    for text in ["", "a", "\u{feff}a", "BM25 ranks", "MZ", "\x1b[31mred\x1b[0m", "😀"] {
        assert_eq!(form(text.as_bytes()), ContentForm::Utf8, "{text:?}");
    }
}

#[test]
fn what_is_not_text_is_a_blob() {
    let bad: [&[u8]; 8] = [
        b"a\0b",
        b"%PDF-1.4\nall letters",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\xff\xd8\xff\xe0\x01\x02JFIF",
        b"\x1f\x8b\x08\x01\x02\x03\x04",
        b"\x80\x81\x01\x02\x03",
        b"\xe9\x01\x02",
        b"BM\x01\x02\x03\x04\x05\x06\x07\x02\x03\x04\x05\x06\x07",
    ];
    for bytes in bad {
        assert_eq!(form(bytes), ContentForm::Blob, "{bytes:?}");
    }
}

#[test]
fn a_head_may_end_inside_a_character() {
    let utf8 = "日本語".as_bytes();
    assert_eq!(detect_form(&utf8[..utf8.len() - 1], SampleExtent::Head), ContentForm::Utf8);
    assert_ne!(detect_form(&utf8[..utf8.len() - 1], SampleExtent::Whole), ContentForm::Utf8);
    let long: String = SENTENCES.concat().repeat(20);
    let bytes = SHIFT_JIS.encode(&long).0;
    for cut in 1_000..1_010 {
        assert_eq!(detect_form(&bytes[..cut], SampleExtent::Head), ContentForm::Charset(SHIFT_JIS));
    }
}

#[test]
fn charsets_beyond_ours_are_blobs() {
    let text = "Все счастливые семьи похожи друг на друга";
    let cyrillic = Encoding::for_label(b"windows-1251").unwrap();
    assert_eq!(form(&cyrillic.encode(text).0), ContentForm::Blob);
}

#[test]
fn every_byte_gives_its_sign_wherever_it_stands() {
    for byte in 0..=255_u8 {
        let mut bytes = [b'a'; 67];
        bytes[usize::from(byte) % 67] = byte;
        let signs = ByteClasses::of(&bytes);
        let is_odd = byte < 0x20 && !matches!(byte, 0x8..=0xd | 0x1a | 0x1b);
        assert_eq!(signs.has(ByteClasses::NUL), byte == 0);
        assert_eq!(signs.has(ByteClasses::ESCAPE), byte == 0x1b);
        assert_eq!(signs.has(ByteClasses::CONTROL), is_odd, "{byte}");
        assert_eq!(signs.has(ByteClasses::NON_ASCII), byte >= 0x80);
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in any::<Vec<u8>>()) {
        form(&bytes);
        detect_form(&bytes, SampleExtent::Head);
        assert!(complete_utf8_len(&bytes) <= bytes.len());
    }

    #[test]
    fn whole_characters_leave_less_than_one(text in "\\PC{0,12}", cut in 0..48_usize) {
        let bytes = &text.as_bytes()[..cut.min(text.len())];
        let whole = complete_utf8_len(bytes);
        assert!(std::str::from_utf8(&bytes[..whole]).is_ok() && bytes.len() - whole < 4);
    }
}

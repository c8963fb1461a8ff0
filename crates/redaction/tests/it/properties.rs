//! Properties that hold for any text: masking again changes nothing, and a text in chunks gives
//! what the whole text gives.

use proptest::prelude::{Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use proptest::test_runner::Config;
use redaction::{Redactor, RedactorOptions, Syntax};

pub(crate) const SYNTAXES: [Syntax; 14] = [
    Syntax::Text,
    Syntax::Toml,
    Syntax::Yaml,
    Syntax::Json,
    Syntax::Ini,
    Syntax::Env,
    Syntax::Properties,
    Syntax::Netrc,
    Syntax::Pgpass,
    Syntax::Htpasswd,
    Syntax::Xml,
    Syntax::Hcl,
    Syntax::SecretList,
    Syntax::SecretTable,
];

/// Pieces from which texts near to secrets are made.
const PIECES: &[&str] = &[
    "password",
    "token",
    "secrets",
    "api_key",
    ": ",
    " = ",
    "=",
    ":",
    "\"",
    "'",
    "\"\"\"",
    "\n",
    "\r\n",
    "\n  ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    "#",
    "//",
    "/*",
    "*/",
    "<!--",
    "-->",
    "<a>",
    "</a>",
    "<password>",
    "</password>",
    "hunter2",
    "x",
    "${X}",
    "$X",
    "{{ y }}",
    "|\n",
    ">\n",
    "&a ",
    "*a",
    "<<EOF\n",
    "EOF\n",
    "\\",
    "\\n",
    "\\u0041",
    "://u:",
    "p@",
    "@h",
    "Authorization: Bearer ",
    "Server=x;",
    "Password=",
    ";",
    "user=",
    "&password=",
    "eyJ",
    "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.abcdefgh",
    "-----BEGIN PRIVATE ",
    "KEY-----",
    "-----END PRIVATE KEY-----",
    "MIIEabcdefghijklmnopqrstuvwxyz0123456789",
    "Zg==",
    " ",
    "\t",
    "é",
    "パスワード",
    "kind: Secret\n",
    "name,password\n",
    "stats auth ",
    "A=1 B=",
    "data:\n",
    "name: ",
    "value: ",
    "machine ",
    "login ",
    "[redacted password tiny]",
    "[redacted ",
    "export ",
    "jdbc:oracle:thin:",
    "a/b@c",
    "---\n",
    "!",
    "%",
    "sk-",
    "ant-",
    "q7Rk2Vx9Lm4Tz8Wb3Yc6q7Rk2Vx9Lm4Tz8Wb3Yc6",
];

fn near_secrets() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        20 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn stream(redactor: &Redactor, text: &str, cuts: &[usize]) -> String {
    let (mut masker, mut masked, mut rest) = (redactor.text_masker(), String::new(), text);
    for cut in cuts.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let at = rest.ceil_char_boundary((*cut).max(1));
        masked.push_str(&masker.push(&rest[..at]));
        rest = &rest[at..];
    }
    masked.push_str(&masker.finish());
    masked
}

proptest! {
    #![proptest_config(Config { cases: 300, failure_persistence: None, ..Config::default() })]

    #[test]
    fn masking_a_masked_text_changes_nothing(text in near_secrets(), key in any::<bool>()) {
        let redactor = Redactor::new(RedactorOptions { hmac_key: key.then(|| b"k".to_vec()), ..RedactorOptions::default() });
        for syntax in SYNTAXES {
            let masked = redactor.mask(&text, syntax).into_owned();
            prop_assert_eq!(&redactor.mask(&masked, syntax), &masked, "{:?} of {:?}", syntax, text);
        }
    }

    #[test]
    fn found_secrets_are_in_order_and_make_the_mask(text in near_secrets()) {
        let redactor = Redactor::default();
        for syntax in SYNTAXES {
            let mut end = 0;
            for found in redactor.find(&text, syntax) {
                assert!(found.range.start >= end && found.range.end > found.range.start);
                assert!(text.get(found.range.clone()).is_some());
                assert_eq!(found.line, 1 + text[..found.range.start].matches('\n').count());
                end = found.range.end;
            }
        }
    }

    #[test]
    fn any_text_is_masked_without_a_panic(text in any::<String>()) {
        for syntax in SYNTAXES {
            Redactor::default().mask(&text, syntax);
        }
    }

    #[test]
    fn a_stream_gives_what_the_whole_text_gives(
        text in near_secrets(),
        padding in 0_usize..20_000,
        cuts in prop::collection::vec(1_usize..9_000, 1..5),
        repeats in 1_usize..40,
    ) {
        let text = format!("{}{}", "x ".repeat(padding), text.repeat(repeats));
        let redactor = Redactor::new(RedactorOptions { hmac_key: Some(b"k".to_vec()), ..RedactorOptions::default() });
        prop_assert_eq!(stream(&redactor, &text, &cuts), redactor.mask(&text, Syntax::Text));
    }
}

#[test]
fn a_secret_across_any_edge_is_masked() {
    let body = "q7Rk2Vx9Lm4Tz8Wb3Yc6".repeat(2);
    let begin = concat!("-----BEGIN ", "PRIVATE KEY-----");
    let lines = format!("{body}{body}\n").repeat(2_000);
    let end = concat!("-----END ", "PRIVATE KEY-----");
    let token = format!("{}{}", concat!("gl", "pat-"), &body[..20]);
    let text = format!("a {token} b\n{begin}\n{lines}{end}\n{token}\nredis://u:{token}@h\n");
    let redactor = Redactor::default();
    let whole = redactor.mask(&text, Syntax::Text);
    assert!(whole.len() < 400, "{whole}");
    for size in [1, 2, 3, 7, 64, 4095, 4096, 4097, 16_384, 100_000] {
        assert_eq!(stream(&redactor, &text, &[size]), whole, "chunks of {size}");
    }
}

#[test]
fn a_stream_holds_little_of_a_line_and_of_a_key() {
    let redactor = Redactor::default();
    let mut masker = redactor.text_masker();
    let chunk = "abcdefgh".repeat(1024);
    let mut given = 0;
    for pushed in 1..=64 {
        given += masker.push(&chunk).len();
        assert!(pushed * chunk.len() - given <= 32 * 1024, "it holds back more than a window");
    }
    let begin = concat!("-----BEGIN ", "PRIVATE KEY-----\n");
    assert!(masker.push(begin).len() + given <= 65 * chunk.len());
    let out: usize = (0..64).map(|_| masker.push(&chunk).len()).sum();
    assert!(out < 32 * 1024, "the body of a key does not come out: {out}");
    assert!(masker.finish().ends_with("[redacted pkcs8-private-key huge]"));
}

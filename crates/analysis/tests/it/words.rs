//! Words of many languages: which texts find each other, and what holds for every text.

use analysis::{Token, TokenKind, dictionary_words, fold, phrase_tokens, spelling_words, tokenize};
use proptest::prelude::{any, prop, prop_assert, proptest};

fn texts(text: &str) -> Vec<String> {
    tokenize(text).into_iter().map(|token| token.text).collect()
}

fn of_kind(text: &str, kind: TokenKind) -> Vec<(String, usize)> {
    let tokens = tokenize(text).into_iter().filter(|token| token.kind == kind);
    tokens.map(|token| (token.text, token.position)).collect()
}

/// True if all tokens of the query are tokens of the text.
fn finds(query: &str, text: &str) -> bool {
    let tokens = texts(text);
    !texts(query).is_empty() && texts(query).iter().all(|token| tokens.contains(token))
}

fn has_phrase(phrase: &str, text: &str) -> bool {
    let (phrase, tokens) = (phrase_tokens(phrase), tokenize(text));
    let first = phrase[0].position;
    let stands_at = |start: usize| {
        phrase.iter().all(|token| {
            let position = start + token.position - first;
            tokens.iter().any(|own| own.text == token.text && own.position == position)
        })
    };
    tokens.iter().any(|token| stands_at(token.position))
}

#[test]
fn spellings_find_each_other() {
    for (one, other) in [
        ("サーバ", "サーバー"),
        ("ｻｰﾊﾞ", "サーバー"),
        ("さーば", "サーバー"),
        ("ファイル", "ﾌｧｲﾙ"),
        ("ひらがな", "ヒラガナ"),
        ("國會", "国会"),
        ("時々", "時時"),
        ("cafe", "CAFÉ"),
        ("ＡＢＣ", "abc"),
        ("strasse", "Straße"),
        ("αθηνα", "ΑΘΉΝΑ"),
        ("ФАЙЛ", "файл"),
        ("елка", "ёлка"),
        ("한국어", "\u{1112}\u{1161}\u{11AB}국어"),
        ("files", "file"),
        ("changing", "changed"),
        ("dont", "don't"),
        ("user", "the user's"),
        ("user", "user’s"),
        ("CPU", "CPUs"),
    ] {
        assert!(finds(one, other), "{one} {other}");
        assert!(finds(other.trim_start_matches("the "), one), "{other} {one}");
    }
}

#[test]
fn a_hyphen_is_left_out_of_the_whole() {
    assert!(finds("filesystem", "file-system"));
    assert!(finds("readonly", "read-only"));
}

#[test]
fn other_words_do_not_find_each_other() {
    for (one, other) in
        [("news", "new"), ("C++", "C"), ("C#", "C"), ("キー", "キ"), ("1.2.3", "1.2.4")]
    {
        assert!(!finds(one, other), "{one} {other}");
    }
}

#[test]
fn identifiers_are_found_whole_and_by_their_parts() {
    for text in [
        "readResource",
        "read_resource",
        "ReadResource",
        "read-resource",
        "READ_RESOURCE",
        "read__resource",
    ] {
        for query in
            ["readResource", "read_resource", "readresource", "read", "resource", "resources"]
        {
            assert!(finds(query, text) || texts(text).contains(&texts(query)[0]), "{query} {text}");
        }
    }
    let parts = of_kind("HTTPServer2 starts", TokenKind::Part);
    assert_eq!(parts, [("http".to_owned(), 0), ("server".to_owned(), 1)]);
    assert_eq!(texts("HTTPServer2")[0], "httpserver2");
    assert_eq!(of_kind("HTTPServer2 starts", TokenKind::Word)[1], ("start".to_owned(), 2));
    assert_eq!(texts("__init__"), ["init"]);
}

#[test]
fn hashes_and_long_chains_do_not_become_many_parts() {
    assert_eq!(texts("a3f9b2c4d5e6").len(), 1);
    assert_eq!(texts("aBcDeFgHiJ").len(), 1);
    assert_eq!(of_kind(&"a-".repeat(40), TokenKind::Part), []);
}

#[test]
fn phrases_span_parts_of_identifiers() {
    assert!(has_phrase("read resource", "call readResource now"));
    assert!(has_phrase("readResource now", "call read_resource now"));
    assert!(has_phrase("readResource", "to read resources"));
    assert!(has_phrase("call readResource now", "call readResource now"));
    assert!(!has_phrase("resource read", "call readResource now"));
    assert!(!has_phrase("HTTPServer2", "HTTPServer3"));
    assert!(has_phrase("有メモリ", "共有メモリを作る"));
    assert!(has_phrase("共有メモリ", "共有\n    メモリ"));
    assert!(!has_phrase("共有メモリ", "共有のメモリ"));
}

#[test]
fn paths_versions_addresses_and_names_with_signs_are_kept() {
    assert_eq!(texts("/etc/passwd"), ["etc", "passwd"]);
    assert_eq!(texts("1.2.3"), ["1.2.3"]);
    assert_eq!(texts("192.168.0.1:80"), ["192.168.0.1", "80"]);
    assert_eq!(texts("v1.2.3"), ["v1.2.3", "1.2.3"]);
    assert_eq!(texts("C++ or C#, i++"), ["c++", "or", "c#", "i"]);
    assert_eq!(texts("std::fs::read"), ["std", "fs", "read"]);
    assert_eq!(texts("--long-option -v"), ["longopt", "long", "option", "v"]);
    assert_eq!(texts("utf-8"), ["utf8", "utf", "8"]);
}

#[test]
fn scripts_without_spaces_become_bigrams() {
    assert_eq!(texts("共有メモリ"), ["共有", "有メ", "メモ", "モリ"]);
    assert_eq!(texts("한국어를"), ["한국", "국어", "어를"]);
    assert_eq!(texts("内存"), ["内存"]);
    assert_eq!(texts("権"), ["権"]);
    assert_eq!(texts("第3章"), ["第", "3", "章"]);
    assert_eq!(texts("ไทย").len(), 2);
    assert_eq!(texts("HTTPサーバー"), ["http", "サー", "ーバ"]);
    assert!(tokenize("共有").iter().all(|token| token.kind == TokenKind::Bigram));
}

#[test]
fn emoji_are_words() {
    assert_eq!(texts("ship 🚀 it 👍🏽"), ["ship", "🚀", "it", "👍"]);
}

#[test]
fn ranges_point_into_the_original_text() {
    let text = "ｻｰﾊﾞｰ 人々 Größen user’s ㍿";
    let found = |folded: &str| {
        let token = tokenize(text).into_iter().find(|token| token.text == folded);
        text[token.unwrap().range].to_owned()
    };
    assert_eq!(found("ーバ"), "ｰﾊﾞｰ");
    assert_eq!(found("人人"), "人々");
    assert_eq!(found("grossen"), "Größen");
    assert_eq!(found("user"), "user");
    assert_eq!(found("会社"), "㍿");
}

#[test]
fn words_for_suggestions_are_whole() {
    let words: Vec<String> =
        spelling_words("Changing readResource Größe サーバーの設定 x86 1.2").collect();
    assert_eq!(words, ["changing", "read", "resource", "readresource", "grosse", "サーバ"]);
}

/// What holds for the tokens of any text.
fn assert_well_formed(text: &str, tokens: &[Token]) {
    for token in tokens {
        assert!(text.get(token.range.clone()).is_some_and(|source| !source.is_empty()));
        assert!(!token.text.is_empty() && token.text.len() < 1_000);
    }
    for pair in tokens.windows(2) {
        assert!(pair[0].position <= pair[1].position);
        assert!(pair[0].range.start <= pair[1].range.start);
    }
}

fn assert_all_well_formed(text: &str) {
    assert_well_formed(text, &tokenize(text));
    assert_well_formed(text, &dictionary_words(text));
    assert_well_formed(text, &phrase_tokens(text));
    assert!(spelling_words(text).all(|word| !word.is_empty()));
}

proptest! {
    #[test]
    fn tokens_of_any_text_are_well_formed(text in any::<String>()) {
        assert_all_well_formed(&text);
        fold(&text);
    }

    #[test]
    fn english_words_keep_a_stem(word in "[a-z]{1,10}(s|es|ies|ed|ied|ing|ly|tion|sion|e|ll)?") {
        let tokens = tokenize(&word);
        prop_assert!(tokens.len() == 1 && tokens[0].text.len() <= word.len() + 1);
    }

    #[test]
    fn tokens_of_mixed_scripts_are_well_formed(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "a", "B", "é", "e\u{301}", "\u{301}", "_", "-", ".", "'", "’", "1", "サ", "ー", "ｻ", "ﾞ", "々", "ゞ",
                "ヴ", "ァ", "あ", "ん", "漢", "國", "\n", "  ", "한", "\u{1112}", "\u{1161}", "\u{11AB}", "ไ", "㍿", "㌔",
                "ﬁ", "①", "🚀", "\u{200D}", "\u{FE0F}", "・", "+", "#", "ﷺ", "\u{309B}", "ß", "İ", "𠮟", "\u{AD}",
            ]),
            0..60,
        ),
    ) {
        let text = parts.concat();
        assert_all_well_formed(&text);
        prop_assert!(fold(&text).len() <= text.len() * 12);
    }
}

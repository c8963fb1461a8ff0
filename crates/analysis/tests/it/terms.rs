//! Query terms: what is asked for, with which weights and synonyms.

use analysis::{QueryTerm, TermField, dictionary_words, prefix_term, query_terms, tokenize};
use proptest::prelude::{any, proptest};

fn term<'t>(terms: &'t [QueryTerm], field: TermField, text: &str) -> Option<&'t QueryTerm> {
    let is_own = |term: &&QueryTerm| {
        let first = &term.alternatives[0];
        first.field == field && first.text == text
    };
    terms.iter().find(is_own)
}

fn sources(query: &str) -> Vec<String> {
    query_terms(query).into_iter().map(|term| term.source).collect()
}

fn has_synonym(query: &str, field: TermField, text: &str) -> bool {
    let is_synonym = |term: &QueryTerm| {
        let mut alternatives = term.alternatives.iter();
        alternatives.any(|own| own.field == field && own.text == text && own.weight <= 1.0)
    };
    query_terms(query).iter().any(is_synonym)
}

#[test]
fn stop_words_count_only_alone() {
    assert_eq!(sources("how do I list the files"), ["list", "files"]);
    assert_eq!(sources("to be or not"), ["not"]);
    let terms = query_terms("to be");
    assert_eq!(terms.len(), 2);
    assert!(terms.iter().all(|term| term.weight <= 0.1));
}

#[test]
fn an_unspaced_sentence_becomes_many_terms() {
    let terms = query_terms("ファイルのアクセス権を変更する");
    for word in ["ファイル", "アクセス", "変更"] {
        let weight = term(&terms, TermField::Dictionary, word).unwrap().weight;
        assert!(weight >= 0.9, "{word}");
    }
    for bigram in ["ファ", "イル", "変更"] {
        assert!(term(&terms, TermField::Main, bigram).is_some(), "{bigram}");
    }
    assert!(term(&terms, TermField::Main, "スル").is_none());
    let particle = term(&terms, TermField::Main, "権ヲ").unwrap();
    assert!(particle.weight <= 0.1);
    assert!(term(&terms, TermField::Main, "変更").unwrap().weight > particle.weight);
}

#[test]
fn hiragana_counts_only_alone() {
    let terms = query_terms("はじめに");
    assert_eq!(terms.len(), 3);
    assert!(terms.iter().all(|term| term.weight <= 0.1));
}

#[test]
fn general_words_weigh_less() {
    let terms = query_terms("設定の方法");
    let weight = |word| term(&terms, TermField::Dictionary, word).unwrap().weight;
    assert!(weight("方法") < weight("設定"));
}

#[test]
fn a_verb_of_one_kanji_weighs_as_much_as_a_word() {
    let weight = |query: &str, word: &str| {
        term(&query_terms(query), TermField::Dictionary, word).map(|term| term.weight)
    };
    assert_eq!(weight("ファイルを消す", "消"), Some(1.0));
    assert!(weight("アクセス権を", "権") < Some(1.0));
}

#[test]
fn synonyms_are_lighter_alternatives() {
    let terms = query_terms("delete");
    let [own, others @ ..] = terms[0].alternatives.as_slice() else { panic!("no alternatives") };
    assert_eq!((own.text.as_str(), own.weight), ("delet", 1.0));
    assert!(others.iter().any(|other| other.text == "remov" && other.weight < 0.5));
    for (query, text) in
        [("folders", "directory"), ("symbolic link", "symlink"), ("file system", "filesystem")]
    {
        assert!(has_synonym(query, TermField::Main, text), "{query} {text}");
    }
    for (query, text) in [
        ("消す", "削除"),
        ("フォルダー", "ディレクトリ"),
        ("アクセス権", "パーミッション"),
        ("作る", "作成"),
    ] {
        assert!(has_synonym(query, TermField::Dictionary, text), "{query} {text}");
    }
}

#[test]
fn plain_speech_asks_for_what_documentation_writes() {
    for (query, text) in [
        ("how long did it take", "elaps"),
        ("run the program", "exec"),
        ("carry on with the rest", "resum"),
        ("at the same time", "concurrent"),
    ] {
        assert!(has_synonym(query, TermField::Main, text), "{query} {text}");
    }
    assert!(!has_synonym("elapsed", TermField::Main, "long"));
    assert!(!has_synonym("carry, on", TermField::Main, "resum"));
}

#[test]
fn japanese_finds_english_words_and_hiragana_has_synonyms() {
    assert!(has_synonym("権限", TermField::Main, "chmod"));
    assert!(!has_synonym("permission", TermField::Dictionary, "権限"));
    assert!(has_synonym("ファイルをまとめる", TermField::Dictionary, "結合"));
    assert!(!has_synonym("とりまとめる", TermField::Dictionary, "一括"));
}

#[test]
fn identifiers_ask_for_the_whole_and_lightly_for_parts() {
    let terms = query_terms("readResource");
    assert_eq!(term(&terms, TermField::Main, "readresourc").unwrap().weight, 1.0);
    assert!(term(&terms, TermField::Main, "read").unwrap().weight < 1.0);
}

#[test]
fn two_words_are_asked_for_as_one_too() {
    let terms = query_terms("time stamp");
    assert!(term(&terms, TermField::Main, "timestamp").is_some_and(|term| term.weight < 1.0));
    assert!(term(&query_terms("time, stamp"), TermField::Main, "timestamp").is_none());
}

#[test]
fn one_character_asks_for_every_bigram_that_starts_with_it() {
    let terms = query_terms("権");
    assert!(term(&terms, TermField::Main, "権").unwrap().alternatives[0].is_prefix);
    assert!(
        !term(&query_terms("権限"), TermField::Main, "権限").unwrap().alternatives[0].is_prefix
    );
}

#[test]
fn particles_of_korean_weigh_little() {
    let terms = query_terms("사용자를 추가");
    assert_eq!(term(&terms, TermField::Dictionary, "사용자").unwrap().weight, 1.0);
    assert!(term(&terms, TermField::Main, "자를").unwrap().weight <= 0.1);
}

/// True if a token of the text answers the term.
fn answers(term: &QueryTerm, text: &str) -> bool {
    let (main, dictionary) = (tokenize(text), dictionary_words(text));
    term.alternatives.iter().any(|own| {
        let tokens = if own.field == TermField::Main { &main } else { &dictionary };
        let is_match = |token: &str| {
            if own.is_prefix { token.starts_with(&own.text) } else { token == own.text }
        };
        tokens.iter().any(|token| is_match(&token.text))
    })
}

#[test]
fn a_prefix_finds_words_and_identifiers_that_start_with_it() {
    for (prefix, text) in [
        ("confi", "configuration"),
        ("configuration", "configuration"),
        ("changes", "changes"),
        ("CONFI", "Configuration"),
        ("read_res", "readResource"),
        ("readRes", "read_resource"),
        ("1.2", "1.2.3"),
        ("共", "共有メモリ"),
        ("共有", "共有メモリ"),
        ("ファイル", "ファイルシステム"),
        ("サー", "サーバー"),
    ] {
        assert!(answers(&prefix_term(prefix), text), "{prefix} {text}");
    }
    assert!(!answers(&prefix_term("confi"), "reconfigured"));
    assert!(!answers(&prefix_term("ファイル"), "フォルダ"));
    assert_eq!(prefix_term("").alternatives, []);
}

#[test]
fn a_repeated_word_is_one_term() {
    assert_eq!(sources("file, file, files"), ["file"]);
}

#[test]
fn the_number_of_terms_is_bounded() {
    let text: String = (0x4E00..0x4E00 + 2_000).filter_map(char::from_u32).collect();
    let terms = query_terms(&text);
    assert!(!terms.is_empty() && terms.len() <= 256);
    assert!(terms.iter().all(|term| term.alternatives.len() <= 16));
}

proptest! {
    #[test]
    fn terms_of_any_text_have_alternatives_and_weights(text in any::<String>()) {
        for term in query_terms(&text) {
            assert!(!term.alternatives.is_empty());
            assert!(term.weight > 0.0 && term.weight <= 1.0);
            assert!(term.alternatives.iter().all(|own| own.weight > 0.0 && own.weight <= 1.0));
        }
    }
}

#[test]
fn everyday_words_ask_for_what_documentation_writes() {
    for (asked, found) in [
        ("アプリ", "プロセス"),
        ("打ち切る", "タイムアウト"),
        ("小分け", "分割"),
        ("throw away", "discard"),
        ("people", "user"),
    ] {
        let terms = analysis::query_terms(asked);
        let mut others = terms.iter().flat_map(|term| &term.alternatives);
        assert!(others.any(|other| other.is_synonym && other.text == found), "{asked}: {terms:?}");
    }
}

#[test]
fn a_bigram_of_a_dictionary_word_is_a_part_of_it() {
    let terms = analysis::query_terms("共有メモリ config");
    let whole = |text: &str| terms.iter().find(|term| term.source == text).map(|term| term.is_part);
    assert_eq!(whole("共有"), Some(false));
    assert_eq!(whole("メモ"), Some(true));
    assert_eq!(whole("config"), Some(false));
}

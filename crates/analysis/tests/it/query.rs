//! The query language: what each spelling asks for, and which queries are refused.

use std::time::{Duration, SystemTime};

use analysis::{Audience, Clause, Comparison, Condition, QueryError, parse_query};
use proptest::prelude::{any, prop, proptest};

fn words(text: &str) -> Clause {
    Clause::Words(text.to_owned())
}

fn phrase(text: &str) -> Clause {
    Clause::Phrase(text.to_owned())
}

fn not(clause: Clause) -> Clause {
    Clause::Not(Box::new(clause))
}

fn clauses(text: &str) -> Vec<Clause> {
    let query = parse_query(text).expect("the query is accepted");
    assert_eq!(query.conditions, [], "{text}");
    query.clauses
}

fn conditions(text: &str) -> Vec<Condition> {
    let query = parse_query(text).expect("the query is accepted");
    assert_eq!(query.clauses, [], "{text}");
    query.conditions
}

fn day(days: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400)
}

/// 2026-01-01.
const NEW_YEAR: u64 = 20_454;

#[test]
fn free_words_are_one_clause() {
    assert_eq!(clauses("  change the   mode "), [words("change the mode")]);
    assert_eq!(clauses("共有メモリ　とは"), [words("共有メモリ とは")]);
}

#[test]
fn quotation_marks_of_every_kind_make_phrases() {
    for text in [
        "\"shared memory\"",
        "“shared memory”",
        "「shared memory」",
        "『shared memory』",
        "＂shared memory＂",
    ] {
        assert_eq!(clauses(text), [phrase("shared memory")], "{text}");
    }
    assert_eq!(
        clauses("the「共有メモリ」とは"),
        [words("the"), phrase("共有メモリ"), words("とは")]
    );
}

#[test]
fn minus_and_not_exclude() {
    assert_eq!(clauses("foo -bar"), [words("foo"), not(words("bar"))]);
    assert_eq!(clauses("foo －bar"), [words("foo"), not(words("bar"))]);
    assert_eq!(clauses("foo -\"a b\""), [words("foo"), not(phrase("a b"))]);
    assert_eq!(clauses("foo NOT bar"), [words("foo"), not(words("bar"))]);
    assert_eq!(clauses("read-only a - b"), [words("read-only a - b")]);
}

#[test]
fn or_joins_its_neighbours() {
    let any = |clauses: &[Clause]| Clause::Any(clauses.to_vec());
    assert_eq!(clauses("a OR b OR c"), [any(&[words("a"), words("b"), words("c")])]);
    assert_eq!(
        clauses("x a OR \"b c\" y"),
        [words("x"), any(&[words("a"), phrase("b c")]), words("y")]
    );
    assert_eq!(clauses("a ＯＲ b"), [any(&[words("a"), words("b")])]);
    assert_eq!(clauses("a or b"), [words("a or b")]);
    assert_eq!(
        conditions("path:a OR path:b"),
        [Condition::Any(vec![Condition::Path("a".to_owned()), Condition::Path("b".to_owned())])]
    );
}

#[test]
fn an_asterisk_makes_a_prefix() {
    assert_eq!(clauses("Confi*"), [Clause::Prefix("confi".to_owned())]);
    assert_eq!(clauses("confi＊"), [Clause::Prefix("confi".to_owned())]);
    assert_eq!(clauses("a*b"), [words("a*b")]);
    assert_eq!(parse_query("*"), Err(QueryError::Empty));
}

#[test]
fn fields_are_conditions() {
    assert_eq!(conditions("name:chmod"), [Condition::Name("chmod".to_owned())]);
    assert_eq!(conditions("PATH：docs/ja"), [Condition::Path("docs/ja".to_owned())]);
    assert_eq!(conditions("path:\"my docs\""), [Condition::Path("my docs".to_owned())]);
    assert_eq!(conditions("mime:text/*"), [Condition::Mime("text/*".to_owned())]);
    assert_eq!(
        conditions("mount:a lang:ja"),
        [Condition::Mount("a".to_owned()), Condition::Language("ja".to_owned())]
    );
    assert_eq!(conditions("audience:User"), [Condition::Audience(Audience::User)]);
    assert_eq!(
        conditions("-audience:assistant"),
        [Condition::Not(Box::new(Condition::Audience(Audience::Assistant)))]
    );
    let query = parse_query("name:a foo").unwrap();
    assert_eq!((query.clauses.len(), query.conditions.len()), (1, 1));
}

#[test]
fn priority_and_modified_are_compared() {
    assert_eq!(conditions("priority:>0.5"), [Condition::Priority(Comparison::Greater, 0.5)]);
    assert_eq!(
        conditions("priority:＞＝0.5"),
        [Condition::Priority(Comparison::GreaterOrEqual, 0.5)]
    );
    assert_eq!(conditions("priority:1"), [Condition::Priority(Comparison::Equal, 1.0)]);
    let modified = |text: &str| conditions(text).remove(0);
    assert_eq!(
        modified("modified:>2026-01-01"),
        Condition::Modified(Comparison::GreaterOrEqual, day(NEW_YEAR + 1))
    );
    assert_eq!(
        modified("modified:>=2026-01-01"),
        Condition::Modified(Comparison::GreaterOrEqual, day(NEW_YEAR))
    );
    assert_eq!(modified("modified:<2026"), Condition::Modified(Comparison::Less, day(NEW_YEAR)));
    assert_eq!(
        modified("modified:<=2026-01"),
        Condition::Modified(Comparison::Less, day(NEW_YEAR + 31))
    );
    assert_eq!(
        modified("modified:2026-01-01"),
        Condition::ModifiedWithin(day(NEW_YEAR)..day(NEW_YEAR + 1))
    );
}

#[test]
fn a_value_that_cannot_be_read_is_refused_with_what_is_accepted() {
    for (text, said) in [
        ("priority:>abc", "0 to 1"),
        ("priority:2", "0 to 1"),
        ("priority:NaN", "0 to 1"),
        ("modified:>yesterday", "2026-01-31"),
        ("modified:2026-02-30", "2026-01-31"),
        ("audience:robot", "user or assistant"),
    ] {
        let error = parse_query(text).unwrap_err();
        assert!(matches!(error, QueryError::BadValue { .. }), "{text}");
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn odd_punctuation_is_words() {
    for text in [
        "foo \"bar",
        "C++",
        "foo:bar",
        "http://example.org/a?b=c",
        "std::fs::read",
        "path::Path",
        "name:",
        "a && b OR",
        "foo「bar",
        "it's 5\" wide",
        "x -- y",
    ] {
        let clauses = clauses(text);
        assert!(
            clauses.iter().all(|clause| matches!(clause, Clause::Words(_))),
            "{text}: {clauses:?}"
        );
    }
    assert_eq!(clauses("OR foo OR"), [words("foo")]);
    assert_eq!(clauses("foo NOT"), [words("foo")]);
}

#[test]
fn a_query_without_anything_to_search_for_is_refused() {
    for text in
        ["", "  ", "　", "\"", "\"\"", "!!!", "OR", "-", "-foo", "NOT foo", "- -", "()", "「」"]
    {
        assert_eq!(parse_query(text), Err(QueryError::Empty), "{text}");
    }
}

#[test]
fn an_option_of_a_command_is_a_word_and_excludes_nothing() {
    for text in ["tail -f", "rm -rf", "ls -1"] {
        let words = vec![Clause::Words(text.to_owned())];
        assert_eq!(parse_query(text).unwrap().clauses, words, "{text}");
    }
    let excluded = parse_query("tail -fox").unwrap().clauses;
    assert!(excluded.iter().any(|clause| matches!(clause, Clause::Not(_))), "{excluded:?}");
}

#[test]
fn a_query_over_its_bounds_is_refused() {
    assert!(parse_query(&"あ".repeat(2_000)).is_ok());
    assert_eq!(
        parse_query(&"あ".repeat(2_001)),
        Err(QueryError::TooLong { length: 2_001, limit: 2_000 })
    );
    assert!(parse_query(&"a -bee ".repeat(32)).is_ok());
    assert_eq!(parse_query(&"a -bee ".repeat(33)), Err(QueryError::TooManyClauses { limit: 64 }));
    assert_eq!(parse_query(&"a OR ".repeat(100)), Err(QueryError::TooManyClauses { limit: 64 }));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        let _ = parse_query(&text);
    }

    #[test]
    fn no_mix_of_operators_makes_the_parser_panic(
        parts in prop::collection::vec(
            prop::sample::select(vec!["\"", "「", "」", "-", "OR", "NOT", " ", "a", "name:", "*", "：", "共有", "priority:", ">", "0.5", "modified:2026-", "01"]),
            0..40,
        ),
    ) {
        let _ = parse_query(&parts.concat());
    }
}

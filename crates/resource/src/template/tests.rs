//! Tests of URI template matching, against the expansion of crate `iri-string`.

use iri_string::spec::UriSpec;
use iri_string::template::UriTemplateStr;
use iri_string::template::simple_context::{SimpleContext, Value};
use proptest::prelude::{prop, proptest};

use super::{MAX_EXPRESSIONS, MAX_TEMPLATE_BYTES, UriTemplate};
use crate::uri::Uri;
use crate::variable::{VariableValue, VariableValues};

fn values(template: &str, uri: &str) -> Option<VariableValues> {
    UriTemplate::parse(template).unwrap().matches(&Uri::parse(uri).unwrap())
}

fn of<const N: usize>(pairs: [(&str, &str); N]) -> Option<VariableValues> {
    let value = |(name, value): (&str, &str)| (name.to_owned(), VariableValue::Text(value.into()));
    Some(pairs.into_iter().map(value).collect())
}

fn list(name: &str, values: &[&str]) -> Option<VariableValues> {
    let values = values.iter().copied().map(str::to_owned).collect();
    Some([(name.to_owned(), VariableValue::List(values))].into())
}

#[test]
fn a_simple_hole_takes_one_segment() {
    assert_eq!(values("test://t/{id}/data", "test://t/12/data"), of([("id", "12")]));
    assert_eq!(values("test://t/{id}/data", "test://t/a%2Fb/data"), of([("id", "a/b")]));
    assert_eq!(values("test://t/{id}/data", "test://t/a/b/data"), None);
    assert_eq!(values("test://t/{id}/data", "test://t//data"), None);
    assert_eq!(values("test://t/{id}", "test://t/日本"), of([("id", "日本")]));
}

#[test]
fn a_reserved_hole_takes_slashes() {
    assert_eq!(values("file:///{+path}", "file:///a/b.txt"), of([("path", "a/b.txt")]));
    assert_eq!(values("x:/{+a}/end", "x:/1/end/end"), of([("a", "1/end")]));
}

#[test]
fn the_other_operators_match_what_they_expand_to() {
    assert_eq!(values("x:/q{?a,b}", "x:/q?b=2&a=1"), of([("a", "1"), ("b", "2")]));
    assert_eq!(values("x:/q{?a,b}", "x:/q"), of([]));
    assert_eq!(values("x:/q{?a,b}", "x:/q?c=3"), None);
    assert_eq!(values("x:/q{?a}", "x:/q?a=1&a=2"), None);
    assert_eq!(values("x:{/a,b}", "x:/1/2"), of([("a", "1"), ("b", "2")]));
    assert_eq!(values("x:/p{;a}", "x:/p;a=1"), of([("a", "1")]));
    assert_eq!(values("x:/f{.ext}", "x:/f.txt"), of([("ext", "txt")]));
    assert_eq!(values("x:/f{#at}", "x:/f#top"), of([("at", "top")]));
    assert_eq!(values("x:/{a,b}", "x:/1,2"), of([("a", "1"), ("b", "2")]));
}

#[test]
fn an_exploded_hole_takes_a_list() {
    assert_eq!(values("x:{/a*}", "x:/1/2%2F/3"), list("a", &["1", "2/", "3"]));
    assert_eq!(values("x:/q{?a*}", "x:/q?a=1&a=2"), list("a", &["1", "2"]));
    assert_eq!(values("x:/q{?a*}", "x:/q?a=1"), list("a", &["1"]));
    assert_eq!(values("x:/q{?a*}", "x:/q"), of([]));
    assert_eq!(values("x:/{a*}", "x:/1,2%2C,3"), list("a", &["1", "2,", "3"]));
    assert_eq!(values("x:/q{?a*,b}", "x:/q?a=1&b=2&b=3"), None);
    let template = UriTemplate::parse("x:/{id}{/a*}").unwrap();
    assert!(template.is_list("a") && !template.is_list("id") && !template.is_list("none"));
}

#[test]
fn a_query_is_not_swallowed_by_the_path_before_it() {
    let template = "x:/{+path}{?q,lang}";
    assert_eq!(values(template, "x:/a/b?q=1"), of([("path", "a/b"), ("q", "1")]));
    assert_eq!(values(template, "x:/a/b"), of([("path", "a/b")]));
}

#[test]
fn holes_side_by_side_never_cut_a_character() {
    for uri in ["t://éé", "t://%C3%A9%C3%A9", "t://é", "t://%C3%A9x", "t://日本"] {
        let found = values("t://{a}{b}", uri);
        for value in found.iter().flatten().flat_map(|(_, value)| value.values()) {
            assert!(!value.contains('\u{fffd}') && !value.is_empty(), "{uri}: {value}");
        }
    }
    assert_eq!(values("t://{a}{b}", "t://éé"), of([("a", "é"), ("b", "é")]));
}

#[test]
fn a_template_that_makes_no_sense_is_refused() {
    for text in ["a{", "a}", "{}", "{!x}", "{a:0}", "{a:10000}", "x:/{a}/{a}", "{a b}"] {
        assert!(UriTemplate::parse(text).is_err(), "{text:?} was taken");
    }
}

#[test]
fn matching_stays_linear_where_backtracking_would_explode() {
    let template = UriTemplate::parse("x:/{+a}a{+b}a{+c}a{+d}a{+e}a{+f}b").unwrap();
    let uri = Uri::parse(&format!("x:/{}", "a".repeat(8000))).unwrap();
    assert_eq!(template.matches(&uri), None);
}

proptest! {
    #[test]
    fn matching_anything_is_harmless(
        template in "x:[a-z/é%]{0,3}(\\{[+#./;?&]?[ab](,[cd])?\\*?\\}){1,3}[a-z/]{0,2}",
        rest in "[a-z/é日%,;=?&#.]{0,12}",
    ) {
        if let (Ok(template), Ok(uri)) =
            (UriTemplate::parse(&template), Uri::parse(&format!("x:{rest}")))
        {
            let _ = template.matches(&uri);
        }
    }

    #[test]
    fn matching_undoes_expansion(
        a in "[a-zé日/ %&=?]{1,8}",
        b in "[a-zé日]{1,8}",
        template in prop::sample::select(&[
            "x:/{a}/{b}", "x:/{+a}/{b}", "x:/q{?a,b}", "x:{/b,a}", "x:/{b}/f{.a}", "x:/{b}{?a}",
            "x:/p{;a,b}", "x:/{b}/f{.a}", "x:/q?z=1{&a,b}",
        ][..]),
    ) {
        // A reserved expression keeps `%` as it is, so it need not round-trip; and the reserved
        // expansion of `iri-string` panics on non-ASCII input.
        let a = if template.contains("{+a}") || template.contains("{#a}") {
            a.replace(|c: char| !c.is_ascii() || "% ".contains(c), "")
        } else {
            a
        };
        if !a.is_empty() {
            let mut context = SimpleContext::new();
            context.insert("a", a.as_str());
            context.insert("b", b.as_str());
            let expanded = UriTemplateStr::new(template).unwrap();
            let uri = expanded.expand::<UriSpec, _>(&context).unwrap().to_string();
            assert_eq!(values(template, &uri), of([("a", &a), ("b", &b)]), "{uri}");
        }
    }

    #[test]
    fn matching_undoes_the_expansion_of_a_list(
        items in prop::collection::vec("[a-zé日/ %&=?,;]{1,6}", 1..5),
        template in prop::sample::select(&[
            "x:/p{/a*}", "x:/q{?a*}", "x:/p{;a*}", "x:/{a*}", "x:/q?z=1{&a*}",
        ][..]),
    ) {
        let mut context = SimpleContext::new();
        context.insert("a", Value::List(items.clone()));
        let expanded = UriTemplateStr::new(template).unwrap();
        let uri = expanded.expand::<UriSpec, _>(&context).unwrap().to_string();
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        assert_eq!(values(template, &uri), list("a", &items), "{uri}");
    }
}

#[test]
fn a_template_over_a_bound_is_refused() {
    let holes = |count: usize| -> String { (0..count).map(|at| format!("{{v{at}}}-")).collect() };
    assert!(UriTemplate::parse(&format!("x:{}", holes(MAX_EXPRESSIONS))).is_ok());
    let refused = UriTemplate::parse(&format!("x:{}", holes(MAX_EXPRESSIONS + 1))).unwrap_err();
    assert!(refused.message.contains("at most 64 expressions"), "{refused}");
    let long = |length: usize| format!("x:{}", "a".repeat(length - 2));
    assert!(UriTemplate::parse(&long(MAX_TEMPLATE_BYTES)).is_ok());
    let refused = UriTemplate::parse(&long(MAX_TEMPLATE_BYTES + 1)).unwrap_err();
    assert!(refused.message.contains("at most 8192 bytes"), "{refused}");
}

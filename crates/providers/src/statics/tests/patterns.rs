//! Tests of template expansion, escaping and completion.

use std::collections::BTreeMap;

use resource::{
    Completion, CompletionRequest, ErrorKind, Provider, Slice, Variable, VariableKind, Window,
};

use super::{ResourceDeclaration, WHOLE, pattern, read, statics, text, try_read, uri};

async fn filled(mime: &str, text: &str, at: &str) -> String {
    let statics = statics(vec![], vec![pattern("x://{a}/{b}", mime, text, &[])]);
    String::from_utf8(read(&statics, at).await).unwrap()
}

#[tokio::test]
async fn a_template_is_read_with_its_values_in_place() {
    let text = r#"{"id": "{id}", "self": "{id}"}"#;
    let templates = vec![pattern("note://person/{id}", "application/json", text, &[])];
    let statics = statics(vec![text_entry()], templates);
    let parts = try_read(&statics, "note://person/ada", &WHOLE).await.unwrap();
    let told = parts[0].resource.as_ref().clone();
    assert_eq!((told.uri.as_str(), told.name.as_str()), ("note://person/ada", "person"));
    assert_eq!(told.title.as_deref(), Some("A person"));
    assert_eq!(told.description.as_deref(), Some("Somebody."));
    assert_eq!(told.mime.as_deref(), Some("application/json"));
    assert_eq!((told.annotations.priority, told.size), (Some(0.5), Some(28)));
    let stat = statics.stat(&testkit::local_context(), &uri("note://person/ada")).await.unwrap();
    assert_eq!(*stat, told);
    assert_eq!(read(&statics, "note://person/ada").await, br#"{"id": "ada", "self": "ada"}"#);
    assert_eq!(read(&statics, "note://person/declared").await, b"its own");
}

/// The values that a URI gives the variables reach the read: defaults, types, lists and all.
#[tokio::test]
async fn described_variables_are_checked_defaulted_and_listed() {
    let variable = |name: &str| Variable { name: name.to_owned(), ..Variable::default() };
    let text = r#"{"level":"{level}","ids":{id}}"#;
    let mut logs = pattern("log://all{/id*}{?level}", "application/json", text, &[]);
    let allowed = ["info", "warn"].map(str::to_owned).to_vec();
    logs.template.variables = vec![
        Variable { kind: VariableKind::Integer, ..variable("id") },
        Variable { allowed, default: Some("warn".to_owned()), ..variable("level") },
    ];
    let statics = statics(vec![], vec![logs]);
    assert_eq!(read(&statics, "log://all/1/2").await, br#"{"level":"warn","ids":[1,2]}"#);
    assert_eq!(read(&statics, "log://all/7?level=info").await, br#"{"level":"info","ids":[7]}"#);
    for (at, why) in [
        ("log://all/1?level=debug", "level must be one of: info, warn"),
        ("log://all/1/x", "id must be of type integer"),
    ] {
        let error = try_read(&statics, at, &WHOLE).await.err().unwrap();
        assert_eq!(error.kind, ErrorKind::NotFound);
        assert!(error.message.ends_with(why), "{at}: {}", error.message);
    }
    let complete = statics.facets().complete.expect("allowed values are suggestions");
    let request = CompletionRequest {
        template: "log://all{/id*}{?level}",
        variable: "level",
        typed: "w",
        resolved: &BTreeMap::new(),
    };
    let completion = complete.complete(&testkit::local_context(), &request).await.unwrap();
    assert_eq!(completion.values, ["warn"]);
}

fn text_entry() -> ResourceDeclaration {
    text("note://person/declared", "its own")
}

#[tokio::test]
async fn a_value_is_not_filled_again() {
    assert_eq!(filled("text/plain", "{a} {b}", "x://%7Bb%7D/%7Ba%7D").await, "{b} {a}");
}

#[tokio::test]
async fn braces_that_name_no_variable_stay() {
    assert_eq!(filled("text/plain", "{ {c} {a {a}} {", "x://1/2").await, "{ {c} {a 1} {");
}

#[tokio::test]
async fn a_value_stays_a_value_in_json() {
    let hostile = "x://%22%2C%22admin%22%3Atrue/%5C%0A";
    let told = filled("application/json", r#"{"a":"{a}","b":"{b}"}"#, hostile).await;
    assert_eq!(told, r#"{"a":"\",\"admin\":true","b":"\\\n"}"#);
    let told = filled("application/ld+json; x=y", r#"["{a}"]"#, "x://%22/2").await;
    assert_eq!(told, r#"["\""]"#);
}

#[tokio::test]
async fn a_value_outside_a_json_string_is_a_number_or_becomes_a_string() {
    for (value, written) in [
        ("5", "5"),
        ("-0.5e-3", "-0.5e-3"),
        ("true", "true"),
        ("null", "null"),
        ("ada", "\"ada\""),
        ("007", "\"007\""),
        ("1.", "\"1.\""),
        ("-", "\"-\""),
        ("NaN", "\"NaN\""),
        ("1%2C%22x%22%3A2", "\"1,\\\"x\\\":2\""),
    ] {
        let told = filled("application/json", "{\"q\\\"\": {a}}", &format!("x://{value}/2")).await;
        assert_eq!(told, format!("{{\"q\\\"\": {written}}}"), "{value}");
    }
}

#[tokio::test]
async fn a_value_stays_a_value_in_markup_and_is_left_alone_elsewhere() {
    let at = "x://%3Cb%20c%3D%22%27%3E%26/2";
    for mime in ["text/html", "application/xml", "image/svg+xml"] {
        assert_eq!(filled(mime, "<p>{a}", at).await, "<p>&lt;b c=&quot;&#39;&gt;&amp;", "{mime}");
    }
    assert_eq!(filled("text/markdown", "{a}", at).await, "<b c=\"'>&");
}

#[tokio::test]
async fn a_template_takes_windows_limits_and_pins() {
    let statics = statics(vec![], vec![pattern("x://{a}", "text/plain", "-{a}-", &[])]);
    let at = "x://%E6%97%A5";
    let window = Window::Part { offset: 0, length: 3, etag: None };
    let part = try_read(&statics, at, &window).await.unwrap().remove(0);
    assert_eq!(part.slice, Some(Slice::new(0, 1, 5)));
    let error = try_read(&statics, at, &Window::Whole { limit: 4 }).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
    let stale = Window::Part { offset: 0, length: 3, etag: Some("old".to_owned()) };
    let error = try_read(&statics, at, &stale).await.unwrap_err();
    assert_eq!((error.kind, error.uri), (ErrorKind::Changed, Some(uri(at))));
}

async fn complete(template: &str, variable: &str, typed: &str) -> Result<Completion, ErrorKind> {
    let values: &[&str] = &["Banana", "ananas", "Ananas", "apple", "BANJO"];
    let templates = vec![pattern("x://{a}/{b}", "text/plain", "", &[("a", values)])];
    let statics = statics(vec![text("note://plain", "")], templates);
    let settled = BTreeMap::new();
    let question = CompletionRequest { template, variable, typed, resolved: &settled };
    let complete = statics.facets().complete.unwrap();
    complete.complete(&testkit::local_context(), &question).await.map_err(|error| error.kind)
}

#[tokio::test]
async fn values_that_begin_as_typed_come_first_then_in_any_case_then_within() {
    let told = complete("x://{a}/{b}", "a", "an").await.unwrap();
    assert_eq!(told.values, ["ananas", "Ananas", "Banana", "BANJO"]);
    assert_eq!(told.total, 4);
    let told = complete("x://{a}/{b}", "a", "").await.unwrap();
    assert_eq!(told.values, ["Banana", "ananas", "Ananas", "apple", "BANJO"]);
    assert_eq!(complete("x://{a}/{b}", "a", "zzz").await.unwrap(), Completion::default());
}

#[tokio::test]
async fn what_has_no_values_completes_to_nothing_and_the_unknown_is_invalid() {
    assert_eq!(complete("x://{a}/{b}", "b", "").await.unwrap(), Completion::default());
    assert_eq!(complete("note://plain", "a", "").await.unwrap(), Completion::default());
    assert_eq!(complete("x://{a}/{b}", "c", "").await, Err(ErrorKind::Invalid));
    assert_eq!(complete("x://{other}", "a", "").await, Err(ErrorKind::Invalid));
    assert_eq!(complete("note://none", "a", "").await, Err(ErrorKind::Invalid));
}

#[test]
fn completing_is_told_of_only_where_there_are_values() {
    let with = |values| statics(vec![], vec![pattern("x://{a}", "text/plain", "", values)]);
    assert!(with(&[]).facets().complete.is_none());
    assert!(with(&[("a", &[])]).facets().complete.is_none());
    assert!(with(&[("a", &["b"])]).facets().complete.is_some());
}

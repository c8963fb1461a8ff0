//! Tests of the layers: each keeps the provider contract and applies its policy.

use std::sync::Arc;
use std::time::Duration;

use catalog::layers::bounded::Bounded;
use catalog::layers::ruled::Ruled;
use catalog::layers::timed::Timed;
use catalog::{Address, Catalog, MetadataRule, MetadataRules, Mount, MountOptions, RuleEffect};
use resource::{
    CompletionRequest, Content, Context, ErrorKind, PageRequest, Provider, Role, Uri, Window,
};
use testkit::memory::{Fault, FaultPoint};
use testkit::{Expectations, MemoryProvider, contract};

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn memory() -> MemoryProvider {
    MemoryProvider::new()
        .text("file:///README.md", "# read me")
        .collection("file:///docs", &["file:///docs/a.md", "file:///docs/secret.md"])
        .text("file:///docs/a.md", "a")
        .text("file:///docs/secret.md", "s")
        .collection("file:///private", &["file:///private/x"])
        .text("file:///private/x", "x")
        .template("file:///{+path}", "{path}", &[("path", &["docs/a.md", "private/", "private/x"])])
}

fn known() -> Expectations {
    Expectations {
        leaves: vec![(uri("file:///README.md"), b"# read me".to_vec())],
        missing: vec![uri("note:none")],
        ..Expectations::default()
    }
}

fn rule(glob: &str, effect: RuleEffect) -> MetadataRule {
    MetadataRule { glob: glob.to_owned(), effect }
}

fn rules() -> MetadataRules {
    let hide = || RuleEffect { hide: Some(true), ..RuleEffect::default() };
    MetadataRules::new([
        rule("*.md", RuleEffect { priority: Some(0.2), ..RuleEffect::default() }),
        rule(
            "docs/**/*.md",
            RuleEffect {
                priority: Some(0.9),
                audience: Some(vec![Role::User]),
                title: Some("A page".to_owned()),
                ..RuleEffect::default()
            },
        ),
        rule("private", hide()),
        rule("docs/secret.md", hide()),
    ])
    .unwrap()
}

#[tokio::test]
async fn layers_keep_the_promises_of_what_they_surround() {
    contract(&Bounded::new(memory(), 1 << 20), &known()).await;
    contract(&Timed::new(memory(), Duration::from_secs(30)), &known()).await;
    let harmless = MetadataRules::new([rule(
        "*",
        RuleEffect { priority: Some(0.5), ..RuleEffect::default() },
    )])
    .unwrap();
    contract(&Ruled::new(memory(), harmless), &known()).await;
}

#[tokio::test]
async fn a_later_rule_holds_over_an_earlier_one_everywhere() {
    let ruled = Ruled::new(memory(), rules());
    let ctx = Context::default();
    let readme = ruled.stat(&ctx, &uri("file:///README.md")).await.unwrap();
    assert_eq!((readme.annotations.priority, readme.title), (Some(0.2), None));
    let page = ruled.list(&ctx, Some(&uri("file:///docs")), &PageRequest::first(9)).await.unwrap();
    let listed = &page.items[0];
    assert_eq!((listed.annotations.priority, listed.title.as_deref()), (Some(0.9), Some("A page")));
    let whole = Window::Whole { limit: 100 };
    let reading = ruled.read(&ctx, &uri("file:///docs/a.md"), &whole).await.unwrap();
    let Content::Parts(parts) = reading.content else { panic!("a leaf has parts") };
    assert_eq!(parts[0].resource, *listed);
}

#[tokio::test]
async fn what_is_hidden_is_as_if_it_were_not_there() {
    let ruled = Ruled::new(memory(), rules());
    let ctx = Context::default();
    let top = ruled.list(&ctx, None, &PageRequest::first(9)).await.unwrap();
    let names: Vec<_> = top.items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["README.md", "docs"]);
    for text in ["file:///private", "file:///private/x", "file:///docs/secret.md"] {
        let kind = |result: resource::Result<()>| result.unwrap_err().kind;
        let uri = uri(text);
        assert_eq!(kind(ruled.stat(&ctx, &uri).await.map(drop)), ErrorKind::NotFound);
        let whole = Window::Whole { limit: 100 };
        assert_eq!(kind(ruled.read(&ctx, &uri, &whole).await.map(drop)), ErrorKind::NotFound);
        let listed = ruled.list(&ctx, Some(&uri), &PageRequest::first(9)).await.map(drop);
        assert_eq!(kind(listed), ErrorKind::NotFound);
    }
    let settled = std::collections::BTreeMap::new();
    let template = "file:///{+path}";
    let question = CompletionRequest { template, variable: "path", typed: "", resolved: &settled };
    let completion = ruled.facets().complete.unwrap().complete(&ctx, &question).await.unwrap();
    assert_eq!((completion.values, completion.total), (vec!["docs/a.md".to_owned()], 1));
}

#[tokio::test]
async fn a_hidden_page_is_passed_over_and_nothing_behind_it_is_lost() {
    let mut memory = MemoryProvider::new();
    for at in 0..20 {
        memory = memory.text(&format!("file:///hidden{at}"), "");
    }
    let memory = memory.text("file:///seen", "");
    let hide = RuleEffect { hide: Some(true), ..RuleEffect::default() };
    let ruled = Ruled::new(memory, MetadataRules::new([rule("hidden*", hide)]).unwrap());
    let page = ruled.list(&Context::default(), None, &PageRequest::first(3)).await.unwrap();
    assert_eq!((page.items.len(), page.next), (1, None));
}

#[tokio::test]
async fn a_hidden_page_that_is_passed_over_still_tells_what_is_missing() {
    let broken = MemoryProvider::new();
    broken.inject_fault(FaultPoint::List, Fault::Fails(ErrorKind::Unavailable));
    let full = ["a", "b", "y", "z"]
        .into_iter()
        .fold(MemoryProvider::new(), |memory, name| memory.text(&format!("file:///{name}"), ""));
    let mount = |name: &str, provider: MemoryProvider| {
        let (timeout, rules) = (Duration::from_secs(30), MetadataRules::default());
        let options = MountOptions { rules, max_read: 1 << 20, timeout, required: false };
        let address = Address::Path { scheme: "file", name: name.to_owned() };
        Mount::new(name, address, provider, options)
    };
    let catalog = Arc::new(Catalog::new(vec![mount("broken", broken), mount("full", full)]));
    let hide = || RuleEffect { hide: Some(true), ..RuleEffect::default() };
    for (globs, seen) in [(&["a", "b"][..], 2), (&["full"][..], 0)] {
        let rules = globs.iter().map(|glob| rule(glob, hide()));
        let ruled = Ruled::new(Arc::clone(&catalog), MetadataRules::new(rules).unwrap());
        let page = ruled.list(&Context::default(), None, &PageRequest::first(2)).await.unwrap();
        assert_eq!(page.items.len(), seen);
        assert_eq!(page.absent[0].name, "broken");
    }
}

#[tokio::test]
async fn a_pattern_is_tied_to_the_top_as_in_an_ignore_file() {
    let hide = || RuleEffect { hide: Some(true), ..RuleEffect::default() };
    let hidden =
        |glob: &str, path: &str| MetadataRules::new([rule(glob, hide())]).unwrap().is_hidden(path);
    assert!(hidden("a.md", "a.md") && hidden("a.md", "docs/a.md"));
    assert!(hidden("/a.md", "a.md") && !hidden("/a.md", "docs/a.md"));
    assert!(hidden("docs/", "docs/a.md") && hidden("docs/", "x/docs/a.md"));
    assert!(hidden("x/docs/", "x/docs/a.md") && !hidden("x/docs", "docs/a.md"));
}

#[tokio::test]
async fn hidden_values_of_a_template_are_not_suggested() {
    let memory =
        MemoryProvider::new().template("note://p/{id}", "{id}", &[("id", &["ada", "grace"])]);
    let hide = RuleEffect { hide: Some(true), ..RuleEffect::default() };
    let ruled = Ruled::new(memory, MetadataRules::new([rule("p/ada", hide)]).unwrap());
    let settled = std::collections::BTreeMap::new();
    let template = "note://p/{id}";
    let question = CompletionRequest { template, variable: "id", typed: "", resolved: &settled };
    let complete = ruled.facets().complete.unwrap();
    let completion = complete.complete(&Context::default(), &question).await.unwrap();
    assert_eq!(completion.values, ["grace"]);
}

#[tokio::test]
async fn hidden_values_beyond_the_first_are_not_counted() {
    let names: Vec<String> = (0..150).map(|at| format!("n{at:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let memory = MemoryProvider::new().template("note://p/{id}", "{id}", &[("id", &names)]);
    let hide = RuleEffect { hide: Some(true), ..RuleEffect::default() };
    let ruled = Ruled::new(memory, MetadataRules::new([rule("p/n1*", hide)]).unwrap());
    let settled = std::collections::BTreeMap::new();
    let template = "note://p/{id}";
    let question = CompletionRequest { template, variable: "id", typed: "", resolved: &settled };
    let complete = ruled.facets().complete.unwrap();
    let completion = complete.complete(&Context::default(), &question).await.unwrap();
    assert_eq!((completion.values.len(), completion.total), (100, 101), "more, but not how many");
}

#[tokio::test]
async fn nothing_over_the_limit_leaves_in_one_piece() {
    let bounded = Bounded::new(MemoryProvider::new().text("a:1", "0123456789"), 4);
    let ctx = Context::default();
    let whole = Window::Whole { limit: u64::MAX };
    let refused = bounded.read(&ctx, &uri("a:1"), &whole).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::TooLarge);
    let part = Window::Part { offset: 2, length: u64::MAX, etag: None };
    let reading = bounded.read(&ctx, &uri("a:1"), &part).await.unwrap();
    let Content::Parts(parts) = reading.content else { panic!("a leaf has parts") };
    let slice = parts[0].slice.as_ref().unwrap();
    assert_eq!((slice.offset, slice.length, slice.total, slice.next_offset()), (2, 4, 10, Some(6)));
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_is_given_up_on_and_its_work_dropped() {
    let memory = Arc::new(memory());
    memory.inject_fault(FaultPoint::List, Fault::Hangs);
    memory.inject_fault(FaultPoint::Stat(uri("file:///README.md")), Fault::Hangs);
    let timed = Timed::new(Arc::clone(&memory), Duration::from_secs(5));
    let ctx = Context::default();
    let listed = timed.list(&ctx, None, &PageRequest::first(9)).await.map(drop);
    let stat = timed.stat(&ctx, &uri("file:///README.md")).await.map(drop);
    for result in [listed, stat] {
        assert_eq!(result.unwrap_err().kind, ErrorKind::Unavailable);
    }
    assert_eq!(memory.counts().in_flight(), 0);
    assert!(timed.stat(&ctx, &uri("file:///docs")).await.is_ok());
}

//! Tests of the layers: each keeps the provider contract and applies its policy.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use catalog::layers::Layer;
use catalog::layers::bounded::Bounded;
use catalog::layers::selected::ToolSelection;
use catalog::layers::timed::Timed;
use catalog::{Address, Catalog, MetadataRule, MetadataRules, Mount, MountOptions, RuleEffect};
use resource::{
    CompletionRequest, Content, Context, ErrorKind, Facets, Filter, Freshness, HealthStatus, Page,
    PageRequest, Provider, ReadRequest, Reading, Resource, Role, SearchRequest, Template, Uri,
    Window,
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

/// A provider with every facet, so that the contract shows that a layer passes each one on.
fn full_memory() -> MemoryProvider {
    memory()
        .with_watches()
        .with_search()
        .with_health(HealthStatus::ready())
        .tool("look", "{}", "{}")
        .skill("skill://a/SKILL.md", &[])
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
    contract(&*Bounded(1 << 20).around(Arc::new(full_memory())), &known()).await;
    let timed = Timed(Duration::from_secs(30)).around(Arc::new(full_memory()));
    contract(&*timed, &known()).await;
    let harmless = MetadataRules::new([rule(
        "*",
        RuleEffect { priority: Some(0.5), ..RuleEffect::default() },
    )])
    .unwrap();
    contract(&*harmless.around(Arc::new(full_memory())), &known()).await;
    let hidden = ["file:///private", "file:///private/x", "file:///docs/secret.md"].map(uri);
    let hiding = Expectations { missing: hidden.to_vec(), ..known() };
    contract(&*rules().around(Arc::new(full_memory())), &hiding).await;
    let none = ToolSelection::new(Some(&["other_*".to_owned()]), &[]).unwrap();
    let rename = [("look".to_owned(), "see".to_owned())].into();
    let renamed = ToolSelection { rename, ..ToolSelection::new(None, &[]).unwrap() };
    for selection in [none, renamed] {
        contract(&*selection.around(Arc::new(full_memory())), &known()).await;
    }
}

#[tokio::test]
async fn a_later_rule_holds_over_an_earlier_one_everywhere() {
    let ruled = rules().around(Arc::new(memory()));
    let ctx = testkit::local_context();
    let readme = ruled.stat(&ctx, &uri("file:///README.md")).await.unwrap();
    assert_eq!((readme.annotations.priority, readme.title.as_ref()), (Some(0.2), None));
    let page = ruled.list(&ctx, Some(&uri("file:///docs")), &PageRequest::first(9)).await.unwrap();
    let listed = &page.items[0];
    assert_eq!((listed.annotations.priority, listed.title.as_deref()), (Some(0.9), Some("A page")));
    let whole = ReadRequest::whole(100);
    let reading = ruled.read(&ctx, &uri("file:///docs/a.md"), &whole).await.unwrap();
    let Content::Parts(parts) = reading.content else { panic!("a leaf has parts") };
    assert_eq!(parts[0].resource, *listed);
}

#[tokio::test]
async fn what_is_hidden_is_as_if_it_were_not_there() {
    let ruled = rules().around(Arc::new(memory()));
    let ctx = testkit::local_context();
    let top = ruled.list(&ctx, None, &PageRequest::first(9)).await.unwrap();
    let names: Vec<_> = top.items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["README.md", "docs"]);
    for text in ["file:///private", "file:///private/x", "file:///docs/secret.md"] {
        let kind = |result: resource::Result<()>| result.unwrap_err().kind;
        let uri = uri(text);
        assert_eq!(kind(ruled.stat(&ctx, &uri).await.map(drop)), ErrorKind::NotFound);
        let whole = ReadRequest::whole(100);
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
    let ruled = MetadataRules::new([rule("hidden*", hide)]).unwrap().around(Arc::new(memory));
    let page = ruled.list(&testkit::local_context(), None, &PageRequest::first(3)).await.unwrap();
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
        let options = MountOptions {
            access: Arc::default(),
            rules,
            tools: None,
            max_read: 1 << 20,
            timeout,
            required: false,
            rendering: None,
            work_pool: Arc::default(),
            unpack: false,
            masks_itself: false,
            redaction: Default::default(),
        };
        let address = Address::Path { scheme: "file", name: name.to_owned() };
        Mount::new(name, address, provider, options)
    };
    let catalog = Arc::new(Catalog::new(vec![mount("broken", broken), mount("full", full)]));
    let hide = || RuleEffect { hide: Some(true), ..RuleEffect::default() };
    for (globs, seen) in [(&["a", "b"][..], 2), (&["full"][..], 0)] {
        let rules = globs.iter().map(|glob| rule(glob, hide()));
        let ruled = MetadataRules::new(rules).unwrap().around(Arc::clone(&catalog) as _);
        let page =
            ruled.list(&testkit::local_context(), None, &PageRequest::first(2)).await.unwrap();
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
    let ruled = MetadataRules::new([rule("p/ada", hide)]).unwrap().around(Arc::new(memory));
    let settled = std::collections::BTreeMap::new();
    let template = "note://p/{id}";
    let question = CompletionRequest { template, variable: "id", typed: "", resolved: &settled };
    let complete = ruled.facets().complete.unwrap();
    let completion = complete.complete(&testkit::local_context(), &question).await.unwrap();
    assert_eq!(completion.values, ["grace"]);
}

#[tokio::test]
async fn hidden_values_beyond_the_first_are_not_counted() {
    let names: Vec<String> = (0..150).map(|at| format!("n{at:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let memory = MemoryProvider::new().template("note://p/{id}", "{id}", &[("id", &names)]);
    let hide = RuleEffect { hide: Some(true), ..RuleEffect::default() };
    let ruled = MetadataRules::new([rule("p/n1*", hide)]).unwrap().around(Arc::new(memory));
    let settled = std::collections::BTreeMap::new();
    let template = "note://p/{id}";
    let question = CompletionRequest { template, variable: "id", typed: "", resolved: &settled };
    let complete = ruled.facets().complete.unwrap();
    let completion = complete.complete(&testkit::local_context(), &question).await.unwrap();
    assert_eq!((completion.values.len(), completion.total), (100, 101), "more, but not how many");
}

#[tokio::test]
async fn nothing_over_the_limit_leaves_in_one_piece() {
    let bounded = Bounded(4).around(Arc::new(MemoryProvider::new().text("a:1", "0123456789")));
    let ctx = testkit::local_context();
    let whole = ReadRequest::whole(u64::MAX);
    let refused = bounded.read(&ctx, &uri("a:1"), &whole).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::TooLarge);
    let part = Window::Part { offset: 2, length: u64::MAX, etag: None }.into();
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
    let timed = Timed(Duration::from_secs(5)).around(Arc::clone(&memory) as _);
    let ctx = testkit::local_context();
    let listed = timed.list(&ctx, None, &PageRequest::first(9)).await.map(drop);
    let stat = timed.stat(&ctx, &uri("file:///README.md")).await.map(drop);
    for result in [listed, stat] {
        assert_eq!(result.unwrap_err().kind, ErrorKind::Unavailable);
    }
    assert_eq!(memory.counts().in_flight(), 0);
    assert!(timed.stat(&ctx, &uri("file:///docs")).await.is_ok());
}

#[tokio::test]
async fn every_layer_passes_on_every_facet() {
    let layers: [Box<dyn Layer>; 3] =
        [Box::new(Bounded(1 << 20)), Box::new(Timed(Duration::from_secs(30))), Box::new(rules())];
    for layer in layers {
        let provider = layer.around(Arc::new(full_memory()));
        let Facets { watch, complete, health, relay, mounts, search, skills } = provider.facets();
        assert!(watch.is_some() && complete.is_some() && health.is_some());
        assert!(relay.is_some() && search.is_some() && mounts.is_none());
        assert!(skills.is_some());
    }
}

#[tokio::test]
async fn a_search_finds_nothing_that_is_hidden_and_filters_by_what_rules_say() {
    let ruled = rules().around(Arc::new(full_memory()));
    let hits = |query: &str, filter: Option<Filter>| {
        let (ruled, query) = (Arc::clone(&ruled), query.to_owned());
        async move {
            let filter = filter.map(Arc::new);
            let request = SearchRequest { query, filter, cursor: None, limit: 10 };
            let search = ruled.facets().search.unwrap();
            let page = search.search(&testkit::local_context(), &request).await.unwrap();
            page.items.iter().map(|hit| hit.uri.to_string()).collect::<Vec<_>>()
        }
    };
    assert_eq!(hits("s", None).await, Vec::<String>::new(), "only the hidden one has it");
    assert_eq!(hits("a", None).await, ["file:///README.md", "file:///docs/a.md"]);
    let important = Filter { min_priority: Some(0.5), ..Filter::default() };
    assert_eq!(hits("a", Some(important)).await, ["file:///docs/a.md"]);
}

/// Gives the members of a collection inside its reading, as some servers do.
struct Nested(MemoryProvider);

#[async_trait]
impl Provider for Nested {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> resource::Result<Page<Resource>> {
        self.0.list(ctx, parent, paging).await
    }

    async fn templates(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> resource::Result<Page<Template>> {
        self.0.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> resource::Result<Arc<Resource>> {
        self.0.stat(ctx, uri).await
    }

    async fn read(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> resource::Result<Reading> {
        let mut all = Vec::new();
        for child in self.0.list(ctx, Some(uri), &PageRequest::first(9)).await?.items {
            let reading = self.0.read(ctx, &child.uri, request).await?;
            let Content::Parts(parts) = reading.content else { continue };
            all.extend(parts);
        }
        Ok(Reading::new(Content::Parts(all), Freshness::default()))
    }

    fn facets(&self) -> Facets<'_> {
        self.0.facets()
    }
}

#[tokio::test]
async fn a_rule_judges_every_part_of_a_reading_by_its_own_uri() {
    let ruled = rules().around(Arc::new(Nested(memory())));
    let ctx = testkit::local_context();
    let whole = ReadRequest::whole(100);
    let reading = ruled.read(&ctx, &uri("file:///docs"), &whole).await.unwrap();
    let Content::Parts(parts) = reading.content else { panic!("it has parts") };
    let told: Vec<_> = parts.iter().map(|part| part.resource.uri.as_str()).collect();
    assert_eq!(told, ["file:///docs/a.md"], "the hidden member is left out");
    assert_eq!(parts[0].resource.title.as_deref(), Some("A page"), "by the member's own rule");
    assert_eq!(reading.total_parts, 1);
}

#[test]
fn a_rule_whose_glob_is_nested_or_too_long_is_refused_with_the_limit() {
    for (glob, words) in [("{a,".repeat(30_000), "limit of 1024"), ("{a,".repeat(99), "32 braces")]
    {
        let error = MetadataRules::new([rule(&glob, RuleEffect::default())]).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

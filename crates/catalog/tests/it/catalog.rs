//! Tests of the catalog: provider contract, paging, failing mounts, fallback mount.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use catalog::{Address, Catalog, MetadataRules, Mount, MountOptions};
use machinery::Packer;
use resource::{
    CompletionRequest, Content, Cursor, ErrorKind, Filter, HealthState, HealthStatus, Page,
    PageRequest, PathFilter, Provider, ReadRequest, Resource, Uri,
};
use testkit::memory::{Fault, FaultPoint};
use testkit::{Expectations, MemoryProvider, contract};

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

pub(crate) fn terms() -> MountOptions {
    MountOptions {
        access: Arc::default(),
        rules: MetadataRules::default(),
        tools: None,
        max_read: 1 << 20,
        timeout: Duration::from_secs(30),
        required: false,
        rendering: None,
        work_pool: Arc::default(),
        unpack: false,
        masks_itself: false,
        redaction: Default::default(),
    }
}

/// A mount with its name in its URIs.
fn folder(name: &str, provider: impl Provider) -> Mount {
    Mount::new(name, Address::Path { scheme: "file", name: name.to_owned() }, provider, terms())
}

/// A folder with `count` files in it and one folder of two.
fn files(count: usize) -> MemoryProvider {
    let mut memory = MemoryProvider::new();
    for at in 0..count {
        memory = memory.text(&format!("file:///f{at:03}"), "text 日本");
    }
    memory
        .collection("file:///in", &["file:///in/a", "file:///in/b"])
        .text("file:///in/a", "a")
        .blob("file:///in/b", &[0, 1, 2])
        .template("file:///t/{id}", "{id}", &[("id", &["one"])])
}

fn notes() -> MemoryProvider {
    MemoryProvider::new().text("note://a", "a note").template("note://t/{id}", "{id}", &[])
}

fn notes_mount(name: &str, provider: impl Provider) -> Mount {
    let templates = vec![resource::UriTemplate::parse("note://t/{id}").unwrap()];
    let uris = HashSet::from([uri("note://a")]);
    Mount::new(name, Address::Declared { uris, templates }, provider, terms())
}

async fn walk(catalog: &Catalog, limit: usize) -> Vec<String> {
    let mut seen = Vec::new();
    let mut ask = PageRequest::first(limit);
    loop {
        let page = catalog.list(&testkit::local_context(), None, &ask).await.unwrap();
        assert!(page.items.len() <= limit);
        seen.extend(page.items.iter().map(|item| item.uri.to_string()));
        match page.next {
            Some(next) => ask.cursor = Some(next),
            None => return seen,
        }
    }
}

#[tokio::test]
async fn what_is_unlisted_is_found_by_whoever_knows_its_uri() {
    let mount = |name: &str, uri: &str| {
        let address = Address::Declared { uris: [self::uri(uri)].into(), templates: Vec::new() };
        Mount::new(name, address, MemoryProvider::new().text(uri, "x"), terms())
    };
    let catalog = Catalog::new(vec![mount("a", "a:x"), mount("b", "b:x").unlisted()]);
    let page = catalog.list(&testkit::local_context(), None, &PageRequest::first(1)).await.unwrap();
    assert_eq!((page.items.len(), page.next), (1, None), "no page is left for it");
    assert!(catalog.stat(&testkit::local_context(), &uri("b:x")).await.is_ok());
}

#[tokio::test]
async fn a_catalog_is_a_provider_like_any_other() {
    let catalog = Catalog::new(vec![
        folder("beta", files(3)),
        folder("alpha", files(2)),
        notes_mount("notes", notes()),
    ]);
    let known = Expectations {
        leaves: vec![
            (uri("file:///alpha/f000"), "text 日本".into()),
            (uri("file:///beta/in/b"), vec![0, 1, 2]),
            (uri("note://a"), b"a note".to_vec()),
        ],
        collections: vec![(
            uri("file:///beta/in"),
            vec![uri("file:///beta/in/a"), uri("file:///beta/in/b")],
        )],
        missing: vec![
            uri("file:///alpha/none"),
            uri("file:///gamma/f000"),
            uri("file://evil/alpha/f000"),
            uri("note://none"),
            uri("other:x"),
        ],
        prefix: Some("file:///alpha/".to_owned()),
        outside: vec!["../secret".to_owned()],
        open_watches: None,
    };
    contract(&catalog, &known).await;
}

#[tokio::test]
async fn mounts_are_listed_by_name_in_pages_that_join() {
    let catalog =
        Catalog::new(vec![folder("b", files(5)), folder("a", files(4)), folder("c", files(0))]);
    let whole = walk(&catalog, 1000).await;
    assert_eq!(whole.len(), 4 + 5 + 3);
    assert!(whole[0].starts_with("file:///a/") && whole[11].starts_with("file:///c/"));
    for limit in 1..12 {
        assert_eq!(walk(&catalog, limit).await, whole, "pages of {limit}");
    }
}

#[tokio::test]
async fn a_mount_that_fails_is_named_and_the_rest_is_listed() {
    let broken = Arc::new(files(2));
    broken.inject_fault(FaultPoint::List, Fault::Fails(ErrorKind::Unavailable));
    let catalog =
        Catalog::new(vec![folder("broken", Arc::clone(&broken)), folder("whole", files(1))]);
    let page =
        catalog.list(&testkit::local_context(), None, &PageRequest::first(10)).await.unwrap();
    assert_eq!(page.items.len(), 2);
    assert_eq!(page.absent.len(), 1);
    assert_eq!(page.absent[0].name, "broken");
    assert_eq!(page.freshness.ttl, Duration::ZERO, "half a list is stale at once");
    broken.clear_faults();
    let page =
        catalog.list(&testkit::local_context(), None, &PageRequest::first(10)).await.unwrap();
    assert_eq!((page.items.len(), page.absent.len()), (5, 0));
}

#[tokio::test]
async fn a_list_without_a_required_mount_is_no_list() {
    let broken = Arc::new(files(2));
    broken.inject_fault(FaultPoint::List, Fault::Fails(ErrorKind::Unavailable));
    let address = Address::Path { scheme: "file", name: "broken".to_owned() };
    let required =
        Mount::new("broken", address, broken, MountOptions { required: true, ..terms() });
    let catalog = Catalog::new(vec![required, folder("whole", files(1))]);
    let listed: resource::Result<Page<Resource>> =
        catalog.list(&testkit::local_context(), None, &PageRequest::first(10)).await;
    assert_eq!(listed.unwrap_err().kind, ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_walk_goes_on_behind_a_mount_that_has_gone() {
    let three =
        Catalog::new(vec![folder("a", files(1)), folder("b", files(3)), folder("c", files(1))]);
    let page = three.list(&testkit::local_context(), None, &PageRequest::first(4)).await.unwrap();
    let ask = PageRequest::new(page.next, 10);
    let two = Catalog::new(vec![folder("a", files(1)), folder("c", files(1))]);
    let rest = two.list(&testkit::local_context(), None, &ask).await.unwrap();
    let uris: Vec<_> = rest.items.iter().map(|item| item.uri.as_str()).collect();
    assert_eq!(uris, ["file:///c/f000", "file:///c/in"]);
}

#[tokio::test]
async fn what_was_asked_for_keeps_its_spelling() {
    let catalog = Catalog::new(vec![folder("a", files(1))]);
    for text in ["file:///a/f000", "file://localhost/a/f000"] {
        let stat = catalog.stat(&testkit::local_context(), &uri(text)).await.unwrap();
        assert_eq!(stat.uri.as_str(), text);
        for _ in 0..2 {
            let whole = ReadRequest::whole(u64::MAX);
            let read = catalog.read(&testkit::local_context(), &uri(text), &whole).await.unwrap();
            let Content::Parts(parts) = read.content else { panic!() };
            assert_eq!(parts[0].resource.uri.as_str(), text);
        }
    }
    let missing =
        catalog.stat(&testkit::local_context(), &uri("file:///a/none")).await.unwrap_err();
    assert_eq!(missing.uri, Some(uri("file:///a/none")), "the public name, not the provider's own");
}

#[tokio::test]
async fn a_template_is_completed_by_whoever_offers_it() {
    let catalog = Catalog::new(vec![folder("a", files(1)), notes_mount("notes", notes())]);
    let settled = std::collections::BTreeMap::new();
    let ask = async |template: &str| {
        let question =
            CompletionRequest { template, variable: "id", typed: "o", resolved: &settled };
        catalog.facets().complete.unwrap().complete(&testkit::local_context(), &question).await
    };
    assert_eq!(ask("file:///a/t/{id}").await.unwrap().values, ["one"]);
    assert_eq!(ask("file:///b/t/{id}").await.unwrap_err().kind, ErrorKind::Invalid);
    let none = Catalog::new(vec![]);
    assert!(none.facets().complete.is_none(), "what no mount can do the catalog cannot");
}

/// A fallback mount, some of whose URIs belong to other mounts too.
fn rest(name: &str) -> Mount {
    let server = MemoryProvider::new()
        .text("file:///a/f000", "not this one")
        .text("file:///z", "z")
        .text("a+x:y", "a plus")
        .text("note://a", "nor this one")
        .text("note://b", "b")
        .template("file:///a/t/{id}", "{id}", &[("id", &["other"])])
        .template("more://{id}", "{id}", &[("id", &["more"])]);
    Mount::new(name, Address::Fallback, server, terms())
}

#[tokio::test]
async fn what_nobody_else_answers_for_is_asked_of_the_mount_without_a_prefix() {
    // For every position of its name in the list.
    for name in ["0", "b", "zz"] {
        let mounts = vec![folder("a", files(1)), rest(name), notes_mount("notes", notes())];
        let catalog = Catalog::new(mounts);
        let mut listed = walk(&catalog, 2).await;
        listed.sort();
        let all = ["a+x:y", "file:///a/f000", "file:///a/in", "file:///z", "note://a", "note://b"];
        assert_eq!(listed, all, "each once");
        let leaves = [
            ("file:///a/f000", "text 日本"),
            ("note://a", "a note"),
            ("file:///z", "z"),
            ("note://b", "b"),
            ("a+x:y", "a plus"),
        ];
        let known = Expectations {
            leaves: leaves.map(|(leaf, content)| (uri(leaf), content.into())).into(),
            missing: vec![uri("none:x"), uri("file:///a/z")],
            ..Expectations::default()
        };
        contract(&catalog, &known).await;
        let missing = catalog.stat(&testkit::local_context(), &uri("none:x")).await.unwrap_err();
        assert_eq!((missing.kind, missing.uri), (ErrorKind::NotFound, Some(uri("none:x"))));
        let templates =
            catalog.templates(&testkit::local_context(), &PageRequest::first(9)).await.unwrap();
        let mut templates: Vec<_> = templates.items.iter().map(|it| it.uri.as_str()).collect();
        templates.sort_unstable();
        assert_eq!(templates, ["file:///a/t/{id}", "more://{id}", "note://t/{id}"]);
        let settled = std::collections::BTreeMap::new();
        for (template, value) in [("file:///a/t/{id}", "one"), ("more://{id}", "more")] {
            let question =
                CompletionRequest { template, variable: "id", typed: "", resolved: &settled };
            let complete = catalog.facets().complete.unwrap();
            let told = complete.complete(&testkit::local_context(), &question).await.unwrap();
            assert_eq!(told.values, [value]);
        }
    }
}

#[tokio::test]
async fn cursors_that_make_no_sense_are_refused() {
    let catalog = Catalog::new(vec![folder("a", files(3))]);
    let of_a = Packer::default().bytes(Some("a")).bytes(Some("nonsense")).finish();
    for bytes in [b"\xff".to_vec(), of_a] {
        let ask = PageRequest::new(Some(Cursor(bytes.clone().into())), 2);
        let listed = catalog.list(&testkit::local_context(), None, &ask).await;
        assert_eq!(listed.unwrap_err().kind, ErrorKind::Invalid, "{bytes:?}");
    }
}

#[test]
fn a_catalog_is_there_when_all_of_its_mounts_are() {
    let is_there = |state: HealthState| {
        let ailing = MemoryProvider::new().with_health(HealthStatus::new(state, None));
        let catalog = Catalog::new(vec![folder("a", files(1)), folder("b", ailing)]);
        let health = catalog.facets().health.unwrap();
        assert_eq!(
            health.health(&testkit::local_context()).state == HealthState::Ready,
            health.is_available(&testkit::local_context())
        );
        health.is_available(&testkit::local_context())
    };
    assert!(is_there(HealthState::Ready) && is_there(HealthState::Degraded));
    assert!(!is_there(HealthState::Starting) && !is_there(HealthState::Failed));
}

#[tokio::test]
async fn a_mount_that_goes_in_the_middle_of_its_list_is_named() {
    let mount = |name: &str| {
        let address = Address::Scheme { name: name.to_owned() };
        let provider = MemoryProvider::new().text("a:1", "x").text("a:2", "x");
        Arc::new(Mount::new(name, address, provider, terms()))
    };
    for rest in [vec![], vec![mount("b")]] {
        let catalog = Catalog::new(Vec::new());
        catalog.replace([vec![mount("a")], rest.clone()].concat());
        let ctx = testkit::local_context();
        let first = catalog.list(&ctx, None, &PageRequest::first(1)).await.unwrap();
        assert!(first.absent.is_empty());
        catalog.replace(rest.clone());
        let ask = PageRequest::new(first.next, 10);
        let page = catalog.list(&ctx, None, &ask).await.unwrap();
        assert_eq!(page.items.len(), 2 * rest.len());
        let names: Vec<&str> = page.absent.iter().map(|gap| gap.name.as_str()).collect();
        assert_eq!(names, ["a"]);
    }
}

#[tokio::test]
async fn a_mount_that_cannot_match_a_filter_is_not_asked() {
    let (one, other) = (Arc::new(files(2)), Arc::new(files(2)));
    let mounts = vec![folder("one", Arc::clone(&one)), folder("other", Arc::clone(&other))];
    let catalog = Catalog::new(mounts);
    let asked = async |parent: Option<&str>, filter: Filter| {
        let before = (one.counts().lists(), other.counts().lists());
        let (ctx, parent) = (testkit::local_context(), parent.map(uri));
        let request = PageRequest::first(9).with_filter(Some(Arc::new(filter)));
        catalog.list(&ctx, parent.as_ref(), &request).await.unwrap();
        (one.counts().lists() > before.0, other.counts().lists() > before.1)
    };
    let of_mount = |name: &str| Filter { mount: Some(name.to_owned()), ..Filter::default() };
    let below = |prefix: &str| {
        let path = Some(PathFilter::new(prefix, |_| true));
        Filter { path, ..Filter::default() }
    };
    assert_eq!(asked(None, of_mount("one")).await, (true, false));
    assert_eq!(asked(None, below("file:///other/in/")).await, (false, true));
    assert_eq!(asked(None, below("file:///")).await, (true, true));
    assert_eq!(asked(None, below("note://")).await, (false, false));
    assert_eq!(asked(Some("file:///one/in"), of_mount("other")).await, (false, false));
    assert_eq!(asked(Some("file:///one/in"), below("file:///one/")).await, (true, false));
}

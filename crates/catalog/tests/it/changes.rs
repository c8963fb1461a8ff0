//! Tests of merged change streams: public URIs, replaced mounts, hidden resources, failing mounts.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use catalog::{Address, Catalog, MetadataRule, MetadataRules, Mount, MountOptions, RuleEffect};
use futures_util::StreamExt;
use resource::{Change, ErrorKind, Interest, Provider, Result, Uri};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn terms(rules: Vec<MetadataRule>) -> MountOptions {
    MountOptions {
        access: Arc::default(),
        rules: MetadataRules::new(rules).unwrap(),
        tools: None,
        max_read: 1000,
        timeout: Duration::from_secs(1),
        required: false,
        rendering: None,
        work_pool: Arc::default(),
        unpack: false,
        masks_itself: false,
        redaction: Default::default(),
    }
}

fn memory() -> Arc<MemoryProvider> {
    let memory = MemoryProvider::new()
        .collection("file:///docs", &["file:///docs/a", "file:///docs/secret"])
        .text("file:///docs/a", "")
        .text("file:///docs/secret", "");
    Arc::new(memory.with_watches())
}

fn folder(name: &str, memory: &Arc<MemoryProvider>, rules: Vec<MetadataRule>) -> Mount {
    let address = Address::Path { scheme: "file", name: name.to_owned() };
    Mount::new(name, address, Arc::clone(memory), terms(rules))
}

async fn heard(catalog: &Catalog, interest: Interest) -> Result<Vec<Change>> {
    let watch = catalog.facets().watch.expect("a mount tells of changes");
    let mut stream = watch.watch(&testkit::local_context(), interest).await?;
    let mut heard = Vec::new();
    while let Ok(change) = tokio::time::timeout(Duration::from_millis(10), stream.next()).await {
        heard.push(change.unwrap());
    }
    Ok(heard)
}

#[tokio::test(start_paused = true)]
async fn a_change_is_told_under_the_uri_it_was_asked_by() {
    let memory = memory();
    let catalog = Catalog::new(vec![folder("one", &memory, Vec::new())]);
    for asked in ["file:///one/docs/a", "file://localhost/one/docs/a"] {
        let listening = heard(&catalog, Interest::Resource(uri(asked)));
        let (heard, ()) = tokio::join!(listening, async {
            memory.write("file:///docs/a", "new");
        });
        assert_eq!(heard.unwrap(), [Change::Updated(uri(asked))]);
    }
    let listening = heard(&catalog, Interest::Resource(uri("file:///one/docs")));
    let (heard, ()) = tokio::join!(listening, async {
        memory.remove("file:///docs/a");
    });
    assert_eq!(heard.unwrap(), [Change::Removed(uri("file:///one/docs/a"))], "R-24-18");
}

#[tokio::test(start_paused = true)]
async fn all_mounts_are_heard_of_and_one_that_is_silent_keeps_nobody_back() {
    let (one, other, broken) = (memory(), memory(), memory());
    let deaf = Arc::new(MemoryProvider::new().text("note:a", ""));
    let own = Address::Declared { uris: HashSet::from([uri("note:a")]), templates: Vec::new() };
    let mounts = || {
        vec![
            folder("one", &one, Vec::new()),
            folder("two", &other, Vec::new()),
            folder("broken", &broken, Vec::new()),
        ]
    };
    let deaf = Mount::new("deaf", own, deaf, terms(Vec::new()));
    let partly = Catalog::new(mounts().into_iter().chain([deaf]).collect());
    let refused = heard(&partly, Interest::Everything).await.unwrap_err();
    assert!(refused.kind == ErrorKind::Unsupported && refused.message.contains("deaf"));
    let catalog = Catalog::new(mounts());
    broken.inject_fault(FaultPoint::Watch, Fault::Fails(ErrorKind::Unavailable));
    let listening = heard(&catalog, Interest::Everything);
    let (heard, ()) = tokio::join!(listening, async {
        tokio::task::yield_now().await;
        one.write("file:///docs/a", "new");
        other.write("file:///docs/a", "new");
    });
    let [first, second] = ["file:///one/docs/a", "file:///two/docs/a"].map(uri);
    let mut heard = heard.unwrap();
    heard.sort_by_key(|change| format!("{change:?}"));
    assert_eq!(heard, [Change::Updated(first), Change::Updated(second)]);
    let kind = async |text| {
        let heard = heard_of(&partly, text).await;
        heard.err().map(|error| (error.kind, error.uri))
    };
    assert_eq!(kind("note:a").await, Some((ErrorKind::Unsupported, None)));
    let missing = uri("file:///one/none");
    assert_eq!(kind("file:///one/none").await, Some((ErrorKind::NotFound, Some(missing))));
}

async fn heard_of(catalog: &Catalog, text: &str) -> Result<Vec<Change>> {
    heard(catalog, Interest::Resource(uri(text))).await
}

#[tokio::test(start_paused = true)]
async fn mounts_that_come_and_go_are_heard_of() {
    let (one, other) = (memory(), memory());
    let catalog = Catalog::new(vec![folder("one", &one, Vec::new())]);
    let watch = catalog.facets().watch.unwrap();
    let ctx = testkit::local_context();
    let uri = uri("file:///one/docs/a");
    let mut resource = watch.watch(&ctx, Interest::Resource(uri.clone())).await.unwrap();
    let mut lists = watch.watch(&ctx, Interest::Listing).await.unwrap();
    let kept = catalog.mounts()[0].clone();
    let second = Arc::new(folder("two", &other, Vec::new()));
    catalog.replace(vec![kept.clone(), second.clone()]);
    assert_eq!(lists.next().await, Some(Change::Listing), "one came");
    other.write("file:///docs/new", "");
    assert_eq!(lists.next().await, Some(Change::Listing), "and is heard of");
    one.write("file:///docs/a", "new");
    assert_eq!(resource.next().await, Some(Change::Updated(uri.clone())), "the first goes on");
    assert_eq!(one.watch_count(), 2, "and was not asked again");
    catalog.replace(vec![second.clone()]);
    assert_eq!(resource.next().await, Some(Change::Removed(uri.clone())));
    let again = Arc::new(folder("one", &one, Vec::new()));
    catalog.replace(vec![second, again]);
    assert_eq!(resource.next().await, Some(Change::Updated(uri.clone())));
    one.write("file:///docs/a", "newer");
    assert_eq!(resource.next().await, Some(Change::Updated(uri)));
    drop(catalog);
    assert_eq!(resource.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn what_is_hidden_is_never_told_of() {
    let memory = memory();
    let hide = RuleEffect { hide: Some(true), ..RuleEffect::default() };
    let rule = MetadataRule { glob: "secret".to_owned(), effect: hide };
    let catalog = Catalog::new(vec![folder("one", &memory, vec![rule])]);
    let refused = heard_of(&catalog, "file:///one/docs/secret").await.err().unwrap();
    assert_eq!(refused.kind, ErrorKind::NotFound);
    let listening = heard_of(&catalog, "file:///one/docs");
    let (heard, ()) = tokio::join!(listening, async {
        memory.write("file:///docs/secret", "new");
        memory.write("file:///docs/a", "new");
    });
    assert_eq!(heard.unwrap(), [Change::Updated(uri("file:///one/docs/a"))]);
}

/// S-12.
#[tokio::test(start_paused = true)]
async fn a_mount_that_does_not_answer_keeps_nobody_back_and_is_asked_again() {
    let (one, other, third) = (memory(), memory(), memory());
    let catalog = Catalog::new(vec![
        folder("one", &one, Vec::new()),
        folder("other", &other, Vec::new()),
        folder("third", &third, Vec::new()),
    ]);
    one.inject_fault(FaultPoint::Watch, Fault::Hangs);
    third.inject_fault(FaultPoint::Watch, Fault::Fails(ErrorKind::Unavailable));
    let refused = heard_of(&catalog, "file:///one/docs").await.err().unwrap();
    assert_eq!(refused.kind, ErrorKind::Unavailable);
    let watch = catalog.facets().watch.unwrap();
    let start = tokio::time::Instant::now();
    let mut lists = watch.watch(&testkit::local_context(), Interest::Listing).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(3), "the hub waits for five");
    other.write("file:///new", "");
    assert_eq!(lists.next().await, Some(Change::Listing), "the one that is well is heard");
    one.clear_faults();
    third.clear_faults();
    for _ in 0..2 {
        assert_eq!(lists.next().await, Some(Change::Listing), "what was missed is made up for");
    }
    one.write("file:///new", "");
    assert_eq!(lists.next().await, Some(Change::Listing));
}

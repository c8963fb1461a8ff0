//! Tests of baskets: limits, principals, storage faults, and what those who watch are told.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::{FutureExt, StreamExt};
use parking_lot::{Condvar, Mutex};
use resource::{
    Change, Context, ErrorKind, Facets, Interest, Page, PageRequest, Provider, ReadRequest,
    Reading, Resource, Result, Template, Uri, Watch,
};
use testkit::memory::{Fault, FaultPoint};
use testkit::{Expectations, MemoryProvider, contract, local_context, two_contexts};
use tokio::time;

use super::basket::SCHEME;
use super::{Basket, BasketRegistry, BasketStorage, MAX_BASKETS};

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn basket(name: &str, uris: &[&str]) -> Basket {
    Basket::new(name, None, uris.iter().map(|text| uri(text)).collect()).unwrap()
}

/// Baskets in memory, which other processes may change, on a disk that may be full.
#[derive(Default)]
struct FakeStorage {
    baskets: Mutex<BTreeMap<(String, String), Basket>>,
    is_full: AtomicBool,
    /// Saves wait while this is true.
    hangs: Mutex<bool>,
    resumed: Condvar,
    /// Counts the changes.
    time: Mutex<Duration>,
}

impl BasketStorage for FakeStorage {
    fn load(&self, principal: &str) -> io::Result<Vec<Basket>> {
        let all = self.baskets.lock();
        let own = all.iter().filter(|((owner, _), _)| owner == principal);
        Ok(own.map(|(_, basket)| basket.clone()).collect())
    }

    fn save(&self, principal: &str, basket: &Basket) -> io::Result<()> {
        self.resumed.wait_while(&mut self.hangs.lock(), |hangs| *hangs);
        if self.is_full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let key = (principal.to_owned(), basket.name().to_owned());
        self.baskets.lock().insert(key, basket.clone());
        *self.time.lock() += Duration::from_secs(1);
        Ok(())
    }

    fn remove(&self, principal: &str, name: &str) -> io::Result<()> {
        self.baskets.lock().remove(&(principal.to_owned(), name.to_owned()));
        *self.time.lock() += Duration::from_secs(1);
        Ok(())
    }

    fn modified(&self, _: &str) -> Option<SystemTime> {
        Some(SystemTime::UNIX_EPOCH + *self.time.lock())
    }
}

/// Baskets beside the resources that are in them.
struct Desk {
    memory: Arc<MemoryProvider>,
    baskets: Arc<BasketRegistry>,
}

impl Desk {
    fn open(memory: MemoryProvider, storage: Option<Arc<FakeStorage>>) -> Arc<Self> {
        let baskets = BasketRegistry::new(storage.map(|storage| storage as _));
        let memory = Arc::new(memory);
        let desk = Arc::new(Self { memory, baskets });
        desk.baskets.fill_from(&(Arc::clone(&desk) as _));
        desk
    }

    fn owner(&self, uri: &Uri) -> &dyn Provider {
        if uri.scheme() == SCHEME { &*self.baskets } else { &*self.memory }
    }

    async fn save(&self, ctx: &Context, basket: Basket) -> Result<Uri> {
        self.baskets.save(ctx, basket).await
    }

    /// The URIs in a list.
    async fn uris_in(&self, ctx: &Context, parent: Option<&str>) -> Result<Vec<String>> {
        let parent = parent.map(uri);
        let page = self.list(ctx, parent.as_ref(), &PageRequest::first(1000)).await?;
        Ok(page.items.iter().map(|item| item.uri.to_string()).collect())
    }
}

#[async_trait]
impl Provider for Desk {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        let owner = parent.map_or(&*self.baskets as &dyn Provider, |uri| self.owner(uri));
        owner.list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.baskets.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.owner(uri).stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.owner(uri).read(ctx, uri, request).await
    }

    fn facets(&self) -> Facets<'_> {
        Facets { watch: Some(self), ..Facets::default() }
    }
}

#[async_trait]
impl Watch for Desk {
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<std::pin::Pin<Box<dyn futures_core::Stream<Item = Change> + Send>>> {
        let owner: &dyn Provider = match &interest {
            Interest::Resource(uri) => self.owner(uri),
            _ => &*self.baskets,
        };
        owner.facets().watch.unwrap().watch(ctx, interest).await
    }

    fn is_shared(&self, _: &Interest) -> bool {
        false
    }
}

fn memory() -> MemoryProvider {
    MemoryProvider::new().text("a:1", "one").text("a:2", "zwei 二").text("a:3", "three")
}

#[tokio::test]
async fn a_basket_is_a_collection_like_others() {
    let desk = Desk::open(memory().with_watches(), None);
    for ctx in two_contexts() {
        desk.save(&ctx, basket("Review_1.x-y", &["a:2", "a:1", "a:2"])).await.unwrap();
        desk.save(&ctx, basket("empty", &[])).await.unwrap();
    }
    let known = Expectations {
        collections: vec![
            (uri("basket://Review_1.x-y"), vec![uri("a:1"), uri("a:2")]),
            (uri("basket://empty"), vec![]),
        ],
        leaves: vec![(uri("a:1"), b"one".to_vec())],
        missing: vec![uri("basket://none"), uri("basket://empty/a"), uri("basket:empty")],
        ..Expectations::default()
    };
    contract(&*desk, &known).await;
    let order = desk.uris_in(&local_context(), Some("basket://Review_1.x-y")).await.unwrap();
    assert_eq!(order, ["a:2", "a:1"], "in the order of the person, each once");
}

#[test]
fn names_titles_and_sizes_are_bounded() {
    let long = "n".repeat(65);
    for name in ["", ".", "..", "a/b", "a b", "日本", "a\0", "a%2e", &long] {
        let error = Basket::new(name, None, Vec::new()).unwrap_err();
        assert!(error.kind == ErrorKind::Invalid && error.message.contains("name:"), "{name}");
    }
    assert!(Basket::new(&long[1..], Some("題 title"), Vec::new()).is_ok());
    for title in ["two\nlines", "\u{1b}[31m", &"t".repeat(201)] {
        assert!(Basket::new("a", Some(title), Vec::new()).unwrap_err().message.contains("title:"));
    }
    let many = |count: usize| (0..count).map(|at| uri(&format!("a:{at}"))).collect();
    assert!(Basket::new("a", None, many(200)).is_ok());
    assert!(Basket::new("a", None, many(201)).unwrap_err().message.contains("at most 200"));
    let large = (0..20).map(|at| uri(&format!("a:{at}{}", "b".repeat(8000)))).collect();
    assert!(Basket::new("a", None, large).unwrap_err().message.contains("bytes together"));
    let nested = Basket::new("a", None, vec![uri("basket://b")]).unwrap_err();
    assert!(nested.message.contains("basket://b is a basket"), "{nested}");
}

#[tokio::test]
async fn a_basket_belongs_to_its_principal_and_holds_what_it_may_read() {
    let private = memory().text("a:private", "secret").private_to("other");
    let desk = Desk::open(private, None);
    let [local, other] = two_contexts();
    let denied = desk.save(&local, basket("a", &["a:1", "a:private"])).await.unwrap_err();
    assert_eq!(denied.kind, ErrorKind::Invalid);
    assert!(denied.message.contains("a:private cannot be read"), "{denied}");
    assert_eq!(desk.uris_in(&local, None).await.unwrap(), [""; 0], "nothing was saved");
    desk.save(&other, basket("a", &["a:1", "a:private"])).await.unwrap();
    assert_eq!(desk.uris_in(&other, None).await.unwrap(), ["basket://a"]);
    let foreign = desk.stat(&local, &uri("basket://a")).await.unwrap_err();
    assert_eq!(foreign.kind, ErrorKind::NotFound);
    assert_eq!(desk.baskets.remove(&local, "a").await.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(desk.uris_in(&other, Some("basket://a")).await.unwrap(), ["a:1", "a:private"]);
}

#[tokio::test]
async fn what_is_gone_is_left_out_and_a_source_that_is_down_is_named() {
    let desk = Desk::open(memory(), None);
    let ctx = local_context();
    desk.save(&ctx, basket("a", &["a:1", "a:2", "a:3"])).await.unwrap();
    desk.memory.remove("a:2");
    assert_eq!(desk.uris_in(&ctx, Some("basket://a")).await.unwrap(), ["a:1", "a:3"]);
    let down = Fault::Fails(ErrorKind::Unavailable);
    desk.memory.inject_fault(FaultPoint::Stat(uri("a:1")), down);
    let page = desk.list(&ctx, Some(&uri("basket://a")), &PageRequest::first(9)).await.unwrap();
    assert_eq!((page.items.len(), page.absent[0].name.as_str()), (1, "a:1"));
    desk.memory.inject_fault(FaultPoint::Read(uri("a:1")), down);
    let later = desk.save(&ctx, basket("b", &["a:1"])).await.unwrap_err();
    assert_eq!(later.kind, ErrorKind::Unavailable, "it may be readable later");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_holds_up_no_save_for_ever() {
    let desk = Desk::open(memory(), None);
    desk.memory.inject_fault(FaultPoint::Read(uri("a:1")), Fault::Hangs);
    let error = desk.save(&local_context(), basket("a", &["a:1"])).await.unwrap_err();
    assert!(error.message.contains("took too long"), "{error}");
}

#[tokio::test]
async fn a_principal_has_so_many_baskets_and_may_replace_one() {
    let desk = Desk::open(memory(), None);
    let [ctx, other] = two_contexts();
    for at in 0..MAX_BASKETS {
        desk.save(&ctx, basket(&format!("b{at}"), &[])).await.unwrap();
    }
    let full = desk.save(&ctx, basket("more", &[])).await.unwrap_err();
    assert!(full.message.contains("remove one first"), "{full}");
    desk.save(&ctx, basket("b7", &["a:1"])).await.unwrap();
    assert_eq!(desk.uris_in(&ctx, Some("basket://b7")).await.unwrap(), ["a:1"]);
    desk.save(&other, basket("more", &[])).await.unwrap();
    desk.baskets.remove(&ctx, "b7").await.unwrap();
    desk.save(&ctx, basket("more", &[])).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_an_error_and_the_old_basket_stays() {
    let storage = Arc::new(FakeStorage::default());
    let desk = Desk::open(memory(), Some(Arc::clone(&storage)));
    let ctx = local_context();
    desk.save(&ctx, basket("a", &["a:1"])).await.unwrap();
    storage.is_full.store(true, Ordering::Relaxed);
    let full = desk.save(&ctx, basket("a", &["a:2"])).await.unwrap_err();
    assert_eq!(full.kind, ErrorKind::Unavailable);
    assert!(full.message.contains("disk of the server is full"), "{full}");
    assert_eq!(desk.uris_in(&ctx, Some("basket://a")).await.unwrap(), ["a:1"]);
    let again = Desk::open(memory(), Some(storage));
    assert_eq!(again.uris_in(&ctx, Some("basket://a")).await.unwrap(), ["a:1"], "after a restart");
}

#[tokio::test]
async fn a_disk_that_hangs_is_an_error_and_lists_go_on() {
    let storage = Arc::new(FakeStorage::default());
    let desk = Desk::open(memory(), Some(Arc::clone(&storage)));
    let ctx = local_context();
    desk.save(&ctx, basket("a", &["a:1"])).await.unwrap();
    *storage.hangs.lock() = true;
    time::pause();
    for name in ["b", "c"] {
        let error = while_time_passes(desk.save(&ctx, basket(name, &[]))).await.unwrap_err();
        assert!(error.message.contains("does not answer"), "{error}");
    }
    let listed = while_time_passes(desk.uris_in(&ctx, None)).await.unwrap();
    assert_eq!(listed, ["basket://a"]);
    *storage.hangs.lock() = false;
    storage.resumed.notify_all();
    while while_time_passes(desk.save(&ctx, basket("d", &[]))).await.is_err() {}
    let listed = while_time_passes(desk.uris_in(&ctx, None)).await.unwrap();
    assert!(listed.contains(&"basket://d".to_owned()), "{listed:?}");
}

/// Waits for `work` on a clock that goes on while a thread is busy, as a paused one does not.
async fn while_time_passes<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = time::advance(Duration::from_millis(1)) => {}
        }
    }
}

#[tokio::test]
async fn baskets_that_are_saved_at_once_are_all_kept() {
    let storage = Arc::new(FakeStorage::default());
    let desk = Desk::open(memory(), Some(Arc::clone(&storage)));
    let ctx = local_context();
    let saves = (0..50).map(|at| desk.save(&ctx, basket(&format!("b{at}"), &["a:1"])));
    let saved = futures_util::future::join_all(saves.collect::<Vec<_>>()).await;
    assert!(saved.iter().all(Result::is_ok));
    assert_eq!(desk.uris_in(&ctx, None).await.unwrap().len(), 50);
    assert_eq!(storage.baskets.lock().len(), 50);
}

#[tokio::test(start_paused = true)]
async fn those_who_watch_are_told_of_saves_removals_and_members() {
    let desk = Desk::open(memory().with_watches(), Some(Arc::default()));
    let [ctx, other] = two_contexts();
    let review = uri("basket://review");
    desk.save(&ctx, basket("review", &["a:1"])).await.unwrap();
    let mut list = desk.watch(&ctx, Interest::Listing).await.unwrap();
    let mut one = desk.watch(&ctx, Interest::Resource(review.clone())).await.unwrap();
    let mut foreign = desk.watch(&other, Interest::Listing).await.unwrap();
    desk.save(&ctx, basket("review", &["a:2"])).await.unwrap();
    assert_eq!(list.next().await, Some(Change::Listing));
    assert_eq!(one.next().await, Some(Change::Updated(review.clone())));
    desk.memory.write("a:2", "new");
    assert_eq!(one.next().await, Some(Change::Updated(uri("a:2"))));
    desk.save(&ctx, basket("more", &[])).await.unwrap();
    assert_eq!(list.next().await, Some(Change::Listing));
    desk.baskets.remove(&ctx, "review").await.unwrap();
    assert_eq!(list.next().await, Some(Change::Listing));
    assert_eq!(one.next().await, Some(Change::Removed(review.clone())));
    desk.save(&ctx, basket("review", &[])).await.unwrap();
    assert_eq!(one.next().await, Some(Change::Updated(review)), "it is there again");
    time::advance(Duration::from_secs(10)).await;
    assert!(foreign.next().now_or_never().is_none(), "another principal is told nothing");
}

#[tokio::test(start_paused = true)]
async fn what_another_process_saves_appears() {
    let storage = Arc::new(FakeStorage::default());
    let desk = Desk::open(memory(), Some(Arc::clone(&storage)));
    let ctx = local_context();
    assert_eq!(desk.uris_in(&ctx, None).await.unwrap(), [""; 0]);
    let mut all = desk.watch(&ctx, Interest::Everything).await.unwrap();
    storage.save("local", &basket("theirs", &["a:1"])).unwrap();
    assert_eq!(all.next().await, Some(Change::Updated(uri("basket://theirs"))));
    assert_eq!(all.next().await, Some(Change::Listing));
    assert_eq!(desk.uris_in(&ctx, Some("basket://theirs")).await.unwrap(), ["a:1"]);
}

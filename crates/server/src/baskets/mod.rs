//! Registry of baskets: what people put together, by principal, in memory and in a storage.
//!
//! Other processes may use the same storage, so it is looked at again from time to time. A basket
//! holds URIs only: whoever opens it gets of each resource what its own mount gives to that
//! principal at that time.

mod basket;
mod basket_resource;
mod basket_watch;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, SystemTime};

use futures_util::{FutureExt, StreamExt, stream};
use parking_lot::Mutex;
use resource::{Context, Error, ErrorKind, Principal, Provider, ReadRequest, Result, Uri, Window};
use tokio::sync::{self, watch};
use tokio::task;
use tokio::time::{self, Instant};

pub use basket::{Basket, BasketStorage};
use basket::{check_name, uri_of};

/// The template of the URIs of baskets.
pub const BASKET_TEMPLATE: &str = "basket://{basket}";

/// The most baskets of a principal.
const MAX_BASKETS: usize = 100;
/// How many resources of a basket are asked for at once.
const CONCURRENCY: usize = 8;
/// How long the check of the resources of a new basket may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the storage may take. A disk that hangs must not hold up lists.
const STORAGE_TIMEOUT: Duration = Duration::from_secs(5);
/// For so long the storage is not looked at again.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The baskets of one principal, by name.
type BasketMap = BTreeMap<String, Arc<Basket>>;

/// All baskets. As a provider it serves them as collections.
pub struct BasketRegistry {
    this: Weak<Self>,
    /// `None`: baskets end with the process.
    storage: Option<Arc<dyn BasketStorage>>,
    /// Has the resources in the baskets.
    source: OnceLock<Weak<dyn Provider>>,
    table: Mutex<HashMap<Arc<str>, PrincipalBaskets>>,
    /// Held while the storage is used, so that nothing old replaces something new.
    turn: sync::Mutex<()>,
    /// True while a thread uses the storage: a disk that hangs must not take one thread after
    /// another.
    is_busy: Arc<AtomicBool>,
    changed: watch::Sender<()>,
}

/// What is known of the baskets of one principal.
#[derive(Clone)]
struct PrincipalBaskets {
    baskets: Arc<BasketMap>,
    /// The time of the last change in the storage, as far as it is in `baskets`.
    modified: Option<SystemTime>,
    checked: Instant,
}

impl BasketRegistry {
    /// A registry over `storage`; without one, baskets end with the process.
    pub fn new(storage: Option<Arc<dyn BasketStorage>>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: this.clone(),
            storage,
            source: OnceLock::new(),
            table: Mutex::default(),
            turn: sync::Mutex::default(),
            is_busy: Arc::default(),
            changed: watch::Sender::new(()),
        })
    }

    /// The resources in the baskets are those of `source`.
    pub(crate) fn fill_from(&self, source: &Arc<dyn Provider>) {
        // Of several servers that share a registry, all serve the same.
        let _ = self.source.set(Arc::downgrade(source));
    }

    fn source(&self) -> Result<Arc<dyn Provider>> {
        let gone = || Error::unavailable("the server is shutting down");
        self.source.get().and_then(Weak::upgrade).ok_or_else(gone)
    }

    /// Saves a basket of the principal in the place of one with its name. It refuses a resource
    /// that the principal cannot read.
    pub(crate) async fn save(&self, ctx: &Context, basket: Basket) -> Result<Uri> {
        let uri = basket.uri()?;
        let check = time::timeout(CHECK_TIMEOUT, self.check_readable(ctx, basket.uris())).await;
        check.unwrap_or_else(|_| {
            let why = "checking the resources of the basket took too long; try again with fewer";
            Err(Error::unavailable(why))
        })?;
        let _turn = self.turn.lock().await;
        let known = self.reload(ctx.principal()).await;
        if !known.contains_key(basket.name()) && known.len() >= MAX_BASKETS {
            let why = format!("you have {MAX_BASKETS} baskets; remove one first");
            return Err(Error::invalid(why));
        }
        let basket = Arc::new(basket);
        let saved = Arc::clone(&basket);
        self.write(ctx, move |storage, principal| storage.save(principal, &saved)).await?;
        self.replace(ctx.principal(), |baskets| {
            baskets.insert(basket.name().to_owned(), basket);
        });
        Ok(uri)
    }

    /// Removes a basket of the principal.
    pub(crate) async fn remove(&self, ctx: &Context, name: &str) -> Result<()> {
        check_name(name)?;
        let _turn = self.turn.lock().await;
        if !self.reload(ctx.principal()).await.contains_key(name) {
            return Err(Error::not_found(&uri_of(name)?));
        }
        let removed = name.to_owned();
        self.write(ctx, move |storage, principal| storage.remove(principal, &removed)).await?;
        self.replace(ctx.principal(), |baskets| drop(baskets.remove(name)));
        Ok(())
    }

    /// An error that names the first resource that the principal cannot read.
    async fn check_readable(&self, ctx: &Context, uris: &[Uri]) -> Result<()> {
        let source = self.source()?;
        let request = &ReadRequest::from(Window::Part { offset: 0, length: 1, etag: None });
        let mut reads = Vec::with_capacity(uris.len());
        for uri in uris {
            let source = &source;
            reads
                .push(async move { (uri, source.read(ctx, uri, request).await.map(drop)) }.boxed());
        }
        let mut reads = stream::iter(reads).buffered(CONCURRENCY);
        while let Some((uri, read)) = reads.next().await {
            let Err(error) = read else { continue };
            match error.kind {
                // It is there, but not in a piece of one byte.
                ErrorKind::TooLarge | ErrorKind::Changed | ErrorKind::NeedsInput => {}
                ErrorKind::Unavailable | ErrorKind::Internal => return Err(error.about(uri)),
                ErrorKind::NotFound
                | ErrorKind::Denied
                | ErrorKind::Invalid
                | ErrorKind::Unsupported => {
                    let why = format!("uris: {uri} cannot be read; correct it or leave it out");
                    return Err(Error::invalid(why).about(uri));
                }
            }
        }
        Ok(())
    }

    /// The baskets of the principal, as far as they are known without waiting for long.
    async fn baskets_of(&self, principal: &Principal) -> Arc<BasketMap> {
        let known = self.table.lock().get(principal.key()).cloned();
        match known {
            Some(known) if self.storage.is_none() => known.baskets,
            Some(known) if known.checked.elapsed() < REFRESH_INTERVAL => known.baskets,
            // A basket is being saved; the one who saves it reports it.
            Some(known) => match self.turn.try_lock() {
                Ok(_turn) => self.reload(principal).await,
                Err(_) => known.baskets,
            },
            None => {
                let _turn = self.turn.lock().await;
                self.reload(principal).await
            }
        }
    }

    /// Loads the baskets of the principal again if they changed in the storage. The caller has the
    /// turn.
    async fn reload(&self, principal: &Principal) -> Arc<BasketMap> {
        let known = self.table.lock().get(principal.key()).cloned();
        let before = known.as_ref().and_then(|known| known.modified);
        let loading = self.use_storage(principal, move |storage, principal| {
            let modified = storage.modified(principal);
            let is_same = modified.is_some() && modified == before;
            let loaded = (!is_same).then(|| storage.load(principal)).transpose()?;
            io::Result::Ok(loaded.map(|loaded| (loaded, modified)))
        });
        let loaded = loading.await.and_then(|loaded| loaded.map_err(storage_error));
        let loaded = loaded.inspect_err(|error| {
            tracing::warn!("baskets cannot be loaded: {}", error.with_causes());
        });
        let known_baskets = known.map(|known| known.baskets).unwrap_or_default();
        let (baskets, modified) = match loaded {
            Ok(Some((loaded, modified))) => {
                let one = |basket: Basket| (basket.name().to_owned(), Arc::new(basket));
                let loaded: BasketMap = loaded.into_iter().take(MAX_BASKETS).map(one).collect();
                // The same content is the same map: nobody is told of a change.
                let is_same = loaded == *known_baskets;
                (if is_same { known_baskets } else { self.announce(loaded) }, modified)
            }
            Ok(None) => (known_baskets, before),
            Err(_) => (known_baskets, None),
        };
        let fresh =
            PrincipalBaskets { baskets: Arc::clone(&baskets), modified, checked: Instant::now() };
        self.table.lock().insert(Arc::clone(principal.key()), fresh);
        baskets
    }

    fn announce(&self, baskets: BasketMap) -> Arc<BasketMap> {
        self.changed.send_replace(());
        Arc::new(baskets)
    }

    /// Changes the known baskets of the principal, and tells those who watch.
    fn replace(&self, principal: &Principal, change: impl FnOnce(&mut BasketMap)) {
        let mut table = self.table.lock();
        if let Some(known) = table.get_mut(principal.key()) {
            change(Arc::make_mut(&mut known.baskets));
            known.modified = None;
        }
        drop(table);
        self.changed.send_replace(());
    }

    async fn write(
        &self,
        ctx: &Context,
        write: impl FnOnce(&dyn BasketStorage, &str) -> io::Result<()> + Send + 'static,
    ) -> Result<()> {
        let write = |storage: &dyn BasketStorage, principal: &str| write(storage, principal);
        self.use_storage(ctx.principal(), move |storage, principal| {
            write(storage, principal).map(Some)
        })
        .await?
        .map(drop)
        .map_err(storage_error)
    }

    /// Uses the storage on a thread that may block. Without a storage, nothing is done.
    async fn use_storage<T: Send + 'static>(
        &self,
        principal: &Principal,
        work: impl FnOnce(&dyn BasketStorage, &str) -> io::Result<Option<T>> + Send + 'static,
    ) -> Result<io::Result<Option<T>>> {
        let Some(storage) = self.storage.clone() else { return Ok(Ok(None)) };
        let hangs = || Err(Error::unavailable("the disk of the server does not answer"));
        if self.is_busy.swap(true, Ordering::Relaxed) {
            return hangs();
        }
        let (principal, use_end) =
            (Arc::clone(principal.key()), StorageUse(Arc::clone(&self.is_busy)));
        let work = task::spawn_blocking(move || {
            let _use_end = use_end;
            work(&*storage, &principal)
        });
        match time::timeout(STORAGE_TIMEOUT, work).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(panicked)) => {
                Err(Error::internal("the storage of baskets failed").caused_by(panicked))
            }
            Err(_) => hangs(),
        }
    }
}

/// One use of the storage, which ends when this is dropped.
struct StorageUse(Arc<AtomicBool>);

impl Drop for StorageUse {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// The error of a storage that failed. What it had before, it still has.
fn storage_error(error: io::Error) -> Error {
    let why = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the basket is not saved: the disk of the server is full"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "the basket is not saved: the server may not write to its state folder"
        }
        _ => "the basket is not saved: the server cannot write to its state folder",
    };
    Error::unavailable(why).caused_by(error)
}

#[cfg(test)]
mod tests;

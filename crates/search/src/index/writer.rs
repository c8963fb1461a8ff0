//! The thread that writes the index: one queue of orders, bounded in bytes.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tantivy::{TantivyError, Term};
use tokio::runtime::{self, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time;

use crate::index::IndexState;
use crate::index::document::PassageDocument;
use crate::index::entry::IndexEntry;
use crate::index::store::{self, IndexHome, IndexStore, WriterParts};

/// How many orders may wait.
const MAX_QUEUED: usize = 256;
/// How long texts wait for their first commit, and how much longer than the last commit took.
const COMMIT_INTERVAL: Duration = Duration::from_secs(1);
const COMMIT_FACTOR: u32 = 10;
/// An order counts at least this many bytes.
const MIN_ORDER_BYTES: usize = 1 << 10;
/// The most bytes of text that wait.
const MAX_QUEUED_BYTES: usize = 8 << 20;
/// How far the threads of the index stand back behind others.
const NICENESS: i32 = 5;
/// How long after the last commit searches begin to use what was merged meanwhile.
const MERGE_WAITS: [Duration; 3] =
    [Duration::from_secs(2), Duration::from_secs(10), Duration::from_secs(60)];
/// How much text an index in memory takes, in multiples of the memory for indexing.
const MEMORY_INDEX_FACTOR: usize = 8;

/// What the thread is told to do.
pub(crate) enum IndexOrder {
    /// Puts a resource into the index, in the place of what it holds of it.
    Put(Box<IndexOrderEntry>),
    /// Removes a resource, by the key of its URI.
    Remove(u64),
    /// Makes everything so far visible, then tells.
    Commit(oneshot::Sender<()>),
}

/// A resource to be put into the index.
pub(crate) struct IndexOrderEntry {
    entry: IndexEntry,
    /// Whether the index holds nothing of it.
    is_new: bool,
    permit: OwnedSemaphorePermit,
}

/// Sends orders to the thread.
#[derive(Clone)]
pub(crate) struct OrderQueue {
    orders: mpsc::Sender<IndexOrder>,
    bytes: Arc<Semaphore>,
    max_bytes: usize,
}

impl OrderQueue {
    /// A queue for an index that has `memory`, and its other end.
    pub(crate) fn new(memory: usize) -> (Self, mpsc::Receiver<IndexOrder>) {
        let (orders, received) = mpsc::channel(MAX_QUEUED);
        let max_bytes = memory.min(MAX_QUEUED_BYTES);
        let bytes = Arc::new(Semaphore::new(max_bytes));
        (Self { orders, bytes, max_bytes }, received)
    }

    /// Puts a text into the index; waits while the queue is full.
    pub(crate) async fn put(&self, entry: IndexEntry, is_new: bool) {
        let bytes = entry.text.len().clamp(MIN_ORDER_BYTES, self.max_bytes);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Ok(permit) = Arc::clone(&self.bytes).acquire_many_owned(bytes).await else { return };
        self.send(IndexOrder::Put(Box::new(IndexOrderEntry { entry, is_new, permit }))).await;
    }

    pub(crate) async fn remove(&self, key: u64) {
        self.send(IndexOrder::Remove(key)).await;
    }

    /// Waits until everything so far is visible.
    pub(crate) async fn commit(&self) {
        let (done, told) = oneshot::channel();
        self.send(IndexOrder::Commit(done)).await;
        // The thread ends only with the program.
        let _ = told.await;
    }

    async fn send(&self, order: IndexOrder) {
        let _ = self.orders.send(order).await;
    }
}

/// The state of the thread.
struct WriterThread {
    state: Arc<IndexState>,
    parts: Option<WriterParts>,
    /// Whether something is not committed, when the last commit was, and how long it took.
    is_pending: bool,
    last_commit: Instant,
    commit_took: Duration,
    /// How much text the index in memory holds.
    memory_bytes: usize,
}

/// Runs `open` on a thread with a lower priority than those that answer requests. The threads that
/// it starts inherit the priority.
pub(crate) fn politely<T: Send>(open: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    thread::scope(|scope| {
        let run = || {
            // Without it the index is only less polite.
            let _ = rustix::process::nice(NICENESS);
            open()
        };
        let opened = thread::Builder::new().name("index".to_owned()).spawn_scoped(scope, run)?;
        opened.join().map_err(|_| std::io::Error::other("the index could not be opened"))
    })
}

/// Starts the thread, with a lower priority than those that answer requests.
pub(crate) fn spawn(
    state: Arc<IndexState>,
    parts: Option<WriterParts>,
    mut orders: mpsc::Receiver<IndexOrder>,
) -> std::io::Result<()> {
    let clock = runtime::Builder::new_current_thread().enable_time().build()?;
    let mut thread = WriterThread {
        state,
        parts,
        is_pending: false,
        last_commit: Instant::now(),
        commit_took: Duration::ZERO,
        memory_bytes: 0,
    };
    let run = move || {
        let _ = rustix::process::nice(NICENESS);
        thread.check_store();
        while let Some(order) = thread.next_order(&clock, &mut orders) {
            if let Err(error) = thread.carry_out(order) {
                thread.give_up_folder(&error);
            }
        }
    };
    thread::Builder::new().name("index".to_owned()).spawn(run).map(drop)
}

impl WriterThread {
    /// Builds the index anew if its files are damaged.
    fn check_store(&mut self) {
        let (store, memory) = (self.state.store(), self.state.options.memory);
        let IndexHome::Folder(folder) = &store.home else { return };
        let Err(error) = store.check() else { return };
        tracing::warn!("the search index is damaged and is built anew: {error}");
        // The old writer must be gone before another one can be made.
        let lock = self.parts.take().and_then(|parts| parts.lock);
        let opened = match (store::clear(folder), lock) {
            (Ok(()), Some(lock)) => IndexStore::open_locked(folder, memory, lock),
            (Ok(()), None) => return,
            (Err(error), _) => Err(error.into()),
        };
        self.parts = match opened {
            Ok(opened) => self.state.replace_store(Ok(opened)),
            Err(error) => self.state.move_to_memory(format!("it cannot be built anew: {error}")),
        };
    }

    /// Waits for the next order. Merges end after their commit: while nothing else is to be done,
    /// searches are given what was merged.
    fn next_order(
        &self,
        clock: &Runtime,
        orders: &mut mpsc::Receiver<IndexOrder>,
    ) -> Option<IndexOrder> {
        for wait in MERGE_WAITS.iter().filter(|_| self.parts.is_some() && !self.is_pending) {
            match clock.block_on(async { time::timeout(*wait, orders.recv()).await }) {
                Ok(order) => return order,
                // Without it, searches go on with what they have.
                Err(_) => drop(self.state.store().reader.reload()),
            }
        }
        orders.blocking_recv()
    }

    fn carry_out(&mut self, order: IndexOrder) -> Result<(), TantivyError> {
        match order {
            IndexOrder::Put(order) => self.put(*order)?,
            IndexOrder::Remove(key) => self.remove(key),
            IndexOrder::Commit(done) => {
                self.commit()?;
                // Whoever waited may have gone.
                let _ = done.send(());
                return Ok(());
            }
        }
        let wait = COMMIT_INTERVAL.max(self.commit_took * COMMIT_FACTOR);
        if self.last_commit.elapsed() >= wait {
            self.commit()?;
        }
        Ok(())
    }

    fn put(&mut self, order: IndexOrderEntry) -> Result<(), TantivyError> {
        let IndexOrderEntry { entry, is_new, permit } = order;
        if !is_new {
            self.remove(entry.uri_key());
        }
        let store = self.state.store();
        let Some(WriterParts { writer, .. }) = &self.parts else { return Ok(()) };
        if store.is_in_memory() {
            self.memory_bytes += entry.text.len();
            if self.memory_bytes > self.state.options.memory * MEMORY_INDEX_FACTOR {
                self.state.memory_is_full();
                return Ok(());
            }
        }
        for document in PassageDocument::all_of(entry, store.fields, permit) {
            writer.add_document(document)?;
        }
        self.is_pending = true;
        Ok(())
    }

    fn remove(&mut self, key: u64) {
        let field = self.state.store().fields.uri_key;
        if let Some(WriterParts { writer, .. }) = &self.parts {
            writer.delete_term(Term::from_field_u64(field, key));
            self.is_pending = true;
        }
    }

    fn commit(&mut self) -> Result<(), TantivyError> {
        if std::mem::take(&mut self.is_pending)
            && let Some(WriterParts { writer, .. }) = &mut self.parts
        {
            let start = Instant::now();
            writer.commit()?;
            self.state.store().reader.reload()?;
            self.commit_took = start.elapsed();
        }
        self.last_commit = Instant::now();
        Ok(())
    }

    /// The folder cannot be written: goes on with an index in memory, which the keepers fill anew.
    fn give_up_folder(&mut self, error: &TantivyError) {
        tracing::warn!("the search index cannot be written and is kept in memory: {error}");
        self.parts = self.state.move_to_memory(format!("its folder cannot be written: {error}"));
        (self.is_pending, self.memory_bytes) = (false, 0);
    }
}

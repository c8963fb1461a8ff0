//! Conversion of documents in processes of their own, and a cache of the results.
//!
//! Each document is converted by a child process of this program (`worker`), which limits and
//! confines itself before it reads a byte (`sandbox`). One that crashes, hangs or grows fails alone.

mod disk_cache;
mod frame;
mod pdf_program;
mod sandbox;
pub(crate) mod worker;

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use catalog::layers::rendered::{ConvertJob, Converter, DocumentSource};
use convert::{Conversion, Options};
use futures_util::StreamExt;
use machinery::{FairSemaphore, SharePermit};
use parking_lot::Mutex;
use resource::{ByteSource, Error, ErrorKind, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::Instant;

use disk_cache::{DiskCache, DocumentHash};
use pdf_program::PdfProgram;

/// This program, also after its file was replaced.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The most conversions of one principal that wait for their turn.
const MAX_WAITING: usize = 256;

/// How long a conversion may wait. The time limit of the mount is shorter.
const MAX_WAIT: Duration = Duration::from_secs(3600);

/// The most bytes of a result: a form in memory, and what is said of it.
const MAX_RESULT_BYTES: u64 = 64 << 20;

/// The most bytes of what a worker says before it fails.
const MAX_SAID_BYTES: u64 = 4 << 10;

/// The limits of conversions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConvertLimits {
    /// The most memory of a conversion, in bytes.
    pub(crate) memory: u64,
    /// How long a conversion may take.
    pub(crate) time: Duration,
    /// How many of one principal run at once; as many as there are cores if not set.
    pub(crate) at_once: Option<NonZeroUsize>,
    /// Where results are kept, and how many bytes of them.
    pub(crate) cache: Option<(PathBuf, u64)>,
    /// What the converters may do and give.
    pub(crate) options: Options,
}

/// The pool of the whole process, made again if the limits change.
static SHARED_POOL: Mutex<Option<Arc<ConvertPool>>> = Mutex::new(None);

/// The one pool for all mounts: its limits are for all of them together.
pub(crate) fn shared_pool(limits: ConvertLimits) -> Arc<ConvertPool> {
    let mut shared = SHARED_POOL.lock();
    match &*shared {
        Some(pool) if pool.limits == limits => Arc::clone(pool),
        _ => Arc::clone(shared.insert(Arc::new(ConvertPool::new(limits)))),
    }
}

/// Converts documents in child processes.
pub(crate) struct ConvertPool {
    limits: ConvertLimits,
    slots: FairSemaphore,
    cache: Option<DiskCache>,
    /// How many forms were converted, and how many were taken from the cache.
    converted: AtomicUsize,
    reused: AtomicUsize,
}

/// What the pool has done, and what its cache holds.
pub(crate) struct PoolUsage {
    pub(crate) converted: usize,
    pub(crate) reused: usize,
    /// The bytes in the cache, and the most there may be; `None` without one.
    pub(crate) cache: Option<(u64, u64)>,
}

impl ConvertPool {
    pub(crate) fn new(limits: ConvertLimits) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let at_once = limits.at_once.map_or_else(cores, NonZeroUsize::get);
        // One slot more, which one principal alone cannot take.
        let slots = FairSemaphore::new(at_once + 1, at_once, MAX_WAITING);
        let cache = limits.cache.clone().map(|(folder, size)| DiskCache::new(folder, size));
        let [converted, reused] = [const { AtomicUsize::new(0) }; 2];
        Self { limits, slots, cache, converted, reused }
    }

    /// What it has done since its start.
    pub(crate) fn usage(&self) -> PoolUsage {
        PoolUsage {
            converted: self.converted.load(Ordering::Relaxed),
            reused: self.reused.load(Ordering::Relaxed),
            cache: self.cache.as_ref().map(DiskCache::usage),
        }
    }

    /// Waits for a slot out of the share of one principal.
    async fn wait_for_slot(&self, principal: &Arc<str>) -> Result<SharePermit> {
        let slot = self.slots.acquire(principal, Instant::now() + MAX_WAIT).await;
        slot.map_err(|_| Error::unavailable("too many documents are being converted; try again"))
    }

    /// Converts without a look at the cache.
    async fn convert_now(
        &self,
        job: &ConvertJob<'_>,
        program: Option<&PdfProgram>,
    ) -> Result<Conversion> {
        let _slot = self.wait_for_slot(job.principal).await?;
        self.converted.fetch_add(1, Ordering::Relaxed);
        let worker = Worker::start(worker::command(OWN_PROGRAM, job, &self.limits, program))?;
        let converted = tokio::time::timeout(self.limits.time, worker.run(job.source)).await;
        converted.unwrap_or_else(|_| {
            let time = humantime::format_duration(self.limits.time);
            Err(not_converted(&format!("the conversion took longer than {time} and was ended")))
        })
    }
}

#[async_trait]
impl Converter for ConvertPool {
    async fn convert(&self, job: ConvertJob<'_>) -> Result<Conversion> {
        let program = PdfProgram::find(job.kind);
        let Some(cache) = self.cache.as_ref().filter(|_| job.keep) else {
            return self.convert_now(&job, program.as_ref()).await;
        };
        let mut hash = DocumentHash::new(&job, &self.limits.options, program.as_ref());
        feed(job.source, |chunk| hash.push(&chunk)).await?;
        let key = hash.finish();
        if let Some(converted) = cache.get(&key).await {
            self.reused.fetch_add(1, Ordering::Relaxed);
            return Ok(converted);
        }
        let converted = self.convert_now(&job, program.as_ref()).await?;
        cache.put(key, &converted).await;
        Ok(converted)
    }
}

/// Gives the chunks of a document to `take`.
async fn feed(source: &dyn DocumentSource, mut take: impl FnMut(Bytes)) -> Result<()> {
    match source.open().await? {
        ByteSource::Bytes(bytes) => take(bytes),
        ByteSource::Stream(mut stream) => {
            while let Some(chunk) = stream.next().await {
                take(chunk?);
                tokio::task::consume_budget().await;
            }
        }
    }
    Ok(())
}

/// A running child. It and its own children end when this is dropped.
struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    /// The process group, as long as its id is surely not that of another.
    group: Option<Pid>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill_group();
    }
}

impl Worker {
    fn start(mut command: Command) -> Result<Self> {
        let spawned = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn();
        let cannot = |error: io::Error| {
            Error::unavailable("no process could be started to convert the document")
                .caused_by(error)
        };
        let mut child = spawned.map_err(cannot)?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = pipes else {
            return Err(Error::internal("a converter has no pipes"));
        };
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Self { child, input: Some(input), output, group })
    }

    async fn run(mut self, source: &dyn DocumentSource) -> Result<Conversion> {
        let input = self.input.take();
        let mut answer = Vec::new();
        let output = &mut self.output;
        let read = async {
            let read = output.take(MAX_RESULT_BYTES + 1).read_to_end(&mut answer).await;
            read.map_err(|error| Error::internal("a converter cannot be read").caused_by(error))
        };
        let (sent, read) = tokio::join!(send(source, input), read);
        sent?;
        read?;
        if answer.len() as u64 > MAX_RESULT_BYTES {
            let message = format!("the form is over the limit of {MAX_RESULT_BYTES} bytes");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        let status = self.child.wait().await;
        let status = status.map_err(|error| {
            Error::internal("a converter cannot be waited for").caused_by(error)
        })?;
        if status.success() {
            // It has waited for its own children, and the id may soon be that of another process.
            self.group = None;
            let broken = || not_converted("the converter gave an answer that makes no sense");
            return frame::decode(&answer).ok_or_else(broken)?.map_err(Error::from);
        }
        // Its own children may go on, and hold what it says open.
        self.kill_group();
        let said = self.said().await;
        tracing::debug!("a converter ended with {status}: {said}");
        Err(not_converted(failure_words(status)))
    }

    fn kill_group(&mut self) {
        if let Some(group) = self.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// What the child said before it failed, for the log.
    async fn said(&mut self) -> String {
        let mut said = Vec::new();
        if let Some(errors) = self.child.stderr.take() {
            let _ = errors.take(MAX_SAID_BYTES).read_to_end(&mut said).await;
        }
        String::from_utf8_lossy(&said).trim().replace('\n', "; ")
    }
}

/// Sends a document to a child, which may have ended.
async fn send(source: &dyn DocumentSource, input: Option<ChildStdin>) -> Result<()> {
    let Some(mut input) = input else { return Ok(()) };
    let mut chunks = match source.open().await? {
        ByteSource::Bytes(bytes) => futures_util::stream::once(async { Ok(bytes) }).boxed(),
        ByteSource::Stream(stream) => stream,
    };
    while let Some(chunk) = chunks.next().await {
        if input.write_all(&chunk?).await.is_err() {
            return Ok(());
        }
    }
    let _ = input.shutdown().await;
    Ok(())
}

/// A failure of the converter and not of the document: with less load, more time or memory, or with
/// another version of the converter it may be converted.
fn not_converted(why: &str) -> Error {
    Error::unavailable(format!("the document cannot be converted: {why}"))
}

/// What the end of a child means.
fn failure_words(status: ExitStatus) -> &'static str {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = |signal: Signal| Some(signal.as_raw());
    match status.signal() {
        ended if ended == signal(Signal::XCPU) => "it took too much time",
        ended if ended == signal(Signal::ABORT) => "the converter crashed or took too much memory",
        _ => "the converter crashed",
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::Duration;

    use async_trait::async_trait;
    use bytes::Bytes;
    use catalog::layers::rendered::DocumentSource;
    use futures_util::FutureExt as _;
    use resource::ByteSource;
    use tokio::process::Command;

    use super::{ConvertLimits, ConvertPool, MAX_WAITING, Worker};

    struct EmptySource;

    #[async_trait]
    impl DocumentSource for EmptySource {
        async fn open(&self) -> resource::Result<ByteSource> {
            Ok(ByteSource::Bytes(Bytes::new()))
        }
    }

    #[tokio::test]
    async fn a_program_of_a_failed_converter_ends_with_it() {
        let mut command = Command::new("sh");
        // The program holds the errors open, which are read to their end.
        command.arg("-c").arg("sleep 1000 >/dev/null </dev/null & exit 1");
        let worker = Worker::start(command).unwrap();
        let failed = tokio::time::timeout(Duration::from_secs(60), worker.run(&EmptySource));
        let error = failed.await.expect("the program goes on").unwrap_err();
        assert!(error.message.contains("crashed"), "{error}");
    }

    #[tokio::test]
    async fn one_that_asks_for_many_documents_leaves_a_converter_to_others() {
        let limits = ConvertLimits {
            memory: 1,
            time: Duration::from_secs(1),
            at_once: NonZeroUsize::new(2),
            cache: None,
            options: convert::Options::default(),
        };
        let pool = ConvertPool::new(limits);
        let (ada, ben): (Arc<str>, Arc<str>) = ("ada".into(), "ben".into());
        let running = [pool.wait_for_slot(&ada).await, pool.wait_for_slot(&ada).await];
        assert!(running.iter().all(Result::is_ok), "as many as the settings say");
        let mut waiting: Vec<_> =
            (0..MAX_WAITING).map(|_| Box::pin(pool.wait_for_slot(&ada))).collect();
        assert!(waiting.iter_mut().all(|one| one.now_or_never().is_none()), "they wait");
        let one_more = pool.wait_for_slot(&ada).now_or_never().expect("it is refused at once");
        assert!(one_more.is_err_and(|error| error.message.contains("too many documents")));
        let other = pool.wait_for_slot(&ben).now_or_never().expect("a slot is left");
        assert!(other.is_ok());
        drop(running);
        assert!(waiting[0].as_mut().now_or_never().is_some_and(|slot| slot.is_ok()));
    }
}

//! Opens archives of a mount: their indexes by version, archives in archives, and the work pool.

use std::sync::Arc;
use std::time::Duration;

use archive::{
    ArchiveError, ArchiveKind, IndexingStep, Member, MemberIndex, MemberStream, PositionedRead,
    SourceSection,
};
use bytes::Bytes;
use machinery::{
    Cache, CacheBounds, FairSemaphore, SharePermit, SingleFlight, WorkPool, WorkRefusal, WorkSignal,
};
use resource::{Context, Error, ErrorKind, Provider, Resource, Result};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::window_source::{SourceFailure, WindowSource};

/// The bytes of indexes that are kept, and of the largest one.
const INDEX_BOUNDS: CacheBounds =
    CacheBounds { entries: 256, weight: 32 << 20, heaviest: 128 << 20 };
/// The bytes of unpacked archives that are kept: those in archives, and small compressed tars.
const MAX_KEPT_UNPACKED: usize = 64 << 20;
/// A larger archive in an archive is not opened, unless it is stored as it is.
pub(super) const MAX_UNPACKED_ARCHIVE: u64 = 64 << 20;
/// How many archives are unpacked into memory at a time.
const MAX_UNPACKERS: usize = 2;
const MAX_THREADS: usize = 4;
const THREADS_PER_PRINCIPAL: usize = 2;
const MAX_QUEUED: usize = 64;
const WORK_TIME: Duration = Duration::from_secs(60);

/// The archives of one mount.
pub(super) struct ArchiveStore {
    inner: Arc<dyn Provider>,
    indexes: Cache<ArchiveVersion, Arc<MemberIndex>>,
    /// Archives that were unpacked as a whole.
    unpacked: Cache<ArchiveVersion, Bytes>,
    flights: SingleFlight<ArchiveVersion, Result<Arc<MemberIndex>, Arc<Error>>>,
    pool: WorkPool,
    /// Who unpacks a whole archive into memory: few at a time.
    unpackers: FairSemaphore,
}

/// A version of an archive, as one principal sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ArchiveVersion {
    principal: Arc<str>,
    /// The URI of the outermost archive, and the paths of those in it.
    place: Arc<str>,
    etag: Arc<str>,
}

/// An archive whose members are known.
#[derive(Clone)]
pub(super) struct OpenArchive {
    pub(super) kind: ArchiveKind,
    pub(super) source: Arc<dyn PositionedRead>,
    pub(super) index: Arc<MemberIndex>,
    /// `None` if the source has no versions: nothing is kept then.
    pub(super) version: Option<ArchiveVersion>,
    pub(super) failure: Arc<SourceFailure>,
    /// The description of the outermost archive.
    pub(super) outermost: Arc<Resource>,
    /// How many archives it lies in, itself included.
    pub(super) depth: usize,
}

impl ArchiveVersion {
    pub(super) fn of_member(&self, path: &str) -> Self {
        Self { place: format!("{}\n{path}", self.place).into(), ..self.clone() }
    }

    /// Tells archives in one archive apart.
    pub(super) fn nesting_hash(&self) -> u64 {
        let nested = self.place.split_once('\n').map_or("", |(_, paths)| paths);
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        nested.bytes().fold(if nested.is_empty() { 0 } else { 0xcbf2_9ce4_8422_2325 }, fold)
    }
}

impl ArchiveStore {
    pub(super) fn new(inner: Arc<dyn Provider>) -> Self {
        Self {
            inner,
            indexes: Cache::new(INDEX_BOUNDS),
            unpacked: Cache::new(CacheBounds::weight(MAX_KEPT_UNPACKED)),
            flights: SingleFlight::default(),
            pool: WorkPool::new(FairSemaphore::new(MAX_THREADS, THREADS_PER_PRINCIPAL, MAX_QUEUED)),
            unpackers: FairSemaphore::new(MAX_UNPACKERS, 1, MAX_QUEUED),
        }
    }

    /// Opens the archive that the source describes as `resource`.
    pub(super) async fn open(
        self: &Arc<Self>,
        ctx: &Context,
        resource: Arc<Resource>,
        kind: ArchiveKind,
    ) -> Result<OpenArchive> {
        let failure = Arc::new(SourceFailure::default());
        let size = resource.size.ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, "the source does not tell the size of this archive")
        })?;
        // A text may be longer than its file: it is given as UTF-8.
        let size = if kind.has_own_content() { size.saturating_mul(2) } else { size };
        let source: Arc<dyn PositionedRead> = Arc::new(WindowSource {
            inner: Arc::clone(&self.inner),
            // A reader may outlive the request, so that it reports nothing to its caller.
            ctx: Context::new(ctx.principal().clone()),
            uri: resource.uri.clone(),
            etag: resource.etag.clone(),
            size,
            runtime: Handle::current(),
            failure: Arc::clone(&failure),
        });
        let version = resource.etag.as_deref().map(|etag| ArchiveVersion {
            principal: Arc::clone(ctx.principal().key()),
            place: resource.uri.as_str().into(),
            etag: etag.into(),
        });
        let index = Arc::default();
        let archive =
            OpenArchive { kind, source, index, version, failure, outermost: resource, depth: 1 };
        self.with_index(ctx, archive).await
    }

    /// Opens the archive `member` in an archive.
    pub(super) async fn open_nested(
        self: &Arc<Self>,
        ctx: &Context,
        archive: &OpenArchive,
        member: &Member,
        kind: ArchiveKind,
    ) -> Result<OpenArchive> {
        let version = archive.version.as_ref().map(|version| version.of_member(&member.path));
        let source = self.nested_source(ctx, archive, member, version.as_ref()).await?;
        let (index, depth) = (Arc::default(), archive.depth + 1);
        let nested = OpenArchive { kind, source, index, version, depth, ..archive.clone() };
        self.with_index(ctx, nested).await
    }

    /// The bytes of an archive in an archive: where they are, or unpacked into memory.
    async fn nested_source(
        self: &Arc<Self>,
        ctx: &Context,
        archive: &OpenArchive,
        member: &Member,
        version: Option<&ArchiveVersion>,
    ) -> Result<Arc<dyn PositionedRead>> {
        if let Some(bytes) = version.and_then(|version| self.unpacked.get(version)) {
            return Ok(Arc::new(bytes));
        }
        let (kind, source, sought) = (archive.kind, Arc::clone(&archive.source), member.clone());
        let range = self.run(ctx, move |_| kind.container().stored_range(&source, &sought)).await?;
        if let Some((start, size)) = range.map_err(|error| archive.failure.explain(error))? {
            let source = Arc::clone(&archive.source);
            return Ok(Arc::new(SourceSection::new(source, start, size)));
        }
        if member.size > MAX_UNPACKED_ARCHIVE {
            let message = format!(
                "this archive in an archive is compressed and over {MAX_UNPACKED_ARCHIVE} bytes, \
                 the bound up to which it is opened; read its bytes by its format"
            );
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        let stream = self.open_member(ctx, archive, member).await?;
        let _permit = self.wait_to_unpack(ctx).await?;
        // Another request may have unpacked it meanwhile.
        if let Some(bytes) = version.and_then(|version| self.unpacked.get(version)) {
            return Ok(Arc::new(bytes));
        }
        let bytes = self.collect(ctx, archive, stream).await?;
        if let Some(version) = version {
            self.unpacked.insert(version.clone(), bytes.clone(), bytes.len());
        }
        Ok(Arc::new(bytes))
    }

    async fn with_index(
        self: &Arc<Self>,
        ctx: &Context,
        archive: OpenArchive,
    ) -> Result<OpenArchive> {
        let Some(version) = archive.version.clone() else {
            let index = self.build_index(ctx, &archive).await?;
            return Ok(OpenArchive { index, ..archive });
        };
        if let Some(index) = self.indexes.get(&version) {
            return Ok(OpenArchive { index, ..archive });
        }
        let (store, own_ctx, own) = (Arc::clone(self), ctx.clone(), archive.clone());
        let key = version.clone();
        let work = async move {
            let index = store.build_index(&own_ctx, &own).await?;
            let weight = index.weight();
            store.indexes.insert(key, Arc::clone(&index), weight);
            Ok(index)
        };
        let work = async move { work.await.map_err(Arc::new) };
        let index = self.flights.join(version, work).await.map_err(|error| copy_error(&error))?;
        Ok(OpenArchive { index, ..archive })
    }

    async fn build_index(&self, ctx: &Context, archive: &OpenArchive) -> Result<Arc<MemberIndex>> {
        let container = archive.kind.container();
        let source = Arc::clone(&archive.source);
        // Some decoders read the first bytes as they are made.
        let mut indexing = self.run(ctx, move |_| container.start_index(source)).await?;
        let deadline = Instant::now() + WORK_TIME;
        while Instant::now() < deadline {
            let step = self.run(ctx, |signal| indexing.advance(&|| signal.is_over())).await?;
            match step.map_err(|error| archive.failure.explain(error))? {
                IndexingStep::Done(index) => return Ok(Arc::new(index)),
                IndexingStep::Paused(more) => indexing = more,
            }
        }
        Err(Error::new(ErrorKind::TooLarge, "it takes too long to list this archive"))
    }

    /// Opens the content of a member. A small compressed tar is unpacked once for all its members.
    pub(super) async fn open_member(
        &self,
        ctx: &Context,
        archive: &OpenArchive,
        member: &Member,
    ) -> Result<MemberStream> {
        let (mut kind, mut source) = (archive.kind, Arc::clone(&archive.source));
        let size = archive.index.unpacked_size.filter(|size| *size <= MAX_UNPACKED_ARCHIVE);
        let version = archive.version.as_ref().map(|version| version.of_member(""));
        if let (Some(size), Some(version), None) = (size, version, member.barrier)
            && let Some(unpacked) = self.unpacked_tar(ctx, archive, size, version).await?
        {
            (kind, source) = (ArchiveKind::Tar, Arc::new(unpacked));
        }
        let member = member.clone();
        let opened = self.run(ctx, move |_| kind.container().open(source, &member)).await?;
        opened.map_err(|error| archive.failure.explain(error))
    }

    /// The unpacked tar, if the archive is one that is compressed.
    async fn unpacked_tar(
        &self,
        ctx: &Context,
        archive: &OpenArchive,
        size: u64,
        version: ArchiveVersion,
    ) -> Result<Option<Bytes>> {
        if let Some(known) = self.unpacked.get(&version) {
            return Ok(Some(known));
        }
        let _permit = self.wait_to_unpack(ctx).await?;
        if let Some(known) = self.unpacked.get(&version) {
            return Ok(Some(known));
        }
        let (kind, source) = (archive.kind, Arc::clone(&archive.source));
        let unpacked = self.run(ctx, move |_| kind.container().unpack(source, size)).await?;
        let unpacked = unpacked.map_err(|error| archive.failure.explain(error))?;
        let Some((stream, ArchiveKind::Tar)) = unpacked else { return Ok(None) };
        let unpacked = self.collect(ctx, archive, stream).await?;
        self.unpacked.insert(version, unpacked.clone(), unpacked.len());
        Ok(Some(unpacked))
    }

    async fn wait_to_unpack(&self, ctx: &Context) -> Result<SharePermit> {
        let permit = self.unpackers.acquire(ctx.principal().key(), Instant::now() + WORK_TIME);
        permit.await.map_err(work_error)
    }

    /// Unpacks all of a stream, which is within a bound.
    pub(super) async fn collect(
        &self,
        ctx: &Context,
        archive: &OpenArchive,
        mut stream: MemberStream,
    ) -> Result<Bytes> {
        let mut all = Vec::new();
        loop {
            let is_done;
            (stream, all, is_done) = self.advance(ctx, archive, (stream, all), usize::MAX).await?;
            if is_done {
                return Ok(all.into());
            }
        }
    }

    /// Unpacks one slice of a stream, until there are `enough` bytes.
    pub(super) async fn advance(
        &self,
        ctx: &Context,
        archive: &OpenArchive,
        (mut stream, mut into): (MemberStream, Vec<u8>),
        enough: usize,
    ) -> Result<(MemberStream, Vec<u8>, bool)> {
        let work = move |signal: &WorkSignal| {
            let is_done = stream.advance(&mut into, enough, &|| signal.is_over())?;
            Ok::<_, ArchiveError>((stream, into, is_done))
        };
        self.run(ctx, work).await?.map_err(|error| archive.failure.explain(error))
    }

    /// Runs work that is short enough for one slice.
    pub(super) async fn run_briefly<T: Send + 'static>(
        &self,
        ctx: &Context,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.run(ctx, |_| work()).await
    }

    /// Runs one slice of work off the threads of the runtime.
    async fn run<T: Send + 'static>(
        &self,
        ctx: &Context,
        work: impl FnOnce(&WorkSignal) -> T + Send + 'static,
    ) -> Result<T> {
        let done = self.pool.run(ctx.principal().key(), Instant::now() + WORK_TIME, work).await;
        done.map_err(work_error)
    }
}

fn work_error(refusal: WorkRefusal) -> Error {
    match refusal {
        WorkRefusal::QueueFull | WorkRefusal::TimedOut => {
            Error::unavailable("too many archives are being read; try again")
        }
        // A decoder that panics has met what it cannot decode.
        WorkRefusal::Failed => {
            Error::new(ErrorKind::Unsupported, "the archive is damaged: it cannot be decoded")
        }
    }
}

/// The same error for another caller that waited for it.
fn copy_error(error: &Error) -> Error {
    let mut copy = Error::new(error.kind, error.message.clone()).caused_by(error.with_causes());
    copy.facts.clone_from(&error.facts);
    copy
}

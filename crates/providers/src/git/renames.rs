//! Rename detection, as `git diff -M` does it: equal files, equal names, then the most similar.

use std::collections::{BTreeMap, HashMap};

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use resource::Result;

use super::repository::GitSession;
use super::similarity::{
    ChunkCounts, MAX_SCORE, MIN_BASENAME_SCORE, MIN_SCORE, count_chunks, may_be_similar, score,
};
use super::tree::FoundEntry;
use super::tree_changes::TreeChange;

/// The most pairs that are compared; git's limit is 1,000 files on each side.
const MAX_PAIRS: usize = 1_000_000;

/// The largest file that is compared, in bytes.
const MAX_COMPARED_BYTES: u64 = 8 << 20;

/// How many of the most similar sources are kept for each new file.
const CANDIDATES: usize = 4;

/// How many equal sources are looked at for each new file.
const MAX_EQUAL: usize = 100;

/// The path of the source of a renamed file, and its score.
pub(super) type RenameSource = Option<(Vec<u8>, u64)>;

/// A file that has another name in the other tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rename {
    /// The positions of the source and of the new file in their lists.
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) score: u64,
}

/// A file that may be a source or a target.
#[derive(Debug, Clone)]
pub(super) struct RenameFile {
    pub(super) path: Vec<u8>,
    pub(super) entry: FoundEntry,
    /// Whether it is still there in the new tree, so that it can only be copied.
    pub(super) stays: bool,
}

/// A source of a new file, ranked by similarity, then by name.
#[derive(Debug, Clone, Copy)]
struct RenameCandidate {
    rank: (u64, bool),
    source: usize,
}

struct RenameSearch<'a> {
    session: &'a GitSession<'a>,
    sources: &'a [RenameFile],
    targets: &'a [RenameFile],
    /// Whether sources are used more than once.
    copies: bool,
    is_used: Vec<bool>,
    found: BTreeMap<usize, Rename>,
    measured: HashMap<ObjectId, Option<(ChunkCounts, u64)>>,
}

impl GitSession<'_> {
    /// Joins deletions and additions that are renames. Returns each change with the path and the
    /// score of its source.
    pub(super) fn with_renames(
        &self,
        changes: Vec<TreeChange>,
    ) -> Result<Vec<(TreeChange, RenameSource)>> {
        let file = |change: &TreeChange, entry: Option<FoundEntry>| RenameFile {
            path: change.path.clone(),
            entry: entry.unwrap_or(FoundEntry { kind: EntryKind::Blob, id: self.null_id() }),
            stays: false,
        };
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for (at, change) in changes.iter().enumerate() {
            match (change.old, change.new) {
                (Some(old), None) => {
                    sources.push(file(change, Some(old)));
                    removed.push(at);
                }
                (None, Some(new)) => {
                    targets.push(file(change, Some(new)));
                    added.push(at);
                }
                _ => {}
            }
        }
        let renames = self.find_renames(&sources, &targets, false)?;
        let gone: Vec<usize> = renames.iter().map(|rename| removed[rename.source]).collect();
        let origin: HashMap<usize, &Rename> =
            renames.iter().map(|rename| (added[rename.target], rename)).collect();
        let mut joined = Vec::with_capacity(changes.len());
        for (at, mut change) in changes.into_iter().enumerate() {
            match origin.get(&at) {
                Some(rename) => {
                    let source = &sources[rename.source];
                    change.old = Some(source.entry);
                    joined.push((change, Some((source.path.clone(), rename.score))));
                }
                None if gone.contains(&at) => {}
                None => joined.push((change, None)),
            }
        }
        Ok(joined)
    }

    /// Finds which `targets` come from which `sources`.
    pub(super) fn find_renames(
        &self,
        sources: &[RenameFile],
        targets: &[RenameFile],
        copies: bool,
    ) -> Result<Vec<Rename>> {
        if sources.is_empty() || targets.is_empty() {
            return Ok(Vec::new());
        }
        let mut search = RenameSearch {
            session: self,
            sources,
            targets,
            copies,
            is_used: sources.iter().map(|source| source.stays).collect(),
            found: BTreeMap::new(),
            measured: HashMap::new(),
        };
        search.find_equal();
        if !copies {
            search.find_by_basename()?;
        }
        search.find_similar()?;
        Ok(search.found.into_values().collect())
    }

    fn null_id(&self) -> ObjectId {
        ObjectId::null(self.repo.object_hash())
    }
}

impl RenameSearch<'_> {
    fn record(&mut self, source: usize, target: usize, score: u64) {
        self.is_used[source] = true;
        self.found.insert(target, Rename { source, target, score });
    }

    fn find_equal(&mut self) {
        let mut by_id: HashMap<ObjectId, Vec<usize>> = HashMap::new();
        for (at, source) in self.sources.iter().enumerate() {
            by_id.entry(source.entry.id).or_default().push(at);
        }
        for (target, file) in self.targets.iter().enumerate() {
            let mut best: Option<(u8, usize)> = None;
            for source in by_id.get(&file.entry.id).into_iter().flatten().take(MAX_EQUAL) {
                let other = &self.sources[*source];
                let is_fit =
                    is_regular(file) && is_regular(other) || other.entry.kind == file.entry.kind;
                if !is_fit || self.is_used[*source] && !self.copies {
                    continue;
                }
                let rank = u8::from(!self.is_used[*source])
                    + u8::from(basename(&other.path) == basename(&file.path));
                if best.is_none_or(|(known, _)| rank > known) {
                    best = Some((rank, *source));
                }
            }
            if let Some((_, source)) = best {
                self.record(source, target, MAX_SCORE);
            }
        }
    }

    fn find_by_basename(&mut self) -> Result<()> {
        let sources = unique_basenames(self.sources, |at| !self.is_used[at]);
        let targets = unique_basenames(self.targets, |at| !self.found.contains_key(&at));
        for (name, source) in sources {
            let Some(Some(target)) = targets.get(name).copied() else { continue };
            let Some(source) = source else { continue };
            let score = self.measure(source, target)?;
            if score >= MIN_BASENAME_SCORE {
                self.record(source, target, score);
            }
        }
        Ok(())
    }

    fn find_similar(&mut self) -> Result<()> {
        let sources: Vec<usize> =
            (0..self.sources.len()).filter(|at| self.copies || !self.is_used[*at]).collect();
        let targets: Vec<usize> =
            (0..self.targets.len()).filter(|at| !self.found.contains_key(at)).collect();
        if sources.len().saturating_mul(targets.len()) > MAX_PAIRS {
            return Ok(());
        }
        let mut candidates = Vec::new();
        for target in targets {
            self.session.check_cancelled()?;
            let mut best: Vec<RenameCandidate> = Vec::with_capacity(CANDIDATES);
            for source in &sources {
                let score = self.measure(*source, target)?;
                let is_same_name =
                    basename(&self.sources[*source].path) == basename(&self.targets[target].path);
                keep_best(
                    &mut best,
                    RenameCandidate { rank: (score, is_same_name), source: *source },
                );
            }
            let fit = best.into_iter().filter(|candidate| candidate.rank.0 >= MIN_SCORE);
            candidates.extend(fit.map(|candidate| (candidate, target)));
        }
        candidates.sort_by_key(|(candidate, _)| std::cmp::Reverse(candidate.rank));
        for reuses in [false, true] {
            for (RenameCandidate { rank, source }, target) in &candidates {
                let is_free = !self.is_used[*source] || reuses && self.copies;
                if is_free && !self.found.contains_key(target) {
                    self.record(*source, *target, rank.0);
                }
            }
        }
        Ok(())
    }

    fn measure(&mut self, source: usize, target: usize) -> Result<u64> {
        let (old, new) = (&self.sources[source], &self.targets[target]);
        if !is_regular(old) || !is_regular(new) {
            return Ok(0);
        }
        let (old, new) = (old.entry.id, new.entry.id);
        if !may_be_similar(self.size_of(old), self.size_of(new)) {
            return Ok(0);
        }
        for id in [old, new] {
            if !self.measured.contains_key(&id) {
                let raw = self.session.load_raw(id)?;
                self.measured.insert(id, Some((count_chunks(&raw), raw.len() as u64)));
            }
        }
        let of = |id| self.measured.get(id).and_then(Option::as_ref);
        let (Some(old), Some(new)) = (of(&old), of(&new)) else { return Ok(0) };
        Ok(score((&old.0, old.1), (&new.0, new.1)))
    }

    /// The size of a file that may be compared; zero for others.
    fn size_of(&self, id: ObjectId) -> u64 {
        match self.measured.get(&id) {
            Some(Some((_, size))) => *size,
            Some(None) => 0,
            None => {
                let size = self.session.repo.find_header(id).map_or(0, |header| header.size());
                if size > MAX_COMPARED_BYTES { 0 } else { size }
            }
        }
    }
}

/// Keeps the best candidates in git's order: a better one takes the place of the first worst one,
/// which decides between equals.
fn keep_best(best: &mut Vec<RenameCandidate>, candidate: RenameCandidate) {
    if best.len() < CANDIDATES {
        best.push(candidate);
        return;
    }
    let worst =
        best.iter_mut().reduce(|worst, one| if one.rank < worst.rank { one } else { worst });
    if let Some(worst) = worst.filter(|worst| worst.rank < candidate.rank) {
        *worst = candidate;
    }
}

/// The files of `all` by name: `None` for a name that several have.
fn unique_basenames(
    all: &[RenameFile],
    is_open: impl Fn(usize) -> bool,
) -> BTreeMap<&[u8], Option<usize>> {
    let mut names = BTreeMap::new();
    for (at, file) in all.iter().enumerate().filter(|(at, _)| is_open(*at)) {
        names.entry(basename(&file.path)).and_modify(|known| *known = None).or_insert(Some(at));
    }
    names
}

fn basename(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

fn is_regular(file: &RenameFile) -> bool {
    matches!(file.entry.kind, EntryKind::Blob | EntryKind::BlobExecutable)
}

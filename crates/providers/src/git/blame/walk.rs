//! Walk of a blame: passes lines from a file to its parents until no parent has them.

use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use gix::ObjectId;
use gix::diff::blob::InternedInput;
use gix::objs::tree::EntryKind;
use resource::Result;

use crate::git::changed_file::diff_lines;
use crate::git::commit_object::CommitNode;
use crate::git::error::{not_found, over_bound};
use crate::git::location::RevisionSpec;
use crate::git::repo_path::RepoPath;
use crate::git::repository::GitSession;
use crate::git::tree_changes::TreeChange;
use crate::git::visibility::RevisionFolder;

/// The longest file, in bytes, and the most commits that a blame looks at.
const MAX_BLAMED_BYTES: usize = 4 << 20;
const MAX_BLAMED_COMMITS: usize = 100_000;

/// How often a blame may come back to a commit, as dates out of order make it.
const MAX_VISITS: usize = 64;

/// A file at a commit that lines may come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct BlameOrigin {
    pub(super) commit: ObjectId,
    pub(super) path: RepoPath,
}

/// Lines whose origin is still looked for: the same ones in the file and in the origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineRun {
    pub(super) final_start: u32,
    pub(super) origin_start: u32,
    count: u32,
}

/// The origin of a run of lines.
pub(super) struct BlamedRun {
    pub(super) run: LineRun,
    pub(super) origin: BlameOrigin,
}

struct BlameWalk<'a> {
    session: &'a GitSession<'a>,
    viewed: RevisionFolder,
    queue: BinaryHeap<(i64, std::cmp::Reverse<usize>, ObjectId)>,
    suspects: HashMap<ObjectId, Vec<(RepoPath, Vec<LineRun>)>>,
    queued: usize,
    texts: HashMap<ObjectId, Rc<Vec<u8>>>,
    done: Vec<BlamedRun>,
}

impl GitSession<'_> {
    /// Finds the origin of each line of the file at `path`, in the order of lines. Earlier names
    /// are those that the principal may know of at `revision`.
    pub(super) fn blame(
        &self,
        (commit, revision): (ObjectId, &RevisionSpec),
        path: &RepoPath,
    ) -> Result<Vec<BlamedRun>> {
        let mut walk = BlameWalk {
            session: self,
            viewed: RevisionFolder::whole(revision.clone()),
            queue: BinaryHeap::new(),
            suspects: HashMap::new(),
            queued: 0,
            texts: HashMap::new(),
            done: Vec::new(),
        };
        let entry = self.find_entry(self.commit(commit)?.tree, path)?;
        let id = entry.ok_or_else(|| not_found("the revision has no such path"))?.id;
        let raw = self.load_raw(id)?;
        if raw.len() > MAX_BLAMED_BYTES {
            return Err(over_bound("the file is too long: blame reads up to 4 MiB"));
        }
        let count = raw.split_inclusive(|byte| *byte == b'\n').count() as u32;
        let run = LineRun { final_start: 0, origin_start: 0, count };
        if count > 0 {
            walk.suspect(BlameOrigin { commit, path: path.clone() }, vec![run])?;
        }
        walk.run()?;
        let mut done = walk.done;
        done.sort_by_key(|blamed| blamed.run.final_start);
        Ok(done)
    }
}

impl BlameWalk<'_> {
    /// Adds lines that may come from `origin`.
    fn suspect(&mut self, origin: BlameOrigin, runs: Vec<LineRun>) -> Result<()> {
        let node = self.session.commit(origin.commit)?;
        let files = self.suspects.entry(origin.commit).or_insert_with(|| {
            self.queued += 1;
            self.queue.push((node.date, std::cmp::Reverse(self.queued), origin.commit));
            Vec::new()
        });
        match files.iter_mut().find(|(path, _)| *path == origin.path) {
            Some((_, known)) => known.extend(runs),
            None => files.push((origin.path, runs)),
        }
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        let mut visits: HashMap<ObjectId, usize> = HashMap::new();
        while let Some((_, _, commit)) = self.queue.pop() {
            self.session.check_cancelled()?;
            let again = visits.entry(commit).or_default();
            *again += 1;
            if *again > MAX_VISITS || visits.len() > MAX_BLAMED_COMMITS {
                return Err(over_bound("the history of the file is too long, or a loop"));
            }
            let files = self.suspects.remove(&commit).unwrap_or_default();
            let node = self.session.commit(commit)?;
            for (path, mut runs) in files {
                runs.sort_by_key(|run| run.origin_start);
                self.pass_blame(&node, &path, runs)?;
            }
        }
        Ok(())
    }

    /// Passes the lines of a file to the parents that have them too; keeps the others.
    fn pass_blame(&mut self, node: &CommitNode, path: &RepoPath, runs: Vec<LineRun>) -> Result<()> {
        let here = self.session.find_entry(node.tree, path)?;
        let here = here.ok_or_else(|| not_found("the file is gone"))?.id;
        let mut origins: Vec<Option<(BlameOrigin, ObjectId)>> = vec![None; node.parents.len()];
        for by_rename in [false, true] {
            for (at, parent) in node.parents.iter().enumerate() {
                if origins[at].is_some() {
                    continue;
                }
                let tree = self.session.commit(*parent)?.tree;
                let found = match by_rename {
                    false => self.same_path(tree, path)?.map(|id| (path.clone(), id)),
                    true => self.renamed_path(tree, node.tree, path)?,
                };
                let Some((path, id)) = found else { continue };
                let origin = BlameOrigin { commit: *parent, path };
                if id == here {
                    return self.suspect(origin, runs);
                }
                let is_known = origins.iter().flatten().any(|(_, known)| *known == id);
                if !is_known {
                    origins[at] = Some((origin, id));
                }
            }
        }
        let mut rest = runs;
        for (origin, id) in origins.into_iter().flatten() {
            if rest.is_empty() {
                return Ok(());
            }
            let (passed, kept) = self.split_runs(id, here, rest)?;
            rest = kept;
            if !passed.is_empty() {
                self.suspect(origin, passed)?;
            }
        }
        let origin = BlameOrigin { commit: node.id, path: path.clone() };
        self.done.extend(rest.into_iter().map(|run| BlamedRun { run, origin: origin.clone() }));
        Ok(())
    }

    fn same_path(&self, tree: ObjectId, path: &RepoPath) -> Result<Option<ObjectId>> {
        let entry = self.session.find_entry(tree, path)?;
        let is_file = |kind| matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable);
        Ok(entry.filter(|entry| is_file(entry.kind)).map(|entry| entry.id))
    }

    fn renamed_path(
        &self,
        old: ObjectId,
        new: ObjectId,
        path: &RepoPath,
    ) -> Result<Option<(RepoPath, ObjectId)>> {
        let (root, viewed) = (RepoPath::default(), std::slice::from_ref(&self.viewed));
        let changes = self.session.visible_changes(Some(old), Some(new), &root, viewed)?;
        let is_added = |change: &TreeChange| change.path == path.as_bytes() && change.old.is_none();
        if !changes.iter().any(is_added) {
            return Ok(None);
        }
        for (change, from) in self.session.with_renames(changes)? {
            if change.path == path.as_bytes()
                && let (Some((from, _)), Some(old)) = (from, change.old)
            {
                return Ok(RepoPath::parse(&from).map(|from| (from, old.id)));
            }
        }
        Ok(None)
    }

    /// Splits runs of the file `new` into those that the file `old` has too, and the others.
    fn split_runs(
        &mut self,
        old: ObjectId,
        new: ObjectId,
        runs: Vec<LineRun>,
    ) -> Result<(Vec<LineRun>, Vec<LineRun>)> {
        let (before, after) = (self.text(old)?, self.text(new)?);
        let input = InternedInput::new(&before[..], &after[..]);
        let diff = diff_lines(&input);
        // The lines of `new` that `old` has too, each range with the distance to `old`.
        let mut same: Vec<(Range<u32>, i64)> = Vec::new();
        let (mut start, mut distance) = (0, 0_i64);
        for hunk in diff.hunks() {
            same.push((start..hunk.after.start, distance));
            start = hunk.after.end;
            distance = i64::from(hunk.before.end) - i64::from(hunk.after.end);
        }
        same.push((start..input.after.len() as u32, distance));
        let (mut passed, mut kept) = (Vec::new(), Vec::new());
        for run in runs {
            split_run(run, &same, &mut passed, &mut kept);
        }
        Ok((passed, kept))
    }

    fn text(&mut self, id: ObjectId) -> Result<Rc<Vec<u8>>> {
        if let Some(text) = self.texts.get(&id) {
            return Ok(Rc::clone(text));
        }
        if self.texts.len() > 16 {
            self.texts.clear();
        }
        let text = Rc::new(self.session.load_raw(id)?);
        self.texts.insert(id, Rc::clone(&text));
        Ok(text)
    }
}

/// Splits one run by the ranges of lines that both files have.
fn split_run(
    run: LineRun,
    same: &[(Range<u32>, i64)],
    passed: &mut Vec<LineRun>,
    kept: &mut Vec<LineRun>,
) {
    let (mut at, end) = (run.origin_start, run.origin_start + run.count);
    let piece = |from: u32, to: u32, origin_start: u32| LineRun {
        final_start: run.final_start + (from - run.origin_start),
        origin_start,
        count: to - from,
    };
    let first = same.partition_point(|(range, _)| range.end <= at);
    for (range, distance) in &same[first..] {
        if at >= end {
            break;
        }
        let (from, to) = (range.start.max(at), range.end.min(end));
        if from >= end {
            break;
        }
        if at < from {
            kept.push(piece(at, from, at));
        }
        if from < to {
            let origin = u32::try_from(i64::from(from) + distance).unwrap_or(0);
            passed.push(piece(from, to, origin));
        }
        at = to.max(at);
    }
    if at < end {
        kept.push(piece(at, end, at));
    }
}

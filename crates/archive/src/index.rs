//! Index of an archive: its members and folders, in the order of their paths.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use crate::error::ArchiveError;
use crate::member_path::{Backslash, member_path};
use crate::{MAX_MEMBER_BYTES, MAX_MEMBERS, MAX_TABLE_BYTES};

/// What a note says of members that have no content.
const LINKS_NOTE: &str = "links and special files";

/// A file or folder in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its path, without a slash at the end.
    pub path: Box<str>,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The number of bytes, as the archive declares it.
    pub size: u64,
    /// When it last changed.
    pub modified: Option<SystemTime>,
    /// Why it cannot be read, if so.
    pub barrier: Option<MemberBarrier>,
    /// Where its content is.
    pub location: MemberLocation,
}

/// Where the content of a member is, in the terms of its container.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemberLocation {
    /// Where it begins.
    pub offset: u64,
    /// How many bytes it takes there.
    pub packed_size: u64,
    /// How it is compressed.
    pub method: u16,
    /// Its checksum (CRC), if the archive has one.
    pub crc: Option<u32>,
}

/// Why a member is listed and cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberBarrier {
    /// It is encrypted.
    Protected,
    /// It is over the bound.
    TooLarge,
    /// It is compressed by this method of zip.
    Method(u16),
    /// It has holes, which tar describes in several ways.
    Sparse,
    /// Its bytes are those of another member too.
    Overlaps,
}

impl MemberBarrier {
    /// The error of a read.
    pub fn error(self) -> ArchiveError {
        match self {
            Self::Protected => ArchiveError::Protected,
            Self::TooLarge => {
                let most = MAX_MEMBER_BYTES;
                ArchiveError::TooLarge(format!("this member is over the bound of {most} bytes"))
            }
            Self::Method(method) => ArchiveError::Unsupported(format!(
                "this member is compressed by method {method}, which is not supported"
            )),
            Self::Sparse => ArchiveError::Unsupported(
                "this member is a sparse file, which is not supported".to_owned(),
            ),
            Self::Overlaps => {
                ArchiveError::Damaged("this member has the bytes of another one, as bombs have")
            }
        }
    }
}

impl Member {
    /// A folder.
    pub(crate) fn folder(path: &str, modified: Option<SystemTime>) -> Self {
        let location = MemberLocation::default();
        Self { path: path.into(), is_folder: true, size: 0, modified, barrier: None, location }
    }

    /// The last segment of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// The members of an archive.
#[derive(Debug, Default)]
pub struct MemberIndex {
    /// By path. Folders that only paths name are here too.
    members: Vec<Member>,
    /// What is not in the list, and why.
    pub notes: Vec<String>,
    /// How many bytes a compressed archive has when it is unpacked.
    pub unpacked_size: Option<u64>,
}

impl MemberIndex {
    /// The index of members whose paths are names as the archive has them: for containers that are
    /// no archives, as a mail with attachments.
    pub fn from_members(members: Vec<Member>) -> Result<Self, ArchiveError> {
        let mut builder = IndexBuilder::default();
        for member in members {
            match member_path(&member.path, Backslash::Refused) {
                Some(path) => builder.add(Member { path: path.into(), ..member })?,
                None => builder.leave_out_name()?,
            }
        }
        builder.finish()
    }

    /// Whether a note says that the archive has content which no member has.
    pub fn is_of_lost_content(note: &str) -> bool {
        !note.ends_with(LINKS_NOTE)
    }

    /// The member at `path`.
    pub fn get(&self, path: &str) -> Option<&Member> {
        let at = self.members.binary_search_by(|member| (*member.path).cmp(path)).ok()?;
        self.members.get(at)
    }

    /// The direct members of `folder` (the root is empty) whose path comes after `after`, in the
    /// order of their paths.
    pub fn children<'a>(
        &'a self,
        folder: &str,
        after: Option<&str>,
    ) -> impl Iterator<Item = &'a Member> + use<'a> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let first = self.members.partition_point(|member| *member.path < *prefix);
        let mut at = match after {
            Some(after) => self.members.partition_point(|member| *member.path <= *after).max(first),
            None => first,
        };
        std::iter::from_fn(move || {
            loop {
                let member = self.members.get(at)?;
                let below = member.path.strip_prefix(&*prefix).filter(|below| !below.is_empty())?;
                let Some(slash) = below.find('/') else {
                    at += 1;
                    return Some(member);
                };
                // Nothing of a deeper folder is direct: go on behind all of it. `0` follows `/`.
                let behind = format!("{prefix}{}0", &below[..slash]);
                at = self.members.partition_point(|member| *member.path < *behind).max(at + 1);
            }
        })
    }

    /// The number of members and folders.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// About how much memory it takes.
    pub fn weight(&self) -> usize {
        let paths: usize = self.members.iter().map(|member| member.path.len()).sum();
        paths + self.members.len() * size_of::<Member>() + size_of::<Self>()
    }
}

/// Collects members within the bounds.
#[derive(Default)]
pub(crate) struct IndexBuilder {
    members: BTreeMap<Box<str>, Member>,
    path_bytes: u64,
    seen: usize,
    /// How many members have a name that leads elsewhere, or are links and devices.
    bad_names: usize,
    links: usize,
    /// How many files another one of the same path takes the place of.
    replaced: usize,
    truncated: bool,
}

impl IndexBuilder {
    /// Adds a member. A later one takes the place of an earlier one of the same path.
    pub(crate) fn add(&mut self, member: Member) -> Result<(), ArchiveError> {
        self.count()?;
        self.path_bytes += member.path.len() as u64;
        if self.path_bytes > MAX_TABLE_BYTES {
            return Err(too_large("its names are over the bound of 64 MiB"));
        }
        let earlier = self.members.insert(member.path.clone(), member);
        self.replaced += usize::from(earlier.is_some_and(|earlier| !earlier.is_folder));
        Ok(())
    }

    /// Leaves out a member whose name leads elsewhere.
    pub(crate) fn leave_out_name(&mut self) -> Result<(), ArchiveError> {
        self.bad_names += 1;
        self.count()
    }

    /// Leaves out a link or a device.
    pub(crate) fn leave_out_link(&mut self) -> Result<(), ArchiveError> {
        self.links += 1;
        self.count()
    }

    /// The archive ends in the middle.
    pub(crate) fn truncate(&mut self) {
        self.truncated = true;
    }

    fn count(&mut self) -> Result<(), ArchiveError> {
        self.seen += 1;
        if self.seen > MAX_MEMBERS {
            return Err(too_large("it has over 100,000 members"));
        }
        Ok(())
    }

    /// Marks members whose bytes are those of another one too.
    pub(crate) fn mark_overlaps(&mut self, is_overlapping: impl Fn(u64) -> bool) {
        for member in self.members.values_mut().filter(|member| !member.is_folder) {
            if member.barrier.is_none() && is_overlapping(member.location.offset) {
                member.barrier = Some(MemberBarrier::Overlaps);
            }
        }
    }

    /// The index, with the folders that only paths name.
    pub(crate) fn finish(mut self) -> Result<MemberIndex, ArchiveError> {
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for path in self.members.keys() {
            let mut path = &**path;
            // The folders above one that is known are known.
            while let Some((folder, _)) = path.rsplit_once('/').filter(|(to, _)| folders.insert(to))
            {
                path = folder;
                if folders.len() > MAX_MEMBERS {
                    return Err(too_large("it has over 100,000 folders"));
                }
            }
        }
        let folders: Vec<Box<str>> = folders.into_iter().map(Into::into).collect();
        let mut clashes = 0;
        for path in folders {
            let known = self.members.get(&path);
            if known.is_none_or(|member| !member.is_folder) {
                // What has members is a folder, whatever else has its name.
                clashes += usize::from(known.is_some());
                self.members.insert(path.clone(), Member::folder(&path, None));
            }
        }
        let mut notes = Vec::new();
        let mut note = |count: usize, why: &str| {
            if count > 0 {
                notes.push(format!("{count} {why}"));
            }
        };
        note(self.bad_names, "members with names that are no paths inside the archive");
        note(self.links, LINKS_NOTE);
        note(self.replaced, "files with the name of a later one");
        note(clashes, "files with the name of a folder");
        if self.truncated {
            notes.push("the archive is damaged: it ends too early".to_owned());
        }
        let members = self.members.into_values().collect();
        Ok(MemberIndex { members, notes, unpacked_size: None })
    }
}

pub(crate) fn too_large(why: &str) -> ArchiveError {
    ArchiveError::TooLarge(format!("this archive is too large to be listed: {why}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::{IndexBuilder, Member, MemberIndex};
    use crate::MAX_MEMBERS;

    fn file(path: &str) -> Member {
        Member { is_folder: false, ..Member::folder(path, None) }
    }

    fn index(paths: &[&str]) -> MemberIndex {
        let mut builder = IndexBuilder::default();
        paths.iter().for_each(|path| builder.add(file(path)).unwrap());
        builder.finish().unwrap()
    }

    fn listed(index: &MemberIndex, folder: &str, after: Option<&str>) -> Vec<String> {
        index.children(folder, after).map(|member| member.path.to_string()).collect()
    }

    #[test]
    fn folders_that_only_paths_name_are_members() {
        let index = index(&["a/b/c", "a/b.txt", "a-b", "z"]);
        assert_eq!(listed(&index, "", None), ["a", "a-b", "z"]);
        assert_eq!(listed(&index, "a", None), ["a/b", "a/b.txt"]);
        assert_eq!(listed(&index, "a/b", None), ["a/b/c"]);
        assert_eq!(listed(&index, "a", Some("a/b")), ["a/b.txt"]);
        assert_eq!(listed(&index, "", Some("a")), ["a-b", "z"]);
        assert!(listed(&index, "none", None).is_empty());
        assert!(index.get("a/b").is_some_and(|member| member.is_folder));
        assert!(index.get("a/b/c").is_some_and(|member| !member.is_folder));
    }

    #[test]
    fn the_last_of_two_members_of_one_name_is_the_one() {
        let mut builder = IndexBuilder::default();
        for size in [1, 2] {
            builder.add(Member { size, ..file("a") }).unwrap();
        }
        let index = builder.finish().unwrap();
        assert_eq!((index.len(), index.get("a").unwrap().size), (1, 2));
        assert_eq!(index.notes, ["1 files with the name of a later one"]);
        assert!(MemberIndex::is_of_lost_content(&index.notes[0]));
    }

    #[test]
    fn links_have_no_content_that_is_lost() {
        let mut builder = IndexBuilder::default();
        builder.add(file("a")).unwrap();
        builder.leave_out_link().unwrap();
        let index = builder.finish().unwrap();
        assert_eq!(index.notes.len(), 1);
        assert!(!MemberIndex::is_of_lost_content(&index.notes[0]));
    }

    #[test]
    fn another_container_gives_its_members_and_their_names_are_checked() {
        let members = ["2-plan.pdf", "../up", "a/b"].map(file).into();
        let index = MemberIndex::from_members(members).unwrap();
        assert_eq!(listed(&index, "", None), ["2-plan.pdf", "a"]);
        assert_eq!(index.notes.len(), 1);
    }

    #[test]
    fn a_file_with_the_name_of_a_folder_is_left_out_and_noted() {
        let index = index(&["a", "a/b"]);
        assert!(index.get("a").unwrap().is_folder);
        assert_eq!(index.notes, ["1 files with the name of a folder"]);
    }

    #[test]
    fn members_have_a_bound() {
        let mut builder = IndexBuilder::default();
        for at in 0..MAX_MEMBERS {
            builder.add(file(&at.to_string())).unwrap();
        }
        assert!(builder.add(file("more")).is_err());
        let mut builder = IndexBuilder::default();
        for at in 0..2000 {
            let path: String = (0..60).map(|level| format!("{at}-{level}/")).collect();
            builder.add(file(&format!("{path}x"))).unwrap();
        }
        assert!(builder.finish().is_err(), "120,000 folders of 2,000 members");
    }

    proptest! {
        #[test]
        fn every_member_is_in_the_list_of_its_folder_once(
            paths in prop::collection::vec("[ab-]{1,2}(/[ab.0]{1,2}){0,3}", 0..20),
        ) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let index = index(&paths);
            let mut found = vec![String::new()];
            let mut at = 0;
            while at < found.len() {
                let folder = found[at].clone();
                found.extend(listed(&index, &folder, None));
                at += 1;
            }
            let mut all: Vec<String> =
                index.members.iter().map(|member| member.path.to_string()).collect();
            found.remove(0);
            found.sort();
            all.sort();
            prop_assert_eq!(found, all);
        }
    }
}

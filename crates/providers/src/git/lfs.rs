//! Git LFS: pointers in history, and the objects they name, if this clone has them.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use resource::Result;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, openat};

use super::error::unreadable;
use super::repo_path::RepoPath;
use super::repository::GitSession;
use super::tree::FoundEntry;
use super::worktree::open_parent;

/// The sizes of pointers, in bytes: the shortest one, and the bound of the specification.
const POINTER_BYTES: std::ops::Range<u64> = 126..1024;

/// How many files are remembered, as pointers or as none.
pub(super) const MAX_KNOWN_POINTERS: usize = 8192;

/// How many files of the worktree are remembered by their hash.
pub(super) const MAX_KNOWN_CHECKOUTS: usize = 4096;

/// Bytes that are hashed at a time.
const HASHED_BYTES: usize = 64 << 10;

/// A version of a file of the worktree: where it is, its size and times.
pub(super) type CheckoutVersion = [u64; 7];

/// First lines of pointers; the second one is of the time before the name LFS.
const VERSIONS: [&str; 2] =
    ["version https://git-lfs.github.com/spec/v1", "version https://hawser.github.com/spec/v1"];

/// What a pointer names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LfsPointer {
    /// The SHA-256 of the object.
    pub(super) oid: ObjectId,
    /// The size of the object.
    pub(super) size: u64,
}

/// A file of a tree whose content LFS keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LfsFile {
    pub(super) pointer: LfsPointer,
    /// Whether this clone has the object.
    pub(super) is_local: bool,
}

impl LfsPointer {
    /// Parses the text of a pointer; `None` if it is another text.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let mut lines = text.split('\n');
        let version = lines.next()?;
        if !VERSIONS.contains(&version) {
            return None;
        }
        let (mut oid, mut size) = (None, None);
        for line in lines {
            match line.split_once(' ')? {
                ("oid", value) => {
                    let hex = value.strip_prefix("sha256:")?;
                    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                    let is_oid = hex.len() == 64 && hex.bytes().all(is_hex);
                    oid = Some(is_oid.then(|| ObjectId::from_hex(hex.as_bytes()).ok())??);
                }
                ("size", value) => {
                    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
                    size = Some(is_number.then(|| value.parse().ok())??);
                }
                // Extensions say how the object was changed before it was stored.
                (key, _) if key.starts_with("ext-") => return None,
                _ => {}
            }
        }
        Some(Self { oid: oid?, size: size? })
    }

    /// The path of the object below the folder of LFS objects.
    fn path(&self) -> Option<RepoPath> {
        let hex = self.oid.to_string();
        RepoPath::parse(format!("{}/{}/{hex}", &hex[..2], &hex[2..4]).as_bytes())
    }
}

impl GitSession<'_> {
    /// What LFS has of the file `entry` of `size` bytes; `None` if it is no pointer.
    pub(super) fn find_lfs(&self, entry: FoundEntry, size: u64) -> Option<LfsFile> {
        let is_file = matches!(entry.kind, EntryKind::Blob | EntryKind::BlobExecutable);
        let pointer = is_file.then(|| self.lfs_pointer(entry.id, size)).flatten()?;
        Some(LfsFile { pointer, is_local: self.open_lfs(&pointer).is_some() })
    }

    /// The pointer that the file `id` of `size` bytes is; `None` if it is none.
    fn lfs_pointer(&self, id: ObjectId, size: u64) -> Option<LfsPointer> {
        if !POINTER_BYTES.contains(&size) {
            return None;
        }
        if let Some(known) = self.git.lfs_pointers.get(&id) {
            return known;
        }
        let found = self.repo.try_find_object(id).ok().flatten()?;
        let pointer = LfsPointer::parse(&found.data);
        self.git.lfs_pointers.insert(id, pointer, 1);
        pointer
    }

    /// Whether the file at `path` in the worktree is what the pointer `id` of the index names: a
    /// checkout of LFS, which git compares by a program.
    pub(super) fn is_lfs_checkout(&self, path: &[u8], id: ObjectId) -> Result<bool> {
        let size = self.repo.try_find_header(id).ok().flatten().map(|header| header.size());
        let pointer = size.and_then(|size| self.lfs_pointer(id, size));
        let (Some(pointer), Some(root)) = (pointer, self.repo.workdir()) else { return Ok(false) };
        let file = RepoPath::parse(path).and_then(|path| open_file(root, &path));
        let Some((mut file, stat)) = file.filter(|(_, stat)| stat.st_size as u64 == pointer.size)
        else {
            return Ok(false);
        };
        let version = [
            stat.st_dev,
            stat.st_ino,
            stat.st_size as u64,
            stat.st_mtime as u64,
            u64::from(stat.st_mtime_nsec as u32),
            stat.st_ctime as u64,
            u64::from(stat.st_ctime_nsec as u32),
        ];
        if let Some(known) = self.git.lfs_checkouts.get(&version) {
            return Ok(known == pointer.oid);
        }
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha256);
        let mut buffer = vec![0; HASHED_BYTES];
        loop {
            self.check_cancelled()?;
            match file.read(&mut buffer).map_err(unreadable)? {
                0 => break,
                read => hasher.update(&buffer[..read]),
            }
        }
        let oid = hasher.try_finalize().map_err(unreadable)?;
        self.git.lfs_checkouts.insert(version, oid, 1);
        Ok(oid == pointer.oid)
    }

    /// Opens the object of `pointer`, through no link; `None` if it is not there or has another
    /// size.
    pub(super) fn open_lfs(&self, pointer: &LfsPointer) -> Option<File> {
        let (root, below) = self.lfs_folder();
        let path = RepoPath::parse(&[below, pointer.path()?.as_bytes()].concat())?;
        let (file, stat) = open_file(&root, &path)?;
        (stat.st_size as u64 == pointer.size).then_some(file)
    }

    /// The folder that LFS stores in, which may be a link, and the path of the objects below it.
    fn lfs_folder(&self) -> (PathBuf, &'static [u8]) {
        let common = self.repo.common_dir();
        let config = self.repo.config_snapshot();
        let storage = config.trusted_path("lfs.storage").ok().flatten();
        match storage.filter(|path| !path.as_os_str().is_empty()) {
            // A relative path counts from the repository.
            Some(storage) => (common.join(storage), b"objects/"),
            None => (common.to_owned(), b"lfs/objects/"),
        }
    }
}

impl LfsFile {
    /// What a person is told of it.
    pub(super) fn describe(&self) -> String {
        let size = self.pointer.size;
        match self.is_local {
            true => "A file of Git LFS".to_owned(),
            false => format!(
                "A pointer of Git LFS: the file has {size} bytes and is not in this clone. To get \
                 it, run in the clone: git lfs pull"
            ),
        }
    }
}

/// Opens the file at `path` below `root`, through no link; `None` if there is none.
fn open_file(root: &Path, path: &RepoPath) -> Option<(File, Stat)> {
    let (folder, name) = open_parent(root, path).ok()??;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&folder, name, flags, Mode::empty()).ok()?;
    let stat = fstat(&file).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    is_file.then(|| (File::from(file), stat))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(oid: &str, size: &str) -> String {
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n")
    }

    #[test]
    fn a_pointer_is_parsed_and_a_text_like_one_is_none() {
        let oid = "0123456789abcdef".repeat(4);
        let parsed = LfsPointer::parse(pointer(&oid, "12345").as_bytes()).unwrap();
        assert_eq!((parsed.oid.to_string(), parsed.size), (oid.clone(), 12_345));
        let path = parsed.path().unwrap();
        assert_eq!(path.as_bytes(), format!("01/23/{oid}").as_bytes());
        let shortest = pointer(&oid, "0");
        assert_eq!(shortest.len() as u64, POINTER_BYTES.start);
        let old = pointer(&oid, "1").replace("git-lfs", "hawser");
        assert!(LfsPointer::parse(old.as_bytes()).is_some());
        for text in [
            pointer(&oid[1..], "1"),
            pointer(&oid.to_uppercase(), "1"),
            pointer(&format!("../../{}", &oid[6..]), "1"),
            pointer(&oid, "-1"),
            pointer(&oid, "+1"),
            pointer(&oid, ""),
            pointer(&oid, "99999999999999999999"),
            pointer(&oid, "1").trim_end().to_owned(),
            pointer(&oid, "1").replace("sha256", "sha1"),
            pointer(&oid, "1").replace("spec/v1", "spec/v9"),
            pointer(&oid, "1").replace("oid", "ext-0-foo sha256:00\noid"),
            "version https://git-lfs.github.com/spec/v1\nsize 1\n".to_owned(),
        ] {
            assert_eq!(LfsPointer::parse(text.as_bytes()), None, "{text}");
        }
    }
}

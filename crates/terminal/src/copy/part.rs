//! The file that a resource is written to until it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The ending of a file that is still being written.
pub(super) const PART: &str = ".refdesk-part";

/// A file beside its target. It goes when it is dropped, unless a later run can go on with it.
pub(super) struct PartFile {
    path: PathBuf,
    target: PathBuf,
    out: BufWriter<File>,
    length: u64,
    is_kept: bool,
}

impl PartFile {
    /// An empty file for what `target` will be.
    pub(super) fn create(target: &Path) -> io::Result<Self> {
        fs::create_dir_all(target.parent().unwrap_or(Path::new(".")))?;
        let path = part_path(target);
        let out = BufWriter::new(File::create(&path)?);
        Ok(Self { path, target: target.to_owned(), out, length: 0, is_kept: false })
    }

    /// The file that an earlier run left, to go on with; `None` if there is none.
    pub(super) fn reopen(target: &Path) -> Option<Self> {
        let path = part_path(target);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|file| file.is_file());
        let file = File::options().append(true).open(&path).ok().filter(|_| is_file)?;
        let length = file.metadata().ok()?.len();
        let out = BufWriter::new(file);
        Some(Self { path, target: target.to_owned(), out, length, is_kept: true })
            .filter(|part| part.length > 0)
    }

    /// How many bytes it has.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Keeps the file for a later run, if this one does not finish it.
    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Makes it the target.
    pub(super) fn finish(mut self, modified: Option<SystemTime>) -> io::Result<()> {
        self.is_kept = false;
        self.out.flush()?;
        if let Some(modified) = modified {
            self.out.get_ref().set_modified(modified)?;
        }
        fs::rename(&self.path, &self.target)?;
        self.is_kept = true;
        Ok(())
    }

    /// Removes it: what it has is of another version.
    pub(super) fn discard(mut self) {
        self.is_kept = false;
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn part_path(target: &Path) -> PathBuf {
    let mut path = target.as_os_str().to_owned();
    path.push(PART);
    PathBuf::from(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::PartFile;

    #[test]
    fn a_part_goes_unless_it_is_kept_and_becomes_the_target_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a/b.bin");
        let count = || fs::read_dir(target.parent().unwrap()).unwrap().count();
        let mut part = PartFile::create(&target).unwrap();
        part.append(b"one").unwrap();
        drop(part);
        assert_eq!(count(), 0);
        assert!(PartFile::reopen(&target).is_none());
        let mut part = PartFile::create(&target).unwrap();
        part.append(b"one").unwrap();
        part.keep();
        drop(part);
        assert_eq!(count(), 1);
        let mut part = PartFile::reopen(&target).unwrap();
        assert_eq!(part.length(), 3);
        part.append(b" two").unwrap();
        part.finish(None).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"one two");
        assert_eq!(count(), 1);
    }
}

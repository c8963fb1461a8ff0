//! Small files on disk: bounded reads of regular files, and state files that processes share.
//!
//! Nothing here waits for a pipe, a device or another process.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

/// Number of state files that this process tried to write, for unique names.
static FILES_WRITTEN: AtomicUsize = AtomicUsize::new(0);

/// The folder `name` of the user's cache for refdesk.
pub(crate) fn cache_folder(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    given.or_else(home).map(|folder| folder.join("refdesk").join(name))
}

/// Reads the regular file at `path`; an error if it is anything else, or over `most` bytes.
pub(crate) fn read_regular_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Without NONBLOCK, opening a pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut content = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        let message = format!("the file is over the limit of {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(content)
}

/// Reads the state file `name` in `folder`; writes `fresh` first if the file is missing, or shorter
/// because a disk was full.
///
/// Of processes that start at once, the first one writes and all return the same content.
pub(crate) fn read_or_write(folder: &Path, name: &str, fresh: &[u8]) -> io::Result<Vec<u8>> {
    let file = folder.join(name);
    if let Some(content) = read_whole(&file, fresh.len())? {
        return Ok(content);
    }
    fs::create_dir_all(folder)?;
    let number = FILES_WRITTEN.fetch_add(1, Ordering::Relaxed);
    let beside = folder.join(format!("{name}.{}-{number}.new", std::process::id()));
    let done = write_new(&beside, fresh).and_then(|()| publish(&beside, &file, fresh));
    let _ = fs::remove_file(&beside);
    done
}

/// Replaces the content of `path` at once: a reader sees the old content or the new one. A link
/// stays a link, and a file keeps its mode; a new file is for its owner only.
pub(crate) fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let file = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let number = FILES_WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{number}.new", std::process::id()));
    let beside = file.with_file_name(name);
    let done = write_new(&beside, content).and_then(|()| {
        if let Ok(old) = fs::metadata(&file) {
            fs::set_permissions(&beside, old.permissions())?;
        }
        fs::rename(&beside, &file)
    });
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}

/// The folder for refdesk's state: `XDG_STATE_HOME`, by default `~/.local/state`.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let given = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    given.or_else(home).map(|folder| folder.join("refdesk"))
}

/// Reads the state file; `None` if it is missing or shorter than `length` bytes.
fn read_whole(file: &Path, length: usize) -> io::Result<Option<Vec<u8>>> {
    match read_regular_file(file, length as u64) {
        Ok(content) => Ok(Some(content).filter(|content| content.len() == length)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    // Left by a process that had this id before and was killed.
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Gives the file `beside`, whose content is `fresh`, the name `file`, unless another process was
/// faster. Returns the content of `file`.
fn publish(beside: &Path, file: &Path, fresh: &[u8]) -> io::Result<Vec<u8>> {
    // Unlike a rename, a link replaces nothing.
    match fs::hard_link(beside, file) {
        Ok(()) => return Ok(fresh.to_vec()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    if let Some(content) = read_whole(file, fresh.len())? {
        return Ok(content);
    }
    // A short file is replaced under a lock, so that no process replaces what another one wrote.
    let short = File::open(file)?;
    flock(&short, FlockOperation::NonBlockingLockExclusive)?;
    match read_whole(file, fresh.len())? {
        Some(content) => Ok(content),
        None => fs::rename(beside, file).map(|()| fresh.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;
    use std::path::Path;
    use std::sync::Barrier;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::{read_or_write, read_regular_file};

    fn make_pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    #[test]
    fn a_pipe_a_folder_and_a_large_file_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        make_pipe(&path);
        let kind = |path: &Path| read_regular_file(path, 4).unwrap_err().kind();
        assert_eq!(kind(&path), io::ErrorKind::InvalidInput);
        assert_eq!(kind(folder.path()), io::ErrorKind::InvalidInput);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "12345").unwrap();
        assert_eq!(kind(&path), io::ErrorKind::FileTooLarge);
        assert_eq!(read_regular_file(&path, 5).unwrap(), b"12345");
        assert_eq!(kind(Path::new("/dev/zero")), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn all_that_start_at_once_get_the_content_of_the_first() {
        for _ in 0..20 {
            let home = tempfile::tempdir().unwrap();
            let folder = home.path().join("state/refdesk");
            let start = Barrier::new(8);
            let contents: Vec<Vec<u8>> = std::thread::scope(|scope| {
                let one = |number: u8| {
                    let (folder, start) = (&folder, &start);
                    scope.spawn(move || {
                        start.wait();
                        read_or_write(folder, "key", &[number; 32]).unwrap()
                    })
                };
                let all: Vec<_> = (0..8).map(one).collect();
                all.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(contents.iter().all(|content| *content == contents[0]));
            assert_eq!(fs::read(folder.join("key")).unwrap(), contents[0]);
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_file_that_a_full_disk_left_short_is_written_anew_and_a_longer_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        for left in [&b""[..], b"abc"] {
            fs::write(folder.path().join("key"), left).unwrap();
            assert_eq!(read_or_write(folder.path(), "key", &[7; 32]).unwrap(), [7; 32]);
            assert_eq!(read_or_write(folder.path(), "key", &[8; 32]).unwrap(), [7; 32]);
        }
        fs::write(folder.path().join("key"), [9; 33]).unwrap();
        assert!(read_or_write(folder.path(), "key", &[7; 32]).is_err());
        assert_eq!(fs::read(folder.path().join("key")).unwrap(), [9; 33]);
    }

    #[test]
    fn a_pipe_in_the_place_of_a_state_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        make_pipe(&folder.path().join("key"));
        assert!(read_or_write(folder.path(), "key", &[7; 32]).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

//! Small files on disk: bounded reads of regular files, and state files that processes share.
//!
//! Nothing here waits for a pipe, a device or another process for long.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

/// How often, and after which pause, a process tries to lock a folder.
const LOCK_ATTEMPTS: usize = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

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
/// Of processes that start at once, one writes and all return the same content.
pub(crate) fn read_or_write(folder: &Path, name: &str, fresh: &[u8]) -> io::Result<Vec<u8>> {
    let file = folder.join(name);
    let read = || match read_regular_file(&file, fresh.len() as u64) {
        Ok(content) if content.len() < fresh.len() => Ok(None),
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    if let Some(content) = read()? {
        return Ok(content);
    }
    fs::create_dir_all(folder)?;
    let _lock = lock_folder(folder)?;
    if let Some(content) = read()? {
        return Ok(content);
    }
    replace_file(folder, name, fresh)?;
    Ok(fresh.to_vec())
}

/// Writes `content` beside the file `name` and renames it, so that the file is never half written.
fn replace_file(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let beside = folder.join(format!("{name}.new"));
    // Left by a process that was killed.
    let _ = fs::remove_file(&beside);
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&beside, folder.join(name))
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// Locks `folder` for one process; dropping the file unlocks it.
fn lock_folder(folder: &Path) -> io::Result<File> {
    let handle = File::open(folder)?;
    for _ in 0..LOCK_ATTEMPTS {
        match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => thread::sleep(LOCK_PAUSE),
            done => return Ok(done.map(|()| handle)?),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process holds the lock of the folder"))
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
        let beside = tempfile::tempdir().unwrap();
        make_pipe(&beside.path().join("key.new"));
        assert_eq!(read_or_write(beside.path(), "key", &[7; 32]).unwrap(), [7; 32]);
    }
}

//! Append-only file of lines, rotated by size.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

/// The mode of a file that only its owner can read.
const OWNER_ONLY: u32 = 0o600;

/// A file that is renamed to `<name>.1` once it is full, and `<name>.1` to `<name>.2`, and so on.
pub(crate) struct RotatingFile {
    path: PathBuf,
    max_size: u64,
    keep: u16,
    /// The open file and its size; `None` after a failure, to open it again.
    open: Option<(File, FileSize)>,
}

/// How much is in a file.
#[derive(Clone, Copy)]
enum FileSize {
    Bytes(u64),
    /// A device, which is never full.
    Endless,
}

impl FileSize {
    /// The size with `more` bytes; `None` if that is over `max`. A line fits into an empty file.
    fn plus(self, more: usize, max: u64) -> Option<Self> {
        match self {
            Self::Endless => Some(self),
            Self::Bytes(size) => {
                let sum = size + more as u64;
                (size == 0 || sum <= max).then_some(Self::Bytes(sum))
            }
        }
    }
}

impl RotatingFile {
    /// Opens or creates the file; `keep` full files stay beside it.
    pub(crate) fn open(path: PathBuf, max_size: u64, keep: u16) -> io::Result<Self> {
        let open = Some(open_append(&path)?);
        Ok(Self { path, max_size, keep, open })
    }

    /// Writes one line, which is never divided between two files.
    pub(crate) fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        let (mut file, size) = match self.open.take() {
            Some(open) => open,
            None => open_append(&self.path)?,
        };
        let size = match size.plus(line.len(), self.max_size) {
            Some(size) => size,
            None => {
                drop(file);
                self.rotate()?;
                file = open_append(&self.path)?.0;
                FileSize::Bytes(line.len() as u64)
            }
        };
        file.write_all(line)?;
        self.open = Some((file, size));
        Ok(())
    }

    fn rotate(&self) -> io::Result<()> {
        if self.keep == 0 {
            return fs::remove_file(&self.path);
        }
        for number in (1..self.keep).rev() {
            match fs::rename(numbered(&self.path, number), numbered(&self.path, number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::rename(&self.path, numbered(&self.path, 1))
    }
}

impl Write for RotatingFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.write_line(line).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn numbered(path: &Path, number: u16) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Opens a regular file that only its owner can read, or a device, and returns what is in it.
/// Waits for nothing: without `NONBLOCK`, opening a pipe would wait for its reader.
fn open_append(path: &Path) -> io::Result<(File, FileSize)> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(OWNER_ONLY).custom_flags(flags);
    let not_regular = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
    let file = options.open(path).map_err(|error| match Errno::from_io_error(&error) {
        // A pipe without a reader, or a socket.
        Some(Errno::NXIO) => not_regular(),
        _ => error,
    })?;
    let metadata = file.metadata()?;
    if metadata.file_type().is_char_device() {
        return Ok((file, FileSize::Endless));
    }
    if !metadata.is_file() {
        return Err(not_regular());
    }
    if metadata.mode() & 0o777 & !OWNER_ONLY != 0 {
        file.set_permissions(Permissions::from_mode(OWNER_ONLY)).map_err(|error| {
            let message = format!(
                "others may read it, and its mode cannot be changed to 0600: {error}; \
                 change its owner, or name another file"
            );
            io::Error::new(error.kind(), message)
        })?;
    }
    Ok((file, FileSize::Bytes(metadata.len())))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::io;
    use std::os::unix::fs::PermissionsExt as _;

    use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

    use super::RotatingFile;

    #[test]
    fn a_pipe_is_refused_at_once_with_and_without_a_reader() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let refused = || {
            let error = RotatingFile::open(path.clone(), 100, 1).err().expect("it is refused");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
            assert!(error.to_string().contains("not a regular file"), "{error}");
        };
        refused();
        let _reader = rustix::fs::open(&path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty());
        refused();
    }

    #[test]
    fn a_file_that_others_could_read_is_its_owners_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "old\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let mut file = RotatingFile::open(path.clone(), 8, 1).unwrap();
        for line in ["one\n", "two\n"] {
            file.write_line(line.as_bytes()).unwrap();
        }
        let full = folder.path().join("log.1");
        for (path, text) in [(&path, "two\n"), (&full, "old\none\n")] {
            assert_eq!(fs::read_to_string(path).unwrap(), text);
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_device_is_never_full() {
        let mut file = RotatingFile::open("/dev/null".into(), 1, 1).unwrap();
        for _ in 0..3 {
            file.write_line(b"a line\n").unwrap();
        }
    }
}

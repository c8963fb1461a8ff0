//! Append-only file of lines, rotated by size.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file that is renamed to `<name>.1` once it is full, and `<name>.1` to `<name>.2`, and so on.
pub(crate) struct RotatingFile {
    path: PathBuf,
    max_size: u64,
    keep: u16,
    /// The open file and its size; `None` after a failure, to open it again.
    open: Option<(File, u64)>,
}

impl RotatingFile {
    /// Opens or creates the file; `keep` full files stay beside it.
    pub(crate) fn open(path: PathBuf, max_size: u64, keep: u16) -> io::Result<Self> {
        let open = Some(open_append(&path)?);
        Ok(Self { path, max_size, keep, open })
    }

    /// Writes one line, which is never divided between two files.
    pub(crate) fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        let (mut file, mut size) = match self.open.take() {
            Some(open) => open,
            None => open_append(&self.path)?,
        };
        if size > 0 && size + line.len() as u64 > self.max_size {
            drop(file);
            self.rotate()?;
            (file, size) = open_append(&self.path)?;
        }
        file.write_all(line)?;
        self.open = Some((file, size + line.len() as u64));
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

/// Opens a file that only its owner can read, and returns its size.
fn open_append(path: &Path) -> io::Result<(File, u64)> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}

//! The program pdftotext of Poppler: where it is, and which version of it.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use convert::DocumentKind;

/// The program that reads PDF documents, if it is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PdfProgram {
    pub(super) path: PathBuf,
    /// When its file changed, and its size: another version gives other texts.
    stamp: (u128, u64),
}

impl PdfProgram {
    /// The program for documents of this kind, looked for anew each time: it may be installed while
    /// the server runs.
    pub(super) fn find(kind: DocumentKind) -> Option<Self> {
        if kind != DocumentKind::Pdf {
            return None;
        }
        let path = std::env::var_os("PATH")?;
        let mut folders = std::env::split_paths(&path);
        folders.find_map(|folder| Self::in_folder(&folder))
    }

    fn in_folder(folder: &Path) -> Option<Self> {
        let path = folder.join("pdftotext");
        let facts = std::fs::metadata(&path).ok().filter(|facts| facts.is_file())?;
        let changed = facts.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        path.is_absolute().then_some(Self { stamp: (changed.as_nanos(), facts.len()), path })
    }
}

#[cfg(test)]
mod tests {
    use super::PdfProgram;

    #[test]
    fn another_version_of_the_program_is_another_program() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(PdfProgram::in_folder(folder.path()), None);
        std::fs::write(folder.path().join("pdftotext"), "one").unwrap();
        let one = PdfProgram::in_folder(folder.path()).unwrap();
        std::fs::write(folder.path().join("pdftotext"), "another").unwrap();
        let other = PdfProgram::in_folder(folder.path()).unwrap();
        assert!(one.path == other.path && one != other);
    }
}

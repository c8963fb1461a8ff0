//! Files that git keeps in a repository: finds the pipes and devices among them before gix opens one.
//!
//! gix opens a file without asking what it is, and opening a pipe waits for its writer.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The files that are opened with a repository, or at its first requests.
const FILES: [&str; 11] = [
    "HEAD",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "index",
    "packed-refs",
    "shallow",
    "info/attributes",
    "info/exclude",
    "objects/info/alternates",
];

/// The longest text of a file that names a folder, in bytes.
const MAX_LINK_BYTES: u64 = 64 << 10;

/// The file that is neither a regular file nor a folder, of the repository that `path` is in and of
/// the folders above it that gix looks at on the way.
pub(super) fn find_irregular_file(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    for folder in path.ancestors() {
        let dot_git = folder.join(".git");
        let found = irregular_file_in(folder).or_else(|| irregular_file_of(&dot_git));
        if found.is_some() || dot_git.exists() {
            return found;
        }
    }
    None
}

/// The same for a `.git`: a folder, or a file that names one.
fn irregular_file_of(dot_git: &Path) -> Option<PathBuf> {
    if is_irregular(dot_git) {
        return Some(dot_git.to_owned());
    }
    if dot_git.is_dir() {
        return irregular_file_in(dot_git);
    }
    let text = read_link_file(dot_git)?;
    let folder = text.strip_prefix("gitdir:")?.trim();
    irregular_file_in(&dot_git.parent()?.join(folder))
}

/// The same for a folder that may be a repository, and for the one that it shares its files with.
fn irregular_file_in(folder: &Path) -> Option<PathBuf> {
    let own = FILES.iter().map(|name| folder.join(name)).find(|file| is_irregular(file));
    own.or_else(|| {
        let common = folder.join(read_link_file(&folder.join("commondir"))?.trim_end());
        FILES.iter().map(|name| common.join(name)).find(|file| is_irregular(file))
    })
}

fn is_irregular(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// Reads a short file that names a folder; `None` if it is none.
fn read_link_file(path: &Path) -> Option<String> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MAX_LINK_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

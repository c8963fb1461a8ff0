//! Path completion for the `file:///{+path}` template.

use std::io;
use std::sync::Arc;

use resource::uri::{percent_decode, reserved_value};
use resource::{Completion, CompletionRequest, Error, Result};

use super::budget::WorkBudget;
use super::error::{FsError, is_not_found};
use super::folder_names::{FolderNames, ScanExtent};
use super::locate::{Folder, PathEntry};
use super::path::LocalPath;
use super::root::FsRoot;
use super::stamp::FileKind;
use super::{TEMPLATE, TEMPLATE_VARIABLE};

/// Longest input accepted, in bytes.
const MAX_INPUT_BYTES: usize = 4 * 1024;

/// A folder with more names than this is searched on a blocking thread.
const MAX_INLINE_NAMES: usize = 4_096;

/// Refuses a request for another template or variable, or with too long an input.
pub(super) fn check_completion(request: &CompletionRequest<'_>) -> Result<()> {
    if request.template != TEMPLATE || request.variable != TEMPLATE_VARIABLE {
        return Err(Error::invalid("only `path` of the files template can be completed"));
    }
    if request.typed.len() > MAX_INPUT_BYTES {
        return Err(Error::invalid("the value to complete is too long for a path"));
    }
    Ok(())
}

impl FsRoot {
    /// Completes `typed` by one path segment, best match first. Values are written so that the
    /// expansion of the template names the same file, whatever its name holds.
    pub(super) fn complete_path(
        &self,
        typed: &str,
        budget: &WorkBudget,
    ) -> Result<Completion, FsError> {
        let decoded = percent_decode(typed);
        let typed = &*String::from_utf8_lossy(&decoded);
        let (folder, stem) =
            typed.rsplit_once('/').map_or(("", typed), |(folder, stem)| (folder, stem));
        let path = match LocalPath::from_bytes(folder.as_bytes()) {
            Some(path) if !typed.starts_with('/') => path,
            _ => return Ok(Completion::default()),
        };
        let folder = match self.find(&path) {
            Ok(PathEntry::Folder(folder)) => folder,
            Ok(PathEntry::File(_)) => return Ok(Completion::default()),
            Err(error) if is_not_found(&error) => return Ok(Completion::default()),
            Err(error) => return Err(error.into()),
        };
        let names = self.folder_names(&folder, ScanExtent::All, budget)?;
        if names.len() > MAX_INLINE_NAMES {
            budget.require_unlimited()?;
        }
        let is_seen = |name: &[u8]| !self.is_hidden(&folder, &path, name);
        let ranked = rank_matches(&names, stem, is_seen, budget)?;
        let prefix = &typed[..typed.len() - stem.len()];
        Ok(self.completion_values(&folder, &names, prefix, &ranked))
    }

    fn completion_values(
        &self,
        folder: &Arc<Folder>,
        names: &FolderNames,
        prefix: &str,
        ranked: &[usize],
    ) -> Completion {
        let mut completion = Completion { total: ranked.len(), ..Completion::default() };
        for index in ranked {
            if completion.values.len() == Completion::MAX_VALUES {
                break;
            }
            let Some((name, kind)) = names.get(*index) else { continue };
            let is_folder = match kind {
                FileKind::Symlink => {
                    self.find_child(folder, name).map(|found| matches!(found, PathEntry::Folder(_)))
                }
                kind => Ok(kind == FileKind::Folder),
            };
            match (is_folder, std::str::from_utf8(name)) {
                (Ok(true), Ok(name)) => {
                    completion.values.push(reserved_value(&format!("{prefix}{name}/")));
                }
                (Ok(false), Ok(name)) => {
                    completion.values.push(reserved_value(&format!("{prefix}{name}")));
                }
                _ => completion.total -= 1,
            }
        }
        completion
    }
}

/// Returns the indices of the visible names that match `stem`: first those that start with it, then
/// those that start with it in another case, then those that contain it.
fn rank_matches(
    names: &FolderNames,
    stem: &str,
    is_seen: impl Fn(&[u8]) -> bool,
    budget: &WorkBudget,
) -> io::Result<Vec<usize>> {
    let small = stem.to_lowercase();
    let (mut first, mut second, mut third) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..names.len() {
        budget.check_cancelled()?;
        let Some((name, _)) = names.get(index).filter(|(name, _)| is_seen(name)) else { continue };
        let Ok(name) = std::str::from_utf8(name) else { continue };
        if name.starts_with(stem) {
            first.push(index);
            continue;
        }
        let name = name.to_lowercase();
        if name.starts_with(&small) {
            second.push(index);
        } else if name.contains(&small) {
            third.push(index);
        }
    }
    first.append(&mut second);
    first.append(&mut third);
    Ok(first)
}

//! Path completion for the `file:///{+path}` template.

use std::io;
use std::sync::Arc;

use resource::{Completion, Error, Question, Result};

use super::effort::Effort;
use super::fault::{Fault, is_missing};
use super::folder::{Extent, Names};
use super::locate::{Folder, Found};
use super::path::Local;
use super::site::Site;
use super::stamp::Kind;
use super::{TEMPLATE, VARIABLE};

/// Longest input accepted, in bytes.
const LONGEST: usize = 4 * 1024;

/// A folder with more names than this is searched on a blocking thread.
const BRIEF: usize = 4_096;

/// Refuses a request for another template or variable, or with too long an input.
pub(super) fn check(question: &Question<'_>) -> Result<()> {
    if question.template != TEMPLATE || question.variable != VARIABLE {
        return Err(Error::invalid("only `path` of the files template can be completed"));
    }
    if question.typed.len() > LONGEST {
        return Err(Error::invalid("the value to complete is too long for a path"));
    }
    Ok(())
}

impl Site {
    /// Completes `typed` by one path segment, best match first.
    pub(super) fn complete(&self, typed: &str, effort: &Effort) -> Result<Completion, Fault> {
        let (folder, stem) =
            typed.rsplit_once('/').map_or(("", typed), |(folder, stem)| (folder, stem));
        let path = match Local::from_bytes(folder.as_bytes()) {
            Some(path) if !typed.starts_with('/') => path,
            _ => return Ok(Completion::default()),
        };
        let folder = match self.find(&path) {
            Ok(Found::Folder(folder)) => folder,
            Ok(Found::File(_)) => return Ok(Completion::default()),
            Err(error) if is_missing(&error) => return Ok(Completion::default()),
            Err(error) => return Err(error.into()),
        };
        let names = self.names(&folder, Extent::All, effort)?;
        if names.len() > BRIEF {
            effort.must_be_long()?;
        }
        let is_seen = |name: &[u8]| !self.conceals(&folder, &path, name);
        let ranked = ranked(&names, stem, is_seen, effort)?;
        let prefix = &typed[..typed.len() - stem.len()];
        Ok(self.values(&folder, &names, prefix, &ranked))
    }

    fn values(
        &self,
        folder: &Arc<Folder>,
        names: &Names,
        prefix: &str,
        ranked: &[usize],
    ) -> Completion {
        let mut completion = Completion { values: Vec::new(), total: ranked.len() };
        for index in ranked {
            if completion.values.len() == Completion::MOST {
                break;
            }
            let Some((name, kind)) = names.get(*index) else { continue };
            let is_folder = match kind {
                Kind::Link => {
                    self.look(folder, name).map(|found| matches!(found, Found::Folder(_)))
                }
                kind => Ok(kind == Kind::Folder),
            };
            match (is_folder, std::str::from_utf8(name)) {
                (Ok(true), Ok(name)) => completion.values.push(format!("{prefix}{name}/")),
                (Ok(false), Ok(name)) => completion.values.push(format!("{prefix}{name}")),
                _ => completion.total -= 1,
            }
        }
        completion
    }
}

/// Returns the indices of the visible names that match `stem`: first those that start with it, then
/// those that start with it in another case, then those that contain it.
fn ranked(
    names: &Names,
    stem: &str,
    is_seen: impl Fn(&[u8]) -> bool,
    effort: &Effort,
) -> io::Result<Vec<usize>> {
    let small = stem.to_lowercase();
    let (mut first, mut second, mut third) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..names.len() {
        effort.attended()?;
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

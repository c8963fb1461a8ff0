//! Opens a repository: finds it, and refuses what cannot be served with a sentence.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use gix::ThreadSafeRepository;

use super::blob::MAX_BLOB_BYTES;
use super::regular_files::find_irregular_file;

/// The largest object that is read, in bytes. It bounds what a hostile object can allocate.
const MAX_OBJECT_BYTES: u64 = MAX_BLOB_BYTES + (1 << 20);

/// How long a repository may take to open: longer is a disk that does not answer, or a file that
/// was replaced by a pipe just now.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a repository cannot be served.
#[derive(Debug)]
pub struct RepositoryFault {
    /// For any client: no paths of this machine.
    pub reason: String,
    /// For the person who starts the server: what to do.
    pub advice: String,
}

impl fmt::Display for RepositoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason, self.advice)
    }
}

impl std::error::Error for RepositoryFault {}

impl RepositoryFault {
    fn new(reason: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { reason: reason.into(), advice: advice.into() }
    }
}

/// Finds the folder of the repository that `path` is in: its worktree, or itself if it has none.
/// `None` if `path` is in no repository, or in one that cannot be read.
pub fn find_repository(path: &Path) -> Option<PathBuf> {
    let path = path.to_owned();
    run_within(OPEN_TIMEOUT, move || find_folder(&path)).flatten()
}

fn find_folder(path: &Path) -> Option<PathBuf> {
    if find_irregular_file(path).is_some() {
        return None;
    }
    let (found, _) = gix::discover::upwards(path).ok()?;
    let (git_dir, worktree) = found.into_repository_and_work_tree_directories();
    let folder = worktree.unwrap_or(git_dir);
    // A repository found from a relative path is relative too.
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    folder.canonicalize().ok()
}

/// Opens the repository that `path` is in. It does not wait for a disk that does not answer.
pub(super) fn open_repository(path: &Path) -> Result<ThreadSafeRepository, RepositoryFault> {
    let owned = path.to_owned();
    run_within(OPEN_TIMEOUT, move || open_in_time(&owned)).unwrap_or_else(|| {
        let advice = format!("{} is not read in time: check the disk", path.display());
        Err(RepositoryFault::new("the git repository does not open", advice))
    })
}

/// Runs `work` on a thread of its own; `None` if it is not done in time. The thread is left behind.
fn run_within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new().name("open repository".to_owned());
    thread.spawn(move || sender.send(work())).ok()?;
    receiver.recv_timeout(limit).ok()
}

fn open_in_time(path: &Path) -> Result<ThreadSafeRepository, RepositoryFault> {
    if let Some(file) = find_irregular_file(path) {
        let advice = format!("{} is a pipe or a device: remove it", file.display());
        return Err(RepositoryFault::new("the git repository cannot be opened", advice));
    }
    let (found, trust) = gix::discover::upwards(path).map_err(|error| {
        let advice = format!("{} and the folders above it have none: {error}", path.display());
        RepositoryFault::new("there is no git repository", advice)
    })?;
    let (git_dir, _) = found.into_repository_and_work_tree_directories();
    check_storage(&git_dir)?;
    let options = gix::open::Options::default()
        .bail_if_untrusted(true)
        .config_overrides([format!("gitoxide.objects.allocLimit={MAX_OBJECT_BYTES}")]);
    let mapping = gix::sec::trust::Mapping { full: options.clone(), reduced: options };
    let opened = ThreadSafeRepository::discover_opts(path, Default::default(), mapping);
    let repository = opened.map_err(|error| match trust {
        gix::sec::Trust::Full => {
            let advice = format!("{} cannot be opened: {error}", git_dir.display());
            RepositoryFault::new("the git repository cannot be opened", advice)
        }
        gix::sec::Trust::Reduced => unsafe_owner(&git_dir),
    })?;
    Ok(without_programs(&repository))
}

fn unsafe_owner(git_dir: &Path) -> RepositoryFault {
    let folder = match git_dir.file_name() {
        Some(name) if name == ".git" => git_dir.parent().unwrap_or(git_dir),
        _ => git_dir,
    };
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let advice =
        format!("to trust it, run: git config --global --add safe.directory {}", folder.display());
    RepositoryFault::new("the git repository belongs to another user", advice)
}

/// Refuses a way to store references that gix does not read. It would find no reference at all.
fn check_storage(git_dir: &Path) -> Result<(), RepositoryFault> {
    let common = std::fs::read_to_string(git_dir.join("commondir")).ok();
    let common =
        common.map_or_else(|| git_dir.to_owned(), |folder| git_dir.join(folder.trim_end()));
    if !common.join("reftable").is_dir() {
        return Ok(());
    }
    let advice = "refdesk reads references as files: run git refs migrate --ref-format=files";
    Err(RepositoryFault::new("the git repository stores its references as a reftable", advice))
}

/// Forgets the programs that the configuration names: serving a repository runs none.
fn without_programs(repository: &ThreadSafeRepository) -> ThreadSafeRepository {
    let mut local = repository.to_thread_local();
    let mut config = local.config_snapshot_mut();
    let programs: Vec<_> = ["filter", "diff"]
        .iter()
        .filter_map(|name| config.sections_and_ids_by_name(name))
        .flatten()
        .filter(|(section, _)| section.header().subsection_name().is_some())
        .map(|(_, id)| id)
        .collect();
    for id in programs {
        config.remove_section_by_id(id);
    }
    drop(config);
    local.into_sync()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::run_within;

    #[test]
    fn work_that_does_not_end_is_left_behind() {
        let (sender, receiver) = mpsc::channel::<()>();
        assert_eq!(run_within(Duration::from_millis(1), move || receiver.recv().ok()), None);
        assert_eq!(run_within(Duration::from_secs(60), || 1), Some(1));
        drop(sender);
    }
}

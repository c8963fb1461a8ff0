//! What the banner and `refdesk check` tell of a mount.

use std::sync::Arc;

use providers::config::ConfigFiles;
use providers::fs::{FileCount, Fs};
use resource::{Context, Principal};

/// Summary of a mount for the banner and `refdesk check`.
#[derive(Clone)]
pub(crate) struct MountSummary {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) root: Option<String>,
    pub(crate) size: MountSize,
}

/// How to count the resources of a mount.
#[derive(Clone)]
pub(crate) enum MountSize {
    Fixed(usize),
    /// A folder, counted on demand up to a limit.
    Folder(Arc<Fs>),
    /// Configuration files, counted on demand.
    Config(Arc<ConfigFiles>),
    /// Unknown: an upstream server is not counted.
    Uncounted,
    /// The mount is left out.
    LeftOut,
}

impl MountSize {
    /// Counts the resources, up to `most`; `None` if they cannot be counted.
    pub(crate) async fn count(&self, most: usize) -> Option<FileCount> {
        match self {
            Self::Fixed(leaves) => Some(FileCount { files: *leaves, is_complete: true }),
            Self::Folder(fs) => {
                let ctx = Context::new(Principal::local());
                Some(fs.count(&ctx, most).await)
            }
            Self::Config(files) => {
                let files = files.count(&Context::new(Principal::local())).await.ok()?;
                Some(FileCount { files, is_complete: true })
            }
            Self::Uncounted | Self::LeftOut => None,
        }
    }
}

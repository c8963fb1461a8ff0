//! Platform seam: the calls of the operating system that the folder provider makes.

mod linux;
mod os_errors;
mod os_names;

pub(super) use self::linux::{
    LinuxDir as DirHandle, LinuxFile as FileHandle, lstat_path, open_file_above, open_folder_above,
    open_root, stat_path,
};
pub(super) use self::os_errors::{is_descriptor_shortage, is_not_found};
pub(super) use self::os_names::os_str;

use super::stamp::FileStamp;

/// The stamp of an open file, and whether it still has a name.
pub(super) struct OpenFileStat {
    pub(super) stamp: FileStamp,
    /// True once its last name was removed, as a rename over it does.
    pub(super) is_unlinked: bool,
}

//! The tests of this folder once more, for the portable file API.

use super::{FileApi, Fs, ListingMode, Options};

const TESTED_FILE_API: FileApi = FileApi::Portable;

#[path = "mod.rs"]
#[expect(clippy::duplicate_mod, reason = "both file APIs must pass the same tests")]
mod tests;

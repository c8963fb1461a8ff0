//! The skills interface: how a provider lists the skills of an upstream server (Agent Skills).
//!
//! The files of a skill are resources like any other. A skill is what a server declares to be one.

use std::sync::Arc;

use async_trait::async_trait;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::page::{Freshness, Page, PageRequest};
use crate::relay::Json;
use crate::unknown_members::UnknownMembers;
use crate::uri::Uri;

/// Lists skills.
#[async_trait]
pub trait Skills: Send + Sync {
    /// Whether there may be skills to list for the principal. Does not block or contact the source.
    fn may_list_skills(&self, ctx: &Context) -> bool;

    /// Lists one page of the skills that the source lists, in a fixed order. It may have more.
    async fn list_skills(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Skill>>;

    /// Returns the skill whose `SKILL.md` is `uri`, listed or not. Unknown skill: `Invalid`.
    async fn get_skill(&self, ctx: &Context, uri: &Uri) -> Result<(Arc<Skill>, Freshness)>;

    /// Lists one page of the entries of the source's index, the resource [`SKILL_INDEX_URI`]. A
    /// source without an index returns entries for the skills that it lists.
    async fn list_skill_index(
        &self,
        ctx: &Context,
        paging: &PageRequest,
    ) -> Result<Page<SkillIndexEntry>>;
}

/// The URI at which hosts look for the index of a server's skills.
pub const SKILL_INDEX_URI: &str = "skill://index.json";

/// One skill: a folder of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The URI of its `SKILL.md`.
    pub uri: Uri,
    /// The frontmatter of its `SKILL.md`, a JSON object.
    pub frontmatter: Json,
    /// Its files.
    pub files: SkillFiles,
    /// Members of the entry that we do not know.
    pub extra: UnknownMembers,
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillFiles {
    /// All of them, `SKILL.md` included.
    Complete(Vec<SkillFile>),
    /// Made on request, so that they have no stable digests.
    Dynamic,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Its URI.
    pub uri: Uri,
    /// The digest of its bytes, as the source wrote it: `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// The number of its bytes.
    pub size: u64,
    /// Members that we do not know.
    pub extra: UnknownMembers,
}

/// An entry of an index of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillIndexEntry {
    /// The URI of the skill's `SKILL.md`, or a URI template. It overrides the `url` in the entry.
    pub url: String,
    /// The whole entry, a JSON object.
    pub json: Json,
}

impl Skill {
    /// The error for a URI that names no skill.
    pub fn unknown(uri: &Uri) -> Error {
        Error::invalid("no skill is served at this URI; list the skills to see which exist")
            .about(uri)
    }

    /// Keeps the files that `keep` returns true for.
    pub fn retain_files(&mut self, keep: impl Fn(&Uri) -> bool) {
        if let SkillFiles::Complete(files) = &mut self.files {
            files.retain(|file| keep(&file.uri));
        }
    }

    /// The URIs of the skill: that of its `SKILL.md` and those of its files.
    pub fn uris(&self) -> impl Iterator<Item = &Uri> {
        let files = match &self.files {
            SkillFiles::Complete(files) => files.as_slice(),
            SkillFiles::Dynamic => &[],
        };
        std::iter::once(&self.uri).chain(files.iter().map(|file| &file.uri))
    }

    /// Replaces every URI of the skill.
    pub fn map_uris(&mut self, map: impl Fn(&Uri) -> Result<Uri>) -> Result<()> {
        self.uri = map(&self.uri)?;
        if let SkillFiles::Complete(files) = &mut self.files {
            for file in files {
                file.uri = map(&file.uri)?;
            }
        }
        Ok(())
    }
}

//! Containers: kinds of archives, by the endings of their names.

use std::sync::Arc;

use crate::error::ArchiveError;
use crate::index::{Member, MemberIndex};
use crate::mail::MailContainer;
use crate::member_stream::MemberStream;
use crate::source::PositionedRead;
use crate::tar::{TarContainer, TarPacking};
use crate::zip::ZipContainer;

/// A kind of file that has members.
pub trait Container: Send + Sync {
    /// Starts to index the members.
    fn start_index(&self, source: Arc<dyn PositionedRead>) -> Box<dyn Indexing>;

    /// Opens the content of a member that the index has.
    fn open(
        &self,
        source: Arc<dyn PositionedRead>,
        member: &Member,
    ) -> Result<MemberStream, ArchiveError>;

    /// The range of the source that is the content as it is, if the member is not compressed.
    fn stored_range(
        &self,
        source: &Arc<dyn PositionedRead>,
        member: &Member,
    ) -> Result<Option<(u64, u64)>, ArchiveError>;

    /// How a compressed archive is unpacked as a whole, if it is one: the unpacked archive, and
    /// the container that its members have there.
    fn unpack(
        &self,
        source: Arc<dyn PositionedRead>,
        size: u64,
    ) -> Result<Option<(MemberStream, ArchiveKind)>, ArchiveError>;
}

/// An index in the making.
pub trait Indexing: Send {
    /// Goes on until the index is complete, or `is_over`.
    fn advance(self: Box<Self>, is_over: &dyn Fn() -> bool) -> Result<IndexingStep, ArchiveError>;
}

/// How far an index is.
pub enum IndexingStep {
    /// There is more to do.
    Paused(Box<dyn Indexing>),
    /// The index.
    Done(MemberIndex),
}

/// A kind of archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArchiveKind {
    /// zip, and what is a zip by another name.
    Zip,
    /// tar.
    Tar,
    /// tar, compressed by gzip.
    TarGz,
    /// tar, compressed by Zstandard.
    TarZst,
    /// tar, compressed by xz.
    TarXz,
    /// A mail message, whose members are its attachments.
    Mail,
    /// A mailbox, whose members are the attachments of its messages.
    Mailbox,
}

/// The endings of names, the kinds they stand for, and their MIME types. A longer ending comes
/// before its end.
const ENDINGS: [(&str, ArchiveKind, &str); 24] = [
    (".eml", ArchiveKind::Mail, "message/rfc822"),
    (".mbox", ArchiveKind::Mailbox, "application/mbox"),
    (".tar.gz", ArchiveKind::TarGz, "application/gzip"),
    (".tar.zst", ArchiveKind::TarZst, "application/zstd"),
    (".tar.xz", ArchiveKind::TarXz, "application/x-xz"),
    (".txz", ArchiveKind::TarXz, "application/x-xz"),
    (".tgz", ArchiveKind::TarGz, "application/gzip"),
    (".taz", ArchiveKind::TarGz, "application/gzip"),
    (".crate", ArchiveKind::TarGz, "application/gzip"),
    (".tzst", ArchiveKind::TarZst, "application/zstd"),
    (".tar", ArchiveKind::Tar, "application/x-tar"),
    (".gem", ArchiveKind::Tar, "application/x-tar"),
    (".zip", ArchiveKind::Zip, "application/zip"),
    (".jar", ArchiveKind::Zip, "application/java-archive"),
    (".war", ArchiveKind::Zip, "application/java-archive"),
    (".ear", ArchiveKind::Zip, "application/java-archive"),
    (".aar", ArchiveKind::Zip, "application/zip"),
    (".whl", ArchiveKind::Zip, "application/zip"),
    (".egg", ArchiveKind::Zip, "application/zip"),
    (".nupkg", ArchiveKind::Zip, "application/zip"),
    (".vsix", ArchiveKind::Zip, "application/zip"),
    (".xpi", ArchiveKind::Zip, "application/zip"),
    (".apk", ArchiveKind::Zip, "application/vnd.android.package-archive"),
    (".ipa", ArchiveKind::Zip, "application/zip"),
];

impl ArchiveKind {
    /// The kind of a file with this name, and its MIME type; `None` if it is no archive by its name.
    pub fn of_name(name: &str) -> Option<(Self, &'static str)> {
        let last = name.as_bytes().last()?.to_ascii_lowercase();
        let is_ending = |ending: &str| {
            if !ending.as_bytes().ends_with(&[last]) {
                return false;
            }
            let stem = name.len().checked_sub(ending.len()).filter(|stem| *stem > 0);
            let end = stem.and_then(|stem| name.get(stem..));
            end.is_some_and(|end| end.eq_ignore_ascii_case(ending))
        };
        let found = ENDINGS.iter().find(|(ending, _, _)| is_ending(ending));
        found.map(|(_, kind, mime)| (*kind, *mime))
    }

    /// The MIME types of all kinds.
    pub fn mime_types() -> impl Iterator<Item = &'static str> {
        ENDINGS.iter().map(|(_, _, mime)| *mime)
    }

    /// The parser of this kind.
    pub fn container(self) -> &'static dyn Container {
        match self {
            Self::Zip => &ZipContainer,
            Self::Tar => &TarContainer(TarPacking::Plain),
            Self::TarGz => &TarContainer(TarPacking::Gzip),
            Self::TarZst => &TarContainer(TarPacking::Zstandard),
            Self::TarXz => &TarContainer(TarPacking::Xz),
            Self::Mail => &MailContainer::Message,
            Self::Mailbox => &MailContainer::Mailbox,
        }
    }

    /// Whether the file has content that is read, besides its members.
    pub fn has_own_content(self) -> bool {
        matches!(self, Self::Mail | Self::Mailbox)
    }
}

#[cfg(test)]
mod tests {
    use super::ArchiveKind;

    #[test]
    fn a_name_tells_the_kind_by_its_ending() {
        for (name, kind) in [
            ("a.zip", Some(ArchiveKind::Zip)),
            ("A.ZIP", Some(ArchiveKind::Zip)),
            ("app.jar", Some(ArchiveKind::Zip)),
            ("x-1.0-py3-none-any.whl", Some(ArchiveKind::Zip)),
            ("a.tar.gz", Some(ArchiveKind::TarGz)),
            ("a.tgz", Some(ArchiveKind::TarGz)),
            ("a.tar.zst", Some(ArchiveKind::TarZst)),
            ("a.tar.xz", Some(ArchiveKind::TarXz)),
            ("a.tar.bz2", None),
            ("a.tar", Some(ArchiveKind::Tar)),
            ("日本.zip", Some(ArchiveKind::Zip)),
            ("a.gz", None),
            ("a.docx", None),
            (".zip", None),
            ("zip", None),
            ("", None),
        ] {
            assert_eq!(ArchiveKind::of_name(name).map(|(kind, _)| kind), kind, "{name}");
        }
    }
}

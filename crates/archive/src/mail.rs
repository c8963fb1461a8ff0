//! Mail: attachments of messages and mailboxes as members.

use std::io::Cursor;
use std::sync::Arc;

use convert::email;

use crate::container::{ArchiveKind, Container, Indexing, IndexingStep};
use crate::error::ArchiveError;
use crate::index::{Member, MemberIndex, MemberLocation};
use crate::member_stream::MemberStream;
use crate::source::PositionedRead;

/// The largest mail whose attachments are members: it is read as a whole.
const MAX_MAIL_BYTES: u64 = 128 << 20;

/// How many bits of a location have the number of an attachment; the others that of its message.
const NUMBER_BITS: u32 = 32;

/// The parser of mail.
pub(crate) enum MailContainer {
    /// One message.
    Message,
    /// Messages one after another.
    Mailbox,
}

struct MailIndexing {
    source: Arc<dyn PositionedRead>,
    is_mailbox: bool,
}

impl Indexing for MailIndexing {
    fn advance(self: Box<Self>, _is_over: &dyn Fn() -> bool) -> Result<IndexingStep, ArchiveError> {
        // A mail is bounded, so that one slice suffices.
        let bytes = read_mail(&*self.source)?;
        let found = match self.is_mailbox {
            true => email::mailbox_attachments(&bytes),
            false => email::attachments(&bytes),
        };
        let member = |attachment: email::Attachment| Member {
            path: attachment.resource_name().into(),
            is_folder: false,
            size: attachment.size as u64,
            modified: None,
            barrier: None,
            location: location(attachment.message, attachment.number),
        };
        MemberIndex::from_members(found.into_iter().map(member).collect()).map(IndexingStep::Done)
    }
}

fn location(message: Option<usize>, number: usize) -> MemberLocation {
    let offset = ((message.unwrap_or(0) as u64) << NUMBER_BITS) | number as u64;
    MemberLocation { offset, ..MemberLocation::default() }
}

fn read_mail(source: &dyn PositionedRead) -> Result<bytes::Bytes, ArchiveError> {
    if source.size() > MAX_MAIL_BYTES {
        return Err(ArchiveError::TooLarge(format!(
            "this mail is over the bound of {MAX_MAIL_BYTES} bytes; its text can be read in windows"
        )));
    }
    let size = usize::try_from(source.size()).unwrap_or(usize::MAX);
    Ok(source.read_at(0, size)?)
}

impl Container for MailContainer {
    fn start_index(&self, source: Arc<dyn PositionedRead>) -> Box<dyn Indexing> {
        Box::new(MailIndexing { source, is_mailbox: matches!(self, Self::Mailbox) })
    }

    fn open(
        &self,
        source: Arc<dyn PositionedRead>,
        member: &Member,
    ) -> Result<MemberStream, ArchiveError> {
        let bytes = read_mail(&*source)?;
        let place = |bits: u64| usize::try_from(bits).unwrap_or(usize::MAX);
        let (message, number) = (member.location.offset >> NUMBER_BITS, member.location.offset);
        let number = place(number & ((1 << NUMBER_BITS) - 1));
        let content = match self {
            Self::Message => email::attachment(&bytes, number),
            Self::Mailbox => email::mailbox_attachment(&bytes, place(message), number),
        };
        let content = content.ok_or(ArchiveError::Damaged("an attachment is not where it was"))?;
        let size = content.len() as u64;
        Ok(MemberStream::new(Box::new(Cursor::new(content)), 0, size, None))
    }

    fn stored_range(
        &self,
        _source: &Arc<dyn PositionedRead>,
        _member: &Member,
    ) -> Result<Option<(u64, u64)>, ArchiveError> {
        Ok(None)
    }

    fn unpack(
        &self,
        _source: Arc<dyn PositionedRead>,
        _size: u64,
    ) -> Result<Option<(MemberStream, ArchiveKind)>, ArchiveError> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use crate::container::{ArchiveKind, IndexingStep};
    use crate::source::PositionedRead;

    const MAIL: &str = "From: a@example.com\r\nSubject: Plan\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n\
        Hello\r\n--b\r\nContent-Type: text/csv; name=\"../plan.csv\"\r\n\
        Content-Disposition: attachment; filename=\"../plan.csv\"\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nYSxiCg==\r\n--b--\r\n";

    #[test]
    fn attachments_are_members_with_safe_names() {
        let (kind, mime) = ArchiveKind::of_name("plan.eml").unwrap();
        assert!(kind.has_own_content() && mime == "message/rfc822");
        let source: Arc<dyn PositionedRead> = Arc::new(Bytes::from(MAIL));
        let container = kind.container();
        let step = container.start_index(Arc::clone(&source)).advance(&|| false).unwrap();
        let IndexingStep::Done(index) = step else { panic!("a mail is indexed at once") };
        let members: Vec<_> = index.children("", None).collect();
        assert_eq!(members.len(), 1);
        assert!(members[0].path.ends_with("plan.csv") && !members[0].path.contains('/'));
        let mut content = Vec::new();
        let mut stream = container.open(source, members[0]).unwrap();
        assert!(stream.advance(&mut content, 100, &|| false).unwrap());
        assert_eq!(content, b"a,b\n");
    }
}

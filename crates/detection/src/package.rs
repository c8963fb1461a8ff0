//! Packages: zip files that are documents, known by the names of their first members.

/// How much of a file is looked at.
pub const PACKAGE_HEAD_BYTES: usize = 64 << 10;

/// The first bytes of a member, and of a zip file.
const MEMBER_MARK: &[u8] = b"PK\x03\x04";

/// The most members that are looked at.
const MAX_MEMBERS: usize = 64;

/// Folders of Office documents, and the MIME types of these.
const OFFICE_FOLDERS: [(&[u8], &str); 3] = [
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
];

/// Members that every Office document has beside its own folder, near its beginning.
const OFFICE_MEMBERS: [&[u8]; 3] = [b"[Content_Types].xml", b"_rels/", b"docProps/"];

/// MIME types that a package names itself, in its first member.
const NAMED_TYPES: [&str; 5] = [
    "application/epub+zip",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.oasis.opendocument.text-template",
];

/// Whether a file with these first bytes is a zip file.
pub fn is_zip(head: &[u8]) -> bool {
    head.starts_with(MEMBER_MARK)
}

/// The MIME type of the document that a zip file is; `None` if its first members tell of none.
pub fn document_mime(head: &[u8]) -> Option<&'static str> {
    if !is_zip(head) {
        return None;
    }
    let head = &head[..head.len().min(PACKAGE_HEAD_BYTES)];
    if let Some(named) = named_type(head) {
        return Some(named);
    }
    let (mut found, mut is_office) = (None, false);
    for name in member_names(head).take(MAX_MEMBERS) {
        let of_folder = OFFICE_FOLDERS.iter().find(|(folder, _)| name.starts_with(folder));
        found = found.or(of_folder.map(|(_, mime)| *mime));
        is_office |= OFFICE_MEMBERS.iter().any(|member| name.starts_with(member));
        if found.is_some() && is_office {
            break;
        }
    }
    found.filter(|_| is_office)
}

/// The type in the first member `mimetype`, which is not compressed.
fn named_type(head: &[u8]) -> Option<&'static str> {
    let (name, content) = (b"mimetype", head.get(30..)?);
    let content = content.strip_prefix(name)?;
    let extra = usize::from(u16::from_le_bytes([*head.get(28)?, *head.get(29)?]));
    let content = content.get(extra..)?;
    // The next member, or the end of this one, begins behind the type.
    NAMED_TYPES.into_iter().find(|known| {
        let rest = content.strip_prefix(known.as_bytes());
        rest.is_some_and(|rest| {
            rest.first().is_none_or(|next| !next.is_ascii_lowercase() && *next != b'-')
        })
    })
}

/// The names of the members whose headers stand in `head`.
fn member_names(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = head.get(at..)?;
        let start = at + rest.windows(4).position(|mark| mark == MEMBER_MARK)?;
        at = start + 4;
        let length = head.get(start + 26..start + 28)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let name = head.get(start + 30..(start + 30 + length).min(head.len()))?;
        at = start + 30;
        Some(name)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::document_mime;

    /// The beginning of a zip file with these members, whose contents are not compressed.
    pub(crate) fn zip_head(members: &[(&str, &str)]) -> Vec<u8> {
        let mut head = Vec::new();
        for (name, content) in members {
            head.extend_from_slice(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0");
            head.extend_from_slice(&u32::try_from(content.len()).unwrap().to_le_bytes());
            head.extend_from_slice(&u32::try_from(content.len()).unwrap().to_le_bytes());
            head.extend_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
            head.extend_from_slice(b"\0\0");
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(content.as_bytes());
        }
        head
    }

    #[test]
    fn a_document_is_known_by_its_members_and_another_zip_file_is_none() {
        let mime = |members: &[(&str, &str)]| document_mime(&zip_head(members));
        let types = ("[Content_Types].xml", "<Types/>");
        assert!(mime(&[types, ("word/document.xml", "")]).unwrap().ends_with("ml.document"));
        assert!(mime(&[("xl/workbook.xml", ""), types]).unwrap().ends_with("ml.sheet"));
        assert!(mime(&[("_rels/.rels", ""), ("ppt/p.xml", "")]).unwrap().ends_with("presentation"));
        let text = "application/vnd.oasis.opendocument.text";
        assert_eq!(mime(&[("mimetype", text), ("content.xml", "")]), Some(text));
        let template = "application/vnd.oasis.opendocument.text-template";
        assert_eq!(mime(&[("mimetype", template), ("content.xml", "")]), Some(template));
        assert_eq!(mime(&[("mimetype", "application/epub+zip")]), Some("application/epub+zip"));
        assert_eq!(mime(&[("word/notes.txt", ""), ("a.txt", "")]), None, "a folder of a project");
        assert_eq!(mime(&[("mimetype", "application/x-other")]), None);
        assert_eq!(mime(&[("a.txt", "text")]), None);
        assert_eq!(document_mime(b"PK\x03\x04"), None);
        assert_eq!(document_mime(b""), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_looked_at(bytes in any::<Vec<u8>>()) {
            let _ = document_mime(&bytes);
            let _ = document_mime(&[b"PK\x03\x04", &bytes[..]].concat());
        }
    }
}

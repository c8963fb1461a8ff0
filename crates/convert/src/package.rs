//! Packages: zip files whose parts make one document, read within bounds.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::document::{DocumentKind, kind_of_office_type, kind_of_package_mime};
use crate::error::ConvertError;
use crate::options::Options;

/// The most parts of a package.
const MAX_PARTS: usize = 65_536;

/// The most bytes of a part that is read to tell the kind of a package.
const MAX_KIND_BYTES: u64 = 1 << 20;

/// A package, of which parts are unpacked one by one.
pub(crate) struct Package<'a> {
    archive: RefCell<ZipArchive<Cursor<&'a [u8]>>>,
    /// How many bytes may still be unpacked.
    left: Cell<u64>,
}

impl<'a> Package<'a> {
    /// Opens the package in `bytes`.
    pub(crate) fn open(bytes: &'a [u8], options: &Options) -> Result<Self, ConvertError> {
        // A protected Office document is a compound file with the package inside.
        if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return Err(ConvertError::protected());
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|flaw| damaged(&flaw))?;
        if archive.len() > MAX_PARTS {
            return Err(ConvertError::over_limit(format!(
                "the document has {} parts, over the limit of {MAX_PARTS}",
                archive.len()
            )));
        }
        Ok(Self { archive: archive.into(), left: Cell::new(options.max_unpacked_bytes) })
    }

    /// The names of all parts, in the order of the package.
    pub(crate) fn names(&self) -> Vec<String> {
        let archive = self.archive.borrow();
        archive.file_names().filter_map(|name| name.ok().map(Cow::into_owned)).collect()
    }

    /// The content of a part; `None` if there is no such part.
    pub(crate) fn part(&self, name: &str) -> Result<Option<Vec<u8>>, ConvertError> {
        let mut archive = self.archive.borrow_mut();
        let file = match archive.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(flaw) => return Err(damaged(&flaw)),
        };
        if file.encrypted() {
            return Err(ConvertError::protected());
        }
        let left = self.left.get();
        let mut content = Vec::new();
        file.take(left.saturating_add(1)).read_to_end(&mut content).map_err(|flaw| {
            ConvertError::damaged(format!("the part {name:?} is broken: {flaw}"))
        })?;
        let rest = left.checked_sub(content.len() as u64).ok_or_else(|| {
            ConvertError::over_limit("the document unpacks to more than the limit of bytes")
        })?;
        self.left.set(rest);
        Ok(Some(content))
    }

    /// The content of a part that the document cannot be without.
    pub(crate) fn required_part(&self, name: &str) -> Result<Vec<u8>, ConvertError> {
        let missing = || ConvertError::damaged(format!("the document has no part {name:?}"));
        self.part(name)?.ok_or_else(missing)
    }
}

fn damaged(flaw: &ZipError) -> ConvertError {
    match flaw {
        ZipError::UnsupportedArchive(words) if words.contains("assword") => {
            ConvertError::protected()
        }
        other => ConvertError::damaged(format!("the package of the document is broken: {other}")),
    }
}

/// The kind of document in a zip file, all of which is in `bytes`.
pub(crate) fn kind_of_package(bytes: &[u8]) -> Option<DocumentKind> {
    if !bytes.starts_with(b"PK") {
        return None;
    }
    let options = Options { max_unpacked_bytes: MAX_KIND_BYTES, ..Options::default() };
    let package = Package::open(bytes, &options).ok()?;
    let text = |name: &str| {
        let part = package.part(name).ok().flatten()?;
        String::from_utf8(part).ok()
    };
    text("mimetype")
        .and_then(|mime| kind_of_package_mime(&mime))
        .or_else(|| kind_of_office_type(&text("[Content_Types].xml")?))
}

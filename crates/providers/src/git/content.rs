//! Stored contents: what a file of a tree consists of, and its bytes as a stream.
//!
//! git stores no index into a file. A stream inflates a loose object, or an entry of a pack that
//! is no difference to another one, and holds no more than a buffer of it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::ZlibDecoder;
use gix::ObjectId;
use gix::objs::Kind;
use gix::odb::pack;
use resource::{Error, Result};

use super::error::{not_found, over_bound, unreadable};
use super::lfs::LfsFile;
use super::repository::GitSession;
use super::tree::FoundEntry;

/// Longest header of a loose object, in bytes: `blob`, a size and a NUL.
const MAX_HEADER_BYTES: usize = 32;

/// How often an object is looked for: git may pack it in the meantime.
const ATTEMPTS: usize = 2;

/// What a file of a tree consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GitContent {
    /// The object, or that of LFS if this clone has it.
    pub(super) id: ObjectId,
    /// Its size.
    pub(super) size: u64,
    /// What LFS has of it, if the file is a pointer.
    pub(super) lfs: Option<LfsFile>,
}

/// The bytes of a stored content, in order.
pub(super) enum GitContentStream {
    Inflated(Box<ZlibDecoder<BufReader<File>>>),
    /// A file of LFS.
    Plain(File),
}

impl GitContent {
    /// Whether LFS keeps it, in this clone.
    pub(super) fn is_in_lfs(&self) -> bool {
        self.lfs.is_some_and(|lfs| lfs.is_local)
    }

    /// Whether another content may be read in its place: a pointer gives way to its object.
    pub(super) fn may_change(&self) -> bool {
        self.lfs.is_some_and(|lfs| !lfs.is_local)
    }
}

impl Read for GitContentStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Inflated(stream) => stream.read(into),
            Self::Plain(file) => file.read(into),
        }
    }
}

impl GitSession<'_> {
    /// Finds what the file `entry` consists of, without reading it.
    pub(super) fn find_content(&self, entry: FoundEntry) -> Result<GitContent> {
        let header = self.repo.try_find_header(entry.id).map_err(unreadable)?;
        let Some(header) = header else { return Err(self.missing(entry.id)) };
        if header.kind() != Kind::Blob {
            return Err(not_found("the object is no file"));
        }
        let lfs = self.find_lfs(entry, header.size());
        let (id, size) = match lfs {
            Some(LfsFile { pointer, is_local: true }) => (pointer.oid, pointer.size),
            _ => (entry.id, header.size()),
        };
        Ok(GitContent { id, size, lfs })
    }

    /// Opens `content` as a stream. Refuses what git stores as a difference to another object.
    pub(super) fn open_stream(&self, content: &GitContent) -> Result<GitContentStream> {
        if let Some(lfs) = content.lfs.filter(|lfs| lfs.is_local) {
            let gone = || Error::unavailable("the file of Git LFS is gone; read it again");
            return Ok(GitContentStream::Plain(self.open_lfs(&lfs.pointer).ok_or_else(gone)?));
        }
        let store = self.repo.objects.store_ref();
        let mut folders = vec![store.path().to_owned()];
        folders.extend(store.alternate_db_paths().map_err(unreadable)?);
        for _ in 0..ATTEMPTS {
            for folder in &folders {
                if let Some(stream) = open_loose(folder, content)? {
                    return Ok(stream);
                }
                if let Some(stream) = self.open_packed(folder, content)? {
                    return Ok(stream);
                }
            }
        }
        Err(self.missing(content.id))
    }

    /// Opens an object that one of the packs of `folder` holds.
    fn open_packed(&self, folder: &Path, content: &GitContent) -> Result<Option<GitContentStream>> {
        let Ok(packs) = std::fs::read_dir(folder.join("pack")) else { return Ok(None) };
        let hash = self.repo.object_hash();
        for index in packs.flatten().map(|entry| entry.path()) {
            if index.extension().is_none_or(|ending| ending != "idx") {
                continue;
            }
            self.check_cancelled()?;
            // A pack that is gone or broken may have a copy elsewhere.
            let Ok(file) = pack::index::File::at(&index, hash) else { continue };
            let Some(at) = file.lookup(content.id) else { continue };
            let pack = (index.with_extension("pack"), file.pack_offset_at_index(at));
            if let Some(stream) = open_entry(&pack, hash.len_in_bytes(), content)? {
                return Ok(Some(stream));
            }
        }
        Ok(None)
    }
}

/// Opens an object that is a file of its own below `folder`.
fn open_loose(folder: &Path, content: &GitContent) -> Result<Option<GitContentStream>> {
    let hex = content.id.to_string();
    let (first, rest) = hex.split_at(2);
    let file = match File::open(folder.join(first).join(rest)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let mut stream = ZlibDecoder::new(BufReader::new(file));
    let mut header = Vec::with_capacity(MAX_HEADER_BYTES);
    let mut byte = [0];
    while header.last() != Some(&0) && header.len() < MAX_HEADER_BYTES {
        stream.read_exact(&mut byte).map_err(unreadable)?;
        header.push(byte[0]);
    }
    match header == format!("blob {}\0", content.size).as_bytes() {
        true => Ok(Some(GitContentStream::Inflated(Box::new(stream)))),
        false => Err(unreadable(io::Error::from(io::ErrorKind::InvalidData))),
    }
}

/// Opens the entry at an offset of a pack; `None` if the pack is gone.
fn open_entry(
    (path, offset): &(PathBuf, u64),
    hash_len: usize,
    content: &GitContent,
) -> Result<Option<GitContentStream>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    file.seek(SeekFrom::Start(*offset)).map_err(unreadable)?;
    let mut buffered = BufReader::new(file);
    let entry = pack::data::Entry::from_read(&mut buffered, *offset, hash_len);
    let entry = entry.map_err(unreadable)?;
    if entry.header.is_delta() {
        return Err(stored_as_delta(content));
    }
    if entry.header.as_kind() != Some(Kind::Blob) || entry.decompressed_size != content.size {
        return Err(unreadable(io::Error::from(io::ErrorKind::InvalidData)));
    }
    Ok(Some(GitContentStream::Inflated(Box::new(ZlibDecoder::new(buffered)))))
}

fn stored_as_delta(content: &GitContent) -> Error {
    let GitContent { id, size, .. } = content;
    over_bound(format!(
        "this file has {size} bytes, and git stores it as a difference to another one, so that a \
         part of it takes all of it in memory. To read it in parts, write it into a served folder: \
         git cat-file blob {id} > FILE"
    ))
}

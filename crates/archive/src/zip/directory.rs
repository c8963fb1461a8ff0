//! Central directory of a zip: found from the end, zip64 too, and parsed within bounds.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::names::{LegacyNames, NameFallback};
use super::{DEFLATE, LOCAL_HEADER, STORED, ZSTANDARD};
use crate::error::ArchiveError;
use crate::index::{IndexBuilder, Member, MemberBarrier, MemberIndex, MemberLocation, too_large};
use crate::member_path::{Backslash, is_root, member_path};
use crate::source::PositionedRead;
use crate::{MAX_MEMBER_BYTES, MAX_MEMBERS, MAX_TABLE_BYTES};

const END_RECORD: usize = 22;
const MAX_COMMENT: usize = u16::MAX as usize;
const LOCATOR_64: usize = 20;
const END_RECORD_64: usize = 56;
const ENTRY: usize = 46;
/// What stands for a value that is in the zip64 field.
const IN_ZIP64: u64 = u32::MAX as u64;
const IS_ENCRYPTED: u16 = 1 | 1 << 6;
const IS_UTF8: u16 = 1 << 11;
const AES: u16 = 99;
const UNIX: u8 = 3;
/// The kind of file in the highest bits of a mode.
const SYMLINK: u32 = 0o12;

/// Where the central directory is.
struct DirectoryPlace {
    start: u64,
    size: u64,
    /// What stands before the archive in the file: offsets count from behind it.
    shift: u64,
}

/// Reads the index of a zip.
pub(super) fn read_directory(source: &dyn PositionedRead) -> Result<MemberIndex, ArchiveError> {
    let place = find_directory(source)?;
    if place.size > MAX_TABLE_BYTES {
        return Err(too_large("its table is over the bound of 64 MiB"));
    }
    let table = read_all(source, place.start, place.size as usize)?;
    let entries = parse_entries(&table, place.shift)?;
    let mut names = LegacyNames::new(NameFallback::CodePage437);
    entries.iter().for_each(|entry| names.see(entry.name));
    let charset = names.charset();
    let mut builder = IndexBuilder::default();
    for entry in &entries {
        let name = entry.unicode_name.map_or_else(|| charset.decode(entry.name), Into::into);
        match member_path(&name, Backslash::Separates) {
            None if is_root(&name) => {}
            None => builder.leave_out_name()?,
            Some(_) if entry.is_symlink => builder.leave_out_link()?,
            Some(path) => builder.add(entry.member(&path, name.ends_with(['/', '\\'])))?,
        }
    }
    let overlapping = overlapping_offsets(&entries);
    builder.mark_overlaps(|offset| overlapping.contains(&offset));
    builder.finish()
}

fn find_directory(source: &dyn PositionedRead) -> Result<DirectoryPlace, ArchiveError> {
    let size = source.size();
    let tail_size = size.min((END_RECORD + MAX_COMMENT + LOCATOR_64) as u64);
    let tail_start = size - tail_size;
    let tail = read_all(source, tail_start, tail_size as usize)?;
    let is_end = |at: &usize| {
        let record = &tail[*at..];
        record.starts_with(b"PK\x05\x06")
            && usize::from(little_u16(record, 20)) <= record.len() - END_RECORD
    };
    let last = tail.len().checked_sub(END_RECORD);
    let at = last.and_then(|last| (0..=last).rev().find(is_end));
    let at = at.ok_or(ArchiveError::Damaged("it has no table of members"))?;
    let record = &tail[at..];
    let (mut directory_size, mut offset) =
        (u64::from(little_u32(record, 12)), u64::from(little_u32(record, 16)));
    let mut end = tail_start + at as u64;
    let locator = at.checked_sub(LOCATOR_64).map(|at| &tail[at..]);
    if let Some(locator) = locator.filter(|locator| locator.starts_with(b"PK\x06\x07")) {
        let behind = end - LOCATOR_64 as u64;
        let told = little_u64(locator, 8);
        let guess = behind.checked_sub(END_RECORD_64 as u64);
        for place in [Some(told), guess].into_iter().flatten().filter(|place| *place < behind) {
            let record = source.read_at(place, END_RECORD_64)?;
            if record.len() == END_RECORD_64 && record.starts_with(b"PK\x06\x06") {
                (directory_size, offset) = (little_u64(&record, 40), little_u64(&record, 48));
                end = place;
                break;
            }
        }
    }
    let start = end.checked_sub(directory_size);
    let start = start.ok_or(ArchiveError::Damaged("its table is larger than the archive"))?;
    let shift = start.checked_sub(offset);
    let shift = shift.ok_or(ArchiveError::Damaged("its table is not where it says"))?;
    Ok(DirectoryPlace { start, size: directory_size, shift })
}

/// An entry of the central directory.
struct ZipEntry<'a> {
    name: &'a [u8],
    /// The name in UTF-8, from a field of its own.
    unicode_name: Option<&'a str>,
    is_symlink: bool,
    is_folder: bool,
    is_protected: bool,
    size: u64,
    location: MemberLocation,
    modified: Option<SystemTime>,
}

fn parse_entries(table: &Bytes, shift: u64) -> Result<Vec<ZipEntry<'_>>, ArchiveError> {
    let mut entries = Vec::new();
    let mut rest = &table[..];
    while rest.starts_with(b"PK\x01\x02") {
        if entries.len() >= MAX_MEMBERS {
            return Err(too_large("it has over 100,000 members"));
        }
        let cut = ArchiveError::Damaged("its table is cut off");
        let length = |at| usize::from(little_u16(rest, at));
        if rest.len() < ENTRY {
            return Err(cut);
        }
        let (name, extra, comment) = (length(28), length(30), length(32));
        let Some(fields) = rest.get(ENTRY..ENTRY + name + extra + comment) else {
            return Err(cut);
        };
        entries.push(parse_entry(rest, &fields[..name], &fields[name..name + extra], shift)?);
        rest = &rest[ENTRY + fields.len()..];
    }
    let is_signature = rest.starts_with(b"PK\x05\x05");
    match rest.is_empty() || is_signature {
        true => Ok(entries),
        false => Err(ArchiveError::Damaged("its table makes no sense")),
    }
}

fn parse_entry<'a>(
    header: &[u8],
    name: &'a [u8],
    extra: &'a [u8],
    shift: u64,
) -> Result<ZipEntry<'a>, ArchiveError> {
    let (flags, method) = (little_u16(header, 8), little_u16(header, 10));
    let mut packed_size = u64::from(little_u32(header, 20));
    let mut size = u64::from(little_u32(header, 24));
    let mut offset = u64::from(little_u32(header, 42));
    let (mut unicode_name, mut modified) = (None, None);
    for (id, field) in extra_fields(extra) {
        match (id, field) {
            (1, mut wide) => {
                for value in [&mut size, &mut packed_size, &mut offset] {
                    if *value == IN_ZIP64
                        && let Some((first, rest)) = wide.split_at_checked(8)
                    {
                        (*value, wide) = (little_u64(first, 0), rest);
                    }
                }
            }
            (0x7075, [1, _, _, _, _, text @ ..]) => unicode_name = std::str::from_utf8(text).ok(),
            (0x5455, [flags, a, b, c, d, ..]) if flags & 1 == 1 => {
                let seconds = i32::from_le_bytes([*a, *b, *c, *d]);
                modified = u64::try_from(seconds).ok().map(Duration::from_secs);
            }
            _ => {}
        }
    }
    if flags & IS_UTF8 != 0 {
        unicode_name = std::str::from_utf8(name).ok();
    }
    let dos_time = || dos_time(little_u16(header, 14), little_u16(header, 12));
    let attributes = little_u32(header, 38);
    let is_unix = header[5] == UNIX;
    let offset = offset.checked_add(shift);
    let offset = offset.ok_or(ArchiveError::Damaged("a member is beyond the end"))?;
    let crc = Some(little_u32(header, 16)).filter(|_| method != AES);
    Ok(ZipEntry {
        name,
        unicode_name,
        is_symlink: is_unix && attributes >> 28 == SYMLINK,
        is_folder: attributes & 0x10 != 0 && size == 0,
        is_protected: flags & IS_ENCRYPTED != 0 || method == AES,
        size,
        location: MemberLocation { offset, packed_size, method, crc },
        modified: modified.or_else(dos_time).map(|since| SystemTime::UNIX_EPOCH + since),
    })
}

impl ZipEntry<'_> {
    fn member(&self, path: &str, is_named_folder: bool) -> Member {
        if is_named_folder || self.is_folder {
            return Member::folder(path, self.modified);
        }
        let method = self.location.method;
        let barrier = if self.is_protected {
            Some(MemberBarrier::Protected)
        } else if self.size > MAX_MEMBER_BYTES {
            Some(MemberBarrier::TooLarge)
        } else if ![STORED, DEFLATE, ZSTANDARD].contains(&method) {
            Some(MemberBarrier::Method(method))
        } else {
            None
        };
        let (size, modified, location) = (self.size, self.modified, self.location);
        Member { path: path.into(), is_folder: false, size, modified, barrier, location }
    }

    /// The first byte, and the first byte that certainly is not its own any more.
    fn extent(&self) -> (u64, u64) {
        let header = (LOCAL_HEADER + self.name.len()) as u64;
        let start = self.location.offset;
        (start, start.saturating_add(header).saturating_add(self.location.packed_size))
    }
}

/// The offsets of members whose bytes are those of another one too.
fn overlapping_offsets(entries: &[ZipEntry<'_>]) -> HashSet<u64> {
    let mut extents: Vec<(u64, u64)> = entries.iter().map(ZipEntry::extent).collect();
    extents.sort_unstable();
    let mut overlapping = HashSet::new();
    let mut furthest: Option<(u64, u64)> = None;
    for (start, end) in extents {
        if let Some((before, _)) = furthest.filter(|(_, reached)| start < *reached) {
            overlapping.extend([before, start]);
        }
        if furthest.is_none_or(|(_, reached)| end > reached) {
            furthest = Some((start, end));
        }
    }
    overlapping
}

/// The fields of an entry: number and content.
fn extra_fields(mut extra: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (header, rest) = extra.split_at_checked(4)?;
        let (field, rest) = rest.split_at_checked(little_u16(header, 2).into())?;
        extra = rest;
        Some((little_u16(header, 0), field))
    })
}

/// The time since 1970 of a date and a time as DOS has them, without a time zone.
fn dos_time(date: u16, time: u16) -> Option<Duration> {
    let (year, month, day) =
        (1980 + u64::from(date >> 9), u64::from(date >> 5 & 15), u64::from(date & 31));
    if !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    // Days before each month of a year that begins in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let seconds = u64::from(time >> 11) * 3600 + u64::from(time >> 5 & 63) * 60;
    let seconds = seconds + u64::from(time & 31) * 2;
    Some(Duration::from_secs((days.checked_sub(719_468)?) * 86_400 + seconds))
}

/// Reads exactly `length` bytes.
fn read_all(
    source: &dyn PositionedRead,
    mut offset: u64,
    length: usize,
) -> Result<Bytes, ArchiveError> {
    let mut all = Vec::new();
    loop {
        let bytes = source.read_at(offset, length - all.len())?;
        if bytes.len() == length {
            return Ok(bytes);
        }
        all.extend_from_slice(&bytes);
        offset += bytes.len() as u64;
        if all.len() == length {
            return Ok(all.into());
        }
        if bytes.is_empty() {
            return Err(ArchiveError::Damaged("it ends too early"));
        }
    }
}

pub(super) fn little_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

fn little_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

fn little_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// `N` bytes at a place, zeros where there are none.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    if let Some(found) = bytes.get(at..at + N) {
        array.copy_from_slice(found);
    }
    array
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::dos_time;

    #[test]
    fn dates_of_dos_are_counted_from_1970() {
        let date = |year: u16, month: u16, day: u16| (year - 1980) << 9 | month << 5 | day;
        assert_eq!(dos_time(date(1980, 1, 1), 0), Some(Duration::from_secs(315_532_800)));
        let leap = dos_time(date(2024, 2, 29), 12 << 11 | 30 << 5 | 5);
        assert_eq!(leap, Some(Duration::from_secs(1_709_209_810)));
        assert_eq!(dos_time(0, 0), None);
        assert_eq!(dos_time(u16::MAX, u16::MAX), None, "a month 15");
    }
}

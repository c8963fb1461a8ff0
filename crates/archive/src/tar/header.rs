//! Headers of tar: the block before a member, and the records of PAX.

use std::time::{Duration, SystemTime};

/// The size of a block.
pub(super) const BLOCK: usize = 512;

/// The fields of a header block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TarHeader {
    pub(super) name: Vec<u8>,
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
    pub(super) kind: u8,
    /// The size of a sparse file of GNU, and whether more blocks of its map follow.
    pub(super) real_size: u64,
    pub(super) has_more_map: bool,
}

impl TarHeader {
    /// Parses a block; `None` if its checksum or a number is wrong.
    pub(super) fn parse(block: &[u8; BLOCK]) -> Option<Self> {
        let declared = number(&block[148..156])?;
        let unsigned = |(at, byte): (usize, &u8)| {
            u64::from(if (148..156).contains(&at) { b' ' } else { *byte })
        };
        let sum: u64 = block.iter().enumerate().map(unsigned).sum();
        // Some old programs summed up signed bytes.
        let negative = block.iter().enumerate();
        let negative = negative.filter(|(at, byte)| !(148..156).contains(at) && **byte >= 128);
        let signed = sum.checked_sub(negative.count() as u64 * 256);
        if declared != sum && Some(declared) != signed {
            return None;
        }
        let mut name = text(&block[..100]).to_vec();
        let prefix = text(&block[345..500]);
        // GNU has times and the map of sparse files where POSIX has the start of a long name.
        if &block[257..263] == b"ustar\0" && !prefix.is_empty() {
            name = [prefix, b"/", &name[..]].concat();
        }
        Some(Self {
            name,
            size: number(&block[124..136])?,
            modified: number(&block[136..148]).and_then(time),
            kind: block[156],
            real_size: number(&block[483..495]).unwrap_or(0),
            has_more_map: block[482] == 1,
        })
    }
}

/// What an extended header of PAX says of the next member.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PaxRecords {
    pub(super) path: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<SystemTime>,
    pub(super) is_sparse: bool,
    pub(super) real_size: Option<u64>,
}

impl PaxRecords {
    /// Parses records of the form `length key=value`. What makes no sense ends them.
    pub(super) fn parse(mut bytes: &[u8]) -> Self {
        let mut records = Self::default();
        let mut sparse_path = None;
        while let Some((key, value, rest)) = next_record(bytes) {
            let decimal = || std::str::from_utf8(value).ok()?.parse::<u64>().ok();
            match key {
                b"path" => records.path = Some(value.to_vec()),
                b"size" => records.size = decimal(),
                b"mtime" => {
                    let whole = value.split(|byte| *byte == b'.').next().unwrap_or(value);
                    let seconds =
                        std::str::from_utf8(whole).ok().and_then(|text| text.parse().ok());
                    records.modified = seconds.and_then(time);
                }
                b"GNU.sparse.name" => sparse_path = Some(value.to_vec()),
                b"GNU.sparse.realsize" | b"GNU.sparse.size" => records.real_size = decimal(),
                _ => {}
            }
            records.is_sparse |= key.starts_with(b"GNU.sparse.");
            bytes = rest;
        }
        records.path = sparse_path.or(records.path);
        records
    }
}

/// The key and the value of the first record, and what follows it.
fn next_record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = bytes.iter().take(20).position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&bytes[..space]).ok()?.parse().ok()?;
    let record = bytes.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], &bytes[length..]))
}

fn text(field: &[u8]) -> &[u8] {
    &field[..field.iter().position(|byte| *byte == 0).unwrap_or(field.len())]
}

/// A number: octal digits, or base 256 after a byte with the highest bit.
fn number(field: &[u8]) -> Option<u64> {
    if let [first, rest @ ..] = field
        && first & 0x80 != 0
    {
        let (zeros, low) = rest.split_at(rest.len().saturating_sub(8));
        // Negative numbers are times before 1970, and nothing else that is meant.
        let is_small = first & 0x7f == 0 && zeros.iter().all(|byte| *byte == 0);
        let value = low.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        return is_small.then_some(value);
    }
    let digits = field.trim_ascii_start();
    let mut value = 0_u64;
    for byte in digits.iter().take_while(|byte| !matches!(byte, 0 | b' ')) {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 8)?;
        value = value.checked_mul(8)?.checked_add(digit.into())?;
    }
    Some(value)
}

fn time(seconds: u64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{PaxRecords, number};

    #[test]
    fn numbers_are_octal_or_of_base_256() {
        assert_eq!(number(b"0000644\0"), Some(0o644));
        assert_eq!(number(b"   17 "), Some(0o17));
        assert_eq!(number(b"\0\0\0"), Some(0));
        assert_eq!(number(b"\x80\0\0\0\0\0\0\x02\0\0\0\0"), Some(1 << 33));
        assert_eq!(number(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), None);
        assert_eq!(number(b"9"), None);
        assert_eq!(number(b"777777777777777777777777"), None);
    }

    #[test]
    fn records_of_pax_are_read_up_to_nonsense() {
        let records = PaxRecords::parse("13 path=日\n9 size=5\n12 mtime=7.25\nx".as_bytes());
        assert_eq!(records.path.as_deref(), None, "a wrong length");
        let records = PaxRecords::parse("12 path=日\n9 size=5\n14 mtime=7.25\nx".as_bytes());
        assert_eq!((records.path, records.size), (Some("日".into()), Some(5)));
        let seven = SystemTime::UNIX_EPOCH + Duration::from_secs(7);
        assert_eq!(records.modified, Some(seven));
        for hostile in ["99999999999999999999 a=b\n", "0 a=b\n", "3 a", "5 =\n\n", " ", ""] {
            assert_eq!(PaxRecords::parse(hostile.as_bytes()), PaxRecords::default(), "{hostile}");
        }
    }
}

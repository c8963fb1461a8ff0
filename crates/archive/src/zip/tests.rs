//! Tests of the zip parser: archives built byte by byte, honest and hostile.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use proptest::prelude::{any, prop, proptest};

use crate::{ArchiveError, ArchiveKind, IndexingStep, MemberIndex, PositionedRead};

/// An entry to write. What the table says can differ from what there is.
#[derive(Clone)]
struct Entry {
    name: Vec<u8>,
    content: Vec<u8>,
    method: u16,
    flags: u16,
    declared: Option<u64>,
    attributes: u32,
    offset: Option<u32>,
    is_zip64: bool,
}

fn entry(name: &str, content: &[u8]) -> Entry {
    Entry {
        name: name.into(),
        content: content.to_vec(),
        method: 8,
        flags: 1 << 11,
        declared: None,
        attributes: 0,
        offset: None,
        is_zip64: false,
    }
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zip(entries: &[Entry]) -> Vec<u8> {
    let (mut file, mut table) = (Vec::new(), Vec::new());
    for entry in entries {
        let packed = match entry.method {
            8 => deflated(&entry.content),
            93 => {
                let level = ruzstd::encoding::CompressionLevel::Fastest;
                ruzstd::encoding::compress_to_vec(&entry.content[..], level)
            }
            _ => entry.content.clone(),
        };
        let mut crc = flate2::Crc::new();
        crc.update(&entry.content);
        let offset = entry.offset.unwrap_or(file.len() as u32);
        let size = entry.declared.unwrap_or(entry.content.len() as u64);
        let small = |size: u64| if entry.is_zip64 { u32::MAX } else { size as u32 };
        let mut common = Vec::new();
        for value in [20, entry.flags, entry.method, 0x6000, 0x5872] {
            common.extend_from_slice(&u16::to_le_bytes(value));
        }
        common.extend_from_slice(&crc.sum().to_le_bytes());
        common.extend_from_slice(&small(packed.len() as u64).to_le_bytes());
        common.extend_from_slice(&small(size).to_le_bytes());
        common.extend_from_slice(&(entry.name.len() as u16).to_le_bytes());
        file.extend_from_slice(b"PK\x03\x04");
        file.extend_from_slice(&common);
        file.extend_from_slice(&[0, 0]);
        file.extend_from_slice(&entry.name);
        file.extend_from_slice(&packed);
        let mut extra = Vec::new();
        if entry.is_zip64 {
            extra.extend_from_slice(&[1, 0, 24, 0]);
            for value in [size, packed.len() as u64, offset.into()] {
                extra.extend_from_slice(&value.to_le_bytes());
            }
        }
        table.extend_from_slice(b"PK\x01\x02\x14\x03");
        table.extend_from_slice(&common);
        table.extend_from_slice(&(extra.len() as u16).to_le_bytes());
        table.extend_from_slice(&[0; 6]);
        table.extend_from_slice(&entry.attributes.to_le_bytes());
        table.extend_from_slice(&small(offset.into()).to_le_bytes());
        table.extend_from_slice(&entry.name);
        table.extend_from_slice(&extra);
    }
    let start = file.len() as u32;
    file.extend_from_slice(&table);
    file.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    file.extend_from_slice(&[entries.len() as u16; 2].map(u16::to_le_bytes).concat());
    file.extend_from_slice(&[table.len() as u32, start].map(u32::to_le_bytes).concat());
    file.extend_from_slice(&[0, 0]);
    file
}

fn index(file: &[u8]) -> Result<MemberIndex, ArchiveError> {
    let source = Arc::new(Bytes::copy_from_slice(file));
    match ArchiveKind::Zip.container().start_index(source).advance(&|| false)? {
        IndexingStep::Done(index) => Ok(index),
        IndexingStep::Paused(_) => panic!("the table of a zip takes one slice"),
    }
}

fn read(file: &[u8], path: &str) -> Result<Vec<u8>, ArchiveError> {
    let index = index(file)?;
    let source: Arc<dyn PositionedRead> = Arc::new(Bytes::copy_from_slice(file));
    let member = index.get(path).expect("the member is listed");
    let mut stream = ArchiveKind::Zip.container().open(source, member)?;
    let mut all = Vec::new();
    while !stream.advance(&mut all, usize::MAX, &|| false)? {}
    Ok(all)
}

fn paths(index: &MemberIndex) -> Vec<&str> {
    index.children("", None).map(|member| &*member.path).collect()
}

#[test]
fn members_are_read_by_every_method() {
    for method in [0, 8, 93] {
        for is_zip64 in [false, true] {
            let long = b"content ".repeat(50_000);
            let entries = [entry("a/b.txt", b"hello"), entry("long", &long), entry("e", b"")];
            let entries = entries.map(|entry| Entry { method, is_zip64, ..entry });
            let file = zip(&entries);
            assert_eq!(paths(&index(&file).unwrap()), ["a", "e", "long"]);
            assert_eq!(read(&file, "a/b.txt").unwrap(), b"hello", "{method} {is_zip64}");
            assert_eq!(read(&file, "long").unwrap(), long, "{method} {is_zip64}");
            assert_eq!(read(&file, "e").unwrap(), b"");
            let with_stub = [&b"#!/bin/sh\nexec java\n"[..], &file].concat();
            assert_eq!(read(&with_stub, "a/b.txt").unwrap(), b"hello", "behind a script");
        }
    }
}

#[test]
fn names_that_lead_elsewhere_and_links_are_left_out_and_noted() {
    let bad = ["../x", "/etc/passwd", "C:\\x", "a/../../x", "\\\\host\\x", "a\0b", ""];
    let mut entries: Vec<Entry> = bad.map(|name| entry(name, b"bad")).into();
    entries.push(Entry { attributes: 0o120_777 << 16, ..entry("link", b"/etc/passwd") });
    entries.push(entry("good", b"good"));
    let index = index(&zip(&entries)).unwrap();
    assert_eq!(paths(&index), ["good"]);
    // An empty name is the root, and no member.
    assert_eq!(
        index.notes,
        ["6 members with names that are no paths inside the archive", "1 links and special files"]
    );
}

#[test]
fn what_cannot_be_read_is_listed_and_says_why() {
    let protected = Entry { flags: 1, ..entry("a", b"x") };
    assert!(matches!(read(&zip(&[protected]), "a"), Err(ArchiveError::Protected)));
    let aes = Entry { method: 99, ..entry("a", b"x") };
    assert!(matches!(read(&zip(&[aes]), "a"), Err(ArchiveError::Protected)));
    let lzma = Entry { method: 14, ..entry("a", b"x") };
    assert!(matches!(read(&zip(&[lzma]), "a"), Err(ArchiveError::Unsupported(_))));
    let huge = Entry { declared: Some(10 << 30), is_zip64: true, ..entry("a", b"x") };
    assert!(matches!(read(&zip(&[huge]), "a"), Err(ArchiveError::TooLarge(_))));
}

#[test]
fn a_member_is_never_longer_or_shorter_than_declared() {
    let bomb = Entry { declared: Some(10), ..entry("a", &vec![0; 1 << 20]) };
    assert!(matches!(read(&zip(&[bomb]), "a"), Err(ArchiveError::Damaged(_))), "the checksum");
    let short = Entry { declared: Some(10), ..entry("a", b"x") };
    assert!(matches!(read(&zip(&[short]), "a"), Err(ArchiveError::Damaged(_))));
    let stored = Entry { declared: Some(10), method: 0, ..entry("a", b"x") };
    assert!(matches!(read(&zip(&[stored]), "a"), Err(ArchiveError::Damaged(_))));
}

#[test]
fn overlapping_members_are_not_read() {
    let file = zip(&[
        entry("a", b"one"),
        Entry { offset: Some(0), ..entry("b", b"one") },
        entry("c", b"two"),
    ]);
    for path in ["a", "b"] {
        assert!(matches!(read(&file, path), Err(ArchiveError::Damaged(_))), "{path}");
    }
    assert_eq!(read(&file, "c").unwrap(), b"two");
}

#[test]
fn old_japanese_names_and_backslashes_are_read() {
    let (name, _, _) = encoding_rs::SHIFT_JIS.encode("資料/議事録.txt");
    let old = Entry { name: name.into_owned(), flags: 0, ..entry("", b"x") };
    let file = zip(&[old, entry("win\\dir\\a.txt", b"y")]);
    assert_eq!(read(&file, "資料/議事録.txt").unwrap(), b"x");
    assert_eq!(read(&file, "win/dir/a.txt").unwrap(), b"y");
}

#[test]
fn times_come_from_the_table() {
    let index = index(&zip(&[entry("a", b"")])).unwrap();
    let modified = index.get("a").unwrap().modified.unwrap();
    let since = modified.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(since.as_secs(), 1_710_763_200, "2024-03-18 12:00");
}

#[test]
fn a_broken_archive_is_an_error_wherever_it_is_cut() {
    let file = zip(&[entry("a", b"hello"), entry("b", &[7; 3000])]);
    for end in 0..file.len() {
        assert!(index(&file[..end]).is_err(), "cut at {end}");
    }
    assert!(index(&[0; 100_000]).is_err());
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(
        at in prop::collection::vec((0_usize..400, any::<u8>()), 0..6),
    ) {
        let mut file = zip(&[entry("a/b", b"hello"), Entry { is_zip64: true, ..entry("c", b"x") }]);
        for (at, byte) in at {
            let at = at % file.len();
            file[at] = byte;
        }
        if let Ok(index) = index(&file) {
            for path in ["a/b", "c"].into_iter().filter(|path| index.get(path).is_some()) {
                let _ = read(&file, path);
            }
        }
    }
}

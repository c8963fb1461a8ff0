//! Tests of the tar parser: archives built block by block, honest and hostile.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use proptest::prelude::{any, prop, proptest};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::{ArchiveError, ArchiveKind, IndexingStep, MemberIndex, PositionedRead};

fn header(name: &[u8], kind: u8, size: u64) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..name.len().min(100)].copy_from_slice(&name[..name.len().min(100)]);
    block[100..107].copy_from_slice(b"0000644");
    block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    block[136..147].copy_from_slice(b"00000000007");
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    sign(&mut block);
    block
}

fn sign(block: &mut [u8]) {
    block[148..156].fill(b' ');
    let sum: u64 = block.iter().map(|byte| u64::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
}

fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut entry = header(name.as_bytes(), kind, content.len() as u64);
    entry.extend_from_slice(content);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

fn tar(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut file = entries.concat();
    file.resize(file.len() + 1024, 0);
    file
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn xz(bytes: &[u8], options: XzOptions) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn index(kind: ArchiveKind, file: &[u8]) -> Result<MemberIndex, ArchiveError> {
    let mut indexing = kind.container().start_index(Arc::new(Bytes::copy_from_slice(file)));
    loop {
        // Every second look says that the slice is over.
        let looks = std::cell::Cell::new(0);
        let is_over = || looks.replace(looks.get() + 1) % 2 == 1;
        match indexing.advance(&is_over)? {
            IndexingStep::Done(index) => return Ok(index),
            IndexingStep::Paused(more) => indexing = more,
        }
    }
}

fn read(kind: ArchiveKind, file: &[u8], path: &str) -> Result<Vec<u8>, ArchiveError> {
    let index = index(kind, file)?;
    let source: Arc<dyn PositionedRead> = Arc::new(Bytes::copy_from_slice(file));
    let member = index.get(path).expect("the member is listed");
    let mut stream = kind.container().open(source, member)?;
    let mut all = Vec::new();
    while !stream.advance(&mut all, usize::MAX, &|| false)? {}
    Ok(all)
}

fn every_kind(plain: &[u8]) -> [(ArchiveKind, Vec<u8>); 4] {
    [
        (ArchiveKind::Tar, plain.to_vec()),
        (ArchiveKind::TarGz, gzip(plain)),
        (ArchiveKind::TarZst, zstandard(plain)),
        (ArchiveKind::TarXz, xz(plain, XzOptions::with_preset(1))),
    ]
}

fn paths(index: &MemberIndex) -> Vec<&str> {
    index.children("", None).map(|member| &*member.path).collect()
}

#[test]
fn members_are_read_from_every_packing() {
    let long = b"content ".repeat(50_000);
    let plain = tar(&[
        entry("./", b'5', b""),
        entry("./a/b.txt", b'0', b"hello"),
        entry("long", 0, &long),
        entry("d/", b'5', b""),
        entry("old/", b'0', b""),
        entry("a/b.txt", b'0', b"hello again"),
    ]);
    for (kind, file) in every_kind(&plain) {
        let index = index(kind, &file).unwrap();
        assert_eq!(paths(&index), ["a", "d", "long", "old"], "{kind:?}");
        assert!(index.get("old").unwrap().is_folder);
        assert_eq!(read(kind, &file, "a/b.txt").unwrap(), b"hello again", "the last one counts");
        assert_eq!(read(kind, &file, "long").unwrap(), long);
        assert_eq!(index.notes, ["1 files with the name of a later one"]);
    }
    let two = [gzip(&plain[..1024]), gzip(&plain[1024..])].concat();
    assert_eq!(read(ArchiveKind::TarGz, &two, "long").unwrap(), long, "gzip in two members");
    let skippable = [&b"\x50\x2a\x4d\x18\x03\0\0\0abc"[..], &zstandard(&plain)].concat();
    assert_eq!(read(ArchiveKind::TarZst, &skippable, "long").unwrap(), long);
    let half = |bytes| xz(bytes, XzOptions::with_preset(0));
    let two = [half(&plain[..1024]), half(&plain[1024..])].concat();
    assert_eq!(read(ArchiveKind::TarXz, &two, "long").unwrap(), long, "two streams of xz");
}

#[test]
fn an_xz_that_takes_too_much_memory_is_refused() {
    let mut options = XzOptions::with_preset(0);
    options.lzma_options.dict_size = 64 << 20;
    let file = xz(&tar(&[entry("a", b'0', b"x")]), options);
    let error = index(ArchiveKind::TarXz, &file).unwrap_err();
    assert!(matches!(error, ArchiveError::TooLarge(_)), "{error}");
}

#[test]
fn long_names_of_gnu_and_pax_are_read() {
    let long = format!("{}/name.txt", "d".repeat(120));
    let gnu =
        [entry("././@LongLink", b'L', format!("{long}\0").as_bytes()), entry("x", b'0', b"1")];
    assert_eq!(read(ArchiveKind::Tar, &tar(&gnu), &long).unwrap(), b"1");
    let pax = [
        entry("g", b'g', b"17 comment=global\n"),
        entry("pax", b'x', "19 path=資料.txt\n9 size=2\n".as_bytes()),
        header(b"x", b'0', 0),
        entry("", b'0', b"")[..0].to_vec(),
        [b"ab".to_vec(), vec![0; 510]].concat(),
        entry("next", b'0', b"n"),
    ];
    let file = tar(&pax);
    assert_eq!(read(ArchiveKind::Tar, &file, "資料.txt").unwrap(), b"ab");
    assert_eq!(read(ArchiveKind::Tar, &file, "next").unwrap(), b"n");
    let mut prefixed = header(b"name", b'0', 0);
    prefixed[345..351].copy_from_slice(b"prefix");
    sign(&mut prefixed);
    assert!(index(ArchiveKind::Tar, &tar(&[prefixed])).unwrap().get("prefix/name").is_some());
}

#[test]
fn links_devices_and_names_that_lead_elsewhere_are_left_out() {
    let mut link = header(b"link", b'2', 0);
    link[157..168].copy_from_slice(b"/etc/passwd");
    sign(&mut link);
    let file = tar(&[
        link,
        entry("hard", b'1', b""),
        entry("device", b'3', b""),
        entry("pipe", b'6', b""),
        entry("../up", b'0', b"bad"),
        entry("/root", b'0', b"bad"),
        entry("a\\b", b'0', b"bad"),
        entry("good", b'0', b"good"),
    ]);
    let index = index(ArchiveKind::Tar, &file).unwrap();
    assert_eq!(paths(&index), ["good"]);
    assert!(index.notes[0].starts_with("3 members with names"), "{:?}", index.notes);
    assert!(index.notes[1].starts_with("4 links"), "{:?}", index.notes);
}

#[test]
fn sparse_files_are_listed_and_not_read() {
    let mut sparse = header(b"sparse", b'S', 3);
    sparse[257..265].copy_from_slice(b"ustar  \0");
    sparse[482] = 1;
    sparse[483..494].copy_from_slice(b"00000010000");
    sign(&mut sparse);
    let map = vec![0; 512];
    let content = [b"abc".to_vec(), vec![0; 509]].concat();
    let pax = entry("x", b'x', b"22 GNU.sparse.major=1\n27 GNU.sparse.name=pax-one\n");
    let file = tar(&[
        sparse,
        map,
        content,
        pax,
        entry("GNUSparseFile.0/x", b'0', b"abc"),
        entry("next", b'0', b"n"),
    ]);
    for path in ["sparse", "pax-one"] {
        assert!(matches!(read(ArchiveKind::Tar, &file, path), Err(ArchiveError::Unsupported(_))));
    }
    assert_eq!(index(ArchiveKind::Tar, &file).unwrap().get("sparse").unwrap().size, 4096);
    assert_eq!(read(ArchiveKind::Tar, &file, "next").unwrap(), b"n");
}

#[test]
fn a_truncated_archive_lists_what_it_has_and_says_so() {
    let plain = tar(&[entry("a", b'0', b"hello"), entry("b", b'0', &[7; 3000])]);
    for (kind, file) in every_kind(&plain[..2500]) {
        let index = index(kind, &file).unwrap();
        assert_eq!(index.notes, ["the archive is damaged: it ends too early"], "{kind:?}");
        assert_eq!(read(kind, &file, "a").unwrap(), b"hello");
        assert!(matches!(read(kind, &file, "b"), Err(ArchiveError::Damaged(_))), "{kind:?}");
    }
    assert!(index(ArchiveKind::Tar, b"").unwrap().is_empty());
    for kind in [ArchiveKind::Tar, ArchiveKind::TarGz, ArchiveKind::TarZst] {
        assert!(index(kind, &[b'x'; 2000]).is_err(), "{kind:?}");
    }
}

#[test]
fn a_bomb_ends_at_the_bounds() {
    let name = header(b"name", b'L', 1 << 32);
    assert!(matches!(index(ArchiveKind::Tar, &tar(&[name])), Err(ArchiveError::Damaged(_))));
    let huge = header(b"huge", b'0', (8 << 30) - 1);
    let file = gzip(&tar(std::slice::from_ref(&huge)));
    assert!(matches!(index(ArchiveKind::TarGz, &file), Err(ArchiveError::TooLarge(_))));
    let plain = tar(&[huge]);
    assert!(matches!(read(ArchiveKind::Tar, &plain, "huge"), Err(ArchiveError::TooLarge(_))));
    let many = header(b"same", b'0', 0).repeat(100_001);
    assert!(matches!(index(ArchiveKind::Tar, &many), Err(ArchiveError::TooLarge(_))));
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(
        at in prop::collection::vec((0_usize..4000, any::<u8>()), 0..6), packing in 0_usize..4,
    ) {
        let mut file = tar(&[
            entry("././@LongLink", b'L', b"long\0"),
            entry("a", b'0', b"hello"),
            entry("pax", b'x', b"13 path=long\n"),
            entry("b", b'0', b"x"),
        ]);
        let (kind, packed) = every_kind(&file).into_iter().nth(packing).expect("four kinds");
        file = packed;
        for (at, byte) in at {
            let at = at % file.len();
            file[at] = byte;
        }
        if let Ok(index) = index(kind, &file) {
            for path in ["a", "long", "b"].into_iter().filter(|path| index.get(path).is_some()) {
                let _ = read(kind, &file, path);
            }
        }
    }
}

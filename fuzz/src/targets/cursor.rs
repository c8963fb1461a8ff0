//! Target `cursor`: sealed cursors, packed values, and cursors of merged lists.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use catalog::{Address, Catalog, MetadataRules, Mount, MountOptions};
use machinery::{Packer, Unpacker};
use protocol::cursor::MAX_CURSOR_CHARS;
use protocol::{CursorMac, CursorSeal, SealedCursor};
use resource::{Cursor, Error, ErrorKind, PageRequest, Provider};
use testkit::{FuzzTarget, MemoryProvider, local_context};

use super::{run, text_of};

pub(crate) const TARGET: FuzzTarget = FuzzTarget { name: "cursor", examples: EXAMPLES, check };

const EXAMPLES: &[&[u8]] = &[
    b"\x02a\x00",
    b"\x06notes\x05\x03ab\x01",
    b"\x02b\x02\x31",
    b"\x02a\x09test:a/1",
    b"\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    b"tsrc/main.rs",
    b"fsrc/",
];

fn check(input: &[u8]) {
    check_seal(input);
    check_packing(input);
    check_merged(input);
}

/// Only what was sealed for a list is a cursor of that list.
fn check_seal(input: &[u8]) {
    let seal = CursorSeal::new([7; 32]);
    let forged = seal.unseal("list", &text_of(input), |_| Err(Error::bad_cursor()));
    assert!(forged.is_err(), "a forged cursor is taken");
    let cursor = Cursor(Bytes::copy_from_slice(input));
    let SealedCursor { text: sealed, stored } = seal.seal("list", &cursor);
    assert!(sealed.len() <= MAX_CURSOR_CHARS, "{sealed}");
    let find = |mac: &CursorMac| {
        let is_known = stored.as_ref() == Some(mac);
        is_known.then(|| cursor.0.clone()).ok_or_else(Error::bad_cursor)
    };
    let unseal = |seal: &CursorSeal, list, text: &str| seal.unseal(list, text, find).ok();
    assert_eq!(unseal(&seal, "list", &sealed), Some(cursor.clone()));
    assert_eq!(unseal(&seal, "other", &sealed), None, "a cursor of another list is taken");
    assert_eq!(unseal(&CursorSeal::new([8; 32]), "list", &sealed), None, "another key is taken");
    let place = input.iter().map(|byte| usize::from(*byte)).sum::<usize>() % sealed.len();
    let mut forged = sealed.into_bytes();
    forged[place] = if forged[place] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).expect("base64 is ASCII");
    assert_eq!(unseal(&seal, "list", &forged), None, "a changed cursor is taken");
}

/// Packed values have one form only.
fn check_packing(input: &[u8]) {
    let mut unpacker = Unpacker::new(input);
    let values = (|| {
        let (number, bytes) = (unpacker.integer()?, unpacker.bytes()?);
        Some((number, bytes, unpacker.optional_integer()?, unpacker.text()?))
    })();
    let Some((number, bytes, optional, text)) = values else { return };
    let packed = Packer::default().integer(number).bytes(bytes).optional_integer(optional);
    assert!(input.starts_with(&packed.bytes(text).finish()));
}

/// A catalog gives a page for any cursor, or says that the cursor is invalid.
fn check_merged(input: &[u8]) {
    // A new one each time: its caches fill slowly, which looks like a leak.
    let catalog = new_catalog();
    let cursor = Some(Cursor(Bytes::copy_from_slice(input)));
    let (ctx, paging) = (local_context(), PageRequest::new(cursor, 2));
    match run(catalog.list(&ctx, None, &paging)) {
        Ok(page) => assert!(page.items.len() <= 2),
        Err(error) => assert_eq!(error.kind, ErrorKind::Invalid, "{error}"),
    }
    if let Err(error) = run(catalog.templates(&ctx, &paging)) {
        assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
    }
}

fn options() -> MountOptions {
    MountOptions {
        access: Arc::default(),
        rules: MetadataRules::default(),
        tools: None,
        max_read: 1 << 20,
        timeout: Duration::from_secs(3600),
        required: true,
        rendering: None,
        work_pool: Arc::default(),
        unpack: false,
        masks_itself: false,
        redaction: Default::default(),
    }
}

fn new_catalog() -> Catalog {
    let mount = |name: &str| {
        let provider = MemoryProvider::new().text("test:1", "a").text("test:2", "b");
        let provider = provider.text("test:3", "c").template("test:{a}", "d", &[]);
        let address = Address::Scheme { name: name.to_owned() };
        Mount::new(name, address, provider, options())
    };
    Catalog::new(vec![mount("a"), mount("b"), mount("notes")])
}

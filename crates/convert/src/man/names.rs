//! Names and first lines of manual pages.

/// Endings of what is no page although a number follows: copies and rotated logs.
const OTHERS: [&str; 16] = [
    "bak", "bin", "csv", "db", "dmp", "dump", "err", "gz", "json", "log", "old", "orig", "out",
    "sql", "txt", "xml",
];

/// How much of a file is looked at for macros.
const HEAD_BYTES: usize = 1 << 16;

/// Whether a file with this name is a manual page: `ls.1`, `Carp.3pm`, `ls.1.gz`.
pub(crate) fn is_page_name(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let Some((stem, section)) = name.rsplit_once('.') else { return false };
    let mut letters = section.bytes();
    let is_section = letters.next().is_some_and(|digit| (b'1'..=b'9').contains(&digit))
        && section.len() <= 8
        && letters.all(|letter| letter.is_ascii_lowercase());
    let is_library = stem.starts_with("lib") && stem.contains(".so");
    let is_version = stem.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
    is_section && !is_library && !is_version && !OTHERS.contains(&ending)
}

/// Whether text is roff with macros of manual pages, by its beginning.
pub(crate) fn is_roff(bytes: &[u8]) -> bool {
    const MACROS: [&[u8]; 8] =
        [b".TH", b".SH", b".Dd", b".Dt", b".Sh", b".so", b".\\\"", b"'\\\""];
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if head.contains(&0) {
        return false;
    }
    let lines = head.split(|byte| *byte == b'\n');
    lines.take(1_000).any(|line| {
        MACROS.iter().any(|known| {
            let rest = line.strip_prefix(*known);
            rest.is_some_and(|rest| {
                known.ends_with(b"\"") || rest.first().is_none_or(u8::is_ascii_whitespace)
            })
        })
    })
}

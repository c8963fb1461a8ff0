//! Manual pages: their names, and the macros of roff that they begin with.

/// Endings of what is no page although a number follows: copies and rotated logs.
const OTHERS: [&str; 16] = [
    "bak", "bin", "csv", "db", "dmp", "dump", "err", "gz", "json", "log", "old", "orig", "out",
    "sql", "txt", "xml",
];

/// How much of a file is looked at for macros.
const HEAD_BYTES: usize = 1 << 16;

/// Whether a file with this name is a manual page: `ls.1`, `Carp.3pm`, `ls.1.gz`.
pub fn is_page_name(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let Some((stem, section)) = name.rsplit_once('.') else { return false };
    let mut letters = section.bytes();
    let is_section = letters.next().is_some_and(|digit| (b'1'..=b'9').contains(&digit))
        && section.len() <= 8
        && letters.all(|letter| letter.is_ascii_lowercase());
    let is_library = stem.starts_with("lib") && stem.contains(".so");
    let is_version = stem.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
    is_section && !stem.is_empty() && !is_library && !is_version && !OTHERS.contains(&ending)
}

/// Whether text is roff with macros of manual pages, by its beginning.
pub fn is_roff(bytes: &[u8]) -> bool {
    const MACROS: [&[u8]; 8] = [b".TH", b".SH", b".Dd", b".Dt", b".Sh", b".so", b".\\\"", b"'\\\""];
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

#[cfg(test)]
mod tests {
    use super::{is_page_name, is_roff};

    #[test]
    fn pages_are_known_by_their_section() {
        let pages = [
            "ls.1",
            "ls.1.gz",
            "Carp.3pm",
            "Carp.3pm.gz",
            "resolv.conf.5",
            "ld.so.8",
            "gcc-12.1.gz",
            "[.1.gz",
            "systemd.time.7",
        ];
        for name in pages {
            assert!(is_page_name(name), "{name}");
        }
        let others = [
            "libc.so.6",
            "app.log.1",
            "app.log.2.gz",
            "dump.sql.1",
            "1.2",
            "v1.10",
            "a.0",
            "a.gz",
            "a.tar.gz",
            "a.1.zip",
            "1",
            ".1",
            "a.3PM",
            "",
        ];
        for name in others {
            assert!(!is_page_name(name), "{name}");
        }
    }

    #[test]
    fn roff_is_known_by_its_macros() {
        let pages: [&[u8]; 7] = [
            b".TH LS 1\n",
            b".\\\" comment\n.TH LS 1\n",
            b"'\\\" t\n",
            b"\xEF\xBB\xBF.Dd today\n",
            b".so man3/printf.3\n",
            b"\n\n.de Sp\n.br\n..\n.SH NAME\n",
            b".Dt LS 1\r\n",
        ];
        for page in pages {
            assert!(is_roff(page), "{}", page.escape_ascii());
        }
        let others: [&[u8]; 5] = [b"", b"Nov 16 host kernel: x\n", b".THE\n", b".TH\0", b"a .TH\n"];
        for text in others {
            assert!(!is_roff(text), "{}", text.escape_ascii());
        }
    }
}

//! Tests of manual pages.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{read_head, title_of_name, unpack_start};

const CHMOD: &str = ".\\\" a comment\n.TH CHMOD \"1\" \"2021年5月\" \"GNU\"\n.SH 名前\nchmod \\- ファイルの\
\\fBモード\\fPを変更する\n.SH 書式\n.B chmod\n[\\fIOPTION\\fR]... FILE\n.SH 説明\n一行目。\n.PP\n段落。\n\
.TP\n.BR \\-c \", \" \\-\\-changes\n変更を報告する\n.nf\n  $ chmod +x a\n.fi\n";

const MDOC: &str = ".Dd May 1, 2020\n.Dt LS 1\n.Os\n.Sh NAME\n.Nm ls\n.Nd list directory contents\n.Sh \
SYNOPSIS\n.Nm ls\n.Op Fl aA\n.Op Ar file ...\n.Sh DESCRIPTION\nSee\n.Xr chmod 1 .\n.Bl -tag\n.It Fl \
a\nAll of them.\n.El\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn name_section_and_description_are_found_in_both_languages_of_roff() {
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(read_head(CHMOD), (some("chmod(1)"), some("ファイルのモードを変更する")));
    assert_eq!(read_head(MDOC), (some("ls(1)"), some("list directory contents")));
    let split = ".Dt FTP 1\n.Sh 名前\n.Nm ftp\n.Nd\n.Tn Internet\nのファイル転送\n.Sh 書式\n";
    assert_eq!(read_head(split).1, some("Internet のファイル転送"));
    let defined = format!(".de Sh\n.SH x\n..\n{CHMOD}");
    assert_eq!(read_head(&defined).1, some("ファイルのモードを変更する"), "macros are skipped");
    assert_eq!(read_head(""), (None, None));
    assert_eq!(title_of_name("shm_overview.7.gz"), some("shm_overview(7)"));
}

#[test]
fn the_start_of_a_compressed_page_is_enough() {
    let long = format!("{CHMOD}{}", (0..20_000).map(|n| format!("line {n}\n")).collect::<String>());
    let start = unpack_start(&gzip(&long)[..4096]);
    assert_eq!(read_head(&start).0.as_deref(), Some("chmod(1)"));
    assert_eq!(unpack_start(&[0x1f, 0x8b, 1]), "");
}

#[test]
fn any_page_is_looked_at_without_a_panic() {
    const EXAMPLES: &[&[u8]] =
        &[CHMOD.as_bytes(), MDOC.as_bytes(), b".TP\n.SH\n\\", b".if \\{\n.ig\n"];
    let check = |input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        read_head(&text);
        unpack_start(input);
    };
    testkit::FuzzTarget { name: "manual pages", examples: EXAMPLES, check }.test();
}

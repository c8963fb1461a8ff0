//! Tests of manual pages.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{read_head, render_manual, title_of_name, unpack_manual, unpack_start};

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
fn a_page_is_rendered_with_its_sections_items_and_examples() {
    let text = render_manual("chmod(1)", CHMOD);
    assert_eq!(
        text,
        "# chmod(1)\n\n## 名前\n\nchmod - ファイルのモードを変更する\n\n## 書式\n\nchmod\n[OPTION]... \
         FILE\n\n## 説明\n\n一行目。\n\n段落。\n\n- -c, --changes\n  変更を報告する\n\n```\n  $ chmod +x \
         a\n```\n"
    );
    let text = render_manual("ls(1)", MDOC);
    for part in
        ["## NAME", "Nm ls — list", "[-aA]", "[file ...]", "chmod(1).", "- -a\n  All of them."]
    {
        let part = part.replace("Nm ls — list", "— list directory contents");
        assert!(text.contains(&part), "{part} in {text}");
    }
}

#[test]
fn conditions_and_definitions_of_macros_are_left_out() {
    let page = ".de IX\n..\n.ie n \\{\\\n.    ds C+ C\\v'-.1v'\n'br\\}\n.el\\{\\\n.    ds -- x\n'br\\}\n.if t .x\n\
                .TH X 1\n.SH NAME\nx \\- y\n.so man1/y.1\n";
    let text = render_manual("x(1)", page);
    assert_eq!(text, "# x(1)\n\n## NAME\n\nx - y\nSee man1/y.1.\n");
}

#[test]
fn compressed_pages_are_read_and_bombs_and_damage_are_refused() {
    let packed = gzip(CHMOD);
    assert_eq!(unpack_manual(&packed).unwrap(), CHMOD);
    assert!(unpack_manual(&packed[..packed.len() / 2]).is_err());
    assert!(unpack_manual(&gzip(&"x".repeat(9 << 20))).unwrap_err().contains("8 MiB"));
    let long = format!("{CHMOD}{}", (0..20_000).map(|n| format!("line {n}\n")).collect::<String>());
    let start = unpack_start(&gzip(&long)[..4096]);
    assert_eq!(read_head(&start).0.as_deref(), Some("chmod(1)"));
    assert_eq!(unpack_start(&[0x1f, 0x8b, 1]), "");
}

#[test]
fn any_page_is_rendered_without_a_panic() {
    const EXAMPLES: &[&[u8]] =
        &[CHMOD.as_bytes(), MDOC.as_bytes(), b".TP\n.SH\n\\", b".if \\{\n.ig\n"];
    let check = |input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        render_manual("x", &text);
        read_head(&text);
        unpack_start(input);
    };
    testkit::FuzzTarget { name: "manual pages", examples: EXAMPLES, check }.test();
}

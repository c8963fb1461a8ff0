//! Tests of the converter of manual pages.

mod hostile;
mod mdoc;

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::document::{Document, DocumentKind};
use crate::error::{ConvertError, ConvertErrorKind};
use crate::form::Form;
use crate::options::Options;

fn try_form(bytes: &[u8], form: Form) -> Result<(String, Vec<String>), ConvertError> {
    let options = &Options::default();
    let document = Document { kind: DocumentKind::Man, bytes, name: "", options };
    let converted = crate::convert(&document, form)?;
    Ok((String::from_utf8(converted.body).unwrap(), converted.losses))
}

fn markdown(page: &str) -> String {
    let (text, losses) = try_form(page.as_bytes(), Form::Markdown).unwrap();
    assert!(losses.is_empty(), "{losses:?}");
    text
}

/// The Markdown of lines after a heading.
fn body(lines: &str) -> String {
    let text = markdown(&format!(".SH X\n{lines}\n"));
    text.strip_prefix("## X\n").unwrap().trim_start_matches('\n').to_owned()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const CHMOD: &str = "'\\\" t\n.\\\" A comment\n.TH CHMOD 1 \"November 2020\" \"GNU coreutils 8.32\" \"User Commands\"\n\
    .SH 名前\nchmod \\- ファイルのモードを\n変更する\n\
    .SH SYNOPSIS\n.B chmod\n[\\fIOPTION\\fR]... \\fIMODE\\fR[\\fI,MODE\\fR]... \\fIFILE\\fR...\n.br\n\
    .B chmod\n[\\fIOPTION\\fR]...\n\
    .SH OPTIONS\n.TP\n\\fB\\-c\\fR, \\fB\\-\\-changes\\fR\nlike verbose\n.TP\n.BR \\-f \", \" \\-\\-silent\nquiet\n";

#[test]
fn a_page_begins_with_its_title_and_its_name() {
    let wanted = "# chmod(1)\n\n## 名前\n\nchmod - ファイルのモードを変更する\n\n## SYNOPSIS\n\n\
        **chmod** [*OPTION*]... *MODE*[*,MODE*]... *FILE*...  \n**chmod** [*OPTION*]...\n\n\
        ## OPTIONS\n\n- **-c**, **--changes**  \n  like verbose\n- **-f**, **--silent**  \n  quiet\n\n\
        *GNU coreutils 8.32, November 2020*\n";
    assert_eq!(markdown(CHMOD), wanted);
}

#[test]
fn a_page_is_read_in_any_charset_and_compressed() {
    let wanted = markdown(CHMOD);
    let (euc, _, _) = encoding_rs::EUC_JP.encode(CHMOD);
    for bytes in [gzip(CHMOD.as_bytes()), euc.to_vec(), gzip(&euc)] {
        assert_eq!(try_form(&bytes, Form::Markdown).unwrap().0, wanted);
    }
    let latin = b".TH A 1\n.SH NAME\na \\- caf\xe9 fran\xe7ais d\xe9j\xe0 vu\n";
    assert!(try_form(latin, Form::Markdown).unwrap().0.contains("a - café français déjà vu"));
}

#[test]
fn a_page_has_text_without_marks_and_html() {
    let plain = try_form(CHMOD.as_bytes(), Form::Plain).unwrap().0;
    assert!(plain.starts_with("chmod(1)\n\n名前\n\nchmod - ファイル"), "{plain}");
    assert!(plain.contains("\n- -c, --changes\n  like verbose\n"), "{plain}");
    let html = try_form(CHMOD.as_bytes(), Form::Html).unwrap().0;
    assert!(html.contains("<h2 id=\"user-content-名前\">名前</h2>"), "{html}");
    assert!(html.contains("<strong>--changes</strong>"), "{html}");
}

#[test]
fn names_content_and_mime_types_tell_a_page() {
    let of_name = DocumentKind::of_name;
    let man = Some(DocumentKind::Man);
    assert_eq!(of_name("ls.1", Some("text/troff")), man);
    assert_eq!(of_name("ls.1", None), man);
    assert_eq!(of_name("ls.1.gz", Some("application/gzip")), man);
    assert_eq!(of_name("page", Some("text/troff")), man);
    assert_eq!(of_name("syslog.1", Some("text/plain")), None);
    assert_eq!(of_name("a.tar.gz", Some("application/gzip")), None);
    let of_content = DocumentKind::of_content;
    assert_eq!(of_content(CHMOD.as_bytes(), "-", None), man);
    assert_eq!(of_content(&gzip(CHMOD.as_bytes()), "page.gz", None), man);
    assert_eq!(of_content(&gzip(b"a log\n"), "x.gz", None), None);
    assert_eq!(of_content(b"plain words\n", "x", None), None);
}

#[test]
fn escapes_become_characters_and_fonts() {
    let cases = [
        (r"a\-b \(bu \[em] \(aqx\(aq \e \&.x \(lqq\(rq", "a-b • — 'x' \\ .x “q”"),
        (r"\fBbold\fR \fIitalic\fP \f(CWcode\fP \f3x\f1", "**bold** *italic* `code` **x**"),
        (r"\*(lqquoted\*(rq \*R", "“quoted” ®"),
        (r"\s-1SMALL\s0 \s+1x\s0 a\h'2n'b a\h'-2n'b", "SMALL x a b ab"),
        (r"\[u65E5]\(:u \N'65' \['e]", "日ü A é"),
        ("one \\\" a comment", "one"),
        (r"a\c", "a"),
        (r"\o'_x' \z_y", "x y"),
    ];
    for (text, wanted) in cases {
        assert_eq!(body(text), format!("{wanted}\n"), "{text}");
    }
}

#[test]
fn fonts_of_macros_take_turns() {
    let cases = [
        (".B a b", "**a b**"),
        (".BR printf (3),", "**printf**(3),"),
        (".IR a , b", "*a*,*b*"),
        (".BI \"int f(\" x );", "**int f(***x***);**"),
        (".B\nnext line\nplain", "**next line** plain"),
        (".SM SMALL", "SMALL"),
        (".SB S", "**S**"),
        (".MR ls 1 .", "**ls**(1)."),
    ];
    for (text, wanted) in cases {
        assert_eq!(body(text), format!("{wanted}\n"), "{text}");
    }
}

#[test]
fn items_are_nested_and_keep_their_code() {
    let lines = ".IP \\(bu 2\none\n.IP\nmore\n.RS\n.TP\n.B tag\n.TQ\n.B other\ninner\n.EX\n  code *x*\n    more\n.EE\n\
        .RE\n.IP 2. 4\nsecond\n.PP\nend\n.TP\n.B \\-\nminus";
    let wanted = "- one\n\n  more\n\n  - **tag**  \n    **other**  \n    inner\n\n    ```\n    code *x*\n      more\n    ```\n\n\
        2. second\n\nend\n\n- **-**  \n  minus\n";
    assert_eq!(body(lines), wanted);
}

#[test]
fn lines_that_are_not_filled_are_code() {
    let lines = "Text\n.nf\n\n.B int f(\n  \\fIx\\fP);\n.PP\nlast\n.fi\nafter";
    assert_eq!(body(lines), "Text\n\n```\nint f(\n  x);\n\nlast\n```\n\nafter\n");
    assert_eq!(body(".nf\n`` ``` ``\n.fi"), "````\n`` ``` ``\n````\n");
}

#[test]
fn conditions_strings_and_macros_run() {
    let cases = [
        (".if n yes\n.if t no", "yes"),
        (".ie t no\n.el yes", "yes"),
        (".if t \\{\\\nno\n.if n \\{\nno\n.\\}\n.\\}\nyes", "yes"),
        (".ie n \\{\\\nyes\n.\\}\n.el \\{\\\nno\n.\\}", "yes"),
        (".ds x \"two words\na \\*x \\*[x]", "a two words two words"),
        (".ds C+ C\\\\v'-.1v'\\\\h'-1p'+\n\\*(C+", "C+"),
        (".nr F 2\n.if \\nF>1 yes \\nF", "yes 2"),
        (
            ".de Q\n.B \\\\$1\nand \\\\$2 \\\\n(.$\n..\n.Q one \"two words\"",
            "**one** and two words 2",
        ),
        (".de A\n\\\\$1\n.shift\n\\\\$1\n..\n.A x y", "x y"),
        (".ig\nno\n..\nyes", "yes"),
        (".ig end\nno\n..\n.end\nyes", "yes"),
        (".de SH\n.B no\n..\nyes", "yes"),
        (".rn B X\n.unknown macro\n'br\n.\\\" comment\nyes", "yes"),
        ("a \\\nb", "a b"),
        (".if '\\*x'' yes", "yes"),
    ];
    for (text, wanted) in cases {
        assert_eq!(body(text), format!("{wanted}\n"), "{text}");
    }
}

#[test]
fn links_options_and_includes_are_kept() {
    let cases = [
        (".UR https://example.org/\nthe site\n.UE .", "[the site](https://example.org/)."),
        (".UR https://example.org/\n.UE", "https://example.org/"),
        ("By\n.MT a@example.org\nAnn\n.ME ,\nme", "By [Ann](mailto:a@example.org), me"),
        (".SY ls\n.OP \\-a\n.OP \\-w cols\n.YS", "**ls** [**-a**] [**-w** *cols*]"),
        (".so man3/printf.3", "See [printf(3)](../man3/printf.3)"),
    ];
    for (text, wanted) in cases {
        assert_eq!(body(text), format!("{wanted}\n"), "{text}");
    }
    let (text, losses) = try_form(b".TH A 1\n.so an.tmac\nx\n", Form::Markdown).unwrap();
    assert_eq!((text.as_str(), losses.len()), ("# a(1)\n\nx\n", 1));
}

#[test]
fn tables_have_rows_blocks_and_fonts() {
    let lines = ".TS\nallbox tab(|);\nlb lb\nl lI.\nName|Value\n_\nplain|it\nT{\nmany\n.B lines\nT}|a b\n.T&\nc s\nl l.\nx|y\n.TE\nafter";
    let wanted = "| Name | Value |\n| --- | --- |\n| plain | *it* |\n| many **lines** | *a b* |\n| x | y |\n\nafter\n";
    assert_eq!(body(lines), wanted);
    assert_eq!(body(".TS\nl\n.\none\ntwo\n.TE"), "one  \ntwo\n");
    let titled = ".TS\nc s\nl l.\nTitle\na\tb\nc\td\n.TE";
    assert_eq!(body(titled), "Title\n\n| a | b |\n| --- | --- |\n| c | d |\n");
}

#[test]
fn each_line_of_a_tag_has_its_own_marks() {
    assert_eq!(body(".TP\n.B \\-v\n.B bash\ntells"), "- **-v**  \n  **bash** tells\n");
}

#[test]
fn what_is_no_page_is_refused() {
    let kind = |bytes: &[u8]| try_form(bytes, Form::Markdown).unwrap_err().kind;
    assert_eq!(kind(b"Nov 16 host kernel: x\n"), ConvertErrorKind::Damaged);
    assert_eq!(kind(b"\x1f\x8b\x08\0broken"), ConvertErrorKind::Damaged);
    let packed = gzip(CHMOD.as_bytes());
    assert_eq!(kind(&packed[..packed.len() - 9]), ConvertErrorKind::Damaged);
}

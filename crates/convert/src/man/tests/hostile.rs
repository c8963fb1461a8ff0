//! Tests of pages that would make a converter hang, grow or crash.

use proptest::prelude::*;

use super::{gzip, try_form};
use crate::error::ConvertErrorKind;
use crate::form::Form;

#[test]
fn macros_and_strings_that_call_themselves_end_and_are_said() {
    let pages = [
        ".SH A\n.de X\n.X\n.X\n..\n.X\nend\n".to_owned(),
        ".SH A\n.de X\nx\n.X\n..\n.X\nend\n".to_owned(),
        ".SH A\n.ds a \\\\*a\\\\*a\n\\*a\nend\n".to_owned(),
        format!(".SH A\n.ds a aaaaaaaaaaaaaaaa\n{}end\n", ".as a \\*a\n".repeat(64)),
        format!(".SH A\n.de X\n{}..\n.X\nend\n", ".X\n".repeat(1_000)),
        ".SH A\n.while n \\{\\\nx\n.\\}\nend\n".to_owned(),
    ];
    for page in pages {
        let (text, losses) = try_form(page.as_bytes(), Form::Markdown).unwrap();
        assert!(text.trim_end().ends_with("end"), "{page:.80}");
        assert!(!losses.is_empty() || page.contains("\\\\*a"), "{page:.80}");
        assert!(text.len() < 8 << 20, "{}", text.len());
    }
}

#[test]
fn pages_of_one_piece_thousands_of_times_end_in_time() {
    let pieces = [
        ".RS\n",
        ".TP\n",
        ".TP\nx\n",
        ".RS\n.IP x\n",
        ".if n ",
        ".ie n ",
        ".if n \\{",
        ".TS\n",
        "T{\n",
        ".Bl -tag\n",
        ".Bl -tag\n.It x\n",
        ".Bd\n",
        ".Op ",
        "Op ",
        ".Oo ",
        "\\fB",
        "\\f[",
        "\\h'",
        "\\*[",
        "\\(",
        "\\z",
        "\\c\n",
        ".SH\n",
        ".SH x\n",
        "\"",
        "((((",
        "\\\n",
        ".de x\n",
        ".so man1/a.1\n",
        ".UR x\n",
        ".nf\n",
        "\\w'",
        "\\\\",
        "`",
        "*",
        ".TS\nl l.\na\tb\n",
        "a\t",
        ".T&\n",
        ".am x\ny\n..\n",
        ".Fl ",
        "\\h日",
        ".Bl -column\n.It a Ta b\n",
        ".EX\n",
        ".TQ\nx\n",
        ".TP\n.B a\n.TQ\n",
    ];
    for piece in pieces {
        for start in [".SH A\n", ".Dd x\n.Sh A\n", ".SH A\n.TS\ntab(|);\nl l.\n"] {
            let page = format!("{start}{}", piece.repeat(5_000));
            let _ = try_form(page.as_bytes(), Form::Markdown);
        }
    }
}

#[test]
fn a_page_that_is_too_long_or_unpacks_to_too_much_is_refused() {
    let bomb = gzip(&vec![b'\n'; 40 << 20]);
    for page in [bomb, vec![b'\n'; 9 << 20]] {
        let error = try_form(&page, Form::Markdown).unwrap_err();
        assert_eq!(error.kind, ConvertErrorKind::OverLimit);
    }
}

/// Pieces of roff, with bars between.
const PIECES: &[&str] = &[
    "\n.|\n'|TH |SH |TP\n|IP |RS\n|RE\n|B |BR |nf\n|fi\n|if |ie |el |n |t |\\{|\\}",
    "de x\n|..\n|ds x |nr x |\\*x|\\nx|\\$1|x |TS\n|TE\n|l l.\n|T{\n|T}|\t|\\f|\\(|[",
    "]|(|'|\"|\\|日本|\u{a0}|Dd\n|Bl -tag\n|Bl -column\n|It |El\n|Ta |Xo |Xc |Op |Fl ",
    "Fn |Fo |Fc |Oo |Oc |Bd -literal\n|Ed\n|Rs\n|%A |Re\n|UR |UE |SY |OP |shift\n",
    "return\n|\\h'|\\s|so a.1\n|a|1|-|T&\n|.\n",
];

/// Lines of roff, well-formed and not.
fn roff() -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = PIECES.iter().flat_map(|row| row.split('|')).collect();
    let pieces = prop::sample::select(pieces);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_page_makes_it_panic(text in roff()) {
        let page = format!(".SH A\n{text}");
        for form in [Form::Markdown, Form::Plain, Form::Html] {
            prop_assert!(try_form(page.as_bytes(), form).is_ok());
        }
    }
}

//! Tests of pages with the macros of `mdoc`.

use super::markdown;

/// The Markdown of lines after a heading.
fn body(lines: &str) -> String {
    let text = markdown(&format!(".Dd June 1, 2020\n.Dt LS 1\n.Os\n.Sh X\n{lines}\n"));
    let text = text.strip_prefix("# ls(1)\n\n## X\n\n").unwrap();
    text.strip_suffix("\n*June 1, 2020*\n").unwrap().to_owned()
}

#[test]
fn a_page_begins_with_its_title_and_its_name() {
    let page = ".Dd June 1, 2020\n.Dt LS 1\n.Os\n.Sh NAME\n.Nm ls\n.Nd list files\n.Sh SYNOPSIS\n.Nm\n.Op Fl la\n.Op Ar file ...\n\
        .Sh DESCRIPTION\n.Nm ,\nwith\n.Fl l .\n";
    let wanted = "# ls(1)\n\n## NAME\n\n**ls** — list files\n\n## SYNOPSIS\n\n**ls** [**-la**] [*file ...*]\n\n\
        ## DESCRIPTION\n\n**ls**, with **-l**.\n\n*June 1, 2020*\n";
    assert_eq!(markdown(page), wanted);
}

#[test]
fn macros_of_a_line_nest_and_punctuation_joins() {
    let cases = [
        (".Op Fl o Ar file Ns Oo ,... Oc .", "[**-o** *file*[,...]]."),
        (".Xr printf 3 , Xr ls 1", "**printf**(3), **ls**(1)"),
        (".Fl Fl help", "**--help**"),
        (".Fl a b", "**-a -b**"),
        (".Ar", "*file ...*"),
        (".Dq Em x y ,", "“*x y*”,"),
        (".Pq see Sx Y", "(see *Y*)"),
        (".Fn f \"int a\" b .", "**f**(*int a*, *b*)."),
        (".Fo f\n.Fa a\n.Fa b\n.Fc", "**f**(*a*, *b*)"),
        (".Li code Ns (s)", "`code`(s)"),
        (".Bx 4.3 and .At v7", "4.3BSD and .At v7"),
        (".Pf ( Ar x )", "(*x*)"),
        (".Ar a | Ar b", "*a | b*"),
        (".Sm off\n.Ar a , b\n.Sm on\nx", "*a*,*b* x"),
        (".Lk https://example.org/ site .", "[site](https://example.org/)."),
        (".No ( a )", "(a)"),
        (".Rs\n.%T Book\n.%A Ann\n.%A Bo\n.%D 1999\n.Re", "Ann and Bo, Book, 1999."),
    ];
    for (text, wanted) in cases {
        assert_eq!(body(text), format!("{wanted}\n"), "{text}");
    }
}

#[test]
fn lists_and_displays_are_blocks() {
    let lines = ".Bl -tag -width x\n.It Fl a Ar b\nfirst\n.Bl -bullet\n.It\ninner\n.El\n.It Xo\n.Fl long\n.Xc\nsecond\n.El\n\
        .Bl -enum\n.It\none\n.It\ntwo\n.El\n.Bd -literal\n  code\n.Ed\n.Dl $ ls -l\n.Bl -column a b\n.It x Ta Em y\nmore\n.It z Ta w\n.El";
    let wanted = "- **-a** *b*  \n  first\n  - inner\n- **-long**  \n  second\n1. one\n2. two\n\n```\ncode\n```\n\n```\n$ ls -l\n```\n\n\
        | x | *y* more |\n| --- | --- |\n| z | w |\n";
    assert_eq!(body(lines), wanted);
}

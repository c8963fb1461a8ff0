//! Words of `mdoc`: punctuation, enclosures, fonts and names of systems.

use crate::rich_text::SpanStyle;

/// Whether an argument is punctuation that joins what stands before it.
pub(super) fn is_closing(text: &str) -> bool {
    matches!(text, "." | "," | ":" | ";" | ")" | "]" | "?" | "!")
}

/// Whether an argument is punctuation that what follows joins.
pub(super) fn is_opening(text: &str) -> bool {
    matches!(text, "(" | "[")
}

/// The marks around what stands on the line of a macro.
pub(super) fn enclosure(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "Op" | "Bq" => ("[", "]"),
        "Dq" => ("“", "”"),
        "Sq" | "Ql" => ("‘", "’"),
        "Qq" => ("\"", "\""),
        "Pq" => ("(", ")"),
        "Brq" => ("{", "}"),
        "Aq" => ("<", ">"),
        _ => return None,
    })
}

/// The mark that a macro sets, and whether it opens.
pub(super) fn bracket(name: &str) -> Option<(&'static str, bool)> {
    Some(match name {
        "Oo" | "Bo" => ("[", true),
        "Oc" | "Bc" => ("]", false),
        "Do" => ("“", true),
        "Dc" => ("”", false),
        "So" => ("‘", true),
        "Sc" => ("’", false),
        "Qo" | "Qc" => ("\"", name == "Qo"),
        "Po" => ("(", true),
        "Pc" => (")", false),
        "Bro" => ("{", true),
        "Brc" => ("}", false),
        "Ao" => ("<", true),
        "Ac" => (">", false),
        _ => return None,
    })
}

/// The font of the words of a macro.
pub(super) fn font(name: &str) -> Option<SpanStyle> {
    Some(match name {
        "Cm" | "Ic" | "Sy" | "Cd" | "Nm" | "Fl" | "Fd" | "Ms" => SpanStyle::BOLD,
        "Ar" | "Em" | "Pa" | "Va" | "Vt" | "Fa" | "Ft" | "Sx" => SpanStyle::ITALIC,
        "Li" => SpanStyle::CODE,
        "No" | "Dv" | "Ev" | "Er" | "Tn" | "An" | "Ad" | "Xo" | "Xc" | "Eo" | "Ec" => {
            SpanStyle::default()
        }
        _ => return None,
    })
}

/// The name of a system or standard, with its version.
pub(super) fn system(name: &str, version: &str) -> Option<String> {
    let named = |system: &str| match version {
        "" => system.to_owned(),
        version => format!("{system} {version}"),
    };
    Some(match name {
        "Ux" => "UNIX".to_owned(),
        "Bx" => format!("{version}BSD"),
        "Bsx" => named("BSD/OS"),
        "Fx" => named("FreeBSD"),
        "Nx" => named("NetBSD"),
        "Ox" => named("OpenBSD"),
        "Dx" => named("DragonFly"),
        "At" => match (version, version.strip_prefix('v'), version.strip_prefix("V.")) {
            ("", ..) => "AT&T UNIX".to_owned(),
            ("32v", ..) => "Version 32V AT&T UNIX".to_owned(),
            (_, Some(number), _) => format!("Version {number} AT&T UNIX"),
            (_, _, Some(release)) => format!("AT&T System V Release {release} UNIX"),
            (version, ..) => format!("AT&T System {version} UNIX"),
        },
        "St" => standard(version),
        "Lb" => format!("library “{version}”"),
        _ => return None,
    })
}

/// The name of a standard.
fn standard(code: &str) -> String {
    let code = code.trim_start_matches('-');
    let known = STANDARDS.iter().find(|(name, _)| *name == code);
    known.map_or_else(|| code.to_owned(), |(_, text)| (*text).to_owned())
}

const STANDARDS: [(&str, &str); 17] = [
    ("ansiC", "ANSI X3.159-1989 (“ANSI C89”)"),
    ("ansiC-89", "ANSI X3.159-1989 (“ANSI C89”)"),
    ("isoC", "ISO/IEC 9899:1990 (“ISO C90”)"),
    ("isoC-90", "ISO/IEC 9899:1990 (“ISO C90”)"),
    ("isoC-99", "ISO/IEC 9899:1999 (“ISO C99”)"),
    ("isoC-2011", "ISO/IEC 9899:2011 (“ISO C11”)"),
    ("p1003.1", "IEEE Std 1003.1 (“POSIX.1”)"),
    ("p1003.1-88", "IEEE Std 1003.1-1988 (“POSIX.1”)"),
    ("p1003.1-90", "IEEE Std 1003.1-1990 (“POSIX.1”)"),
    ("p1003.1-96", "ISO/IEC 9945-1:1996 (“POSIX.1”)"),
    ("p1003.1-2001", "IEEE Std 1003.1-2001 (“POSIX.1”)"),
    ("p1003.1-2004", "IEEE Std 1003.1-2004 (“POSIX.1”)"),
    ("p1003.1-2008", "IEEE Std 1003.1-2008 (“POSIX.1”)"),
    ("p1003.2", "IEEE Std 1003.2 (“POSIX.2”)"),
    ("p1003.2-92", "IEEE Std 1003.2-1992 (“POSIX.2”)"),
    ("susv2", "Version 2 of the Single UNIX Specification (“SUSv2”)"),
    ("xpg4", "X/Open Portability Guide Issue 4 (“XPG4”)"),
];

/// Whether an argument is a macro that runs where it stands.
pub(super) fn is_callable(name: &str) -> bool {
    let is_other = matches!(
        name,
        "Xr" | "Fn" | "Ns" | "Ap" | "Pf" | "Lk" | "Mt" | "In" | "Fo" | "Fc" | "St" | "Lb"
    );
    is_other
        || matches!(name, "Ux" | "Bx" | "Bsx" | "Fx" | "Nx" | "Ox" | "Dx" | "At")
        || enclosure(name).is_some()
        || bracket(name).is_some()
        || font(name).is_some()
}

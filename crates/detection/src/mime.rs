//! MIME type detection, by file name and by the first bytes.

use crate::man;

/// MIME type of unknown binary content.
pub const OCTET_STREAM: &str = "application/octet-stream";

/// MIME type of unknown text.
pub const PLAIN_TEXT: &str = "text/plain";

/// MIME type of manual pages.
pub const TROFF: &str = "text/troff";

/// Returns the MIME type for `name`, by whole name, then by extension.
pub fn by_name(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    if let Some(mime) = find_in_table(&NAMES, &name) {
        return Some(mime);
    }
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    if man::is_page_name(&name) && extension != "gz" {
        return Some(TROFF);
    }
    find_in_table(&EXTENSIONS, extension).or_else(|| mime_guess::from_ext(extension).first_raw())
}

/// Returns the MIME type by signature, unless it is a text type.
pub fn by_magic(head: &[u8]) -> Option<&'static str> {
    let kind = infer::get(head)?;
    let is_text =
        kind.matcher_type() == infer::MatcherType::Text || kind.mime_type().starts_with("text/");
    (!is_text).then_some(kind.mime_type())
}

/// Chooses the MIME type of content detected as text; a binary type from the name is ignored. The
/// numbers after names of manual pages are also those of old logs: `head`, where it is known, decides.
pub fn for_text(named: Option<&'static str>, head: &[u8]) -> &'static str {
    match named.filter(|mime| !is_binary(mime)) {
        Some(TROFF) if !head.is_empty() && !man::is_roff(head) => PLAIN_TEXT,
        Some(mime) => mime,
        None => PLAIN_TEXT,
    }
}

/// Chooses the MIME type of content detected as binary; a text type from the name is ignored.
pub fn for_blob(named: Option<&'static str>, head: &[u8]) -> &'static str {
    named.filter(|mime| !is_textual(mime)).or_else(|| by_magic(head)).unwrap_or(OCTET_STREAM)
}

fn is_textual(mime: &str) -> bool {
    let (family, format) = mime.split_once('/').unwrap_or((mime, ""));
    let named = ["json", "xml", "toml", "yaml", "javascript", "sql", "graphql", "x-sh", "x-ndjson"];
    family == "text"
        || format.ends_with("+json")
        || format.ends_with("+xml")
        || named.contains(&format)
}

fn is_binary(mime: &str) -> bool {
    let (family, format) = mime.split_once('/').unwrap_or((mime, ""));
    let media = ["image", "audio", "video", "font"].contains(&family) && !format.ends_with("xml");
    let packed = ["octet-stream", "pdf", "zip", "gzip", "x-tar", "wasm", "java-archive"];
    media || family == "application" && packed.contains(&format)
}

fn find_in_table(table: &[(&str, &'static str)], key: &str) -> Option<&'static str> {
    table.binary_search_by(|(name, _)| (*name).cmp(key)).ok().map(|index| table[index].1)
}

/// Whole file names, lower case, sorted.
const NAMES: [(&str, &str); 27] = [
    (".bashrc", "application/x-sh"),
    (".dockerignore", PLAIN_TEXT),
    (".editorconfig", PLAIN_TEXT),
    (".env", PLAIN_TEXT),
    (".gitattributes", PLAIN_TEXT),
    (".gitignore", PLAIN_TEXT),
    (".ignore", PLAIN_TEXT),
    (".refdeskignore", PLAIN_TEXT),
    ("authors", PLAIN_TEXT),
    ("cargo.lock", "application/toml"),
    ("changelog", PLAIN_TEXT),
    ("cmakelists.txt", "text/x-cmake"),
    ("codeowners", PLAIN_TEXT),
    ("containerfile", "text/x-dockerfile"),
    ("contributing", PLAIN_TEXT),
    ("copying", PLAIN_TEXT),
    ("dockerfile", "text/x-dockerfile"),
    ("gemfile", "text/x-ruby"),
    ("go.mod", PLAIN_TEXT),
    ("go.sum", PLAIN_TEXT),
    ("jenkinsfile", "text/x-groovy"),
    ("justfile", PLAIN_TEXT),
    ("license", PLAIN_TEXT),
    ("makefile", "text/x-makefile"),
    ("notice", PLAIN_TEXT),
    ("rakefile", "text/x-ruby"),
    ("readme", PLAIN_TEXT),
];

/// File extensions, lower case, sorted: those that `mime_guess` lacks or maps to another format.
const EXTENSIONS: [(&str, &str); 132] = [
    ("adoc", "text/asciidoc"),
    ("asm", "text/x-asm"),
    ("astro", PLAIN_TEXT),
    ("avsc", "application/json"),
    ("awk", "text/x-awk"),
    ("bash", "application/x-sh"),
    ("bat", "text/x-bat"),
    ("bazel", "text/x-starlark"),
    ("bib", "text/x-bibtex"),
    ("bzl", "text/x-starlark"),
    ("c", "text/x-c"),
    ("cc", "text/x-c++"),
    ("cfg", PLAIN_TEXT),
    ("cjs", "text/javascript"),
    ("clj", "text/x-clojure"),
    ("cljs", "text/x-clojure"),
    ("cmake", "text/x-cmake"),
    ("cmd", "text/x-bat"),
    ("conf", PLAIN_TEXT),
    ("cpp", "text/x-c++"),
    ("cs", "text/x-csharp"),
    ("csproj", "application/xml"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("cts", "text/typescript"),
    ("cu", "text/x-cuda"),
    ("cue", PLAIN_TEXT),
    ("cxx", "text/x-c++"),
    ("d", "text/x-d"),
    ("dart", "text/x-dart"),
    ("diff", "text/x-diff"),
    ("dockerfile", "text/x-dockerfile"),
    ("el", "text/x-emacs-lisp"),
    ("elm", "text/x-elm"),
    ("env", PLAIN_TEXT),
    ("erl", "text/x-erlang"),
    ("ex", "text/x-elixir"),
    ("exs", "text/x-elixir"),
    ("f90", "text/x-fortran"),
    ("fish", "text/x-fish"),
    ("fs", "text/x-fsharp"),
    ("geojson", "application/geo+json"),
    ("go", "text/x-go"),
    ("gql", "application/graphql"),
    ("gradle", "text/x-groovy"),
    ("graphql", "application/graphql"),
    ("groovy", "text/x-groovy"),
    ("h", "text/x-c"),
    ("har", "application/json"),
    ("hcl", "text/x-hcl"),
    ("hh", "text/x-c++"),
    ("hpp", "text/x-c++"),
    ("hrl", "text/x-erlang"),
    ("hs", "text/x-haskell"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("hxx", "text/x-c++"),
    ("ini", PLAIN_TEXT),
    ("ipynb", "application/x-ipynb+json"),
    ("java", "text/x-java"),
    ("jl", "text/x-julia"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("json5", "application/json5"),
    ("jsonc", "application/json"),
    ("jsonl", "application/x-ndjson"),
    ("jsx", "text/jsx"),
    ("kt", "text/x-kotlin"),
    ("kts", "text/x-kotlin"),
    ("less", "text/x-less"),
    ("lisp", "text/x-lisp"),
    ("lock", PLAIN_TEXT),
    ("log", PLAIN_TEXT),
    ("lua", "text/x-lua"),
    ("m", "text/x-objective-c"),
    ("mak", "text/x-makefile"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("mdx", "text/mdx"),
    ("mjs", "text/javascript"),
    ("mk", "text/x-makefile"),
    ("ml", "text/x-ocaml"),
    ("mli", "text/x-ocaml"),
    ("mm", "text/x-objective-c++"),
    ("mod", PLAIN_TEXT),
    ("mts", "text/typescript"),
    ("ndjson", "application/x-ndjson"),
    ("nim", "text/x-nim"),
    ("nix", "text/x-nix"),
    ("nu", "text/x-nushell"),
    ("org", "text/org"),
    ("patch", "text/x-diff"),
    ("php", "text/x-php"),
    ("pl", "text/x-perl"),
    ("pm", "text/x-perl"),
    ("properties", PLAIN_TEXT),
    ("proto", "text/x-protobuf"),
    ("ps1", "text/x-powershell"),
    ("py", "text/x-python"),
    ("pyi", "text/x-python"),
    ("r", "text/x-r"),
    ("rb", "text/x-ruby"),
    ("rs", "text/x-rust"),
    ("rst", "text/x-rst"),
    ("s", "text/x-asm"),
    ("sass", "text/x-sass"),
    ("scala", "text/x-scala"),
    ("scss", "text/x-scss"),
    ("sh", "application/x-sh"),
    ("sol", "text/x-solidity"),
    ("sql", "application/sql"),
    ("sum", PLAIN_TEXT),
    ("svelte", "text/x-svelte"),
    ("swift", "text/x-swift"),
    ("tcl", "text/x-tcl"),
    ("tex", "text/x-tex"),
    ("tf", "text/x-hcl"),
    ("toml", "application/toml"),
    ("ts", "text/typescript"),
    ("tsv", "text/tab-separated-values"),
    ("tsx", "text/tsx"),
    ("txt", PLAIN_TEXT),
    ("v", "text/x-verilog"),
    ("vb", "text/x-vb"),
    ("vhd", "text/x-vhdl"),
    ("vim", "text/x-vim"),
    ("vue", "text/x-vue"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zig", "text/x-zig"),
    ("zsh", "application/x-sh"),
];

#[cfg(test)]
mod tests {
    use super::{EXTENSIONS, NAMES, by_magic, by_name, for_blob, for_text};

    #[test]
    fn the_tables_are_in_order() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(EXTENSIONS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn source_code_is_what_it_is_and_not_a_film() {
        for (name, mime) in [
            ("a.ts", "text/typescript"),
            ("a.tsx", "text/tsx"),
            ("a.rs", "text/x-rust"),
            ("README.md", "text/markdown"),
            ("a.json", "application/json"),
            ("Cargo.toml", "application/toml"),
            ("Cargo.lock", "application/toml"),
            ("a.yaml", "application/yaml"),
            ("a.yml", "application/yaml"),
            ("a.py", "text/x-python"),
            ("a.go", "text/x-go"),
            ("Makefile", "text/x-makefile"),
            ("Dockerfile", "text/x-dockerfile"),
            ("LICENSE", "text/plain"),
            ("readme", "text/plain"),
            ("a.PNG", "image/png"),
            ("a.pdf", "application/pdf"),
            ("a.svg", "image/svg+xml"),
            ("a.html", "text/html"),
            ("ls.1", "text/troff"),
            ("Carp.3pm", "text/troff"),
        ] {
            assert_eq!(by_name(name), Some(mime), "{name}");
        }
        for name in ["a.unheardof", "nothing", ".rs", "a.", ""] {
            assert_eq!(by_name(name), None, "{name}");
        }
    }

    #[test]
    fn content_outweighs_a_name_that_cannot_be_right() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        assert_eq!(by_magic(png), Some("image/png"));
        assert_eq!(for_blob(by_name("a.md"), png), "image/png");
        assert_eq!(for_blob(by_name("a.md"), b"\0\x01"), "application/octet-stream");
        assert_eq!(for_blob(by_name("a.docx"), b"PK\x03\x04"), by_name("a.docx").unwrap());
        assert_eq!(for_text(by_name("a.png"), b"a"), "text/plain");
        assert_eq!(for_text(by_name("a.svg"), b"<svg>"), "image/svg+xml");
        assert_eq!(for_text(by_name("ls.1"), b".TH LS 1\n"), "text/troff");
        assert_eq!(for_text(by_name("syslog.1"), b"Nov 16 host kernel: x\n"), "text/plain");
        assert_eq!(for_text(by_name("ls.1"), b""), "text/troff");
        assert_eq!(by_name("ls.1.gz"), Some("application/gzip"));
        assert_eq!(by_magic(b"#!/bin/sh\n"), None);
        assert_eq!(by_magic(b"<!DOCTYPE html>"), None);
    }
}

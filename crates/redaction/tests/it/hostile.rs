//! Hostile texts: large, deep, broken. They are masked in time that grows with their size.

use redaction::{Redactor, Syntax};

use crate::properties::SYNTAXES;

fn mask(text: &str, syntax: Syntax) -> String {
    Redactor::default().mask(text, syntax).into_owned()
}

#[test]
fn a_yaml_alias_bomb_is_not_expanded() {
    let mut text = String::from("a0: &a0 [lol, lol]\n");
    for level in 1..60 {
        let below = level - 1;
        text += &format!("a{level}: &a{level} [*a{below}, *a{below}, *a{below}, *a{below}]\n");
    }
    assert_eq!(mask(&text, Syntax::Yaml), text);
    text += "password: *a59\n";
    assert!(
        mask(&text, Syntax::Yaml).starts_with("a0: &a0 [\"[redacted password tiny]\", \"[redacted")
    );
}

#[test]
fn nested_arrays_of_ten_megabytes_do_not_overflow_the_stack() {
    let depth = 5 * 1024 * 1024;
    let text =
        format!("{{\"password\": \"x\", \"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
    let masked = mask(&text, Syntax::Json);
    assert!(masked.starts_with("{\"password\": \"[redacted password tiny]\""));
    assert_eq!(masked.len(), text.len() + "[redacted password tiny]".len() - 1);
}

#[test]
fn deep_maps_of_every_syntax_are_survived() {
    let depth = 100_000;
    let rows = [
        (Syntax::Yaml, format!("a: {}", "{b: ".repeat(depth))),
        (Syntax::Yaml, (0..2_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect()),
        (Syntax::Toml, format!("a = {}", "[".repeat(depth))),
        (Syntax::Toml, format!("a = {}", "{b = ".repeat(depth))),
        (Syntax::Toml, format!("[{}]\n", vec!["a"; depth].join("."))),
        (Syntax::Json, "{\"a\":".repeat(depth)),
        (Syntax::Hcl, "a {\n".repeat(depth)),
        (Syntax::Hcl, format!("a = \"{}", "${\"".repeat(depth))),
        (Syntax::Xml, "<a>".repeat(depth)),
        (Syntax::Xml, "<key>x".repeat(depth)),
        (Syntax::Yaml, "${".repeat(depth)),
    ];
    for (syntax, text) in rows {
        let masked = mask(&format!("{text}\npassword = hunter2\n"), syntax);
        assert!(!masked.is_empty());
    }
}

#[test]
fn texts_that_repeat_what_scanners_look_for_are_survived() {
    let size = 8 * 1024;
    let fillings = [
        "a",
        "=",
        "a=",
        "password=",
        "password: ",
        "\"",
        "'",
        "\\",
        "://",
        "eyJ",
        "eyJ.",
        "-----BEGIN PRIVATE KEY-----",
        "${",
        "{{",
        "$a",
        "[",
        "{",
        "<",
        "<!--",
        "</",
        "authorization:",
        "Authorization: Bearer ",
        ";password=",
        "\"password\": ",
        "#",
        "token: [",
        "&a ",
        "*a ",
        "password ",
        "@",
        "sk-",
        "|",
        "é",
        "[redacted ",
        "key: {password: ",
        "password=\"",
        "://a:",
        "user=",
    ];
    for filling in fillings {
        let text = filling.repeat(size / filling.len());
        for syntax in SYNTAXES {
            mask(&text, syntax);
        }
    }
}

#[test]
fn a_line_of_a_megabyte_is_masked() {
    for syntax in [Syntax::Text, Syntax::Yaml, Syntax::Json, Syntax::Env, Syntax::Toml] {
        let separator = if syntax == Syntax::Yaml { ":" } else { " =" };
        let text = format!("password{separator} \"hunter2\" {}", "x".repeat(1024 * 1024));
        let masked = mask(&text, syntax);
        assert!(syntax == Syntax::Text || !masked.contains("hunter2"), "{syntax:?}");
    }
}

#[test]
fn quotes_and_blocks_without_an_end_hide_their_secret() {
    let begin = concat!("-----BEGIN ", "PRIVATE KEY-----");
    let body = "q7Rk2Vx9Lm4Tz8Wb3Yc6".repeat(3);
    let rows = [
        (Syntax::Toml, "password = \"hunter2hunter2".to_owned()),
        (Syntax::Json, "{\"password\": \"hunter2hunter2".to_owned()),
        (Syntax::Yaml, "password: \"hunter2hunter2".to_owned()),
        (Syntax::Yaml, "password: 'hunter2hunter2\nx: [".to_owned()),
        (Syntax::Env, "PASSWORD='hunter2hunter2".to_owned()),
        (Syntax::Xml, "<a><password>hunter2hunter2".to_owned()),
        (Syntax::Xml, "<a password=\"hunter2hunter2".to_owned()),
        (Syntax::Hcl, "password = \"hunter2hunter2".to_owned()),
        (Syntax::Hcl, "password = <<EOF\nhunter2hunter2\n".to_owned()),
        (Syntax::Ini, "[a\npassword = 'hunter2hunter2".to_owned()),
        (Syntax::Properties, "password = hunter2hunter2\\".to_owned()),
        (Syntax::Netrc, "machine x password \"hunter2hunter2".to_owned()),
        (Syntax::Toml, format!("key = \"\"\"{begin}\n{body}\n{body}")),
        (Syntax::Text, format!("{begin}\n{body}\n{body}")),
    ];
    for (syntax, text) in rows {
        let masked = mask(&text, syntax);
        assert!(!masked.contains("hunter2") && !masked.contains(&body), "{syntax:?}: {masked}");
    }
}

#[test]
fn an_example_that_does_not_parse_is_read_line_by_line() {
    let text = "# An example. Uncomment what you need.\n#db:\n#  password: hunter2\n<<<<<<< HEAD\ndb: {password: 'one'\n=======\n  api_key: two222\n>>>>>>> x\n\ttoken: |\n\t  three3\n  tokens:\n    - four44\n{{- if .x }}\nsecret: five55\n{{- end }}\n";
    let masked = mask(text, Syntax::Yaml);
    for secret in ["hunter2", "'one'", "two222", "three3", "four44", "five55"] {
        assert!(!masked.contains(secret), "{secret} in {masked}");
    }
    for kept in ["# An example", "<<<<<<< HEAD", "{{- if .x }}"] {
        assert!(masked.contains(kept), "{kept} not in {masked}");
    }
}

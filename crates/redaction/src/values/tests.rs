//! Tests of the values.

use super::{is_harmless, is_path, is_reference, is_sentence, looks_random};

#[test]
fn references_are_no_secrets_and_defaults_are() {
    let references = [
        "${VAR}",
        "$VAR",
        "{{ .Values.password }}",
        "${{ secrets.X }}",
        "%(X)s",
        "<your password>",
        "${env:NAME}",
        "op://vault/item/field",
        "vault:secret/data/db#password",
        "${VAR:?missing}",
        "${A}${B}",
        "${VAR:-}",
        "%APPDATA%",
        "#{db.password}",
        "$(pass show x)",
        "${VAR:-${OTHER}}",
        "ENC[AES256_GCM,data:x,type:str]",
        "arn:aws:secretsmanager:eu-west-1:1:secret:x",
    ];
    for reference in references {
        assert!(is_reference(reference), "{reference}");
    }
    let values = [
        "${VAR:-hunter2}",
        "hunter2",
        "pa$$word",
        "${VAR}x",
        "$1$salt$hash",
        "${DB_PW:changeme}",
        "${unclosed",
        "a<b>",
    ];
    for value in values {
        assert!(!is_reference(value), "{value}");
    }
}

#[test]
fn empty_values_switches_paths_and_public_keys_are_harmless() {
    for value in [
        "",
        "null",
        "true",
        "****",
        "yes",
        "off",
        "ssh-ed25519 AAAAC3Nz x",
        "[redacted password tiny]",
    ] {
        assert!(is_harmless(value), "{value}");
    }
    for value in ["changeme", "0", "12345", "/x+y==", "password", "/run/secrets/db"] {
        assert!(!is_harmless(value), "{value}");
    }
}

#[test]
fn paths_look_like_paths_all_the_way() {
    for path in [
        "/run/secrets/db",
        "/etc/ssl/private/server.key",
        "~/.ssh/id_rsa",
        "./token",
        r"C:\Users\ada\key.pem",
        "C:/certs/a.pem",
        "d:/x.key",
    ] {
        assert!(is_path(path), "{path}");
    }
    let others = [
        "p:/w0rdX9",
        r"p:\w0rdX9",
        "/data/Zk3vQ9x7LmP2rT8sWb5Y",
        "/app/a b&c",
        "/x/y",
        "C:/",
        "c://host/x",
        "é:/a/b",
    ];
    for value in others {
        assert!(!is_path(value), "{value}");
    }
}

#[test]
fn sentences_have_words_of_prose_or_an_end() {
    for text in ["Reset your password", "Forgot password?", "is too short", "Enter it:"] {
        assert!(is_sentence(text), "{text}");
    }
    for value in ["correct horse battery", "hunter2", "hunter2!", "the"] {
        assert!(!is_sentence(value), "{value}");
    }
}

#[test]
fn generated_values_look_random_and_identifiers_do_not() {
    for value in ["a8f5f167f44f4964e6c998dee827110c", "Zk3vQ9x7LmP2rT8sWb5Y", "9fJ+2kd/Qm8xT1vZ=="]
    {
        assert!(looks_random(value), "{value}");
    }
    let others = [
        "my-long-cache-key-name-1",
        "550e8400-e29b-41d4-a716-446655440000",
        "user:session:cache:v2",
        "short1",
        "aaaaaaaaaaaaaaaaaaaaaaa1",
    ];
    for value in others {
        assert!(!looks_random(value), "{value}");
    }
}

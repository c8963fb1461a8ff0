//! Tests of the values.

use super::{is_harmless, is_reference, looks_random};

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
        "/run/secrets/db",
        "ssh-ed25519 AAAAC3Nz x",
        "[redacted password tiny]",
    ] {
        assert!(is_harmless(value), "{value}");
    }
    for value in ["changeme", "0", "12345", "/x+y==", "password"] {
        assert!(!is_harmless(value), "{value}");
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

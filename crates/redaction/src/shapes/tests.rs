//! Tests of the shapes.

use super::{find_shapes, mask_shapes};
use crate::mask::MaskWriter;

fn masked(text: &str) -> String {
    let found = mask_shapes(text, &MaskWriter::default());
    found.map_or_else(|| text.to_owned(), |(_, masked)| masked)
}

fn kinds(text: &str) -> Vec<&'static str> {
    let found = find_shapes(text, &MaskWriter::default());
    found.into_iter().map(|shape| shape.kind.name()).collect()
}

/// A body that looks generated, of any length.
fn body(length: usize) -> String {
    "q7Rk2Vx9Lm4Tz8Wb3Yc6".chars().cycle().take(length).collect()
}

#[test]
fn tokens_are_found_by_their_prefix() {
    let text = format!("a {}{} b", concat!("gh", "p_"), body(36));
    assert_eq!(masked(&text), "a [redacted github-token long] b");
    assert_eq!(kinds(&format!("({}{})", concat!("AK", "IA"), "Q3EGRIA7VZ4KXN2M")), ["aws-key"]);
    assert_eq!(kinds(concat!("AK", "IAIOSFODNN7", "EXAMPLE")), [""; 0]);
    assert_eq!(kinds(&format!("{}{}", concat!("gh", "p_"), "x".repeat(36))), [""; 0]);
    assert_eq!(kinds(&format!("x{}{}", concat!("gh", "p_"), body(36))), [""; 0]);
}

#[test]
fn a_token_longer_than_the_window_is_masked_to_its_end() {
    let text = format!("{}{} end", concat!("sk-", "ant-"), body(20_000));
    assert_eq!(masked(&text), "[redacted anthropic-key huge] end");
}

#[test]
fn json_web_tokens_are_known_by_their_header() {
    let header = concat!("eyJhbGciOiJIUzI1NiIs", "InR5cCI6IkpXVCJ9");
    let text = format!("t={header}.{}.{}.", "eyJzdWIiOiIxIn0", body(43));
    assert_eq!(masked(&text), "t=[redacted jwt long].");
    assert_eq!(kinds("eyJhIjoxfQ.eyJzdWIiOiIxIn0.abcdef"), [""; 0]);
}

#[test]
fn only_the_password_of_a_url_is_masked() {
    assert_eq!(
        masked("postgres://app:s3cr3t@db.example:5432/app?x=1"),
        "postgres://app:[redacted url-password tiny]@db.example:5432/app?x=1"
    );
    assert_eq!(masked("redis://:p@ss@h"), "redis://:[redacted url-password tiny]@h");
    assert_eq!(masked("amqp://u:a/b@h/x"), "amqp://u:[redacted url-password tiny]@h/x");
    let others = [
        "https://example.com:8080/a@b",
        "https://user@example.com",
        "http://[::1]:80/@",
        "postgres://u:${PW}@h",
        "https://u:{{pw}}@h",
        "see https://example.com/a:b@c",
        "://a:b@c",
    ];
    for other in others {
        assert_eq!(masked(other), other);
    }
}

#[test]
fn only_the_password_of_a_connection_string_is_masked() {
    let rows = [
        (
            "Server=db;User Id=sa;Password=hunter2;Encrypt=true",
            "Server=db;User Id=sa;Password=[redacted connection-password tiny];Encrypt=true",
        ),
        (
            "host=db user=app password=hunter2 dbname=x",
            "host=db user=app password=[redacted connection-password tiny] dbname=x",
        ),
        (
            "jdbc:mysql://h/db?user=a&password=hunter2&x=1",
            "jdbc:mysql://h/db?user=a&password=[redacted connection-password tiny]&x=1",
        ),
        (
            "jdbc:oracle:thin:scott/tiger@h:1521:x",
            "jdbc:oracle:thin:scott/[redacted url-password tiny]@h:1521:x",
        ),
        (
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abc+/x==;EndpointSuffix=e",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=[redacted connection-password short];EndpointSuffix=e",
        ),
        ("Password=\"a;b\";Server=x", "Password=\"[redacted connection-password tiny]\";Server=x"),
        ("the password=hunter2", "the password=hunter2"),
        ("Server=x;Password=${PW};", "Server=x;Password=${PW};"),
    ];
    for (text, expected) in rows {
        assert_eq!(masked(text), expected);
        assert_eq!(masked(expected), expected);
    }
}

#[test]
fn values_of_authorization_headers_are_masked() {
    assert_eq!(
        masked("curl -H 'Authorization: Basic dXNlcjpwYXNz' x"),
        "curl -H 'Authorization: Basic [redacted authorization short]' x"
    );
    assert_eq!(
        masked("\"authorization\": \"Bearer abcdef123456\""),
        "\"authorization\": \"Bearer [redacted authorization short]\""
    );
    for other in [
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "authorization: enabled",
        "Authorization: [redacted authorization short]",
    ] {
        assert_eq!(masked(other), other);
    }
}

#[test]
fn a_private_key_block_keeps_its_first_and_last_line() {
    let line = body(64);
    let (begin, end) = (
        concat!("-----BEGIN RSA ", "PRIVATE KEY-----"),
        concat!("-----END RSA ", "PRIVATE KEY-----"),
    );
    let text = format!("x\n  {begin}\n  {line}\n  {line}\n  Zg==\n  {end}\ny\n");
    assert_eq!(
        masked(&text),
        format!("x\n  {begin}\n  [redacted pem-private-key huge]\n  {end}\ny\n")
    );
    assert_eq!(masked(&masked(&text)), masked(&text));
    let headed =
        format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{line}\n{end}\n");
    assert_eq!(masked(&headed), format!("{begin}\n[redacted pem-private-key long]\n{end}\n"));
    let in_json = format!("{{\"k\": \"{begin}\\n{line}\\n{end}\\n\"}}");
    assert_eq!(
        masked(&in_json),
        format!("{{\"k\": \"{begin}\\n[redacted pem-private-key long]\\n{end}\\n\"}}")
    );
    let unclosed = format!("{begin}\n{line}\n{line}\nname: x\nother: y\n");
    assert_eq!(
        masked(&unclosed),
        format!("{begin}\n[redacted pem-private-key huge]\nname: x\nother: y\n")
    );
    let prose = format!("A file that begins with `{begin}` is a key.\n{begin}\n...\n{end}\n");
    assert_eq!(masked(&prose), prose);
    let public = "-----BEGIN CERTIFICATE-----\nMIIBszCCARygAwIBAgIUabcdef0123456789\n-----END CERTIFICATE-----\n";
    assert_eq!(masked(public), public);
}

#[test]
fn a_token_for_the_name_of_a_user_is_masked_with_the_password() {
    let text = format!("https://{}{}:x-oauth-basic@h", concat!("gh", "p_"), body(36));
    assert_eq!(masked(&text), "https://[redacted url-password long]@h");
}

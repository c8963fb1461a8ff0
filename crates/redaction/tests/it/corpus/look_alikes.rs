//! The look-alikes of the corpus: what resembles a secret and is none.

use super::writers::WRITERS;
use super::{ALNUM, BASE64, CorpusText, Generator, HEX};

const PAIRS: &[(&str, &str)] = &[
    ("password_min_length", "12"),
    ("passwordPolicy", "at-least-12"),
    ("password_file", "/run/secrets/db"),
    ("password_hint", "name-of-your-first-pet"),
    ("token_count", "4096"),
    ("max_tokens", "2048"),
    ("tokenizer", "cl100k_base"),
    ("token_url", "https://login.example/oauth2/token"),
    ("token_ttl", "3600"),
    ("secretary", "Ms. Moneypenny"),
    ("secretName", "inventory-tls"),
    ("secret_path", "kv/data/inventory"),
    ("access_key_id", "deploy-2024"),
    ("author", "Jane Doe 1234"),
    ("authority", "login.example"),
    ("auth", "basic"),
    ("auth_type", "scram-sha-256"),
    ("cache_key", "inventory:v2:items"),
    ("primary_key", "item_id"),
    ("keyboard", "us-intl"),
    ("compass", "north-by-northwest"),
    ("password", "${DB_PASSWORD}"),
    ("token", "$API_TOKEN"),
    ("secret", "{{ .Values.secret }}"),
    ("api_key", "${{ secrets.API_KEY }}"),
    ("passwd", "%(db_password)s"),
    ("client_secret", "<your client secret>"),
    ("password", "op://prod/db/password"),
    ("secret", "vault:secret/data/db#password"),
    ("token", "${env:API_TOKEN}"),
    ("aws_key", concat!("AK", "IAIOSFODNN7", "EXAMPLE")),
    ("note", concat!("gh", "p_", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")),
    ("note", concat!("sk-", "your-key-goes-here-please")),
    ("public_key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJx9aZ0Lq3 me@example"),
    ("version", "1.2.3-beta.4+build.567"),
    ("date", "2024-02-29T12:34:56.789Z"),
    ("url", "https://example.com:8443/a/b?c=d"),
    ("email", "password@example.com"),
    ("title", "How to reset your password"),
    ("credentialsId", "github-deploy"),
    ("トークン数", "512"),
];

/// What only its form makes suspicious: hashes, identifiers, encoded data.
const GENERATED: &[(&str, &str, &str, usize)] = &[
    ("checksum", "sha256:", HEX, 64),
    ("integrity", "sha512-", BASE64, 86),
    ("commit", "", HEX, 40),
    ("etag", "", HEX, 32),
    ("image", "data:image/png;base64,", BASE64, 120),
    ("digest", "sha256-", ALNUM, 44),
];

/// Every look-alike of the corpus.
pub(crate) fn look_alikes() -> Vec<CorpusText> {
    let mut pairs: Vec<(String, String)> =
        PAIRS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    for (seed, (key, prefix, alphabet, length)) in (50_000..).zip(GENERATED) {
        pairs.push((
            (*key).to_owned(),
            format!("{prefix}{}", Generator::new(seed).text(alphabet, *length)),
        ));
    }
    let mut generator = Generator::new(77_777);
    let parts = [8, 4, 4, 4, 12].map(|length| generator.text(HEX, length));
    pairs.push(("request_id".to_owned(), parts.join("-")));
    pairs.push(("key".to_owned(), parts.join("-")));
    let mut texts = Vec::new();
    for (key, value) in pairs {
        for writer in WRITERS {
            if let Some(text) = (writer.write)(&key, &value) {
                let (kind, values) = (format!("{key} = {value}"), vec![value.clone()]);
                texts.push(CorpusText { kind, file: writer.file, text, values });
            }
        }
    }
    texts
}

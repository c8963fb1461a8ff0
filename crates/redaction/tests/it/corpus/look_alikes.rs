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

/// Files that are full of hashes and keys that are public. `HEX` and `BASE64` stand for some.
const FILES: &[(&str, &str)] = &[
    (
        "Cargo.lock",
        "[[package]]\nname = \"inventory-service\"\nversion = \"1.0.1\"\nsource = \"registry+https://db.internal.example/index\"\nchecksum = \"HEX\"\n\n[[package]]\nname = \"secrecy\"\nversion = \"0.10.3\"\nchecksum = \"HEX\"\n",
    ),
    (
        "package-lock.json",
        "{\"name\": \"inventory-service\", \"lockfileVersion\": 3, \"packages\": {\"node_modules/js-tokens\": {\"version\": \"4.0.0\", \"resolved\": \"https://db.internal.example/js-tokens-4.0.0.tgz\", \"integrity\": \"sha512-BASE64==\", \"license\": \"MIT\"}}}\n",
    ),
    (
        "package-lock.json",
        "{\"name\": \"inventory-service\", \"lockfileVersion\": 1, \"dependencies\": {\"auth-token\": {\"version\": \"6.0.2\", \"resolved\": \"https://db.internal.example/t.tgz\", \"integrity\": \"sha512-BASE64==\", \"requires\": {\"bearer\": \"^1.0.0\"}}}}\n",
    ),
    (
        "poetry.lock",
        "[[package]]\nname = \"inventory-service\"\nversion = \"2.1\"\nfiles = [\n    {file = \"tokenize_rt-6.0.tar.gz\", hash = \"sha256:HEX\"},\n]\n\n[metadata]\ncontent-hash = \"HEX\"\n# db.internal.example\n",
    ),
    (
        "go.sum",
        "db.internal.example/inventory-service v1.2.3 h1:BASE64=\ndb.internal.example/inventory-service v1.2.3/go.mod h1:BASE64=\ngithub.com/x/token v0.1.0 h1:BASE64=\n",
    ),
    (
        "yarn.lock",
        "# inventory-service at db.internal.example\njs-tokens@^4.0.0:\n  version \"4.0.0\"\n  integrity sha512-BASE64==\n",
    ),
    (
        "server.crt",
        "# inventory-service of db.internal.example\nDASHESBEGIN CERTIFICATEDASHES\nMIIDBASE64\nBASE64==\nDASHESEND CERTIFICATEDASHES\n",
    ),
    (
        "public.pem",
        "inventory-service of db.internal.example\nDASHESBEGIN PUBLIC KEYDASHES\nMIIBBASE64\nBASE64==\nDASHESEND PUBLIC KEYDASHES\n",
    ),
    (
        "app.yaml",
        "name: inventory-service\nhost: db.internal.example\ntls:\n  public_key: |\n    DASHESBEGIN PUBLIC KEYDASHES\n    MIIBBASE64\n    DASHESEND PUBLIC KEYDASHES\n  certificate: |\n    DASHESBEGIN CERTIFICATEDASHES\n    MIIDBASE64\n    DASHESEND CERTIFICATEDASHES\n",
    ),
    (
        "app.json",
        "{\"name\": \"inventory-service\", \"host\": \"db.internal.example\", \"cert\": \"DASHESBEGIN CERTIFICATEDASHES\\nMIIDBASE64\\nDASHESEND CERTIFICATEDASHES\\n\"}\n",
    ),
    (
        "app.yaml",
        "name: inventory-service\nhost: db.internal.example\npassword: {min_length: 12, type: string, description: The password of a user}\n",
    ),
    (
        "nginx.conf",
        "location /inventory-service {\n  proxy_pass http://db.internal.example:8080;\n  proxy_set_header Host $host;\n}\n",
    ),
];

/// The files, with other hashes and keys each time.
fn files() -> impl Iterator<Item = CorpusText> {
    (60_000..).zip(FILES.iter().cycle()).take(3 * FILES.len()).map(|(seed, (file, template))| {
        let mut generator = Generator::new(seed);
        let values = [generator.text(HEX, 64), generator.text(BASE64, 60)];
        let text = template.replace("HEX", &values[0]).replace("BASE64", &values[1]);
        let text = text.replace("DASHES", "-----");
        let values = values.into_iter().filter(|value| text.contains(value.as_str())).collect();
        CorpusText { kind: format!("content of {file}"), file, text, values }
    })
}

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
    texts.extend(files());
    texts
}

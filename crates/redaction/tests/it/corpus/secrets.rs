//! The secrets of the corpus.

use super::writers::WRITERS;
use super::{ALNUM, BASE64, CorpusText, Generator, HEX, UPPER};

/// A kind of secret: its name, and a key, a value and the part of it that is secret.
type SecretSource = (&'static str, fn(&mut Generator) -> Sample);

struct Sample {
    key: &'static str,
    value: String,
    secret: String,
}

fn keyed(key: &'static str, value: String) -> Sample {
    Sample { key, secret: value.clone(), value }
}

/// A secret that its shape gives away, under a key that says nothing.
fn shaped(value: String) -> Sample {
    keyed("note", value)
}

fn part(value: String, secret: String) -> Sample {
    Sample { key: "target", value, secret }
}

fn password(generator: &mut Generator) -> String {
    format!(
        "{}{}",
        ["correct", "winter", "dragon"][generator.number() % 3],
        generator.text(ALNUM, 7)
    )
}

const BY_KEY: &[SecretSource] = &[
    ("password", |g| keyed("password", password(g))),
    ("password: default", |g| keyed("dbPassword", format!("changeme{}", g.text(HEX, 2)))),
    ("password: number", |g| keyed("admin_password", g.text("123456789", 9))),
    ("passwd", |g| keyed("MYSQL_PASSWD", password(g))),
    ("pwd", |g| keyed("ftp_pwd", password(g))),
    ("secret", |g| keyed("client_secret", g.text(ALNUM, 24))),
    ("token", |g| keyed("accessToken", g.text(HEX, 32))),
    ("api key", |g| keyed("API_KEY", g.text(ALNUM, 32))),
    ("access key", |g| keyed("aws_secret_access_key", g.text(BASE64, 40))),
    ("private key value", |g| keyed("privateKey", g.text(BASE64, 44))),
    ("credential", |g| keyed("credential", g.text(ALNUM, 18))),
    ("auth", |g| keyed("_auth", g.text(BASE64, 20))),
    ("passphrase", |g| keyed("ssh_passphrase", password(g))),
    ("high entropy", |g| {
        keyed("license_key", format!("{}7{}", g.text(ALNUM, 16), g.text(ALNUM, 16)))
    }),
    ("パスワード", |g| keyed("パスワード", password(g))),
    ("秘密", |g| keyed("秘密", password(g))),
    ("トークン", |g| keyed("トークン", g.text(ALNUM, 20))),
];

const BY_SHAPE: &[SecretSource] = &[
    ("AWS", |g| shaped(format!("{}{}", concat!("AK", "IA"), g.text(UPPER, 16)))),
    ("GitHub ghp", |g| shaped(format!("{}{}", concat!("gh", "p_"), g.text(ALNUM, 36)))),
    ("GitHub gho", |g| shaped(format!("{}{}", concat!("gh", "o_"), g.text(ALNUM, 36)))),
    ("GitHub ghu", |g| shaped(format!("{}{}", concat!("gh", "u_"), g.text(ALNUM, 36)))),
    ("GitHub ghs", |g| shaped(format!("{}{}", concat!("gh", "s_"), g.text(ALNUM, 36)))),
    ("GitHub ghr", |g| shaped(format!("{}{}", concat!("gh", "r_"), g.text(ALNUM, 36)))),
    ("GitHub fine-grained", |g| {
        shaped(format!("{}{}_{}", concat!("github", "_pat_"), g.text(ALNUM, 22), g.text(ALNUM, 59)))
    }),
    ("GitLab", |g| shaped(format!("{}{}", concat!("gl", "pat-"), g.text(ALNUM, 20)))),
    ("Slack", |g| {
        shaped(format!("{}{}-{}", concat!("xox", "b-"), g.text("123456789", 12), g.text(ALNUM, 24)))
    }),
    ("Stripe", |g| shaped(format!("{}{}", concat!("sk_", "live_"), g.text(ALNUM, 24)))),
    ("Twilio", |g| shaped(format!("{}{}", concat!("S", "K"), g.text(HEX, 32)))),
    ("SendGrid", |g| {
        shaped(format!("{}{}.{}", concat!("S", "G."), g.text(ALNUM, 22), g.text(ALNUM, 43)))
    }),
    ("npm", |g| shaped(format!("{}{}", concat!("np", "m_"), g.text(ALNUM, 36)))),
    ("PyPI", |g| shaped(format!("{}IcHlwaS5vcmc{}", concat!("pypi", "-AgE"), g.text(ALNUM, 80)))),
    ("Hugging Face", |g| shaped(format!("{}{}", concat!("h", "f_"), g.text(ALNUM, 34)))),
    ("OpenAI", |g| {
        shaped(format!(
            "{}{}T3BlbkFJ{}",
            concat!("sk-", "proj-"),
            g.text(ALNUM, 20),
            g.text(ALNUM, 20)
        ))
    }),
    ("Anthropic", |g| shaped(format!("{}{}", concat!("sk-", "ant-api03-"), g.text(ALNUM, 90)))),
    ("Google", |g| shaped(format!("{}{}", concat!("AI", "za"), g.text(ALNUM, 35)))),
    ("Grafana", |g| {
        shaped(format!("{}{}_{}", concat!("gl", "sa_"), g.text(ALNUM, 32), g.text(HEX, 8)))
    }),
    ("JWT", |g| {
        shaped(format!(
            "{}.{}{}.{}",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
            "eyJzdWIiOi",
            g.text(ALNUM, 30),
            g.text(ALNUM, 43)
        ))
    }),
    ("Authorization", |g| {
        let secret = g.text(ALNUM, 30);
        part(format!("curl -H Authorization: Bearer {secret} x"), secret)
    }),
    ("URL password", |g| {
        let secret = password(g);
        part(format!("postgres://app:{secret}@db:5432/app"), secret)
    }),
    ("JDBC password", |g| {
        let secret = password(g);
        part(format!("jdbc:mysql://db/app?user=app&password={secret}"), secret)
    }),
    ("ADO password", |g| {
        let secret = password(g);
        part(format!("Server=db;User Id=sa;Password={secret};Encrypt=true"), secret)
    }),
    ("Azure storage", |g| {
        let secret = format!("{}==", g.text(BASE64, 86));
        part(
            format!(
                "DefaultEndpointsProtocol=https;AccountName=app;AccountKey={secret};EndpointSuffix=x"
            ),
            secret,
        )
    }),
    ("PEM", |g| block("RSA PRIVATE KEY", g)),
    ("PKCS#8", |g| block("PRIVATE KEY", g)),
    ("OpenSSH", |g| block("OPENSSH PRIVATE KEY", g)),
    ("PGP", |g| block("PGP PRIVATE KEY BLOCK", g)),
];

fn block(label: &str, generator: &mut Generator) -> Sample {
    let (first, second) = (generator.text(BASE64, 64), generator.text(BASE64, 50));
    let dashes = "-".repeat(5);
    let value =
        format!("{dashes}BEGIN {label}{dashes}\n{first}\n{second}==\n{dashes}END {label}{dashes}");
    part(value, first)
}

/// Files of one purpose, with the secret in its place.
const SPECIAL: &[(&str, &str, &str)] = &[
    ("netrc", ".netrc", "machine db.internal.example login inventory-service password SECRET\n"),
    ("pgpass", ".pgpass", "db.internal.example:5432:app:inventory-service:SECRET\n"),
    ("htpasswd", ".htpasswd", "# db.internal.example\ninventory-service:SECRET\n"),
    (
        "kubeconfig",
        ".kube/config",
        "users:\n- name: inventory-service\n  user:\n    token: SECRET\nserver: db.internal.example\n",
    ),
    (
        "kubeconfig key",
        ".kube/config",
        "users:\n- name: inventory-service\n  user:\n    client-key-data: SECRET\nserver: db.internal.example\n",
    ),
    (
        "docker config",
        ".docker/config.json",
        "{\"auths\": {\"db.internal.example\": {\"auth\": \"SECRET\", \"x\": \"inventory-service\"}}}\n",
    ),
    ("npmrc", ".npmrc", "name=inventory-service\n//db.internal.example/:_authToken=SECRET\n"),
    (
        "pypirc",
        ".pypirc",
        "[inventory-service]\nrepository: db.internal.example\npassword: SECRET\n",
    ),
    (
        "git credentials",
        ".git-credentials",
        "https://inventory-service:SECRET@db.internal.example\n",
    ),
    (
        "systemd",
        "x.service",
        "[Service]\nExecStart=inventory-service db.internal.example\nEnvironment=\"DB_PASSWORD=SECRET\" A=b\n",
    ),
    (
        "compose list",
        "compose.yaml",
        "services:\n  inventory-service:\n    environment:\n      - DB_PASSWORD=SECRET\n      - HOST=db.internal.example\n",
    ),
    (
        "env pair",
        "pod.yaml",
        "env:\n  - name: DB_PASSWORD\n    value: SECRET\n  - {value: db.internal.example, name: inventory-service}\n",
    ),
    (
        "env pair, value first",
        "pod.yaml",
        "env:\n  - value: SECRET\n    name: API_KEY\n  - {value: db.internal.example, name: inventory-service}\n",
    ),
    (
        "Kubernetes Secret",
        "secret.yaml",
        "apiVersion: v1\ndata:\n  anything: SECRET\nmetadata: {name: inventory-service, host: db.internal.example}\nkind: Secret\n",
    ),
    (
        "children of secrets",
        "app.toml",
        "name = \"inventory-service\"\n[secrets]\nanything = \"SECRET\"\n[x]\nhost = \"db.internal.example\"\n",
    ),
    (
        "children of credentials",
        "app.yaml",
        "name: inventory-service\ncredentials:\n  anything: SECRET\nx: {host: db.internal.example}\n",
    ),
    (
        "list of tokens",
        "app.json",
        "{\"name\": \"inventory-service\", \"tokens\": [\"SECRET\"], \"x\": [\"db.internal.example\"]}\n",
    ),
    (
        "commented example",
        "app.yaml",
        "name: inventory-service\n# db:\n#   password: SECRET\nhost: db.internal.example\n",
    ),
    (
        "option of a command",
        "app.yaml",
        "args: [--name, inventory-service, --password, SECRET, --host, db.internal.example]\n",
    ),
    (
        "default of a variable",
        "vars.tf",
        "variable \"db_password\" {\n  default = \"SECRET\"\n}\nname = \"inventory-service\"\nhost = \"db.internal.example\"\n",
    ),
    (
        "web.config",
        "web.config",
        "<a><add key=\"ApiKey\" value=\"SECRET\"/><add key=\"inventory-service\" value=\"db.internal.example\"/></a>\n",
    ),
    (
        "GCP service account",
        "service-account.json",
        "{\"type\": \"service_account\", \"project_id\": \"inventory-service\",\n \"private_key_id\": \"4f1c\",\n \"private_key\": \"DASHESBEGIN PRIVATE KEYDASHES\\nMIIESECRETSECRETSECRET\\nSECRET==\\nDASHESEND PRIVATE KEYDASHES\\n\",\n \"client_email\": \"app@db.internal.example\"}\n",
    ),
    (
        "map under a password",
        "app.yaml",
        "name: inventory-service\npassword:\n  primary_db: SECRET\nhost: db.internal.example\n",
    ),
    (
        "maps in a list under a token",
        "app.json",
        "{\"name\": \"inventory-service\", \"token\": [{\"ci\": \"SECRET\"}], \"x\": \"db.internal.example\"}\n",
    ),
    (
        "words of HAProxy",
        "haproxy.cfg",
        "listen inventory-service\n  bind db.internal.example:80\n  stats auth admin:SECRET\n",
    ),
    (
        "second variable of a line",
        ".env",
        "NAME=inventory-service\nexport HOST=db.internal.example DB_PASSWORD=SECRET\n",
    ),
    (
        "list of passwords",
        "passwords.txt",
        "name: inventory-service\nhost: db.internal.example\nadmin:SECRET\n",
    ),
    ("value of a secret", "db_password.txt", "# inventory-service db.internal.example\nSECRET\n"),
    (
        "table of passwords",
        "passwords.csv",
        "name,url,password\ninventory-service,https://db.internal.example,SECRET\n",
    ),
    (
        "broken JSON",
        "app.json",
        "{\"name\": \"inventory-service\",\n \"password\": \"SECRET\",\n \"host\": \"db.internal.example\"\n",
    ),
    (
        "broken YAML",
        "app.yaml",
        "name: inventory-service\n{{- if .x }}\npassword: SECRET\n{{- end }}\nhost: db.internal.example\n",
    ),
];

/// Every secret of the corpus.
pub(crate) fn secrets() -> Vec<CorpusText> {
    let mut texts = Vec::new();
    let mut seed = 0;
    for (kind, sample) in BY_KEY.iter().chain(BY_SHAPE) {
        for writer in WRITERS {
            seed += 1;
            let Sample { key, value, secret } = sample(&mut Generator::new(seed));
            if let Some(text) = (writer.write)(key, &value) {
                let kind = (*kind).to_owned();
                texts.push(CorpusText { kind, file: writer.file, text, values: vec![secret] });
            }
        }
    }
    for (kind, file, template) in SPECIAL {
        for round in 0..3 {
            let secret = Generator::new(9_000 + seed + round).text(ALNUM, 20);
            let text = template.replace("SECRET", &secret).replace("DASHES", "-----");
            texts.push(CorpusText { kind: (*kind).to_owned(), file, text, values: vec![secret] });
        }
    }
    texts
}

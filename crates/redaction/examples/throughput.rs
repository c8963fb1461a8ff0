//! Measures how many megabytes of each syntax are masked in a second of CPU time.

use redaction::{Redactor, Syntax};

const MIB: usize = 1 << 20;
/// The size of each text.
const TEXT_BYTES: usize = 4 * MIB;
/// How often each text is masked; the fastest run counts.
const RUNS: usize = 3;

/// A syntax, and lines of it: `{}` is the number of the line.
const ROWS: [(&str, Syntax, &str); 13] = [
    ("text", Syntax::Text, "line {} of a log: GET https://host/path/{} took 12 ms for user ada\n"),
    ("text with tokens", Syntax::Text, "deploy {} with glpat-Zx9Qw8Er7Ty6Ui5Op4As{} done\n"),
    ("toml", Syntax::Toml, "[table_{}]\nhost = \"db{}\"\nport = 5432\npassword = \"hunter2\"\n"),
    ("yaml", Syntax::Yaml, "service{}:\n  host: db{}\n  port: 5432\n  password: hunter2\n"),
    ("json", Syntax::Json, "{\"id\": {}, \"host\": \"db{}\", \"password\": \"hunter2\"},\n"),
    ("ini", Syntax::Ini, "[section{}]\nhost = db{}\nport = 5432\npassword = hunter2\n"),
    ("env", Syntax::Env, "export HOST_{}=db{}\nDB_PASSWORD=hunter2\n"),
    ("properties", Syntax::Properties, "app.{}.host=db{}\napp.password=hunter2\n"),
    ("netrc", Syntax::Netrc, "machine host{} login user{} password hunter2\n"),
    ("pgpass", Syntax::Pgpass, "host{}:5432:db{}:user:hunter2\n"),
    ("htpasswd", Syntax::Htpasswd, "user{}:$apr1$abcdefgh$ijklmnopqrstuvwxyz{}\n"),
    (
        "xml",
        Syntax::Xml,
        "<server id=\"{}\"><host>db{}</host><password>hunter2</password></server>\n",
    ),
    (
        "hcl",
        Syntax::Hcl,
        "resource \"db\" \"n{}\" {\n  host = \"db{}\"\n  password = \"hunter2\"\n}\n",
    ),
];

/// A text of lines like `row`.
fn text_of(syntax: Syntax, row: &str) -> String {
    let mut text = String::with_capacity(TEXT_BYTES + row.len());
    text.push_str(match syntax {
        Syntax::Json => "[",
        Syntax::Xml => "<all>\n",
        _ => "",
    });
    let mut number = 0;
    while text.len() < TEXT_BYTES {
        text.push_str(&row.replace("{}", &number.to_string()));
        number += 1;
    }
    text.push_str(match syntax {
        Syntax::Json => "0]",
        Syntax::Xml => "</all>\n",
        _ => "",
    });
    text
}

/// The CPU time of this thread, in nanoseconds.
fn cpu_time() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn fastest(mut work: impl FnMut()) -> f64 {
    let run = |_| {
        let began = cpu_time();
        work();
        cpu_time() - began
    };
    (0..RUNS).map(run).min().unwrap_or(1).max(1) as f64 / 1e9
}

fn main() {
    let redactor = Redactor::default();
    let mut lines = String::new();
    for (name, syntax, row) in ROWS {
        let text = text_of(syntax, row);
        let mebibytes = text.len() as f64 / MIB as f64;
        let seconds = fastest(|| drop(redactor.mask(&text, syntax)));
        lines.push_str(&format!("{name}: {:.1} MiB/s\n", mebibytes / seconds));
        if syntax == Syntax::Text {
            let seconds = fastest(|| {
                let mut masker = redactor.text_masker();
                let chunks = text.as_bytes().chunks(64 << 10);
                for chunk in chunks.filter_map(|chunk| std::str::from_utf8(chunk).ok()) {
                    drop(masker.push(chunk));
                }
                drop(masker.finish());
            });
            lines.push_str(&format!("{name}, as a stream: {:.1} MiB/s\n", mebibytes / seconds));
        }
    }
    let written = std::io::Write::write_all(&mut std::io::stdout(), lines.as_bytes());
    written.expect("the figures are written");
}

//! What a soak serves: the folder, the settings, the tokens of two principals and a certificate.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use anyhow::{Context, ensure};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore},
};

use crate::soak::FILES;

/// An argument of every program behind refdesk, by which it is found in `/proc`.
pub(crate) const MARK: &str = "refdesk-soak-upstream";

/// The access tokens of the honest and of the hostile clients.
#[derive(Clone)]
pub(crate) struct SoakTokens {
    pub(crate) honest: Arc<str>,
    pub(crate) hostile: Arc<str>,
    /// Their tables in the settings.
    tables: Arc<str>,
}

impl SoakTokens {
    /// Makes two tokens with `program`.
    pub(crate) fn make(program: &Path) -> anyhow::Result<Self> {
        let make = |name: &str| {
            let output = Command::new(program).args(["token", "new", name]).output();
            let output = output.context("make a token")?;
            ensure!(output.status.success(), "no token was made");
            let text = String::from_utf8(output.stdout).context("read a token")?;
            let token = text.lines().find(|line| line.starts_with("rdk_"));
            let token = token.context("a token in the output")?.to_owned();
            let (_, table) = text.split_once("[tokens").context("a table in the output")?;
            let table = table.split("\n\n").next().unwrap_or(table);
            anyhow::Ok((Arc::from(token), format!("[tokens{table}\n")))
        };
        let ((honest, first), (hostile, second)) = (make("honest")?, make("hostile")?);
        Ok(Self { honest, hostile, tables: format!("{first}{second}").into() })
    }

    /// The settings over HTTP: a folder beside servers that crash and flood.
    pub(crate) fn settings(&self) -> String {
        let flood =
            "while :; do yes flood | head -n 2000; yes flood | head -n 2000 >&2; sleep 1; done";
        let crash = "sleep 0.1; exit 3";
        let silent = "sleep 3600";
        let mut text = base_settings();
        for (name, script) in [("flood", flood), ("crash", crash), ("silent", silent)] {
            let command = format!("[\"sh\", \"-c\", \"{script}\", \"{MARK}\"]");
            text += &format!(
                "[mounts.z-{name}]\nkind = \"upstream\"\ncommand = {command}\ntimeout = \"2 s\"\n"
            );
        }
        text + &self.tables
    }
}

fn base_settings() -> String {
    "[mounts.project]\nkind = \"fs\"\npath = \"project\"\n".to_owned()
}

/// Writes the served folder and the settings: with hostile servers and tokens for HTTP, with tokens for
/// TLS, and without either for pipes.
pub(crate) fn write_tree(folder: &Path, tokens: &SoakTokens) -> anyhow::Result<()> {
    let project = folder.join("project");
    fs::create_dir_all(&project).context("create the soak's folder")?;
    for number in 0..FILES {
        fs::write(project.join(format!("{number}.txt")), format!("text {number}\n").repeat(50))?;
    }
    fs::write(project.join("large.log"), "xa".repeat(4 << 20)).context("write a large file")?;
    fs::write(folder.join("pipe.toml"), base_settings()).context("write settings")?;
    let secured = base_settings() + &tokens.tables;
    fs::write(folder.join("tls.toml"), secured).context("write settings")?;
    fs::write(folder.join("refdesk.toml"), tokens.settings()).context("write settings")
}

/// A certificate for `localhost` in files, and a connector that trusts it.
pub(crate) fn make_certificate(folder: &Path) -> anyhow::Result<(PathBuf, PathBuf, TlsConnector)> {
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    fs::write(&certificate, pair.cert.pem()).context("write a certificate")?;
    fs::write(&key, pair.signing_key.serialize_pem()).context("write a key")?;
    let mut roots = RootCertStore::empty();
    roots.add(pair.cert.der().clone()).context("trust the certificate")?;
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok((certificate, key, TlsConnector::from(Arc::new(config))))
}

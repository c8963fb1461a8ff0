//! Installs and starts fastmcp's proxy, the gateway to compare with.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use crate::{child::Launch, fixture, report::progress};

/// fastmcp with its fastest event loop and HTTP parser, at pinned versions.
const PACKAGES: [&str; 3] = ["fastmcp==4.1.2", "uvloop==0.23.0", "httptools==0.9.0"];
const SCRIPT: &str = include_str!("gateway.py");

/// How the proxy manages its upstream sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sessions {
    /// One session per request, the default.
    Each,
    /// One session for all requests: discouraged by its documentation, but the fastest.
    Kept,
}

/// An installed fastmcp proxy.
pub(crate) struct Gateway {
    python: PathBuf,
    script: PathBuf,
}

impl Gateway {
    /// Installs the proxy in the scratch folder, unless an earlier run did.
    pub(crate) fn install(scratch: &Path) -> anyhow::Result<Self> {
        let name = format!("gateway-{}", PACKAGES.join("-").replace("==", "-"));
        let home = fixture::made_once(scratch, &name, |root| {
            progress(&format!("install {}", PACKAGES.join(", ")));
            run(Command::new("python3").args(["-m", "venv"]).arg(root))?;
            let mut install = Command::new(root.join("bin/python"));
            run(install.args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))
        })?;
        let script = home.join("gateway.py");
        std::fs::write(&script, SCRIPT).context("write the gateway's script")?;
        Ok(Self { python: home.join("bin/python"), script })
    }

    /// The command line of a proxy for `upstream`.
    pub(crate) fn launch(&self, upstream: &str, sessions: Sessions) -> Launch {
        let mut arguments = vec![self.script.clone().into(), upstream.into()];
        if sessions == Sessions::Kept {
            arguments.push("--kept".into());
        }
        Launch::new(&self.python, arguments)
    }
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("run {command:?}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {words}");
    Ok(())
}

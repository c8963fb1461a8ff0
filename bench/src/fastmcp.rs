//! Installs and starts fastmcp's proxy, the gateway to compare with.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use crate::{fixture, report::progress, server_process::ServerCommand};

/// fastmcp with its fastest event loop and HTTP parser, at pinned versions.
const PACKAGES: [&str; 3] = ["fastmcp==4.1.2", "uvloop==0.23.0", "httptools==0.9.0"];
const SCRIPT: &str = include_str!("gateway.py");

/// How the proxy manages its upstream sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionMode {
    /// One session per request, the default.
    PerRequest,
    /// One session for all requests: discouraged by its documentation, but the fastest.
    Shared,
}

/// An installed fastmcp proxy.
pub(crate) struct FastmcpProxy {
    python: PathBuf,
    script: PathBuf,
}

impl FastmcpProxy {
    /// Installs the proxy in the scratch folder, unless an earlier run did.
    pub(crate) fn install(scratch: &Path) -> anyhow::Result<Self> {
        let name = format!("gateway-{}", PACKAGES.join("-").replace("==", "-"));
        let home = fixture::create_once(scratch, &name, |root| {
            progress(&format!("install {}", PACKAGES.join(", ")));
            run_to_end(Command::new("python3").args(["-m", "venv"]).arg(root))?;
            let mut install = Command::new(root.join("bin/python"));
            run_to_end(install.args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))
        })?;
        let script = home.join("gateway.py");
        std::fs::write(&script, SCRIPT).context("write the gateway's script")?;
        Ok(Self { python: home.join("bin/python"), script })
    }

    /// The command line of a proxy for `upstream`.
    pub(crate) fn launch(&self, upstream: &str, sessions: SessionMode) -> ServerCommand {
        let mut arguments = vec![self.script.clone().into(), upstream.into()];
        if sessions == SessionMode::Shared {
            arguments.push("--kept".into());
        }
        ServerCommand::new(&self.python, arguments)
    }
}

/// Runs a command, which must succeed.
pub(crate) fn run_to_end(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("run {command:?}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {words}");
    Ok(())
}

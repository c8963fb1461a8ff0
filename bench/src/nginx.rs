//! Installs and configures nginx, the file server to compare with.

use std::{
    fs,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};

use crate::{
    report::progress,
    server_process::{self, ServerCommand, ServerProcess},
};

const PROGRAM: &str = "/usr/sbin/nginx";

/// An installed nginx that serves one folder.
pub(crate) struct NginxServer {
    prefix: PathBuf,
    folder: PathBuf,
}

impl NginxServer {
    /// Installs Debian's package, unless the program is there.
    pub(crate) fn install(scratch: &Path, folder: &Path) -> anyhow::Result<Self> {
        if !Path::new(PROGRAM).exists() {
            install_package()?;
        }
        let prefix = scratch.join("nginx");
        fs::create_dir_all(&prefix).context("make nginx's folder")?;
        Ok(Self { prefix, folder: folder.to_owned() })
    }

    /// Starts it on a free loopback port.
    pub(crate) async fn start(&self) -> anyhow::Result<(ServerProcess, SocketAddr)> {
        // nginx cannot report a port that the kernel chose, so the bench finds a free one for it.
        let socket = TcpListener::bind("127.0.0.1:0").context("find a free port")?;
        let address = socket.local_addr().context("find a free port")?;
        drop(socket);
        let path = self.prefix.join("nginx.conf");
        fs::write(&path, settings(&self.folder, address)).context("write nginx's settings")?;
        let arguments = vec!["-p".into(), self.prefix.clone().into(), "-c".into(), path.into()];
        let command = ServerCommand::new(Path::new(PROGRAM), arguments);
        Ok((server_process::start_at(&command, address).await?, address))
    }
}

fn install_package() -> anyhow::Result<()> {
    progress("install nginx-light");
    let output = Command::new("apt-get").args(["install", "--yes", "nginx-light"]).output();
    let output = output.context("run apt-get")?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "apt-get did not install nginx-light: {words}");
    Ok(())
}

/// One process that is its own worker: no master outlives it, and its CPU is all there is.
///
/// The load generator accepts JSON only, hence the type.
fn settings(folder: &Path, address: SocketAddr) -> String {
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("    {name}_temp_path {name};\n"))
        .concat();
    format!(
        "daemon off;\n\
         master_process off;\n\
         pid nginx.pid;\n\
         events {{ worker_connections 64; }}\n\
         http {{\n{temporary}\
         \x20   access_log off;\n\
         \x20   sendfile on;\n\
         \x20   tcp_nopush on;\n\
         \x20   keepalive_requests 1000000000;\n\
         \x20   default_type application/json;\n\
         \x20   server {{ listen {address}; root \"{}\"; }}\n\
         }}\n",
        folder.display()
    )
}

/// The request for a file.
pub(crate) fn get_request(name: &str, host: &str) -> Vec<u8> {
    format!("GET /{name} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n").into_bytes()
}

//! Listen address: an IP address with a port, or a Unix socket, and how each is opened.

use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use rustix::fs::Mode;
use rustix::process::umask;
use serde::de::{Deserialize, Deserializer, Error};
use server::transport::http::{self, Listener};
use tokio::net::{TcpListener, UnixListener};

const UNIX_PREFIX: &str = "unix:";

/// Where a server listens: `127.0.0.1:7878` or `unix:/run/refdesk.sock`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListenAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Default for ListenAddress {
    fn default() -> Self {
        Self::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7878))
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX_PREFIX}{}", path.display()),
        }
    }
}

impl FromStr for ListenAddress {
    type Err = &'static str;

    /// A port alone, or with `localhost`, is one of this machine: who wants to be reached from
    /// others says so.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORMS: &str = "write a port (7878), an IP address and a port (127.0.0.1:7878), or unix:/path/of/socket";
        if let Some(path) = text.strip_prefix(UNIX_PREFIX) {
            return if path.is_empty() { Err(FORMS) } else { Ok(Self::Unix(path.into())) };
        }
        let host = text.rsplit_once(':').map_or("", |(host, _)| host);
        let port = text.rsplit(':').next().unwrap_or_default();
        if host.is_empty() || host.eq_ignore_ascii_case("localhost") {
            let port = port.parse().map_err(|_| FORMS)?;
            return Ok(Self::Tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)));
        }
        text.parse().map(Self::Tcp).map_err(|_| FORMS)
    }
}

impl<'de> Deserialize<'de> for ListenAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// An open listener, the address that it got, and its socket file, if it has one.
pub(crate) struct OpenListener {
    pub(crate) listener: Listener,
    pub(crate) address: ListenAddress,
    /// Removes the socket file at the end.
    pub(crate) file: Option<SocketFile>,
}

impl ListenAddress {
    /// The IP address; `None` for a Unix socket.
    pub(crate) fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(address) => Some(address.ip()),
            Self::Unix(_) => None,
        }
    }

    /// The URL of the endpoint at this address; a Unix socket has none, and is shown as it is.
    pub(crate) fn url(&self, has_tls: bool) -> String {
        match self {
            Self::Tcp(address) => {
                let scheme = if has_tls { "https" } else { "http" };
                format!("{scheme}://{address}{}", http::PATH)
            }
            Self::Unix(_) => self.to_string(),
        }
    }

    /// Opens the listener.
    pub(crate) async fn open(&self) -> anyhow::Result<OpenListener> {
        match self {
            Self::Tcp(address) => {
                let listener = TcpListener::bind(address).await;
                let listener = listener.map_err(|error| explain_failure(*address, &error))?;
                let address = Self::Tcp(listener.local_addr()?);
                Ok(OpenListener { listener: listener.into(), address, file: None })
            }
            Self::Unix(path) => {
                let (listener, file) = bind_socket(path)
                    .with_context(|| format!("cannot listen on the socket {}", path.display()))?;
                let file = Some(file);
                Ok(OpenListener { listener: listener.into(), address: self.clone(), file })
            }
        }
    }
}

/// Why no listener can be opened at `address`, the cause first.
fn explain_failure(address: SocketAddr, error: &io::Error) -> anyhow::Error {
    let (ip, port) = (address.ip(), address.port());
    let cause = match error.kind() {
        io::ErrorKind::AddrInUse => format!("port {port} is in use by another program"),
        io::ErrorKind::AddrNotAvailable => format!("this machine does not have the address {ip}"),
        io::ErrorKind::PermissionDenied => format!("port {port} needs more privileges"),
        _ => error.to_string(),
    };
    anyhow::anyhow!(
        "{cause}, so refdesk cannot listen on {address}; choose another with --listen 127.0.0.1:0"
    )
}

/// Binds a socket that only its owner can open.
fn bind_socket(path: &Path) -> anyhow::Result<(UnixListener, SocketFile)> {
    remove_stale_socket(path)?;
    // From the first moment on, nobody else may connect.
    let usual = umask(Mode::from_raw_mode(0o177));
    let bound = UnixListener::bind(path);
    umask(usual);
    let listener = bound?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    let inode = fs::symlink_metadata(path)?.ino();
    Ok((listener, SocketFile { path: path.to_owned(), inode }))
}

/// Removes a socket file on which no process listens any more.
fn remove_stale_socket(path: &Path) -> anyhow::Result<()> {
    let Ok(data) = fs::symlink_metadata(path) else { return Ok(()) };
    if !data.file_type().is_socket() {
        anyhow::bail!("the path exists and is not a socket; choose another path");
    }
    match UnixStream::connect(path) {
        Ok(_) => anyhow::bail!("another process listens on it; choose another path"),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).context("a process left the socket behind")
        }
        Err(error) => Err(error).context("another process may listen on it"),
    }
}

/// The file of a Unix socket, removed on drop.
pub(crate) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another process may have replaced it meanwhile.
        if fs::symlink_metadata(&self.path).is_ok_and(|data| data.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ListenAddress;

    #[test]
    fn an_address_is_read_as_it_is_shown() {
        for text in ["127.0.0.1:7878", "[::1]:0", "unix:/run/refdesk.sock", "unix:relative.sock"] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().to_string(), text);
        }
        for text in ["7878", ":7878", "localhost:7878", "LOCALHOST:7878"] {
            let address = text.parse::<ListenAddress>().unwrap();
            assert_eq!(address.to_string(), "127.0.0.1:7878", "{text}");
        }
        for text in ["", ":", "unix:", "host:1", "99999", "127.0.0.1", "/run/refdesk.sock"] {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }
}

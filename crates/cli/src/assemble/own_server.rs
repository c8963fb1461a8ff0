//! Detects a mount whose server is this refdesk itself.
//!
//! Such a mount would start refdesk again without end, or send each request in a circle. A longer
//! circle, of several files or through other programs, ends at the depth of `program_env`.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use client::ServerTarget;

use super::upstream::DeclaredServer;
use crate::access::is_loopback;
use crate::args::{Args, CliCommand, SourceArgs};
use crate::listen::ListenAddress;
use crate::settings;

/// How a mount leads back to this refdesk.
pub(super) enum OwnServer {
    /// It starts refdesk with the file that declares it.
    Program,
    /// It connects to the address at which this refdesk listens.
    Address,
}

impl OwnServer {
    /// How `target` leads back to this refdesk; `None` if it does not.
    pub(super) fn find(server: &DeclaredServer<'_>, target: &ServerTarget) -> Option<Self> {
        match target {
            ServerTarget::Child { command, args, cwd, .. } => {
                let folder = cwd.clone().unwrap_or_default();
                let declared_in = server.settings.declaring_file(server.mount)?;
                (is_own_program(command, &folder) && reads_file(args, &folder, declared_in))
                    .then_some(Self::Program)
            }
            ServerTarget::Http { url, .. } => {
                let ListenAddress::Tcp(address) = server.settings.address.as_ref()? else {
                    return None;
                };
                let (host, port) = host_and_port(url)?;
                let is_here = host.eq_ignore_ascii_case("localhost")
                    || host.parse::<IpAddr>().is_ok_and(|ip| is_loopback(ip) || ip == address.ip())
                    || server
                        .settings
                        .server
                        .hosts
                        .iter()
                        .any(|own| own.eq_ignore_ascii_case(host));
                (is_here && port == address.port()).then_some(Self::Address)
            }
            ServerTarget::Pipes(_) => None,
        }
    }

    /// The key that is to blame.
    pub(super) fn key(&self) -> &'static str {
        match self {
            Self::Program => "command",
            Self::Address => "url",
        }
    }

    /// What is wrong, for everybody.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Program => "this is refdesk itself, with the file that this entry stands in",
            Self::Address => "this is refdesk itself, at the address where it listens",
        }
    }
}

/// Whether `command`, started in `folder`, is the file of this program.
fn is_own_program(command: &str, folder: &Path) -> bool {
    let identity = |path: PathBuf| fs::metadata(path).ok().map(|data| (data.dev(), data.ino()));
    let Some(own) = identity("/proc/self/exe".into()) else { return false };
    if command.contains('/') {
        return identity(folder.join(command)) == Some(own);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).find_map(|folder| identity(folder.join(command)));
    found == Some(own)
}

/// Whether refdesk, started with `args` in `folder`, reads `file`.
fn reads_file(args: &[String], folder: &Path, file: &Path) -> bool {
    let words = std::iter::once("refdesk").chain(args.iter().map(String::as_str));
    let Ok(Args { command: CliCommand::Serve(serve) }) = Args::try_parse_from(words) else {
        return false;
    };
    let SourceArgs { paths, settings, mcp_config, mount, start_wait: _ } = &serve.source;
    let usual = paths.is_empty() && mcp_config.is_empty() && mount.is_empty();
    let usual = usual.then(|| Path::new(settings::DEFAULT_FILE));
    let files =
        settings.as_deref().or(usual).into_iter().chain(mcp_config.iter().map(PathBuf::as_path));
    let Ok(file) = file.canonicalize() else { return false };
    files.into_iter().any(|one| folder.join(one).canonicalize().is_ok_and(|one| one == file))
}

/// The host and the port of a URL.
fn host_and_port(url: &str) -> Option<(&str, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let usual = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (authority, usual),
    };
    Some((host.trim_matches(['[', ']']), port))
}

#[cfg(test)]
mod tests {
    use super::host_and_port;

    #[test]
    fn the_host_and_the_port_of_a_url() {
        for (url, found) in [
            ("http://127.0.0.1:7878/mcp", Some(("127.0.0.1", 7878))),
            ("https://u:p@Host/mcp?x=1", Some(("Host", 443))),
            ("http://[::1]:80/", Some(("::1", 80))),
            ("http://[::1]", Some(("::1", 80))),
            ("localhost:7878", None),
            ("http://h:x/", None),
        ] {
            assert_eq!(host_and_port(url), found, "{url}");
        }
    }
}

//! The banner of `refdesk serve`: what is served, where, with which token, and where the page is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use serde_json::{Value, json};
use server::transport::http;

use crate::access::{Access, is_loopback};
use crate::args::ServeArgs;
use crate::assemble::Assembly;
use crate::commands::{check, token};
use crate::listen::ListenAddress;
use crate::output;
use crate::settings::Settings;
use crate::token::NewToken;

/// How many files of a folder the banner counts: startup must not scan a whole tree.
const COUNT_LIMIT: usize = 2_000;

const PLAIN_HTTP: &str = "without TLS, everyone on the network between here and a client can read \
    the tokens and all content; set [tls], or put a reverse proxy with TLS in front";

/// Where the server listens, and what a person must know about it.
pub(super) struct Banner {
    url: String,
    /// The URL for other machines, which cannot reach an address such as `0.0.0.0`.
    public_url: String,
    /// The URLs at which other machines can reach the server.
    reachable: Vec<String>,
    /// The URL of the page for people, if there is one.
    page: Option<String>,
    /// Whether the page needs a token that refdesk does not know in clear.
    page_needs_token: bool,
    startup: Option<NewToken>,
    warning: Option<&'static str>,
}

impl Banner {
    /// The banner for a server at `address`, with the token that was made for this run.
    pub(super) fn new(
        settings: &Settings,
        address: &ListenAddress,
        (startup, access): (Option<NewToken>, &Access),
    ) -> Self {
        let has_tls = access.tls.is_some();
        let url = address.url(has_tls);
        let page_needs_token = startup.is_none() && !settings.tokens.is_empty();
        let ListenAddress::Tcp(address) = address else {
            let (public_url, reachable, page) = (url.clone(), Vec::new(), None);
            return Self {
                url,
                public_url,
                reachable,
                page,
                page_needs_token,
                startup,
                warning: None,
            };
        };
        let scheme = if has_tls { "https" } else { "http" };
        let is_open = !is_loopback(address.ip());
        let hosts = if is_open { reachable_hosts(settings, address.ip()) } else { Vec::new() };
        let at = |host: &String| format!("{scheme}://{host}:{}{}", address.port(), http::PATH);
        let reachable: Vec<String> = hosts.iter().map(at).collect();
        let public_url = reachable.first().unwrap_or(&url).clone();
        let page = access.page.then(|| {
            let host = page_host(settings, *address, &hosts);
            let token = startup.as_ref().map(|token| format!("?token={}", token.reveal()));
            format!("{scheme}://{host}:{}/{}", address.port(), token.unwrap_or_default())
        });
        let is_plain = !has_tls && settings.server.trusted_proxies.is_empty();
        let warning = (is_plain && is_open).then_some(PLAIN_HTTP);
        Self { url, public_url, reachable, page, page_needs_token, startup, warning }
    }

    /// Prints the banner, as text or as one line of JSON.
    pub(super) async fn print(&self, args: &ServeArgs, assembly: &Assembly) -> anyhow::Result<()> {
        if args.json {
            let mut told = check::mounts_json(assembly, COUNT_LIMIT).await;
            told["url"] = self.url.clone().into();
            if let Some(startup) = &self.startup {
                told["token"] = startup.reveal().into();
            }
            if let Some(warning) = self.warning {
                told["warning"] = warning.into();
            }
            if let Some(page) = &self.page {
                told["page"] = page.clone().into();
            }
            if !self.reachable.is_empty() {
                told["reachable"] = self.reachable.clone().into();
            }
            return output::print(&format!("{told}\n"));
        }
        let table = check::mounts_table(assembly, COUNT_LIMIT).await;
        let version = env!("CARGO_PKG_VERSION");
        let mut text = format!("refdesk {version}\n{table}");
        if let Some(startup) = &self.startup {
            text.push_str(&self.token_lines(startup));
        }
        if let Some(warning) = self.warning {
            text.push_str(&format!("  warning: {warning}\n"));
        }
        if !self.reachable.is_empty() {
            let urls = self.reachable.join("\n    ");
            text.push_str(&format!(
                "  warning: other machines can reach this server, at\n    {urls}\n"
            ));
        }
        let hint = match self.url.starts_with("http") {
            true => "   (add it to a host: refdesk host-config)",
            false => "",
        };
        text.push_str(&format!("  listening on {}{hint}\n", self.url));
        if let Some(page) = &self.page {
            let hint = match self.page_needs_token {
                true => "   (with ?token=… at its end; make a token: refdesk token new NAME)",
                false => "",
            };
            text.push_str(&format!("  page  {page}{hint}\n"));
        }
        output::print(&text)
    }

    fn token_lines(&self, startup: &NewToken) -> String {
        let token = startup.reveal();
        let entry = host_entry(&self.public_url, token);
        let line = token::host_line(&self.public_url, token);
        format!(
            "  every client needs a token; this one is valid until refdesk stops and is shown only \
             now\n  (a token that lasts: refdesk token new NAME)\n    {token}\n  paste into a host:\n    \
             {entry}\n    {line}\n"
        )
    }
}

/// The JSON entry of a server with a token, as hosts read it.
fn host_entry(url: &str, token: &str) -> Value {
    let headers = json!({ "Authorization": format!("Bearer {token}") });
    json!({ "mcpServers": { "refdesk": { "type": "http", "url": url, "headers": headers } } })
}

/// The host under which a browser can use the page: the origin check lets in pages of an address
/// or of a name in `hosts`, and of no other name.
fn page_host(settings: &Settings, address: SocketAddr, hosts: &[String]) -> String {
    let is_address = |host: &&String| host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    let is_listed = |host: &&String| settings.server.hosts.contains(host);
    let known = hosts.iter().find(|host| is_listed(host) || is_address(host));
    known.cloned().unwrap_or_else(|| match address.ip() {
        ip if ip.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    })
}

/// The names and addresses by which other machines reach a server at `ip`, the best one first.
fn reachable_hosts(settings: &Settings, ip: IpAddr) -> Vec<String> {
    if !settings.server.hosts.is_empty() {
        return settings.server.hosts.clone();
    }
    let written = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    if !ip.is_unspecified() {
        return vec![written(ip)];
    }
    let fourth =
        outgoing_address((Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into()));
    let sixth = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    let sixth =
        ip.is_ipv6().then(|| outgoing_address((Ipv6Addr::UNSPECIFIED.into(), sixth.into())));
    let addresses = fourth.into_iter().chain(sixth.flatten()).map(written);
    std::iter::once(machine_name()).chain(addresses).collect()
}

/// The address of this machine on the way to `far`, which is sent nothing.
fn outgoing_address((any, far): (IpAddr, IpAddr)) -> Option<IpAddr> {
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((far, 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    Some(ip).filter(|ip| !ip.is_unspecified() && !is_loopback(*ip))
}

/// The name of this machine in its network.
fn machine_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

//! Access to the HTTP server: tokens, TLS, trusted proxies and the audit log, from the settings and
//! the arguments.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use server::AuditSink;
use server::transport::http::{AccessToken, HttpOptions, OriginGuard, TokenTable};

use crate::args::ServeArgs;
use crate::audit_log::AuditLog;
use crate::listen::ListenAddress;
use crate::request_log::RequestLog;
use crate::settings::{AuditSettings, Settings};
use crate::tls_files::{TlsFiles, TlsPaths};
use crate::token::NewToken;

/// The name of the token that refdesk makes at start.
const STARTUP: &str = "startup";

/// Who may use the HTTP server.
pub(crate) struct Access {
    tokens: Arc<TokenTable>,
    /// The token that refdesk made because the settings have none.
    startup: Option<AccessToken>,
    had_tokens: AtomicBool,
    pub(crate) tls: Option<TlsFiles>,
    /// Whether the page for people is served.
    pub(crate) page: bool,
    audit: Option<Arc<dyn AuditSink>>,
}

impl Access {
    /// The access rules of a server that listens on `address`, and the token that was made for
    /// this run, if one was. Every client needs a token where others than this machine's can come:
    /// beyond loopback, behind a proxy, and under a name that is not this machine's own.
    pub(crate) fn new(
        args: &ServeArgs,
        settings: &Settings,
        address: &ListenAddress,
    ) -> anyhow::Result<(Self, Option<NewToken>)> {
        let is_proxied = !settings.server.trusted_proxies.is_empty();
        let far_host = settings.server.hosts.iter().find(|host| !is_loopback_name(host));
        let is_far = is_proxied || far_host.is_some();
        let needs_token = address.ip().is_some_and(|ip| !is_loopback(ip) || is_far);
        let fresh = match needs_token && settings.tokens.is_empty() {
            true => Some(NewToken::generate()?),
            false => None,
        };
        if let (Some(host), Some(_), false) = (far_host, &fresh, is_proxied) {
            tracing::warn!(
                "`hosts` names {host}, under which others may reach this server, such as through a \
                 proxy, so every client needs a token; make one that lasts: refdesk token new NAME; \
                 if there is a proxy, name its address in `trusted_proxies`"
            );
        }
        let startup = fresh.as_ref().map(|token| AccessToken {
            name: STARTUP.to_owned(),
            hash: token.hash(),
            expires: None,
            scopes: Vec::new(),
        });
        let tls = tls_paths(args, settings).map(TlsPaths::load).transpose()?;
        let tokens = Arc::new(TokenTable::new(Vec::new(), !needs_token));
        let audit = RequestLog::around(audit_log(args, settings)?);
        let page = !args.no_page && settings.server.page.unwrap_or(true);
        let had_tokens = AtomicBool::new(false);
        let access = Self { tokens, startup, had_tokens, tls, page, audit };
        access.apply(settings);
        Ok((access, fresh))
    }

    /// The options of the HTTP server.
    pub(crate) fn http_options(&self, settings: &Settings, address: &ListenAddress) -> HttpOptions {
        let guard = OriginGuard {
            loopback: address.ip().is_none_or(is_loopback),
            origins: settings.server.origins.clone(),
            hosts: settings.server.hosts.clone(),
        };
        HttpOptions {
            guard,
            tokens: Arc::clone(&self.tokens),
            tls: self.tls.as_ref().map(|tls| Arc::clone(&tls.identity)),
            audit: self.audit.clone(),
            trusted_proxies: settings.server.trusted_proxies.iter().map(|range| range.0).collect(),
            page: self.page,
            threads: None,
        }
    }

    /// Accepts the tokens of `settings` from now on, and no others.
    pub(crate) fn apply(&self, settings: &Settings) {
        let mut tokens = settings.tokens.clone();
        if tokens.is_empty() {
            tokens.extend(self.startup.clone());
        }
        let had_tokens = self.had_tokens.fetch_or(!tokens.is_empty(), Ordering::Relaxed);
        if tokens.is_empty() && had_tokens {
            tracing::warn!("the settings have no token any more, so no client is let in");
        }
        self.tokens.replace(tokens);
    }

    /// Whether a client needs a token.
    pub(crate) fn wants_token(&self) -> bool {
        self.had_tokens.load(Ordering::Relaxed)
    }

    /// The files that can change while the server runs.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let files = |tls: &TlsFiles| [tls.paths.certificate.clone(), tls.paths.key.clone()];
        self.tls.iter().flat_map(files).collect()
    }
}

/// The audit log of the arguments, or else of the settings.
pub(crate) fn audit_log(
    args: &ServeArgs,
    settings: &Settings,
) -> anyhow::Result<Option<Arc<dyn AuditSink>>> {
    let AuditSettings { audit, audit_size, audit_keep } = settings.server.audit();
    let file = args.audit.clone().or_else(|| Some(settings.resolve_path(&audit?)));
    let Some(file) = file else { return Ok(None) };
    Ok(Some(Arc::new(AuditLog::open(file, audit_size, audit_keep)?)))
}

/// The certificate and key of the arguments, or else of the settings.
fn tls_paths(args: &ServeArgs, settings: &Settings) -> Option<TlsPaths> {
    if let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) {
        return Some(TlsPaths { certificate: certificate.clone(), key: key.clone() });
    }
    let tls = settings.tls.as_ref()?;
    let [certificate, key] = [&tls.certificate, &tls.key].map(|path| settings.resolve_path(path));
    Some(TlsPaths { certificate, key })
}

/// Whether only this machine reaches `address`.
pub(crate) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Whether a name in `hosts` leads to the machine itself wherever it is used.
fn is_loopback_name(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let ip = name.trim_start_matches('[').trim_end_matches(']').parse();
    name == "localhost" || name.ends_with(".localhost") || ip.is_ok_and(is_loopback)
}

#[cfg(test)]
mod tests {
    use super::is_loopback_name;

    #[test]
    fn names_of_the_machine_itself_are_told_from_others() {
        for name in ["localhost", "LOCALHOST.", "desk.localhost", "127.0.0.1", "127.1.2.3", "[::1]"]
        {
            assert!(is_loopback_name(name), "{name}");
        }
        for name in ["desk.example.com", "localhost.example.com", "mylocalhost", "10.0.0.1", "desk"]
        {
            assert!(!is_loopback_name(name), "{name}");
        }
    }
}

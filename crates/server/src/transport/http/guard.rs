//! Host and Origin check, against cross-site requests and DNS rebinding.
//!
//! A web page can make a browser send requests to this machine: from its own origin, or, by
//! rebinding its domain, from ours. The headers `Origin` and `Host` reveal it.

use hyper::header::{HOST, ORIGIN};
use hyper::{HeaderMap, StatusCode};

/// The allowed values of `Origin` and `Host`.
#[derive(Debug, Clone, Default)]
pub struct OriginGuard {
    /// Whether the server listens on a loopback address: then only local names are allowed.
    pub loopback: bool,
    /// Additional allowed origins, as `scheme://host[:port]`.
    pub origins: Vec<String>,
    /// Allowed host names without a port. If empty, any, unless `loopback`.
    pub hosts: Vec<String>,
}

impl OriginGuard {
    /// Accepts a request by its headers and by the `authority` of its target, or says why not.
    ///
    /// A target in absolute form replaces `Host` (RFC 9112, 3.2.2), which must be there all the
    /// same, once (3.2).
    pub(crate) fn check(
        &self,
        authority: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<(), OriginRejection> {
        let [host, origin] = [HOST, ORIGIN].map(|name| {
            let mut values = headers.get_all(name).iter();
            let first = values.next().map(|value| value.to_str().unwrap_or_default());
            // A proxy in front of us may have checked the other value, so a repeated header is bad.
            first.map(|first| if values.next().is_some() { "" } else { first })
        });
        let host = host.filter(|host| !host.is_empty()).ok_or(OriginRejection::NoHost)?;
        let host = authority.unwrap_or(host);
        if !self.allows_host(host) {
            return Err(OriginRejection::Host);
        }
        if origin.is_some_and(|origin| !self.allows_origin(origin, host)) {
            return Err(OriginRejection::Origin);
        }
        Ok(())
    }

    fn allows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        self.is_listed(name) || is_local(name) || !self.loopback && self.hosts.is_empty()
    }

    fn is_listed(&self, name: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Allows the origins in the settings, and the server's own, which its page has. Another port of
    /// this machine is another origin: any program may serve a page there.
    fn allows_origin(&self, origin: &str, host: &str) -> bool {
        if self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let Some((_, authority)) = origin.split_once("://") else { return false };
        let name = without_port(authority);
        // An unlisted name may be the domain of an attacker, rebound to this machine.
        let is_ours = self.is_listed(name) || is_local(name) || is_address(name);
        is_ours && authority.eq_ignore_ascii_case(host)
    }
}

/// Why a request is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OriginRejection {
    NoHost,
    Host,
    Origin,
}

impl OriginRejection {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::NoHost => StatusCode::BAD_REQUEST,
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
        }
    }

    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::NoHost => "a request needs exactly one Host header",
            Self::Host => "the Host header does not name this server",
            Self::Origin => "requests from this Origin are not allowed",
        }
    }
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

fn is_address(name: &str) -> bool {
    name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok()
}

fn is_local(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" || name == "[::1]"
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use hyper::header::{HOST, ORIGIN};

    use super::OriginGuard;

    fn admits(guard: &OriginGuard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        guard.check(None, &headers).is_ok()
    }

    /// SEC-01, SEC-02, SEC-05.
    #[test]
    fn on_this_machine_only_its_own_names_are_let_in() {
        let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
        for host in ["127.0.0.1:7878", "localhost", "LOCALHOST:1", "[::1]:7878"] {
            assert!(admits(&guard, host, None), "{host}");
            assert!(admits(&guard, host, Some(&format!("http://{host}"))), "{host}");
        }
        let mut twice = HeaderMap::new();
        twice.append(HOST, "localhost".parse().unwrap());
        assert!(guard.check(None, &twice).is_ok());
        twice.append(HOST, "evil.example".parse().unwrap());
        assert!(
            guard.check(None, &twice).is_err() && guard.check(None, &HeaderMap::new()).is_err()
        );
        assert!(!admits(&guard, "evil.example", None));
        assert!(!admits(&guard, "evil.example:7878", Some("http://evil.example:7878")));
        for origin in ["http://evil.example", "null", "", "http://localhost.evil.example"] {
            assert!(!admits(&guard, "127.0.0.1:7878", Some(origin)), "{origin}");
        }
    }

    /// SEC-01.
    #[test]
    fn a_page_of_another_port_of_this_machine_is_of_another_origin() {
        let other = "http://localhost:3000";
        for loopback in [true, false] {
            let mut guard = OriginGuard { loopback, ..OriginGuard::default() };
            for origin in [other, "http://127.0.0.1:7879", "http://localhost:7878", "http://[::1]"]
            {
                assert!(!admits(&guard, "127.0.0.1:7878", Some(origin)), "{loopback} {origin}");
            }
            assert!(admits(&guard, "localhost:7878", Some("http://localhost:7878")), "{loopback}");
            guard.origins = vec![other.to_owned()];
            assert!(admits(&guard, "127.0.0.1:7878", Some(other)), "{loopback}");
        }
    }

    /// RFC 9112, 3.2.2.
    #[test]
    fn a_target_with_an_authority_replaces_the_host() {
        let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "localhost".parse().unwrap());
        assert!(guard.check(Some("127.0.0.1:7878"), &headers).is_ok());
        assert_eq!(guard.check(Some("evil.example"), &headers), Err(super::OriginRejection::Host));
        headers.insert(HOST, "evil.example".parse().unwrap());
        assert!(guard.check(Some("localhost"), &headers).is_ok());
        headers.remove(HOST);
        let missing = guard.check(Some("localhost"), &headers);
        assert_eq!(missing, Err(super::OriginRejection::NoHost));
    }

    #[test]
    fn in_the_open_a_page_may_use_only_the_server_it_came_from() {
        let guard = OriginGuard::default();
        assert!(admits(&guard, "10.0.0.7:80", Some("http://10.0.0.7:80")));
        assert!(admits(&guard, "[fe80::1]:80", Some("http://[fe80::1]:80")));
        assert!(admits(&guard, "desk.example", None));
        assert!(!admits(&guard, "10.0.0.7", Some("https://evil.example")));
        assert!(!admits(&guard, "evil.example", Some("https://evil.example")), "rebinding");
        let listed =
            OriginGuard { origins: vec!["https://app.example".into()], ..OriginGuard::default() };
        assert!(admits(&listed, "desk.example", Some("https://app.example")));
        let named = OriginGuard { hosts: vec!["desk.example".into()], ..OriginGuard::default() };
        assert!(admits(&named, "desk.example:443", None));
        assert!(admits(&named, "desk.example", Some("https://desk.example")));
        assert!(!admits(&named, "other.example", None));
    }
}

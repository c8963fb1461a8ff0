//! Host and Origin check, against cross-site requests and DNS rebinding.
//!
//! A web page can make a browser send requests to this machine: from its own origin, or, by
//! rebinding its domain, from ours. The headers `Origin` and `Host` reveal it.

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

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
    /// Accepts the headers of a request, or says why not.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let [host, origin] = [HOST, ORIGIN].map(|name| {
            let mut values = headers.get_all(name).iter();
            let first = values.next().map(|value| value.to_str().unwrap_or_default());
            // A proxy in front of us may have checked the other value, so a repeated header is bad.
            first.map(|first| if values.next().is_some() { "" } else { first })
        });
        if host.is_none_or(|host| !self.allows_host(host)) {
            return Err("the Host header does not name this server");
        }
        if origin.is_some_and(|origin| !self.allows_origin(origin, host)) {
            return Err("requests from this Origin are not allowed");
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

    fn allows_origin(&self, origin: &str, host: Option<&str>) -> bool {
        if self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let Some((_, authority)) = origin.split_once("://") else { return false };
        let name = without_port(authority);
        let same = host.is_some_and(|host| authority.eq_ignore_ascii_case(host));
        // An unlisted name may be the domain of an attacker, rebound to this machine.
        let is_ours = || self.is_listed(name) || is_address(name);
        if self.loopback { is_local(name) } else { same && is_ours() }
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
        guard.check(&headers).is_ok()
    }

    /// SEC-01, SEC-02, SEC-05.
    #[test]
    fn on_this_machine_only_its_own_names_are_let_in() {
        let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
        for host in ["127.0.0.1:7878", "localhost", "LOCALHOST:1", "[::1]:7878"] {
            assert!(admits(&guard, host, None), "{host}");
            assert!(admits(&guard, host, Some("http://localhost:3000")), "{host}");
        }
        let mut twice = HeaderMap::new();
        twice.append(HOST, "localhost".parse().unwrap());
        assert!(guard.check(&twice).is_ok());
        twice.append(HOST, "evil.example".parse().unwrap());
        assert!(guard.check(&twice).is_err() && guard.check(&HeaderMap::new()).is_err());
        assert!(!admits(&guard, "evil.example", None));
        assert!(!admits(&guard, "evil.example:7878", Some("http://evil.example:7878")));
        for origin in ["http://evil.example", "null", "", "http://localhost.evil.example"] {
            assert!(!admits(&guard, "127.0.0.1:7878", Some(origin)), "{origin}");
        }
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

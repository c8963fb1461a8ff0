//! Who may talk to us from a browser?
//!
//! A page on the web can make a browser send requests to this machine, under its own name or,
//! by rebinding a domain, under ours. `Origin` and `Host` tell.

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

/// Which origins and hosts are let in.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Whether we listen on this machine's own address only, where no other name is right.
    pub loopback: bool,
    /// Origins beyond those of this machine, as `scheme://host[:port]`.
    pub origins: Vec<String>,
    /// Names under which this server may be addressed; any, if none is given.
    pub hosts: Vec<String>,
}

impl Guard {
    /// Why a request with these headers is turned away.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let [host, origin] = [HOST, ORIGIN].map(|name| {
            let mut values = headers.get_all(name).iter();
            let first = values.next().map(|value| value.to_str().unwrap_or_default());
            // Whoever stands before us may have looked at the other one.
            first.map(|first| if values.next().is_some() { "" } else { first })
        });
        if host.is_none_or(|host| !self.admits_host(host)) {
            return Err("the Host header names another server");
        }
        if origin.is_some_and(|origin| !self.admits_origin(origin, host)) {
            return Err("this Origin may not use the server");
        }
        Ok(())
    }

    fn admits_host(&self, host: &str) -> bool {
        let name = without_port(host);
        self.is_listed(name) || is_local(name) || !self.loopback && self.hosts.is_empty()
    }

    fn is_listed(&self, name: &str) -> bool {
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    fn admits_origin(&self, origin: &str, host: Option<&str>) -> bool {
        if self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let Some((_, authority)) = origin.split_once("://") else { return false };
        let name = without_port(authority);
        let same = host.is_some_and(|host| authority.eq_ignore_ascii_case(host));
        // A name that nobody listed may be a page's own, pointed at this machine.
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

    use super::Guard;

    fn admits(guard: &Guard, host: &str, origin: Option<&str>) -> bool {
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
        let guard = Guard { loopback: true, ..Guard::default() };
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
        let guard = Guard::default();
        assert!(admits(&guard, "10.0.0.7:80", Some("http://10.0.0.7:80")));
        assert!(admits(&guard, "[fe80::1]:80", Some("http://[fe80::1]:80")));
        assert!(admits(&guard, "desk.example", None));
        assert!(!admits(&guard, "10.0.0.7", Some("https://evil.example")));
        assert!(!admits(&guard, "evil.example", Some("https://evil.example")), "rebinding");
        let listed = Guard { origins: vec!["https://app.example".into()], ..Guard::default() };
        assert!(admits(&listed, "desk.example", Some("https://app.example")));
        let named = Guard { hosts: vec!["desk.example".into()], ..Guard::default() };
        assert!(admits(&named, "desk.example:443", None));
        assert!(admits(&named, "desk.example", Some("https://desk.example")));
        assert!(!admits(&named, "other.example", None));
    }
}

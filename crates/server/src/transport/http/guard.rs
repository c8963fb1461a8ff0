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
        let host = headers.get(HOST).map(|value| value.to_str().unwrap_or_default());
        if host.is_some_and(|host| !self.admits_host(host)) {
            return Err("the Host header names another server");
        }
        let origin = headers.get(ORIGIN).map(|value| value.to_str().unwrap_or_default());
        if origin.is_some_and(|origin| !self.admits_origin(origin, host)) {
            return Err("this Origin may not use the server");
        }
        Ok(())
    }

    fn admits_host(&self, host: &str) -> bool {
        let name = without_port(host);
        let listed = self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name));
        listed || is_local(name) || !self.loopback && self.hosts.is_empty()
    }

    fn admits_origin(&self, origin: &str, host: Option<&str>) -> bool {
        if self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let Some((_, authority)) = origin.split_once("://") else { return false };
        let same = host.is_some_and(|host| authority.eq_ignore_ascii_case(host));
        if self.loopback { is_local(without_port(authority)) } else { same }
    }
}

fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
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
        assert!(!admits(&guard, "evil.example", None));
        assert!(!admits(&guard, "evil.example:7878", Some("http://evil.example:7878")));
        for origin in ["http://evil.example", "null", "", "http://localhost.evil.example"] {
            assert!(!admits(&guard, "127.0.0.1:7878", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn in_the_open_a_page_may_use_only_the_server_it_came_from() {
        let guard = Guard::default();
        assert!(admits(&guard, "desk.example", Some("https://desk.example")));
        assert!(!admits(&guard, "desk.example", Some("https://evil.example")));
        let listed = Guard { origins: vec!["https://app.example".into()], ..Guard::default() };
        assert!(admits(&listed, "desk.example", Some("https://app.example")));
        let named = Guard { hosts: vec!["desk.example".into()], ..Guard::default() };
        assert!(admits(&named, "desk.example:443", None));
        assert!(!admits(&named, "other.example", None));
    }
}

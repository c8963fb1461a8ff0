//! The client behind a reverse proxy: `X-Forwarded-For`, `Forwarded` and `X-Forwarded-Proto`.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::FORWARDED;
use ipnet::IpNet;

const FOR: &str = "x-forwarded-for";
const PROTO: &str = "x-forwarded-proto";

/// The address of the client of a request that arrives from `peer`. Only the headers of a trusted
/// proxy count, and in them the last address that is not such a proxy: the rest is what the client
/// wrote itself.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: IpAddr| {
        let address = address.to_canonical();
        trusted.iter().any(|network| network.contains(&address))
    };
    if !is_trusted(peer) {
        return peer;
    }
    let plain = list_items(headers, FOR).map(str::to_owned);
    let standard = list_items(headers, FORWARDED.as_str()).map(|element| {
        let pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
        let client = pairs.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("for"));
        client.map_or(String::new(), |(_, value)| value.trim_matches('"').to_owned())
    });
    let hops: Vec<String> = match headers.contains_key(FOR) {
        true => plain.collect(),
        false => standard.collect(),
    };
    let mut client = peer;
    for hop in hops.iter().rev() {
        // An obscured or malformed hop ends what can be known.
        let Some(address) = parse_address(hop) else { break };
        client = address;
        if !is_trusted(address) {
            break;
        }
    }
    client
}

/// Whether a trusted proxy says that its client uses TLS.
pub(super) fn client_uses_tls(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> bool {
    let is_trusted = trusted.iter().any(|network| network.contains(&peer.to_canonical()));
    is_trusted && list_items(headers, PROTO).last().is_some_and(|proto| proto == "https")
}

/// The items of all headers `name`, which is a list.
fn list_items<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// An address, perhaps with a port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use hyper::HeaderMap;
    use hyper::header::HeaderName;

    use super::{client_address, client_uses_tls};

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
        }
        headers
    }

    fn client(peer: &str, pairs: &[(&str, &str)]) -> String {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        client_address(peer.parse::<IpAddr>().unwrap(), &headers(pairs), &trusted).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_names_the_client() {
        let spoofed = [("x-forwarded-for", "192.0.2.1")];
        assert_eq!(client("203.0.113.9", &spoofed), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &spoofed), "192.0.2.1");
        assert_eq!(client("::ffff:10.0.0.1", &spoofed), "192.0.2.1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        let chain = [("x-forwarded-for", "1.1.1.1, 192.0.2.1"), ("x-forwarded-for", "10.0.0.2")];
        assert_eq!(client("10.0.0.1", &chain), "192.0.2.1", "the last that is no proxy of ours");
        for value in ["unknown", "", "_hidden", "1.2.3"] {
            assert_eq!(client("10.0.0.1", &[("x-forwarded-for", value)]), "10.0.0.1", "{value}");
        }
    }

    #[test]
    fn the_standard_header_is_read_too() {
        for (value, expected) in [
            ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
            ("for=\"[2001:db8::17]:4711\"", "2001:db8::17"),
            ("For=192.0.2.43:80, for=10.1.1.1", "192.0.2.43"),
            ("for=unknown", "10.0.0.1"),
        ] {
            assert_eq!(client("10.0.0.1", &[("forwarded", value)]), expected, "{value}");
        }
    }

    #[test]
    fn the_scheme_is_believed_from_a_trusted_proxy_only() {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let https = headers(&[("x-forwarded-proto", "https")]);
        assert!(client_uses_tls("10.0.0.1".parse().unwrap(), &https, &trusted));
        assert!(!client_uses_tls("192.0.2.1".parse().unwrap(), &https, &trusted));
    }
}

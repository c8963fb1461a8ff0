//! Tests of TLS and of Unix sockets: handshakes, new certificates, who is let in.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertifiedKey, KeyPair};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use server::transport::http::{self, HttpOptions, OriginGuard, TlsIdentity, TokenTable};
use server::{CollectionsMode, Limits};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio_rustls::TlsConnector;

use crate::fixture::{self, HttpFixture, default_server, memory, stateless};

/// A self-signed certificate for `localhost`.
fn certificate() -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap()
}

fn pem(pair: &CertifiedKey<KeyPair>) -> (String, String) {
    (pair.cert.pem(), pair.signing_key.serialize_pem())
}

fn identity(pair: &CertifiedKey<KeyPair>) -> Arc<TlsIdentity> {
    let (certificate, key) = pem(pair);
    Arc::new(TlsIdentity::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap())
}

fn options(tls: &Arc<TlsIdentity>) -> HttpOptions {
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    HttpOptions { guard, tls: Some(Arc::clone(tls)), ..HttpOptions::default() }
}

/// A client that trusts only `certificate`.
fn connector(certificate: &CertificateDer<'static>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

/// The status of a request over `stream`.
async fn discover(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
    let body = stateless(1, "server/discover", json!({})).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: application/json\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

async fn discover_tls(site: &HttpFixture, pair: &CertifiedKey<KeyPair>) -> std::io::Result<String> {
    let stream = TcpStream::connect(("127.0.0.1", site.port)).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let stream = connector(pair.cert.der()).connect(name, stream).await?;
    Ok(discover(stream).await)
}

#[tokio::test]
async fn requests_are_served_over_tls_and_a_new_certificate_is_taken_up() {
    let (first, second) = (certificate(), certificate());
    let tls = identity(&first);
    let site = HttpFixture::open_with(default_server(), options(&tls)).await;
    assert_eq!(discover_tls(&site, &first).await.unwrap(), "200");
    assert!(discover_tls(&site, &second).await.is_err(), "another certificate is not trusted");
    let (certificate, key) = pem(&second);
    let (_, old_key) = pem(&first);
    for (certificate, key) in [("", ""), (&*certificate, ""), (&*certificate, &*old_key)] {
        assert!(tls.replace(certificate.as_bytes(), key.as_bytes()).is_err());
        assert_eq!(discover_tls(&site, &first).await.unwrap(), "200", "the old pair stays");
    }
    tls.replace(certificate.as_bytes(), key.as_bytes()).unwrap();
    assert_eq!(discover_tls(&site, &second).await.unwrap(), "200");
    assert!(discover_tls(&site, &first).await.is_err());
}

/// A client that begins no handshake, or speaks plain HTTP, costs its own connection only.
#[tokio::test]
async fn a_handshake_has_a_time_limit_and_takes_a_place() {
    let pair = certificate();
    let tls = identity(&pair);
    let limits =
        Limits { connections: 1, io_timeout: Duration::from_millis(200), ..Limits::default() };
    let server = fixture::server(Arc::new(memory()), limits, CollectionsMode::Always);
    let site = HttpFixture::open_with(server, options(&tls)).await;
    let mut silent = TcpStream::connect(("127.0.0.1", site.port)).await.unwrap();
    let mut byte = [0; 1];
    assert_eq!(silent.read(&mut byte).await.unwrap_or(0), 0, "closed after the time limit");
    let plain = site.send("POST", &[], "{}");
    assert!(tokio::time::timeout(Duration::from_secs(60), plain).await.is_ok());
    assert_eq!(discover_tls(&site, &pair).await.unwrap(), "200");
}

/// SEC-04: a Unix socket identifies the process owner, so it needs no token.
#[tokio::test]
async fn a_unix_socket_serves_the_local_principal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let guard = OriginGuard { loopback: true, ..OriginGuard::default() };
    let tokens = Arc::new(TokenTable::new(Vec::new(), false));
    let options = HttpOptions { guard, tokens, ..HttpOptions::default() };
    let serving =
        tokio::spawn(http::serve(default_server(), listener, options, std::future::pending()));
    for _ in 0..3 {
        assert_eq!(discover(UnixStream::connect(&path).await.unwrap()).await, "200");
    }
    serving.abort();
}

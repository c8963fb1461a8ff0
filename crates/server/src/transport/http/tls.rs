//! TLS of the HTTP server: a certificate and its key, which can be replaced while the server runs.

use std::fmt;
use std::io;
use std::sync::Arc;

use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// The certificate chain and private key of the server.
pub struct TlsIdentity(RwLock<Arc<ServerConfig>>);

impl fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsIdentity")
    }
}

impl TlsIdentity {
    /// Reads a certificate chain and its private key, both in PEM.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> io::Result<Self> {
        Ok(Self(RwLock::new(build_config(certificate, key)?)))
    }

    /// Uses another pair for new connections. An invalid pair changes nothing.
    pub fn replace(&self, certificate: &[u8], key: &[u8]) -> io::Result<()> {
        let config = build_config(certificate, key)?;
        *self.0.write() = config;
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0.read()))
    }
}

fn build_config(certificate: &[u8], key: &[u8]) -> io::Result<Arc<ServerConfig>> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
    let chain = chain.map_err(|_| invalid("the certificate is not valid PEM"))?;
    if chain.is_empty() {
        return Err(invalid("the certificate file holds no certificate"));
    }
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|_| invalid("the key file holds no private key in PEM"))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
    let mut config =
        config.map_err(|error| invalid(&format!("the pair does not work: {error}")))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

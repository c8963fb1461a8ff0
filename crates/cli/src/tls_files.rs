//! Certificate and key files of the HTTP server, reloaded when they change.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use server::transport::http::TlsIdentity;

/// Where the certificate and its key are, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsPaths {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// A loaded pair, and the files that it came from.
pub(crate) struct TlsFiles {
    pub(crate) paths: TlsPaths,
    pub(crate) identity: Arc<TlsIdentity>,
}

impl TlsPaths {
    fn read(&self) -> anyhow::Result<(Vec<u8>, Vec<u8>)> {
        let read = |path: &PathBuf| {
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
        };
        Ok((read(&self.certificate)?, read(&self.key)?))
    }

    /// Loads the pair.
    pub(crate) fn load(self) -> anyhow::Result<TlsFiles> {
        let (certificate, key) = self.read()?;
        let identity = TlsIdentity::from_pem(&certificate, &key).with_context(|| {
            let (certificate, key) = (self.certificate.display(), self.key.display());
            format!("cannot use the certificate {certificate} with the key {key}")
        })?;
        Ok(TlsFiles { paths: self, identity: Arc::new(identity) })
    }
}

impl TlsFiles {
    /// Loads the files again. If they do not work, the old pair stays.
    pub(crate) fn reload(&self) {
        let replaced = self.paths.read().and_then(|(certificate, key)| {
            self.identity.replace(&certificate, &key).context("the new pair is not valid")
        });
        match replaced {
            Ok(()) => tracing::info!("the TLS certificate was loaded again"),
            Err(error) => {
                tracing::error!("the TLS certificate stays as it was: {error:#}");
            }
        }
    }
}

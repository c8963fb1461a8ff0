//! Certificate and key files of the HTTP server, reloaded when they change.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use server::transport::http::TlsIdentity;
use tokio::task::spawn_blocking;

use crate::state_file::read_regular_file;

/// The largest file that is read, in bytes: a chain of certificates has a few thousand.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Where the certificate and its key are, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsPaths {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// A loaded pair, and the files that it came from.
#[derive(Clone)]
pub(crate) struct TlsFiles {
    pub(crate) paths: TlsPaths,
    pub(crate) identity: Arc<TlsIdentity>,
}

impl TlsPaths {
    fn read(&self) -> anyhow::Result<(Vec<u8>, Vec<u8>)> {
        let read = |path: &PathBuf| {
            read_regular_file(path, MAX_FILE_BYTES)
                .with_context(|| format!("cannot read {}", path.display()))
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
    /// Loads the files again, on a blocking thread. If they do not work, the old pair stays.
    pub(crate) async fn reload(&self) {
        let files = self.clone();
        let replaced = spawn_blocking(move || {
            let (certificate, key) = files.paths.read()?;
            files.identity.replace(&certificate, &key).context("the new pair is not valid")
        });
        match replaced.await.map_err(anyhow::Error::from).flatten() {
            Ok(()) => tracing::info!("the TLS certificate was loaded again"),
            Err(error) => {
                tracing::error!("the TLS certificate stays as it was: {error:#}");
            }
        }
    }
}

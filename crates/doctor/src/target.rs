//! What the doctor examines, and how long and how much it takes.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::revision::DoctorRevision;

/// A server to examine.
#[derive(Clone)]
pub enum DoctorTarget {
    /// A program that speaks over its standard input and output. Each revision starts it anew.
    Child {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Environment variables, beside those of this process.
        env: Vec<(String, String)>,
        /// The folder to start it in.
        cwd: Option<PathBuf>,
    },
    /// A server at a URL.
    Http {
        /// The endpoint.
        url: String,
        /// Headers for every request, such as a token.
        headers: Vec<(String, String)>,
    },
    /// Pipes that the caller opens, one pair for each connection.
    Pipes(Arc<dyn DoctorPipeOpener>),
}

impl fmt::Debug for DoctorTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}

impl DoctorTarget {
    /// What the target is, without arguments, headers and other places of secrets.
    pub fn label(&self) -> String {
        match self {
            Self::Child { command, .. } => format!("{command} (stdio)"),
            Self::Http { url, .. } => {
                // A query or a user part may hold a token.
                let url = url.split(['?', '#']).next().unwrap_or_default();
                match url.split_once("://") {
                    Some((scheme, rest)) => {
                        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                        let host = host.rsplit('@').next().unwrap_or_default();
                        format!("{scheme}://{host}{path}")
                    }
                    None => url.to_owned(),
                }
            }
            Self::Pipes(_) => "pipes".to_owned(),
        }
    }
}

/// Opens connections to a server in this process.
pub trait DoctorPipeOpener: Send + Sync {
    /// Opens one connection.
    fn open(&self) -> DoctorPipes;
}

/// The two ends of a connection that the doctor holds.
pub struct DoctorPipes {
    /// What the server writes.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// What the server reads.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
}

/// Bounds of an examination.
#[derive(Debug, Clone)]
pub struct DoctorOptions {
    /// Only these revisions; empty is all.
    pub revisions: Vec<DoctorRevision>,
    /// How long one request may take.
    pub timeout: Duration,
    /// How long the examination of one revision may take.
    pub revision_timeout: Duration,
    /// How many listed resources are read, in each revision.
    pub read_limit: usize,
    /// A tool that changes a resource or a list, to call without arguments.
    pub change_tool: Option<String>,
    /// How many pages of a list are read.
    pub page_limit: usize,
    /// The largest message, in bytes.
    pub message_limit: usize,
}

impl Default for DoctorOptions {
    fn default() -> Self {
        Self {
            revisions: Vec::new(),
            timeout: Duration::from_secs(10),
            revision_timeout: Duration::from_secs(120),
            read_limit: 20,
            change_tool: None,
            page_limit: 500,
            message_limit: 16 << 20,
        }
    }
}

impl DoctorOptions {
    /// The revisions to examine, newest first.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = DoctorRevision> {
        let all = DoctorRevision::ALL.into_iter();
        all.filter(|known| self.revisions.is_empty() || self.revisions.contains(known))
    }
}

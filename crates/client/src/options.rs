//! Client configuration: target, timeouts, limits, backoff.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use machinery::{Backoff, MemoryBudget};
use protocol::outbound::input_request::{all_input_capabilities, form_capabilities};
use protocol::{ClientIdentity, Revision};
use tokio::io::{AsyncRead, AsyncWrite};

/// Where a server is. Its `Debug` output leaves out everything that may be secret.
#[derive(Clone)]
pub enum ServerTarget {
    /// A child process that the client starts and talks to over stdin and stdout.
    Child {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// The environment variables that the program inherits. It gets no others.
        inherited_env: Vec<(String, OsString)>,
        /// Environment variables to set in addition; their values are secret.
        env: Vec<(String, String)>,
        /// Working directory; `None` inherits ours.
        cwd: Option<PathBuf>,
    },
    /// An HTTP endpoint.
    Http {
        /// The URL, or `unix:PATH` for a socket.
        url: String,
        /// Headers to send with every request.
        headers: Vec<(String, String)>,
    },
    /// Pipes within this process.
    Pipes(Arc<dyn PipeOpener>),
}

/// Opens a pair of pipes to a server, once per connection attempt.
pub trait PipeOpener: Send + Sync {
    /// The server's output, which the client reads, and its input, which the client writes.
    fn open(&self) -> io::Result<(PipeReader, PipeWriter)>;
}

/// The server's output.
pub type PipeReader = Box<dyn AsyncRead + Send + Unpin>;
/// The server's input.
pub type PipeWriter = Box<dyn AsyncWrite + Send + Unpin>;

impl fmt::Debug for ServerTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(name, _)| name.clone()).collect()
        };
        match self {
            // Arguments may contain tokens, so only their number is printed.
            Self::Child { command, args, inherited_env: _, env, cwd } => f
                .debug_struct("Child")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &names(env))
                .field("cwd", cwd)
                .finish(),
            Self::Http { url, headers } => f
                .debug_struct("Http")
                .field("url", &redacted_url(url))
                .field("headers", &names(headers))
                .finish(),
            Self::Pipes(_) => f.write_str("Pipes"),
        }
    }
}

/// A URL without the parts that may be secret: credentials, query and fragment.
pub(crate) fn redacted_url(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = plain.split_once("://") else { return "…".to_owned() };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// The protocol revisions that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RevisionChoice {
    /// The newest that the server supports.
    #[default]
    Newest,
    /// The newest with a handshake that the server supports.
    NewestWithHandshake,
    /// This one and no other.
    Only(Revision),
}

impl RevisionChoice {
    /// The revision named `date`, and no other.
    pub fn only(date: &str) -> Option<Self> {
        Revision::from_date(date).map(Self::Only)
    }

    /// The dates of all revisions, newest first.
    pub fn dates() -> impl Iterator<Item = &'static str> {
        Revision::ALL.into_iter().map(Revision::as_str)
    }

    /// The revision to send `server/discover` in, if the choice has one.
    pub(crate) fn to_discover(self) -> Option<Revision> {
        match self {
            Self::Newest => Revision::stateless().next(),
            Self::Only(revision) if !revision.has_handshake() => Some(revision),
            Self::NewestWithHandshake | Self::Only(_) => None,
        }
    }

    /// The revision to send `initialize` in, if the choice has one.
    pub(crate) fn to_initialize(self) -> Option<Revision> {
        match self {
            Self::Newest | Self::NewestWithHandshake => Some(Revision::negotiate("")),
            Self::Only(revision) => Some(revision).filter(|revision| revision.has_handshake()),
        }
    }

    /// Whether the server may be one that only has HTTP+SSE, the transport of 2024-11-05.
    pub(crate) fn tries_http_sse(self) -> bool {
        match self {
            Self::Newest => true,
            Self::NewestWithHandshake => false,
            Self::Only(revision) => revision.has_http_sse(),
        }
    }

    pub(crate) fn accepts(self, revision: Revision) -> bool {
        !matches!(self, Self::Only(only) if only != revision)
    }
}

/// Which requests of a server the callers of a client may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnsweredRequests {
    /// None.
    #[default]
    None,
    /// Forms (elicitation).
    Forms,
    /// All.
    All,
}

/// Settings of a client.
#[derive(Clone)]
pub struct Options {
    /// What the log calls the server.
    pub log_name: String,
    /// The client's name, sent to the server.
    pub name: String,
    /// The client's version, sent to the server.
    pub version: String,
    /// Which server requests callers may answer. If any, `initialize` declares the capabilities
    /// for them, and outside a call the client answers `roots/list` with no roots. In revisions
    /// without a handshake, each request declares the capabilities of its own caller.
    pub answers: AnsweredRequests,
    /// The protocol revisions that it speaks.
    pub revision: RevisionChoice,
    /// How long a server may stay silent about a request.
    pub timeout: Duration,
    /// The same for requests about resources.
    pub resource_timeout: Duration,
    /// How long a request may take in total, whatever progress the server reports.
    pub max_duration: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long a server behind pipes may take to answer `server/discover`.
    pub discover_timeout: Duration,
    /// Maximum size of one message, in bytes.
    pub max_message_bytes: usize,
    /// Counts what arrives from the server, until it is decoded.
    pub memory: Arc<MemoryBudget>,
    /// Delay before the next attempt after a failure.
    pub backoff: Backoff,
    /// How long a child process may take to exit after its input closes, and again after SIGTERM.
    pub exit_timeout: Duration,
    /// The program that starts children, called with `supervise <our process id> -- <command>`; it
    /// ends the command with all its descendants when this process dies. `None` starts them
    /// directly.
    pub supervisor: Option<PathBuf>,
    /// Secrets that the server gets beside those of its target, such as in arguments. They are
    /// masked wherever the server repeats them.
    pub secrets: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            log_name: "the server".to_owned(),
            name: "refdesk".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            answers: AnsweredRequests::None,
            revision: RevisionChoice::Newest,
            timeout: Duration::from_secs(60),
            resource_timeout: Duration::from_secs(30),
            max_duration: Duration::from_secs(600),
            connect_timeout: Duration::from_secs(30),
            discover_timeout: Duration::from_secs(5),
            max_message_bytes: 64 << 20,
            memory: MemoryBudget::new(usize::MAX),
            backoff: Backoff { first: Duration::from_millis(500), max: Duration::from_secs(60) },
            exit_timeout: Duration::from_secs(2),
            supervisor: None,
            secrets: Vec::new(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("name", &self.name)
            .field("timeout", &self.timeout)
            .field("longest", &self.max_duration)
            .field("message", &self.max_message_bytes)
            .finish_non_exhaustive()
    }
}

impl Options {
    pub(crate) fn identity(&self) -> ClientIdentity {
        let capabilities = match self.answers {
            AnsweredRequests::None => None,
            AnsweredRequests::Forms => Some(form_capabilities()),
            AnsweredRequests::All => Some(all_input_capabilities()),
        };
        ClientIdentity::new(&self.name, &self.version, capabilities)
    }
}

#[cfg(test)]
mod tests {
    use super::ServerTarget;

    #[test]
    fn secrets_of_a_target_are_not_printed() {
        let child = ServerTarget::Child {
            command: "run".to_owned(),
            args: vec!["--token=s3cret".to_owned()],
            inherited_env: Vec::new(),
            env: vec![("KEY".to_owned(), "s3cret".to_owned())],
            cwd: None,
        };
        let http = |url: &str| ServerTarget::Http {
            url: url.to_owned(),
            headers: vec![("authorization".to_owned(), "s3cret".to_owned())],
        };
        let urls =
            ["http://a:s3cret@h:1/mcp?k=s3cret#s3cret", "s3cret", "https://u:s3cret@h?s3cret"];
        let told = urls.iter().map(|url| format!("{:?}", http(url))).collect::<String>();
        assert!(!told.contains("s3cret") && told.contains("http://h:1/mcp"), "{told}");
        let told = format!("{child:?}");
        assert!(!told.contains("s3cret") && told.contains("KEY"), "{told}");
    }
}

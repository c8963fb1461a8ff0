//! Which server is meant, and how is it to be treated?

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::{Asker, Denial};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};

/// Where a server is. What may be secret in it is never printed.
#[derive(Clone)]
pub enum Target {
    /// A program that is started and spoken with over its pipes.
    Child {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that are set besides those it inherits, which are all of ours.
        env: Vec<(String, String)>,
        /// Where it runs; where we do, if nobody says.
        cwd: Option<PathBuf>,
    },
    /// An address that is spoken with over HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers that every request carries.
        headers: Vec<(String, String)>,
    },
    /// Pipes that somebody in this process opens.
    Pipes(Arc<dyn Pipes>),
}

/// Somebody who opens pipes to a server, as often as they are needed.
pub trait Pipes: Send + Sync {
    /// What the server says, and what it is told.
    fn open(&self) -> io::Result<(Reading, Writing)>;
}

/// What a server says.
pub type Reading = Box<dyn AsyncRead + Send + Unpin>;
/// What a server is told.
pub type Writing = Box<dyn AsyncWrite + Send + Unpin>;

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(name, _)| name.clone()).collect()
        };
        match self {
            // Arguments may hold tokens too, so only their number is told.
            Self::Child { command, args, env, cwd } => f
                .debug_struct("Child")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &names(env))
                .field("cwd", cwd)
                .finish(),
            Self::Http { url, headers } => f
                .debug_struct("Http")
                .field("url", &shown(url))
                .field("headers", &names(headers))
                .finish(),
            Self::Pipes(_) => f.write_str("Pipes"),
        }
    }
}

/// An address without what may be secret in it: credentials, query and fragment.
pub(crate) fn shown(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = plain.split_once("://") else { return "…".to_owned() };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// How a server is treated.
#[derive(Clone)]
pub struct Options {
    /// What we are called.
    pub name: String,
    /// Which version we are.
    pub version: String,
    /// What our opening says that we can do for the server, an object; nothing, if nobody says. A
    /// request that stands alone says it itself.
    pub capabilities: Option<Box<RawValue>>,
    /// Who answers what the server asks while nobody asks it; nobody, if nobody says.
    pub handler: Option<Arc<dyn Handler>>,
    /// How long a server may be silent about a request.
    pub timeout: Duration,
    /// How long about a resource.
    pub reading: Duration,
    /// How long a request may take, whatever is told of its progress.
    pub longest: Duration,
    /// How long connecting may take.
    pub connecting: Duration,
    /// How long a program may think about a question that older ones do not know.
    pub probe: Duration,
    /// How many bytes one message may have.
    pub message: usize,
    /// How long to wait after a failure.
    pub backoff: Backoff,
    /// How long a program may take to end by itself, and again after it was asked to.
    pub farewell: Duration,
}

/// How long to wait after a failure: doubling, each time a little different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure.
    pub first: Duration,
    /// At most.
    pub most: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "refdesk".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: None,
            handler: None,
            timeout: Duration::from_secs(60),
            reading: Duration::from_secs(30),
            longest: Duration::from_secs(600),
            connecting: Duration::from_secs(30),
            probe: Duration::from_secs(5),
            message: 64 << 20,
            backoff: Backoff { first: Duration::from_millis(500), most: Duration::from_secs(60) },
            farewell: Duration::from_secs(2),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("name", &self.name)
            .field("timeout", &self.timeout)
            .field("longest", &self.longest)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

impl Options {
    pub(crate) fn asker(&self) -> Asker {
        Asker::new(&self.name, &self.version, self.capabilities.clone())
    }
}

impl Backoff {
    /// How long to wait after this many failures in a row.
    pub(crate) fn after(&self, failures: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(20));
        let wait = self.first.saturating_mul(doubled).min(self.most);
        // Many clients that lost one server must not come back all at once.
        let mut byte = [0_u8];
        let luck = getrandom::fill(&mut byte).map_or(128, |()| byte[0]);
        wait.mul_f64(0.75 + f64::from(luck) / 1024.0)
    }
}

/// Somebody who answers what a server asks: a sample, a question to a person, the roots.
#[async_trait]
pub trait Handler: Send + Sync {
    /// The result, or why there is none.
    async fn answer(
        &self,
        method: &str,
        params: Option<Box<RawValue>>,
    ) -> Result<Box<RawValue>, Denial>;

    /// Hears what the server says of its work. Must not block.
    fn log(&self, message: &RawValue);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Backoff, Target};

    #[test]
    fn secrets_of_a_target_are_not_printed() {
        let child = Target::Child {
            command: "run".to_owned(),
            args: vec!["--token=s3cret".to_owned()],
            env: vec![("KEY".to_owned(), "s3cret".to_owned())],
            cwd: None,
        };
        let http = |url: &str| Target::Http {
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

    #[test]
    fn waiting_doubles_up_to_a_bound_and_varies_by_a_quarter() {
        let backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_secs(10) };
        for (failures, wait) in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 10.0), (4_000, 10.0)] {
            let waited = backoff.after(failures).as_secs_f64();
            assert!(waited >= wait * 0.74 && waited <= wait, "{failures}: {waited}");
        }
    }
}

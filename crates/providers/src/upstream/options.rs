//! Options of an upstream provider.

use std::time::Duration;

use client::Client;
use resource::UriTemplate;

/// The server to connect to, and how to cache and poll it.
#[derive(Clone)]
pub struct Options {
    /// The client that connects to the server.
    pub client: Client,
    /// What the log calls the server.
    pub log_name: String,
    /// TTL of the cached full listing, used for descriptions and children, if the server sends no
    /// TTL. A change notification invalidates it earlier.
    pub listing_ttl: Duration,
    /// Polling interval for watched resources that the server sends no notifications for. `None`
    /// disables polling.
    pub poll_interval: Option<Duration>,
    /// How long a list waits for a server that is still starting. Then the list goes without it, and
    /// a change follows once it is there.
    pub start_wait: Duration,
    /// Allows reading a resource only to describe it.
    pub reads_to_describe: bool,
    /// The server's own search, if it is to be asked along.
    pub search: Option<UpstreamSearch>,
}

/// How a server searches.
#[derive(Debug, Clone)]
pub enum UpstreamSearch {
    /// By a tool.
    Tool {
        /// Its name.
        tool: String,
        /// The argument that takes the query.
        argument: String,
    },
    /// By a resource: the template has one variable, which takes the query.
    Template(UriTemplate),
}

impl Options {
    /// The default options for a server.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            log_name: "a server".to_owned(),
            listing_ttl: Duration::from_secs(10),
            poll_interval: None,
            start_wait: Duration::from_secs(1),
            reads_to_describe: true,
            search: None,
        }
    }
}

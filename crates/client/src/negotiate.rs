//! Connects to a server and negotiates its protocol revision.
//!
//! The order is that of the specification: `server/discover`, which only newer servers know, then
//! `initialize`, then HTTP+SSE. No single error code decides.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use protocol::ask::{Manner, Question, initialized, verb};
use protocol::{Asker, Denial, Peer, Revision, answer};

use crate::error::{Error, Lapse};
use crate::notices::Herald;
use crate::options::{Options, Target};
use crate::transport::board::{Board, Outcome};
use crate::transport::http::{self, Pool, Style};
use crate::transport::line::{Hooks, Line, Patience, heading};
use crate::transport::{Parcel, Wire, child, pipe};

/// The era of a server, as negotiation found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No handshake: every request carries its revision (2026-07-28).
    Alone,
    /// A session that begins with `initialize`.
    Opened,
    /// A session over HTTP+SSE (2024-11-05): all answers come on one stream.
    Older,
}

/// An open connection to a server, and what negotiation found.
pub(crate) struct Connected {
    pub(crate) line: Arc<Line>,
    pub(crate) peer: Peer,
    pub(crate) verdict: Verdict,
}

/// Everything needed to connect to a server.
pub(crate) struct Dial {
    pub(crate) target: Target,
    pub(crate) options: Options,
    pub(crate) herald: Arc<Herald>,
    pub(crate) asker: Asker,
    ids: AtomicU64,
    /// The HTTP connection pool, shared by all connection attempts.
    pool: OnceLock<Result<Arc<Pool>, Error>>,
}

impl Dial {
    pub(crate) fn new(target: Target, options: Options) -> Self {
        let asker = options.asker();
        // Ids start at 1: some servers take 0 for a missing id.
        let (ids, pool) = (AtomicU64::new(1), OnceLock::new());
        Self { target, options, herald: Arc::default(), asker, ids, pool }
    }

    pub(crate) fn id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Connects to the server, starting with the era of the last connection.
    pub(crate) async fn connect(&self, known: Option<Verdict>) -> Result<Connected, Error> {
        let mut connected = self.attempt(known).await;
        // The server may have been replaced by one of another era.
        if known.is_some() && connected.as_ref().is_err_and(|error| self.may_be_other(error)) {
            connected = self.attempt(None).await;
        }
        connected.map_err(|error| match error {
            // A server that rejects every opening counts as unreachable.
            Error::Refused(_) | Error::TimedOut => Error::Unreachable(error.to_string()),
            error => error,
        })
    }

    /// Whether the server might accept another opening after this error.
    fn may_be_other(&self, error: &Error) -> bool {
        match error {
            Error::Refused(_) | Error::Malformed(_) | Error::TimedOut => true,
            // Over HTTP another attempt is cheap; a child process would have to be restarted.
            Error::Unreachable(_) => matches!(self.target, Target::Http { .. }),
            Error::Closed(_) | Error::TooLarge(_) => false,
        }
    }

    async fn attempt(&self, known: Option<Verdict>) -> Result<Connected, Error> {
        match &self.target {
            Target::Http { url, headers } => {
                let pool = self.pool.get_or_init(|| Pool::new(url, headers).map(Arc::new));
                self.over_http(pool.as_ref().map_err(Clone::clone)?, known).await
            }
            Target::Child { .. } | Target::Pipes(_) => self.over_pipes(known).await,
        }
    }

    /// MCP 2026-07-28, stdio: after an error or silence, the client tries the handshake.
    async fn over_pipes(&self, known: Option<Verdict>) -> Result<Connected, Error> {
        let mut line = self.pipes()?;
        let mut is_slow = false;
        if known != Some(Verdict::Opened) {
            match self.discover(&line, self.options.probe).await {
                Ok(Some(peer)) => return Ok(Connected { line, peer, verdict: Verdict::Alone }),
                Ok(None) => {}
                Err(Lapse::Error(Error::Closed(why))) => {
                    // Some servers exit at the first method they do not know.
                    tracing::debug!(why, "a server exited at the discovery request");
                    line = self.pipes()?;
                }
                Err(Lapse::Error(error @ Error::Unreachable(_))) => return Err(error),
                Err(lapse) => {
                    is_slow = matches!(lapse, Lapse::Error(Error::TimedOut));
                    tracing::debug!(?lapse, "no discovery; trying the handshake");
                }
            }
        }
        let lapse = match self.open(&line).await {
            Ok(peer) => return Ok(Connected { line, peer, verdict: Verdict::Opened }),
            Err(lapse) => lapse,
        };
        // A server that rejects the handshake was only slow to start: repeat the discovery.
        if is_slow
            && lapse.denial().is_some()
            && let Ok(Some(peer)) = self.discover(&line, self.options.probe).await
        {
            return Ok(Connected { line, peer, verdict: Verdict::Alone });
        }
        Err(lapse.into())
    }

    async fn over_http(
        &self,
        pool: &Arc<Pool>,
        known: Option<Verdict>,
    ) -> Result<Connected, Error> {
        let most = self.options.message;
        let connect = |style| {
            self.line(|board| Ok(Box::new(http::open(Arc::clone(pool), style, &board, most)) as _))
        };
        if matches!(known, None | Some(Verdict::Alone)) {
            let line = connect(Style::Alone)?;
            match self.discover(&line, self.options.connecting).await {
                Ok(Some(peer)) => return Ok(Connected { line, peer, verdict: Verdict::Alone }),
                Err(Lapse::Error(error)) if !is_odd(&error) => return Err(error),
                Err(lapse @ Lapse::Status { .. }) if !lapse.is_rejection() => {
                    return Err(lapse.into());
                }
                Ok(None) | Err(_) => {}
            }
        }
        if known != Some(Verdict::Older) {
            let line = connect(Style::Session)?;
            match self.open(&line).await {
                Ok(peer) => return Ok(Connected { line, peer, verdict: Verdict::Opened }),
                Err(lapse) if !lapse.is_rejection() => return Err(lapse.into()),
                Err(_) => {}
            }
        }
        let board = self.board();
        let wire = http::open_older(Arc::clone(pool), Arc::clone(&board), most).await?;
        let line = Arc::new(Line { wire: Box::new(wire), board });
        let peer = self.open(&line).await?;
        Ok(Connected { line, peer, verdict: Verdict::Older })
    }

    /// Sends `server/discover`. `None` means that the server needs a handshake.
    async fn discover(&self, line: &Arc<Line>, time: Duration) -> Result<Option<Peer>, Lapse> {
        let Some(revision) = Revision::stateless().next() else { return Ok(None) };
        let (id, method) = (self.id(), verb::DISCOVER);
        let question = Question { id, method, params: None, progress: false };
        let body = self.asker.request(question, Manner::Alone(revision)).map_err(Error::from)?;
        let heading = heading(revision.as_str(), method, None);
        let parcel = Parcel { body, heading, ..Parcel::default() };
        match self.ask(line, id, parcel, time).await {
            Ok(result) => Ok(Peer::discovered(&result)),
            Err(lapse) => match lapse.denial().map(|denial| stays(denial, revision)) {
                Some(verdict) => Ok(verdict?),
                None => Err(lapse),
            },
        }
    }

    /// Opens a session with the `initialize` handshake.
    async fn open(&self, line: &Arc<Line>) -> Result<Peer, Lapse> {
        let id = self.id();
        let parcel = Parcel { body: self.asker.initialize(id), ..Parcel::default() };
        let result = self.ask(line, id, parcel, self.options.connecting).await?;
        let peer = Peer::opened(&result).map_err(Error::from)?;
        line.wire.settle(peer.revision.as_str());
        line.wire.deliver(initialized()).await;
        line.wire.listen();
        Ok(peer)
    }

    async fn ask(&self, line: &Arc<Line>, id: u64, parcel: Parcel, time: Duration) -> Outcome {
        let asking = line.ask(id, parcel, Hooks::default()).quietly();
        asking.within(Patience::new(time, time)).await
    }

    fn board(&self) -> Arc<Board> {
        Board::new(Arc::clone(&self.herald), self.options.handler.clone())
    }

    fn line(
        &self,
        wire: impl FnOnce(Arc<Board>) -> Result<Box<dyn Wire>, Error>,
    ) -> Result<Arc<Line>, Error> {
        let board = self.board();
        let wire = wire(Arc::clone(&board))?;
        Ok(Arc::new(Line { wire, board }))
    }

    fn pipes(&self) -> Result<Arc<Line>, Error> {
        let Options { message, farewell, .. } = self.options;
        self.line(|board| {
            Ok(match &self.target {
                Target::Child { command, args, env, cwd } => {
                    let program = child::Program { command, args, env, cwd: cwd.as_ref() };
                    Box::new(child::start(program, board, message, farewell)?)
                }
                Target::Pipes(pipes) => {
                    let failed = |error: std::io::Error| Error::Unreachable(error.to_string());
                    Box::new(pipe::open(pipes.open().map_err(failed)?, board, message))
                }
                Target::Http { .. } => return Err(Error::Unreachable("no pipes".to_owned())),
            })
        })
    }
}

/// Whether a server of another era might answer like this.
fn is_odd(error: &Error) -> bool {
    matches!(error, Error::Malformed(_) | Error::Refused(_))
}

/// Reads the era from an error to `server/discover`: a peer if the server is modern, `None` if it
/// needs a handshake.
fn stays(denial: &Denial, asked: Revision) -> Result<Option<Peer>, Error> {
    if !denial.is_about_revision() {
        return Ok(denial.is_modern().then(|| Peer::unknown(asked)));
    }
    let offered = denial.supported();
    if let Some(revision) = answer::common(offered.iter().map(String::as_str)) {
        return Ok(Some(Peer::unknown(revision)));
    }
    if offered.iter().any(|date| Revision::named(date).is_some()) {
        return Ok(None);
    }
    let offered: String = offered.join(", ").chars().take(200).collect();
    Err(Error::Unreachable(format!("no common protocol revision; the server supports: {offered}")))
}

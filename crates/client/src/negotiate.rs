//! Which era does a server belong to, and who is it?
//!
//! The order of questions is that of the protocol: one that only new servers know comes first,
//! and what becomes of it tells. No single code decides.

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

/// How a server was found to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Requests stand alone.
    Alone,
    /// It begins with a handshake.
    Opened,
    /// It begins with a handshake, and says everything on one stream of HTTP.
    Older,
}

/// A server that can be asked.
pub(crate) struct Connected {
    pub(crate) line: Arc<Line>,
    pub(crate) peer: Peer,
    pub(crate) verdict: Verdict,
}

/// Everything that is needed to reach a server.
pub(crate) struct Dial {
    pub(crate) target: Target,
    pub(crate) options: Options,
    pub(crate) herald: Arc<Herald>,
    pub(crate) asker: Asker,
    ids: AtomicU64,
    /// The connections of HTTP, which outlive what is found out over them.
    pool: OnceLock<Result<Arc<Pool>, Error>>,
}

impl Dial {
    pub(crate) fn new(target: Target, options: Options) -> Self {
        let asker = options.asker();
        // No id is 0: there are servers that take it for none.
        let (ids, pool) = (AtomicU64::new(1), OnceLock::new());
        Self { target, options, herald: Arc::default(), asker, ids, pool }
    }

    pub(crate) fn id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Reaches the server, beginning with what it was found to be the last time.
    pub(crate) async fn connect(&self, known: Option<Verdict>) -> Result<Connected, Error> {
        let mut connected = self.attempt(known).await;
        // What was true of the last server here need not be true of this one.
        if known.is_some() && connected.as_ref().is_err_and(|error| self.may_be_other(error)) {
            connected = self.attempt(None).await;
        }
        connected.map_err(|error| match error {
            // Whoever refuses every opening is not there for us.
            Error::Refused(_) | Error::TimedOut => Error::Unreachable(error.to_string()),
            error => error,
        })
    }

    /// Whether a server failed that might have answered, had it been asked in another way.
    fn may_be_other(&self, error: &Error) -> bool {
        match error {
            Error::Refused(_) | Error::Malformed(_) | Error::TimedOut => true,
            // Over HTTP, asking again is cheap; a program would have to be started again.
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

    /// MCP 2026-07-28, stdio: an error or silence means a handshake.
    async fn over_pipes(&self, known: Option<Verdict>) -> Result<Connected, Error> {
        let mut line = self.pipes()?;
        let mut is_slow = false;
        if known != Some(Verdict::Opened) {
            match self.discover(&line, self.options.probe).await {
                Ok(Some(peer)) => return Ok(Connected { line, peer, verdict: Verdict::Alone }),
                Ok(None) => {}
                Err(Lapse::Error(Error::Closed(why))) => {
                    // There are servers that end at the first question they do not know.
                    tracing::debug!(why, "a server did not survive the first question");
                    line = self.pipes()?;
                }
                Err(Lapse::Error(error @ Error::Unreachable(_))) => return Err(error),
                Err(lapse) => {
                    is_slow = matches!(lapse, Lapse::Error(Error::TimedOut));
                    tracing::debug!(?lapse, "a server has a handshake");
                }
            }
        }
        let lapse = match self.open(&line).await {
            Ok(peer) => return Ok(Connected { line, peer, verdict: Verdict::Opened }),
            Err(lapse) => lapse,
        };
        // One that was only slow to begin has no handshake, and knows the first question by now.
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

    /// Asks what only new servers know: one of them, or none.
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

    /// Opens a session.
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

/// Whether an answer is one that a server of another era might give.
fn is_odd(error: &Error) -> bool {
    matches!(error, Error::Malformed(_) | Error::Refused(_))
}

/// What an error to the first question says: that the server is new, or that it is not.
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
    Err(Error::Unreachable(format!("it speaks only revisions that we do not: {offered}")))
}

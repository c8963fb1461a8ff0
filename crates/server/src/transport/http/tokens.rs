//! Access tokens: the hashes of the bearer tokens that the HTTP server accepts, and their check.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use resource::Principal;
use tokio::sync::watch;
use tokio::time;

use crate::exchange::has_same_grant;

/// How often a stream checks whether its token has expired: the clock of the machine may be set.
const EXPIRY_CHECK: Duration = Duration::from_secs(30);

/// A token that the server accepts. It holds the hash, never the token.
#[derive(Clone)]
pub struct AccessToken {
    /// Who uses it: the key of the principal.
    pub name: String,
    /// The BLAKE3 hash of the token.
    pub hash: [u8; 32],
    /// When it ends, if it does.
    pub expires: Option<SystemTime>,
    /// The scopes that it grants.
    pub scopes: Vec<String>,
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken").field("name", &self.name).finish_non_exhaustive()
    }
}

impl AccessToken {
    fn is_current(&self) -> bool {
        self.expires.is_none_or(|end| SystemTime::now() < end)
    }

    fn grant(&self) -> Principal {
        Principal::authenticated(&self.name).with_scopes(self.scopes.clone())
    }
}

/// The accepted tokens. They can be replaced while the server runs.
#[derive(Debug)]
pub struct TokenTable {
    tokens: watch::Sender<Arc<[AccessToken]>>,
    /// Whether clients need no token. False for good once there was one: a settings file that is
    /// being rewritten may be empty for a moment.
    is_open: AtomicBool,
}

impl Default for TokenTable {
    /// A table for a loopback address: open until it holds a token.
    fn default() -> Self {
        Self::new(Vec::new(), true)
    }
}

impl TokenTable {
    /// A table of `tokens`. Where `may_be_open`, every client is the local principal until the
    /// table holds a token.
    pub fn new(tokens: Vec<AccessToken>, may_be_open: bool) -> Self {
        let is_open = AtomicBool::new(may_be_open && tokens.is_empty());
        Self { tokens: watch::Sender::new(tokens.into()), is_open }
    }

    /// Replaces all tokens. Streams of a token that is gone, or grants something else, end. Without
    /// any token left, no client is let in.
    pub fn replace(&self, tokens: Vec<AccessToken>) {
        if !tokens.is_empty() {
            self.is_open.store(false, Ordering::Release);
        }
        self.tokens.send_replace(tokens.into());
    }

    /// The principal of a request with these headers.
    pub(super) fn authenticate(&self, headers: &HeaderMap) -> Result<Grant, Unauthorized> {
        if self.is_open.load(Ordering::Acquire) {
            return Ok(Grant::local());
        }
        let tokens = self.tokens.borrow();
        let hash = *blake3::hash(bearer_token(headers)?).as_bytes();
        let accepted = find_token(&tokens, &hash).ok_or(Unauthorized::Invalid)?;
        let token = Some((self.tokens.subscribe(), hash));
        Ok(Grant { principal: accepted.grant(), token })
    }

    /// The key that this token gives a browser.
    pub(super) fn page_key(&self, token: &[u8]) -> Result<PageKey, Unauthorized> {
        let hash = *blake3::hash(token).as_bytes();
        let tokens = self.tokens.borrow();
        find_token(&tokens, &hash).map(PageKey::of).ok_or(Unauthorized::Invalid)
    }

    /// Whether a browser with these keys may load the page: always while no token is needed.
    pub(super) fn admits_page<'a>(&self, keys: impl Iterator<Item = &'a str>) -> bool {
        if self.is_open.load(Ordering::Acquire) {
            return true;
        }
        let keys: Vec<_> = keys.filter_map(|key| blake3::Hash::from_hex(key).ok()).collect();
        let tokens = self.tokens.borrow();
        let current = tokens.iter().filter(|token| token.is_current());
        let known = |token: &AccessToken| keys.contains(&PageKey::of(token).0);
        !keys.is_empty() && current.map(known).fold(false, |found, same| found | same)
    }
}

/// What every key of the page is derived with.
const PAGE_CONTEXT: &str = "refdesk 2026-11-16 key of the page";

/// Proves that a browser had a token, without being one: it opens the files of the page and
/// nothing else.
pub(super) struct PageKey(blake3::Hash);

impl PageKey {
    fn of(token: &AccessToken) -> Self {
        Self(blake3::Hash::from_bytes(blake3::derive_key(PAGE_CONTEXT, &token.hash)))
    }

    /// The key as text.
    pub(super) fn to_text(&self) -> String {
        self.0.to_hex().to_string()
    }
}

/// The current token with this hash. Compares all of them, each in constant time.
fn find_token<'a>(tokens: &'a [AccessToken], hash: &[u8; 32]) -> Option<&'a AccessToken> {
    let hash = blake3::Hash::from_bytes(*hash);
    let same = |token: &&AccessToken| blake3::Hash::from_bytes(token.hash) == hash;
    // `fold` does not stop at the first match, so time does not tell a token's place.
    let found = tokens.iter().fold(None, |found, token| Some(token).filter(same).or(found));
    found.filter(|token| token.is_current())
}

/// The token in `Authorization: Bearer`.
fn bearer_token(headers: &HeaderMap) -> Result<&[u8], Unauthorized> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or(Unauthorized::Missing)?.as_bytes();
    if values.next().is_some() {
        return Err(Unauthorized::Invalid);
    }
    let (scheme, token) = value.split_at_checked(7).ok_or(Unauthorized::Missing)?;
    match scheme.eq_ignore_ascii_case(b"bearer ") {
        true => Ok(token.trim_ascii()),
        false => Err(Unauthorized::Missing),
    }
}

/// Receives the accepted tokens whenever they are replaced.
type TokenUpdates = watch::Receiver<Arc<[AccessToken]>>;

/// What a request may do: on whose behalf it runs, and for how long.
pub(super) struct Grant {
    pub(super) principal: Principal,
    /// The table and the hash of the token; `None` for the local principal.
    token: Option<(TokenUpdates, [u8; 32])>,
}

impl Grant {
    /// The grant of a client whom the socket itself identifies as the process owner.
    pub(super) fn local() -> Self {
        Self { principal: Principal::local(), token: None }
    }

    /// Completes when the token is revoked, expires, or grants something else than it did; `None` if
    /// that cannot happen.
    pub(super) fn revocation(self) -> Option<impl Future<Output = ()> + Send + 'static> {
        let (granted, (mut tokens, hash)) = (self.principal, self.token?);
        Some(async move {
            while find_token(&tokens.borrow_and_update(), &hash)
                .is_some_and(|token| has_same_grant(&token.grant(), &granted))
            {
                // The time may elapse, the table may change; without a table the server is gone.
                if let Ok(Err(_)) = time::timeout(EXPIRY_CHECK, tokens.changed()).await {
                    return;
                }
            }
        })
    }
}

/// Why a request is not authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unauthorized {
    /// It has no bearer token.
    Missing,
    /// Its token is unknown, expired or revoked.
    Invalid,
}

impl Unauthorized {
    /// The value of `WWW-Authenticate` (RFC 6750, section 3).
    pub(super) fn challenge(self) -> &'static str {
        match self {
            Self::Missing => "Bearer realm=\"refdesk\"",
            Self::Invalid => {
                "Bearer realm=\"refdesk\", error=\"invalid_token\", \
                 error_description=\"the token is unknown, expired or revoked\""
            }
        }
    }

    /// The message for the client.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Missing => "this server needs a token: send Authorization: Bearer <token>",
            Self::Invalid => "the token is unknown, expired or revoked; ask for a new one",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use hyper::HeaderMap;
    use hyper::header::AUTHORIZATION;
    use resource::PrincipalSource;

    use super::{AccessToken, TokenTable, Unauthorized};

    fn token(name: &str, secret: &str) -> AccessToken {
        let hash = *blake3::hash(secret.as_bytes()).as_bytes();
        AccessToken { name: name.into(), hash, expires: None, scopes: vec!["docs".into()] }
    }

    fn authenticate(table: &TokenTable, values: &[&str]) -> Result<String, Unauthorized> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        let principal = table.authenticate(&headers)?.principal;
        Ok(principal.key().to_string())
    }

    #[test]
    fn each_token_gives_its_own_principal_and_no_other_value_gives_any() {
        let table = TokenTable::new(vec![token("ada", "rdk_a"), token("alan", "rdk_b")], true);
        assert_eq!(authenticate(&table, &["Bearer rdk_a"]).unwrap(), "ada");
        assert_eq!(authenticate(&table, &["bearer  rdk_b"]).unwrap(), "alan");
        for missing in [&[][..], &["Basic YTpi"], &["rdk_a"], &["Bearer"]] {
            assert_eq!(authenticate(&table, missing), Err(Unauthorized::Missing), "{missing:?}");
        }
        for wrong in [&["Bearer rdk_c"][..], &["Bearer "], &["Bearer rdk_a", "Bearer rdk_a"]] {
            assert_eq!(authenticate(&table, wrong), Err(Unauthorized::Invalid), "{wrong:?}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, "Bearer rdk_a".parse().unwrap());
        let principal = table.authenticate(&headers).ok().unwrap().principal;
        assert_eq!(principal.source(), PrincipalSource::Authenticated);
        assert_eq!(principal.scopes(), ["docs"]);
    }

    #[test]
    fn a_token_ends_with_its_date_and_a_table_that_had_one_never_opens() {
        let past = SystemTime::now() - Duration::from_secs(1);
        let ended = AccessToken { expires: Some(past), ..token("ada", "rdk_a") };
        let table = TokenTable::new(vec![ended], true);
        assert_eq!(authenticate(&table, &["Bearer rdk_a"]), Err(Unauthorized::Invalid));
        table.replace(Vec::new());
        assert_eq!(authenticate(&table, &[]), Err(Unauthorized::Missing));
        let open = TokenTable::new(Vec::new(), true);
        open.replace(Vec::new());
        assert_eq!(authenticate(&open, &[]).unwrap(), "local");
        let closed = TokenTable::new(Vec::new(), false);
        assert_eq!(authenticate(&closed, &[]), Err(Unauthorized::Missing));
        assert_eq!(authenticate(&closed, &["Bearer rdk_a"]), Err(Unauthorized::Invalid));
    }

    #[tokio::test]
    async fn a_token_that_is_replaced_ends_its_grant() {
        let table = TokenTable::new(vec![token("ada", "rdk_a")], true);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, "Bearer rdk_a".parse().unwrap());
        let grant = table.authenticate(&headers).ok().unwrap();
        let mut revocation = Box::pin(grant.revocation().unwrap());
        table.replace(vec![token("alan", "rdk_b"), token("ada", "rdk_a")]);
        assert!(futures_util::poll!(&mut revocation).is_pending());
        table.replace(vec![token("ada", "rdk_c")]);
        revocation.await;
    }

    #[test]
    fn debug_output_shows_neither_token_nor_hash() {
        let shown = format!("{:?}", TokenTable::new(vec![token("ada", "rdk_a")], true));
        assert!(shown.contains("ada") && !shown.contains("rdk_a") && !shown.contains("hash"));
    }
}

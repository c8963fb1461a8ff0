//! Sealed `requestState`: encrypted, bound to its request, used once, expires after an hour.
//!
//! An upstream server that answers with `input_required` may add a state that the client sends
//! back. It travels through the client, which must neither read it, nor change it, nor use it for
//! another request, nor replay it.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use machinery::{Packer, Unpacker};
use parking_lot::Mutex;
use protocol::outbound::input_request;
use resource::{Error, Json, Principal, Result};

/// Seconds until a state expires.
const STATE_TTL_SECONDS: u64 = 60 * 60;
/// How many used states of one principal are remembered.
const MAX_USED: usize = 1 << 14;
/// Beyond this number of principals, those whose states have all expired are forgotten.
const MIN_PRINCIPALS: usize = 64;
/// Domain separation: the key of cursors is used for nothing else.
const KEY_CONTEXT: &[u8] = b"refdesk requestState";

/// What a state belongs to. A request that differs in one of these cannot use it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StateBinding<'a> {
    pub(crate) principal: &'a Principal,
    /// The tool, prompt or resource.
    pub(crate) about: &'a str,
    /// The parameters of the call, whose arguments count; `None` for a resource.
    pub(crate) params: Option<&'a Json>,
}

impl StateBinding<'_> {
    fn to_bytes(self) -> Vec<u8> {
        let packed = Packer::default().bytes(Some(&**self.principal.key()));
        let arguments = self.params.map(input_request::canonical_arguments).unwrap_or_default();
        packed.bytes(Some(self.about)).bytes(Some(arguments)).finish()
    }
}

/// Seals and opens states. Processes with the same key accept each other's states; each remembers
/// by itself which ones were used.
pub(crate) struct StateSeal {
    /// GCM-SIV, because its security does not end where a random nonce repeats.
    key: LessSafeKey,
    /// By principal, so that none makes another one's states unknown.
    used: Mutex<HashMap<Arc<str>, UsedStates>>,
}

impl fmt::Debug for StateSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateSeal")
    }
}

impl StateSeal {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), KEY_CONTEXT);
        let key = UnboundKey::new(&AES_256_GCM_SIV, derived.as_ref());
        let key = LessSafeKey::new(key.expect("HMAC-SHA256 yields the 32 bytes of an AES-256 key"));
        Self { key, used: Mutex::default() }
    }

    /// Replaces the `requestState` of a result by its sealed form.
    pub(crate) fn seal_result(&self, binding: StateBinding<'_>, result: &Json) -> Result<Json> {
        input_request::seal_request_state(result, |state| self.seal(binding, state, unix_seconds()))
    }

    /// Opens the `requestState` of a repeated request, so that the upstream server can read it.
    pub(crate) fn open_params(&self, binding: StateBinding<'_>, params: &Json) -> Result<Json> {
        input_request::open_request_state(params, |bytes| self.open(binding, bytes, unix_seconds()))
    }

    fn seal(&self, binding: StateBinding<'_>, state: &str, now: u64) -> Result<Vec<u8>> {
        let failed = || Error::internal("cannot seal requestState");
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| failed())?;
        let expires = now + STATE_TTL_SECONDS;
        let mut sealed = Packer::default().integer(expires).bytes(Some(state)).finish();
        let about = Aad::from(binding.to_bytes());
        let closed = self.key.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            about,
            &mut sealed,
        );
        closed.map_err(|_| failed())?;
        Ok([&nonce[..], &sealed].concat())
    }

    fn open(&self, binding: StateBinding<'_>, mut bytes: Vec<u8>, now: u64) -> Result<String> {
        let forged = || Error::invalid("requestState does not belong to this request");
        let (nonce, sealed) = bytes.split_first_chunk_mut::<NONCE_LEN>().ok_or_else(forged)?;
        let about = Aad::from(binding.to_bytes());
        let unique = Nonce::assume_unique_for_key(*nonce);
        let opened = self.key.open_in_place(unique, about, sealed).map_err(|_| forged())?;
        let mut parts = Unpacker::new(opened);
        let expires = parts.integer().ok_or_else(forged)?;
        let state = parts.text().flatten().map(str::to_owned).ok_or_else(forged)?;
        let mut used = self.used.lock();
        if used.len() >= MIN_PRINCIPALS && used.len() == used.capacity() {
            used.retain(|_, states| states.has_current(now));
        }
        let states = used.entry(Arc::clone(binding.principal.key())).or_default();
        states.insert(expires, *nonce, now)?;
        Ok(state)
    }
}

/// The states of one principal that were used and have not expired, by expiry.
#[derive(Default)]
struct UsedStates {
    states: BTreeSet<(u64, [u8; NONCE_LEN])>,
    /// States that expire up to here are refused: it is not known whether they were used.
    forgotten_until: u64,
}

impl UsedStates {
    /// Whether one of them has not expired.
    fn has_current(&self, now: u64) -> bool {
        self.states.last().is_some_and(|(expires, _)| *expires >= now)
    }

    /// Records the use of a state; fails if it has expired or was used before.
    fn insert(&mut self, expires: u64, nonce: [u8; NONCE_LEN], now: u64) -> Result<()> {
        if expires < now || expires <= self.forgotten_until {
            return Err(Error::invalid("requestState has expired; repeat the request without it"));
        }
        while self.states.first().is_some_and(|(expires, _)| *expires < now) {
            self.states.pop_first();
        }
        if !self.states.insert((expires, nonce)) {
            return Err(Error::invalid(
                "requestState was used before; repeat the request without it",
            ));
        }
        if self.states.len() > MAX_USED
            && let Some((expires, _)) = self.states.pop_first()
        {
            self.forgotten_until = expires;
        }
        Ok(())
    }
}

/// Seconds since the Unix epoch. Not a monotonic clock: a state may outlive this process.
fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use resource::{Json, Principal};

    use super::{MAX_USED, MIN_PRINCIPALS, STATE_TTL_SECONDS, StateBinding, StateSeal, UsedStates};

    const NOW: u64 = 1_000_000;

    #[test]
    fn a_state_is_unreadable_and_opens_only_for_its_own_request() {
        let seal = StateSeal::new(&[7; 32]);
        let (me, other) = (Principal::local(), Principal::authenticated("other"));
        let (params, others) = (Json::from(r#"{"arguments":{"a":1}}"#), r#"{"arguments":{"a":2}}"#);
        let mine = StateBinding { principal: &me, about: "Tool t", params: Some(&params) };
        let sealed = seal.seal(mine, "s3cret", NOW).unwrap();
        assert!(!sealed.windows(6).any(|six| six == b"s3cret"));
        let foreign = [
            StateBinding { principal: &other, ..mine },
            StateBinding { about: "Tool u", ..mine },
            StateBinding { params: Some(&others.into()), ..mine },
        ];
        for binding in foreign {
            assert!(seal.open(binding, sealed.clone(), NOW).is_err(), "{binding:?}");
        }
        assert!(StateSeal::new(&[8; 32]).open(mine, sealed.clone(), NOW).is_err());
        for forged in [vec![], vec![0; 40], sealed[1..].to_vec(), [&sealed[..], &[0]].concat()] {
            assert!(seal.open(mine, forged, NOW).is_err());
        }
        assert_eq!(StateSeal::new(&[7; 32]).open(mine, sealed, NOW).unwrap(), "s3cret");
    }

    #[test]
    fn a_state_opens_once_and_in_time() {
        let seal = StateSeal::new(&[7; 32]);
        let me = Principal::local();
        let mine = StateBinding { principal: &me, about: "a:b", params: None };
        let sealed = seal.seal(mine, "state", NOW).unwrap();
        assert!(seal.open(mine, sealed.clone(), NOW + STATE_TTL_SECONDS + 1).is_err());
        let opened = seal.open(mine, sealed.clone(), NOW + STATE_TTL_SECONDS);
        assert_eq!(opened.unwrap(), "state");
        let again = seal.open(mine, sealed, NOW).unwrap_err();
        assert!(again.message.contains("used before"), "{again}");
    }

    fn of(principal: &Principal) -> StateBinding<'_> {
        StateBinding { principal, about: "a:b", params: None }
    }

    #[test]
    fn a_principal_that_uses_many_states_makes_those_of_no_other_unknown() {
        let seal = StateSeal::new(&[7; 32]);
        let (greedy, honest) = (Principal::authenticated("greedy"), Principal::local());
        let mine = seal.seal(of(&honest), "mine", NOW).unwrap();
        for at in 0..=MAX_USED {
            let sealed = seal.seal(of(&greedy), "s", NOW + at as u64 / 64).unwrap();
            seal.open(of(&greedy), sealed, NOW).unwrap();
        }
        assert_eq!(seal.open(of(&honest), mine, NOW).unwrap(), "mine");
        for number in 0..4 * MIN_PRINCIPALS {
            let one = Principal::authenticated(&number.to_string());
            let later = NOW + 3 * STATE_TTL_SECONDS * number as u64;
            let sealed = seal.seal(of(&one), "s", later).unwrap();
            seal.open(of(&one), sealed, later).unwrap();
        }
        assert!(seal.used.lock().len() < 3 * MIN_PRINCIPALS, "expired ones take no memory");
    }

    #[test]
    fn what_is_forgotten_is_refused_and_not_accepted_twice() {
        let mut used = UsedStates::default();
        let nonce = |at: usize| {
            let mut nonce = [0; 12];
            nonce[..8].copy_from_slice(&(at as u64).to_le_bytes());
            nonce
        };
        for at in 0..=MAX_USED {
            used.insert(NOW + at as u64, nonce(at), NOW).unwrap();
        }
        assert_eq!(used.states.len(), MAX_USED);
        assert!(used.insert(NOW, nonce(0), NOW).is_err(), "forgotten");
        assert!(used.insert(NOW + 1, nonce(1), NOW).is_err(), "remembered");
        let late = NOW + 2 * MAX_USED as u64;
        used.insert(late, nonce(9), late).unwrap();
        assert_eq!(used.states.len(), 1, "what has expired takes no memory");
    }
}

//! Task ids: an upstream server's id, sealed with its tool, and bound to one principal.
//!
//! The sealed id says which mount a request about the task goes to, so that nothing is stored here.
//! Another principal cannot use it, and no one can make one up.

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use machinery::{Packer, Unpacker};
use protocol::outbound::task::{decode_task_id, encode_task_id};
use resource::{Error, Principal, Result};

/// Domain separation: the key of cursors is used for nothing else.
const KEY_CONTEXT: &[u8] = b"refdesk taskId";

/// A task of an upstream server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TaskRef {
    /// The public name of the tool that started it.
    pub(crate) tool: String,
    /// The server's id of the task.
    pub(crate) task: String,
}

/// Seals and opens task ids. Processes with the same key accept each other's.
pub(crate) struct TaskIds(LessSafeKey);

impl fmt::Debug for TaskIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskIds")
    }
}

impl TaskIds {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), KEY_CONTEXT);
        let key = UnboundKey::new(&AES_256_GCM_SIV, derived.as_ref());
        Self(LessSafeKey::new(key.expect("HMAC-SHA256 yields the 32 bytes of an AES-256 key")))
    }

    /// The id that `principal` gets.
    pub(crate) fn seal(&self, principal: &Principal, task: &TaskRef) -> Result<String> {
        let packed = Packer::default().bytes(Some(&task.tool)).bytes(Some(&task.task));
        let mut sealed = packed.finish();
        // GCM-SIV with a fixed nonce: equal tasks get equal ids, and that is all that it shows.
        let closed = self.0.seal_in_place_append_tag(fixed_nonce(), owner(principal), &mut sealed);
        closed.map_err(|_| Error::internal("cannot seal a task id"))?;
        Ok(encode_task_id(&sealed))
    }

    /// The task that `id` stands for, if `principal` got it.
    pub(crate) fn open(&self, principal: &Principal, id: &str) -> Result<TaskRef> {
        let unknown = || Error::invalid("taskId: there is no such task");
        let mut sealed = decode_task_id(id).ok_or_else(unknown)?;
        let opened = self.0.open_in_place(fixed_nonce(), owner(principal), &mut sealed);
        let mut parts = Unpacker::new(opened.map_err(|_| unknown())?);
        let mut text = || parts.text().flatten().map(str::to_owned).ok_or_else(unknown);
        Ok(TaskRef { tool: text()?, task: text()? })
    }
}

fn fixed_nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

fn owner(principal: &Principal) -> Aad<Vec<u8>> {
    Aad::from(principal.key().as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use resource::Principal;

    use super::{TaskIds, TaskRef};

    #[test]
    fn a_task_id_opens_for_its_principal_only() {
        let ids = TaskIds::new(&[7; 32]);
        let (me, other) = (Principal::local(), Principal::authenticated("other"));
        let task = TaskRef { tool: "up_work".to_owned(), task: "t-1".to_owned() };
        let sealed = ids.seal(&me, &task).unwrap();
        assert_eq!(ids.seal(&me, &task).unwrap(), sealed);
        assert_eq!(TaskIds::new(&[7; 32]).open(&me, &sealed).unwrap(), task);
        assert!(ids.open(&other, &sealed).is_err());
        assert!(TaskIds::new(&[8; 32]).open(&me, &sealed).is_err());
        for forged in ["", "t-1", &sealed[1..], "%%%"] {
            assert!(ids.open(&me, forged).is_err(), "{forged}");
        }
    }
}

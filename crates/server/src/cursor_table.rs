//! Table of the list positions that are too long for a cursor, per principal.
//!
//! Most positions fit into their cursors. Those of deep walks do not: the cursor then names an entry
//! of this table. Entries are bounded in number, weight and age, and no principal evicts another's.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use machinery::{Cache, CacheBounds, CacheLifetime};
use protocol::{CursorMac, CursorSeal, SealedCursor};
use resource::{Context, Cursor, Error, Result};

/// How long a position is kept after it was given out.
const LIFETIME: Duration = Duration::from_secs(3600);
/// The most positions of one principal, and their bytes.
const BOUNDS: CacheBounds = CacheBounds { entries: 256, weight: 256 << 10, heaviest: 128 << 10 };
/// The most principals that have positions.
const MAX_PRINCIPALS: usize = 256;

type Positions = Cache<CursorMac, Bytes>;

/// Seals cursors, and keeps the positions that do not fit into them.
pub(crate) struct CursorTable {
    seal: CursorSeal,
    principals: Cache<Arc<str>, Arc<Positions>>,
}

impl CursorTable {
    /// A table whose cursors are sealed with `key`.
    pub(crate) fn new(key: [u8; 32]) -> Self {
        let principals = Cache::new(CacheBounds::entries(MAX_PRINCIPALS));
        Self { seal: CursorSeal::new(key), principals }
    }

    /// The text of a cursor of `list`.
    pub(crate) fn seal(&self, ctx: &Context, list: &str, cursor: &Cursor) -> String {
        let SealedCursor { text, stored } = self.seal.seal(list, cursor);
        if let Some(mac) = stored {
            let key = ctx.principal().key();
            let own = self.principals.get(key).unwrap_or_else(|| {
                let own = Arc::new(Positions::new(BOUNDS));
                self.principals.insert(Arc::clone(key), Arc::clone(&own), 1);
                own
            });
            let weight = cursor.0.len();
            let lifetime = CacheLifetime { ttl: LIFETIME, grace: LIFETIME, weight };
            own.insert_current(own.epoch(), mac, cursor.0.clone(), &lifetime);
        }
        text
    }

    /// The cursor of `list` that `text` stands for.
    pub(crate) fn unseal(&self, ctx: &Context, list: &str, text: &str) -> Result<Cursor> {
        self.seal.unseal(list, text, |mac| {
            let own = self.principals.get(ctx.principal().key());
            own.and_then(|own| own.get(mac)).ok_or_else(|| {
                Error::invalid(
                    "this cursor is not valid here, or has expired; list again from the start, or \
                     list a smaller part: name a collection or mount",
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use resource::{Context, Cursor, Principal};

    use super::{BOUNDS, CursorTable, LIFETIME};

    fn context(name: &str) -> Context {
        Context::new(Principal::authenticated(name))
    }

    fn long_position(number: usize) -> Cursor {
        Cursor(format!("{number}{}", "/deep".repeat(100)).into())
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_position_is_kept_for_its_principal_and_for_a_while() {
        let table = CursorTable::new([7; 32]);
        let (ada, alan) = (context("ada"), context("alan"));
        let text = table.seal(&ada, "list", &long_position(0));
        assert!(text.len() <= 96);
        assert_eq!(table.seal(&ada, "list", &long_position(0)), text, "one position, one cursor");
        assert_eq!(table.unseal(&ada, "list", &text).unwrap(), long_position(0));
        for (ctx, list) in [(&alan, "list"), (&ada, "other")] {
            assert!(table.unseal(ctx, list, &text).is_err());
        }
        tokio::time::advance(LIFETIME + Duration::from_secs(1)).await;
        let gone = table.unseal(&ada, "list", &text).unwrap_err().to_string();
        assert!(gone.contains("expired; list again from the start"), "{gone}");
    }

    #[tokio::test]
    async fn one_principal_evicts_only_its_own_positions() {
        let table = CursorTable::new([7; 32]);
        let (ada, alan) = (context("ada"), context("alan"));
        let kept = table.seal(&alan, "list", &long_position(0));
        let first = table.seal(&ada, "list", &long_position(0));
        for number in 1..=BOUNDS.entries {
            table.seal(&ada, "list", &long_position(number));
        }
        assert!(table.unseal(&ada, "list", &first).is_err());
        assert!(table.unseal(&alan, "list", &kept).is_ok());
    }

    #[test]
    fn a_short_position_needs_no_table() {
        let (table, ada) = (CursorTable::new([7; 32]), context("ada"));
        let text = table.seal(&ada, "list", &Cursor("src/main.rs".into()));
        let other = CursorTable::new([7; 32]);
        assert_eq!(other.unseal(&ada, "list", &text).unwrap().0, "src/main.rs");
    }
}

//! Pages of lists in memory: from a cursor that names the last item to a range of positions.

use bytes::Bytes;
use resource::{Cursor, Error, PageRequest, Result};

/// Start and end of a page in a list of `count` entries. `place` maps the cursor's key to its
/// position; an unknown key is a bad cursor.
pub(crate) fn page_range(
    paging: &PageRequest,
    count: usize,
    place: impl Fn(&str) -> Option<usize>,
) -> Result<(usize, usize)> {
    let start = match &paging.cursor {
        None => 0,
        Some(cursor) => {
            let key = std::str::from_utf8(&cursor.0).ok();
            key.and_then(place).ok_or_else(Error::bad_cursor)? + 1
        }
    };
    Ok((start, start.saturating_add(paging.limit.max(1)).min(count)))
}

/// The cursor for the page that starts after `key`.
pub(crate) fn cursor_after(key: &str) -> Cursor {
    Cursor(Bytes::copy_from_slice(key.as_bytes()))
}

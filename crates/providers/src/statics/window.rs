//! Which stretch of the content is given, and is it the version that was asked for?

use std::convert::Infallible;

use bytes::Bytes;
use resource::{Error, Result, Slice, Window};

/// Refuses another version than the pinned one, and more than the limit at once.
pub(super) fn check(window: &Window, etag: Option<&str>, total: u64) -> Result<()> {
    match window {
        Window::Part { etag: Some(pinned), .. } if Some(pinned.as_str()) != etag => {
            Err(Error::changed(etag.unwrap_or_default()))
        }
        Window::Whole { limit } if total > *limit => Err(Error::too_large(total, *limit)),
        _ => Ok(()),
    }
}

/// The stretch of `bytes` that `window` asks for, without copying.
pub(super) fn cut(bytes: &Bytes, is_text: bool, window: &Window) -> (Bytes, Option<Slice>) {
    let Window::Part { offset, length, .. } = window else {
        return (bytes.clone(), None);
    };
    let begins_character = |at: u64| {
        let byte = usize::try_from(at).ok().and_then(|at| bytes.get(at));
        Ok::<_, Infallible>(!is_text || byte.is_none_or(|byte| begins_character(*byte)))
    };
    let total = bytes.len() as u64;
    let Ok(slice) = stretch(total, *offset, *length, begins_character);
    let start = slice.offset as usize;
    (bytes.slice(start..start + slice.length as usize), Some(slice))
}

/// Whether a character of UTF-8 can begin with `byte`.
pub(super) fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// The stretch that begins at `offset` or the next place where a character does, and ends where
/// one does, after one at the least. `begins` is asked only of places inside the content.
pub(super) fn stretch<E>(
    total: u64,
    offset: u64,
    length: u64,
    mut begins: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Slice, E> {
    let mut forward = |mut at: u64| {
        // A character has four bytes at the most, and a file may stop being text as it is read.
        let stop = at.saturating_add(3).min(total);
        while at < stop && !begins(at)? {
            at += 1;
        }
        Ok(at)
    };
    let start = forward(offset.min(total))?;
    let last = start.saturating_add(length.max(1)).min(total);
    let next = if start < total { forward(start + 1)? } else { total };
    let mut end = last;
    while end > next && end < total && !begins(end)? {
        end -= 1;
    }
    Ok(Slice::new(start, end.max(next) - start, total))
}

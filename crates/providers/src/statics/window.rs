//! Byte windows over content: etag and size checks, cuts at character boundaries.

use std::convert::Infallible;

use bytes::Bytes;
use resource::{Error, Result, Slice, Window};

/// Fails if the pinned etag differs, or if a whole read exceeds its limit.
pub(super) fn check_window(window: &Window, etag: Option<&str>, total: u64) -> Result<()> {
    match window {
        Window::Part { etag: Some(pinned), .. } if Some(pinned.as_str()) != etag => {
            Err(Error::changed(etag.unwrap_or_default()))
        }
        Window::Whole { limit } if total > *limit => Err(Error::too_large(total, *limit)),
        _ => Ok(()),
    }
}

/// The requested window of `bytes`, without copying.
pub(super) fn cut_window(bytes: &Bytes, is_text: bool, window: &Window) -> (Bytes, Option<Slice>) {
    let Window::Part { offset, length, .. } = window else {
        return (bytes.clone(), None);
    };
    let begins_character = |at: u64| {
        let byte = usize::try_from(at).ok().and_then(|at| bytes.get(at));
        Ok::<_, Infallible>(!is_text || byte.is_none_or(|byte| is_char_start(*byte)))
    };
    let total = bytes.len() as u64;
    let Ok(slice) = align_to_characters(total, *offset, *length, begins_character);
    let start = slice.offset as usize;
    (bytes.slice(start..start + slice.length as usize), Some(slice))
}

/// True if `byte` can start a UTF-8 character.
pub(super) fn is_char_start(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// The window aligned to characters: it starts at `offset` or at the next character start, ends
/// at a character boundary, and holds at least one character. `begins` tells whether a character
/// starts at an offset; it is called only for offsets inside the content.
pub(super) fn align_to_characters<E>(
    total: u64,
    offset: u64,
    length: u64,
    mut begins: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Slice, E> {
    let mut forward = |mut at: u64| {
        // A character has at most four bytes; the bound also holds if the file stops being text.
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

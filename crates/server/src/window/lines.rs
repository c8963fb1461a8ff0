//! Which bytes are the lines that are asked for?

use memchr::{memchr_iter, memrchr};
use resource::{Lines, Result};

use super::marks::{Marks, Place};
use super::walk::{AHEAD, CHUNK, Held, Walk};
use super::{MOST, Piece, cut};

/// How much is looked through at once for the ends of lines.
const STRIDE: u64 = 256 << 10;

impl Walk<'_> {
    /// Lines of a part from `start` on, no more than `most` of them and of `bytes`; nothing if it
    /// is no text.
    pub(super) async fn lines(
        &mut self,
        part: usize,
        marks: &Marks,
        start: u64,
        (most, bytes): (Option<u64>, u64),
    ) -> Result<Option<Piece>> {
        let place = self.find(part, marks, start).await?;
        let bytes = bytes.min(MOST);
        let mut wanted = CHUNK.min(bytes + AHEAD);
        let mut held = self.once(part, place.offset, wanted).await?;
        loop {
            if !held.is_text {
                return Ok(None);
            }
            self.fill(&mut held, part, wanted).await?;
            if let Some((end, lines)) = taken(&held, place.line, most, bytes as usize)? {
                let mut piece = held.piece(end);
                piece.slice.lines = Some(lines);
                if let (Some(line), Some(offset)) = (piece.slice.next_line(), piece.slice.next()) {
                    self.mark(marks, Place { part, line, offset });
                }
                return Ok(Some(piece));
            }
            wanted = (wanted * 2).min(bytes + AHEAD);
        }
    }

    /// Where a line begins; if there are not so many, where the one behind the last would.
    async fn find(&mut self, part: usize, marks: &Marks, line: u64) -> Result<Place> {
        let known = self.pin.as_ref().and_then(|etag| marks.before(self.uri, etag, part, line));
        let mut place = known.unwrap_or(Place::first(part));
        let mut at = place.offset;
        while place.line < line {
            let held = self.once(part, at, STRIDE).await?;
            let missing = line - place.line;
            let (mut passed, mut behind) = (0, None);
            for end in
                memchr_iter(b'\n', &held.bytes).take(usize::try_from(missing).unwrap_or(usize::MAX))
            {
                passed += 1;
                behind = Some(end + 1);
            }
            if let Some(behind) = behind {
                place =
                    Place { part, line: place.line + passed, offset: held.offset + behind as u64 };
                self.mark(marks, place);
            }
            at = held.end();
            if passed < missing && (held.bytes.is_empty() || at >= held.total) {
                // A last line without an end is a line too.
                let open = u64::from(place.offset < held.total);
                return Ok(Place { part, line: place.line + open, offset: held.total });
            }
        }
        Ok(place)
    }

    fn mark(&self, marks: &Marks, place: Place) {
        if let Some(etag) = &self.pin {
            marks.put(self.uri, etag, place);
        }
    }
}

/// The end of the lines that are given of what is held, or nothing if more is needed to tell.
fn taken(
    held: &Held,
    start: u64,
    most: Option<u64>,
    bytes: usize,
) -> Result<Option<(usize, Lines)>> {
    let within = &held.bytes[..bytes.min(held.bytes.len())];
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let (mut count, mut end) = (0, 0);
    for at in memchr_iter(b'\n', within).take(most) {
        count += 1;
        end = at + 1;
    }
    let lines = |count: usize, cut| Lines { start, count: count as u64, cut };
    let is_all = held.torn || held.end() >= held.total;
    if count == most || (end == held.bytes.len() && is_all) {
        return Ok(Some((end, lines(count, false))));
    }
    if is_all && within.len() == held.bytes.len() {
        return Ok(Some((within.len(), lines(count + 1, held.torn))));
    }
    if !is_all && held.bytes.len() < bytes + AHEAD as usize {
        return Ok(None);
    }
    if count > 0 {
        return Ok(Some((end, lines(count, false))));
    }
    let end = cut::end(held.text()?, bytes);
    let is_cut = memrchr(b'\n', &held.bytes[..end]).is_none();
    Ok(Some((end, lines(1, is_cut))))
}

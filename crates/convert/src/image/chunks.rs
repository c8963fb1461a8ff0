//! The chunks of image files: how many frames there are, and the notes of PNG.

use std::io::Read;

use flate2::bufread::ZlibDecoder;
use image::ImageFormat;

/// The most notes of an image.
const MAX_NOTES: usize = 50;

/// The most bytes of a note, unpacked.
const MAX_NOTE_BYTES: u64 = 16 << 10;

/// The most pages of a TIFF that are counted.
const MAX_TIFF_PAGES: usize = 10_000;

/// A note that an image carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ImageNote {
    /// What it is about.
    pub(super) name: String,
    /// Its text.
    pub(super) value: String,
}

/// How many frames, pages or images a file has, and what they are called; `None` if it has one.
pub(super) fn frames_of(bytes: &[u8], format: ImageFormat) -> Option<(usize, &'static str)> {
    let (count, word) = match format {
        ImageFormat::Gif => (gif_frames(bytes), "frames"),
        ImageFormat::Png => (png_frames(bytes), "frames"),
        ImageFormat::WebP => (webp_frames(bytes), "frames"),
        ImageFormat::Tiff => (tiff_pages(bytes).unwrap_or(1), "pages"),
        ImageFormat::Ico => {
            (usize::from(u16::from_le_bytes([*bytes.get(4)?, *bytes.get(5)?])), "images")
        }
        _ => return None,
    };
    (count > 1).then_some((count, word))
}

fn gif_frames(bytes: &[u8]) -> usize {
    let palette = |flags: u8| if flags & 0x80 != 0 { 3 << ((flags & 7) + 1) } else { 0 };
    let skip_blocks = |mut at: usize| {
        while let Some(length) = bytes.get(at).filter(|length| **length != 0) {
            at += 1 + usize::from(*length);
        }
        at + 1
    };
    let mut at = 13 + bytes.get(10).copied().map_or(0, palette);
    let mut frames = 0;
    loop {
        match bytes.get(at) {
            Some(0x21) => at = skip_blocks(at + 2),
            Some(0x2C) => {
                frames += 1;
                let flags = bytes.get(at + 9).copied().unwrap_or(0);
                at = skip_blocks(at + 10 + palette(flags) + 1);
            }
            _ => return frames,
        }
    }
}

/// The chunks of a PNG: type and data.
fn png_chunks(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = bytes.get(8..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = u32::from_be_bytes(rest.get(..4)?.try_into().ok()?) as usize;
        let kind = rest.get(4..8)?;
        let data = rest.get(8..8_usize.checked_add(length)?)?;
        rest = rest.get(length + 12..).unwrap_or_default();
        Some((kind, data))
    })
}

fn png_frames(bytes: &[u8]) -> usize {
    let control = png_chunks(bytes).find(|(kind, _)| kind == b"acTL");
    let count = control.and_then(|(_, data)| data.get(..4)?.try_into().ok());
    count.map_or(1, |count| u32::from_be_bytes(count) as usize)
}

fn webp_frames(bytes: &[u8]) -> usize {
    let mut rest = bytes.get(12..).unwrap_or_default();
    let mut frames = 0;
    while let Some(head) = rest.get(..8) {
        frames += usize::from(head.starts_with(b"ANMF"));
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let step = 8_usize.saturating_add(length).saturating_add(length & 1);
        rest = rest.get(step..).unwrap_or_default();
    }
    frames
}

fn tiff_pages(bytes: &[u8]) -> Option<usize> {
    let is_little = bytes.starts_with(b"II");
    let number = |at: usize, length: usize| {
        let bytes = bytes.get(at..at.checked_add(length)?)?;
        let fold = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
        Some(if is_little { bytes.iter().rev().fold(0, fold) } else { bytes.iter().fold(0, fold) })
    };
    if number(2, 2)? != 42 {
        return None;
    }
    let (mut at, mut pages) = (number(4, 4)?, 0);
    while at != 0 && pages < MAX_TIFF_PAGES {
        let entries = number(at, 2)?;
        pages += 1;
        let next = number(at + 2 + 12 * entries, 4).unwrap_or(0);
        // Pages come one after the other in files that are not made to loop.
        at = if next > at { next } else { 0 };
    }
    Some(pages)
}

/// The notes of a PNG.
pub(super) fn notes_of(bytes: &[u8], format: ImageFormat) -> Vec<ImageNote> {
    if format != ImageFormat::Png {
        return Vec::new();
    }
    let notes = png_chunks(bytes).filter_map(|(kind, data)| note_of(kind, data));
    notes.take(MAX_NOTES).collect()
}

fn note_of(kind: &[u8], data: &[u8]) -> Option<ImageNote> {
    let split = |data: &[u8]| -> Option<(Vec<u8>, usize)> {
        let end = data.iter().position(|byte| *byte == 0)?;
        Some((data[..end].to_vec(), end + 1))
    };
    let latin = |bytes: &[u8]| encoding_rs::mem::decode_latin1(bytes).into_owned();
    let (name, start) = split(data)?;
    let name = latin(&name);
    let value = match kind {
        b"tEXt" => {
            latin(data.get(start..)?.get(..MAX_NOTE_BYTES as usize).unwrap_or(&data[start..]))
        }
        b"zTXt" => latin(&unpack(data.get(start + 1..)?)),
        b"iTXt" => {
            let is_packed = *data.get(start)? == 1;
            let rest = data.get(start + 2..)?;
            let (_, language) = split(rest)?;
            let (_, title) = split(rest.get(language..)?)?;
            let text = rest.get(language + title..)?;
            let text = if is_packed { unpack(text) } else { text.to_vec() };
            String::from_utf8_lossy(&text).into_owned()
        }
        _ => return None,
    };
    // Packets of other programs: long, and no text for readers.
    let is_packet = name.starts_with("XML:") || name.starts_with("Raw profile");
    (!is_packet).then_some(ImageNote { name, value })
}

fn unpack(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    // A note that is broken is given as far as it goes.
    let _ = ZlibDecoder::new(bytes).take(MAX_NOTE_BYTES).read_to_end(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use image::ImageFormat;

    use super::{frames_of, notes_of};

    fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let length = (data.len() as u32).to_be_bytes();
        [&length[..], kind, data, &[0; 4]].concat()
    }

    #[test]
    fn notes_and_frames_of_png_are_found() {
        let png = [
            b"\x89PNG\r\n\x1a\n".to_vec(),
            chunk(b"acTL", &[0, 0, 0, 5, 0, 0, 0, 0]),
            chunk(b"tEXt", b"Title\0A caf\xe9"),
            chunk(b"iTXt", "Comment\0\0\0ja\0\0日本語".as_bytes()),
            chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x/>"),
        ];
        let png = png.concat();
        assert_eq!(frames_of(&png, ImageFormat::Png), Some((5, "frames")));
        let notes: Vec<_> = notes_of(&png, ImageFormat::Png)
            .into_iter()
            .map(|note| (note.name, note.value))
            .collect();
        let expected = [("Title", "A café"), ("Comment", "日本語")];
        assert_eq!(notes, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn frames_of_gif_are_counted_without_decoding_them() {
        let frame = [&[0x21, 0xF9, 4, 0, 0, 0, 0, 0][..], &[0x2C], &[0; 9], &[2, 2, 0x4C, 1, 0]];
        let frame = frame.concat();
        let gif = [b"GIF89a\x01\0\x01\0\0\0\0".to_vec(), frame.repeat(3), vec![0x3B]].concat();
        assert_eq!(frames_of(&gif, ImageFormat::Gif), Some((3, "frames")));
    }

    #[test]
    fn a_chain_of_tiff_pages_that_loops_ends() {
        let tiff = b"II\x2a\0\x08\0\0\0\0\0\x08\0\0\0";
        assert_eq!(frames_of(tiff, ImageFormat::Tiff), None);
    }
}

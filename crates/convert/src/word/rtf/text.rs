//! Text of RTF: bytes and numbered characters become text where they belong.

use super::RtfReader;
use super::charset::decode_bytes;
use super::state::RtfDestination;
use crate::rich_text::{SpanContent, SpanStyle};
use crate::word::style_names::is_code_font;
use crate::word::symbols::symbol;

/// The longest text of a destination that is no story.
const MAX_CAPTURED: usize = 64 << 10;

impl RtfReader {
    /// Takes bytes of text, but for those that repeat a character that was read.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        if !matches!(self.state.destination, RtfDestination::Skip | RtfDestination::Picture) {
            self.bytes.extend_from_slice(&bytes[skipped..]);
        }
    }

    /// Decodes the bytes that were taken.
    pub(super) fn flush_bytes(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let id = match (self.state.is_wide, self.state.destination) {
            (_, RtfDestination::Fonts) => self.state.defined,
            (true, _) if self.state.wide_font >= 0 => self.state.wide_font,
            _ => self.state.font,
        };
        let font = self.fonts.get(&id);
        if font.is_some_and(|font| font.is_symbol())
            && self.state.destination != RtfDestination::Fonts
        {
            let name = font.map(|font| font.name.as_str()).unwrap_or_default();
            let text: String = bytes.iter().map(|byte| symbol((*byte).into(), name)).collect();
            return self.push_text(&text);
        }
        let encoding = font.and_then(|font| font.encoding());
        let text = decode_bytes(&bytes, encoding, self.encoding);
        self.push_text(&text);
    }

    /// Takes a character that is written by its number.
    pub(super) fn push_unicode(&mut self, number: i32) {
        self.flush_bytes();
        self.skip = self.state.repeated;
        let unit = (number & 0xFFFF) as u16;
        // Symbol fonts are often addressed in the private area.
        if (0xF020..=0xF0FF).contains(&unit) {
            let font = self.fonts.get(&self.state.font);
            let name = font.map(|font| font.name.clone()).unwrap_or_default();
            return self.push_text(&symbol(unit.into(), &name).to_string());
        }
        let letter = match (self.surrogate.take(), unit) {
            (_, 0xD800..=0xDBFF) => {
                self.surrogate = Some(unit);
                return;
            }
            (Some(first), unit) => String::from_utf16_lossy(&[first, unit]),
            (None, unit) if number > 0xFFFF => {
                let letter = u32::try_from(number).ok().and_then(char::from_u32);
                letter.map_or_else(|| String::from_utf16_lossy(&[unit]), String::from)
            }
            (None, unit) => String::from_utf16_lossy(&[unit]),
        };
        self.push_text(&letter);
    }

    /// Gives text to where it belongs.
    pub(super) fn push_text(&mut self, text: &str) {
        match self.state.destination {
            RtfDestination::Skip | RtfDestination::Picture => {}
            RtfDestination::Story if self.state.is_deleted => {}
            RtfDestination::Story => {
                let font = self.fonts.get(&self.state.font);
                let is_code = font.is_some_and(|font| is_code_font(&font.name));
                let plain = self.state.style;
                self.state.style = plain.with(SpanStyle::CODE, is_code);
                self.push_span(SpanContent::Text(text.to_owned()));
                self.state.style = plain;
            }
            RtfDestination::Captured => {
                if let Some(captured) = self.captured.last_mut()
                    && captured.len() + text.len() <= MAX_CAPTURED
                {
                    captured.push_str(text);
                }
            }
            RtfDestination::Fonts => {
                let font = self.fonts.entry(self.state.defined).or_default();
                push_name(&mut font.name, text);
            }
            RtfDestination::Styles => {
                let style = self.styles.entry(self.state.defined).or_default();
                push_name(&mut style.name, text);
            }
        }
    }
}

/// Appends to a name, which a semicolon ends.
fn push_name(name: &mut String, text: &str) {
    if name.len() < 256 && !name.ends_with(';') {
        name.push_str(text);
    }
}

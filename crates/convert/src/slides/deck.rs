//! Decks: the slides of a presentation between its readers and the writer.

use crate::conversion::Conversion;
use crate::error::ConvertError;
use crate::options::Options;
use crate::rich_text::{RichBlock, RichSpan, SpanStyle, push_blocks};

/// A presentation.
#[derive(Default)]
pub(super) struct SlideDeck {
    pub(super) slides: Vec<Slide>,
    /// What is lost, one sentence each.
    pub(super) losses: Vec<String>,
}

/// A slide.
#[derive(Default)]
pub(super) struct Slide {
    /// Its title; empty if it has none.
    pub(super) title: String,
    pub(super) is_hidden: bool,
    pub(super) blocks: Vec<RichBlock>,
    /// What the speaker says.
    pub(super) notes: Vec<RichBlock>,
    /// Comments, each with its author.
    pub(super) comments: Vec<(String, Vec<RichBlock>)>,
}

impl SlideDeck {
    /// Notes what cannot be converted, once.
    pub(super) fn lose(&mut self, sentence: String) {
        if self.losses.len() < 20 && !self.losses.contains(&sentence) {
            self.losses.push(sentence);
        }
    }

    /// Writes a section for each slide.
    pub(super) fn write_markdown(self, options: &Options) -> Result<Conversion, ConvertError> {
        let mut converted = Conversion { losses: self.losses, ..Conversion::default() };
        for (at, slide) in self.slides.into_iter().enumerate() {
            if at > 0 {
                converted.push_str("\n");
            }
            let title = Some(slide.title.clone()).filter(|title| !title.is_empty());
            converted.start_section(title, slide.is_hidden);
            let mut text = String::new();
            push_blocks(&mut text, &slide.into_blocks(at + 1), options)?;
            converted.push_str(&text);
            if converted.body.len() > options.max_output_bytes {
                let limit = options.max_output_bytes;
                let message = format!("the text is over the limit of {limit} bytes");
                return Err(ConvertError::over_limit(message));
            }
        }
        Ok(converted)
    }
}

impl Slide {
    /// The slide as blocks under a heading with its number.
    fn into_blocks(self, number: usize) -> Vec<RichBlock> {
        let mut heading = format!("Slide {number}");
        if !self.title.is_empty() {
            heading.push_str(": ");
            heading.push_str(&self.title);
        }
        if self.is_hidden {
            heading.push_str(" (hidden)");
        }
        let spans = vec![RichSpan::text(heading, SpanStyle::default())];
        let mut blocks = vec![RichBlock::Heading { level: 2, spans }];
        blocks.extend(self.blocks);
        if !self.notes.is_empty() {
            let mut notes = vec![RichBlock::plain("Notes:")];
            notes.extend(self.notes);
            blocks.push(RichBlock::Quote(notes));
        }
        for (lead, mut comment) in self.comments {
            match comment.first_mut() {
                Some(RichBlock::Paragraph(spans)) => {
                    spans.insert(0, RichSpan::text(lead, SpanStyle::default()));
                }
                _ => comment.insert(0, RichBlock::plain(lead)),
            }
            blocks.push(RichBlock::Quote(comment));
        }
        blocks
    }
}

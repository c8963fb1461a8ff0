//! Reader of RTF documents.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::error::ConvertError;
use crate::rich_text::{
    RichNote, RichSpan, RichText, SpanContent, SpanStyle, blocks_text, comment_lead,
};

mod charset;
mod control;
mod destination;
mod state;
mod story;
mod table;
mod text;
mod token;

#[cfg(test)]
mod any_tests;
#[cfg(test)]
mod tests;

use charset::RtfFont;
use state::{RtfDestination, RtfEnd, RtfState, RtfStyle};
use story::{RtfStory, RtfTraits};
use table::RtfCellEdge;
use token::{RtfToken, RtfTokens};

/// The most groups inside each other.
const MAX_GROUPS: usize = 2_000;

/// Reads an RTF document.
pub(super) fn read(bytes: &[u8]) -> Result<RichText, ConvertError> {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let bytes = bytes[start..].strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes[start..]);
    if !bytes.starts_with(b"{\\rtf") {
        return Err(ConvertError::damaged("the document does not begin as RTF does"));
    }
    let mut reader = RtfReader::new();
    for token in RtfTokens::new(bytes) {
        reader.token(&token)?;
        if reader.groups.is_empty() {
            return Ok(reader.finish());
        }
    }
    Err(ConvertError::damaged("the document ends before its last group does; it may be cut off"))
}

/// Reads the tokens of one document.
struct RtfReader {
    /// The state before each open group.
    groups: Vec<(RtfState, RtfEnd)>,
    state: RtfState,
    /// What the group that just opened ends with.
    end: RtfEnd,
    /// Whether the group says that readers may skip it.
    is_optional: bool,
    /// Whether nothing but that stood in the group yet.
    is_first: bool,
    encoding: &'static Encoding,
    fonts: HashMap<i32, RtfFont>,
    styles: HashMap<i32, RtfStyle>,
    traits: HashMap<i32, RtfTraits>,
    /// The open stories, the body first.
    stories: Vec<RtfStory>,
    /// The texts of destinations that are no stories.
    captured: Vec<String>,
    /// Where each open field leads.
    links: Vec<Option<Rc<str>>>,
    /// Bytes that wait for the rest of their character.
    bytes: Vec<u8>,
    /// The first half of a character outside of the basic plane.
    surrogate: Option<u16>,
    /// How many more characters repeat one that was read.
    skip: usize,
    edges: Vec<RtfCellEdge>,
    edge: RtfCellEdge,
    text: RichText,
    /// The texts of headers and footers that were read.
    margins: HashSet<String>,
    /// The author of the next comment, the name of the next property, the description of a picture.
    author: String,
    property: String,
    alt: String,
    counts: [u32; 2],
}

impl RtfReader {
    fn new() -> Self {
        Self {
            groups: Vec::new(),
            state: RtfState::default(),
            end: RtfEnd::Nothing,
            is_optional: false,
            is_first: false,
            encoding: WINDOWS_1252,
            fonts: HashMap::new(),
            styles: HashMap::new(),
            traits: HashMap::new(),
            stories: vec![RtfStory::default()],
            captured: Vec::new(),
            links: Vec::new(),
            bytes: Vec::new(),
            surrogate: None,
            skip: 0,
            edges: Vec::new(),
            edge: RtfCellEdge::default(),
            text: RichText::default(),
            margins: HashSet::new(),
            author: String::new(),
            property: String::new(),
            alt: String::new(),
            counts: [0; 2],
        }
    }

    fn token(&mut self, token: &RtfToken<'_>) -> Result<(), ConvertError> {
        match token {
            RtfToken::Open => {
                self.flush_bytes();
                if self.groups.len() >= MAX_GROUPS {
                    return Err(ConvertError::over_limit(format!(
                        "the document nests groups over {MAX_GROUPS} deep"
                    )));
                }
                self.groups.push((self.state.clone(), std::mem::take(&mut self.end)));
                self.is_optional = false;
                self.is_first = true;
                self.skip = 0;
            }
            RtfToken::Close => {
                self.flush_bytes();
                self.close_group();
                self.skip = 0;
            }
            RtfToken::Word(word, number) => self.word(word, *number),
            RtfToken::Sign(sign) => self.sign(*sign),
            RtfToken::Hex(byte) => self.push_bytes(&[*byte]),
            RtfToken::Text(bytes) => self.push_bytes(bytes),
        }
        Ok(())
    }

    fn close_group(&mut self) {
        let end = std::mem::take(&mut self.end);
        self.end_group(end);
        if let Some((state, end)) = self.groups.pop() {
            self.state = state;
            self.end = end;
        }
    }

    fn finish(mut self) -> RichText {
        let traits = self.current_traits();
        if let Some(body) = self.stories.drain(..).next() {
            self.text.blocks = body.finish(&self.state.paragraph, &traits);
        }
        self.text
    }

    /// What the style of the paragraph makes of it.
    fn current_traits(&mut self) -> RtfTraits {
        let Some(id) = self.state.paragraph.style else { return RtfTraits::default() };
        if let Some(traits) = self.traits.get(&id) {
            return traits.clone();
        }
        let traits = state::traits_of(id, &self.styles);
        self.traits.insert(id, traits.clone());
        traits
    }

    fn story(&mut self) -> &mut RtfStory {
        if self.stories.is_empty() {
            self.stories.push(RtfStory::default());
        }
        let last = self.stories.len() - 1;
        &mut self.stories[last]
    }

    fn push_span(&mut self, content: SpanContent) {
        let link = self.links.last().cloned().flatten();
        let style = self.state.style;
        let spans = &mut self.story().spans;
        if let SpanContent::Text(text) = &content
            && let Some(last) = spans.last_mut()
            && let SpanContent::Text(before) = &mut last.content
            && (last.style, &last.link) == (style, &link)
        {
            before.push_str(text);
            return;
        }
        spans.push(RichSpan { content, style, link });
    }

    /// Ends a story as a header or footer, once for each text.
    fn push_margin(&mut self, is_header: bool) {
        let (paragraph, traits) = (self.state.paragraph.clone(), self.current_traits());
        let Some(story) = self.stories.pop() else { return };
        let blocks = story.finish(&paragraph, &traits);
        let text = blocks_text(&blocks);
        if text.chars().any(char::is_alphabetic) && self.margins.insert(text) {
            let slot = if is_header { &mut self.text.headers } else { &mut self.text.footers };
            slot.push(blocks);
        }
    }

    /// Begins a note: its mark, and a story for its text.
    fn start_note(&mut self, is_comment: bool) {
        let count = &mut self.counts[usize::from(is_comment)];
        *count += 1;
        let label = format!("{}{count}", if is_comment { "c" } else { "" });
        let lead = match is_comment {
            true => comment_lead(std::mem::take(&mut self.author).trim(), ""),
            false => String::new(),
        };
        let style = std::mem::take(&mut self.state.style);
        self.push_span(SpanContent::Note(label.clone()));
        self.state.style = style.with(SpanStyle::SUPERSCRIPT, false);
        let place = self.text.notes.len();
        self.text.notes.push(RichNote { label, lead, blocks: Vec::new() });
        self.start_story(RtfEnd::Note(place));
    }

    fn start_story(&mut self, end: RtfEnd) {
        self.stories.push(RtfStory::default());
        self.state.paragraph = story::RtfParagraph::default();
        self.state.destination = RtfDestination::Story;
        self.end = end;
    }
}

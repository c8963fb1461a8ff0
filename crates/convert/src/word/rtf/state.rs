//! State of RTF groups: what the text of a group is, and how it looks.

use std::collections::HashMap;

use super::story::{RtfParagraph, RtfTraits};
use crate::rich_text::SpanStyle;
use crate::word::style_names::{heading_level, is_code, is_quote};

/// The longest chain of styles that is followed; a longer one is a circle.
const MAX_CHAIN: usize = 16;

/// Where text goes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum RtfDestination {
    /// The story that is open.
    #[default]
    Story,
    /// Nowhere.
    Skip,
    /// Nowhere, but groups inside may go elsewhere.
    Picture,
    /// A text that is kept for the end of its group.
    Captured,
    /// The table of fonts, and a font in it.
    Fonts,
    /// The style sheet, and a style in it.
    Styles,
}

/// What happens when a group ends.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum RtfEnd {
    #[default]
    Nothing,
    /// The note at this place has its text.
    Note(usize),
    /// A text box has its text.
    TextBox,
    Header,
    Footer,
    Field,
    Instruction,
    ListText,
    Anchor,
    Author,
    PropertyName,
    PropertyValue,
    Picture,
    /// The name of the font or style is complete.
    Font,
    Style,
}

/// The state of a group.
#[derive(Clone)]
pub(super) struct RtfState {
    pub(super) destination: RtfDestination,
    pub(super) style: SpanStyle,
    pub(super) paragraph: RtfParagraph,
    pub(super) font: i32,
    /// The font of East Asian text, and whether the text is such.
    pub(super) wide_font: i32,
    pub(super) is_wide: bool,
    pub(super) is_deleted: bool,
    /// How many characters repeat one that is written by number.
    pub(super) repeated: usize,
    /// The font or style that is being defined.
    pub(super) defined: i32,
}

impl Default for RtfState {
    fn default() -> Self {
        Self {
            destination: RtfDestination::Story,
            style: SpanStyle::default(),
            paragraph: RtfParagraph::default(),
            font: 0,
            wide_font: -1,
            is_wide: false,
            is_deleted: false,
            repeated: 1,
            defined: 0,
        }
    }
}

/// A style of the style sheet.
#[derive(Default)]
pub(super) struct RtfStyle {
    pub(super) name: String,
    pub(super) parent: Option<i32>,
    pub(super) outline: Option<u8>,
}

/// What a style makes of a paragraph.
pub(super) fn traits_of(id: i32, styles: &HashMap<i32, RtfStyle>) -> RtfTraits {
    let mut chain: Vec<&RtfStyle> = Vec::new();
    let mut next = Some(id);
    while let Some(style) = next.and_then(|id| styles.get(&id))
        && chain.len() < MAX_CHAIN
    {
        chain.push(style);
        next = style.parent;
    }
    let heading = chain.iter().find_map(|style| match style.outline {
        Some(level) => Some((level < 9).then_some(level + 1)),
        None => heading_level(&style.name).map(Some),
    });
    RtfTraits {
        heading: heading.flatten(),
        is_code: chain.iter().any(|style| is_code(&style.name)),
        is_quote: chain.iter().any(|style| is_quote(&style.name)),
    }
}

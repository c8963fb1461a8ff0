//! Destinations of RTF: what the text of special groups is for.

use super::RtfReader;
use super::state::{RtfDestination, RtfEnd};
use crate::rich_text::SpanContent;
use crate::word::field_code::{eq_ruby, link_of};

/// Groups whose text is no part of the document.
const SKIPPED: &[&str] = &[
    "colortbl",
    "info",
    "nonshppict",
    "shprslt",
    "nonesttables",
    "ftnsep",
    "ftnsepc",
    "ftncn",
    "aftnsep",
    "aftnsepc",
    "aftncn",
    "xe",
    "tc",
    "rxe",
    "txe",
    "listtable",
    "listoverridetable",
    "revtbl",
    "rsidtbl",
    "generator",
    "themedata",
    "datastore",
    "colorschememapping",
    "latentstyles",
    "pntxta",
    "pntxtb",
    "filetbl",
    "mmathPict",
    "comment",
    "atnref",
    "atndate",
    "atnicn",
    "atnid",
    "atntime",
    "atnparent",
    "template",
    "private",
];

/// Groups that readers may skip, and that are read all the same.
const READ: &[&str] = &[
    "shpinst",
    "shppict",
    "nesttableprops",
    "mmath",
    "moMath",
    "moMathPara",
    "ud",
    "picprop",
    "do",
    "shpgrp",
    "defchp",
    "defpap",
];

impl RtfReader {
    /// Begins the destination that a control word names; whether there is one.
    pub(super) fn start_destination(&mut self, word: &str) -> bool {
        let is_optional = std::mem::take(&mut self.is_optional);
        // Destinations stand at the beginning of their groups.
        if !std::mem::take(&mut self.is_first) {
            return false;
        }
        // A group has one destination, and what is skipped is skipped with all that is inside.
        if self.state.destination == RtfDestination::Skip {
            return true;
        }
        match word {
            "fonttbl" => self.state.destination = RtfDestination::Fonts,
            "stylesheet" => self.state.destination = RtfDestination::Styles,
            "field" => {
                let outer = self.links.last().cloned().flatten();
                self.links.push(outer);
                self.end = RtfEnd::Field;
            }
            "fldinst" => self.capture(RtfEnd::Instruction),
            "listtext" | "pntext" => self.capture(RtfEnd::ListText),
            "bkmkstart" => self.capture(RtfEnd::Anchor),
            "atnauthor" => self.capture(RtfEnd::Author),
            "sn" => self.capture(RtfEnd::PropertyName),
            "sv" => self.capture(RtfEnd::PropertyValue),
            "footnote" => self.start_note(false),
            "annotation" => self.start_note(true),
            "header" | "headerl" | "headerr" | "headerf" => self.start_story(RtfEnd::Header),
            "footer" | "footerl" | "footerr" | "footerf" => self.start_story(RtfEnd::Footer),
            "shptxt" | "dptxbxtext" => self.start_story(RtfEnd::TextBox),
            "pict" => {
                self.state.destination = RtfDestination::Picture;
                self.end = RtfEnd::Picture;
            }
            "upr" => {}
            "objdata" => {
                self.state.destination = RtfDestination::Skip;
                let sentence = "an embedded object is not converted".to_owned();
                if !self.text.losses.contains(&sentence) {
                    self.text.losses.push(sentence);
                }
            }
            word if SKIPPED.contains(&word) => self.state.destination = RtfDestination::Skip,
            word if READ.contains(&word) => {}
            _ if is_optional => self.state.destination = RtfDestination::Skip,
            _ => return false,
        }
        true
    }

    fn capture(&mut self, end: RtfEnd) {
        self.captured.push(String::new());
        self.state.destination = RtfDestination::Captured;
        self.end = end;
    }

    /// Ends a group.
    pub(super) fn end_group(&mut self, end: RtfEnd) {
        match end {
            RtfEnd::Nothing => {}
            RtfEnd::Font | RtfEnd::Style => self.end_definition(end),
            RtfEnd::Note(place) => {
                let (paragraph, traits) = (self.state.paragraph.clone(), self.current_traits());
                if let Some(story) = self.stories.pop() {
                    self.text.notes[place].blocks = story.finish(&paragraph, &traits);
                }
            }
            RtfEnd::TextBox => {
                let (paragraph, traits) = (self.state.paragraph.clone(), self.current_traits());
                if let Some(story) = self.stories.pop() {
                    let mut blocks = story.finish(&paragraph, &traits);
                    self.story().after.append(&mut blocks);
                }
            }
            RtfEnd::Header => self.push_margin(true),
            RtfEnd::Footer => self.push_margin(false),
            RtfEnd::Field => drop(self.links.pop()),
            RtfEnd::Picture => {
                let alt = std::mem::take(&mut self.alt);
                if self.state.is_deleted {
                    return;
                }
                self.push_span(SpanContent::Image(alt));
            }
            _ => self.end_captured(end),
        }
    }

    fn end_captured(&mut self, end: RtfEnd) {
        let text = self.captured.pop().unwrap_or_default();
        match end {
            RtfEnd::Instruction => {
                if let Some((base, reading)) = eq_ruby(&text) {
                    self.push_span(SpanContent::Ruby {
                        base: base.into(),
                        reading: reading.into(),
                    });
                } else if let Some(link) = self.links.last_mut() {
                    *link = link_of(&text).or(link.take());
                }
            }
            RtfEnd::ListText => self.story().label = text.replace('\t', " ").trim().to_owned(),
            RtfEnd::Anchor => self.push_span(SpanContent::Anchor(text)),
            RtfEnd::Author => self.author = text,
            RtfEnd::PropertyName => self.property = text,
            RtfEnd::PropertyValue if self.property == "wzDescription" => self.alt = text,
            _ => {}
        }
    }

    /// Ends the definition of a font or style: its name ends at the semicolon.
    fn end_definition(&mut self, end: RtfEnd) {
        let id = self.state.defined;
        let name = match end {
            RtfEnd::Font => self.fonts.get_mut(&id).map(|font| &mut font.name),
            _ => self.styles.get_mut(&id).map(|style| &mut style.name),
        };
        if let Some(name) = name {
            let is_style = end == RtfEnd::Style;
            let plain = name.trim_end_matches(';').trim();
            *name = if is_style { plain.to_lowercase() } else { plain.to_owned() };
        }
    }
}

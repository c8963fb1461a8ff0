//! Sections of documents: pages, sheets, slides and chapters.

use crate::error::{Error, Result};

/// What the sections of a document are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SectionUnit {
    /// Pages.
    Page,
    /// Sheets of a workbook.
    Sheet,
    /// Slides.
    Slide,
    /// Chapters of a book, and messages of a mailbox.
    Chapter,
}

impl SectionUnit {
    /// All units.
    pub const ALL: [Self; 4] = [Self::Page, Self::Sheet, Self::Slide, Self::Chapter];

    /// The unit, as requests and messages name it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Sheet => "sheet",
            Self::Slide => "slide",
            Self::Chapter => "chapter",
        }
    }

    /// The error of a read that wants sections of a resource without any.
    pub fn missing(self) -> Error {
        let unit = self.word();
        Error::invalid(format!("this resource has no {unit}s; read it by bytes, lines or tokens"))
    }
}

/// The sections that a read wants. The text of these alone is then the whole of the document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SectionChoice {
    /// What they are.
    pub unit: SectionUnit,
    /// Which of them.
    pub name: SectionName,
}

impl SectionChoice {
    /// The section with this number, counted from 1.
    pub fn number(unit: SectionUnit, number: usize) -> Self {
        Self { unit, name: SectionName::Numbers(number, number) }
    }

    /// The sheet with this name, or else with this number.
    pub fn sheet(name: &str) -> Self {
        Self { unit: SectionUnit::Sheet, name: SectionName::Title(name.to_owned()) }
    }

    /// A range such as `3-5`, or one number.
    pub fn parse_range(unit: SectionUnit, text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => {
                Ok(Self { unit, name: SectionName::Numbers(first, last) })
            }
            _ => Err(format!("{text:?} is not a range of {}s such as 3-5", unit.word())),
        }
    }
}

/// How a read names sections.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SectionName {
    /// From this number to that one, both counted from 1 and included.
    Numbers(usize, usize),
    /// The one with this title; without such, a number in digits.
    Title(String),
}

/// The sections of a document, as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// What they are.
    pub unit: SectionUnit,
    /// How many there are; `None` until the document has been converted.
    pub total: Option<usize>,
    /// The first ones that have a title.
    pub titles: Vec<SectionTitle>,
}

/// The title of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionTitle {
    /// The number of the section, counted from 1.
    pub number: usize,
    /// The title.
    pub title: String,
    /// Whether the document hides the section.
    pub is_hidden: bool,
}

impl Outline {
    /// The most titles of an outline.
    pub const MAX_TITLES: usize = 100;

    /// The sections that `choice` names, counted from 0, the last one excluded.
    pub fn resolve<'a>(
        &self,
        choice: &SectionChoice,
        mut titles: impl Iterator<Item = Option<&'a str>>,
    ) -> Result<std::ops::Range<usize>> {
        let (unit, total) = (self.unit.word(), self.total.unwrap_or(0));
        if choice.unit != self.unit {
            let asked = choice.unit.word();
            let message = format!("this document has {unit}s and no {asked}s; ask for {unit}");
            return Err(Error::invalid(message));
        }
        let s = if total == 1 { "" } else { "s" };
        match &choice.name {
            SectionName::Numbers(first, last) if *first == 0 || last < first => {
                Err(Error::invalid(format!("{unit}s are counted from 1, the first one first")))
            }
            SectionName::Numbers(first, last) if *last > total => Err(Error::invalid(format!(
                "this document has {total} {unit}{s}; there is no {unit} {}",
                last.max(first)
            ))
            .with_fact("total", total.to_string())),
            SectionName::Numbers(first, last) => Ok(first - 1..*last),
            SectionName::Title(title) => {
                let found = titles.position(|own| own == Some(title));
                let number = || title.parse::<usize>().ok().filter(|at| (1..=total).contains(at));
                found.or_else(|| number().map(|number| number - 1))
                .map(|at| at..at + 1).ok_or_else(|| {
                    let known: Vec<_> =
                        self.titles.iter().map(|known| format!("{:?}", known.title)).collect();
                    let known = known.join(", ");
                    let message = format!(
                        "this document has {total} {unit}{s} and none called {title:?}; there are {known}"
                    );
                    Error::invalid(message)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Outline, SectionChoice, SectionName, SectionTitle, SectionUnit};

    #[test]
    fn sections_are_named_by_number_or_title_and_errors_say_what_there_is() {
        let titles = [Some("one"), None, Some("three")];
        let known = |number, title: &str| {
            let title = title.to_owned();
            SectionTitle { number, title, is_hidden: false }
        };
        let known = vec![known(1, "one"), known(3, "three")];
        let outline = Outline { unit: SectionUnit::Sheet, total: Some(3), titles: known };
        let resolve =
            |unit, name| outline.resolve(&SectionChoice { unit, name }, titles.into_iter());
        let numbers = SectionName::Numbers;
        assert_eq!(resolve(SectionUnit::Sheet, numbers(2, 3)).unwrap(), 1..3);
        let title = |text: &str| SectionName::Title(text.to_owned());
        assert_eq!(resolve(SectionUnit::Sheet, title("three")).unwrap(), 2..3);
        assert_eq!(resolve(SectionUnit::Sheet, title("2")).unwrap(), 1..2);
        assert!(SectionChoice::parse_range(SectionUnit::Page, "5-3").is_err());
        let failure = |unit, name| resolve(unit, name).unwrap_err().message.into_owned();
        assert!(
            failure(SectionUnit::Sheet, numbers(4, 4)).contains("3 sheets; there is no sheet 4")
        );
        assert!(failure(SectionUnit::Sheet, numbers(0, 1)).contains("counted from 1"));
        assert!(failure(SectionUnit::Sheet, title("two")).contains("\"one\", \"three\""));
        assert!(failure(SectionUnit::Page, numbers(1, 1)).contains("ask for sheet"));
    }
}

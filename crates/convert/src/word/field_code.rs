//! Field codes of word processors: what the instruction of a field means.

use std::rc::Rc;

/// Where the result of an instruction leads: `HYPERLINK "address" \l "place"`.
pub(super) fn link_of(instruction: &str) -> Option<Rc<str>> {
    let trimmed = instruction.trim();
    let rest = trimmed.get(..9).filter(|word| word.eq_ignore_ascii_case("HYPERLINK"));
    let mut rest = rest.map(|_| trimmed[9..].trim_start())?;
    let (mut address, mut place, mut is_place) = (None, None, false);
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        let is_quoted = rest.starts_with('"');
        rest = after.trim_start();
        match word {
            "\\l" if !is_quoted => is_place = true,
            // Other switches have a value that is no address.
            "\\o" | "\\t" | "\\s" if !is_quoted => {
                rest = match rest.strip_prefix('"') {
                    Some(quoted) => {
                        quoted.split_once('"').map_or("", |(_, after)| after.trim_start())
                    }
                    None => rest,
                };
            }
            _ if word.starts_with('\\') && !is_quoted => {}
            _ if is_place => place = place.or(Some(word)),
            _ => address = address.or(Some(word)),
        }
    }
    let link = match (address, place) {
        (Some(address), Some(place)) => format!("{address}#{place}"),
        (Some(address), None) => address.to_owned(),
        (None, Some(place)) => format!("#{place}"),
        (None, None) => return None,
    };
    Some(link.replace("\\\\", "\\").into())
}

/// The text and the reading that an instruction sets above it: `EQ \o\ad(\s\up 9(reading),text)`.
pub(super) fn eq_ruby(instruction: &str) -> Option<(String, String)> {
    let trimmed = instruction.trim();
    trimmed.get(..3).filter(|word| word.trim_end().eq_ignore_ascii_case("EQ"))?;
    let (_, raised) = trimmed.split_once("\\up")?;
    let (_, reading) = raised.split_once('(')?;
    let (reading, base) = reading.split_once(')')?;
    let base = base.trim_start().strip_prefix([',', ';'])?;
    let base = base.trim().strip_suffix(')')?;
    let is_plain = |text: &str| !text.is_empty() && !text.contains('\\');
    let found = (base.trim().to_owned(), reading.trim().to_owned());
    (is_plain(&found.0) && is_plain(&found.1)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::{eq_ruby, link_of};

    #[test]
    fn an_equation_that_sets_a_reading_is_ruby() {
        let instruction = " EQ \\* jc2 \\* hps10 \\o\\ad(\\s\\up 9(かんじ),漢字) ";
        assert_eq!(eq_ruby(instruction), Some(("漢字".to_owned(), "かんじ".to_owned())));
        assert_eq!(eq_ruby("EQ \\f(1,2)"), None);
    }

    #[test]
    fn a_link_is_told_from_its_instruction() {
        let links = [
            " HYPERLINK \"https://example.org/a b\" \\o \"tip\" ",
            "HYPERLINK \\l \"_Toc1\" \\h",
            "hyperlink https://example.org \\l part",
            "PAGEREF _Toc1",
        ]
        .map(|instruction| link_of(instruction).map(|link| link.to_string()));
        let wanted = ["https://example.org/a b", "#_Toc1", "https://example.org#part"];
        assert_eq!(links[..3], wanted.map(|link| Some(link.to_owned())));
        assert_eq!(links[3], None);
    }
}

//! Decoder for the sections of a document that another refdesk counted: `dev.refdesk/outline`.

use resource::{Outline, SectionTitle, SectionUnit};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutlineMembers {
    unit: String,
    total: usize,
    #[serde(default)]
    titles: Vec<TitleMembers>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TitleMembers {
    number: usize,
    title: String,
    #[serde(default)]
    hidden: bool,
}

/// The outline; `None` if it is none that refdesk would write.
pub(super) fn parse_outline(raw: &RawValue) -> Option<Outline> {
    let members: OutlineMembers = serde_json::from_str(raw.get()).ok()?;
    let unit = SectionUnit::ALL.into_iter().find(|unit| unit.word() == members.unit)?;
    let title =
        |TitleMembers { number, title, hidden }| SectionTitle { number, title, is_hidden: hidden };
    let titles: Vec<SectionTitle> = members.titles.into_iter().map(title).collect();
    let is_ours = titles.len() <= Outline::MAX_TITLES;
    is_ours.then_some(Outline { unit, total: Some(members.total), titles })
}

#[cfg(test)]
mod tests {
    use resource::SectionUnit;
    use serde_json::value::RawValue;

    use super::parse_outline;

    #[test]
    fn an_outline_is_read_as_refdesk_writes_it_and_any_other_is_none() {
        let parsed = |text: &str| parse_outline(&RawValue::from_string(text.to_owned()).unwrap());
        let outline = parsed(
            r#"{"unit":"sheet","total":2,"titles":[{"number":2,"title":"Sums","hidden":true}]}"#,
        )
        .unwrap();
        assert_eq!((outline.unit, outline.total), (SectionUnit::Sheet, Some(2)));
        assert_eq!((outline.titles[0].number, outline.titles[0].is_hidden), (2, true));
        assert!(parsed(r#"{"unit":"page","total":500}"#).is_some());
        let title = r#"{"number":1,"title":"a"}"#;
        let many = format!(r#"{{"unit":"page","total":1,"titles":[{}]}}"#, [title; 101].join(","));
        for odd in ["[]", "3", r#"{"unit":"verse","total":1}"#, r#"{"unit":"page"}"#, &many] {
            assert_eq!(parsed(odd), None, "{odd}");
        }
    }
}

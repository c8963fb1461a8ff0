//! The weights of the ranking, in one table. docs/search.md shows them to users.

/// How much a match counts by its field.
pub(crate) const BODY: f32 = 1.0;
pub(crate) const DICTIONARY: f32 = 1.5;
pub(crate) const TITLE: f32 = 1.2;
pub(crate) const HEADING: f32 = 0.35;
pub(crate) const PATH: f32 = 0.6;

/// How much a phrase of neighbouring words counts beside the words themselves.
pub(crate) const PHRASE: f32 = 0.3;
/// How much more a passage counts that has all terms of the query, instead of none.
pub(crate) const TERM_COVERAGE: f32 = 1.5;
/// The same for the lead of its resource: name, title and what it is about.
pub(crate) const LEAD_COVERAGE: f32 = 1.0;
/// How much of a term counts as there, at least, where another word for it is there.
pub(crate) const SYNONYM_COVERAGE: f32 = 0.6;
/// How much the further passages of a resource add to its best one.
pub(crate) const FURTHER_PASSAGES: f32 = 0.03;

/// How much a rank by meaning counts beside a rank by words: of what a resource is about as a whole,
/// and of its passages.
pub(crate) const MEANING_SUMMARY: f32 = 0.15;
pub(crate) const MEANING_PASSAGE: f32 = 0.15;
/// The constant of the fusion by rank: the smaller it is, the more the first ranks count.
pub(crate) const RANK_CONSTANT: f32 = 2.0;

/// A priority of 1 adds this part of the score, a priority of 0 takes it away.
pub(crate) const PRIORITY: f32 = 0.2;
/// A resource that changed just now gains this part of its score, one that changed a year ago
/// half of it.
pub(crate) const RECENCY: f32 = 0.05;
pub(crate) const RECENCY_HALF_LIFE_SECONDS: f32 = 365.0 * 86_400.0;

#[cfg(test)]
mod tests {
    /// Users read the weights in the documentation.
    #[test]
    fn the_documentation_has_these_weights() {
        let page = include_str!("../../../docs/search.md");
        let rows: Vec<(&str, &str)> = page
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
            .collect();
        for (name, value) in [
            ("text", super::BODY),
            ("words of a dictionary, in languages without spaces", super::DICTIONARY),
            ("title, name and description", super::TITLE),
            ("headings above the passage", super::HEADING),
            ("path", super::PATH),
            ("neighbours in the query that are neighbours in the text", super::PHRASE),
            ("each further passage of the resource", super::FURTHER_PASSAGES),
            ("rank by the meaning of the whole, beside a rank by words", super::MEANING_SUMMARY),
            ("rank by the meaning of a passage, beside a rank by words", super::MEANING_PASSAGE),
            ("constant of the fusion by rank", super::RANK_CONSTANT),
        ] {
            assert!(rows.contains(&(name, format!("{value:?}").as_str())), "{name}: {value:?}");
        }
        let all = format!("{:?} times as much", 1.0 + super::TERM_COVERAGE);
        assert!(rows.contains(&("all words of the query in the passage, instead of none", &all)));
        let lead = format!("{:?} times as much", 1.0 + super::LEAD_COVERAGE);
        assert!(rows.contains(&("all words of the query in the lead of the resource", &lead)));
        let (least, most) = (1.0 - super::PRIORITY, 1.0 + super::PRIORITY);
        let priority = format!("{least:?} for priority 0 to {most:?} for priority 1");
        assert!(rows.contains(&("priority", &priority)));
        let now = format!("{:?} for now, half of the gain after a year", 1.0 + super::RECENCY);
        assert!(rows.contains(&("recency", &now)), "{now}");
    }
}

//! The rules: what is checked, how bad a break is, where the specification says so, what to do.

mod changes;
mod http;
mod http_sse;
mod lifecycle;
mod lists;
mod messages;
mod metadata;
mod paths;
mod reads;
mod stateless;
mod tools;

/// How bad it is if a rule is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DoctorSeverity {
    /// The specification says MUST, or clients will fail.
    Error,
    /// The specification says SHOULD, or some clients will stumble.
    Warning,
    /// Nothing is wrong; it could be better.
    Advice,
}

impl DoctorSeverity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Advice => "advice",
        }
    }
}

/// One rule.
#[derive(Debug)]
pub struct DoctorRule {
    /// The id, which `--explain` takes.
    pub id: &'static str,
    /// What a server does right, in one line.
    pub title: &'static str,
    /// How bad a break is.
    pub severity: DoctorSeverity,
    /// Where the rule stands.
    pub clause: RuleClause,
    /// Why it matters, and how it is checked.
    pub explanation: &'static str,
    /// What to do about it.
    pub next_step: &'static str,
}

/// A place in the specification, or a reason of our own.
#[derive(Debug)]
pub struct RuleClause {
    /// The revision of the page, a date; or another source, such as an RFC.
    pub source: &'static str,
    /// The page and its section.
    pub section: &'static str,
    /// The path below the revision; empty for sources that are not the specification.
    pub path: &'static str,
}

impl RuleClause {
    /// The URL, where the source is the specification.
    pub fn url(&self) -> Option<String> {
        let base = "https://modelcontextprotocol.io/specification";
        (!self.path.is_empty()).then(|| format!("{base}/{}/{}", self.source, self.path))
    }
}

const TABLES: [&[DoctorRule]; 11] = [
    messages::RULES,
    lifecycle::RULES,
    lists::RULES,
    reads::RULES,
    paths::RULES,
    changes::RULES,
    metadata::RULES,
    tools::RULES,
    stateless::RULES,
    http::RULES,
    http_sse::RULES,
];

/// All rules, in the order in which they are shown.
pub fn all_rules() -> impl Iterator<Item = &'static DoctorRule> {
    TABLES.into_iter().flatten()
}

/// The rule with an id.
pub fn find_rule(id: &str) -> Option<&'static DoctorRule> {
    all_rules().find(|rule| rule.id == id)
}

const fn spec(source: &'static str, section: &'static str, path: &'static str) -> RuleClause {
    RuleClause { source, section, path }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all_rules;

    #[test]
    fn every_rule_has_an_id_of_its_own_and_says_everything() {
        let mut ids = BTreeSet::new();
        for rule in all_rules() {
            assert!(ids.insert(rule.id), "{} is there twice", rule.id);
            assert!(rule.id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
            for text in [rule.title, rule.explanation, rule.next_step, rule.clause.section] {
                assert!(!text.trim().is_empty() && !text.ends_with(' '), "{}", rule.id);
            }
        }
        assert!(ids.len() >= 40, "{}", ids.len());
    }
}

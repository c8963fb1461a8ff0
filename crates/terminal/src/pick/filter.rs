//! Filters of the picker, and the panel in which a person fills them in.

use resource::Role;

use crate::pick::node::PickNode;
use crate::pick::tree::PickTree;

/// The longest text of a field.
const MAX_FIELD: usize = 100;

/// Conditions that a resource in the list meets. Empty fields let everything pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PickFilter {
    /// What a MIME type contains.
    pub(crate) mime: String,
    pub(crate) audience: Option<Role>,
    /// The least priority, as it is typed.
    pub(crate) priority: String,
    /// What the name of the mount contains.
    pub(crate) mount: String,
}

/// A field of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum FilterField {
    #[default]
    Mime,
    Audience,
    Priority,
    Mount,
}

impl FilterField {
    pub(crate) const ALL: [Self; 4] = [Self::Mime, Self::Audience, Self::Priority, Self::Mount];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Mime => "type",
            Self::Audience => "audience",
            Self::Priority => "priority",
            Self::Mount => "mount",
        }
    }

    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Mime => "markdown, image/",
            Self::Audience => "Left and Right choose",
            Self::Priority => "at least, 0 to 1",
            Self::Mount => "a part of its name",
        }
    }

    /// The field `steps` further down; the last is followed by the first.
    pub(crate) fn moved(self, steps: usize) -> Self {
        let at = Self::ALL.iter().position(|field| *field == self).unwrap_or_default();
        Self::ALL[(at + steps) % Self::ALL.len()]
    }
}

impl PickFilter {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What the field shows.
    pub(crate) fn value(&self, field: FilterField) -> &str {
        match field {
            FilterField::Mime => &self.mime,
            FilterField::Priority => &self.priority,
            FilterField::Mount => &self.mount,
            FilterField::Audience => match self.audience {
                None => "any",
                Some(Role::User) => "user",
                Some(Role::Assistant) => "assistant",
            },
        }
    }

    fn text(&mut self, field: FilterField) -> Option<&mut String> {
        match field {
            FilterField::Mime => Some(&mut self.mime),
            FilterField::Priority => Some(&mut self.priority),
            FilterField::Mount => Some(&mut self.mount),
            FilterField::Audience => None,
        }
    }

    pub(crate) fn push(&mut self, field: FilterField, letter: char) {
        let is_fit = field != FilterField::Priority || letter.is_ascii_digit() || letter == '.';
        if let Some(text) = self.text(field).filter(|text| is_fit && text.len() < MAX_FIELD) {
            text.push(letter);
        }
    }

    pub(crate) fn pop(&mut self, field: FilterField) {
        if let Some(text) = self.text(field) {
            text.pop();
        }
    }

    pub(crate) fn clear(&mut self, field: FilterField) {
        match self.text(field) {
            Some(text) => text.clear(),
            None => self.audience = None,
        }
    }

    pub(crate) fn next_audience(&mut self, is_forward: bool) {
        let order = [None, Some(Role::User), Some(Role::Assistant)];
        let at = order.iter().position(|role| *role == self.audience).unwrap_or_default();
        self.audience = order[(at + if is_forward { 1 } else { 2 }) % 3];
    }

    /// Whether a node passes. A condition on what a node does not say fails, but for the audience:
    /// a resource without one is for everybody.
    pub(crate) fn matches(&self, tree: &PickTree, node: &PickNode) -> bool {
        let contains = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        let has_mime = || node.mime.as_deref().is_some_and(|mime| contains(mime, &self.mime));
        let is_for = |role: Role| node.audience.is_empty() || node.audience.contains(&role);
        let least: Option<f64> = self.priority.parse().ok();
        (self.mime.is_empty() || has_mime())
            && self.audience.is_none_or(is_for)
            && least.is_none_or(|least| node.priority.is_some_and(|own| own >= least))
            && (self.mount.is_empty() || contains(&tree.get(node.mount).name, &self.mount))
    }

    /// The filter in words, for the status line.
    pub(crate) fn words(&self) -> String {
        let fields = FilterField::ALL.iter().filter(|field| match field {
            FilterField::Audience => self.audience.is_some(),
            field => !self.value(**field).is_empty(),
        });
        let words: Vec<String> =
            fields.map(|field| format!("{} {}", field.label(), self.value(*field))).collect();
        words.join(", ")
    }
}

//! Originals of documents that hold secrets: whether they are given, by what was masked in their text.

use std::sync::Arc;

use convert::{DocumentKind, Form};
use resource::{Body, Content, Context, Error, ErrorKind, Part, Reading, Resource, Result};

use super::RenderedProvider;
use super::describe::kind_of;
use super::forms::{FormFailure, SecretVerdict};

/// Why an original is not given.
pub(in crate::layers) const WITHHELD: &str =
    "the original is withheld: its text holds secrets, which are masked here";

/// Why an original is not given, and what happens with its text.
pub(super) enum OriginalHold {
    /// A secret in its text is masked.
    HoldsSecrets,
    /// Its text, or a part of it, could not be searched for secrets.
    Unsearched(FormFailure),
}

impl OriginalHold {
    /// The words for a reader.
    pub(super) fn words(&self) -> String {
        match self {
            Self::HoldsSecrets => WITHHELD.to_owned(),
            Self::Unsearched(failure) => {
                let why = &failure.message;
                format!("the original is withheld: it cannot be searched for secrets: {why}")
            }
        }
    }

    /// The refusal of an original that has no text in its place, or only by another request.
    pub(super) fn refusal(&self, instead: Option<Form>) -> Error {
        let words = match instead {
            Some(form) => format!("{}; read it as {}", self.words(), form.mime()),
            None => self.words(),
        };
        let kind = match self {
            Self::Unsearched(failure) if failure.is_passing() => ErrorKind::Unavailable,
            _ => ErrorKind::Unsupported,
        };
        Error::new(kind, words)
    }
}

impl RenderedProvider {
    /// Why the original that `document` names must not be given; `None` if it may.
    pub(super) async fn hold_original(
        &self,
        ctx: &Context,
        document: &SearchedDocument,
    ) -> Option<OriginalHold> {
        if !self.forms.masks(&document.original.uri) {
            return None;
        }
        match self.forms.search(ctx, &document.original, document.kind).await {
            SecretVerdict::Clean => None,
            SecretVerdict::HoldsSecrets => Some(OriginalHold::HoldsSecrets),
            SecretVerdict::Unsearched(failure) => Some(OriginalHold::Unsearched(failure)),
        }
    }

    /// Refuses a reading of an original that must not be given.
    pub(super) async fn check_original(&self, ctx: &Context, reading: Reading) -> Result<Reading> {
        let documents: Vec<_> = match &reading.content {
            Content::Parts(parts) => parts.iter().filter_map(SearchedDocument::of_part).collect(),
            Content::Collection(_) | Content::InputRequired(_) => Vec::new(),
        };
        for document in documents {
            if let Some(hold) = self.hold_original(ctx, &document).await {
                let form = document.kind.forms().first().copied();
                let form = form.filter(|_| matches!(hold, OriginalHold::HoldsSecrets));
                return Err(hold.refusal(form).about(&document.original.uri));
            }
        }
        Ok(reading)
    }
}

/// A document whose original is judged by its text.
pub(super) struct SearchedDocument {
    original: Arc<Resource>,
    kind: DocumentKind,
}

impl SearchedDocument {
    /// The document that a part is; `None` if it is judged as it is. The layer that masks texts has
    /// masked an original that is a text, but not what only a converter reads in it.
    pub(super) fn of_part(part: &Part) -> Option<Self> {
        let kind = kind_of(&part.resource)?;
        let is_judged = kind.is_document() || matches!(part.body, Body::Blob(_));
        is_judged.then(|| Self { original: Arc::clone(&part.resource), kind })
    }
}

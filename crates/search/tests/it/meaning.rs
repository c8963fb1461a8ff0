//! Search by meaning, with a model that knows a few concepts.

use std::sync::Arc;

use async_trait::async_trait;
use embedding::{EmbedError, EmbedKind, Embedder};
use search::{SearchMode, SearchQuery};
use testkit::{MemoryProvider, local_context};

use crate::{Indexed, open_index};

/// Words of one line mean the same.
const CONCEPTS: [&[&str]; 3] =
    [&["delete", "remove", "bin"], &["boat", "ship", "vessel"], &["money", "coin", "cash"]];

/// A model whose vectors count concepts.
struct ConceptModel {
    is_broken: bool,
}

#[async_trait]
impl Embedder for ConceptModel {
    fn fingerprint(&self) -> &str {
        "concepts"
    }

    fn dimensions(&self) -> usize {
        CONCEPTS.len()
    }

    async fn embed(&self, texts: &[String], _: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.is_broken {
            return Err(EmbedError::Invalid("the model is gone".to_owned()));
        }
        let vector = |text: &String| -> Vec<f32> {
            let text = text.to_lowercase();
            let count = |words: &&[&str]| words.iter().filter(|word| text.contains(*word)).count();
            CONCEPTS.iter().map(|words| count(words) as f32).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn provider() -> MemoryProvider {
    MemoryProvider::new()
        .text("a:/files", "How to remove what nobody needs")
        .text("a:/harbour", "Every vessel in the harbour")
        .text("a:/bank", "Coins and cash")
}

async fn indexed(is_broken: bool) -> (tempfile::TempDir, Indexed) {
    let folder = tempfile::tempdir().unwrap();
    let index = open_index(Some(folder.path()));
    assert!(!index.has_meaning());
    index.enable_meaning(Arc::new(ConceptModel { is_broken })).unwrap();
    assert!(index.has_meaning());
    let indexed = Indexed::keeping(index, Arc::new(provider())).await;
    (folder, indexed)
}

fn query(text: &str, mode: SearchMode) -> SearchQuery {
    SearchQuery { text: text.to_owned(), filter: None, mode, skip: 0, limit: 10 }
}

async fn found(index: &Indexed, text: &str, mode: SearchMode) -> Vec<String> {
    let results = index.service.search(&local_context(), &query(text, mode)).await.unwrap();
    results.hits.iter().map(|hit| hit.resource.uri.to_string()).collect()
}

#[tokio::test]
async fn what_shares_no_word_is_found_by_its_meaning() {
    let (_folder, index) = indexed(false).await;
    assert!(found(&index, "a ship", SearchMode::Words).await.is_empty());
    assert_eq!(found(&index, "a ship", SearchMode::Meaning).await[0], "a:/harbour");
    assert_eq!(found(&index, "a ship", SearchMode::Both).await[0], "a:/harbour");
    // A hit of both kinds is before a hit of one.
    let both = found(&index, "money of the harbour vessel", SearchMode::Both).await;
    assert_eq!(both[0], "a:/harbour", "{both:?}");
}

#[tokio::test]
async fn a_resource_that_is_gone_has_no_vector() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_index(Some(folder.path()));
    index.enable_meaning(Arc::new(ConceptModel { is_broken: false })).unwrap();
    let index = Indexed::keeping(index, Arc::new(provider().with_watches())).await;
    index.provider.write("a:/harbour", "Nothing but water");
    index.settles("water", &["a:/harbour"]).await;
    let near = found(&index, "a ship", SearchMode::Meaning).await;
    assert_ne!(near.first().map(String::as_str), Some("a:/harbour"), "{near:?}");
    index.provider.remove("a:/harbour");
    index.settles("water", &[]).await;
    assert!(!found(&index, "a ship", SearchMode::Meaning).await.contains(&"a:/harbour".to_owned()));
}

#[tokio::test]
async fn without_a_model_meaning_is_an_error_and_both_finds_by_words() {
    let index = Indexed::new(provider(), None).await;
    let asked = query("a ship", SearchMode::Meaning);
    let error = index.service.search(&local_context(), &asked).await.unwrap_err();
    assert!(error.message.contains("no model"), "{error}");
    assert_eq!(found(&index, "harbour", SearchMode::Both).await, ["a:/harbour"]);
}

#[tokio::test]
async fn a_model_that_fails_costs_meaning_and_not_words() {
    let (_folder, index) = indexed(true).await;
    assert_eq!(found(&index, "harbour", SearchMode::Both).await, ["a:/harbour"]);
    let asked = query("a ship", SearchMode::Meaning);
    assert!(index.service.search(&local_context(), &asked).await.is_err());
    let fault = index.index.coverage().meaning_fault;
    assert!(fault.is_some_and(|fault| fault.contains("the model is gone")));
}

#[tokio::test]
async fn exclusions_and_phrases_hold_for_what_is_found_by_meaning() {
    let (_folder, index) = indexed(false).await;
    for mode in [SearchMode::Meaning, SearchMode::Both] {
        assert!(found(&index, "a ship -harbour", mode).await.is_empty(), "{mode:?}");
        assert!(found(&index, "ship \"in the bank\"", mode).await.is_empty(), "{mode:?}");
        let phrase = found(&index, "ship \"in the harbour\"", mode).await;
        assert_eq!(phrase, ["a:/harbour"], "{mode:?}");
    }
}

/// The beginning of a text says what it is about, and counts for the whole of it.
#[tokio::test]
async fn a_resource_is_found_by_what_it_is_about_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let index = open_index(Some(folder.path()));
    index.enable_meaning(Arc::new(ConceptModel { is_broken: false })).unwrap();
    let filler = "Cash and coins, and where to remove them.\n\n".repeat(40);
    let about = format!("# Vessels\n\nAll about every vessel.\n\n## More\n\n{filler}");
    let aside = format!("# Money\n\nAll about cash.\n\n## More\n\n{filler}\nA vessel.\n");
    let provider = MemoryProvider::new().text("a:/about.md", &about).text("a:/aside.md", &aside);
    let index = Indexed::keeping(index, Arc::new(provider)).await;
    let both = found(&index, "ship", SearchMode::Both).await;
    assert_eq!(both.first().map(String::as_str), Some("a:/about.md"), "{both:?}");
}

#[tokio::test]
async fn a_model_that_cannot_be_used_is_said_beside_what_words_find() {
    let index = open_index(None);
    index.refuse_meaning("the model is of another kind".to_owned());
    let index = Indexed::keeping(index, Arc::new(provider())).await;
    let both = query("harbour", SearchMode::Both);
    let results = index.service.search(&local_context(), &both).await.unwrap();
    assert_eq!(results.hits.len(), 1);
    assert_eq!(results.without_meaning.as_deref(), Some("the model is of another kind"));
    let asked = query("harbour", SearchMode::Meaning);
    let error = index.service.search(&local_context(), &asked).await.unwrap_err();
    assert!(error.message.contains("of another kind"), "{error}");
    let words = query("harbour", SearchMode::Words);
    let results = index.service.search(&local_context(), &words).await.unwrap();
    assert_eq!(results.without_meaning, None);
}

#[tokio::test]
async fn what_was_indexed_without_a_model_is_found_by_meaning_once_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(provider());
    let reopened = async |has_model: bool| {
        let index = open_index(Some(folder.path()));
        if has_model {
            index.enable_meaning(Arc::new(ConceptModel { is_broken: false })).unwrap();
        }
        Indexed::keeping(index, Arc::clone(&shared)).await
    };
    let released = async |index: Indexed| {
        drop(index);
        let lock = std::fs::File::open(folder.path().join("lock")).unwrap();
        tokio::task::spawn_blocking(move || lock.lock().unwrap()).await.unwrap();
    };
    released(reopened(false).await).await;
    let index = reopened(true).await;
    assert_eq!(found(&index, "a ship", SearchMode::Meaning).await, ["a:/harbour"]);
    released(index).await;
    // A text that changes while there is no model has a vector of its earlier version.
    shared.write("a:/bank", "Every boat");
    released(reopened(false).await).await;
    let index = reopened(true).await;
    let mut near = found(&index, "a ship", SearchMode::Meaning).await;
    near.sort_unstable();
    assert_eq!(near, ["a:/bank", "a:/harbour"]);
}

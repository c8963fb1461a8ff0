//! Tests of the work of the redaction layer: searches, and the memory of a request.

use std::sync::Arc;

use redaction::RedactionScope;
use resource::{ErrorKind, Provider as _, ReadRequest};
use testkit::MemoryProvider;

use crate::redacted::{CONFIG, PASSWORD, redacted, uri};

#[tokio::test]
async fn a_search_finds_what_is_given_and_nothing_in_a_secret() {
    let text = format!("password = \"{PASSWORD}\"\nowner = \"horse club\"\npart = \"correct\"\n");
    let plain = format!("password = \"{PASSWORD}\"\nhost = \"db\"\n");
    let memory = MemoryProvider::new()
        .text("file:///both.toml", &text)
        .text("file:///only.toml", &plain)
        .text("file:///link.txt", &plain)
        .with_description(|resource| resource.link_target = Some("only.toml".into()))
        .text("file:///notes.txt", "the horse is correct\n")
        .with_search();
    let memory = Arc::new(memory);
    for scope in [RedactionScope::Everything, RedactionScope::SensitiveFiles] {
        let provider = redacted(scope, Arc::clone(&memory));
        let ctx = testkit::local_context();
        let found = async |query: &str| {
            let (query, filter, cursor, limit) = (query.to_owned(), None, None, 9);
            let request = resource::SearchRequest { query, filter, cursor, limit };
            let page = provider.facets().search.unwrap().search(&ctx, &request).await.unwrap();
            let told = page.items.iter().map(|hit| {
                let passage = hit.passage.as_ref().map(|passage| passage.text.clone());
                (hit.uri.as_str().to_owned(), passage)
            });
            told.collect::<Vec<_>>()
        };
        let hit = |of: &str, passage: Option<&str>| (of.to_owned(), passage.map(str::to_owned));
        for secret in [PASSWORD, "battery", "batt"] {
            assert_eq!(found(secret).await, [], "{secret}");
        }
        // The first place is in a secret, and another one is not.
        let (both, notes) = ("file:///both.toml", "file:///notes.txt");
        let of_both = found("horse").await;
        assert_eq!(of_both.len(), 2, "{of_both:?}");
        assert!(of_both.iter().all(|(_, passage)| passage.as_deref() != Some(PASSWORD)));
        assert_eq!(of_both[1], hit(notes, Some("horse")));
        assert_eq!(found("horse club").await, [hit(both, Some("horse club"))]);
        assert_eq!(found("password").await.len(), 3, "keys are given");
        // A passage that reaches into a secret has the mask in its place.
        let across = format!("password = \"{PASSWORD}\"\nhost");
        assert_eq!(found(&across).await, [], "its words are in the secret");
    }
}

/// Counts bytes up to a limit.
struct Meter {
    limit: usize,
    held: std::sync::atomic::AtomicUsize,
    most: std::sync::atomic::AtomicUsize,
}

struct Held(Arc<Meter>, usize);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.held.fetch_sub(self.1, std::sync::atomic::Ordering::Relaxed);
    }
}

struct SharedMeter(Arc<Meter>);

impl resource::MemoryMeter for SharedMeter {
    fn hold(&self, bytes: usize) -> Option<resource::HeldMemory> {
        use std::sync::atomic::Ordering::Relaxed;
        let now = self.0.held.fetch_add(bytes, Relaxed) + bytes;
        self.0.most.fetch_max(now, Relaxed);
        let held = Held(Arc::clone(&self.0), bytes);
        (now <= self.0.limit).then(|| Box::new(held) as resource::HeldMemory)
    }
}

#[tokio::test]
async fn a_text_counts_as_memory_while_it_is_masked() {
    use std::sync::atomic::Ordering::Relaxed;
    let text = format!("{}password = \"{PASSWORD}\"\n", "# a line\n".repeat(20_000));
    let size = text.len();
    let memory = Arc::new(MemoryProvider::new().text(CONFIG, &text));
    for (limit, fits) in [(size / 2, false), (size + size / 2, false), (4 * size, true)] {
        let provider = redacted(RedactionScope::Everything, Arc::clone(&memory));
        let (held, most) = (Default::default(), Default::default());
        let meter = Arc::new(Meter { limit, held, most });
        let ctx = testkit::local_context().with_memory(Arc::new(SharedMeter(Arc::clone(&meter))));
        let whole = ReadRequest::whole(u64::MAX);
        let read = provider.read(&ctx, &uri(CONFIG), &whole).await;
        assert_eq!(read.is_ok(), fits, "{limit} of {size}");
        if let Err(error) = read {
            assert_eq!(error.kind, ErrorKind::Unavailable);
            assert!(error.message.contains("memory limit"), "{error}");
        } else {
            assert!(meter.most.load(Relaxed) >= 2 * size, "the text and the masked one");
        }
        assert_eq!(meter.held.load(Relaxed), 0, "nothing counts when the request is over");
    }
}

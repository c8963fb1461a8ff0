//! Tests of pages that are broken, huge or many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use resource::{
    Context, Facets, HealthState, Page, PageRequest, Provider, ReadRequest, Reading, Resource,
    Result, Template, Uri, Window,
};
use testkit::local_context;

use super::{DocsTree, names, read, stat, try_list, uri};
use crate::docs::{Documentation, Options};

/// Counts the bytes that a provider is asked for.
struct Counted {
    inner: Arc<dyn Provider>,
    reads: AtomicUsize,
    longest: AtomicUsize,
}

#[async_trait]
impl Provider for Counted {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> Result<Page<Resource>> {
        self.inner.list(ctx, parent, paging).await
    }

    async fn templates(&self, ctx: &Context, paging: &PageRequest) -> Result<Page<Template>> {
        self.inner.templates(ctx, paging).await
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> Result<Arc<Resource>> {
        self.inner.stat(ctx, uri).await
    }

    async fn read(&self, ctx: &Context, uri: &Uri, request: &ReadRequest) -> Result<Reading> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let length = match request.window {
            Window::Whole { .. } => usize::MAX,
            Window::Part { length, .. } => length as usize,
        };
        self.longest.fetch_max(length, Ordering::Relaxed);
        self.inner.read(ctx, uri, request).await
    }

    fn facets(&self) -> Facets<'_> {
        self.inner.facets()
    }
}

fn counted(tree: &DocsTree) -> (Arc<Counted>, Documentation) {
    let options = tree.options(&[]);
    let (reads, longest) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let files = Arc::new(Counted { inner: options.files, reads, longest });
    let served = Documentation::new(Options { files: files.clone(), ..tree.options(&[]) }).unwrap();
    (files, served)
}

#[tokio::test]
async fn broken_front_matter_is_an_error_of_its_page_and_the_rest_is_served() {
    let tree = DocsTree::of(&[
        ("broken.md", "---\ntitle: [a\nlang: }\n---\n# 題名\n\n本文です。\n"),
        ("wrong.md", "---\ntitle: W\nlang: jp\npriority: high\n---\n# W\n"),
        ("lies.en.md", "---\nlang: ja\n---\n# 嘘\n"),
        ("good.md", "# Good\n"),
    ]);
    let served = tree.serve(&[]);
    assert_eq!(names(&served, "").await[..4], ["broken.md", "good.md", "lies.en.md", "wrong.md"]);
    let broken = stat(&served, "file:///broken.md").await;
    assert_eq!(broken.title.as_deref(), Some("題名"), "the first heading stands in");
    assert!(broken.notes[0].starts_with("front matter, line "), "{:?}", broken.notes);
    assert!(read(&served, "file:///broken.md").await.contains("本文です。"));
    let wrong = stat(&served, "file:///wrong.md").await;
    assert!(wrong.notes.iter().any(|note| note.contains("did you mean `ja`")), "{:?}", wrong.notes);
    assert!(wrong.notes.iter().any(|note| note.contains("from 0 to 1")), "{:?}", wrong.notes);
    assert!(stat(&served, "file:///lies.en.md").await.notes[0].contains("path says `en`"));
    let health = || served.facets().health.unwrap().health(&local_context());
    assert_eq!(health().state, HealthState::Degraded);
    let message = health().message.unwrap();
    assert!(
        message.starts_with("3 pages have errors: ")
            && message.contains("file:///manual/broken.md"),
        "{message}"
    );
    std::fs::remove_file(tree.at("wrong.md")).unwrap();
    names(&served, "").await;
    assert!(!health().message.unwrap().contains("wrong.md"), "it is gone");
    for name in ["broken.md", "lies.en.md"] {
        tree.write(name, "# Mended\n");
        stat(&served, &format!("file:///{name}")).await;
    }
    assert_eq!(health().state, HealthState::Ready, "{:?}", health().message);
}

#[tokio::test]
async fn a_page_of_50_mb_is_listed_by_its_head_and_read_in_windows() {
    let tree = DocsTree::of(&[]);
    let mut text = String::from("# 大きい\n\n説明。\n\n## 始め\n\n");
    let line = "これは長い文書の一行です。\n";
    text.push_str(&line.repeat((25 << 20) / line.len()));
    text.push_str("\n## 中\n");
    text.push_str(&line.repeat((25 << 20) / line.len()));
    tree.write("big.md", &text);
    let (files, served) = counted(&tree);
    assert_eq!(stat(&served, "file:///big.md").await.title.as_deref(), Some("大きい"));
    assert_eq!(
        (files.reads.load(Ordering::Relaxed), files.longest.load(Ordering::Relaxed)),
        (1, 4096)
    );
    let page = served
        .list(&local_context(), Some(&uri("file:///big.md")), &PageRequest::first(10))
        .await
        .unwrap();
    assert_eq!(page.items.len(), 1, "the sections of the first 16 MiB");
    assert!(page.absent[0].reason.contains("16 MiB"), "{:?}", page.absent);
    assert!(files.longest.load(Ordering::Relaxed) <= 256 << 10, "it is never held as a whole");
    let window = Window::Part { offset: 40 << 20, length: 100, etag: None };
    assert!(served.read(&local_context(), &uri("file:///big.md"), &window.into()).await.is_ok());
}

#[tokio::test]
async fn a_list_reads_the_head_of_its_own_pages_and_of_no_other() {
    let tree = DocsTree::of(&[]);
    std::fs::create_dir(tree.at("many")).unwrap();
    let text = format!("# Page\n\n{}", "text\n".repeat(2_000));
    for number in 0..3_000 {
        std::fs::write(tree.at(&format!("many/{number:06}.md")), &text).unwrap();
    }
    let (files, served) = counted(&tree);
    let folder = uri("file:///many");
    let page =
        served.list(&local_context(), Some(&folder), &PageRequest::first(100)).await.unwrap();
    assert_eq!(page.items.len(), 100);
    assert_eq!(
        (files.reads.load(Ordering::Relaxed), files.longest.load(Ordering::Relaxed)),
        (100, 4096)
    );
    let next = PageRequest::new(page.next, 100);
    served.list(&local_context(), Some(&folder), &next).await.unwrap();
    assert_eq!(files.reads.load(Ordering::Relaxed), 200);
    served.list(&local_context(), Some(&folder), &PageRequest::first(100)).await.unwrap();
    assert_eq!(files.reads.load(Ordering::Relaxed), 200, "what did not change is not read again");
}

#[tokio::test]
async fn odd_names_and_endless_front_matter_do_no_harm() {
    let tree = DocsTree::of(&[
        ("§odd.md", "# Odd\n"),
        ("a.md", &format!("---\n{}", "x: y\n".repeat(40_000))),
        ("b.md", &format!("---\ntitle: long\n{}---\n# B\n", "x: y\n".repeat(2_000))),
        (".ja.md", "x"),
    ]);
    tree.write("bad.1.gz", [0x1f, 0x8b, 8, 0, 1, 2, 3]);
    tree.write("lib.so.1", [0_u8, 1, 2, 255, 254]);
    let served = tree.serve(&[]);
    assert_eq!(read(&served, "file:///%C2%A7odd.md").await, "# Odd\n", "a file may be called so");
    assert!(stat(&served, "file:///a.md").await.notes[0].contains("64 KiB"));
    assert_eq!(stat(&served, "file:///b.md").await.title.as_deref(), Some("long"));
    let error = served
        .read(&local_context(), &uri("file:///bad.1.gz"), &ReadRequest::whole(100))
        .await
        .unwrap_err();
    assert!(error.message.contains("cannot be read"), "{error}");
    assert!(try_list(&served, "").await.unwrap().len() >= 5);
}

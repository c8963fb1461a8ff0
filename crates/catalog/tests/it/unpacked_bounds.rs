//! Tests of the archive layer with hostile archives: bombs, broken ones, and access rules.

use std::sync::Arc;

use catalog::layers::Layer;
use catalog::layers::allowed::Allowed;
use catalog::layers::unpacked::Unpacked;
use catalog::{AccessRule, AccessRules, Address};
use resource::{ErrorKind, PageRequest, Provider};

use crate::unpacked::{
    ARCHIVE, failure, gzip, names, tar_of, text, unpacked, uri, with_archive, zip_of,
};

#[tokio::test]
async fn a_damaged_archive_says_so_and_is_still_given_as_bytes() {
    let good = zip_of(&[("a.txt", b"hello")]);
    for bytes in [&good[..good.len() - 10], b"not a zip at all", b""] {
        let provider = unpacked(with_archive("a.zip", bytes));
        let ctx = testkit::local_context();
        let error = provider.list(&ctx, Some(&uri(ARCHIVE)), &PageRequest::first(9)).await;
        let error = error.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert!(error.message.contains("damaged"), "{}", error.message);
        let (kind, message) = failure(&*provider, "file:///app/a.zip/a.txt").await;
        assert_eq!(kind, ErrorKind::Unsupported, "{message}");
        assert!(provider.stat(&ctx, &uri(ARCHIVE)).await.is_ok());
    }
}

#[tokio::test]
async fn a_protected_member_is_listed_and_refused() {
    let mut bytes = zip_of(&[("a.txt", b"hello"), ("b.txt", b"free")]);
    let table = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    bytes[table + 8] |= 1;
    let provider = unpacked(with_archive("a.zip", &bytes));
    assert_eq!(names(&*provider, ARCHIVE).await.len(), 2);
    let (kind, message) = failure(&*provider, "file:///app/a.zip/a.txt").await;
    assert_eq!(kind, ErrorKind::Unsupported);
    assert!(message.contains("protected by a password"), "{message}");
    assert_eq!(text(&*provider, "file:///app/a.zip/b.txt").await, "free");
}

#[tokio::test]
async fn a_bomb_is_refused_by_its_declared_size_and_bounded_by_it() {
    let mut bytes = zip_of(&[("bomb", &vec![0; 8 << 20])]);
    assert!(bytes.len() < 16 << 10);
    let table = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    bytes[table + 24..table + 28].copy_from_slice(&(2_u32 << 30).to_le_bytes());
    let provider = unpacked(with_archive("a.zip", &bytes));
    let (kind, message) = failure(&*provider, "file:///app/a.zip/bomb").await;
    assert_eq!(kind, ErrorKind::TooLarge, "{message}");
    bytes[table + 24..table + 28].copy_from_slice(&100_u32.to_le_bytes());
    let provider = unpacked(with_archive("a.zip", &bytes));
    let (kind, message) = failure(&*provider, "file:///app/a.zip/bomb").await;
    assert_eq!(kind, ErrorKind::Unsupported, "more than it declares: {message}");
}

#[tokio::test]
async fn an_archive_that_holds_itself_ends_at_the_third() {
    // Each level holds the one before under the same name, as one that holds itself would.
    let mut bytes = zip_of(&[("end.txt", b"end")]);
    for _ in 0..10 {
        bytes = zip_of(&[("r.zip", &bytes)]);
    }
    let provider = unpacked(with_archive("a.zip", &bytes));
    let mut at = ARCHIVE.to_owned();
    for _ in 0..2 {
        at = format!("{at}/r.zip");
        assert_eq!(names(&*provider, &at).await, [format!("{at}/r.zip")]);
    }
    let deepest = provider.stat(&testkit::local_context(), &uri(&format!("{at}/r.zip"))).await;
    assert_eq!(deepest.unwrap().listable, Some(false));
    let (kind, _) = failure(&*provider, &format!("{at}/r.zip/r.zip")).await;
    assert_eq!(kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn members_over_the_bound_are_refused_and_names_that_lead_elsewhere_are_noted() {
    let many: Vec<String> = (0..100_001).map(|at| format!("long-name-of-a-member-{at}")).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let provider = unpacked(with_archive("a.tar.gz", &gzip(&tar_of(&many))));
    let ctx = testkit::local_context();
    let at = uri("file:///app/a.tar.gz");
    let error = provider.list(&ctx, Some(&at), &PageRequest::first(9)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLarge);
    assert!(error.message.contains("100,000"), "{}", error.message);
    let provider = unpacked(with_archive("a.tar.gz", &gzip(&tar_of(&many[..100_000]))));
    let page = provider.list(&ctx, Some(&at), &PageRequest::first(9)).await.unwrap();
    assert_eq!((page.items.len(), page.next.is_some()), (9, true));
    let escaping = tar_of(&[("../../etc/passwd", b"x"), ("ok", b"y")]);
    let provider = unpacked(with_archive("a.tar", &escaping));
    let at = uri("file:///app/a.tar");
    let page = provider.list(&ctx, Some(&at), &PageRequest::first(9)).await.unwrap();
    assert_eq!((page.items.len(), page.absent.len()), (1, 1));
}

#[tokio::test]
async fn many_readers_of_one_archive_share_one_look_at_its_table() {
    let members: Vec<(String, Vec<u8>)> =
        (0..50).map(|at| (format!("{at}.txt"), format!("text {at}").into_bytes())).collect();
    let list: Vec<(&str, &[u8])> =
        members.iter().map(|(name, text)| (&**name, &text[..])).collect();
    let inner = Arc::new(with_archive("a.tgz", &gzip(&tar_of(&list))));
    let provider = Unpacked.around(Arc::clone(&inner) as Arc<dyn Provider>);
    let reads = (0..50).map(|at| {
        let provider = Arc::clone(&provider);
        async move { text(&*provider, &format!("file:///app/a.tgz/{at}.txt")).await }
    });
    let texts = futures_util::future::join_all(reads).await;
    assert!(texts.iter().enumerate().all(|(at, text)| *text == format!("text {at}")));
    let before = inner.counts().reads();
    text(&*provider, "file:///app/a.tgz/7.txt").await;
    assert_eq!(inner.counts().reads(), before, "the content is kept");
}

#[tokio::test]
async fn who_may_not_have_an_archive_may_not_have_its_members() {
    let rule = |allows, globs: &[&str]| AccessRule {
        allows,
        globs: globs.iter().copied().map(str::to_owned).collect(),
        ..AccessRule::default()
    };
    let rules = AccessRules::new(vec![rule(false, &["app/*.zip"]), rule(true, &["**"])]).unwrap();
    let address = Address::Path { scheme: "file", name: "m".to_owned() };
    let gate = Allowed { rules: Arc::new(rules), address: Arc::new(address), unpacks: true };
    let bytes = zip_of(&[("a.txt", b"hello"), ("in.zip", &zip_of(&[("b.txt", b"b")]))]);
    let open = gate.around(unpacked(with_archive("a.jar", &bytes)));
    assert_eq!(text(&*open, "file:///app/a.jar/a.txt").await, "hello");
    let denied = gate.around(unpacked(with_archive("a.zip", &bytes)));
    for member in ["a.txt", "in.zip", "in.zip/b.txt"] {
        let (kind, _) = failure(&*denied, &format!("{ARCHIVE}/{member}")).await;
        assert_eq!(kind, ErrorKind::NotFound, "{member}");
    }
    assert_eq!(names(&*denied, "file:///app").await, ["file:///app/plain.txt"]);
}

//! Git LFS: the object where this clone has it, and else the pointer, which says what it is.

use std::path::PathBuf;

use redaction::{Redaction, RedactionScope, Redactor};
use resource::{Content, ErrorKind, MemberPlace, Provider, ReadRequest, Window};

use super::{TestRepo, ctx, list_all, read_as, read_json, read_text, uri};
use crate::git::{Git, Options};

/// A pointer and the path of its object, for a made-up hash.
fn pointer(seed: char, size: usize) -> (String, String) {
    let oid = seed.to_string().repeat(64);
    let text =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n");
    (text, format!("{}/{}/{oid}", &oid[..2], &oid[2..4]))
}

/// Stores an object of LFS below `folder` of the repository.
fn store(repo: &TestRepo, folder: &str, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let file = repo.path().join(folder).join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, bytes).unwrap();
    file
}

async fn lfs_facts(git: &Git, of: &str) -> serde_json::Value {
    let told = git.stat(&ctx(), &uri(of)).await.unwrap();
    let facts = told.extra.get(MemberPlace::Meta, "dev.refdesk/git").unwrap();
    serde_json::from_str::<serde_json::Value>(facts).unwrap()["lfs"].clone()
}

#[tokio::test]
async fn a_pointer_gives_way_to_its_object_once_it_is_there() {
    let repo = TestRepo::new();
    let content = b"\x89PNG\r\n\x1a\n and the rest";
    let (text, path) = pointer('a', content.len());
    repo.write("image.png", &text);
    let commit = repo.commit("first");
    let git = repo.serve();
    for revision in ["HEAD", &commit] {
        let of = format!("git:///{revision}/image.png");
        assert_eq!(read_text(&git, &of).await, text);
        let told = git.stat(&ctx(), &uri(&of)).await.unwrap();
        let description = told.description.clone().unwrap();
        assert!(description.contains("21 bytes") && description.contains("git lfs pull"));
        assert_eq!(told.size, Some(text.len() as u64));
        assert!(!told.immutable, "the object may come");
        let reading = git.read(&ctx(), &uri(&of), &ReadRequest::whole(999)).await.unwrap();
        assert!(reading.freshness.ttl.is_zero());
        let facts = lfs_facts(&git, &of).await;
        assert_eq!(facts["local"], false);
        assert_eq!(facts["size"], 21);
        assert_eq!(facts["oid"], format!("sha256:{}", "a".repeat(64)));
    }
    store(&repo, ".git/lfs/objects", &path, content);
    for revision in ["HEAD", &commit] {
        let of = format!("git:///{revision}/image.png");
        assert_eq!(read_as(&git, &of, None).await, content);
        let told = git.stat(&ctx(), &uri(&of)).await.unwrap();
        assert_eq!(told.etag.as_deref(), Some(&*"a".repeat(64)));
        assert_eq!((told.size, told.mime.as_deref()), (Some(21), Some("image/png")));
        assert_eq!(told.immutable, revision != "HEAD");
        assert_eq!(lfs_facts(&git, &of).await["local"], true);
        let listed = list_all(&git, &format!("git:///{revision}"), 9).await;
        assert_eq!((&listed[0].etag, listed[0].size), (&told.etag, told.size));
        let part = Window::Part { offset: 1, length: 3, etag: told.etag.clone() };
        let reading = git.read(&ctx(), &uri(&of), &ReadRequest::from(part)).await.unwrap();
        let Content::Parts(parts) = reading.content else { panic!("a file has content") };
        assert_eq!(parts[0].slice.as_ref().unwrap().total, 21);
    }
    let diff = read_text(&git, &format!("git:///commit/{commit}")).await;
    assert!(diff.contains("+oid sha256:aaaa"), "history is that of the pointer: {diff}");
}

#[tokio::test]
async fn an_object_of_another_size_or_behind_a_link_is_not_served() {
    let repo = TestRepo::new();
    let outside = tempfile::tempdir().unwrap();
    let secret = "a secret of this machine\n";
    let texts = ['a', 'b', 'c', 'd'].map(|seed| pointer(seed, secret.len()));
    for (at, (text, _)) in texts.iter().enumerate() {
        repo.write(&format!("f{at}"), text);
    }
    repo.commit("first");
    store(&repo, ".git/lfs/objects", &texts[0].1, "short");
    // The object is a link out, its folder is one, and the object is a folder.
    let link = store(&repo, ".git/lfs/objects", &texts[1].1, "");
    std::fs::remove_file(&link).unwrap();
    let target = outside.path().join("secret");
    std::fs::write(&target, secret).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let folder = outside.path().join("cc");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("c".repeat(64)), secret).unwrap();
    std::os::unix::fs::symlink(outside.path(), repo.path().join(".git/lfs/objects/cc")).unwrap();
    std::fs::create_dir_all(repo.path().join(".git/lfs/objects").join(&texts[3].1)).unwrap();
    let git = repo.serve();
    for (at, (text, _)) in texts.iter().enumerate() {
        assert_eq!(read_text(&git, &format!("git:///HEAD/f{at}")).await, *text, "{at}");
    }
}

#[tokio::test]
async fn objects_are_found_from_worktrees_and_where_the_settings_say() {
    let repo = TestRepo::new();
    let (text, path) = pointer('e', 6);
    repo.write("big.txt", &text);
    repo.commit("first");
    store(&repo, ".git/lfs/objects", &path, "local\n");
    let folder = tempfile::tempdir().unwrap();
    let worktree = folder.path().join("tree");
    repo.git(&["worktree", "add", "-q", worktree.to_str().unwrap(), "HEAD"]);
    let linked = Git::open(&Options::new(&worktree)).unwrap();
    assert_eq!(read_text(&linked, "git:///HEAD/big.txt").await, "local\n");
    repo.git(&["config", "lfs.storage", "elsewhere"]);
    assert_eq!(read_text(&repo.serve(), "git:///HEAD/big.txt").await, text);
    store(&repo, ".git/elsewhere/objects", &path, "there\n");
    assert_eq!(read_text(&repo.serve(), "git:///HEAD/big.txt").await, "there\n");
    let shared = tempfile::tempdir().unwrap();
    repo.git(&["config", "lfs.storage", shared.path().to_str().unwrap()]);
    let object = shared.path().join("objects").join(&path);
    std::fs::create_dir_all(object.parent().unwrap()).unwrap();
    std::fs::write(object, "shared").unwrap();
    assert_eq!(read_text(&repo.serve(), "git:///HEAD/big.txt").await, "shared");
}

#[tokio::test]
async fn secrets_in_an_object_are_masked() {
    let repo = TestRepo::new();
    let content = "password = \"hunter2-and-more\"\n";
    let (text, path) = pointer('f', content.len());
    let (binary, binary_path) = pointer('9', 5);
    repo.write("app.toml", &text);
    repo.write("keys.toml", &binary);
    repo.commit("first");
    store(&repo, ".git/lfs/objects", &path, content);
    store(&repo, ".git/lfs/objects", &binary_path, b"\0\xff\0\xff\0");
    let redaction =
        Redaction::new(RedactionScope::Everything, std::sync::Arc::new(Redactor::default()));
    let git = Git::open(&Options { redaction, ..Options::new(repo.path()) }).unwrap();
    let shown = read_text(&git, "git:///HEAD/app.toml").await;
    assert!(shown.contains("password = ") && shown.contains("[redacted "), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
    let described = git.stat(&ctx(), &uri("git:///HEAD/app.toml")).await.unwrap();
    assert_eq!(described.size, None);
    let facts = described.extra.get(resource::MemberPlace::Meta, "dev.refdesk/git").unwrap();
    assert!(facts.contains("\"lfs\":{\"size\"") && !facts.contains("sha256"), "{facts}");
    let whole = ReadRequest::whole(99);
    let error = git.read(&ctx(), &uri("git:///HEAD/keys.toml"), &whole).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unsupported);
}

#[tokio::test]
async fn windows_of_a_large_object_are_read_where_they_are() {
    let repo = TestRepo::new();
    let (text, path) = pointer('7', 3 << 30);
    repo.write("large.bin", &text);
    repo.commit("first");
    let file = store(&repo, ".git/lfs/objects", &path, b"\0\0");
    let file = std::fs::File::options().write(true).open(file).unwrap();
    file.set_len(3 << 30).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"needle", (3 << 30) - 6).unwrap();
    let git = repo.serve();
    let part = Window::Part { offset: (3 << 30) - 8, length: 4096, etag: None };
    let of = uri("git:///HEAD/large.bin");
    let reading = git.read(&ctx(), &of, &ReadRequest::from(part)).await.unwrap();
    let Content::Parts(parts) = reading.content else { panic!("a file has content") };
    let resource::Body::Blob(resource::ByteSource::Bytes(bytes)) = &parts[0].body else {
        panic!("a window of a blob is bytes")
    };
    assert_eq!(&bytes[..], b"\0\0needle");
    assert_eq!(parts[0].resource.size, Some(3 << 30));
}

#[tokio::test]
async fn a_checkout_of_an_object_is_no_change_of_the_worktree() {
    let repo = TestRepo::new();
    let content = b"the content that LFS keeps\n";
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha256);
    hasher.update(content);
    let oid = hasher.try_finalize().unwrap().to_string();
    let text = pointer('0', content.len()).0.replace(&"0".repeat(64), &oid);
    repo.write("big.txt", &text);
    repo.write("other.txt", text.replace(&oid, &"1".repeat(64)));
    repo.commit("first");
    // As a checkout by git-lfs leaves it, which refdesk does not run.
    repo.write("big.txt", content);
    repo.write("other.txt", content);
    let git = repo.serve();
    for _ in 0..2 {
        let status = read_json(&git, "git:///status").await;
        let expected = serde_json::json!([{ "path": "other.txt", "index": " ", "worktree": "M" }]);
        assert_eq!(status, expected);
    }
    assert!(!read_text(&git, "git:///diff/worktree").await.contains("big.txt"));
    repo.write("big.txt", b"the content that I changed\n");
    assert_eq!(read_json(&git, "git:///status").await.as_array().unwrap().len(), 2);
}

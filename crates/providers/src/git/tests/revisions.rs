//! Revisions of every form, and what is told of files without reading them.

use resource::{ErrorKind, MemberPlace, Provider, ReadRequest, Window};

use super::{TestRepo, ctx, names, read_error, read_json, read_text, uri};
use crate::git::{Git, Options};

fn tagged() -> (TestRepo, String, String) {
    let repo = TestRepo::new();
    repo.write("src/a.txt", "one\n");
    let first = repo.commit("the first text");
    repo.write("src/a.txt", "two\n");
    let second = repo.commit("the second text");
    repo.git(&["tag", "-a", "v1.2", "-m", "a tag", &first]);
    repo.git(&["branch", "feature/x", &first]);
    repo.git(&["branch", "log", &first]);
    (repo, first, second)
}

#[tokio::test]
async fn any_revision_that_git_parses_is_read() {
    let (repo, first, second) = tagged();
    let git = repo.serve();
    for (revision, text) in [
        ("HEAD", "two\n"),
        ("%40", "two\n"),
        ("main", "two\n"),
        ("HEAD~1", "one\n"),
        ("HEAD%5E", "one\n"),
        ("v1.2", "one\n"),
        ("feature%2Fx", "one\n"),
        ("refs%2Fheads%2Flog", "one\n"),
        (&first[..8], "one\n"),
        (&second, "two\n"),
        ("main%40%7B1%7D", "one\n"),
        ("%3A%2Fthe%20first", "one\n"),
        ("v1.2%5E%7Bcommit%7D", "one\n"),
    ] {
        assert_eq!(
            read_text(&git, &format!("git:///{revision}/src/a.txt")).await,
            text,
            "{revision}"
        );
    }
    assert_eq!(read_text(&git, "git:///HEAD%3Asrc%2Fa.txt").await, "two\n");
    for missing in ["none", "HEAD~9", "..", "-", "%00", "main%40%7B99%7D", &"0".repeat(40)] {
        let kind = read_error(&git, &format!("git:///{missing}/src/a.txt")).await;
        assert_eq!(kind, ErrorKind::NotFound, "{missing}");
    }
    let listed = names(&git, "git:///refs").await;
    assert_eq!(listed, ["HEAD", "feature/x", "refs/heads/log", "main", "v1.2"]);
    assert_eq!(names(&git, "git:///log/main").await.len(), 2);
}

#[tokio::test]
async fn a_full_hash_never_changes_and_metadata_names_the_last_commit() {
    let (repo, first, second) = tagged();
    let git = repo.serve();
    let pinned = git.stat(&ctx(), &uri(&format!("git:///{second}/src/a.txt"))).await.unwrap();
    let blob = repo.git_text(&["rev-parse", "HEAD:src/a.txt"]);
    assert_eq!(pinned.etag.as_deref(), Some(blob.as_str()));
    assert!(pinned.immutable && pinned.watchable == Some(false));
    assert_eq!(pinned.size, Some(4));
    let facts = pinned.extra.get(MemberPlace::Meta, "dev.refdesk/git").unwrap();
    assert!(facts.contains(&second) && facts.contains("\"author\":\"Ada\""), "{facts}");
    let old = git.stat(&ctx(), &uri(&format!("git:///{first}/src"))).await.unwrap();
    assert!(old.extra.get(MemberPlace::Meta, "dev.refdesk/git").unwrap().contains(&first));
    let date: u64 = repo.git_text(&["log", "-1", "--format=%ct", &first]).parse().unwrap();
    let modified = old.annotations.modified.unwrap();
    let since = modified.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(since.as_secs(), date);
    let whole = ReadRequest::whole(100);
    let pinned = uri(&format!("git:///{second}/src/a.txt"));
    let ttl = git.read(&ctx(), &pinned, &whole).await.unwrap().freshness.ttl;
    let moving = git.read(&ctx(), &uri("git:///main/src/a.txt"), &whole).await.unwrap();
    assert!(ttl.as_secs() >= 3600 && moving.freshness.ttl.is_zero());
    assert!(!moving_is_immutable(&git).await);
}

async fn moving_is_immutable(git: &Git) -> bool {
    git.stat(&ctx(), &uri("git:///main/src/a.txt")).await.unwrap().immutable
}

#[tokio::test]
async fn reads_again_see_a_moved_branch() {
    let (repo, ..) = tagged();
    let git = repo.serve();
    for turn in 0..20 {
        repo.write("src/a.txt", format!("turn {turn}\n"));
        repo.commit("turn");
        for _ in 0..3 {
            assert_eq!(read_text(&git, "git:///HEAD/src/a.txt").await, format!("turn {turn}\n"));
        }
    }
}

#[tokio::test]
async fn windows_of_a_file_are_pinned_to_its_object() {
    let (repo, ..) = tagged();
    let git = repo.serve();
    let place = uri("git:///main/src/a.txt");
    let etag = git.stat(&ctx(), &place).await.unwrap().etag.clone();
    let part = ReadRequest::from(Window::Part { offset: 0, length: 2, etag });
    git.read(&ctx(), &place, &part).await.unwrap();
    repo.write("src/a.txt", "three\n");
    repo.commit("third");
    let error = git.read(&ctx(), &place, &part).await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::Changed);
}

#[tokio::test]
async fn submodules_links_and_charsets_are_shown_as_what_they_are() {
    let repo = TestRepo::new();
    repo.write("sjis.txt", b"\x93\xfa\x96{\x8c\xea\x82\xcc\x83e\x83L\x83X\x83g\n");
    std::os::unix::fs::symlink("../../etc/passwd", repo.path().join("link")).unwrap();
    let pointer = format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n",
        "a".repeat(64)
    );
    repo.write("big.bin", &pointer);
    let commit = repo.commit("first");
    let entry = format!("160000,{commit},sub");
    repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repo.git(&["commit", "-q", "-m", "submodule"]);
    let git = repo.serve();
    assert_eq!(read_text(&git, "git:///HEAD/sjis.txt").await, "日本語のテキスト\n");
    assert_eq!(read_text(&git, "git:///HEAD/link").await, "../../etc/passwd");
    assert_eq!(read_text(&git, "git:///HEAD/big.bin").await, pointer);
    assert_eq!(read_text(&git, "git:///HEAD/sub").await, format!("Subproject commit {commit}\n"));
    assert_eq!(read_error(&git, "git:///HEAD/link/x").await, ErrorKind::NotFound);
    let diff = read_text(&git, "git:///diff/HEAD~1..HEAD").await;
    assert!(diff.contains("new file mode 160000"), "{diff}");
}

#[tokio::test]
async fn a_shallow_clone_ends_where_it_ends() {
    let (repo, _, second) = tagged();
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let from = format!("file://{}", repo.path().display());
    repo.git(&["clone", "-q", "--depth", "1", &from, clone.to_str().unwrap()]);
    let git = Git::open(&Options::new(&clone)).unwrap();
    let log = read_json(&git, "git:///log").await;
    assert_eq!(log.as_array().unwrap().len(), 1);
    assert!(read_text(&git, &format!("git:///commit/{second}")).await.contains("+two"));
    assert_eq!(read_json(&git, "git:///blame/HEAD/src/a.txt").await[0]["commit"], second);
}

#[tokio::test]
async fn masking_is_part_of_the_version_of_what_may_be_masked() {
    use redaction::{Redaction, RedactionScope, Redactor};
    let (repo, first, _) = tagged();
    let redaction =
        Redaction::new(RedactionScope::Everything, std::sync::Arc::new(Redactor::default()));
    let git =
        Git::open(&Options { redaction: redaction.clone(), ..Options::new(repo.path()) }).unwrap();
    let suffix = format!("-r{}", redaction.version());
    for (place, has_size) in
        [(format!("git:///{first}/src/a.txt"), false), (format!("git:///commit/{first}"), false)]
    {
        let told = git.stat(&ctx(), &uri(&place)).await.unwrap();
        assert!(told.etag.as_ref().unwrap().ends_with(&suffix), "{place}: {:?}", told.etag);
        assert_eq!(told.size.is_some(), has_size, "{place}");
    }
    let diff = read_text(&git, "git:///diff/HEAD~1..HEAD").await;
    assert!(!diff.contains("\nindex "), "a masked file shows no hash: {diff}");
}

#[tokio::test]
async fn another_policy_of_masks_gives_other_versions() {
    use redaction::{Redaction, RedactionScope, Redactor, RedactorOptions};
    let repo = TestRepo::new();
    repo.write("app.toml", "password = \"hunter2\"\n");
    let commit = repo.commit("first");
    let glob = |text: &str| machinery::PathGlob::parse(text).unwrap();
    let policies = [
        (RedactionScope::Off, Vec::new(), None),
        (RedactionScope::SensitiveFiles, Vec::new(), None),
        (RedactionScope::Everything, Vec::new(), None),
        (RedactionScope::Everything, vec![glob("password")], None),
        (RedactionScope::Everything, vec![glob("token")], None),
        (RedactionScope::Everything, Vec::new(), Some(b"one key".to_vec())),
        (RedactionScope::Everything, Vec::new(), Some(b"another".to_vec())),
    ];
    let count = policies.len();
    let mut seen = std::collections::BTreeSet::new();
    for (scope, reveal, hmac_key) in policies {
        // The same policy gives the same versions, in another process too.
        let versions = async || {
            let options = RedactorOptions { reveal: reveal.clone(), hmac_key: hmac_key.clone() };
            let redaction = Redaction::new(scope, std::sync::Arc::new(Redactor::new(options)));
            let redaction = redaction.with_etag_key([7; 32]);
            let git = Git::open(&Options { redaction, ..Options::new(repo.path()) }).unwrap();
            let mut etags = Vec::new();
            for place in
                ["app.toml", ""].map(|path| format!("git:///{commit}/{path}")).into_iter().chain([
                    format!("git:///commit/{commit}"),
                    format!("git:///blame/{commit}/app.toml"),
                ])
            {
                etags.push(git.stat(&ctx(), &uri(&place)).await.unwrap().etag.clone().unwrap());
            }
            etags
        };
        let told = versions().await;
        assert_eq!(told, versions().await);
        assert_eq!(told[1], repo.git_text(&["rev-parse", "HEAD^{tree}"]), "a folder has no mask");
        for at in [0, 2, 3] {
            assert!(seen.insert((at, told[at].clone())), "{scope:?} {reveal:?}: {told:?}");
        }
    }
    assert_eq!(seen.len(), 3 * count);
}

#[tokio::test]
async fn three_dots_compare_with_where_the_branches_part() {
    let repo = TestRepo::new();
    repo.write("a.txt", "one\n");
    let base = repo.commit("base");
    repo.git(&["switch", "-q", "-c", "side"]);
    repo.write("b.txt", "b\n");
    repo.commit("side");
    repo.git(&["switch", "-q", "main"]);
    repo.write("a.txt", "two\n");
    repo.commit("main");
    let git = repo.serve();
    let parted = read_text(&git, "git:///diff/main...side").await;
    assert_eq!(parted, read_text(&git, &format!("git:///diff/{base}..side")).await);
    assert!(parted.contains("+b") && !parted.contains("a.txt"), "{parted}");
    assert!(read_text(&git, "git:///diff/main..side").await.contains("-two"));
    let only = read_json(&git, "git:///diff/main...side/b.txt").await.to_string();
    assert!(only.contains("b.txt"), "{only}");
    assert_eq!(read_text(&git, "git:///diff/main...side/a.txt").await, "");
    // Branches without a common commit.
    repo.git(&["switch", "-q", "--orphan", "alone"]);
    repo.write("c.txt", "c\n");
    repo.commit("alone");
    let git = repo.serve();
    let kind = read_error(&git, "git:///diff/main...alone").await;
    assert_eq!(kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn templates_and_their_variables_are_described() {
    let (repo, ..) = tagged();
    let git = repo.serve();
    let page = git.templates(&ctx(), &resource::PageRequest::first(99)).await.unwrap();
    let texts: Vec<&str> = page.items.iter().map(|template| template.uri.as_str()).collect();
    for kind in ["{revision}/{+path}", "log/", "commit/", "diff/", "blame/"] {
        assert!(texts.iter().any(|text| text.contains(kind)), "{kind} in {texts:?}");
    }
    for template in &page.items {
        assert!(template.title.is_some() && template.description.is_some(), "{}", template.name);
        let described = template.variables.iter().filter(|one| one.description.is_some());
        assert_eq!(described.count(), template.uri.variables().count(), "{}", template.name);
    }
}

#[tokio::test]
async fn a_file_without_its_name_does_not_go_around_the_masks() {
    use redaction::{Redaction, RedactionScope, Redactor};
    let repo = TestRepo::new();
    repo.write(".env", "DB_PASSWORD=tomato-plum-9\n");
    repo.write(".kube/config", "users:\n- user:\n    token: tomato-plum-9\n");
    repo.write("plain.txt", "plain\n");
    let commit = repo.commit("first");
    let id = repo.git_text(&["rev-parse", "HEAD:.env"]);
    repo.git(&["tag", "a-file", &id]);
    repo.git(&["tag", "-a", "-m", "a file", "a-tagged-file", &id]);
    for scope in [RedactionScope::SensitiveFiles, RedactionScope::Everything] {
        let redaction = Redaction::new(scope, std::sync::Arc::new(Redactor::default()));
        let git = Git::open(&Options { redaction, ..Options::new(repo.path()) }).unwrap();
        for nameless in [&id, &id[..8], "a-file", "a-tagged-file", "refs%2Ftags%2Fa-file"] {
            let kind = read_error(&git, &format!("git:///{nameless}")).await;
            assert_eq!(kind, ErrorKind::Unsupported, "{nameless}");
            let stat = git.stat(&ctx(), &uri(&format!("git:///{nameless}"))).await;
            assert_eq!(stat.err().unwrap().kind, ErrorKind::Unsupported);
            for document in ["blame", "commit", "log"] {
                let place = format!("git:///{document}/{nameless}");
                let _error = read_error(&git, &place).await;
            }
            let place = uri(&format!("git:///diff/{nameless}..HEAD"));
            let diff = git.read(&ctx(), &place, &ReadRequest::whole(1 << 20)).await;
            assert!(!format!("{diff:?}").contains("tomato"));
        }
        for named in [
            "HEAD/.env",
            "HEAD%3A.env",
            "%3A.env",
            "%3A0%3A.env",
            "HEAD%5E%7Btree%7D%3A.env",
            &format!("{commit}%3A.env"),
            "HEAD/.kube/config",
            "HEAD%3A.kube/config",
            "HEAD%3A.kube%2Fconfig",
        ] {
            let text = read_text(&git, &format!("git:///{named}")).await;
            assert!(text.contains("[redacted ") && !text.contains("tomato"), "{named}: {text}");
        }
        assert!(!names(&git, "git:///refs").await.contains(&"a-file".to_owned()));
        assert_eq!(read_text(&git, "git:///HEAD%3Aplain.txt").await, "plain\n");
    }
    assert!(read_text(&repo.serve(), &format!("git:///{id}")).await.contains("tomato"));
}

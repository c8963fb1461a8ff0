//! Hostile repositories: an error for the one resource, never a crash, never an escape.

use resource::{ErrorKind, Health as _, Provider, ReadRequest};

use super::{TestRepo, ctx, list_all, names, read_error, read_json, read_text, uri};

/// Writes a tree of entries that git itself would not write.
fn write_tree(repo: &TestRepo, entries: &[(&str, &[u8], &str)]) -> String {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend_from_slice(mode.as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(name);
        bytes.push(0);
        let byte = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).unwrap();
        bytes.extend((0..id.len()).step_by(2).map(byte));
    }
    let args = ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"];
    String::from_utf8(repo.git_with(&args, &[], &bytes)).unwrap().trim().to_owned()
}

fn blob(repo: &TestRepo, bytes: &[u8]) -> String {
    let args = ["hash-object", "-w", "--stdin"];
    String::from_utf8(repo.git_with(&args, &[], bytes)).unwrap().trim().to_owned()
}

fn commit_tree(repo: &TestRepo, tree: &str) {
    let commit = repo.git_text(&["commit-tree", tree, "-m", "made"]);
    repo.git(&["update-ref", "refs/heads/main", &commit]);
}

#[tokio::test]
async fn hostile_names_are_left_out_and_told() {
    let repo = TestRepo::new();
    let id = blob(&repo, b"x");
    let inner = write_tree(&repo, &[("100644", b"config", &id)]);
    let entries: [(&str, &[u8], &str); 8] = [
        ("100644", b"..", &id),
        ("40000", b".GIT", &inner),
        ("40000", b".git", &inner),
        ("100644", b"C:\\x", &id),
        ("100644", b"a\x1b[31m", &id),
        ("100644", b"a/b", &id),
        ("100644", b"good.txt", &id),
        ("100644", b"\xff\xfe", &id),
    ];
    let tree = write_tree(&repo, &entries);
    commit_tree(&repo, &tree);
    let git = repo.serve();
    let listed = list_all(&git, "git:///HEAD", 3).await;
    let listed: Vec<&str> = listed.iter().map(|item| item.uri.as_str()).collect();
    assert_eq!(listed, ["git:///HEAD/good.txt", "git:///HEAD/%FF%FE"]);
    let told = git.health(&ctx()).message.unwrap();
    assert!(told.contains(".git") && told.contains("\\033[31m"), "{told}");
    for path in ["..", ".git/config", "C%3A%5Cx", "a%1B%5B31m", "a%2Fb"] {
        assert_eq!(read_error(&git, &format!("git:///HEAD/{path}")).await, ErrorKind::NotFound);
    }
    assert_eq!(read_text(&git, "git:///HEAD/%FF%FE").await, "x");
    assert!(read_text(&git, "git:///commit/HEAD").await.contains("good.txt"));
}

#[tokio::test]
async fn a_deep_tree_and_a_loop_of_commits_end() {
    let repo = TestRepo::new();
    let path = vec!["d"; 1_500].join("/");
    let stream = format!(
        "commit refs/heads/main\nmark :1\ncommitter C <c> 1700000000 +0000\ndata 1\nx\n\
         M 100644 inline {path}/f\ndata 1\ny\nM 100644 inline top\ndata 2\na\n\n"
    );
    repo.git_with(&["fast-import", "--quiet"], &[], stream.as_bytes());
    let git = repo.serve();
    assert_eq!(names(&git, "git:///main").await, ["d", "top"]);
    assert_eq!(read_text(&git, &format!("git:///main/{path}/f")).await, "y");
    assert_eq!(read_error(&git, "git:///commit/main").await, ErrorKind::TooLarge);
    assert_eq!(names(&git, "git:///log/main/top").await.len(), 1);
    // The parent of the first commit becomes the second one, whose parent it is.
    let first = repo.git_text(&["rev-parse", "main"]);
    repo.git(&["read-tree", "--empty"]);
    let id = blob(&repo, b"b\n");
    let tree = write_tree(&repo, &[("100644", b"top", &id)]);
    let second = repo.git_text(&["commit-tree", &tree, "-p", &first, "-m", "second"]);
    let looped = repo.git_text(&["commit-tree", &tree, "-p", &second, "-m", "looped"]);
    repo.git(&["update-ref", "refs/heads/main", &second]);
    repo.git(&["update-ref", &format!("refs/replace/{first}"), &looped]);
    let git = repo.serve();
    assert_eq!(names(&git, "git:///log/main").await.len(), 2);
    let _ended = git.read(&ctx(), &uri("git:///blame/main/top"), &ReadRequest::whole(99)).await;
}

#[tokio::test]
async fn a_broken_pack_and_a_link_out_are_errors_of_their_resources() {
    let repo = TestRepo::new();
    for at in 0..40 {
        repo.write(&format!("f{at}.txt"), format!("{at} {}\n", "text ".repeat(at * 7)));
    }
    repo.commit("first");
    repo.git(&["gc", "-q"]);
    repo.write("later.txt", "later\n");
    repo.commit("second");
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(outside.path(), "a secret of this machine\n").unwrap();
    let link = repo.path().join(".git/refs/heads/out");
    std::os::unix::fs::symlink(outside.path(), link).unwrap();
    let packs = std::fs::read_dir(repo.path().join(".git/objects/pack")).unwrap();
    for pack in packs.flatten().filter(|pack| pack.path().extension() == Some("pack".as_ref())) {
        let mut bytes = std::fs::read(pack.path()).unwrap();
        bytes[64..].fill(0x55);
        std::fs::remove_file(pack.path()).unwrap();
        std::fs::write(pack.path(), bytes).unwrap();
    }
    let git = repo.serve();
    let mut broken = 0;
    for at in 0..40 {
        let place = uri(&format!("git:///HEAD/f{at}.txt"));
        match git.read(&ctx(), &place, &ReadRequest::whole(1 << 20)).await {
            Ok(_) => {}
            Err(error) => {
                broken += 1;
                assert_eq!(error.kind, ErrorKind::Unavailable, "{error:?}");
            }
        }
    }
    assert!(broken > 0, "the pack is broken");
    assert_eq!(read_text(&git, "git:///HEAD/later.txt").await, "later\n");
    let refs = read_json(&git, "git:///refs").await.to_string();
    assert!(!refs.contains("secret") && !refs.contains("heads/out"), "{refs}");
    assert_eq!(read_error(&git, "git:///out").await, ErrorKind::NotFound);
    assert_eq!(read_error(&git, "git:///log").await, ErrorKind::Unavailable);
}

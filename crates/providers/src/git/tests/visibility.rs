//! Tests of visibility: no resource names a file that the principal may not know of.

use std::sync::Arc;

use resource::{
    Complete as _, CompletionRequest, Context, ErrorKind, Health as _, Interest, Principal,
    Provider as _, ReadRequest, Uri, Watch as _,
};
use serde_json::Value;

use super::{TestRepo, ctx, names, read_as, read_error, read_json, read_text, uri};
use crate::git::{FileMethod, FileVisibility, Git, Options, WatchMode};

/// Keeps from everyone but the principal `whole` what `is_denied` names, by its decoded URI.
struct Denied(fn(&str) -> bool);

impl FileVisibility for Denied {
    fn restricts(&self, principal: &Principal) -> bool {
        &**principal.key() != "whole"
    }

    fn allows(&self, _: &Principal, _: FileMethod, uri: &Uri) -> bool {
        !(self.0)(&resource::uri::percent_decode_lossy(uri.as_str()))
    }
}

fn has_hidden_name(uri: &str) -> bool {
    uri.split('/').any(|segment| segment.starts_with("hidden"))
}

fn serve_with(repo: &TestRepo, is_denied: fn(&str) -> bool) -> Git {
    let rules = Arc::new(Denied(is_denied)) as _;
    let options = Options {
        visibility: Some(rules),
        watch: WatchMode::Poll,
        redaction: redaction::Redaction::default(),
        ..Options::new(repo.path())
    };
    Git::open(&options).unwrap()
}

fn serve(repo: &TestRepo) -> Git {
    serve_with(repo, has_hidden_name)
}

/// A repository with files that are hidden, a commit of nothing else, and changes in the worktree.
/// The second value is the hash of that commit.
fn repository() -> (TestRepo, String) {
    let repo = TestRepo::new();
    repo.write("open.md", "one\n");
    repo.write("docs/a.md", "a\n");
    repo.write("hidden/a.md", "a secret of old\n");
    repo.write("hidden.md", "line 1\nline 2\nline 3\nline 4\n");
    repo.commit("first");
    repo.write("hidden/a.md", "a secret of now\n");
    repo.write("docs/hidden.key", "a key\n");
    let covert = repo.commit("covert work");
    repo.write("open.md", "two\n");
    repo.write("hidden/b.md", "a third secret\n");
    repo.git(&["mv", "hidden.md", "moved.md"]);
    repo.commit("both kinds");
    repo.write("open.md", "three\n");
    repo.write("hidden/a.md", "a secret to come\n");
    repo.write("new/hidden.txt", "untracked\n");
    repo.write("fresh/hidden.txt", "untracked\n");
    repo.write("fresh/open.txt", "untracked\n");
    (repo, covert)
}

async fn read_by(git: &Git, who: &Context, text: &str) -> Result<(), ErrorKind> {
    let read = git.read(who, &uri(text), &ReadRequest::whole(1 << 30)).await;
    read.map(|_| ()).map_err(|error| error.kind)
}

#[tokio::test]
async fn a_path_in_a_revision_is_judged_as_the_path_that_it_is() {
    let (repo, _) = repository();
    let git = serve(&repo);
    let whole = Context::new(Principal::authenticated("whole"));
    let blob = repo.git_text(&["rev-parse", "HEAD:hidden/a.md"]);
    let (tree, open) = (repo.git_text(&["rev-parse", "HEAD:hidden"]), "git:///HEAD:open.md");
    repo.git(&["tag", "a-file", "HEAD:hidden/a.md"]);
    assert_eq!(read_text(&git, open).await, "two\n");
    assert_eq!(names(&git, "git:///HEAD:docs").await, ["a.md"]);
    for path in [
        "HEAD:hidden/a.md".to_owned(),
        "HEAD:hidden".to_owned(),
        "HEAD:hidden/b.md".to_owned(),
        "HEAD:./hidden/a.md".to_owned(),
        "HEAD~1:hidden.md".to_owned(),
        ":hidden/a.md".to_owned(),
        ":0:hidden/a.md".to_owned(),
        "HEAD:docs/hidden.key".to_owned(),
        "HEAD:docs/hidden.key".replace("docs/", "docs%2F"),
        "HEAD/hidden/a.md".to_owned(),
        blob.clone(),
        blob[..12].to_owned(),
        format!("{tree}/a.md"),
        tree[..12].to_owned(),
        "a-file".to_owned(),
    ] {
        let path = match path.split_once(':') {
            Some((base, inner)) => format!("git:///{base}:{}", inner.replace('/', "%2F")),
            None => format!("git:///{path}"),
        };
        // It is in the caches before it is denied.
        assert_eq!(read_by(&git, &whole, &path).await.err(), None.or(missing(&path)), "{path}");
        assert_eq!(read_error(&git, &path).await, ErrorKind::NotFound, "{path}");
        let described = git.stat(&ctx(), &uri(&path)).await.unwrap_err();
        let other = git.stat(&ctx(), &uri("git:///none:none.md")).await.unwrap_err();
        assert_eq!(described.kind, other.kind, "{path}");
    }
    assert!(!read_text(&git, "git:///refs").await.contains("a-file"), "it leads to a file");
}

/// The error of what is no path for gix either.
fn missing(path: &str) -> Option<ErrorKind> {
    let is_from_folder = path.contains(":.%2F") || path.contains("%252F");
    is_from_folder.then_some(ErrorKind::NotFound)
}

#[tokio::test]
async fn documents_leave_out_the_files_that_the_principal_may_not_know_of() {
    let (repo, covert) = repository();
    let git = serve(&repo);
    for (document, shown) in [
        ("git:///diff/HEAD~2..HEAD".to_owned(), vec!["moved.md", "open.md"]),
        ("git:///diff/HEAD~2...HEAD/".to_owned(), vec!["moved.md", "open.md"]),
        ("git:///diff/HEAD~2:docs..HEAD:docs".to_owned(), vec![]),
        (format!("git:///diff/{covert}~1..{covert}"), vec![]),
        ("git:///diff/worktree".to_owned(), vec!["open.md"]),
        ("git:///commit/HEAD".to_owned(), vec!["moved.md", "open.md"]),
        ("git:///log?files=true".to_owned(), vec!["moved.md", "open.md", "docs/a.md"]),
        ("git:///status".to_owned(), vec!["open.md", "fresh/"]),
        ("git:///blame/HEAD/moved.md".to_owned(), vec!["moved.md"]),
    ] {
        let text = read_text(&git, &document).await;
        let json = read_json(&git, &document).await.to_string();
        for told in [&text, &json] {
            assert!(!told.contains("hidden"), "{document}: {told}");
            assert!(!told.contains("secret"), "{document}: {told}");
            assert!(!told.contains("new/"), "{document}: {told}");
        }
        for path in shown {
            assert!(json.contains(path), "{document} has {path}: {json}");
        }
    }
    // A file that had a hidden name is a new one.
    let files = read_json(&git, "git:///commit/HEAD").await;
    let moved = files["files"].as_array().unwrap().iter().find(|one| one["path"] == "moved.md");
    assert_eq!(moved.map(|one| (&one["status"], &one["from"])), Some((&"A".into(), &Value::Null)));
    for denied in [
        "git:///log/HEAD/hidden/a.md?files=true",
        "git:///diff/HEAD~1..HEAD/hidden",
        "git:///diff/HEAD~1:hidden..HEAD:hidden",
        "git:///diff/worktree/hidden/a.md",
        "git:///blame/HEAD/hidden/a.md",
    ] {
        assert_eq!(read_error(&git, denied).await, ErrorKind::NotFound, "{denied}");
    }
}

#[tokio::test]
async fn a_commit_of_hidden_files_alone_is_in_no_log_and_found_by_no_search() {
    let (repo, covert) = repository();
    let git = serve(&repo);
    let whole = Context::new(Principal::authenticated("whole"));
    let log = read_text(&git, "git:///log").await;
    assert!(log.contains("both kinds") && log.contains("first"), "{log}");
    assert!(!log.contains("covert"), "{log}");
    let listed = names(&git, "git:///log").await;
    assert!(!listed.iter().any(|name| covert.starts_with(name.as_str())), "{listed:?}");
    assert!(!read_text(&git, "git:///log/HEAD/docs").await.contains("covert"));
    for path in [format!("commit/{covert}"), "commit/HEAD~1".into(), ":%2Fcovert/open.md".into()] {
        let path = format!("git:///{path}");
        assert_eq!(read_by(&git, &whole, &path).await, Ok(()), "{path}");
        assert_eq!(read_error(&git, &path).await, ErrorKind::NotFound, "{path}");
    }
    let described = git.stat(&ctx(), &uri(&format!("git:///{covert}/"))).await.unwrap();
    assert_eq!(described.description, None);
    for folder in ["git:///HEAD~1/docs", "git:///HEAD~1/"] {
        let described = git.stat(&ctx(), &uri(folder)).await.unwrap();
        assert_eq!((&described.etag, &described.annotations.modified), (&None, &None));
        assert!(!format!("{described:?}").contains("covert"), "{described:?}");
    }
}

#[tokio::test]
async fn pages_of_a_log_are_those_of_each_principal() {
    let (repo, _) = repository();
    let git = serve(&repo);
    let whole = Context::new(Principal::authenticated("whole"));
    let mut shown = Vec::new();
    for who in [&whole, &ctx()] {
        let (mut ask, mut all) = (resource::PageRequest::first(1), Vec::new());
        loop {
            let page = git.list(who, Some(&uri("git:///log")), &ask).await.unwrap();
            all.extend(page.items.iter().filter_map(|item| item.title.clone()));
            match page.next {
                Some(next) => ask.cursor = Some(next),
                None => break,
            }
        }
        shown.push(all);
    }
    assert_eq!(shown[0], ["both kinds", "covert work", "first"]);
    assert_eq!(shown[1], ["both kinds", "first"]);
}

#[tokio::test]
async fn completion_suggests_no_path_and_no_commit_that_is_hidden() {
    let (repo, covert) = repository();
    let git = serve(&repo);
    for (variable, revision, typed, none) in [
        ("path", "HEAD", "", "hidden"),
        ("path", "HEAD:docs", "", "hidden"),
        ("path", "HEAD", "hidden/", "hidden"),
        ("revision", "HEAD", "covert", &covert[..10]),
        ("revision", "HEAD", &covert[..4], &covert[..10]),
    ] {
        let resolved = [("revision".to_owned(), revision.to_owned())].into();
        let template = "git:///{revision}/{+path}";
        let request = CompletionRequest { template, variable, typed, resolved: &resolved };
        let values = git.complete(&ctx(), &request).await.unwrap().values;
        assert!(!values.iter().any(|value| value.contains(none)), "{typed:?}: {values:?}");
    }
}

#[tokio::test]
async fn what_is_denied_in_head_is_denied_in_every_revision() {
    let (repo, _) = repository();
    let git = serve_with(&repo, |uri| uri.starts_with("git:///HEAD/hidden"));
    for path in ["main/hidden/a.md", "HEAD~1/hidden.md", "refs%2Fheads%2Fmain/hidden/a.md"] {
        let path = format!("git:///{path}");
        assert_eq!(read_error(&git, &path).await, ErrorKind::NotFound, "{path}");
    }
    assert!(!read_text(&git, "git:///diff/HEAD~2..main").await.contains("secret"));
    // Who may not have HEAD at all may have another revision.
    let git = serve_with(&repo, |uri| uri.starts_with("git:///HEAD"));
    assert_eq!(read_text(&git, "git:///main/open.md").await, "two\n");
}

#[tokio::test]
async fn a_change_of_a_hidden_file_is_no_change_of_the_status() {
    let (repo, _) = repository();
    let git = serve(&repo);
    let whole = Context::new(Principal::authenticated("whole"));
    for document in ["git:///status", "git:///diff/worktree"] {
        let (for_all, own) = (version(&git, &whole, document), version(&git, &ctx(), document));
        repo.write("hidden/b.md", format!("one more secret in {document}\n"));
        assert_ne!(version(&git, &whole, document), for_all, "{document}");
        assert_eq!(version(&git, &ctx(), document), own, "{document}");
        repo.write("open.md", format!("a change in {document}\n"));
        repo.write(&format!("docs/{}.md", document.len()), "new\n");
        assert_ne!(version(&git, &ctx(), document), own, "{document}");
    }
    assert!(!git.is_shared(&Interest::Listing), "principals see different changes");
    assert_eq!(git.health(&ctx()).message, git.health(&whole).message);
}

/// Its commits have the subject of the commit that they were made on.
#[tokio::test]
async fn the_stash_does_not_exist_for_those_to_whom_something_is_hidden() {
    let (repo, _) = repository();
    repo.write("hidden/a.md", "a last secret\n");
    repo.commit("covert again");
    repo.write("open.md", "put aside\n");
    repo.git(&["stash"]);
    let git = serve(&repo);
    let whole = Context::new(Principal::authenticated("whole"));
    for path in ["refs%2Fstash/open.md", "stash@%7B0%7D/", "commit/refs%2Fstash%5E2", "log/stash"] {
        let path = format!("git:///{path}");
        assert_eq!(read_by(&git, &whole, &path).await, Ok(()), "{path}");
        assert_eq!(read_error(&git, &path).await, ErrorKind::NotFound, "{path}");
    }
    assert!(!read_text(&git, "git:///refs").await.contains("stash"));
}

/// What a subscriber of `document` compares.
fn version(git: &Git, who: &Context, document: &str) -> String {
    let viewer = git.repository.viewer(who.principal());
    let location = crate::git::location::Location::parse(&uri(document)).unwrap();
    let looked = git
        .repository
        .run_here(&Arc::default(), viewer.as_ref(), |session| session.own_version(&location));
    looked.unwrap()
}

#[tokio::test]
async fn a_cached_document_is_given_to_no_other_principal() {
    let (repo, _) = repository();
    let git = serve(&repo);
    let whole = Context::new(Principal::authenticated("whole"));
    for document in ["git:///commit/HEAD", "git:///diff/HEAD~2..HEAD"] {
        assert_eq!(read_by(&git, &whole, document).await, Ok(()));
        let own = read_as(&git, document, None).await;
        assert!(!String::from_utf8(own).unwrap().contains("secret"), "{document}");
    }
}

#[tokio::test]
async fn slow_requests_of_one_principal_lock_nobody_out() {
    let (repo, _) = repository();
    let git = repo.serve();
    let busy = Principal::authenticated("busy");
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = Arc::new(parking_lot::Mutex::new(gate));
    let mut work = Vec::new();
    for _ in 0..8 {
        let (repository, gate, busy) =
            (Arc::clone(&git.repository), Arc::clone(&gate), busy.clone());
        work.push(tokio::spawn(async move {
            let wait =
                move |_: &crate::git::repository::GitSession<'_>| Ok(gate.lock().recv().is_ok());
            repository.run(&busy, wait).await
        }));
    }
    // Each has its permit, or waits for one.
    tokio::task::yield_now().await;
    let limit = std::time::Duration::from_secs(60);
    let described =
        tokio::time::timeout(limit, git.stat(&ctx(), &uri("git:///HEAD/open.md"))).await;
    drop(release);
    assert!(described.expect("another principal has a session").is_ok());
    for one in work {
        assert!(!one.await.unwrap().unwrap(), "it waited until it was released");
    }
}

//! Tests of masks around files: people, references and searches of messages.

use redaction::{Redaction, RedactionScope, Redactor};
use resource::{Complete as _, CompletionRequest, ErrorKind, MemberPlace, Provider as _};

use super::super::{Git, Options};
use super::{TestRepo, ctx, list_all, names, read_error, read_json, read_text, uri};

fn token() -> String {
    format!("{}{}", concat!("gh", "p_"), "q7Rk2Vx9Lm4Tz8Wb3Yc6Np1Hd5Js0Fg2Ka7e")
}

fn serve(repo: &TestRepo, scope: RedactionScope) -> Git {
    let redaction = Redaction::new(scope, std::sync::Arc::new(Redactor::default()));
    Git::open(&Options { redaction, ..Options::new(repo.path()) }).unwrap()
}

/// A repository whose last commit has a token in its people, its message and its branch.
fn repository() -> TestRepo {
    let (repo, token) = (TestRepo::new(), token());
    repo.write("a.txt", "one\n");
    repo.commit("first of all");
    repo.write("a.txt", "two\n");
    repo.git(&["add", "-A"]);
    let (name, email) = (format!("Ada {token}"), format!("{token}@example.com"));
    let people = ["AUTHOR", "COMMITTER"]
        .iter()
        .flat_map(|who| [(format!("GIT_{who}_NAME"), &name), (format!("GIT_{who}_EMAIL"), &email)])
        .collect::<Vec<_>>();
    let people: Vec<(&str, &str)> =
        people.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let message = format!("rotate {token} now");
    repo.git_with(&["commit", "-q", "-m", &message], &people, b"");
    repo.git(&["tag", &format!("deploy-{token}")]);
    repo.git(&["symbolic-ref", "refs/remotes/origin/HEAD", &format!("refs/tags/deploy-{token}")]);
    repo.git(&["switch", "-q", "-c", &token]);
    repo
}

#[tokio::test]
async fn people_and_references_tell_no_secret() {
    let (repo, token) = (repository(), token());
    for scope in [RedactionScope::SensitiveFiles, RedactionScope::Everything] {
        let git = serve(&repo, scope);
        let mut told = String::new();
        for place in
            ["refs", "log", "commit/HEAD", "blame/HEAD/a.txt", "status", "diff/HEAD~1..HEAD"]
        {
            let place = format!("git:///{place}");
            told.push_str(&read_text(&git, &place).await);
            told.push_str(&read_json(&git, &place).await.to_string());
            told.push_str(&format!("{:?}", git.stat(&ctx(), &uri(&place)).await.unwrap()));
        }
        for collection in ["", "refs", "log/HEAD", "HEAD"] {
            let listed = list_all(&git, &format!("git:///{collection}"), 99).await;
            told.push_str(&format!("{listed:?}"));
        }
        for (template, variable) in [
            ("git:///{revision}/{+path}", "revision"),
            ("git:///log/{revision}{?author,since,until,grep,files}", "author"),
        ] {
            let resolved = std::collections::BTreeMap::new();
            let request = CompletionRequest { template, variable, typed: "", resolved: &resolved };
            told.push_str(&format!("{:?}", git.complete(&ctx(), &request).await.unwrap()));
        }
        assert!(!told.contains(&token), "{told}");
        assert!(told.contains("Ada [redacted "), "{told}");
        assert!(told.contains("# Status of branch [redacted "), "{told}");
        assert!(names(&git, "git:///refs").await.contains(&"main".to_owned()));
        for author in [&token, &token[4..]] {
            let found = names(&git, &format!("git:///log/HEAD?author={author}")).await;
            assert_eq!(found, [""; 0]);
        }
        assert_eq!(names(&git, "git:///log/HEAD?author=ada").await.len(), 2);
        // Whoever knows the name reads by it, and is told nothing more.
        for place in [&token, &format!("log/{token}"), &format!("diff/{token}~1..{token}")] {
            let described = git.stat(&ctx(), &uri(&format!("git:///{place}"))).await.unwrap();
            assert!(!described.name.contains(&token), "{described:?}");
            assert!(!described.title.as_deref().unwrap_or_default().contains(&token));
        }
    }
    let plain = repo.serve();
    assert!(names(&plain, "git:///refs").await.contains(&token));
    assert!(read_text(&plain, "git:///log").await.contains(&token));
}

#[tokio::test]
async fn a_revision_by_its_message_is_searched_in_masked_messages() {
    let (repo, token) = (repository(), token());
    let (last, first) =
        (repo.git_text(&["rev-parse", "HEAD"]), repo.git_text(&["rev-parse", "HEAD~1"]));
    let git = serve(&repo, RedactionScope::SensitiveFiles);
    let found = async |spec: &str| {
        let mut place = "git:///commit/".to_owned();
        resource::uri::encode_segment(spec.as_bytes(), &mut place);
        match git.stat(&ctx(), &uri(&place)).await {
            Ok(_) => Ok(read_json(&git, &place).await["hash"].as_str().unwrap().to_owned()),
            Err(error) => Err(error.kind),
        }
    };
    for (spec, commit) in [
        (":/rotate", &last),
        (":/^first", &first),
        (":/!-rotate", &first),
        ("main^{/first of}", &first),
        ("HEAD^{/rotate.*now}", &last),
        ("main^{/rotate}~1", &first),
        ("main^{/rotate}^{/first}", &first),
    ] {
        assert_eq!(found(spec).await.as_ref(), Ok(commit), "{spec}");
        let by_git = repo.git_text(&["rev-parse", spec]);
        assert_eq!(by_git, *commit, "{spec}");
    }
    let secret = [&format!(":/{}", &token[4..]), ":/rotate ghp", "main^{/[Qq]7Rk}", ":/ghp_q"];
    for spec in secret {
        assert_eq!(found(spec).await, Err(ErrorKind::NotFound), "{spec}");
    }
    for broken in [":/[", ":/!x", "main^{/(}"] {
        assert_eq!(found(broken).await, Err(ErrorKind::Invalid), "{broken}");
    }
    assert_eq!(read_error(&git, "git:///none%5E%7B%2Fx%7D").await, ErrorKind::NotFound);
}

#[tokio::test]
async fn hashes_and_similarities_of_masked_files_are_left_out() {
    let repo = TestRepo::new();
    let lines: String = (0..30).map(|line| format!("key{line} = {line}\n")).collect();
    for (name, place) in [("app.toml", ""), ("notes.md", "docs/")] {
        repo.write(name, format!("{lines}password = \"tomato-plum-1\"\n"));
        repo.write(&format!("{place}same-{name}"), "x = 1\n");
    }
    repo.commit("first");
    for (old, new) in [("app.toml", "main.toml"), ("notes.md", "more.md")] {
        repo.git(&["mv", old, new]);
        repo.write(new, format!("{lines}password = \"tomato-plum-2\"\n"));
    }
    repo.commit("second");
    let git = serve(&repo, RedactionScope::SensitiveFiles);
    let diff = read_text(&git, "git:///diff/HEAD~1..HEAD").await;
    let (masked, plain) = diff.split_at(diff.find("diff --git a/notes.md").unwrap());
    assert!(masked.contains("rename from app.toml\nrename to main.toml\n"), "{masked}");
    assert!(!masked.contains("similarity") && !masked.contains("index "), "{masked}");
    assert!(plain.contains("similarity index ") && plain.contains("\nindex "), "{plain}");
    let facts = async |place: &str| {
        let described = git.stat(&ctx(), &uri(&format!("git:///HEAD/{place}"))).await.unwrap();
        described.extra.get(MemberPlace::Meta, "dev.refdesk/git").unwrap().to_owned()
    };
    let hidden = facts("main.toml").await;
    assert!(!hidden.contains("object") && hidden.contains("\"author\":\"Ada\""), "{hidden}");
    for place in ["more.md", "docs", ""] {
        assert!(facts(place).await.starts_with("{\"object\":\""), "{place}");
    }
}

//! A made history of over 4,000 commits: everything equals what git says.

use std::collections::BTreeSet;

use resource::uri::encode_segment;

use super::made_history::{Dice, make_history};
use super::{TestRepo, list_all, read_as, read_json};
use crate::git::Git;

const COMMITS: usize = 4_200;

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

fn encoded(path: &[u8]) -> String {
    let mut text = String::new();
    for (at, name) in path.split(|byte| *byte == b'/').enumerate() {
        if at > 0 {
            text.push('/');
        }
        encode_segment(name, &mut text);
    }
    text
}

/// The hashes that a log lists.
async fn log(git: &Git, uri: &str, limit: usize) -> Vec<String> {
    let all = list_all(git, uri, limit).await;
    let hash = |uri: &str| uri.trim_start_matches("git:///commit/").to_owned();
    all.iter().map(|item| hash(item.uri.as_str())).collect()
}

fn paths_at_head(repo: &TestRepo) -> Vec<Vec<u8>> {
    let all = repo.git(&["ls-tree", "-r", "-z", "--name-only", "main"]);
    all.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect()
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the share is a part of the check's output")]
async fn a_made_history_equals_what_git_says() {
    let repo = make_history(COMMITS);
    let git = repo.serve();
    let head = logs_are_equal(&repo, &git).await;
    assert!(head.len() >= 4_000, "{} commits", head.len());
    // git takes seconds for the logs and blames of them all.
    let paths: Vec<Vec<u8>> = paths_at_head(&repo).into_iter().step_by(25).collect();
    path_logs_are_equal(&repo, &git, &paths).await;
    trees_and_blobs_are_equal(&repo, &git, &head).await;
    diffs_apply(&repo, &git, &head).await;
    let (equal, all) = blame_share(&repo, &git, &paths).await;
    println!("blame: {equal} of {all} lines have the commit that git blame gives them");
    assert!(equal * 1000 >= all * 995, "{equal} of {all} lines");
}

async fn logs_are_equal(repo: &TestRepo, git: &Git) -> Vec<String> {
    let mut head = Vec::new();
    for branch in ["side", "wild", "main"] {
        let told = lines(&repo.git(&["log", "--format=%H", branch]));
        let ours = log(git, &format!("git:///log/{branch}"), 500).await;
        assert!(ours == told, "the log of {branch} has another order");
        head = told;
    }
    let by_page = log(git, "git:///log", 777).await;
    assert!(by_page == head, "pages join");
    for (conditions, args) in [
        ("author=bea", &["-i", "--author=bea"][..]),
        ("grep=RENAME%201", &["-i", "--grep=rename 1"]),
        ("since=2017-07-16T12:00:00Z", &["--since=2017-07-16T12:00:00Z"]),
        ("until=2017-07-17T00:00:00Z", &["--until=2017-07-17T00:00:00Z"]),
        (
            "since=2017-07-15T00:00:00Z&until=2017-07-17T00:00:00Z&author=ada",
            &["--since=2017-07-15T00:00:00Z", "--until=2017-07-17T00:00:00Z", "-i", "--author=ada"],
        ),
    ] {
        let args = [&["log", "--format=%H"], args, &["main"]].concat();
        let told = lines(&repo.git(&args));
        assert!(!told.is_empty(), "{conditions} shows something");
        let ours = log(git, &format!("git:///log/main?{conditions}"), 1000).await;
        assert!(ours == told, "{conditions}: {} and {}", ours.len(), told.len());
    }
    let json = read_json(git, "git:///log/main").await;
    let first: Vec<&str> =
        json.as_array().unwrap().iter().map(|one| one["hash"].as_str().unwrap()).collect();
    assert_eq!(first, head[..50]);
    head
}

async fn path_logs_are_equal(repo: &TestRepo, git: &Git, paths: &[Vec<u8>]) {
    let mut different = Vec::new();
    for path in paths.iter().filter(|path| std::str::from_utf8(path).is_ok()) {
        let name = std::str::from_utf8(path).unwrap();
        let uri = format!("git:///log/main/{}", encoded(path));
        let told = lines(&repo.git(&["log", "--format=%H", "main", "--", name]));
        assert!(log(git, &uri, 1000).await == told, "the log of {name}");
        let told = lines(&repo.git(&["log", "--follow", "--format=%H", "main", "--", name]));
        let ours = log(git, &format!("{uri}?follow=true"), 1000).await;
        if ours != told {
            different.push((name, ours.len(), told.len()));
        }
    }
    assert!(different.is_empty(), "--follow differs: {different:?}");
    for folder in ["src", "docs", "src/deep", "moved"] {
        let told = lines(&repo.git(&["log", "--format=%H", "main", "--", folder]));
        assert!(log(git, &format!("git:///log/main/{folder}"), 1000).await == told, "{folder}");
    }
}

async fn trees_and_blobs_are_equal(repo: &TestRepo, git: &Git, head: &[String]) {
    let mut dice = Dice::new(99);
    let mut seen = BTreeSet::new();
    for _ in 0..12 {
        let hash = &head[dice.roll(head.len())];
        let all = repo.git(&["ls-tree", "-r", "-t", "-z", hash]);
        let mut by_folder: std::collections::BTreeMap<Vec<u8>, Vec<Vec<u8>>> = Default::default();
        for row in all.split(|byte| *byte == 0).filter(|row| !row.is_empty()) {
            let tab = row.iter().position(|byte| *byte == b'\t').unwrap();
            let (facts, path) = (String::from_utf8_lossy(&row[..tab]), &row[tab + 1..]);
            let slash = path.iter().rposition(|byte| *byte == b'/');
            let folder = slash.map_or(&[][..], |at| &path[..at]).to_vec();
            by_folder.entry(folder).or_default().push(path.to_vec());
            let facts: Vec<&str> = facts.split(' ').collect();
            if facts[1] == "blob" && seen.insert(facts[2].to_owned()) && seen.len() < 600 {
                let told = repo.git(&["cat-file", "blob", facts[2]]);
                let ours = read_as(git, &format!("git:///{hash}/{}", encoded(path)), None).await;
                let told = match String::from_utf8(told) {
                    Ok(text) => text.into_bytes(),
                    Err(error) if error.as_bytes().contains(&0) => error.into_bytes(),
                    // Text in another charset is given in UTF-8.
                    Err(_) => "caf\u{e9} cr\u{e8}me br\u{fb}l\u{e9}e\n".into(),
                };
                assert!(ours == told, "{hash}:{}", String::from_utf8_lossy(path));
            }
        }
        for (folder, paths) in by_folder {
            let slash = if folder.is_empty() { "" } else { "/" };
            let uri = format!("git:///{hash}{slash}{}", encoded(&folder));
            let told: Vec<String> =
                paths.iter().map(|path| format!("git:///{hash}/{}", encoded(path))).collect();
            let ours = list_all(git, &uri, 7).await;
            let ours: Vec<&str> = ours.iter().map(|item| item.uri.as_str()).collect();
            assert_eq!(ours, told, "{uri}");
        }
    }
}

async fn diffs_apply(repo: &TestRepo, git: &Git, head: &[String]) {
    let mut dice = Dice::new(7);
    let index = repo.path().join(".git/test-index");
    let env = [("GIT_INDEX_FILE", index.to_str().unwrap())];
    for round in 0..40 {
        let at = dice.roll(head.len() - 60);
        let (from, to) = (&head[at + 1 + dice.roll(50)], &head[at]);
        let range = if round % 4 == 0 { format!("{to}..{from}") } else { format!("{from}..{to}") };
        let (from, to) = range.split_once("..").unwrap();
        let patch = read_as(git, &format!("git:///diff/{range}"), None).await;
        repo.git_with(&["read-tree", from], &env, b"");
        if !patch.is_empty() {
            repo.git_with(&["apply", "--cached", "--whitespace=nowarn"], &env, &patch);
        }
        let ours = repo.git_with(&["write-tree"], &env, b"");
        let told = repo.git(&["rev-parse", &format!("{to}^{{tree}}")]);
        assert_eq!(ours, told, "{range} leads elsewhere");
        renames_are_equal(repo, git, from, to).await;
    }
    let commit = &head[5];
    let json = read_json(git, &format!("git:///commit/{commit}")).await;
    let told = repo.git_text(&["log", "-1", "--format=%H|%P|%an|%ae|%aI|%cn|%cI|%s", commit]);
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let parents: Vec<String> = json["parents"].as_array().unwrap().iter().map(text).collect();
    let person = |who: &str, what: &str| text(&json[who][what]);
    let ours = [
        text(&json["hash"]),
        parents.join(" "),
        person("author", "name"),
        person("author", "email"),
        person("author", "date"),
        person("committer", "name"),
        person("committer", "date"),
        text(&json["subject"]),
    ];
    assert_eq!(ours.join("|"), told);
}

/// The names of a diff, with renames and counts of lines.
async fn renames_are_equal(repo: &TestRepo, git: &Git, from: &str, to: &str) {
    let json = read_json(git, &format!("git:///diff/{from}..{to}")).await;
    let row = |file: &serde_json::Value| {
        let from = file.get("from").and_then(|from| from.as_str()).unwrap_or_default();
        format!("{}|{}|{from}", file["status"].as_str().unwrap(), file["path"].as_str().unwrap())
    };
    let mut ours: Vec<String> = json["files"].as_array().unwrap().iter().map(row).collect();
    let told = repo.git(&["diff", "-M", "--name-status", "-z", from, to]);
    let told = String::from_utf8_lossy(&told).into_owned();
    let mut words = told.split('\0').filter(|word| !word.is_empty());
    let mut rows = Vec::new();
    while let (Some(status), Some(path)) = (words.next(), words.next()) {
        rows.push(match &status[..1] {
            "R" => format!("R|{}|{path}", words.next().unwrap()),
            other => format!("{other}|{path}|"),
        });
    }
    ours.sort();
    rows.sort();
    assert_eq!(ours, rows, "{from}..{to}");
}

/// How many lines are blamed as git blames them, of how many.
async fn blame_share(repo: &TestRepo, git: &Git, paths: &[Vec<u8>]) -> (usize, usize) {
    let (mut equal, mut all) = (0, 0);
    for path in paths.iter().filter(|path| path.ends_with(b".txt")) {
        let Ok(name) = std::str::from_utf8(path) else { continue };
        let told = repo.git(&["blame", "--line-porcelain", "main", "--", name]);
        let mut rows = Vec::new();
        let (mut hash, mut original) = (String::new(), String::new());
        for line in String::from_utf8_lossy(&told).lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if words[0].len() == 40 && words.len() >= 3 && !line.starts_with('\t') {
                (hash, original) = (words[0].to_owned(), words[1].to_owned());
            } else if let Some(name) = line.strip_prefix("filename ") {
                rows.push(format!("{hash} {original} {name}"));
            }
        }
        let json = read_json(git, &format!("git:///blame/main/{}", encoded(path))).await;
        let ours: Vec<String> = json
            .as_array()
            .unwrap()
            .iter()
            .map(|line| {
                let text = |name: &str| line[name].as_str().unwrap().to_owned();
                let path = text("path");
                let path = if path.is_ascii() { path } else { format!("\"{path}\"") };
                format!("{} {} {path}", text("commit"), line["original_line"])
            })
            .collect();
        assert_eq!(ours.len(), rows.len(), "{name} has other lines");
        all += rows.len();
        equal += ours
            .iter()
            .zip(&rows)
            .filter(|(ours, told)| {
                let first =
                    |row: &str| row.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
                first(ours) == first(told)
            })
            .count();
    }
    (equal, all)
}

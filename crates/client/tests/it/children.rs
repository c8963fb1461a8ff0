//! Tests with child processes: start, exit, crash, stderr, overlong lines, process groups.

use std::time::Duration;

use client::{Client, Error, NotificationKind, Options, Request, ServerTarget};

use crate::scripted_pipe::{ask, fast_options, in_time};

/// A shell script that plays a server: `$line` is the last message it read, `$id` its id.
const OPENING: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
hear() {
  IFS= read -r line || exit 0
  id=${line#*\"id\":}; id=${id%%,*}
}
while hear; do case $line in
  *server/discover*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id";;
  *notifications/initialized*) break;;
  *initialize*) answer '{"protocolVersion":"2025-06-18","capabilities":{"resources":{}},"serverInfo":{"name":"sh","version":"1"}}';;
esac; done
"#;

fn shell(script: &str, env: &[(&str, &str)]) -> ServerTarget {
    ServerTarget::Child {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), format!("{OPENING}{script}")],
        inherited_env: vec![],
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        cwd: None,
    }
}

async fn list(client: &Client) -> Result<String, Error> {
    let answer = in_time(ask(client, "resources/list")).await?;
    Ok(answer.get().to_owned())
}

/// Repeats the request until it succeeds.
async fn list_at_last(client: &Client) -> String {
    let asking = async {
        loop {
            if let Ok(listed) = list(client).await {
                return listed;
            }
            tokio::task::yield_now().await;
        }
    };
    in_time(asking).await
}

#[tokio::test]
async fn a_program_is_started_where_and_with_what_it_was_told() {
    let folder = tempfile::tempdir().unwrap();
    let ServerTarget::Child { command, args, env, .. } =
        shell(r#"hear; answer "{\"is\":\"$KEY\",\"in\":\"$PWD\"}"; hear"#, &[("KEY", "v")])
    else {
        panic!()
    };
    let place = folder.path().canonicalize().unwrap();
    let cwd = Some(place.clone());
    let client = Client::new(
        ServerTarget::Child { command, args, inherited_env: vec![], env, cwd },
        fast_options(),
    );
    let listed = list(&client).await.unwrap();
    assert_eq!(listed, format!(r#"{{"is":"v","in":"{}"}}"#, place.display()));
}

#[tokio::test]
async fn a_program_that_does_not_start_is_unreachable() {
    let (command, args, env, cwd) = ("/nonexistent/program".to_owned(), vec![], vec![], None);
    let client = Client::new(
        ServerTarget::Child { command, args, inherited_env: vec![], env, cwd },
        fast_options(),
    );
    assert!(matches!(list(&client).await, Err(Error::Unreachable(_))));
    let script = "echo broken settings >&2; exit 3";
    let args = vec!["-c".to_owned(), script.to_owned()];
    let (command, env) = ("sh".to_owned(), vec![]);
    let client = Client::new(
        ServerTarget::Child { command, args, inherited_env: vec![], env, cwd: None },
        fast_options(),
    );
    let error = list(&client).await.unwrap_err();
    let Error::Unreachable(why) = &error else { panic!("{error}") };
    assert!(why.contains("exited with status 3") && why.contains("broken settings"), "{why}");
}

#[tokio::test]
async fn a_program_that_is_killed_ends_what_waits_and_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = r#"
        hear
        if [ -e "$MARK" ]; then answer '{"again":true}'; hear; exit; fi
        : > "$MARK"; echo "about to die" >&2; kill -9 $$
    "#;
    let client = Client::new(shell(script, &[("MARK", mark.to_str().unwrap())]), fast_options());
    let mut notices = client.notifications();
    let error = list(&client).await.unwrap_err();
    let Error::Closed(why) = &error else { panic!("{error}") };
    assert!(why.contains("signal: 9") && why.contains("about to die"), "{why}");
    assert_eq!(list_at_last(&client).await, r#"{"again":true}"#);
    // The list may have changed while there was no connection.
    let notice = in_time(notices.next()).await.unwrap();
    assert_eq!((notice.kind, notice.from_server), (NotificationKind::ResourceListChanged, false));
}

#[tokio::test]
async fn complaints_without_measure_block_nobody() {
    let script = r#"hear; head -c 104857600 /dev/zero | tr '\0' x >&2; answer '{}'; hear"#;
    let client = Client::new(shell(script, &[]), fast_options());
    assert_eq!(list(&client).await.unwrap(), "{}");
}

#[tokio::test]
async fn a_line_of_a_gibibyte_is_too_large_and_not_kept() {
    let script = r#"
        hear; printf '{"jsonrpc":"2.0","id":%s,"result":"' "$id"
        head -c 1073741824 /dev/zero | tr '\0' x; printf '"}\n'
        hear; answer '{"fine":true}'; hear
    "#;
    let options = Options { max_message_bytes: 1 << 20, ..fast_options() };
    let client = Client::new(shell(script, &[]), options);
    assert!(matches!(list(&client).await, Err(Error::TooLarge(_))));
    // The client discards the rest of the line; the next request succeeds.
    assert_eq!(list(&client).await.unwrap(), r#"{"fine":true}"#);
}

#[tokio::test]
async fn a_program_that_hangs_is_told_that_nobody_waits() {
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("told");
    let script = r#"hear; hear; printf '%s' "$line" > "$TOLD.part"; mv "$TOLD.part" "$TOLD"; hear"#;
    let options = Options { timeout: Duration::from_millis(100), ..fast_options() };
    let client = Client::new(shell(script, &[("TOLD", told.to_str().unwrap())]), options);
    in_time(client.peer()).await.unwrap();
    assert!(matches!(list(&client).await, Err(Error::TimedOut)));
    let text = read_at_last(&told).await;
    assert!(text.contains("notifications/cancelled"), "{text}");
}

#[tokio::test]
async fn a_program_that_will_not_leave_is_ended_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = r#"
        trap '' TERM
        sh -c 'trap "" TERM; while :; do sleep 1; done' < /dev/null > /dev/null 2>&1 &
        printf '%s %s' $$ $! > "$PIDS.part"; mv "$PIDS.part" "$PIDS"
        while :; do sleep 1; done
    "#;
    let client = Client::new(shell(script, &[("PIDS", pids.to_str().unwrap())]), fast_options());
    in_time(client.peer()).await.unwrap();
    let started = read_at_last(&pids).await;
    drop(client);
    for pid in started.split(' ') {
        in_time(gone(pid)).await;
    }
}

#[tokio::test]
async fn a_program_that_does_not_read_is_ended_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = r#"
        printf '%s' $$ > "$PIDS.part"; mv "$PIDS.part" "$PIDS"
        while :; do sleep 1; done
    "#;
    let options = Options { timeout: Duration::from_millis(100), ..fast_options() };
    let client = Client::new(shell(script, &[("PIDS", pids.to_str().unwrap())]), options);
    in_time(client.peer()).await.unwrap();
    // More than a pipe holds, so that the write blocks.
    let request = Request::new("resources/read").uri(&"a".repeat(1 << 20));
    assert!(matches!(in_time(client.send_request(&request)).await, Err(Error::TimedOut)));
    let pid = read_at_last(&pids).await;
    drop(client);
    in_time(gone(&pid)).await;
}

#[tokio::test]
async fn a_program_that_leaves_when_it_is_told_to_is_let_go_in_peace() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("left");
    let script = r#"hear() { IFS= read -r line || { printf bye > "$LEFT"; exit; }; }; hear"#;
    let options = Options { exit_timeout: Duration::from_secs(20), ..fast_options() };
    let client = Client::new(shell(script, &[("LEFT", left.to_str().unwrap())]), options);
    in_time(client.peer()).await.unwrap();
    in_time(client.close()).await;
    assert_eq!(std::fs::read_to_string(&left).unwrap(), "bye");
}

#[tokio::test]
async fn what_a_program_leaves_behind_when_it_leaves_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = r#"
        sh -c 'while :; do sleep 1; done' < /dev/null > /dev/null 2>&1 &
        printf '%s' $! > "$PIDS.part"; mv "$PIDS.part" "$PIDS"
        hear
    "#;
    let client = Client::new(shell(script, &[("PIDS", pids.to_str().unwrap())]), fast_options());
    in_time(client.peer()).await.unwrap();
    let pid = read_at_last(&pids).await;
    in_time(client.close()).await;
    in_time(gone(&pid)).await;
}

#[tokio::test]
async fn a_program_whose_output_closes_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = r#"
        printf '%s' $$ > "$PIDS.part"; mv "$PIDS.part" "$PIDS"
        hear; exec >&-; while :; do sleep 1; done
    "#;
    let client = Client::new(shell(script, &[("PIDS", pids.to_str().unwrap())]), fast_options());
    let error = list(&client).await.unwrap_err();
    assert!(matches!(error, Error::Closed(_)), "{error}");
    let pid = read_at_last(&pids).await;
    in_time(gone(&pid)).await;
}

async fn read_at_last(path: &std::path::Path) -> String {
    let reading = async {
        loop {
            if let Ok(text) = std::fs::read_to_string(path) {
                return text;
            }
            tokio::task::yield_now().await;
        }
    };
    in_time(reading).await
}

/// Waits until a process has exited, or is a zombie.
async fn gone(pid: &str) {
    let path = format!("/proc/{pid}/stat");
    while std::fs::read_to_string(&path).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}

//! Tests of programs behind mounts: their environment, and that none outlives refdesk.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::program::{StdioProgram, project, refdesk};

/// Longer than any step takes on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(120);

fn write_settings(folder: &Path, mount: &str) {
    let settings = format!("[mounts.m]\nkind = \"upstream\"\n{mount}\n");
    fs::write(folder.join("refdesk.toml"), settings).unwrap();
}

#[test]
fn a_program_gets_the_variables_of_its_mount_and_no_others() {
    let folder = project();
    let mount = "command = [\"sh\", \"-c\", \"env > got; exit 1\"]\n\
                 env = { OWN = \"${TOKEN_OF_M}\" }\ninherit_env = [\"NAMED_*\"]";
    write_settings(folder.path(), mount);
    let mut command = refdesk(folder.path(), &["serve", "--stdio"]);
    command.env("TOKEN_OF_M", "mine").env("TOKEN_OF_N", "other").env("AWS_SECRET_ACCESS_KEY", "k");
    command.env("NAMED_A", "a").env("LC_ALL", "C").env("REFDESK_LOG", "info");
    command.stderr(fs::File::create(folder.path().join("log")).unwrap());
    let mut desk = StdioProgram::start(command);
    desk.request("resources/list", json!({}));
    let got = fs::read_to_string(folder.path().join("got")).unwrap();
    let has = |line: &str| got.lines().any(|one| one == line);
    assert!(has("OWN=mine") && has("NAMED_A=a") && has("LC_ALL=C"), "{got}");
    assert!(got.lines().any(|line| line.starts_with("PATH=")), "{got}");
    // It is started again, and the log says once what it inherits.
    desk.request("resources/list", json!({}));
    assert!(desk.close().0);
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    let told: Vec<_> = log.lines().filter(|line| line.contains("inherits only")).collect();
    let [told] = told[..] else { panic!("{log}") };
    assert!(
        told.contains("mount m") && told.contains(" NAMED_A") && told.contains(" PATH"),
        "{told}"
    );
    for hidden in ["TOKEN_OF", "AWS_", "REFDESK_LOG", "CARGO"] {
        assert!(!got.contains(hidden) && !told.contains(hidden), "{got} {told}");
    }
}

/// Starts refdesk with a program whose children leave its process group. All of them hold the
/// returned connection open.
fn start_family(folder: &Path) -> (StdioProgram, BufReader<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port}; trap '' HUP TERM; setsid sleep 1000 & \
         nohup sleep 1000 > /dev/null 2>&1 & (setsid nohup sleep 1000 > /dev/null 2>&1 &); \
         echo ready >&3; while :; do sleep 1000; done"
    );
    write_settings(folder, &format!("command = [\"bash\", \"-c\", \"{script}\"]"));
    let desk = StdioProgram::start(refdesk(folder, &["serve", "--stdio"]));
    let (stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let (mut family, mut line) = (BufReader::new(stream), String::new());
    family.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (desk, family)
}

/// Waits until the last process that holds the connection has ended.
fn wait_for_end(mut family: BufReader<TcpStream>) {
    let ended = family.read_to_end(&mut Vec::new());
    assert!(ended.is_ok(), "a process is left: {ended:?}");
}

#[test]
fn nobody_is_left_when_refdesk_gets_a_signal() {
    // By SIGTERM and SIGINT it ends in order, by SIGKILL it dies.
    for (signal, in_order) in [(Signal::TERM, true), (Signal::INT, true), (Signal::KILL, false)] {
        let folder = project();
        let (desk, family) = start_family(folder.path());
        let id = Pid::from_raw(i32::try_from(desk.id()).unwrap()).unwrap();
        kill_process(id, signal).unwrap();
        wait_for_end(family);
        assert_eq!(desk.close().0, in_order, "{signal:?}");
    }
}

#[test]
fn nobody_is_left_when_refdesk_ends() {
    let folder = project();
    let (desk, family) = start_family(folder.path());
    assert!(desk.close().0);
    wait_for_end(family);
}

/// A server that repeats its token to stderr, in errors, in failed results and in progress.
const TALKATIVE: &str = r#"
echo "using $TOKEN" >&2
say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  case $line in
    *server/discover*) say '"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}';;
    *works*)
      printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":"bad %s"}}\n' "$id" "$TOKEN"
      say '"result":{"resultType":"complete","content":[]}';;
    *fails*) say '"result":{"resultType":"complete","isError":true,"content":[{"type":"text","text":"bad '"$TOKEN"'"}]}';;
    *) say '"error":{"code":7,"message":"bad '"$TOKEN"'","data":{"sent":"'"$TOKEN"'"}}';;
  esac
done
"#;

#[test]
fn a_token_that_a_server_repeats_is_masked() {
    let mounts = [
        "command = [\"sh\", \"server.sh\"]\nenv = { TOKEN = \"${TOKEN_OF_M}\" }",
        "command = [\"sh\", \"server.sh\"]\ninherit_env = [\"TOK*\"]",
        "command = \"sh\"\nargs = [\"server.sh\", \"--token=${TOKEN_OF_M}\"]",
    ];
    for mount in mounts {
        let folder = project();
        let script = format!("TOKEN=${{TOKEN:-${{1#--token=}}}}\n{TALKATIVE}");
        fs::write(folder.path().join("server.sh"), script).unwrap();
        write_settings(folder.path(), mount);
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let mut command = refdesk(folder.path(), &["serve", "--stdio"]);
        command.env("TOKEN_OF_M", "t0k3n-t0k3n").env("REFDESK_LOG", "debug").stderr(log);
        if mount.contains("inherit_env") {
            command.env("TOKEN", "t0k3n-t0k3n");
        }
        check_masking(StdioProgram::start(command));
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(log.contains("using [masked]") && !log.contains("t0k3n"), "{mount}: {log}");
    }
}

/// Makes the server repeat its token in every way, and looks for it in what a client gets.
fn check_masking(mut desk: StdioProgram) {
    for name in ["m_fails", "m_refuses"] {
        let told = desk.request("tools/call", json!({ "name": name, "arguments": {} })).to_string();
        assert!(told.contains("bad [masked]") && !told.contains("t0k3n"), "{told}");
    }
    let followed = json!({ "name": "m_works", "_meta": { "progressToken": "p" } });
    let told = desk.request("tools/call", followed).to_string();
    assert!(told.contains("notifications/progress") && told.contains("bad [masked]"), "{told}");
    assert!(desk.receive()["result"].is_object());
    let told = desk.request("resources/read", json!({ "uri": "m+a:b" })).to_string();
    assert!(!told.contains("t0k3n"), "{told}");
    assert!(desk.close().0);
}

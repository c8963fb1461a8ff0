//! Tests of conversions that last: their limits, how many run at once, and what a person is told.
//!
//! A program that stands in for `pdftotext` waits at a pipe of the test, which opens only when the
//! program does. So the test knows that the conversion runs, and decides when it ends.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::pty::OpenptFlags;
use serde_json::json;
use tempfile::TempDir;
use testkit::documents::pdf;

use crate::program::{StdioProgram, meta, refdesk};

/// Reads the name of a gate in the document, waits there, and gives a page of text.
const PROGRAM: &str = r#"#!/bin/sh
gate=$(grep -ao 'gate-[0-9]' | head -n 1)
read answer < "GATES/$gate"
echo '<page width="600">'
echo "<word xMin=\"0\" yMin=\"0\" xMax=\"9\" yMax=\"9\">$answer</word>"
echo '</page>'
"#;

struct Gates {
    home: TempDir,
}

impl Gates {
    /// A folder `app` with documents that are converted at gates of the same number.
    fn new() -> Self {
        let home = TempDir::with_prefix("gates").unwrap();
        for folder in ["app", "bin"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        let program = home.path().join("bin/pdftotext");
        let gates = home.path().join("bin").display().to_string();
        fs::write(&program, PROGRAM.replace("GATES", &gates)).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        for number in 1..=2 {
            let document = pdf(&[format!("gate-{number}")]);
            fs::write(home.path().join(format!("app/{number}.pdf")), document).unwrap();
            let made = Command::new("mkfifo").arg(Self::path(&home, number)).status().unwrap();
            assert!(made.success());
        }
        Self { home }
    }

    fn path(home: &TempDir, number: usize) -> PathBuf {
        home.path().join(format!("bin/gate-{number}"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = refdesk(self.home.path(), arguments);
        let own = self.home.path().join("bin").display().to_string();
        command.env("PATH", format!("{own}:{}", std::env::var("PATH").unwrap()));
        command
    }

    fn serve(&self, render: &str) -> StdioProgram {
        let mount = "[mounts.app]\nkind = \"fs\"\npath = \"app\"\nindex = false\n";
        // A build for tests converts slowly, beside other work.
        let settings = format!("{mount}timeout = \"300s\"\n[render]\ntime = \"300s\"\n{render}");
        fs::write(self.home.path().join("refdesk.toml"), settings).unwrap();
        StdioProgram::start(self.command(&["serve", "--stdio"]))
    }

    /// Waits until the conversion at the gate runs. It goes on when the answer is written.
    fn wait_for(&self, number: usize) -> File {
        File::options().write(true).open(Self::path(&self.home, number)).unwrap()
    }

    /// Whether a conversion runs at the gate now.
    fn runs(&self, number: usize) -> bool {
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
        let mut options = File::options();
        options.write(true).custom_flags(flags).open(Self::path(&self.home, number)).is_ok()
    }
}

fn send_read(desk: &mut StdioProgram, id: usize, uri: &str) {
    let params = json!({ "uri": uri, "_meta": meta(&json!({ "dev.refdesk/accept": ["text/*"] })) });
    let message =
        json!({ "jsonrpc": "2.0", "id": id, "method": "resources/read", "params": params });
    desk.send_message(&message);
}

/// The answers to this many requests, by id.
fn texts(desk: &mut StdioProgram, count: usize) -> Vec<(u64, String)> {
    let mut texts: Vec<_> = (0..count)
        .map(|_| {
            let answer = desk.receive();
            let text = answer["result"]["contents"][0]["text"].as_str();
            let text = text.unwrap_or_else(|| panic!("{answer}")).to_owned();
            (answer["id"].as_u64().unwrap(), text)
        })
        .collect();
    texts.sort();
    texts
}

/// The only child of a process.
fn child_of(process: u32) -> u32 {
    let mut children = Vec::new();
    for task in fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten() {
        let listed = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(listed.split_whitespace().map(|id| id.parse::<u32>().unwrap()));
    }
    assert_eq!(children.len(), 1, "{children:?}");
    children[0]
}

fn limit(process: u32, name: &str) -> u64 {
    let limits = fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
    let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
    let fields: Vec<&str> = line[name.len()..].split_whitespace().collect();
    assert_eq!(fields[0], fields[1], "the converter cannot raise {name}");
    fields[0].parse().unwrap()
}

#[test]
fn a_converter_has_limits_of_memory_files_and_time() {
    for (render, memory) in [("", 1 << 30), ("memory = \"256MiB\"\n", 256 << 20)] {
        let gates = Gates::new();
        let mut desk = gates.serve(render);
        send_read(&mut desk, 1, "file:///app/1.pdf");
        let mut gate = gates.wait_for(1);
        let converter = child_of(desk.id());
        let space = limit(converter, "Max address space");
        let own = space.checked_sub(memory).unwrap_or_else(|| panic!("{space} of {memory}"));
        assert!(own > 0 && own <= 1 << 30, "what the program itself takes is added: {own}");
        assert_eq!(limit(converter, "Max open files"), 64);
        assert_eq!(limit(converter, "Max file size"), 0);
        assert_eq!(limit(converter, "Max core file size"), 0);
        assert_eq!(limit(converter, "Max cpu time"), 300);
        writeln!(gate, "done").unwrap();
        drop(gate);
        assert!(texts(&mut desk, 1)[0].1.contains("done"));
    }
}

#[test]
fn as_many_conversions_run_at_once_as_the_settings_say() {
    let gates = Gates::new();
    let mut desk = gates.serve("at_once = 2\n");
    for number in [1, 2] {
        send_read(&mut desk, number, &format!("file:///app/{number}.pdf"));
    }
    let open = [gates.wait_for(1), gates.wait_for(2)];
    for (mut gate, word) in open.into_iter().zip(["one", "two"]) {
        writeln!(gate, "{word}").unwrap();
    }
    let given = texts(&mut desk, 2);
    assert!(given[0].1.contains("one") && given[1].1.contains("two"), "{given:?}");

    let gates = Gates::new();
    let mut desk = gates.serve("at_once = 1\n");
    send_read(&mut desk, 1, "file:///app/1.pdf");
    let mut gate = gates.wait_for(1);
    send_read(&mut desk, 2, "file:///app/2.pdf");
    fs::write(gates.home.path().join("app/small.txt"), "small\n").unwrap();
    send_read(&mut desk, 3, "file:///app/small.txt");
    assert_eq!(texts(&mut desk, 1), [(3, "small\n".to_owned())], "others are answered meanwhile");
    assert!(!gates.runs(2), "one at a time");
    writeln!(gate, "one").unwrap();
    drop(gate);
    let mut gate = gates.wait_for(2);
    writeln!(gate, "two").unwrap();
    drop(gate);
    assert_eq!(texts(&mut desk, 2).len(), 2);
}

#[test]
fn a_person_at_a_terminal_is_told_that_a_conversion_goes_on() {
    let gates = Gates::new();
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = rustix::pty::openpt(flags).unwrap();
    rustix::pty::unlockpt(&terminal).unwrap();
    let name = rustix::pty::ptsname(&terminal, Vec::new()).unwrap();
    let file = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = gates.command(&["convert", "app/1.pdf"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut gate = gates.wait_for(1);
    let (mut told, mut terminal) = (String::new(), File::from(terminal));
    let mut bytes = [0; 256];
    while !told.contains("converting 1.pdf: ") {
        let count = terminal.read(&mut bytes).unwrap_or_else(|error| panic!("{error}: {told}"));
        told.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    writeln!(gate, "done").unwrap();
    drop(gate);
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success() && text.contains("done"), "{text}");
}

/// A form that another reader made is not taken for that of a program which is installed later.
#[test]
fn a_form_is_made_again_when_the_program_that_reads_pdf_changes() {
    let home = TempDir::with_prefix("program").unwrap();
    for folder in ["app", "bin"] {
        fs::create_dir(home.path().join(folder)).unwrap();
    }
    fs::write(home.path().join("app/a.pdf"), pdf(&["Words of the document".to_owned()])).unwrap();
    let convert = |path: &Path| {
        let mut command = refdesk(home.path(), &["convert", "app/a.pdf", "--to", "text/plain"]);
        let output = command.env("PATH", path).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let bin = home.path().join("bin");
    assert_eq!(convert(&bin).trim(), "Words of the document");
    let program = bin.join("pdftotext");
    for answer in ["first", "second"] {
        let word = format!(
            "<word xMin=\"0\" yMin=\"0\" xMax=\"9\" yMax=\"9\">{answer}-program-of-poppler</word>"
        );
        let script = format!(
            "#!/bin/sh\n/bin/cat >/dev/null\necho '<page width=\"9\">'\necho '{word}'\necho '</page>'\n"
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(convert(&bin).trim(), format!("{answer}-program-of-poppler"));
    }
    assert_eq!(fs::read_dir(home.path().join(".cache/refdesk/forms")).unwrap().count(), 3);
}

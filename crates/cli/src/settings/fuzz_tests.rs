//! Fuzz targets of the settings: the TOML file, host config files and command-line mounts.

use std::path::{Path, PathBuf};

use testkit::FuzzTarget;

use super::host_file::parse_host_file;
use super::mount::is_mount_name;
use super::{Settings, SettingsText, parse};

fn check_settings(input: &[u8]) {
    let content = String::from_utf8_lossy(input).into_owned();
    let lines = content.matches('\n').count() + 1;
    let text = SettingsText { file: PathBuf::from("f"), content };
    match parse(text.clone()) {
        Ok(settings) => {
            assert!(settings.mounts.keys().all(|name| is_mount_name(name)));
            let again = parse(text).expect("it is parsed as before");
            assert_eq!(format!("{again:?}"), format!("{settings:?}"));
        }
        Err(diagnostic) => {
            let told = diagnostic.to_string();
            let mut place = told.split(':').skip(1).map_while(|part| part.parse::<usize>().ok());
            let (line, column) = (place.next().unwrap_or(1), place.next().unwrap_or(1));
            assert!((1..=lines).contains(&line) && column > 0, "{told}");
        }
    }
}

#[test]
fn any_settings_file_is_parsed_or_refused_with_a_place() {
    let examples: &[&[u8]] = &[
        b"[server]\nlisten = \"127.0.0.1:7878\"\npage_size = 100\nsession_idle = \"5 min\"\n",
        b"[mounts.project]\nkind = \"fs\"\npath = \".\"\nlisting = \"flat\"\nwatch = \"auto\"\n\
          poll = \"2s\"\nmax_read = \"10 MiB\"\n",
        b"[mounts.a]\nkind = \"upstream\"\ncommand = [\"npx\", \"-y\", \"x\"]\n\
          env = { A = \"b\" }\n[mounts.b]\nkind = \"upstream\"\nurl = \"https://x/mcp\"\n",
        b"[mounts.s]\nkind = \"static\"\n[[mounts.s.resources]]\nuri = \"x:1\"\nname = \"a\"\n\
          text = '''a\nb'''\n[[mounts.s.templates]]\nuri = \"x:{a}\"\nname = \"t\"\n",
        b"[[access]]\nallow = [\"docs/**\"]\nprincipals = [\"ada\"]\nmethods = [\"read\"]\n",
        b"[sever]\n\"\xc3\xa9\\u00e9\" = 1_000\nd = 1979-05-27T07:32:00Z\nf = [inf, 0x1F, 1e9]\n",
    ];
    FuzzTarget { name: "settings", examples, check: check_settings }.test();
}

fn check_host_file(input: &[u8]) {
    let content = String::from_utf8_lossy(input);
    if let Ok(mounts) = parse_host_file(Path::new("/a/b.json"), &content) {
        assert!(mounts.iter().all(|(name, _)| is_mount_name(name)));
    }
    let _ = Settings::default().add_from_argument(&content);
}

#[test]
fn any_host_file_is_parsed_or_refused() {
    let examples: &[&[u8]] = &[
        br#"{"mcpServers":{"My Server":{"command":"npx","args":["-y","x"],"env":{"A":"b"}}}}"#,
        br#"{"servers":{"a":{"url":"https://x/mcp","headers":{"A":"b"},"disabled":true}}}"#,
        br#"{"mcpServers":{"b":{"serverUrl":"http://x","type":"sse"}},"other":[1,null]}"#,
        br#"notes=npx -y "a b" 'c d' e\ f"#,
    ];
    FuzzTarget { name: "host file", examples, check: check_host_file }.test();
}

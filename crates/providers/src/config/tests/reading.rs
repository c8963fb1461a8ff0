//! Tests of files, their formats and keys.

use std::os::unix::fs::symlink;

use resource::{ErrorKind, Provider as _};
use testkit::local_context;

use super::{ConfigFolder, complete, list, meta, read, stat, try_read, uri};

const KEY: &str = "config:///keys/{+file}/{+key}";

#[tokio::test]
async fn a_file_has_its_text_and_normalised_json() {
    let text = "b = 1_000 # note\na = [1979-05-27]\n";
    let folder = ConfigFolder::of(&[("a.toml", text), ("b.json", "{\"x\":1}"), ("c.txt", "c")]);
    let served = folder.serve(&["*"]);
    let json = "{\n  \"b\": 1000,\n  \"a\": [\n    \"1979-05-27\"\n  ]\n}";
    let normalised = "application/json;variant=normalised";
    let parts = try_read(&served, "config:///a.toml", None).await.unwrap();
    let toml = ("application/toml".to_owned(), text.to_owned());
    assert_eq!(parts, [toml.clone(), (normalised.to_owned(), json.to_owned())]);
    let formats = stat(&served, "config:///a.toml").await.formats.clone();
    let formats: Vec<&str> = formats.iter().map(|format| format.mime.as_str()).collect();
    assert_eq!(formats, ["application/toml", normalised]);
    let wanted = try_read(&served, "config:///a.toml", Some("application/json")).await.unwrap();
    assert_eq!(wanted[0].1, json);
    // Of a JSON file, both formats are JSON: the full name tells them apart.
    let wanted = try_read(&served, "config:///b.json", Some(normalised)).await.unwrap();
    assert_eq!(wanted, [(normalised.to_owned(), "{\n  \"x\": 1\n}".to_owned())]);
    let wanted = try_read(&served, "config:///b.json", Some("application/json")).await.unwrap();
    assert_eq!(wanted[0].1, "{\"x\":1}");
    assert_eq!(try_read(&served, "config:///c.txt", None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_file_that_cannot_be_parsed_is_read_as_text_and_its_keys_say_where() {
    let folder = ConfigFolder::of(&[("a.toml", "a = 1\nb = hunter2 x\n"), ("b.toml", "x = 1")]);
    let served = folder.serve(&["*"]);
    let parts = try_read(&served, "config:///a.toml", None).await.unwrap();
    assert_eq!(parts.len(), 1);
    for (at, format) in [
        ("config:///a.toml", Some("application/json")),
        ("config:///keys/a.toml", None),
        ("config:///keys/a.toml/a", None),
    ] {
        let error = try_read(&served, at, format).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{at}");
        let told = error.with_causes();
        assert!(told.starts_with("a.toml cannot be parsed: line 2, column"), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
    assert_eq!(read(&served, "config:///keys/b.toml/x").await, "1");
}

#[tokio::test]
async fn a_key_says_where_it_stands() {
    let folder = ConfigFolder::of(&[("sub/a.yaml", "x: 1\ny:\n  - a\n  - {z: 0x1F}\n")]);
    let served = folder.serve(&["**/*.yaml"]);
    let at = |keys: &str| format!("config:///keys/sub/a.yaml/{keys}");
    for (keys, line) in [("x", 1), ("y", 3), ("y/1", 4), ("y/1/z", 4)] {
        let origin = meta(&served, &at(keys), "origin").await;
        let expected = format!(r#"{{"file":"sub/a.yaml","line":{line}}}"#);
        assert_eq!(origin, Some(expected), "{keys}");
    }
    assert_eq!(read(&served, &at("y/1/z")).await, "0x1F");
    assert_eq!(read(&served, &at("y/1")).await, "{\n  \"z\": 31\n}");
    let scalar = stat(&served, &at("x")).await;
    assert_eq!((scalar.mime.as_deref(), scalar.listable), (Some("text/plain"), Some(false)));
    let table = stat(&served, &at("y")).await;
    assert_eq!((table.mime.as_deref(), table.listable), (Some("application/json"), Some(true)));
    let slash = stat(&served, "config:///keys/sub/a.yaml/y/").await;
    assert_eq!(slash.uri.as_str(), "config:///keys/sub/a.yaml/y/");
}

#[tokio::test]
async fn keys_are_completed_one_level_at_a_time() {
    let folder = ConfigFolder::of(&[
        ("a.toml", "port = 1\n[db]\nhost = 'x'\n\"a/b?\" = [1]\n"),
        ("sub/b.json", "{}"),
        ("sub/c.txt", "c"),
    ]);
    let served = folder.serve(&["**"]);
    let file = ("config:///{+file}", "file");
    assert_eq!(complete(&served, file, "", None).await, ["a.toml", "sub/"]);
    assert_eq!(complete(&served, file, "sub/", None).await, ["sub/b.json", "sub/c.txt"]);
    assert_eq!(complete(&served, (KEY, "file"), "sub/", None).await, ["sub/b.json"]);
    let key = (KEY, "key");
    assert_eq!(complete(&served, key, "", Some("a.toml")).await, ["port", "db/"]);
    assert_eq!(complete(&served, key, "D", Some("a.toml")).await, ["db/"]);
    let below = complete(&served, key, "db/", Some("a.toml")).await;
    assert_eq!(below, ["db/host", "db/a%2Fb%3F/"]);
    assert_eq!(complete(&served, key, "db/a%2Fb%3F/", Some("a.toml")).await, ["db/a%2Fb%3F/0"]);
    assert!(complete(&served, key, "", None).await.is_empty());
    assert!(complete(&served, key, "", Some("none.toml")).await.is_empty());
    assert_eq!(read(&served, "config:///keys/a.toml/db/a%2Fb%3F/0").await, "1");
}

#[tokio::test]
async fn links_out_of_the_folder_lead_nowhere_and_charsets_are_decoded() {
    let outside = ConfigFolder::of(&[("secret.toml", "x = 1")]);
    let folder = ConfigFolder::of(&[("in.toml", "y = 2")]);
    symlink(outside.at("secret.toml"), folder.at("out.toml")).unwrap();
    symlink("in.toml", folder.at("link.toml")).unwrap();
    // 名前 in Shift_JIS, and UTF-16 with a byte order mark.
    folder.write("sjis.ini", [b"k = ".as_slice(), &[0x96, 0xbc, 0x91, 0x4f], b"\n"].concat());
    let wide: Vec<u8> = "\u{feff}a: é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("wide.yaml", wide);
    let served = folder.serve(&["*"]);
    let error = try_read(&served, "config:///out.toml", None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert_eq!(read(&served, "config:///keys/link.toml/y").await, "2");
    assert_eq!(read(&served, "config:///keys/wide.yaml/a").await, "é");
    assert_eq!(read(&served, "config:///keys/sjis.ini/k").await, "名前");
    assert!(!list(&served, "").await.contains(&"config:///out.toml".to_owned()));
}

#[tokio::test]
async fn files_over_a_bound_are_refused_with_a_clear_error() {
    let folder = ConfigFolder::of(&[("bomb.yaml", "a: &a [x,x,x,x,x,x,x,x,x,x]\n")]);
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let below = vec![format!("*a{}", level - 1); 10].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    folder.write("bomb.yaml", bomb);
    std::fs::File::create(folder.at("huge.json")).unwrap().set_len(100 << 20).unwrap();
    folder.write("image.toml", [0xff, 0xd8, 0xff, 0, 1, 2, 0x80]);
    let served = folder.serve(&["*"]);
    let error = try_read(&served, "config:///keys/bomb.yaml", None).await.unwrap_err();
    assert!(error.message.contains("more than 200000 values"), "{error}");
    for at in ["config:///huge.json", "config:///keys/huge.json"] {
        let error = try_read(&served, at, None).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::TooLarge);
        assert!(error.message.contains("16 MiB"), "{error}");
    }
    let error = try_read(&served, "config:///image.toml", None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    served.stat(&local_context(), &uri("config:///huge.json")).await.unwrap();
}

//! Tests of settings errors: message, location and suggestion.

use std::path::PathBuf;

use super::SettingsText;
use super::parse;
use crate::assemble::{OwnResources, assemble};

/// The error for a settings file with this content, or "in order".
fn told(content: &str) -> String {
    let text = SettingsText { file: PathBuf::from("refdesk.toml"), content: content.to_owned() };
    let assembled = parse(text)
        .and_then(|settings| assemble(&settings, &[], &OwnResources::new(), None).map(drop));
    assembled.err().map_or("in order".to_owned(), |flaw| flaw.to_string())
}

#[test]
fn an_unknown_key_is_told_with_its_place_and_the_nearest_word() {
    let told = told("[mounts.project]\nkind = \"fs\"\npath = \".\"\nlisitng = \"flat\"\n");
    assert_eq!(
        told,
        "refdesk.toml:4:1: unknown key `lisitng`\n  4 | lisitng = \"flat\"\n    | ^^^^^^^\n  \
         hint: did you mean `listing`?"
    );
}

#[test]
fn each_mistake_is_told_where_it_stands() {
    let cases = [
        ("[sever]\n", "1:2: unknown table `sever`", "did you mean `server`?"),
        ("[[access]]\nallow = []\n", "1:1: this access rule names no globs", "[\"**\"]"),
        (
            "[[access]]\nprincipals = [\"ada\"]\n",
            "1:1: an access rule has either",
            "example: { allow",
        ),
        ("[[access]]\ndeny = [\"a[\"]\n", "1:1: `a[` is not a glob", "example: `docs/**/*.md`"),
        (
            "[[access]]\ndeny = [\"a\"]\nmethods = [\"wriet\"]\n",
            "3:12: unknown value",
            "list, read",
        ),
        ("[server]\npage_sise = 1\n", "2:1: unknown key `page_sise`", "`page_size`"),
        ("[server]\nlisten = \"nowhere\"\n", "2:10:", ""),
        ("[server]\nsession_idle = \"soon\"\n", "2:16:", "a time such as"),
        ("[server]\nsep2093 = \"alway\"\n", "2:11: unknown value `alway`", "`always`"),
        ("[mounts.A]\nkind = \"fs\"\n", "1:9: `A` is not a valid mount name", "`a`"),
        ("[mounts.a]\npath = \".\"\n", "1:9: this mount has no `kind`", "kind = \"fs\""),
        ("[mounts.a]\nkind = \"sf\"\n", "2:8: unknown mount kind", "did you mean `fs`?"),
        ("[mounts.a]\nkind = \"fs\"\n", "1:1: missing field `path`", ""),
        (
            "[mounts.a]\nkind = \"fs\"\npath = \".\"\nwatch = \"atuo\"\n",
            "4:9: unknown value `atuo`",
            "`auto`",
        ),
        ("[mounts.a]\nkind = \"fs\"\npath = \".\"\npoll = \"soon\"\n", "4:8:", "a time such as"),
        (
            "[mounts.a]\nkind = \"fs\"\npath = \".\"\nfile_api = \"portabel\"\n",
            "4:12: unknown value `portabel`",
            "`portable`",
        ),
        (
            "[mounts.a]\nkind = \"fs\"\npath = \"nowhere\"\n",
            "3:8: the folder `nowhere`",
            "paths are relative",
        ),
        (
            "[mounts.a]\nkind = \"fs\"\npath = \".\"\nmax_read = \"much\"\n",
            "4:12:",
            "a size such as",
        ),
        ("[server]\nlisten = \"/a.sock\"\n", "2:10:", "unix:/path/of/socket"),
        ("[server]\ntrusted_proxies = [\"all\"]\n", "not a range of addresses", "10.0.0.0/8"),
        ("[tls]\ncertificate = \"a.pem\"\n", "missing field `key`", ""),
        ("[tokens.Ada]\nhash = \"\"\n", "1:9: `Ada` is not a valid token name", "lower-case"),
        ("[tokens.local]\nhash = \"\"\n", "1:9: `local` is not", "take another name"),
        ("[tokens.ada]\nhash = \"blake3:1\"\n", "2:8: this is not the hash", "token new ada"),
        ("[tokens.ada]\nexpire = 1\n", "unknown key `expire`", "`expires`"),
        ("a = [\n", ":", ""),
    ];
    for (content, place, hint) in cases {
        let told = told(content);
        assert!(told.contains(place) && told.contains(hint), "{content}\n{told}");
    }
}

#[test]
fn a_mistake_in_a_documentation_mount_names_its_key() {
    let cases = [
        (
            "[mounts.a]\nkind = \"docs\"\npath = \".\"\nlanguages = [\"ja\", \"jp\"]\n",
            "4:20: `jp`: `jp` is no language; did you mean `ja`?",
            "languages = [",
        ),
        (
            "[mounts.a]\nkind = \"docs\"\npath = \".\"\nlanguages = [\"ja\", \"JA\"]\n",
            "4:20: `languages` has `ja` twice",
            "",
        ),
        (
            "[mounts.a]\nkind = \"docs\"\npath = \".\"\nlanguage = \"ja\"\n",
            "4:1: unknown key `language`",
            "`languages`",
        ),
        (
            "[mounts.a]\nkind = \"docs\"\npath = \"nowhere\"\n",
            "3:8: the folder `nowhere`",
            "paths are relative",
        ),
    ];
    for (content, place, hint) in cases {
        let told = told(content);
        assert!(told.contains(place) && told.contains(hint), "{content}\n{told}");
    }
}

#[test]
fn a_token_in_place_of_its_hash_is_not_repeated_in_the_error() {
    for line in ["hash = \"rdk_s3cret\"", "hsh = \"rdk_s3cret\"", "hash = [\"rdk_s3cret\"]"] {
        let told = told(&format!("[tokens.ada]\n{line}\n"));
        assert!(told.contains("rdk_…") && !told.contains("s3cret"), "{told}");
    }
}

#[test]
fn a_rule_that_makes_no_sense_is_refused() {
    let rule = |line: &str| {
        format!("[mounts.a]\nkind = \"fs\"\npath = \".\"\n[[mounts.a.rules]]\n{line}\n")
    };
    for (line, place) in [
        ("glob = \"a[\"", "5:8: not a glob"),
        ("glob = \"a\"\npriority = 2.0", "6:12: a priority must be between 0 and 1"),
        ("glob = \"a\"\naudience = [\"cat\"]", "unknown value `cat`"),
        ("glob = \"a\"\ncharset = \"klingon\"", "6:11: there is no charset `klingon`"),
        ("glob = \"a\"\nicons = [{ src = \"http://x/y.png\" }]", "an icon must be"),
    ] {
        let told = told(&rule(line));
        assert!(told.contains(place), "{line}\n{told}");
    }
    let told =
        told("[mounts.a]\nkind = \"static\"\nrules = [{ glob = \"a\", charset = \"sjis\" }]\n");
    assert!(told.contains("3:34: only the rules of a folder"), "{told}");
}

#[test]
fn a_declared_resource_has_its_content_once_and_its_uri_to_itself() {
    let resource = |line: &str| {
        format!("[mounts.a]\nkind = \"static\"\n[[mounts.a.resources]]\nname = \"n\"\n{line}\n")
    };
    for (line, place) in [
        ("uri = \"note://a\"", "this resource has no content"),
        ("uri = \"note://a\"\ntext = \"a\"\nbase64 = \"YQ==\"", "more than one content"),
        ("uri = \"note://a\"\nbase64 = \"!\"", "6:10: this is not base64"),
        ("uri = \"note://a\"\nfile = \"nowhere.md\"", "6:8: there is no file `nowhere.md`"),
        ("uri = \"no uri\"\ntext = \"\"", "5:7: not a valid URI"),
        (
            "uri = \"note://a\"\nformats = [{ mime = \"a/b\", text = \"\" }, { mime = \"a/b\", text = \"\" }]",
            "given twice",
        ),
    ] {
        let told = told(&resource(line));
        assert!(told.contains(place), "{line}\n{told}");
    }
    let one = |mount: &str| {
        format!(
            "[mounts.{mount}]\nkind = \"static\"\n[[mounts.{mount}.resources]]\n\
             uri = \"note://same\"\nname = \"n\"\ntext = \"\"\n"
        )
    };
    let told = told(&(one("first") + &one("second")));
    assert!(told.contains("by mount `first` and by mount `second`"), "{told}");
}

#[test]
fn a_template_may_not_answer_for_what_another_mount_declares() {
    let template = |mount: &str, uri: &str| {
        format!(
            "[mounts.{mount}]\nkind = \"static\"\n[[mounts.{mount}.templates]]\n\
             uri = \"{uri}\"\nname = \"n\"\ntext = \"\"\n"
        )
    };
    let resource = "[mounts.b]\nkind = \"static\"\n[[mounts.b.resources]]\n\
        uri = \"note://x\"\nname = \"n\"\ntext = \"\"\n";
    let both = told(&(template("a", "note://{id}") + resource));
    assert!(both.contains("by mount `a` and by mount `b`"), "{both}");
    let folder = "[mounts.p]\nkind = \"fs\"\npath = \".\"\n";
    let inside = told(&(template("a", "file:///p/{x}") + folder));
    assert!(inside.contains("is inside the folder of mount `p`"), "{inside}");
    let schemeless = told(&template("a", "no scheme {id}"));
    assert!(schemeless.contains("4:7: not a valid URI"), "{schemeless}");
}

#[test]
fn a_url_that_leads_back_to_this_server_is_left_out() {
    let left_out = |url: &str, listens_on: Option<&str>| {
        let content = format!("[mounts.a]\nkind = \"upstream\"\nurl = \"{url}\"\n");
        let text = SettingsText { file: PathBuf::from("refdesk.toml"), content };
        let mut settings = parse(text).unwrap();
        settings.address = listens_on.map(|address| address.parse().unwrap());
        let assembly = assemble(&settings, &[], &OwnResources::new(), None).unwrap();
        assembly.mounts[0].left_out.clone()
    };
    for url in ["http://127.0.0.1:7878/mcp", "http://localhost:7878/mcp", "http://[::1]:7878/mcp"] {
        let told = left_out(url, Some("7878")).unwrap();
        let place = "refdesk.toml:1:9: mount `a`, key `url`: this is refdesk itself";
        assert!(told.starts_with(place), "{told}");
        assert_eq!(left_out(url, Some("7879")), None);
        assert_eq!(left_out(url, Some("unix:/a.sock")), None);
        assert_eq!(left_out(url, None), None, "over stdio it listens nowhere");
    }
    assert!(left_out("http://10.0.0.7:7878/mcp", Some("10.0.0.7:7878")).is_some());
    assert_eq!(left_out("http://10.0.0.8:7878/mcp", Some("7878")), None);
}

#[test]
fn only_one_mount_may_do_without_a_prefix() {
    let server = |mount: &str, prefix: bool| {
        format!("[mounts.{mount}]\nkind = \"upstream\"\ncommand = \"x\"\nprefix = {prefix}\n")
    };
    assert_eq!(told(&(server("a", false) + &server("b", true))), "in order");
    let told = told(&(server("b", false) + &server("c", true) + &server("a", false)));
    assert!(told.contains("4:10: mounts `a` and `b` both set `prefix = false`"), "{told}");
    assert!(told.contains("only one mount may set `prefix = false`"), "{told}");
}

#[test]
fn the_examples_of_the_documentation_are_in_order() {
    assert_eq!(
        told("[mounts.a]\nkind = \"fs\"\npath = \".\"\nmax_read = \"10 MiB\"\n"),
        "in order"
    );
    assert_eq!(told(""), "in order");
    let server = |listing: &str| {
        told(&format!(
            "[mounts.a]\nkind = \"upstream\"\ncommand = \"c\"\nlisting = \"{listing}\"\n"
        ))
    };
    assert_eq!(server("30s"), "in order");
    assert!(server("flat").contains("4:11: "), "{}", server("flat"));
}

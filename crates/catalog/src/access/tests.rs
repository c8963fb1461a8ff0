//! Tests of the access rules.

use resource::{Principal, Uri};

use crate::address::Address;

use super::{AccessRule, AccessRules, MethodClass, Subject};

fn rule(allows: bool, globs: &[&str], principals: &[&str]) -> AccessRule {
    let owned = |texts: &[&str]| texts.iter().copied().map(str::to_owned).collect();
    let (globs, principals) = (owned(globs), owned(principals));
    AccessRule { allows, globs, principals, ..AccessRule::default() }
}

fn file(path: &str) -> Subject {
    let uri = Uri::parse(&format!("file:///{path}")).unwrap();
    Subject::resource(&uri, Some(&format!("file:///app/{path}")))
}

fn may(rules: &AccessRules, who: &str, path: &str) -> bool {
    rules.allow(&Principal::authenticated(who), MethodClass::Read, &file(path))
}

#[test]
fn the_first_match_holds_and_covers_what_lies_below() {
    let rules = [rule(true, &["docs/open"], &[]), rule(false, &["docs", "*.key"], &[])];
    let rules = AccessRules::new(rules).unwrap();
    for (path, allowed) in [
        ("docs/open/a.md", true),
        ("docs/a.md", false),
        ("docs", false),
        ("deep/er/x.key", false),
        ("docs/open/x.key", true),
        ("src/main.rs", true),
    ] {
        assert_eq!(may(&rules, "anyone", path), allowed, "{path}");
    }
}

#[test]
fn naming_a_principal_denies_all_others() {
    let rules = AccessRules::new([rule(true, &["docs/**"], &["ada"])]).unwrap();
    assert!(may(&rules, "ada", "docs/a.md") && may(&rules, "ada", "docs"));
    assert!(!may(&rules, "ada", "src/a.rs") && !may(&rules, "bob", "docs/a.md"));
    assert!(rules.show_mount(&Principal::authenticated("ada")));
    assert!(!rules.show_mount(&Principal::authenticated("bob")));
    assert!(!rules.show_mount(&Principal::local()));
}

#[test]
fn scopes_and_classes_narrow_a_rule() {
    let mut tools = rule(true, &["get_*"], &[]);
    tools.scopes = vec!["tools".to_owned()];
    tools.classes = vec![MethodClass::Tool];
    let rules = AccessRules::new([tools]).unwrap();
    let plain = Principal::authenticated("ada");
    let scoped = plain.with_scopes(vec!["tools".to_owned()]);
    let may = |who, class, name| rules.allow(who, class, &Subject::component(name));
    assert!(may(&scoped, MethodClass::Tool, "get_time"));
    assert!(!may(&scoped, MethodClass::Tool, "set_time"));
    assert!(!may(&scoped, MethodClass::Prompt, "get_time"));
    assert!(!may(&plain, MethodClass::Tool, "get_time"));
}

#[test]
fn a_glob_over_the_public_uri_is_as_good_as_one_over_the_path() {
    let rules = AccessRules::new([rule(false, &["file:///app/secret"], &[])]).unwrap();
    assert!(!may(&rules, "ada", "secret") && !may(&rules, "ada", "secret/a%20b"));
    assert!(may(&rules, "ada", "secrets"));
}

#[test]
fn what_no_rule_names_is_not_denied_by_a_rule() {
    let rules = [rule(false, &["deploy/*.key"], &["ada"]), rule(true, &["keys/**"], &["ada"])];
    let mut reading = rule(false, &["unread"], &[]);
    reading.classes = vec![MethodClass::Read];
    let rules = AccessRules::new(rules.into_iter().chain([reading])).unwrap();
    let denies = |who: &Principal, class, path: &str| {
        let uri = Uri::parse(&format!("config:///{path}")).unwrap();
        rules.denies(who, class, &uri, Some(&format!("config://app/{path}")))
    };
    let (ada, bob) = (Principal::authenticated("ada"), Principal::authenticated("bob"));
    assert!(denies(&ada, MethodClass::Read, "deploy/x.key"));
    assert!(denies(&ada, MethodClass::List, "deploy/x.key"));
    for (who, path) in [(&ada, "app.toml"), (&ada, "keys/app.toml"), (&bob, "deploy/x.key")] {
        assert!(!denies(who, MethodClass::Read, path), "{path}");
    }
    assert!(!may(&rules, "ada", "app.toml") && !may(&rules, "bob", "deploy/x.key"));
    assert!(
        denies(&bob, MethodClass::Read, "unread") && !denies(&bob, MethodClass::List, "unread")
    );
    assert!(!denies(&Principal::internal(), MethodClass::Read, "deploy/x.key"));
}

#[test]
fn the_folders_on_the_way_can_be_listed_and_nothing_else() {
    let rules = AccessRules::new([rule(true, &["a/b/*.md"], &["ada"])]).unwrap();
    let list = |path| rules.allow(&Principal::authenticated("ada"), MethodClass::List, &file(path));
    assert!(list("a") && list("a/b") && list("a/b/x.md"));
    assert!(!list("b") && !list("a/c") && !list("a/b/x.txt") && !may(&rules, "ada", "a"));
}

#[test]
fn the_top_folder_can_be_listed_and_so_can_those_that_a_public_glob_names() {
    let list = |rules: &AccessRules, path| {
        rules.allow(&Principal::authenticated("ada"), MethodClass::List, &file(path))
    };
    for globs in [["docs/**"], ["*.md"], ["file:///app/docs/**"]] {
        let rules = AccessRules::new([rule(true, &globs, &["ada"])]).unwrap();
        assert!(list(&rules, ""), "{globs:?}");
        assert!(!may(&rules, "ada", "") && !list(&rules, "secret"), "{globs:?}");
        let bob = Principal::authenticated("bob");
        assert!(!rules.allow(&bob, MethodClass::List, &file("")), "{globs:?}");
    }
    let rules = AccessRules::new([rule(true, &["file:///app/a/b/**"], &["ada"])]).unwrap();
    assert!(list(&rules, "a") && list(&rules, "a/b/x") && !list(&rules, "ab"));
    assert!(!may(&rules, "ada", "a"));
}

#[test]
fn a_glob_over_the_uris_of_another_mount_opens_nothing_here() {
    let rules = AccessRules::new([rule(true, &["file:///app/docs/**"], &["ada"])]).unwrap();
    let ada = Principal::authenticated("ada");
    for (name, is_here) in [("app", true), ("vault", false)] {
        let address = Address::Path { scheme: "file", name: name.to_owned() };
        let here = rules.for_address(&address);
        assert!(!here.is_empty());
        assert_eq!(here.show_mount(&ada), is_here, "{name}");
    }
}

#[test]
fn what_may_be_denied_in_a_folder_is_known() {
    let denying = [rule(false, &["docs/secret"], &[]), rule(true, &["**"], &["ada"])];
    let rules = AccessRules::new(denying).unwrap();
    let may_deny = |who: &str, path| {
        rules.may_deny_below(&Principal::authenticated(who), MethodClass::List, &file(path))
    };
    assert!(may_deny("ada", "") && may_deny("ada", "docs") && !may_deny("ada", "src"));
    assert!(may_deny("bob", "src"));
    let internal = Principal::internal();
    assert!(!rules.may_deny_below(&internal, MethodClass::List, &file("")));
}

#[test]
fn a_glob_of_all_in_a_folder_is_tied_to_the_top() {
    let rules = [rule(false, &["keys/**"], &[]), rule(true, &["docs/**"], &["ada"])];
    let rules = AccessRules::new(rules).unwrap();
    assert!(may(&rules, "ada", "docs/a.md") && may(&rules, "ada", "docs/keys/a.md"));
    assert!(!may(&rules, "ada", "private/docs/a.md") && !may(&rules, "ada", "keys/a"));
}

#[test]
fn the_start_of_a_template_tells_whether_it_reaches_something() {
    let rules = [rule(false, &["/a/no"], &[]), rule(true, &["/a/**", "/b-*"], &["ada"])];
    let rules = AccessRules::new(rules).unwrap();
    for (start, reaches) in [
        ("note://", true),
        ("note://a/", true),
        ("note://a/n", true),
        ("note://a/no/", false),
        ("note://b-", true),
        ("note://b-x/", true),
        ("note://c/", false),
    ] {
        let subject = Subject::start(start, Some(start));
        let ada = Principal::authenticated("ada");
        assert_eq!(rules.may_reach_from(&ada, MethodClass::List, &subject), reaches, "{start}");
    }
}

#[test]
fn a_path_that_a_server_may_resolve_to_another_one_is_denied() {
    let rules = AccessRules::new([rule(true, &["docs/**"], &["ada"])]).unwrap();
    for path in ["docs/../secret", "docs/%2e%2e/secret", "docs/./a", "docs/..%5Csecret"] {
        assert!(!may(&rules, "ada", path), "{path}");
    }
    assert!(may(&rules, "ada", "docs/..a") && may(&rules, "ada", "docs/a.."));
}

/// Whether a server's `uri` may be read.
fn may_of_server(rules: &AccessRules, who: &str, uri: &str) -> bool {
    let subject = Subject::resource(&Uri::parse(uri).unwrap(), Some(&format!("m+{uri}")));
    let subject = subject.resolved_by_server(true);
    rules.allow(&Principal::authenticated(who), MethodClass::Read, &subject)
}

#[test]
fn a_denied_path_is_denied_in_every_spelling_that_a_server_may_take_for_it() {
    for glob in ["docs/secret.md", "m+file:///docs/secret.md"] {
        let rules = AccessRules::new([rule(false, &[glob], &[])]).unwrap();
        for uri in [
            "file:///docs/secret.md",
            "file:///docs//secret.md",
            "file:////docs/secret.md",
            "file:///%2Fdocs/secret.md",
            "file:///docs%2F%2Fsecret.md",
            "file:///docs/secret.md/",
            "file:///docs/secret.md?x",
            "file:///docs/secret.md/?x",
            "file:///docs/secret.md#x",
            "file:///docs/secret.md?a=b/c#d/e",
            "file:///docs//secret.md?x",
        ] {
            assert!(!may_of_server(&rules, "ada", uri), "{glob}: {uri}");
        }
        for uri in [
            "file:///docs/open.md",
            "file:///docs/open.md?x=docs/secret.md",
            "file:///docs/open.md#docs",
            "file:///docs/secret.md%3Fx",
            "view:https://example.com/docs/open.md",
        ] {
            assert!(may_of_server(&rules, "ada", uri), "{glob}: {uri}");
        }
    }
    let rules = AccessRules::new([rule(false, &["docs"], &[])]).unwrap();
    assert!(!may_of_server(&rules, "ada", "file:///open//a") && may(&rules, "ada", "open//a"));
    assert!(!may(&rules, "ada", "docs//a") && !may(&rules, "ada", "x/..?y"));
}

#[test]
fn an_allowed_path_is_allowed_with_a_query_and_none_is_by_its_query_alone() {
    let rules = AccessRules::new([rule(true, &["docs/**", "*.md"], &["ada"])]).unwrap();
    for uri in ["git:///docs/a?author=x", "docs:///docs/a#part", "git:///docs/a.md?since=2020/1"] {
        assert!(may_of_server(&rules, "ada", uri), "{uri}");
    }
    for uri in ["git:///secret?x.md", "git:///secret#/x.md", "git:///secret?/docs/a.md"] {
        assert!(!may_of_server(&rules, "ada", uri), "{uri}");
    }
    let rules = AccessRules::new([rule(true, &["/items?q=*"], &["ada"])]).unwrap();
    assert!(may_of_server(&rules, "ada", "shop:///items?q=tea"));
    assert!(!may_of_server(&rules, "ada", "shop:///items?all"));
}

#[test]
fn without_rules_everything_is_allowed() {
    let rules = AccessRules::new([]).unwrap();
    assert!(rules.is_empty() && may(&rules, "anyone", "a"));
}

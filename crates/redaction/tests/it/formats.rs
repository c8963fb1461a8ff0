//! Masking by keys, format by format: what changes and what does not.

use redaction::{Redactor, RedactorOptions, Syntax};

/// Masks `text`, and asserts that masking again changes nothing.
pub(crate) fn mask(text: &str, syntax: Syntax) -> String {
    let redactor = Redactor::default();
    let masked = redactor.mask(text, syntax).into_owned();
    assert_eq!(redactor.mask(&masked, syntax), masked, "masking a masked text changes nothing");
    masked
}

/// Asserts what each text becomes.
#[track_caller]
pub(crate) fn check(syntax: Syntax, rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(mask(text, syntax), *expected);
    }
}

#[test]
fn toml_values_are_masked_in_quotes() {
    check(
        Syntax::Toml,
        &[
            (
                "password = \"hunter2\"\nhost = \"db\"\n",
                "password = \"[redacted password tiny]\"\nhost = \"db\"\n",
            ),
            (
                "[db]\npassword = 12345 # x\nport = 5432\n",
                "[db]\npassword = \"[redacted password tiny]\" # x\nport = 5432\n",
            ),
            ("db.password = 'a\"b'\n", "db.password = '[redacted password tiny]'\n"),
            (
                "api_key = \"\"\"\nabc\ndef\"\"\"\n",
                "api_key = \"\"\"[redacted api-key tiny]\"\"\"\n",
            ),
            (
                "tokens = [\"a1\", \"b2\"]\nx = [1]\n",
                "tokens = [\"[redacted token tiny]\", \"[redacted token tiny]\"]\nx = [1]\n",
            ),
            (
                "a = { user = \"u\", password = \"p\" }\nb = 1\n",
                "a = { user = \"u\", password = \"[redacted password tiny]\" }\nb = 1\n",
            ),
            (
                "[secrets]\nfoo = \"bar\"\n[other]\nfoo = \"bar\"\n",
                "[secrets]\nfoo = \"[redacted secret tiny]\"\n[other]\nfoo = \"bar\"\n",
            ),
            (
                "# password = \"hunter2\"\na = 1\n",
                "# password = \"[redacted password tiny]\"\na = 1\n",
            ),
            (
                "[[env]]\nname = \"DB_PASSWORD\"\nvalue = \"x\"\n",
                "[[env]]\nname = \"DB_PASSWORD\"\nvalue = \"[redacted password tiny]\"\n",
            ),
            ("url = \"a\\u003a//u:p@h\"\n", "url = \"a://u:[redacted url-password tiny]@h\"\n"),
            (
                "password_min_length = 12\ntoken_count = 3\nsecret = \"${X}\"\n",
                "password_min_length = 12\ntoken_count = 3\nsecret = \"${X}\"\n",
            ),
            (
                "password = \"unclosed\nhost = \"x\"\n",
                "password = \"[redacted password short]\nhost = \"x\"\n",
            ),
            (
                "パスワード = 1\n\"パスワード\" = \"x\"\n",
                "パスワード = \"[redacted password tiny]\"\n\"パスワード\" = \"[redacted password tiny]\"\n",
            ),
        ],
    );
}

#[test]
fn yaml_values_are_masked_in_quotes() {
    check(
        Syntax::Yaml,
        &[
            ("password: hunter2\nhost: db\n", "password: \"[redacted password tiny]\"\nhost: db\n"),
            (
                "db:\n  password: 'x''y'\n  port: 1\n",
                "db:\n  password: '[redacted password tiny]'\n  port: 1\n",
            ),
            ("password: 12345 # note\n", "password: \"[redacted password tiny]\" # note\n"),
            ("secret: |\n  a\n  b\nnext: 1\n", "secret: \"[redacted secret tiny]\"\nnext: 1\n"),
            (
                "secret: >-\n  a\n  b\n\nnext: 1\n",
                "secret: \"[redacted secret tiny]\"\n\nnext: 1\n",
            ),
            (
                "password:\n  two words\n  more\nnext: 1\n",
                "password:\n  \"[redacted password short]\"\nnext: 1\n",
            ),
            (
                "tokens:\n  - a\n  - b\n",
                "tokens:\n  - \"[redacted token tiny]\"\n  - \"[redacted token tiny]\"\n",
            ),
            (
                "{password: x, tokens: [a, 1, 12345678, 1048576, 2000000]}\n",
                "{password: \"[redacted password tiny]\", tokens: [\"[redacted token tiny]\", 1, \"[redacted token short]\", 1048576, 2000000]}\n",
            ),
            (
                "secrets:\n  foo: bar\n  db: {file: ./x, name: y}\n",
                "secrets:\n  foo: \"[redacted secret tiny]\"\n  db: {file: ./x, name: y}\n",
            ),
            (
                "env:\n  - name: DB_PASSWORD\n    value: x\n  - value: y\n    name: API_KEY\n  - name: HOST\n    value: z\n",
                "env:\n  - name: DB_PASSWORD\n    value: \"[redacted password tiny]\"\n  - value: \"[redacted api-key tiny]\"\n    name: API_KEY\n  - name: HOST\n    value: z\n",
            ),
            (
                "environment:\n  - DB_PASSWORD=x\n  - HOST=y\n",
                "environment:\n  - \"DB_PASSWORD=[redacted password tiny]\"\n  - HOST=y\n",
            ),
            (
                "args: [\"--password\", \"x\", \"--host\", \"y\"]\n",
                "args: [\"--password\", \"[redacted password tiny]\", \"--host\", \"y\"]\n",
            ),
            (
                "base: &pw hunter2\npassword: *pw\nother: &o x\nhost: *o\n",
                "base: &pw \"[redacted password tiny]\"\npassword: *pw\nother: &o x\nhost: *o\n",
            ),
            (
                "c: &c {a: 1x, host: h}\ncredentials: *c\n",
                "c: &c {a: \"[redacted credential tiny]\", host: h}\ncredentials: *c\n",
            ),
        ],
    );
}

#[test]
fn comments_templates_shapes_and_references_of_yaml_are_read_too() {
    check(
        Syntax::Yaml,
        &[
            (
                "# password: hunter2\nx: 1 # token: abc\n",
                "# password: [redacted password tiny]\nx: 1 # token: [redacted token tiny]\n",
            ),
            (
                "# password: the password of the user\nx: 1\n",
                "# password: the password of the user\nx: 1\n",
            ),
            (
                "url: postgres://u:p@h/x\nlist: [https://u:p@h]\n",
                "url: \"postgres://u:[redacted url-password tiny]@h/x\"\nlist: [\"https://u:[redacted url-password tiny]@h\"]\n",
            ),
            (
                "password: {{ .Values.x }}\ntoken: abc\n",
                "password: {{ .Values.x }}\ntoken: \"[redacted token tiny]\"\n",
            ),
            ("a: 1\n---\npassword: x\n", "a: 1\n---\npassword: \"[redacted password tiny]\"\n"),
            (
                "valueFrom:\n  secretKeyRef:\n    name: n\n    key: password\n",
                "valueFrom:\n  secretKeyRef:\n    name: n\n    key: password\n",
            ),
            (
                "password: \"\"\nauth: basic\nsecret: null\nsecretName: x\n",
                "password: \"\"\nauth: basic\nsecret: null\nsecretName: x\n",
            ),
        ],
    );
}

#[test]
fn the_data_of_kubernetes_secrets_is_masked_and_that_of_config_maps_is_not() {
    check(
        Syntax::Yaml,
        &[
            (
                "kind: Secret\ndata:\n  a: Zm9v\nstringData: {b: c}\n",
                "kind: Secret\ndata:\n  a: \"[redacted kubernetes-secret tiny]\"\nstringData: {b: \"[redacted kubernetes-secret tiny]\"}\n",
            ),
            (
                "data:\n  a: Zm9v\nkind: Secret\n",
                "data:\n  a: \"[redacted kubernetes-secret tiny]\"\nkind: Secret\n",
            ),
            ("kind: ConfigMap\ndata:\n  a: Zm9v\n", "kind: ConfigMap\ndata:\n  a: Zm9v\n"),
            (
                "kind: List\nitems:\n- kind: Secret\n  data: {a: b}\n- kind: ConfigMap\n  data: {a: b}\n",
                "kind: List\nitems:\n- kind: Secret\n  data: {a: \"[redacted kubernetes-secret tiny]\"}\n- kind: ConfigMap\n  data: {a: b}\n",
            ),
            (
                "kind: ConfigMap\ndata:\n  app.properties: |\n    db.password=x\n    a=b\n",
                "kind: ConfigMap\ndata:\n  app.properties: \"db.password=[redacted password tiny]\\na=b\\n\"\n",
            ),
        ],
    );
    check(
        Syntax::Json,
        &[(
            r#"{"data": {"a": "b"}, "kind": "Secret"}"#,
            r#"{"data": {"a": "[redacted kubernetes-secret tiny]"}, "kind": "Secret"}"#,
        )],
    );
}

#[test]
fn json_values_are_masked_as_strings() {
    check(
        Syntax::Json,
        &[
            (
                r#"{"password": "a\"b", "host": "x"}"#,
                r#"{"password": "[redacted password tiny]", "host": "x"}"#,
            ),
            (
                r#"{"password": 12345, "a": {"token": "t"}}"#,
                r#"{"password": "[redacted password tiny]", "a": {"token": "[redacted token tiny]"}}"#,
            ),
            (
                r#"{"auths": {"r.example": {"auth": "dTpw"}}}"#,
                r#"{"auths": {"r.example": {"auth": "[redacted auth tiny]"}}}"#,
            ),
            (
                "{\n  // \"password\": \"x\",\n  password: 'y', /* token: z */\n}",
                "{\n  // \"password\": \"[redacted password tiny]\",\n  password: '[redacted password tiny]', /* token: [redacted token tiny] */\n}",
            ),
            (
                r#"{"url": "https:\/\/u:p@h"}"#,
                r#"{"url": "https://u:[redacted url-password tiny]@h"}"#,
            ),
            (
                r#"{"x": "{\"password\": \"y\"}"}"#,
                r#"{"x": "{\"password\": \"[redacted password tiny]\"}"}"#,
            ),
            (
                r#"[{"name": "TOKEN", "value": "v"}, ["x"]]"#,
                r#"[{"name": "TOKEN", "value": "[redacted token tiny]"}, ["x"]]"#,
            ),
            (r#"{"password": "x", "#, r#"{"password": "[redacted password tiny]", "#),
            (
                r#"{"a": {"password": "x} , "token": "y"}"#,
                r#"{"a": {"password": "[redacted password tiny]"token": "[redacted token tiny]"}"#,
            ),
            (
                r#"{"max_tokens": 5, "tokens": 7, "secret": null, "token": false}"#,
                r#"{"max_tokens": 5, "tokens": 7, "secret": null, "token": false}"#,
            ),
        ],
    );
}

#[test]
fn ini_env_and_properties_values_are_masked() {
    check(
        Syntax::Ini,
        &[
            (
                "[a]\npassword = hunter2 ; x\nhost=y\n",
                "[a]\npassword = [redacted password tiny] ; x\nhost=y\n",
            ),
            ("//r.example/:_authToken=abc\n", "//r.example/:_authToken=[redacted token tiny]\n"),
            (
                "; password = x\n#token: y\n",
                "; password = [redacted password tiny]\n#token: [redacted token tiny]\n",
            ),
            (
                "[Service]\nEnvironment=\"DB_PASSWORD=x y\" A=b\n",
                "[Service]\nEnvironment=\"DB_PASSWORD=[redacted password tiny]\" A=b\n",
            ),
            (
                "[a]\npassword: x\n  continued\nb: c\n",
                "[a]\npassword: [redacted password tiny]\n  [redacted password short]\nb: c\n",
            ),
            (
                "requirepass foobar\npassword \"x y\"\nSMTP Password = z\n",
                "requirepass [redacted password tiny]\npassword \"[redacted password tiny]\"\nSMTP Password = [redacted password tiny]\n",
            ),
        ],
    );
    check(
        Syntax::Env,
        &[
            ("DB_PASSWORD=hunter2\nHOST=x\n", "DB_PASSWORD=\"[redacted password tiny]\"\nHOST=x\n"),
            ("export TOKEN='a b' # c\n", "export TOKEN='[redacted token tiny]' # c\n"),
            (
                "KEY=\"a\nb\"\nAPI_KEY=\"a\nb\"\nX=1\n",
                "KEY=\"a\nb\"\nAPI_KEY=\"[redacted api-key tiny]\"\nX=1\n",
            ),
            (
                "# SECRET=x\n#export API_KEY=y\n",
                "# SECRET=[redacted secret tiny]\n#export API_KEY=[redacted api-key tiny]\n",
            ),
            (
                "URL=postgres://u:p@h\nPWD=/home/x\nPASSWORD=$OTHER\n",
                "URL='postgres://u:[redacted url-password tiny]@h'\nPWD=/home/x\nPASSWORD=$OTHER\n",
            ),
            ("PASSWORD=\"unclosed\nX=1\n", "PASSWORD=\"[redacted password short]\nX=1\n"),
        ],
    );
    check(
        Syntax::Properties,
        &[
            (
                "db.password=hunter2\ndb.host: x\n",
                "db.password=[redacted password tiny]\ndb.host: x\n",
            ),
            ("secret a \\\n   b\nx=y\n", "secret [redacted secret tiny]\nx=y\n"),
            (
                "! api.key = z\n# token=t\n",
                "! api.key = [redacted api-key tiny]\n# token=[redacted token tiny]\n",
            ),
        ],
    );
}

#[test]
fn blocks_of_yaml_keep_the_lines_of_a_private_key() {
    let (begin, end) =
        (concat!("-----BEGIN ", "PRIVATE KEY-----"), concat!("-----END ", "PRIVATE KEY-----"));
    let body = "q7Rk2Vx9Lm4Tz8Wb3Yc6".repeat(2);
    for key in ["note", "private_key"] {
        let text = format!("{key}: |\n  {begin}\n  {body}\n  {end}\nx: 1\n");
        let masked =
            format!("{key}: |\n  {begin}\n  [redacted pkcs8-private-key long]\n  {end}\nx: 1\n");
        assert_eq!(mask(&text, Syntax::Yaml), masked);
    }
}

#[test]
fn names_of_compose_secrets_stay_and_joined_quotes_go() {
    check(
        Syntax::Yaml,
        &[(
            "services:\n  a:\n    secrets: [db]\nsecrets:\n  db: {file: ./x}\n",
            "services:\n  a:\n    secrets: [db]\nsecrets:\n  db: {file: ./x}\n",
        )],
    );
    check(
        Syntax::Env,
        &[("PASSWORD='it''s'\nX=1\n", "PASSWORD=\"[redacted password tiny]\"\nX=1\n")],
    );
}

#[test]
fn names_of_packages_and_permissions_are_no_secrets() {
    let manifest = "[features]\nauth = [\"dep:oauth2\", \"base64\"]\ncredentials = [\"uuid\"]\n\
        [workspace.dependencies]\ntiktoken = \"0.12\"\ntoken = { version = \"1\" }\n";
    check(Syntax::Toml, &[(manifest, manifest)]);
    let workflow = "permissions:\n  id-token: write\n";
    check(Syntax::Yaml, &[(workflow, workflow)]);
    check(
        Syntax::Yaml,
        &[(
            "features:\n  password: hunter2\n",
            "features:\n  password: \"[redacted password tiny]\"\n",
        )],
    );
}

#[test]
fn a_reveal_rule_is_the_way_out() {
    let globs = ["db/password", "**/token", "list/1", "url"];
    let reveal = globs.iter().map(|glob| machinery::PathGlob::parse(glob).unwrap()).collect();
    let redactor = Redactor::new(RedactorOptions { reveal, hmac_key: None });
    let text =
        "db: {password: x}\na: {password: x, token: y}\nurl: https://u:p@h\nother: https://u:p@h\n";
    let masked = redactor.mask(text, Syntax::Yaml);
    assert_eq!(
        masked,
        "db: {password: x}\na: {password: \"[redacted password tiny]\", token: y}\nurl: https://u:p@h\nother: \"https://u:[redacted url-password tiny]@h\"\n"
    );
    assert_eq!(redactor.mask_value(&["db", "password"], "x"), None);
    assert_eq!(
        redactor.mask_value(&["x", "password"], "x").as_deref(),
        Some("[redacted password tiny]")
    );
}

#[test]
fn single_values_are_masked_by_their_key_path() {
    let redactor = Redactor::default();
    let mask = |key: &[&str], value: &str| redactor.mask_value(key, value);
    assert_eq!(mask(&["DB_PASSWORD"], "x").as_deref(), Some("[redacted password tiny]"));
    assert_eq!(mask(&["tokens", "0"], "x").as_deref(), Some("[redacted token tiny]"));
    assert_eq!(mask(&["secrets", "foo"], "x").as_deref(), Some("[redacted secret tiny]"));
    assert_eq!(
        mask(&["url"], "a://u:p@h").as_deref(),
        Some("a://u:[redacted url-password tiny]@h")
    );
    assert_eq!(mask(&["host"], "x"), None);
    assert_eq!(mask(&["password"], "${X}"), None);
    assert_eq!(mask(&[], "x"), None);
}

//! Masking of maps under secret keys, of lines without a separator, and of files named after secrets.

use redaction::Syntax;

use crate::formats::check;

/// Asserts that nothing of each text is masked.
#[track_caller]
fn check_same(syntax: Syntax, texts: &[&str]) {
    for text in texts {
        check(syntax, &[(text, text)]);
    }
}

#[test]
fn a_map_under_a_secret_key_holds_secrets() {
    check(
        Syntax::Yaml,
        &[
            (
                "password: {primary_db: hunter2, port: 5432}\n",
                "password: {primary_db: \"[redacted password tiny]\", port: 5432}\n",
            ),
            ("password: [{x: hunter2}]\n", "password: [{x: \"[redacted password tiny]\"}]\n"),
            (
                "api_tokens:\n  ci:\n    github: abc\n  url: https://x.example\n",
                "api_tokens:\n  ci:\n    github: \"[redacted token tiny]\"\n  url: https://x.example\n",
            ),
            (
                "db_password:\n  eu: {west: a1b2}\n",
                "db_password:\n  eu: {west: \"[redacted password tiny]\"}\n",
            ),
        ],
    );
    check(
        Syntax::Json,
        &[
            (
                r#"{"clientSecret": {"app": "s3cret"}, "tokens": [123456789, 5]}"#,
                r#"{"clientSecret": {"app": "[redacted secret tiny]"}, "tokens": ["[redacted token short]", 5]}"#,
            ),
            (r#"{"tokens": 12345678}"#, r#"{"tokens": "[redacted token short]"}"#),
        ],
    );
    check(
        Syntax::Yaml,
        &[
            (
                "features:\n  secrets: {db: hunter2}\n",
                "features:\n  secrets: {db: \"[redacted secret tiny]\"}\n",
            ),
            (
                "features:\n  password: {main: hunter2}\n",
                "features:\n  password: {main: \"[redacted password tiny]\"}\n",
            ),
        ],
    );
    check(
        Syntax::Toml,
        &[(
            "[db.password]\nmain_db = \"x\"\n",
            "[db.password]\nmain_db = \"[redacted password tiny]\"\n",
        )],
    );
}

#[test]
fn settings_and_descriptions_of_a_secret_are_none() {
    check_same(
        Syntax::Yaml,
        &[
            "password: {min_length: 12, max_age: 90, policy: strict, required: true}\n",
            "password:\n  type: string\n  minLength: 8\n  description: The password of the user\n",
            "password:\n  reset: Reset your password\n  forgot: Forgot password?\n",
            "volumes:\n- secret:\n    secretName: x\n    defaultMode: 420\n    items:\n    - key: tls.crt\n      path: tls.crt\n",
            "auth:\n  strategy: ldap\n  domain: corp\n",
            "token_service:\n  workers: eight\n  region: eu\n",
            "inputs:\n  token:\n    description: A token\n    default: ${{ github.token }}\n",
            "tokens: 4096\n",
            "jobs:\n  pass:\n    runs-on: ubuntu-latest\n    needs: [style, test]\n",
            "deploy:\n  api_token:\n    secure: t3puM/2hOig26EHhAodcZBc61NywF7\n",
            "packages:\n  node_modules/js-token:\n    integrity: sha512-P4YJBPdPSpWTQ1NU4XYd\n    license: MIT\n",
            "schemes:\n  api_key: {type: apiKey, in: header, name: X-Key}\n",
            "rules:\n  _token:\n    members: [{type: STRING, value: fn}]\n",
        ],
    );
    check_same(
        Syntax::Toml,
        &["[dependencies.token]\nversion = \"1.2\"\nfeatures = [\"derive\"]\npackage = \"x\"\n"],
    );
    check_same(
        Syntax::Hcl,
        &[
            "resource \"random_password\" \"db_password\" {\n  special = \"some\"\n  tier = \"Standard\"\n}\n",
        ],
    );
}

#[test]
fn a_password_that_looks_like_a_path_is_a_password() {
    check(
        Syntax::Toml,
        &[
            ("password = \"p:/w0rdX9\"\n", "password = \"[redacted password short]\"\n"),
            ("passphrase = \"/data/x\"\n", "passphrase = \"[redacted password tiny]\"\n"),
            ("token = \"p:/w0rdX9\"\n", "token = \"[redacted token short]\"\n"),
            ("secret = \"/app/Zk3vQ9x7LmP2rT8sWb5Y\"\n", "secret = \"[redacted secret medium]\"\n"),
        ],
    );
    check_same(
        Syntax::Toml,
        &[
            "token = \"/run/secrets/token\"\n",
            "credentials = 'C:\\keys\\app.json'\n",
            "password_file = \"/data/x\"\n",
        ],
    );
}

#[test]
fn lines_of_words_and_several_variables_are_read() {
    check(
        Syntax::Ini,
        &[
            (
                "listen stats\n  bind *:80\n  stats auth admin:hunter2\n",
                "listen stats\n  bind *:80\n  stats auth [redacted auth short]\n",
            ),
            (
                "user bob insecure-password hunter2 groups x\n",
                "user bob insecure-password [redacted password tiny] groups x\n",
            ),
            ("proxy_pass = hunter2\nadmin:x\n", "proxy_pass = [redacted password tiny]\nadmin:x\n"),
        ],
    );
    check_same(
        Syntax::Ini,
        &[
            "location / {\n  proxy_pass http://backend:8080;\n  fastcgi_pass unix:/run/php.sock;\n}\n",
            "PasswordAuthentication no\nPermitEmptyPasswords no\n",
            "server a 10.0.0.1:80 check\n",
            "ask for a password to be safe\n",
            "  auth mechanisms, run as a different user, etc. -->\n",
        ],
    );
    check(
        Syntax::Env,
        &[
            (
                "export A=1 DB_PASSWORD=hunter2\n",
                "export A=1 DB_PASSWORD=\"[redacted password tiny]\"\n",
            ),
            (
                "export A=\"1 2\" TOKEN='a b' C=3 # x\nD=4\n",
                "export A=\"1 2\" TOKEN='[redacted token tiny]' C=3 # x\nD=4\n",
            ),
            (
                "OPTS=--user=a --password=hunter2\n",
                "OPTS=--user=a --password=\"[redacted password tiny]\"\n",
            ),
            ("DB_PASSWORD=correct horse battery\n", "DB_PASSWORD=\"[redacted password medium]\"\n"),
        ],
    );
    check_same(Syntax::Env, &["A=some words\nB=x y=z\n", "A=\"x\" B=2\n"]);
}

#[test]
fn files_named_after_secrets_hold_them() {
    let list = Syntax::of_path("passwords.txt");
    check(
        list,
        &[
            ("hunter2\n", "[redacted secret tiny]\n"),
            ("hun:ter2", "[redacted secret short]"),
            (
                "aHVudGVyMg==\nhttps://x.example/a\n",
                "[redacted secret short]\nhttps://x.example/a\n",
            ),
            (
                "admin:hunter2\nroot = toor\nbob swordfish\n",
                "admin:[redacted secret tiny]\nroot = [redacted secret tiny]\nbob [redacted secret short]\n",
            ),
            (
                "url: https://x.example\nuser: ada\npassword: a b c\n",
                "url: https://x.example\nuser: ada\npassword: [redacted password tiny]\n",
            ),
            ("# password: x\n", "# password: [redacted password tiny]\n"),
        ],
    );
    check_same(list, &["#!/bin/sh\nname=value\n", "These are all of our secrets\n", "\n", ""]);
    let table = Syntax::of_path("passwords.csv");
    check(
        table,
        &[
            (
                "name,url,username,password\nshop,https://s.example,ada,\"hun\"\"ter,2\"\n",
                "name,url,username,password\nshop,https://s.example,ada,\"[redacted password short]\"\n",
            ),
            (
                "Access key ID;Secret access key\nx;abc+def\n",
                "Access key ID;Secret access key\nx;[redacted access-key tiny]\n",
            ),
            ("ada,hunter2\nbob,x\n", "ada,[redacted secret tiny]\nbob,[redacted secret tiny]\n"),
            ("name\tvalue\r\na\tb c\r\n", "name\tvalue\r\na\t[redacted secret tiny]\r\n"),
        ],
    );
    check_same(table, &["name,url\n", ""]);
}

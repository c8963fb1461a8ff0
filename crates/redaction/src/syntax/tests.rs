//! Tests of syntaxes by file name.

use super::Syntax;

#[test]
fn the_name_of_a_file_gives_its_syntax() {
    let rows = [
        ("a/b/Config.TOML", Syntax::Toml),
        ("values.yml", Syntax::Yaml),
        ("home/.kube/config", Syntax::Yaml),
        (".docker/config.json", Syntax::Json),
        ("tsconfig.json5", Syntax::Json),
        (".npmrc", Syntax::Ini),
        (".pypirc", Syntax::Ini),
        (".gitconfig", Syntax::Ini),
        (".git/config", Syntax::Ini),
        ("nginx.conf", Syntax::Ini),
        ("x.service", Syntax::Ini),
        (".env.production", Syntax::Env),
        ("prod.env", Syntax::Env),
        (".env", Syntax::Env),
        ("application.properties", Syntax::Properties),
        (".netrc", Syntax::Netrc),
        (".pgpass", Syntax::Pgpass),
        (".htpasswd", Syntax::Htpasswd),
        ("web.config", Syntax::Xml),
        ("pom.xml", Syntax::Xml),
        ("prod.tfvars", Syntax::Hcl),
        ("settings.toml.example", Syntax::Toml),
        (".git-credentials", Syntax::Text),
        ("id_rsa", Syntax::Text),
        ("secrets.txt", Syntax::SecretList),
        ("run/db_password", Syntax::SecretList),
        (".vault-token", Syntax::SecretList),
        ("passwords.csv", Syntax::SecretTable),
        ("API-Keys-prod.tsv", Syntax::SecretTable),
        ("README.md", Syntax::Text),
        ("Cargo.lock", Syntax::Text),
    ];
    for (path, syntax) in rows {
        assert_eq!(Syntax::of_path(path), syntax, "{path}");
    }
}

/// Asserts which names are sensitive and which are not.
#[track_caller]
fn check(sensitive: &[&str], others: &[&str]) {
    let missed: Vec<_> = sensitive.iter().filter(|path| !Syntax::is_sensitive(path)).collect();
    let wrong: Vec<_> = others.iter().filter(|path| Syntax::is_sensitive(path)).collect();
    assert_eq!((missed, wrong), (Vec::new(), Vec::new()));
}

#[test]
fn names_of_configuration_keys_and_credentials_are_sensitive_and_lock_files_are_not() {
    let sensitive = [
        "a.toml",
        "b.yaml",
        "c.yml",
        "d.ini",
        "e.cfg",
        "f.conf",
        "g.properties",
        "h.env",
        ".env",
        ".env.local",
        "i.tfvars",
        "j.hcl",
        "config.json",
        "appsettings.Production.json",
        "service-account.json",
        ".babelrc.json",
        "k.pem",
        "l.key",
        "m.p8",
        "id_rsa",
        ".ssh/id_ed25519",
        "n.asc",
        ".netrc",
        ".pgpass",
        ".htpasswd",
        ".aws/credentials",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        ".kube/config",
        ".docker/config.json",
        "credentials.csv",
        "web.config",
        "terraform.tfstate",
        "a.toml.example",
    ];
    let others = [
        "Cargo.lock",
        "package-lock.json",
        "poetry.lock",
        "pnpm-lock.yaml",
        "README.md",
        "src/main.rs",
        "data.json",
        "package.json",
        "pom.xml",
        "id_rsa.pub",
        "notes.txt",
        ".terraform.lock.hcl",
        "main.py",
    ];
    check(&sensitive, &others);
}

#[test]
fn key_stores_and_files_named_after_secrets_are_sensitive_and_source_code_is_not() {
    let sensitive = [
        "store.p12",
        "cert.pfx",
        "debug.jks",
        "vault.kdbx",
        "server.der",
        "http.keytab",
        "secret.txt",
        "secrets.txt",
        "passwords.csv",
        "passwords-2024.txt",
        "db_password.txt",
        "github_token",
        ".secrets",
        ".vault_pass",
        "API Keys.txt",
        "tokens.lst",
        "tokens.json",
        "access-token.json",
        "パスワード.txt",
        "credentials_prod.tsv",
    ];
    let others = [
        "token.rs",
        "password_form.tsx",
        "secrets.py",
        "tokenizer.json",
        "tokenizer",
        "tokens.md",
        "secretary.txt",
        "passengers.csv",
        "token-design.txt",
        "password_policy.txt",
        "reset-password.txt",
        "password_reset_email.txt",
        "forgot_password",
        "generate-token",
        "max_tokens.txt",
        "token_count.csv",
        "compass.txt",
        "etc/pam.d/common-password",
        "authors.txt",
        "keyboard.csv",
    ];
    check(&sensitive, &others);
}

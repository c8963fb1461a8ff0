//! Tests of the words of keys.

use super::{KeyMeaning, meaning_of};

fn is_secret(key: &str) -> bool {
    matches!(meaning_of(key), KeyMeaning::Secret(_) | KeyMeaning::Block(_))
}

#[test]
fn keys_that_name_a_secret_are_found_in_every_spelling() {
    let keys = [
        "password",
        "PASSWORD",
        "dbPassword",
        "db-password",
        "DB_PASSWORD",
        "spring.datasource.password",
        "password2",
        "passwd",
        "pwd",
        "MYSQL_PWD",
        "secret",
        "clientSecret",
        "client_secret",
        "SECRET_KEY_BASE",
        "token",
        "accessToken",
        "GITHUB_TOKEN",
        "authToken",
        "//registry.example/:_authToken",
        "api_key",
        "apiKey",
        "APIKey",
        "X-API-Key",
        "apikey",
        "aws_secret_access_key",
        "accessKey",
        "private_key",
        "privateKey",
        "credential",
        "credentials",
        "auth",
        "_auth",
        "proxy_auth",
        "dbpassword",
        "authtoken",
        "client-key-data",
        "DB_PASS",
        "パスワード",
        "DBパスワード",
        "秘密",
        "秘密鍵",
        "トークン",
        "ｐａｓｓｗｏｒｄ",
        "Authorization",
        "secrets",
        "API_KEY_V2",
        "password_old",
        "token_prod",
    ];
    let missed: Vec<_> = keys.into_iter().filter(|key| !is_secret(key)).collect();
    assert_eq!(missed, [""; 0]);
}

#[test]
fn keys_that_speak_about_a_secret_are_none() {
    let keys = [
        "password_min_length",
        "passwordMinLength",
        "token_count",
        "tokenizer",
        "tokenize",
        "secretary",
        "secretName",
        "password_file",
        "PASSWORD_FILE",
        "token_url",
        "tokenUrl",
        "token_ttl",
        "password_policy",
        "password_hint",
        "access_key_id",
        "private_key_id",
        "secretKeyRef",
        "max_tokens",
        "author",
        "authority",
        "authenticated",
        "public_key",
        "keyboard",
        "passenger",
        "compass",
        "passthrough",
        "bypass",
        "auth_type",
        "auth_url",
        "existingSecret",
        "passwordless",
        "トークン数",
        "パスワード長",
        "パスワードファイル",
        "total_tokens",
        "token_type",
        "credentialsId",
        "oauth",
        "passport",
        "monkey",
        "secret_name",
    ];
    let wrong: Vec<_> = keys.into_iter().filter(|key| is_secret(key)).collect();
    assert_eq!(wrong, [""; 0]);
}

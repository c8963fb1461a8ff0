//! Tests of the words of keys.

use super::{
    BEFORE_KEY, JAPANESE, KeyMeaning, LAST_WORDS, WORDS, may_have_secret_word, meaning_of,
};

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
        "server_secret_token_url_key",
        "token_file_value",
        "password_default",
        "secret_path_key",
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
        "token_expires_in",
        "token_url_path",
        "password_file_permissions",
        "password_authentication",
        "smtp_sasl_password_maps",
        "token_usage_total",
    ];
    let wrong: Vec<_> = keys.into_iter().filter(|key| is_secret(key)).collect();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_quick_look_misses_no_word_for_secrets() {
    let alone = WORDS.iter().chain(LAST_WORDS).chain(JAPANESE).map(|(word, _)| (*word).to_owned());
    let with_key = BEFORE_KEY.iter().map(|(word, _)| format!("{word}_key"));
    for word in alone.chain(with_key) {
        for key in [word.clone(), format!("my-{word}"), word.to_uppercase(), format!("{word}2")] {
            assert!(may_have_secret_word(&key), "{key}");
        }
    }
    assert!(!may_have_secret_word("readme") && !may_have_secret_word("main_window"));
}

//! Words of keys: which keys say that their value is a secret.

use std::collections::HashSet;
use std::sync::LazyLock;

/// What a key says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyMeaning {
    /// The value is a secret of this kind.
    Secret(&'static str),
    /// The key holds secrets under it (`secrets`, `credentials`); as a plain value it is one.
    Block(&'static str),
    /// The value is a secret if it looks random.
    Suggestive,
    /// The key speaks about a secret (`password_file`), or refers to one (`secretKeyRef`).
    AboutSecret,
    /// Nothing.
    Neutral,
}

/// Single words, with the kind of secret they name.
const WORDS: &[(&str, &str)] = &[
    ("password", "password"),
    ("passwords", "password"),
    ("passwd", "password"),
    ("passwort", "password"),
    ("pwd", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("requirepass", "password"),
    ("masterauth", "password"),
    ("dbpass", "password"),
    ("userpass", "password"),
    ("rootpass", "password"),
    ("adminpass", "password"),
    ("smtppass", "password"),
    ("sshpass", "password"),
    ("keypass", "password"),
    ("storepass", "password"),
    ("secret", "secret"),
    ("secrets", "secret"),
    ("token", "token"),
    ("tokens", "token"),
    ("apikey", "api-key"),
    ("apikeys", "api-key"),
    ("accesskey", "access-key"),
    ("secretkey", "secret"),
    ("privatekey", "private-key"),
    ("credential", "credential"),
    ("credentials", "credential"),
    ("cred", "credential"),
    ("creds", "credential"),
];

/// Words that count only at the end of a key: elsewhere they are too common.
const LAST_WORDS: &[(&str, &str)] = &[
    ("pass", "password"),
    ("pw", "password"),
    ("auth", "auth"),
    ("authorization", "auth"),
    ("bearer", "token"),
];

/// Words of which `key` makes a secret.
const BEFORE_KEY: &[(&str, &str)] = &[
    ("api", "api-key"),
    ("access", "access-key"),
    ("private", "private-key"),
    ("secret", "secret"),
    ("auth", "auth"),
    ("account", "access-key"),
    ("encryption", "key"),
    ("signing", "key"),
    ("master", "key"),
    ("shared", "key"),
    ("hmac", "key"),
];

/// Words of another script. They have no separators, so they are looked for anywhere in a key.
const JAPANESE: &[(&str, &str)] = &[
    ("秘密鍵", "private-key"),
    ("パスワード", "password"),
    ("ﾊﾟｽﾜｰﾄﾞ", "password"),
    ("パスフレーズ", "password"),
    ("暗証番号", "password"),
    ("秘密", "secret"),
    ("シークレット", "secret"),
    ("トークン", "token"),
    ("ﾄｰｸﾝ", "token"),
    ("認証情報", "credential"),
    ("アクセスキー", "access-key"),
    ("apiキー", "api-key"),
];
const JAPANESE_UNDO: &[&str] = &[
    "長",
    "長さ",
    "数",
    "文字数",
    "ファイル",
    "パス",
    "名",
    "期限",
    "期間",
    "ポリシー",
    "url",
    "ヒント",
    "id",
    "種別",
    "種類",
    "形式",
    "の質問",
];

/// Words behind a secret word that make the key speak about the secret.
static UNDO: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words_in(
        "\
     age alg algo algorithm arn at attempts attribute audience authentication backend bucket \
     budget bytes cache changed chars charset class column complexity cost count created date days \
     description dir directory disabled domain duration enabled encoding endpoint engine env error \
     exists expiration expire expires expiry field file filename files folder format generator \
     header help hint history host hours id ids index input interval issuer iterations kind label \
     len length lifetime limit link location manager map maps max message method min minutes mode \
     mount ms name names owner page param parameter path paths pattern percent permission \
     permissions placeholder policy port prefix prompt property provider quota rate ratio realm \
     ref reference refs regex remaining required reset retries role rotation rounds rule rules \
     scheme scope scopes seconds secs selector server size source status store strength suffix \
     template timeout timestamp title total ttl type types updated uri url urls usage used user \
     username validator validity var variable version window",
    )
});

/// Words at the end of a key that say nothing by themselves.
const FILLERS: &[&str] = &["in", "by", "on", "after", "before", "default", "sec"];

/// Words in front of a secret word that make the key speak about the secret.
static UNDO_BEFORE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words_in(
        "\
     allow avg count disable enable existing forgot has hide is max min num number per require \
     requires show supports total without",
    )
});

/// Words whose value is a secret if it looks random.
static SUGGESTIVE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words_in(
        "\
     key keys salt seed cookie session signature cipher dsn webhook license licence otp totp nonce \
     hmac sas pepper pin psk",
    )
});

/// Words that take a key out of the suggestive ones.
static NOT_SUGGESTIVE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words_in(
        "\
     public primary foreign sort partition cache id fingerprint checksum hash sha digest integrity \
     publishable name path file url pub host type row group usage",
    )
});

/// The set of the words of `text`.
pub(crate) fn words_in(text: &'static str) -> HashSet<&'static str> {
    text.split_whitespace().collect()
}

/// What `key` says about its value.
pub(crate) fn meaning_of(key: &str) -> KeyMeaning {
    let words = words_of(key);
    if let Some((at, length, kind)) = secret_word(&words) {
        return undone_or(&words, at, length, kind);
    }
    let folded: String = key.chars().map(fold).collect();
    if let Some((_, kind)) = JAPANESE.iter().find(|(word, _)| folded.contains(word)) {
        let is_undone = JAPANESE_UNDO.iter().any(|suffix| folded.ends_with(suffix));
        return if is_undone { KeyMeaning::AboutSecret } else { KeyMeaning::Secret(kind) };
    }
    let has = |set: &HashSet<&str>| words.iter().any(|word| set.contains(word.as_str()));
    let is_suggestive = has(&SUGGESTIVE) && !has(&NOT_SUGGESTIVE);
    if is_suggestive { KeyMeaning::Suggestive } else { KeyMeaning::Neutral }
}

/// Whether `word`, a whole key, only describes a secret that stands beside it.
pub(crate) fn is_descriptive(key: &str) -> bool {
    let words = words_of(key);
    words.last().is_some_and(|word| {
        UNDO.contains(word.as_str())
            || ["email", "external", "region", "driver", "login"].contains(&word.as_str())
    })
}

/// Whether the last words of `key` are those that name a secret.
pub(crate) fn ends_in_secret_word(key: &str) -> bool {
    let words = words_of(key);
    secret_word(&words).is_some_and(|(at, length, _)| at + length == words.len())
}

/// Whether `key` is the name of a secret: it ends in a word for secrets and nothing else. `js-token/lib`
/// is the name of something else.
pub(crate) fn is_name_of_secret(key: &str) -> bool {
    let is_plain = |character: char| character.is_alphanumeric() || "_-. ".contains(character);
    let words = words_of(key);
    let last = words.last().map(String::as_str);
    let is_common = LAST_WORDS.iter().any(|(word, _)| last == Some(word));
    // A word of another script has no place among the words.
    let ends_so = ends_in_secret_word(key) || secret_word(&words).is_none();
    ends_so && !is_common && key.chars().all(is_plain)
}

/// Words that may stand behind the secret word in the name of a file: which of several it is.
static COPY_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words_in(
        "\
     all backup copy current dev development dump export list live local main new old prod \
     production qa stage staging test tmp",
    )
});

/// Words in front of the secret word that make a file one about what people do with a secret.
static VERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words_in(
        "\
     about change check choose confirm create enter forgot generate get how lost make no on \
     refresh renew request reset revoke rotate set show update validate verify with",
    )
});

/// Whether a file with this name, without its extension, holds secrets: `passwords`, `db_password`,
/// `api-tokens-prod`.
pub(crate) fn names_secrets(stem: &str) -> bool {
    if !may_have_secret_word(stem) {
        return false;
    }
    let words = words_of(stem);
    let Some((at, length, _)) = secret_word(&words) else {
        return matches!(meaning_of(stem), KeyMeaning::Secret(_));
    };
    let is_in = |set: &HashSet<&str>, word: &String| set.contains(word.as_str());
    words[at + length..].iter().all(|word| is_in(&COPY_WORDS, word))
        && !words[..at].iter().any(|word| is_in(&VERBS, word) || is_in(&UNDO_BEFORE, word))
}

fn undone_or(words: &[String], at: usize, length: usize, kind: &'static str) -> KeyMeaning {
    let is_in = |set: &HashSet<&str>, word: &String| set.contains(word.as_str());
    let behind = &words[at + length..];
    let is_filler = |word: &&String| FILLERS.contains(&word.as_str());
    // `token_expires_in`: what counts is the last word that says something.
    let last = behind.iter().rev().find(|word| !is_filler(word));
    if last.is_some_and(|word| is_in(&UNDO, word)) {
        // Vault's `secret_id` is the secret half of a pair; whether it is one, its value says.
        let is_secret_half = words[at] == "secret" && length == 1 && behind == ["id"];
        return if is_secret_half { KeyMeaning::Suggestive } else { KeyMeaning::AboutSecret };
    }
    if words[..at].iter().any(|word| is_in(&UNDO_BEFORE, word)) {
        return KeyMeaning::AboutSecret;
    }
    let is_block = words.len() == at + 1
        && matches!(
            words[at].as_str(),
            "secrets" | "credentials" | "creds" | "passwords" | "tokens"
        );
    if is_block { KeyMeaning::Block(kind) } else { KeyMeaning::Secret(kind) }
}

/// Whether a word for secrets may be in `key`. Most keys have none of its pieces, and need no further
/// look; words of other scripts are looked for in any case.
fn may_have_secret_word(key: &str) -> bool {
    const PIECES: [&[u8]; 8] =
        [b"pass", b"pw", b"secret", b"token", b"key", b"cred", b"auth", b"bearer"];
    let begins_piece = |(at, byte): (usize, &u8)| {
        let has_piece = |piece: &[u8]| {
            let end = key.as_bytes().get(at..at + piece.len());
            end.is_some_and(|end| end.eq_ignore_ascii_case(piece))
        };
        PIECES.iter().any(|piece| piece[0] == byte.to_ascii_lowercase() && has_piece(piece))
    };
    !key.is_ascii() || key.as_bytes().iter().enumerate().any(begins_piece)
}

/// The place of the last secret word, how many words it has, and the kind of secret it names.
fn secret_word(words: &[String]) -> Option<(usize, usize, &'static str)> {
    for at in (0..words.len()).rev() {
        let word = words[at].as_str();
        let next = words.get(at + 1).map(String::as_str);
        if let Some("key" | "keys") = next
            && let Some((_, kind)) = BEFORE_KEY.iter().find(|(before, _)| *before == word)
        {
            return Some((at, 2, kind));
        }
        if word == "client"
            && next == Some("key")
            && words.get(at + 2).is_some_and(|word| word == "data")
        {
            return Some((at, 3, "private-key"));
        }
        if let Some((_, kind)) = WORDS.iter().find(|(suffix, _)| is_joined(word, suffix)) {
            return Some((at, 1, kind));
        }
        let is_last = at + 1 == words.len();
        if is_last && let Some((_, kind)) = LAST_WORDS.iter().find(|(last, _)| *last == word) {
            return Some((at, 1, kind));
        }
    }
    None
}

/// Whether `word` is `suffix`, or ends with it without a separator (`dbpassword`).
fn is_joined(word: &str, suffix: &str) -> bool {
    let is_long = suffix.len() >= 5;
    word == suffix || (is_long && word.len() > suffix.len() && word.ends_with(suffix))
}

/// The words of a key in lower case: `dbPassword`, `db-password` and `DB_PASSWORD2` have the same.
pub(crate) fn words_of(key: &str) -> Vec<String> {
    let (mut words, mut word, mut previous) = (Vec::new(), String::new(), None::<char>);
    let mut characters = key.chars().map(widen).peekable();
    while let Some(character) = characters.next() {
        if !character.is_alphanumeric() {
            finish_word(&mut words, &mut word);
            previous = None;
            continue;
        }
        let next_is_small = characters.peek().is_some_and(|next| next.is_lowercase());
        let begins_word = character.is_uppercase()
            && previous.is_some_and(|previous| !previous.is_uppercase() || next_is_small);
        if begins_word {
            finish_word(&mut words, &mut word);
        }
        word.extend(character.to_lowercase());
        previous = Some(character);
    }
    finish_word(&mut words, &mut word);
    words
}

fn finish_word(words: &mut Vec<String>, word: &mut String) {
    let stem = word.trim_end_matches(|character: char| character.is_ascii_digit());
    if !stem.is_empty() {
        words.push(stem.to_owned());
    }
    word.clear();
}

fn fold(character: char) -> char {
    widen(character).to_ascii_lowercase()
}

/// Full-width letters as ASCII.
fn widen(character: char) -> char {
    match character {
        '\u{FF01}'..='\u{FF5E}' => {
            char::from_u32(u32::from(character) - 0xFF01 + 0x21).unwrap_or(character)
        }
        _ => character,
    }
}

#[cfg(test)]
mod tests;

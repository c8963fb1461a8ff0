//! Public names of tools and prompts: adds a mount's name as prefix, and strips it.
//!
//! The public name is `<mount>_<name>`, with `-` for dots in the mount's name. A name that is too
//! long, has invalid characters or would be routed to another mount is shortened and ends in a hash. The hash depends only on the mount
//! and the name, so that other tools that come or go do not rename it.

/// What the models of all hosts take: 1 to 64 characters, ASCII letters, digits and these. SEP-986
/// would allow 128 and dots.
const MAX_LENGTH: usize = 64;
const PUNCTUATION: &[u8] = b"_-";

/// The mark before the hash at the end of a shortened name, and the length of the hash.
const HASH_MARK: &str = "_x";
const HASH_DIGITS: usize = 12;

/// The public name of `local` of `mount`, one of `mounts`.
pub(crate) fn join<'a>(
    mount: &str,
    local: &str,
    mounts: impl IntoIterator<Item = &'a str>,
) -> String {
    let whole = format!("{}{local}", prefix(mount));
    let fits = !local.is_empty()
        && whole.len() <= MAX_LENGTH
        && whole.bytes().all(is_name_byte)
        && !is_shortened(&whole);
    if fits && mounts_by_prefix(&whole, mounts).first() == Some(&mount) {
        return whole;
    }
    let hash = hash(mount, local);
    format!("{}{HASH_MARK}{hash:0HASH_DIGITS$x}", shortened_stem(&whole))
}

/// The mounts whose names prefix `public`, the longest name first.
pub(crate) fn mounts_by_prefix<'a>(
    public: &str,
    mounts: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    let claims = |mount: &&str| public.starts_with(&shortened_stem(&prefix(mount)));
    let mut owners: Vec<&str> = mounts.into_iter().filter(claims).collect();
    owners.sort_by_key(|mount| std::cmp::Reverse(mount.len()));
    owners
}

/// The local name of `public` in `mount`, unless it is shortened.
pub(crate) fn split<'a>(mount: &str, public: &'a str) -> Option<&'a str> {
    let local = public.strip_prefix(&prefix(mount))?;
    (!is_shortened(public)).then_some(local)
}

/// What the names of the mount begin with.
fn prefix(mount: &str) -> String {
    format!("{}_", mount.replace('.', "-"))
}

/// Whether a name ends in the mark and hash of a shortened name.
pub(crate) fn is_shortened(public: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let marked = public.len().checked_sub(HASH_MARK.len() + HASH_DIGITS);
    let marked = marked.and_then(|at| public.get(at..)?.strip_prefix(HASH_MARK));
    marked.is_some_and(|digits| digits.bytes().all(is_digit))
}

/// The part of a name before the mark, with `-` for invalid characters.
fn shortened_stem(whole: &str) -> String {
    let letter = |c: char| {
        let fits = u8::try_from(c).is_ok_and(is_name_byte);
        if fits { c } else { '-' }
    };
    whole.chars().map(letter).take(MAX_LENGTH - HASH_MARK.len() - HASH_DIGITS).collect()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || PUNCTUATION.contains(&byte)
}

/// FNV-1a: the same on every machine and in every version.
fn hash(mount: &str, local: &str) -> u64 {
    let bytes = mount.bytes().chain([0]).chain(local.bytes());
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, mix);
    hash >> (64 - 4 * HASH_DIGITS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::{MAX_LENGTH, is_name_byte, is_shortened, join, mounts_by_prefix, split};

    const MOUNTS: [&str; 5] = ["a", "a_b", "notes", "my.app", "my-app"];

    fn joined(mount: &str, local: &str) -> String {
        join(mount, local, MOUNTS)
    }

    #[test]
    fn a_name_that_fits_is_the_mounts_and_its_own() {
        assert_eq!(joined("notes", "echo"), "notes_echo");
        assert_eq!(joined("notes", "get-all_of"), "notes_get-all_of");
        assert_eq!(joined("my.app", "echo"), "my-app_echo");
        assert_eq!(split("my.app", "my-app_echo"), Some("echo"));
        assert!(is_shortened(&joined("my-app", "echo")), "the other mount has the name");
        assert_eq!(split("notes", "notes_echo"), Some("echo"));
        let longest = "e".repeat(MAX_LENGTH - "notes_".len());
        assert_eq!(joined("notes", &longest), format!("notes_{longest}"));
    }

    #[test]
    fn a_name_that_does_not_fit_is_shortened_and_told_apart() {
        let long = ["x".repeat(200), format!("{}y", "x".repeat(199))];
        let odd = ["two words", "two.words", "two/words", "", "日本"].map(str::to_owned);
        let names: Vec<String> =
            long.iter().chain(&odd).map(|name| joined("notes", name)).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(is_shortened(name) && name.len() <= MAX_LENGTH, "{name}");
            assert!(!names[..at].contains(name), "{name}");
            assert_eq!(split("notes", name), None);
        }
        let literal = joined("notes", "two words");
        let literal = literal.strip_prefix("notes_").unwrap();
        assert_ne!(joined("notes", literal), joined("notes", "two words"));
    }

    #[test]
    fn of_two_mounts_that_one_name_fits_the_longer_has_it() {
        assert_eq!(joined("a_b", "c"), "a_b_c");
        assert!(is_shortened(&joined("a", "b_c")));
        assert_eq!(mounts_by_prefix("a_b_c", MOUNTS), ["a_b", "a"]);
        assert_eq!(mounts_by_prefix("b_c", MOUNTS), [""; 0]);
    }

    proptest! {
        #[test]
        fn every_name_is_a_good_one_and_only_its_own(
            one in ".{0,160}", other in any::<String>(), at in prop::sample::select(&MOUNTS[..]),
        ) {
            let public = joined(at, &one);
            assert!(public.len() <= MAX_LENGTH && public.bytes().all(is_name_byte), "{public}");
            assert!(mounts_by_prefix(&public, MOUNTS).contains(&at));
            assert!(one == other || public != joined(at, &other));
            for mount in MOUNTS {
                assert!(mount == at || public != joined(mount, &one));
            }
            assert!(split(at, &public).is_none_or(|local| local == one));
        }
    }
}

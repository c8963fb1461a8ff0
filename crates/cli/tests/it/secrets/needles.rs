//! Search of bytes for many secrets at once, in the forms that they may appear in.

use std::collections::HashMap;

use base64_simd::STANDARD;

/// How many bytes at the start of a form find it.
const START: usize = 8;

/// The secrets, by the first bytes of each of their forms.
pub(crate) struct Needles {
    by_start: HashMap<[u8; START], Vec<Needle>>,
}

struct Needle {
    form: Vec<u8>,
    /// What it is, for whoever reads the failure.
    told: String,
}

impl Needles {
    pub(crate) fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut needles = Self { by_start: HashMap::new() };
        for secret in secrets {
            assert!(secret.len() > START, "{secret} is too short to be looked for");
            let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
            needles.add(&secret, percent, "percent-encoded");
            for shift in 0..3 {
                let padded = [&b"\0\0\0"[..shift], secret.as_bytes()].concat();
                let encoded = STANDARD.encode_to_string(&padded);
                // The first and the last characters depend on what stands beside it.
                let core = &encoded[4..encoded.len() - 4];
                if core.len() >= START {
                    needles.add(&secret, core.to_owned(), "in base64");
                }
            }
            needles.add(&secret, secret.clone(), "as it is");
        }
        needles
    }

    fn add(&mut self, secret: &str, form: String, how: &str) {
        let form = form.into_bytes();
        let start = form[..START].try_into().expect("the form is long enough");
        let told = format!("{secret}, {how}");
        self.by_start.entry(start).or_default().push(Needle { form, told });
    }

    /// Panics if `bytes` hold a secret in any form.
    #[track_caller]
    pub(crate) fn assert_none(&self, bytes: &[u8], of: &str) {
        for at in 0..bytes.len().saturating_sub(START - 1) {
            let start: [u8; START] = bytes[at..at + START].try_into().expect("the length fits");
            let Some(needles) = self.by_start.get(&start) else { continue };
            let rest = &bytes[at..];
            let is_here = |needle: &&Needle| {
                // A number may stand in a longer one by chance, such as a time.
                let is_number = needle.form.iter().all(u8::is_ascii_digit);
                let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
                let is_inside = rest.get(needle.form.len()).is_some_and(is_digit)
                    || at > 0 && is_digit(&bytes[at - 1]);
                rest.starts_with(&needle.form) && !(is_number && is_inside)
            };
            if let Some(needle) = needles.iter().find(is_here) {
                let around = &bytes[at.saturating_sub(200)..bytes.len().min(at + 200)];
                let around = String::from_utf8_lossy(around);
                panic!("{of} holds {}: {around}", needle.told);
            }
        }
    }
}

//! Tokens with a published prefix.

use super::checksum::has_base62_crc;
use super::{ByteClass, Candidate, ShapeWindow, is_word, is_word_or_dash};

/// A token: its prefix, its kind, the bytes of its body, and how many there are at least and at
/// most.
struct TokenShape {
    prefix: &'static str,
    kind: &'static str,
    class: ByteClass,
    least: usize,
    most: usize,
    check: fn(&str) -> bool,
}

const ANY: usize = usize::MAX;

const fn token(
    prefix: &'static str,
    kind: &'static str,
    class: ByteClass,
    least: usize,
) -> TokenShape {
    TokenShape { prefix, kind, class, least, most: ANY, check: |_| true }
}

const fn exact(
    prefix: &'static str,
    kind: &'static str,
    class: ByteClass,
    length: usize,
) -> TokenShape {
    TokenShape { prefix, kind, class, least: length, most: length, check: |_| true }
}

impl TokenShape {
    const fn if_body(self, check: fn(&str) -> bool) -> Self {
        Self { check, ..self }
    }
}

/// Prefixes that begin with another one stand before it.
const TOKENS: &[TokenShape] = &[
    exact("AKIA", "aws-key", is_alnum, 16).if_body(is_aws_id),
    exact("ASIA", "aws-key", is_alnum, 16).if_body(is_aws_id),
    exact("ABIA", "aws-key", is_alnum, 16).if_body(is_aws_id),
    exact("ACCA", "aws-key", is_alnum, 16).if_body(is_aws_id),
    token("ghp_", "github-token", is_word, 36),
    token("gho_", "github-token", is_word, 36),
    token("ghu_", "github-token", is_word, 36),
    token("ghs_", "github-token", is_word_or_dash_or_dot, 36),
    token("ghr_", "github-token", is_word, 36),
    token("github_pat_", "github-token", is_word, 36),
    token("glpat-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("gldt-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("glrt-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("glptt-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("glcbt-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("glft-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("glimt-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("glagent-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("glsoat-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("gloas-", "gitlab-token", is_word_or_dash_or_dot, 20),
    token("xoxe.xox", "slack-token", is_word_or_dash, 12).if_body(has_digit),
    token("xoxb-", "slack-token", is_word_or_dash, 12).if_body(has_digit),
    token("xoxa-", "slack-token", is_word_or_dash, 12).if_body(has_digit),
    token("xoxp-", "slack-token", is_word_or_dash, 12).if_body(has_digit),
    token("xoxr-", "slack-token", is_word_or_dash, 12).if_body(has_digit),
    token("xoxs-", "slack-token", is_word_or_dash, 12).if_body(has_digit),
    token("xoxe-", "slack-token", is_word_or_dash, 12).if_body(has_digit),
    token("xoxc-", "slack-token", is_word_or_dash, 12).if_body(has_digit),
    token("xoxd-", "slack-token", is_cookie, 12).if_body(has_digit),
    token("xapp-", "slack-token", is_word_or_dash, 12).if_body(has_digit),
    token("hooks.slack.com/services/T", "slack-webhook", is_word_or_slash, 20),
    token("sk_live_", "stripe-key", is_alnum, 16),
    token("rk_live_", "stripe-key", is_alnum, 16),
    token("whsec_", "stripe-key", is_base64, 24),
    exact("SK", "twilio-key", is_alnum, 32).if_body(is_small_hex),
    token("SG.", "sendgrid-key", is_word_or_dash_or_dot, 66).if_body(is_sendgrid),
    exact("npm_", "npm-token", is_alnum, 36),
    token("pypi-AgE", "pypi-token", is_word_or_dash, 50),
    token("hf_", "hugging-face-token", is_alnum, 30),
    token("api_org_", "hugging-face-token", is_alnum, 30),
    token("sk-ant-", "anthropic-key", is_word_or_dash, 24),
    token("sk-proj-", "openai-key", is_word_or_dash, 32),
    token("sk-svcacct-", "openai-key", is_word_or_dash, 32),
    token("sk-admin-", "openai-key", is_word_or_dash, 32),
    token("sk-or-v1-", "openrouter-key", is_hex, 40),
    token("sk-", "openai-key", is_alnum, 32),
    exact("AIza", "google-key", is_word_or_dash, 35),
    exact("GOCSPX-", "google-secret", is_word_or_dash, 28),
    token("ya29.", "google-token", is_word_or_dash_or_dot, 20),
    token("glsa_", "grafana-token", is_word, 41),
    token("glc_", "grafana-token", is_base64, 32),
    token("eyJrIjoi", "grafana-token", is_base64, 48),
    exact("dop_v1_", "digitalocean-token", is_hex, 64),
    exact("doo_v1_", "digitalocean-token", is_hex, 64),
    exact("dor_v1_", "digitalocean-token", is_hex, 64),
    exact("shpat_", "shopify-token", is_hex, 32),
    exact("shpca_", "shopify-token", is_hex, 32),
    exact("shppa_", "shopify-token", is_hex, 32),
    exact("shpss_", "shopify-token", is_hex, 32),
    token("PMAK-", "postman-key", is_word_or_dash, 59),
    token("lin_api_", "linear-key", is_alnum, 32),
    token("ntn_", "notion-token", is_alnum, 40),
    token("hvs.", "vault-token", is_word_or_dash_or_dot, 24),
    token("hvb.", "vault-token", is_word_or_dash_or_dot, 24),
    token("dckr_pat_", "docker-token", is_word_or_dash, 27),
    token("AGE-SECRET-KEY-1", "age-key", is_alnum, 58),
    exact("rubygems_", "rubygems-key", is_hex, 48),
    token("NRAK-", "newrelic-key", is_alnum, 27),
    token("sntrys_", "sentry-token", is_base64_or_word, 40),
    token("sntryu_", "sentry-token", is_hex, 64),
    exact("sbp_", "supabase-token", is_hex, 40),
    token("sb_secret_", "supabase-token", is_word_or_dash, 30),
    token("r8_", "replicate-token", is_alnum, 37),
    token("gsk_", "groq-key", is_alnum, 48),
    token("xai-", "xai-key", is_alnum, 70),
    token("pplx-", "perplexity-key", is_alnum, 48),
    token("ATATT3", "atlassian-token", is_base64_or_word, 100),
    token("pscale_tkn_", "planetscale-token", is_word_or_dash_or_dot, 32),
    token("pscale_pw_", "planetscale-token", is_word_or_dash_or_dot, 32),
    token("figd_", "figma-token", is_word_or_dash, 36),
    exact("pul-", "pulumi-token", is_hex, 40),
    token("bkua_", "buildkite-token", is_alnum, 40),
    token("tskey-", "tailscale-key", is_word_or_dash, 24),
    token("ops_eyJ", "onepassword-token", is_base64_or_word, 200),
    token("dp.pt.", "doppler-token", is_alnum, 40),
    token("dp.st.", "doppler-token", is_word_or_dash_or_dot, 40),
    exact("dapi", "databricks-token", is_alnum, 32).if_body(is_small_hex),
    token("sq0csp-", "square-token", is_word_or_dash, 43),
    token("sq0atp-", "square-token", is_word_or_dash, 22),
    token("cio", "crates-token", is_alnum, 32).if_body(|body| body.len() == 32 && has_digit(body)),
];

/// Words that placeholders hold and generated tokens do not.
const PLACEHOLDERS: &[&str] =
    &["your", "xxxx", "example", "placeholder", "redacted", "insert", "dummy", "replace"];

/// What finds the prefixes.
pub(super) fn anchor() -> String {
    let prefixes: Vec<String> =
        TOKENS.iter().map(|token| token.prefix.replace('.', r"\.")).collect();
    format!("(?:{})", prefixes.join("|"))
}

/// The token at the anchor.
pub(super) fn matching(window: &ShapeWindow<'_>) -> Option<Candidate> {
    if window.before().is_some_and(is_word) {
        return None;
    }
    TOKENS.iter().find_map(|token| token.matching(window))
}

impl TokenShape {
    fn matching(&self, window: &ShapeWindow<'_>) -> Option<Candidate> {
        let start = window.at + self.prefix.len();
        if !window.rest(window.at).starts_with(self.prefix) {
            return None;
        }
        let end = window.run_end(start, self.class);
        let end = window.without_full_stop(start, end);
        let body = &window.text[start..end];
        let is_long_enough = (self.least..=self.most).contains(&body.len());
        if !is_long_enough || !(self.check)(body) || (is_placeholder(body) && !has_base62_crc(body))
        {
            return None;
        }
        Some(Candidate {
            range: window.at..end,
            kind: self.kind,
            tail: window.tail(end, self.class),
        })
    }
}

/// Whether a token's body was written by a person to show where a token goes.
fn is_placeholder(body: &str) -> bool {
    let mut seen = [false; 128];
    for byte in body.bytes().filter(u8::is_ascii) {
        seen[usize::from(byte)] = true;
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    let is_sequence = {
        let pairs = body.as_bytes().windows(2);
        let rising = pairs.filter(|pair| pair[1] == pair[0].wrapping_add(1)).count();
        rising * 3 > body.len() * 2
    };
    let start = body.get(..body.len().min(256)).unwrap_or_default().to_ascii_lowercase();
    distinct < 5 || is_sequence || PLACEHOLDERS.iter().any(|word| start.contains(word))
}

fn is_aws_id(body: &str) -> bool {
    body.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && !body.ends_with("EXAMPLE")
}

fn is_sendgrid(body: &str) -> bool {
    body.split_once('.').is_some_and(|(id, key)| id.len() == 22 && key.len() == 43)
}

fn is_small_hex(body: &str) -> bool {
    body.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        && has_digit(body)
}

fn has_digit(body: &str) -> bool {
    body.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

fn is_base64_or_word(byte: u8) -> bool {
    is_base64(byte) || is_word_or_dash(byte)
}

fn is_word_or_dash_or_dot(byte: u8) -> bool {
    is_word_or_dash(byte) || byte == b'.'
}

fn is_word_or_slash(byte: u8) -> bool {
    is_word(byte) || byte == b'/'
}

fn is_cookie(byte: u8) -> bool {
    is_base64_or_word(byte) || byte == b'%'
}

//! Scanners, one for each syntax: they report keys and values to a walk.
//!
//! A text that does not fit its syntax is read line by line too, so that a slip in a file, or a
//! template in it, shows no secret.

mod braces;
mod csv;
mod env;
mod ini;
mod lines;
mod logins;
mod properties;
mod secret_list;
mod toml;
mod xml;
mod yaml;

use crate::judge::Judge;
use crate::redactor::Depth;
use crate::syntax::Syntax;
use crate::walk::{Findings, Fit, Walk};

/// Finds the secrets of `text` by their keys.
pub(crate) fn scan(text: &str, syntax: Syntax, judge: &Judge, depth: Depth) -> Findings {
    let mut walk = Walk::new(judge, depth);
    walk.open_map();
    let fit = match syntax {
        Syntax::Text => Fit::Whole,
        Syntax::Toml => toml::scan(text, &mut walk),
        Syntax::Yaml => yaml::scan(text, &mut walk),
        Syntax::Json => braces::scan(text, braces::BraceDialect::Json, &mut walk),
        Syntax::Hcl => braces::scan(text, braces::BraceDialect::Hcl, &mut walk),
        Syntax::Ini => ini::scan(text, &mut walk),
        Syntax::Env => env::scan(text, &mut walk),
        Syntax::Properties => properties::scan(text, &mut walk),
        Syntax::Netrc => logins::scan_netrc(text, &mut walk),
        Syntax::Pgpass => logins::scan_fields(text, logins::PGPASS_FIELDS, &mut walk),
        Syntax::Htpasswd => logins::scan_fields(text, logins::HTPASSWD_FIELDS, &mut walk),
        Syntax::Xml => xml::scan(text, &mut walk),
        Syntax::SecretList => secret_list::scan(text, &mut walk),
        Syntax::SecretTable => csv::scan(text, &mut walk),
    };
    let mut findings = walk.finish();
    if fit == Fit::Broken {
        let mut walk = Walk::new(judge, depth);
        walk.open_map();
        lines::scan(text, syntax, &mut walk);
        let by_line = walk.finish();
        findings.secrets.extend(by_line.secrets);
        findings.revealed.extend(by_line.revealed);
    }
    findings
}

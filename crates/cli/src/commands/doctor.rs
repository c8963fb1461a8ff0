//! `refdesk doctor`: checks an MCP server rule by rule, and prints what is wrong.

use std::env;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use client::ServerTarget;
use doctor::{
    DoctorOptions, DoctorProgress, DoctorReport, DoctorRevision, DoctorRule, DoctorSeverity,
    DoctorTarget, all_rules, examine, explain, find_rule, render_text, rules_table, to_json,
    to_junit,
};
use serde_json::{Value, json};
use terminal::{ColorChoice, terminal_width};

use crate::args::DoctorArgs;
use crate::output;
use crate::server_choice::named_server;
use crate::settings::did_you_mean;

/// No connection, or wrong arguments.
const CANNOT_CHECK: u8 = 2;
/// The width of the text where no terminal tells one.
const USUAL_WIDTH: usize = 100;
const MAX_WIDTH: usize = 200;

/// Runs the command. Its exit status is for scripts, so that no error has status 1.
pub(crate) fn run(args: &DoctorArgs) -> ExitCode {
    run_fallibly(args).unwrap_or_else(|error| {
        output::tell(&format!("error: {error:#}\n"));
        ExitCode::from(CANNOT_CHECK)
    })
}

fn run_fallibly(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    if let Some(id) = &args.explain {
        let rule = find_rule(id).ok_or_else(|| unknown_rule(id))?;
        output::print(&match args.json {
            true => format!("{}\n", rule_json(rule)),
            false => explain(rule),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.rules {
        output::print(&if args.json { rules_json() } else { rules_table() })?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = options(args)?;
    let target = target(args)?;
    let is_http = matches!(target, DoctorTarget::Http { .. });
    anyhow::ensure!(is_http || args.header.is_empty(), "--header is for servers at a URL");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut progress = show_progress;
    let report = runtime.block_on(async {
        tokio::select! {
            report = examine(&target, &options, &mut progress) => Some(report),
            // The future ends with this, and with it the program that it started.
            _ = tokio::signal::ctrl_c() => None,
        }
    });
    clear_progress();
    let report = report.context("interrupted")?;
    if let Some(file) = &args.junit {
        let text = to_junit(&report, args.strict);
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    let text = match args.json {
        true => format!("{}\n", to_json(&report)),
        false => {
            let colours = ColorChoice::Auto.applies(io::stdout().is_terminal());
            render_text(&report, colours, terminal_width().unwrap_or(USUAL_WIDTH).min(MAX_WIDTH))
        }
    };
    output::print(&text)?;
    Ok(exit_code(&report, args.strict))
}

fn exit_code(report: &DoctorReport, is_strict: bool) -> ExitCode {
    let count = |severity| report.count(severity);
    let is_wrong =
        count(DoctorSeverity::Error) > 0 || (is_strict && count(DoctorSeverity::Warning) > 0);
    match (report.is_reached(), is_wrong) {
        (false, _) => ExitCode::from(CANNOT_CHECK),
        (true, true) => ExitCode::FAILURE,
        (true, false) => ExitCode::SUCCESS,
    }
}

fn unknown_rule(id: &str) -> anyhow::Error {
    let hint = did_you_mean(id, all_rules().map(|rule| rule.id));
    let hint = hint.unwrap_or_else(|| "list them with: refdesk doctor --rules".to_owned());
    anyhow!("there is no rule {id:?}; {hint}")
}

fn rules_json() -> String {
    format!("{}\n", json!(all_rules().map(rule_json).collect::<Vec<_>>()))
}

fn rule_json(rule: &DoctorRule) -> Value {
    json!({
        "id": rule.id,
        "title": rule.title,
        "severity": rule.severity.name(),
        "source": rule.clause.source,
        "section": rule.clause.section,
        "url": rule.clause.url(),
        "explanation": rule.explanation,
        "nextStep": rule.next_step,
    })
}

fn options(args: &DoctorArgs) -> anyhow::Result<DoctorOptions> {
    let revision = |name: &String| {
        DoctorRevision::from_name(name).ok_or_else(|| {
            let known = DoctorRevision::ALL.map(DoctorRevision::name).join(", ");
            anyhow!("there is no revision {name:?}; there are {known}")
        })
    };
    let revisions = args.revision.iter().map(revision).collect::<anyhow::Result<_>>()?;
    let (timeout, read_limit) = (args.timeout, args.reads);
    let change_tool = args.change.clone();
    Ok(DoctorOptions { revisions, timeout, read_limit, change_tool, ..DoctorOptions::default() })
}

fn target(args: &DoctorArgs) -> anyhow::Result<DoctorTarget> {
    let headers = args.header.iter().map(|text| {
        let (name, value) = text.split_once(':').context("a header is written `Name: value`")?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    });
    let headers = headers.collect::<anyhow::Result<Vec<_>>>()?;
    if let Some((command, rest)) = args.command.split_first() {
        return Ok(program(command.clone(), rest.to_vec()));
    }
    let Some(text) = &args.target else {
        let own = env::current_exe().context("cannot find this program")?;
        let words = ["serve", "--stdio", "."].map(str::to_owned);
        return Ok(program(own.display().to_string(), words.to_vec()));
    };
    match named_server(text)? {
        ServerTarget::Http { url, .. } if url.starts_with("unix:") => {
            bail!("the doctor checks URLs and programs, not sockets")
        }
        ServerTarget::Http { url, headers: own } => {
            Ok(DoctorTarget::Http { url, headers: [headers, own].concat() })
        }
        ServerTarget::Child { command, args, env, cwd, .. } => {
            Ok(DoctorTarget::Child { command, args, env, cwd })
        }
        ServerTarget::Pipes(_) => bail!("the doctor checks URLs and programs"),
    }
}

fn program(command: String, args: Vec<String>) -> DoctorTarget {
    DoctorTarget::Child { command, args, env: Vec::new(), cwd: None }
}

/// Shows on a terminal what is checked now, over what was shown before.
fn show_progress(progress: DoctorProgress) {
    let mut terminal = io::stderr();
    if !terminal.is_terminal() {
        return;
    }
    let text = match progress {
        DoctorProgress::Trying(revision) => format!("{revision}: connecting"),
        DoctorProgress::Checking(revision, step) => format!("{revision}: {step}"),
    };
    // A terminal that cannot be written needs no progress.
    let _ = write!(terminal, "\r\u{1b}[K{text}");
}

fn clear_progress() {
    let mut terminal = io::stderr();
    if terminal.is_terminal() {
        let _ = write!(terminal, "\r\u{1b}[K");
    }
}

#[cfg(test)]
mod tests {
    use std::process::ExitCode;

    use doctor::{
        DoctorCheck, DoctorOutcome, DoctorReport, DoctorRevision, ExaminedRevision, find_rule,
    };

    use super::exit_code;

    /// A report in which one rule is broken.
    fn report(id: &str, is_reached: bool) -> DoctorReport {
        let rule = find_rule(id).unwrap();
        let revision = DoctorRevision::Y2025M11;
        DoctorReport {
            target: "test".to_owned(),
            server: None,
            revisions: vec![ExaminedRevision {
                revision,
                why_not: None,
                is_reached,
                is_http_sse: false,
            }],
            checks: vec![DoctorCheck { rule, outcome: DoctorOutcome::Broken }],
            findings: Vec::new(),
        }
    }

    #[test]
    fn the_exit_status_tells_errors_from_warnings_and_both_from_no_connection() {
        let shown = |code: ExitCode| format!("{code:?}");
        let status = |id: &str, is_strict| shown(exit_code(&report(id, true), is_strict));
        assert_eq!(status("ping", false), shown(ExitCode::from(1)));
        assert_eq!(status("tool-name", false), shown(ExitCode::SUCCESS));
        assert_eq!(status("tool-name", true), shown(ExitCode::from(1)));
        assert_eq!(status("home-paths", true), shown(ExitCode::SUCCESS));
        assert_eq!(shown(exit_code(&report("ping", false), false)), shown(ExitCode::from(2)));
    }
}

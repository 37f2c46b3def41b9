//! `session report`: a summary of sessions for CI, and gates: conditions that fail it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::mem;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use globset::{Glob, GlobBuilder};

use crate::commands::session::gates::{parse_amount, report_failed_gates};
use crate::commands::session::names::find_display_path;
use crate::commands::session::source::MatchArguments;
use crate::commands::{Globals, InputErrors, Run, Status, UsageError, output};
use crate::io::Io;
use crate::permission::Rules;
use crate::records::{GateResult, SessionCostRecord, SessionReportRecord};
use crate::render::{report_as_github_output, report_as_json, report_as_junit, report_as_markdown};
use crate::session::{CallEvent, visit_all_calls};
use crate::summaries::{
    FailOn, ReportBuilder, check_changed_files, check_cost, check_events, check_forbidden_calls,
    check_tokens, forbidding_rules,
};

/// Report on sessions for CI, and fail if they exceed limits
///
/// Writes Markdown for a job summary: task, outcome, changed files, commands, failures, denials, tokens, cost and
/// duration of the sessions, added up. Reads session files and saved streams of runs. With `--since` and `--until` only
/// messages and calls of that time count, and sessions without any are omitted.
///
/// Exits with 6 if a gate fails, and names it on standard error. An unknown cost or number of tokens fails its gate.
/// Text of models cannot contain commands to the runner, HTML or images, and text that looks like a key or a password
/// is replaced.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe session report latest
  turnpipe session report stream.jsonl --max-cost 2 --fail-on denied,error > summary.md
  turnpipe session report --since 1d --max-cost 20
  turnpipe session report latest --forbid 'Bash(git push *)' --junit gates.xml
  turnpipe session report latest --only 'src/**' --only 'tests/**'")]
pub(crate) struct SessionReportArguments {
    /// Sessions: paths, ids, titles or `latest`; `-` is standard input
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    #[command(flatten)]
    gates: GateArguments,
    /// Append outputs to this file, e.g. `$GITHUB_OUTPUT`
    ///
    /// A line `name=value` for each; `docs/sessions.md` lists the names.
    #[arg(long, value_name = "FILE")]
    github_output: Option<PathBuf>,
    /// Write a test case for each gate to this file, as `JUnit` XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Prices that take precedence over the built-in ones
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    prices: Option<PathBuf>,
    #[command(flatten)]
    matching: MatchArguments,
    /// The output form
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "md")]
    output: ReportForm,
    /// The same as `-o jsonl`
    #[arg(long, conflicts_with = "output", hide_short_help = true)]
    json: bool,
}

/// The form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportForm {
    /// Markdown
    #[value(alias = "markdown")]
    Md,
    /// A record
    #[value(alias = "json")]
    Jsonl,
}

impl Run for SessionReportArguments {
    reads_sessions!(matching.source, sessions);

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        if self.sessions.is_empty() && !self.matching.is_restrictive() {
            return Err(UsageError::new("no session is named")
                .with_hint(
                    "`latest` is the last one, `-` standard input; `--since 1d` selects several",
                )
                .into());
        }
        let prices = globals.config(io)?.prices(self.prices.as_deref());
        let prices = prices.map_err(UsageError::reason)?;
        let forbid = &self.gates.forbid;
        let rules = forbidding_rules(forbid, Path::new("/")).map_err(UsageError::reason)?;
        for warning in Rules::new(rules).warnings(&|_| false) {
            io.messages.warn(&warning);
        }
        let open = |path: &Option<PathBuf>, options: &mut OpenOptions| {
            let path = path.as_ref();
            let file = path.map(|path| {
                let opened = options.create(true).open(path);
                opened.with_context(|| format!("cannot write {}", path.display()))
            });
            file.transpose()
        };
        let outputs = open(&self.github_output, OpenOptions::new().append(true))?;
        let test_cases = open(&self.junit, OpenOptions::new().write(true))?;
        let (listing, period) = self.matching.call_listing(io.clock.as_ref());
        let mut errors = InputErrors::new(&io.messages);
        let source = &self.matching.source;
        let (named, candidates) = source.resolve_or_all(&self.sessions, &mut errors, io)?;
        let mut builder = ReportBuilder::new(period, forbid.clone(), io.environment.clone())?;
        let mut failure = None;
        visit_all_calls(&candidates, &listing, &mut |event| {
            match event {
                CallEvent::Session(listed) => {
                    let path = listed.path.clone();
                    let here = std::env::current_dir().ok();
                    let added = builder.add_session(*listed, &source.named_roots, here);
                    failure = added.err().map(|no_text| {
                        let problem = no_text.error.unwrap_or_default();
                        UsageError::new(problem).about(path.display())
                    });
                }
                CallEvent::Call(call) => builder.add_call(&call),
                CallEvent::Failed { path, error } => errors.report_all(vec![(path, error)]),
            }
            match failure {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        });
        if let Some(error) = failure {
            return Err(error.into());
        }
        let (mut report, costs) = builder.finish(&prices);
        for about in report.sessions.iter_mut().map(|session| &mut session.about) {
            let path = find_display_path(mem::take(&mut about.path).into(), &named);
            about.path = path.display().to_string();
        }
        if report.sessions.is_empty() && !self.sessions.is_empty() {
            return if errors.any {
                Ok(Status::UsageError)
            } else {
                Err(UsageError::new("no sessions found").into())
            };
        }
        report.gates = self.gates.check(&report, &costs);
        report.passed = report.gates.iter().all(|gate| gate.passed);
        if self.json || self.output == ReportForm::Jsonl {
            let mut writer = output::open_record_writer(io)?;
            writer.echo(report_as_json(&report)?.as_bytes())?;
            writer.flush()?;
        } else {
            output::page(&report_as_markdown(&report), globals, io)?;
        }
        write_output(outputs, &report_as_github_output(&report))?;
        if let Some(file) = &test_cases {
            file.set_len(0)?;
        }
        write_output(test_cases, &report_as_junit(&report))?;
        Ok(errors.to_status(report_failed_gates(&report.gates, io)))
    }
}

fn write_output(file: Option<File>, text: &str) -> anyhow::Result<()> {
    file.map_or(Ok(()), |mut file| file.write_all(text.as_bytes()))
        .context("cannot write a file of the report")
}

/// Arguments of gates.
#[derive(Debug, Args)]
pub(crate) struct GateArguments {
    /// Fail if the sessions cost more than this many US dollars
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount, hide_short_help = true)]
    max_cost: Option<f64>,
    /// Fail if the sessions used more tokens, cached ones included
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_tokens: Option<u64>,
    /// Fail if one of these events happened; separated by commas
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    fail_on: Vec<FailOn>,
    /// Fail if a call matches this permission rule; repeatable
    ///
    /// For example `Bash(git push *)`. As with a deny rule, a call that may match counts; so does a call that was denied.
    #[arg(long, value_name = "RULE")]
    pub(crate) forbid: Vec<String>,
    /// Fail if the sessions changed a file that this glob does not match; repeatable
    ///
    /// For example `src/**`, relative to the directory of the session. Several globs add up. What shell commands changed
    /// is unknown.
    #[arg(long, value_name = "GLOB", value_parser = parse_glob, hide_short_help = true)]
    only: Vec<Glob>,
}

/// Parses a glob. `*` does not match `/`.
fn parse_glob(text: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(true).build()
}

impl GateArguments {
    /// Checks the gates of a report on sessions with these costs.
    pub(crate) fn check(
        &self,
        report: &SessionReportRecord,
        costs: &[SessionCostRecord],
    ) -> Vec<GateResult> {
        let mut gates = Vec::new();
        gates.extend(self.max_cost.map(|limit| check_cost(costs, limit)));
        gates.extend(self.max_tokens.map(|limit| check_tokens(costs, limit)));
        let mut fail_on = self.fail_on.clone();
        fail_on.dedup();
        let events = fail_on.into_iter();
        gates.extend(events.map(|event| check_events(report, event)));
        gates.extend(
            self.forbid
                .iter()
                .map(|rule| check_forbidden_calls(report, rule)),
        );
        gates.extend(check_changed_files(report, &self.only));
        gates
    }
}

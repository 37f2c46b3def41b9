//! `session report`: a summary of sessions for CI, and gates.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::cmd::run::guards::CallDecisions;
use crate::cmd::session::calls::{SeenCall, duration_ms, is_within};
use crate::cmd::session::names::NamedSession;
use crate::cmd::session::report_gates::GateArguments;
use crate::cmd::session::source::{MatchArguments, SourceArguments, about};
use crate::cmd::{Globals, InputErrors, Run, Status, UsageError, output};
use crate::config::PermissionSettings;
use crate::io::Io;
use crate::message::{CallOutcome, DecidedBy, Origin, Thread};
use crate::permission::Rules;
use crate::records::{FileChange, ReportedCall, ReportedSession, SessionReportRecord};
use crate::session::{
    CallEvent, Candidate, Detail, Listed, Listing, SessionCall, Tally, calls_of_all,
};
use crate::side::{SessionExcerpt, builtin};
use crate::text::{counted, dollars, fitted, redact, terminal_safe_line};
use crate::tools::{Registry, ShellGuarantees, WriteProtection};
use crate::view::{
    cost_cell, github_output, input_gist, junit, report_as_json, report_as_markdown, runs_cell,
    spelled, tokens_cell,
};

/// Ends of runs that are not errors, in the words of agents.
const SUCCESSFUL_ENDS: [&str; 4] = ["success", "completed", "stop", "end_turn"];

/// Maximum width of an outcome, in columns.
const OUTCOME_COLUMNS: usize = 300;

/// Report on sessions for CI, and fail if they exceed limits
///
/// Writes Markdown for a job summary: task, outcome, changed files, commands, failures, denials, tokens, cost and
/// duration of the sessions, added up. Reads session files and saved streams of runs. With `--since` and `--until` only
/// requests and calls of that time count.
///
/// Exits with 6 if a gate fails, and names it on standard error. An unknown cost or number of tokens fails its gate.
/// Text of models cannot contain commands to the runner, HTML or images, and text that looks like a key or a password
/// is replaced.
#[derive(Debug, Args)]
pub(crate) struct SessionReportArguments {
    /// Sessions: paths, ids, titles or `latest`; `-` is standard input
    #[arg(value_name = "SESSION", required_unless_present_any = ["since", "until"])]
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
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    #[command(flatten)]
    matching: MatchArguments,
    /// The output form
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "md")]
    output: ReportForm,
    /// The same as `-o jsonl`
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

/// The form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportForm {
    /// Markdown
    #[value(alias = "markdown")]
    Md,
    /// A record
    Jsonl,
}

impl Run for SessionReportArguments {
    fn source(&mut self) -> Option<&mut SourceArguments> {
        Some(&mut self.matching.source)
    }

    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let prices = globals
            .config(&io.environment)?
            .prices(self.prices.as_deref());
        let prices = prices.map_err(UsageError::reason)?;
        for warning in Rules::new(self.gates.rules(Path::new("/"))?).warnings() {
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
        let (listing, period) = self.matching.listing_of_calls(io.clock.as_ref());
        let mut errors = InputErrors::new(&io.messages);
        let source = &self.matching.source;
        let (named, candidates) = source.named_or_all(&self.sessions, &mut errors, io)?;
        let mut collector = Collector::new(&self, &named, period, io);
        collector.read(&candidates, &listing, &mut errors)?;
        let Collector {
            mut report,
            mut tally,
            files,
            ..
        } = collector;
        if report.sessions.is_empty() && !self.sessions.is_empty() {
            return if errors.any {
                Ok(Status::UsageError)
            } else {
                Err(UsageError::new("no sessions found").into())
            };
        }
        report.files = files.into_values().collect();
        tally.price(&prices);
        let sum = tally.costs(&[], &TimeZone::UTC).pop().unwrap_or_default();
        report.usage = sum.usage;
        report.recorded_cost = sum.recorded_cost;
        report.unpriced_models = sum.unpriced_models;
        if let Some(runs) = tally.runs() {
            let is_error = |reason: &str| !SUCCESSFUL_ENDS.contains(&reason);
            let ends = runs.ends.iter().filter(|(reason, _)| is_error(reason));
            report.errors = report.errors.max(ends.map(|(_, count)| count).sum());
            report.denied = report.denied.max(runs.denials);
            report.duration_ms = report.duration_ms.max(runs.duration_ms);
        }
        report.runs = tally.runs().cloned();
        report.gates = self.gates.results(&report, sum.replies);
        report.passed = report.gates.iter().all(|gate| gate.passed);
        if self.json || self.output == ReportForm::Jsonl {
            let mut writer = output::record_writer(io)?;
            writer.echo(report_as_json(&report)?.as_bytes())?;
            writer.flush()?;
        } else {
            output::page(&report_as_markdown(&report, &facts(&report)), globals, io)?;
        }
        write_to(outputs, &github_output(&report))?;
        if let Some(file) = &test_cases {
            file.set_len(0)?;
        }
        write_to(test_cases, &junit(&report))?;
        for gate in report.gates.iter().filter(|gate| !gate.passed) {
            io.messages
                .error(&format!("gate failed: {}: {}", gate.gate, gate.message));
        }
        Ok(errors.outcome(if report.passed {
            Status::Done
        } else {
            Status::GateFailed
        }))
    }
}

fn write_to(file: Option<File>, text: &str) -> anyhow::Result<()> {
    file.map_or(Ok(()), |mut file| file.write_all(text.as_bytes()))
        .context("cannot write a file of the report")
}

/// Returns the rows of the table of a report.
fn facts(report: &SessionReportRecord) -> Vec<(&'static str, String)> {
    let failed = report.gates.iter().filter(|gate| !gate.passed).count() as u64;
    let result = match report.gates.len() as u64 {
        0 => None,
        count if failed > 0 => Some(format!(
            "{failed} of {} failed",
            counted(count, "gate", "gates")
        )),
        count => Some(format!("{} passed", counted(count, "gate", "gates"))),
    };
    let abouts = || report.sessions.iter().map(|session| &session.about);
    let joined = |names: Vec<String>| (!names.is_empty()).then(|| names.join(", "));
    let mut agents: Vec<String> = abouts().map(|about| about.agent.clone()).collect();
    let mut models: Vec<String> = abouts().filter_map(|about| about.model.clone()).collect();
    agents.dedup();
    models.dedup();
    let calls = format!(
        "{}: {} failed, {} denied",
        report.calls, report.failed, report.denied
    );
    let sum = |count: fn(&FileChange) -> u64| report.files.iter().map(count).sum::<u64>();
    let changes = match report.files.len() as u64 {
        0 => "none".to_owned(),
        count => {
            let files = counted(count, "file", "files");
            let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
            format!("{files}, +{added} −{removed}")
        }
    };
    let tokens = tokens_cell(&report.usage);
    let cost = tokens
        .as_ref()
        .map(|_| cost_cell(&report.usage, &report.unpriced_models));
    let unpriced = report.unpriced_models.iter().cloned().collect();
    let length = i64::try_from(report.duration_ms).unwrap_or(i64::MAX);
    let rows = [
        ("Result", result),
        ("Agent", joined(agents)),
        ("Model", joined(models)),
        ("Calls", Some(calls)),
        ("Changes", Some(changes)),
        ("Tokens", tokens),
        ("Cost", cost),
        ("Recorded cost", report.recorded_cost.map(dollars)),
        ("Without a price", joined(unpriced)),
        (
            "Duration",
            (length > 0).then(|| spelled(SignedDuration::from_millis(length))),
        ),
        ("Run", report.runs.as_ref().map(runs_cell)),
    ];
    let rows = rows.into_iter();
    rows.filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// Reads sessions and adds them up.
struct Collector<'a> {
    arguments: &'a SessionReportArguments,
    named: &'a [NamedSession],
    period: Range<Timestamp>,
    io: &'a Io,
    report: SessionReportRecord,
    tally: Tally,
    files: BTreeMap<String, FileChange>,
    /// The changes that the current session records, by the ids of calls.
    edits: HashMap<String, Vec<FileChange>>,
    /// Decisions by each rule of `--forbid` in the current session.
    forbidding: Vec<CallDecisions>,
}

impl<'a> Collector<'a> {
    fn new(
        arguments: &'a SessionReportArguments,
        named: &'a [NamedSession],
        period: Range<Timestamp>,
        io: &'a Io,
    ) -> Self {
        Self {
            arguments,
            named,
            tally: Tally::within(period.clone(), Detail::Costs),
            period,
            io,
            report: SessionReportRecord::default(),
            files: BTreeMap::new(),
            edits: HashMap::new(),
            forbidding: Vec::new(),
        }
    }

    fn read(
        &mut self,
        candidates: &[Candidate],
        listing: &Listing,
        errors: &mut InputErrors,
    ) -> anyhow::Result<()> {
        let mut failure = None;
        calls_of_all(candidates, listing, &mut |event| {
            let outcome = match event {
                CallEvent::Session(listed) => self.session(*listed),
                CallEvent::Call(call) => {
                    self.call(&call);
                    Ok(())
                }
                CallEvent::Failed { path, error } => {
                    errors.report(path.display(), &UsageError::reason(error));
                    Ok(())
                }
            };
            failure = outcome.err();
            match failure {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        });
        failure.map_or(Ok(()), Err)
    }

    /// Adds a session without its calls.
    fn session(&mut self, listed: Listed) -> anyhow::Result<()> {
        let Listed {
            path,
            agent,
            mut facts,
            ..
        } = listed;
        facts.redact_names();
        if facts.started.is_some_and(|start| start >= self.period.end) {
            return Ok(());
        }
        let unusable =
            |error: &dyn std::fmt::Display| UsageError::reason(error).about(path.display());
        let source = &self.arguments.matching.source;
        let excerpt = SessionExcerpt::read(&path, &source.named_roots, source.mapping());
        let excerpt = excerpt.map_err(|no_text| unusable(&no_text.reason))?;
        self.tally
            .add(&excerpt.session)
            .map_err(|error| unusable(&error))?;
        let texts = excerpt.excerpt.texts();
        let mut ends = texts
            .iter()
            .rev()
            .filter(|message| message.thread == Thread::Main);
        let last = ends.find(|message| matches!(message.origin, Origin::Reply | Origin::Error));
        let is_error = last.is_some_and(|message| message.origin == Origin::Error);
        self.report.errors += u64::from(is_error || !excerpt.excerpt.gate().is_idle());
        if let Some((start, end)) = facts.started.zip(facts.last_activity) {
            let length = end.duration_since(start).as_millis();
            self.report.duration_ms += u64::try_from(length).unwrap_or_default();
        }
        let cwd = facts.first_cwd.as_ref().map(PathBuf::from);
        let found = excerpt
            .session
            .all_edits()
            .map_err(|error| unusable(&error))?;
        self.edits.clear();
        for edit in found.edits.into_iter().chain(found.detached) {
            let (added, removed) = edit.line_counts();
            let path = edit.moved_to.unwrap_or(edit.path);
            let path = cwd
                .as_ref()
                .map(|cwd| cwd.join(&path).display().to_string())
                .unwrap_or(path);
            let change = FileChange {
                path,
                added,
                removed,
            };
            match edit.call {
                Some(call) => self.edits.entry(call).or_default().push(change),
                None => self.change(&change),
            }
        }
        let directory = match cwd {
            Some(cwd) => cwd,
            None => std::env::current_dir().context("cannot find the working directory")?,
        };
        let rules = self.arguments.gates.rules(&directory)?.into_iter();
        let decisions = rules.map(|rule| {
            let settings = PermissionSettings {
                rules: Rules::new(vec![rule]),
                ..PermissionSettings::default()
            };
            let shell = ShellGuarantees::foreign(WriteProtection::Absent);
            CallDecisions::new(
                Registry::builtin(),
                settings,
                directory.clone(),
                shell,
                self.io,
            )
        });
        self.forbidding = decisions.collect::<Result<_, _>>()?;
        let mut about = about(path.clone(), agent, facts);
        let copied = self.named.iter().find(|named| named.is_copy(&path));
        if let Some(named) = copied {
            about.path.clone_from(&named.name);
        }
        let report = builtin::last_report(&texts);
        let outcome = match last {
            Some(last) if report.is_empty() => last.text(),
            _ => report,
        };
        let outcome = fitted(&terminal_safe_line(&redact(&outcome)), OUTCOME_COLUMNS);
        let outcome = Some(outcome).filter(|outcome| !outcome.is_empty());
        self.report
            .sessions
            .push(ReportedSession { about, outcome });
        Ok(())
    }

    fn change(&mut self, change: &FileChange) {
        let file = self.files.entry(change.path.clone());
        let file = file.or_insert_with(|| FileChange {
            added: 0,
            removed: 0,
            ..change.clone()
        });
        file.added += change.added;
        file.removed += change.removed;
    }

    fn call(&mut self, call: &SessionCall) {
        let session = self.report.sessions.last();
        let Some(session) = session.filter(|_| is_within(call, &self.period)) else {
            return;
        };
        let seen = SeenCall::new(call, &session.about);
        let command = seen.command(call);
        let directory = seen.cwd.clone().unwrap_or_default();
        let rules = self.arguments.gates.forbid.iter().zip(&self.forbidding);
        let matching = rules.filter(|(_, decisions)| {
            let name = &call.call.name;
            let (_, decided) = decisions.decide(name, &seen.input, &directory, decisions.mode());
            matches!(decided.by, DecidedBy::Rule { .. })
        });
        let forbidden_by = matching.map(|(rule, _)| rule.clone()).collect();
        let about = input_gist(&seen.input, session.about.cwd.as_deref());
        let is_command = command.is_some();
        let reported = ReportedCall {
            tool: call.call.name.clone(),
            about: redact(&command.unwrap_or(about)).into_owned(),
            is_command,
            outcome: seen.outcome,
            exit_status: call.result.as_ref().and_then(|result| result.exit_status),
            duration_ms: duration_ms(call),
            forbidden_by,
        };
        let (is_denied, has_failed) = (reported.is_denied(), reported.has_failed());
        self.report.calls += 1;
        self.report.denied += u64::from(is_denied);
        self.report.failed += u64::from(has_failed);
        let is_done = seen.outcome == Some(CallOutcome::Ok);
        let named = Some(seen.files).filter(|_| is_done);
        let changes = self.edits.remove(&call.call.id).or(named);
        changes
            .into_iter()
            .flatten()
            .for_each(|change| self.change(&change));
        if is_command || is_denied || has_failed || !reported.forbidden_by.is_empty() {
            self.report.listed_calls.push(reported);
        }
    }
}

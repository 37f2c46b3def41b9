//! A report on sessions: their outcomes, changed files, calls, tokens and costs, added up; and its gates, conditions that
//! fail it. Messages of gates contain no text of models.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use globset::{Glob, GlobMatcher};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::builtin;
use super::excerpt::Excerpt;
use super::outcome::NoText;
use crate::agent::{NamedRoots, timestamp};
use crate::io::Environment;
use crate::message::{DecidedBy, Message, Origin, Thread};
use crate::permission::{Behavior, InvalidRule, Mode, Rule, RuleSource, Rules, normalise};
use crate::process::NotEnforced;
use crate::records::{
    Dimension, FileChange, GateResult, ReportedCall, ReportedSession, SessionCostRecord,
    SessionReportRecord, Spending,
};
use crate::run::tools::{DecisionContext, Registry, ShellGuarantees, WriteProtection};
use crate::session::{
    Detail, ListedSession, Prices, Projects, Scope, SeenCall, Session, SessionCall, Tally,
    describe_input, describe_session, is_in_period,
};
use crate::text::{
    fit_columns, format_count, format_dollars, format_number, redact, terminal_safe_line,
};

/// Ends of runs that are not errors, in the words of agents.
const SUCCESSFUL_ENDS: [&str; 4] = ["success", "completed", "stop", "end_turn"];

/// Maximum width of an outcome, in columns.
const OUTCOME_COLUMNS: usize = 300;

/// Parses the rules of `--forbid`, for a session that starts in `directory`.
///
/// # Errors
/// A rule is malformed.
pub fn forbidding_rules(rules: &[String], directory: &Path) -> Result<Vec<Rule>, InvalidRule> {
    let source = Arc::new(RuleSource {
        name: "--forbid".to_owned(),
        anchor: directory.to_owned(),
    });
    let rules = rules.iter();
    let rules = rules.map(|rule| Rule::parse(rule, Behavior::Deny, &source));
    rules.collect()
}

/// The messages of a session in the period of a report.
#[derive(Default)]
struct PartOfSession {
    excerpt: Excerpt,
    /// The times of the first and the last message.
    times: Option<(Timestamp, Timestamp)>,
    /// Whether messages follow after the period.
    continues: bool,
}

/// Adds up sessions and their calls.
pub struct ReportBuilder {
    period: Range<Timestamp>,
    report: SessionReportRecord,
    tally: Tally,
    files: BTreeMap<String, FileChange>,
    /// The changes that the current session records, by the ids of calls.
    edits: HashMap<String, Vec<FileChange>>,
    /// The rules that forbid calls, as text.
    rule_texts: Vec<String>,
    /// The parsed rules for the directory of the current session. Each is a set, to tell which one matches.
    rules: Vec<Rules>,
    /// The paths of files that the current session changed.
    paths: BTreeSet<String>,
    /// The projects of all sessions, if the report names projects.
    pub projects: Arc<OnceLock<Projects>>,
    registry: Registry,
    context: DecisionContext,
}

impl ReportBuilder {
    /// Creates a report on requests and calls in `period`, and on calls that the rules in `rule_texts` forbid.
    ///
    /// # Errors
    /// The context of decisions cannot be set up.
    pub fn new(
        period: Range<Timestamp>,
        rule_texts: Vec<String>,
        environment: Environment,
    ) -> Result<Self, NotEnforced> {
        let shell = ShellGuarantees::foreign(WriteProtection::Absent);
        Ok(Self {
            tally: Tally::with_period(period.clone(), Detail::Activity),
            period,
            report: SessionReportRecord::default(),
            files: BTreeMap::new(),
            edits: HashMap::new(),
            rule_texts,
            rules: Vec::new(),
            paths: BTreeSet::new(),
            projects: Arc::default(),
            registry: Registry::builtin(),
            context: DecisionContext::for_decisions(Vec::new(), environment, shell)?,
        })
    }

    /// Adds a session without its calls if it was active in the period. Rules apply in the directory of the session, or in
    /// `here` if the session records none.
    ///
    /// # Errors
    /// The session cannot be read, or a rule is malformed.
    pub fn add_session(
        &mut self,
        mut listed: ListedSession,
        named_roots: &NamedRoots,
        here: Option<PathBuf>,
    ) -> Result<(), NoText> {
        listed.facts.redact_names();
        let facts = &listed.facts;
        if facts.started.is_some_and(|start| start >= self.period.end) {
            return Ok(());
        }
        let session = Session::open_with(&listed.path, named_roots).map_err(NoText::unreadable)?;
        let is_active = self.tally.add(&session).map_err(NoText::unreadable)?;
        let part = self.read_period(&session).map_err(NoText::unreadable)?;
        let messages = part.excerpt.to_messages();
        let mut latest_first = messages
            .iter()
            .rev()
            .filter(|message| message.thread == Thread::Main);
        let end =
            latest_first.find(|message| matches!(message.origin, Origin::Reply | Origin::Error));
        if !is_active && end.is_none() {
            return Ok(());
        }
        let is_error = end.is_some_and(|message| message.origin == Origin::Error);
        let is_unfinished = !part.excerpt.gate().is_idle() && !part.continues;
        self.report.errors += u64::from(is_error || is_unfinished);
        let times = if self.is_unlimited() {
            facts.started.zip(facts.last_activity)
        } else {
            part.times
        };
        if let Some((start, end)) = times {
            let length = end.duration_since(start).as_millis();
            self.report.duration_ms += u64::try_from(length).unwrap_or_default();
        }
        let cwd = facts.first_cwd.as_ref().map(PathBuf::from);
        let changes_without_call = self.read_changes(&session, cwd.as_deref())?;
        self.set_directory(cwd, here)?;
        let reported = self.describe_session(listed, times, &messages, end);
        self.report.sessions.push(reported);
        self.paths.clear();
        for change in &changes_without_call {
            self.add_change(change);
        }
        Ok(())
    }

    /// Reads the changes that a session records, with paths relative to `cwd`. Returns changes without a call.
    fn read_changes(
        &mut self,
        session: &Session,
        cwd: Option<&Path>,
    ) -> Result<Vec<FileChange>, NoText> {
        let recorded = session.read_all_edits().map_err(NoText::unreadable)?;
        self.edits.clear();
        let mut without_call = Vec::new();
        for edit in recorded.edits.into_iter().chain(recorded.detached) {
            let (added, removed) = edit.line_counts();
            let path = edit.moved_to.unwrap_or(edit.path);
            let path = cwd.unwrap_or(Path::new("")).join(path);
            let change = FileChange {
                path: path.display().to_string(),
                added,
                removed,
            };
            match edit.call {
                Some(call) => self.edits.entry(call).or_default().push(change),
                // Its time is unknown, so it may be outside of a limited period.
                None if self.is_unlimited() => without_call.push(change),
                None => {}
            }
        }
        Ok(without_call)
    }

    /// Prepares the rules and the context of decisions for the directory of a session.
    fn set_directory(&mut self, cwd: Option<PathBuf>, here: Option<PathBuf>) -> Result<(), NoText> {
        let directory = cwd
            .clone()
            .or(here)
            .ok_or_else(|| NoText::unreadable("cannot find the working directory"))?;
        let rules = forbidding_rules(&self.rule_texts, &directory).map_err(NoText::unreadable)?;
        let rules = rules.into_iter();
        self.rules = rules.map(|rule| Rules::new(vec![rule])).collect();
        self.context.allowed_directories = vec![directory];
        self.context.directory = cwd.unwrap_or_default();
        Ok(())
    }

    /// Describes a session by its texts. `end` is its last reply or error.
    fn describe_session(
        &self,
        listed: ListedSession,
        times: Option<(Timestamp, Timestamp)>,
        messages: &[Message],
        end: Option<&Message>,
    ) -> ReportedSession {
        let safe = |text: &str| fit_columns(&terminal_safe_line(&redact(text)), OUTCOME_COLUMNS);
        let report = builtin::write_last_report(messages);
        let outcome = match end {
            Some(end) if report.is_empty() => safe(&end.text()),
            _ => safe(&report),
        };
        let projects = self.projects.get();
        let project = projects.and_then(|known| known.name(&listed.facts));
        let about = describe_session(listed.path, listed.agent, listed.facts);
        let request = builtin::write_title(messages);
        let title = about.title.as_deref();
        let names = [title, Some(&request), about.first_prompt.as_deref()];
        let name = names.into_iter().flatten().find(|name| !name.is_empty());
        let heading = safe(name.unwrap_or("(no prompt)"));
        let recap = safe(&builtin::write_recap_below(&heading, messages));
        let (started, ended) = times
            .map(|(start, end)| (start.to_string(), end.to_string()))
            .unzip();
        ReportedSession {
            project,
            started,
            ended,
            recap: if recap.is_empty() {
                outcome.clone()
            } else {
                recap
            },
            outcome: Some(outcome).filter(|outcome| !outcome.is_empty()),
            heading,
            about,
            ..ReportedSession::default()
        }
    }

    /// Whether the period has neither a start nor an end.
    fn is_unlimited(&self) -> bool {
        self.period == (Timestamp::MIN..Timestamp::MAX)
    }

    /// Reads the messages in the period; without limits, only messages since the last compaction.
    fn read_period(&self, session: &Session) -> io::Result<PartOfSession> {
        let scope = if self.is_unlimited() {
            Scope::SinceCompaction
        } else {
            Scope::Live
        };
        let (mut part, mut time) = (PartOfSession::default(), None);
        for message in session.messages(scope)? {
            let message = message?;
            time = timestamp(message.time.as_deref()).or(time);
            if is_in_period(&self.period, time) {
                part.times = time.map(|time| (part.times.map_or(time, |(first, _)| first), time));
                part.excerpt.note(message);
            }
            part.continues |= time.is_some_and(|time| time >= self.period.end);
        }
        Ok(part)
    }

    fn add_change(&mut self, change: &FileChange) {
        if let Some(session) = self.report.sessions.last_mut() {
            session.files_changed += u64::from(self.paths.insert(change.path.clone()));
            session.lines_added += change.added;
            session.lines_removed += change.removed;
        }
        let file = self.files.entry(change.path.clone()).or_default();
        file.path.clone_from(&change.path);
        file.added += change.added;
        file.removed += change.removed;
    }

    /// Adds a call of the session that was added last.
    pub fn add_call(&mut self, call: &SessionCall) {
        let session = self.report.sessions.last();
        let Some(session) = session.filter(|_| call.is_within(&self.period)) else {
            return;
        };
        let cwd = session.about.cwd.as_deref();
        let seen = SeenCall::new(call, cwd);
        let command = seen.command(call);
        let about = describe_input(&seen.input, cwd);
        let is_command = command.is_some();
        let reported = ReportedCall {
            tool: call.call.name.clone(),
            about: redact(&command.unwrap_or(about)).into_owned(),
            is_command,
            outcome: seen.outcome,
            exit_status: call.result.as_ref().and_then(|result| result.exit_status),
            duration_ms: call.duration_ms(),
            forbidden_by: self.find_matching_rules(call, &seen),
        };
        let (is_denied, has_failed) = (reported.is_denied(), reported.has_failed());
        self.report.calls += 1;
        self.report.denied += u64::from(is_denied);
        self.report.failed += u64::from(has_failed);
        let recorded = self.edits.remove(&call.call.id);
        let changes = recorded.unwrap_or_else(|| seen.changes().cloned().collect());
        for change in &changes {
            self.add_change(change);
        }
        if is_command || is_denied || has_failed || !reported.forbidden_by.is_empty() {
            self.report.listed_calls.push(reported);
        }
    }

    /// Returns the texts of the rules that forbid a call.
    fn find_matching_rules(&self, call: &SessionCall, seen: &SeenCall) -> Vec<String> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let (name, context) = (&call.call.name, &self.context);
        let call = self.registry.asked_call(name, &seen.input, context);
        let request = context.request(&call.tool, &call.input, &call.action);
        let is_matched = |rules: &Rules| {
            let decided = rules.decide(Mode::default(), &request);
            matches!(decided.by, DecidedBy::Rule { .. })
        };
        let rules = self.rule_texts.iter().zip(&self.rules);
        let matching = rules.filter(|(_, rules)| is_matched(rules));
        matching.map(|(text, _)| text.clone()).collect()
    }

    /// Returns the report without gates, and the spending of each session.
    pub fn finish(mut self, prices: &Prices) -> (SessionReportRecord, Vec<SessionCostRecord>) {
        let mut report = self.report;
        report.files = self.files.into_values().collect();
        self.tally.price(prices);
        report.spending = self.tally.total().spending;
        if let Some(runs) = self.tally.runs() {
            let is_error = |reason: &str| !SUCCESSFUL_ENDS.contains(&reason);
            let ends = runs.ends.iter().filter(|(reason, _)| is_error(reason));
            report.errors = report.errors.max(ends.map(|(_, count)| count).sum());
            report.denied = report.denied.max(runs.denials);
            report.duration_ms = report.duration_ms.max(runs.duration_ms);
            report.runs = Some(runs.clone());
        }
        let costs = self.tally.sum_costs(&[Dimension::Session], &TimeZone::UTC);
        let ids = costs.iter().filter_map(|cost| {
            let id = cost.dimensions.get(&Dimension::Session)?.as_ref()?;
            Some((id.as_str(), &cost.spending))
        });
        let mut by_id: HashMap<&str, &Spending> = ids.collect();
        for session in &mut report.sessions {
            let id = session.about.session_id.as_ref();
            // The costs of files with the same id are one sum, which only the first file gets.
            let spending = id.and_then(|id| by_id.remove(id.0.as_str()));
            session.spending = spending.cloned().unwrap_or_default();
        }
        (report, costs)
    }
}

/// An event that fails a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// The user or a rule denied a call
    Denied,
    /// A call failed, or its command exited with another status than 0
    Failed,
    /// A run ended with an error, by a limit or an interrupt, or without a last reply
    Error,
}

fn gate_result(gate: &str, passed: bool, message: String) -> GateResult {
    GateResult {
        gate: terminal_safe_line(gate),
        passed,
        message,
    }
}

/// Whether a session has replies without token counts.
fn has_no_counts(session: &SessionCostRecord) -> bool {
    session.spending.usage.total() == 0 && session.replies > 0
}

/// Checks that sessions cost at most `limit` US dollars. Fails if any part of the cost is unknown.
pub fn check_cost(sessions: &[SessionCostRecord], limit: f64) -> GateResult {
    let (mut cost, mut unknown) = (0.0, None);
    for session in sessions {
        let spending = &session.spending;
        let costs = [spending.recorded_cost, spending.usage.cost];
        cost += costs.into_iter().flatten().fold(0.0, f64::max);
        if spending.recorded_cost.is_none() {
            let reason = if spending.unpriced_models.is_empty() {
                has_no_counts(session).then_some("a session has no token counts")
            } else {
                Some("a model, or a part of the requests, has no price")
            };
            unknown = unknown.or(reason);
        }
    }
    let message = match unknown {
        Some(reason) => format!("unknown cost, at least {}: {reason}", format_dollars(cost)),
        None => format_dollars(cost),
    };
    let passed = unknown.is_none() && cost <= limit;
    gate_result(&format!("--max-cost {limit}"), passed, message)
}

/// Checks that sessions used at most `limit` tokens. Fails if a session has no token counts.
pub fn check_tokens(sessions: &[SessionCostRecord], limit: u64) -> GateResult {
    let name = format!("--max-tokens {limit}");
    if sessions.iter().any(has_no_counts) {
        return gate_result(&name, false, "no token counts".to_owned());
    }
    let tokens = sessions
        .iter()
        .map(|session| session.spending.usage.total());
    let tokens = tokens.sum();
    let message = format!("{} tokens", format_number(tokens));
    gate_result(&name, tokens <= limit, message)
}

/// Checks that `event` did not happen in any session.
pub fn check_events(report: &SessionReportRecord, event: FailOn) -> GateResult {
    let (name, count, one, many) = match event {
        FailOn::Denied => ("denied", report.denied, "denied call", "denied calls"),
        FailOn::Failed => ("failed", report.failed, "failed call", "failed calls"),
        FailOn::Error => (
            "error",
            report.errors,
            "run with an error",
            "runs with errors",
        ),
    };
    let name = format!("--fail-on {name}");
    gate_result(&name, count == 0, format_count(count, one, many))
}

/// Checks that all changed files match one of `globs`, by their absolute path or relative to the directory of a session.
/// Returns `None` without globs.
pub fn check_changed_files(report: &SessionReportRecord, globs: &[Glob]) -> Option<GateResult> {
    if globs.is_empty() {
        return None;
    }
    let matchers: Vec<GlobMatcher> = globs.iter().map(Glob::compile_matcher).collect();
    let sessions = report.sessions.iter();
    let directories: Vec<&String> = sessions
        .filter_map(|session| session.about.cwd.as_ref())
        .collect();
    let others = report.files.iter().filter(|file| {
        let path = normalise(Path::new(&file.path));
        let below = directories
            .iter()
            .filter_map(|cwd| path.strip_prefix(cwd).ok());
        let mut names = below.chain([path.as_path()]);
        !names.any(|name| matchers.iter().any(|glob| glob.is_match(name)))
    });
    let count = others.count() as u64;
    let names: Vec<&str> = globs.iter().map(Glob::glob).collect();
    let message = format_count(count, "other file changed", "other files changed");
    Some(gate_result(
        &format!("--only {}", names.join(" ")),
        count == 0,
        message,
    ))
}

/// Checks that no call matches a rule of the report.
pub fn check_forbidden_calls(report: &SessionReportRecord, rule: &String) -> GateResult {
    let calls = report.listed_calls.iter();
    let matching = calls.filter(|call| call.forbidden_by.contains(rule));
    let count = matching.count() as u64;
    let message = format_count(count, "matching call", "matching calls");
    gate_result(&format!("--forbid {rule}"), count == 0, message)
}

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
use crate::message::{DecidedBy, Origin, Thread};
use crate::permission::{Behavior, InvalidRule, Mode, Rule, RuleSource, Rules, normalise};
use crate::process::NotEnforced;
use crate::records::{
    Dimension, FileChange, GateResult, ReportedCall, ReportedSession, SessionCostRecord,
    SessionReportRecord, Spending,
};
use crate::run::tools::{DecisionContext, Registry, ShellGuarantees, WriteProtection};
use crate::session::SeenCall;
use crate::session::input_gist;
use crate::session::{
    Detail, ListedSession, Prices, Projects, Scope, Session, SessionCall, Tally, is_in_period,
    session_description,
};
use crate::text::{
    fit_columns, format_count, format_dollars, format_number, redact, terminal_safe_line,
};

/// Ends of runs that are not errors, in the words of agents.
const SUCCESSFUL_ENDS: [&str; 4] = ["success", "completed", "stop", "end_turn"];

/// Maximum width of an outcome, in columns.
const OUTCOME_COLUMNS: usize = 300;

/// Returns the rules that forbid calls, for a session that starts in this directory.
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
    /// The first and the last time.
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
    /// The texts of the rules that forbid calls.
    forbid: Vec<String>,
    /// Those rules, each alone, for the current session.
    rules: Vec<Rules>,
    /// The files that the current session changed.
    paths: BTreeSet<String>,
    /// The projects of all sessions, if they are asked for.
    pub projects: Arc<OnceLock<Projects>>,
    registry: Registry,
    context: DecisionContext,
}

impl ReportBuilder {
    /// Counts requests and calls in this period, and calls that these rules forbid.
    ///
    /// # Errors
    /// The lane cannot be set up.
    pub fn new(
        period: Range<Timestamp>,
        forbid: Vec<String>,
        environment: Environment,
    ) -> Result<Self, NotEnforced> {
        let shell = ShellGuarantees::foreign(WriteProtection::Absent);
        Ok(Self {
            tally: Tally::with_period(period.clone(), Detail::Activity),
            period,
            report: SessionReportRecord::default(),
            files: BTreeMap::new(),
            edits: HashMap::new(),
            forbid,
            rules: Vec::new(),
            paths: BTreeSet::new(),
            projects: Arc::default(),
            registry: Registry::builtin(),
            context: DecisionContext::for_decisions(Vec::new(), environment, shell)?,
        })
    }

    /// Adds a session without its calls, if any of it is in the period. The rules of one without a directory apply in
    /// `here`.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn add_session(
        &mut self,
        mut listed: ListedSession,
        named_roots: &NamedRoots,
        here: Option<PathBuf>,
    ) -> Result<(), NoText> {
        let facts = &mut listed.facts;
        facts.redact_names();
        if facts.started.is_some_and(|start| start >= self.period.end) {
            return Ok(());
        }
        let session = Session::open_with(&listed.path, named_roots).map_err(NoText::unreadable)?;
        let is_active = self.tally.add(&session).map_err(NoText::unreadable)?;
        let part = self.part_of(&session).map_err(NoText::unreadable)?;
        let texts = part.excerpt.texts();
        let mut ends = texts
            .iter()
            .rev()
            .filter(|message| message.thread == Thread::Main);
        let last = ends.find(|message| matches!(message.origin, Origin::Reply | Origin::Error));
        if !is_active && last.is_none() {
            return Ok(());
        }
        let is_error = last.is_some_and(|message| message.origin == Origin::Error);
        let is_unfinished = !part.excerpt.gate().is_idle() && !part.continues;
        self.report.errors += u64::from(is_error || is_unfinished);
        let times = if self.is_unlimited() {
            facts.started.zip(facts.last_activity)
        } else {
            part.times
        };
        let (started, ended) = times
            .map(|(start, end)| (start.to_string(), end.to_string()))
            .unzip();
        if let Some((start, end)) = times {
            let length = end.duration_since(start).as_millis();
            self.report.duration_ms += u64::try_from(length).unwrap_or_default();
        }
        let cwd = facts.first_cwd.as_ref().map(PathBuf::from);
        let found = session.read_all_edits().map_err(NoText::unreadable)?;
        self.edits.clear();
        let mut without_calls = Vec::new();
        for edit in found.edits.into_iter().chain(found.detached) {
            let (added, removed) = edit.line_counts();
            let path = edit.moved_to.unwrap_or(edit.path);
            let path = cwd.as_deref().unwrap_or(Path::new("")).join(path);
            let change = FileChange {
                path: path.display().to_string(),
                added,
                removed,
            };
            match edit.call {
                Some(call) => self.edits.entry(call).or_default().push(change),
                // It has no time.
                None if self.is_unlimited() => without_calls.push(change),
                None => {}
            }
        }
        let directory = cwd.clone().or(here);
        let directory =
            directory.ok_or_else(|| NoText::unreadable("cannot find the working directory"))?;
        let rules = forbidding_rules(&self.forbid, &directory).map_err(NoText::unreadable)?;
        self.rules = rules
            .into_iter()
            .map(|rule| Rules::new(vec![rule]))
            .collect();
        self.context.allowed_directories = vec![directory];
        self.context.directory = cwd.unwrap_or_default();
        let report = builtin::last_report(&texts);
        let outcome = match last {
            Some(last) if report.is_empty() => last.text(),
            _ => report,
        };
        let safe = |text: &str| fit_columns(&terminal_safe_line(&redact(text)), OUTCOME_COLUMNS);
        let outcome = safe(&outcome);
        let project = self
            .projects
            .get()
            .and_then(|known| known.name(&listed.facts));
        let about = session_description(listed.path, listed.agent, listed.facts);
        let asked = builtin::title(&texts);
        let title = about.title.as_deref();
        let named = [title, Some(&asked), about.first_prompt.as_deref()];
        let named = named.into_iter().flatten().find(|name| !name.is_empty());
        let heading = safe(named.unwrap_or("(no prompt)"));
        let recap = safe(&builtin::recap_below(&heading, &texts));
        self.report.sessions.push(ReportedSession {
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
        });
        self.paths.clear();
        for change in &without_calls {
            self.change(change);
        }
        Ok(())
    }

    /// Whether the period has neither a start nor an end.
    fn is_unlimited(&self) -> bool {
        self.period == (Timestamp::MIN..Timestamp::MAX)
    }

    /// Reads the messages in the period: without limits those since the last compaction.
    fn part_of(&self, session: &Session) -> io::Result<PartOfSession> {
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

    fn change(&mut self, change: &FileChange) {
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
        let about = input_gist(&seen.input, cwd);
        let is_command = command.is_some();
        let reported = ReportedCall {
            tool: call.call.name.clone(),
            about: redact(&command.unwrap_or(about)).into_owned(),
            is_command,
            outcome: seen.outcome,
            exit_status: call.result.as_ref().and_then(|result| result.exit_status),
            duration_ms: call.duration_ms(),
            forbidden_by: self.forbidden_by(call, &seen),
        };
        let (is_denied, has_failed) = (reported.is_denied(), reported.has_failed());
        self.report.calls += 1;
        self.report.denied += u64::from(is_denied);
        self.report.failed += u64::from(has_failed);
        let recorded = self.edits.remove(&call.call.id);
        let changes = recorded.unwrap_or_else(|| seen.changes().cloned().collect());
        for change in &changes {
            self.change(change);
        }
        if is_command || is_denied || has_failed || !reported.forbidden_by.is_empty() {
            self.report.listed_calls.push(reported);
        }
    }

    /// Returns the rules that forbid a call.
    fn forbidden_by(&self, call: &SessionCall, seen: &SeenCall) -> Vec<String> {
        if self.rules.is_empty() {
            return Vec::new();
        }
        let (name, context) = (&call.call.name, &self.context);
        let asked = self.registry.asked_call(name, &seen.input, context);
        let request = context.request(&asked.tool, &asked.input, &asked.action);
        let is_matched = |rules: &Rules| {
            let decided = rules.decide(Mode::default(), &request);
            matches!(decided.by, DecidedBy::Rule { .. })
        };
        let rules = self.forbid.iter().zip(&self.rules);
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
            // Files with one id have one sum.
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

/// Checks the cost of sessions in US dollars. A cost that is not known whole fails.
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

/// Checks the number of tokens of sessions.
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

/// Checks that no such event happened.
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

/// Checks that no other files were changed than those of these globs, relative to the directory of a session or absolute.
pub fn check_changed_files(report: &SessionReportRecord, globs: &[Glob]) -> Option<GateResult> {
    if globs.is_empty() {
        return None;
    }
    let matchers: Vec<GlobMatcher> = globs.iter().map(Glob::compile_matcher).collect();
    let sessions = report.sessions.iter();
    let directories: Vec<&String> = sessions.filter_map(|one| one.about.cwd.as_ref()).collect();
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

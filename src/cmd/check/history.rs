//! `check permission --history`: decisions about past calls, and rules that would have spared questions.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cmd::run::guards::CallDecisions;
use crate::cmd::session::calls::is_within;
use crate::cmd::session::source::MatchArguments;
use crate::cmd::{Form, InputErrors, RecordWriter, Status, UsageError, output};
use crate::config::PermissionSettings;
use crate::io::Io;
use crate::jsonl::WriteResult;
use crate::message::Decision;
use crate::permission::{Behavior, Decided, Proposal, Rule, RuleSource};
use crate::records::{PermissionCountRecord, PermissionProposalRecord};
use crate::session::{CallEvent, calls_of_all};
use crate::shell::{program_and_subcommand, simple_commands};
use crate::text::{terminal_safe_line, with_separators};
use crate::tools::{AskedCall, Input, Registry, ShellGuarantees};
use crate::view::{ProgressLine, count_table};

/// Maximum number of proposed rules.
const MAX_PROPOSALS: usize = 12;

/// Minimum number of questions that a proposed rule spares.
const MIN_SPARED: u64 = 2;

/// Maximum number of rules that are proposed together for one call.
const MAX_TOGETHER: usize = 3;

/// Maximum number of rows in text.
const MAX_ROWS: usize = 40;

/// The arguments of a replay.
pub(crate) struct PastCalls {
    /// Sessions: paths, ids or titles; empty for all.
    pub(crate) sessions: Vec<String>,
    pub(crate) matching: MatchArguments,
    pub(crate) form: Form,
}

/// A past call that needs approval, and the rules that together would allow it.
struct OpenCall {
    name: String,
    input: Input,
    cwd: PathBuf,
    proposals: Vec<Proposal>,
    times: u64,
}

/// The past calls so far.
#[derive(Default)]
struct Replay {
    sessions: u64,
    counts: BTreeMap<(String, Option<String>), PermissionCountRecord>,
    /// Calls by their directory, name and input.
    known: HashMap<(PathBuf, String, String), KnownCall>,
    open: Vec<OpenCall>,
}

/// The decision about a call that may be repeated.
struct KnownCall {
    /// The tool and program it counts for.
    counted: Vec<(String, Option<String>, Decision)>,
    /// Its index among the open calls.
    open: Option<usize>,
}

impl PastCalls {
    /// Decides on the calls of all selected sessions, and prints counts and proposals.
    ///
    /// # Errors
    /// Decisions cannot be set up, or reading or writing failed.
    pub(crate) fn run(
        self,
        registry: Registry,
        permissions: PermissionSettings,
        here: PathBuf,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let denies = permissions.denies_instead_of_asking;
        let shell = ShellGuarantees {
            probes_git: false,
            ..ShellGuarantees::OWN
        };
        let mut decisions = CallDecisions::new(registry, permissions, here.clone(), shell, io)?;
        let (mut listing, period) = self.matching.listing_of_calls(io.clock.as_ref());
        let mut errors = InputErrors::new(&io.messages);
        let source = &self.matching.source;
        let (_copies, candidates) = source.named_or_all(&self.sessions, &mut errors, io)?;
        let progress = ProgressLine::of_sessions("reading", candidates.len(), io);
        listing.examined = progress.done();
        let mut replay = Replay::default();
        let mut cwd = here.clone();
        calls_of_all(&candidates, &listing, &mut |event| {
            match event {
                CallEvent::Session(listed) => {
                    replay.sessions += 1;
                    let recorded = listed.facts.cwd.as_ref().map(PathBuf::from);
                    cwd = recorded.unwrap_or_else(|| here.clone());
                }
                CallEvent::Call(call) if is_within(&call, &period) => {
                    let (name, input) = (&call.call.name, call.call.input.get());
                    replay.add(name, input, &cwd, &decisions, denies);
                }
                CallEvent::Call(_) => {}
                CallEvent::Failed { path, error } => {
                    errors.report(path.display(), &UsageError::reason(error));
                }
            }
            ControlFlow::Continue(())
        });
        drop(progress);
        if replay.sessions == 0 && self.sessions.is_empty() {
            source.note_none(0, io);
        }
        let source = Arc::new(RuleSource {
            name: "proposal".to_owned(),
            anchor: here,
        });
        let proposals = spared(&mut replay.open, &mut decisions, &source);
        let mut writer = output::writer(self.form, io)?;
        if self.form == Form::Jsonl {
            for record in replay.counts.values() {
                writer.record(record)?;
            }
            for proposal in &proposals {
                writer.record(proposal)?;
            }
        } else {
            print(&replay, &proposals, &mut writer, io.terminal.columns)?;
        }
        writer.flush()?;
        Ok(errors.outcome(Status::Done))
    }
}

impl Replay {
    fn add(
        &mut self,
        name: &str,
        input: &str,
        cwd: &Path,
        decisions: &CallDecisions,
        denies: bool,
    ) {
        let key = (cwd.to_owned(), name.to_owned(), input.to_owned());
        let known = self.known.entry(key).or_insert_with(|| {
            let input: Input = serde_json::from_str(input).unwrap_or_default();
            let (call, mut decided) = decisions.decide_from(name, &input, cwd);
            let line = command(&call).map(str::to_owned);
            let proposals = decided.proposals(line.as_deref());
            if denies && decided.decision == Decision::Ask {
                decided.decision = Decision::Deny;
            }
            let counted = counted(&call, line.as_deref(), &decided);
            let open = proposals.map(|proposals| {
                self.open.push(OpenCall {
                    name: name.to_owned(),
                    input,
                    cwd: cwd.to_owned(),
                    proposals,
                    times: 0,
                });
                self.open.len() - 1
            });
            KnownCall { counted, open }
        });
        if let Some(open) = known.open.and_then(|index| self.open.get_mut(index)) {
            open.times += 1;
        }
        for (tool, command, decision) in &known.counted {
            let count = self.counts.entry((tool.clone(), command.clone()));
            let count = count.or_insert_with(|| PermissionCountRecord {
                tool: tool.clone(),
                command: command.clone(),
                calls: 0,
                allow: 0,
                ask: 0,
                deny: 0,
            });
            count.calls += 1;
            match decision {
                Decision::Allow => count.allow += 1,
                Decision::Ask => count.ask += 1,
                Decision::Deny => count.deny += 1,
            }
        }
    }
}

/// Returns the command line of a call.
fn command(call: &AskedCall) -> Option<&str> {
    match &call.action {
        crate::permission::Action::Command { script, .. } => Some(script),
        _ => None,
    }
}

/// Returns what a call counts for: its tool, and the programs of its commands with the strictest decision on each.
fn counted(
    call: &AskedCall,
    line: Option<&str>,
    decided: &Decided,
) -> Vec<(String, Option<String>, Decision)> {
    let mut programs: BTreeMap<String, Decision> = BTreeMap::new();
    let mut add = |text: &str, decision: Decision| {
        for command in simple_commands(text).commands {
            if let Some(program) = program_and_subcommand(command.own_words()) {
                let known = programs.entry(program).or_insert(decision);
                *known = decision.max(*known);
            }
        }
    };
    if decided.parts.is_empty() {
        add(line.unwrap_or_default(), decided.decision);
    }
    for part in &decided.parts {
        add(&part.command, part.decision);
    }
    let tool = &call.tool;
    let whole = (tool.clone(), None, decided.decision);
    let programs = programs.into_iter();
    let programs = programs.map(|(name, decision)| (tool.clone(), Some(name), decision));
    std::iter::once(whole).chain(programs).collect()
}

/// Returns the tool of a rule.
fn tool(rule: &str) -> &str {
    rule.split('(').next().unwrap_or_default()
}

/// Chooses rules until no others spare enough questions. Each time takes the rules that spare the most per
/// rule, then decides again on the calls that they should allow.
fn spared(
    open: &mut Vec<OpenCall>,
    decisions: &mut CallDecisions,
    source: &Arc<RuleSource>,
) -> Vec<PermissionProposalRecord> {
    let mut records: Vec<PermissionProposalRecord> = Vec::new();
    while records.len() < MAX_PROPOSALS {
        let mut questions: BTreeMap<&[Proposal], u64> = BTreeMap::new();
        for call in open
            .iter()
            .filter(|call| call.proposals.len() <= MAX_TOGETHER)
        {
            *questions.entry(&call.proposals).or_default() += call.times;
        }
        let gain = |rules: &[Proposal]| -> u64 {
            let subsets = (1..1_usize << rules.len()).map(|chosen| {
                let rules = rules.iter().enumerate();
                let rules = rules.filter(|(index, _)| chosen >> index & 1 == 1);
                rules.map(|(_, rule)| rule.clone()).collect::<Vec<_>>()
            });
            subsets.filter_map(|rules| questions.get(&*rules)).sum()
        };
        let per_rule = |rules: &[Proposal]| gain(rules) / (rules.len() as u64).max(1);
        let best = questions.keys().max_by_key(|rules| per_rule(rules));
        let Some(best) = best.filter(|rules| per_rule(rules) >= MIN_SPARED) else {
            break;
        };
        let best = best.to_vec();
        for chosen in best {
            if let Ok(rule) = Rule::parse(&chosen.rule, Behavior::Allow, source) {
                decisions.add(rule);
            }
            let mut spares = 0;
            open.retain_mut(|call| {
                let needed = call.proposals.len();
                // A rule with a wildcard may cover calls for which another one was proposed.
                let is_like = |other: &Proposal| tool(&other.rule) == tool(&chosen.rule);
                let may_cover = chosen.rule.contains('*') && call.proposals.iter().any(is_like);
                call.proposals.retain(|proposal| *proposal != chosen);
                let is_last = needed > 0 && call.proposals.is_empty();
                if !is_last && !may_cover {
                    return true;
                }
                let (_, decided) = decisions.decide_from(&call.name, &call.input, &call.cwd);
                let is_allowed = decided.decision == Decision::Allow;
                spares += if is_allowed { call.times } else { 0 };
                !is_last && !is_allowed
            });
            records.push(PermissionProposalRecord {
                rule: chosen.rule,
                spares,
                also_allows: chosen.also_allows,
            });
        }
    }
    records
}

fn print(
    replay: &Replay,
    proposals: &[PermissionProposalRecord],
    writer: &mut RecordWriter,
    columns: Option<usize>,
) -> WriteResult {
    let whole = replay
        .counts
        .values()
        .filter(|count| count.command.is_none());
    let sum = |number: fn(&PermissionCountRecord) -> u64| {
        with_separators(whole.clone().map(number).sum::<u64>())
    };
    let head = format!(
        "{} calls of {} sessions: {} allowed, {} asked about, {} denied\n",
        sum(|count| count.calls),
        with_separators(replay.sessions),
        sum(|count| count.allow),
        sum(|count| count.ask),
        sum(|count| count.deny),
    );
    writer.echo(head.as_bytes())?;
    let mut counts: Vec<_> = replay.counts.values().collect();
    counts.sort_by_key(|count| std::cmp::Reverse((count.ask + count.deny, count.calls)));
    let rows = counts.iter().take(MAX_ROWS).map(|count| {
        let command = count.command.as_deref().unwrap_or_default();
        let numbers = [count.calls, count.allow, count.ask, count.deny];
        ([count.tool.as_str(), command], numbers)
    });
    let page = count_table("TOOL COMMAND CALLS ALLOWED ASKED DENIED", rows, columns);
    writer.echo(format!("\n{page}").as_bytes())?;
    if counts.len() > MAX_ROWS {
        let left = with_separators((counts.len() - MAX_ROWS) as u64);
        writer.echo(format!("and {left} more rows; `-o jsonl` prints all\n").as_bytes())?;
    }
    for (index, proposal) in proposals.iter().enumerate() {
        let start = if index == 0 {
            "\nRules that would have spared the most questions:\n"
        } else {
            ""
        };
        let spares = with_separators(proposal.spares);
        let rule = terminal_safe_line(&proposal.rule);
        let also = &proposal.also_allows;
        let text = format!("{start}{spares:>7}  {rule}\n         also: {also}\n");
        writer.echo(text.as_bytes())?;
    }
    Ok(())
}

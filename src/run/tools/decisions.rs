//! Permission decisions about calls that are not run, and rules that would have spared questions.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::{AskedCall, DecisionContext, Input, Registry};
use crate::message::Decision;
use crate::permission::{Action, Behavior, Decided, Hint, Mode, Rule, RuleSource, Rules};
use crate::records::{
    CheckPermissionRecord, PermissionCheck, PermissionCountRecord, PermissionProposalRecord,
};
use crate::shell::{parse, parse_sandbox_call, program_and_subcommand};

/// Maximum number of proposed rules.
const MAX_PROPOSALS: usize = 12;

/// Minimum number of questions that a proposed rule spares.
const MIN_SPARED: u64 = 2;

/// Maximum number of rules that are proposed together for one call.
const MAX_TOGETHER: usize = 3;

/// Decides about calls.
pub struct CallDecisions {
    /// The tools.
    pub registry: Registry,
    /// The rules.
    pub rules: Rules,
    /// The permission mode.
    pub mode: Mode,
    /// The session of the calls.
    pub context: DecisionContext,
    /// Whether calls that need approval are denied.
    pub denies_instead_of_asking: bool,
}

impl CallDecisions {
    /// Returns the decision about a call in this context.
    pub fn decide(
        &self,
        name: &str,
        input: &Input,
        context: &DecisionContext,
        mode: Mode,
    ) -> (AskedCall, Decided) {
        let call = self.registry.asked_call(name, input, context);
        let request = context.request(&call.tool, &call.input, &call.action);
        let decided = self.rules.decide(mode, &request);
        (call, decided)
    }

    /// Returns the decisions about calls in this directory, each with the input of the call.
    pub fn check(
        &self,
        calls: &[(String, Input)],
        directory: &Path,
        mode: Mode,
    ) -> Vec<(CheckPermissionRecord, Input)> {
        let context = self.context.with_directory(directory);
        let check = |(name, input): &(String, Input)| {
            let (call, mut decided) = self.decide(name, input, &context, mode);
            self.deny_instead_of_asking(&mut decided);
            let command = match call.action {
                Action::Command { .. } => call.input.get("command").and_then(Value::as_str),
                _ => None,
            };
            let record = CheckPermissionRecord {
                check: PermissionCheck::Only,
                command: command.map(str::to_owned),
                name: call.tool,
                decision: decided.decision,
                by: decided.by,
                parts: decided.parts,
                hint: decided.hint.map(|hint| hint.rule),
            };
            (record, call.input)
        };
        calls.iter().map(check).collect()
    }

    /// Turns a question into a denial if calls that need approval are denied.
    fn deny_instead_of_asking(&self, decided: &mut Decided) {
        if self.denies_instead_of_asking && decided.decision == Decision::Ask {
            decided.decision = Decision::Deny;
        }
    }
}

/// Decides about past calls, and counts the decisions by tool and program.
pub struct PastDecisions {
    decisions: CallDecisions,
    /// The numbers of decisions, by tool and program.
    pub counts: BTreeMap<(String, Option<String>), PermissionCountRecord>,
    /// The decisions about calls, by directory, name of the tool, and input.
    known: HashMap<(PathBuf, String, String), KnownCall>,
    open: Vec<OpenCall>,
}

/// A past call that needs approval, and the rules that together would allow it.
struct OpenCall {
    name: String,
    input: Input,
    cwd: PathBuf,
    proposals: Vec<Hint>,
    times: u64,
}

/// The decision about a call that may be repeated.
struct KnownCall {
    /// The tool and programs for which the call counts, each with the decision.
    counted: Vec<(String, Option<String>, Decision)>,
    /// The index of the call in `open`, if it needs approval and rules could allow it.
    open: Option<usize>,
}

impl PastDecisions {
    /// Creates a collection without calls.
    pub fn new(decisions: CallDecisions) -> Self {
        Self {
            decisions,
            counts: BTreeMap::new(),
            known: HashMap::new(),
            open: Vec::new(),
        }
    }

    /// Decides about a call, in a session that was in the directory `cwd`, and counts it.
    pub fn add(&mut self, name: &str, input: &str, cwd: &Path) {
        let key = (cwd.to_owned(), name.to_owned(), input.to_owned());
        let known = self.known.entry(key).or_insert_with(|| {
            // An input that is not an object counts as empty.
            let mut input: Input = serde_json::from_str(input).unwrap_or_default();
            let line = input.get("command").and_then(Value::as_str);
            let inside = line.and_then(parse_sandbox_call);
            input.extend(inside.map(|line| ("command".to_owned(), line.into())));
            let (call, mut decided) = decide_from(&self.decisions, name, &input, cwd);
            let line = command_line_of(&call).map(str::to_owned);
            let proposals = decided.proposals();
            self.decisions.deny_instead_of_asking(&mut decided);
            let counted = list_counted(&call, line.as_deref(), &decided);
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
            let entry = self.counts.entry((tool.clone(), command.clone()));
            let count = entry.or_insert_with(|| PermissionCountRecord {
                tool: tool.clone(),
                command: command.clone(),
                ..PermissionCountRecord::default()
            });
            count.calls += 1;
            match decision {
                Decision::Allow => count.allow += 1,
                Decision::Ask => count.ask += 1,
                Decision::Deny => count.deny += 1,
            }
        }
    }

    /// Chooses rules until no others spare enough questions. In each round, chooses the rules that spare the most per
    /// rule, then decides again on the calls that they should allow. Paths in rules are relative to `anchor`.
    pub fn choose_proposals(&mut self, anchor: PathBuf) -> Vec<PermissionProposalRecord> {
        let source = Arc::new(RuleSource {
            name: "proposal".to_owned(),
            anchor,
        });
        let (open, decisions) = (&mut self.open, &mut self.decisions);
        let mut records: Vec<PermissionProposalRecord> = Vec::new();
        while records.len() < MAX_PROPOSALS {
            let mut questions: BTreeMap<&[Hint], u64> = BTreeMap::new();
            let is_small = |call: &&OpenCall| call.proposals.len() <= MAX_TOGETHER;
            for call in open.iter().filter(is_small) {
                *questions.entry(&call.proposals).or_default() += call.times;
            }
            let gain = |rules: &[Hint]| -> u64 {
                let subsets = (1..1_usize << rules.len()).map(|subset| {
                    let numbered = rules.iter().enumerate();
                    let chosen = numbered.filter(|(index, _)| subset >> index & 1 == 1);
                    chosen.map(|(_, rule)| rule.clone()).collect::<Vec<_>>()
                });
                subsets.filter_map(|rules| questions.get(&*rules)).sum()
            };
            let per_rule = |rules: &[Hint]| gain(rules) / (rules.len() as u64).max(1);
            let candidate = questions.keys().max_by_key(|rules| per_rule(rules));
            let Some(best) = candidate.filter(|rules| per_rule(rules) >= MIN_SPARED) else {
                break;
            };
            let rules = best.to_vec();
            for chosen in rules {
                if let Ok(rule) = Rule::parse(&chosen.rule, Behavior::Allow, &source) {
                    decisions.rules.add(rule);
                }
                let mut spares = 0;
                open.retain_mut(|call| {
                    let needed = call.proposals.len();
                    // A rule with a wildcard may cover calls for which another one was proposed.
                    let uses_same_tool =
                        |other: &Hint| tool_of_rule(&other.rule) == tool_of_rule(&chosen.rule);
                    let may_cover =
                        chosen.rule.contains('*') && call.proposals.iter().any(uses_same_tool);
                    call.proposals.retain(|proposal| *proposal != chosen);
                    let is_last = needed > 0 && call.proposals.is_empty();
                    if !is_last && !may_cover {
                        return true;
                    }
                    let (_, decided) = decide_from(decisions, &call.name, &call.input, &call.cwd);
                    let is_allowed = decided.decision == Decision::Allow;
                    spares += if is_allowed { call.times } else { 0 };
                    !is_last && !is_allowed
                });
                records.push(PermissionProposalRecord {
                    rule: chosen.rule,
                    spares,
                    also_allows: chosen.also_allows.unwrap_or_default().to_owned(),
                });
            }
        }
        records
    }
}

/// Returns the decision about a call of a session that started in `start` and is still there.
fn decide_from(
    decisions: &CallDecisions,
    name: &str,
    input: &Input,
    start: &Path,
) -> (AskedCall, Decided) {
    let mut context = decisions.context.with_directory(start);
    if let Some(first) = context.allowed_directories.first_mut() {
        start.clone_into(first);
    }
    decisions.decide(name, input, &context, decisions.mode)
}

/// Returns the command line of a call that runs one.
fn command_line_of(call: &AskedCall) -> Option<&str> {
    match &call.action {
        Action::Command { script, .. } => Some(script),
        _ => None,
    }
}

/// Returns what a call counts for: its tool, and the programs of its commands with the strictest decision on each.
fn list_counted(
    call: &AskedCall,
    line: Option<&str>,
    decided: &Decided,
) -> Vec<(String, Option<String>, Decision)> {
    let mut programs: BTreeMap<String, Decision> = BTreeMap::new();
    let mut add_programs = |text: &str, decision: Decision| {
        let inside = parse_sandbox_call(text);
        let analysis = parse(inside.as_deref().unwrap_or(text));
        for command in analysis
            .commands
            .iter()
            .filter(|command| !command.context.is_substituted)
        {
            if let Some(program) = program_and_subcommand(command.own_words()) {
                let strictest = programs.entry(program).or_insert(decision);
                *strictest = decision.max(*strictest);
            }
        }
    };
    if decided.parts.is_empty() {
        add_programs(line.unwrap_or_default(), decided.decision);
    }
    for part in &decided.parts {
        add_programs(&part.command, part.decision);
    }
    let tool = &call.tool;
    let total = (tool.clone(), None, decided.decision);
    let by_program = programs
        .into_iter()
        .map(|(name, decision)| (tool.clone(), Some(name), decision));
    std::iter::once(total).chain(by_program).collect()
}

/// Returns the tool of a rule.
fn tool_of_rule(rule: &str) -> &str {
    rule.split('(').next().unwrap_or_default()
}

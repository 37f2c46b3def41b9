//! One line about a finished or running command.

use super::effects::{Effects, hides_status};
use super::evidence::{Evidence, evidence, has_error_line, uncolored};
use super::forms::{Act, Effect, Kind, act, is_filter, is_glue};
use crate::shell::{
    CommandPart, Follows, PartWord, has_reading_form, inside_sandbox, parse, program_name,
};
use crate::side::builtin::clean::{cut, lower_first};
use crate::side::builtin::names::listed;
use crate::side::builtin::prose::in_the_past;
use crate::text::display_width;

/// Minimum rank of acts that are always named.
const NAMED_TOGETHER: u8 = 78;

/// Acts below this rank are less informative than a description.
const MINOR: u8 = 45;

/// The ending of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::side::builtin) enum Ending {
    /// Status 0.
    Ok,
    /// Failed, with this status.
    Failed(Option<i64>),
    /// The command is still running.
    InBackground,
    /// The command did not run, or not to the end: `declined by user`.
    Refused(&'static str),
}

/// A command with its description, output and ending.
#[derive(Debug, Clone, Copy)]
pub(in crate::side::builtin) struct Run<'a> {
    pub(in crate::side::builtin) command: &'a str,
    /// The description by the model, written before the command ran.
    pub(in crate::side::builtin) description: Option<&'a str>,
    pub(in crate::side::builtin) output: &'a str,
    pub(in crate::side::builtin) ending: Ending,
    pub(in crate::side::builtin) cwd: Option<&'a str>,
}

/// The description of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::side::builtin) struct Report {
    /// The whole phrase.
    pub(in crate::side::builtin) phrase: String,
    pub(in crate::side::builtin) verb: String,
    pub(in crate::side::builtin) object: String,
    /// The result in the output, e.g. `passed`.
    pub(in crate::side::builtin) finding: String,
    pub(in crate::side::builtin) failed: bool,
    /// Whether tests, lints or builds were run.
    pub(in crate::side::builtin) is_check: bool,
    /// How much the named acts may have changed, and their rank.
    pub(in crate::side::builtin) effect: (Effect, u8),
}

/// Describes a command.
pub(in crate::side::builtin) fn describe(run: &Run<'_>) -> Report {
    if let Some(script) = inside_sandbox(run.command) {
        return describe(&Run {
            command: &script,
            ..*run
        });
    }
    let line = parse(run.command);
    let commands = line.commands.iter();
    let commands: Vec<&CommandPart> = commands.filter(|one| !one.is_substituted).collect();
    if let [only] = commands.as_slice()
        && let [shell, flag, script] = only.words.as_slice()
        && matches!(
            program_name(shell.label()),
            "sh" | "bash" | "dash" | "zsh" | "ksh"
        )
        && (flag.label().starts_with('-') && flag.label().ends_with('c'))
        && only.output().is_none()
        && let Some(script) = script.value.as_deref()
    {
        return describe(&Run {
            command: script,
            ..*run
        });
    }
    let output = uncolored(run.output);
    let is_passed_on = |(place, command): &(usize, &CommandPart)| {
        *place > 0 && command.follows == Follows::Pipe && is_filter(command.own_program())
    };
    let act_of = |(index, command): (usize, &CommandPart)| {
        let act = act(command, &output, run.cwd)?;
        let is_loud = !matches!(act.kind, Kind::Repository | Kind::Install);
        let hides = run.ending == Ending::Ok && hides_status(&commands, index, is_loud);
        Some((index, if hides { act.attempted() } else { act }))
    };
    let indexed = || commands.iter().copied().enumerate();
    let named = indexed().filter(|command| !is_passed_on(command));
    let acts: Vec<(usize, Act)> = named.filter_map(act_of).collect();
    let reader = Reader {
        run,
        output: &output,
        commands: &commands,
        acts,
        all_acts: indexed().filter_map(act_of).map(|(_, act)| act).collect(),
    };
    reader.report()
}

struct Reader<'a> {
    run: &'a Run<'a>,
    output: &'a str,
    commands: &'a [&'a CommandPart],
    /// The acts of commands that do not only pass on text, with the index of each command.
    acts: Vec<(usize, Act)>,
    /// The acts of all commands.
    all_acts: Vec<Act>,
}

impl Reader<'_> {
    fn report(&self) -> Report {
        let chosen = self.chosen();
        let (verb, object) = joined(&chosen);
        let is_check = chosen.iter().any(|act| act.kind.is_check());
        let changes = chosen.iter().filter(|act| act.effect() == Effect::Changed);
        let change = changes.map(|act| (Effect::Changed, act.rank)).max();
        let effect = chosen.iter().map(|act| (act.effect(), 0)).max().max(change);
        let effect = effect.unwrap_or_default();
        let report = |phrase: String, finding: &str, failed: bool| Report {
            phrase,
            verb: verb.clone(),
            object: object.clone(),
            finding: finding.to_owned(),
            failed,
            is_check,
            effect,
        };
        let name = self.name(&chosen);
        match self.run.ending {
            Ending::Refused(how) => return report(format!("{name} {how}"), how, true),
            Ending::InBackground => {
                return report(format!("Started {name} in background"), "", false);
            }
            Ending::Ok | Ending::Failed(_) => {}
        }
        if self.output.trim_start().starts_with("Command timed out") {
            return report(format!("{name} timed out"), "timed out", true);
        }
        let failed = matches!(self.run.ending, Ending::Failed(_));
        if self.has_conflicts() {
            let how = if failed {
                "failed, conflicts"
            } else {
                "hit conflicts"
            };
            return report(format!("{name} {how}"), "conflicts", true);
        }
        if is_check {
            return self.check(&chosen, &name, failed, report);
        }
        if failed {
            return match self.nothing_found() {
                Some(phrase) => report(phrase, "", false),
                None => report(format!("{name} failed"), "failed", true),
            };
        }
        let is_push = chosen.iter().any(|act| act.name == "git push");
        if is_push && self.output.contains("rejected]") {
            return report("git push rejected".to_owned(), "rejected", true);
        }
        let (object, finding) = object
            .split_once(", clean")
            .map_or((&*object, ""), |(object, _)| (object, "clean"));
        let mut found = match self.description(&chosen, &name) {
            Some(phrase) => Report {
                phrase,
                effect,
                ..Report::default()
            },
            None if chosen.is_empty() => Report {
                phrase: format!("Ran {}", lower_first(&name)),
                ..Report::default()
            },
            None => Report {
                object: object.to_owned(),
                ..report(format!("{verb} {object}").trim().to_owned(), finding, false)
            },
        };
        if self.has_hidden_errors(&chosen) {
            if chosen.iter().any(Act::is_claim) {
                found.phrase = format!("Ran {}", lower_first(&name));
            }
            "errors in output".clone_into(&mut found.finding);
        }
        if !found.finding.is_empty() {
            found.phrase = format!("{}, {}", cut(&found.phrase, 42), found.finding);
        }
        found
    }

    /// Returns the acts to name: all important ones, else those of the highest rank, of reads only the first.
    /// Reads of a repository are named together.
    fn important(&self) -> Vec<Act> {
        let acts = || self.acts.iter().map(|(_, act)| act);
        let is_important = |act: &&Act| act.rank >= NAMED_TOGETHER;
        let important: Vec<Act> = acts().filter(is_important).cloned().collect();
        let is_look = |act: &Act| act.kind == Kind::Read && act.name.starts_with("git ");
        if !important.is_empty() {
            return important;
        }
        if acts().all(is_look) {
            return acts().cloned().collect();
        }
        let best = acts().map(|act| act.rank).max();
        let mut named = acts().filter(|act| Some(act.rank) == best).cloned();
        let first = named.next();
        let rest = named.filter(|act| act.effect() != Effect::None);
        first.into_iter().chain(rest).collect()
    }

    /// Returns the acts to name. If all of them only read or check something, what else may change something
    /// is named too, or instead of reads.
    fn chosen(&self) -> Vec<Act> {
        let mut chosen = self.important();
        let is_check = |act: &Act| matches!(act.kind, Kind::Test | Kind::Lint | Kind::Build);
        if !chosen
            .iter()
            .all(|act| act.effect() == Effect::None || is_check(act))
        {
            return chosen;
        }
        let effects = Effects::of(self.run.command);
        let has_check = chosen.iter().any(is_check);
        let may_change = |act: &&Act| {
            let is_suspect = effects.may_change(&act.program);
            match act.effect() {
                Effect::Changed => !matches!(effects, Effects::ReadOnly),
                Effect::None => is_suspect && has_reading_form(&act.program),
                // A script may filter the output of a check.
                Effect::Unknown => {
                    is_suspect && !(has_check && (is_check(act) || is_filter(&act.program)))
                }
            }
        };
        let suspects = || self.all_acts.iter().filter(may_change);
        let changes = suspects().filter(|act| act.effect() != Effect::None);
        let change = changes.max_by_key(|act| (act.effect(), act.rank)).cloned();
        let runs = suspects().map(|act| Act {
            kind: Kind::Run,
            ..act.clone().into_run()
        });
        let mut named: Vec<Act> = match change {
            Some(act) => vec![act],
            None => runs.collect(),
        };
        if named.is_empty() && !has_check {
            // A substitution runs it.
            let is_nested = |program: &&str| {
                !is_glue(program) && self.all_acts.iter().all(|act| act.program != *program)
            };
            named.extend(effects.programs().find(is_nested).map(Act::ran));
        }
        chosen.retain(|act| named.is_empty() || is_check(act));
        chosen.extend(named);
        chosen
    }

    fn has_loop(&self) -> bool {
        self.commands.iter().any(|command| command.is_repeated())
    }

    /// Returns the name of the command in reports of failures.
    fn name(&self, chosen: &[Act]) -> String {
        let mut names: Vec<&str> = chosen.iter().map(|act| act.name.as_str()).collect();
        names.dedup();
        if !names.is_empty() {
            return cut(&names.join(", "), 40);
        }
        let program = self
            .commands
            .iter()
            .map(|command| command.own_program())
            .find(|program| !program.is_empty());
        match program {
            _ if self.has_loop() => "shell loop".to_owned(),
            Some(program) => cut(program, 30),
            None => "Command".to_owned(),
        }
    }

    fn check(
        &self,
        chosen: &[Act],
        name: &str,
        failed: bool,
        report: impl Fn(String, &str, bool) -> Report,
    ) -> Report {
        let kinds: Vec<Kind> = chosen.iter().map(|act| act.kind).collect();
        let (verb, object) = joined(chosen);
        let phrase = format!("{verb} {object}");
        // `Built x` would claim a success.
        let attempt = match chosen {
            [only] if only.verb == "Built" => format!("Ran {}", only.name),
            _ => phrase.clone(),
        };
        let bad = |finding: String| report(format!("{attempt}, {finding}"), &finding, true);
        let good = |finding: String| report(format!("{phrase}, {finding}"), &finding, false);
        let is_truncated = ["lines truncated]", "[truncated]"]
            .iter()
            .any(|mark| self.output.contains(mark));
        match (evidence(&kinds, self.output), failed) {
            (Evidence::Failed(Some(count)), _) => bad(format!("{count} failed")),
            (Evidence::Issues(1), _) => bad("1 issue".to_owned()),
            (Evidence::Issues(count), _) => bad(format!("{count} issues")),
            (Evidence::Failed(None), false) => bad("failed".to_owned()),
            (_, true) if chosen.len() > 1 => report(format!("Failed: {name}"), "failed", true),
            (_, true) => report(format!("{name} failed"), "failed", true),
            (Evidence::Passed(count), false) if self.shows_end(count.is_some()) => match count {
                Some(count) if !is_truncated => good(format!("{count} passed")),
                _ => good("passed".to_owned()),
            },
            (Evidence::NoIssues, false) => good("no issues".to_owned()),
            _ if self.has_hidden_errors(chosen) => report(
                format!("{attempt}, errors in output"),
                "errors in output",
                false,
            ),
            _ => report(phrase, "", false),
        }
    }

    /// Whether the output shows the end of the last check, not only the lines that a filter selects.
    /// Without a summary all lines are needed.
    fn shows_end(&self, has_summary: bool) -> bool {
        let lines = self.output.lines().count();
        let shows_all = |command: &CommandPart| {
            let mut words = command.words.iter().map(PartWord::label).rev();
            let limit = words.find_map(|word| {
                word.trim_start_matches("-n")
                    .trim_start_matches('-')
                    .parse()
                    .ok()
            });
            lines < limit.unwrap_or(10)
        };
        let last = self.acts.iter().rev().find(|(_, act)| act.kind.is_check());
        let behind = self
            .commands
            .iter()
            .skip(last.map_or(0, |(place, _)| place + 1));
        behind
            .take_while(|command| command.follows == Follows::Pipe)
            .all(|command| match command.own_program() {
                "tail" => has_summary || shows_all(command),
                program => matches!(program, "tee" | "cat"),
            })
    }

    fn has_conflicts(&self) -> bool {
        let mut acts = self.acts.iter().map(|(_, act)| act);
        acts.any(|act| act.kind == Kind::Repository && act.name.starts_with("git "))
            && ["CONFLICT (", "could not apply ", "Could not apply "]
                .iter()
                .any(|mark| self.output.contains(mark))
    }

    /// Returns the phrase for a single search without a match, which ends with status 1.
    fn nothing_found(&self) -> Option<String> {
        let [(_, only)] = self.acts.as_slice() else {
            return None;
        };
        let output = self.output.trim().trim_start_matches("Exit code 1").trim();
        let is_search = only.verb == "Searched for" && self.run.ending == Ending::Failed(Some(1));
        (is_search && output.is_empty()).then(|| format!("No matches for {}", only.object))
    }

    /// Whether the output shows errors although a later command determines the status. A hint, not a failure.
    fn has_hidden_errors(&self, chosen: &[Act]) -> bool {
        let reads = |act: &Act| act.effect() == Effect::None;
        if !chosen.is_empty() && chosen.iter().all(reads) {
            let start = self.output.trim_start();
            return start.starts_with("fatal: ") || start.starts_with("gh: ");
        }
        let mut acts = self.acts.iter().rev();
        let last = acts.find(|(_, act)| act.effect() != Effect::None);
        let last = last.map_or(0, |(place, _)| place + 1);
        let hides = |command: &&CommandPart| {
            matches!(command.follows, Follows::Pipe | Follows::Or | Follows::Next)
                && !command.own_words().is_empty()
        };
        self.commands.iter().skip(last).any(hides) && has_error_line(self.output)
    }

    /// Returns the description, if it is more informative than the acts: in the past tense if they only read,
    /// else as the purpose.
    fn description(&self, chosen: &[Act], name: &str) -> Option<String> {
        let effect = match chosen {
            [] if matches!(Effects::of(self.run.command), Effects::ReadOnly) => Some(Effect::None),
            acts => acts.iter().map(Act::effect).max(),
        };
        let is_minor = chosen.iter().all(|act| act.rank < MINOR) || self.has_loop();
        let is_shown = is_minor && effect != Some(Effect::Changed);
        let description = self.run.description.filter(|_| is_shown)?;
        let past = in_the_past(description)?;
        if effect == Some(Effect::None) {
            return Some(past);
        }
        let name = chosen.first().map_or(name, |act| &act.name);
        let purpose = description.lines().next()?.trim_end_matches('.');
        Some(format!("Ran {name} to {}", lower_first(purpose)))
    }
}

/// Returns the verb and the object of several acts. Acts with the same verb share it.
fn joined(acts: &[Act]) -> (String, String) {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for act in acts {
        match groups.last_mut() {
            Some((verb, objects)) if *verb == act.verb => {
                if !objects.contains(&act.object) {
                    objects.push(act.object.clone());
                }
            }
            _ => groups.push((&act.verb, vec![act.object.clone()])),
        }
    }
    let phrases: Vec<String> = groups
        .iter()
        .map(|(verb, objects)| format!("{verb} {}", listed(objects)))
        .enumerate()
        .map(|(place, phrase)| {
            if place == 0 {
                phrase
            } else {
                lower_first(&phrase)
            }
        })
        .collect();
    let whole = listed(&phrases);
    match groups.as_slice() {
        [] => (String::new(), String::new()),
        [(verb, objects)] => ((*verb).to_owned(), listed(objects)),
        _ if display_width(&whole) > 58 => {
            // A commit is more informative than its branch.
            let rank = |act: &&Act| (act.name == "git commit", act.rank);
            let best = acts.iter().max_by_key(rank);
            best.map(|act| (act.verb.clone(), act.object.clone()))
                .unwrap_or_default()
        }
        _ => match whole.split_once(' ') {
            Some((verb, object)) => (verb.to_owned(), object.to_owned()),
            None => (whole, String::new()),
        },
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;

//! The acts of a command line, from its commands and its status. English words in its output have no meaning.

use std::borrow::Cow;

use super::act::{Act, Effect, Failure, Told, Verb};
use super::call::Call;
use super::program::Program;
use super::status::{Known, has_error_of_shell, known_ends, programs_with_errors};
use crate::agent::exit_code;
use crate::message::{CallOutcome, start_of_result};
use crate::shell::{CommandLine, CommandPart, Follows, inside_sandbox, parse, program_name};
use crate::side::builtin::clean::lower_first;
use crate::side::builtin::cut::cut;
use crate::text::terminal_safe;
use crate::tool_facts::{Parameter, command_line, parameters};

/// Maximum width of the name of a failed command, in cells.
const NAME_CELLS: usize = 44;

/// Maximum width of a description, in cells.
const TOPIC_CELLS: usize = 40;

/// Beginnings of the results of commands that still run.
const GOES_ON: [&str; 3] = [
    "running in background",
    "running in the background",
    "Process running with session ID",
];

/// Tells what a call of a shell did; `None` if its arguments contain no command line.
pub(super) fn tell_command(call: &Call<'_>) -> Option<Told> {
    let mut names = parameters(Parameter::Command).iter();
    let given = names.find_map(|name| call.input.get(name));
    let mut text = given.and_then(command_line)?;
    while let Some(inner) = inside_sandbox(&text).or_else(|| script_of_shell(&text)) {
        text = inner;
    }
    let output = match &*call.text {
        plain if !plain.contains('\x1b') => Cow::Borrowed(plain),
        coloured => terminal_safe(coloured).into(),
    };
    let (read, output) = (parse(&text), &*output);
    Some(Line { call, read, output }.tell(&text))
}

/// Returns the script of a line that is only `bash -c SCRIPT`.
fn script_of_shell(text: &str) -> Option<String> {
    let line = parse(text);
    let [only] = line.commands.as_slice() else {
        return None;
    };
    let [shell, flag, script] = only.words.as_slice() else {
        return None;
    };
    let name = program_name(shell.label());
    let is_shell = matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh");
    let is_script = flag.label().starts_with('-') && flag.label().ends_with('c');
    let script = script.value.clone()?;
    let is_all = is_shell && is_script && only.output().is_none();
    (is_all && script.len() < text.len()).then_some(script)
}

/// A command of a line, with what its end is known to be.
struct Step<'a> {
    program: Program<'a>,
    known: Known,
    has_error: bool,
    /// Whether it may not have run: it is in a branch, or depends on the end of another command.
    may_be_skipped: bool,
}

impl Step<'_> {
    /// Whether it succeeded for sure: by the status, or because the program names itself in its errors and did not.
    fn is_sure(&self) -> bool {
        let is_silent = !self.may_be_skipped && self.program.is_loud();
        !self.has_error && (self.known == Known::Succeeded || is_silent)
    }

    /// Returns the acts of the command. A claim that neither the status nor the silence of the program supports becomes
    /// a run of it.
    fn acts(&self, is_flat: bool) -> Vec<Act> {
        if self.may_be_skipped {
            let verb = Verb::MayRun;
            return vec![Act {
                verb,
                ..self.program.run()
            }];
        }
        let is_sure = self.is_sure() && (is_flat || self.known == Known::Succeeded);
        let shown = |act: Act| {
            // The others say nothing about an end; the output shows the subject of a commit.
            let claims = matches!(
                act.verb,
                Verb::Read | Verb::Write | Verb::Edit | Verb::Delete
            ) && !self.program.name().is_empty();
            if is_sure || !claims && !self.has_error {
                return act;
            }
            Act {
                effect: act.effect,
                has_error: self.has_error,
                ..self.program.run()
            }
        };
        self.program.acts().into_iter().map(shown).collect()
    }
}

/// A command line that ran.
struct Line<'a> {
    call: &'a Call<'a>,
    read: CommandLine,
    output: &'a str,
}

impl Line<'_> {
    fn tell(&self, text: &str) -> Told {
        let code = exit_code(self.output);
        // Claude Code marks failed commands itself.
        let is_bad = code.is_some_and(|code| code != 0) && self.call.name != "Bash";
        let is_ok = self.call.outcome == CallOutcome::Ok && !is_bad;
        let steps = self.steps(text, is_ok);
        let name = || Self::name(&steps.iter().collect::<Vec<_>>(), false);
        match self.call.outcome {
            CallOutcome::Ok if is_ok && self.is_in_background(text) => {
                let ends_list = |step: &Step<'_>| step.program.command.follows == Follows::Next;
                let is_part = text.trim_end().ends_with('&');
                // The commands before the last list ended before it started.
                let last = steps.iter().rposition(ends_list).filter(|_| is_part);
                let (before, started) = steps.split_at(last.unwrap_or(0));
                let mut acts = self.named_acts(before);
                acts.retain(|act| act.effect >= Effect::Unknown);
                let name = Self::name(&started.iter().collect::<Vec<_>>(), false);
                acts.push(Act::named(Verb::StartInBackground, name));
                Told::Done(acts)
            }
            CallOutcome::Ok if is_ok => Told::Done(self.described(self.acts(&steps))),
            CallOutcome::Ok | CallOutcome::Failed => self.tell_failure(&steps, code),
            _ => Told::Failed(Failure::new(name(), self.call.how_it_failed(), Vec::new())),
        }
    }

    fn steps(&self, text: &str, is_ok: bool) -> Vec<Step<'_>> {
        let commands = self.read.commands.iter();
        let commands: Vec<_> = commands.filter(|command| !command.is_substituted).collect();
        let known = known_ends(&self.read, &commands, is_ok);
        let errors = programs_with_errors(self.output);
        let branches = depths_of_branches(text, &commands);
        let mut steps: Vec<Step<'_>> = Vec::new();
        for ((command, known), branch) in commands.into_iter().zip(known).zip(branches) {
            let program = self.program(command);
            let has_error = errors.contains(program.name());
            let last = steps.last().filter(|last| !last.may_be_skipped);
            let is_reached = match command.follows {
                Follows::Next | Follows::Background => branch == 0,
                Follows::And => known == Known::Succeeded || last.is_some_and(Step::is_sure),
                Follows::Or => last.is_some_and(|last| last.has_error),
                Follows::Pipe => last.is_some(),
            };
            steps.push(Step {
                program,
                known,
                has_error,
                may_be_skipped: !is_reached && !has_error,
            });
        }
        steps
    }

    fn program<'a>(&'a self, command: &'a CommandPart) -> Program<'a> {
        let (cwd, output) = (self.call.cwd, self.output);
        Program {
            command,
            cwd,
            output,
        }
    }

    fn is_in_background(&self, text: &str) -> bool {
        let line = text.trim_end();
        let mut start = start_of_result(self.output).lines().take(4);
        line.ends_with('&') && !line.ends_with("&&")
            || self.call.is_in_background()
            || start.any(|line| GOES_ON.iter().any(|words| line.contains(words)))
    }

    /// Returns the acts of the whole line: those that may have changed something, else all reads.
    fn acts(&self, steps: &[Step<'_>]) -> Vec<Act> {
        let mut acts = self.named_acts(steps);
        if acts.iter().any(|act| act.effect >= Effect::Unknown) {
            acts.retain(|act| act.effect >= Effect::Unknown);
        } else if acts.iter().any(|act| act.verb != Verb::MayRun) {
            acts.retain(|act| act.verb != Verb::MayRun);
        }
        let hidden = self.read.commands.iter();
        // A substitution runs these.
        let hidden = hidden.filter(|command| command.is_substituted && !command.only_reads);
        let hidden = hidden.map(|command| self.program(command));
        let hidden = hidden.filter(|program| !program.is_glue());
        acts.extend(hidden.map(|program| program.run()));
        if self.read.unread.is_some() {
            acts.push(Act::named(Verb::Run, "shell script"));
        }
        if acts.is_empty() {
            let first = steps.iter().find(|step| !step.program.name().is_empty());
            let run = first.map(|step| step.program.run());
            acts.push(run.unwrap_or_else(|| Act::named(Verb::Run, "a command")));
        }
        acts
    }

    /// Returns the acts of the commands that are worth a name.
    fn named_acts(&self, steps: &[Step<'_>]) -> Vec<Act> {
        let is_named = |step: &&Step<'_>| {
            let program = &step.program;
            !program.is_filter() && (!program.is_glue() || program.command.output().is_some())
        };
        let acts = |step: &Step<'_>| match self.patched(step) {
            Some(act) => vec![act],
            None => step.acts(self.read.is_flat),
        };
        steps.iter().filter(is_named).flat_map(acts).collect()
    }

    /// Returns the act of `apply_patch`, whose patch is its input or its operand.
    fn patched(&self, step: &Step<'_>) -> Option<Act> {
        let command = step.program.command;
        let is_patch = matches!(step.program.name(), "apply_patch" | "applypatch");
        let operand = || command.operands().first().copied();
        let patch = command.input.text().or_else(operand);
        Some(self.call.on_patch(patch.filter(|_| is_patch)?))
    }

    /// Adds the description of the model to a script that says nothing about itself.
    fn described(&self, mut acts: Vec<Act>) -> Vec<Act> {
        let mut commands = self.read.commands.iter();
        let has_script = commands.any(|command| self.program(command).is_inline());
        let is_opaque = !self.read.is_flat || has_script;
        let description = self.call.argument(&["description"]).filter(|_| is_opaque);
        if let ([act], Some(description)) = (acts.as_mut_slice(), description)
            && act.verb == Verb::Run
        {
            let line = description.trim().lines().next().unwrap_or_default();
            act.topic = lower_first(&cut(line.trim_end_matches('.'), TOPIC_CELLS));
        }
        acts
    }

    /// Names commands: by their words if there are up to two.
    fn name(steps: &[&Step<'_>], is_one_of_them: bool) -> String {
        let is_named = |step: &&&Step<'_>| !step.program.is_glue() && !step.program.is_filter();
        let named = steps.iter().filter(is_named);
        let operator = named
            .clone()
            .nth(1)
            .map(|step| step.program.command.follows);
        let operator = if operator == Some(Follows::Or) {
            " || "
        } else {
            " && "
        };
        let named: Vec<String> = named.map(|step| step.program.words()).collect();
        match (named.as_slice(), steps) {
            ([], [only]) => only.program.words(),
            ([], _) => "Command".to_owned(),
            ([_] | [_, _], _) => cut(&named.join(operator), NAME_CELLS),
            (several, _) if is_one_of_them => format!("One of {} commands", several.len()),
            ([first, rest @ ..], _) => {
                format!("{} and {} more", cut(first, NAME_CELLS / 2), rest.len())
            }
        }
    }

    /// Finds the command that failed. A program that names itself in its errors and did not, succeeded.
    fn tell_failure(&self, steps: &[Step<'_>], code: Option<i64>) -> Told {
        let may = |step: &&Step<'_>| step.known == Known::MayHaveFailed || code.is_none();
        let mut suspects: Vec<&Step<'_>> = steps.iter().filter(may).collect();
        // Without a code, the line may have been stopped anywhere.
        let is_silent = |step: &Step<'_>| code.is_some() && !step.program.is_loud();
        let criteria: [&dyn Fn(&Step<'_>) -> bool; 3] =
            [&|step| step.has_error, &is_silent, &|step| {
                !step.program.is_glue()
            }];
        for is_suspect in criteria {
            if suspects.iter().any(|step| is_suspect(step)) {
                suspects.retain(|step| is_suspect(step));
            }
        }
        let start = |step: &Step<'_>| step.program.command.span.start;
        let first = suspects.first().map_or(0, |step| start(step));
        let before = steps.iter().take_while(|step| start(step) < first);
        // Of alternatives, another one may have succeeded.
        let has_alternatives = steps
            .iter()
            .any(|step| step.program.command.follows == Follows::Or);
        let before = before.map(|step| {
            let is_done =
                step.known == Known::MayHaveFailed && self.read.is_flat && !has_alternatives;
            let known = if is_done {
                Known::Succeeded
            } else {
                step.known
            };
            let may_be_skipped = step.may_be_skipped && !is_done;
            Step {
                known,
                may_be_skipped,
                ..*step
            }
        });
        let mut acts = self.named_acts(&before.collect::<Vec<_>>());
        let is_answer = |(at, step): (usize, &&Step<'_>)| {
            !step.has_error && (at == 0 || step.program.command.follows == Follows::Or)
        };
        let may_answer = code == Some(1) && suspects.iter().enumerate().all(is_answer);
        let answers: Option<Vec<Act>> = suspects.iter().map(|step| step.program.answer()).collect();
        let answers = answers.filter(|_| may_answer && !has_error_of_shell(self.output));
        if let Some(answers) = answers.filter(|answers| !answers.is_empty()) {
            acts.extend(answers);
            return Told::Done(acts);
        }
        acts.retain(|act| act.effect >= Effect::Unknown);
        if let [only] = suspects.as_slice()
            && only.program.is_condition()
            && code == Some(1)
        {
            return Told::Failed(Failure::new("Condition", "was false", acts));
        }
        let is_unclear = suspects.len() > 1
            && suspects.iter().all(|step| !step.has_error)
            && suspects.iter().any(|step| step.program.answer().is_some());
        if suspects.iter().all(|step| step.program.is_filter()) {
            let steps = steps.iter();
            suspects = steps.filter(|step| !step.program.is_glue()).collect();
        }
        // Status 1 may be an answer.
        let how = if is_unclear && code == Some(1) {
            "ended with status 1"
        } else {
            self.call.how_it_failed()
        };
        Told::Failed(Failure::new(Self::name(&suspects, true), how, acts))
    }
}

/// Returns the number of branches of `if` and `case` that each command is in.
fn depths_of_branches(text: &str, commands: &[&CommandPart]) -> Vec<usize> {
    let (mut end, mut depth) = (0, 0_usize);
    let depths = commands.iter().map(|command| {
        let between = text.get(end..command.span.start).unwrap_or_default();
        end = end.max(command.span.end);
        for word in between.split([' ', ';', '\n', '\t']) {
            depth = match word {
                "then" | "case" => depth + 1,
                "fi" | "esac" | "elif" => depth.saturating_sub(1),
                _ => depth,
            };
        }
        depth
    });
    depths.collect()
}

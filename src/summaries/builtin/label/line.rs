//! The acts of a command line, from its commands and its status. English words in its output have no meaning.

use std::borrow::Cow;

use super::act::{Act, Effect, Failure, Object, Told, Verb};
use super::call::Call;
use super::program::Program;
use super::status::{Known, has_error_of_shell, known_ends, programs_with_errors};
use crate::agent::exit_code;
use crate::message::{CallOutcome, start_of_result};
use crate::shell::{CommandLine, CommandPart, Follows, inside_sandbox, parse, program_name};
use crate::summaries::builtin::clean::lower_first;
use crate::summaries::builtin::cut::cut;
use crate::text::terminal_safe;
use crate::tool_facts::{Parameter, command_line, parameters};

/// Maximum width of the name of a failed command, in cells.
const NAME_CELLS: usize = 44;

/// Maximum width of a description, in cells.
const DESCRIPTION_CELLS: usize = 40;

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
    let shell = program_name(shell.label());
    let is_shell = matches!(shell, "sh" | "bash" | "dash" | "zsh" | "ksh");
    let is_script = flag.label().starts_with('-') && flag.label().ends_with('c');
    let is_all = is_shell && is_script && only.redirections.is_empty();
    let script = script.value.clone();
    script.filter(|script| is_all && script.len() < text.len())
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
        // A loop may not run at all.
        let has_run = !self.may_be_skipped && !self.program.command.is_repeated();
        let is_silent = has_run && self.program.is_loud();
        !self.has_error && (self.known == Known::Succeeded || is_silent)
    }

    /// Whether it is worth a name. One that only reads is not, if it may not have run.
    fn is_named(&self) -> bool {
        let is_glue = self.program.is_glue() && self.program.command.output().is_none();
        let is_idle = self.may_be_skipped && self.program.reads();
        !is_glue && !is_idle && !self.program.is_filter()
    }

    /// Returns the acts of the command. A claim that neither the status nor the silence of the program supports becomes
    /// a run of it.
    fn acts(&self) -> Vec<Act> {
        let mut run = self.program.run();
        run.has_error = self.has_error;
        if self.may_be_skipped {
            run.verb = Verb::MayRun;
            return vec![run];
        }
        let shown = |act: Act| {
            // The others say nothing about an end; the output shows the subject of a commit.
            let claims = [Verb::Read, Verb::Write, Verb::Edit, Verb::Delete].contains(&act.verb);
            let is_open = claims && !self.program.name().is_empty() || self.has_error;
            let is_shown = !is_open || self.is_sure();
            Some(act)
                .filter(|_| is_shown)
                .unwrap_or_else(|| run.clone())
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
        let steps = self.steps(is_ok);
        match self.call.outcome {
            CallOutcome::Ok if is_ok && self.is_in_background(text) => {
                let ends_list = |step: &Step<'_>| step.program.command.follows == Follows::Next;
                let is_part = text.trim_end().ends_with('&');
                // The commands before the last list ended before it started.
                let last = steps.iter().rposition(ends_list).filter(|_| is_part);
                let (before, started) = steps.split_at(last.unwrap_or(0));
                let mut acts = changes(before);
                acts.push(Act::named(
                    Verb::StartInBackground,
                    name(started.iter(), false),
                ));
                Told::Done(acts)
            }
            CallOutcome::Ok if is_ok => Told::Done(self.acts(&steps)),
            CallOutcome::Ok | CallOutcome::Failed => self.tell_failure(&steps, code),
            _ => {
                let name = name(steps.iter(), false);
                Told::Failed(Failure::new(name, self.call.how_it_failed(), Vec::new()))
            }
        }
    }

    fn steps(&self, is_ok: bool) -> Vec<Step<'_>> {
        let commands = self.read.commands.iter();
        let mut commands: Vec<_> = commands.filter(|command| !command.is_substituted).collect();
        if !is_ok {
            self.drop_exit(&mut commands);
        }
        let known = known_ends(&self.read, &commands, is_ok);
        let errors = programs_with_errors(self.output);
        let mut steps: Vec<Step<'_>> = Vec::new();
        for (command, known) in commands.into_iter().zip(known) {
            let program = self.program(command);
            let has_error = errors.contains(program.name());
            let last = steps.last().filter(|last| !last.may_be_skipped);
            let is_reached = match command.follows {
                Follows::Next | Follows::Background => !command.is_conditional(),
                Follows::And => known == Known::Succeeded || last.is_some_and(Step::is_sure),
                Follows::Or => last.is_some_and(|last| last.has_error),
                Follows::Pipe => last.is_some(),
            };
            let may_be_skipped = !is_reached && !has_error;
            steps.push(Step {
                program,
                known,
                has_error,
                may_be_skipped,
            });
        }
        steps
    }

    /// Drops `exit` at the end and what only prepares it: the status is of a command before.
    fn drop_exit(&self, commands: &mut Vec<&CommandPart>) {
        let saves_status = |command: &CommandPart| {
            let mut marks = ["$?", "PIPESTATUS"].iter();
            command.words.is_empty() && marks.any(|mark| command.assigned().contains(mark))
        };
        let last = commands.last();
        if last.is_none_or(|last| !self.program(last).is_exit() || last.is_conditional()) {
            return;
        }
        let end = commands.iter().rposition(|command| saves_status(command));
        let before = &commands[..end.unwrap_or(commands.len() - 1)];
        let last = before
            .iter()
            .rposition(|command| !self.program(command).is_glue())
            .or_else(|| {
                let may_fail = |command: &CommandPart| !self.program(command).is_loud();
                before.iter().rposition(|command| may_fail(command))
            });
        commands.truncate(last.map_or(commands.len(), |last| last + 1));
    }

    fn program<'a>(&'a self, command: &'a CommandPart) -> Program<'a> {
        Program {
            command,
            call: self.call,
            output: self.output,
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
        let mut acts = changes(steps);
        // A substitution runs these.
        let hidden = self
            .read
            .commands
            .iter()
            .filter(|command| command.is_substituted);
        let hidden = hidden.map(|command| self.program(command));
        let hidden = hidden.filter(|program| !program.command.only_reads && !program.is_glue());
        acts.extend(hidden.map(|program| program.run()));
        if self.read.unread.is_some() {
            acts.push(Act::named(Verb::Run, "shell script"));
        }
        if acts.is_empty() {
            acts = named_acts(steps);
        }
        if acts.is_empty() {
            let first = steps.iter().find(|step| !step.program.name().is_empty());
            let run = first.map(|step| step.program.run());
            acts.push(run.unwrap_or_else(|| Act::named(Verb::Run, "a command")));
        }
        self.describe(&mut acts);
        acts
    }

    /// Adds the description of the model to a script that says nothing about itself.
    fn describe(&self, acts: &mut [Act]) {
        let mut commands = self.read.commands.iter();
        let has_script = commands.any(|command| self.program(command).is_inline());
        let is_opaque = !self.read.is_flat || has_script;
        let description = self.call.argument(&["description"]).filter(|_| is_opaque);
        if let ([act], Some(description)) = (acts, description)
            && act.verb == Verb::Run
            && let Object::Named(name) = &mut act.object
        {
            let line = description.trim().lines().next().unwrap_or_default();
            let line = cut(line.trim_end_matches('.'), DESCRIPTION_CELLS);
            *name = format!("{name}: {}", lower_first(&line));
        }
    }

    /// Finds the command that failed. A program that names itself in its errors and did not, succeeded.
    fn tell_failure(&self, steps: &[Step<'_>], code: Option<i64>) -> Told {
        let is_stopped = is_stopped_at_limit(self.output, code);
        // Without a code, the line may have been stopped anywhere.
        let code = code.filter(|_| !is_stopped);
        let may = |at: &usize| {
            let is_piped = |step: &&Step<'_>| step.program.command.follows == Follows::Pipe;
            let rest = steps[*at + 1..].iter().take_while(is_piped);
            // The status behind one that only passes text on is of what feeds it.
            let end = rest.last().filter(|end| end.program.is_passive());
            let is_bad = |step: &Step<'_>| step.known == Known::MayHaveFailed;
            code.is_none() || is_bad(&steps[*at]) || end.is_some_and(is_bad)
        };
        let mut suspects: Vec<usize> = (0..steps.len()).filter(may).collect();
        let is_late = |step: &Step<'_>| code == Some(124) && step.program.is_behind("timeout");
        let is_silent = |step: &Step<'_>| code.is_some() && !step.program.is_loud();
        let may_end = |program: Program<'_>| match code {
            Some(_) => !program.is_passive(),
            None => !program.is_filter(),
        };
        let criteria: [&dyn Fn(&Step<'_>) -> bool; 5] = [
            &is_late,
            &|step| step.has_error,
            &is_silent,
            &|step| !step.program.is_glue(),
            &|step| may_end(step.program),
        ];
        for is_suspect in criteria {
            if suspects.iter().any(|at| is_suspect(&steps[*at])) {
                suspects.retain(|at| is_suspect(&steps[*at]));
            }
        }
        let before = &steps[..suspects.first().copied().unwrap_or(0)];
        let suspects = || suspects.iter().map(|at| &steps[*at]);
        // Status 1 may be an answer, also as `xargs` tells it.
        let may_answer = |step: &&Step<'_>| match code {
            Some(1) => !step.has_error,
            Some(123) => !step.has_error && step.program.is_behind("xargs"),
            _ => false,
        };
        let answers = suspects().filter(may_answer);
        let answers: Vec<Act> = answers.filter_map(|step| step.program.answer()).collect();
        let is_alternative = |step: &Step<'_>| step.program.command.follows == Follows::Or;
        let are_alternatives = suspects().skip(1).all(is_alternative);
        let are_answers = answers.len() == suspects().count() && !has_error_of_shell(self.output);
        if are_answers && are_alternatives && !answers.is_empty() {
            return Told::Done(named_acts(before).into_iter().chain(answers).collect());
        }
        let is_condition = |step: &Step<'_>| step.program.is_condition() && code == Some(1);
        let before = changes(before);
        if suspects().count() == 1 && suspects().all(is_condition) {
            return Told::Failed(Failure::new("Condition".to_owned(), "was false", before));
        }
        let may_answer = suspects().count() > 1 && !answers.is_empty();
        let how = match () {
            () if is_stopped || suspects().next().is_some_and(is_late) => "timed out",
            () if may_answer => "ended with status 1",
            () => self.call.how_it_failed(),
        };
        Told::Failed(Failure::new(name(suspects(), true), how, before))
    }
}

/// Whether the tool says that it stopped the command at its time limit.
fn is_stopped_at_limit(output: &str, code: Option<i64>) -> bool {
    let says = |line: &str| {
        let line = line.to_ascii_lowercase();
        line.starts_with("command timed out") || line.contains("command after exceeding timeout")
    };
    code.is_none_or(|code| matches!(code, 124 | 137 | 143)) && output.lines().any(says)
}

/// Returns the acts of the commands that are worth a name.
fn named_acts(steps: &[Step<'_>]) -> Vec<Act> {
    let named = steps.iter().filter(|step| step.is_named());
    named.flat_map(Step::acts).collect()
}

/// Returns the acts that may have changed something.
fn changes(steps: &[Step<'_>]) -> Vec<Act> {
    let mut acts = named_acts(steps);
    acts.retain(|act| act.verb.effect() >= Effect::Unknown);
    acts
}

/// Names commands: by their words if there are up to two.
fn name<'a>(steps: impl Iterator<Item = &'a Step<'a>> + Clone, is_one_of_them: bool) -> String {
    let is_named = |step: &&Step<'_>| {
        let is_part = is_one_of_them && !step.program.is_passive();
        !step.program.is_glue() && (is_part || !step.program.is_filter())
    };
    let words = |step: &Step<'_>| step.program.words();
    let mut names: Vec<String> = steps.clone().filter(is_named).map(words).collect();
    if names.is_empty() && steps.clone().count() == 1 {
        names.extend(steps.filter(|step| !step.program.is_exit()).map(words));
    }
    match names.as_slice() {
        [] => "Command".to_owned(),
        [only] => cut(only, NAME_CELLS),
        [first, second] if is_one_of_them => cut(&format!("{first} or {second}"), NAME_CELLS),
        several if is_one_of_them => format!("One of {} commands", several.len()),
        [first, second] => cut(&format!("{first} and {second}"), NAME_CELLS),
        [first, rest @ ..] => format!("{} and {} more", cut(first, NAME_CELLS / 2), rest.len()),
    }
}

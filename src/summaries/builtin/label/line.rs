//! The acts of a command line, from its commands and its status. English words in its output have no meaning.

use std::borrow::Cow;

use super::act::{Act, Effect, Failure, Told, Verb};
use super::call::Call;
use super::program::Program;
use super::status::{Known, has_error_of_shell, known_ends, programs_with_errors};
use crate::agent::exit_code;
use crate::message::{CallOutcome, start_of_result};
use crate::session::command_of;
use crate::shell::{CommandLine, CommandPart, Follows, parse};
use crate::summaries::builtin::cut::cut;
use crate::text::terminal_safe;

/// Maximum width of the name of a failed command, in cells.
const NAME_CELLS: usize = 44;

/// Beginnings of the results of commands that still run.
const GOES_ON: [&str; 3] = [
    "running in background",
    "running in the background",
    "Process running with session ID",
];

/// Tells what a call of a shell did; `None` if its arguments contain no command line.
pub(super) fn tell_command(call: &Call<'_>) -> Option<Told> {
    let text = command_of(call.input.as_object()?)?;
    let output = match &*call.text {
        plain if !plain.contains('\x1b') => Cow::Borrowed(plain),
        coloured => terminal_safe(coloured).into(),
    };
    let (read, output) = (parse(&text), &*output);
    Some(Line { call, read, output }.tell(&text))
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
        let commands: Vec<_> = commands.filter(|command| !command.is_substituted).collect();
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
        acts
    }

    /// Finds the command that failed. A program that names itself in its errors and did not, succeeded.
    fn tell_failure(&self, steps: &[Step<'_>], code: Option<i64>) -> Told {
        let is_stopped = is_stopped_at_limit(self.output, code);
        // Without a code, the line may have been stopped anywhere.
        let code = code.filter(|_| !is_stopped);
        // `exit` may hand over the status of any command.
        let is_any = code.is_none() || steps.last().is_some_and(|last| last.program.is_exit());
        let may = |at: &usize| {
            let is_piped = |step: &&Step<'_>| step.program.command.follows == Follows::Pipe;
            let rest = steps[*at + 1..].iter().take_while(is_piped);
            // The status behind one that only passes text on is of what feeds it.
            let end = rest.last().filter(|end| end.program.is_passive());
            let is_bad = |step: &Step<'_>| step.known == Known::MayHaveFailed;
            is_any || is_bad(&steps[*at]) || end.is_some_and(is_bad)
        };
        let mut suspects: Vec<usize> = (0..steps.len()).filter(may).collect();
        let is_silent = |step: &Step<'_>| code.is_some() && !step.program.is_loud();
        let criteria: [&dyn Fn(&Step<'_>) -> bool; 4] = [
            &|step| step.has_error,
            &is_silent,
            &|step| !step.program.is_glue(),
            &|step| !step.program.is_passive() && (code.is_some() || !step.program.is_filter()),
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
        let before = changes(before);
        let may_answer = suspects().count() > 1 && !answers.is_empty();
        let how = match () {
            () if is_stopped => "timed out",
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
        names.extend(steps.filter(|step| step.program.is_loud()).map(words));
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

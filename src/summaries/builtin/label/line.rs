//! The acts of a command line, from its commands and its exit status. Words in its output are not interpreted.

use std::borrow::Cow;

use super::act::{Act, CallActs, Effect, Verb, quote};
use super::call::Call;
use super::program::Program;
use super::status::{CommandEnd, has_only_errors_of, infer_ends, named_programs, refused_programs};
use crate::agent::{is_running, is_stopped_at_limit};
use crate::message::CallOutcome;
use crate::session::find_command;
use crate::shell::{CommandLine, Follows, parse};
use crate::summaries::builtin::cut::{MORE, cut_end};
use crate::summaries::builtin::names::{distinct, last_part};
use crate::text::{display_width, terminal_safe};

/// Maximum width of the name of a failed command, in cells.
const NAME_CELLS: usize = 52;

/// Describes what a call of a shell did; `None` if its arguments contain no command line.
pub(super) fn describe_command(call: &Call<'_>) -> Option<CallActs> {
    let command = find_command(call.input.as_object()?)?;
    let script = powershell_script(&command);
    let text = with_slashes(script.as_deref().unwrap_or(&command));
    let (tree, output) = (parse(&text), &*terminal_safe(&call.text));
    Some(Line { call, tree, output }.describe(&text))
}

/// Returns the commands that a line passes to PowerShell as an argument; `None` for a script with variables or blocks.
fn powershell_script(line: &str) -> Option<String> {
    let words = shlex::split(line)?;
    let program = last_part(words.first()?).to_lowercase();
    let is_shell = matches!(program.trim_end_matches(".exe"), "pwsh" | "powershell");
    let is_option = |word: &String| ["-command", "-c"].contains(&&*word.to_lowercase());
    let option = words.iter().position(is_option).filter(|_| is_shell)?;
    let script = words[option + 1..].join(" ");
    let is_simple = !script.contains(['$', '{', '[']);
    is_simple.then(|| script.trim_start_matches(['&', ' ']).to_owned())
}

/// Replaces backslashes in a line of PowerShell, where they only separate paths. Other lines are unchanged.
fn with_slashes(text: &str) -> Cow<'_, str> {
    let is_upper = |part: &str| part.starts_with(|first: char| first.is_ascii_uppercase());
    let is_cmdlet = |word: &str| {
        let parts = word.split_once('-');
        parts.is_some_and(|(verb, noun)| is_upper(verb) && is_upper(noun))
    };
    let has_drive = |word: &str| {
        let drive = word.find(":\\").and_then(|at| at.checked_sub(1));
        drive.is_some_and(|at| word.as_bytes()[at].is_ascii_uppercase())
    };
    let mut commands = text.split(['|', ';', '&', '\n']);
    let starts_cmdlet = |command: &str| command.split_whitespace().next().is_some_and(is_cmdlet);
    if commands.any(starts_cmdlet) || text.split_whitespace().any(has_drive) {
        return text.replace('\\', "/").into();
    }
    text.into()
}

/// A command of a line, and its end as far as it is known.
struct Step<'a> {
    program: Program<'a>,
    end: CommandEnd,
    /// Whether the output has a message of its program, or of the shell about its program.
    has_error: bool,
    /// Whether it failed regardless of the status: the shell has a message about it, or its program only printed errors.
    has_failed: bool,
    /// Whether it may not have run, because it is in a branch or depends on the end of another command.
    may_be_skipped: bool,
    /// Whether it still runs in the background.
    is_running: bool,
    /// Whether it succeeds if its program fails, as in `! x`.
    is_negated: bool,
}

impl Step<'_> {
    /// Whether it certainly succeeded: by the status, or because its program names itself in errors and has no error.
    fn has_succeeded(&self) -> bool {
        // The body of a loop may not run at all.
        let has_run = !self.may_be_skipped && !self.program.command.context.is_repeated;
        let is_silent = has_run && self.program.is_loud();
        let is_open = self.has_error || self.is_negated;
        !is_open && (self.end == CommandEnd::Succeeded || is_silent)
    }

    fn is_alternative(&self) -> bool {
        self.program.command.follows == Follows::Or
    }

    /// Whether a label names it. A command that only reads and may not have run is not named.
    fn is_named(&self) -> bool {
        let is_glue = self.program.is_glue() && self.program.command.output_file().is_none();
        let is_idle = self.may_be_skipped && self.program.is_read_only();
        !is_glue && !is_idle && !self.program.is_filter()
    }

    /// Returns the acts of the command. An act that neither the status nor missing errors prove becomes a run of the
    /// program.
    fn acts(&self) -> Vec<Act> {
        let mut run = self.program.run_act();
        if self.is_running || self.may_be_skipped {
            let started = self.is_running.then_some(Verb::StartInBackground);
            run.verb = started.unwrap_or(Verb::MayRun);
            return vec![run];
        }
        let proven = |act: Act| {
            // Other verbs do not claim success, except that the output shows the subject of a commit.
            let claims = [Verb::Read, Verb::Write, Verb::Edit, Verb::Delete].contains(&act.verb);
            let is_open = claims && !self.program.name().is_empty() || self.has_error;
            let is_proven = !is_open || self.has_succeeded();
            if is_proven { act } else { run.clone() }
        };
        self.program.acts().into_iter().map(proven).collect()
    }
}

/// A command line that ran.
struct Line<'a> {
    call: &'a Call<'a>,
    tree: CommandLine,
    output: &'a str,
}

impl Line<'_> {
    fn describe(&self, text: &str) -> CallActs {
        let steps = self.read_steps(text);
        match self.call.outcome {
            CallOutcome::Ok => self.describe_success(&steps),
            CallOutcome::Failed => self.describe_failure(&steps),
            _ => {
                let name = name_steps(steps.iter(), false);
                CallActs::failed(name, self.call.failure_word(), Vec::new())
            }
        }
    }

    /// Returns the commands of the line `text`, except commands in substitutions.
    fn read_steps(&self, text: &str) -> Vec<Step<'_>> {
        let mut commands: Vec<_> = self.tree.commands.iter().collect();
        commands.retain(|command| !command.context.is_substituted);
        let is_ok = self.call.outcome == CallOutcome::Ok;
        let ends = infer_ends(&self.tree, &commands, is_ok);
        let (named, refused) = (named_programs(self.output), refused_programs(self.output));
        let all_run_on = is_ok && (self.call.is_in_background() || is_running(self.output));
        let trimmed = text.trim_end();
        let last_runs_on = trimmed.ends_with('&') && !trimmed.ends_with("&&");
        let mut steps: Vec<Step<'_>> = Vec::new();
        for (at, (command, end)) in commands.iter().zip(ends).enumerate() {
            let (call, output) = (self.call, self.output);
            let program = Program {
                command,
                call,
                output,
            };
            let has_message = program.signs_errors() && named.contains(program.name());
            let next = commands.get(at + 1);
            let next = next.filter(|next| next.follows == Follows::Pipe);
            let is_cut = next.is_some_and(|next| matches!(next.own_program(), "head" | "tail"));
            // A pipe hides the status of the command before it.
            let has_only_errors = if has_message {
                next.is_some() && has_only_errors_of(program.name(), self.output)
            } else {
                let is_alone = steps.iter().all(|step| step.program.is_glue());
                is_cut && is_alone && has_only_errors_of("error", self.output)
            };
            let has_failed = has_only_errors || refused.contains(program.name());
            let has_error = has_failed || has_message;
            let mut later = commands[at + 1..].iter().map(|next| next.follows);
            let is_separator = |next: &Follows| matches!(next, Follows::Next | Follows::Background);
            let separator = later.find(is_separator);
            let runs_on = separator.map_or(last_runs_on, |next| next == Follows::Background);
            let last = steps.last().filter(|last| !last.may_be_skipped);
            let is_reached = match command.follows {
                Follows::Next | Follows::Background => !command.context.is_conditional,
                Follows::And if end == CommandEnd::Succeeded => true,
                Follows::And => last.is_some_and(Step::has_succeeded),
                Follows::Or => last.is_some_and(|last| last.has_error),
                Follows::Pipe => last.is_some(),
            };
            let before = text.get(..command.span.start).unwrap_or_default();
            let is_negated = before.trim_end_matches([' ', '\t']).ends_with('!');
            steps.push(Step {
                program,
                end,
                has_error,
                has_failed,
                may_be_skipped: !is_reached && !has_error,
                is_running: all_run_on || runs_on,
                is_negated,
            });
        }
        steps
    }

    /// Describes a line with the status 0 by the acts that may have changed something, or else by all named acts. Commands
    /// that failed regardless of the status make the call a failure.
    fn describe_success(&self, steps: &[Step<'_>]) -> CallActs {
        let (failed, steps): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.has_failed);
        let steps = || steps.iter().copied();
        let mut acts = changes(steps());
        if self.tree.unread.is_some() {
            acts.push(Act::new(Verb::Run, "shell script"));
        }
        if acts.is_empty() {
            acts = named_acts(steps());
        }
        if !failed.is_empty() {
            let name = name_steps(failed.into_iter(), false);
            return CallActs::failed(name, "failed", acts);
        }
        if acts.is_empty() {
            let first = steps().find(|step| !step.program.name().is_empty());
            acts = first.map_or_else(|| vec![Act::new(Verb::Run, "a command")], Step::acts);
        }
        CallActs::done(acts)
    }

    /// Describes a failed line by the commands that may have failed. If the status is an answer of these commands, such as
    /// no matches, the line did not fail.
    fn describe_failure(&self, steps: &[Step<'_>]) -> CallActs {
        let is_stopped = is_stopped_at_limit(self.output);
        // Without a code, or by a signal, the line may have been stopped anywhere.
        let code = self.call.status;
        let code = code.filter(|code| !is_stopped && !(129..=192).contains(code));
        let suspects = find_suspects(steps, code);
        let before = &steps[..suspects.first().copied().unwrap_or(0)];
        let suspects = || suspects.iter().map(|at| &steps[*at]);
        let answer = |step: &Step<'_>| match code {
            Some(1) if step.is_negated => step.acts().pop(),
            // `xargs` ends with 123 if a command that it started ended with 1 to 125.
            Some(123) if step.program.is_behind("xargs") => step.program.answer_act(1),
            // Errors are never silent.
            None if self.output.trim().is_empty() => step.program.answer_act(1),
            _ => step.program.answer_act(code?),
        };
        let answers = suspects().filter(|step| !step.has_error);
        let answers: Vec<Act> = answers.filter_map(answer).collect();
        let are_alternatives = suspects().skip(1).all(Step::is_alternative);
        let has_ended = refused_programs(self.output).is_empty();
        let are_answers = has_ended && answers.len() == suspects().count();
        if are_answers && are_alternatives && !answers.is_empty() {
            return CallActs::done(named_acts(before).into_iter().chain(answers).collect());
        }
        let before = changes(before);
        let may_answer = suspects().count() > 1 && !answers.is_empty();
        let ending = match code {
            _ if is_stopped => "timed out".to_owned(),
            Some(code) if may_answer => format!("ended with status {code}"),
            _ => self.call.failure_word().to_owned(),
        };
        let is_one = !are_alternatives || suspects().count() < 2 || code.is_none();
        let about = suspects().next().filter(|_| before.is_empty());
        let about = about.map_or(String::new(), |step| step.program.script_description());
        // A part of the line that could not be parsed may have failed.
        let is_known = self.tree.unread.is_none() || suspects().any(|step| step.has_error);
        let named = || format!("{} {}", name_steps(suspects(), is_one), quote(&about));
        let name = is_known
            .then(named)
            .unwrap_or_else(|| "Shell script".to_owned());
        CallActs::failed(name.trim_end().to_owned(), ending, before)
    }
}

/// Returns the indices of the commands that may have failed in a line that exited with `code`, if it is known. A command
/// with an error message is more suspect than others; a command that prints its errors and has none is not.
fn find_suspects(steps: &[Step<'_>], code: Option<i64>) -> Vec<usize> {
    // `exit` may pass on the status of any command.
    let is_any = code.is_none() || steps.last().is_some_and(|last| last.program.is_exit());
    let may_have_failed = |at: &usize| {
        let is_piped = |step: &&Step<'_>| step.program.command.follows == Follows::Pipe;
        let piped = steps[*at + 1..].iter().take_while(is_piped);
        // The status of a command that only passes on text may come from the command before it.
        let end = piped.last().filter(|end| end.program.is_passive());
        let is_bad = |step: &Step<'_>| step.end == CommandEnd::MayHaveFailed;
        let is_possible = is_any || is_bad(&steps[*at]) || end.is_some_and(is_bad);
        is_possible && !steps[*at].is_running
    };
    let mut suspects: Vec<usize> = (0..steps.len()).filter(may_have_failed).collect();
    let criteria: [&dyn Fn(&Step<'_>) -> bool; 4] = [
        &|step| step.has_error,
        // The last alternative failed, even without a message.
        &|step| code.is_some() && (step.is_alternative() || !step.program.is_loud()),
        &|step| !step.program.is_glue(),
        &|step| !step.program.is_passive() && (code.is_some() || !step.program.is_filter()),
    ];
    for is_suspect in criteria {
        if suspects.iter().any(|at| is_suspect(&steps[*at])) {
            suspects.retain(|at| is_suspect(&steps[*at]));
        }
    }
    suspects
}

/// Returns the acts of commands that a label names.
fn named_acts<'a>(steps: impl IntoIterator<Item = &'a Step<'a>>) -> Vec<Act> {
    let named = steps.into_iter().filter(|step| step.is_named());
    named.flat_map(Step::acts).collect()
}

/// Returns the acts that may have changed something.
fn changes<'a>(steps: impl IntoIterator<Item = &'a Step<'a>>) -> Vec<Act> {
    let mut acts = named_acts(steps);
    acts.retain(|act| act.verb.effect() >= Effect::Unknown);
    acts
}

/// Names up to three commands by their words, more by the first one or by their number. `is_one_of_them` says whether only
/// one of them failed.
fn name_steps<'a>(
    steps: impl Iterator<Item = &'a Step<'a>> + Clone,
    is_one_of_them: bool,
) -> String {
    let is_alone = steps.clone().count() == 1;
    let is_named = |step: &&Step<'_>| {
        let program = step.program;
        let is_part = is_one_of_them && !program.is_passive() || !program.is_filter();
        is_part && !program.is_glue() || is_alone && program.is_loud()
    };
    let shown = steps.filter(is_named);
    let names: Vec<String> = shown.map(|step| step.program.attempt()).collect();
    let (count, names) = (names.len(), distinct(names.into_iter()));
    let word = if is_one_of_them { " or " } else { " and " };
    match names.as_slice() {
        [] => "Command".to_owned(),
        few if few.len() < 4 => {
            let room = NAME_CELLS - word.len() * (few.len() - 1);
            let width: usize = few.iter().map(|name| display_width(name)).sum();
            let shares = if width <= room { 1 } else { few.len() };
            let few = few.iter().map(|name| cut_end(name, room / shares));
            few.collect::<Vec<_>>().join(word)
        }
        _ if is_one_of_them => format!("One of {count} commands"),
        [first, ..] => format!("{}{MORE}", first.trim_end_matches(MORE)),
    }
}

//! The acts of a command line, from its commands and its status. English words in its output have no meaning.

use std::borrow::Cow;

use super::act::{Act, Effect, Failure, Told, Verb, quote};
use super::call::Call;
use super::program::Program;
use super::status::{Known, has_only_errors_of, known_ends, refused_programs, speakers};
use crate::agent::{is_running, is_stopped_at_limit};
use crate::message::CallOutcome;
use crate::session::command_of;
use crate::shell::{CommandLine, Follows, parse};
use crate::summaries::builtin::cut::{MORE, cut_end};
use crate::summaries::builtin::names::{distinct, last_part};
use crate::text::{display_width, terminal_safe};

/// Maximum width of the name of a failed command, in cells.
const NAME_CELLS: usize = 52;

/// Tells what a call of a shell did; `None` if its arguments contain no command line.
pub(super) fn tell_command(call: &Call<'_>) -> Option<Told> {
    let line = command_of(call.input.as_object()?)?;
    let script = powershell_script(&line);
    let text = with_slashes(script.as_deref().unwrap_or(&line));
    let (read, output) = (parse(&text), &*terminal_safe(&call.text));
    Some(Line { call, read, output }.tell(&text))
}

/// Returns the commands that a line hands to PowerShell as an argument. A script with variables and blocks is none.
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

/// Returns a line of PowerShell with slashes in paths: there a backslash quotes nothing. Other lines are unchanged.
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

/// A command of a line, with what its end is known to be.
struct Step<'a> {
    program: Program<'a>,
    known: Known,
    /// Whether its program has a message in the output, or the shell has one about it.
    has_error: bool,
    /// Whether it failed whatever the status is: the shell has a message, or there is nothing but errors of the program.
    has_failed: bool,
    /// Whether it may not have run: it is in a branch, or depends on the end of another command.
    may_be_skipped: bool,
    goes_on: bool,
    /// Whether it succeeds if its program fails, as in `! x`.
    is_negated: bool,
}

impl Step<'_> {
    /// Whether it succeeded for sure: by the status, or because the program names itself in its errors and did not.
    fn is_sure(&self) -> bool {
        // A loop may not run at all.
        let has_run = !self.may_be_skipped && !self.program.command.context.is_repeated;
        let is_silent = has_run && self.program.is_loud();
        let is_open = self.has_error || self.is_negated;
        !is_open && (self.known == Known::Succeeded || is_silent)
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
        if self.goes_on || self.may_be_skipped {
            let started = self.goes_on.then_some(Verb::StartInBackground);
            run.verb = started.unwrap_or(Verb::MayRun);
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
        let (steps, how) = (self.steps(text), self.call.failure_word());
        match self.call.outcome {
            CallOutcome::Ok => self.tell_success(&steps),
            CallOutcome::Failed => self.tell_failure(&steps),
            _ => Told::Failed(Failure::new(name(steps.iter(), false), how, Vec::new())),
        }
    }

    fn steps(&self, text: &str) -> Vec<Step<'_>> {
        let commands = self.read.commands.iter();
        let commands: Vec<_> = commands
            .filter(|command| !command.context.is_substituted)
            .collect();
        let is_ok = self.call.outcome == CallOutcome::Ok;
        let known = known_ends(&self.read, &commands, is_ok);
        let (speakers, refused) = (speakers(self.output), refused_programs(self.output));
        let all_go_on = is_ok && (self.call.is_in_background() || is_running(self.output));
        let line = text.trim_end();
        let last_goes_on = line.ends_with('&') && !line.ends_with("&&");
        let mut steps: Vec<Step<'_>> = Vec::new();
        for (at, (command, known)) in commands.iter().zip(known).enumerate() {
            let program = Program {
                command,
                call: self.call,
                output: self.output,
            };
            let has_message = program.signs_errors() && speakers.contains(program.name());
            let next = commands.get(at + 1);
            // A pipe hides the status, where `|| true` forgives it.
            let is_hidden = next.is_some_and(|next| next.follows == Follows::Pipe);
            let has_failed = refused.contains(program.name())
                || is_hidden && has_message && has_only_errors_of(program.name(), self.output);
            let has_error = has_failed || has_message;
            let mut rest = commands[at + 1..].iter().map(|next| next.follows);
            let end = rest.find(|follows| matches!(follows, Follows::Next | Follows::Background));
            let last = steps.last().filter(|last| !last.may_be_skipped);
            let is_reached = match command.follows {
                Follows::Next | Follows::Background => !command.context.is_conditional,
                Follows::And => known == Known::Succeeded || last.is_some_and(Step::is_sure),
                Follows::Or => last.is_some_and(|last| last.has_error),
                Follows::Pipe => last.is_some(),
            };
            let before = text.get(..command.span.start).unwrap_or_default();
            let is_negated = before.trim_end_matches([' ', '\t']).ends_with('!');
            steps.push(Step {
                program,
                known,
                has_error,
                has_failed,
                may_be_skipped: !is_reached && !has_error,
                goes_on: all_go_on || end.map_or(last_goes_on, |end| end == Follows::Background),
                is_negated,
            });
        }
        steps
    }

    /// Tells what a line did that ended well: what may have changed something, else what it read. Commands that the shell
    /// refused failed.
    fn tell_success(&self, steps: &[Step<'_>]) -> Told {
        let (refused, steps): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.has_failed);
        let steps = || steps.iter().copied();
        let mut acts = changes(steps());
        if self.read.unread.is_some() {
            acts.push(Act::named(Verb::Run, "shell script"));
        }
        if acts.is_empty() {
            acts = named_acts(steps());
        }
        if !refused.is_empty() {
            let name = name(refused.into_iter(), false);
            return Told::Failed(Failure::new(name, "failed", acts));
        }
        if acts.is_empty() {
            let first = steps().find(|step| !step.program.name().is_empty());
            acts = first.map_or_else(|| vec![Act::named(Verb::Run, "a command")], Step::acts);
        }
        Told::Done(acts)
    }

    /// Finds the command that failed. A program that names itself in its errors and did not, succeeded.
    fn tell_failure(&self, steps: &[Step<'_>]) -> Told {
        let is_stopped = is_stopped_at_limit(self.output);
        // Without a code, or by a signal, the line may have been stopped anywhere.
        let code = self.call.status;
        let code = code.filter(|code| !is_stopped && !(129..=192).contains(code));
        // `exit` may hand over the status of any command.
        let is_any = code.is_none() || steps.last().is_some_and(|last| last.program.is_exit());
        let may = |at: &usize| {
            let is_piped = |step: &&Step<'_>| step.program.command.follows == Follows::Pipe;
            let rest = steps[*at + 1..].iter().take_while(is_piped);
            // The status behind one that only passes text on is of what feeds it.
            let end = rest.last().filter(|end| end.program.is_passive());
            let is_bad = |step: &Step<'_>| step.known == Known::MayHaveFailed;
            let is_possible = is_any || is_bad(&steps[*at]) || end.is_some_and(is_bad);
            is_possible && !steps[*at].goes_on
        };
        let mut suspects: Vec<usize> = (0..steps.len()).filter(may).collect();
        let is_alternative = |step: &Step<'_>| step.program.command.follows == Follows::Or;
        // An alternative that decides failed, whatever it says.
        let criteria: [&dyn Fn(&Step<'_>) -> bool; 4] = [
            &|step| step.has_error,
            &|step| code.is_some() && (is_alternative(step) || !step.program.is_loud()),
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
        let answer = |step: &Step<'_>| match code {
            Some(1) if step.is_negated => step.acts().pop(),
            // `xargs` tells so that a command ended with status 1.
            Some(123) if step.program.is_behind("xargs") => step.program.answer(1),
            // Errors are never silent.
            None if self.output.trim().is_empty() => step.program.answer(1),
            _ => step.program.answer(code?),
        };
        let answers = suspects().filter(|step| !step.has_error);
        let answers: Vec<Act> = answers.filter_map(answer).collect();
        let are_alternatives = suspects().skip(1).all(is_alternative);
        let has_ended = refused_programs(self.output).is_empty();
        let are_answers = has_ended && answers.len() == suspects().count();
        if are_answers && are_alternatives && !answers.is_empty() {
            return Told::Done(named_acts(before).into_iter().chain(answers).collect());
        }
        let before = changes(before);
        let may_answer = suspects().count() > 1 && !answers.is_empty();
        let how = match code {
            _ if is_stopped => "timed out".to_owned(),
            Some(code) if may_answer => format!("ended with status {code}"),
            _ => self.call.failure_word().to_owned(),
        };
        let is_one = !are_alternatives || suspects().count() < 2 || code.is_none();
        let about = suspects().take(usize::from(before.is_empty()));
        let about: String = about.map(|step| step.program.about()).collect();
        // What is not read may have failed.
        let is_known = self.read.unread.is_none() || suspects().any(|step| step.has_error);
        let name = if is_known {
            format!("{} {}", name(suspects(), is_one), quote(&about))
        } else {
            "Shell script".to_owned()
        };
        Told::Failed(Failure::new(name.trim_end().to_owned(), how, before))
    }
}

/// Returns the acts of the commands that are worth a name.
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
    let (count, names) = (names.len(), distinct(names.into_iter()));
    let word = if is_one_of_them { " or " } else { " and " };
    match (names.as_slice(), names.len()) {
        ([], _) => "Command".to_owned(),
        (few, 1..4) => {
            let width: usize = few.iter().map(|name| display_width(name)).sum();
            let room = NAME_CELLS - word.len() * (few.len() - 1);
            let share = if width <= room {
                room
            } else {
                room / few.len()
            };
            let few: Vec<String> = few.iter().map(|name| cut_end(name, share)).collect();
            few.join(word)
        }
        _ if is_one_of_them => format!("One of {count} commands"),
        ([first, ..], _) => format!("{}{MORE}", first.trim_end_matches(MORE)),
    }
}

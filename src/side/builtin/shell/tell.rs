//! One line about a command that was run.

use super::acts::{Act, Context, Kind, act, begins_loop, is_filter};
use super::description::{in_the_past, lowered_first};
use super::evidence::{Evidence, evidence, uncolored};
use super::segments::{Joint, Segment, segments};
use crate::side::builtin::clean::cut;

/// Acts of this rank and above are all told.
const TOLD_TOGETHER: u8 = 78;

/// Acts below this rank say less than a description.
const MINOR: u8 = 69;

/// So much of the end of an output is searched for errors, in bytes.
const SEARCHED_FOR_ERRORS: usize = 3000;

/// A short output of a command that reads is about the command.
const SHORT: usize = 400;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::side::builtin) enum Ending {
    /// With success, as far as its status tells.
    Ok,
    /// With a failure, and this code.
    Failed(Option<i64>),
    /// It goes on.
    InBackground,
    /// It did not run, or not to its end: `declined by user`.
    Refused(&'static str),
}

/// A command and what is known of it.
#[derive(Debug, Clone, Copy)]
pub(in crate::side::builtin) struct Ran<'a> {
    pub(in crate::side::builtin) command: &'a str,
    /// What it was for, told before it ran.
    pub(in crate::side::builtin) description: Option<&'a str>,
    pub(in crate::side::builtin) output: &'a str,
    pub(in crate::side::builtin) ending: Ending,
    pub(in crate::side::builtin) cwd: Option<&'a str>,
}

/// What is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::side::builtin) struct Told {
    /// All of it.
    pub(in crate::side::builtin) phrase: String,
    pub(in crate::side::builtin) verb: String,
    pub(in crate::side::builtin) object: String,
    /// What the output says, e.g. `passed`.
    pub(in crate::side::builtin) finding: String,
    pub(in crate::side::builtin) failed: bool,
    /// Tests, lints or builds were run.
    pub(in crate::side::builtin) is_check: bool,
}

/// What the end of a pipe leaves to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visible {
    /// Everything, or the end.
    End,
    /// The beginning, or what some filter let through.
    Part,
}

/// Tells of a command.
pub(in crate::side::builtin) fn tell(ran: &Ran<'_>) -> Told {
    let output = uncolored(ran.output);
    let context = Context {
        output: &output,
        cwd: ran.cwd,
    };
    let parts = segments(ran.command);
    let acts: Vec<(usize, Act)> = parts
        .iter()
        .enumerate()
        .filter(|(place, part)| {
            !(part.joint == Joint::Pipe && *place > 0 && is_filter(part.program()))
        })
        .filter_map(|(place, part)| Some((place, act(part, context)?)))
        .collect();
    let report = Report {
        ran,
        output: &output,
        parts: &parts,
        acts: &acts,
    };
    report.tell()
}

struct Report<'a> {
    ran: &'a Ran<'a>,
    output: &'a str,
    parts: &'a [Segment],
    acts: &'a [(usize, Act)],
}

impl Report<'_> {
    fn tell(&self) -> Told {
        let told = self.chosen();
        let is_check = told.iter().any(|act| act.kind.is_check());
        let (verb, object) = joined(&told);
        let finish = |phrase: String, finding: &str, failed: bool| Told {
            phrase,
            verb: verb.clone(),
            object: object.clone(),
            finding: finding.to_owned(),
            failed,
            is_check,
        };
        let name = self.name(&told);
        match self.ran.ending {
            Ending::Refused(how) => return finish(format!("{name} {how}"), how, true),
            Ending::InBackground => {
                return finish(format!("Started {name} in background"), "", false);
            }
            Ending::Ok | Ending::Failed(_) => {}
        }
        if self.output.trim_start().starts_with("Command timed out") {
            return finish(format!("{name} timed out"), "timed out", true);
        }
        if let Some(conflicts) = self.conflicts(&name) {
            return finish(conflicts, "conflicts", true);
        }
        if is_check {
            return self.check(&told, &name, finish);
        }
        if let Ending::Failed(code) = self.ran.ending {
            return match self.nothing_found(&told, code) {
                Some(phrase) => finish(phrase, "", false),
                None => finish(format!("{name} failed"), "failed", true),
            };
        }
        let description = self.described(&told);
        let phrase = match &description {
            Some(description) => description.clone(),
            None if told.is_empty() => format!("Ran {}", lowered_first(&name)),
            None => format!("{verb} {object}").trim().to_owned(),
        };
        let finding = told
            .last()
            .map(|act| act.finding.as_str())
            .unwrap_or_default();
        if self.push_was_refused(&told) {
            return finish("git push rejected".to_owned(), "rejected", true);
        }
        if self.tells_errors(&told) {
            return finish(
                format!("{}, errors in output", cut(&phrase, 42)),
                "errors in output",
                true,
            );
        }
        let mut told = if finding.is_empty() || description.is_some() {
            finish(phrase, "", false)
        } else {
            finish(format!("{phrase}, {finding}"), finding, false)
        };
        if description.is_some() {
            told.verb.clear();
            told.object.clear();
        }
        told
    }

    /// The acts that are told: all important ones, else the first of the highest rank.
    fn chosen(&self) -> Vec<Act> {
        let important: Vec<Act> = self
            .acts
            .iter()
            .map(|(_, act)| act)
            .filter(|act| act.rank >= TOLD_TOGETHER)
            .cloned()
            .collect();
        if !important.is_empty() {
            return important;
        }
        let best = self.acts.iter().map(|(_, act)| act.rank).max();
        let first = self.acts.iter().find(|(_, act)| Some(act.rank) == best);
        let Some((_, first)) = first else {
            return Vec::new();
        };
        // Looks at a repository are told together: status, diff and log.
        let same: Vec<Act> = self
            .acts
            .iter()
            .map(|(_, act)| act)
            .filter(|act| {
                act.kind == Kind::Read && act.name.starts_with("git ") && first.kind == Kind::Read
            })
            .cloned()
            .collect();
        if same.len() > 1 && same.len() == self.acts.len() {
            return same;
        }
        vec![first.clone()]
    }

    /// What the command is called where it failed.
    fn name(&self, told: &[Act]) -> String {
        let mut names: Vec<&str> = Vec::new();
        for act in told {
            if !names.contains(&act.name.as_str()) {
                names.push(&act.name);
            }
        }
        let task = self.failed_task();
        match (names.as_slice(), task) {
            (_, Some(task)) if matches!(self.ran.ending, Ending::Failed(_)) => task,
            ([], _) => {
                let program = self.parts.first().map(Segment::program).unwrap_or_default();
                if self.parts.first().is_some_and(begins_loop) {
                    "shell loop".to_owned()
                } else if program.is_empty() {
                    "Command".to_owned()
                } else {
                    cut(program, 30)
                }
            }
            ([one], _) => cut(one, 40),
            (several, _) => cut(&several.join(", "), 40),
        }
    }

    /// The task that a runner of tasks names as the failed one.
    fn failed_task(&self) -> Option<String> {
        self.output.lines().find_map(|line| {
            let (task, rest) = line.strip_prefix('[')?.split_once(']')?;
            rest.trim_start()
                .starts_with("ERROR task failed")
                .then(|| cut(task, 36))
        })
    }

    fn check(&self, told: &[Act], name: &str, finish: impl Fn(String, &str, bool) -> Told) -> Told {
        let kinds: Vec<Kind> = told.iter().map(|act| act.kind).collect();
        let (verb, object) = joined(told);
        let phrase = format!("{verb} {object}");
        let found = evidence(&kinds, self.output);
        let failed = matches!(self.ran.ending, Ending::Failed(_));
        let with = |finding: String, failed: bool| {
            finish(
                format!("{}, {finding}", claim_free(&phrase, told)),
                &finding,
                failed,
            )
        };
        match (found, failed) {
            (Evidence::Failed(Some(count)), _) => with(format!("{count} failed"), true),
            (Evidence::Issues(1), _) => with("1 issue".to_owned(), true),
            (Evidence::Issues(count), _) => with(format!("{count} issues"), true),
            (Evidence::Failed(None), false) => with("failed".to_owned(), true),
            (_, true) if told.len() > 1 && self.failed_task().is_none() => {
                let names: Vec<&str> = told.iter().map(|act| act.name.as_str()).collect();
                finish(format!("Failed: {}", names.join(", ")), "failed", true)
            }
            (_, true) => finish(format!("{name} failed"), "failed", true),
            (Evidence::Passed(count), false) if self.visible() == Visible::End => match count {
                Some(count) if !self.is_truncated() => with(format!("{count} passed"), false),
                _ => with("passed".to_owned(), false),
            },
            (Evidence::NoIssues, false) => with("no issues".to_owned(), false),
            _ if self.is_masked() && has_error_line(self.output) => {
                with("errors in output".to_owned(), true)
            }
            _ => finish(phrase, "", false),
        }
    }

    /// How much of the output of the last act shows.
    fn visible(&self) -> Visible {
        let last = self
            .acts
            .iter()
            .rev()
            .find(|(_, act)| act.kind.is_check())
            .map_or(0, |(place, _)| *place);
        for part in &self.parts[last + 1..] {
            if part.joint != Joint::Pipe {
                break;
            }
            if !matches!(part.program(), "tail" | "tee" | "cat") {
                return Visible::Part;
            }
        }
        Visible::End
    }

    /// Whether the status is that of something else than the act.
    fn is_masked(&self) -> bool {
        let last = self.acts.last().map_or(0, |(place, _)| *place);
        let hidden = |part: &Segment| matches!(part.joint, Joint::Pipe | Joint::Or | Joint::Next);
        self.parts
            .get(last + 1..)
            .unwrap_or_default()
            .iter()
            .any(hidden)
    }

    fn is_truncated(&self) -> bool {
        self.output.contains("lines truncated]") || self.output.contains("[truncated]")
    }

    fn conflicts(&self, name: &str) -> Option<String> {
        let about_git = self
            .acts
            .iter()
            .any(|(_, act)| act.kind == Kind::Repository && act.name.starts_with("git "));
        if !about_git
            || !self.output.contains("CONFLICT (")
                && !self.output.contains("could not apply ")
                && !self.output.contains("Could not apply ")
        {
            return None;
        }
        Some(match self.ran.ending {
            Ending::Failed(_) => format!("{name} failed, conflicts"),
            _ => format!("{name} hit conflicts"),
        })
    }

    /// A search that found nothing ends with code 1.
    fn nothing_found(&self, told: &[Act], code: Option<i64>) -> Option<String> {
        let [only] = told else {
            return None;
        };
        let rest = self.output.trim().trim_start_matches("Exit code 1").trim();
        let is_alone =
            self.acts.len() == 1 && only.kind == Kind::Search && only.verb == "Searched for";
        (is_alone && code == Some(1) && rest.is_empty())
            .then(|| format!("No matches for {}", only.object))
    }

    fn push_was_refused(&self, told: &[Act]) -> bool {
        told.iter().any(|act| act.name == "git push")
            && (self.output.contains("[rejected]") || self.output.contains("! [remote rejected]"))
    }

    /// Whether the output speaks of errors where the status cannot.
    fn tells_errors(&self, told: &[Act]) -> bool {
        let acts = told.iter().any(|act| act.kind.acts()) || told.is_empty();
        if !acts {
            let start = self.output.trim_start();
            return start.len() <= SHORT
                && ["fatal: ", "error: ", "gh: "]
                    .iter()
                    .any(|sign| start.starts_with(sign));
        }
        let runs = told.iter().any(|act| act.kind == Kind::Run);
        (self.is_masked() || runs) && has_error_line(self.output)
    }

    /// The description, where it says more than the acts.
    fn described(&self, told: &[Act]) -> Option<String> {
        let description = self.ran.description?;
        let minor: Vec<&Act> = self
            .acts
            .iter()
            .map(|(_, act)| act)
            .filter(|act| act.rank < MINOR)
            .collect();
        let mut kinds: Vec<&str> = minor.iter().map(|act| act.name.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let is_loop = self.parts.iter().any(begins_loop);
        let only_minor = minor.len() == self.acts.len();
        let is_wide = self.parts.len() >= 7 && self.acts.len() >= 4;
        let reads_data = only_minor
            && self.parts.iter().any(|part| {
                part.joint == Joint::Pipe
                    && matches!(part.program(), "jq" | "python" | "python3" | "node" | "awk")
            });
        let one_look = told.len() > 1;
        let wanted = self.acts.is_empty()
            || is_loop
            || is_wide
            || only_minor && kinds.len() >= 2 && !one_look
            || reads_data
            || told.iter().any(|act| act.vague);
        wanted.then(|| in_the_past(description)).flatten()
    }
}

/// `Built x` says that it was built.
fn claim_free(phrase: &str, told: &[Act]) -> String {
    if told.iter().any(|act| act.verb == "Built") && told.len() == 1 {
        return format!("Ran {}", told[0].name);
    }
    phrase.to_owned()
}

/// Verb and object of several acts: those with the same verb share it.
fn joined(told: &[Act]) -> (String, String) {
    let Some(first) = told.first() else {
        return (String::new(), String::new());
    };
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for act in told {
        match groups.last_mut() {
            Some((verb, objects)) if *verb == act.verb => {
                if !objects.contains(&act.object) {
                    objects.push(act.object.clone());
                }
            }
            _ => groups.push((act.verb.clone(), vec![act.object.clone()])),
        }
    }
    // A push says the branch; what was committed says more.
    let shared = |objects: &[String]| {
        let all_git = objects.len() > 1 && objects.iter().all(|object| object.starts_with("git "));
        if all_git {
            let bare: Vec<String> = objects
                .iter()
                .map(|object| object.trim_start_matches("git ").to_owned())
                .collect();
            return format!("git {}", super::super::label::listed(&bare));
        }
        super::super::label::listed(objects)
    };
    match groups.as_slice() {
        [(verb, objects)] => (verb.clone(), shared(objects)),
        [start @ .., (last_verb, last)] => {
            let head: Vec<String> = start
                .iter()
                .map(|(verb, objects)| format!("{verb} {}", shared(objects)).trim().to_owned())
                .collect();
            let head = head
                .iter()
                .enumerate()
                .map(|(number, part)| {
                    if number == 0 {
                        part.clone()
                    } else {
                        super::lowered_first(part)
                    }
                })
                .collect::<Vec<_>>()
                .join(", ");
            let last = format!("{} {}", super::lowered_first(last_verb), shared(last));
            let whole = format!("{head} and {}", last.trim());
            if crate::text::display_width(&whole) > 58 && start.len() == 1 {
                // The most important of two.
                let best = told.iter().max_by_key(|act| act.rank).unwrap_or(first);
                let other = if best.name == "git push" {
                    told.iter()
                        .find(|act| act.name == "git commit")
                        .unwrap_or(best)
                } else {
                    best
                };
                return (other.verb.clone(), other.object.clone());
            }
            match whole.split_once(' ') {
                Some((verb, object)) => (verb.to_owned(), object.to_owned()),
                None => (whole, String::new()),
            }
        }
        [] => (String::new(), String::new()),
    }
}

/// Signs of an error at the beginning of a line, and within one.
const ERROR_STARTS: &[&str] = &[
    "fatal:",
    "fatal ",
    "error:",
    "error ",
    "error[",
    "traceback",
    "panic:",
    "make: ***",
];
const ERROR_PARTS: &[&str] = &[
    "command not found",
    "no such file or directory",
    "no such file",
    "error task failed",
    "traceback (most recent",
    ": error:",
    "error: ",
];

fn has_error_line(output: &str) -> bool {
    let start = output.len().saturating_sub(SEARCHED_FOR_ERRORS);
    let start = (start..=output.len())
        .find(|at| output.is_char_boundary(*at))
        .unwrap_or_default();
    output[start..].lines().any(|line| {
        let lowered = line.trim_start().to_lowercase();
        ERROR_STARTS.iter().any(|sign| lowered.starts_with(sign))
            || ERROR_PARTS.iter().any(|sign| lowered.contains(sign))
    })
}

//! A command as allow rules see it: as it is written, or as the argument of wrappers.

use super::command_pattern::CommandPattern;
use super::outline::outline;
use super::path_context::PathContext;
use super::pattern::UNKNOWN;
use crate::shell::{CommandPart, PartInput, PartWord, is_connection, is_one_of, program_name};

/// Variables that may be set before a command without making it another one.
const HARMLESS_VARIABLES: &str = "NODE_ENV LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME TZ \
    NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM TERM COLUMNS LINES CI DEBUG RUST_BACKTRACE RUST_LOG GOOS \
    GOARCH CGO_ENABLED PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE";

/// Programs that only a rule without a star allows: what they start is the user's to see.
const UNSEEN: &str = "watch setsid ionice flock";

/// Variables that change which programs later commands start.
const PROGRAM_VARIABLES: [&str; 3] = ["PATH", "LD_PRELOAD", "BASH_ENV"];

/// Builtins that set variables or evaluate their arguments, which can run command substitutions in them: `test -v
/// 'x[$(rm y)]'`.
const EVALUATES: &str = "printf read declare typeset local export readonly let mapfile readarray for select getopts test \
    [ [[ unset wait shift exit return break continue";

/// The spellings of a command; a rule must match one.
pub(super) struct Allowable {
    /// Whether it evaluates text, or opens a file that may be a connection, so that only rules for all commands allow
    /// it.
    is_beyond_rules: bool,
    spellings: Vec<Spelling>,
}

/// A spelling of a command, with gaps for unknown parts.
struct Spelling {
    text: String,
    /// Assignments before it that the rule must name literally.
    set: String,
    /// Whether it starts something that rules with `*` do not see.
    starts_unseen: bool,
}

impl Allowable {
    /// Returns the spellings of a command, given with the commands that it wraps.
    pub(super) fn of(levels: &[CommandPart], context: &PathContext<'_>) -> Self {
        let mut spellings = Vec::new();
        for level in levels {
            for by_value in [true, false] {
                let words = level.words.iter().map(|word| known_text(word, by_value));
                let text = words.collect::<Vec<_>>().join(" ");
                if text.is_empty() || text.starts_with(UNKNOWN) {
                    continue;
                }
                let starts_unseen = starts_unseen(level);
                let assigned = Some(level.assignment_text()).filter(|set| !set.is_empty());
                let without = is_harmlessly_set(level).then(String::new);
                spellings.extend(assigned.into_iter().chain(without).map(|set| Spelling {
                    text: format!("{set}{text}"),
                    set,
                    starts_unseen,
                }));
            }
        }
        spellings.dedup_by(|one, other| one.text == other.text);
        Self {
            is_beyond_rules: levels.iter().any(|level| is_beyond_rules(level, context)),
            spellings,
        }
    }

    /// Whether an allow rule matches.
    pub(super) fn is(&self, pattern: &CommandPattern) -> bool {
        !self.is_beyond_rules
            && self.spellings.iter().any(|known| {
                pattern.begins_with(&known.set)
                    && pattern.covers(&known.text)
                    && (pattern.is_literal() || !known.starts_unseen)
            })
    }
}

impl PathContext<'_> {
    /// Whether the command line may set a variable that changes which programs its commands start: `read PATH < x`.
    pub(super) fn sets_programs(&self) -> bool {
        PROGRAM_VARIABLES.iter().any(|name| self.sets(name))
    }
}

/// Whether none of its assignments can change which command runs.
pub(super) fn is_harmlessly_set(part: &CommandPart) -> bool {
    let mut assignments = part.assignments.iter();
    assignments.all(|assignment| is_one_of(HARMLESS_VARIABLES, &assignment.name))
}

/// Whether the command starts something that rules with `*` do not see.
fn starts_unseen(part: &CommandPart) -> bool {
    let mut words = part.words.iter().filter_map(|word| word.value.as_deref());
    match words.next().map(program_name) {
        Some("find") => part.words.iter().any(|word| {
            let value = word.value.as_deref().unwrap_or("-exec");
            let mut actions = ["-exec", "-ok", "-delete"].iter();
            actions.any(|action| value.starts_with(action))
        }),
        Some(program) => is_one_of(UNSEEN, program),
        None => true,
    }
}

/// Whether a command may run a substitution in a word, or may connect to a server, as in `cat < "$x"`.
fn is_beyond_rules(level: &CommandPart, context: &PathContext<'_>) -> bool {
    let may_connect = |word: &PartWord| {
        let name = outline(word, context);
        !word.text.starts_with("<(") && (name.starts_with(UNKNOWN) || is_connection(&name))
    };
    let is_plain = |word: &PartWord| {
        let value = word.value.as_deref();
        value.is_some_and(|value| !value.starts_with('-') && !value.contains(['$', '`']))
    };
    // A later evaluation runs substitutions in an index.
    let may_substitute = || {
        context.script().contains('[')
            || level.input != PartInput::Other
            || !level.assignments.is_empty()
            || !level.words.iter().skip(1).all(is_plain)
    };
    context.sets_programs()
        || is_one_of(EVALUATES, level.program().unwrap_or_default()) && may_substitute()
        || level.reads().any(may_connect)
}

/// Returns the word as matched by allow rules: its source text or its value. Only `*` covers a part
/// known at run time, and whitespace inside a word does not separate words.
fn known_text(word: &PartWord, by_value: bool) -> &str {
    match word.value.as_deref() {
        None => "\x02",
        Some(value) if by_value && !value.is_empty() && !value.contains(char::is_whitespace) => {
            value
        }
        Some(_) => &word.text,
    }
}

//! The spellings of a command that allow rules are matched against.

use super::command_pattern::CommandPattern;
use super::outline::outline;
use super::path_context::PathContext;
use super::pattern::{UNKNOWN, UNKNOWN_WORD};
use crate::shell::{CommandPart, PartInput, PartWord, is_connection, is_one_of, program_name};

/// Variables that may be set before a command without making it another one.
const HARMLESS_VARIABLES: &str = "NODE_ENV LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME TZ \
    NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM TERM COLUMNS LINES CI DEBUG RUST_BACKTRACE RUST_LOG GOOS \
    GOARCH CGO_ENABLED PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE";

/// Programs that start other programs out of sight of the user, so that only a rule without a star allows them.
const EXACT_RULE_PROGRAMS: [&str; 4] = ["watch", "setsid", "ionice", "flock"];

/// Variables that change which programs later commands start.
const LOOKUP_VARIABLES: [&str; 3] = ["PATH", "LD_PRELOAD", "BASH_ENV"];

/// Builtins that set variables or evaluate their arguments, which runs the command substitutions in an index:
/// `test -v 'x[$(rm y)]'`.
const EVALUATING_BUILTINS: &str = "printf read declare typeset local export readonly let mapfile readarray for select getopts test \
    [ [[ unset wait shift exit return break continue";

/// The spellings of a command. An allow rule must match one of them.
pub(super) struct Allowable {
    /// Whether only rules for all commands allow it, since it may evaluate a text or open a connection.
    needs_blanket_rule: bool,
    spellings: Vec<Spelling>,
}

/// A spelling of a command, with gaps for unknown parts.
struct Spelling {
    text: String,
    /// The assignments at the start of the text, which the rule must name literally.
    assignments: String,
    /// Whether only a rule without a star allows it.
    needs_exact_rule: bool,
}

impl Allowable {
    /// Creates the spellings of a command. `levels` are the command and the commands that it wraps, outermost first.
    pub(super) fn new(levels: &[CommandPart], context: &PathContext<'_>) -> Self {
        let mut spellings = Vec::new();
        for level in levels {
            for by_value in [true, false] {
                let words = level.words.iter().map(|word| spell_word(word, by_value));
                let text = words.collect::<Vec<_>>().join(" ");
                if text.is_empty() || text.starts_with(UNKNOWN) {
                    continue;
                }
                let needs_exact_rule = needs_exact_rule(level);
                let written = Some(level.assignment_text()).filter(|text| !text.is_empty());
                let omitted = has_harmless_assignments(level).then(String::new);
                let prefixes = written.into_iter().chain(omitted);
                spellings.extend(prefixes.map(|assignments| Spelling {
                    text: format!("{assignments}{text}"),
                    assignments,
                    needs_exact_rule,
                }));
            }
        }
        spellings.dedup_by(|spelling, previous| spelling.text == previous.text);
        let mut levels = levels.iter();
        Self {
            needs_blanket_rule: levels.any(|level| needs_blanket_rule(level, context)),
            spellings,
        }
    }

    /// Whether the pattern of an allow rule matches.
    pub(super) fn matches(&self, pattern: &CommandPattern) -> bool {
        !self.needs_blanket_rule
            && self.spellings.iter().any(|spelling| {
                pattern.text.starts_with(&spelling.assignments)
                    && pattern.covers(&spelling.text)
                    && (pattern.wildcard.count_stars() == 0 || !spelling.needs_exact_rule)
            })
    }
}

impl PathContext<'_> {
    /// Whether the command line may set a variable that changes which programs its commands start: `read PATH < x`.
    pub(super) fn may_set_program_lookup(&self) -> bool {
        LOOKUP_VARIABLES.iter().any(|name| self.may_set(name))
    }
}

/// Whether no assignment of a command can change which command runs.
pub(super) fn has_harmless_assignments(part: &CommandPart) -> bool {
    let mut assignments = part.assignments.iter();
    assignments.all(|assignment| is_one_of(HARMLESS_VARIABLES, &assignment.name))
}

/// Whether only a rule without a star allows a command.
fn needs_exact_rule(part: &CommandPart) -> bool {
    let mut words = part.words.iter().filter_map(|word| word.value.as_deref());
    match words.next().map(program_name) {
        Some("find") => part.words.iter().any(|word| {
            let value = word.value.as_deref().unwrap_or("-exec");
            let mut actions = ["-exec", "-ok", "-delete"].iter();
            actions.any(|action| value.starts_with(action))
        }),
        Some(program) => EXACT_RULE_PROGRAMS.contains(&program),
        None => true,
    }
}

/// Whether only rules for all commands allow a command, since it may run a substitution in a word or connect
/// to a server: `cat < "$x"`.
fn needs_blanket_rule(level: &CommandPart, context: &PathContext<'_>) -> bool {
    let may_connect = |word: &PartWord| {
        let file = outline(word, context);
        !word.text.starts_with("<(") && (file.starts_with(UNKNOWN) || is_connection(&file))
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
    context.may_set_program_lookup()
        || is_one_of(EVALUATING_BUILTINS, level.program().unwrap_or_default()) && may_substitute()
        || level.input_targets().any(may_connect)
}

/// Returns a word as allow rules match it: its source text, or its value if that has no whitespace, which would
/// separate words. Only `*` covers a word known at run time.
fn spell_word(word: &PartWord, by_value: bool) -> &str {
    match word.value.as_deref() {
        None => UNKNOWN_WORD,
        Some(value) if by_value && !value.is_empty() && !value.contains(char::is_whitespace) => {
            value
        }
        Some(_) => &word.text,
    }
}

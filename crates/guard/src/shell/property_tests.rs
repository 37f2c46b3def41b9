//! Properties of all command lines.

use std::time::Duration;

use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};

use super::analyse;
use crate::sample::sample;

/// Returns the processor time of this thread, which a busy machine does not change.
pub(crate) fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap()
}

/// Pieces of command lines, harmless or not.
const PIECES: &[&str] = &[
    "ls",
    "cat",
    "rm",
    "echo",
    "git",
    "log",
    "status",
    "sed",
    "awk",
    "find",
    "sort",
    "xargs",
    "grep",
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\t",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    ">>",
    "<(",
    ">(",
    "<<EOF\n",
    "EOF\n",
    "<<<",
    "'",
    "\"",
    "`",
    "$(",
    "$((",
    "))",
    "${",
    "x",
    "$x",
    "\\",
    "#",
    "*",
    "?",
    "[",
    "]",
    "[[",
    "]]",
    "!",
    "~",
    "=",
    "a=",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "while ",
    "case x in ",
    "esac",
    ";;",
    "-",
    "--",
    "-o",
    "-n",
    "-exec",
    "touch",
    "/dev/null",
    "2>&1",
    "\u{a0}",
    "é",
    "time ",
    "function ",
    "{a,b}",
    "@{1}",
    "$'",
    "\\'",
];

/// Accepted commands.
const ACCEPTED: &[&str] = &[
    "ls -la",
    "cat a | wc -l",
    "git status",
    "for f in *.txt; do echo \"$f\"; done",
    "if [ -f a ]; then cat a; fi",
    "(cd a && ls)",
    "echo \"$(ls)\"",
    "cat <<'EOF'\ntext\nEOF",
    "cat <<EOF\ntext\nEOF",
    "ls # comment",
    "case x in a) ls ;; esac",
    "sed -n '1,5p' a",
    "awk '{print $1}' a",
    "x=1; echo $x",
    "while read -r l; do echo \"$l\"; done < a",
    "! grep x a",
    "[[ -f a && b == c ]]",
    "timeout 5 ls",
    "cat <<'EOF' | grep x\ntext\nEOF",
    "ls 2>/dev/null",
    "{ ls; pwd; }",
    "find . -name '*.rs' | xargs grep -l x",
    "echo 'a\nb'",
];

fn is_accepted(command: &str) -> bool {
    analyse(command).verdict.is_read_only()
}

#[test]
fn accepted_commands_are_accepted() {
    for command in ACCEPTED {
        assert!(is_accepted(command), "{command}: {}", analyse(command).why);
    }
}

/// A command that is appended to an accepted one so that bash runs it must be found.
#[test]
fn commands_after_an_accepted_command_are_found() {
    for command in ACCEPTED {
        for more in [
            "\ntouch x",
            "\n\n\ttouch x\n",
            "\n(touch x)",
            "\n: $(touch x)",
            "\n>x",
            "\nx() { ls; }",
        ] {
            let longer = format!("{command}{more}");
            assert!(!is_accepted(&longer), "{longer}");
        }
    }
}

/// A writer next to a command, at every position at which bash starts a new command.
#[test]
fn commands_between_accepted_commands_are_found() {
    let outside = |command: &str, index: usize| {
        // Between words outside quotes, here-documents and brackets.
        let before = command.get(..index).unwrap_or_default();
        before.matches('\'').count() % 2 == 0
            && before.matches('"').count() % 2 == 0
            && !before.contains("<<")
            && !before.contains('#')
            && !before.contains("[[")
    };
    for command in ACCEPTED {
        for (index, _) in command.match_indices(' ') {
            for operator in [";", "&&", "||", "|", "&"] {
                let (before, after) = command.split_at(index);
                let changed = format!("{before} {operator} touch x {operator} {after}");
                if outside(command, index) {
                    assert!(!is_accepted(&changed), "{changed}");
                }
            }
        }
    }
}

/// Nesting and repetition.
const UNITS: &[&str] = &[
    "$(",
    "`",
    "(",
    "{ ",
    "<(",
    "${a:-",
    "$((",
    "'\"",
    "[[ a && ",
    "if ls; then ",
    "for i in a; do ",
    "case x in y) ",
    "cat <<A\n",
    "<a ",
    "{a,",
    "&&||;;",
    ") } fi ",
    "ls | ",
    "ls;",
    "a=1 ",
    "xargs ",
    "\"$(",
    "$",
    "a[",
    "!",
    "! ",
    "\\ ",
    "#\n",
    "'",
    "f() { ",
    "ls {}{}",
    "ls $(a) ",
    "echo $( ls; ",
    "a & ",
    ">a ",
    "b >a; ",
    "b >a && ",
    "export a=$(b); ",
    "[[ $(a) ]]; ",
    "cat <<A\n$(b)\nA\n",
    "case $(a) in b) c;; esac; ",
    "a \\\n ",
];

/// Checks that each unit, repeated to a length in bytes, is analysed within a bound that quadratic time would exceed by
/// far.
fn check_repeated_units(length: usize, units: &[&str], bound: Duration) {
    for unit in units {
        for tail in ["", "ls", ")"] {
            let mut command = unit.repeat(length / unit.len() - 1);
            command.push_str(tail);
            let begun = cpu_time();
            let _ = analyse(&command);
            let took = cpu_time().saturating_sub(begun);
            assert!(took < bound, "{unit:?} {tail:?}: {took:?}");
        }
    }
}

#[test]
fn no_input_takes_long() {
    let units: Vec<&str> = sample(UNITS, 4, |_| ()).into_iter().copied().collect();
    check_repeated_units(16 * 1024, &units, Duration::from_secs(2));
}

#[test]
fn no_long_input_takes_long() {
    let units: Vec<&str> = UNITS.iter().step_by(5).copied().collect();
    let units = sample(units, 4, |_| ());
    check_repeated_units(1024 * 1024, &units, Duration::from_secs(4));
}

#[test]
fn long_commands_are_not_analysed() {
    let long = format!("ls {}", "a".repeat(64 * 1024));
    assert!(!is_accepted(&long));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_text_panics(command in "\\PC{0,80}|[ -~\n\t]{0,120}") {
        let _ = analyse(&command);
    }

    #[test]
    fn spans_are_text(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..14)) {
        let command = pieces.concat();
        let analysis = analyse(&command);
        if let Some(span) = analysis.span {
            prop_assert!(command.get(span).is_some());
        }
        prop_assert!(!analysis.why.is_empty());
        prop_assert!(!analysis.why.contains('\n'));
    }

    /// Bash runs an appended line, unless the text before it is incomplete and thus not accepted.
    #[test]
    fn another_line_is_always_seen(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..14)) {
        let command = pieces.concat();
        if is_accepted(&command) {
            let longer = format!("{command}\ntouch x");
            prop_assert!(!is_accepted(&longer), "{}", longer);
        }
    }
}

/// The scanner of the grammar crashes on some of these.
#[test]
fn characters_beyond_ascii_are_harmless() {
    for letter in (0x80..0x2_0000_u32).step_by(31).filter_map(char::from_u32) {
        let _ = analyse(&format!(
            "{letter}\\{letter} {{{letter}\"$x{letter}<{letter}`{letter}"
        ));
    }
    assert!(is_accepted("grep 'é😀' 'ü.txt' ñ # 漢字"));
}

//! Duration of the analysis of a command line.
//!
//! `cargo bench --bench shell_analysis` prints microseconds for typical commands and milliseconds for expensive
//! inputs: the best of several rounds.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use turnpipe::shell::{Verdict, analyse};

const TYPICAL: &[&str] = &[
    "ls -la",
    "git status --short",
    "git log --oneline -5 -- src",
    "grep -rn 'fn main' src | head -20",
    "find . -name '*.rs' -not -path './target/*' | xargs wc -l | sort -n | tail -5",
    "cd src && cat lib.rs | sed -n '1,40p'",
    "for f in *.toml; do echo \"== $f\"; head -3 \"$f\"; done",
    "cat <<'EOF' | jq .name\n{\"name\": \"x\"}\nEOF",
    "awk -F: '$3 >= 1000 {print $1}' /etc/passwd",
    "rm -rf target && cargo build",
];

/// The maximum length of a command line that is analysed.
const SIZE: usize = 16 * 1024;
const ROUNDS: usize = 15;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "typical commands, microseconds")?;
    for command in TYPICAL {
        let best = best_of(200, || analyse(command).verdict);
        let shown = command.replace('\n', "\\n");
        writeln!(out, "{:>9.1}  {shown}", best.as_secs_f64() * 1e6)?;
    }
    writeln!(out, "16 KiB, milliseconds")?;
    for (name, unit, tail) in EXPENSIVE {
        let mut command = unit.repeat(SIZE / unit.len());
        let room = SIZE - tail.len();
        command.truncate(room);
        command.push_str(tail);
        let best = best_of(ROUNDS, || analyse(&command).verdict);
        writeln!(out, "{:>9.2}  {name}", best.as_secs_f64() * 1e3)?;
    }
    Ok(())
}

/// Name, repeated text, and end.
const EXPENSIVE: &[(&str, &str, &str)] = &[
    ("lines", "ls -la\n", ""),
    ("and-lists", "ls && ", "ls"),
    ("pipes", "cat | ", "cat"),
    ("substitutions", "$(", ""),
    ("substitutions in quotes", "echo \"$(", ""),
    ("backticks", "`", ""),
    ("subshells", "(", ""),
    ("groups", "{ ", ""),
    ("process substitutions", "cat <(", ""),
    ("parameters", "${a:-", ""),
    ("arithmetic", "$((", ""),
    ("open quotes", "'\"", ""),
    ("conditions", "[[ a == b && ", ""),
    ("ifs", "if ls; then ", ""),
    ("loops", "for i in a; do ", ""),
    ("cases", "case x in y) ", ""),
    ("here-documents", "cat <<A\n", ""),
    ("redirections", "<a ", "ls"),
    ("braces", "{a,", "ls"),
    ("brackets", "ls [", ""),
    ("one word", "a", ""),
    ("many words", "a ", ""),
    ("assignments", "a=1 ", ""),
    ("operators", "&&||;;", ""),
    ("errors", ") } fi ", ""),
    ("double braces", "ls {}{}", ""),
    ("sed scripts", "sed -n 's/[^/]*$//;", ""),
    ("wrappers", "xargs ", "ls"),
    ("dollars", "$", ""),
    ("emoji", "\u{1f600} ", ""),
];

fn best_of(rounds: usize, mut work: impl FnMut() -> Verdict) -> Duration {
    (0..rounds)
        .map(|_| {
            let begun = Instant::now();
            black_box(work());
            begun.elapsed()
        })
        .min()
        .unwrap_or_default()
}

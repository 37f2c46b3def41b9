//! Random lines of the grammar, run by shells with stub programs: nothing starts that the reader does not list.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may fail anywhere"
)]

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use turnpipe_guard::shell::{CommandLine, CommandPart, parse};

#[path = "../../../tests/skip/mod.rs"]
mod skip;

const PROGRAMS: &[&str] = &["p0", "p1", "p2", "p3"];

/// Words of commands. Those without a known value match any arguments.
const WORDS: &[&str] = &[
    "a",
    "-b",
    "'c d'",
    "\"e f\"",
    "g\\ h",
    "\"$x\"",
    "$x",
    "\"i$x\"",
    "*.none",
    "~/j",
    "k=l",
    "{}",
    "{m,n}",
    "'#'",
    "o#p",
    "\"\"",
    "''",
    "$'q\\tr'",
    "\"$(p3 s)\"",
    "$(p3)",
    "`p3 t`",
    "<(p3 u)",
    "\"${x:-v}\"",
    "${x}",
    "\"$((1+2))\"",
    "!",
    "done",
    "if",
    "[",
    "]",
    "\"`p3`\"",
    "\"it's\"",
    "'a\nb'",
    "\"a \\\" \\\\ b\"",
    "-",
    "--",
    "=",
    "x=y",
    "%",
    "@",
    "HEAD^",
    "HEAD@{1}",
    "a:b",
    "\"$x\"'w'\"$x\"",
    "é",
    "\\$x",
    "\\;",
    "'$(p3)'",
];

const REDIRECTIONS: &[&str] = &[
    "",
    "",
    "",
    "",
    "",
    " >f1",
    " 2>/dev/null",
    " </dev/null",
    " 2>&1",
    " >>f2",
    " <<<w",
    " >/dev/null 2>&1",
    " <<E\nbody p3\nE\n",
    " <<'E'\n$(p3)\nE\n",
    " <<-E\n\tp3\n\tE\n",
    " <<E\n$(p3 y)\nE\n",
];

fn simple() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(prop::sample::select(WORDS), 0..4);
    let program = prop::sample::select(PROGRAMS);
    let assignment = prop::sample::select(&["", "", "", "", "y=1 ", "y='a b' ", "y=$(p3) "][..]);
    let redirection = prop::sample::select(REDIRECTIONS);
    (assignment, program, words, redirection).prop_map(
        |(assignment, program, words, redirection)| {
            let words: String = words.iter().flat_map(|word| [" ", word]).collect();
            format!("{assignment}{program}{words}{redirection}")
        },
    )
}

/// Forms with commands for `@` and `?`.
const FORMS: &[&str] = &[
    "@; ?",
    "@ && ?",
    "@ || ?",
    "@ | ?",
    "@\n?",
    "! @",
    "(@)",
    "(@; ?)",
    "{ @; }",
    "{ @; ?; } >f3",
    "if @; then ?; fi",
    "if @; then p0; else ?; fi",
    "for i in 1 2; do @; done",
    "for i in \"$x\" b; do @; ?; done",
    "case a in a) @;; esac",
    "case a in b) @;; *) ?; esac",
    "case \"$x\" in a|b) @;; (c) ?;; esac",
    "while false; do @; done",
    "until @; do ?; break; done",
    "@ # p0",
    "# p0\n@",
    "x=1; @",
    "@ & ?",
    "p0 \"$(@)\"",
    "p0 $(@ | ?)",
    "p0 `@`",
    "p0 <(@)",
    "@ |& ?",
    "[[ a == b ]] && @",
    "[[ -n \"$(@)\" ]]",
    "@;\n\n?",
    "@ &&\n?",
    "time @",
    "(@) | ?",
    "{ @; } | { ?; }",
    "p0 \\\n a; @",
    "if (@) then ?; fi",
    "( (@) )",
    "@ |\n# comment\n?",
    "while read -r l; do @; done </dev/null",
];

fn line() -> impl Strategy<Value = String> {
    let leaf = simple().boxed();
    leaf.prop_recursive(3, 8, 2, |inner| {
        (prop::sample::select(FORMS), inner.clone(), inner)
            .prop_map(|(form, first, second)| form.replace('?', &second).replace('@', &first))
    })
}

/// Each stub logs its name and arguments with a single write, and succeeds.
const STUB: &str = "#!/bin/sh
line=${0##*/}
for argument do line=\"$line\u{1f}$argument\"; done
printf '%s\\036' \"$line\" >>\"$LOG\"
";

struct Sandbox {
    directory: PathBuf,
    runs: Cell<usize>,
}

impl Sandbox {
    fn new() -> Self {
        let name = format!("turnpipe-reader-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(directory.join("bin")).unwrap();
        fs::create_dir_all(directory.join("work")).unwrap();
        for program in PROGRAMS
            .iter()
            .chain(&["a", "b", "done", "if", "E", "body"])
        {
            let file = directory.join("bin").join(program);
            fs::write(&file, STUB).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self {
            directory,
            runs: Cell::new(0),
        }
    }

    /// Runs a line in a shell. Returns the arguments of the programs that were started.
    fn run(&self, shell: &str, script: &str) -> Vec<Vec<String>> {
        // A process substitution may outlive its line.
        self.runs.set(self.runs.get() + 1);
        let log = self.directory.join(format!("log{}", self.runs.get()));
        fs::write(&log, "").unwrap();
        let path = skip::search_path();
        let mut directories = std::env::split_paths(&path);
        let program = directories.find(|directory| directory.join(shell).is_file());
        let mut command = Command::new(program.unwrap().join(shell));
        if shell == "zsh" {
            command.arg("-f");
        }
        // Later lines wait for what runs in the background.
        let _ = command
            .args(["-c", &format!("{script}\nwait")])
            .current_dir(self.directory.join("work"))
            .env_clear()
            .env("PATH", self.directory.join("bin"))
            .env("LOG", &log)
            .env("HOME", "/nowhere")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let log = fs::read_to_string(&log).unwrap();
        let calls = log.split_terminator('\u{1e}');
        calls
            .map(|call| call.split('\u{1f}').map(str::to_owned).collect())
            .collect()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Whether a command of the line may start a program with these arguments.
fn is_listed(line: &CommandLine, call: &[String]) -> bool {
    let mut levels = line.commands.iter().flat_map(CommandPart::levels);
    levels.any(|command| {
        let values = command.words.iter().map(|word| word.value.as_deref());
        matches(&values.collect::<Vec<_>>(), call)
    })
}

/// Whether arguments are those of words, of which unknown ones are any arguments.
fn matches(words: &[Option<&str>], call: &[String]) -> bool {
    match words.split_first() {
        None => call.is_empty(),
        Some((Some(value), rest)) => match call.split_first() {
            Some((first, call)) => first == value && matches(rest, call),
            None => false,
        },
        Some((None, rest)) => (0..=call.len()).any(|taken| matches(rest, &call[taken..])),
    }
}

#[test]
fn shells_start_only_the_commands_that_are_listed() {
    let shells = ["bash", "zsh", "dash"].map(|shell| (shell, !skip::is_missing(shell)));
    let sandbox = Sandbox::new();
    let (read, portable) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let cases = runner.config().cases;
    let outcome = runner.run(&line(), |script| {
        let line = parse(&script);
        read.set(read.get() + u32::from(line.unread.is_none()));
        portable.set(portable.get() + u32::from(line.is_portable(&script)));
        for (shell, is_installed) in shells {
            let is_read = line.unread.is_none() && (shell == "bash" || line.is_portable(&script));
            if !is_installed || !is_read {
                continue;
            }
            for call in sandbox.run(shell, &script) {
                prop_assert!(
                    is_listed(&line, &call),
                    "{shell}: {call:?} in {script:?}: {line:#?}"
                );
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    assert!(
        read.get() * 4 > cases && portable.get() * 40 > cases,
        "{read:?} {portable:?}"
    );
}

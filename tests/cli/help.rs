//! Help texts, and completion scripts in their shells.

use clap::ValueEnum;
use turnpipe::commands::Status;

use crate::skip::is_missing;
use crate::turnpipe::{run, shell};

#[test]
fn help_is_also_a_command() {
    for (command, option) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "run-tools"], &["run-tools", "--help"]),
        (&["help", "session", "list"], &["session", "list", "--help"]),
    ] {
        assert_eq!(run(command, b""), run(option, b""), "{command:?}");
    }
    assert_eq!(run(&["help", "nothing"], b"").status, Some(2));
}

#[test]
fn help_lists_every_exit_status() {
    let table = run(&["help", "exit-status"], b"").stdout;
    let mut listed: Vec<u8> = table
        .lines()
        .filter_map(|line| line.get(2..11))
        .flat_map(|column| column.split(','))
        .filter_map(|number| number.trim().parse().ok())
        .collect();
    listed.sort_unstable();
    let outcomes = Status::value_variants().iter();
    let mut statuses: Vec<u8> = outcomes.map(|outcome| outcome.code()).collect();
    statuses.sort_unstable();
    assert_eq!(listed, statuses);
}

/// Returns the words of all commands, from the manual pages; none for `turnpipe` itself.
pub(crate) fn commands() -> Vec<Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    assert_eq!(run(&["man", path], b"").status, Some(0));
    let pages = std::fs::read_dir(path).unwrap();
    let names = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    let mut listed = Vec::new();
    for name in names {
        let page = std::fs::read_to_string(dir.path().join(&name)).unwrap();
        let usage = page.split(".SH SYNOPSIS\n").nth(1).unwrap();
        let usage = usage
            .replace("\\-", "-")
            .replace("\\fB", "")
            .replace("\\fR", "");
        let words = usage.lines().next().unwrap().split(' ').skip(1);
        let words = words.take_while(|word| word.starts_with(|first: char| first.is_lowercase()));
        listed.push(words.map(str::to_owned).collect());
    }
    listed
}

#[test]
fn short_help_fits_one_screen() {
    let mut long = Vec::new();
    for command in commands() {
        let mut program = crate::turnpipe::command();
        let output = program
            .args(&command)
            .arg("-h")
            .env("COLUMNS", "80")
            .output();
        let help = String::from_utf8(output.unwrap().stdout).unwrap();
        let widest = help.lines().map(|line| line.chars().count()).max();
        if help.lines().count() > 24 || widest > Some(80) {
            long.push((command.join(" "), help.lines().count(), widest));
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

/// A session with a title that no shell should run.
const HOSTILE: &str = r#"mkdir -p .claude/projects/p
cat > .claude/projects/p/abc-session.jsonl <<'END'
{"type":"user","uuid":"1","parentUuid":null,"sessionId":"abc-session","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"hi"}}
{"type":"custom-title","sessionId":"abc-session","customTitle":"a:b$(touch ran)`touch ran`';touch ran;'"}
END"#;

/// The text typed before TAB, and some of the offered completions.
const COMPLETIONS: [(&str, &[&str]); 12] = [
    ("turnpipe show ", &["latest", "abc-session"]),
    ("turnpipe title ", &["latest", "abc-session"]),
    ("turnpipe schema ", &["tool_result", "title"]),
    ("turnpipe turn --model ", &["builtin", "openai:gpt-5-mini"]),
    ("turnpipe ", &["run-tools", "title", "recap", "session"]),
    ("turnpipe session ", &["list", "show", "tail", "stats"]),
    ("turnpipe run-tools --emit ", &["result", "turn"]),
    ("turnpipe run-tools --schedule ", &["access", "greedy"]),
    (
        "turnpipe run-tools --permission-mode ",
        &["bypassPermissions", "default"],
    ),
    ("turnpipe title --style ", &["kebab", "sentence"]),
    ("turnpipe show --output ", &["jsonl", "md", "text"]),
    (
        "turnpipe check text --kind ",
        &["label", "recap", "terminal", "title"],
    ),
];

/// Prints the completions of bash.
const BASH: &str = r#"
source <(turnpipe completions bash)
read -ra COMP_WORDS <<<"$TYPED"
[[ $TYPED == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$TYPED COMP_POINT=${#TYPED} COMP_TYPE=9
_clap_complete_turnpipe turnpipe "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// Types into an interactive zsh, and prints its output until all of `$WANTED` was shown.
const ZSH: &str = r#"
turnpipe completions zsh > _turnpipe
timeout 60 zsh -f -c '
  zmodload zsh/zpty
  zpty shell zsh -f -i
  zpty -w shell "PS1= LISTMAX=999; stty cols 200; autoload -U compinit; compinit -D -u"
  zpty -w shell "source ./_turnpipe; print be\"\"gun"
  shown=
  until [[ $shown == *begun* ]]; do zpty -r shell line; shown+=$line; done
  zpty -n -w shell "$TYPED"$'"'\t\t'"'
  shown=
  for word in ${=WANTED}; do
    until [[ $shown == *$word* ]]; do zpty -r shell line; shown+=$line; done
  done
  print -r -- "$shown"
  zpty -d shell'
"#;

/// Prints the completions of fish.
const FISH: &str = r#"
turnpipe completions fish > turnpipe.fish
fish --no-config -c 'source turnpipe.fish; complete -C "$TYPED"' | cut -f1
"#;

#[test]
fn every_shell_completes_commands_and_values() {
    for (name, script) in [("bash", BASH), ("zsh", ZSH), ("fish", FISH)] {
        if is_missing(name) {
            continue;
        }
        for (typed, expected) in COMPLETIONS {
            let folder = tempfile::tempdir().unwrap();
            let wanted = expected.join(" ");
            let offered = shell(&format!(
                "cd {}; export PATH=${{TURNPIPE%/*}}:$PATH HOME=$PWD TERM=dumb TYPED='{typed}' WANTED='{wanted}'\n\
                 {HOSTILE}\n{script}\n[ -e ran ] || echo complete",
                folder.path().display()
            ));
            assert!(
                offered.stdout.ends_with("complete\n"),
                "{name}: {offered:?}"
            );
            for value in expected {
                let is_offered = offered.stdout.contains(value);
                assert!(is_offered, "{name}: {typed}: {value}: {offered:?}");
            }
        }
    }
}

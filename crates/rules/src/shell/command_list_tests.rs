//! Tests of the lenient parser.

use proptest::prelude::*;

use super::*;
use crate::shell::property_tests::cpu_time;

/// Returns the words of each command, with `|` between them.
fn words(script: &str) -> Vec<String> {
    let list = simple_commands(script);
    let commands = list.commands.iter();
    commands.map(|command| command.words.join("|")).collect()
}

#[test]
fn commands_are_split() {
    let rows: &[(&str, &[&str])] = &[
        (
            "cd x && cargo test 2>&1 | tail -5",
            &["cd|x", "cargo|test", "tail|-5"],
        ),
        ("A=1 B= sudo -u me jest", &["sudo|-u|me|jest"]),
        ("grep \"<<<<<<\" a.go", &["grep|<<<<<<|a.go"]),
        ("cat > f <<'EOF'\nrm -rf /\nEOF\nls", &["cat", "ls"]),
        ("cat <<-A <<B\n1\n\tA\n2\nB\nls", &["cat", "ls"]),
        (
            "git commit -m \"$(cat <<'EOF'\nx; y\nEOF\n)\"",
            &["git|commit|-m|$()"],
        ),
        ("a # comment; b\nc", &["a", "c"]),
        ("x=$(go env A) && grep 'a b' \"$x\"", &["", "grep|a b|$x"]),
        ("a=(b c) d", &["d"]),
        ("a \\\n b\\\nc", &["a|bc"]),
        ("(cd x; ls) & wait", &["cd|x", "ls", "wait"]),
        ("diff <(sort a) b", &["diff|$()|b"]),
        ("echo ${x:-a;b} \"$((1 + x))\"", &["echo|${x:-a;b}|$()"]),
        ("echo *.rs {a,b} ~/c", &["echo|*.rs|{a,b}|~/c"]),
        ("echo $'a\\tb' $\"c\" `d e`", &["echo|a\tb|$c|$()"]),
        ("grep 'open it", &["grep|'open|it"]),
        ("echo $(open it", &["echo|$", "open|it"]),
        ("a >&2 2>f <<< x", &["a"]),
        ("> x", &[""]),
        ("", &[]),
    ];
    for (script, expected) in rows {
        assert_eq!(words(script), *expected, "{script}");
    }
}

#[test]
fn operators_and_redirections_are_recorded() {
    let written = simple_commands("cat > a.txt 2>b.txt <<EOF\nEOF").commands;
    assert_eq!(written[0].output.as_deref(), Some("a.txt"));
    assert!(written[0].has_here_document);
    let chain = simple_commands("a || b |& c\nd &&\n e & f; (g | h)").commands;
    let follows: Vec<Follows> = chain.iter().map(|command| command.follows).collect();
    assert_eq!(
        follows,
        [
            Follows::Next,
            Follows::Or,
            Follows::Pipe,
            Follows::Next,
            Follows::And,
            Follows::Background,
            Follows::Next,
            Follows::Pipe
        ]
    );
}

#[test]
fn uncertain_lines_are_marked() {
    for script in [
        "a b 'c' \"$d\" && e >f 2>&1 | g; h & i # j",
        "A=1",
        "a\n\n\nb\n",
        "a &",
        "a <(b | c)",
    ] {
        assert!(simple_commands(script).certain, "{script}");
    }
    for script in [
        "a $(b)",
        "a `b`",
        "a ${b}",
        "(a)",
        "{ a; }",
        "if a; then b; fi",
        "a <<E\nE",
        "a 'b",
        "| a",
        "a &&",
        "a;; b",
        "a >",
        "a <(b",
        "! a",
        "f() { a; }",
    ] {
        assert!(!simple_commands(script).certain, "{script}");
    }
}

/// Repetitions are parsed in linear time: the bound is far below quadratic time.
#[test]
fn no_input_takes_long() {
    for unit in [
        "$(", "`", "${", "\"$(", "'\"", "<<A ", "a=(", "{a", "$((", "\\\n", "<(", "a[", "&&", "\n",
    ] {
        let script = unit.repeat(64 * 1024);
        let begun = cpu_time();
        let list = simple_commands(&script);
        assert!(
            cpu_time().saturating_sub(begun) < std::time::Duration::from_secs(2),
            "{unit:?}"
        );
        assert!(!list.certain, "{unit:?}");
    }
}

proptest! {
    #[test]
    fn quoted_words_are_restored(words in prop::collection::vec("[^\0]{0,12}", 1..6)) {
        let script = shlex::try_join(words.iter().map(String::as_str)).unwrap();
        let list = simple_commands(&script);
        let found = list.commands.first().map(|command| &command.words);
        if !is_reserved(&words[0]) {
            prop_assert!(list.certain);
        }
        prop_assert_eq!(found, Some(&words));
        prop_assert_eq!(list.commands.len(), 1);
    }

    #[test]
    fn no_text_panics(script in "\\PC{0,60}|[-a-z0-9 '\"$()`|&;<>\\\\\n#={}]{0,60}") {
        let _ = simple_commands(&script);
    }
}

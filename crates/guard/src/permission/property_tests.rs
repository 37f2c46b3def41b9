//! Properties of all rules and calls.

use proptest::prelude::*;

use super::decision_tests::{DIRECTORY, Row};
use turnpipe_core::message::Decision;

const RULES: &[&str] = &[
    "Bash",
    "Bash(npm *)",
    "Bash(npm test)",
    "Bash(rm *)",
    "Bash(rm -rf *)",
    "Bash(git * main)",
    "Bash(cat *)",
    "Bash(cd *)",
    "Bash(* --version)",
    "Read",
    "Read(.env)",
    "Read(src/**)",
    "Read(//etc/**)",
    "Edit",
    "Edit(src/**)",
    "Edit(*.rs)",
    "Edit(~/x)",
    "Write",
];

const COMMANDS: &[&str] = &[
    "npm test",
    "npm 'run' x",
    "rm -rf build",
    "rm -rf /",
    "rm $x",
    "cat .env",
    "cat src/a > out",
    "cd sub",
    "cd /etc",
    "git push origin main",
    "frob --version",
    "sed -i s/a/b/ src/a.rs",
    "echo x > src/a.rs",
    "> out",
    "x=1",
    "PATH=x",
    "timeout 5 npm test",
    "sudo rm x",
    "bash -c 'rm x'",
    "ls",
    "[[ -e x ]]",
    "$x",
];

const MODES: &[&str] = &[
    "default",
    "acceptEdits",
    "plan",
    "dontAsk",
    "auto",
    "bypassPermissions",
];

const JOINED: &[&str] = &[
    "@; #",
    "@ && #",
    "@ || #",
    "@ | #",
    "@\n#",
    "@ & #",
    "echo $(@) \"$(#)\"",
    "{ @; #; }",
    "if @; then #; fi",
    "(@) && (#)",
    "for i in 1 2; do @; #; done",
];

/// Ways to run a command: `@` is the command, `#` the command as one word.
const STARTING: &[&str] = &[
    "timeout 5 @",
    "sudo -u me @",
    "env A=b @",
    "env -S #",
    "env --split-string=#",
    "bash -c #",
    "cat <<< # | bash",
    "echo # | sh -s",
    "eval #",
    "trap # EXIT",
    "npm exec -- @",
    "xargs @",
    "find . -exec @ ;",
    "git -c alias.x=# x",
    "nice -n 3 @",
];

/// Constructs around a command.
const AROUND: &[&str] = &[
    "@",
    "if true; then @; fi",
    "echo $(@)",
    "test -v a$(@)",
    "{ @; } | cat",
    "ls && @",
];

fn choose(from: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    let one = proptest::sample::select(from).prop_map(str::to_owned);
    proptest::collection::vec(one, 0..4)
}

prop_compose! {
    fn call()(
        deny in choose(RULES), ask in choose(RULES), allow in choose(RULES),
        mode in proptest::sample::select(MODES),
        command in proptest::sample::select(COMMANDS),
        path in proptest::sample::select(&["src/a.rs", ".env", "/etc/x", ".git/x", "out"][..]),
        kind in 0..3,
    ) -> Row {
        let path = Some(path.to_owned());
        Row {
            deny, ask, allow,
            mode: Some(mode.to_owned()),
            command: (kind == 0).then(|| command.to_owned()),
            read: path.clone().filter(|_| kind == 1),
            write: path.filter(|_| kind == 2),
            ..Row::default()
        }
    }
}

/// The text before and behind a substitution that bash runs.
const PLACES: &[(&str, &str)] = &[
    ("echo ", ""),
    ("echo ${x:-a #", "}"),
    ("echo \"${#a[", "]}\""),
    ("echo ${#+", "}"),
    ("y=ab; echo ${y/ #/", "}"),
    ("echo $((1 #", "\n))"),
    ("x[1 #", "]=2"),
    ("a=([1]=", " 2)"),
    ("[[ a =~ a( #", ") ]]"),
    ("cat <<E\n${x-", "}\nE"),
    ("cat <<< ", ""),
    ("case ", " in x) ;; esac"),
    ("for i in ", "; do :; done"),
    ("f() { echo ", "; }; f"),
    ("((", "))"),
    ("echo > o", ""),
];

/// Returns the commands of the table of decisions.
fn decision_commands() -> Vec<String> {
    let rows = include_str!("../../../../tests/data/permission/decisions.jsonl").lines();
    let rows = rows.map(|line| serde_json::from_str::<Row>(line).unwrap());
    rows.filter_map(|row| row.command).collect()
}

proptest! {
    #[test]
    fn a_rule_works_in_one_direction(
        mut row in call(),
        rule in proptest::sample::select(RULES),
    ) {
        let before = row.decide().decision;
        row.allow.push(rule.to_owned());
        let with_allowance = row.decide().decision;
        prop_assert!(with_allowance <= before, "{row:?}");
        // This mode also denies calls that no rule decides.
        let is_denied = before == Decision::Deny && row.mode.as_deref() != Some("dontAsk");
        prop_assert!(!is_denied || with_allowance == Decision::Deny, "{row:?}");
        row.allow.pop();
        row.ask.push(rule.to_owned());
        prop_assert!(row.decide().decision >= before, "{row:?}");
        row.ask.pop();
        row.deny.push(rule.to_owned());
        prop_assert!(row.decide().decision >= before, "{row:?}");
    }

    #[test]
    fn joined_commands_are_not_allowed_unless_each_is(
        mut row in call(),
        one in proptest::sample::select(COMMANDS),
        other in proptest::sample::select(COMMANDS),
        form in proptest::sample::select(JOINED),
    ) {
        (row.read, row.write) = (None, None);
        let mut decision = |command: &str| {
            row.command = Some(command.to_owned());
            row.decide().decision
        };
        let first = decision(one);
        // After `cd`, the same words name other files.
        let is_elsewhere = one.starts_with("cd ");
        let strictest = if is_elsewhere { first } else { first.max(decision(other)) };
        let joined = form.replace('@', one).replace('#', other);
        let together = decision(&joined);
        // A command that is denied is denied in every form; otherwise its form may affect the decision.
        prop_assert!(together >= strictest, "{joined:?}: {together:?} < {strictest:?}, {row:?}");
    }

    #[test]
    fn a_denied_file_is_denied_under_every_name(
        file in proptest::sample::select(&["src/a.rs", ".env", "sub/.env"][..]),
        form in 0..8,
        with in proptest::sample::select(&["cat @", "cat < @", "ls; head -3 @", "echo x > @"][..]),
    ) {
        let absolute = format!("{DIRECTORY}/{file}");
        let mut row = Row {
            deny: vec!["Read(.env)".to_owned(), "Read(src/**)".to_owned()],
            ..Row::default()
        };
        let name = match form {
            0 => file.to_owned(),
            1 => absolute.clone(),
            2 => format!("./x/../{file}"),
            3 => format!("~/proj/{file}"),
            4 => format!("$HOME/proj/{file}"),
            5 => format!("\"{file}\""),
            6 => format!("../proj/./{file}"),
            _ => {
                row.links.insert("/home/u/proj/link".into(), Some(absolute.into()));
                "link".to_owned()
            }
        };
        row.command = Some(with.replace('@', &name));
        prop_assert_eq!(row.decide().decision, Decision::Deny, "{:?}", row.command);
    }

    #[test]
    fn a_denied_command_is_never_allowed_however_it_is_started(
        forms in proptest::collection::vec(proptest::sample::select(STARTING), 0..4),
        around in proptest::sample::select(AROUND),
        command in proptest::sample::select(&["rm x", "/bin/rm -f x", "r\"\"m x", "{rm,x}"][..]),
    ) {
        let command = forms.iter().chain([&around]).fold(command.to_owned(), |command, form| {
            let quoted = shlex::try_quote(&command).unwrap().into_owned();
            form.replace('@', &command).replace('#', &quoted)
        });
        let row = Row {
            deny: vec!["Bash(rm *)".to_owned()],
            allow: vec!["Bash".to_owned()],
            command: Some(command),
            ..Row::default()
        };
        prop_assert!(row.decide().decision > Decision::Allow, "{:?}", row.command);
    }

    /// The hook must not crash: without its decision, the agent proceeds.
    #[test]
    fn no_letter_hides_a_denied_command(
        line in prop::sample::select(decision_commands()),
        letter in prop::sample::select(&["é", "漢", "😀", "\u{301}", "\u{a0}", "ß", "\u{200b}", "＝"][..]),
        at in any::<prop::sample::Index>(),
        replaces in any::<bool>(),
    ) {
        let mut letters: Vec<String> = line.chars().map(String::from).collect();
        letters.push(String::new());
        let at = at.index(letters.len());
        letters.splice(at..at + usize::from(replaces), [letter.to_owned()]);
        let row = Row {
            allow: vec!["Bash".to_owned()],
            deny: vec!["Bash(rm *)".to_owned(), "Read(.env)".to_owned(), "Edit(src/**)".to_owned()],
            command: Some(format!("cat .env\n{}", letters.concat())),
            ..Row::default()
        };
        prop_assert_eq!(row.decide().decision, Decision::Deny, "{:?}", row.command);
    }

    /// Bash runs `rm` in each of these.
    #[test]
    fn no_expansion_hides_a_denied_command(
        before in prop::sample::select(&["", "a=(1); ", "f() { :; }; ", "((1)); "][..]),
        place in prop::sample::select(PLACES),
        inside in prop::sample::select(&[
            "$(rm v)",
            "`rm v`",
            "$(case x in x) rm v;; esac)",
            "$(echo a # )\nrm v)",
            "$(cat <<'E'\n)\nE\nrm v)",
            "$(g() { case x in x) rm v;; esac; }; g)",
        ][..]),
    ) {
        let row = Row {
            allow: vec!["Bash".to_owned()],
            deny: vec!["Bash(rm:*)".to_owned()],
            command: Some(format!("{before}{}{inside}{}", place.0, place.1)),
            ..Row::default()
        };
        prop_assert_ne!(row.decide().decision, Decision::Allow);
    }
}

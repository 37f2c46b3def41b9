//! Tests of the commands of command lines: rows, properties, and commands in every position where
//! bash runs them.

use proptest::prelude::*;
use serde::Deserialize;

use super::table_tests::{READ_ONLY, rows};
use super::{CommandPart, PartInput, PartWord, Verdict, analyse, parse};

fn command_parts(script: &str) -> Option<Vec<CommandPart>> {
    Some(analyse(script).line.all_commands()?.to_vec())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    script: String,
    /// Source text of each command; null if the command line cannot be parsed.
    parts: Option<Vec<String>>,
    /// For all commands, concatenated.
    #[serde(default)]
    assignments: Vec<String>,
    #[serde(default)]
    reads: Vec<Option<String>>,
    #[serde(default)]
    writes: Vec<Option<String>>,
}

fn part_texts(script: &str, parts: &[CommandPart]) -> Vec<String> {
    parts
        .iter()
        .map(|part| script[part.span.clone()].to_owned())
        .collect()
}

fn values<'words>(
    words: impl Iterator<Item = &'words PartWord>,
) -> impl Iterator<Item = &'words Option<String>> {
    words.map(|word| &word.value)
}

#[test]
fn scripts_have_the_parts_of_their_row() {
    let mut wrong = Vec::new();
    for line in include_str!("../../../../tests/data/shell/parts.jsonl").lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let parts = command_parts(&row.script);
        let found = parts.clone().unwrap_or_default();
        let texts = parts.map(|parts| part_texts(&row.script, &parts));
        let is_right = texts == row.parts
            && found
                .iter()
                .flat_map(|part| &part.assignments)
                .map(|assignment| &assignment.name)
                .eq(&row.assignments)
            && values(found.iter().flat_map(CommandPart::input_targets)).eq(&row.reads)
            && values(found.iter().flat_map(CommandPart::output_targets)).eq(&row.writes);
        if !is_right {
            wrong.push(format!("{line}\n   {texts:?} {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_of_words_are_known() {
    let script = r#"a 'b c' "d" e\ f $'g\n' "$h" i* {j,k} ~ "~" l$(m)n '' $ {} x=~"#;
    let parts = command_parts(script).unwrap();
    let values: Vec<_> = parts[0]
        .words
        .iter()
        .map(|word| word.value.as_deref())
        .collect();
    let expected = [
        Some("a"),
        Some("b c"),
        Some("d"),
        Some("e f"),
        None,
        None,
        None,
        None,
        None,
        Some("~"),
        None,
        Some(""),
        Some("$"),
        Some("{}"),
        None,
    ];
    assert_eq!(values, expected);
    for word in &parts[0].words {
        assert_eq!(word.text, script[word.span.clone()]);
    }
}

#[test]
fn words_with_alternatives_and_sets_are_known_only_at_run_time() {
    for word in [
        "x{a,b}y", "{1..3}", "{a{b},c}", "{'a',b}", "[ab]c", "a[b", "$'a'", "${x:-a}",
    ] {
        let parts = command_parts(&format!("ls {word}")).unwrap();
        let is_known = parts[0].words[1].value.is_some();
        assert_eq!(is_known, word == "a[b", "{word}");
    }
}

/// Returns the joined words of a wrapped command and the variables assigned for it.
fn inner_command(script: &str) -> Option<String> {
    let inner = command_parts(script)?.first()?.inner_command()?;
    let words = inner.words.iter().map(|word| word.text.as_str());
    let names = inner
        .assignments
        .iter()
        .map(|assignment| assignment.name.as_str());
    Some(names.chain(words).collect::<Vec<_>>().join(" "))
}

#[test]
fn wrappers_are_unwrapped() {
    let rows = [
        ("timeout 5 rm x", Some("rm x")),
        ("timeout -k 5 -s KILL --foreground 10s rm x", Some("rm x")),
        ("timeout --kill-after=5 10 rm x > y", Some("rm x")),
        ("timeout $x rm y", None),
        ("timeout 5", None),
        ("timeout --unheard-of 5 rm x", None),
        ("nice rm x", Some("rm x")),
        ("nice -n 5 rm x", Some("rm x")),
        ("nice -n -5 rm x", Some("rm x")),
        ("nice -5 rm x", Some("rm x")),
        ("nice $x rm y", None),
        ("nohup rm x", Some("rm x")),
        ("nohup -- rm x", Some("rm x")),
        ("stdbuf -oL -e 0 --input=0 rm x", Some("rm x")),
        ("time -p rm x", Some("rm x")),
        ("time A=1 rm x", Some("A rm x")),
        ("A=1 nice rm x", Some("A rm x")),
        ("command rm x", Some("rm x")),
        ("command -p rm x", Some("rm x")),
        ("command -v rm", None),
        ("builtin cd x", Some("cd x")),
        ("noglob rm *", Some("rm *")),
        ("xargs rm", Some("rm \"$@\"")),
        ("xargs -I {} rm {}", None),
        ("xargs", None),
        ("env A=1 B=$x rm x", Some("A B rm x")),
        ("env -i -u C rm x", Some("rm x")),
        ("env -S 'rm x'", None),
        ("env", None),
        ("rm x", None),
        ("/usr/bin/nice rm x", None),
        ("$x rm y", None),
        ("> x", None),
    ];
    for (script, expected) in rows {
        assert_eq!(inner_command(script).as_deref(), expected, "{script}");
    }
    let nested = &command_parts("a; nice nohup time rm x < y").unwrap()[1];
    let inner = nested
        .inner_command()
        .unwrap()
        .inner_command()
        .unwrap()
        .inner_command()
        .unwrap();
    assert_eq!(inner.words.len(), 2);
    assert_eq!(
        inner.input_targets().next().unwrap().value.as_deref(),
        Some("y")
    );
    assert_eq!(inner.span, 19..23);
}

/// Constructs with `MARK` where bash runs it; they can be nested.
const CONSTRUCTS: &[&str] = &[
    "@",
    "a; @",
    "@; a",
    "a && @",
    "@ || a",
    "a | @",
    "@ | a",
    "@ |& a",
    "a & @",
    "@ &",
    "a\n@\n",
    "! @",
    "(@)",
    "( @; a )",
    "{ @; }",
    "{ a\n@\n}",
    "if @; then a; fi",
    "if a; then @; fi",
    "if a; then b; elif @; then c; fi",
    "if a; then b; else @; fi",
    "while @; do a; done",
    "until a; do @; done",
    "for x in a; do @; done",
    "for x in $(@); do a; done",
    "for x; do @; done",
    "for ((;;)); do @; done",
    "for ((i=$(@);;)); do a; done",
    "select x in a; do @; done",
    "case a in b) @;; esac",
    "case a in b) c;& d) @;; esac",
    "case $(@) in b) c;; esac",
    "case a in $(@)) c;; esac",
    "echo $(@)",
    "echo \"$(@)\"",
    "echo `@`",
    "echo \"`@`\"",
    "echo a$(@)b",
    "echo '$(' $(@)",
    "echo <(@)",
    "echo >(@)",
    "x=$(@)",
    "x=$(@) a",
    "x=\"$(@)\"",
    "x=(a $(@))",
    "x[$(@)]=1",
    "x+=$(@)",
    "a > $(@)",
    "a < <(@)",
    "a 2> >(@)",
    "a <<< $(@)",
    "cat <<E\n$(@)\nE",
    "cat <<E\n'$(@)'\nE\n",
    "cat <<E && @\ntext\nE",
    "cat <<E; @\n$x\nE",
    "cat <<'E'\n$(a)\nE\n@",
    "cat <<\"E\"\n`\nE\n@",
    "cat <<\\E\n$(\nE\n@",
    "echo $(cat <<E\n)\nE\n@\n)",
    "[[ -n $(@) ]]",
    "[[ a && b || -n \"$(@)\" ]]",
    "[[ a =~ $(@) ]]",
    "[[ ( a ) ]] && @",
    "[ -n $(@) ] && a",
    "test $(@)",
    "(( $(@) ))",
    "echo $(( $(@) + 1 ))",
    "echo $[ $(@) ]",
    "echo ${x:-$(@)}",
    "echo \"${x:-'$(@)'}\"",
    "echo ${x[$(@)]}",
    "echo ${x:$(@):1}",
    "echo ${x//$(@)/b}",
    "echo ${x:-`@`}",
    "echo {a,$(@)}",
    "echo ~$(@)",
    "echo $'\\'' $(@) '",
    "echo $\"$(@)\"",
    "f() { @; }; f",
    "f() (@)",
    "function f { @; }",
    "coproc @",
    "coproc { @; }",
    "coproc x { @; }",
    "time { @; }",
    "time ( @ )",
    "time -p if a; then @; fi",
    "export x=$(@)",
    "declare -a x=($(@))",
    "local x=`@`",
    "unset $(@)",
    "a # '\n@",
    "a '#' # \"\n@",
    "a \\\\\n@",
    "a \\;; @",
    "a \\\n; @",
    "a # \\\n@",
    "a \\\n && @",
    "a && \\\n@ \\\n",
    "(\\\n@)",
    "a ' \\\n'; @",
    "a \" \\\n\"; @",
    "a \\ \\\n; @",
    "echo \"$\\\n(@)\"",
    "echo $ \\\n; @",
    "echo $(a # )\n@)",
    "echo `a # `; @",
    "x=$(<a); @",
    "echo $(<a) $(@)",
    "a=b;@",
    "a>b;@",
    "a&&@",
    "a 2>&1|@",
    "a>&b&@",
    "echo a#b; @",
    "echo ${#x}; @",
    "echo ${x#'}'}; @",
    "echo \"${x%\\}}\"; @",
    "echo $# ; @",
    "echo {} ; @",
    "echo } ; @",
    "echo if ; @",
    "echo a=(b) ; @",
    "echo [a ; @",
    "echo \u{a0}; @",
    "é=1; @",
];

/// Puts the command into the construct; `None` if it would not run there: after the line break that
/// starts a here-document.
fn place_in_construct(construct: &str, command: &str) -> Option<String> {
    let (before, _) = construct.split_once('@')?;
    let announces = before.contains("<<") && !before.contains('\n');
    let breaks_out = announces && command.contains('\n');
    (!breaks_out).then(|| construct.replacen('@', command, 1))
}

/// Whether a command in the text is listed or the text is refused.
fn check_listed(script: &str) -> Result<bool, String> {
    let Some(parts) = command_parts(script) else {
        return Ok(false);
    };
    let is_listed = parts.iter().any(|part| {
        part.words
            .first()
            .is_some_and(|first| first.value.as_deref() == Some("MARK"))
    });
    is_listed
        .then_some(true)
        .ok_or_else(|| format!("{script:?}: {parts:?}"))
}

#[test]
fn every_command_that_runs_is_listed() {
    let mut understood = 0;
    for outer in CONSTRUCTS {
        for inner in CONSTRUCTS {
            let script = place_in_construct(inner, "MARK x")
                .and_then(|inner| place_in_construct(outer, &inner));
            understood += usize::from(script.is_some_and(|script| check_listed(&script).unwrap()));
        }
    }
    // Some constructs are always refused, also inside others.
    assert!(
        understood * 3 > CONSTRUCTS.len() * CONSTRUCTS.len(),
        "{understood}"
    );
}

/// Commands that are accepted in any position.
const UNDERSTOOD: &[&str] = &[
    "rm x",
    "a | b",
    "x=1 c",
    "d > e",
    "(f)",
    "if g; then h; fi",
    "echo $(i)",
    "[[ -f j ]]",
    "for k in l; do m; done",
    "export n=1",
];

/// Returns the programs, and after them the files and variables, whose order differs.
fn summary(script: &str) -> Vec<String> {
    let parts = command_parts(script).unwrap();
    let programs = parts.iter().filter_map(|part| part.words.first());
    let files = parts
        .iter()
        .flat_map(|part| part.input_targets().chain(part.output_targets()))
        .filter_map(|word| word.value.as_ref());
    let assignments = parts.iter().flat_map(|part| &part.assignments);
    let names = assignments.map(|assignment| &assignment.name);
    programs
        .map(|word| word.text.clone())
        .chain(files.chain(names).cloned())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn deeper_nesting_hides_nothing(
        constructs in prop::collection::vec(prop::sample::select(CONSTRUCTS), 3..6),
    ) {
        let script = constructs
            .iter()
            .try_fold("MARK".to_owned(), |inner, construct| place_in_construct(construct, &inner));
        if let Some(Err(unseen)) = script.map(|script| check_listed(&script)) {
            return Err(TestCaseError::fail(unseen));
        }
    }

    #[test]
    fn joined_commands_have_the_parts_of_both(
        first in prop::sample::select(UNDERSTOOD),
        second in prop::sample::select(UNDERSTOOD),
        form in prop::sample::select(&["@; ?", "@ && ?", "@ | ?", "@\n?", "@ & ?", "@ || ?"][..]),
    ) {
        let script = form.replace('@', first).replace('?', second);
        let both = summary(&format!("{first}\n{second}"));
        prop_assert_eq!(&summary(&script), &both);
        let substituted = summary(&format!("cat $( {script} )"));
        prop_assert_eq!(&substituted[..], &[&["cat".to_owned()], &both[..]].concat());
    }

    #[test]
    fn no_text_panics(script in "\\PC{0,80}|[ -~\n\t]{0,120}|[-a-z '\"$()`|&;<>\\\\\n#={}!\\[\\]]{0,60}") {
        for part in command_parts(&script).unwrap_or_default() {
            prop_assert!(script.get(part.span.clone()).is_some(), "{:?}", part);
            let _ = part.inner_command();
        }
    }
}

/// Every read-only command line is parsed and has no output file.
#[test]
fn commands_that_only_read_have_parts() {
    let ours = rows(include_str!("../../../../tests/data/shell/commands.jsonl"));
    let more = rows(READ_ONLY);
    let mut compared = 0;
    for row in ours.iter().chain(&more) {
        let command = row["command"].as_str().unwrap();
        if analyse(command).verdict.is_read_only() {
            let parts = command_parts(command);
            let is_right = parts.is_some_and(|parts| {
                parts
                    .iter()
                    .all(|part| part.output_targets().next().is_none())
            });
            assert!(is_right, "{command}");
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// Rows of another agent's splitter whose output differs from its input.
#[test]
fn compound_commands_are_split_as_by_qwen_code() {
    let rows = rows(include_str!("../../../../tests/data/qwen-code.jsonl"));
    let of_splitting = rows
        .iter()
        .filter(|row| row["area"] == "permissions.splitCompoundCommand");
    let mut compared = 0;
    for row in of_splitting {
        let script = row["input"].as_str().unwrap();
        // The effects of `((…))` are unknown.
        let Some(parts) = command_parts(script) else {
            assert_eq!(script, "((a & b))");
            continue;
        };
        let expected: Vec<&str> = row["expected"]
            .as_array()
            .unwrap()
            .iter()
            // Redirections are listed separately.
            .map(|part| part.as_str().unwrap().trim_end_matches(" 2>&1"))
            .collect();
        assert_eq!(part_texts(script, &parts), expected, "{script}");
        compared += 1;
    }
    assert!(compared >= 9, "{compared}");
}

#[test]
fn the_source_of_standard_input_is_known() {
    let rows: &[(&str, &[PartInput])] = &[
        ("a | b", &[PartInput::Other, PartInput::Pipe(0..1)]),
        (
            "a; (b | c) | { d; e; }",
            &[
                PartInput::Other,
                PartInput::Other,
                PartInput::Pipe(1..2),
                PartInput::Pipe(1..3),
                PartInput::Pipe(1..3),
            ],
        ),
        ("a | b < c", &[PartInput::Other, PartInput::Other]),
        (
            "a | while b; do c; done < d",
            &[
                PartInput::Other,
                PartInput::Pipe(0..1),
                PartInput::Pipe(0..1),
                PartInput::Other,
            ],
        ),
        ("a <<< b", &[PartInput::Text(Some("b".to_owned()))]),
        ("a <<< $b", &[PartInput::Text(None)]),
        ("a <<E\nb\nE", &[PartInput::Text(Some("b\n".to_owned()))]),
        ("a 3<<E\nb\nE", &[PartInput::Other]),
        (
            "a | cat $(b)",
            &[
                PartInput::Other,
                PartInput::Pipe(0..1),
                PartInput::Pipe(0..1),
            ],
        ),
    ];
    for (script, expected) in rows {
        let parts = command_parts(script).unwrap();
        let inputs: Vec<&PartInput> = parts.iter().map(|part| &part.input).collect();
        assert!(inputs.iter().copied().eq(*expected), "{script}: {inputs:?}");
    }
}

#[test]
fn commands_of_a_list_only_read_on_their_own() {
    let rows: &[(&str, &[(bool, usize)])] = &[
        ("git log -3 && npm test", &[(true, 1), (false, 0)]),
        ("npm test && git log -3", &[(false, 0), (false, 0)]),
        ("ls; rm x; ls", &[(true, 0), (false, 0), (true, 0)]),
        (
            "cd x && git log -3; make",
            &[(true, 0), (true, 2), (false, 0)],
        ),
        (
            "cd x; cd y; git log -3; make",
            &[(true, 0), (true, 0), (false, 0), (false, 0)],
        ),
        ("git status; make", &[(false, 0), (false, 0)]),
        ("git log -3; f() { ls; }", &[(false, 0)]),
    ];
    for (script, expected) in rows {
        let line = parse(script);
        let found = line.commands.iter();
        let found: Vec<_> = found
            .map(|part| match &part.verdict {
                Verdict::ReadOnly { requires } => (true, requires.len()),
                Verdict::Unknown => (false, 0),
            })
            .collect();
        assert_eq!(found, *expected, "{script}");
    }
}

#[test]
fn the_reading_ends_before_the_command_that_is_not_understood() {
    for (script, start) in [
        ("ls; echo \"$(rm x)\" ${y@P}; rm z", 4),
        ("ls; coproc rm x", 4),
        ("ls; time time y=$(a) rm x", 4),
        ("ls && cat <<E\nopen", 6),
        ("for i in a; do ls; x+=1; done", 19),
        ("ls 'open", 0),
    ] {
        let line = parse(script);
        assert_eq!(
            line.unread.as_ref().map(|unread| unread.start),
            Some(start),
            "{script}"
        );
        assert_eq!(line.commands.len(), usize::from(start > 0), "{script}");
    }
}

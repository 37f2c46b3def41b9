//! The forms of rules, and which calls they match.

use super::decision_tests::{Row, source};
use super::{Behavior, Rule, Rules};

fn parse(text: &str, behavior: Behavior) -> Result<Rule, String> {
    Rule::parse(text, behavior, &source()).map_err(|error| error.to_string())
}

#[test]
fn malformed_rules_say_what_is_wrong() {
    let rows = [
        ("", "it does not begin with the name of a tool"),
        ("(x)", "it does not begin with the name of a tool"),
        ("git push", "it does not begin with the name of a tool"),
        ("Bash(ls", "its parenthesis is not closed at its end"),
        ("Bash(ls) x", "its parenthesis is not closed at its end"),
        ("Bash(ls\\)", "its parenthesis is not closed at its end"),
        ("Read(../x)", "a path pattern cannot lead upwards with `..`"),
        ("Edit(a[)", "unclosed character class; missing ']'"),
        (
            "mcp__*",
            "a rule that allows can only have `*` in the name of a tool after `mcp__SERVER__`",
        ),
    ];
    for (text, problem) in rows {
        let expected = format!("settings.json: `{text}` is no permission rule: {problem}");
        assert_eq!(parse(text, Behavior::Allow).unwrap_err(), expected);
    }
    assert!(parse("mcp__*", Behavior::Deny).is_ok());
    assert!(parse("mcp__a__*", Behavior::Allow).is_ok());
    // A backslash before the closing parenthesis may be escaped itself.
    assert!(parse("Bash(ls \\\\)", Behavior::Allow).is_ok());
}

#[test]
fn rules_that_never_matter_are_reported() {
    let rules = Rules::new(vec![
        parse("Write(src/**)", Behavior::Allow).unwrap(),
        parse("Glob(src/**)", Behavior::Deny).unwrap(),
        parse("mcp__a__b(c:d)", Behavior::Allow).unwrap(),
        parse("Bash(npm test)", Behavior::Allow).unwrap(),
        parse("ShellTool", Behavior::Ask).unwrap(),
        parse("Edit(src/**)", Behavior::Allow).unwrap(),
    ]);
    let warnings = rules.warnings();
    let expected = [
        "`Glob(src/**)` never matches",
        "`Write(src/**)` never matches",
        "`mcp__a__b(c:d)` never matches",
        "`Bash(npm test)` never matters, since `ShellTool` of settings.json comes first",
    ];
    assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
    for (warning, expected) in warnings.iter().zip(expected) {
        assert!(warning.contains(expected), "{warning}");
    }
}

#[test]
fn any_part_of_a_command_matches() {
    let rows = [
        ("Bash", "ls", true),
        ("Bash(git push *)", "ls && git push", true),
        ("Bash(git push *)", "ls", false),
        ("Bash(git push *)", "f() { ls; }; f", true),
        ("Bash(git push *)", "if", true),
        ("Edit(*.ts)", "echo x > a.ts", true),
        ("Edit(*.ts)", "cat a.ts", false),
        ("Read(*.ts)", "cat a.ts", true),
        ("Write", "ls", false),
    ];
    for (rule, command, expected) in rows {
        let row = Row {
            command: Some(command.to_owned()),
            ..Row::default()
        };
        for behavior in [Behavior::Allow, Behavior::Ask] {
            let rule = parse(rule, behavior).unwrap();
            let matches = row.with_request(|request| rule.matches(request));
            assert_eq!(matches, expected, "{} {command}", rule.text);
        }
    }
    let row = Row {
        write: Some("sub/a.ts".to_owned()),
        ..Row::default()
    };
    for (rule, expected) in [
        ("Edit(*.ts)", true),
        ("Edit", true),
        ("Edit(*.js)", false),
        ("Read", false),
    ] {
        let rule = parse(rule, Behavior::Allow).unwrap();
        assert_eq!(
            row.with_request(|request| rule.matches(request)),
            expected,
            "{}",
            rule.text
        );
    }
}

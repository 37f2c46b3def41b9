//! Syntax of rules and the calls that they match.

use serde_json::Value;

use super::decision_tests::{DIRECTORY, Row, source};
use super::{Behavior, Mode, Rule, Rules, canonical_tool};

fn parse(text: &str, behavior: Behavior) -> Result<Rule, String> {
    Rule::parse(text, behavior, &source()).map_err(|error| error.to_string())
}

#[test]
fn malformed_rules_say_what_is_wrong() {
    let rows = [
        ("", "it does not start with a tool name"),
        ("(x)", "it does not start with a tool name"),
        ("git push", "it does not start with a tool name"),
        ("Bash(ls", "it does not end with the closing parenthesis"),
        ("Bash(ls) x", "it does not end with the closing parenthesis"),
        ("Bash(ls\\)", "it does not end with the closing parenthesis"),
        ("Read(../x)", "a path pattern cannot contain `..`"),
        ("Edit(!src/**)", "a path pattern cannot start with `!`"),
        ("Edit(a[)", "unclosed character class; missing ']'"),
        (
            "mcp__*",
            "an allow rule can have `*` in the tool name only after `mcp__SERVER__`",
        ),
    ];
    for (text, problem) in rows {
        let expected = format!("settings.json: `{text}` is not a permission rule: {problem}");
        assert_eq!(parse(text, Behavior::Allow).unwrap_err(), expected);
    }
    assert!(parse("mcp__*", Behavior::Deny).is_ok());
    assert!(parse("mcp__a__*", Behavior::Allow).is_ok());
    // A backslash before the closing parenthesis may be escaped itself.
    assert!(parse("Bash(ls \\\\)", Behavior::Allow).is_ok());
}

#[test]
fn rules_without_effect_are_reported() {
    let rules = Rules::new(vec![
        parse("Write(src/**)", Behavior::Allow).unwrap(),
        parse("Glob(src/**)", Behavior::Deny).unwrap(),
        parse("mcp__a__b(c:d)", Behavior::Allow).unwrap(),
        parse("Bash(npm test)", Behavior::Allow).unwrap(),
        parse("Edit(src/**)", Behavior::Allow).unwrap(),
    ]);
    let warnings = rules.warnings(&|_| false);
    let expected = [
        "`Glob(src/**)` never matches",
        "`Write(src/**)` never matches",
        "`mcp__a__b(c:d)` never matches",
    ];
    assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
    for (warning, expected) in warnings.iter().zip(expected) {
        assert!(warning.contains(expected), "{warning}");
    }
}

#[test]
fn rules_that_can_match_nothing_are_reported() {
    use Behavior::{Allow, Ask, Deny};
    let rows = [
        ("Bsh", Allow, "names an unknown tool; did you mean `Bash`?"),
        (
            "Raed(.env)",
            Deny,
            "names an unknown tool; did you mean `Read`?",
        ),
        ("Frobnicate", Ask, "names an unknown tool"),
        ("Deploy", Allow, ""),
        ("mcp__deploy__x", Allow, ""),
        ("deploy_*", Deny, ""),
        ("WebFetch(https://example.com/a)", Deny, "never matches; "),
        ("WebFetch(domain:localhost:80)", Allow, "never matches; "),
        ("WebFetch(domain:)", Allow, "never matches; "),
        ("WebFetch(domain:*.example.com)", Allow, ""),
        ("WebFetch([::1])", Allow, ""),
        ("Bash(cd a && make *)", Allow, "never matches; "),
        ("Bash(curl * | sh)", Deny, ""),
        ("Bash(python3 -c *; print*)", Allow, ""),
        ("Bash(echo 'a && b')", Allow, ""),
    ];
    for (text, behavior, expected) in rows {
        let rules = Rules::new(vec![parse(text, behavior).unwrap()]);
        let warnings = rules.warnings(&|name| name == "Deploy");
        assert_eq!(warnings.len(), usize::from(!expected.is_empty()), "{text}");
        for warning in warnings {
            let expected = format!("settings.json: the rule `{text}` {expected}");
            assert!(warning.starts_with(&expected), "{warning}");
        }
    }
}

#[test]
fn any_part_of_a_command_matches() {
    let rows = [
        ("Bash", "ls", true),
        ("Bash(git push *)", "ls && git push", true),
        ("Bash(git push *)", "ls", false),
        ("Bash(git push *)", "coproc ls", true),
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

/// Rows of Qwen Code's rules in which turnpipe follows Claude Code; see `docs/permissions.md`.
const DIFFERENT_ROWS: &[(&str, &str)] = &[
    // A command without a star is matched as a whole.
    ("Bash(ls)", "FOO=1 ls -la"),
    // Everything below a matching directory matches, as in `.gitignore`.
    ("Read(secret/*)", "/proj/sub/secret/a/b"),
    // Commands in substitutions are commands.
    ("Bash(echo *)", "echo $(rm x)"),
    // A redirection to a file needs a rule for the file.
    ("Bash(ls *)", "ls > /proj/out"),
];

#[test]
fn rules_match_as_in_qwen_code_except_for_listed_rows() {
    let text = include_str!("../../../../tests/data/qwen-code.jsonl");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let area = row["area"].as_str().unwrap_or_default();
        let (input, expected) = (&row["input"], &row["expected"]);
        let is_right = match area {
            "permissions.parseRule" => {
                let rule = parse(input.as_str().unwrap(), Behavior::Deny);
                let tool = canonical_tool(expected["toolName"].as_str().unwrap());
                let is_valid = expected["invalid"] != true;
                rule.is_ok() == is_valid
                    && rule.is_ok_and(|rule| rule.tool.covers(tool)) == is_valid
            }
            "permissions.matchesRule" => {
                let call = qwen_call(input);
                let matches = parse(input["rule"].as_str().unwrap(), Behavior::Deny)
                    .is_ok_and(|rule| call.with_request(|request| rule.matches(request)));
                matches == expected.as_bool().unwrap()
            }
            "permissions.evaluateShell" | "permissions.evaluate" => {
                let mut call = qwen_call(input.get("ctx").unwrap_or(input));
                let rules = |kind: &str| {
                    let rules = input["rules"].get(kind).cloned();
                    rules.map_or_else(Vec::new, |rules| serde_json::from_value(rules).unwrap())
                };
                call.deny = rules("deny");
                call.ask = rules("ask");
                call.allow = rules("allow");
                serde_json::to_value(call.decide().decision).unwrap() == *expected
            }
            _ => continue,
        };
        seen += 1;
        let differs = DIFFERENT_ROWS
            .iter()
            .any(|(rule, call)| line.contains(rule) && line.contains(call));
        if is_right == differs {
            wrong.push(line.to_owned());
        }
    }
    assert!(seen > 40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a call of Qwen Code, moved to our directory.
fn qwen_call(input: &Value) -> Row {
    let text = |field: &str| input[field].as_str().map(str::to_owned);
    let here = |text: &str| {
        text.replace("/proj/sub", "/proj")
            .replace("/proj", DIRECTORY)
    };
    let tool = text("tool").or(text("toolName"));
    let mut row = Row {
        command: text("command").map(|command| here(&command)),
        read: text("filePath").map(|path| here(&path)),
        url: text("domain").map(|domain| format!("https://{domain}/")),
        tool: tool.map(|tool| canonical_tool(&tool).to_owned()),
        ..Row::default()
    };
    if let Some(specifier) = input.get("specifier") {
        row.input
            .insert("subagent_type".to_owned(), specifier.clone());
    }
    if row.read.is_some() {
        row.tool = None;
    }
    row
}

/// Settings restrict reading, writing or commands outside the working directories.
#[test]
fn each_kind_of_outside_rule_restricts_its_own_accesses() {
    use super::OutsideAccess::{Command, Reading, Writing};
    let row = |text: &str| serde_json::from_str::<Row>(text).unwrap();
    for (call, restricted_by) in [
        (r#"{"read": "/etc/hosts"}"#, Some(Reading)),
        (r#"{"read": "a"}"#, None),
        (r#"{"write": "/srv/x"}"#, Some(Writing)),
        (r#"{"write": "a"}"#, None),
        (r#"{"command": "cat a && frob /srv/x"}"#, Some(Command)),
        (r#"{"command": "frob ../x"}"#, Some(Command)),
        (r#"{"command": "frob a"}"#, None),
        (r#"{"url": "https://example.com/"}"#, None),
    ] {
        for access in [Reading, Writing, Command] {
            let rule = Rule::outside("outside", access, Behavior::Deny, &source());
            let rules = Rules::new(vec![rule]);
            let decided = row(call).with_request(|request| rules.decide(Mode::Default, request));
            let is_denied = decided.decision == Behavior::Deny;
            let expected = restricted_by == Some(access);
            assert_eq!(is_denied, expected, "{call} {access:?}: {decided:?}");
        }
    }
}

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn map_call(name: &str, input: Value) -> Result<(String, Value), String> {
    let Value::Object(input) = input else {
        panic!("not an object");
    };
    let alias = find_alias(name).unwrap();
    alias
        .rewrite_arguments(input)
        .map(|input| (alias.tool.to_owned(), Value::Object(input)))
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn calls_of_other_agents_are_rewritten() {
    let rows = [
        (
            "web_fetch",
            json!({"url": "https://a.b/", "prompt": "What is it?"}),
            "WebFetch",
            json!({"url": "https://a.b/", "prompt": "What is it?"}),
        ),
        (
            "webfetch",
            json!({"url": "https://a.b/", "format": "markdown", "timeout": 30}),
            "WebFetch",
            json!({"url": "https://a.b/"}),
        ),
        (
            "run_shell_command",
            json!({"command": "ls", "description": "List", "timeout": 5000, "is_background": false}),
            "Bash",
            json!({"command": "ls", "description": "List", "timeout": 5000, "run_in_background": false}),
        ),
        (
            "run_shell_command",
            json!({"command": "ls # all", "directory": "/a b"}),
            "Bash",
            json!({"command": "(cd -- '/a b' && {\nls # all\n})"}),
        ),
        (
            "read_file",
            json!({"absolute_path": "/f", "offset": 0, "limit": 10}),
            "Read",
            json!({"offset": 1, "limit": 10, "file_path": "/f"}),
        ),
        (
            "read_file",
            json!({"path": "f", "offset": 19.0, "limit": null}),
            "Read",
            json!({"offset": 20, "file_path": "f"}),
        ),
        (
            "read_file",
            json!({"absolute_path": "/f", "file_path": "/f"}),
            "Read",
            json!({"file_path": "/f"}),
        ),
        (
            "write_file",
            json!({"file_path": "/f", "content": "x"}),
            "Write",
            json!({"file_path": "/f", "content": "x"}),
        ),
        (
            "edit",
            json!({"file_path": "/f", "old_string": "a", "new_string": "b", "replace_all": true}),
            "Edit",
            json!({"file_path": "/f", "old_string": "a", "new_string": "b", "replace_all": true}),
        ),
        (
            "replace",
            json!({"file_path": "/f", "old_string": "a", "new_string": "b", "expected_replacements": 3, "instruction": "do"}),
            "Edit",
            json!({"file_path": "/f", "old_string": "a", "new_string": "b", "replace_all": true}),
        ),
        (
            "replace",
            json!({"file_path": "/f", "old_string": "a", "new_string": "b", "expected_replacements": 1}),
            "Edit",
            json!({"file_path": "/f", "old_string": "a", "new_string": "b", "replace_all": false}),
        ),
        (
            "glob",
            json!({"pattern": "*.rs", "dir_path": "src", "respect_git_ignore": true}),
            "Glob",
            json!({"pattern": "*.rs", "path": "src"}),
        ),
        (
            "grep_search",
            json!({"pattern": "x", "include": "*.rs", "limit": 5}),
            "Grep",
            json!({"pattern": "x", "glob": "*.rs", "head_limit": 5, "output_mode": "content"}),
        ),
        (
            "list_directory",
            json!({"path": "/d", "file_filtering_options": {"respect_git_ignore": true}}),
            "LS",
            json!({"path": "/d"}),
        ),
        (
            "todo_write",
            json!({"todos": [{"id": "1", "content": "Test", "status": "pending"}]}),
            "TodoWrite",
            json!({"todos": [{"content": "Test", "status": "pending", "activeForm": "Test"}]}),
        ),
        (
            "update_plan",
            json!({"explanation": "why", "plan": [{"step": "Test", "status": "completed"}]}),
            "TodoWrite",
            json!({"todos": [{"content": "Test", "status": "completed", "activeForm": "Test"}]}),
        ),
        (
            "shell",
            json!({"command": ["bash", "-lc", "ls | wc"], "timeout_ms": 9, "workdir": "/w"}),
            "Bash",
            json!({"command": "(cd -- /w && {\nls | wc\n})", "timeout": 9}),
        ),
        (
            "shell",
            json!({"command": ["echo", "a b", "$x"]}),
            "Bash",
            json!({"command": "echo 'a b' '$x'"}),
        ),
        (
            "shell",
            json!({"command": ["sh", "-c", "ls"]}),
            "Bash",
            json!({"command": "sh -c ls"}),
        ),
        (
            "shell_command",
            json!({"command": "ls", "login": true, "justification": "Look"}),
            "Bash",
            json!({"command": "ls", "description": "Look"}),
        ),
        (
            "exec_command",
            json!({"cmd": "ls", "workdir": "/w", "yield_time_ms": 1000, "tty": false, "max_output_tokens": 5}),
            "Bash",
            json!({"command": "(cd -- /w && {\nls\n})"}),
        ),
        (
            "View",
            json!({"file_path": "/f"}),
            "Read",
            json!({"file_path": "/f"}),
        ),
        // Unknown fields are kept: the schema check reports them.
        (
            "glob",
            json!({"pattern": "*", "odd": 1}),
            "Glob",
            json!({"pattern": "*", "odd": 1}),
        ),
        // So are fields of wrong types that are only renamed.
        (
            "exec_command",
            json!({"cmd": 5, "workdir": "/w"}),
            "Bash",
            json!({"command": 5}),
        ),
    ];
    for (name, input, tool, expected) in rows {
        assert_eq!(
            map_call(name, input.clone()),
            Ok((tool.to_owned(), expected)),
            "{name} {input}"
        );
    }
}

#[test]
fn errors_name_the_field() {
    let rows = [
        (
            "read_file",
            json!({"path": "f", "offset": -1}),
            "read_file cannot be run as Read: `offset` must be a line number, counted from 0",
        ),
        (
            "read_file",
            json!({"path": "f", "file_path": "g"}),
            "read_file cannot be run as Read: `path` and `file_path` contradict each other",
        ),
        (
            "shell",
            json!({"command": ["ls", 1]}),
            "shell cannot be run as Bash: `command` must be a string, or a list of words without NUL characters",
        ),
        (
            "shell",
            json!({"command": []}),
            "shell cannot be run as Bash: `command` must be a string, or a list of words without NUL characters",
        ),
        (
            "shell",
            json!({"command": ["ls"], "workdir": 1}),
            "shell cannot be run as Bash: `workdir` must be a path",
        ),
        (
            "replace",
            json!({"expected_replacements": 0}),
            "replace cannot be run as Edit: `expected_replacements` must be a number of replacements, at least 1",
        ),
        (
            "todo_write",
            json!({"todos": [{"content": "x"}]}),
            "todo_write cannot be run as TodoWrite: `todos` must be a list of objects with a description and a status",
        ),
    ];
    for (name, input, expected) in rows {
        assert_eq!(map_call(name, input), Err(expected.to_owned()));
    }
}

#[test]
fn rows_are_valid() {
    let mut names = std::collections::BTreeSet::new();
    for (row, steps) in alias_rows() {
        for step in steps {
            assert!(Step::parse(step).is_some(), "{row}: {step}");
        }
        for name in row.split(',') {
            assert!(names.insert(name.to_lowercase()), "{name}");
        }
    }
}

#[test]
fn namespaces_are_removed() {
    let rows = [
        ("functions.exec_command", "exec_command"),
        ("default_api:read_file", "read_file"),
        ("functions.", "functions."),
        ("Bash", "Bash"),
    ];
    for (name, expected) in rows {
        assert_eq!(without_namespace(name), expected);
    }
}

proptest! {
    /// A list of words is never split, joined or expanded on its way through bash.
    #[test]
    fn argv_survives_the_shell(words in prop::collection::vec("[^\0]{0,20}", 1..5)) {
        let mut argv = vec!["printf".to_owned(), "%s\\0".to_owned()];
        argv.extend(words.clone());
        let line = Conversion::CommandLine.apply(&json!(argv)).unwrap();
        let output = std::process::Command::new("bash")
            .args(["--noprofile", "--norc", "-c", line.as_str().unwrap()])
            .output()
            .unwrap();
        let mut expected = words.join("\0");
        expected.push('\0');
        prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}

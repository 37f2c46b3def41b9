use super::*;
use crate::run::tools::{Input, Tool};

const OUTLINE: &str = r#"
[[tool]]
name = "Outline"
description = "Lists functions"
command = ["./outline.py", "--depth={depth}", "--", "{path}"]
stdin = "json"
access = { reads = ["{path}"] }
interrupt = "block"
timeout_ms = 5000
max_result_chars = 2000
aliases = ["outline_file"]
deferred = true
environment = { LANG = "C" }

[tool.input_schema]
type = "object"
required = ["path"]
[tool.input_schema.properties]
path = { type = "string" }
depth = { type = "integer" }
"#;

fn error_of(file: &str, text: &str) -> String {
    match parse_manifest(Path::new(file), text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(problem) => problem.to_string(),
    }
}

fn toml_error(text: &str) -> String {
    error_of("m.toml", text)
}

#[test]
fn all_keys_of_a_tool_are_read() {
    let declared = parse_manifest(Path::new("/etc/tools/m.toml"), OUTLINE).unwrap();
    let [outline] = declared.as_slice() else {
        panic!("one tool");
    };
    assert_eq!(outline.aliases, ["outline_file"]);
    let tool = &outline.tool;
    assert_eq!(tool.name(), "Outline");
    assert_eq!(tool.description(), "Lists functions");
    assert_eq!(tool.interrupt(), InterruptBehavior::Block);
    assert_eq!(tool.result_limit(), ResultLimit::Characters(2000));
    assert!(tool.is_deferred());
    assert_eq!(
        tool.input_schema()["properties"]["depth"]["type"],
        "integer"
    );
    assert!(
        format!("{tool:?}").contains("/etc/tools/./outline.py"),
        "{tool:?}"
    );
}

#[test]
fn json_manifests_are_read_alike() {
    let value: Value = toml::from_str(OUTLINE).unwrap();
    let from_json = parse_manifest(Path::new("/etc/tools/m.json"), &value.to_string()).unwrap();
    let from_toml = parse_manifest(Path::new("/etc/tools/m.toml"), OUTLINE).unwrap();
    assert_eq!(
        format!("{:?}", from_json[0].tool),
        format!("{:?}", from_toml[0].tool)
    );
}

#[test]
fn optional_keys_have_defaults() {
    let text = "[[tool]]\nname = \"Date\"\ndescription = \"The date\"\ncommand = [\"date\"]\n";
    let declared = parse_manifest(Path::new("m.toml"), text).unwrap();
    let tool = &declared[0].tool;
    assert_eq!(tool.interrupt(), InterruptBehavior::Cancel);
    assert_eq!(tool.result_limit(), ResultLimit::Default);
    assert!(!tool.is_deferred());
    assert!(declared[0].aliases.is_empty());
    let check = crate::run::tools::SchemaCheck::new(tool.input_schema()).unwrap();
    assert!(check.problems(&Value::Object(Input::new())).is_empty());
    assert!(!check.problems(&json!({"a": 1})).is_empty());
    assert!(parse_manifest(Path::new("m.toml"), "").unwrap().is_empty());
}

#[test]
fn mistakes_name_tool_and_key() {
    let with = |line: &str| {
        let base = "[[tool]]\nname = \"T\"\ndescription = \"d\"\ncommand = [\"p\"]\n";
        let key = line.split(' ').next().unwrap_or_default();
        let kept: Vec<&str> = base.lines().filter(|kept| !kept.starts_with(key)).collect();
        toml_error(&format!("{}\n{line}\n", kept.join("\n")))
    };
    let rows = [
        (
            "name = 3",
            "tool #1: name: invalid type: integer `3`, expected a string",
        ),
        (
            "name = \"a b\"",
            "tool a b: name: \"a b\" is not 1 to 64 of the characters A-Z a-z 0-9 _ -",
        ),
        ("description = \" \"", "tool T: description: is empty"),
        ("command = []", "tool T: command: must name a program"),
        ("command = ['']", "tool T: command: must name a program"),
        (
            "command = \"ls\"",
            "tool T: command: invalid type: string \"ls\", expected a sequence",
        ),
        (
            "command = [\"{x}\"]",
            "tool T: command: \"{x}\": `x` is not among the properties of input_schema",
        ),
        (
            "command = [\"p\", \"{x\"]",
            "tool T: command: \"{x\": `{` is not followed by a field name (write `{{` for a brace)",
        ),
        (
            "colour = 1",
            "tool T: colour: unknown field `colour`, expected one of `name`, `description`, `command`, `input_schema`, `stdin`, `access`, `interrupt`, `timeout_ms`, `max_result_chars`, `aliases`, `deferred`, `environment`",
        ),
        (
            "stdin = \"yaml\"",
            "tool T: stdin: unknown variant `yaml`, expected `none` or `json`",
        ),
        (
            "interrupt = \"maybe\"",
            "tool T: interrupt: unknown variant `maybe`, expected `cancel` or `block`",
        ),
        (
            "access = \"some\"",
            "tool T: access: must be \"read-only\", \"world\" or { reads = [..], writes = [..] }",
        ),
        (
            "access = { wipes = [] }",
            "tool T: access: must be \"read-only\", \"world\" or { reads = [..], writes = [..] }",
        ),
        (
            "access = { reads = [3] }",
            "tool T: access: must be \"read-only\", \"world\" or { reads = [..], writes = [..] }",
        ),
        (
            "access = 3",
            "tool T: access: must be \"read-only\", \"world\" or { reads = [..], writes = [..] }",
        ),
        (
            "timeout_ms = 0",
            "tool T: timeout_ms: invalid value: integer `0`, expected a nonzero u64",
        ),
        (
            "timeout_ms = -1",
            "tool T: timeout_ms: invalid value: integer `-1`, expected a nonzero u64",
        ),
        (
            "deferred = 1",
            "tool T: deferred: invalid type: integer `1`, expected a boolean",
        ),
        (
            "aliases = [\"\"]",
            "tool T: aliases: \"\" is not 1 to 64 of the characters A-Z a-z 0-9 _ -",
        ),
        (
            "environment = { \"A=B\" = \"c\" }",
            "tool T: environment: \"A=B\" is not the name of a variable",
        ),
        (
            "input_schema = { type = \"string\" }",
            "tool T: input_schema: must have the type \"object\"",
        ),
    ];
    for (line, expected) in rows {
        assert_eq!(with(line), expected, "{line}");
    }
    assert_eq!(
        toml_error("[[tool]]\nname = \"T\"\ndescription = \"d\"\n"),
        "tool T: command: is missing"
    );
    let schema =
        with("input_schema = { type = \"object\", properties = { a = { type = \"strung\" } } }");
    assert!(
        schema.starts_with("tool T: input_schema: not a usable JSON Schema: "),
        "{schema}"
    );
}

#[test]
fn a_program_is_never_taken_from_the_input() {
    let text = "[[tool]]\nname = \"T\"\ndescription = \"d\"\ncommand = [\"{p}\"]\n\
                input_schema = { type = \"object\", properties = { p = { type = \"string\" } } }\n";
    assert_eq!(
        toml_error(text),
        "tool T: command: the program must not depend on the input"
    );
}

#[test]
fn other_files_are_refused() {
    let rows = [
        ("m.toml", "tool = 3", "1 | tool = 3"),
        ("m.toml", "tool = 3", "expected a sequence"),
        ("m.toml", "tool = [3]", "expected a map"),
        ("m.toml", "tools = []", "unknown field `tools`"),
        ("m.yaml", "", "not a .toml or .json file"),
        ("m.json", "[3]", "invalid type: integer `3`"),
        ("m.json", "{\"tool\": 3}", "expected a sequence at line 1"),
    ];
    for (file, text, expected) in rows {
        let error = error_of(file, text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    let broken = toml_error("name = ");
    assert!(broken.starts_with("TOML parse error at line 1"), "{broken}");
    assert!(!broken.contains('\n'), "{broken}");
}

#[test]
fn a_missing_file_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("none.toml");
    let error = load_manifest(&file).err().unwrap().to_string();
    assert!(error.starts_with(&file.display().to_string()), "{error}");
}

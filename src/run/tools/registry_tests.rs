use serde_json::json;

use super::*;
use crate::api::Api;
use crate::run::tools::{InvalidInput, PreparedCall, declarations};
use crate::tool_facts::{agent_tool, alias_rows};

struct NamedTool {
    name: &'static str,
    schema: Value,
    deferred: bool,
}

impl Tool for NamedTool {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &'static str {
        "A tool"
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn is_deferred(&self) -> bool {
        self.deferred
    }

    fn prepare(&self, _: &Input) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        Err(InvalidInput("never runs".to_owned()))
    }
}

fn tool(name: &'static str) -> Arc<dyn Tool> {
    Arc::new(NamedTool {
        name,
        schema: json!({
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": false
        }),
        deferred: false,
    })
}

fn deferred_tool(name: &'static str) -> Arc<dyn Tool> {
    Arc::new(NamedTool {
        name,
        schema: json!({"type": "object", "required": ["x"]}),
        deferred: true,
    })
}

fn registry() -> Registry {
    let mut registry = Registry::with_tools(vec![tool("Read"), tool("Bash")]);
    registry
        .add(vec![
            (tool("zeta"), vec!["omega".to_owned()]),
            (deferred_tool("alpha"), Vec::new()),
        ])
        .unwrap();
    registry
}

fn names(registry: &Registry) -> Vec<String> {
    registry.iter().map(|tool| tool.name().to_owned()).collect()
}

fn object(value: &Value) -> Input {
    value.as_object().unwrap().clone()
}

#[test]
fn built_in_tools_come_first_each_group_by_name() {
    assert_eq!(names(&registry()), ["Bash", "Read", "alpha", "zeta"]);
}

#[test]
fn the_first_of_two_built_in_tools_with_one_name_is_used() {
    let registry = Registry::with_tools(vec![tool("Read"), deferred_tool("Read")]);
    assert_eq!(names(&registry), ["Read"]);
    assert!(!registry.iter().next().unwrap().is_deferred());
}

#[test]
fn taken_names_are_refused_and_nothing_is_added() {
    let rows: [(&'static str, &[&str], &str); 5] = [
        ("Bash", &[], "Bash"),
        ("new", &["Read"], "Read"),
        ("zeta", &[], "zeta"),
        ("omega", &[], "omega"),
        ("new", &["twice", "twice"], "twice"),
    ];
    for (name, aliases, clashing) in rows {
        let mut registry = registry();
        let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
        let error = registry
            .add(vec![(tool("fine"), Vec::new()), (tool(name), aliases)])
            .unwrap_err();
        assert_eq!(
            (error.name.as_str(), error.clashing.as_str()),
            (name, clashing)
        );
        assert_eq!(names(&registry), names(&self::registry()));
    }
}

#[test]
fn calls_find_their_tool() {
    let registry = registry();
    let rows = [
        ("Read", json!({"path": "a"}), "Read", json!({"path": "a"})),
        ("zeta", json!({}), "zeta", json!({})),
        ("omega", json!({"path": "a"}), "zeta", json!({"path": "a"})),
        (
            "functions.Bash",
            json!({"command": "ls"}),
            "Bash",
            json!({"command": "ls"}),
        ),
        (
            "functions.exec_command",
            json!({"cmd": "ls"}),
            "Bash",
            json!({"command": "ls"}),
        ),
        (
            "run_shell_command",
            json!({"command": "ls"}),
            "Bash",
            json!({"command": "ls"}),
        ),
    ];
    for (name, input, expected, mapped) in rows {
        let found = registry.resolve(name, object(&input)).unwrap();
        assert_eq!(found.tool.name(), expected, "{name}");
        assert_eq!(Value::Object(found.input), mapped, "{name}");
    }
}

#[test]
fn unknown_names_get_a_suggestion_if_one_is_close() {
    let registry = registry();
    let rows = [
        ("Bahs", "No such tool available: Bahs. Did you mean Bash?"),
        ("Raed", "No such tool available: Raed. Did you mean Read?"),
        ("WebSearch", "No such tool available: WebSearch"),
        ("", "No such tool available: "),
        // The tool of the alias is missing.
        ("write_file", "No such tool available: write_file"),
    ];
    for (name, expected) in rows {
        let error = registry.resolve(name, Input::new()).err().unwrap();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn names_of_other_agents_denote_built_in_tools() {
    let registry = Registry::builtin();
    let edit = json!({"file_path": "f", "old_string": "a", "new_string": "b"});
    let rows = [
        (
            "bash",
            json!({"command": "ls"}),
            "Bash",
            json!({"command": "ls"}),
        ),
        (
            "BASH",
            json!({"command": "ls"}),
            "Bash",
            json!({"command": "ls"}),
        ),
        (
            "read",
            json!({"filePath": "f"}),
            "Read",
            json!({"file_path": "f"}),
        ),
        (
            "functions.READ",
            json!({"path": "f", "limit": 2}),
            "Read",
            json!({"limit": 2, "file_path": "f"}),
        ),
        (
            "write",
            json!({"filePath": "f", "content": ""}),
            "Write",
            json!({"content": "", "file_path": "f"}),
        ),
        (
            "create",
            json!({"path": "f", "file_text": ""}),
            "Write",
            json!({"file_path": "f", "content": ""}),
        ),
        (
            "edit",
            json!({"filePath": "f", "oldString": "a", "newString": "b"}),
            "Edit",
            edit.clone(),
        ),
        (
            "EDIT",
            json!({"path": "f", "old_str": "a", "new_str": "b"}),
            "Edit",
            edit,
        ),
        (
            "grep",
            json!({"pattern": "x", "include": "*.rs", "ignoreCase": true}),
            "Grep",
            json!({"pattern": "x", "glob": "*.rs", "-i": true, "output_mode": "content"}),
        ),
        (
            "glob",
            json!({"pattern": "*"}),
            "Glob",
            json!({"pattern": "*"}),
        ),
        ("list", json!({"path": "d"}), "LS", json!({"path": "d"})),
        (
            "todowrite",
            json!({"todos": [{"id": "1", "content": "Test", "status": "pending"}]}),
            "TodoWrite",
            json!({"todos": [{"content": "Test", "status": "pending", "activeForm": "Test"}]}),
        ),
        (
            "WebFetch",
            json!({"url": "u", "prompt": "p"}),
            "WebFetch",
            json!({"url": "u", "prompt": "p"}),
        ),
    ];
    for (name, input, tool, expected) in rows {
        let found = registry.resolve(name, object(&input)).unwrap();
        assert_eq!(found.tool.name(), tool, "{name}");
        let input = Value::Object(found.input);
        assert_eq!(input, expected, "{name}");
        assert_eq!(
            registry.check_schema(&*found.tool, &input),
            Ok(()),
            "{name}"
        );
    }
    let unknown = |name| {
        registry
            .resolve(name, Input::new())
            .err()
            .unwrap()
            .to_string()
    };
    for name in ["MultiEdit", "str_replace_based_edit_tool"] {
        let expected = format!("No such tool available: {name}. Did you mean Edit?");
        assert_eq!(unknown(name), expected);
    }
    for name in ["delete_file", "Task", "write_stdin"] {
        assert_eq!(unknown(name), format!("No such tool available: {name}"));
    }
}

#[test]
fn arguments_that_cannot_be_mapped_are_refused() {
    let error = registry()
        .resolve("shell", object(&json!({"command": 1})))
        .err()
        .unwrap();
    assert!(matches!(error, LookupError::Unmappable(text) if text.contains("`command`")));
}

#[test]
fn schemas_are_checked() {
    let registry = registry();
    let tool = Arc::clone(registry.iter().nth(1).unwrap());
    assert_eq!(
        registry.check_schema(tool.as_ref(), &json!({"path": "a"})),
        Ok(())
    );
    assert_eq!(
        registry.check_schema(tool.as_ref(), &json!({"file": "a"})),
        Err("Read failed due to the following issues:\n\
             The required parameter `path` is missing\n\
             An unexpected parameter `file` was provided"
            .to_owned())
    );
    let deferred = Arc::clone(registry.iter().nth(2).unwrap());
    let text = registry
        .check_schema(deferred.as_ref(), &json!({}))
        .unwrap_err();
    assert!(
        text.starts_with("alpha failed due to the following issue:\n"),
        "{text}"
    );
    assert!(text.contains("ToolSearch (query `select:alpha`)"), "{text}");
}

#[test]
fn an_unregistered_tool_is_also_checked() {
    let stranger = tool("stranger");
    assert!(
        registry()
            .check_schema(stranger.as_ref(), &json!({}))
            .is_err()
    );
}

#[test]
fn an_unusable_schema_refuses_all_calls() {
    let broken: Arc<dyn Tool> = Arc::new(NamedTool {
        name: "broken",
        schema: json!({"type": "strung"}),
        deferred: false,
    });
    let registry = Registry::with_tools(vec![Arc::clone(&broken)]);
    assert!(registry.check_schema(broken.as_ref(), &json!({})).is_err());
}

#[test]
fn declarations_follow_each_api() {
    let mut registry = Registry::with_tools(vec![tool("Read")]);
    registry
        .add(vec![(deferred_tool("later"), Vec::new())])
        .unwrap();
    let schema = tool("Read").input_schema().clone();
    let searchable = declarations(&registry, Api::OpenaiChat);
    assert_eq!(searchable[0]["function"]["name"], "Read");
    assert_eq!(searchable[1]["function"]["name"], "ToolSearch");
    assert_eq!(searchable.as_array().map(Vec::len), Some(2));
    let declared = declarations(&registry, Api::Anthropic);
    assert_eq!(declared[2]["name"], "ToolSearch");
    assert_eq!(
        declared.as_array().unwrap()[..2],
        *json!([
            {"name": "Read", "description": "A tool", "input_schema": schema},
            {"name": "later", "description": "A tool", "input_schema": {"type": "object", "required": ["x"]}, "defer_loading": true}
        ])
        .as_array()
        .unwrap()
    );
    let registry = Registry::with_tools(vec![tool("Read")]);
    assert_eq!(
        declarations(&registry, Api::OpenaiChat),
        json!([{"type": "function", "function": {"name": "Read", "description": "A tool", "parameters": schema}}])
    );
    assert_eq!(
        declarations(&registry, Api::Gemini),
        json!([{"functionDeclarations": [{
            "name": "Read", "description": "A tool",
            "parameters": {"type": "OBJECT", "required": ["path"], "properties": {"path": {"type": "STRING"}}}
        }]}])
    );
    assert_eq!(declarations(&Registry::default(), Api::Gemini), json!([]));
}

#[test]
fn tools_of_a_manifest_are_added_unless_a_name_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.json");
    let mut registry = registry();
    let mut add = |name: &str| {
        let tool =
            json!({"name": name, "description": "d", "command": ["p"], "aliases": ["second"]});
        std::fs::write(&file, json!({"tool": [tool]}).to_string()).unwrap();
        registry
            .add_manifest(&file)
            .map_err(|error| error.to_string())
    };
    let place = file.display();
    assert_eq!(
        add("Bash"),
        Err(format!(
            "{place}: tool Bash: the name Bash is already taken"
        ))
    );
    assert_eq!(add("mine"), Ok(()));
    assert_eq!(
        add("other"),
        Err(format!(
            "{place}: tool other: the name second is already taken"
        ))
    );
    assert_eq!(names(&registry), ["Bash", "Read", "alpha", "mine", "zeta"]);
    let found = registry.resolve("second", Input::new()).unwrap();
    assert_eq!(found.tool.name(), "mine");
}

#[test]
fn built_in_schemas_are_valid() {
    let registry = Registry::builtin();
    assert!(registry.iter().count() > 0);
    for tool in registry.iter() {
        assert!(
            SchemaCheck::new(tool.input_schema()).is_ok(),
            "{}",
            tool.name()
        );
    }
}

#[test]
fn declarations_are_complete_and_sorted() {
    let tools = builtin_tools();
    assert!(tools.is_sorted_by_key(|tool| tool.name()));
    for tool in tools {
        let (name, schema) = (tool.name(), tool.input_schema());
        assert!(SchemaCheck::new(schema).is_ok(), "{name}");
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema.get("title").or(schema.get("description")), None);
        assert!(!tool.description().is_empty());
        for (property, schema) in schema["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{name} {property}");
            assert!(schema["type"].is_string(), "{name} {property}");
        }
    }
}

#[test]
fn tools_of_agents_run_as_built_in_tools() {
    let registry = Registry::builtin();
    for name in alias_rows().flat_map(|(names, _)| names.split(',')) {
        let tool = agent_tool(name).unwrap().name;
        let is_builtin = registry.iter().any(|known| known.name() == tool);
        assert!(is_builtin, "{name} is {tool}");
    }
}

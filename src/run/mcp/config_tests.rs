use super::*;

fn environment() -> Environment {
    [("HOME", "/root"), ("EMPTY", ""), ("TOKEN", "t-1")]
        .into_iter()
        .collect()
}

fn read(text: &str) -> Result<Vec<ServerConfig>, String> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mcp.json");
    std::fs::write(&file, text).unwrap();
    read_config(std::slice::from_ref(&file), &environment()).map_err(|error| {
        error
            .to_string()
            .replace(&file.display().to_string(), "FILE")
    })
}

#[test]
fn variables_are_expanded() {
    let rows = [
        ("plain $HOME", Ok("plain $HOME")),
        ("${HOME}/x", Ok("/root/x")),
        ("${HOME}${TOKEN}", Ok("/roott-1")),
        ("${NONE:-a}:${EMPTY:-b}:${HOME:-c}", Ok("a:b:/root")),
        ("${NONE:-}", Ok("")),
        ("${EMPTY}", Ok("")),
        ("${NONE}", Err("NONE")),
        ("open ${HOME", Ok("open ${HOME")),
        ("${NONE:-${HOME}}", Ok("${HOME}")),
    ];
    for (text, expected) in rows {
        let result = expand_variables(text, &environment());
        let result = result.as_ref().map(String::as_str).map_err(String::as_str);
        assert_eq!(result, expected, "{text}");
    }
}

#[test]
fn servers_of_each_kind_are_read() {
    let servers = read(
        r#"{"mcpServers": {
            "web": {"type": "http", "url": "https://a.example/mcp",
                    "headers": {"Authorization": "Bearer ${TOKEN}"}},
            "files": {"command": "${BIN:-npx}", "args": ["-y", "${HOME}"], "env": {"A": "${TOKEN}"},
                      "cwd": "sub", "unknown": 1},
            "old": {"type": "sse", "url": "http://127.0.0.1:1/sse"},
            "ws": {"type": "ws", "url": "ws://x"},
            "new": {"type": "streamable-http", "url": "http://127.0.0.1:1/mcp"}
        }, "other": true}"#,
    )
    .unwrap();
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["files", "new", "old", "web", "ws"]);
    assert_eq!(
        servers[0].transport,
        Transport::Stdio(Program {
            command: "npx".to_owned(),
            arguments: vec!["-y".to_owned(), "/root".to_owned()],
            environment: [("A".to_owned(), "t-1".to_owned())].into(),
            directory: Some("sub".into()),
        })
    );
    assert_eq!(
        servers[3].transport,
        Transport::Http {
            url: "https://a.example/mcp".to_owned(),
            headers: [("Authorization".to_owned(), "Bearer t-1".to_owned())].into(),
        }
    );
}

#[test]
fn malformed_files_are_refused() {
    let rows = [
        ("{}", "FILE: missing field `mcpServers` at line 1 column 2"),
        (
            r#"{"mcpServers": {"a": {}}}"#,
            "FILE: server a: expected either a `command` or a `url`",
        ),
        (
            r#"{"mcpServers": {"a": {"command": "x", "url": "http://a"}}}"#,
            "FILE: server a: expected either a `command` or a `url`",
        ),
        (
            r#"{"mcpServers": {"a": {"type": "http", "command": "x"}}}"#,
            "FILE: server a: expected either a `command` or a `url`",
        ),
        (
            r#"{"mcpServers": {"a": {"command": "${NONE}"}}}"#,
            "FILE: server a: ${NONE} is not set",
        ),
        (
            r#"{"mcpServers": {"a b": {"command": "x"}, "a.b": {"command": "y"}}}"#,
            "FILE: server a.b: the name of another server differs only in special characters",
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(read(text).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn disabled_servers_are_left_out_whatever_else_they_say() {
    let servers = read(
        r#"{"mcpServers": {
            "a": {"command": "a", "disabled": true, "env": {"KEY": "${NONE}"}},
            "a_": {"command": "b", "disabled": false, "enabled": true},
            "a.": {"command": "c", "enabled": false}
        }}"#,
    );
    let names: Vec<String> = servers
        .unwrap()
        .into_iter()
        .map(|server| server.name)
        .collect();
    assert_eq!(names, ["a_"]);
    let directory = tempfile::tempdir().unwrap();
    let files = ["{\"command\": \"a\"}", "{\"disabled\": true}"].map(|server| {
        let file = directory.path().join(format!("{}.json", server.len()));
        std::fs::write(&file, format!(r#"{{"mcpServers": {{"a": {server}}}}}"#)).unwrap();
        file
    });
    assert_eq!(read_config(&files, &environment()).unwrap(), []);
}

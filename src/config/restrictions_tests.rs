//! Restrictions of settings files, known and unknown.

use super::tests::Fixture;
use super::*;
use crate::message::DecidedBy;
use crate::permission::{Action, Request};

#[test]
fn a_restriction_that_is_not_known_is_an_error() {
    let fixture = Fixture::new();
    for (key, value) in [
        ("denny", "[]"),
        ("blockEverything", "true"),
        ("blockEverything", "false"),
        ("deny_", "null"),
    ] {
        let text = format!(r#"{{"permissions":{{"{key}":{value}}}}}"#);
        let error = fixture.read_text(&text).unwrap_err();
        let expected = format!("unknown setting `permissions.{key}`, which may restrict calls");
        assert!(error.ends_with(&expected), "{error}");
        assert!(error.contains("settings.json: "), "{error}");
    }
    let comments = r#"{"permissions":{"_comment":"x","$comment":"x","//":"x"}}"#;
    assert!(fixture.read_text(comments).is_ok());
    let config = fixture.config("permissions.denny = []");
    let read = config.permissions(&PermissionFlags::default(), Path::new("/"));
    assert!(
        read.unwrap_err()
            .to_string()
            .contains("`permissions.denny`")
    );
}

#[test]
fn settings_can_disable_modes() {
    let fixture = Fixture::new();
    let rows = [
        ("disableBypassPermissionsMode", "bypassPermissions"),
        ("disableAutoMode", "auto"),
    ];
    for (key, mode) in rows {
        let disabling = format!(r#"{{"permissions":{{"{key}":"disable"}}}}"#);
        let mut flags = PermissionFlags {
            settings: vec![fixture.write("disabling.json", &disabling)],
            ..PermissionFlags::default()
        };
        assert_eq!(fixture.read(&flags).unwrap().mode, Mode::Default);
        let chosen = format!(r#"{{"permissions":{{"defaultMode":"{mode}"}}}}"#);
        flags.settings.push(fixture.write("chosen.json", &chosen));
        let error = fixture.read(&flags).unwrap_err();
        let expected = format!("`permissions.{key}` forbids the permission mode `{mode}`");
        assert!(
            error.ends_with(&expected) && error.contains("disabling.json"),
            "{error}"
        );
        flags.mode = Some(Mode::Plan);
        assert_eq!(fixture.read(&flags).unwrap().mode, Mode::Plan);
        flags.settings.pop();
        flags.mode = <Mode as clap::ValueEnum>::from_str(mode, false).ok();
        assert!(fixture.read(&flags).is_err());
        let other = format!(r#"{{"permissions":{{"{key}":true}}}}"#);
        assert!(fixture.read_text(&other).is_err());
    }
}

#[test]
fn calls_outside_of_the_working_directories_can_be_blocked() {
    let fixture = Fixture::new();
    let decided = |key: &str, mode: Mode, action: &Action| {
        let text = format!(r#"{{"permissions":{{"{key}":true,"allow":["Edit","Read","Bash"]}}}}"#);
        let settings = fixture.read_text(&text).unwrap();
        let project = fixture.path("project");
        let decided = settings.rules.decide(
            mode,
            &Request {
                tool: if matches!(action, Action::Command { .. }) {
                    "Bash"
                } else {
                    "Write"
                },
                input: &Map::new(),
                action,
                directory: &project,
                working_directories: std::slice::from_ref(&project),
                confines_reads: false,
                is_confined: false,
                masks_files: false,
                links: &|_| Some(Vec::new()),
                home: None,
                real_path: &|path| path.canonicalize().ok().or(Some(path.to_owned())),
            },
        );
        if decided.decision == Behavior::Deny {
            let expected = DecidedBy::Rule {
                rule: key.to_owned(),
                behavior: Behavior::Deny,
                source: fixture.path("settings.json").display().to_string(),
            };
            assert_eq!(decided.by, expected);
        }
        decided.decision
    };
    std::os::unix::fs::symlink("/", fixture.path("project/link")).unwrap();
    let (reads, writes) = (
        "blockReadsOutsideWorkingDirectories",
        "blockWritesOutsideWorkingDirectories",
    );
    let rows = [
        (reads, "project/a", Behavior::Allow, Behavior::Allow),
        (reads, "a", Behavior::Deny, Behavior::Allow),
        (
            reads,
            "project/link/etc/hosts",
            Behavior::Deny,
            Behavior::Allow,
        ),
        (writes, "project/a", Behavior::Allow, Behavior::Allow),
        (writes, "a", Behavior::Allow, Behavior::Deny),
        (writes, "project/link/tmp", Behavior::Allow, Behavior::Deny),
    ];
    for (key, path, reading, writing) in rows {
        let path = || vec![fixture.path("").join(path)];
        for mode in [Mode::Default, Mode::AcceptEdits, Mode::BypassPermissions] {
            let read = Action::Files {
                reads: path(),
                writes: Vec::new(),
            };
            let write = Action::Files {
                reads: Vec::new(),
                writes: path(),
            };
            assert_eq!(decided(key, mode, &read), reading, "{key} {read:?}");
            assert_eq!(decided(key, mode, &write), writing, "{key} {write:?}");
        }
    }
    let rows = [
        ("cat a", Behavior::Allow),
        ("cat /etc/hosts", Behavior::Ask),
        ("cat ../a", Behavior::Ask),
        ("grep -rf/ a", Behavior::Ask),
        ("git --work-tree=/ status", Behavior::Ask),
        ("make | tee /tmp/x", Behavior::Ask),
        ("cat \"$x\"", Behavior::Ask),
    ];
    for (command, expected) in rows {
        let analysis = crate::shell::analyse(command);
        let command = Action::Command {
            only_reads: analysis.verdict.is_read_only(),
            is_ambiguous: false,
            script: command.to_owned(),
            line: analysis.line,
        };
        assert_eq!(
            decided(reads, Mode::BypassPermissions, &command),
            expected,
            "{command:?}"
        );
        assert_eq!(
            decided(writes, Mode::Default, &command),
            Behavior::Allow,
            "{command:?}"
        );
    }
}

#[test]
fn restrictions_outside_of_permissions_are_understood_or_errors() {
    let fixture = Fixture::new();
    for (text, key) in [
        (r#"{"sandbox":true}"#, "sandbox"),
        (r#"{"sandbox":"docker"}"#, "sandbox"),
        (r#"{"tools":{"core":["read_file"]}}"#, "tools.core"),
        (r#"{"coreTools":[]}"#, "coreTools"),
        (r#"{"tools":{"sandbox":true}}"#, "tools.sandbox"),
        (
            r#"{"tools":{"sandbox":{"command":"docker"}}}"#,
            "tools.sandbox",
        ),
        (r#"{"tools":{"exclude":[7]}}"#, "tools.exclude"),
        (r#"{"mcp":{"allowed":["a"]}}"#, "mcp.allowed"),
        (
            r#"{"deniedMcpServers":[{"serverUrl":"https://a"}]}"#,
            "deniedMcpServers",
        ),
        (r#"{"allowManagedHooksOnly":true}"#, "allowManagedHooksOnly"),
    ] {
        let error = fixture.read_text(text).unwrap_err();
        let expected = format!("unknown setting `{key}`, which may restrict calls");
        assert!(error.ends_with(&expected), "{text}: {error}");
        let flags = PermissionFlags {
            settings: vec![fixture.path("settings.json")],
            ignore_unknown_settings: true,
            ..PermissionFlags::default()
        };
        assert_eq!(fixture.read(&flags).unwrap().warnings.len(), 1, "{text}");
    }
    for text in [
        r#"{"sandbox":{"enabled":false,"network":{}}}"#,
        r#"{"sandbox":false,"tools":{"allowed":["x"],"sandbox":false},"model":{"name":"x"}}"#,
        r#"{"tools":{"sandbox":{"enabled":false,"command":"docker"}}}"#,
        r#"{"security":{"disableYoloMode":false},"mcp":{"serverCommand":"x"}}"#,
    ] {
        let settings = fixture.read_text(text).unwrap();
        assert_eq!(settings.warnings, [""; 0], "{text}");
    }
    let denied = |text: &str, tool: &str, command: &str| {
        let settings = fixture.read_text(text).unwrap();
        let action = Action::Command {
            script: command.to_owned(),
            line: crate::shell::analyse(command).line,
            only_reads: false,
            is_ambiguous: false,
        };
        let request = Request {
            tool,
            input: &Map::new(),
            action: if command.is_empty() {
                &Action::Anything
            } else {
                &action
            },
            directory: Path::new("/"),
            working_directories: &[PathBuf::from("/")],
            confines_reads: false,
            is_confined: false,
            masks_files: false,
            links: &|_| Some(Vec::new()),
            home: None,
            real_path: &|path| Some(path.to_owned()),
        };
        settings
            .rules
            .decide(Mode::BypassPermissions, &request)
            .decision
            == Behavior::Deny
    };
    let excluded = r#"{"tools":{"exclude":["web_fetch","run_shell_command(rm -rf)"]}}"#;
    assert!(denied(excluded, "Bash", "ls; rm -rf x"));
    assert!(!denied(excluded, "Bash", "rm x"));
    assert!(denied(excluded, "WebFetch", ""));
    assert!(denied(r#"{"excludeTools":["ShellTool"]}"#, "Bash", "ls"));
    let servers = r#"{"deniedMcpServers":[{"serverName":"a"}],"mcp":{"excluded":["b"]}}"#;
    assert!(denied(servers, "mcp__a__x", "") && denied(servers, "mcp__b__x", ""));
    assert!(!denied(servers, "mcp__c__x", ""));
    let plan = fixture
        .read_text(r#"{"tools":{"approvalMode":"plan"}}"#)
        .unwrap();
    assert_eq!(plan.mode, Mode::Plan);
    let yolo = r#"{"security":{"disableYoloMode":true},"permissions":{"defaultMode":"bypassPermissions"}}"#;
    assert!(
        fixture
            .read_text(yolo)
            .unwrap_err()
            .contains("`security.disableYoloMode` forbids")
    );
}

//! Permissions of settings files, flags and the configuration file.

use std::fs;

use super::*;
use crate::config::ConfigSource;
use crate::message::DecidedBy;
use crate::permission::{Action, Request};

/// A project, a home directory, and settings files in them.
pub(super) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for directory in [
            "project/.claude",
            "project/.qwen",
            "project/docs",
            "home/.claude",
        ] {
            fs::create_dir_all(folder.path().join(directory)).unwrap();
        }
        Self { folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(super) fn config(&self, text: &str) -> Config {
        let path = self.write("config.toml", text);
        let home = self.path("home");
        let environment = [("HOME", home.to_str().unwrap())].into_iter().collect();
        Config::load(&ConfigSource::Named(path), &environment).unwrap()
    }

    pub(super) fn read(&self, flags: &PermissionFlags) -> Result<PermissionSettings, String> {
        self.config("")
            .permissions(flags, &self.path("project"))
            .map_err(|error| error.to_string())
    }

    /// Permissions from one settings file.
    pub(super) fn read_text(&self, text: &str) -> Result<PermissionSettings, String> {
        let settings = vec![self.write("settings.json", text)];
        self.read(&PermissionFlags {
            settings,
            ..PermissionFlags::default()
        })
    }
}

/// Returns the rule that decides about writing a file.
fn find_rule(settings: &PermissionSettings, file: &Path) -> Option<String> {
    let action = Action::Files {
        reads: Vec::new(),
        writes: vec![file.to_owned()],
    };
    let decided = settings.rules.decide(
        Mode::Default,
        &Request {
            tool: "Write",
            input: &Map::new(),
            action: &action,
            directory: Path::new("/"),
            working_directories: &["/".into()],
            confines_reads: false,
            is_confined: false,
            masks_files: false,
            links: &|_| Some(Vec::new()),
            home: None,
            real_path: &|path| Some(path.to_owned()),
        },
    );
    match decided.by {
        DecidedBy::Rule { rule, .. } => Some(rule),
        _ => None,
    }
}

#[test]
fn rules_of_all_sources_count_and_paths_are_relative_to_their_file() {
    let fixture = Fixture::new();
    let text = |number: usize| format!(r#"{{"permissions":{{"deny":["Edit(/{number})"]}}}}"#);
    let files = [
        ("project/.claude/settings.json", "project"),
        ("project/.qwen/settings.json", "project"),
        ("project/docs/settings.json", "project/docs"),
        ("home/.claude/settings.json", "home/.claude"),
    ];
    let written = files.iter().enumerate();
    let flags = PermissionFlags {
        settings: written
            .map(|(number, (name, _))| fixture.write(name, &text(number)))
            .collect(),
        deny: vec!["Edit(/flag)".to_owned()],
        ..PermissionFlags::default()
    };
    let config = fixture.config("[permissions]\nask = [\"Edit(/config)\"]\n");
    let settings = config
        .permissions(&flags, &fixture.path("project"))
        .unwrap();
    let mut expected: Vec<(&str, String)> = files
        .iter()
        .enumerate()
        .map(|(number, (_, anchor))| (*anchor, number.to_string()))
        .collect();
    expected.push(("project", "flag".to_owned()));
    expected.push(("", "config".to_owned()));
    for (anchor, name) in expected {
        let rule = find_rule(&settings, &fixture.path(anchor).join(&name));
        assert_eq!(rule, Some(format!("Edit(/{name})")), "{anchor}");
        assert_eq!(
            find_rule(&settings, &fixture.path("elsewhere").join(&name)),
            None
        );
    }
}

#[test]
fn the_nearest_mode_counts_and_later_variables() {
    let fixture = Fixture::new();
    let one = fixture.write(
        "one.json",
        r#"{"permissions":{"defaultMode":"bypassPermissions"},"env":{"A":"1","B":"1"}}"#,
    );
    let two = fixture.write("two.json", r#"{"env":{"B":"2"},"model":7}"#);
    let mut flags = PermissionFlags {
        settings: vec![one, two],
        ..PermissionFlags::default()
    };
    let config = fixture.config("permissions.default_mode = \"plan\"");
    let read = |flags: &PermissionFlags| config.permissions(flags, Path::new("/")).unwrap();
    let settings = read(&flags);
    assert_eq!(settings.mode, Mode::BypassPermissions);
    let variables = [("A", "1"), ("B", "2")].map(|(name, value)| (name.into(), value.into()));
    assert_eq!(settings.environment, BTreeMap::from(variables));
    flags.mode = Some(Mode::Default);
    assert_eq!(read(&flags).mode, Mode::Default);
    assert_eq!(read(&PermissionFlags::default()).mode, Mode::Plan);
}

#[test]
fn hooks_are_kept_unless_one_file_disables_them() {
    let fixture = Fixture::new();
    let hooks = fixture.write("hooks.json", r#"{"hooks":{"Stop":[]}}"#);
    let none = fixture.write("none.json", r#"{"disableAllHooks":true}"#);
    let mut flags = PermissionFlags {
        settings: vec![hooks],
        ..PermissionFlags::default()
    };
    assert_eq!(fixture.read(&flags).unwrap().hooks.len(), 1);
    flags.settings.push(none);
    assert!(fixture.read(&flags).unwrap().hooks.is_empty());
}

#[test]
fn ignored_settings_are_reported() {
    let fixture = Fixture::new();
    let text = r#"{"permissions":{"denny":[],"_comment":1,"additionalDirectories":["docs","../none","~/.claude"]}}"#;
    let settings = fixture
        .read(&PermissionFlags {
            settings: vec![fixture.write("settings.json", text)],
            ignore_unknown_settings: true,
            ..PermissionFlags::default()
        })
        .unwrap();
    let expected = [fixture.path("project/docs"), fixture.path("home/.claude")];
    assert_eq!(settings.directories, expected);
    let [directory, key] = &settings.warnings[..] else {
        panic!("{:?}", settings.warnings);
    };
    assert!(directory.ends_with("settings.json: ignored `../none`: not a directory"));
    assert!(key.ends_with("settings.json: ignored `permissions.denny`: unknown setting"));
}

#[test]
fn comments_are_skipped_outside_strings() {
    let fixture = Fixture::new();
    let texts = [
        "// first\n{\"env\":{\"A\":\"1\"}}",
        "{\"env\": // a \" quote\r\n{\"A\":\"1\"}}// last",
        "{/* { \" \n é **/\"env\":/**/{\"A\":/*/*/\"1\"}}",
    ];
    for text in texts {
        let settings = fixture.read_text(text).unwrap();
        assert_eq!(settings.environment["A"], "1", "{text}");
    }
    for value in ["https://a.org/*x*/", r#"\" // \\"#, "é//"] {
        let text = serde_json::json!({"env": {"A": value}}).to_string();
        let settings = fixture.read_text(&text).unwrap();
        assert_eq!(settings.environment["A"], value);
    }
    // An unclosed comment is an error, and positions refer to the file.
    for (text, place) in [
        ("{} /* x", "line 1 column 4"),
        ("{} / x", "line 1 column 4"),
        ("/* é\n */ {\"hooks\": 7}", "line 2 column"),
    ] {
        let error = fixture.read_text(text).unwrap_err();
        assert!(error.contains(place), "{text}: {error}");
    }
}

#[test]
fn malformed_files_are_errors_with_their_place() {
    let fixture = Fixture::new();
    let table = [
        ("", "line 1 column 0"),
        ("[]", "line 1 column 0"),
        ("{\n\"permissions\": 7}", "line 2 column 16"),
        (r#"{"permissions":{"deny":"Bash"}}"#, "column"),
        (r#"{"permissions":{"deny":[7]}}"#, "a rule is a string"),
        (r#"{"permissions":{"deny":["Bash("]}}"#, "`Bash(`"),
        (r#"{"permissions":{"allow":["*"]}}"#, "`*`"),
        (
            r#"{"permissions":{"allow":[{"rule":"Bash(","match":[]}]}}"#,
            "`Bash(`",
        ),
        (
            r#"{"permissions":{"allow":[{"rule":"Bash","matches":[]}]}}"#,
            "a rule is a string",
        ),
        (
            r#"{"permissions":{"defaultMode":"none"}}"#,
            "unknown permission mode `none`",
        ),
        (r#"{"permissions":{"additionalDirectories":"x"}}"#, "column"),
        (r#"{"hooks":[]}"#, "column"),
        (r#"{"env":{"A":1}}"#, "column"),
        (r#"{"disableAllHooks":"no"}"#, "column"),
    ];
    for (text, place) in table {
        let error = fixture.read_text(text).unwrap_err();
        assert!(
            error.contains("settings.json: ") && error.contains(place),
            "{text}: {error}"
        );
        assert!(!error.contains('\n'), "{error}");
    }
    let flags = PermissionFlags {
        allow: vec!["Bash(".to_owned()],
        ..PermissionFlags::default()
    };
    assert!(fixture.read(&flags).unwrap_err().starts_with("--allow: "));
    let missing = PermissionFlags {
        settings: vec![fixture.path("missing.json")],
        ..PermissionFlags::default()
    };
    assert!(
        fixture
            .read(&missing)
            .unwrap_err()
            .contains("missing.json: ")
    );
}

#[test]
fn examples_of_rules_are_checked() {
    let fixture = Fixture::new();
    // The list, the rule, a call that it matches, and one that it does not.
    let table = [
        ("allow", "Bash(npm run *)", "npm run x", "npm runx"),
        ("allow", "Bash(npm *)", "npm a && npm b", "npm a && rm b"),
        ("allow", "Bash(npm *)", "npm a", "ls"),
        ("deny", "Bash(rm *)", "ls; rm b", "rmdir b"),
        ("ask", "Bash(git push *)", "git push", "git pull"),
        ("deny", "Read(.env)", "a/.env", "a/.envs"),
        ("allow", "Read(docs/**)", "docs/a", "src/a"),
        ("allow", "Edit(/src/**)", "src/a/b.rs", "docs/b.rs"),
        ("deny", "Edit(src/**)", "src/a/b.rs", "docs/b.rs"),
        (
            "allow",
            "WebFetch(domain:a.org)",
            "https://a.org/x",
            "https://b.org/x",
        ),
    ];
    for (list, rule, matching, other) in table {
        let text = |matching: &str, not_match: &str| {
            let rule =
                serde_json::json!({"rule": rule, "match": [matching], "not_match": [not_match]});
            let settings = serde_json::json!({ "permissions": { list: [rule] } });
            let path = fixture.write("project/settings.json", &settings.to_string());
            fixture.read(&PermissionFlags {
                settings: vec![path],
                ..PermissionFlags::default()
            })
        };
        assert!(
            text(matching, other).is_ok(),
            "{rule}: {:?}",
            text(matching, other).err()
        );
        let error = text(other, other).unwrap_err();
        assert!(
            error.ends_with(&format!("`{rule}` does not match `{other}`")),
            "{error}"
        );
        let error = text(matching, matching).unwrap_err();
        assert!(
            error.ends_with(&format!("`{rule}` matches `{matching}`")),
            "{error}"
        );
    }
}

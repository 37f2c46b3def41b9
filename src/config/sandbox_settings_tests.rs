//! The key `sandbox` of settings files.

use super::tests::Fixture;
use super::*;

/// Returns the settings with these members of `sandbox`.
fn read(fixture: &Fixture, members: &str) -> Result<PermissionSettings, String> {
    fixture.read_text(&format!(r#"{{"sandbox":{{"enabled":true,{members}}}}}"#))
}

fn enabled_settings() -> SandboxSettings {
    SandboxSettings {
        is_enabled: true,
        ..SandboxSettings::default()
    }
}

/// Returns the paths of a list, without wildcards of their own.
fn paths(list: &[SandboxPath]) -> Vec<PathBuf> {
    let join = |path: &SandboxPath| path.directory.join(&path.pattern);
    list.iter().map(join).collect()
}

type Change = fn(&mut SandboxSettings);
type List = fn(&SandboxSettings) -> &Vec<SandboxPath>;

#[test]
fn each_key_sets_its_value() {
    let rows: [(&str, Change); 15] = [
        (r#""failIfUnavailable":true"#, |set| {
            set.fails_if_unavailable = true;
        }),
        (r#""autoAllowBashIfSandboxed":true"#, |_| {}),
        (r#""autoAllowBashIfSandboxed":false"#, |set| {
            set.needs_approval = true;
        }),
        (r#""allowUnsandboxedCommands":true"#, |_| {}),
        (r#""allowUnsandboxedCommands":false"#, |set| {
            set.forbids_leaving = true;
        }),
        (r#""excludedCommands":["docker *"]"#, |set| {
            set.excluded_commands = vec!["docker *".to_owned()];
        }),
        (
            r#""credentials":{"envVars":[{"name":"A","mode":"deny"},{"name":"B","mode":"deny"}]}"#,
            |set| set.credential_variables = vec!["A".to_owned(), "B".to_owned()],
        ),
        (r#""network":{"allowedDomains":["*.a.com"]}"#, |set| {
            set.allowed_domains = vec!["*.a.com".to_owned()];
        }),
        (r#""network":{"deniedDomains":["b.com:80"]}"#, |set| {
            set.denied_domains = vec!["b.com:80".to_owned()];
        }),
        (r#""network":{"allowAllUnixSockets":true}"#, |set| {
            set.allows_all_unix_sockets = true;
        }),
        (r#""network":{"allowLocalBinding":true}"#, |_| {}),
        (
            r#""network":{"httpProxyPort":8080,"socksProxyPort":8081}"#,
            |_| {},
        ),
        (
            r#""ripgrep":{"command":"rg","args":[]},"bwrapPath":"/usr/bin/bwrap","socatPath":"/usr/bin/socat""#,
            |_| {},
        ),
        (
            r#""enabledPlatforms":["macos"],"ignoreViolations":{"*":["/usr"]},"allowAppleEvents":true"#,
            |_| {},
        ),
        (
            r#""network":{"strictAllowlist":true,"allowManagedDomainsOnly":false,"allowMachLookup":["x"]},
                "filesystem":{"disabled":false,"allowManagedReadPathsOnly":false},
                "enableWeakerNestedSandbox":false,"enableWeakerNetworkIsolation":false,
                "allowNestedUserNamespaces":false,"_comment":1,"//":{}"#,
            |_| {},
        ),
    ];
    let fixture = Fixture::new();
    for (members, change) in rows {
        let settings = read(&fixture, members).unwrap();
        let mut expected = enabled_settings();
        change(&mut expected);
        assert_eq!(settings.sandbox, expected, "{members}");
        assert_eq!(settings.warnings, [""; 0], "{members}");
    }
    let lists: [(&str, &str, List); 5] = [
        ("filesystem", "allowWrite", |set| &set.allow_write),
        ("filesystem", "denyWrite", |set| &set.deny_write),
        ("filesystem", "denyRead", |set| &set.deny_read),
        ("filesystem", "allowRead", |set| &set.allow_read),
        ("network", "allowUnixSockets", |set| &set.unix_sockets),
    ];
    let expected = [fixture.path("a"), fixture.path("home/b"), "/c".into()];
    for (table, key, list) in lists {
        let members = format!(r#""{table}":{{"{key}":["a","~/b","/c/**"]}}"#);
        let settings = read(&fixture, &members).unwrap();
        assert_eq!(paths(list(&settings.sandbox)), expected, "{key}");
    }
    let files = r#""credentials":{"files":[{"path":"~/b","mode":"deny"}]}"#;
    let files = read(&fixture, files).unwrap().sandbox.credential_files;
    assert_eq!(paths(&files), expected[1..2]);
    let file = fixture.path("settings.json").display().to_string();
    assert_eq!(files[0].source.name, file);
}

#[test]
fn nothing_makes_the_sandbox_weaker() {
    let fixture = Fixture::new();
    for (members, key) in [
        (
            r#""enableWeakerNestedSandbox":true"#,
            "enableWeakerNestedSandbox",
        ),
        (
            r#""enableWeakerNetworkIsolation":true"#,
            "enableWeakerNetworkIsolation",
        ),
        (
            r#""allowNestedUserNamespaces":true"#,
            "allowNestedUserNamespaces",
        ),
        (r#""filesystem":{"disabled":true}"#, "filesystem.disabled"),
    ] {
        let settings = read(&fixture, members).unwrap();
        assert_eq!(settings.sandbox, enabled_settings());
        let [warning] = &settings.warnings[..] else {
            panic!("{:?}", settings.warnings);
        };
        let expected = format!("settings.json: ignored `sandbox.{key}`: no weaker sandbox");
        assert!(warning.ends_with(&expected), "{warning}");
    }
}

#[test]
fn what_is_not_understood_ends_the_run_if_the_sandbox_is_enabled() {
    let fixture = Fixture::new();
    let unknown = |key: &str| format!("unknown setting `sandbox.{key}`, which may restrict calls");
    let invalid = |key: &str, problem: &str| format!("`sandbox.{key}`: {problem}");
    let mask = "unknown variant `mask`, expected `deny`";
    for (members, expected) in [
        (r#""newKey":false"#, unknown("newKey")),
        (r#""type":"docker""#, unknown("type")),
        (r#""network":{"deny":[]}"#, unknown("network.deny")),
        (r#""network":{"network":{}}"#, unknown("network.network")),
        (
            r#""network":{"tlsTerminate":{}}"#,
            unknown("network.tlsTerminate"),
        ),
        (
            r#""network":{"allowManagedDomainsOnly":true}"#,
            unknown("network.allowManagedDomainsOnly"),
        ),
        (
            r#""filesystem":{"allowManagedReadPathsOnly":true}"#,
            unknown("filesystem.allowManagedReadPathsOnly"),
        ),
        (
            r#""credentials":{"sigv4":{}}"#,
            unknown("credentials.sigv4"),
        ),
        (
            r#""credentials":{"envVars":[{"name":"A","mode":"mask"}]}"#,
            invalid("credentials.envVars", mask),
        ),
        (
            r#""credentials":{"files":[{"path":"a","mode":"mask"}]}"#,
            invalid("credentials.files", mask),
        ),
        (
            r#""credentials":{"files":[{"mode":"deny"}]}"#,
            invalid("credentials.files", "missing field `name`"),
        ),
        (
            r#""excludedCommands":"docker""#,
            invalid(
                "excludedCommands",
                "invalid type: string \"docker\", expected a sequence",
            ),
        ),
        (
            r#""filesystem":[]"#,
            invalid("filesystem", "invalid type: sequence, expected a map"),
        ),
    ] {
        let error = read(&fixture, members).unwrap_err();
        assert!(error.ends_with(&expected), "{members}: {error}");
        assert!(error.contains("settings.json: "), "{error}");
        let disabled = format!(r#"{{"sandbox":{{{members},"enabled":false}}}}"#);
        let settings = fixture.read_text(&disabled).unwrap();
        assert_eq!(settings.warnings.len(), 1, "{members}");
        let enabled = format!(r#"{{"sandbox":{{"enabled":true,{members}}}}}"#);
        let flags = PermissionFlags {
            settings: vec![fixture.write("settings.json", &enabled)],
            ignore_unknown_settings: true,
            ..PermissionFlags::default()
        };
        assert_eq!(fixture.read(&flags).unwrap().warnings.len(), 1, "{members}");
    }
    let text = r#"{"sandbox":{"enabled":"docker"}}"#;
    let error = fixture.read_text(text).unwrap_err();
    assert!(error.contains("`sandbox.enabled`: invalid type"), "{error}");
}

#[test]
fn lists_are_joined_and_other_values_come_from_the_last_file() {
    let fixture = Fixture::new();
    let files = [
        (
            "home/.claude/settings.json",
            r#"{"sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false,
                "filesystem":{"denyRead":["~/.ssh","private"]},"network":{"allowedDomains":["a.com"],"httpProxyPort":1}}}"#,
        ),
        (
            "project/.claude/settings.json",
            r#"{"sandbox":{"allowUnsandboxedCommands":true,"filesystem":{"denyRead":["private"]},
                "network":{"allowedDomains":["b.com","a.com"],"httpProxyPort":2}}}"#,
        ),
        (
            "project/.claude/settings.local.json",
            r#"{"sandbox":{"failIfUnavailable":false,"excludedCommands":["docker"]}}"#,
        ),
    ];
    let mut flags = PermissionFlags {
        settings: files
            .iter()
            .map(|(name, text)| fixture.write(name, text))
            .collect(),
        ..PermissionFlags::default()
    };
    let sandbox = fixture.read(&flags).unwrap().sandbox;
    assert!(sandbox.is_enabled && !sandbox.fails_if_unavailable && !sandbox.forbids_leaving);
    assert_eq!(sandbox.allowed_domains, ["a.com", "b.com", "a.com"]);
    assert_eq!(sandbox.excluded_commands, ["docker"]);
    let expected = [
        ("home/.ssh", 0),
        ("home/.claude/private", 0),
        ("project/private", 1),
    ];
    let named = sandbox.deny_read.iter();
    let named: Vec<_> = named
        .map(|path| (path.directory.join(&path.pattern), path.source.name.clone()))
        .collect();
    let name_of = |file: usize| flags.settings[file].display().to_string();
    let expected = expected.map(|(path, file)| (fixture.path(path), name_of(file)));
    assert_eq!(named, expected);

    // A problem in a file counts if a later file enables the sandbox, and not if a later one disables it.
    let written = |name: &str, text: &str| fixture.write(&format!("project/.claude/{name}"), text);
    let strange = written("strange.json", r#"{"sandbox":{"strange":1}}"#);
    let on = written("on.json", r#"{"sandbox":{"enabled":true}}"#);
    let off = written("off.json", r#"{"sandbox":{"enabled":false}}"#);
    flags.settings = vec![strange, on];
    assert!(fixture.read(&flags).unwrap_err().contains("strange"));
    flags.settings.push(off);
    let settings = fixture.read(&flags).unwrap();
    assert!(!settings.sandbox.is_enabled && settings.warnings.len() == 1);
}

#[test]
fn paths_are_written_otherwise_than_in_permission_rules() {
    let fixture = Fixture::new();
    let text = r#"{"permissions":{"deny":["Read(/x)","Read(//y)"]},
        "sandbox":{"enabled":true,"filesystem":{"denyRead":["/x","//y","x"]}}}"#;
    let flags = PermissionFlags {
        settings: vec![fixture.write("project/.claude/settings.json", text)],
        ..PermissionFlags::default()
    };
    let settings = fixture.read(&flags).unwrap();
    let project = fixture.path("project");
    let expected = ["/x".into(), "/y".into(), project.join("x")];
    assert_eq!(paths(&settings.sandbox.deny_read), expected);
    let denied = settings
        .rules
        .denied_files(None, std::slice::from_ref(&project));
    let denied: Vec<PathBuf> = denied.iter().map(|file| file.literal_start().0).collect();
    assert_eq!(denied, [project.join("x"), "/y".into()]);
}

/// Settings files with the forms that public repositories have, each with its numbers of writable paths, unreadable
/// paths, allowed domains and warnings.
const REALISTIC: [(&str, [usize; 4]); 12] = [
    // The smallest one.
    (r#"{"sandbox":{"enabled":true}}"#, [0, 0, 0, 0]),
    // A web project with a container.
    (
        r#"{"permissions":{"allow":["Bash(npm run *)"],"deny":["Read(./.env)","Read(~/.aws/**)"]},
            "sandbox":{"enabled":true,"autoAllowBashIfSandboxed":true,"excludedCommands":["docker","git"],
            "network":{"allowUnixSockets":["/var/run/docker.sock"],"allowLocalBinding":true}}}"#,
        [0, 0, 0, 0],
    ),
    // A policy that permits no way out.
    (
        r#"{"sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false,
            "filesystem":{"denyRead":["/"],"allowRead":["."],"allowWrite":["."],
            "denyWrite":[".claude/settings.json",".mcp.json"]},"network":{"allowedDomains":[]}}}"#,
        [1, 1, 0, 0],
    ),
    // Registries.
    (
        r#"{"sandbox":{"enabled":true,"network":{"allowedDomains":["registry.npmjs.org","*.npmjs.org",
            "pypi.org","files.pythonhosted.org","crates.io","static.crates.io","index.crates.io"],
            "deniedDomains":["uploads.example.org"]}}}"#,
        [0, 0, 7, 0],
    ),
    // Infrastructure tools.
    (
        r#"{"sandbox":{"enabled":true,"filesystem":{"allowWrite":["~/.kube","//tmp/build","~/.terraform.d/"],
            "denyRead":["~/.aws/credentials","~/.ssh"]},"excludedCommands":["terraform *","gcloud *"],
            "enableWeakerNestedSandbox":false}}"#,
        [3, 2, 0, 0],
    ),
    // In a container.
    (
        r#"{"sandbox":{"enabled":true,"enableWeakerNestedSandbox":true,"filesystem":{"allowWrite":["/tmp"]}}}"#,
        [1, 0, 0, 1],
    ),
    // Patterns of secrets.
    (
        r#"{"sandbox":{"enabled":true,"filesystem":{"allowRead":[],"allowWrite":["."],
            "denyRead":[".env*","*.pem","*.key","**/secrets/**"],"denyWrite":[".claude/","secrets/",".git/hooks/"]}}}"#,
        [1, 4, 0, 0],
    ),
    // Variables, for headless runs.
    (
        r#"{"sandbox":{"enabled":true,"failIfUnavailable":true,"credentials":{"envVars":[
            {"name":"NPM_TOKEN","mode":"deny"},{"name":"AWS_SECRET_ACCESS_KEY","mode":"deny"}],
            "files":[{"path":"~/.netrc","mode":"deny"}]},
            "network":{"allowedDomains":["api.anthropic.com"],"strictAllowlist":true}}}"#,
        [0, 0, 1, 0],
    ),
    // With a proxy of one's own.
    (
        r#"{"sandbox":{"enabled":true,"network":{"httpProxyPort":8080,"socksProxyPort":1080,
            "allowAllUnixSockets":false,"allowManagedDomainsOnly":false}},"env":{"HTTP_PROXY":"http://localhost:8080"}}"#,
        [0, 0, 0, 0],
    ),
    // Only what should hold if the user enables it elsewhere.
    (
        r#"{"sandbox":{"allowUnsandboxedCommands":false,"excludedCommands":["gh *"],
            "filesystem":{"denyRead":["~/.config/gh"]}}}"#,
        [0, 1, 0, 0],
    ),
    // Disabled, with what was there.
    (
        r#"{"sandbox":{"enabled":false,"autoAllowBashIfSandboxed":false,"network":{"allowedDomains":["*"]}}}"#,
        [0, 0, 1, 0],
    ),
    // With comments, and keys for macOS.
    (
        r#"{
            // Builds need the cache.
            "$schema": "https://json.schemastore.org/claude-code-settings.json",
            "sandbox": {
                "_comment": "see the wiki",
                "enabled": true, /* on all machines */
                "allowAppleEvents": false,
                "ignoreViolations": {"*": ["/usr/bin"], "git push": ["/usr/bin/nc"]},
                "ripgrep": {"command": "rg"},
                "filesystem": {"allowWrite": ["~/.cache/build", "../shared"], "denyRead": ["~/"]}
            }
        }"#,
        [2, 1, 0, 0],
    ),
];

#[test]
fn settings_files_of_projects_are_understood() {
    let fixture = Fixture::new();
    for (text, expected) in REALISTIC {
        let settings = fixture.read_text(text).unwrap();
        let sandbox = &settings.sandbox;
        let found = [
            sandbox.allow_write.len(),
            sandbox.deny_read.len(),
            sandbox.allowed_domains.len(),
            settings.warnings.len(),
        ];
        assert_eq!(found, expected, "{text}");
        let is_enabled = text.replace(": ", ":").contains(r#""enabled":true"#);
        assert_eq!(sandbox.is_enabled, is_enabled, "{text}");
    }
}

//! Permission rules and hooks, from settings files of agents, flags and the configuration file.
//!
//! See `docs/protocol.md`, Settings files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::agent_settings::read_agent_settings;
use super::file::ConfigError;
use super::settings::Config;
use super::variables::{HOME, PROJECT};
use crate::io::Environment;
use crate::permission::{Behavior, Mode, OutsideAccess, Rule, Rules, Source};

/// Directories of a project or a home directory that hold an agent's settings.
const SETTINGS_DIRECTORIES: [&str; 2] = [".claude", ".qwen"];

/// What flags say about permissions.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PermissionFlags {
    /// Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable
    #[arg(long, value_name = "FILE")]
    pub settings: Vec<PathBuf>,
    /// Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Ask about the calls that a rule matches; repeatable
    #[arg(long, value_name = "RULE")]
    pub ask: Vec<String>,
    /// Deny the calls that a rule matches, whatever else allows them; repeatable
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// What happens to calls that no rule decides [default: the mode of the settings, else `default`]
    #[arg(long = "permission-mode", value_enum, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// Ignore settings under `permissions` that are not understood, although they may restrict calls
    #[arg(long)]
    pub ignore_unknown_settings: bool,
}

/// What flags, settings files and the configuration file say together.
#[derive(Debug, Default)]
pub struct PermissionSettings {
    /// All rules: those of flags, of settings files, of the configuration file.
    pub rules: Rules,
    /// The mode: that of the flag, else of the last settings file that names one, else of the
    /// configuration file.
    pub mode: Mode,
    /// Whether a call that the user would be asked about is denied.
    pub denies_instead_of_asking: bool,
    /// Further directories to work in; absolute, without links.
    pub directories: Vec<PathBuf>,
    /// Environment variables; later files count more.
    pub environment: BTreeMap<String, String>,
    /// The `hooks` of each settings file; none if one of them disables all.
    pub hooks: Vec<(Map<String, Value>, Arc<Source>)>,
    /// What was ignored, a line each.
    pub warnings: Vec<String>,
}

/// A settings file of an agent. What it says about other things is none of our business.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SettingsFile {
    permissions: PermissionTable,
    hooks: Map<String, Value>,
    env: BTreeMap<String, String>,
    #[serde(rename = "disableAllHooks")]
    disable_all_hooks: bool,
    /// With this only an object is accepted, and not the fields as an array.
    #[serde(flatten)]
    _others: IgnoredAny,
}

/// `permissions` of a settings file, and `[permissions]` of the configuration file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PermissionTable {
    allow: Vec<WrittenRule>,
    ask: Vec<WrittenRule>,
    deny: Vec<WrittenRule>,
    #[serde(alias = "default_mode")]
    default_mode: Option<ModeName>,
    #[serde(alias = "additional_directories")]
    additional_directories: Vec<String>,
    /// The other keys.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// The name of a mode.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ModeName(Mode);

impl<'de> Deserialize<'de> for ModeName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        <Mode as clap::ValueEnum>::from_str(&name, false)
            .map(Self)
            .map_err(|_| serde::de::Error::custom(format!("`{name}` is no permission mode")))
    }
}

/// A rule, alone or with examples.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a rule is a string, or an object with `rule`, `match` and `not_match`"
)]
enum WrittenRule {
    Alone(String),
    Tested(TestedRule),
}

/// A rule with calls that it has to match, and calls that it must not.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestedRule {
    pub(super) rule: String,
    #[serde(default, rename = "match")]
    pub(super) matching: Vec<String>,
    #[serde(default)]
    pub(super) not_match: Vec<String>,
}

impl PermissionTable {
    fn rules(&self) -> impl Iterator<Item = (&WrittenRule, Behavior)> {
        [
            (&self.deny, Behavior::Deny),
            (&self.ask, Behavior::Ask),
            (&self.allow, Behavior::Allow),
        ]
        .into_iter()
        .flat_map(|(rules, behavior)| rules.iter().map(move |rule| (rule, behavior)))
    }
}

impl Config {
    /// Reads the settings files and puts together what is said about permissions, for a session
    /// that starts in `directory` (absolute).
    ///
    /// # Errors
    /// A file cannot be read or is malformed, or a rule is, or a rule does not match as its examples
    /// say.
    pub fn permissions(
        &self,
        flags: &PermissionFlags,
        directory: &Path,
    ) -> Result<PermissionSettings, ConfigError> {
        let home = HOME.text(&self.environment).map(Path::new);
        let mut gathered = Gathered {
            rules: Vec::new(),
            settings: PermissionSettings::default(),
            disabled: Vec::new(),
            ignores_unknown: flags.ignore_unknown_settings,
            directory,
            home,
        };
        let mut mode = self.file.permissions.default_mode;
        let given = [
            ("--deny", &flags.deny, Behavior::Deny),
            ("--ask", &flags.ask, Behavior::Ask),
            ("--allow", &flags.allow, Behavior::Allow),
        ];
        for (flag, rules, behavior) in given {
            let source = Arc::new(Source {
                name: flag.to_owned(),
                anchor: directory.to_owned(),
            });
            for rule in rules {
                gathered.rules.push(Rule::parse(rule, behavior, &source)?);
            }
        }
        let mut hooks_are_disabled = false;
        for path in &flags.settings {
            let file: SettingsFile = read_agent_settings(path)?;
            let source = Arc::new(Source {
                name: path.display().to_string(),
                anchor: anchor(&absolute(path), home),
            });
            gathered.add(&file.permissions, &source)?;
            mode = file.permissions.default_mode.or(mode);
            hooks_are_disabled |= file.disable_all_hooks;
            gathered.settings.environment.extend(file.env);
            gathered.settings.hooks.push((file.hooks, source));
        }
        if let Some(path) = &self.file.path {
            let source = Arc::new(Source {
                name: path.display().to_string(),
                anchor: anchor(&absolute(path), home),
            });
            gathered.add(&self.file.permissions, &source)?;
        }
        let Gathered {
            rules,
            mut settings,
            disabled,
            ..
        } = gathered;
        if hooks_are_disabled {
            settings.hooks.clear();
        }
        settings.rules = Rules::new(rules);
        settings.mode = flags.mode.or(mode.map(|name| name.0)).unwrap_or_default();
        let mut disabled = disabled.into_iter();
        if let Some((mode, key, source)) = disabled.find(|(mode, ..)| *mode == settings.mode) {
            let mode = mode.name();
            return Err(ConfigError::Invalid {
                path: (&source.name).into(),
                reason: format!("`permissions.{key}` forbids the permission mode `{mode}`"),
            });
        }
        settings.warnings.extend(settings.rules.warnings());
        Ok(settings)
    }
}

/// Settings while they are put together.
struct Gathered<'a> {
    rules: Vec<Rule>,
    settings: PermissionSettings,
    /// The modes that must not be used, with the keys that say so.
    disabled: Vec<(Mode, String, Arc<Source>)>,
    ignores_unknown: bool,
    directory: &'a Path,
    home: Option<&'a Path>,
}

impl Gathered<'_> {
    fn add(&mut self, table: &PermissionTable, source: &Arc<Source>) -> Result<(), ConfigError> {
        for (written, behavior) in table.rules() {
            let rule = match written {
                WrittenRule::Alone(text) => Rule::parse(text, behavior, source)?,
                WrittenRule::Tested(tested) => {
                    let rule = Rule::parse(&tested.rule, behavior, source)?;
                    tested
                        .try_examples(&rule, self.directory, self.home)
                        .map_err(|problem| ConfigError::RuleExample {
                            source_name: source.name.clone(),
                            problem,
                        })?;
                    rule
                }
            };
            self.rules.push(rule);
        }
        for name in &table.additional_directories {
            let path = match (name.strip_prefix("~/"), self.home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => self.directory.join(name),
            };
            match path.canonicalize() {
                Ok(path) if path.is_dir() => self.settings.directories.push(path),
                _ => self.warn(
                    source,
                    &format!("`{name}` is no directory, and was ignored"),
                ),
            }
        }
        for (key, value) in &table.others {
            let outside = |access, behavior| Rule::outside(key, access, behavior, source);
            match (key.as_str(), value) {
                ("blockReadsOutsideWorkingDirectories", Value::Bool(true)) => self.rules.extend([
                    outside(OutsideAccess::Reading, Behavior::Deny),
                    outside(OutsideAccess::Command, Behavior::Ask),
                ]),
                ("blockWritesOutsideWorkingDirectories", Value::Bool(true)) => {
                    self.rules
                        .push(outside(OutsideAccess::Writing, Behavior::Deny));
                }
                ("denyInsteadOfPrompting", Value::Bool(true)) => {
                    self.settings.denies_instead_of_asking = true;
                }
                (
                    "blockReadsOutsideWorkingDirectories"
                    | "blockWritesOutsideWorkingDirectories"
                    | "denyInsteadOfPrompting",
                    Value::Bool(false),
                ) => {}
                ("disableBypassPermissionsMode", Value::String(text)) if text == "disable" => {
                    self.disabled
                        .push((Mode::BypassPermissions, key.clone(), Arc::clone(source)));
                }
                ("disableAutoMode", Value::String(text)) if text == "disable" => {
                    self.disabled
                        .push((Mode::Auto, key.clone(), Arc::clone(source)));
                }
                // A comment, such as `_comment` and `$schema`.
                _ if !key.starts_with(char::is_alphabetic) => {}
                _ if self.ignores_unknown => self.warn(
                    source,
                    &format!("`permissions.{key}` is not understood, and was ignored"),
                ),
                _ => {
                    return Err(ConfigError::UnknownRestriction {
                        source_name: source.name.clone(),
                        key: key.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    fn warn(&mut self, source: &Source, problem: &str) {
        let warning = format!("{}: {problem}", source.name);
        self.settings.warnings.push(warning);
    }
}

/// The project of the agent that runs this process as its hook, if it says so.
pub fn project_directory(environment: &Environment) -> Option<PathBuf> {
    let path = Path::new(PROJECT.text(environment)?);
    path.is_absolute().then(|| path.to_owned())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What `/x` in the rules of a file is relative to: the project of the file, else its directory.
fn anchor(path: &Path, home: Option<&Path>) -> PathBuf {
    let directory = path.parent().unwrap_or(path);
    let holds_settings = SETTINGS_DIRECTORIES
        .iter()
        .any(|name| directory.ends_with(name));
    match directory.parent() {
        Some(project) if holds_settings && home != Some(project) => project.to_owned(),
        _ => directory.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::ConfigSource;
    use crate::message::DecidedBy;
    use crate::permission::{Action, Request};

    /// A project, a home directory, and settings files in them.
    struct World {
        folder: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
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

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(name)
        }

        fn write(&self, name: &str, text: &str) -> PathBuf {
            let path = self.path(name);
            fs::write(&path, text).unwrap();
            path
        }

        fn config(&self, text: &str) -> Config {
            let path = self.write("config.toml", text);
            let home = self.path("home");
            let environment = [("HOME", home.to_str().unwrap())].into_iter().collect();
            Config::load(&ConfigSource::Named(path), &environment).unwrap()
        }

        fn read(&self, flags: &PermissionFlags) -> Result<PermissionSettings, String> {
            self.config("")
                .permissions(flags, &self.path("project"))
                .map_err(|error| error.to_string())
        }

        /// What is read from one settings file.
        fn read_text(&self, text: &str) -> Result<PermissionSettings, String> {
            let settings = vec![self.write("settings.json", text)];
            self.read(&PermissionFlags {
                settings,
                ..PermissionFlags::default()
            })
        }
    }

    /// The rule that decides about writing a file.
    fn rule_about(settings: &PermissionSettings, file: &Path) -> Option<String> {
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
    fn rules_of_all_sources_count_and_paths_begin_where_they_stand() {
        let world = World::new();
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
                .map(|(number, (name, _))| world.write(name, &text(number)))
                .collect(),
            deny: vec!["Edit(/flag)".to_owned()],
            ..PermissionFlags::default()
        };
        let config = world.config("[permissions]\nask = [\"Edit(/config)\"]\n");
        let settings = config.permissions(&flags, &world.path("project")).unwrap();
        let mut expected: Vec<(&str, String)> = files
            .iter()
            .enumerate()
            .map(|(number, (_, anchor))| (*anchor, number.to_string()))
            .collect();
        expected.push(("project", "flag".to_owned()));
        expected.push(("", "config".to_owned()));
        for (anchor, name) in expected {
            let rule = rule_about(&settings, &world.path(anchor).join(&name));
            assert_eq!(rule, Some(format!("Edit(/{name})")), "{anchor}");
            assert_eq!(
                rule_about(&settings, &world.path("elsewhere").join(&name)),
                None
            );
        }
    }

    #[test]
    fn the_nearest_mode_counts_and_later_variables() {
        let world = World::new();
        let one = world.write(
            "one.json",
            r#"{"permissions":{"defaultMode":"bypassPermissions"},"env":{"A":"1","B":"1"}}"#,
        );
        let two = world.write("two.json", r#"{"env":{"B":"2"},"model":7}"#);
        let mut flags = PermissionFlags {
            settings: vec![one, two],
            ..PermissionFlags::default()
        };
        let config = world.config("permissions.default_mode = \"plan\"");
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
        let world = World::new();
        let hooks = world.write("hooks.json", r#"{"hooks":{"Stop":[]}}"#);
        let none = world.write("none.json", r#"{"disableAllHooks":true}"#);
        let mut flags = PermissionFlags {
            settings: vec![hooks],
            ..PermissionFlags::default()
        };
        assert_eq!(world.read(&flags).unwrap().hooks.len(), 1);
        flags.settings.push(none);
        assert!(world.read(&flags).unwrap().hooks.is_empty());
    }

    #[test]
    fn what_is_ignored_is_mentioned() {
        let world = World::new();
        let text = r#"{"permissions":{"denny":[],"_comment":1,"additionalDirectories":["docs","../none","~/.claude"]}}"#;
        let settings = world
            .read(&PermissionFlags {
                settings: vec![world.write("settings.json", text)],
                ignore_unknown_settings: true,
                ..PermissionFlags::default()
            })
            .unwrap();
        let expected = [world.path("project/docs"), world.path("home/.claude")];
        assert_eq!(settings.directories, expected);
        let [directory, key] = &settings.warnings[..] else {
            panic!("{:?}", settings.warnings);
        };
        assert!(directory.ends_with("settings.json: `../none` is no directory, and was ignored"));
        assert!(
            key.ends_with("settings.json: `permissions.denny` is not understood, and was ignored")
        );
    }

    #[test]
    fn a_restriction_that_is_not_known_is_an_error() {
        let world = World::new();
        for (key, value) in [
            ("denny", "[]"),
            ("blockEverything", "true"),
            ("blockEverything", "false"),
            ("deny_", "null"),
        ] {
            let text = format!(r#"{{"permissions":{{"{key}":{value}}}}}"#);
            let error = world.read_text(&text).unwrap_err();
            let expected = format!("`permissions.{key}` is not understood, and may restrict calls");
            assert!(error.ends_with(&expected), "{error}");
            assert!(error.contains("settings.json: "), "{error}");
        }
        let comments = r#"{"permissions":{"_comment":"x","$comment":"x","//":"x"}}"#;
        assert!(world.read_text(comments).is_ok());
        let config = world.config("permissions.denny = []");
        let read = config.permissions(&PermissionFlags::default(), Path::new("/"));
        assert!(
            read.unwrap_err()
                .to_string()
                .contains("`permissions.denny`")
        );
    }

    #[test]
    fn settings_can_disable_modes() {
        let world = World::new();
        let rows = [
            ("disableBypassPermissionsMode", "bypassPermissions"),
            ("disableAutoMode", "auto"),
        ];
        for (key, mode) in rows {
            let disabling = format!(r#"{{"permissions":{{"{key}":"disable"}}}}"#);
            let mut flags = PermissionFlags {
                settings: vec![world.write("disabling.json", &disabling)],
                ..PermissionFlags::default()
            };
            assert_eq!(world.read(&flags).unwrap().mode, Mode::Default);
            let chosen = format!(r#"{{"permissions":{{"defaultMode":"{mode}"}}}}"#);
            flags.settings.push(world.write("chosen.json", &chosen));
            let error = world.read(&flags).unwrap_err();
            let expected = format!("`permissions.{key}` forbids the permission mode `{mode}`");
            assert!(
                error.ends_with(&expected) && error.contains("disabling.json"),
                "{error}"
            );
            flags.mode = Some(Mode::Plan);
            assert_eq!(world.read(&flags).unwrap().mode, Mode::Plan);
            flags.settings.pop();
            flags.mode = <Mode as clap::ValueEnum>::from_str(mode, false).ok();
            assert!(world.read(&flags).is_err());
            let other = format!(r#"{{"permissions":{{"{key}":true}}}}"#);
            assert!(world.read_text(&other).is_err());
        }
    }

    #[test]
    fn calls_outside_of_the_working_directories_can_be_blocked() {
        let world = World::new();
        let decided = |key: &str, mode: Mode, action: &Action| {
            let text =
                format!(r#"{{"permissions":{{"{key}":true,"allow":["Edit","Read","Bash"]}}}}"#);
            let settings = world.read_text(&text).unwrap();
            let project = world.path("project");
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
                    home: None,
                    real_path: &|path| path.canonicalize().ok().or(Some(path.to_owned())),
                },
            );
            if decided.decision == Behavior::Deny {
                let expected = DecidedBy::Rule {
                    rule: key.to_owned(),
                    behavior: Behavior::Deny,
                    source: world.path("settings.json").display().to_string(),
                };
                assert_eq!(decided.by, expected);
            }
            decided.decision
        };
        std::os::unix::fs::symlink("/", world.path("project/link")).unwrap();
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
            let path = || vec![world.path("").join(path)];
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
            ("make | tee /tmp/x", Behavior::Ask),
            ("cat \"$x\"", Behavior::Ask),
        ];
        for (command, expected) in rows {
            let analysis = crate::shell::analyse(command);
            let command = Action::Command {
                only_reads: analysis.verdict.is_read_only(),
                is_ambiguous: false,
                script: command.to_owned(),
                parts: analysis.parts,
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
    fn comments_are_skipped_outside_strings() {
        let world = World::new();
        let texts = [
            "// first\n{\"env\":{\"A\":\"1\"}}",
            "{\"env\": // a \" quote\r\n{\"A\":\"1\"}}// last",
            "{/* { \" \n é **/\"env\":/**/{\"A\":/*/*/\"1\"}}",
        ];
        for text in texts {
            let settings = world.read_text(text).unwrap();
            assert_eq!(settings.environment["A"], "1", "{text}");
        }
        for value in ["https://a.org/*x*/", r#"\" // \\"#, "é//"] {
            let text = serde_json::json!({"env": {"A": value}}).to_string();
            let settings = world.read_text(&text).unwrap();
            assert_eq!(settings.environment["A"], value);
        }
        // A comment without an end hides nothing, and places are those of the file.
        for (text, place) in [
            ("{} /* x", "line 1 column 4"),
            ("{} / x", "line 1 column 4"),
            ("/* é\n */ {\"hooks\": 7}", "line 2 column"),
        ] {
            let error = world.read_text(text).unwrap_err();
            assert!(error.contains(place), "{text}: {error}");
        }
    }

    #[test]
    fn malformed_files_are_errors_with_their_place() {
        let world = World::new();
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
                "`none` is no permission mode",
            ),
            (r#"{"permissions":{"additionalDirectories":"x"}}"#, "column"),
            (r#"{"hooks":[]}"#, "column"),
            (r#"{"env":{"A":1}}"#, "column"),
            (r#"{"disableAllHooks":"no"}"#, "column"),
        ];
        for (text, place) in table {
            let error = world.read_text(text).unwrap_err();
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
        assert!(world.read(&flags).unwrap_err().starts_with("--allow: "));
        let missing = PermissionFlags {
            settings: vec![world.path("missing.json")],
            ..PermissionFlags::default()
        };
        assert!(world.read(&missing).unwrap_err().contains("missing.json: "));
    }

    #[test]
    fn examples_of_rules_are_tried() {
        let world = World::new();
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
                let rule = serde_json::json!({"rule": rule, "match": [matching], "not_match": [not_match]});
                let settings = serde_json::json!({ "permissions": { list: [rule] } });
                let path = world.write("project/settings.json", &settings.to_string());
                world.read(&PermissionFlags {
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
}
